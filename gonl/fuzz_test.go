// SPDX-License-Identifier: MIT

package gonl

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The parsers must not panic and must not accept what has no identity. What
// they accept they must accept again with an attribute of a newer kernel
// behind it, and with the same result, and that attribute kept.

const futureText = "from the future"

var future = at(0x3fff, []byte(futureText))

// kept takes the attribute of the newer kernel off those that were kept.
func kept(t *testing.T, unknown *[]Attribute) {
	t.Helper()
	n := len(*unknown)
	if n == 0 || (*unknown)[n-1].Type != 0x3fff || string((*unknown)[n-1].Data) != futureText {
		t.Fatalf("kept %+v", *unknown)
	}
	if *unknown = (*unknown)[:n-1]; n == 1 {
		*unknown = nil
	}
}

func FuzzConn(f *testing.F) {
	f.Add(connAttrs(1, "192.0.2.2"))
	f.Add(bareConn(2, "2001:db8::2"))
	f.Add(at(0x8001, u32(1)))
	f.Add([]byte{0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseConn(b)
		if err != nil {
			return
		}
		if !c.Local.IsValid() || !c.Peer.IsValid() || c.Local.Is4In6() || c.Peer.Is4In6() {
			t.Errorf("addresses %v, %v", c.Local, c.Peer)
		}
		if c.Uptime != nil && *c.Uptime < 0 {
			t.Errorf("uptime %v", *c.Uptime)
		}
		again, err := parseConn(append(pad4(b), future...))
		if err == nil {
			kept(t, &again.Unknown)
		}
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Errorf("with an unknown attribute: %+v, %v, instead of %+v", again, err, c)
		}
	})
}

func FuzzExtHdr(f *testing.F) {
	f.Add(cat(at(1, u32(1)), at(2, []byte("version\x00")), at(3, u32(4)), at(4, u64(11))))
	f.Add(cat(at(1, u32(200)), at(9, u64(1))))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseExtHdr(b)
		if err != nil {
			return
		}
		if h.Type == 0 {
			t.Error("type 0, which ends a header, was accepted")
		}
		again, err := parseExtHdr(append(pad4(b), future...))
		if err == nil {
			kept(t, &again.Unknown)
		}
		if err != nil || !reflect.DeepEqual(h, again) {
			t.Errorf("with an unknown attribute: %+v, %v, instead of %+v", again, err, h)
		}
	})
}

func FuzzSettings(f *testing.F) {
	f.Add(cat(at(1, []byte{1}), at(2, u32(1)), at(3, u32(1)), at(4, u32(0x301)), at(5, []byte("0.1.0\x00"))))
	f.Add(cat(at(1, []byte{1}), at(2, u32(1)), at(3, u32(1)), at(4, u32(0x301)), at(5, []byte("0.1.0\x00")),
		at(6, []byte{1}), at(7, u32(16)), at(8, u32(0)), at(9, u64(1)), at(10, u32(60000)), at(11, []byte{0})))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseSettings(b)
		if err != nil {
			return
		}
		again, err := parseSettings(append(pad4(b), future...))
		if err == nil {
			kept(t, &again.Unknown)
		}
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("with an unknown attribute: %+v, %v, instead of %+v", again, err, s)
		}
	})
}

func FuzzMR(f *testing.F) {
	f.Add(mrAttrs(1))
	f.Add(bareMR(2))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseMR(b)
		if err != nil {
			return
		}
		if m.Age < 0 {
			t.Errorf("age %v", m.Age)
		}
		if m.BoundAddr.Is4In6() || m.Peer != nil && (!m.Peer.IsValid() || m.Peer.Is4In6()) {
			t.Errorf("addresses %v, %v", m.BoundAddr, m.Peer)
		}
		// The second of a list, as the parser keeps something of the first.
		var p mrParser
		if _, err := p.parse(mrAttrs(3)); err != nil {
			t.Fatal(err)
		}
		again, err := p.parse(append(pad4(b), future...))
		if err == nil {
			kept(t, &again.Unknown)
		}
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("with an unknown attribute: %+v, %v, instead of %+v", again, err, m)
		}
	})
}

func FuzzPool(f *testing.F) {
	f.Add(poolAttrs("rxe0"))
	f.Add(at(1, []byte("mlx5_0\x00")))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePool(b)
		if err != nil {
			return
		}
		again, err := parsePool(append(pad4(b), future...))
		if err == nil {
			kept(t, &again.Unknown)
		}
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Errorf("with an unknown attribute: %+v, %v, instead of %+v", again, err, p)
		}
	})
}

func FuzzMRStats(f *testing.F) {
	f.Add(mrStatsAttrs())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseMRStats(b)
		if err != nil {
			return
		}
		again, err := parseMRStats(append(pad4(b), future...))
		if err == nil {
			kept(t, &again.Unknown)
		}
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("with an unknown attribute: %+v, %v, instead of %+v", again, err, s)
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add(msg(testFamily, 0, 0, genl(5, connAttrs(1, "192.0.2.2"))))
	f.Add(msg(testFamily, 0, 0, genl(99)))
	f.Add(cat(msg(testFamily, 0, 0, genl(13, mrAttrs(1))), msg(testFamily, 0, 0, genl(14, bareMR(2)))))
	f.Add(cat(msg(0x10, 0, 0, genl(2, at(1, u16(testFamily)))), msg(testFamily, 0, 0, genl(6, bareConn(1, "192.0.2.2")))))
	f.Add(msg(tError, fTLVs|fCapped, 0, cat(u32(^uint32(21)), make([]byte, 16), extMsg("no"), extOff(20), extMissing(1))))
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*", "*.hex"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no recordings: %v", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range strings.Fields(string(text)) {
			b, err := hex.DecodeString(line)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		msgs, err := splitDatagram(b)
		if err != nil {
			return
		}
		s := &EventStream{family: testFamily, now: time.Now}
		for _, m := range msgs {
			if err := parseAck(m); err != nil && err.Error() == "" {
				t.Error("an error without words")
			}
			ev, err := s.event(m)
			if err != nil || ev == nil {
				continue
			}
			_, known := eventTypeNames.find(uint32(ev.Type))
			if (ev.Conn == nil) == (ev.MR == nil) || !known || ev.Type == EventLost {
				t.Errorf("event %+v", ev)
			}
		}
	})
}
