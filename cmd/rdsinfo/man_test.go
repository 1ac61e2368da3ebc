// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/cmd/internal/man"
	"github.com/rds-ext/rds_ext/gonl"
)

const manDir = "../../docs/man"

// The manual pages say what --help says.
func TestManPages(t *testing.T) {
	a := fakeApp(nil, nil, nil, nil)
	stale, err := man.Sync(manDir, "rdsinfo", man.Pages(a.root(), "rds_ext(7)"), *update)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 && !*update {
		t.Errorf("not up to date in %s: %v; run the test with -update", manDir, stale)
	}
}

// rds_ext(7), which is written by hand, leaves out no setting, feature, state of
// an MR or reason.
func TestManRDSExt(t *testing.T) {
	b, err := os.ReadFile(manDir + "/rds_ext.7")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(b), `\-`, "-")
	var names []string
	for _, s := range settings {
		names = append(names, s.key)
	}
	names = append(names, mrStates...)
	names = append(names, gonl.FeatureExtTypes.String(), gonl.FeatureRemoteInvalidate.String())
	reasons := 0
	for r := gonl.EndReason(0); !strings.ContainsAny(r.String(), "0123456789"); r++ {
		names = append(names, r.String())
		reasons++
	}
	if reasons < 14 {
		t.Errorf("only %d reasons", reasons)
	}
	for _, name := range names {
		bold := false
		for line := range strings.Lines(page) {
			bold = bold || strings.HasPrefix(line, ".B") && strings.Contains(" "+strings.NewReplacer(`"`, " ", ",", " ", "\n", " ").Replace(line)+" ", " "+name+" ")
		}
		if !bold {
			t.Errorf("rds_ext(7) does not tell of %q", name)
		}
	}
}
