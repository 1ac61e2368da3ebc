// SPDX-License-Identifier: MIT

package wire

import "fmt"

var extNames = map[ExtType]string{
	ExtVersion: "VERSION", ExtRDMA: "RDMA", ExtRDMADest: "RDMA_DEST", ExtRDMABytes: "RDMA_BYTES", ExtPaths: "NPATHS",
	ExtGenNum: "GEN_NUM", ExtSPortIdx: "SPORT_IDX", ExtRDMADestFlags: "RDMA_DEST_FLAGS",
}

// String is the name of the type.
func (t ExtType) String() string {
	if n, ok := extNames[t]; ok {
		return n
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// headerFlags are the names of the flags of a header, in the order of their bits.
var headerFlags = []struct {
	bit  uint8
	name string
}{
	{FlagCongestion, "congestion"},
	{FlagAckRequired, "ack-required"},
	{FlagRetransmitted, "retransmitted"},
	{FlagByteCount, "byte-count"},
}

// FlagNames are the names of the flags that are set; one without a name is
// "bit-N".
func (h *Header) FlagNames() []string {
	names := []string{}
	rest := h.Flags
	for _, f := range headerFlags {
		if h.Flags&f.bit != 0 {
			names = append(names, f.name)
			rest &^= f.bit
		}
	}
	for i := range 8 {
		if rest&(1<<i) != 0 {
			names = append(names, fmt.Sprintf("bit-%d", i))
		}
	}
	return names
}
