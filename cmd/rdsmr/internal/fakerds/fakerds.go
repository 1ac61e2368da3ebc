// SPDX-License-Identifier: MIT

// Package fakerds is a network of RDS sockets in memory, for tests. It keeps
// the rules that matter: messages between two sockets arrive once and in order;
// a registered region has a key that is unique on its host; an RDMA operation
// happens before its message arrives; the message releases a use-once region; what
// is sent while the connection is down waits, RDMA operations too, and goes out over
// the next one unless it is cancelled. And it can break them, by [Fault].
package fakerds

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// Fault says what happens to one message.
type Fault struct {
	Err      error      // Send fails
	Vanish   bool       // neither RDMA nor message, nor any notification
	Status   rds.Status // the RDMA fails; the message is dropped
	LateDrop bool       // all arrives, but the sender is told StatusDropped
	// LoseMessage: the RDMA is done, and its sender told so; the message behind it
	// is dropped, as where a connection is lost between the two.
	LoseMessage bool
	Duplicate   bool // the message arrives twice
	Corrupt     func(target rds.Segment)
	Payload     func(p []byte) // changes the payload that arrives
	KeepMR      bool           // the use-once region is not released
	TakeMR      bool           // the region is released although it is not for one use only
}

// Net is a network. Hook fields must be set before it is used.
type Net struct {
	// Fault is asked about each message; n counts the messages of the network.
	// It is called with the network locked and must not call back.
	Fault func(n int, from netip.AddrPort, m rds.Message) Fault
	// Kind is the transport of all sockets, TransportIB if not set.
	Kind rds.Transport
	// SndBuf is the send buffer of all sockets, 1 GiB if not set.
	SndBuf int
	// NoGetMR, if set, is what GET_MR fails with.
	NoGetMR error
	// KeepRegions has the connection come up again whatever is registered, as with
	// the project's modules. With stock's it does not.
	KeepRegions bool

	mu      sync.Mutex
	conns   map[netip.AddrPort]*Conn
	port    uint16
	key     uint32
	regions map[uint32]*region
	n       int
	resets  uint64
	refused int
	mapped  uint64
	pairs   map[Pair]bool
	down    bool
	held    []func() // what happens when the network is up again
}

type region struct {
	owner *Conn
	seg   rds.Segment
	once  bool
}

// New makes a network.
func New() *Net {
	return &Net{
		conns: map[netip.AddrPort]*Conn{}, regions: map[uint32]*region{}, pairs: map[Pair]bool{},
		port: 10000, key: 100,
	}
}

// Pair is two addresses between which messages went, and with which type of
// service: what has an RDS connection.
type Pair struct {
	From, To netip.Addr
	TOS      uint8
}

// Pairs returns all of them.
func (n *Net) Pairs() []Pair {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Keys(n.pairs))
}

// Mapped returns how many regions were ever registered.
func (n *Net) Mapped() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mapped
}

func (n *Net) note(c *Conn, to netip.AddrPort) {
	n.pairs[Pair{c.addr.Addr(), to.Addr(), c.cfg.TOS}] = true
}

// Listen opens a socket.
func (n *Net) Listen(addr netip.AddrPort, cfg rds.Config) (*Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if addr.Port() == 0 {
		n.port++
		addr = netip.AddrPortFrom(addr.Addr(), n.port)
	}
	if n.conns[addr] != nil {
		return nil, &rds.Error{Op: "bind", Addr: addr, Err: unix.EADDRINUSE}
	}
	c := &Conn{net: n, addr: addr, cfg: cfg, wake: make(chan struct{}, 1), closed: make(chan struct{})}
	n.conns[addr] = c
	return c, nil
}

// Regions returns how many regions are registered.
func (n *Net) Regions() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.regions)
}

// Open returns how many sockets are open.
func (n *Net) Open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

// Change calls f with the network locked, as Fault is called.
func (n *Net) Change(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

// Refused returns how many RDMA operations went to memory that was not registered
// any more, each of which cost the connection.
func (n *Net) Refused() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refused
}

// Down breaks the connection: all messages wait, and registrations are not
// possible.
func (n *Net) Down() {
	n.mu.Lock()
	n.down = true
	n.resets++
	n.mu.Unlock()
}

// Up mends the connection. Like stock Linux, it stays down while a region is
// registered, but for KeepRegions: then Up returns false.
func (n *Net) Up() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.regions) > 0 && !n.KeepRegions {
		return false
	}
	n.down = false
	held := n.held
	n.held = nil
	for _, f := range held {
		f()
	}
	return true
}

