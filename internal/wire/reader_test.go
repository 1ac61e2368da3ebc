// SPDX-License-Identifier: MIT

package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// framesOf are what the nodes sent in a recorded capture.
func framesOf(t *testing.T, capture string) (list []Frame) {
	t.Helper()
	f, err := os.Open("testdata/" + capture + ".pcapng.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for f, err := range inbound(ReadCapture(f, nil)) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

// pcap writes frames in the old format, of each snap bytes at most.
func pcap(t *testing.T, frames []Frame, snap int, link layers.LinkType) []byte {
	t.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriter(&b)
	if err := w.WriteFileHeader(uint32(snap), link); err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		ci := gopacket.CaptureInfo{Timestamp: f.Time, CaptureLength: min(len(f.Data), snap), Length: len(f.Data)}
		if err := w.WritePacket(ci, f.Data[:ci.CaptureLength]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// story is what a capture says, without times and payloads.
func story(tr *Trace) (s []string) {
	for _, m := range tr.Messages {
		s = append(s, strings.Join([]string{
			m.Src.String(), m.Dst.String(), string(rune(m.Fragment)), string(rune(m.Bytes)), string(rune(m.Sequence)), string(m.ExtRaw[:]),
		}, " "))
	}
	for _, op := range tr.RDMA {
		s = append(s, op.Src.String(), string(rune(op.RKey)), string(rune(op.Length)))
	}
	return s
}

// All formats tell the same, and a truncated capture all that stands in headers.
func TestFormats(t *testing.T) {
	const whole = 1 << 16
	for _, capture := range []string{"invalidate-6.1", "connect-ipv6-6.1"} {
		frames := framesOf(t, capture)
		want := story(recorded(t, capture))
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		if _, err := z.Write(pcap(t, frames, whole, layers.LinkTypeEthernet)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		cooked, cooked2, raw, tagged := slices.Clone(frames), slices.Clone(frames), slices.Clone(frames), slices.Clone(frames)
		for i, f := range frames {
			etherType, ip := f.Data[12:14], f.Data[14:]
			cooked[i].Data = slices.Concat([]byte{0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0}, etherType, ip)
			cooked2[i].Data = slices.Concat(etherType, []byte{0, 0, 0, 0, 0, 7, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0}, ip)
			raw[i].Data = ip
			tagged[i].Data = slices.Concat(f.Data[:12], []byte{0x81, 0, 0, 5}, f.Data[12:])
		}
		// What is not IP cannot stand in a capture of IP.
		raw = slices.DeleteFunc(raw, func(f Frame) bool { return f.Data[0]>>4 != 4 && f.Data[0]>>4 != 6 })
		for name, tt := range map[string]struct {
			file      []byte
			truncated bool
		}{
			"pcap":          {pcap(t, frames, whole, layers.LinkTypeEthernet), false},
			"gzip":          {zipped.Bytes(), false},
			"cooked":        {pcap(t, cooked, whole, layers.LinkTypeLinuxSLL), false},
			"cooked 2":      {pcap(t, cooked2, whole, layers.LinkTypeLinuxSLL2), false},
			"raw IP":        {pcap(t, raw, whole, layers.LinkTypeRaw), false},
			"VLAN":          {pcap(t, tagged, whole, layers.LinkTypeEthernet), false},
			"snap of 160":   {pcap(t, frames, 160, layers.LinkTypeEthernet), true},
			"snap of 1,100": {pcap(t, frames, 1100, layers.LinkTypeEthernet), true},
		} {
			tr, err := Analyse(ReadCapture(bytes.NewReader(tt.file), nil))
			if err != nil {
				t.Errorf("%s, %s: %v", capture, name, err)
				continue
			}
			if got := story(tr); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %d entries\n%q\nwant %d\n%q", capture, name, len(got), got, len(want), want)
			}
			if (tr.Truncated > 0) != tt.truncated || tr.Truncated > tr.RoCE || !tt.truncated && tr.Undecoded != 0 {
				t.Errorf("%s, %s: %d of %d truncated, %d undecoded: %v", capture, name, tr.Truncated, tr.RoCE, tr.Undecoded, tr.FirstError)
			}
		}
	}
}

func TestNoCapture(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		want error
	}{
		"empty":        {"", ErrNotCapture},
		"short":        {"\x0a", ErrNotCapture},
		"text":         {"what is this?", ErrNotCapture},
		"gzipped text": {gzipped(t, "what is this?"), ErrNotCapture},
		"bad gzip":     {"\x1f\x8b\x08 and no more", nil},
		"pcapng":       {"\x0a\x0d\x0d\x0a and no more", nil},
	} {
		var last error
		for _, err := range ReadCapture(strings.NewReader(tt.file), nil) {
			last = err
		}
		if last == nil || tt.want != nil && !errors.Is(last, tt.want) {
			t.Errorf("%s: %v, want %v", name, last, tt.want)
		}
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A capture that is cut anywhere gives the frames before, and says so unless it
// is between two frames.
func TestCutCapture(t *testing.T) {
	frames := framesOf(t, "invalidate-6.1")[:8]
	b := pcap(t, frames, 1<<16, layers.LinkTypeEthernet)
	ends, at := map[int]int{24: 0}, 24
	for i, f := range frames {
		at += 16 + len(f.Data)
		ends[at] = i + 1
	}
	for n := 24; n <= len(b); n++ {
		got, last := 0, error(nil)
		for _, err := range ReadCapture(bytes.NewReader(b[:n]), nil) {
			if last = err; err == nil {
				got++
			}
		}
		want, whole := ends[n]
		if whole && (got != want || last != nil) {
			t.Errorf("cut at %d: %d frames, %v; want %d", n, got, last, want)
		}
		if !whole && !errors.Is(last, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d, within a frame: %v", n, last)
		}
	}
}

// Before each read that may wait, the caller is told.
func TestIdle(t *testing.T) {
	frames := framesOf(t, "invalidate-6.1")
	r, w := io.Pipe()
	idle, got := make(chan int), 0
	go func() {
		for range ReadCapture(r, func() { idle <- got }) {
			got++
		}
		close(idle)
	}()
	b := pcap(t, frames[:1], 1<<16, layers.LinkTypeEthernet)
	if n := <-idle; n != 0 {
		t.Errorf("idle with %d frames", n)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	for n := range idle {
		if n == 1 {
			break
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for range idle {
	}
	if got != 1 {
		t.Errorf("%d frames", got)
	}
}

// What was set up for something else is not taken for RDS.
func TestForeign(t *testing.T) {
	for service, foreign := range map[uint64]bool{
		0x01060000 | 18634: false, 0x01060000 | 16385: false, 0x01060000 | 4420: true, 0x01110000 | 18634: true,
	} {
		r := &recording{t: t}
		r.connect(handshake{idA: 1, idB: 2, qpA: 17, qpB: 18, psnA: 1})
		req := r.frames[0].Data
		at := bytes.Index(req, binary.BigEndian.AppendUint64(nil, 0x01060000|18634))
		binary.BigEndian.PutUint64(req[at:], service)
		r.roce(addrA, addrB, SendOnly, 18, 1, nil, rdsHeader(1, 0, 0))
		tr := r.analyse()
		if got := len(tr.Messages) == 0 && tr.Foreign == 1; got != foreign || tr.Undecoded != 0 {
			t.Errorf("service %#x: %d messages, %d foreign packets", service, len(tr.Messages), tr.Foreign)
		}
	}
}

// A SEND without end, and a stream behind a gap, are given up.
func TestPendingIsBounded(t *testing.T) {
	r := &recording{t: t}
	r.connect(handshake{idA: 1, idB: 2, qpA: 17, qpB: 18, psnA: 1})
	piece := make([]byte, 1<<15)
	r.roce(addrA, addrB, SendFirst, 18, 1, nil, rdsHeader(1, 0, 0))
	for i := range uint32(2 * maxPending / len(piece)) {
		r.roce(addrA, addrB, SendMiddle, 18, 2+i, nil, piece)
	}
	if tr := r.analyse(); tr.Undecoded != 1 || !errors.Is(tr.FirstError, errPending) {
		t.Errorf("%d undecoded, %v", tr.Undecoded, tr.FirstError)
	}
	r = &recording{t: t}
	seg := func(seq uint32, syn bool, payload []byte) {
		tcp := &layers.TCP{SrcPort: 33000, DstPort: PortRDSTCP, Seq: seq, SYN: syn, ACK: !syn, DataOffset: 5}
		r.add(addrA, serialize(t, addrA, addrB, layers.IPProtocolTCP, tcp, payload))
	}
	seg(0, true, nil)
	for i := range uint32(2 * maxPending / len(piece)) {
		seg(100+i*uint32(len(piece)), false, piece)
	}
	if tr := r.analyse(); tr.Undecoded != 1 || !errors.Is(tr.FirstError, errPending) {
		t.Errorf("TCP: %d undecoded, %v", tr.Undecoded, tr.FirstError)
	}
}

// FuzzReadCapture: no file makes the reader or what follows panic.
func FuzzReadCapture(f *testing.F) {
	for _, name := range []string{"connect-6.1", "invalidate-6.1"} {
		b, err := os.ReadFile("testdata/" + name + ".pcapng.gz")
		if err != nil {
			f.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			f.Fatal(err)
		}
		plain, err := io.ReadAll(io.LimitReader(z, 3000))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	f.Add([]byte("\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x01\x00\x00\x00"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		fo, keys := NewFollower(), NewKeyFollower()
		fo.OnMessage, fo.OnOperation = keys.Message, keys.Operation
		keys.OnDone = func(k *Key) { _ = k.CheckInvalidation() }
		for f, err := range ReadCapture(bytes.NewReader(b), nil) {
			if err != nil {
				break
			}
			fo.Frame(f)
		}
		keys.End()
	})
}
