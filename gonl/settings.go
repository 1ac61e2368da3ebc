// SPDX-License-Identifier: MIT

package gonl

import (
	"context"

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
}

// SettingsChange has the settings to change; nil pointers leave alone.
type SettingsChange struct {
	// VersionHeader: see Settings.
	VersionHeader *bool
	// FeatureMask: see Settings. The kernel refuses bits that are not supported.
	FeatureMask *Feature
}

// Settings reads all settings.
func (c *Client) Settings(ctx context.Context) (Settings, error) {
	return single(ctx, c, spec.CmdSettingsGet, nil, parseSettings)
}

// SetSettings changes the settings that are set in change, all or none. They
// act on connections that are established from then on. It needs CAP_NET_ADMIN
// in the initial user namespace; without it the error is fs.ErrPermission to
// errors.Is. A change without any setting is refused by the kernel.
func (c *Client) SetSettings(ctx context.Context, change SettingsChange) error {
	attrs, err := change.encode()
	if err != nil {
		return err
	}
	_, err = c.do(ctx, spec.CmdSettingsSet, attrs, false)
	return err
}

func (s SettingsChange) encode() ([]byte, error) {
	return encode(func(e *netlink.AttributeEncoder) {
		if s.VersionHeader != nil {
			var v uint8
			if *s.VersionHeader {
				v = 1
			}
			e.Uint8(spec.AttrSettingsVersionHeader, v)
		}
		if s.FeatureMask != nil {
			e.Uint32(spec.AttrSettingsFeatureMask, uint32(*s.FeatureMask))
		}
	})
}

// parseSettings reads the attributes of a reply with all settings.
func parseSettings(b []byte) (Settings, error) {
	d, err := newDecoder(spec.SetSettings, b)
	if err != nil {
		return Settings{}, err
	}
	var s Settings
	for d.Next() {
		switch d.Type() {
		case spec.AttrSettingsVersionHeader:
			s.VersionHeader = d.Uint8() != 0
		case spec.AttrSettingsFeatureMask:
			s.FeatureMask = Feature(d.Uint32())
		case spec.AttrSettingsSupportedFeatures:
			s.SupportedFeatures = Feature(d.Uint32())
		case spec.AttrSettingsProtocolVersion:
			s.ProtocolVersion = d.version()
		case spec.AttrSettingsModuleVersion:
			s.ModuleVersion = d.String()
		}
	}
	if err := d.finish(spec.AttrSettingsVersionHeader, spec.AttrSettingsFeatureMask,
		spec.AttrSettingsSupportedFeatures, spec.AttrSettingsProtocolVersion,
		spec.AttrSettingsModuleVersion); err != nil {
		return Settings{}, err
	}
	return s, nil
}
