// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
)

// session is the server's end of a session.
type session struct {
	side
	server   *Server
	key      sessionKey
	accepted wire.Accepted

	heardAt atomic.Int64 // Unix nanoseconds
	ends    chan stats.Result
	hurry   chan struct{} // the requester does not want to wait for our count
	hurried bool          // hurry is closed; used by hear only
	closed  chan struct{} // the requester has got Ended
	gone    bool          // closed is closed; used by hear only
	mine    atomic.Pointer[stats.Result]
	last    atomic.Pointer[stats.Result] // the requester's, from Closed
}

// hear handles a control message. The server calls it, one at a time.
func (s *session) hear(ctx context.Context, ev event) {
	s.heardAt.Store(time.Now().UnixNano())
	switch ev.hdr.Type {
	case wire.Hello:
		s.server.tell(ctx, s.key, wire.Welcome, s.accepted)
	case wire.Ping:
		s.server.tell(ctx, s.key, wire.Pong, nil)
	case wire.End:
		if r := s.mine.Load(); r != nil {
			s.server.tell(ctx, s.key, wire.Ended, r)
			return
		}
		if ev.hdr.Flags&wire.FlagNow != 0 && !s.hurried {
			s.hurried = true
			close(s.hurry)
		}
		var peer stats.Result
		if err := wire.ParseJSON(ev.hdr, ev.body, &peer); err != nil {
			s.server.cfg.Log("session of %v: %v", s.key.from, err)
			return
		}
		select {
		case s.ends <- peer:
		default: // has one already
		}
	case wire.Closed:
		if !s.gone {
			s.gone = true
			// The result of End is as good as this one where this one is
			// missing, only older.
			var peer stats.Result
			if err := wire.ParseJSON(ev.hdr, ev.body, &peer); err == nil {
				s.last.Store(&peer)
			}
			close(s.closed)
		}
	}
}

// byePatience is how long a requester may take to end a session that the server
// asked it to end.
const byePatience = 3 * time.Second

// run runs the tasks until the requester ends the session, or there is a reason
// to end it without.
func (s *session) run(soft, hard context.Context) {
	stopRequests, stopAnswers := make(chan struct{}), make(chan struct{})
	start := time.Now()
	requests, answers := s.start(hard, stopRequests, stopAnswers)
	peer, err := s.await(soft, hard, requests, answers)
	if peer != nil && err == nil {
		err = s.complete(soft, requests, answers)
	}
	elapsed := time.Since(start)

	// The requester has drained its requests; it still answers ours.
	limit := s.timing.Drain + time.Second
	if peer == nil {
		limit = time.Second
	}
	close(stopRequests)
	if werr := requests.wait(limit); err == nil {
		err = werr
	}
	close(stopAnswers)
	if werr := answers.wait(limit); err == nil {
		err = werr
	}
	if peer != nil {
		s.settle(peer.Sent)
	}
	s.stopLink()
	r := s.report(stats.RoleServe, requests, elapsed, peer)
	r.Interrupted = soft.Err() != nil
	r.SetError(err)
	mine := r.Local
	s.mine.Store(&mine)
	if peer != nil {
		s.server.tell(hard, s.key, wire.Ended, mine)
		s.linger(soft)
		if last := s.last.Load(); last != nil {
			r.SetPeer(last)
		}
	}
	s.server.cfg.Report(r, err)
}

// complete waits until this end has begun as many operations as it shall, when the
// requester has finished its own and answers ours.
func (s *session) complete(soft context.Context, requests, answers *group) error {
	if !s.params.Duplex || s.params.Count == 0 {
		return nil
	}
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-s.source.empty:
			return nil
		case <-s.hurry:
			return nil
		case <-soft.Done():
			return errors.New("the server was told to end")
		case r := <-requests.results:
			if err := requests.take(r); err != nil {
				return err
			}
		case r := <-answers.results:
			if err := answers.take(r); err != nil {
				return err
			}
		case <-t.C:
			if err := s.silent(); err != nil {
				return err
			}
		}
	}
}

// silent returns an error if nothing was heard of the requester for too long.
func (s *session) silent() error {
	if time.Since(time.Unix(0, s.heardAt.Load())) > s.timing.Idle {
		return fmt.Errorf("nothing heard of %v for %v", s.key.from, s.timing.Idle)
	}
	return nil
}

// linger keeps the result for a requester that missed it, though not for long
// when the server is to end.
func (s *session) linger(soft context.Context) {
	t := time.NewTimer(s.timing.Linger)
	defer t.Stop()
	quit := soft.Done()
	for {
		select {
		case <-s.closed:
			return
		case <-t.C:
			return
		case <-quit:
			quit = nil
			t.Reset(min(byePatience, s.timing.Linger))
		}
	}
}

// await waits for the end. The result is nil if the requester did not tell it.
func (s *session) await(soft, hard context.Context, requests, answers *group) (*stats.Result, error) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	quit := soft.Done()
	var why error
	giveUp := never
	bye := func(err error) {
		if why == nil {
			why = err
			giveUp = time.After(byePatience)
			s.server.tell(hard, s.key, wire.Bye, wire.Reason{Text: err.Error()})
		}
	}
	for {
		select {
		case peer := <-s.ends:
			return &peer, why
		case r := <-requests.results:
			if err := requests.take(r); err != nil {
				bye(err)
			}
		case r := <-answers.results:
			if err := answers.take(r); err != nil {
				bye(err)
			}
		case <-quit:
			quit = nil
			bye(errors.New("the server was told to end"))
		case <-giveUp:
			return nil, why
		case <-t.C:
			if err := s.silent(); err != nil {
				return nil, err
			}
		}
	}
}
