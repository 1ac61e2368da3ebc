// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// ClientConfig describes a run of `rdsmr stress`.
type ClientConfig struct {
	Local  netip.Addr
	Peer   netip.AddrPort
	Params wire.Params // ports are filled in
	// Registration is how this end registers memory; the peer has no say in it.
	Registration Registration
	Timing       Timing
	Duration     time.Duration          // 0 for no limit
	Progress     func(p stats.Progress) // called once a second; may be nil
}

// client is the end that opens a session.
type client struct {
	side
	cfg       ClientConfig
	peerCtl   netip.AddrPort
	rd        *reader
	lastHeard time.Time
	msg       []byte
}

// errStopped is the reason for a clean early end.
var errStopped = errors.New("interrupted")

// RunClient runs a session. It ends after the duration or count, or cleanly when
// ctx is done. The report is nil only if the session never started; the error
// says why the run was cut short, and is not a verdict.
func RunClient(ctx context.Context, host Host, cfg ClientConfig) (rep *stats.Report, err error) {
	if err := cfg.Params.Check(); err != nil {
		return nil, err
	}
	if cfg.Params.RDMA() && cfg.Peer.Addr() == cfg.Local {
		return nil, fmt.Errorf("%v is this host: RDS cannot do RDMA to itself; use --mode msg, or another host", cfg.Peer.Addr())
	}
	c := &client{cfg: cfg, peerCtl: cfg.Peer}
	c.side = side{
		host: host, local: cfg.Local, peer: cfg.Peer.Addr(), session: rand.Uint64() | 1, opener: true,
		params: cfg.Params, registration: cfg.Registration, timing: cfg.Timing, source: newSource(cfg.Params.Count),
	}
	if c.control, err = host.Listen(netip.AddrPortFrom(cfg.Local, 0), rds.Config{}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.control.Close()) }()
	if err := checkTransport(c.control, &c.params); err != nil {
		return nil, err
	}
	// The control socket outlives the interrupt: the end has to be agreed on.
	rctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.rd = newReader(c.control, c.peerCtl, c.session, maxControl, 64, &c.counters)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.rd.run(rctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	accepted, err := c.hello(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.makeTasks(accepted.Ports, accepted.RequestPorts); err != nil {
		return nil, err
	}
	return c.converse(ctx, rctx)
}

// converse runs the tasks, then agrees with the peer on the end.
func (c *client) converse(ctx, hard context.Context) (*stats.Report, error) {
	stopRequests, stopAnswers := make(chan struct{}), make(chan struct{})
	start := time.Now()
	requests, answers := c.start(hard, stopRequests, stopAnswers)
	err := c.steer(ctx, start, requests, answers)
	close(stopRequests)
	interrupted := errors.Is(err, errStopped)
	if interrupted {
		err = nil
	}
	limit := c.timing.Drain + time.Second
	if !c.params.RDMA() {
		limit += c.timing.Peer
	}
	if err != nil {
		limit = time.Second // something is broken; do not wait for it to mend
	}
	if werr := requests.wait(limit); err == nil {
		err = werr
	}
	elapsed := time.Since(start)

	peer, eerr := c.end(ctx, hard, err != nil, start)
	if err == nil {
		err = eerr
	}
	close(stopAnswers)
	if werr := answers.wait(c.timing.Drain + time.Second); err == nil {
		err = werr
	}
	if peer != nil {
		c.settle(peer.Sent)
		if cerr := c.closed(hard); err == nil {
			err = cerr
		}
	}
	c.stopLink()
	r := c.report(stats.RoleStress, requests, elapsed, peer)
	r.Interrupted = interrupted
	r.SetError(err)
	return r, err
}

// steer watches the session until it should end, and returns why if that is not
// as planned.
func (c *client) steer(ctx context.Context, start time.Time, requests, answers *group) error {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	deadline := never
	if c.cfg.Duration > 0 {
		deadline = time.After(c.cfg.Duration)
	}
	meter := stats.NewMeter(start)
	for {
		select {
		case <-ctx.Done():
			return errStopped
		case <-deadline:
			return nil
		case <-c.source.empty:
			return nil
		case r := <-requests.results:
			if err := requests.take(r); err != nil {
				return err
			}
		case r := <-answers.results:
			if err := answers.take(r); err != nil {
				return err
			}
		case ev := <-c.rd.events:
			err := c.heard(ev)
			c.rd.release(ev)
			if err != nil {
				return err
			}
		case now := <-second.C:
			if c.cfg.Progress != nil {
				c.cfg.Progress(meter.Progress(now, &c.counters))
			}
			if err := c.ping(hardly(ctx), now); err != nil {
				return err
			}
		}
	}
}

// hardly returns ctx without its end.
func hardly(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

func (c *client) heard(ev event) error {
	if ev.err != nil {
		return ev.err
	}
	if !ev.IsMessage() {
		return nil
	}
	c.lastHeard = ev.at
	if ev.hdr.Type == wire.Bye {
		return fmt.Errorf("peer %v ended the session: %s", c.peerCtl, reason(ev))
	}
	return nil
}

func (c *client) ping(ctx context.Context, now time.Time) error {
	if now.Sub(c.lastHeard) > c.timing.Peer {
		return fmt.Errorf("peer %v gone: no answer for %v", c.peerCtl, c.timing.Peer)
	}
	ctx, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	if err := c.sendControl(ctx, wire.Ping, nil); err != nil && !transient(err) && ctx.Err() == nil {
		return err
	}
	return nil
}

// closed lets the peer forget the session at once; it would do so anyway after
// a while. With it goes this end's result once more: only now have the answers
// to the peer's last requests ended, and lost messages been counted.
func (c *client) closed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := c.sendControl(ctx, wire.Closed, c.result()); err != nil && !transient(err) && ctx.Err() == nil {
		return err
	}
	return nil
}

// end tells the peer this end's result and returns the peer's. With a count and
// requests both ways the peer has its own count to reach first, unless the session
// ends early.
func (c *client) end(soft, hard context.Context, broken bool, start time.Time) (*stats.Result, error) {
	limit := c.timing.Connect + c.timing.Drain // the peer drains its requests
	if broken {
		limit = 2 * time.Second
	}
	now := broken || !c.params.Duplex || c.params.Count == 0
	var early <-chan struct{}
	deadline := never
	if !now {
		early = soft.Done()
		if c.cfg.Duration > 0 {
			deadline = time.After(time.Until(start.Add(c.cfg.Duration)))
		}
	}
	giveUp := time.NewTimer(limit)
	defer giveUp.Stop()
	again := time.NewTicker(resend)
	defer again.Stop()
	mine := c.result()
	send := func() error {
		h := wire.Header{Type: wire.End}
		if now {
			h.Flags = wire.FlagNow
		}
		ctx, cancel := context.WithTimeout(hard, resend)
		defer cancel()
		if err := c.sendHeader(ctx, h, mine); err != nil && ctx.Err() == nil && !transient(err) {
			return err
		}
		return nil
	}
	hurry := func() error {
		early, deadline, now = nil, never, true
		giveUp.Reset(limit)
		return send()
	}
	served := int64(-1)
	err := send()
	for err == nil {
		select {
		case ev := <-c.rd.events:
			if ev.err != nil {
				return nil, ev.err
			}
			if !ev.IsMessage() || ev.hdr.Type != wire.Ended {
				c.rd.release(ev)
				continue
			}
			var peer stats.Result
			if err := wire.ParseJSON(ev.hdr, ev.body, &peer); err != nil {
				return nil, err
			}
			return &peer, nil
		case <-early:
			err = hurry()
		case <-deadline:
			err = hurry()
		case <-again.C:
			// As long as it gets on with its count there is no hurry.
			if n := c.counters.Served.Load(); !now && n != served {
				served = n
				giveUp.Reset(limit)
			}
			err = send()
		case <-giveUp.C:
			return nil, fmt.Errorf("peer %v did not answer at the end of the session within %v: its results are unknown", c.peerCtl, limit)
		}
	}
	return nil, err
}
