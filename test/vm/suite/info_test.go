// SPDX-License-Identifier: MIT

package suite

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// What RDS tells of itself is shown with our modules and with the distribution's,
// and is what the socket options say when they are read in another way.
func TestInfo(t *testing.T) {
	p := boot(t, stock(), ours())
	// The queues go first: they want connections on which nothing else was sent.
	t.Run("queues", func(t *testing.T) { testInfoQueues(p.sub(t)) })
	t.Run("stock", func(t *testing.T) { testInfoStock(p.sub(t)) })
	t.Run("traffic", func(t *testing.T) { testInfoTraffic(p.sub(t)) })
	t.Run("rds-info", func(t *testing.T) { testInfoLetters(p.sub(t)) })
	t.Run("ping", func(t *testing.T) { testInfoPing(p.sub(t)) })
}

// pingLine is a line of "rdsinfo ping --json".
type pingLine struct {
	Event                string
	Peer                 string
	Sent, Received, Lost int
	RTTUS                *float64 `json:"rtt_us"`
	MaxUS                *float64 `json:"max_us"`
	Transport            *string
	PeerVersion          *string `json:"peer_version"`
	PeerKind             *string `json:"peer_kind"`
}

func (p *pair) pingLines(out string) (list []pingLine) {
	p.Helper()
	for line := range strings.Lines(out) {
		var l pingLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			p.Fatalf("rdsinfo ping: %v: %s", err, line)
		}
		list = append(list, l)
	}
	return list
}

// Peers answer pings by themselves, whether they have rds_ext.ko or not, in either
// direction and to several at once; who is not there does not.
func testInfoPing(p *pair) {
	for _, from := range []*vm.Node{p.a, p.b} {
		to := p.b
		if from == p.b {
			to = p.a
		}
		list := p.pingLines(p.run(from, "rds-ping", "-c", "5", "-i", "10ms", "--json", to.IP()))
		if len(list) != 6 {
			p.Fatalf("%s: %+v", from.Name(), list)
		}
		for _, l := range list[:5] {
			if l.Event != "reply" || l.RTTUS == nil || *l.RTTUS <= 0 {
				p.Errorf("%s: %+v", from.Name(), l)
			}
		}
		sum := list[5]
		if sum.Event != "summary" || sum.Peer != to.IP() || sum.Sent != 5 || sum.Received != 5 || sum.Lost != 0 || sum.MaxUS == nil || *sum.Transport != "ib" {
			p.Errorf("%s: %+v", from.Name(), sum)
		}
		// Only b has rds_ext.ko; it sees that a has none.
		if from == p.a && sum.PeerKind != nil || from == p.b && (sum.PeerKind == nil || *sum.PeerKind != "stock" || *sum.PeerVersion != "3.1") {
			p.Errorf("%s: the peer is %v, version %v", from.Name(), sum.PeerKind, sum.PeerVersion)
		}
	}
	nobody := "10.77.0.99"
	r := p.do(p.a, agent.Exec{Argv: []string{"rdsinfo", "ping", "-c", "1", "-W", "500ms", "--json", p.b.IP(), nobody}})
	if r.ExitCode != 1 || !strings.Contains(r.Stderr, "no answer from "+nobody) {
		p.Errorf("a peer that is not there: exit status %d: %s", r.ExitCode, r.Stderr)
	}
	for _, l := range p.pingLines(r.Stdout) {
		if l.Event == "summary" && (l.Received == 1) != (l.Peer == p.b.IP()) {
			p.Errorf("of two peers: %+v", l)
		}
	}
}

// depth is what waits in a queue.
type depth struct {
	Messages, Bytes uint64
}

// sock is a socket as rdsinfo shows it.
type sock struct {
	Local           *netip.Addr
	LocalPort       *uint16 `json:"local_port"`
	Inode           uint64
	Owners          []struct{ Command string }
	SendQueue       depth `json:"send_queue"`
	RetransmitQueue depth `json:"retransmit_queue"`
	ReceiveQueue    depth `json:"receive_queue"`
	Congested       bool
	ReceiveBuffer   uint64  `json:"receive_buffer"`
	MRs             *uint64 `json:"mrs"`
	PinnedBytes     *uint64 `json:"pinned_bytes"`
}

