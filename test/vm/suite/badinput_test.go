// SPDX-License-Identifier: MIT

package suite

import (
	"strings"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// What people get wrong: one clear line, a failure, in bounded time.
func TestStressBadInput(t *testing.T) {
	p := boot(t, ours(), ours())
	p.serve(p.b)
	for _, c := range []struct {
		name string
		args []string
		want []string // in the line
	}{
		{"peer gone", []string{"10.77.0.99", "--connect-timeout", "3s"}, []string{"10.77.0.99", "no answer"}},
		{"wrong port", []string{p.b.IP(), "--port", "4999", "--connect-timeout", "3s"}, []string{"4999", "no answer"}},
		{"over the limit", []string{p.b.IP(), "--size", "1048577"}, []string{"1048577", "1048576"}},
		{"address of nobody", []string{p.b.IP(), "--bind", "10.77.0.50"}, []string{"10.77.0.50"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := p.sub(t)
			start := time.Now()
			r := p.do(p.a, agent.Exec{Argv: append([]string{"rdsmr", "stress", "--quiet"}, c.args...)})
			if r.ExitCode == 0 {
				t.Fatalf("succeeded: %s", r.Stdout)
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
			line := strings.TrimSpace(r.Stderr)
			if line == "" || strings.Contains(line, "\n") {
				t.Errorf("not one line: %q", r.Stderr)
			}
			for _, w := range c.want {
				if !strings.Contains(line, w) {
					t.Errorf("%q does not say %q", line, w)
				}
			}
		})
	}
}
