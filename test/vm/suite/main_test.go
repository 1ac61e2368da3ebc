// SPDX-License-Identifier: MIT

// Package suite has the tests that need a kernel: what rds_ext.ko and the tools
// do between two VMs. What goes over the wire is judged by captured packets and
// never by what a kernel says of itself.
//
//	go test ./test/vm/suite -args -kernel 6.1
package suite

import (
	"flag"
	"os"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
)

var config = vm.RegisterFlags(flag.CommandLine)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}
