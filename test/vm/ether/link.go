// SPDX-License-Identifier: MIT

package ether

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
)

// maxFrame is the longest frame in bytes that a node can send.
const maxFrame = 64 << 10

// queueLen is how many frames wait for a node that is slow to take them. A node
// that is stopped loses what exceeds it, as with any switch.
const queueLen = 8192

// A Link is the cable between the switch and one network device of a node.
type Link struct {
	name  string
	index int // interface number in captures
	sw    *Switch
	conn  *net.UnixConn
	dirs  [2]*direction
	out   chan outgoing
	wg    sync.WaitGroup
	done  chan struct{}
}

type outgoing struct {
	data  []byte
	notes []string
}

// socketPair returns the switch's end of a pair of datagram sockets and the
// node's.
func socketPair(name string) (*net.UnixConn, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("ether: socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), name), os.NewFile(uintptr(fds[1]), name)
	c, err := net.FileConn(ours)
	if err := errors.Join(err, ours.Close()); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("ether: socket pair: %w", err), theirs.Close())
	}
	return c.(*net.UnixConn), theirs, nil
}

func newLink(sw *Switch, name string, index int) (*Link, *os.File, error) {
	conn, theirs, err := socketPair(name)
	if err != nil {
		return nil, nil, err
	}
	l := &Link{name: name, index: index, sw: sw, conn: conn, out: make(chan outgoing, queueLen), done: make(chan struct{})}
	for _, dir := range []Dir{FromNode, ToNode} {
		l.dirs[dir] = newDirection(l, dir, sw.seed)
	}
	from, to := l.dirs[FromNode], l.dirs[ToNode]
	from.pass = func(frame []byte, _ []string) { sw.forward(l, frame) }
	from.lost = func([]byte, string) {} // recorded when it was taken
	to.pass = l.enqueue
	to.lost = func(frame []byte, why string) { sw.record(l, ToNode, frame, why, nil) }
	l.wg.Go(l.read)
	l.wg.Go(l.write)
	return l, theirs, nil
}

// Name is the name under which the link was added.
func (l *Link) Name() string { return l.name }

// Add puts a rule in force behind those already there.
func (l *Link) Add(dir Dir, r Rule) (*Applied, error) { return l.dirs[dir].add(r) }

// Cut cuts the link: nothing passes, in either direction, and what is delayed
// is lost. The node does not notice: its device keeps its carrier.
func (l *Link) Cut() {
	for _, d := range l.dirs {
		d.setCut(true)
	}
}

// Restore mends a cut link.
func (l *Link) Restore() {
	for _, d := range l.dirs {
		d.setCut(false)
	}
}

// Stats counts since the link was added or last reset.
func (l *Link) Stats(dir Dir) Stats { return l.dirs[dir].snapshot() }

// Send delivers a frame of the test's own making to the node, through the
// rules of ToNode.
func (l *Link) Send(frame []byte) {
	l.dirs[ToNode].take(append([]byte(nil), frame...), nil)
}

func (l *Link) reset() {
	for _, d := range l.dirs {
		d.reset()
	}
}

func (l *Link) read() {
	buf := make([]byte, maxFrame)
	for {
		n, err := l.conn.Read(buf)
		if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNREFUSED) {
			continue // the node is gone; the link stays
		}
		if err != nil {
			return
		}
		l.sw.receive(l, append([]byte(nil), buf[:n]...))
	}
}

// enqueue is called with the lock of the direction held.
func (l *Link) enqueue(frame []byte, notes []string) {
	select {
	case l.out <- outgoing{frame, notes}:
	default:
		d := l.dirs[ToNode]
		d.stats.Delivered--
		d.stats.Overflow++
		l.sw.record(l, ToNode, frame, "node too slow", nil)
	}
}

func (l *Link) write() {
	for {
		select {
		case <-l.done:
			return
		case o := <-l.out:
			// Recorded before the node can answer, so that a capture has an answer
			// behind its question.
			l.sw.record(l, ToNode, o.data, "", o.notes)
			// A node that is gone loses its frames; its own process tells why.
			_, err := l.conn.Write(o.data)
			if errors.Is(err, net.ErrClosed) {
				return
			}
		}
	}
}

func (l *Link) close() error {
	for _, d := range l.dirs {
		d.close()
	}
	close(l.done)
	err := l.conn.Close()
	l.wg.Wait()
	return err
}
