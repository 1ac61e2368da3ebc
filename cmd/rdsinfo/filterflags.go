// SPDX-License-Identifier: MIT

package main

import (
	"encoding"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/gonl"
)

// textFlag is a flag that sets *to, which is nil while the flag is not given.
type textFlag[T any, P interface {
	*T
	encoding.TextUnmarshaler
}] struct {
	to   **T
	kind string
}

func (f textFlag[T, P]) String() string {
	if f.to == nil || *f.to == nil {
		return ""
	}
	return fmt.Sprint(**f.to)
}

func (f textFlag[T, P]) Set(s string) error {
	v := new(T)
	if err := P(v).UnmarshalText([]byte(s)); err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "gonl: "))
	}
	*f.to = v
	return nil
}

func (f textFlag[T, P]) Type() string { return f.kind }

// peerKindFlag accepts the module's name in both spellings.
type peerKindFlag struct {
	textFlag[gonl.PeerKind, *gonl.PeerKind]
}

func (f peerKindFlag) Set(s string) error { return f.textFlag.Set(strings.ReplaceAll(s, "_", "-")) }

// numberFlag is a flag that sets *to, which is nil while the flag is not given.
// What it accepts is said by numberRanges.
type numberFlag[T uint8 | uint16 | uint32 | uint64] struct {
	to   **T
	kind string
}

func (f numberFlag[T]) String() string {
	if f.to == nil || *f.to == nil {
		return ""
	}
	return strconv.FormatUint(uint64(**f.to), 10)
}

func (f numberFlag[T]) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, bits.Len64(uint64(^T(0))))
	if err != nil {
		return err
	}
	v := T(n)
	*f.to = &v
	return nil
}

func (f numberFlag[T]) Type() string { return f.kind }

// keyFlag is an R_Key, in hexadecimal with 0x or in decimal.
type keyFlag struct{ to **uint32 }

func (f keyFlag) String() string {
	if f.to == nil || *f.to == nil {
		return ""
	}
	return fmt.Sprintf("0x%08x", **f.to)
}

func (f keyFlag) Set(s string) error {
	n, err := strconv.ParseUint(s, 0, 32)
	if err != nil {
		return errors.New("an R_Key is a 32-bit number, as in the RKEY column")
	}
	key := uint32(n)
	*f.to = &key
	return nil
}

func (f keyFlag) Type() string { return "KEY" }

// addrFlag is an address of an RDS socket.
type addrFlag struct{ to *netip.Addr }

func (f addrFlag) String() string {
	if f.to == nil || !f.to.IsValid() {
		return ""
	}
	return f.to.String()
}

func (f addrFlag) Set(s string) error {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return fmt.Errorf("not an IPv4 or IPv6 address")
	}
	if a.Zone() != "" {
		return fmt.Errorf("give the address without its zone (%%%s)", a.Zone())
	}
	*f.to = a
	return nil
}

func (f addrFlag) Type() string { return "ADDR" }

// filterFlags adds the flags that select connections, and their completion.
func filterFlags(cmd *cobra.Command, f *gonl.Filter) {
	fl := cmd.Flags()
	fl.Var(addrFlag{&f.Local}, "local", "only connections from this address")
	fl.Var(addrFlag{&f.Peer}, "peer", "only connections to this address")
	fl.Var(textFlag[gonl.Transport, *gonl.Transport]{&f.Transport, "NAME"}, "transport", "only this transport: ib, tcp or loop")
	fl.Var(textFlag[gonl.ConnState, *gonl.ConnState]{&f.State, "STATE"}, "state",
		"only this state: down, connecting, disconnecting, up, resetting or error")
	fl.Var(numberFlag[uint8]{&f.TOS, "TOS"}, "tos", "only this type of service, 0 to 255")
	fl.Var(textFlag[gonl.Version, *gonl.Version]{&f.Version, "VERSION"}, "version",
		"only connections on which this side speaks this protocol version, such as 3.1")
	fl.Var(textFlag[gonl.Version, *gonl.Version]{&f.PeerVersion, "VERSION"}, "peer-version",
		"only peers that were learnt to speak this protocol version")
	fl.Var(peerKindFlag{textFlag[gonl.PeerKind, *gonl.PeerKind]{&f.PeerKind, "KIND"}}, "peer-kind",
		"only peers that are stock, rds-ext or unknown")
	completeFlags(cmd, map[string][]string{
		"transport": {"ib", "tcp", "loop"},
		"state":     {"down", "connecting", "disconnecting", "up", "resetting", "error"},
		"peer-kind": {"stock", "rds-ext", "unknown"},
	})
}

// mrStates are the states of an MR, as --state takes them.
var mrStates = []string{
	"registering", "mapped", "advertised", "released", "remotely-invalidated", "freed",
	"orphaned", "unsent", "expired", "revoked", "device-removed",
}

// mrFilterFlags adds the flags that select MRs, and their completion.
func mrFilterFlags(cmd *cobra.Command, f *gonl.MRFilter) {
	fl := cmd.Flags()
	fl.StringVar(&f.Device, "device", "", "only MRs of the RDMA device `NAME`")
	fl.Var(numberFlag[uint32]{&f.PID, "PID"}, "pid", "only MRs that this process mapped")
	fl.Var(numberFlag[uint64]{&f.Socket, "INODE"}, "socket", "only MRs of the socket with this inode number")
	fl.Var(textFlag[gonl.MRState, *gonl.MRState]{&f.State, "STATE"}, "state",
		"only this state: "+strings.Join(mrStates[:len(mrStates)-1], ", ")+" or "+mrStates[len(mrStates)-1])
	fl.Var(numberFlag[uint32]{&f.ConnID, "ID"}, "conn", "only MRs whose key went to this connection last")
	fl.Var(keyFlag{&f.RKey}, "rkey", "only MRs with this R_Key, such as 0x0a12ff00 (needs CAP_NET_ADMIN)")
	fl.DurationVar(&f.OlderThan, "older-than", 0, "only MRs that were registered this long ago, such as 90s or 10m")
	completeFlags(cmd, map[string][]string{"state": mrStates})
}

// completeFlags completes flags that take one of some values.
func completeFlags(cmd *cobra.Command, flags map[string][]string) {
	for name, values := range flags {
		// It can fail only for a flag that does not exist.
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err)
		}
	}
}
