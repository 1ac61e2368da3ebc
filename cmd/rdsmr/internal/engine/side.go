// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// side is one end of a session.
type side struct {
	host     Host
	local    netip.Addr
	peer     netip.Addr
	session  uint64
	opener   bool // this end opened the session
	params   wire.Params
	timing   Timing
	counters stats.Counters
	source   *source
	link     *link
	control  Conn

	registration Registration // of the requests, if this end opened the session

	requestConns, answerConns []Conn
	calls                     map[Conn]*stats.Calls
	requesters, answerers     []runner

	cancelLink context.CancelFunc
	linkDone   chan struct{}
}

// requests reports whether this end sends requests, answers whether it answers
// them.
func (s *side) requests() bool { return s.opener || s.params.Duplex }
func (s *side) answers() bool  { return !s.opener || s.params.Duplex }

// open opens the sockets of the tasks.
func (s *side) open() error {
	var err error
	if s.requests() {
		if s.requestConns, err = s.openConns(); err != nil {
			return errors.Join(err, s.closeConns())
		}
	}
	if s.answers() {
		if s.answerConns, err = s.openConns(); err != nil {
			return errors.Join(err, s.closeConns())
		}
	}
	return nil
}

// maxSockBuf bounds the socket buffers that a session asks for.
const maxSockBuf = 32 << 20

func (s *side) openConns() ([]Conn, error) {
	cfg := rds.Config{TOS: s.params.TOS}
	need := wire.HeaderSize + s.params.Size
	if !s.params.RDMA() {
		n := max(min(2*need*s.params.Depth, maxSockBuf), 128<<10)
		cfg.SendBuffer, cfg.ReceiveBuffer = n, n
	}
	var conns []Conn
	for range s.params.Tasks {
		calls := &stats.Calls{}
		cfg.OnCall = calls.Note
		c, err := s.host.Listen(netip.AddrPortFrom(s.local, 0), cfg)
		if err != nil {
			return conns, err
		}
		conns = append(conns, c)
		if s.calls == nil {
			s.calls = map[Conn]*stats.Calls{}
		}
		s.calls[c] = calls
		if s.params.RDMA() {
			continue
		}
		n, err := c.SendBuffer()
		if err != nil {
			return conns, err
		}
		if n < need {
			return conns, fmt.Errorf("a message of %d bytes does not fit the send buffer of %d: raise net.core.wmem_max, or run as root", need, n)
		}
	}
	return conns, nil
}

// closeConns closes sockets whose tasks never came to be.
func (s *side) closeConns() error {
	var errs []error
	for _, c := range append(s.requestConns, s.answerConns...) {
		errs = append(errs, c.Close())
	}
	s.requestConns, s.answerConns = nil, nil
	return errors.Join(errs...)
}

// makeTasks makes the tasks, once the ports of the peer are known: those that
// answer this end's requests and those that send requests to it.
func (s *side) makeTasks(answering, requesting []uint16) error {
	var err error
	if s.link, err = newLink(s.control, s.peer, s.params.TOS, &s.counters); err != nil {
		return errors.Join(err, s.closeConns())
	}
	for i, c := range s.requestConns {
		t := s.task(c, i, answering[i], !s.opener)
		var r runner
		if s.params.RDMA() {
			g := Registration{}
			if s.opener {
				g = s.registration
			}
			r, err = newRequester(t, s.source, s.link, g)
		} else {
			r = newSender(t, s.source)
		}
		if err != nil {
			return errors.Join(err, s.abandon())
		}
		s.requesters = append(s.requesters, r)
	}
	for i, c := range s.answerConns {
		t := s.task(c, i, requesting[i], s.opener)
		var r runner
		if s.params.RDMA() {
			r, err = newAnswerer(t, s.link)
		} else {
			r = newReceiver(t)
		}
		if err != nil {
			return errors.Join(err, s.abandon())
		}
		s.answerers = append(s.answerers, r)
	}
	return nil
}

func (s *side) task(c Conn, i int, port uint16, reverse bool) task {
	t := task{
		conn: c, peer: netip.AddrPortFrom(s.peer, port), session: s.session, index: i,
		params: &s.params, timing: &s.timing, counters: &s.counters, calls: s.calls[c],
	}
	if reverse {
		t.dir = 1
	}
	return t
}

// abandon releases tasks that have been made and cannot be started, and the
// sockets of those that could not be made.
func (s *side) abandon() error {
	var errs []error
	for i, r := range s.requesters {
		errs = append(errs, r.finish())
		s.requestConns[i] = nil
	}
	for i, r := range s.answerers {
		errs = append(errs, r.finish())
		s.answerConns[i] = nil
	}
	for _, c := range append(s.requestConns, s.answerConns...) {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// start starts all tasks and the watch on the connection.
func (s *side) start(ctx context.Context, stopRequests, stopAnswers <-chan struct{}) (requests, answers *group) {
	lctx, cancel := context.WithCancel(ctx)
	s.cancelLink, s.linkDone = cancel, make(chan struct{})
	go func() {
		defer close(s.linkDone)
		s.link.run(lctx)
	}()
	return startGroup(ctx, stopRequests, s.requesters), startGroup(ctx, stopAnswers, s.answerers)
}

// stopLink ends the watch with a last look.
func (s *side) stopLink() {
	s.cancelLink()
	<-s.linkDone
	s.link.poll(time.Now())
}

// result returns this end's counts. Tasks that send must have ended.
func (s *side) result() stats.Result {
	r := s.counters.Result()
	for _, t := range s.requesters {
		if m, ok := t.(*sender); ok {
			r.Sent = append(r.Sent, m.next)
		}
	}
	for _, c := range s.calls {
		r.Calls = r.Calls.Add(c.Snapshot())
	}
	return r
}

// settle compares the numbers of messages that the peer sent with what came, at
// the end, when nothing is in flight any more.
func (s *side) settle(sent []uint64) {
	for i, t := range s.answerers {
		if m, ok := t.(*receiver); ok && i < len(sent) {
			m.lost(sent[i])
		}
	}
}

// histograms merges those of the tasks that have ended.
func (s *side) histograms(g *group) stats.Times {
	all := stats.NewTimes()
	for i, t := range s.requesters {
		if !g.ended(i) {
			continue
		}
		switch t := t.(type) {
		case *requester:
			all.Merge(t.times)
		case *sender:
			all.Merge(t.times)
		}
	}
	return all
}

// report makes the report of this end.
func (s *side) report(role string, g *group, elapsed time.Duration, peer *stats.Result) *stats.Report {
	r := &stats.Report{
		Role: role, Mode: string(s.params.Mode), Size: s.params.Size, Depth: s.params.Depth, Tasks: s.params.Tasks,
		Duplex: s.params.Duplex, Seed: s.params.Seed,
		LocalAddr: s.local.String(), PeerAddr: s.peer.String(),
		Seconds: elapsed.Seconds(), Local: s.result(), Peer: peer,
	}
	if tr, err := s.control.Transport(); err == nil {
		r.Transport = tr.String()
	}
	r.Fill(s.histograms(g))
	return r
}
