// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rds-ext/rds_ext/test/vm"
	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// hello exchanges a message.
func hello(ctx context.Context, from, to *vm.Node) error {
	_, err := from.Run(ctx, "rdsmr", "stress", to.IP(), "--bind", from.IP(), "--mode", "msg", "--count", "1", "--quiet")
	return err
}

// showConns prints what rdsinfo shows on a node, and returns it.
func showConns(ctx context.Context, n *vm.Node) ([]Conn, error) {
	text, err := n.Run(ctx, "rdsinfo", "conn")
	if err != nil {
		return nil, err
	}
	fmt.Printf("\n%s# rdsinfo conn\n%s\n", n.Name(), text)
	out, err := n.Run(ctx, "rdsinfo", "conn", "--json")
	if err != nil {
		return nil, err
	}
	var conns []Conn
	if err := json.Unmarshal([]byte(out), &conns); err != nil {
		return nil, fmt.Errorf("rdsinfo conn --json on %s: %w", n.Name(), err)
	}
	for i := range conns {
		conns[i].Node = n.Name()
	}
	return conns, nil
}

// stress runs the stress with its progress on the terminal.
func stress(ctx context.Context, from, to *vm.Node, seconds int) (Stress, error) {
	argv := []string{"rdsmr", "stress", to.IP(), "--bind", from.IP(), "--mode", "both",
		"--time", strconv.Itoa(seconds) + "s"}
	fmt.Printf("\n%s# %s\n", from.Name(), strings.Join(argv, " "))
	cmd, err := from.Start(ctx, agent.Exec{Argv: append(argv, "--json")})
	if err != nil {
		return Stress{}, err
	}
	cmd.Stderr.Tee(os.Stdout)
	r, err := cmd.Wait()
	if err != nil {
		return Stress{}, err
	}
	var s Stress
	if err := json.Unmarshal([]byte(r.Stdout), &s); err != nil {
		return Stress{}, fmt.Errorf("rdsmr stress on %s: exit status %d: %w", from.Name(), r.ExitCode, err)
	}
	s.exit = r.ExitCode
	return s, nil
}
