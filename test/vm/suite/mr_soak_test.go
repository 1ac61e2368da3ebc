// SPDX-License-Identifier: MIT

package suite

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/internal/wire"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/ether"
)

// soakTime is how long TestMRSoak makes things happen. 0 is a minute, and ten on a
// kernel that checks itself.
var soakTime = flag.Duration("soak", 0, "`time` of the events of TestMRSoak (default 1m, 10m with -kernel debug)")

// soakEvents are what happens in TestMRSoak while sessions of all kinds come and
// go. Each happens once before any happens again.
var soakEvents = map[string]func(*soak){
	"cut until down":  (*soak).cutUntilDown,
	"short cut":       (*soak).shortCut,
	"kill":            (*soak).killOne,
	"kill all":        (*soak).killAll,
	"loss":            (*soak).loss,
	"kill under loss": (*soak).killUnderLoss,
	"features":        (*soak).features,
	"reload":          (*soak).reload,
}

// Sessions that register memory in every way run in both directions while
// connections are lost, processes killed, packets dropped and the module is
// reloaded. Every byte of the sessions that were not killed is right, and in the
// end no MR and no pinned page is left and every MR has ended in one way.
//
// -seed chooses what happens; how far the sessions have come by then is up to the
// machine.
func TestMRSoak(t *testing.T) {
	p := boot(t, ours(), ours())
	p.connectPatiently()
	s := newSoak(p)
	servers := []*vm.Cmd{s.soakServe(p.a), s.soakServe(p.b)}
	s.begin()
	end := time.Now().Add(soakDuration())
	for time.Now().Before(end) || len(s.events) < len(soakEvents) {
		name := s.next()
		t.Logf("%s: %s", time.Until(end).Round(time.Second), name)
		soakEvents[name](s)
		s.events[name]++
		if err := s.failed(); err != nil {
			break
		}
		s.pass(s.between(0, 2*slowness()*time.Second))
	}
	over := time.Now()
	s.finish()
	t.Logf("the last sessions took %v to end", time.Since(over).Round(100*time.Millisecond))
	for i, n := range []*vm.Node{p.a, p.b} {
		s.judge(n, p.stop(servers[i]).Stdout)
	}
	t.Logf("seed %d: %v; sessions %v, of these killed %d, refused without engine or module %d; %d reloads, %d put off; %d long cuts that nobody noticed; %d operations, %d resets",
		s.seed, s.events, s.sessions, s.killed, s.refused, s.reloads, s.kept, s.unnoticed, s.ops, s.resets)
	s.afterwards()
}

// connectPatiently has a slow kernel wait longer between attempts to connect. Both
// sides connect, and each refuses the other while it does itself. Before the next
// attempt they wait for a random time, which is of use where one attempt takes
// less than that.
func (p *pair) connectPatiently() {
	p.Helper()
	if slowness() == 1 {
		return
	}
	for _, n := range []*vm.Node{p.a, p.b} {
		if err := n.Set(p.ctx, "/proc/sys/net/rds/reconnect_max_delay_ms", strconv.FormatInt(int64(slowness()*2000), 10)); err != nil {
			p.Fatal(err)
		}
	}
}

func soakDuration() time.Duration {
	switch {
	case *soakTime != 0:
		return *soakTime
	case slowness() > 1:
		return 10 * time.Minute
	}
	return time.Minute
}

// A soak is a run of TestMRSoak.
type soak struct {
	*pair
	seed          uint64
	rng           *rand.Rand
	events        map[string]int // how often each has happened
	bag           []string       // what has still to happen in this turn
	reloads, kept int            // how often the module was replaced, and could not be
	unnoticed     int            // cuts that nobody has noticed
	// counted adds up the counters of the modules that were unloaded, by node.
	counted map[*vm.Node]mrStats

	ctx    context.Context // of the sessions
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	running  []*soakSession
	over     bool             // no session begins any more
	drains   map[*vm.Node]int // how often the engine was switched off or on
	sessions map[string]int   // that have ended, by what they did
	killed   int
	refused  int
	ops      int64
	resets   int64
	errs     []error
}

func newSoak(p *pair) *soak {
	s := &soak{
		pair: p, seed: config.Seed, rng: rand.New(rand.NewPCG(config.Seed, 0)),
		events: map[string]int{}, counted: map[*vm.Node]mrStats{}, drains: map[*vm.Node]int{}, sessions: map[string]int{},
	}
	s.ctx, s.cancel = context.WithCancel(p.ctx)
	// Not one session may be left when the VMs go, whatever ends the test.
	p.Cleanup(func() {
		s.cancel()
		s.wg.Wait()
	})
	p.Logf("seed %d", s.seed)
	return s
}