// Conn is a socket.
type Conn struct {
	net    *Net
	addr   netip.AddrPort
	cfg    rds.Config
	wake   chan struct{}
	closed chan struct{}
	queue  []rds.Received
	bodies [][]byte
	gen    int         // messages of older generations were cancelled
	rdma   []*rds.RDMA // waiting for the network to come up
}

// Send delivers a message, or does what the fault says.
func (c *Conn) Send(ctx context.Context, m rds.Message) (rds.Sent, error) {
	for {
		sent, err := c.trySend(m)
		if !errors.Is(err, rds.ErrNotReady) {
			return sent, err
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return rds.Sent{}, errors.Join(ctx.Err(), err)
		}
	}
}

func (c *Conn) trySend(m rds.Message) (rds.Sent, error) {
	sent, err := c.sendNow(m)
	c.called(rds.CallSendmsg, sendTime, err)
	return sent, err
}

// What calls take, as the sockets tell.
const (
	sendTime  = 70 * time.Microsecond
	getMRTime = 90 * time.Microsecond
	otherTime = 5 * time.Microsecond
)

// called tells of a system call, the network not being locked.
func (c *Conn) called(k rds.CallKind, took time.Duration, err error) {
	if c.cfg.OnCall != nil {
		c.cfg.OnCall(rds.Call{Kind: k, Elapsed: took, Err: err})
	}
}

func (c *Conn) sendNow(m rds.Message) (rds.Sent, error) {
	n := c.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conns[c.addr] != c {
		return rds.Sent{}, os.ErrClosed
	}
	if n.down && m.Map != nil {
		return rds.Sent{}, &rds.Error{Op: "send", Addr: m.To, Err: unix.EAGAIN}
	}
	var f Fault
	n.n++
	if n.Fault != nil {
		f = n.Fault(n.n, c.addr, m)
	}
	if f.Err != nil {
		return rds.Sent{}, f.Err
	}
	var sent rds.Sent
	sent.Elapsed = sendTime
	announced := m.Dest
	if m.Map != nil {
		sent.Cookie = c.register(m.Map.Segment, m.Map.Flags)
		announced = sent.Cookie
	}
	n.note(c, m.To)
	m.Payload = append([]byte{}, m.Payload...) // the kernel copies
	gen := c.gen
	deliver := func() { c.deliver(m, f, announced) }
	if !n.down {
		deliver()
		return sent, nil
	}
	if m.RDMA != nil {
		c.rdma = append(c.rdma, m.RDMA)
	}
	n.held = append(n.held, func() {
		if c.gen == gen {
			c.rdma = nil
			deliver()
		}
	})
	return sent, nil
}

// register makes a region.
func (c *Conn) register(seg rds.Segment, f rds.Flags) rds.Cookie {
	n := c.net
	n.key++
	n.mapped++
	n.regions[n.key] = &region{owner: c, seg: seg, once: f&rds.UseOnce != 0}
	return rds.NewCookie(n.key, 0)
}

// GetMR registers a region, or fails with the network's NoGetMR.
func (c *Conn) GetMR(seg rds.Segment, f rds.Flags) (rds.Cookie, error) {
	k, err := c.getMR(seg, f)
	c.called(rds.CallGetMR, getMRTime, err)
	return k, err
}

func (c *Conn) getMR(seg rds.Segment, f rds.Flags) (rds.Cookie, error) {
	n := c.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.NoGetMR != nil {
		return 0, &rds.Error{Op: "get mr", Err: n.NoGetMR}
	}
	return c.register(seg, f), nil
}

// deliver makes the RDMA and puts the message into the receiver's queue.
func (c *Conn) deliver(m rds.Message, f Fault, announced rds.Cookie) {
	n := c.net
	if f.Vanish {
		return
	}
	if m.RDMA != nil {
		st := f.Status
		if st == rds.StatusSuccess {
			st = n.rdma(m.RDMA, f)
		}
		if f.LateDrop {
			st = rds.StatusDropped
		}
		c.complete(m.RDMA, st)
		if st != rds.StatusSuccess && !f.LateDrop || f.LoseMessage {
			return
		}
		if r := n.regions[m.RDMA.Remote.Key()]; r != nil && (r.once || f.TakeMR) && !f.KeepMR {
			delete(n.regions, m.RDMA.Remote.Key())
		}
	}
	to := n.conns[m.To]
	if to == nil {
		return // nobody listens: RDS does not tell
	}
	if f.Payload != nil {
		f.Payload(m.Payload)
	}
	r := rds.Received{From: c.addr, N: len(m.Payload), Cookie: announced, HasCookie: announced != 0}
	to.push(r, m.Payload)
	if f.Duplicate {
		to.push(r, m.Payload)
	}
}

