// SPDX-License-Identifier: MIT

package main

import (
	"flag"
	"testing"

	"github.com/rds-ext/rds_ext/cmd/internal/man"
)

var update = flag.Bool("update", false, "write the manual pages")

// The manual pages say what --help says.
func TestManPages(t *testing.T) {
	const dir = "../../docs/man"
	stale, err := man.Sync(dir, "rdsmr", man.Pages(newRoot(), "rdsinfo(8)", "rds_ext(7)"), *update)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 && !*update {
		t.Errorf("not up to date in %s: %v; run the test with -update", dir, stale)
	}
}
