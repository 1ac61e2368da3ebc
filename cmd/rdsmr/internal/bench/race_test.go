// SPDX-License-Identifier: MIT

//go:build race

package bench

import "runtime"

// The race detector of Go 1.26 crashes now and then where several threads run the
// timers of a synctest bubble. It finds races on one thread, too: it goes by the order
// that synchronisation makes, not by time.
func init() { runtime.GOMAXPROCS(1) }
