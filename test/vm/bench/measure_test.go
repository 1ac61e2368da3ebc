// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// What rdsmr prints is taken over, and a failure is told from an inability.
func TestTake(t *testing.T) {
	result := func(exit int, out string) vm.Result {
		return vm.Result{Stdout: out, Stderr: "rdsmr: words", ExecResult: agent.ExecResult{ExitCode: exit}}
	}
	good := `{"runs":[{"mode":"plain","round":1,"ops":12,"ops_per_s":2.5,"mrs_allocated":7,"pages_peak":null,"get_mr_us":{"mean":3}}]}`
	x := Run{Round: 3, Modules: stock, Mode: plain}
	if err := x.take(result(0, good)); err != nil || x.Ops != 12 || *x.MRsAllocated != 7 || x.PagesPeak != nil || x.GetMR.Mean != 3 || x.Round != 3 {
		t.Errorf("%v, %+v", err, x)
	}
	x = Run{Mode: plain}
	if err := x.take(result(1, `{"runs":[{"mode":"plain","error":"it has none","unsupported":true}]}`)); err != nil || x.Error != "it has none" || !x.Unsupported || x.Numbers != nil {
		t.Errorf("%v, %+v", err, x)
	}
	for name, res := range map[string]vm.Result{
		"no output":     result(1, ""),
		"a failure":     result(1, `{"runs":[{"mode":"plain","error":"a byte was wrong","ops":3}]}`),
		"exit status":   result(1, good),
		"another mode":  result(0, strings.Replace(good, `"plain"`, `"other"`, 1)),
		"too many runs": result(0, `{"runs":[{"mode":"plain"},{"mode":"plain"}]}`),
	} {
		x := Run{Mode: plain}
		if err := x.take(res); err == nil {
			t.Errorf("%s: taken as %+v", name, x)
		}
	}
}

func TestOrder(t *testing.T) {
	if fmt.Sprint(order(1), order(2), order(3)) != "[stock rds_ext] [rds_ext stock] [stock rds_ext]" {
		t.Error(order(1), order(2), order(3))
	}
	first := map[string]bool{}
	for round := 1; round <= len(modes); round++ {
		m := rotated(round)
		first[m[0]] = true
		if len(m) != len(modes) {
			t.Errorf("%v", m)
		}
	}
	if len(first) != len(modes) {
		t.Errorf("only %v come first", first)
	}
}
