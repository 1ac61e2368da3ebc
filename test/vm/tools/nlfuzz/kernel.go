// SPDX-License-Identifier: MIT

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/mdlayher/genetlink"
	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// answer is what the kernel said about a request; errno 0 is acceptance.
type answer struct {
	errno   syscall.Errno
	text    string
	offset  uint32
	missing uint32
	// reply has the attributes of the first message in front of the acknowledgement.
	reply []byte
}

// kernel sends requests as they are. The netlink library would not: it pads
// messages and counts their bytes itself.
type kernel struct {
	fd     int
	family uint16
	seq    uint32
}

// replyTimeout bounds the wait for an acknowledgement, which the kernel puts
// into the socket before it returns from the sending.
const replyTimeout = 5

func dial() (*kernel, error) {
	c, err := genetlink.Dial(nil)
	if err != nil {
		return nil, fmt.Errorf("open a netlink socket: %w", err)
	}
	f, err := c.GetFamily(spec.FamilyName)
	if err := errors.Join(err, c.Close()); err != nil {
		return nil, fmt.Errorf("look up the family %s (is rds_ext.ko loaded?): %w", spec.FamilyName, err)
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_GENERIC)
	if err != nil {
		return nil, fmt.Errorf("open a netlink socket: %w", err)
	}
	k := &kernel{fd: fd, family: f.ID}
	err = errors.Join(
		unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}),
		unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_EXT_ACK, 1),
		unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_CAP_ACK, 1),
		unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_GET_STRICT_CHK, 1),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: replyTimeout}),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set up a netlink socket: %w", err), unix.Close(fd))
	}
	return k, nil
}

func (k *kernel) exchange(c testCase) (answer, error) {
	flags := uint16(unix.NLM_F_REQUEST | unix.NLM_F_ACK)
	if c.dump {
		flags = unix.NLM_F_REQUEST | unix.NLM_F_DUMP
	}
	k.seq++
	b := encode(k.family, flags, k.seq, c.op.Number, c.attrs)
	if err := unix.Sendto(k.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return answer{}, fmt.Errorf("send: %w", err)
	}
	var a answer
	buf := make([]byte, 64<<10)
	for {
		n, from, err := unix.Recvfrom(k.fd, buf, 0)
		if err != nil {
			return answer{}, fmt.Errorf("no acknowledgement within %d s: %w", replyTimeout, err)
		}
		if nl, ok := from.(*unix.SockaddrNetlink); !ok || nl.Pid != 0 {
			continue
		}
		done, err := a.take(buf[:n], k.seq)
		if err != nil {
			return answer{}, err
		}
		if done {
			return a, nil
		}
	}
}

// encode makes a message whose length is what it is, padded or not.
func encode(family, flags uint16, seq uint32, cmd uint8, attrs []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(headersLen+len(attrs)))
	b = binary.NativeEndian.AppendUint16(b, family)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = binary.NativeEndian.AppendUint32(b, 0)
	b = append(b, cmd, spec.FamilyVersion, 0, 0)
	return append(b, attrs...)
}

// take reads a datagram and tells whether it ended the exchange.
func (a *answer) take(b []byte, seq uint32) (done bool, err error) {
	for len(b) >= 16 {
		n := int(binary.NativeEndian.Uint32(b))
		if n < 16 || n > len(b) {
			return false, fmt.Errorf("a message of %d bytes with %d left", n, len(b))
		}
		typ, flags := binary.NativeEndian.Uint16(b[4:]), binary.NativeEndian.Uint16(b[6:])
		body := b[16:n]
		mine := binary.NativeEndian.Uint32(b[8:]) == seq
		b = b[min((n+3)&^3, len(b)):]
		switch {
		case !mine:
		case typ == unix.NLMSG_ERROR || typ == unix.NLMSG_DONE:
			return true, a.ack(typ, flags, body)
		case a.reply == nil && len(body) >= 4:
			a.reply = append([]byte{}, body[4:]...)
		}
	}
	return false, nil
}

// ack reads the end of an exchange.
func (a *answer) ack(typ, flags uint16, body []byte) error {
	if len(body) < 4 {
		return fmt.Errorf("an acknowledgement of %d bytes", len(body))
	}
	a.errno = syscall.Errno(-int32(binary.NativeEndian.Uint32(body)))
	if flags&unix.NLM_F_ACK_TLVS == 0 {
		return nil
	}
	tlvs := body[4:]
	if typ == unix.NLMSG_ERROR {
		// The request's header comes back in front of the remarks.
		if len(tlvs) < 16 {
			return fmt.Errorf("an acknowledgement of %d bytes", len(body))
		}
		tlvs = tlvs[16:]
	}
	return eachAttr(tlvs, func(number uint16, payload []byte) {
		switch {
		case number == unix.NLMSGERR_ATTR_MSG:
			a.text = unix.ByteSliceToString(payload)
		case number == unix.NLMSGERR_ATTR_OFFS && len(payload) == 4:
			a.offset = binary.NativeEndian.Uint32(payload)
		case number == missTypeAttr && len(payload) == 4:
			a.missing = binary.NativeEndian.Uint32(payload)
		}
	})
}

// missTypeAttr (NLMSGERR_ATTR_MISS_TYPE) is missing from golang.org/x/sys/unix.
const missTypeAttr = 5

// eachAttr goes through attributes.
func eachAttr(b []byte, f func(number uint16, payload []byte)) error {
	for len(b) >= 4 {
		n := int(binary.NativeEndian.Uint16(b))
		if n < 4 || n > len(b) {
			return fmt.Errorf("an attribute of %d bytes with %d left", n, len(b))
		}
		f(binary.NativeEndian.Uint16(b[2:])&0x3fff, b[4:n])
		b = b[min((n+3)&^3, len(b)):]
	}
	return nil
}

func (k *kernel) current() (map[string][]byte, error) {
	get, okGet := spec.OpByNumber(spec.CmdSettingsGet)
	set, okSet := spec.OpByNumber(spec.CmdSettingsSet)
	if !okGet || !okSet {
		return nil, fmt.Errorf("no operations to read and change the settings")
	}
	a, err := k.exchange(testCase{op: get})
	if err != nil {
		return nil, err
	}
	if a.errno != 0 {
		return nil, fmt.Errorf("%s: %w", a.text, a.errno)
	}
	have := map[string][]byte{}
	err = eachAttr(a.reply, func(number uint16, payload []byte) {
		if attr, ok := get.Set.ByNumber(number); ok && slices.Contains(set.Do.Request, attr.Name) {
			have[attr.Name] = payload
		}
	})
	for _, name := range set.Do.Request {
		attr, _ := set.Set.ByName(name)
		if err == nil && len(have[name]) != attr.Type.Size() {
			err = fmt.Errorf("setting %s has %d bytes in the reply, want %d", name, len(have[name]), attr.Type.Size())
		}
	}
	return have, err
}
