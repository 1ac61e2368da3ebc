// SPDX-License-Identifier: MIT

package ether

import (
	"iter"

	"github.com/rds-ext/rds_ext/internal/wire"
)

// View has the frames of a capture as one side of the switch sees them, for
// package wire. FromNode is what the nodes sent, including what was then lost;
// ToNode is what they received.
func View(frames iter.Seq2[Frame, error], dir Dir) iter.Seq2[wire.Frame, error] {
	return func(yield func(wire.Frame, error) bool) {
		for f, err := range frames {
			if err == nil && (f.Dir != dir || dir == ToNode && f.Lost != "") {
				continue
			}
			if !yield(wire.Frame{Time: f.Time, Link: f.Link, Data: f.Data}, err) {
				return
			}
		}
	}
}
