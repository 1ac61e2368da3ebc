// SPDX-License-Identifier: MIT

package main

import (
	"fmt"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// depth is how much is in a queue, in JSON.
type depth struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
}

func (d *depth) add(m rds.MessageInfo) {
	d.Messages++
	d.Bytes += uint64(m.Length)
}

// depthText prints messages and bytes.
func depthText(d *depth) string {
	if d == nil {
		return absent
	}
	return fmt.Sprintf("%d (%d B)", d.Messages, d.Bytes)
}

// depths sums a queue by the key of its messages.
func depths[K comparable](i info, q rds.Queue, key func(rds.MessageInfo) K) (map[K]*depth, error) {
	list, err := i.Messages(q)
	if err != nil {
		return nil, err
	}
	sums := map[K]*depth{}
	for _, m := range list {
		k := key(m)
		if sums[k] == nil {
			sums[k] = &depth{}
		}
		sums[k].add(m)
	}
	return sums, nil
}

// depthOf returns the sum of a key, which is zero where nothing is queued.
func depthOf[K comparable](sums map[K]*depth, k K) *depth {
	if d := sums[k]; d != nil {
		return d
	}
	return &depth{}
}
