// SPDX-License-Identifier: MIT

package suite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// nobody is a user without capabilities.
const nobody = 65534

func (p *pair) do(n *vm.Node, e agent.Exec) vm.Result {
	p.Helper()
	r, err := n.Do(p.ctx, e)
	if err != nil {
		p.Fatal(err)
	}
	return r
}

// settings returns what "rdsinfo config get" shows.
func (p *pair) settings(n *vm.Node) string {
	p.Helper()
	return p.run(n, "rdsinfo", "config", "get")
}

// The control plane on one node: who may do what, and what is refused.
func TestControlPlane(t *testing.T) {
	p := boot(t, vm.OurRDS(), vm.OurRDS())
	before := p.settings(p.a)

	t.Run("unprivileged", func(t *testing.T) {
		p := p.sub(t)
		for name, e := range map[string]agent.Exec{
			"nobody":                       {UID: nobody, GID: nobody},
			"root of a child namespace":    {UID: nobody, GID: nobody, NewUser: true},
			"root of a child user and net": {UID: nobody, GID: nobody, NewUser: true, NewNet: true},
		} {
			e.Argv = []string{"rdsinfo", "config", "set", "version-header=off"}
			r := p.do(p.a, e)
			if r.ExitCode != 4 || !strings.Contains(r.Stderr, "CAP_NET_ADMIN") || !strings.Contains(r.Stderr, "EPERM") {
				t.Errorf("%s: exit status %d, want 4 with EPERM and the kernel's text: %s", name, r.ExitCode, r.Stderr)
			}
			for _, argv := range [][]string{{"rdsinfo", "conn"}, {"rdsinfo", "exthdr"}, {"rdsinfo", "config", "get"}} {
				e.Argv = argv
				if r := p.do(p.a, e); r.ExitCode != 0 {
					t.Errorf("%s: %v: exit status %d: %s", name, argv, r.ExitCode, r.Stderr)
				}
			}
		}
		if after := p.settings(p.a); after != before {
			t.Errorf("settings changed:\n%s\nbefore:\n%s", after, before)
		}
	})

	// Each operation, each attribute: short, long, repeated, absent and more.
	t.Run("malformed", func(t *testing.T) {
		p := p.sub(t)
		r := p.do(p.a, agent.Exec{Argv: []string{"nlfuzz"}})
		lines, kinds := 0, map[string]int{}
		for sc := bufio.NewScanner(strings.NewReader(r.Stdout)); sc.Scan(); lines++ {
			var got struct {
				Op, Mode, Attr, Kind, Errno, Extack, Why string
				Accepted, OK                             bool
			}
			if err := json.Unmarshal(sc.Bytes(), &got); err != nil {
				t.Fatalf("%v: %s", err, sc.Bytes())
			}
			kinds[got.Kind]++
			if !got.OK {
				t.Errorf("%s %s %s %s: %s %q: %s", got.Op, got.Mode, got.Attr, got.Kind, got.Errno, got.Extack, got.Why)
			}
			if got.Kind == "valid" {
				continue
			}
			// That there is no such operation is said by the core, in a number.
			if got.Accepted || got.Extack == "" && got.Kind != "no-such-op" {
				t.Errorf("%s %s %s %s: accepted %v, text %q", got.Op, got.Mode, got.Attr, got.Kind, got.Accepted, got.Extack)
			}
		}
		if r.ExitCode != 0 || lines < 100 {
			t.Errorf("exit status %d after %d requests: %s", r.ExitCode, lines, r.Stderr)
		}
		for _, kind := range []string{"short", "long", "repeated", "absent", "valid"} {
			if kinds[kind] == 0 {
				t.Errorf("no request of kind %q: %v", kind, kinds)
			}
		}
		if after := p.settings(p.a); after != before {
			t.Errorf("settings changed:\n%s\nbefore:\n%s", after, before)
		}
	})

	t.Run("settings act on the next connection", testSettings(p))
	t.Run("events", testEvents(p))
	t.Run("other namespace", testNamespace(p))
	t.Run("many connections", testManyConns(p))
}

// hello has the node exchange a message with the other, and returns its
// connection.
func (p *pair) hello(port string) conn {
	p.Helper()
	server := p.serve(p.b, "--port", port)
	p.stress(p.a, p.b, "--port", port, "--mode", "msg", "--count", "5", "--duplex")
	p.stop(server)
	return p.ib(p.a)
}

func testSettings(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		p.hello("4100")
		p.wantAgreed(p.b)

		p.run(p.a, "rdsinfo", "config", "set", "version-header=off")
		p.hello("4101")
		p.wantAgreed(p.b) // still the connection of before

		p.use(p.b, vm.OurRDS())
		if c := p.hello("4102"); c.PeerKind != "rds_ext" || c.Features != nil || len(c.AgreedFeatures) != 0 {
			t.Errorf("a, which announces nothing: %v", c)
		}
		if c := p.ib(p.b); c.PeerKind != "stock" || c.PeerFeatures != nil || len(c.AgreedFeatures) != 0 {
			t.Errorf("b, to which nothing is announced: %v", c)
		}

		p.run(p.a, "rdsinfo", "config", "set", "version-header=on", "feature-mask=none")
		p.use(p.b, vm.OurRDS())
		p.hello("4103")
		c := p.ib(p.b)
		if c.PeerKind != "rds_ext" || c.PeerFeatures == nil || len(c.PeerFeatures) != 0 || len(c.AgreedFeatures) != 0 {
			t.Errorf("b, to which no feature is announced: %v", c)
		}

		// What is wrong in a change leaves all of it undone.
		r := p.do(p.a, agent.Exec{Argv: []string{"rdsinfo", "config", "set", "version-header=off", "feature-mask=0x8000"}})
		if r.ExitCode != 1 || !strings.Contains(r.Stderr, "feature-mask") {
			t.Errorf("unknown feature: exit status %d: %s", r.ExitCode, r.Stderr)
		}
		if got := p.run(p.a, "rdsinfo", "config", "get", "version-header"); strings.TrimSpace(got) != "on" {
			t.Errorf("half of a refused change was made: version-header is %q", got)
		}

		p.run(p.a, "rdsinfo", "config", "set", "version-header=on", "feature-mask=all")
		p.use(p.b, vm.OurRDS())
		p.hello("4104")
		p.wantAgreed(p.a)
		p.wantAgreed(p.b)
	}
}

