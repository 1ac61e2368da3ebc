// SPDX-License-Identifier: MIT

// Command rdsdump prints what a capture of the test switch holds of RDS:
// connections, the connection manager's datagrams, messages with their
// extension headers, RDMA operations.
//
//	rdsdump [-received] [-conns] FILE.pcapng
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/ether"
	"github.com/rds-ext/rds_ext/test/vm/wire"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "rdsdump:", err)
		os.Exit(1)
	}
}

func run() error {
	received := flag.Bool("received", false, "show what the nodes received, instead of what they sent")
	conns := flag.Bool("conns", false, "show the connections only")
	flag.Parse()
	if flag.NArg() != 1 {
		return errors.New("usage: rdsdump [-received] [-conns] FILE.pcapng")
	}
	view := ether.FromNode
	if *received {
		view = ether.ToNode
	}
	t, err := wire.Analyse(ether.ReadFile(flag.Arg(0)), view)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	printConns(w, t)
	if !*conns {
		printEvents(w, t)
	}
	if t.Undecoded > 0 {
		fmt.Fprintf(w, "%d frames could not be decoded, the first: %v\n", t.Undecoded, t.FirstError)
	}
	return w.Flush()
}

func printConns(w io.Writer, t *wire.Trace) {
	for i, c := range t.Conns {
		fmt.Fprintf(w, "connection %d: %v, established %v, path MTU %d, %d messages\n", i, c, c.Established, c.PathMTU, len(c.Messages))
		for _, e := range []wire.Endpoint{c.Active, c.Passive} {
			if m := c.First(e.Addr); m != nil {
				fmt.Fprintf(w, "\tfirst from %v: %s\n", e.Addr, describe(m))
			}
		}
	}
}

// event is a line of the chronicle.
type event struct {
	at   time.Time
	text string
}

func printEvents(w io.Writer, t *wire.Trace) {
	var events []event
	for _, e := range t.CM {
		events = append(events, event{e.Time, fmt.Sprintf("%v -> %v CM %v id %#x/%#x qp %d reason %d", e.Src, e.Dst, e.Type, e.LocalID, e.RemoteID, e.QPN, e.Reason)})
	}
	for _, m := range t.Messages {
		events = append(events, event{m.Time, fmt.Sprintf("%v -> %v %s", m.Src, m.Dst, describe(m))})
	}
	for _, r := range t.RDMA {
		what := "WRITE"
		if r.Read {
			what = "READ"
		}
		events = append(events, event{r.Time, fmt.Sprintf("%v -> %v RDMA %s key %#x offset %#x length %d", r.Src, r.Dst, what, r.RKey, r.VA, r.Length)})
	}
	sort.SliceStable(events, func(i, j int) bool { return events[i].at.Before(events[j].at) })
	for _, e := range events {
		fmt.Fprintf(w, "%9.6f %s\n", e.at.Sub(events[0].at).Seconds(), e.text)
	}
}

func describe(m *wire.Message) string {
	s := fmt.Sprintf("seq %d ack %d len %d fragment %d ports %d->%d flags %#02x credit %d checksum ok %v ext",
		m.Sequence, m.Ack, m.Len, m.Fragment, m.SPort, m.DPort, m.Flags, m.Credit, m.ChecksumOK)
	for _, e := range m.Ext {
		s += fmt.Sprintf(" %d:%x", e.Type, e.Data)
	}
	if m.ExtErr != nil {
		s += fmt.Sprintf(" (%v)", m.ExtErr)
	}
	if m.Invalidate != nil {
		s += fmt.Sprintf(" invalidates %#x", *m.Invalidate)
	}
	return s
}