// soakServe starts a server of which a session does not keep its memory for ever
// after its client was killed. A connection can be lost as often as operations of
// such a session are queued, and a slow kernel takes minutes to connect again where
// both sides refuse each other.
func (s *soak) soakServe(n *vm.Node) *vm.Cmd {
	return s.serve(n, append([]string{"--json", "--quiet", "--idle-timeout", patience(time.Minute)}, limits()...)...)
}

// slowness is how many times longer than usual the kernel may take.
func slowness() time.Duration { return waitLimit / time.Minute }

// patience is a limit of time of a program in a VM.
func patience(d time.Duration) string { return (d * slowness()).String() }

// A soakSession is a client that is to run, or runs.
type soakSession struct {
	what   string // begins with the mode
	from   *vm.Node
	argv   []string
	cmd    *vm.Cmd
	killed bool // or about to be
}

// begin starts the sessions: at all times there is one of each of these.
func (s *soak) begin() {
	for i, slot := range []func(*soakChoice) *soakSession{
		func(c *soakChoice) *soakSession { return c.useOnce(s.a, s.b) },
		func(c *soakChoice) *soakSession { return c.useOnce(s.b, s.a) },
		func(c *soakChoice) *soakSession { return c.registrations(c.direction(s)) },
		func(c *soakChoice) *soakSession { return c.plain(c.direction(s)) },
	} {
		// Each has a source of its own, so that it is not chance which of them asks first.
		c := &soakChoice{rng: rand.New(rand.NewPCG(s.seed, uint64(i)+1))}
		s.wg.Go(func() {
			for !s.isOver() {
				s.session(slot(c))
			}
		})
	}
}

// A soakChoice chooses what the sessions of one kind are like.
type soakChoice struct {
	rng   *rand.Rand
	sizes []int
	modes []string
}

// take takes one out of a bag, which is filled again when it is empty.
func take[T any](rng *rand.Rand, bag *[]T, all ...T) T {
	if len(*bag) == 0 {
		*bag = slices.Clone(all)
		rng.Shuffle(len(*bag), func(i, j int) { (*bag)[i], (*bag)[j] = (*bag)[j], (*bag)[i] })
	}
	x := (*bag)[0]
	*bag = (*bag)[1:]
	return x
}

func (c *soakChoice) direction(s *soak) (from, to *vm.Node) {
	if c.rng.IntN(2) == 0 {
		return s.a, s.b
	}
	return s.b, s.a
}

// shape chooses the size of the operations, and with it how many there are: some
// seconds of work. Few are in flight, since each that a process has left behind, or
// given up, may cost a connection, and a slow kernel seconds to make the next one.
func (c *soakChoice) shape(max int) (size int, args []string) {
	size = min(take(c.rng, &c.sizes, 1, 4096, 5000, 64<<10, 100_000, 1<<20), max)
	depth, tasks, count := 1+c.rng.IntN(8)/int(slowness()), 1+c.rng.IntN(2), 200
	switch {
	case size >= 1<<19:
		depth, count = min(depth, 4), 8
	case size > 5000:
		count = 50
	}
	return size, []string{
		"--size", strconv.Itoa(size), "--depth", strconv.Itoa(depth), "--tasks", strconv.Itoa(tasks), "--count", strconv.Itoa(count),
		"--seed", strconv.FormatUint(uint64(c.rng.Uint32()), 10),
	}
}

// limits outlast all that happens. A try that is given up has its region freed, and
// where the peer accesses that all the same, the connection is lost: given up too
// soon, tries would keep each other from success for good.
func limits() []string {
	return []string{
		"--connect-timeout", patience(time.Minute), "--peer-timeout", patience(2 * time.Minute),
		"--drain-timeout", patience(time.Minute), "--stall-timeout", patience(20 * time.Second),
	}
}

// client is the beginning of a client's command line.
func client(command string, from, to *vm.Node) []string {
	return append([]string{"rdsmr", command, to.IP(), "--bind", from.IP(), "--json", "--quiet"}, limits()...)
}

func (c *soakChoice) duplex() []string {
	if c.rng.IntN(2) == 0 {
		return nil
	}
	return []string{"--duplex"}
}

