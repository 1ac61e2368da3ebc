// SPDX-License-Identifier: MIT

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestFrames(t *testing.T) {
	var buf bytes.Buffer
	fw := NewFrameWriter(&buf)
	long := bytes.Repeat([]byte("x"), 2*MaxPayload+5)
	for _, p := range [][]byte{nil, []byte("short"), long} {
		if err := fw.Write(7, KindStdout, p); err != nil {
			t.Fatal(err)
		}
	}
	var lens []int
	for {
		f, err := ReadFrame(&buf)
		if err == io.EOF {
			break
		}
		if err != nil || f.Stream != 7 || f.Kind != KindStdout {
			t.Fatalf("%+v, %v", f, err)
		}
		lens = append(lens, len(f.Payload))
	}
	want := []int{0, 5, MaxPayload, MaxPayload, 5}
	if len(lens) != len(want) {
		t.Fatalf("payloads of %v bytes, want %v", lens, want)
	}
	for i := range want {
		if lens[i] != want[i] {
			t.Fatalf("payloads of %v bytes, want %v", lens, want)
		}
	}
}

func TestReadFrameRefusesBrokenStreams(t *testing.T) {
	var buf bytes.Buffer
	if err := NewFrameWriter(&buf).Write(1, KindCall, []byte("payload")); err != nil {
		t.Fatal(err)
	}
	whole := buf.Bytes()
	for n := 1; n < len(whole); n++ {
		if _, err := ReadFrame(bytes.NewReader(whole[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	whole[0] = 0xff
	if _, err := ReadFrame(bytes.NewReader(whole)); err == nil || !strings.Contains(err.Error(), "out of step") {
		t.Errorf("a huge length: %v", err)
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x00\x00\x00\x01\x02x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		for {
			fr, err := ReadFrame(r)
			if err != nil {
				return
			}
			if len(fr.Payload) > MaxPayload {
				t.Fatalf("payload of %d bytes", len(fr.Payload))
			}
		}
	})
}

// A guest is a made-up other end. serve gets the calls.
type guest struct {
	t    *testing.T
	conn net.Conn
	fw   *FrameWriter
}

func connect(t *testing.T, hello Hello, serve func(g *guest, f Frame)) (*Client, *guest, error) {
	t.Helper()
	host, inside := net.Pipe()
	g := &guest{t, inside, NewFrameWriter(inside)}
	t.Cleanup(func() { inside.Close() })
	go func() {
		b, err := json.Marshal(hello)
		if err != nil || g.fw.Write(0, KindHello, b) != nil {
			return
		}
		for {
			f, err := ReadFrame(inside)
			if err != nil {
				return
			}
			serve(g, f)
		}
	}()
	c, err := Dial(host, "token")
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, g, err
}

func good() Hello { return Hello{Version: Version, Token: "token"} }

func (g *guest) reply(stream uint32, r Reply) {
	b, err := json.Marshal(r)
	if err != nil {
		g.t.Error(err)
	}
	if err := g.fw.Write(stream, KindReply, b); err != nil {
		g.t.Error(err)
	}
}

func TestDialChecksTheHello(t *testing.T) {
	none := func(*guest, Frame) {}
	if _, _, err := connect(t, good(), none); err != nil {
		t.Error(err)
	}
	if _, _, err := connect(t, Hello{Version: Version, Token: "other"}, none); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("wrong token: %v", err)
	}
	if _, _, err := connect(t, Hello{Version: Version + 1, Token: "token"}, none); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("wrong version: %v", err)
	}
	host, inside := net.Pipe()
	inside.Close()
	if _, err := Dial(host, "token"); !errors.Is(err, io.EOF) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestCallsAtTheSameTimeGetTheirOwnReplies(t *testing.T) {
	var mu sync.Mutex
	var waiting []Frame
	c, _, err := connect(t, good(), func(g *guest, f Frame) {
		mu.Lock()
		defer mu.Unlock()
		if waiting = append(waiting, f); len(waiting) < 5 {
			return
		}
		for i := len(waiting) - 1; i >= 0; i-- { // in another order
			var call Call
			if err := json.Unmarshal(waiting[i].Payload, &call); err != nil {
				t.Error(err)
			}
			g.reply(waiting[i].Stream, Reply{Result: call.Args})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			var got int
			if err := c.Call(t.Context(), OpPing, i, &got); err != nil || got != i {
				t.Errorf("call %d: %d, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

func TestCallErrorKeepsErrno(t *testing.T) {
	c, _, err := connect(t, good(), func(g *guest, f Frame) {
		g.reply(f.Stream, Reply{Error: "no such thing", Errno: int(syscall.ENOENT)})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Call(t.Context(), OpLoad, Load{}, nil)
	var ae *Error
	if !errors.As(err, &ae) || ae.Op != OpLoad || !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("%v", err)
	}
}

func TestCallEndsWithContextAndWithPort(t *testing.T) {
	called := make(chan struct{}, 2)
	c, g, err := connect(t, good(), func(*guest, Frame) { called <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Call(ctx, OpPing, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer: %v", err)
	}
	<-called
	errs := make(chan error)
	go func() { errs <- c.Call(t.Context(), OpPing, nil, nil) }()
	<-called
	g.conn.Close()
	if err := <-errs; !errors.Is(err, ErrClosed) {
		t.Errorf("the port ended: %v", err)
	}
	if err := c.Call(t.Context(), OpPing, nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after that: %v", err)
	}
}

func TestCommand(t *testing.T) {
	var input bytes.Buffer
	var mu sync.Mutex
	c, _, err := connect(t, good(), func(g *guest, f Frame) {
		mu.Lock()
		defer mu.Unlock()
		switch f.Kind {
		case KindCall:
			for k, s := range map[Kind]string{KindStdout: "out\n", KindStderr: "err\n"} {
				if err := g.fw.Write(f.Stream, k, []byte(s)); err != nil {
					t.Error(err)
				}
			}
		case KindInput:
			input.Write(f.Payload)
		case KindSignal:
			g.reply(f.Stream, Reply{Result: json.RawMessage(`{"ExitCode": -1, "Signal": 15}`)})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := c.Start(t.Context(), Exec{Argv: []string{"x"}, Stdin: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.Write([]byte("in")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	res, err := cmd.Wait()
	if err != nil || res.Signal != 15 || cmd.Stdout.String() != "out\n" || cmd.Stderr.String() != "err\n" {
		t.Errorf("%+v, %v, %q, %q", res, err, cmd.Stdout, cmd.Stderr)
	}
	mu.Lock()
	defer mu.Unlock()
	if input.String() != "in" {
		t.Errorf("input %q", input.String())
	}
}

func TestWaitLine(t *testing.T) {
	o := NewOutput()
	found := make(chan []string, 1)
	go func() {
		m, err := o.WaitLine(t.Context(), regexp.MustCompile(`^port (\d+)$`))
		if err != nil {
			t.Error(err)
		}
		found <- m
	}()
	for _, s := range []string{"something\npo", "rt 4", "2\nmore"} {
		o.add([]byte(s))
	}
	if m := <-found; len(m) != 2 || m[1] != "42" {
		t.Errorf("found %q", m)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := o.WaitLine(ctx, regexp.MustCompile("^more$")); err == nil {
		t.Error("an unfinished line was taken for a line")
	}
	o.end()
	if _, err := o.WaitLine(t.Context(), regexp.MustCompile("^more$")); err != nil {
		t.Errorf("the last line without end: %v", err)
	}
	if _, err := o.WaitLine(t.Context(), regexp.MustCompile("absent")); err == nil {
		t.Error("found what is not there")
	}
}

func TestTee(t *testing.T) {
	o := NewOutput()
	o.add([]byte("before "))
	var buf bytes.Buffer
	o.Tee(&buf)
	o.add([]byte("after"))
	if buf.String() != "before after" || o.String() != "before after" {
		t.Errorf("copy %q, kept %q", buf.String(), o)
	}
	if err := o.Err(); err != nil {
		t.Error(err)
	}
}