// Up, version learnt and down, in the stream of events.
func testEvents(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		monitor := p.start(p.a, "2>ready", "rdsinfo", "monitor", "--json", "--transport", "ib", "--count", "3")
		p.use(p.b, vm.OurRDS()) // down
		p.hello("4200")         // up, learnt
		r, err := monitor.Wait()
		if err != nil || r.ExitCode != 0 {
			t.Fatalf("monitor: %v, exit status %d: %s", err, r.ExitCode, r.Stderr)
		}
		var names []string
		for line := range strings.Lines(r.Stdout) {
			var e struct {
				Event string
				Conn  *conn
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			names = append(names, e.Event)
			c := e.Conn
			if c == nil || c.Peer != p.b.IP() {
				t.Errorf("%s: %v", e.Event, c)
				continue
			}
			// The end of a connection tells what it was.
			if e.Event == "conn-down" && (c.PeerKind != "rds_ext" || c.LearntFrom != "first packet" || c.UptimeMS == nil) {
				t.Errorf("%s: %v", e.Event, c)
			}
			if e.Event == "version-learnt" && (c.PeerVersion == nil || *c.PeerVersion != "3.1" || !slices.Equal(c.PeerFeatures, oursNames)) {
				t.Errorf("%s: %v", e.Event, c)
			}
		}
		slices.Sort(names[1:]) // the accepting side may learn before it is up
		if want := []string{"conn-down", "conn-up", "version-learnt"}; !slices.Equal(names, want) {
			t.Errorf("events %v, want %v", names, want)
		}
	}
}

// Connections of this network namespace are not shown in another.
func testNamespace(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		p := outer.sub(t)
		mine := p.ib(p.a)
		for _, argv := range [][]string{
			{"rdsinfo", "conn", "--json"},
			{"rdsinfo", "conn", "show", fmt.Sprint(mine.ID), "--json"},
		} {
			r := p.do(p.a, agent.Exec{Argv: argv, NewNet: true})
			if strings.Contains(r.Stdout, mine.Peer) {
				t.Errorf("%v in another namespace: %s", argv, r.Stdout)
			}
			if single := len(argv) > 3; single != (r.ExitCode != 0) {
				t.Errorf("%v in another namespace: exit status %d: %s%s", argv, r.ExitCode, r.Stdout, r.Stderr)
			}
		}
	}
}

// Thousands of connections, and more of them while they are listed: each list
// ends, has all that were there before it once, and none twice. One that was
// interrupted says so.
func testManyConns(outer *pair) func(*testing.T) {
	return func(t *testing.T) {
		const count = 2000
		p := outer.sub(t)
		cmd, err := p.a.Start(p.ctx, agent.Exec{Argv: []string{"manyconns", fmt.Sprint(count)}, Stdin: true})
		if err != nil {
			t.Fatal(err)
		}
		p.waitLine(cmd, "^ready$")
		interrupted := 0
		least := count
		for range 10 {
			r := p.do(p.a, agent.Exec{Argv: []string{"rdsinfo", "conn", "--json", "--transport", "loop"}})
			var list []conn
			if err := json.Unmarshal([]byte(r.Stdout), &list); err != nil {
				t.Fatalf("%v: %s", err, r.Stderr)
			}
			if r.ExitCode != 0 {
				interrupted++
				if !strings.Contains(r.Stderr, "kept changing") {
					t.Errorf("exit status %d: %s", r.ExitCode, r.Stderr)
				}
			}
			seen := map[uint32]bool{}
			for _, c := range list {
				if seen[c.ID] {
					t.Errorf("connection %d is listed twice", c.ID)
				}
				seen[c.ID] = true
			}
			if len(list) < least {
				t.Errorf("a list has %d connections, an earlier one had %d", len(list), least)
			}
			least = len(list)
		}
		if interrupted == 0 {
			t.Error("ten lists while connections were being made, and none was interrupted")
		}
		if err := cmd.CloseInput(); err != nil {
			t.Fatal(err)
		}
		r, err := cmd.Wait()
		if err != nil || r.ExitCode != 0 {
			t.Fatalf("manyconns: %v, exit status %d: %s", err, r.ExitCode, r.Stderr)
		}
		want := strings.TrimSpace(strings.TrimPrefix(r.Stdout, "ready\nmade "))
		if got := len(p.conns(p.a, "--transport", "loop")); fmt.Sprint(got) != want {
			t.Errorf("%d connections are listed, %s were made", got, want)
		}
	}
}
