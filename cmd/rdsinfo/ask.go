// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// errNobody tells that there is nobody to ask.
var errNobody = errors.New("the standard input is no terminal")

// askTerminal makes a function that asks on out and reads the answer from in,
// which fails with errNobody where that is no terminal.
func askTerminal(in *os.File, out io.Writer) func(string) (bool, error) {
	return func(question string) (bool, error) {
		if !isTerminal(in) {
			return false, errNobody
		}
		return confirm(question, in, out)
	}
}

// confirm asks until it gets a yes or a no. The end of the input is a no.
func confirm(question string, in io.Reader, out io.Writer) (bool, error) {
	lines := bufio.NewScanner(in)
	for {
		if _, err := fmt.Fprintf(out, "%s [y/N] ", question); err != nil {
			return false, err
		}
		if !lines.Scan() {
			return false, lines.Err()
		}
		switch strings.ToLower(strings.TrimSpace(lines.Text())) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		}
	}
}