// useOnce is registered with the request and released by the answer.
func (c *soakChoice) useOnce(from, to *vm.Node) *soakSession {
	mode := take(c.rng, &c.modes, "write", "read", "both")
	size, shape := c.shape(1 << 20)
	return &soakSession{
		what: fmt.Sprintf("%s %d", mode, size), from: from,
		argv: slices.Concat(client("stress", from, to), shape, []string{"--mode", mode}, c.duplex()),
	}
}

func (c *soakChoice) plain(from, to *vm.Node) *soakSession {
	size, shape := c.shape(100_000)
	return &soakSession{
		what: fmt.Sprintf("msg %d", size), from: from,
		argv: slices.Concat(client("stress", from, to), shape, []string{"--mode", "msg"}, c.duplex()),
	}
}

// registrations are those that no other session has. What needs a connection of
// its own is not among them: it fails when that is lost.
func (c *soakChoice) registrations(from, to *vm.Node) *soakSession {
	mode := take(c.rng, &c.modes, "get_mr+free_mr", "get_mr+use_once", "rdma_map+free_mr")
	size, shape := c.shape(1 << 20)
	return &soakSession{
		what: fmt.Sprintf("%s %d", mode, size), from: from,
		argv: slices.Concat(client("bench", from, to), shape, []string{"--modes", mode, "--direction", "both"}),
	}
}

func (s *soak) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over || s.ctx.Err() != nil
}

// fail keeps an error of a session. It ends the test, but not at once: what
// happens next shall not be about a half-done event.
func (s *soak) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
	s.over = true
}

func (s *soak) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// session runs a client to its end.
func (s *soak) session(c *soakSession) {
	s.mu.Lock()
	drains := s.drains[c.from]
	s.mu.Unlock()
	var err error
	if c.cmd, err = c.from.Start(s.ctx, agent.Exec{Argv: c.argv}); err != nil {
		s.fail(err)
		return
	}
	s.mu.Lock()
	s.running = append(s.running, c)
	s.mu.Unlock()
	r, err := c.cmd.Wait()
	s.mu.Lock()
	s.running = slices.DeleteFunc(s.running, func(x *soakSession) bool { return x == c })
	killed, drained := c.killed && r.Signal == int(syscall.SIGKILL), s.drains[c.from] != drains || drains%2 != 0
	mode, _, _ := strings.Cut(c.what, " ")
	s.sessions[mode]++
	if killed {
		s.killed++
	}
	s.mu.Unlock()
	if err == nil && !killed {
		err = s.result(c, r, drained)
	}
	if err != nil && s.ctx.Err() == nil {
		s.fail(fmt.Errorf("%s on %s: %w\n%s\n%s", c.what, c.from.Name(), err, strings.Join(c.argv, " "), r.Stderr))
	}
}

// A soakReport is what is common to the reports of rdsmr stress, bench and serve.
type soakReport struct {
	Ops            int64        `json:"ops"`
	VerifyFailures int64        `json:"verify_failures"`
	MRsHeld        int64        `json:"mrs_held"`
	Resets         int64        `json:"resets"`
	Error          string       `json:"error"`
	Runs           []soakReport `json:"runs"` // of bench
	Local          struct {
		MRsHeld int64 `json:"mrs_held"`
	} `json:"local"`
}

