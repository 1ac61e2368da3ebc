// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/bench"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
)

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int{"0": 0, "1": 1, "4096": 4096, "4k": 4096, "4K": 4096, "64KiB": 65536, "1m": 1 << 20, "2g": 2 << 30} {
		got, err := parseSize(in)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", in, got, err, want)
		}
		v := sizeValue{&got}
		if again, err := parseSize(v.String()); err != nil || again != want {
			t.Errorf("%s prints as %s", in, v.String())
		}
	}
	for _, in := range []string{"", "k", "-1", "1x", "1.5k", "99999999999999999999", "9999999999g"} {
		if n, err := parseSize(in); err == nil {
			t.Errorf("%q accepted as %d", in, n)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{"10": 10 * time.Second, "10s": 10 * time.Second, "1500ms": 1500 * time.Millisecond, "2m": 2 * time.Minute} {
		if got, err := parseDuration(in); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "0s", "-1s", "x", "10 s"} {
		if d, err := parseDuration(in); err == nil {
			t.Errorf("%q accepted as %v", in, d)
		}
	}
}

func TestResolvePeer(t *testing.T) {
	for in, want := range map[string]string{
		"10.0.0.1": "10.0.0.1:4000", "10.0.0.1:5": "10.0.0.1:5", "fd00::1": "[fd00::1]:4000",
		"[fd00::1]": "[fd00::1]:4000", "[fd00::1]:5": "[fd00::1]:5", "::ffff:10.0.0.1": "10.0.0.1:4000",
	} {
		if got, err := resolvePeer(t.Context(), in, 4000); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v, want %s", in, got, err, want)
		}
	}
	if _, err := resolvePeer(t.Context(), "host:http", 1); err == nil {
		t.Error("port name accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := resolvePeer(ctx, "host.invalid", 1); err == nil || err.Error() != "interrupted" {
		t.Errorf("cancelled: %v", err)
	}
}

// TestUsage: each is a wrong command line, and the message says what is wrong.
func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"stress":                                   "give the address",
		"":                                         "which command?",
		"help nonsense":                            "no help for",
		"completion":                               "which shell?",
		"completion tcsh":                          "tcsh",
		"stress 10.0.0.1:0":                        "port 0",
		"stress [::1]:0":                           "port 0",
		"stress localhost:0":                       "from 1 to 65535",
		"stress 10.0.0.1 -p 0":                     "port 0",
		"stress 10.0.0.1 -p 65536":                 "--port must be a whole number from 1 to 65535",
		"stress 10.0.0.1 -n 0":                     "--count 0",
		"stress 10.0.0.1 --depth 2m":               "--depth must be a whole number from 1 to 1024, not \"2m\"",
		"stress 10.0.0.1 -z=x":                     "--quiet must be true or false",
		"serve --max-memory 0":                     "--max-memory 0",
		"stress 10.0.0.1 --mode x":                 "use write, read, both or msg",
		"stress a b":                               "at most 1",
		"stress 10.0.0.1 -s 10.0.0.2":              "twice",
		"stress 10.0.0.1 -D 1025k":                 "1 MiB",
		"stress 10.0.0.1 -D 0":                     "too small",
		"stress 10.0.0.1 -m msg -D 1m":             "header",
		"stress 10.0.0.1 -q 100":                   "--mode msg",
		"stress 10.0.0.1 -m sideways":              "sideways",
		"stress 10.0.0.1 -d 0":                     "depth",
		"stress 10.0.0.1 -t 65":                    "tasks",
		"stress 10.0.0.1 -n -1":                    "negative",
		"stress 10.0.0.1 -T 0":                     "positive duration",
		"stress 10.0.0.1 --bind nonsense":          "nonsense",
		"stress 10.0.0.1 --bind 0.0.0.0":           "wildcard",
		"stress 127.0.0.1":                         "this host",
		"stress 10.0.0.1 --no-such-flag":           "no-such-flag",
		"serve --bind x":                           "\"x\"",
		"serve extra":                              "extra",
		"serve --max-memory lots":                  "lots",
		"dance":                                    "dance",
		"stress host.invalid":                      "host.invalid",
		"stress 10.0.0.1 -m msg -q 2m --bind ::":   "1 MiB",
		"stress 10.0.0.1 --connect-timeout potato": "potato",
		"bench":                                   "give the address",
		"bench a b":                               "at most 1",
		"bench 10.0.0.1 -s 10.0.0.2":              "twice",
		"bench 10.0.0.1 -p 0":                     "port 0",
		"bench 10.0.0.1 --modes stock":            "use all, or some of get_mr+free_mr",
		"bench 10.0.0.1 -m plain,plain":           "twice",
		"bench 10.0.0.1 --direction msg":          "use write, read or both",
		"bench 10.0.0.1 --rounds 0":               "1 to 100",
		"bench 10.0.0.1 --rounds many":            "--rounds must be a whole number from 1 to 100",
		"bench 10.0.0.1 -n 0":                     "--count 0",
		"bench 10.0.0.1 -D 1m":                    "mode plain: size",
		"bench 10.0.0.1 -D 2m -m get_mr+use_once": "1 MiB",
		"bench 127.0.0.1":                         "--modes plain",
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(args))
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		err := cli.Execute(context.Background(), root)
		var usage cli.UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%s: %v is no usage error", args, err)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q does not say %q", args, err, want)
		}
		if got := exitCode(err); got != exitUsage {
			t.Errorf("%s: exit %d", args, got)
		}
	}
}

