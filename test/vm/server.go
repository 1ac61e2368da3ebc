// SPDX-License-Identifier: MIT

package vm

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// Serve starts "rdsmr serve" on the node and waits until it is bound.
func (n *Node) Serve(ctx context.Context) (*Cmd, error) {
	cmd, err := n.Start(ctx, agent.Exec{Argv: []string{"rdsmr", "serve", "--bind", n.IP(), "--quiet"}})
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if _, err := cmd.Stdout.WaitLine(wait, regexp.MustCompile("^ready ")); err != nil {
		return nil, fmt.Errorf("rdsmr serve on %s: %w: %s", n.Name(), err, cmd.Stderr)
	}
	return cmd, nil
}
