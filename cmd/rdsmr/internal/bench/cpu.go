// SPDX-License-Identifier: MIT

package bench

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// cpuTime is what the CPUs of this host have done since it booted, in ticks.
type cpuTime struct{ busy, all uint64 }

// readCPU reads the first line of /proc/stat: user, nice, system, idle, iowait,
// irq, softirq, steal. The times of guests are among the first two.
func readCPU(read func(name string) ([]byte, error)) (t cpuTime, err error) {
	b, err := read("/proc/stat")
	if err != nil {
		return t, err
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	f := strings.Fields(string(line))
	if len(f) < 9 || f[0] != "cpu" {
		return t, fmt.Errorf("/proc/stat begins with %q", line)
	}
	for i, s := range f[1:9] {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return t, fmt.Errorf("/proc/stat begins with %q: %w", line, err)
		}
		t.all += n
		if i != 3 && i != 4 {
			t.busy += n
		}
	}
	return t, nil
}

// share returns how much of the time since an earlier moment was busy, 0 to 1, nil
// if no tick has passed.
func (t cpuTime) share(since cpuTime) *float64 {
	if t.all <= since.all || t.busy < since.busy {
		return nil
	}
	s := round(float64(t.busy-since.busy)/float64(t.all-since.all), 3)
	return &s
}
