// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
)

// pieceLen is about how much output is written at a time.
const pieceLen = 64 << 10

// printMRList writes a list as printJSON does. It is written out by hand, and in
// pieces, since a host may have many thousand MRs, of which the general encoder
// makes a matter of seconds on a slow machine. A test compares the two.
func (a *app) printMRList(list []gonl.MR) error {
	if len(list) == 0 {
		return a.print([]byte("[]\n"))
	}
	e := newMREncoder("  ")
	b := append(make([]byte, 0, pieceLen+1024), '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n  "...)
		b = e.append(b, &list[i])
		if len(b) < pieceLen {
			continue
		}
		if err := a.print(b); err != nil {
			return err
		}
		b = b[:0]
	}
	return a.print(append(b, "\n]\n"...))
}

// mrEncoder writes MRs in JSON.
type mrEncoder struct {
	id, device, pid, command, uid, socket, boundAddr, boundPort, rkey, length, pages,
	flags, state, ageMS, connID, peerAddr, end string

	indent string
	// Most MRs of a list have the flags of the one before.
	lastFlags gonl.MRFlag
	flagList  []byte
}

// newMREncoder makes an encoder that indents lines after the first by indent.
// Programs depend on the names: add, but do not rename.
func newMREncoder(indent string) *mrEncoder {
	key := func(name string) string { return ",\n" + indent + "  \"" + name + "\": " }
	return &mrEncoder{
		id: "{" + key("id")[1:], device: key("device"), pid: key("pid"), command: key("command"), uid: key("uid"),
		socket: key("socket"), boundAddr: key("bound_addr"), boundPort: key("bound_port"), rkey: key("rkey"),
		length: key("length"), pages: key("pages"), flags: key("flags"), state: key("state"), ageMS: key("age_ms"),
		connID: key("conn_id"), peerAddr: key("peer_addr"), end: "\n" + indent + "}",
		indent: indent, flagList: []byte("[]"),
	}
}

func (e *mrEncoder) append(b []byte, m *gonl.MR) []byte {
	b = appendNumber(b, e.id, uint64(m.ID))
	b = appendText(b, e.device, m.Device)
	b = appendNumber(b, e.pid, uint64(m.PID))
	b = appendText(b, e.command, m.Command)
	b = appendNumber(b, e.uid, uint64(m.UID))
	b = appendNumber(b, e.socket, m.Socket)
	b = appendAddr(b, e.boundAddr, &m.BoundAddr)
	b = appendNumber(b, e.boundPort, uint64(m.BoundPort))
	b = appendOptional(b, e.rkey, m.RKey)
	b = appendNumber(b, e.length, m.Length)
	b = appendNumber(b, e.pages, uint64(m.Pages))
	if m.Flags != e.lastFlags {
		e.setFlags(m.Flags)
	}
	b = append(b, e.flags...)
	b = append(b, e.flagList...)
	b = appendText(b, e.state, m.State.String())
	b = appendNumber(b, e.ageMS, uint64(m.Age.Milliseconds()))
	b = appendOptional(b, e.connID, m.ConnID)
	b = appendAddr(b, e.peerAddr, m.Peer)
	return append(b, e.end...)
}

func (e *mrEncoder) setFlags(f gonl.MRFlag) {
	e.lastFlags = f
	b := append(e.flagList[:0], '[')
	for i, name := range f.Names() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, "\n"+e.indent+"    ", name)
	}
	if f != 0 {
		b = append(b, "\n"+e.indent+"  "...)
	}
	e.flagList = append(b, ']')
}

func appendNumber(b []byte, key string, n uint64) []byte {
	return strconv.AppendUint(append(b, key...), n, 10)
}

// appendOptional appends a number, null where there is none.
func appendOptional(b []byte, key string, n *uint32) []byte {
	if n == nil {
		b = append(b, key...)
		return append(b, "null"...)
	}
	return appendNumber(b, key, uint64(*n))
}

// appendAddr appends an address, null where there is none.
func appendAddr(b []byte, key string, a *netip.Addr) []byte {
	b = append(b, key...)
	if a == nil || !a.IsValid() {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = a.AppendTo(b)
	return append(b, '"')
}

// appendText appends a string. The name of a process can have any bytes in it.
func appendText(b []byte, key, s string) []byte {
	b = append(b, key...)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendOddString(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendOddString(b []byte, s string) []byte {
	var odd strings.Builder
	enc := json.NewEncoder(&odd)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		// A string can be encoded always, and a Builder takes all.
		panic(err)
	}
	return append(b, strings.TrimSuffix(odd.String(), "\n")...)
}

var mrColumns = []column[*gonl.MR]{
	{"ID", listLevel, func(m *gonl.MR) string { return strconv.FormatUint(uint64(m.ID), 10) }},
	{"DEVICE", listLevel, func(m *gonl.MR) string { return m.Device }},
	{"STATE", listLevel, func(m *gonl.MR) string { return m.State.String() }},
	{"FLAGS", listLevel, func(m *gonl.MR) string { return m.Flags.String() }},
	{"PID", listLevel, func(m *gonl.MR) string { return strconv.FormatUint(uint64(m.PID), 10) }},
	{"COMMAND", listLevel, func(m *gonl.MR) string { return printable(m.Command) }},
	{"SOCKET", listLevel, func(m *gonl.MR) string {
		if m.Socket == 0 {
			return absent
		}
		return strconv.FormatUint(m.Socket, 10)
	}},
	{"BOUND TO", listLevel, func(m *gonl.MR) string { return endpoint(m.BoundAddr, m.BoundPort) }},
	{"LENGTH", listLevel, func(m *gonl.MR) string { return strconv.FormatUint(m.Length, 10) }},
	{"PAGES", listLevel, func(m *gonl.MR) string { return strconv.FormatUint(uint64(m.Pages), 10) }},
	{"RKEY", listLevel, func(m *gonl.MR) string {
		if m.RKey == nil {
			return absent
		}
		return fmt.Sprintf("0x%08x", *m.RKey)
	}},
	{"AGE", listLevel, func(m *gonl.MR) string { return age(m.Age) }},
	{"CONN", listLevel, func(m *gonl.MR) string { return optionalNumber(m.ConnID) }},
	{"PEER", listLevel, func(m *gonl.MR) string { return optional(m.Peer) }},
	{"UID", wideLevel, func(m *gonl.MR) string { return strconv.FormatUint(uint64(m.UID), 10) }},
}

// endpoint prints address and port of a socket.
func endpoint(a netip.Addr, port uint16) string {
	if !a.IsValid() {
		return absent
	}
	return netip.AddrPortFrom(a, port).String()
}

// age prints fractions where they count: most MRs live for milliseconds.
func age(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + "s"
	}
	return uptime(&d)
}

// printable puts the name of a process into quotes where it would upset a
// terminal or a table.
func printable(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` {
		return q
	}
	if s == "" {
		return absent
	}
	return s
}
