// SPDX-License-Identifier: MIT

package engine

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/fakerds"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
	"github.com/rds-ext/rds_ext/gonl/rds"
)

// onAnswers applies a fault to every nth RDMA answer.
func onAnswers(nth int, hits *int64, f fakerds.Fault) func(int, netip.AddrPort, rds.Message) fakerds.Fault {
	seen := 0
	return func(_ int, _ netip.AddrPort, m rds.Message) fakerds.Fault {
		if m.RDMA == nil {
			return fakerds.Fault{}
		}
		if seen++; seen%nth != 0 {
			return fakerds.Fault{}
		}
		*hits++
		return f
	}
}

// TestDroppedOperations: the answer and its RDMA are dropped whole; the
// requester gets its region back and tries again.
func TestDroppedOperations(t *testing.T) {
	for _, st := range []rds.Status{rds.StatusDropped, rds.StatusRemoteError, rds.StatusCanceled, rds.StatusOtherError} {
		t.Run(st.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net, hits := fakerds.New(), int64(0)
				net.Fault = onAnswers(7, &hits, fakerds.Fault{Status: st})
				o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeBoth}, count: 300})
				o.good(t, 300)
				c := o.client
				if hits == 0 || c.Aborted != hits || c.Retried != hits || c.Local.MRsMapped != 300+hits {
					t.Errorf("%d dropped: %+v", hits, c)
				}
				if got := o.client.Peer.RDMAErrors[st.String()]; got != hits {
					t.Errorf("peer counted %d %v, want %d", got, st, hits)
				}
			})
		})
	}
}

// TestLateDrop: the answer arrived, but its sender is told that it was dropped.
// The operation counts once.
func TestLateDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, hits := fakerds.New(), int64(0)
		net.Fault = onAnswers(7, &hits, fakerds.Fault{LateDrop: true})
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeWrite}, count: 300})
		if o.err != nil {
			t.Fatal(o.err)
		}
		if err := o.client.Verdict(); err != nil {
			t.Error(err)
		}
		if hits == 0 || o.client.Ops != 300 || o.client.Retried != 0 || o.client.Local.Stale == 0 {
			t.Errorf("%d late drops: %+v", hits, o.client)
		}
	})
}

// TestDuplicateAnswers: an answer that comes twice counts once.
func TestDuplicateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, hits := fakerds.New(), int64(0)
		net.Fault = onAnswers(5, &hits, fakerds.Fault{Duplicate: true})
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeRead}, count: 300})
		o.good(t, 300)
		if hits == 0 || o.client.Local.Stale != hits {
			t.Errorf("%d duplicates, %d stale", hits, o.client.Local.Stale)
		}
	})
}

// TestSilentLoss: answers vanish without any notification. Nothing tells, so
// the stall limit must.
func TestSilentLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, hits := fakerds.New(), int64(0)
		lose := onAnswers(1, &hits, fakerds.Fault{Vanish: true})
		net.Fault = func(n int, from netip.AddrPort, m rds.Message) (f fakerds.Fault) {
			if n > 100 && hits < 8 {
				return lose(n, from, m)
			}
			return f
		}
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeWrite, Tasks: 1, Depth: 4}, count: 200})
		// The answerer's buffers of vanished answers never come back: with
		// four lost it is out of them, and the session must end with an error
		// in bounded time instead of hanging.
		if o.err == nil || !strings.Contains(o.err.Error(), "no operation succeeded") {
			t.Fatalf("client: %v", o.err)
		}
		if o.client.Local.Stalls == 0 || o.client.Ops == 0 || o.client.Ops == 200 {
			t.Errorf("%+v", o.client)
		}
	})
}

// TestLostRequests: requests vanish (a peer that restarted its socket, say);
// after the stall limit they are declared void and made again.
func TestLostRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, hits := fakerds.New(), 0
		net.Fault = func(n int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
			if m.Map != nil && n > 50 && hits < 8 {
				hits++
				f.Vanish = true
			}
			return f
		}
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeBoth, Tasks: 2, Depth: 4}, count: 300})
		o.good(t, 300)
		if o.client.Aborted != 8 || o.client.Local.Stalls == 0 || o.client.MRsHeld != 0 {
			t.Errorf("%+v", o.client)
		}
	})
}

// TestReconnect: the connection goes down under load and, as with Linux, does
// not come up before the requesters have let go of their regions.
func TestReconnect(t *testing.T) {
	for _, mode := range wire.Modes {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := fakerds.New()
				net.Fault = everyNth(4)
				o := run(t, setup{
					net: net, params: wire.Params{Mode: mode, Size: 256, Duplex: true}, duration: 14 * time.Second,
					during: func(t *testing.T, _, _ func()) {
						for range 3 {
							time.Sleep(3 * time.Second)
							net.Down()
							from := time.Now()
							for !net.Up() {
								if time.Since(from) > 10*time.Second {
									t.Error("regions were not released while the connection was down")
									return
								}
								time.Sleep(50 * time.Millisecond)
							}
						}
					},
				})
				o.good(t, o.client.Ops)
				if o.client.Resets != 3 {
					t.Errorf("%d resets seen, want 3", o.client.Resets)
				}
				if o.client.Ops < 100 {
					t.Errorf("%d operations", o.client.Ops)
				}
				// The regions were taken back, while answers waited in the other
				// side's kernel for the connection.
				if n := net.Refused(); n != 0 {
					t.Errorf("%d accesses to regions that had been taken back", n)
				}
			})
		})
	}
}

