// SPDX-License-Identifier: MIT

package ether

import (
	"errors"
	"testing"
)

func TestLostFramesAreOnlyInTheSendersView(t *testing.T) {
	broken := errors.New("broken")
	frames := func(yield func(Frame, error) bool) {
		for _, f := range []Frame{
			{Link: "a", Dir: FromNode, Data: []byte("1")},
			{Link: "b", Dir: ToNode, Data: []byte("1")},
			{Link: "a", Dir: FromNode, Data: []byte("2")},
			{Link: "b", Dir: ToNode, Data: []byte("2"), Lost: "rule"},
		} {
			if !yield(f, nil) {
				return
			}
		}
		yield(Frame{}, broken)
	}
	for dir, want := range map[Dir]string{FromNode: "a1a2", ToNode: "b1"} {
		got, failed := "", error(nil)
		for f, err := range View(frames, dir) {
			if failed = err; err == nil {
				got += f.Link + string(f.Data)
			}
		}
		if got != want || !errors.Is(failed, broken) {
			t.Errorf("%v: %s, %v; want %s", dir, got, failed, want)
		}
	}
}