func (n *Net) rdma(op *rds.RDMA, f Fault) rds.Status {
	r := n.regions[op.Remote.Key()]
	if r == nil {
		n.resets++
		n.refused++
		return rds.StatusRemoteError
	}
	remote, local := r.seg.Bytes(), op.Local[0].Bytes()
	target := r.seg
	if op.Flags&rds.ReadWrite != 0 {
		copy(remote, local)
	} else {
		copy(local, remote)
		target = op.Local[0]
	}
	if f.Corrupt != nil {
		f.Corrupt(target)
	}
	return rds.StatusSuccess
}

func (c *Conn) complete(op *rds.RDMA, st rds.Status) {
	if op.Flags&rds.NotifyMe != 0 {
		c.push(rds.Received{Completions: []rds.Completion{{Token: op.Token, Status: st}}}, nil)
	}
}

func (c *Conn) push(r rds.Received, body []byte) {
	if c.net.conns[c.addr] != c {
		return
	}
	c.queue = append(c.queue, r)
	c.bodies = append(c.bodies, body)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Receive takes what is next in the queue.
func (c *Conn) Receive(ctx context.Context, buf []byte) (rds.Received, error) {
	for {
		c.net.mu.Lock()
		if len(c.queue) > 0 {
			r := c.queue[0]
			r.N = copy(buf, c.bodies[0])
			r.Truncated = r.N < len(c.bodies[0])
			c.queue, c.bodies = c.queue[1:], c.bodies[1:]
			c.net.mu.Unlock()
			c.called(rds.CallRecvmsg, otherTime, nil)
			return r, nil
		}
		c.net.mu.Unlock()
		c.called(rds.CallRecvmsg, otherTime, unix.EAGAIN)
		select {
		case <-c.wake:
		case <-c.closed:
			return rds.Received{}, os.ErrClosed
		case <-ctx.Done():
			return rds.Received{}, ctx.Err()
		}
	}
}

// FreeMR releases a region of this socket.
func (c *Conn) FreeMR(k rds.Cookie, _ rds.Flags) error {
	err := c.freeMR(k)
	c.called(rds.CallFreeMR, otherTime, err)
	return err
}

func (c *Conn) freeMR(k rds.Cookie) error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if r := c.net.regions[k.Key()]; r != nil && r.owner == c {
		delete(c.net.regions, k.Key())
		return nil
	}
	return &rds.Error{Op: "free mr", Err: unix.EINVAL}
}

// CancelSentTo drops what waits for the network to come up.
func (c *Conn) CancelSentTo(netip.AddrPort) error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	c.gen++
	for _, op := range c.rdma {
		c.complete(op, rds.StatusCanceled)
	}
	c.rdma = nil
	return nil
}

// LocalAddr returns the address.
func (c *Conn) LocalAddr() netip.AddrPort { return c.addr }

// Transport returns the network's kind.
func (c *Conn) Transport() (rds.Transport, error) {
	if c.net.Kind == rds.TransportAny {
		return rds.TransportIB, nil
	}
	return c.net.Kind, nil
}

// SendBuffer returns the network's setting.
func (c *Conn) SendBuffer() (int, error) {
	if c.net.SndBuf == 0 {
		return 1 << 30, nil
	}
	return c.net.SndBuf, nil
}

// Connections returns a connection from this socket's address to every other.
func (c *Conn) Connections() ([]rds.Connection, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	var cs []rds.Connection
	for a := range c.net.conns {
		if a.Addr() != c.addr.Addr() {
			cs = append(cs, rds.Connection{Local: c.addr.Addr(), Peer: a.Addr(), TOS: c.cfg.TOS, Connected: !c.net.down})
		}
	}
	return cs, nil
}

// Counters returns the number of resets, and of regions registered and released
// as stock counts MRs that it never recycles.
func (c *Conn) Counters() (map[string]uint64, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	return map[string]uint64{
		"conn_reset":           c.net.resets,
		"ib_rdma_mr_8k_alloc":  c.net.mapped,
		"ib_rdma_mr_8k_free":   0,
		"ib_rdma_mr_1m_alloc":  0,
		"ib_rdma_mr_1m_free":   0,
		"ib_rdma_mr_8k_reused": 0,
	}, nil
}

// Close closes the socket and releases its regions.
func (c *Conn) Close() error {
	n := c.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conns[c.addr] != c {
		return os.ErrClosed
	}
	delete(n.conns, c.addr)
	for k, r := range n.regions {
		if r.owner == c {
			delete(n.regions, k)
		}
	}
	close(c.closed)
	return nil
}
