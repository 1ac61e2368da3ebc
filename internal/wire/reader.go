// SPDX-License-Identifier: MIT

package wire

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// ErrNotCapture is what reading anything but a capture gives.
var ErrNotCapture = errors.New("not a capture in the pcap or pcapng format")

// Magic numbers at the beginning of files.
var (
	magicGzip   = []byte{0x1f, 0x8b}
	magicPcapng = []byte{0x0a, 0x0d, 0x0d, 0x0a}
	magicPcap   = [][]byte{
		{0xa1, 0xb2, 0xc3, 0xd4}, {0xd4, 0xc3, 0xb2, 0xa1}, // microseconds
		{0xa1, 0xb2, 0x3c, 0x4d}, {0x4d, 0x3c, 0xb2, 0xa1}, // nanoseconds
	}
)

// ReadCapture reads a capture, pcap or pcapng, compressed with gzip or not. An
// error is the last that it yields. A capture that ends within a frame, as one
// does while it is written, gives io.ErrUnexpectedEOF behind the frames that are
// whole. idle, where there is one, is called before a read that may wait.
func ReadCapture(r io.Reader, idle func()) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		next, err := openCapture(r, idle)
		for err == nil {
			var f Frame
			if f, err = next(); err == nil && !yield(f, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(Frame{}, fmt.Errorf("wire: %w", err))
		}
	}
}

// idler calls a function before each read.
type idler struct {
	io.Reader
	idle func()
}

func (i idler) Read(b []byte) (int, error) {
	if i.idle != nil {
		i.idle()
	}
	return i.Reader.Read(b)
}

func openCapture(r io.Reader, idle func()) (next func() (Frame, error), err error) {
	in := bufio.NewReaderSize(idler{r, idle}, 1<<16)
	magic, err := in.Peek(4)
	if err == nil && bytes.HasPrefix(magic, magicGzip) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = bufio.NewReaderSize(z, 1<<16)
		magic, err = in.Peek(4)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(magic, magicPcapng) {
		return openPcapng(in)
	}
	for _, m := range magicPcap {
		if bytes.Equal(magic, m) {
			return openPcap(in)
		}
	}
	return nil, ErrNotCapture
}

func openPcap(in io.Reader) (func() (Frame, error), error) {
	r, err := pcapgo.NewReader(in)
	if err != nil {
		return nil, err
	}
	return func() (Frame, error) {
		data, ci, err := r.ReadPacketData()
		if err != nil {
			return Frame{}, within(ci, err)
		}
		return Frame{Time: ci.Timestamp, LinkType: r.LinkType(), Data: data}, nil
	}, nil
}

// within tells the end of the file from one behind the header of a frame.
func within(ci gopacket.CaptureInfo, err error) error {
	if errors.Is(err, io.EOF) && ci.Length > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

func openPcapng(in io.Reader) (func() (Frame, error), error) {
	r, err := pcapgo.NewNgReader(in, pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		return nil, err
	}
	return func() (Frame, error) {
		data, ci, opts, err := r.ReadPacketDataWithOptions()
		if err != nil {
			return Frame{}, within(ci, err)
		}
		intf, err := r.Interface(ci.InterfaceIndex)
		if err != nil {
			return Frame{}, err
		}
		f := Frame{Time: ci.Timestamp, Link: intf.Name, LinkType: intf.LinkType, Data: data}
		if opts.Flags != nil {
			switch opts.Flags.Direction {
			case pcapgo.NgEpbFlagDirectionInbound:
				f.Direction = Inbound
			case pcapgo.NgEpbFlagDirectionOutbound:
				f.Direction = Outbound
			}
		}
		return f, nil
	}, nil
}

// firstLayer is what a frame begins with.
func firstLayer(f Frame) (gopacket.LayerType, error) {
	switch f.LinkType {
	case 0, layers.LinkTypeEthernet:
		return layers.LayerTypeEthernet, nil
	case layers.LinkTypeLinuxSLL:
		return layers.LayerTypeLinuxSLL, nil
	case layers.LinkTypeLinuxSLL2:
		return layers.LayerTypeLinuxSLL2, nil
	case layers.LinkTypeIPv4, layers.LinkTypeIPv6, layers.LinkTypeRaw:
		if len(f.Data) > 0 && f.Data[0]>>4 == 6 {
			return layers.LayerTypeIPv6, nil
		}
		return layers.LayerTypeIPv4, nil
	}
	return 0, fmt.Errorf("frames of link type %d cannot be read, only Ethernet, Linux cooked (1 and 2) and IP", f.LinkType)
}
