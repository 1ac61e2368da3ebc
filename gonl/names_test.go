// SPDX-License-Identifier: MIT

package gonl

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestEncodings(t *testing.T) {
	type all struct {
		T Transport
		S ConnState
		L LearntFrom
		K PeerKind
		F Feature
		V Version
		E EventType
		P *Version
	}
	for _, tt := range []struct {
		v    all
		want string
	}{
		{
			all{TransportTCP, ConnStateUp, LearntFromCMPrivateData, PeerKindRDSExt, 1, 0x301, EventLost, nil},
			`{"T":"tcp","S":"up","L":"cm-private-data","K":"rds-ext","F":["ext-types"],"V":"3.1","E":"events-lost","P":null}`,
		},
		{
			all{77, 99, 7, 8, 1<<31 | 1, 0xff00, 200, ptr(Version(1))},
			`{"T":"unknown(77)","S":"unknown(99)","L":"unknown(7)","K":"unknown(8)","F":["ext-types","bit-31"],"V":"255.0","E":"unknown(200)","P":"0.1"}`,
		},
	} {
		b, err := json.Marshal(tt.v)
		if err != nil || string(b) != tt.want {
			t.Errorf("got  %s, %v\nwant %s", b, err, tt.want)
		}
		var back all
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, tt.v) {
			t.Errorf("read back %+v, %v", back, err)
		}
	}
	if b, err := json.Marshal(Feature(0)); string(b) != "[]" {
		t.Errorf("no features are %s, %v", b, err)
	}
}

func TestBadNames(t *testing.T) {
	for _, f := range []func() error{
		func() error { return new(Transport).UnmarshalText([]byte("udp")) },
		func() error { return new(Transport).UnmarshalText([]byte("unknown(x)")) },
		func() error { return new(Transport).UnmarshalText([]byte("unknown(4294967296)")) },
		func() error { return new(EventType).UnmarshalText([]byte("unknown(256)")) },
		func() error { return new(Feature).UnmarshalText([]byte("bit-32")) },
		func() error { return new(Feature).UnmarshalText([]byte("ext-types,nonsense")) },
		func() error { return new(Feature).UnmarshalJSON([]byte(`"ext-types"`)) },
		func() error { return new(Version).UnmarshalText([]byte("3.1.4")) },
		func() error { return new(Version).UnmarshalText([]byte("256.1")) },
		func() error { return new(Version).UnmarshalText([]byte("-3.1")) },
	} {
		if err := f(); err == nil {
			t.Error("a bad name was accepted")
		} else {
			t.Log(err)
		}
	}
}

func TestFeatureText(t *testing.T) {
	for text, want := range map[string]Feature{
		"none": 0, "": 0, "ext-types": 1, "bit-0": 1, "ext-types, bit-4": 17,
	} {
		var f Feature
		if err := f.UnmarshalText([]byte(text)); err != nil || f != want {
			t.Errorf("%q is %v, %v", text, f, err)
		}
	}
	if s := Feature(0).String(); s != "none" {
		t.Errorf("no features are %q", s)
	}
	if s := Feature(7).String(); s != "ext-types,remote-invalidate,bit-2" {
		t.Errorf("7 is %q", s)
	}
}
