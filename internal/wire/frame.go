// SPDX-License-Identifier: MIT

package wire

import (
	"time"

	"github.com/gopacket/gopacket/layers"
)

// A Frame is a frame of a capture.
type Frame struct {
	Time time.Time
	// Link is the name of the interface, empty where the capture has none.
	Link string
	// LinkType says what the frame begins with. A zero is Ethernet here.
	LinkType layers.LinkType
	// Direction as the capture has it, if it does.
	Direction Direction
	Data      []byte
}

// Direction is that of a frame, as seen from the interface that it was captured on.
type Direction int

// The directions.
const (
	NoDirection Direction = iota
	Inbound
	Outbound
)
