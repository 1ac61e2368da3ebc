// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// decoded runs "rdsinfo decode" on an input.
func decoded(t *testing.T, stdin io.Reader, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr strings.Builder
	a := fakeApp(nil, nil, &stdout, &stderr)
	a.stdin = stdin
	code = a.run(t.Context(), append([]string{"decode"}, args...))
	return code, stdout.String(), stderr.String()
}

// captureFile is a capture that package wire tests itself with.
func captureFile(name string) string {
	return filepath.Join("..", "..", "internal", "wire", "testdata", name+".pcapng.gz")
}

func TestDecode(t *testing.T) {
	for name, args := range map[string][]string{
		"decode-stock":      {"--direction", "in", captureFile("connect-6.1")},
		"decode":            {"--direction", "in", captureFile("invalidate-6.1")},
		"decode-keys":       {"--direction=in", "--keys", captureFile("invalidate-6.1")},
		"decode-json":       {"--direction", "in", "--json", captureFile("invalidate-6.1")},
		"decode-ipv6":       {"--direction", "out", captureFile("connect-ipv6-6.1")},
		"decode-both-ways":  {"--keys", captureFile("invalidate-6.1")},
		"decode-help":       {"--help"},
		"decode-keys-stdin": {"--keys", "--direction", "in", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(captureFile("connect-ipv6-6.1"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			code, out, errs := decoded(t, f, args...)
			if code != exitOK || errs != "" {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			golden(t, name, out)
		})
	}
}

// Each line of JSON is an object that says what it is, and the summary is last
// and counts the others.
func TestDecodeJSON(t *testing.T) {
	_, out, _ := decoded(t, nil, "--json", "--direction=in", captureFile("invalidate-6.1"))
	count := map[string]int{}
	var last map[string]any
	for line := range strings.Lines(out) {
		last = nil
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		event, _ := last["event"].(string)
		count[event]++
	}
	for field, event := range map[string]string{"conns": "conn", "messages": "message", "operations": "rdma", "keys": "key"} {
		if n, ok := last[field].(float64); !ok || int(n) != count[event] || n == 0 {
			t.Errorf("summary has %s %v, there are %d of %s", field, last[field], count[event], event)
		}
	}
	if count["summary"] != 1 || count[""] != 0 {
		t.Errorf("events: %v", count)
	}
}

func TestDecodeErrors(t *testing.T) {
	whole, err := os.ReadFile(captureFile("connect-6.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		stdin  []byte
		args   []string
		code   int
		errs   string
		prints string
	}{
		{"no file", nil, []string{"testdata/none.pcap"}, exitFailure, "testdata/none.pcap: no such file", ""},
		{"a directory", nil, []string{"testdata"}, exitFailure, "testdata: ", ""},
		{"text", []byte("no capture"), nil, exitFailure, "standard input: wire: not a capture in the pcap or pcapng format", ""},
		{"nothing", nil, []string{"-"}, exitFailure, "not a capture", ""},
		{"cut off", whole[:len(whole)/2], nil, exitFailure, "the capture ends within a frame", "connections, "},
		{"two files", nil, []string{"a", "b"}, exitUsage, "at most 1 arg", ""},
		{"direction", nil, []string{"--direction", "up", "-"}, exitUsage, `in or out, not "up"`, ""},
	} {
		code, out, errs := decoded(t, bytes.NewReader(tt.stdin), tt.args...)
		if code != tt.code || !strings.Contains(errs, tt.errs) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q; want %d, one line with %q", tt.name, code, errs, tt.code, tt.errs)
		}
		if (out == "") != (tt.prints == "") || !strings.Contains(out, tt.prints) {
			t.Errorf("%s: prints %q", tt.name, out)
		}
	}
	var errs strings.Builder
	code := fakeApp(nil, nil, brokenPipe{}, &errs).run(t.Context(), []string{"decode", captureFile("connect-6.1")})
	if code != exitFailure || !strings.Contains(errs.String(), "write the output") {
		t.Errorf("broken pipe: exit code %d, %q", code, errs.String())
	}
}
