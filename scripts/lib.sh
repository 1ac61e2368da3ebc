# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What every script here shares: where things are, how to speak, how to stop.
# Sourced, never run.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=$(dirname "$here")
# Set RDS_EXT_BUILD to keep build products elsewhere (another disk, say).
build=${RDS_EXT_BUILD:-$top/build}
# shellcheck disable=SC2034 # used by the scripts that source this
export top build

# The kernel series the project is built for. The first one is the default.
# shellcheck disable=SC2034
all_series=(6.1 6.12 7.3)
# A kernel of our own making that checks itself, see scripts/debug-kernel. It is
# used like a series, and has the source of the first one.
debug_series=debug

say() { printf '%s\n' "$*"; }

# die NAME TEXT...: one line, beginning with the script and the name of the
# error, so that tests and people can tell failures apart.
die() {
	local name=$1
	shift
	printf '%s: %s: %s\n' "$(basename "$0")" "$name" "$*" >&2
	exit 1
}

# known_series SERIES: stops on a series that the project does not build for.
known_series() {
	local s
	for s in "${all_series[@]}" "$debug_series"; do
		[ "$s" = "$1" ] && return 0
	done
	die unsupported-kernel "'$1' is not a supported kernel series;" \
		"use one of: ${all_series[*]}"
}

# logged LOGFILE NAME TEXT COMMAND...: runs COMMAND with its output in LOGFILE.
# When it fails, shows the end of the output and stops with NAME and TEXT.
logged() {
	local log=$1 name=$2 text=$3
	shift 3
	mkdir -p "$(dirname "$log")"
	if ! "$@" >"$log" 2>&1; then
		# Not the progress of make, which hides what went wrong.
		grep -vE '^( +[A-Z]+ |make\b|$)' "$log" | tail -n 20 |
			sed 's/^/    /' >&2 || true
		die "$name" "$text (all of it: $log)"
	fi
}

# lock NAME: holds build/.locks/NAME until this script ends, so that two calls
# at once do the work once.
lock() {
	mkdir -p "$build/.locks"
	exec 9>"$build/.locks/$1"
	flock 9
}

# need_space DIR MIB WHAT: stops when the file system of DIR has less than MIB
# mebibytes available.
need_space() {
	local have
	have=$(df --output=avail -BM "$1" | tail -n 1 | tr -dc 0-9)
	[ "$have" -ge "$2" ] || die no-space \
		"$3 needs $2 MiB under $1, which has $have MiB:" \
		"free some, or set RDS_EXT_BUILD to a directory on a larger disk"
}

# renew FROM TO: makes the sources in TO the same as those in FROM, and leaves
# alone those that are already, so that make rebuilds only what has changed.
renew() {
	local file
	mkdir -p "$2"
	for file in "$1"/*; do
		cmp -s "$file" "$2/${file##*/}" || cp "$file" "$2/"
	done
	for file in "$2"/*.[ch]; do
		[ -e "$1/${file##*/}" ] || [[ $file == *.mod.c ]] || rm -f "$file"
	done
}
