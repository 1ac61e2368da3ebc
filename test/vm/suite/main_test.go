// SPDX-License-Identifier: MIT

// Package suite has the tests that need a kernel: what rds_ext.ko and the tools
// do between two VMs. What goes over the wire is judged by captured packets and
// never by what a kernel says of itself.
//
//	go test ./test/vm/suite -args -kernel 6.1
package suite

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rds-ext/rds_ext/test/vm"
)

var config = vm.RegisterFlags(flag.CommandLine)

// tools are programs of the tests' own, by their path in the guests.
var tools = map[string]string{}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := buildTools(); err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// buildTools builds everything below test/vm/tools.
func buildTools() error {
	dir, err := os.MkdirTemp("", "rds_ext-tools-")
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", dir+"/", "../tools/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build of the tools: %w\n%s", err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		tools["/bin/"+e.Name()] = filepath.Join(dir, e.Name())
	}
	return nil
}
