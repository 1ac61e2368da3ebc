// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

// external matches what would make a browser fetch something.
var external = regexp.MustCompile(`(?i)https?:|//[a-z]|src=|<link|<script|@import|url\(`)

// check fails unless the page is well-formed and needs nothing from elsewhere.
func check(t *testing.T, page []byte) {
	t.Helper()
	if m := external.Find(page); m != nil {
		t.Errorf("the page refers to something outside: %s", m)
	}
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Strict = true
	d.Entity = xml.HTMLEntity
	depth, elements := 0, map[string]int{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			depth++
			elements[tok.Name.Local]++
			for _, a := range tok.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("<%s %s=%q>", tok.Name.Local, a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 || elements["html"] != 1 || elements["svg"] < 2 || elements["title"] != elements["svg"]+1 {
		t.Errorf("depth %d, elements %v", depth, elements)
	}
}

func TestHTML(t *testing.T) {
	r := made()
	page, err := r.html()
	if err != nil {
		t.Fatal(err)
	}
	check(t, page)
	text := string(page)
	for _, mode := range modes {
		if strings.Count(text, mode) < 4 {
			t.Errorf("%s is hardly there", mode)
		}
	}
	// Axes have units, and both sets of modules have bars and curves.
	for want, least := range map[string]int{
		"microseconds": 3, "latency in microseconds": len(modes), "sendmsg in microseconds": len(modes), "operations/s": 2,
		`class="bar stock"`: 6, `class="bar rds_ext"`: 12, `class="curve stock"`: 6, `class="curve rds_ext"`: 12,
		"stock: cannot run": 6, "ib_write_bw": 2, "What bounds the rates": 1, "</svg>": 2 + 2*len(modes),
	} {
		if n := strings.Count(text, want); n < least {
			t.Errorf("%q is there %d times, want %d", want, n, least)
		}
	}
}

// Whatever is missing or hostile, there is a page.
func TestHTMLOddities(t *testing.T) {
	for name, change := range map[string]func(*Report){
		"nothing ran": func(r *Report) {
			r.Runs = []Run{{Round: 1, Modules: stock, Mode: plain, Error: "no"}}
			r.Verbs = Verbs{}
		},
		"only stock":       func(r *Report) { r.Runs = r.Runs[:len(modes)]; r.Rounds = 1 },
		"markup in errors": func(r *Report) { r.Runs[0].Numbers, r.Runs[0].Error = nil, "<b>&amp;\"'</td>" },
		"all times are 0": func(r *Report) {
			for i := range r.Runs {
				if n := r.Runs[i].Numbers; n != nil {
					*n = Numbers{LatencyQuantiles: make([]float64, 201), SendmsgQuantiles: make([]float64, 201)}
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := made()
			change(r)
			r.evaluate()
			page, err := r.html()
			if err != nil {
				t.Fatal(err)
			}
			check(t, page)
			if r.text() == "" {
				t.Error("no text")
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAxes(t *testing.T) {
	for _, top := range []float64{0.3, 1, 7, 12, 99, 100, 1234, 5e6} {
		a := linearAxis(top)
		if a[0] != 0 || a[len(a)-1] < top || a[len(a)-2] >= top || len(a) < 4 || len(a) > 12 {
			t.Errorf("to %v: %v", top, a)
		}
	}
	for _, r := range [][2]float64{{1, 10}, {3, 4}, {0.1, 2e6}, {100, 100}, {7, 7}} {
		a := logAxis(r[0], r[1])
		if a[0] > r[0] || a[len(a)-1] < r[1] || len(a) < 2 {
			t.Errorf("%v: %v", r, a)
		}
	}
}
