// SPDX-License-Identifier: MIT

// Rdsinfo shows what rds_ext.ko knows about the RDS connections of this host,
// and reads and changes the module's settings.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent spares most command lines the garbage collector: below 16 MiB it has
// nothing to do, which is enough for a list of 10,000 MRs.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, dialKernel)
	stop()
	os.Exit(code)
}
