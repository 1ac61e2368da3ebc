// SPDX-License-Identifier: MIT

// Manyconns makes many connections, by sending a message from 127.0.0.1 to
// other addresses of the loopback network: first so many, then one every 10 ms
// until its standard input ends. It prints "ready" in between, and at the end
// how many it has made.
//
// Nobody listens at those addresses, and nobody need: net/rds makes the
// connection before it finds that out.
package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

const (
	perNet = 250 // keeps the addresses away from .0 and .255
	most   = 200 * perNet
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "manyconns:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: manyconns COUNT, with the rest made until standard input ends")
	}
	count, err := strconv.Atoi(os.Args[1])
	if err != nil || count < 1 || count > most {
		return fmt.Errorf("COUNT must be from 1 to %d, not %q", most, os.Args[1])
	}
	sock, err := rds.Listen(netip.MustParseAddrPort("127.0.0.1:7000"), rds.Config{})
	if err != nil {
		return err
	}
	defer sock.Close()

	made := 0
	connect := func() error {
		to := netip.AddrFrom4([4]byte{127, 1, byte(made / perNet), byte(made%perNet) + 1})
		_, err := sock.Send(context.Background(), rds.Message{To: netip.AddrPortFrom(to, 7001)})
		if err != nil {
			return fmt.Errorf("message to %v: %w", to, err)
		}
		made++
		return nil
	}
	for made < count {
		if err := connect(); err != nil {
			return err
		}
	}
	fmt.Println("ready")

	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		ended <- err
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for made < most {
		select {
		case err := <-ended:
			fmt.Println("made", made)
			return err
		case <-tick.C:
		}
		if err := connect(); err != nil {
			return err
		}
	}
	return fmt.Errorf("standard input did not end before %d connections were made", made)
}
