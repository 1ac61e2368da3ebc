// SPDX-License-Identifier: MIT

package vm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/agent"
	"github.com/rds-ext/rds_ext/test/vm/bzimage"
	"github.com/rds-ext/rds_ext/test/vm/initramfs"
)

// bootModules are needed for the agent's port.
var bootModules = []string{"virtio_pci", "virtio_console"}

// stockModules are in every image with all that they need; the optional ones
// where the kernel has them.
var (
	stockModules    = []string{"virtio_net", "rdma_rxe", "rdma_cm", "ib_uverbs", "rds", "rds_rdma", "rds_tcp", "dummy"}
	optionalModules = []string{"ipv6", "sch_netem", "rdma_ucm"}
)

// The directories of the modules in the guest, by origin.
var moduleDirs = map[Origin]string{Stock: "/modules/stock", Ours: "/modules/ours"}

func modulePathInGuest(o Origin, name string) string {
	return moduleDirs[o] + "/" + name + ".ko"
}

// image is a kernel with its initramfs and what is known about the modules.
type image struct {
	release string
	kernel  string // file for QEMU to boot
	initrd  string
	tree    *initramfs.Tree
	ours    map[string]initramfs.ModInfo
}

// buildImage makes the image of a configuration, or finds it.
func buildImage(ctx context.Context, c *Config) (*image, error) {
	dir := c.kernelDir()
	b, err := os.ReadFile(filepath.Join(dir, "release"))
	if err != nil {
		return nil, fmt.Errorf("no kernel %s: %w; run scripts/kernel-fetch %s", c.Kernel, err, c.Kernel)
	}
	im := &image{release: strings.TrimSpace(string(b)), ours: make(map[string]initramfs.ModInfo)}
	if im.kernel, err = unpackKernel(ctx, c, filepath.Join(dir, "vmlinuz")); err != nil {
		return nil, fmt.Errorf("kernel %s: %w; run scripts/kernel-fetch %s", c.Kernel, err, c.Kernel)
	}
	im.tree, err = initramfs.OpenTree(filepath.Join(dir, "modules", im.release))
	if err != nil {
		return nil, err
	}
	guest, err := buildGuest(ctx, c)
	if err != nil {
		return nil, err
	}
	fs, err := initramfs.New(guest)
	if err != nil {
		return nil, err
	}
	if err := im.addStock(fs, c.Modules); err != nil {
		return nil, err
	}
	if err := im.addOurs(fs, c); err != nil {
		return nil, err
	}
	if err := addFiles(fs, c); err != nil {
		return nil, err
	}
	im.initrd, err = store(fs, c)
	return im, err
}

// unpackKernel returns the file to boot: the kernel taken out of its boot image
// once and for all, where that saves time, or else the boot image.
func unpackKernel(ctx context.Context, c *Config, vmlinuz string) (string, error) {
	sum, err := fileSum(vmlinuz)
	if err != nil {
		return "", err
	}
	dir, err := imageDir(c)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, c.Kernel+"-"+sum+".elf")
	if _, err := os.Stat(name); err == nil {
		return name, touch(name)
	}
	b, err := os.ReadFile(vmlinuz)
	if err != nil {
		return "", err
	}
	kernel, err := bzimage.Extract(ctx, b)
	if errors.Is(err, bzimage.ErrNotXZ) {
		return vmlinuz, nil
	}
	if errors.Is(err, bzimage.ErrNoXZ) {
		c.Log("each boot takes seconds more than it need: %v", err)
		return vmlinuz, nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", vmlinuz, err)
	}
	tmp := tempName(dir)
	if err := os.WriteFile(tmp, kernel, 0o644); err != nil {
		return "", err
	}
	return name, os.Rename(tmp, name)
}

// touch marks a stored file as used.
func touch(name string) error {
	now := time.Now()
	return os.Chtimes(name, now, now)
}

// buildGuest compiles the init program. The compiler's cache makes that cheap,
// and a binary of another protocol version impossible.
func buildGuest(ctx context.Context, c *Config) (string, error) {
	root, err := sourceRoot()
	if err != nil {
		return "", fmt.Errorf("cannot build the guest's init: %w", err)
	}
	dir := filepath.Join(c.Build, "vm")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// Test binaries run in parallel, so each writes a file of its own.
	out, err := os.CreateTemp(dir, ".guest-*")
	if err != nil {
		return "", err
	}
	if err := out.Close(); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out.Name(), modulePath+"/test/vm/guest")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	if msg, err := cmd.CombinedOutput(); err != nil {
		_ = os.Remove(out.Name())
		return "", fmt.Errorf("build of the guest's init: %w\n%s", err, msg)
	}
	name := filepath.Join(dir, "guest")
	return name, os.Rename(out.Name(), name)
}

