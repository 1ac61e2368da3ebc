// SPDX-License-Identifier: MIT

package suite

import (
	"encoding/json"

	"github.com/rds-ext/rds_ext/test/vm"
)

// counters are those of an extension header type, as "rdsinfo exthdr --json"
// prints them.
type counters struct {
	Type        uint32 `json:"type"`
	Name        string `json:"name"`
	TX          uint64 `json:"tx"`
	RX          uint64 `json:"rx"`
	TXNoRoom    uint64 `json:"tx_no_room"`
	RXUnknown   uint64 `json:"rx_unknown"`
	RXTruncated uint64 `json:"rx_truncated"`
	RXDuplicate uint64 `json:"rx_duplicate"`
}

func (p *pair) counters(n *vm.Node) []counters {
	p.Helper()
	out := p.run(n, "rdsinfo", "exthdr", "--json")
	var list []counters
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		p.Fatalf("rdsinfo exthdr: %v\n%s", err, out)
	}
	return list
}
