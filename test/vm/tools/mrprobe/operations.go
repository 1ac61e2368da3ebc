// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// A prober has what was made so far.
type prober struct {
	socks map[string]int
	bufs  map[string][]byte
	mem   []byte // see scratch
}

// operations by their names, see [api.Request].
var operations = map[string]func(*prober, *api.Request, *api.Reply) error{
	"socket":  (*prober).socket,
	"close":   (*prober).close,
	"buffer":  (*prober).buffer,
	"poke":    (*prober).poke,
	"peek":    (*prober).peek,
	"getmr":   (*prober).getMR,
	"free":    (*prober).free,
	"send":    (*prober).send,
	"map":     (*prober).mapMR,
	"dest":    (*prober).dest,
	"rdma":    (*prober).rdma,
	"recv":    (*prober).recv,
	"race":    (*prober).race,
	"memlock": memlock,
	"info":    (*prober).info,
}

func memlock(_ *prober, q *api.Request, _ *api.Reply) error {
	return unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: q.Count, Max: q.Count})
}

func sockaddr(text string) (unix.Sockaddr, error) {
	a, err := netip.ParseAddrPort(text)
	if err != nil {
		return nil, fmt.Errorf("address: %w", err)
	}
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Addr: a.Addr().As4(), Port: int(a.Port())}, nil
	}
	return &unix.SockaddrInet6{Addr: a.Addr().As16(), Port: int(a.Port())}, nil
}

func text(sa unix.Sockaddr) string {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)).String()
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port)).String()
	}
	return ""
}

func (p *prober) fd(q *api.Request) (int, error) {
	fd, ok := p.socks[q.Sock]
	if !ok {
		return 0, fmt.Errorf("no socket %q", q.Sock)
	}
	return fd, nil
}

func (p *prober) memory(q *api.Request) ([]byte, error) {
	mem, ok := p.bufs[q.Buf]
	if !ok {
		return nil, fmt.Errorf("no buffer %q", q.Buf)
	}
	return mem, nil
}

func (p *prober) socket(q *api.Request, r *api.Reply) error {
	fd, err := unix.Socket(unix.AF_RDS, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	p.socks[q.Sock] = fd
	if q.Addr == "" {
		return nil
	}
	sa, err := sockaddr(q.Addr)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, sa); err != nil {
		return err
	}
	if sa, err = unix.Getsockname(fd); err != nil {
		return err
	}
	r.Addr = text(sa)
	return nil
}

func (p *prober) close(q *api.Request, _ *api.Reply) error {
	fd, err := p.fd(q)
	if err != nil {
		return err
	}
	delete(p.socks, q.Sock)
	return unix.Close(fd)
}

func (p *prober) buffer(q *api.Request, _ *api.Reply) error {
	mem, err := newBuffer(q.Kind, int(q.Length))
	if err != nil {
		return err
	}
	p.bufs[q.Buf] = mem
	return nil
}

func (p *prober) poke(q *api.Request, _ *api.Reply) error {
	mem, err := p.memory(q)
	if err != nil {
		return err
	}
	copy(mem, q.Text)
	return nil
}

func (p *prober) peek(q *api.Request, r *api.Reply) error {
	mem, err := p.memory(q)
	if err != nil {
		return err
	}
	r.Text = string(mem[:q.Length])
	return nil
}

// scratch is memory outside the Go heap, for what the kernel knows by address.
func (p *prober) scratch() ([]byte, error) {
	if p.mem == nil {
		mem, err := newBuffer("plain", 1)
		if err != nil {
			return nil, err
		}
		p.mem = mem
	}
	return p.mem, nil
}

// region returns the arguments that register a part of a buffer.
func (p *prober) region(q *api.Request) ([]byte, error) {
	addr := q.Address + uint64(q.Offset)
	if q.Buf != "" {
		mem, err := p.memory(q)
		if err != nil {
			return nil, err
		}
		addr = address(mem, q.Offset)
	}
	scratch, err := p.scratch()
	if err != nil {
		return nil, err
	}
	clear(scratch[:8])
	cookieAddr := address(scratch, 0)
	if q.BadCookieAddr {
		cookieAddr = 8 // the first page is nobody's
	}
	return getMRArgs(vector{addr, uint64(q.Length)}, cookieAddr, q.Flags), nil
}

func (p *prober) stored() uint64 { return number(p.mem) }

func (p *prober) getMR(q *api.Request, r *api.Reply) error {
	fd, err := p.fd(q)
	if err != nil {
		return err
	}
	args, err := p.region(q)
	if err != nil {
		return err
	}
	opt := optGetMR
	if q.Addr != "" {
		storage, err := storage(q.Addr)
		if err != nil {
			return err
		}
		opt, args = optGetMRForDest, append(storage, args...)
	}
	for range max(q.Count, 1) {
		if err := setsockopt(fd, opt, args); err != nil {
			return err
		}
		r.Done++
	}
	r.Cookie = p.stored()
	return nil
}

func (p *prober) free(q *api.Request, _ *api.Reply) error {
	fd, err := p.fd(q)
	if err != nil {
		return err
	}
	return setsockopt(fd, optFreeMR, words(q.Cookie, q.Flags))
}

// message sends a message with a control message, if that is not empty.
func (p *prober) message(q *api.Request, oob []byte) error {
	fd, err := p.fd(q)
	if err != nil {
		return err
	}
	to, err := sockaddr(q.Addr)
	if err != nil {
		return err
	}
	payload := append([]byte(q.Text+"\n"), make([]byte, q.Pad)...)
	_, err = unix.SendmsgN(fd, payload, oob, to, unix.MSG_DONTWAIT)
	return err
}

func (p *prober) send(q *api.Request, _ *api.Reply) error { return p.message(q, nil) }

func (p *prober) mapMR(q *api.Request, r *api.Reply) error {
	args, err := p.region(q)
	if err != nil {
		return err
	}
	err = p.message(q, control(cmsgMap, args))
	r.Cookie = p.stored()
	return err
}

func (p *prober) dest(q *api.Request, _ *api.Reply) error {
	return p.message(q, control(cmsgDest, words(q.Cookie)))
}

func (p *prober) rdma(q *api.Request, _ *api.Reply) error {
	mem, err := p.memory(q)
	if err != nil {
		return err
	}
	scratch, err := p.scratch()
	if err != nil {
		return err
	}
	copy(scratch, words(address(mem, q.Offset), uint64(q.Length)))
	return p.message(q, control(cmsgArgs, words(
		q.Cookie, 0, uint64(q.Length), address(scratch, 0), 1, q.Flags, q.Token)))
}

// recv waits for what comes first.
func (p *prober) recv(q *api.Request, r *api.Reply) error {
	fd, err := p.fd(q)
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	for end := time.Now().Add(time.Duration(q.Millis) * time.Millisecond); ; {
		got, err := receive(fd, buf)
		if err == nil {
			r.From, r.Cookie, r.Length, r.Statuses = text(got.from), got.cookie, got.n, got.statuses
			r.Text = line(buf[:got.n])
			return nil
		}
		left := time.Until(end)
		if !errors.Is(err, unix.EAGAIN) || left <= 0 {
			return err
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err = unix.Poll(fds, int(left.Milliseconds())+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// race frees a region as soon as a peer has written to its last byte.
func (p *prober) race(q *api.Request, r *api.Reply) error {
	mem, err := p.memory(q)
	if err != nil {
		return err
	}
	if !changed(mem, int(q.Length)-1, q.Text[0], time.Duration(q.Millis)*time.Millisecond) {
		return unix.ETIMEDOUT
	}
	return p.free(q, r)
}
