// SPDX-License-Identifier: MIT

// Package initramfs packs the root file system of a test VM: our init program,
// the kernel modules that it needs with their dependencies, and whatever
// programs a test brings.
//
// The archive is written with u-root's cpio package. Of the packages next to
// it these were looked at and left out: mkuimage and gobusybox build an image
// of u-root's own commands with u-root's own init, of which nothing is needed
// here, and have no notion of a distribution's modules; kmodule loads modules
// in the guest by modules.dep alone, so it cannot mix the modules of two
// origins and misses soft dependencies (rdma_rxe needs a CRC32 that no
// modules.dep knows of). Dynamic programs get their libraries through
// mkuimage's ldd.
//
// The archive is not compressed: under emulation the guest would take longer to
// unpack it than QEMU takes to copy it.
package initramfs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/u-root/mkuimage/ldd"
	"github.com/u-root/u-root/pkg/cpio"
)

// An Image is a root file system to be written. The zero value is not usable;
// see [New].
type Image struct {
	records map[string]cpio.Record
}

// New returns an image that has init as its /init, the directories of a root
// file system and a console device.
func New(init string) (*Image, error) {
	im := &Image{records: make(map[string]cpio.Record)}
	for _, d := range []string{"bin", "etc", "dev", "proc", "sys", "tmp", "run", "lib"} {
		im.dirs(d)
	}
	// The kernel opens it as standard input and output of init.
	im.add(cpio.CharDev("dev/console", 0o600, 5, 1))
	if err := im.AddFile("/init", init); err != nil {
		return nil, err
	}
	return im, nil
}

func (im *Image) add(r cpio.Record) { im.records[r.Name] = r }

// dirs adds a directory and those above it.
func (im *Image) dirs(name string) {
	for ; name != "." && name != "/" && name != ""; name = path.Dir(name) {
		if _, ok := im.records[name]; !ok {
			im.add(cpio.Directory(name, 0o755))
		}
	}
}

func clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// AddBytes adds a file with the given content.
func (im *Image) AddBytes(name string, data []byte, perm fs.FileMode) {
	name = clean(name)
	im.dirs(path.Dir(name))
	im.add(cpio.StaticFile(name, string(data), uint64(perm.Perm())))
}

// AddLink adds a symbolic link.
func (im *Image) AddLink(name, target string) {
	name = clean(name)
	im.dirs(path.Dir(name))
	im.add(cpio.Symlink(name, target))
}

// AddFile adds the file at hostPath as name. If it is a dynamically linked
// program, its libraries come along at their places on the host.
func (im *Image) AddFile(name, hostPath string) error {
	st, err := os.Stat(hostPath)
	if err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("initramfs: %s is not a regular file", hostPath)
	}
	data, err := os.ReadFile(hostPath)
	if err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	im.AddBytes(name, data, st.Mode())
	libs, err := ldd.FList(hostPath)
	if err != nil {
		return fmt.Errorf("initramfs: libraries of %s: %w", hostPath, err)
	}
	for _, lib := range libs {
		if lib == hostPath {
			continue
		}
		if _, ok := im.records[clean(lib)]; ok {
			continue
		}
		data, err := os.ReadFile(lib)
		if err != nil {
			return fmt.Errorf("initramfs: libraries of %s: %w", hostPath, err)
		}
		im.AddBytes(lib, data, 0o755)
	}
	return nil
}

// WriteFile writes the archive to a file, in a temporary file first, so that
// another process never sees half of it.
func (im *Image) WriteFile(name string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".initramfs-*")
	if err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	defer func() {
		if err != nil {
			// The first error is the one to report.
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	names := make([]string, 0, len(im.records))
	for n := range im.records {
		names = append(names, n)
	}
	// In this order a directory comes before what is in it.
	sort.Strings(names)
	w := cpio.Newc.Writer(f)
	for _, n := range names {
		if err := w.WriteRecord(cpio.MakeReproducible(im.records[n])); err != nil {
			return fmt.Errorf("initramfs: %s: %w", n, err)
		}
	}
	if err := cpio.WriteTrailer(w); err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	return nil
}
