// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/stats"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// ServerConfig describes a run of `rdsmr serve`.
type ServerConfig struct {
	Timing    Timing
	MaxMemory int                              // bytes of buffers of all sessions
	Once      bool                             // end after the first session
	Log       func(format string, args ...any) // one line each
	Report    func(r *stats.Report, why error) // at the end of each session
}

// Server answers on one control socket.
type Server struct {
	conn Conn
	host Host
	cfg  ServerConfig

	mu       sync.Mutex
	sessions map[sessionKey]*session
	memory   int

	once chan struct{} // closed at the end of the first session, if Once
	wg   sync.WaitGroup
}

// sessionKey keeps sessions of different requesters apart even if they chose
// the same number.
type sessionKey struct {
	from netip.AddrPort
	id   uint64
}

// NewServer binds the control socket.
func NewServer(host Host, addr netip.AddrPort, cfg ServerConfig) (*Server, error) {
	conn, err := host.Listen(addr, rds.Config{})
	if err != nil {
		return nil, err
	}
	return &Server{conn: conn, host: host, cfg: cfg, sessions: map[sessionKey]*session{}, once: make(chan struct{})}, nil
}

// Addr returns the address that requesters send to.
func (s *Server) Addr() netip.AddrPort { return s.conn.LocalAddr() }

// Run serves until ctx is done, or after one session if so configured. Sessions
// that are on then are ended cleanly.
func (s *Server) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var none stats.Counters
	rd := newReader(s.conn, netip.AddrPort{}, 0, maxControl, 256, &none)
	readerDone := make(chan struct{})
	go func() {
		defer close(readerDone)
		rd.run(hard)
	}()
	defer func() {
		cancel()
		<-readerDone
	}()
	soft, stop := context.WithCancel(ctx)
	defer stop()
	idle := make(chan struct{})
	quit, once := ctx.Done(), s.once
	for {
		select {
		case <-quit:
			// Go on answering until the sessions have ended.
			quit, once = nil, nil
			stop()
			go s.waitIdle(idle)
		case <-once:
			quit, once = nil, nil
			stop()
			go s.waitIdle(idle)
		case <-idle:
			return nil
		case ev := <-rd.events:
			if ev.err != nil {
				return ev.err
			}
			if ev.IsMessage() {
				s.handle(soft, hard, ev)
			}
			rd.release(ev)
		}
	}
}

func (s *Server) waitIdle(idle chan<- struct{}) {
	s.wg.Wait()
	close(idle)
}

func (s *Server) handle(soft, hard context.Context, ev event) {
	key := sessionKey{ev.From, ev.hdr.Session}
	s.mu.Lock()
	ss := s.sessions[key]
	s.mu.Unlock()
	switch {
	case ss != nil:
		ss.hear(hard, ev)
	case ev.hdr.Type == wire.Hello:
		s.hello(soft, hard, key, ev)
	case ev.hdr.Type == wire.Ping || ev.hdr.Type == wire.End:
		s.tell(hard, key, wire.Bye, wire.Reason{Text: "no such session here: was the server restarted, or the session idle for too long?"})
	}
}

// hello opens a session or refuses it.
func (s *Server) hello(soft, hard context.Context, key sessionKey, ev event) {
	refuse := func(err error) {
		s.cfg.Log("refused a session of %v: %v", key.from, err)
		s.tell(hard, key, wire.Reject, wire.Reason{Text: err.Error()})
	}
	if soft.Err() != nil {
		refuse(errors.New("server is shutting down"))
		return
	}
	var p wire.Params
	if err := wire.ParseJSON(ev.hdr, ev.body, &p); err != nil {
		refuse(err)
		return
	}
	if err := errors.Join(p.Check(), p.CheckPorts()); err != nil {
		refuse(err)
		return
	}
	ss, err := s.openSession(key, p)
	if err != nil {
		refuse(err)
		return
	}
	s.cfg.Log("session of %v: mode %s, size %d, depth %d, tasks %d, duplex %v", key.from, p.Mode, p.Size, p.Depth, p.Tasks, p.Duplex)
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		ss.run(soft, hard)
		s.forget(ss)
	}()
	ss.hear(hard, ev)
}

// openSession makes a session with its sockets and tasks.
func (s *Server) openSession(key sessionKey, p wire.Params) (*session, error) {
	if err := checkTransport(s.conn, &p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory+p.Memory() > s.cfg.MaxMemory {
		return nil, fmt.Errorf("the session needs %d bytes of buffers, %d of %d are free: lower size, depth or tasks, or raise --max-memory of the server",
			p.Memory(), s.cfg.MaxMemory-s.memory, s.cfg.MaxMemory)
	}
	ss := &session{
		server: s, key: key, ends: make(chan stats.Result, 1), hurry: make(chan struct{}), closed: make(chan struct{}),
		side: side{
			host: s.host, local: s.conn.LocalAddr().Addr(), peer: key.from.Addr(), session: key.id,
			params: p, timing: s.cfg.Timing, source: newSource(p.Count), control: s.conn,
		},
	}
	if err := ss.open(); err != nil {
		return nil, err
	}
	if err := ss.makeTasks(p.AnswerPorts, p.Ports); err != nil {
		return nil, err
	}
	ss.accepted = wire.Accepted{Ports: ports(ss.answerConns), RequestPorts: ports(ss.requestConns)}
	s.memory += p.Memory()
	s.sessions[key] = ss
	return ss, nil
}

func (s *Server) forget(ss *session) {
	s.mu.Lock()
	delete(s.sessions, ss.key)
	s.memory -= ss.params.Memory()
	first := s.cfg.Once
	s.cfg.Once = false
	s.mu.Unlock()
	if first {
		close(s.once)
	}
}

// tell sends a control message. What cannot be sent soon is dropped: the
// requester asks again.
func (s *Server) tell(ctx context.Context, key sessionKey, t wire.Type, body any) {
	h := wire.Header{Type: t, Session: key.id}
	msg := h.Append(nil)
	if body != nil {
		var err error
		if msg, err = wire.AppendJSON(nil, h, body); err != nil {
			s.cfg.Log("%v", err)
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	if _, err := s.conn.Send(ctx, rds.Message{To: key.from, Payload: msg}); err != nil {
		s.cfg.Log("%v to %v: %v", t, key.from, err)
	}
}
