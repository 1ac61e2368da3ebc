// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"strings"
)

// Levels of detail of a list.
const (
	listLevel = iota // what tells objects apart, and how they are
	wideLevel        // -d: more columns
	fullLevel        // -dd: everything, a line each, as for one object
)

// column is one thing to tell of an object.
type column[T any] struct {
	name  string
	level int // from which on a list has it
	text  func(T) string
}

// rowsOf makes a table of the columns up to a level, with a header.
func rowsOf[T any](cols []column[T], level int, list []T) [][]string {
	rows := make([][]string, 1, 1+len(list))
	for _, c := range cols {
		if c.level <= level {
			rows[0] = append(rows[0], c.name)
		}
	}
	for _, item := range list {
		row := make([]string, 0, len(rows[0]))
		for _, c := range cols {
			if c.level <= level {
				row = append(row, c.text(item))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// detailsOf has everything about one object, a line each.
func detailsOf[T any](cols []column[T], item T) [][]string {
	rows := make([][]string, 0, len(cols))
	for _, c := range cols {
		rows = append(rows, []string{strings.ToLower(c.name), c.text(item)})
	}
	return rows
}

// printList writes a list at the level of detail that was asked for.
func printList[T any](a *app, cols []column[T], list []T) error {
	if a.detail < fullLevel {
		return a.printTable(rowsOf(cols, a.detail, list))
	}
	var out []byte
	for i, item := range list {
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, table(detailsOf(cols, item))...)
	}
	return a.print(out)
}

// optionalNumber prints what p points to.
func optionalNumber[T uint8 | uint16 | uint32 | uint64](p *T) string {
	if p == nil {
		return absent
	}
	return fmt.Sprint(*p)
}
