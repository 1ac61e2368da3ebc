// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func good() Report {
	v := "3.1"
	conn := Conn{Transport: "ib", State: "up", Version: &v, PeerVersion: &v,
		PeerFeatures: []string{"ext-types"}, LearntFrom: "first packet"}
	a, b := conn, conn
	a.Node, b.Node = "a", "b"
	return Report{Conns: []Conn{a, b}, Stress: Stress{Ops: 1, Bytes: 4096}}
}

// Each thing that can be wrong makes the demo fail, alone.
func TestVerdict(t *testing.T) {
	if err := good().verdict(); err != nil {
		t.Fatal(err)
	}
	old := "3.0"
	for name, spoil := range map[string]func(*Report){
		"no connection on b":   func(r *Report) { r.Conns = r.Conns[:1] },
		"only TCP on a":        func(r *Report) { r.Conns[0].Transport = "tcp" },
		"down":                 func(r *Report) { r.Conns[0].State = "connecting" },
		"no version":           func(r *Report) { r.Conns[1].Version = nil },
		"other peer version":   func(r *Report) { r.Conns[1].PeerVersion = &old },
		"no features":          func(r *Report) { r.Conns[0].PeerFeatures = nil },
		"learnt elsewhere":     func(r *Report) { r.Conns[0].LearntFrom = "CM private data" },
		"nothing done":         func(r *Report) { r.Stress.Ops = 0 },
		"a byte was wrong":     func(r *Report) { r.Stress.VerifyFailures = 1 },
		"an MR was left":       func(r *Report) { r.Stress.MRsHeld = 1 },
		"rdsmr failed":         func(r *Report) { r.Stress.exit = 1 },
		"rdsmr had a complain": func(r *Report) { r.Stress.Error = "peer gone" },
	} {
		r := good()
		spoil(&r)
		if r.verdict() == nil {
			t.Errorf("%s: the demo would succeed", name)
		}
	}
}

func TestWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report", "demo.json")
	if err := good().write(file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Conns  []map[string]any
		Stress map[string]any
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("node local peer transport state version peer_version peer_features learnt_from") {
		if _, ok := got.Conns[0][key]; !ok {
			t.Errorf("conns has no %q", key)
		}
	}
	for _, key := range strings.Fields("ops bytes ops_per_s p50_us p99_us verify_failures mrs_held") {
		if _, ok := got.Stress[key]; !ok {
			t.Errorf("stress has no %q", key)
		}
	}
}
