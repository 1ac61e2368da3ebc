// SPDX-License-Identifier: MIT

package main

import (
	"context"

	"github.com/rds-ext/rds_ext/gonl"
)

// control is what the commands need of the kernel; tests have one of their own.
type control interface {
	Conns(context.Context, gonl.Filter) ([]gonl.Conn, error)
	Conn(context.Context, uint32) (gonl.Conn, error)
	ExtHdrs(context.Context) ([]gonl.ExtHdr, error)
	Settings(context.Context) (gonl.Settings, error)
	SetSettings(context.Context, gonl.SettingsChange) error
	Events(context.Context) (eventStream, error)
	Close() error
}

// eventStream is a subscription.
type eventStream interface {
	Next() (gonl.Event, error)
	Close() error
}

// kernel is the control of the kernel that the program runs on.
type kernel struct{ *gonl.Client }

func dialKernel() (control, error) {
	c, err := gonl.Dial()
	if err != nil {
		return nil, err
	}
	return kernel{c}, nil
}

func (k kernel) Events(ctx context.Context) (eventStream, error) {
	s, err := k.Client.Events(ctx)
	if err != nil {
		return nil, err
	}
	return s, nil
}
