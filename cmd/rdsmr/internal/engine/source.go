// SPDX-License-Identifier: MIT

package engine

import "sync/atomic"

// source hands out permits for operations to all requesting tasks of a session.
type source struct {
	limit int64 // 0 for no limit
	taken atomic.Int64
	empty chan struct{} // closed when the limit is reached
}

func newSource(limit int64) *source {
	return &source{limit: limit, empty: make(chan struct{})}
}

// take reports whether one more operation may start.
func (s *source) take() bool {
	if s.limit == 0 {
		return true
	}
	n := s.taken.Add(1)
	if n == s.limit {
		close(s.empty)
	}
	return n <= s.limit
}
