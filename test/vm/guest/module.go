// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rds-ext/rds_ext/test/vm/agent"
)

// loadModule is plain finit_module: what to load in which order is for the host
// to decide, which has the files and their dependencies.
func loadModule(l agent.Load) error {
	f, err := os.Open(l.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), l.Params, 0); err != nil {
		return fmt.Errorf("load %s: %w (the console says more)", l.Path, err)
	}
	return nil
}

// unloadModule does not wait for references to go away: one that stays is what
// a test wants to hear of.
func unloadModule(u agent.Unload) error {
	if err := unix.DeleteModule(u.Name, unix.O_NONBLOCK); err != nil {
		return fmt.Errorf("unload %s: %w", u.Name, err)
	}
	return nil
}

func loadedModules() ([]agent.LoadedModule, error) {
	b, err := os.ReadFile("/proc/modules")
	if err != nil {
		return nil, err
	}
	mods := []agent.LoadedModule{}
	for line := range strings.Lines(string(b)) {
		w := strings.Fields(line)
		if len(w) < 4 {
			return nil, fmt.Errorf("/proc/modules: cannot read %q", line)
		}
		m := agent.LoadedModule{Name: w[0]}
		if m.Refs, err = strconv.Atoi(w[2]); err != nil {
			return nil, fmt.Errorf("/proc/modules: %q: %w", line, err)
		}
		for user := range strings.SplitSeq(w[3], ",") {
			if user != "" && user != "-" {
				m.UsedBy = append(m.UsedBy, user)
			}
		}
		mods = append(mods, m)
	}
	return mods, nil
}