// sockAt gets the one socket that is bound to a port.
func (p *pair) sockAt(n *vm.Node, port uint16) sock {
	p.Helper()
	var list []sock
	p.json(n, &list, "rdsinfo", "sock", "--json", "--port", fmt.Sprint(port))
	if len(list) != 1 {
		p.Fatalf("%s has %d sockets at port %d, want 1", n.Name(), len(list), port)
	}
	return list[0]
}

// queued is a message as rdsinfo shows it.
type queued struct {
	Queue     string
	Local     netip.Addr
	LocalPort uint16 `json:"local_port"`
	Peer      netip.Addr
	PeerPort  uint16 `json:"peer_port"`
	Sequence  uint64
	Bytes     uint64
}

func (p *pair) queued(n *vm.Node, args ...string) (list []queued) {
	p.Helper()
	p.json(n, &list, append([]string{"rdsinfo", "queue", "--json"}, args...)...)
	return list
}

// Messages that nobody fetches wait in the receive queue, those that cannot be
// sent in the others; MRs count for the socket that has them.
func testInfoQueues(p *pair) {
	x, y := p.probe(p.a), p.probe(p.b)
	x.open(4400, 8192)
	yAddr := y.open(4401, 8192)
	x.must(api.Request{Op: "send", Sock: "s", Addr: yAddr, Text: "hello"})
	if r := y.must(api.Request{Op: "recv", Sock: "s", Millis: int(waitLimit.Milliseconds())}); r.Text != "hello" {
		p.Fatalf("received %+v", r)
	}
	lengths := []int{100, 2000, 5000}
	for _, n := range lengths {
		x.must(api.Request{Op: "send", Sock: "s", Addr: yAddr, Text: "x", Pad: n - 2}) // with the end of the text
	}
	var got []queued
	p.eventually("b has received the messages", func() (bool, string) {
		got = p.queued(p.b, "receive", "--port", "4401")
		return len(got) == len(lengths), fmt.Sprint(got)
	})
	for i, m := range got {
		if m.Queue != "receive" || m.Local != addr(p.b) || m.LocalPort != 4401 || m.Peer != addr(p.a) || m.PeerPort != 4400 ||
			m.Bytes != uint64(lengths[i]) || i > 0 && m.Sequence != got[i-1].Sequence+1 {
			p.Errorf("message %d in the queue: %+v", i, m)
		}
	}
	want := depth{3, 7100}
	s := p.sockAt(p.b, 4401)
	if s.ReceiveQueue != want || s.Congested || *s.Local != addr(p.b) || len(s.Owners) != 1 || s.Owners[0].Command != "mrprobe" {
		p.Errorf("b's socket: %+v", s)
	}
	if s.MRs == nil || *s.MRs != 0 {
		p.Errorf("b's socket has %v MRs, want 0", s.MRs)
	}
	cookie := y.getMR(8192, rds.ReadWrite)
	if s := p.sockAt(p.b, 4401); *s.MRs != 1 || *s.PinnedBytes < 8192 || *s.PinnedBytes > 3*4096 {
		p.Errorf("b's socket with an MR: %d MRs, %d bytes pinned", *s.MRs, *s.PinnedBytes)
	}
	y.must(y.free(cookie, 0))
	// Without rds_ext.ko, nobody knows.
	if s := p.sockAt(p.a, 4400); s.MRs != nil || s.PinnedBytes != nil {
		p.Errorf("a's socket, on a stock kernel: %v MRs, %v bytes pinned", s.MRs, s.PinnedBytes)
	}

	// More than the receiver lets wait makes its port congested.
	big := int(s.ReceiveBuffer) - 1000
	x.must(api.Request{Op: "send", Sock: "s", Addr: yAddr, Text: "x", Pad: big - 2})
	p.eventually("b's port is congested", func() (bool, string) {
		s := p.sockAt(p.b, 4401)
		return s.Congested && s.ReceiveQueue == depth{4, 7100 + uint64(big)}, fmt.Sprintf("%+v", s)
	})

	// What is sent into a link that is cut stays.
	link := p.env.Link(p.b)
	link.Cut()
	p.Cleanup(link.Restore)
	before := p.sockAt(p.a, 4400)
	if before.SendQueue != (depth{}) {
		p.Errorf("a's socket has something to send already: %+v", before)
	}
	other := p.probe(p.b) // a port that is not congested
	otherAddr := other.open(4402, 4096)
	for range 2 {
		x.must(api.Request{Op: "send", Sock: "s", Addr: otherAddr, Text: "late", Pad: 5})
	}
	s = p.sockAt(p.a, 4400)
	waiting := depth{s.SendQueue.Messages + s.RetransmitQueue.Messages, s.SendQueue.Bytes + s.RetransmitQueue.Bytes}
	if waiting != (depth{2, 20}) {
		p.Errorf("a's socket: %+v, want 2 messages of 10 bytes that wait to be sent or acknowledged", s)
	}
	if list := p.queued(p.a, "send", "retransmit", "--peer", p.b.IP(), "--peer-port", "4402"); len(list) != 2 {
		p.Errorf("a's queues: %+v, want 2 messages", list)
	}
	c := p.conns(p.a, "--transport", "ib")
	if len(c) != 1 || c[0].SendQueue == nil || c[0].SendQueue.Messages+c[0].RetransmitQueue.Messages != 2 {
		p.Errorf("a's connection: %+v", c)
	}
	link.Restore()
	for range 2 {
		if r := other.must(api.Request{Op: "recv", Sock: "s", Millis: int(waitLimit.Milliseconds())}); r.Text != "late" {
			p.Errorf("after the cut: %+v", r)
		}
	}
}