func (im *image) addStock(fs *initramfs.Image, extra []string) error {
	boot, err := im.tree.Order(bootModules...)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, m := range boot {
		fmt.Fprintln(&list, modulePathInGuest(Stock, m))
	}
	fs.AddBytes(agent.BootModules, []byte(list.String()), 0o644)

	want := append(append([]string{}, stockModules...), extra...)
	for _, m := range optionalModules {
		if im.tree.Has(m) {
			want = append(want, m)
		}
	}
	all, err := im.tree.Order(append(want, bootModules...)...)
	if err != nil {
		return err
	}
	for _, m := range all {
		b, err := im.tree.Read(m)
		if err != nil {
			return err
		}
		fs.AddBytes(modulePathInGuest(Stock, m), b, 0o644)
	}
	return nil
}

// addOurs adds the modules that make kmod has built, if any, with those that are
// for tests only: whether a test needs them shows when it loads one.
func (im *image) addOurs(fs *initramfs.Image, c *Config) error {
	var files []string
	for _, pattern := range []string{"*.ko", "test/*.ko"} {
		found, err := filepath.Glob(filepath.Join(c.oursDir(), pattern))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	for _, f := range files {
		b, err := initramfs.ReadModule(f)
		if err != nil {
			return err
		}
		mi, err := initramfs.ReadModInfo(b)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		if built, _, _ := strings.Cut(mi.VerMagic, " "); built != im.release {
			return fmt.Errorf("%s is built for kernel %s, but build/kernel/%s is %s; run make kmod KVER=%s", f, built, c.Kernel, im.release, c.Kernel)
		}
		name := initramfs.ModuleName(f)
		im.ours[name] = mi
		fs.AddBytes(modulePathInGuest(Ours, name), b, 0o644)
	}
	return nil
}

func addFiles(fs *initramfs.Image, c *Config) error {
	tools, err := filepath.Glob(filepath.Join(c.Build, "bin", "*"))
	if err != nil {
		return err
	}
	for _, t := range tools {
		if st, err := os.Stat(t); err != nil || !st.Mode().IsRegular() {
			continue
		}
		if err := fs.AddFile("/bin/"+filepath.Base(t), t); err != nil {
			return err
		}
	}
	// Which is another program by these names.
	fs.AddLink("/bin/rds-info", "rdsinfo")
	fs.AddLink("/bin/rds-ping", "rdsinfo")
	guests := make([]string, 0, len(c.Files))
	for g := range c.Files {
		guests = append(guests, g)
	}
	sort.Strings(guests)
	for _, g := range guests {
		if err := fs.AddFile(g, c.Files[g]); err != nil {
			return err
		}
	}
	return nil
}

// imageAge is when an image that nobody used any more is removed.
const imageAge = 24 * time.Hour

// store keeps the image under a name made of its content: all tests with the
// same image share it, and a run can be repeated with the image that it had.
func store(fs *initramfs.Image, c *Config) (string, error) {
	dir, err := imageDir(c)
	if err != nil {
		return "", err
	}
	if err := removeOld(dir); err != nil {
		return "", err
	}
	tmp := tempName(dir)
	if err := fs.WriteFile(tmp); err != nil {
		return "", err
	}
	sum, err := fileSum(tmp)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, c.Kernel+"-"+sum+".cpio")
	return name, os.Rename(tmp, name)
}

// imageDir is where kernels and images are stored, by their content.
func imageDir(c *Config) (string, error) {
	dir := filepath.Join(c.Build, "vm", "images")
	return dir, os.MkdirAll(dir, 0o755)
}

// tempName is a name that no other process and no other call uses.
func tempName(dir string) string {
	return filepath.Join(dir, fmt.Sprintf(".new-%d-%d", os.Getpid(), time.Now().UnixNano()))
}

func fileSum(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

func removeOld(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // another process has removed it
		}
		if time.Since(info.ModTime()) > imageAge {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	return nil
}
