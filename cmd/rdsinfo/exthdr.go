// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rds-ext/rds_ext/gonl"
)

const exthdrHelp = `Show the types of extension headers with their counters, over all connections
of this host since rds_ext.ko was loaded.

TX and RX count those sent and understood. The others say what was not: NO ROOM
in the 16 bytes of a header, DUPLICATE in one message, REJECTED because the type
is unknown or the message's extension space does not parse, UNKNOWN type
received, TRUNCATED payload received.`

// exthdrView is a type of extension header in JSON.
type exthdrView struct {
	Type        uint8   `json:"type"`
	Name        *string `json:"name"`
	Length      *uint32 `json:"length"`
	TX          uint64  `json:"tx"`
	RX          uint64  `json:"rx"`
	TXNoRoom    uint64  `json:"tx_no_room"`
	TXDuplicate uint64  `json:"tx_duplicate"`
	TXRejected  uint64  `json:"tx_rejected"`
	RXUnknown   uint64  `json:"rx_unknown"`
	RXTruncated uint64  `json:"rx_truncated"`
	RXDuplicate uint64  `json:"rx_duplicate"`
}

func viewExtHdr(h gonl.ExtHdr) exthdrView {
	v := exthdrView{
		Type: h.Type, Length: h.Length, TX: h.TX, RX: h.RX,
		TXNoRoom: h.TXNoRoom, TXDuplicate: h.TXDuplicate, TXRejected: h.TXRejected,
		RXUnknown: h.RXUnknown, RXTruncated: h.RXTruncated, RXDuplicate: h.RXDuplicate,
	}
	if h.Name != "" {
		v.Name = &h.Name
	}
	return v
}

func exthdrRow(h gonl.ExtHdr) []string {
	name, length := h.Name, absent
	if name == "" {
		name = absent
	}
	if h.Length != nil {
		length = strconv.FormatUint(uint64(*h.Length), 10)
	}
	row := []string{strconv.Itoa(int(h.Type)), name, length}
	for _, n := range []uint64{
		h.TX, h.RX, h.TXNoRoom, h.TXDuplicate, h.TXRejected, h.RXUnknown, h.RXTruncated, h.RXDuplicate,
	} {
		row = append(row, strconv.FormatUint(n, 10))
	}
	return row
}

func (a *app) exthdrCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "exthdr",
		Short: "Show the counters of the extension headers",
		Long:  exthdrHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(func(c control) error {
				list, err := c.ExtHdrs(cmd.Context())
				if err != nil && !errors.Is(err, gonl.ErrPartial) {
					return err
				}
				if a.json {
					views := make([]exthdrView, 0, len(list))
					for _, h := range list {
						views = append(views, viewExtHdr(h))
					}
					return errors.Join(err, a.printJSON(views))
				}
				rows := [][]string{{
					"TYPE", "NAME", "LENGTH", "TX", "RX", "TX NO ROOM", "TX DUPLICATE", "TX REJECTED",
					"RX UNKNOWN", "RX TRUNCATED", "RX DUPLICATE",
				}}
				for _, h := range list {
					rows = append(rows, exthdrRow(h))
				}
				return errors.Join(err, a.printTable(rows))
			})
		},
	}
}
