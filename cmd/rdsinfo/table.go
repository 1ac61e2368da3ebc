// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"strings"
	"text/tabwriter"
)

// table aligns rows in columns, two spaces apart.
func table(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		if _, err := w.Write([]byte(strings.Join(r, "\t") + "\n")); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// printTable writes rows in columns.
func (a *app) printTable(rows [][]string) error {
	b, err := table(rows)
	if err != nil {
		return err
	}
	return a.print(b)
}