// result judges a session that has ended by itself.
func (s *soak) result(c *soakSession, r vm.Result, drained bool) error {
	var rep soakReport
	err := json.Unmarshal([]byte(r.Stdout), &rep)
	if len(rep.Runs) == 1 {
		rep = rep.Runs[0]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ops += rep.Ops
	s.resets += rep.Resets
	// Without the engine, net/rds has no GET_MR: the session breaks off, with some
	// regions that nobody has used. Without the module there is nobody to ask what
	// a bench wants to know, or what it knows is worth nothing.
	said := rep.Error + r.Stderr
	if drained && rep.VerifyFailures == 0 && (strings.HasPrefix(c.what, "get_mr") && strings.Contains(said, syscall.EOPNOTSUPP.Error()) ||
		c.argv[1] == "bench" && (strings.Contains(said, "no netlink family") || strings.Contains(said, "rds_ext.ko was unloaded"))) {
		s.refused++
		return nil
	}
	if err != nil {
		return fmt.Errorf("exit status %d (signal %d), report: %w", r.ExitCode, r.Signal, err)
	}
	if r.ExitCode != 0 || rep.Error != "" || rep.Ops == 0 || rep.VerifyFailures != 0 || rep.MRsHeld != 0 {
		return fmt.Errorf("exit status %d (signal %d), %+v", r.ExitCode, r.Signal, rep)
	}
	return nil
}

// next draws what happens next.
func (s *soak) next() string { return take(s.rng, &s.bag, slices.Sorted(maps.Keys(soakEvents))...) }

// node draws a node.
func (s *soak) node() *vm.Node { return []*vm.Node{s.a, s.b}[s.rng.IntN(2)] }

// between draws a time.
func (s *soak) between(low, high time.Duration) time.Duration {
	return low + time.Duration(s.rng.Int64N(int64(high-low)))
}

// cutUntilDown loses the connection, which may be on its way up. A side that has
// nothing under way does not notice a cut, and what is under way over soft RoCE is
// not always given up: then there is traffic again for a moment, and another cut.
func (s *soak) cutUntilDown() {
	before := map[*vm.Node]conn{s.a: s.ib(s.a), s.b: s.ib(s.b)}
	down := func() bool {
		for n, was := range before {
			if c := s.ib(n); c.Downs > was.Downs || c.State != "up" {
				return true
			}
		}
		return s.failed() != nil
	}
	const cuts = 4
	for range cuts {
		s.env.Link(s.node()).Cut()
		since := time.Now()
		for !down() && time.Since(since) < 15*slowness()*time.Second {
			s.pass(100 * time.Millisecond)
		}
		s.restore()
		if down() {
			return
		}
		s.unnoticed++
		s.pass(2 * slowness() * time.Second)
	}
	s.Errorf("%d cuts, and neither side has lost the connection: %v, %v", cuts, s.ib(s.a), s.ib(s.b))
}

// shortCut costs packets, and sometimes the connection.
func (s *soak) shortCut() {
	s.env.Link(s.node()).Cut()
	s.pass(s.between(50*time.Millisecond, 700*time.Millisecond))
	s.restore()
}

func (s *soak) restore() {
	s.env.Link(s.a).Restore()
	s.env.Link(s.b).Restore()
}

// killOne kills a process in the middle of what it does.
func (s *soak) killOne() {
	i := s.rng.IntN(1 << 20)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.running); n != 0 {
		s.kill(s.running[i%n])
	}
}

func (s *soak) killAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.running {
		s.kill(c)
	}
}

// kill is called with the lock held.
func (s *soak) kill(c *soakSession) {
	c.killed = true
	if err := c.cmd.Signal(syscall.SIGKILL); err != nil {
		s.errs = append(s.errs, err)
	}
}

// loss drops every 150th packet of each direction for a while.
func (s *soak) loss() { s.underLoss(func() {}) }

func (s *soak) killUnderLoss() { s.underLoss(s.killOne) }

func (s *soak) underLoss(do func()) {
	var rules []*ether.Applied
	for _, n := range []*vm.Node{s.a, s.b} {
		rules = append(rules, s.add(s.env.Link(n), ether.FromNode, ether.Rule{
			Name: "loss", Match: wire.Match(wire.IsRC), Pick: ether.Every(150), Do: ether.Drop(),
		}))
	}
	s.pass(s.between(slowness()*time.Second, 2*slowness()*time.Second))
	do()
	s.pass(s.between(slowness()*time.Second, 2*slowness()*time.Second))
	for _, r := range rules {
		r.Remove()
	}
}

// features has the connection made anew without remote invalidation; every second
// time, with it again. It goes on until MRs have ended in the way of that.
func (s *soak) features() {
	mask, end := "ext-types", "released"
	if s.events["features"]%2 != 0 {
		mask, end = "ext-types,remote-invalidate", "remotely_invalidated"
	}
	for _, n := range []*vm.Node{s.a, s.b} {
		s.run(n, "rdsinfo", "config", "set", "feature-mask="+mask)
	}
	s.cutUntilDown()
	before := map[*vm.Node]mrStats{s.a: s.mrStats(s.a), s.b: s.mrStats(s.b)}
	s.eventually("MRs are "+end, func() (bool, string) {
		a, b := s.mrStats(s.a).since(before[s.a]), s.mrStats(s.b).since(before[s.b])
		return a[end] > 0 && b[end] > 0 || s.failed() != nil, fmt.Sprintf("%v; %v", a, b)
	})
}

