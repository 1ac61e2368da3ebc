// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// owner is a process that has a socket open.
type owner struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// readOwners looks through the open files of all processes below root, a mounted
// procfs, and returns who has which socket, by inode number. hidden tells that
// there are processes whose files this one may not see.
func readOwners(root string) (owners map[uint64][]owner, hidden bool, err error) {
	fsys, err := procfs.NewFS(root)
	if err != nil {
		return nil, false, err
	}
	procs, err := fsys.AllProcs()
	if err != nil {
		return nil, false, err
	}
	owners = map[uint64][]owner{}
	for _, p := range procs {
		files, err := p.FileDescriptorTargets()
		switch {
		case errors.Is(err, fs.ErrPermission):
			hidden = true
			continue
		case processGone(err):
			continue
		case err != nil:
			return nil, false, err
		}
		for _, inode := range socketInodes(files) {
			command, err := p.Comm()
			if processGone(err) {
				break
			}
			if err != nil {
				return nil, false, err
			}
			owners[inode] = append(owners[inode], owner{p.PID, command})
		}
	}
	return owners, hidden, nil
}

// processGone tells whether err is what one gets of a process that has ended.
func processGone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// socketInodes picks the sockets from what open files are, each once.
func socketInodes(targets []string) (inodes []uint64) {
	seen := map[uint64]bool{}
	for _, target := range targets {
		digits, ok := strings.CutPrefix(target, "socket:[")
		if !ok {
			continue
		}
		inode, err := strconv.ParseUint(strings.TrimSuffix(digits, "]"), 10, 64)
		if err != nil || seen[inode] {
			continue
		}
		seen[inode] = true
		inodes = append(inodes, inode)
	}
	return inodes
}
