// SPDX-License-Identifier: MIT

package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestHeader(t *testing.T) {
	h := Header{Type: Request, Flags: FlagRead, Session: 1 << 60, Op: 1 << 50, Try: 7, Length: 4096}
	b := append(h.Append(nil), "body"...)
	got, body, err := Parse(b)
	if err != nil || got != h || string(body) != "body" {
		t.Fatalf("got %+v %q, %v", got, body, err)
	}
	if len(b) != HeaderSize+4 {
		t.Errorf("%d bytes", len(b))
	}
}

func TestParseErrors(t *testing.T) {
	good := Header{Type: Ping}.Append(nil)
	if _, _, err := Parse(good[:HeaderSize-1]); !errors.Is(err, ErrForeign) {
		t.Errorf("short: %v", err)
	}
	other := bytes.Clone(good)
	other[0] ^= 1
	if _, _, err := Parse(other); !errors.Is(err, ErrForeign) {
		t.Errorf("magic: %v", err)
	}
	newer := bytes.Clone(good)
	newer[4] = Version + 1
	if _, _, err := Parse(newer); !errors.Is(err, ErrVersion) {
		t.Errorf("version: %v", err)
	}
}

func TestJSON(t *testing.T) {
	p := Params{Mode: ModeBoth, Size: 4096, Depth: 8, Tasks: 2, Ports: []uint16{1, 2}}
	b, err := AppendJSON(nil, Header{Type: Hello, Session: 3}, p)
	if err != nil {
		t.Fatal(err)
	}
	h, body, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	var q Params
	if err := ParseJSON(h, body, &q); err != nil || q.Mode != ModeBoth || len(q.Ports) != 2 {
		t.Fatalf("got %+v, %v", q, err)
	}
	if err := ParseJSON(h, body[:len(body)-1], &q); err == nil {
		t.Error("truncated body accepted")
	}
	h.Length = 3
	if err := ParseJSON(h, []byte("{{}"), &q); err == nil {
		t.Error("malformed body accepted")
	}
}

func TestParamsCheck(t *testing.T) {
	good := Params{Mode: ModeWrite, Size: MaxSize, Depth: 1, Tasks: 1}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Params){
		"1 MiB":     func(p *Params) { p.Size = MaxSize + 1 },
		"header":    func(p *Params) { p.Mode = ModeMsg },
		"too small": func(p *Params) { p.Size = 0 },
		"mode":      func(p *Params) { p.Mode = "x" },
		"depth":     func(p *Params) { p.Depth = MaxDepth + 1 },
		"tasks":     func(p *Params) { p.Tasks = 0 },
	} {
		p := good
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Header{Type: Done, Op: 1, Try: 2}.Append(nil))
	b, err := AppendJSON(nil, Header{Type: Hello}, Params{Mode: ModeMsg})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, body, err := Parse(b)
		if err != nil {
			return
		}
		if again := append(h.Append(nil), body...); !bytes.Equal(again, b) {
			t.Fatalf("% x came back as % x", b, again)
		}
		var p Params
		if ParseJSON(h, body, &p) == nil && p.Check() == nil && p.Memory() <= 0 {
			t.Fatalf("%+v needs %d bytes", p, p.Memory())
		}
	})
}
