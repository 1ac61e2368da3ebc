// SPDX-License-Identifier: MIT

package gonl

import (
	"time"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// parseConn reads the attributes of a connection.
func parseConn(b []byte) (Conn, error) {
	var p connParser
	return p.parse(b)
}

// connParser reads the connections of a list, as mrParser does with MRs: what is
// optional comes out of blocks.
type connParser struct {
	device   string
	versions block[Version]
	features block[Feature]
	times    block[time.Duration]
	ends     block[End]
	codes    block[uint32]
	links    block[Link]
}

func (p *connParser) parse(b []byte) (Conn, error) {
	d := newDecoder(spec.SetConn, b)
	var c Conn
	// Each of them comes in several attributes.
	var down, attempt End
	var link Link
	for d.next() {
		switch d.typ {
		case spec.AttrConnID:
			c.ID = d.uint32()
		case spec.AttrConnTransport:
			c.Transport = Transport(d.uint32())
		case spec.AttrConnLocalAddr:
			c.Local = d.addr()
		case spec.AttrConnPeerAddr:
			c.Peer = d.addr()
		case spec.AttrConnTOS:
			c.TOS = d.uint8()
		case spec.AttrConnState:
			c.State = ConnState(d.uint32())
		case spec.AttrConnPaths:
			c.Paths = d.uint32()
		case spec.AttrConnLoopback:
			c.Loopback = d.flag()
		case spec.AttrConnPassive:
			c.Passive = d.flag()
		case spec.AttrConnVersion:
			// The kernel says 0 for "not settled"; no version is 0.0.
			if v := d.version(); v != 0 {
				c.Version = p.versions.put(v)
			}
		case spec.AttrConnFeatures:
			c.Features = p.features.put(Feature(d.uint32()))
		case spec.AttrConnPeerVersion:
			c.PeerVersion = p.versions.put(d.version())
		case spec.AttrConnPeerFeatures:
			c.PeerFeatures = p.features.put(Feature(d.uint32()))
		case spec.AttrConnAgreedFeatures:
			c.AgreedFeatures = Feature(d.uint32())
		case spec.AttrConnLearntFrom:
			c.LearntFrom = LearntFrom(d.uint32())
		case spec.AttrConnPeerKind:
			c.PeerKind = PeerKind(d.uint32())
		case spec.AttrConnUps:
			c.Ups = d.uint64()
		case spec.AttrConnDowns:
			c.Downs = d.uint64()
		case spec.AttrConnUptimeMS:
			c.Uptime = p.times.put(d.millis())
		case spec.AttrConnDownMS:
			c.SinceDown = p.times.put(d.millis())
		case spec.AttrConnDownReason:
			down.Reason = EndReason(d.uint32())
		case spec.AttrConnDownCode:
			down.Code = p.codes.put(d.uint32())
		case spec.AttrConnAttempts:
			c.Attempts = d.uint32()
		case spec.AttrConnAttemptReason:
			attempt.Reason = EndReason(d.uint32())
		case spec.AttrConnAttemptCode:
			attempt.Code = p.codes.put(d.uint32())
		case spec.AttrConnDevice:
			link.Device = repeated(&p.device, d.text())
		case spec.AttrConnQPNum:
			link.QPNum = d.uint32()
		case spec.AttrConnSL:
			link.SL = d.uint8()
		case spec.AttrConnFlowControl:
			link.FlowControl = d.flag()
		}
	}
	if d.met(spec.AttrConnDownReason) {
		c.Down = p.ends.put(down)
	}
	if d.met(spec.AttrConnAttemptReason) {
		c.LastAttempt = p.ends.put(attempt)
	}
	if d.met(spec.AttrConnDevice) {
		c.Link = p.links.put(link)
	}
	if err := d.finish(spec.AttrConnID, spec.AttrConnTransport, spec.AttrConnLocalAddr,
		spec.AttrConnPeerAddr, spec.AttrConnState); err != nil {
		return Conn{}, err
	}
	c.Unknown = d.unknown
	return c, nil
}
