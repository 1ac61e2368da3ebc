// SPDX-License-Identifier: MIT

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// limit bounds a test; each wait inside it is bounded by its context, and waits
// for one thing by waitLimit. Both are longer for slow kernels.
var (
	limit     = 10 * time.Minute
	waitLimit = time.Minute
)

// A pair is two nodes on a switch.
type pair struct {
	*testing.T
	ctx  context.Context
	env  *vm.Env
	a, b *vm.Node
}

// boot boots two nodes and loads modules on each.
func boot(t *testing.T, onA, onB []vm.Module) *pair {
	t.Helper()
	return bootWith(t, nil, onA, onB)
}

// bootWith is boot for nodes with other network devices than usual.
func bootWith(t *testing.T, nics []vm.NIC, onA, onB []vm.Module) *pair {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	cfg := *config
	cfg.Files = tools
	env := vm.New(t, cfg)
	nodes, err := env.Boot(ctx, vm.Spec{Name: "a", NICs: nics}, vm.Spec{Name: "b", NICs: nics})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{T: t, ctx: ctx, env: env, a: nodes[0], b: nodes[1]}
	p.use(p.a, onA)
	p.use(p.b, onB)
	return p
}

// sub returns the pair for a subtest.
func (p *pair) sub(t *testing.T) *pair {
	q := *p
	q.T = t
	return &q
}

// use replaces the RDS modules of a node.
func (p *pair) use(n *vm.Node, mods []vm.Module) {
	p.Helper()
	if err := n.UseRDS(p.ctx, mods...); err != nil {
		p.Fatal(err)
	}
}

// ours are our modules without the TCP transport, which would only be one more
// thing to go wrong in a test about IB.
func ours() []vm.Module {
	return []vm.Module{
		{Name: "rds", From: vm.Ours}, {Name: "rds_rdma", From: vm.Ours}, {Name: "rds_ext", From: vm.Ours},
	}
}

// patched is ours without rds_ext.
func patched() []vm.Module { return ours()[:2] }

// stock are the distribution's modules.
func stock() []vm.Module {
	return []vm.Module{{Name: "rds", From: vm.Stock}, {Name: "rds_rdma", From: vm.Stock}}
}

func addr(n *vm.Node) netip.Addr { return netip.MustParseAddr(n.IP()) }

// run runs a command that must succeed.
func (p *pair) run(n *vm.Node, argv ...string) string {
	p.Helper()
	out, err := n.Run(p.ctx, argv...)
	if err != nil {
		p.Fatal(err)
	}
	return out
}

// start starts a command and waits for a line of its standard output or error.
func (p *pair) start(n *vm.Node, ready string, argv ...string) *vm.Cmd {
	p.Helper()
	cmd, err := n.Start(p.ctx, agent.Exec{Argv: argv})
	if err != nil {
		p.Fatal(err)
	}
	p.waitLine(cmd, ready)
	return cmd
}

// waitLine waits for a line of a command's standard output, or with "2>" in
// front of its standard error.
func (p *pair) waitLine(cmd *vm.Cmd, line string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	out := cmd.Stdout
	if rest, ok := strings.CutPrefix(line, "2>"); ok {
		line, out = rest, cmd.Stderr
	}
	if _, err := out.WaitLine(ctx, regexp.MustCompile(line)); err != nil {
		p.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Exec.Argv, " "), err, cmd.Stdout, cmd.Stderr)
	}
}

// stop ends a command that must end well.
func (p *pair) stop(cmd *vm.Cmd) vm.Result {
	p.Helper()
	r, err := cmd.Stop(syscall.SIGTERM)
	if err != nil {
		p.Fatal(err)
	}
	if r.ExitCode != 0 {
		p.Fatalf("%s: exit status %d (signal %d)\n%s%s",
			strings.Join(cmd.Exec.Argv, " "), r.ExitCode, r.Signal, r.Stdout, r.Stderr)
	}
	return r
}

// serve starts "rdsmr serve" on a node.
func (p *pair) serve(n *vm.Node, args ...string) *vm.Cmd {
	p.Helper()
	return p.start(n, "^ready ", append([]string{"rdsmr", "serve", "--bind", n.IP()}, args...)...)
}

// A report is what "rdsmr stress --json" prints.
type report struct {
	Ops            int64   `json:"ops"`
	Bytes          int64   `json:"bytes"`
	VerifyFailures int64   `json:"verify_failures"`
	MRsHeld        int64   `json:"mrs_held"`
	Resets         int64   `json:"resets"`
	Interrupted    bool    `json:"interrupted"`
	Error          string  `json:"error"`
	P50            float64 `json:"p50_us"`
	// Peer is the other side's own account, nil if it gave none.
	Peer *struct {
		Ops int64 `json:"ops"`
	} `json:"peer"`
}

