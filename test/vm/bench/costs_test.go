// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"strings"
	"testing"
)

func TestMachineTime(t *testing.T) {
	busy, all, err := parseMachineTime([]byte("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1\n"))
	if err != nil || busy.Seconds() != 1.5 || all.Seconds() != 10 {
		t.Fatalf("%v, %v, %v", busy, all, err)
	}
	for _, bad := range []string{"", "cpu 1 2 3", "cpu  1 2 3 4 x 6 7 8\n"} {
		if _, _, err := parseMachineTime([]byte(bad)); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
	before := costs{}
	after := costs{a: 2e9, b: 1e9, self: 1e9, busy: 5e9, all: 10e9, frames: 300}
	c := after.since(before, 100)
	if c.OtherLoad != 0.1 || c.CPUAsking != 20000 || c.CPUSwitch != 10000 || c.FramesPerOp != 3 {
		t.Errorf("%+v", c)
	}
	after.busy = 3.9e9
	if c := after.since(before, 100); c.OtherLoad != 0 {
		t.Errorf("%+v", c)
	}
	if after.since(before, 0) != nil {
		t.Error("costs of no operation")
	}
}

// A machine that has other things to do spoils the numbers, and the report says so.
func TestDisturbed(t *testing.T) {
	r := made()
	if w := r.Host.Warning(); w != "" || *r.Host.OtherLoad != 0.02 {
		t.Errorf("%q, %v", w, *r.Host.OtherLoad)
	}
	for i := range r.Runs {
		if r.Runs[i].Costs != nil {
			r.Runs[i].OtherLoad = 0.5
		}
	}
	r.evaluate()
	page, err := r.html()
	if err != nil || !strings.Contains(r.text(), "took 50 % of") || !strings.Contains(string(page), "took 50 % of") {
		t.Errorf("%v\n%s", err, r.text())
	}
}

func TestParseProcessTime(t *testing.T) {
	d, err := parseProcessTime([]byte("12 (qemu) ) x) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 5 0\n"))
	if err != nil || d.Seconds() != 2 {
		t.Errorf("%v, %v", d, err)
	}
	for _, bad := range []string{"", "12 (qemu) S 1 2", "12 (qemu) S 1 2 3 4 5 6 7 8 9 10 x 50"} {
		if _, err := parseProcessTime([]byte(bad)); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
	if d, err := processTime(os.Getpid()); err != nil || d < 0 {
		t.Errorf("%v, %v", d, err)
	}
}
