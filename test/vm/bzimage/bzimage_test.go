// SPDX-License-Identifier: MIT

package bzimage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/ulikunitz/xz"
)

// build makes an image of one setup sector, some code and a payload.
func build(t *testing.T, payload []byte) []byte {
	t.Helper()
	const codeLen = 100
	b := make([]byte, 2*512+codeLen, 2*512+codeLen+len(payload))
	b[offSetupSects] = 1
	copy(b[offMagic:], "HdrS")
	binary.LittleEndian.PutUint16(b[offVersion:], 0x020f)
	binary.LittleEndian.PutUint32(b[offPayloadOffset:], codeLen)
	binary.LittleEndian.PutUint32(b[offPayloadLength:], uint32(len(payload)))
	return append(b, payload...)
}

func compress(t *testing.T, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := xz.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.AppendUint32(buf.Bytes(), uint32(len(data)))
}

func TestExtract(t *testing.T) {
	kernel := append([]byte("\x7fELF"), bytes.Repeat([]byte("kernel"), 1000)...)
	got, err := Extract(t.Context(), build(t, compress(t, kernel)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, kernel) {
		t.Errorf("got %d bytes that differ from the %d packed ones", len(got), len(kernel))
	}
}

func TestExtractRefuses(t *testing.T) {
	good := build(t, compress(t, []byte("\x7fELF and so on")))
	old := bytes.Clone(good)
	binary.LittleEndian.PutUint16(old[offVersion:], 0x0207)
	outside := bytes.Clone(good)
	binary.LittleEndian.PutUint32(outside[offPayloadLength:], 1<<20)
	wrongSize := bytes.Clone(good)
	wrongSize[len(wrongSize)-4]++
	for name, image := range map[string][]byte{
		"empty": nil, "no header": make([]byte, 4096), "old protocol": old,
		"payload outside": outside, "wrong size": wrongSize,
		"not ELF": build(t, compress(t, []byte("something else"))),
	} {
		if _, err := Extract(t.Context(), image); err == nil || errors.Is(err, ErrNotXZ) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := Extract(t.Context(), build(t, []byte("\x28\xb5\x2f\xfd zstd"))); !errors.Is(err, ErrNotXZ) {
		t.Errorf("zstd: error %v, want ErrNotXZ", err)
	}
}
