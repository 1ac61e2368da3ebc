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
	ResetConn(context.Context, uint32) error
	ExtHdrs(context.Context) ([]gonl.ExtHdr, error)
	MRs(context.Context, gonl.MRFilter) ([]gonl.MR, error)
	MR(context.Context, uint32) (gonl.MR, error)
	RevokeMR(context.Context, uint32) error
	MRStats(context.Context) (gonl.MRStats, error)
	Pools(context.Context) ([]gonl.Pool, error)
	ResetPeaks(context.Context) error
	Settings(context.Context) (gonl.Settings, error)
	SetSettings(context.Context, gonl.SettingsChange) error
	Events(context.Context, ...gonl.EventGroup) (eventStream, error)
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

func (k kernel) Events(ctx context.Context, groups ...gonl.EventGroup) (eventStream, error) {
	s, err := k.Client.Events(ctx, groups...)
	if err != nil {
		return nil, err
	}
	s.Resync(k.Client)
	return s, nil
}
