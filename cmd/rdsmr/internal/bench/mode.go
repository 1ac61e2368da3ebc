// SPDX-License-Identifier: MIT

// Package bench does the same work in every mode that the kernel offers and puts
// side by side what it costs: system calls, their time, memory regions, pinned
// pages, invalidations.
package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/engine"
	"github.com/rds-ext/rds_ext/cmd/rdsmr/internal/wire"
)

// Mode is a way to register memory for the peer's RDMA and to release it again.
// The names are part of the JSON output and stay as they are.
type Mode string

// The modes. In each but Plain an operation is: register memory, send the peer a
// request with its key, have the peer write or read it by RDMA, get the peer's
// answer, release it.
const (
	// GetMRFreeMR registers with GET_MR and releases with FREE_MR.
	GetMRFreeMR Mode = "get_mr+free_mr"
	// GetMRUseOnce registers with GET_MR; the peer's answer releases.
	GetMRUseOnce Mode = "get_mr+use_once"
	// MapFreeMR registers in the sendmsg of the request, and releases with FREE_MR.
	MapFreeMR Mode = "rdma_map+free_mr"
	// MapUseOnce registers in the sendmsg of the request; the peer's answer releases.
	MapUseOnce Mode = "rdma_map+use_once"
	// MapRemoteInv is MapUseOnce over a connection on which remote invalidation is
	// agreed: the peer's answer also invalidates the key.
	MapRemoteInv Mode = "rdma_map+use_once+remote_inv"
	// Plain sends messages of the same size, without RDMA.
	Plain Mode = "plain"
)

// Modes lists all modes in the order in which they run.
func Modes() []Mode {
	return []Mode{GetMRFreeMR, GetMRUseOnce, MapFreeMR, MapUseOnce, MapRemoteInv, Plain}
}

// ParseModes reads a list with commas; "all" stands for all modes.
func ParseModes(s string) ([]Mode, error) {
	if s == "all" {
		return Modes(), nil
	}
	var list []Mode
	for _, name := range strings.Split(s, ",") {
		m := Mode(strings.TrimSpace(name))
		switch {
		case !slices.Contains(Modes(), m):
			return nil, fmt.Errorf("mode %q is unknown: use all, or some of %s", m, ModeNames(", "))
		case slices.Contains(list, m):
			return nil, fmt.Errorf("mode %q is given twice", m)
		}
		list = append(list, m)
	}
	return list, nil
}

// ModeNames joins the names of all modes.
func ModeNames(sep string) string {
	var names []string
	for _, m := range Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, sep)
}

// RDMA reports whether the mode does RDMA.
func (m Mode) RDMA() bool { return m != Plain }

func (m Mode) registration() engine.Registration {
	return engine.Registration{
		GetMR:  m == GetMRFreeMR || m == GetMRUseOnce,
		FreeMR: m == GetMRFreeMR || m == MapFreeMR,
	}
}

// params makes the parameters of the mode's sessions of those of the RDMA modes.
func (m Mode) params(p wire.Params) wire.Params {
	if m == Plain {
		p.Mode = wire.ModeMsg
	}
	return p
}
