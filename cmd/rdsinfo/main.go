// SPDX-License-Identifier: MIT

// Rdsinfo shows what rds_ext.ko knows about the RDS connections of this host,
// and reads and changes the module's settings.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr, dialKernel)
	stop()
	os.Exit(code)
}
