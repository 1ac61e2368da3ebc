// SPDX-License-Identifier: MIT

package stats

import (
	"errors"
	"fmt"
	"strings"
)

// Roles in a report.
const (
	RoleStress = "stress"
	RoleServe  = "serve"
)

// Report is what a run ends with. Ops to Max are this side's requests;
// VerifyFailures and MRsHeld add up both sides.
type Report struct {
	Role      string `json:"role"` // RoleStress or RoleServe
	Mode      string `json:"mode"`
	Size      int    `json:"size"` // bytes an operation
	Depth     int    `json:"depth"`
	Tasks     int    `json:"tasks"`
	Duplex    bool   `json:"duplex"`
	Seed      uint64 `json:"seed"`
	LocalAddr string `json:"local_addr"`
	PeerAddr  string `json:"peer_addr"`
	Transport string `json:"transport"`

	Ops       int64   `json:"ops"`
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
	OpsPerS   float64 `json:"ops_per_s"`
	BytesPerS float64 `json:"bytes_per_s"`
	Summary
	SendmsgMean float64 `json:"sendmsg_us_mean"`
	SendmsgP99  float64 `json:"sendmsg_us_p99"`

	VerifyFailures int64 `json:"verify_failures"`
	MRsHeld        int64 `json:"mrs_held"`
	Resets         int64 `json:"resets"`
	Aborted        int64 `json:"aborted"`
	Retried        int64 `json:"retried"`

	Interrupted bool   `json:"interrupted"`     // ended by a signal on this side
	Error       string `json:"error,omitempty"` // why the run failed

	Local Result  `json:"local"`
	Peer  *Result `json:"peer"` // null if the peer did not tell

	// Times are the histograms behind the numbers above, and those of calls that
	// a session may make besides.
	Times Times `json:"-"`

	// timed is of how many operations the latency is known: not of those of
	// tasks that did not end.
	timed, timedSends int64
}

// Times are the histograms of one side's requests.
type Times struct {
	Latency *Latency // from the beginning of an operation to its end
	Sendmsg *Latency // of the system call that carried the request
	GetMR   *Latency // of GET_MR, where the requester uses it
	FreeMR  *Latency // of FREE_MR, likewise
}

// NewTimes returns empty histograms.
func NewTimes() Times { return Times{NewLatency(), NewLatency(), NewLatency(), NewLatency()} }

// Merge adds the times of others.
func (t Times) Merge(o Times) {
	t.Latency.Merge(o.Latency)
	t.Sendmsg.Merge(o.Sendmsg)
	t.GetMR.Merge(o.GetMR)
	t.FreeMR.Merge(o.FreeMR)
}

// Fill computes the totals of Local, Peer, Seconds and the histograms.
func (r *Report) Fill(t Times) {
	r.Times = t
	r.Ops, r.Bytes = r.Local.Ops, r.Local.Bytes
	if r.Seconds > 0 {
		r.OpsPerS = round2(float64(r.Ops) / r.Seconds)
		r.BytesPerS = round2(float64(r.Bytes) / r.Seconds)
	}
	r.Summary = t.Latency.Summary()
	s := t.Sendmsg.Summary()
	r.timed, r.timedSends = t.Latency.Count(), t.Sendmsg.Count()
	r.SendmsgMean, r.SendmsgP99 = s.Mean, s.P99
	r.Resets, r.Aborted, r.Retried = r.Local.Resets, r.Local.Aborted, r.Local.Retried
	r.SetPeer(r.Peer)
}

// SetPeer sets the peer's result, nil for an unknown one, and the totals that
// depend on it.
func (r *Report) SetPeer(p *Result) {
	r.Peer = p
	r.VerifyFailures, r.MRsHeld = r.Local.VerifyFailures, r.Local.MRsHeld
	if p != nil {
		r.VerifyFailures += p.VerifyFailures
		r.MRsHeld += p.MRsHeld
	}
}

