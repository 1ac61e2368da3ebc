// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// protocolICMP is the number of ICMP for IPv4 among IP protocols.
const protocolICMP = 1

// ping sends echo requests one after the other. A request without answer is no
// error: the result has fewer times than requests.
func ping(p agent.Ping) (agent.PingResult, error) {
	var res agent.PingResult
	to := net.ParseIP(p.To).To4()
	if to == nil {
		return res, fmt.Errorf("ping: %q is not an IPv4 address", p.To)
	}
	conn, err := icmp.ListenPacket("ip4:icmp", "0.0.0.0")
	if err != nil {
		return res, fmt.Errorf("ping: %w", err)
	}
	defer conn.Close()
	id := os.Getpid() & 0xffff
	buf := make([]byte, 64<<10)
	for seq := range p.Count {
		msg := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: id, Seq: seq, Data: make([]byte, p.Size)}}
		b, err := msg.Marshal(nil)
		if err != nil {
			return res, fmt.Errorf("ping: %w", err)
		}
		start := time.Now()
		if err := conn.SetReadDeadline(start.Add(p.Timeout)); err != nil {
			return res, fmt.Errorf("ping: %w", err)
		}
		res.Sent++
		if _, err := conn.WriteTo(b, &net.IPAddr{IP: to}); err != nil {
			return res, fmt.Errorf("ping: %w", err)
		}
		ok, err := awaitEcho(conn, buf, to, id, seq)
		if err != nil {
			return res, fmt.Errorf("ping: %w", err)
		}
		if ok {
			res.RTT = append(res.RTT, time.Since(start))
		}
	}
	return res, nil
}

// awaitEcho reads until the answer comes (true) or the read deadline passes.
func awaitEcho(conn *icmp.PacketConn, buf []byte, from net.IP, id, seq int) (bool, error) {
	for {
		n, addr, err := conn.ReadFrom(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		ip, ok := addr.(*net.IPAddr)
		if !ok || !ip.IP.Equal(from) {
			continue
		}
		msg, err := icmp.ParseMessage(protocolICMP, buf[:n])
		if err != nil || msg.Type != ipv4.ICMPTypeEchoReply {
			continue
		}
		if echo, ok := msg.Body.(*icmp.Echo); ok && echo.ID == id && echo.Seq == seq {
			return true, nil
		}
	}
}
