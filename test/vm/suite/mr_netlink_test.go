// SPDX-License-Identifier: MIT

package suite

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// Who may see a key, and who may revoke.
func testMRPermissions(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		owner := p.probe(p.a)
		owner.open(5000, 4096)
		cookie := owner.getMR(4096, rds.ReadWrite)
		mine, ok := p.mrOf(p.a, cookie)
		if !ok || mine.Command != "mrprobe" || mine.BoundPort != 5000 || mine.BoundAddr != p.a.IP() || mine.Device != "rxe0" || mine.Socket == 0 {
			t.Fatalf("root sees %v: %+v", ok, mine)
		}
		id := fmt.Sprint(mine.ID)
		for name, e := range map[string]agent.Exec{
			"nobody":                    {UID: nobody, GID: nobody},
			"root of a child namespace": {UID: nobody, GID: nobody, NewUser: true},
			"root's child namespace":    {NewUser: true},
		} {
			for _, argv := range [][]string{{"rdsinfo", "mr", "--json"}, {"rdsinfo", "mr", "show", id, "--json"}} {
				e.Argv = argv
				r := p.do(p.a, e)
				var list []mr
				text := r.Stdout
				if !strings.HasPrefix(text, "[") {
					text = "[" + text + "]"
				}
				if err := json.Unmarshal([]byte(text), &list); err != nil || r.ExitCode != 0 || len(list) != 1 {
					t.Errorf("%s: %v: %v, exit status %d: %s%s", name, argv, err, r.ExitCode, r.Stdout, r.Stderr)
					continue
				}
				if list[0].ID != mine.ID || list[0].RKey != nil {
					t.Errorf("%s: %v shows %+v; want MR %d without its key", name, argv, list[0], mine.ID)
				}
			}
			for _, argv := range [][]string{
				{"rdsinfo", "mr", "revoke", id},
				{"rdsinfo", "mr", "revoke", "--rkey", "1"},
				{"rdsinfo", "pool", "reset-peaks"},
			} {
				e.Argv = argv
				if r := p.do(p.a, e); r.ExitCode != 4 || !strings.Contains(r.Stderr, "permission denied") {
					t.Errorf("%s: %v: exit status %d, want 4: %s", name, argv, r.ExitCode, r.Stderr)
				}
			}
		}
		// Other network namespaces have no such MR, not even for root.
		for _, argv := range [][]string{{"rdsinfo", "mr", "--json"}, {"rdsinfo", "mr", "show", id}, {"rdsinfo", "mr", "revoke", id}} {
			r := p.do(p.a, agent.Exec{Argv: argv, NewNet: true})
			if list := argv[2] == "--json"; list && strings.TrimSpace(r.Stdout) != "[]" || list != (r.ExitCode == 0) {
				t.Errorf("%v in another network namespace: exit status %d: %s%s", argv, r.ExitCode, r.Stdout, r.Stderr)
			}
		}
		p.wantState(p.a, cookie, "mapped")
		owner.must(owner.free(cookie, rds.Invalidate))
		p.wantNothingLeft(p.a)
	}
}

// Ten thousand MRs are listed, each once, and go again.
func testManyMRs(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		const count = 10000
		p := outer.sub(t)
		owner := p.probe(p.a)
		owner.open(5000, 4096)
		r := owner.must(api.Request{Op: "getmr", Sock: "s", Buf: "m", Length: 1, Count: count})
		t.Logf("%d MRs took %d ms", r.Done, r.Micros/1000)
		ids, keys := map[uint32]bool{}, map[uint32]bool{}
		list := p.mrs(p.a)
		for _, m := range list {
			if m.RKey == nil {
				t.Fatalf("an MR without key: %+v", m)
			}
			ids[m.ID], keys[*m.RKey] = true, true
		}
		if len(list) != count || len(ids) != count || len(keys) != count {
			t.Errorf("%d MRs are listed, with %d ids and %d keys; want %d", len(list), len(ids), len(keys), count)
		}
		if l := p.pool(p.a); l.InUse != count || l.PinnedPages != count {
			t.Errorf("pool: %+v", l)
		}
		if got := len(p.mrs(p.a, "--state", "mapped", "--pid", fmt.Sprint(list[0].PID))); got != count {
			t.Errorf("%d MRs pass the filter, want %d", got, count)
		}
		r = owner.must(api.Request{Op: "close", Sock: "s"})
		t.Logf("closing the socket took %d ms", r.Micros/1000)
		p.wantNothingLeft(p.a)
		p.wantPins(p.a, 0)
	}
}
