// SPDX-License-Identifier: MIT

// Package suite has the tests that need a kernel: what rds_ext.ko and the tools
// do between two VMs. What goes over the wire is judged by captured packets and
// never by what a kernel says of itself.
//
//	go test ./test/vm/suite -args -kernel 6.1
package suite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rds-ext/rds_ext/test/vm"
)

var config = vm.RegisterFlags(flag.CommandLine)

// tools are programs of the tests' own, by their path in the guests.
var tools = map[string]string{}

func TestMain(m *testing.M) {
	flag.Parse()
	status, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		status = 1
	}
	os.Exit(status)
}

func run(m *testing.M) (status int, err error) {
	for _, d := range []*time.Duration{&limit, &waitLimit} {
		if *d, err = config.Scale(*d); err != nil {
			return 0, err
		}
	}
	dir, err := os.MkdirTemp("", "rds_ext-tools-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := buildTools(dir); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// buildTools builds everything below test/vm/tools into a directory.
func buildTools(dir string) error {
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