// command runs one command line and returns what it prints.
func command(args ...string) (string, error) {
	root := newRoot()
	root.SetArgs(args)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	err := cli.Execute(context.Background(), root)
	return out.String(), err
}

func TestVersion(t *testing.T) {
	defer func(v string) { version = v }(version)
	version = "1.2.3"
	for _, arg := range []string{"version", "--version"} {
		if out, err := command(arg); err != nil || out != "rdsmr 1.2.3\n" {
			t.Errorf("%s: %q, %v", arg, out, err)
		}
	}
}

func TestBare(t *testing.T) {
	if out, err := command(); err == nil || !strings.Contains(out, "Usage:") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"stress --mode ":     "write\nread\nboth\nmsg\n:4\n",
		"stress ":            ":4\n",
		"bench --direction ": "write\nread\nboth\n:4\n",
		"bench --modes ":     "get_mr+free_mr\nget_mr+use_once\nrdma_map+free_mr\nrdma_map+use_once\nrdma_map+use_once+remote_inv\nplain\nall\n:4\n",
		"bench ":             ":4\n",
		"stress --bind ":     ":4\n",
		"serve --port ":      ":4\n",
		"serve ":             ":4\n",
	} {
		out, err := command(append([]string{"__completeNoDesc"}, strings.Split(args, " ")...)...)
		if err != nil || !strings.HasPrefix(out, want) {
			t.Errorf("%s: %q, %v, want %q", args, out, err, want)
		}
	}
}

// fullDisk is an output that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestOutputLost(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"stress", "--help"}, {"bench", "--help"}, {"help", "serve"}, {"version"}, {"--version"}, {"completion", "bash"}} {
		root := newRoot()
		root.SetArgs(args)
		root.SetOut(fullDisk{})
		err := cli.Execute(context.Background(), root)
		var usage cli.UsageError
		if !errors.Is(err, syscall.ENOSPC) || errors.As(err, &usage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestExitCode(t *testing.T) {
	if exitCode(nil) != exitOK || exitCode(errors.New("x")) != exitFailed {
		t.Error("wrong exit code")
	}
	if s := oneLine(errors.Join(errors.New("a"), errors.New("b"))); s != "a; b" {
		t.Errorf("%q", s)
	}
}

func TestFinish(t *testing.T) {
	good := &stats.Report{Role: stats.RoleStress, Ops: 1}
	var out bytes.Buffer
	if err := finish(&out, good, nil, true); err != nil || !strings.HasPrefix(out.String(), `{"role":"stress"`) {
		t.Errorf("%v, %s", err, out.String())
	}
	out.Reset()
	if err := finish(&out, good, errors.New("cut short"), false); err == nil || !strings.Contains(out.String(), "operations") {
		t.Errorf("%v, %s", err, out.String())
	}
	if err := finish(&out, &stats.Report{}, nil, false); err == nil {
		t.Error("a run that did nothing is good")
	}
}

func TestFinishBench(t *testing.T) {
	r := &bench.Report{Role: bench.Role, Runs: []bench.Run{{Round: 1, Mode: bench.Plain, Error: "no", Unsupported: true}}}
	var out bytes.Buffer
	if err := printBench(&out, r, true); err != nil || !strings.HasPrefix(out.String(), `{"role":"bench"`) {
		t.Errorf("%v, %s", err, out.String())
	}
	out.Reset()
	if err := printBench(&out, r, false); err != nil || !strings.Contains(out.String(), "plain: no") {
		t.Errorf("%v, %s", err, out.String())
	}
	if err := printBench(fullDisk{}, r, false); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
}
