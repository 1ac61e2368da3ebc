// SPDX-License-Identifier: MIT

package agent

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// Kind says what the payload of a [Frame] is.
type Kind uint8

// The kinds of frames, and which side sends them.
const (
	KindHello    Kind = iota + 1 // guest: JSON of Hello; stream 0
	KindCall                     // host: JSON of Call; opens the stream
	KindReply                    // guest: JSON of Reply; ends the stream
	KindStdout                   // guest: bytes
	KindStderr                   // guest: bytes
	KindInput                    // host: bytes
	KindInputEnd                 // host: empty
	KindSignal                   // host: one byte, the signal's number
)

// MaxPayload is the largest payload of a frame in bytes. Longer data is sent
// as several frames, which keeps one loud command from holding up the others.
const MaxPayload = 64 << 10

// headerLen is the length of a frame's header in bytes: payload length and
// stream as big-endian 32-bit numbers, then the kind.
const headerLen = 9

// A Frame is the unit of the protocol.
type Frame struct {
	Stream  uint32
	Kind    Kind
	Payload []byte
}

// ReadFrame reads the next frame. It returns io.EOF if r ends between two
// frames, and an error that wraps io.ErrUnexpectedEOF if it ends inside one.
func ReadFrame(r io.Reader) (Frame, error) {
	var h [headerLen]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		if err == io.EOF {
			return Frame{}, err
		}
		return Frame{}, fmt.Errorf("agent: frame header: %w", err)
	}
	n := binary.BigEndian.Uint32(h[0:])
	f := Frame{Stream: binary.BigEndian.Uint32(h[4:]), Kind: Kind(h[8])}
	if n > MaxPayload {
		return Frame{}, fmt.Errorf("agent: frame of %d bytes, the limit is %d: the stream is out of step", n, MaxPayload)
	}
	f.Payload = make([]byte, n)
	if _, err := io.ReadFull(r, f.Payload); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return Frame{}, fmt.Errorf("agent: frame payload: %w", err)
	}
	return f, nil
}

// A FrameWriter writes frames to one port from any number of goroutines.
type FrameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// NewFrameWriter returns a FrameWriter on w.
func NewFrameWriter(w io.Writer) *FrameWriter { return &FrameWriter{w: w} }

// Write sends p on the stream, as several frames if it is longer than
// [MaxPayload]. An empty p is sent as one empty frame.
func (fw *FrameWriter) Write(stream uint32, kind Kind, p []byte) error {
	for first := true; first || len(p) > 0; first = false {
		n := min(len(p), MaxPayload)
		if err := fw.writeOne(stream, kind, p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

func (fw *FrameWriter) writeOne(stream uint32, kind Kind, p []byte) error {
	// One write per frame: a partial frame would put the other side out of step.
	b := make([]byte, headerLen, headerLen+len(p))
	binary.BigEndian.PutUint32(b[0:], uint32(len(p)))
	binary.BigEndian.PutUint32(b[4:], stream)
	b[8] = byte(kind)
	b = append(b, p...)
	fw.mu.Lock()
	defer fw.mu.Unlock()
	_, err := fw.w.Write(b)
	return err
}
