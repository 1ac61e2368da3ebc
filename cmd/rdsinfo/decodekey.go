// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/rds-ext/rds_ext/internal/wire"
)

// keyView is the life of an R_Key, in JSON. A frame is null where nothing like it
// was seen: a key that was not offered is older than the capture.
type keyView struct {
	Event            string     `json:"event"`
	Conn             int        `json:"conn"`
	Owner            netip.Addr `json:"owner"`
	RKey             uint32     `json:"rkey"`
	OfferedFrame     *int       `json:"offered_frame"`
	OfferedTime      *time.Time `json:"offered_time"`
	MayInvalidate    bool       `json:"may_invalidate"`
	Reads            int        `json:"reads"`
	Writes           int        `json:"writes"`
	Bytes            uint64     `json:"bytes"`
	ReleasedFrame    *int       `json:"released_frame"`
	ReleasedTime     *time.Time `json:"released_time"`
	Releases         int        `json:"releases"`
	InvalidatedFrame *int       `json:"invalidated_frame"`
	LifeUS           *int64     `json:"life_us"`
	Violation        *string    `json:"violation"`
}

func (d *decoder) viewKey(k *wire.Key) keyView {
	v := keyView{
		Event: "key", Conn: d.conns[k.Conn], Owner: k.Owner, RKey: k.RKey, MayInvalidate: k.MayInvalidate, Releases: len(k.Releases),
	}
	for _, op := range k.RDMA {
		v.Bytes += uint64(op.Length)
		if op.Read {
			v.Reads++
		} else {
			v.Writes++
		}
	}
	if k.Offer != nil {
		v.OfferedFrame, v.OfferedTime = &k.Offer.N, &k.Offer.Time
	}
	if len(k.Releases) > 0 {
		v.ReleasedFrame, v.ReleasedTime = &k.Releases[0].N, &k.Releases[0].Time
	}
	if len(k.Invalidations) > 0 {
		v.InvalidatedFrame = &k.Invalidations[0].N
	}
	if v.OfferedTime != nil && v.ReleasedTime != nil {
		us := v.ReleasedTime.Sub(*v.OfferedTime).Microseconds()
		v.LifeUS = &us
	}
	if err := k.CheckInvalidation(); err != nil {
		text := err.Error()
		v.Violation = &text
	}
	return v
}

func (v keyView) appendText(b []byte) []byte {
	b = fmt.Appendf(b, "key %#08x of %v conn %d:", v.RKey, v.Owner, v.Conn)
	if v.OfferedFrame != nil {
		b = fmt.Appendf(b, " offered #%d,", *v.OfferedFrame)
	} else {
		b = append(b, " not offered here,"...)
	}
	b = fmt.Appendf(b, " %d reads, %d writes, %d bytes", v.Reads, v.Writes, v.Bytes)
	if v.ReleasedFrame != nil {
		b = fmt.Appendf(b, ", released #%d", *v.ReleasedFrame)
	} else {
		b = append(b, ", not released"...)
	}
	if v.Releases > 1 {
		b = fmt.Appendf(b, " (%d times)", v.Releases)
	}
	if v.InvalidatedFrame != nil {
		b = fmt.Appendf(b, ", invalidated #%d", *v.InvalidatedFrame)
	}
	if v.LifeUS != nil {
		b = fmt.Appendf(b, ", after %d us", *v.LifeUS)
	}
	if v.Violation != nil {
		b = fmt.Appendf(b, ", VIOLATION: %s", *v.Violation)
	}
	return b
}

// summaryView ends what is printed of a capture.
type summaryView struct {
	Event      string  `json:"event"`
	Frames     int     `json:"frames"`
	RoCE       int     `json:"roce"`
	TCP        int     `json:"tcp"`
	Conns      int     `json:"conns"`
	Messages   int     `json:"messages"`
	Operations int     `json:"operations"`
	Keys       int     `json:"keys"`
	Foreign    int     `json:"foreign"`
	Truncated  int     `json:"truncated"`
	Undecoded  int     `json:"undecoded"`
	FirstError *string `json:"first_error"`
}

func (d *decoder) summary() summaryView {
	f := d.follower
	v := summaryView{
		Event: "summary", Frames: f.Frames, RoCE: f.RoCE, TCP: f.TCP, Conns: d.seen.conns, Messages: d.seen.messages,
		Operations: d.seen.operations, Keys: d.seen.keys, Foreign: f.Foreign, Truncated: f.Truncated, Undecoded: f.Undecoded,
	}
	if f.FirstError != nil {
		text := f.FirstError.Error()
		v.FirstError = &text
	}
	return v
}

func (v summaryView) appendText(b []byte) []byte {
	b = fmt.Appendf(b, "%d frames, %d of RoCE, %d of RDS over TCP: %d connections, %d messages, %d RDMA operations, %d keys; %d packets not RDS, %d truncated, %d undecoded",
		v.Frames, v.RoCE, v.TCP, v.Conns, v.Messages, v.Operations, v.Keys, v.Foreign, v.Truncated, v.Undecoded)
	if v.FirstError != nil {
		b = fmt.Appendf(b, " (the first: %s)", *v.FirstError)
	}
	return b
}