// reload replaces the module of a node under traffic. It cannot go while a peer
// has leave to invalidate a key, which it has for as long as the connection is up
// where it never answers: to a process that was killed, or of one.
func (s *soak) reload() {
	n := s.node()
	s.switchEngine(n, "off")
	s.drained(n)
	// A message has a hold on its MR until the peer has acknowledged it, which takes
	// as long as it takes to connect again.
	s.eventually("nothing but leave to invalidate holds rds_ext on "+n.Name(), func() (bool, string) {
		refs, l := s.refs(n), s.pool(n)
		return uint64(refs) == l.Quarantined, fmt.Sprintf("%d references; %+v; connections:\n%squeues:\n%s",
			refs, l, s.run(n, "rdsinfo", "conn", "-d"), s.run(n, "rdsinfo", "queue", "send", "retransmit"))
	})
	if s.refs(n) == 0 {
		s.replace(n)
	} else {
		s.kept++
	}
	// A fresh module has it on already.
	s.switchEngine(n, "on")
}

// switchEngine switches the engine of a node off or on, which sessions of that
// time notice.
func (s *soak) switchEngine(n *vm.Node, to string) {
	s.mu.Lock()
	s.drains[n]++
	s.mu.Unlock()
	s.run(n, "rdsinfo", "config", "set", "mr-engine="+to)
}

// replace unloads the module of a node and loads it again.
func (s *soak) replace(n *vm.Node) {
	st := s.mrStats(n)
	if !st.balanced() || st["live"] != 0 {
		s.Errorf("counters of MRs on %s: %v", n.Name(), st)
	}
	s.count(n, st)
	s.unload(n)
	s.load(n)
	s.reloads++
}

// drained waits until no MR is in use. One may stay that its peer has leave to
// invalidate, for as long as the connection is up.
func (s *soak) drained(n *vm.Node) {
	s.Helper()
	s.eventually("no MR is in use on "+n.Name(), func() (bool, string) {
		st := s.mrStats(n)
		for _, l := range s.pools(n) {
			if l.InUse != 0 || l.Invalidating != 0 || l.PinnedPages != 0 {
				return false, fmt.Sprintf("%+v; %v", l, st)
			}
		}
		return st["live"] == 0, st.String()
	})
}

func (s *soak) count(n *vm.Node, st mrStats) {
	if s.counted[n] == nil {
		s.counted[n] = mrStats{}
	}
	for name, v := range st {
		s.counted[n][name] += v
	}
}

// finish has all sessions come to their end.
func (s *soak) finish() {
	s.Helper()
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(3 * waitLimit):
		s.mu.Lock()
		for _, c := range s.running {
			s.errs = append(s.errs, fmt.Errorf("%s on %s does not end", c.what, c.from.Name()))
		}
		s.mu.Unlock()
	}
	if err := s.failed(); err != nil {
		s.Fatal(err)
	}
}

// judge reads the reports of a server. What a client that was killed has not
// answered is no failure of it.
func (s *soak) judge(n *vm.Node, out string) {
	s.Helper()
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "ready ") {
			continue
		}
		var r soakReport
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			s.Errorf("report of the server on %s: %v: %s", n.Name(), err, line)
		} else if r.VerifyFailures != 0 || r.Error == "" && r.Local.MRsHeld != 0 {
			s.Errorf("report of the server on %s: %s", n.Name(), line)
		}
	}
}

// afterwards checks that nothing is left and that all works.
func (s *soak) afterwards() {
	s.Helper()
	// A key that was advertised to a process that is no more is kept aside until
	// the connection has gone.
	s.loseConnection()
	s.wantNothingLeft(s.a, s.b)
	s.replace(s.a)
	s.replace(s.b)

	servers := []*vm.Cmd{s.serve(s.a), s.serve(s.b)}
	for _, mode := range []string{"both", "msg"} {
		s.stress(s.a, s.b, "--mode", mode, "--count", "100", "--connect-timeout", "1m")
		s.stress(s.b, s.a, "--mode", mode, "--count", "100", "--connect-timeout", "1m")
	}
	for _, cmd := range servers {
		s.stop(cmd)
	}
	s.wantNothingLeft(s.a, s.b)
	for _, n := range []*vm.Node{s.a, s.b} {
		s.count(n, s.mrStats(n))
		s.Logf("MRs of %s: %v", n.Name(), s.counted[n])
		// What net/rds has registered while the engine was off is unpinned by then.
		if err := n.UnloadRDS(s.ctx); err != nil {
			s.Error(err)
		}
		s.wantPins(n, 0)
	}
	for _, name := range []string{"advertised", "released", "remotely_invalidated", "freed", "orphaned"} {
		if s.counted[s.a][name]+s.counted[s.b][name] == 0 {
			s.Errorf("no MR was %s", name)
		}
	}
}
