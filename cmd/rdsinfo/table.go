// SPDX-License-Identifier: MIT

package main

import (
	"unicode/utf8"
)

// gap is between two columns.
const gap = 2

// table aligns rows in columns, two spaces apart. It is not left to a library
// since a host may have many thousand objects.
func table(rows [][]string) []byte {
	var widths []int
	size := 0
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			// What ends a line pads nothing.
			if i < len(r)-1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
			size += len(cell) + gap
		}
	}
	b := make([]byte, 0, size+size/2)
	for _, r := range rows {
		for i, cell := range r {
			b = append(b, cell...)
			if i < len(r)-1 {
				for n := utf8.RuneCountInString(cell); n < widths[i]+gap; n++ {
					b = append(b, ' ')
				}
			}
		}
		b = append(b, '\n')
	}
	return b
}

// printTable writes rows in columns.
func (a *app) printTable(rows [][]string) error { return a.print(table(rows)) }
