// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
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

// exthdrCount makes a column of a counter.
func exthdrCount(name string, value func(gonl.ExtHdr) uint64) column[gonl.ExtHdr] {
	return column[gonl.ExtHdr]{name, listLevel, func(h gonl.ExtHdr) string { return strconv.FormatUint(value(h), 10) }}
}

var exthdrColumns = []column[gonl.ExtHdr]{
	{"TYPE", listLevel, func(h gonl.ExtHdr) string { return strconv.Itoa(int(h.Type)) }},
	{"NAME", listLevel, func(h gonl.ExtHdr) string { return cmp.Or(h.Name, absent) }},
	{"LENGTH", listLevel, func(h gonl.ExtHdr) string { return optionalNumber(h.Length) }},
	exthdrCount("TX", func(h gonl.ExtHdr) uint64 { return h.TX }),
	exthdrCount("RX", func(h gonl.ExtHdr) uint64 { return h.RX }),
	exthdrCount("TX NO ROOM", func(h gonl.ExtHdr) uint64 { return h.TXNoRoom }),
	exthdrCount("TX DUPLICATE", func(h gonl.ExtHdr) uint64 { return h.TXDuplicate }),
	exthdrCount("TX REJECTED", func(h gonl.ExtHdr) uint64 { return h.TXRejected }),
	exthdrCount("RX UNKNOWN", func(h gonl.ExtHdr) uint64 { return h.RXUnknown }),
	exthdrCount("RX TRUNCATED", func(h gonl.ExtHdr) uint64 { return h.RXTruncated }),
	exthdrCount("RX DUPLICATE", func(h gonl.ExtHdr) uint64 { return h.RXDuplicate }),
}

func (a *app) exthdrCmd() *cobra.Command {
	cmd := a.exthdrShowCmd("exthdr [show]")
	cmd.Short = "Show the counters of the extension headers"
	cmd.AddCommand(a.exthdrShowCmd("show"))
	return cmd
}

// exthdrShowCmd makes the command once as "exthdr" and once as "exthdr show".
func (a *app) exthdrShowCmd(use string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: "Show the counters (same as \"exthdr\")",
		Long:  exthdrHelp,
		Args:  cobra.NoArgs,
		RunE: a.shows(func(cmd *cobra.Command, _ []string) error {
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
				return errors.Join(err, printList(a, exthdrColumns, list))
			})
		}),
	}
	a.watchFlag(cmd)
	return cmd
}
