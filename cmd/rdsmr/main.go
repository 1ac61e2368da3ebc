// SPDX-License-Identifier: MIT

// Command rdsmr exercises RDS with RDMA between two hosts: it registers memory
// for one use, lets the peer read or write it, verifies every byte, and
// measures. `rdsmr serve` runs on one host, `rdsmr stress` or `rdsmr bench` on the
// other.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the run failed, or what it found was wrong
	exitUsage  = 2 // wrong command line
)

func main() {
	os.Exit(exitCode(cli.Execute(context.Background(), newRoot())))
}

// exitCode prints err, on one line, and chooses the code.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(os.Stderr, "rdsmr: %s\n", oneLine(err))
	var usage cli.UsageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// oneLine puts joined errors, which errors.Join sets on lines of their own, on
// one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
