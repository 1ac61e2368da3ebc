// SPDX-License-Identifier: MIT

// Rdsinfo shows what rds_ext.ko knows about the RDS connections of this host,
// and reads and changes the module's settings.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
)

// gcPercent spares most command lines the garbage collector: below 16 MiB it has
// nothing to do, which is enough for a list of 10,000 MRs.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	a := newApp(os.Stdout, os.Stderr)
	code := a.runAs(ctx, filepath.Base(os.Args[0]), os.Args[1:])
	stop()
	os.Exit(code)
}

// runAs executes a command line of the program of that name.
func (a *app) runAs(ctx context.Context, name string, args []string) int {
	switch name {
	case compatName:
		return a.runCompat(ctx, args)
	case pingName:
		return a.run(ctx, append([]string{"ping"}, args...))
	default:
		return a.run(ctx, args)
	}
}