// On a stock kernel, connections are shown, and what is not known.
func testInfoStock(p *pair) {
	c := p.ib(p.a)
	if c.Source != "rds_info" || c.ID != 0 || c.Version != nil || c.State != "up" || c.NextTX == nil || c.Peer != p.b.IP() {
		p.Errorf("on a stock kernel: %+v", c)
	}
	r := p.do(p.a, agent.Exec{Argv: []string{"rdsinfo", "conn"}})
	if r.ExitCode != 0 || !strings.Contains(r.Stderr, "rds_ext.ko is not loaded") {
		p.Errorf("rdsinfo conn: exit status %d: %s", r.ExitCode, r.Stderr)
	}
	for _, args := range []string{"conn 1", "conn --peer-kind stock", "mr", "pool", "conn reset --all"} {
		r := p.do(p.a, agent.Exec{Argv: append([]string{"rdsinfo"}, strings.Fields(args)...)})
		if r.ExitCode != 3 || !strings.Contains(r.Stderr, "rds_ext.ko is not loaded") {
			p.Errorf("rdsinfo %s: exit status %d: %s", args, r.ExitCode, r.Stderr)
		}
	}
	if c := p.ib(p.b); c.Source != "rds_ext" || c.ID == 0 || c.NextTX == nil || c.SendQueue == nil {
		p.Errorf("with rds_ext.ko: %+v", c)
	}
}

// Options and layouts of the RDS user API (linux/rds.h), for what reads them here
// on its own.
const (
	optCounters    = 10000
	optConnections = 10001
)

type rawCounter struct {
	Name  [32]byte
	Value uint64
}

type rawConnection struct {
	NextTX, NextRX uint64
	Local, Peer    [4]byte
	Transport      [16]byte
	Flags, TOS     uint8
}

