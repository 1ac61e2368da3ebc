// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rds-ext/rds_ext/test/vm"
)

// Report is demo.json.
type Report struct {
	Conns  []Conn `json:"conns"`
	Stress Stress `json:"stress"`
}

// Conn is a connection as one node sees it.
type Conn struct {
	Node         string   `json:"node"`
	Local        string   `json:"local"`
	Peer         string   `json:"peer"`
	Transport    string   `json:"transport"`
	State        string   `json:"state"`
	Version      *string  `json:"version"`
	PeerVersion  *string  `json:"peer_version"`
	PeerFeatures []string `json:"peer_features"`
	LearntFrom   string   `json:"learnt_from"`
}

// Stress is what "rdsmr stress" reports.
type Stress struct {
	Ops            int64   `json:"ops"`
	Bytes          int64   `json:"bytes"`
	Seconds        float64 `json:"seconds"`
	OpsPerS        float64 `json:"ops_per_s"`
	BytesPerS      float64 `json:"bytes_per_s"`
	P50            float64 `json:"p50_us"`
	P90            float64 `json:"p90_us"`
	P99            float64 `json:"p99_us"`
	Max            float64 `json:"max_us"`
	VerifyFailures int64   `json:"verify_failures"`
	MRsHeld        int64   `json:"mrs_held"`
	Error          string  `json:"error,omitempty"`

	exit int
}

func (s Stress) print(w io.Writer) {
	fmt.Fprintf(w, `
operations             %d in %.1f s
bytes                  %d
rate                   %.0f operations/s, %.2f MB/s
latency                p50 %.0f us, p90 %.0f us, p99 %.0f us, max %.0f us
verification failures  %d
MRs still held         %d

`, s.Ops, s.Seconds, s.Bytes, s.OpsPerS, s.BytesPerS/1e6, s.P50, s.P90, s.P99, s.Max, s.VerifyFailures, s.MRsHeld)
}

// write puts the report in place as a whole.
func (r Report) write(file string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return vm.WriteReport(file, append(data, '\n'))
}

// verdict returns all that did not hold.
func (r Report) verdict() error {
	var errs []error
	for _, node := range []string{"a", "b"} {
		if !slices.ContainsFunc(r.Conns, func(c Conn) bool { return c.Node == node && c.Transport == "ib" }) {
			errs = append(errs, fmt.Errorf("node %s shows no connection over ib", node))
		}
	}
	for _, c := range r.Conns {
		if c.State != "up" || !is(c.Version, "3.1") || !is(c.PeerVersion, "3.1") ||
			!slices.Contains(c.PeerFeatures, "ext-types") || c.LearntFrom != "first packet" {
			errs = append(errs, fmt.Errorf("node %s: the connection to %s is not as it should be: up, version 3.1 on both sides, learnt from the first packet with feature ext-types", c.Node, c.Peer))
		}
	}
	s := r.Stress
	if s.exit != 0 || s.Ops == 0 || s.VerifyFailures != 0 || s.MRsHeld != 0 || s.Error != "" {
		errs = append(errs, fmt.Errorf("rdsmr stress: exit status %d, %d operations, %d verification failures, %d MRs held %s",
			s.exit, s.Ops, s.VerifyFailures, s.MRsHeld, s.Error))
	}
	return errors.Join(errs...)
}

func is(s *string, want string) bool { return s != nil && *s == want }