// TestBriefLoss: the connection is lost for a time in which the requester keeps its
// regions, and for one so short that nobody sees it down. What was under way is tried
// again without waiting for the stall limit.
func TestBriefLoss(t *testing.T) {
	for _, down := range []time.Duration{20 * time.Millisecond, 400 * time.Millisecond} {
		t.Run(down.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net, vanish := fakerds.New(), 0
				net.KeepRegions = true
				slow := everyNth(4)
				net.Fault = func(n int, from netip.AddrPort, m rds.Message) fakerds.Fault {
					// The peer's RDMA is done and its sender told so, but the
					// message behind it goes under with the connection.
					if m.RDMA != nil && vanish > 0 {
						vanish--
						return fakerds.Fault{LoseMessage: true}
					}
					return slow(n, from, m)
				}
				o := run(t, setup{
					net: net, params: wire.Params{Mode: wire.ModeBoth, Tasks: 1}, duration: 3 * time.Second,
					during: func(t *testing.T, _, _ func()) {
						time.Sleep(time.Second)
						net.Change(func() { vanish = 3 })
						time.Sleep(10 * time.Millisecond)
						net.Down()
						time.Sleep(down)
						if !net.Up() {
							t.Error("the connection did not come up")
						}
					},
				})
				o.good(t, o.client.Ops)
				l := o.client.Local
				// No more than what was in flight: tries made over the next
				// connection are not given up.
				if vanish != 0 || l.Aborted < 3 || l.Aborted > 4 || l.Stalls != 0 || o.client.Max > 1e6 {
					t.Errorf("%d of 3 answers went under, slowest operation %v us, client %+v", 3-vanish, o.client.Max, l)
				}
				if n := net.Refused(); n != 0 {
					t.Errorf("%d accesses to regions that had been taken back", n)
				}
			})
		})
	}
}

// TestCut: plain messages survive an outage of 20 seconds without loss.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := fakerds.New()
		net.Fault = everyNth(4)
		o := run(t, setup{
			net: net, params: wire.Params{Mode: wire.ModeMsg, Size: 256}, duration: 30 * time.Second,
			during: func(t *testing.T, _, _ func()) {
				time.Sleep(5 * time.Second)
				net.Down()
				time.Sleep(20 * time.Second)
				if !net.Up() {
					t.Error("regions in mode msg")
				}
			},
		})
		o.good(t, o.client.Ops)
		if o.client.Max < 19e6 {
			t.Errorf("no message waited: max %v us", o.client.Max)
		}
	})
}

// TestMessageFaults: what RDS promises never to do is noticed.
func TestMessageFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault fakerds.Fault
	}{
		{"lost", fakerds.Fault{Vanish: true}},
		{"duplicate", fakerds.Fault{Duplicate: true}},
		{"corrupt", fakerds.Fault{Payload: func(p []byte) { p[len(p)-1] ^= 1 }}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net, hits := fakerds.New(), int64(0)
				net.Fault = func(n int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
					if len(m.Payload) == wire.HeaderSize+1000 && n > 50 && hits == 0 {
						hits++
						return tt.fault
					}
					return f
				}
				o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeMsg, Size: 1000, Tasks: 1}, count: 200})
				p := o.client.Peer
				if p == nil {
					t.Fatalf("no result of the peer: %v", o.err)
				}
				if p.VerifyFailures != 1 || p.Lost+p.Duplicated+p.DataFailures != 1 {
					t.Errorf("peer %+v", p)
				}
				// Nobody acknowledges a lost message; the run must end anyway.
				if (o.err != nil) != tt.fault.Vanish {
					t.Errorf("client: %v", o.err)
				}
				if o.client.Verdict() == nil {
					t.Error("verdict is good")
				}
			})
		})
	}
}

// TestLastMessageLost: no later message shows the gap, only the count does.
func TestLastMessageLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, sent := fakerds.New(), 0
		net.Fault = func(_ int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
			if len(m.Payload) == wire.HeaderSize+1000 {
				sent++
				f.Vanish = sent == 100
			}
			return f
		}
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeMsg, Size: 1000, Tasks: 1}, count: 100})
		if o.err == nil || o.server == nil || o.server.Local.Lost != 1 {
			t.Errorf("client: %v, server: %+v", o.err, o.server)
		}
	})
}

// TestTransientSendErrors: what the kernel refuses for a moment is tried again.
func TestTransientSendErrors(t *testing.T) {
	for _, errno := range []unix.Errno{unix.ENOMEM, unix.ENODEV, unix.EINVAL, unix.ENOBUFS, unix.EAGAIN} {
		t.Run(errno.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := fakerds.New()
				net.Fault = func(n int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
					if n%9 == 0 && (m.Map != nil || m.RDMA != nil) {
						f.Err = &rds.Error{Op: "send", Addr: m.To, Err: errno}
					}
					return f
				}
				o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeBoth}, count: 200})
				o.good(t, 200)
			})
		})
	}
}

// TestLastAnswerRefused: the requester is told at once, although nothing comes
// after it that would wake the answerer.
func TestLastAnswerRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, answers := fakerds.New(), 0
		net.Fault = func(_ int, _ netip.AddrPort, m rds.Message) (f fakerds.Fault) {
			if m.RDMA == nil {
				return f
			}
			if answers++; answers == 1 {
				f.Err = &rds.Error{Op: "send", Addr: m.To, Err: unix.EINVAL}
			}
			return f
		}
		o := run(t, setup{net: net, params: wire.Params{Mode: wire.ModeWrite, Tasks: 1, Depth: 1}, count: 1})
		o.good(t, 1)
		if l := o.client.Local; answers != 2 || l.Retried != 1 || l.Stalls != 0 {
			t.Errorf("%d answers, client %+v", answers, l)
		}
	})
}
