// SPDX-License-Identifier: MIT

package initramfs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/u-root/u-root/pkg/cpio"
	"github.com/ulikunitz/xz"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func compress(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	w, err := xz.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// tree makes a module tree in which rdma_rxe needs ib_core, ib-cm and, without
// saying so, crc32_generic.
func tree(t *testing.T) *Tree {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "modules.dep"), ""+
		"kernel/rdma_rxe.ko: kernel/ib_uverbs.ko kernel/ib-cm.ko.xz kernel/ib_core.ko\n"+
		"kernel/ib_uverbs.ko: kernel/ib_core.ko\n"+
		"kernel/ib-cm.ko.xz: kernel/ib_core.ko\n"+
		"kernel/ib_core.ko:\n"+
		"kernel/crc32_generic.ko:\n"+
		"kernel/soft.ko:\n")
	write(t, filepath.Join(dir, "modules.builtin"), "kernel/net/ipv6/ipv6.ko\n")
	write(t, filepath.Join(dir, "modules.softdep"), ""+
		"# Soft dependencies\n"+
		"softdep ib_core pre: soft an-alias post: crc32_generic\n")
	write(t, filepath.Join(dir, "kernel/ib_core.ko"), "ib_core")
	write(t, filepath.Join(dir, "kernel/ib-cm.ko.xz"), compress(t, "ib_cm"))
	tr, err := OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestOrder(t *testing.T) {
	tr := tree(t)
	got, err := tr.Order("rdma-rxe", "ipv6", "ib_cm")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"soft", "ib_core", "ib_cm", "ib_uverbs", "crc32_generic", "rdma_rxe"}; !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
	if _, err := tr.Order("missing"); err == nil || !strings.Contains(err.Error(), `"missing"`) {
		t.Errorf("a module that is not there: %v", err)
	}
	if !tr.Builtin("ipv6") || tr.Has("ipv6") || !tr.Has("ib_cm") {
		t.Error("wrong about ipv6 or ib_cm")
	}
}

