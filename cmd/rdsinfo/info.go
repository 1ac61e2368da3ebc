// SPDX-License-Identifier: MIT

package main

import (
	"errors"

	"github.com/rds-ext/rds_ext/gonl/rds"
)

// info is what RDS itself tells, with rds_ext.ko and without; tests have one of
// their own.
type info interface {
	Counters() ([]rds.Counter, error)
	Connections() ([]rds.Connection, error)
	Sockets() ([]rds.SocketInfo, error)
	Messages(rds.Queue) ([]rds.MessageInfo, error)
	IBConnections() ([]rds.IBConnection, error)
	TCPSockets() ([]rds.TCPSocket, error)
	Close() error
}

func openInfo() (info, error) {
	i, err := rds.OpenInfo()
	if err != nil {
		return nil, err
	}
	return i, nil
}

// withInfo runs f with access to what RDS tells.
func (a *app) withInfo(f func(info) error) error {
	i, err := a.info()
	if err != nil {
		return err
	}
	return errors.Join(f(i), i.Close())
}
