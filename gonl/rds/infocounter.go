// SPDX-License-Identifier: MIT

package rds

import "encoding/binary"

// Counter is a counter of RDS, which counts from the load of its module.
type Counter struct {
	Name  string // as the kernel spells it, such as "conn_reset"
	Value uint64
}

const counterName = 32

var counters = layout[Counter]{infoCounters, counterName + 8, parseCounter}

func parseCounter(b []byte) Counter {
	return Counter{cString(b[:counterName]), binary.NativeEndian.Uint64(b[counterName:])}
}
