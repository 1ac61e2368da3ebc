// SPDX-License-Identifier: MIT

package stats

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

func TestLatency(t *testing.T) {
	l := NewLatency()
	if s := l.Summary(); s != (Summary{}) {
		t.Errorf("empty: %+v", s)
	}
	for i := 1; i <= 100; i++ {
		l.Record(time.Duration(i) * time.Microsecond)
	}
	o := NewLatency()
	o.Record(time.Hour)
	o.Record(-1)
	l.Merge(o)
	s := l.Summary()
	if s.P50 < 48 || s.P50 > 52 || s.Max < 599e6 || s.Max > 601e6 {
		t.Errorf("%+v", s)
	}
}

func TestReport(t *testing.T) {
	var c Counters
	c.Ops.Store(100)
	c.Bytes.Store(409600)
	c.Mapped.Store(100)
	c.RDMAError(rds.StatusDropped)
	c.RDMAError(77)
	r := Report{Seconds: 2, Local: c.Result(), Peer: &Result{Served: 100}}
	l := NewLatency()
	l.Record(time.Millisecond)
	r.Fill(Times{l, l, NewLatency(), NewLatency()})
	if err := r.Verdict(); err != nil {
		t.Error(err)
	}
	if r.OpsPerS != 50 || r.BytesPerS != 204800 || r.P50 < 999 || r.P50 > 1001 {
		t.Errorf("%+v", r)
	}
	if got := r.Local.RDMAErrors; got["dropped"] != 1 || got["other error"] != 1 {
		t.Errorf("errors %v", got)
	}
	j, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(j, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{
		"ops", "bytes", "seconds", "ops_per_s", "bytes_per_s", "p50_us", "p90_us", "p99_us", "max_us",
		"sendmsg_us_mean", "verify_failures", "mrs_held", "resets", "aborted", "retried", "peer",
	} {
		if _, ok := m[k]; !ok {
			t.Errorf("JSON has no %q: %s", k, j)
		}
	}
}

// TestTextUnknown: what is not known is not printed as a zero, or left out.
func TestTextUnknown(t *testing.T) {
	none, one := NewLatency(), NewLatency()
	one.Record(time.Millisecond)
	for _, tt := range []struct {
		latency *Latency
		peer    *Result
		want    []string
	}{
		{none, nil, []string{"latency us         - (unknown", "sendmsg us         -\n", "peer               its results are unknown"}},
		{one, &Result{}, []string{"(of 1 operations; the other", "sendmsg us         mean 1", "peer               operations 0"}},
	} {
		r := Report{Role: RoleStress, Local: Result{Ops: 2}, Peer: tt.peer}
		r.Fill(Times{tt.latency, tt.latency, none, none})
		for _, w := range tt.want {
			if !strings.Contains(r.Text(), w) {
				t.Errorf("no %q in\n%s", w, r.Text())
			}
		}
	}
}

func TestVerdict(t *testing.T) {
	var c Counters
	c.Ops.Store(1)
	c.Failure(&c.DataFailures, "byte %d", 5)
	c.Failure(&c.Lost, "later")
	for want, r := range map[string]Report{
		"nothing was done":  {},
		"the first: byte 5": {Local: c.Result()},
		"at the peer: x":    {Local: Result{Ops: 1}, Peer: &Result{VerifyFailures: 1, FirstFailure: "x"}},
		"3 memory regions":  {Local: Result{Ops: 1, MRsHeld: 1}, Peer: &Result{MRsHeld: 2}},
	} {
		r.Fill(NewTimes())
		if err := r.Verdict(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestQuantiles(t *testing.T) {
	l := NewLatency()
	if q := l.Quantiles(4); q != nil {
		t.Errorf("of nothing: %v", q)
	}
	for us := 1; us <= 100; us++ {
		l.Record(time.Duration(us) * time.Microsecond)
	}
	q := l.Quantiles(4)
	for i, want := range []float64{1, 25, 50, 75, 100} {
		if len(q) != 5 || q[i] < want*0.99 || q[i] > want*1.01 {
			t.Fatalf("quantiles %v", q)
		}
	}
}

func TestCalls(t *testing.T) {
	var c Calls
	for _, k := range rds.CallKinds() {
		c.Note(rds.Call{Kind: k, Elapsed: time.Duration(k) + 1})
	}
	c.Note(rds.Call{Kind: rds.CallGetMR, Elapsed: 99})
	c.Stop()
	c.Note(rds.Call{Kind: rds.CallFreeMR, Elapsed: 98})
	s := c.Snapshot()
	if len(s) != len(rds.CallKinds()) || s["get_mr"] != 2 || s["free_mr"] != 1 || s.Total() != int64(len(s)+1) {
		t.Errorf("%v", s)
	}
	// Times go on after the end of the counting.
	if c.Last(rds.CallGetMR) != 99 || c.Last(rds.CallFreeMR) != 98 {
		t.Errorf("last %v, %v", c.Last(rds.CallGetMR), c.Last(rds.CallFreeMR))
	}
	sum := CallCounts(nil).Add(s).Add(CallCounts{"get_mr": 3})
	if sum["get_mr"] != 5 || s["get_mr"] != 2 {
		t.Errorf("sum %v of %v", sum, s)
	}
}
