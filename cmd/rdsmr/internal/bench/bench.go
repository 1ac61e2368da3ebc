// SPDX-License-Identifier: MIT

package bench

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/engine"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// Config describes a run of `rdsmr bench`.
type Config struct {
	Local    netip.Addr
	Peer     netip.AddrPort
	Modes    []Mode
	Rounds   int
	Params   wire.Params   // of the modes with RDMA; Mode is the direction, Count that of each run
	Duration time.Duration // of each run, 0 for no limit
	Timing   engine.Timing
	// Progress gets a line for each run that begins and one for each that has
	// ended; may be nil.
	Progress func(line string)
	// ReadFile reads files of /proc; os.ReadFile if nil.
	ReadFile func(name string) ([]byte, error)
}

// Check returns a text for the user if the modes cannot run with these parameters.
func (c *Config) Check() error {
	if len(c.Modes) == 0 {
		return errors.New("no mode is given")
	}
	if c.Rounds < 1 || c.Rounds > maxRounds {
		return fmt.Errorf("%d rounds are out of range: give 1 to %d", c.Rounds, maxRounds)
	}
	switch c.Params.Mode {
	case wire.ModeWrite, wire.ModeRead, wire.ModeBoth:
	default:
		return fmt.Errorf("direction %q is unknown: use write, read or both", c.Params.Mode)
	}
	for _, m := range c.Modes {
		p := m.params(c.Params)
		if err := p.Check(); err != nil {
			return fmt.Errorf("mode %s: %w", m, err)
		}
	}
	return nil
}

// maxRounds bounds the memory of the results.
const maxRounds = 100

// bench is a run.
type bench struct {
	host    engine.Host
	control Control
	cfg     Config
	conns   connector
	conn    engine.Conn // for questions to the kernel
}

// RunAll runs all modes, in every second round in the opposite order, so that none
// always profits from what another has left. control is nil without rds_ext.ko.
// The report is nil only if nothing could be started; the error is then why, and
// otherwise what Report.Verdict says.
func RunAll(ctx context.Context, host engine.Host, control Control, cfg Config) (rep *Report, err error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.ReadFile == nil {
		cfg.ReadFile = os.ReadFile
	}
	if cfg.Progress == nil {
		cfg.Progress = func(string) {}
	}
	b := &bench{host: host, control: control, cfg: cfg, conns: connector{
		host: host, control: control, local: cfg.Local, peer: cfg.Peer, limit: cfg.Timing.Connect,
	}}
	if b.conn, err = host.Listen(netip.AddrPortFrom(cfg.Local, 0), rds.Config{}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.conn.Close()) }()
	if rep, err = b.describe(); err != nil {
		return nil, err
	}
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := b.rounds(ctx, rep); err != nil {
		return nil, err
	}
	rep.Seconds = round(time.Since(start).Seconds(), 3)
	return rep, rep.Verdict()
}

// describe begins the report.
func (b *bench) describe() (*Report, error) {
	tr, err := b.conn.Transport()
	if err != nil {
		return nil, err
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return nil, fmt.Errorf("uname: %w", err)
	}
	p := &b.cfg.Params
	r := &Report{
		Role: Role, Kernel: unix.ByteSliceToString(u.Release[:]), Modules: ModulesStock,
		LocalAddr: b.cfg.Local.String(), PeerAddr: b.cfg.Peer.Addr().String(), Transport: tr.String(),
		Direction: string(p.Mode), Size: p.Size, Depth: p.Depth, Tasks: p.Tasks, Seed: p.Seed, Rounds: b.cfg.Rounds,
		Runs: []Run{},
	}
	if b.control != nil {
		r.Modules = ModulesRDSExt
	}
	return r, nil
}