// rawList reads a list in another way than rdsinfo does.
func rawList[T any](q *probe, opt uint64) (list []T) {
	q.Helper()
	r := q.must(api.Request{Op: "info", Sock: "s", Count: opt})
	for item := range slices.Chunk(r.List, r.Each) {
		var v T
		if err := binary.Read(bytes.NewReader(item), binary.LittleEndian, &v); err != nil {
			q.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

func cString(b []byte) string { return string(b[:bytes.IndexByte(b, 0)]) }

// rawCounters has the counters by name, and of the connection between the nodes
// what it counts.
func rawCounters(q *probe, local, peer netip.Addr) map[string]uint64 {
	q.Helper()
	m := map[string]uint64{}
	for _, c := range rawList[rawCounter](q, optCounters) {
		m[cString(c.Name[:])] = c.Value
	}
	for _, c := range rawList[rawConnection](q, optConnections) {
		if c.Local == local.As4() && c.Peer == peer.As4() && cString(c.Transport[:]) == "infiniband" {
			m["next_tx"], m["next_rx"] = c.NextTX, c.NextRX
		}
	}
	return m
}

// Under traffic a number is between what another reading says before and after.
func testInfoTraffic(p *pair) {
	server := p.serve(p.b, "--port", "4403")
	run := p.start(p.a, "2>.", stressArgsLoud(p.a, p.b, "--port", "4403", "--mode", "msg", "--time", "1h")...)
	for _, n := range []*vm.Node{p.a, p.b} {
		peer := p.a
		if n == p.a {
			peer = p.b
		}
		q := p.probe(n)
		q.must(api.Request{Op: "socket", Sock: "s"})
		moved := 0
		for range 3 {
			before := rawCounters(q, addr(n), addr(peer))
			var stats []struct {
				Family, Name string
				Value        uint64
			}
			p.json(n, &stats, "rdsinfo", "stats", "--json", "rds", "ib")
			c := p.ib(n)
			after := rawCounters(q, addr(n), addr(peer))
			got := map[string]uint64{}
			for _, s := range stats {
				got[s.Name] = s.Value
			}
			if c.NextTX == nil || c.NextRX == nil {
				p.Fatalf("%s: %+v", n.Name(), c)
			}
			got["next_tx"], got["next_rx"] = *c.NextTX, *c.NextRX
			if len(got) != len(before) || len(got) < 30 {
				p.Fatalf("%s: rdsinfo has %d numbers, the socket options %d", n.Name(), len(got), len(before))
			}
			for name, value := range got {
				if value < before[name] || value > after[name] {
					p.Errorf("%s: %s is %d, the socket options said %d and then %d", n.Name(), name, value, before[name], after[name])
				}
				if after[name] > before[name] {
					moved++
				}
			}
		}
		if moved < 5 {
			p.Errorf("%s: only %d numbers have changed: this was no traffic", n.Name(), moved)
		}
	}
	p.verdict(p.stop(run).Stdout)
	p.stop(server)
}

// Called as rds-info, it takes that program's letters.
func testInfoLetters(p *pair) {
	for _, n := range []*vm.Node{p.a, p.b} {
		all := p.run(n, "rds-info")
		for _, title := range []string{
			"RDS IB Connections:", "Counters:", "RDS Sockets:", "RDS Connections:",
			"Receive Message Queue:", "Send Message Queue:", "Retransmit Message Queue:",
		} {
			if !strings.Contains(all, "\n"+title+"\n") {
				p.Errorf("%s: rds-info does not show %q:\n%s", n.Name(), title, all)
			}
		}
		if strings.Contains(all, "TCP Connections:") {
			p.Errorf("%s: rds-info shows TCP, which is not loaded:\n%s", n.Name(), all)
		}
		conns := p.run(n, "rds-info", "-n")
		if fields := strings.Fields(conns); !slices.Contains(fields, n.IP()) || fields[len(fields)-1] != "--C" {
			p.Errorf("%s: rds-info -n:\n%s", n.Name(), conns)
		}
		if r := p.do(n, agent.Exec{Argv: []string{"rds-info", "-T"}}); r.ExitCode != 1 || !strings.Contains(r.Stderr, "not loaded") {
			p.Errorf("%s: rds-info -T: exit status %d: %s", n.Name(), r.ExitCode, r.Stderr)
		}
	}
}
