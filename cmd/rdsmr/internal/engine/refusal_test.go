// SPDX-License-Identifier: MIT

package engine

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/fakerds"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// TestRefusals: each ends with one clear line, in bounded time, and leaves
// nothing open.
func TestRefusals(t *testing.T) {
	write := wire.Params{Mode: wire.ModeWrite}
	for _, tt := range []struct {
		name  string
		setup func() setup
		want  string
		limit time.Duration
	}{
		{"nobody there", func() setup {
			return setup{net: fakerds.New(), params: write, noServer: true}
		}, "no RDS connection came up", 10 * time.Second},
		{"wrong port", func() setup {
			return setup{net: fakerds.New(), params: write, peer: netip.MustParseAddrPort("10.0.0.2:4001")}
		}, "nobody answers at this port", 10 * time.Second},
		{"too large", func() setup {
			return setup{net: fakerds.New(), params: wire.Params{Mode: wire.ModeWrite, Size: 1<<20 + 1}}
		}, "1 MiB", 0},
		{"server's memory", func() setup {
			return setup{net: fakerds.New(), params: write, memory: 100}
		}, "--max-memory", 0},
		{"no RDMA", func() setup {
			n := fakerds.New()
			n.Kind = rds.TransportTCP
			return setup{net: n, params: write}
		}, "no RDMA", 0},
		{"small send buffer", func() setup {
			n := fakerds.New()
			n.SndBuf = 1000
			return setup{net: n, params: wire.Params{Mode: wire.ModeMsg}}
		}, "wmem_max", 0},
		{"final send error", func() setup {
			n := fakerds.New()
			n.Fault = func(_ int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
				if m.Map != nil {
					f.Err = &rds.Error{Op: "send", Addr: m.To, Err: unix.EMSGSIZE}
				}
				return f
			}
			return setup{net: n, params: write}
		}, "1 MiB", 10 * time.Second},
		{"operations never succeed", func() setup {
			n := fakerds.New()
			n.Fault = func(_ int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
				if m.RDMA != nil {
					f.Err = &rds.Error{Op: "send", Addr: m.To, Err: unix.EOPNOTSUPP}
				} else if m.Map != nil {
					f.Err = &rds.Error{Op: "send", Addr: m.To, Err: unix.ENOMEM}
				}
				return f
			}
			return setup{net: n, params: write}
		}, "cannot allocate memory", 15 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s := tt.setup()
				o := run(t, s)
				if o.err == nil || !strings.Contains(o.err.Error(), tt.want) {
					t.Errorf("client: %v, want %q", o.err, tt.want)
				} else if strings.Contains(o.err.Error(), "\n") {
					t.Errorf("more than one line: %q", o.err)
				}
				if d := time.Since(start); d > tt.limit+time.Second {
					t.Errorf("took %v, limit %v", d, tt.limit)
				}
			})
		})
	}
}
