// SPDX-License-Identifier: MIT

// Package bzimage takes the kernel out of an x86 boot image.
//
// Under emulation the guest needs 3 of its 5 seconds to the first program for
// unpacking a kernel that is compressed with xz. Unpacked once on the host, it
// can be started as it is: QEMU enters an ELF kernel at its PVH entry point.
//
// The xz program unpacks it. ulikunitz/xz, which reads modules well, cannot: a
// kernel is packed with the filter for x86 code.
package bzimage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
)

// ErrNotXZ is returned for an image that is compressed otherwise. Those methods
// are fast enough to be left to the guest (zstd: under a second).
var ErrNotXZ = errors.New("bzimage: the kernel is not compressed with xz")

// ErrNoXZ is returned if there is no xz program.
var ErrNoXZ = errors.New("bzimage: no xz program; install the package xz-utils")

// Fields of the boot protocol's setup header, by their offset in the image.
const (
	offSetupSects    = 0x1f1 // u8: sectors of 512 bytes behind the first
	offMagic         = 0x202 // "HdrS"
	offVersion       = 0x206 // u16: major, minor
	offPayloadOffset = 0x248 // u32, from the start of the protected-mode code
	offPayloadLength = 0x24c // u32
	headerEnd        = 0x250
)

// minVersion is the first version of the protocol with the payload's fields.
const minVersion = 0x0208

var xzMagic = []byte{0xfd, '7', 'z', 'X', 'Z', 0}

// Extract returns the ELF kernel of a boot image.
func Extract(ctx context.Context, image []byte) ([]byte, error) {
	payload, err := payload(image)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(payload, xzMagic) {
		return nil, ErrNotXZ
	}
	// The last four bytes are not xz but the length of what comes out.
	if len(payload) < 4 {
		return nil, errors.New("bzimage: no payload")
	}
	size := binary.LittleEndian.Uint32(payload[len(payload)-4:])
	cmd := exec.CommandContext(ctx, "xz", "--decompress", "--stdout")
	cmd.Stdin = bytes.NewReader(payload[:len(payload)-4])
	kernel := bytes.NewBuffer(make([]byte, 0, size))
	var msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = kernel, &msg
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNoXZ
	case err != nil:
		return nil, fmt.Errorf("bzimage: xz: %w: %s", err, msg.String())
	}
	if kernel.Len() != int(size) {
		return nil, fmt.Errorf("bzimage: the kernel has %d bytes, the image says %d", kernel.Len(), size)
	}
	if !bytes.HasPrefix(kernel.Bytes(), []byte("\x7fELF")) {
		return nil, errors.New("bzimage: what was packed is not an ELF kernel")
	}
	return kernel.Bytes(), nil
}

func payload(image []byte) ([]byte, error) {
	if len(image) < headerEnd || string(image[offMagic:offMagic+4]) != "HdrS" {
		return nil, errors.New("bzimage: not an x86 boot image")
	}
	le := binary.LittleEndian
	if v := le.Uint16(image[offVersion:]); v < minVersion {
		return nil, fmt.Errorf("bzimage: boot protocol %#x, at least %#x is needed", v, minVersion)
	}
	sects := uint64(image[offSetupSects])
	if sects == 0 {
		sects = 4 // by the protocol, for images older than it
	}
	start := (sects+1)*512 + uint64(le.Uint32(image[offPayloadOffset:]))
	end := start + uint64(le.Uint32(image[offPayloadLength:]))
	if end > uint64(len(image)) || start > end {
		return nil, fmt.Errorf("bzimage: payload at %d to %d of %d bytes", start, end, len(image))
	}
	return image[start:end], nil
}
