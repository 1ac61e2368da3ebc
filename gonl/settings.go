// SPDX-License-Identifier: MIT

package gonl

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mdlayher/netlink"

	"github.com/rds-ext/rds_ext/gonl/spec"
)

// Settings of the module. They hold for the whole host, until the module is
// unloaded.
type Settings struct {
	// VersionHeader: announce version and features on each newly established
	// connection.
	VersionHeader bool
	// FeatureMask has the features that may be announced on newly established
	// connections.
	FeatureMask Feature
	// SupportedFeatures are those that the module knows. Read only.
	SupportedFeatures Feature
	// ProtocolVersion that the module announces. Read only.
	ProtocolVersion Version
	// ModuleVersion is the version of rds_ext.ko. Read only.
	ModuleVersion string
	// MREngine: register new MRs with the MR engine; without it they are left
	// to net/rds, so that the engine drains and the module can be unloaded.
	MREngine bool
	// MRPoolMax is how many MRs the engine allocates for each RDMA device at
	// most, 16 to 1,048,576; never more than half of what the device has.
	MRPoolMax uint32
	// MRSockMax is how many MRs a socket may have, 0 for no limit.
	MRSockMax uint32
	// MRSockBytes is how many bytes the MRs of a socket may pin, in whole
	// pages; 0 for no limit.
	MRSockBytes uint64
	// MRMaxAge is the age at which a use-once MR that is still in use raises
	// EventMRAged, to within a second; 0 for never. At most 2^32 - 1
	// milliseconds, 49 days.
	MRMaxAge time.Duration
	// MRAgeRevoke: revoke a use-once MR of that age.
	MRAgeRevoke bool
	// Unknown are attributes of a newer module; nil with one that this package
	// knows all of.
	Unknown []Attribute `json:",omitempty"`
}

// SettingsChange has the settings to change; nil pointers leave alone.
type SettingsChange struct {
	// VersionHeader: see Settings.
	VersionHeader *bool
	// FeatureMask: see Settings. The kernel refuses bits that are not supported.
	FeatureMask *Feature
	// MREngine: see Settings. Acts on MRs that are mapped from then on, as all
	// settings of MRs do.
	MREngine *bool
	// MRPoolMax: see Settings. MRs above a lowered limit go as they are freed.
	MRPoolMax *uint32
	// MRSockMax: see Settings.
	MRSockMax *uint32
	// MRSockBytes: see Settings.
	MRSockBytes *uint64
	// MRMaxAge: see Settings. It has to be a whole number of milliseconds.
	MRMaxAge *time.Duration
	// MRAgeRevoke: see Settings.
	MRAgeRevoke *bool
}

// Apply returns what becomes of settings by the change, if the kernel accepts it.
func (s SettingsChange) Apply(to Settings) Settings {
	assign(&to.VersionHeader, s.VersionHeader)
	assign(&to.FeatureMask, s.FeatureMask)
	assign(&to.MREngine, s.MREngine)
	assign(&to.MRPoolMax, s.MRPoolMax)
	assign(&to.MRSockMax, s.MRSockMax)
	assign(&to.MRSockBytes, s.MRSockBytes)
	assign(&to.MRMaxAge, s.MRMaxAge)
	assign(&to.MRAgeRevoke, s.MRAgeRevoke)
	return to
}

func assign[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// Settings reads all settings.
func (c *Client) Settings(ctx context.Context) (Settings, error) {
	return single(ctx, c, spec.CmdSettingsGet, nil, parseSettings)
}

// SetSettings changes the settings that are set in change, all or none. Those
// of the protocol act on connections that are established from then on, those
// of MRs on MRs that are mapped from then on. It needs CAP_NET_ADMIN in the
// initial user namespace; without it the error is fs.ErrPermission to
// errors.Is. A change without any setting is refused by the kernel.
func (c *Client) SetSettings(ctx context.Context, change SettingsChange) error {
	attrs, err := change.encode()
	if err != nil {
		return err
	}
	return c.do(ctx, spec.CmdSettingsSet, attrs)
}

func (s SettingsChange) encode() ([]byte, error) {
	var maxAge uint32
	if s.MRMaxAge != nil {
		ms := s.MRMaxAge.Milliseconds()
		if ms < 0 || ms > math.MaxUint32 || time.Duration(ms)*time.Millisecond != *s.MRMaxAge {
			return nil, fmt.Errorf("gonl: settings-set: MRMaxAge must be a whole number of milliseconds from 0 to %d, not %v", uint32(math.MaxUint32), *s.MRMaxAge)
		}
		maxAge = uint32(ms)
	}
	return encode(func(e *netlink.AttributeEncoder) {
		if s.VersionHeader != nil {
			putSwitch(e, spec.AttrSettingsVersionHeader, *s.VersionHeader)
		}
		if s.FeatureMask != nil {
			e.Uint32(spec.AttrSettingsFeatureMask, uint32(*s.FeatureMask))
		}
		if s.MREngine != nil {
			putSwitch(e, spec.AttrSettingsMREngine, *s.MREngine)
		}
		if s.MRPoolMax != nil {
			e.Uint32(spec.AttrSettingsMRPoolMax, *s.MRPoolMax)
		}
		if s.MRSockMax != nil {
			e.Uint32(spec.AttrSettingsMRSockMax, *s.MRSockMax)
		}
		if s.MRSockBytes != nil {
			e.Uint64(spec.AttrSettingsMRSockBytes, *s.MRSockBytes)
		}
		if s.MRMaxAge != nil {
			e.Uint32(spec.AttrSettingsMRMaxAgeMS, maxAge)
		}
		if s.MRAgeRevoke != nil {
			putSwitch(e, spec.AttrSettingsMRAgeRevoke, *s.MRAgeRevoke)
		}
	})
}

// parseSettings reads the attributes of a reply with all settings. Those of the
// MR engine are not required: a module from before it has none.
func parseSettings(b []byte) (Settings, error) {
	d := newDecoder(spec.SetSettings, b)
	var s Settings
	for d.next() {
		switch d.typ {
		case spec.AttrSettingsVersionHeader:
			s.VersionHeader = d.uint8() != 0
		case spec.AttrSettingsFeatureMask:
			s.FeatureMask = Feature(d.uint32())
		case spec.AttrSettingsSupportedFeatures:
			s.SupportedFeatures = Feature(d.uint32())
		case spec.AttrSettingsProtocolVersion:
			s.ProtocolVersion = d.version()
		case spec.AttrSettingsModuleVersion:
			s.ModuleVersion = d.string()
		case spec.AttrSettingsMREngine:
			s.MREngine = d.uint8() != 0
		case spec.AttrSettingsMRPoolMax:
			s.MRPoolMax = d.uint32()
		case spec.AttrSettingsMRSockMax:
			s.MRSockMax = d.uint32()
		case spec.AttrSettingsMRSockBytes:
			s.MRSockBytes = d.uint64()
		case spec.AttrSettingsMRMaxAgeMS:
			s.MRMaxAge = time.Duration(d.uint32()) * time.Millisecond
		case spec.AttrSettingsMRAgeRevoke:
			s.MRAgeRevoke = d.uint8() != 0
		}
	}
	if err := d.finish(spec.AttrSettingsVersionHeader, spec.AttrSettingsFeatureMask,
		spec.AttrSettingsSupportedFeatures, spec.AttrSettingsProtocolVersion,
		spec.AttrSettingsModuleVersion); err != nil {
		return Settings{}, err
	}
	s.Unknown = d.unknown
	return s, nil
}
