# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the tests of the scripts share. Sourced, never run. A test prints
# "ok NAME", or what went wrong and "not ok NAME".

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck disable=SC2034 # used by the tests
real_build=${RDS_EXT_BUILD:-$(dirname "$scripts")/build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Nothing that a test does may touch what has been built.
export RDS_EXT_BUILD=$scratch/build
mkdir "$RDS_EXT_BUILD"
# The exit status of the tests.
export failed=0

verdict() {
	if [ "$1" -eq 0 ]; then
		printf 'ok %s\n' "$2"
	else
		printf 'not ok %s\n' "$2"
		failed=1
	fi
}

# expect_success NAME COMMAND...
expect_success() {
	local name=$1 output status=0
	shift
	output=$("$@" 2>&1) || status=$?
	[ "$status" -eq 0 ] || printf 'status %s: %s\n' "$status" "$output"
	verdict "$status" "$name"
}

# expect_error NAME TEXT COMMAND...: the command fails, and its last line has
# TEXT. One line is all that a user should have to read.
expect_error() {
	local name=$1 text=$2 output status=0 bad=0
	shift 2
	output=$("$@" 2>&1) || status=$?
	if [ "$status" -eq 0 ] || [[ $(tail -n 1 <<<"$output") != *"$text"* ]]; then
		printf 'status %s, expected an error with "%s": %s\n' "$status" "$text" "$output"
		bad=1
	fi
	verdict "$bad" "$name"
}

# expect_output NAME TEXT COMMAND...: the command succeeds and prints TEXT.
expect_output() {
	local name=$1 text=$2 output status=0 bad=0
	shift 2
	output=$("$@" 2>&1) || status=$?
	if [ "$status" -ne 0 ] || [ "$output" != "$text" ]; then
		printf 'status %s, expected: %s\ngot: %s\n' "$status" "$text" "$output"
		bad=1
	fi
	verdict "$bad" "$name"
}

# fake PROGRAM: makes a program of this name, its text from standard input, in
# the directory $scratch/fake.
fake() {
	mkdir -p "$scratch/fake"
	cat >"$scratch/fake/$1"
	chmod +x "$scratch/fake/$1"
}
