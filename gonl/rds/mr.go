// SPDX-License-Identifier: MIT

package rds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
)

// FreeMR releases a registered region. Flags may be [Invalidate]: the call then
// returns when the key is dead, else the peer may be able to use it for a while.
//
// [ErrNoMR] means that the socket has no such region: a use-once region that
// was released by the peer's message, for one. It is the way to find out.
func (s *Socket) FreeMR(c Cookie, f Flags) error {
	if c == 0 {
		return errors.New("rds: free mr: no cookie given; FlushMRs releases what is unused")
	}
	err := s.setOpt(opFreeMR, netip.AddrPort{}, optFreeMR, appendFreeMR(nil, c, f))
	if err == nil || errors.Is(err, ErrNoMR) {
		s.removeRegion(c)
	}
	return err
}

// FlushMRs makes the kernel invalidate all regions, of all sockets of this
// host, that have been released but not yet invalidated.
func (s *Socket) FlushMRs() error {
	return s.setOpt(opFlushMRs, netip.AddrPort{}, optFreeMR, appendFreeMR(nil, 0, 0))
}

// GetMR registers a segment without a message. Over InfiniBand Linux 5.8 and
// later refuse this with [ErrNoRDMA], unless rds_ext.ko is loaded; [Message].Map
// works there.
func (s *Socket) GetMR(seg Segment, f Flags) (Cookie, error) {
	return s.getMR(optGetMR, netip.AddrPort{}, seg, f)
}

// GetMRForDest is GetMR for use by one peer.
func (s *Socket) GetMRForDest(dest netip.AddrPort, seg Segment, f Flags) (Cookie, error) {
	return s.getMR(optGetMRForDest, dest, seg, f)
}

func (s *Socket) getMR(opt int, dest netip.AddrPort, seg Segment, f Flags) (Cookie, error) {
	if err := seg.check(); err != nil {
		return 0, err
	}
	s.writing <- struct{}{} // the scratch memory takes one cookie at a time
	defer func() { <-s.writing }()
	if s.send.scratch == nil {
		return 0, os.ErrClosed
	}
	addr := s.send.scratchAddr(0)
	var arg []byte
	if opt == optGetMRForDest {
		sa, err := appendSockaddr(nil, dest)
		if err != nil {
			return 0, fmt.Errorf("rds: get mr: %w", err)
		}
		arg = appendGetMRForDest(nil, sa, seg.vec(), addr, f)
	} else {
		arg = appendGetMR(nil, seg.vec(), addr, f)
	}
	binary.NativeEndian.PutUint64(s.send.scratch, 0)
	if err := s.setOpt(opGetMR, dest, opt, arg); err != nil {
		return 0, err
	}
	c := s.send.cookie()
	s.addRegion(c, seg.Buffer)
	return c, nil
}

// Regions returns how many regions of this socket may still be registered, as
// far as this process knows: the kernel releases use-once regions unasked, and
// only FreeMR and a key that is given out again tell.
func (s *Socket) Regions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.regions)
}

// addRegion keeps the buffer from being closed. The kernel never has two
// regions with one key in a socket, so a key that comes again was released.
func (s *Socket) addRegion(c Cookie, b *Buffer) {
	b.ref()
	s.mu.Lock()
	old := s.regions[c.Key()]
	s.regions[c.Key()] = b
	s.mu.Unlock()
	if old != nil {
		old.unref()
	}
}

func (s *Socket) removeRegion(c Cookie) {
	s.mu.Lock()
	b := s.regions[c.Key()]
	delete(s.regions, c.Key())
	s.mu.Unlock()
	if b != nil {
		b.unref()
	}
}
