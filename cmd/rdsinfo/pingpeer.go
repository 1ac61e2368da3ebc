// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/rds-ext/rds_ext/gonl"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// pingPeer is a peer that is pinged.
type pingPeer struct {
	*pinging
	peer, local netip.Addr
	transport   string
	sent        uint
	received    uint
	rtts        []time.Duration
	conn        *gonl.Conn // nil where it is not known
}

// loop sends until the count is reached or the context ends.
func (q *pingPeer) loop(ctx context.Context) (err error) {
	var s pingSocket
	defer func() {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	tick := time.NewTicker(q.interval)
	defer tick.Stop()
	for {
		if s == nil {
			if s, err = q.open(); err != nil {
				return err
			}
		}
		rtt, err := q.once(ctx, s)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			// The answer may still come; nobody is to take it for the next one.
			err = errors.Join(s.Close(), q.print(nil))
			s = nil
		case err == nil:
			q.received++
			q.rtts = append(q.rtts, rtt)
			err = q.print(&rtt)
		}
		if err != nil {
			return err
		}
		if q.count > 0 && q.sent == q.count {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// open makes a socket, from a port that was not used for the last one.
func (q *pingPeer) open() (pingSocket, error) {
	s, err := q.a.listen(netip.AddrPortFrom(q.local, 0), rds.Config{TOS: q.tosValue()})
	if err != nil {
		return nil, err
	}
	t, err := s.Transport()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	q.transport = t.String()
	return s, nil
}

// once sends a message and waits for the answer.
func (q *pingPeer) once(ctx context.Context, s pingSocket) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	start := time.Now()
	q.sent++
	if _, err := s.Send(ctx, rds.Message{To: netip.AddrPortFrom(q.peer, 0)}); err != nil {
		return 0, err
	}
	for {
		r, err := s.Receive(ctx, nil)
		if err != nil {
			return 0, err
		}
		// Others may send to this port as well.
		if r.IsMessage() && r.From.Addr() == q.peer && r.From.Port() == 0 {
			return time.Since(start), nil
		}
	}
}

// pingView is an answer, or its absence, in JSON.
type pingView struct {
	Event    string     `json:"event"`
	Time     time.Time  `json:"time"`
	Peer     netip.Addr `json:"peer"`
	Sequence uint       `json:"sequence"`
	RTTUS    *float64   `json:"rtt_us"`
}

// print tells of an answer, or with nil that there is none.
func (q *pingPeer) print(rtt *time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	v := pingView{Event: "lost", Time: time.Now(), Peer: q.peer, Sequence: q.sent}
	if rtt != nil {
		us := micros(*rtt)
		v.Event, v.RTTUS = "reply", &us
	}
	if q.a.json {
		return writeJSONLine(outputWriter{q.a}, v)
	}
	if rtt == nil {
		return q.a.print(fmt.Appendf(nil, "%v: %d no answer within %v\n", q.peer, q.sent, q.timeout))
	}
	return q.a.print(fmt.Appendf(nil, "%v: %d %.0f us\n", q.peer, q.sent, *v.RTTUS))
}

// outputWriter writes what the program prints.
type outputWriter struct{ a *app }

func (w outputWriter) Write(b []byte) (int, error) { return len(b), w.a.print(b) }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// pingSummary is a peer at the end, in JSON. What is not known is null.
type pingSummary struct {
	Event       string        `json:"event"`
	Peer        netip.Addr    `json:"peer"`
	Local       netip.Addr    `json:"local"`
	Transport   *string       `json:"transport"`
	TOS         uint8         `json:"tos"`
	Sent        uint          `json:"sent"`
	Received    uint          `json:"received"`
	Lost        uint          `json:"lost"`
	MinUS       *float64      `json:"min_us"`
	MeanUS      *float64      `json:"mean_us"`
	P50US       *float64      `json:"p50_us"`
	P99US       *float64      `json:"p99_us"`
	MaxUS       *float64      `json:"max_us"`
	Version     *gonl.Version `json:"version"`
	PeerVersion *gonl.Version `json:"peer_version"`
	PeerKind    *string       `json:"peer_kind"`
}

func (q *pingPeer) summary() pingSummary {
	v := pingSummary{
		Event: "summary", Peer: q.peer, Local: q.local, TOS: q.tosValue(), Sent: q.sent, Received: q.received, Lost: q.sent - q.received,
	}
	if q.transport != "" {
		v.Transport = &q.transport
	}
	if n := len(q.rtts); n > 0 {
		sorted := slices.Sorted(slices.Values(q.rtts))
		var sum time.Duration
		for _, d := range sorted {
			sum += d
		}
		at := func(d time.Duration) *float64 { us := micros(d); return &us }
		v.MinUS, v.MaxUS, v.MeanUS = at(sorted[0]), at(sorted[n-1]), at(sum/time.Duration(n))
		v.P50US, v.P99US = at(sorted[(n-1)*50/100]), at(sorted[(n-1)*99/100])
	}
	if c := q.conn; c != nil {
		kind := peerKind(c.PeerKind)
		v.Version, v.PeerVersion, v.PeerKind = c.Version, c.PeerVersion, &kind
	}
	return v
}

// usText prints microseconds.
func usText(us *float64) string {
	if us == nil {
		return absent
	}
	return strconv.FormatFloat(*us, 'f', 0, 64)
}

func text(p *string) string {
	if p == nil {
		return absent
	}
	return *p
}

var pingColumns = []column[pingSummary]{
	{"PEER", listLevel, func(s pingSummary) string { return s.Peer.String() }},
	{"LOCAL", listLevel, func(s pingSummary) string { return s.Local.String() }},
	{"TRANSPORT", listLevel, func(s pingSummary) string { return text(s.Transport) }},
	{"SENT", listLevel, func(s pingSummary) string { return strconv.FormatUint(uint64(s.Sent), 10) }},
	{"RECEIVED", listLevel, func(s pingSummary) string { return strconv.FormatUint(uint64(s.Received), 10) }},
	{"LOST", listLevel, func(s pingSummary) string { return strconv.FormatUint(uint64(s.Lost), 10) }},
	{"MIN US", listLevel, func(s pingSummary) string { return usText(s.MinUS) }},
	{"MEAN US", listLevel, func(s pingSummary) string { return usText(s.MeanUS) }},
	{"P99 US", listLevel, func(s pingSummary) string { return usText(s.P99US) }},
	{"MAX US", listLevel, func(s pingSummary) string { return usText(s.MaxUS) }},
	{"VERSION", listLevel, func(s pingSummary) string { return optional(s.Version) }},
	{"PEER VERSION", listLevel, func(s pingSummary) string { return optional(s.PeerVersion) }},
	{"PEER KIND", listLevel, func(s pingSummary) string { return text(s.PeerKind) }},
}

func (p *pinging) printSummaries(peers []*pingPeer) error {
	list := make([]pingSummary, 0, len(peers))
	for _, q := range peers {
		list = append(list, q.summary())
	}
	if p.a.json {
		for _, v := range list {
			if err := writeJSONLine(outputWriter{p.a}, v); err != nil {
				return err
			}
		}
		return nil
	}
	return p.a.print(append([]byte("\n"), table(rowsOf(pingColumns, listLevel, list))...))
}
