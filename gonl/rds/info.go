// SPDX-License-Identifier: MIT

package rds

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Info reads what RDS itself tells about the network namespace of this process:
// the RDS_INFO socket options, which every kernel with RDS has. It needs no
// privilege and no address. Its methods are safe for concurrent use; each list is
// read as of one moment, two lists are of two moments.
type Info struct {
	read  snapshotFunc
	file  *os.File
	inode uint64 // of its own socket, which is not worth being listed
}

// OpenInfo opens a socket to ask through. Without RDS in the kernel the error is
// [ErrNotLoaded].
func OpenInfo() (*Info, error) {
	fd, err := unix.Socket(unix.AF_RDS, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, &Error{Op: opSocket, Err: err}
	}
	return newInfo(fd)
}

// newInfo takes over the descriptor.
func newInfo(fd int) (*Info, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, errors.Join(fmt.Errorf("rds: info: fstat: %w", err), unix.Close(fd))
	}
	f := os.NewFile(uintptr(fd), "rds info")
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Info{
		read:  func(opt int) (snapshot, error) { return readOption(raw, opt, nil) },
		file:  f,
		inode: st.Ino,
	}, nil
}

// readOption reads the list of an option of a socket. around, where there is
// one, makes each system call.
func readOption(raw syscall.RawConn, opt int, around func(func() error) error) (snapshot, error) {
	if around == nil {
		around = func(f func() error) error { return f() }
	}
	return readSnapshot(func(b []byte) (each, n int, err error) {
		cerr := raw.Control(func(fd uintptr) {
			err = around(func() (err error) {
				each, n, err = getsockopt(int(fd), solRDS, opt, b)
				return err
			})
		})
		if cerr != nil {
			return 0, 0, cerr
		}
		return each, n, err
	})
}

// Close closes the socket.
func (i *Info) Close() error { return i.file.Close() }

// Counters returns this host's RDS counters, summed over its CPUs, in the order
// of the kernel: those of RDS itself, then those of its transports.
func (i *Info) Counters() ([]Counter, error) { return counters.read(i.read) }

// Connections returns the connections, IPv4 and IPv6.
func (i *Info) Connections() ([]Connection, error) { return readConnections(i.read) }

// Sockets returns the RDS sockets, IPv4 and IPv6, except the one that i uses.
func (i *Info) Sockets() ([]SocketInfo, error) {
	list, err := either(i.read, sockets6, sockets4)
	return slices.DeleteFunc(list, func(s SocketInfo) bool { return s.Inode == i.inode }), err
}

// Messages returns the messages in a queue, IPv4 and IPv6.
func (i *Info) Messages(q Queue) ([]MessageInfo, error) {
	v6, v4, err := q.layouts()
	if err != nil {
		return nil, err
	}
	return either(i.read, v6, v4)
}

// IBConnections returns what the IB transport has of connections, IPv4 and IPv6.
// Where rds_rdma is not loaded, the error is [ErrNoInfo].
func (i *Info) IBConnections() ([]IBConnection, error) {
	return either(i.read, ibConnections6, ibConnections4)
}

// TCPSockets returns the sockets of the TCP transport, IPv4 and IPv6. Where
// rds_tcp is not loaded, the error is [ErrNoInfo].
func (i *Info) TCPSockets() ([]TCPSocket, error) {
	return both(i.read, tcpSockets4, tcpSockets6, TCPSocket.isIPv4)
}

// Connections returns this host's connections, IPv4 and IPv6; see
// [Info.Connections].
func (s *Socket) Connections() ([]Connection, error) { return readConnections(s.info) }

// Counters returns this host's RDS counters by name, summed over its CPUs.
func (s *Socket) Counters() (map[string]uint64, error) {
	list, err := counters.read(s.info)
	if err != nil {
		return nil, err
	}
	m := make(map[string]uint64, len(list))
	for _, c := range list {
		m[c.Name] = c.Value
	}
	return m, nil
}

// info is a snapshotFunc.
func (s *Socket) info(opt int) (snapshot, error) {
	list, err := readOption(s.raw, opt, func(f func() error) error { return s.call(CallGetsockopt, f) })
	if err != nil {
		return snapshot{}, s.fileError(err)
	}
	return list, nil
}