// stress runs "rdsmr stress" between a node and a server; it must succeed with
// every byte verified and no memory region left.
func (p *pair) stress(from, to *vm.Node, args ...string) report {
	p.Helper()
	return p.verdict(p.run(from, stressArgs(from, to, args...)...))
}

func stressArgs(from, to *vm.Node, args ...string) []string {
	return append([]string{"rdsmr", "stress", to.IP(), "--bind", from.IP(), "--json", "--quiet", "--seed", "1"}, args...)
}

func (p *pair) verdict(out string) report {
	p.Helper()
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		p.Fatalf("report of rdsmr: %v\n%s", err, out)
	}
	if r.Ops == 0 || r.VerifyFailures != 0 || r.MRsHeld != 0 || r.Error != "" {
		p.Errorf("rdsmr: %+v", r)
	}
	return r
}

// A conn is what "rdsinfo conn --json" prints.
type conn struct {
	ID             uint32   `json:"id"`
	Local          string   `json:"local"`
	Peer           string   `json:"peer"`
	Transport      string   `json:"transport"`
	State          string   `json:"state"`
	Version        *string  `json:"version"`
	PeerVersion    *string  `json:"peer_version"`
	Features       []string `json:"features"`
	PeerFeatures   []string `json:"peer_features"`
	AgreedFeatures []string `json:"agreed_features"`
	LearntFrom     string   `json:"learnt_from"`
	PeerKind       string   `json:"peer_kind"`
	Ups            uint64   `json:"ups"`
	Downs          uint64   `json:"downs"`
	UptimeMS       *int64   `json:"uptime_ms"`
	DownMS         *int64   `json:"down_ms"`
	DownReason     string   `json:"down_reason"`
	DownCode       *uint32  `json:"down_code"`
	Attempts       uint32   `json:"attempts"`
	AttemptReason  string   `json:"attempt_reason"`
	AttemptCode    *uint32  `json:"attempt_code"`
	Device         string   `json:"device"`
	QPNum          *uint32  `json:"qp_num"`
	NextTX         *uint64  `json:"next_tx"`
	NextRX         *uint64  `json:"next_rx"`
	SendQueue      *depth   `json:"send_queue"`

	RetransmitQueue *depth `json:"retransmit_queue"`
	Source          string `json:"source"`
}

func (c conn) String() string {
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	return fmt.Sprintf("%d %s->%s %s %s version %s%v peer %s%v agreed %v from %q kind %q ups %d downs %d",
		c.ID, c.Local, c.Peer, c.Transport, c.State, text(c.Version), c.Features,
		text(c.PeerVersion), c.PeerFeatures, c.AgreedFeatures, c.LearntFrom, c.PeerKind, c.Ups, c.Downs)
}

// conns lists the connections of a node.
func (p *pair) conns(n *vm.Node, args ...string) []conn {
	p.Helper()
	out := p.run(n, append([]string{"rdsinfo", "conn", "--json"}, args...)...)
	var list []conn
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		p.Fatalf("rdsinfo conn: %v\n%s", err, out)
	}
	return list
}

// ib returns the one connection of a node over IB.
func (p *pair) ib(n *vm.Node) conn {
	p.Helper()
	list := p.conns(n, "--transport", "ib")
	if len(list) != 1 {
		p.Fatalf("%s has %d connections over IB, want 1: %v", n.Name(), len(list), list)
	}
	return list[0]
}

// capture starts a capture.
func (p *pair) capture(name string) *ether.Capture {
	p.Helper()
	c, err := p.env.Capture(name)
	if err != nil {
		p.Fatal(err)
	}
	return c
}

// trace ends a capture and reads it, as the nodes sent it.
func (p *pair) trace(c *ether.Capture) *wire.Trace {
	p.Helper()
	if err := c.Close(); err != nil {
		p.Fatal(err)
	}
	tr, err := wire.Analyse(ether.View(c.Frames(), ether.FromNode))
	if err != nil {
		p.Fatal(err)
	}
	if tr.Undecoded != 0 {
		p.Fatalf("%d frames cannot be decoded, the first: %v", tr.Undecoded, tr.FirstError)
	}
	return tr
}

// add puts a rule in force until the test ends.
func (p *pair) add(l *ether.Link, dir ether.Dir, r ether.Rule) *ether.Applied {
	p.Helper()
	applied, err := l.Add(dir, r)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(applied.Remove)
	return applied
}

// eventually waits until a condition holds that nothing signals, and fails with
// the last answer if it does not within waitLimit.
func (p *pair) eventually(what string, holds func() (bool, string)) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitLimit)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, last := holds()
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			p.Fatalf("%s: not within %v; last: %s", what, waitLimit, last)
		case <-tick.C:
		}
	}
}
