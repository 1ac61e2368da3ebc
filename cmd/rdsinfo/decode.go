// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/cmd/internal/cli"
	"github.com/rds-ext/rds_ext/internal/wire"
)

const decodeHelp = `Read a capture, pcap or pcapng, compressed with gzip or not, and print what it has
of RDS over RoCEv2 and over TCP: the connections, the datagrams that set them up,
the messages with every extension header, and the RDMA operations; and the life of
each R_Key, when it is over: offered to the peer, used by its RDMA, released by it.
Without FILE, or with "-", the capture is read from the standard input, and printed
as it comes:

  tcpdump -i eth0 -U -w - udp port 4791 | rdsinfo decode

Packets that were sent again count once, and those behind a gap are left out, as
the receiver does. Of packets that were cut off by the capture (tcpdump -s), the
headers are read as far as they go. What is not RDS, or cannot be read, is counted
in the summary.

Lines begin with the seconds since the first frame and the number of the frame.
With --json, each is an object: "event" is conn, cm, message, rdma, key or
summary.`

// decoder prints what a follower finds.
type decoder struct {
	out      *bufio.Writer
	failed   error // of writing
	show     func(*decoder, any) error
	keysOnly bool

	follower *wire.Follower
	keys     *wire.KeyFollower
	conns    map[*wire.Conn]int // their numbers
	first    time.Time          // of the first frame
	now      time.Time          // of this one
	seen     struct{ conns, messages, operations, keys int }
}

func (a *app) decodeCmd() *cobra.Command {
	var keysOnly bool
	var direction string
	cmd := &cobra.Command{
		Use:   "decode [FILE]",
		Short: "Print what a capture has of RDS: messages, extension headers, the lives of R_Keys",
		Long:  decodeHelp,
		Example: "  rdsinfo decode trace.pcapng\n" +
			"  rdsinfo decode --keys trace.pcap.gz\n" +
			"  rdsinfo decode --json trace.pcap | jq 'select(.event == \"key\" and .released_frame == null)'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			wanted, err := parseDirection(direction)
			if err != nil {
				return err
			}
			in, name, err := openInput(args, a.stdin)
			if err != nil {
				return err
			}
			if err := errors.Join(a.decode(in, wanted, keysOnly), in.Close()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&keysOnly, "keys", false, "only the lives of R_Keys, and the summary")
	fl.StringVar(&direction, "direction", "", "only frames that came in (`in`) or went out (out), in a capture that tells: one of several interfaces has many frames twice")
	completeFlags(cmd, map[string][]string{"direction": {"in", "out"}})
	return cmd
}

func parseDirection(s string) (wire.Direction, error) {
	switch s {
	case "":
		return wire.NoDirection, nil
	case "in":
		return wire.Inbound, nil
	case "out":
		return wire.Outbound, nil
	}
	return 0, cli.Usagef("--direction is in or out, not %q", s)
}

// openInput opens the file that the command line names, or takes the standard
// input.
func openInput(args []string, stdin io.Reader) (io.ReadCloser, string, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(stdin), "standard input", nil
	}
	f, err := os.Open(args[0])
	return f, args[0], err
}

func (a *app) decode(in io.Reader, direction wire.Direction, keysOnly bool) error {
	d := &decoder{
		out: bufio.NewWriterSize(a.stdout, pieceLen), show: (*decoder).text, keysOnly: keysOnly,
		follower: wire.NewFollower(), keys: wire.NewKeyFollower(), conns: map[*wire.Conn]int{},
	}
	if a.json {
		d.show = (*decoder).object
	}
	d.keys.OnDone = func(k *wire.Key) {
		d.seen.keys++
		d.emit(d.viewKey(k))
	}
	d.follower.OnConn = d.conn
	d.follower.OnCM = func(e wire.CMEvent) { d.print(d.viewCM(e)) }
	d.follower.OnMessage = d.message
	d.follower.OnOperation = d.operation
	read := d.frames(in, direction)
	if read != nil && d.follower.Frames == 0 {
		return read
	}
	d.keys.End()
	d.emit(d.summary())
	if err := errors.Join(d.failed, d.out.Flush()); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	if errors.Is(read, io.ErrUnexpectedEOF) {
		return errors.New("the capture ends within a frame")
	}
	return read
}

// frames takes all frames, and returns why there are no more.
func (d *decoder) frames(in io.Reader, direction wire.Direction) error {
	// What was found is on the screen before the wait for more.
	idle := func() { d.failed = errors.Join(d.failed, d.out.Flush()) }
	for f, err := range wire.ReadCapture(in, idle) {
		if err != nil {
			return err
		}
		if direction != wire.NoDirection && f.Direction != wire.NoDirection && f.Direction != direction {
			continue
		}
		if d.first.IsZero() {
			d.first = f.Time
		}
		d.now = f.Time
		if d.follower.Frame(f); d.failed != nil {
			return nil
		}
	}
	return nil
}

// print prints something unless only keys are wanted.
func (d *decoder) print(v any) {
	if !d.keysOnly {
		d.emit(v)
	}
}

func (d *decoder) emit(v any) {
	if d.failed == nil {
		d.failed = d.show(d, v)
	}
}

func (d *decoder) conn(c *wire.Conn) {
	d.seen.conns++
	d.conns[c] = d.seen.conns
	d.print(d.viewConn(c))
}

func (d *decoder) message(m *wire.Message) {
	d.seen.messages++
	d.print(d.viewMessage(m))
	d.keys.Message(m)
	m.Payload = nil // keys refer to the message, and live as long as the capture
}

func (d *decoder) operation(op *wire.RDMAOp) {
	d.seen.operations++
	d.print(d.viewOperation(op))
	d.keys.Operation(op)
}

// object prints a line of JSON.
func (d *decoder) object(v any) error { return writeJSONLine(d.out, v) }

// text prints a line for people.
func (d *decoder) text(v any) error {
	t, ok := v.(interface{ appendText([]byte) []byte })
	if !ok {
		return fmt.Errorf("%T has no text", v)
	}
	_, err := d.out.Write(append(bytes.TrimRight(t.appendText(nil), " "), '\n'))
	return err
}

// endpointText prints an address and, over IB, a queue pair.
func endpointText(e wire.Endpoint) string {
	if e.QPN != 0 {
		return fmt.Sprintf("%v QP %#06x", e.Addr, e.QPN)
	}
	if e.Port != 0 {
		return netip.AddrPortFrom(e.Addr, e.Port).String()
	}
	return e.Addr.String()
}
