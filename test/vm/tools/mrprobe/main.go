// SPDX-License-Identifier: MIT

// Mrprobe makes single calls of the RDMA interface of RDS, as it is told by its
// standard input, and prints what came of each: a JSON object a line, in and out.
// It reads the lists that RDS has of itself, too. See package api.
//
// It goes to the kernel without the checks of package rds, so that it can ask for
// what makes no sense, and it never waits for anything but a "recv" or "await".
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mrprobe:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	if len(os.Args) != 1 {
		return errors.New("it takes no arguments: requests come from standard input")
	}
	p := prober{socks: map[string]int{}, bufs: map[string][]byte{}}
	enc := json.NewEncoder(out)
	sc := bufio.NewScanner(in)
	for n := 1; sc.Scan(); n++ {
		var q api.Request
		if err := json.Unmarshal(sc.Bytes(), &q); err != nil {
			return fmt.Errorf("%q: %w", sc.Text(), err)
		}
		op, ok := operations[q.Op]
		if !ok {
			return fmt.Errorf("no operation %q", q.Op)
		}
		var r api.Reply
		start := time.Now()
		err := op(&p, &q, &r)
		r.Micros = time.Since(start).Microseconds()
		var errno unix.Errno
		if errors.As(err, &errno) {
			if r.Errno = unix.ErrnoName(errno); r.Errno == "" {
				r.Errno = errno.Error()
			}
		} else if err != nil {
			return fmt.Errorf("%s: %w", sc.Text(), err)
		}
		r.N = n
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return sc.Err()
}
