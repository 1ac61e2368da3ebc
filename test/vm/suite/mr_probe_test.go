// SPDX-License-Identifier: MIT

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/tools/mrprobe/api"
)

// A probe is a running mrprobe.
type probe struct {
	*pair
	n    *vm.Node
	cmd  *vm.Cmd
	sent int
}

// probe starts mrprobe, which ends with the test.
func (p *pair) probe(n *vm.Node) *probe { return p.probeAs(n, agent.Exec{}) }

// probeAs is probe for another user or namespace.
func (p *pair) probeAs(n *vm.Node, e agent.Exec) *probe {
	p.Helper()
	e.Argv, e.Stdin = []string{"mrprobe"}, true
	cmd, err := n.Start(p.ctx, e)
	if err != nil {
		p.Fatal(err)
	}
	q := &probe{pair: p, n: n, cmd: cmd}
	p.Cleanup(q.end)
	return q
}

// end has the probe end, as far as it has not already.
func (q *probe) end() {
	q.Helper()
	select {
	case <-q.cmd.Done():
		return
	default:
	}
	if err := q.cmd.CloseInput(); err != nil {
		q.Errorf("mrprobe on %s: %v", q.n.Name(), err)
	}
	if r, err := q.cmd.Wait(); err != nil || r.ExitCode != 0 {
		q.Errorf("mrprobe on %s: %v, exit status %d (signal %d): %s", q.n.Name(), err, r.ExitCode, r.Signal, r.Stderr)
	}
}

// call makes a call and returns what came of it.
func (q *probe) call(r api.Request) api.Reply {
	q.Helper()
	q.ask(r)
	return q.answer()
}

// ask makes a call. The answer has to be fetched before the next one.
func (q *probe) ask(r api.Request) {
	q.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		q.Fatal(err)
	}
	q.sent++
	if _, err := q.cmd.Write(append(b, '\n')); err != nil {
		q.Fatal(err)
	}
}

func (q *probe) answer() (reply api.Reply) {
	q.Helper()
	ctx, cancel := context.WithTimeout(q.ctx, 2*waitLimit)
	defer cancel()
	line, err := q.cmd.Stdout.WaitLine(ctx, regexp.MustCompile(fmt.Sprintf(`^\{"n":%d\b.*`, q.sent)))
	if err != nil {
		q.Fatalf("mrprobe on %s: %v\n%s", q.n.Name(), err, q.cmd.Stderr)
	}
	if err := json.Unmarshal([]byte(line[0]), &reply); err != nil {
		q.Fatalf("mrprobe on %s: %v: %s", q.n.Name(), err, line[0])
	}
	return reply
}

// must makes a call that must succeed.
func (q *probe) must(r api.Request) api.Reply {
	q.Helper()
	reply := q.call(r)
	if reply.Errno != "" {
		q.Fatalf("mrprobe on %s: %+v: %s", q.n.Name(), r, reply.Errno)
	}
	return reply
}

// fails makes a call that must fail.
func (q *probe) fails(errno string, r api.Request) api.Reply {
	q.Helper()
	reply := q.call(r)
	if reply.Errno != errno {
		q.Errorf("mrprobe on %s: %+v: error %q, want %s", q.n.Name(), r, reply.Errno, errno)
	}
	return reply
}

// open makes the socket "s" at a port of the node's first address, and the plain
// buffer "m" of so many bytes. It returns the socket's address.
func (q *probe) open(port uint16, size int64) string {
	q.Helper()
	return q.openAt(netip.AddrPortFrom(addr(q.n), port), size)
}

func (q *probe) openAt(at netip.AddrPort, size int64) string {
	q.Helper()
	q.must(api.Request{Op: "socket", Sock: "s", Addr: at.String()})
	q.must(api.Request{Op: "buffer", Buf: "m", Kind: "plain", Length: size})
	return at.String()
}

// getMR registers the first bytes of "m".
func (q *probe) getMR(length int64, flags rds.Flags) uint64 {
	q.Helper()
	return q.must(api.Request{Op: "getmr", Sock: "s", Buf: "m", Length: length, Flags: uint64(flags)}).Cookie
}

// mapTo registers the first bytes of "m" with a message.
func (q *probe) mapTo(to string, length int64, flags rds.Flags, text string) uint64 {
	q.Helper()
	return q.must(api.Request{Op: "map", Sock: "s", Buf: "m", Addr: to, Length: length, Flags: uint64(flags), Text: text}).Cookie
}

func (q *probe) free(cookie uint64, flags rds.Flags) api.Request {
	return api.Request{Op: "free", Sock: "s", Cookie: cookie, Flags: uint64(flags)}
}

// write is an RDMA write of the first bytes of "m" to a region of the peer, with
// a message behind.
func (q *probe) write(to string, cookie uint64, length int64, text string) api.Request {
	return api.Request{
		Op: "rdma", Sock: "s", Buf: "m", Addr: to, Cookie: cookie, Length: length,
		Flags: uint64(rds.ReadWrite | rds.NotifyMe), Token: 1, Text: text,
	}
}

// recvWait is how long a message is waited for.
func (q *probe) recvWait() int { return int(waitLimit.Milliseconds()) }

// recv receives the next message, which must have this text.
func (q *probe) recv(text string) api.Reply {
	q.Helper()
	for {
		r := q.must(api.Request{Op: "recv", Sock: "s", Millis: q.recvWait()})
		if r.From == "" {
			continue // a notification
		}
		if r.Text != text {
			q.Errorf("mrprobe on %s received %+v, want %q", q.n.Name(), r, text)
		}
		return r
	}
}

// status waits for the outcome of the RDMA operation with token 1. Messages that
// come meanwhile are dropped.
func (q *probe) status() rds.Status {
	q.Helper()
	for {
		r := q.must(api.Request{Op: "recv", Sock: "s", Millis: q.recvWait()})
		if s, ok := r.Statuses[1]; ok {
			return rds.Status(s)
		}
	}
}

// refused is whether an RDMA write to a key of a peer fails. The connection is
// lost then, and set up again by the next message.
func (q *probe) refused(to string, cookie uint64) bool {
	q.Helper()
	q.must(q.write(to, cookie, 1, "is it refused"))
	return q.status() != rds.StatusSuccess
}