// SetError keeps why the run was cut short, on one line.
func (r *Report) SetError(err error) {
	if err != nil {
		r.Error = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
}

func round2(x float64) float64 { return float64(int64(x*100+0.5)) / 100 }

// Verdict returns nil if the run did something and everything was right.
func (r *Report) Verdict() error {
	var bad []string
	if r.VerifyFailures > 0 {
		s := fmt.Sprintf("%d verification failures", r.VerifyFailures)
		if r.Local.FirstFailure != "" {
			s += ", the first: " + r.Local.FirstFailure
		} else if r.Peer != nil && r.Peer.FirstFailure != "" {
			s += ", the first, at the peer: " + r.Peer.FirstFailure
		}
		bad = append(bad, s)
	}
	if r.MRsHeld > 0 {
		bad = append(bad, fmt.Sprintf("%d memory regions were still held at the end (and have been freed)", r.MRsHeld))
	}
	if r.Ops == 0 && r.Local.Served == 0 {
		bad = append(bad, "nothing was done")
	}
	if len(bad) == 0 {
		return nil
	}
	return errors.New(strings.Join(bad, "; "))
}

// Text returns the report for people.
func (r *Report) Text() string {
	var b strings.Builder
	p := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-18s %s\n", name, fmt.Sprintf(format, args...))
	}
	what := fmt.Sprintf("%s, %d bytes, depth %d, %d task(s)", r.Mode, r.Size, r.Depth, r.Tasks)
	if r.Duplex {
		what += ", both ways"
	}
	p(r.Role, "%s -> %s over %s: %s, seed %d", r.LocalAddr, r.PeerAddr, r.Transport, what, r.Seed)
	if r.Ops > 0 || r.Role == RoleStress {
		p("operations", "%d in %.2f s, %.1f a second", r.Ops, r.Seconds, r.OpsPerS)
		p("bytes", "%d, %.2f MB/s", r.Bytes, r.BytesPerS/1e6)
	}
	if r.Local.Served > 0 || r.Role == RoleServe {
		p("served", "%d operations of the peer, %d bytes, in %.2f s", r.Local.Served, r.Local.ServedBytes, r.Seconds)
	}
	if r.Ops > 0 {
		p("latency us", "%s", r.latencyText())
		if r.timedSends == 0 {
			p("sendmsg us", "-")
		} else {
			p("sendmsg us", "mean %.1f  p99 %.1f", r.SendmsgMean, r.SendmsgP99)
		}
	}
	p("verify failures", "%d", r.VerifyFailures)
	for _, side := range []*Result{&r.Local, r.Peer} {
		if side != nil && side.FirstFailure != "" {
			p("first failure", "%s", side.FirstFailure)
		}
	}
	p("MRs still held", "%d of %d mapped", r.MRsHeld, r.Local.MRsMapped+r.peerMapped())
	p("resets", "%d, operations aborted %d, retried %d", r.Resets, r.Aborted, r.Retried)
	for name, n := range r.Local.RDMAErrors {
		p("RDMA errors", "%d %s", n, name)
	}
	if r.Peer != nil {
		p("peer", "operations %d, served %d, verify failures %d, MRs held %d, resets %d",
			r.Peer.Ops, r.Peer.Served, r.Peer.VerifyFailures, r.Peer.MRsHeld, r.Peer.Resets)
		for name, n := range r.Peer.RDMAErrors {
			p("peer RDMA errors", "%d %s", n, name)
		}
	} else {
		p("peer", "its results are unknown: it did not tell them")
	}
	if r.Interrupted {
		p("interrupted", "by a signal")
	}
	return b.String()
}

func (r *Report) latencyText() string {
	if r.timed == 0 {
		return "- (unknown: the tasks that measured it did not end)"
	}
	s := fmt.Sprintf("p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f  max %.1f", r.P50, r.P90, r.P99, r.P999, r.Max)
	if r.timed < r.Ops {
		s += fmt.Sprintf("  (of %d operations; the other tasks did not end)", r.timed)
	}
	return s
}

func (r *Report) peerMapped() int64 {
	if r.Peer == nil {
		return 0
	}
	return r.Peer.MRsMapped
}