// rounds runs everything. It fails only if the peer does not answer: that would be
// the same for every mode.
func (b *bench) rounds(ctx context.Context, rep *Report) error {
	for n := 1; n <= b.cfg.Rounds; n++ {
		modes := slices.Clone(b.cfg.Modes)
		if n%2 == 0 {
			slices.Reverse(modes)
		}
		for _, m := range modes {
			if ctx.Err() != nil {
				rep.Interrupted = true
				return nil
			}
			b.cfg.Progress(fmt.Sprintf("round %d of %d, %s", n, b.cfg.Rounds, m))
			run, interrupted, err := b.run(ctx, n, m)
			rep.Interrupted = rep.Interrupted || interrupted
			if interrupted && run.Numbers == nil {
				return nil
			}
			if err != nil {
				return err
			}
			rep.Runs = append(rep.Runs, run)
			b.cfg.Progress("  " + run.line())
		}
	}
	return nil
}

// errUnloaded is the error of the run in the middle of which the module went.
var errUnloaded = errors.New("rds_ext.ko was unloaded while the mode ran: it ended under other conditions than it began under, and what it took of MRs is unknown; run it again")

// errNotStarted wraps why a session could not be opened.
type errNotStarted struct{ error }

func (e errNotStarted) Unwrap() error { return e.error }

// run makes one run, and keeps in it why it could not be made. interrupted tells
// that the user has cut it short.
func (b *bench) run(ctx context.Context, round int, m Mode) (run Run, interrupted bool, err error) {
	run = Run{Round: round, Mode: m}
	run.Numbers, interrupted, err = b.measure(ctx, m)
	if b.control != nil && errors.Is(err, gonl.ErrNotLoaded) {
		// From here on this is a host without it.
		b.control, b.conns.control = nil, nil
		b.cfg.Progress("  rds_ext.ko was unloaded: going on without it")
		if run.Numbers == nil && ctx.Err() == nil {
			return b.run(ctx, round, m) // it had not begun
		}
		err = errUnloaded
	}
	var not unsupported
	var start errNotStarted
	switch {
	case err == nil:
		return run, interrupted, nil
	case ctx.Err() != nil && run.Numbers == nil:
		return run, true, nil
	case errors.As(err, &start):
		return run, false, err
	case errors.As(err, &not):
		run.Unsupported = true
	}
	run.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
	return run, interrupted, nil
}

// measure runs a session of a mode between two looks at the resources. Numbers
// come along with the error where there are any.
func (b *bench) measure(ctx context.Context, m Mode) (n *Numbers, interrupted bool, err error) {
	if err := b.probe(m); err != nil {
		return nil, false, err
	}
	params := m.params(b.cfg.Params)
	if params.TOS, err = b.tos(ctx, m); err != nil {
		return nil, false, err
	}
	meter, err := b.newMeter(ctx)
	if err != nil {
		return nil, false, err
	}
	if err := meter.begin(ctx); err != nil {
		return nil, false, err
	}
	cpu, err := readCPU(b.cfg.ReadFile)
	if err == nil {
		n, interrupted, err = b.session(ctx, m, params)
	}
	end := context.WithoutCancel(ctx)
	memory, merr := meter.end(end)
	if n == nil {
		return nil, interrupted, errors.Join(err, merr)
	}
	n.Memory = memory
	later, cerr := readCPU(b.cfg.ReadFile)
	if cerr == nil {
		n.CPUBusy = later.share(cpu)
	}
	return n, interrupted, errors.Join(err, merr, cerr, b.checkConnection(end, m, n))
}

// session runs the session itself. Without numbers it has not begun.
func (b *bench) session(ctx context.Context, m Mode, p wire.Params) (*Numbers, bool, error) {
	r, err := engine.RunClient(ctx, b.host, engine.ClientConfig{
		Local: b.cfg.Local, Peer: b.cfg.Peer, Params: p, Registration: m.registration(),
		Timing: b.cfg.Timing, Duration: b.cfg.Duration,
	})
	if r == nil {
		return nil, false, errNotStarted{err}
	}
	if err == nil && !r.Interrupted {
		err = r.Verdict()
	}
	n := numbers(r)
	n.TOS = p.TOS
	return n, r.Interrupted, err
}

// counters reads the counters of net/rds.
func (b *bench) counters() (map[string]uint64, error) { return b.conn.Counters() }
