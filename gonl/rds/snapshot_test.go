// SPDX-License-Identifier: MIT

package rds

import (
	"bytes"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// A growing list behaves as the kernel's do: it fills what fits, and asks for
// more room by its length.
func growing(content []byte, each int, sizes *[]int, grow int) func([]byte) (int, int, error) {
	return func(b []byte) (int, int, error) {
		*sizes = append(*sizes, len(b))
		n := len(content)
		content = append(content, make([]byte, grow)...)
		if copy(b, content[:n]); n > len(b) {
			return -1, n, unix.ENOSPC
		}
		return each, n, nil
	}
}

func TestReadSnapshot(t *testing.T) {
	for _, length := range []int{0, 10, snapshotFirst, snapshotFirst + 1, 1 << 20} {
		content := bytes.Repeat([]byte{7}, length)
		var sizes []int
		s, err := readSnapshot(growing(content, 5, &sizes, 0))
		if err != nil || s.each != 5 || !bytes.Equal(s.b, content) {
			t.Errorf("%d bytes: %d in items of %d, %v", length, len(s.b), s.each, err)
		}
		if calls := 1 + min(1, length/(snapshotFirst+1)); len(sizes) != calls {
			t.Errorf("%d bytes took calls with %v, want %d", length, sizes, calls)
		}
	}
	// One that grows by a little between two calls fits at the second.
	var sizes []int
	s, err := readSnapshot(growing(make([]byte, 100000), 5, &sizes, 1000))
	if err != nil || len(sizes) != 2 || len(s.b) != 101000 {
		t.Errorf("calls with %v, %d bytes, %v", sizes, len(s.b), err)
	}
}

func TestReadSnapshotGivesUp(t *testing.T) {
	// The list of a kernel that adds faster than it can be read.
	calls := 0
	_, err := readSnapshot(func(b []byte) (int, int, error) {
		calls++
		return -1, 2 * len(b), unix.ENOSPC
	})
	if !errors.Is(err, unix.ENOSPC) || calls != snapshotTries {
		t.Errorf("%d calls, %v", calls, err)
	}
	for name, c := range map[string]struct {
		n    int
		err  error
		want error
	}{
		"absurd length":      {snapshotMax + 1, unix.ENOSPC, ErrMalformed},
		"negative length":    {-1, unix.ENOSPC, ErrMalformed},
		"longer than buffer": {snapshotFirst + 1, nil, ErrMalformed},
		"negative and fine":  {-1, nil, ErrMalformed},
		"no such list":       {0, unix.ENOPROTOOPT, ErrNoInfo},
		"pages not pinned":   {0, unix.EAGAIN, unix.EAGAIN},
	} {
		calls := 0
		_, err := readSnapshot(func([]byte) (int, int, error) {
			calls++
			return 5, c.n, c.err
		})
		if !errors.Is(err, c.want) || calls != 1 {
			t.Errorf("%s: %d calls, %v", name, calls, err)
		}
	}
}

func TestParseItemsSize(t *testing.T) {
	same := func(b []byte) string { return string(b) }
	got, err := parseItems(snapshot{[]byte("abcdef"), 3}, 2, same)
	if err != nil || len(got) != 2 || got[0] != "abc" || got[1] != "def" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := parseItems(snapshot{nil, 3}, 3, same); err != nil || len(got) != 0 {
		t.Errorf("empty list: %q, %v", got, err)
	}
	for _, s := range []snapshot{
		{[]byte("abcdef"), 1}, {[]byte("abcdef"), 4}, {[]byte("abcdef"), 0}, {[]byte("abcdef"), -3},
		{nil, 1}, {[]byte("abcdef"), 1 << 30},
	} {
		if got, err := parseItems(s, 2, same); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d bytes in items of %d: %q, %v", len(s.b), s.each, got, err)
		}
	}
}

func TestOpenInfoSocket(t *testing.T) {
	// A Unix socket has none of the lists, and says so with the errno of a
	// protocol option that is not there.
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	i, err := newInfo(fd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Counters(); err == nil {
		t.Error("counters of a Unix socket")
	}
	if i.inode == 0 {
		t.Error("no inode number")
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}
	if _, err := i.Counters(); err == nil {
		t.Error("counters of a closed socket")
	}
	if _, err := newInfo(-1); !errors.Is(err, unix.EBADF) {
		t.Errorf("no descriptor: %v", err)
	}
}
