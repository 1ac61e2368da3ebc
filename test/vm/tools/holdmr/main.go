// SPDX-License-Identifier: MIT

// Holdmr registers memory with a message to a peer and keeps it registered, as
// an application does that waits for its peer: "held" on standard output says
// that it has. At the end of its standard input it waits for the connection to be
// up or down, as it was told, and releases the memory. That must go well, and only
// once.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

const (
	regions = 4
	size    = 3 * 4096
	// patience is for a connection that has to come up or go down.
	patience = time.Minute
	poll     = 50 * time.Millisecond
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "holdmr:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	if len(os.Args) != 4 || os.Args[3] != "up" && os.Args[3] != "down" {
		return fmt.Errorf("usage: holdmr LOCAL-ADDRESS PEER:PORT up|down")
	}
	local, err := netip.ParseAddr(os.Args[1])
	if err != nil {
		return err
	}
	peer, err := netip.ParseAddrPort(os.Args[2])
	if err != nil {
		return err
	}
	sock, err := rds.Listen(netip.AddrPortFrom(local, 0), rds.Config{})
	if err != nil {
		return err
	}
	buf, err := rds.NewBuffer(size)
	if err != nil {
		return errors.Join(err, sock.Close())
	}
	defer func() { err = errors.Join(err, sock.Close(), buf.Close()) }()

	message := rds.Message{
		To: peer, Payload: []byte("holdmr"),
		Map: &rds.Map{Segment: rds.Segment{Buffer: buf, Length: size}, Flags: rds.ReadWrite},
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var held []rds.Cookie
	for range regions {
		sent, err := sock.Send(ctx, message)
		if err != nil {
			return err
		}
		held = append(held, sent.Cookie)
	}
	fmt.Println("held")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := await(sock, peer.Addr(), os.Args[3] == "up"); err != nil {
		return err
	}
	for _, c := range held {
		if err := sock.FreeMR(c, rds.Invalidate); err != nil {
			return err
		}
		if err := sock.FreeMR(c, rds.Invalidate); !errors.Is(err, rds.ErrNoMR) {
			return fmt.Errorf("region %v is there although it was freed: %w", c, err)
		}
	}
	return nil
}

// await waits until the connection to the peer is up, or is not.
func await(sock *rds.Socket, peer netip.Addr, up bool) error {
	for end := time.Now().Add(patience); ; time.Sleep(poll) {
		list, err := sock.Connections()
		if err != nil {
			return err
		}
		is := false
		for _, c := range list {
			is = is || c.Connected && c.Peer == peer
		}
		if is == up {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the connection to %v is up: %v, for %v already", peer, is, patience)
		}
	}
}