func TestReadModules(t *testing.T) {
	tr := tree(t)
	for _, name := range []string{"ib_core", "ib_cm"} {
		if b, err := tr.Read(name); err != nil || string(b) != name {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if _, err := tr.Read("missing"); err == nil {
		t.Error("a module that is not there: no error")
	}
	if _, err := tr.Read("soft"); err == nil {
		t.Error("a module without its file: no error")
	}
	bad := write(t, filepath.Join(t.TempDir(), "bad.ko.xz"), "not xz")
	if _, err := ReadModule(bad); err == nil {
		t.Error("broken compression: no error")
	}
	if _, err := ReadModule(write(t, filepath.Join(t.TempDir(), "m.ko.zst"), "")); err == nil {
		t.Error("unknown compression: no error")
	}
}

func TestOpenTreeNeedsItsIndex(t *testing.T) {
	if _, err := OpenTree(t.TempDir()); err == nil || !strings.Contains(err.Error(), "depmod") {
		t.Errorf("%v", err)
	}
}

// module builds the least ELF file with a .modinfo section.
func module(t *testing.T, info string) []byte {
	t.Helper()
	names := "\x00.modinfo\x00.shstrtab\x00"
	const headers = 64
	body := info + names
	h := elf.Header64{
		Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: headers,
		Shentsize: 64, Shnum: 3, Shstrndx: 2, Shoff: uint64(headers + len(body)),
	}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	sections := []elf.Section64{
		{},
		{Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: headers, Size: uint64(len(info)), Addralign: 1},
		{Name: 10, Type: uint32(elf.SHT_STRTAB), Off: uint64(headers + len(info)), Size: uint64(len(names)), Addralign: 1},
	}
	var buf bytes.Buffer
	for _, part := range []any{h, []byte(body), sections} {
		if err := binary.Write(&buf, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

func TestReadModInfo(t *testing.T) {
	mi, err := ReadModInfo(module(t, "name=rds_rdma\x00depends=rds,rdma-cm\x00vermagic=6.1.0-1-amd64 SMP mod_unload\x00license=GPL\x00"))
	if err != nil {
		t.Fatal(err)
	}
	if mi.Name != "rds_rdma" || !slices.Equal(mi.Depends, []string{"rds", "rdma_cm"}) || !strings.HasPrefix(mi.VerMagic, "6.1.0-1-amd64 ") {
		t.Errorf("%+v", mi)
	}
	if mi, err := ReadModInfo(module(t, "name=rds\x00depends=\x00")); err != nil || len(mi.Depends) != 0 {
		t.Errorf("no dependencies: %+v, %v", mi, err)
	}
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"a program": exe, "text": []byte("text"), "nothing": nil} {
		if _, err := ReadModInfo(b); err == nil || !strings.Contains(err.Error(), "not a kernel module") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestImage(t *testing.T) {
	dir := t.TempDir()
	im, err := New(write(t, filepath.Join(dir, "init"), "the init"))
	if err != nil {
		t.Fatal(err)
	}
	im.AddBytes("/modules/stock/rds.ko", []byte("a module"), 0o644)
	im.AddBytes("/modules/stock/rds.ko", []byte("the module"), 0o644) // replaces it
	im.AddLink("/usr/bin/link", "../../modules/stock/rds.ko")
	if err := im.AddFile("/bin/missing", filepath.Join(dir, "missing")); err == nil {
		t.Error("a file that is not there: no error")
	}
	if err := im.AddFile("/bin/dir", dir); err == nil {
		t.Error("a directory: no error")
	}
	name := filepath.Join(dir, "image")
	if err := im.WriteFile(name); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := make(map[string]string)
	r := cpio.Newc.Reader(f)
	for {
		rec, err := r.ReadRecord()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := filepath.Dir(rec.Name); d != "." && seen[d] != "dir" {
			t.Errorf("%s comes before its directory", rec.Name)
		}
		switch rec.Mode & cpio.S_IFMT {
		case cpio.S_IFDIR:
			seen[rec.Name] = "dir"
		case cpio.S_IFCHR:
			seen[rec.Name] = "chr"
		case cpio.S_IFLNK:
			b, err := io.ReadAll(io.NewSectionReader(rec, 0, int64(rec.FileSize)))
			if err != nil {
				t.Fatal(err)
			}
			seen[rec.Name] = "to " + string(b)
		default:
			b, err := io.ReadAll(io.NewSectionReader(rec, 0, int64(rec.FileSize)))
			if err != nil {
				t.Fatal(err)
			}
			seen[rec.Name] = string(b)
			if rec.Name == "init" && rec.Mode&0o111 == 0 {
				t.Error("init is not executable")
			}
		}
	}
	for n, want := range map[string]string{"init": "the init", "dev/console": "chr", "proc": "dir", "modules/stock/rds.ko": "the module", "usr/bin/link": "to ../../modules/stock/rds.ko"} {
		if seen[n] != want {
			t.Errorf("%s is %q, want %q", n, seen[n], want)
		}
	}
}

func TestImageIsReproducible(t *testing.T) {
	dir := t.TempDir()
	build := func(out string, names ...string) []byte {
		im, err := New(write(t, filepath.Join(dir, "init"), "the init"))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			im.AddBytes(n, []byte(n), 0o644)
		}
		if err := im.WriteFile(filepath.Join(dir, out)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, out))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if !bytes.Equal(build("one", "a", "b"), build("two", "b", "a")) {
		t.Error("the same content gave two images")
	}
}

func TestDynamicProgramBringsItsLibraries(t *testing.T) {
	const program = "/bin/cat"
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil || len(libs) == 0 {
		t.Fatalf("%s has no libraries: %v", program, err)
	}
	im, err := New(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, lib := range libs {
		found := false
		for n := range im.records {
			found = found || filepath.Base(n) == lib
		}
		if !found {
			t.Errorf("%s is missing", lib)
		}
	}
}
