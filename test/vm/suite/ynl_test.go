// SPDX-License-Identifier: MIT

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/rds-ext/rds_ext/gonl/rds"
	"github.com/rds-ext/rds_ext/test/vm"
)

const (
	python     = "/usr/bin/python3.11"
	pythonLib  = "/usr/lib/python3.11"
	pythonYAML = "/usr/lib/python3/dist-packages/yaml"
	familySpec = "../../../kmod/rds_ext/rds_ext.yaml"
	// ynlKernel is the series whose source has the client that is taken.
	ynlKernel = "6.12"
)

// addTree adds a directory of this host to the files of a VM, but for what skip
// says.
func addTree(t *testing.T, files map[string]string, host, guest string, skip func(name string) bool) {
	t.Helper()
	err := filepath.WalkDir(host, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if skip(e.Name()) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if real, err := os.Stat(path); err != nil || !real.Mode().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(host, path)
		files[filepath.Join(guest, rel)] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// bootYNL boots two nodes of which the first has Python and the kernel's client.
func bootYNL(t *testing.T) *pair {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	fetch(t, "kernel-fetch", ynlKernel)
	cfg := *config
	cfg.Files = maps.Clone(tools)
	cfg.Files[python] = python
	cfg.Files["/ynl/rds_ext.yaml"] = familySpec
	cfg.Files["/ynl/every_op.py"] = "testdata/ynl_every_op.py"
	unused := []string{
		"__pycache__", "test", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "distutils", "pydoc_data", "unittest", "dist-packages",
	}
	addTree(t, cfg.Files, pythonLib, pythonLib, func(name string) bool {
		return slices.Contains(unused, name) || strings.HasPrefix(name, "config-")
	})
	addTree(t, cfg.Files, pythonYAML, pythonYAML, func(name string) bool { return name == "__pycache__" })
	addTree(t, cfg.Files, filepath.Join(config.Build, "kernel", ynlKernel, "source/tools/net/ynl"), "/ynl/client",
		func(name string) bool { return name == "__pycache__" })
	env := vm.New(t, cfg)
	nodes, err := env.Boot(ctx, vm.Spec{Name: "a"}, vm.Spec{Name: "b"})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{T: t, ctx: ctx, env: env, a: nodes[0], b: nodes[1]}
	p.use(p.a, ours())
	p.use(p.b, ours())
	return p
}

// The kernel's own client, which knows nothing of the family but its
// specification, can do every operation, and gets what rdsinfo gets.
func TestYNL(t *testing.T) {
	p := bootYNL(t)
	c := p.hello("4600")
	owner := p.probe(p.a)
	owner.open(4601, 8192)
	m := p.wantState(p.a, owner.getMR(8192, rds.ReadWrite), "mapped")
	out := p.run(p.a, python, "/ynl/every_op.py", "/ynl/client", "/ynl/rds_ext.yaml", fmt.Sprint(c.ID), fmt.Sprint(m.ID))
	var got struct {
		Ops     map[string][]string
		Replies map[string]any
		Events  []struct{ Name string }
		Errors  map[string]string
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for op, modes := range familyOps(t) {
		for _, mode := range modes {
			if _, ok := got.Replies[mode+" "+op]; !ok {
				t.Errorf("%s %s was not done", mode, op)
			}
		}
	}
	if t.Failed() {
		t.Log(out)
	}
	reply := func(name string) map[string]any {
		m, ok := got.Replies[name].(map[string]any)
		if list, isList := got.Replies[name].([]any); isList && len(list) == 1 {
			m, ok = list[0].(map[string]any)
		}
		if !ok {
			t.Errorf("%s: %v", name, got.Replies[name])
		}
		return m
	}
	for _, name := range []string{"do conn-get", "dump conn-get"} {
		r := reply(name)
		peer, err := netip.ParseAddr(fmt.Sprint(r["peer-addr"]))
		if err != nil || peer.Unmap() != addr(p.b) || r["id"] != float64(c.ID) || r["state"] != "up" || r["transport"] != "ib" ||
			r["device"] != c.Device || r["qp-num"] != float64(*c.QPNum) {
			t.Errorf("%s: %v, want what rdsinfo shows: %v", name, r, c)
		}
	}
	for _, name := range []string{"do mr-get", "dump mr-get"} {
		r := reply(name)
		if r["id"] != float64(m.ID) || r["command"] != "mrprobe" || r["state"] != "mapped" || r["rkey"] != float64(*m.RKey) || r["length"] != float64(m.Length) {
			t.Errorf("%s: %v, want what rdsinfo shows: %+v", name, r, m)
		}
	}
	if r := reply("dump pool-get"); r["device"] != "rxe0" || r["in-use"] != 1.0 {
		t.Errorf("pool: %v", r)
	}
	if r := reply("do conn-reset"); r["resets"] != 1.0 {
		t.Errorf("conn-reset: %v", r)
	}
	if types, ok := got.Replies["dump exthdr-get"].([]any); !ok || len(types) < 6 {
		t.Errorf("extension headers: %v", got.Replies["dump exthdr-get"])
	}
	if s := p.run(p.a, "rdsinfo", "config", "show", "mr-max-age-ms"); s != "123456\n" {
		t.Errorf("mr-max-age-ms is %q", s)
	}
	p.eventually("the MR is revoked", func() (bool, string) {
		list := p.mrs(p.a)
		return len(list) == 1 && list[0].State == "revoked", fmt.Sprintf("%+v", list)
	})
	if now := p.upAgain(p.a, c); now.DownReason != "reset" {
		t.Errorf("after conn-reset: %v", now)
	}
	if !slices.ContainsFunc(got.Events, func(e struct{ Name string }) bool { return e.Name == "mr-revoked" }) {
		t.Errorf("events: %v", got.Events)
	}
	// What the kernel says to a refusal comes through.
	for op, want := range map[string]string{"conn-get": "no connection has this id", "mr-revoke": "no MR has this id"} {
		if !strings.Contains(got.Errors[op], want) || !strings.Contains(got.Errors[op], "'bad-attr': '.id'") {
			t.Errorf("%s of nothing: %q, want %q", op, got.Errors[op], want)
		}
	}
}

// familyOps are the operations of the specification with the ways to do them;
// events have none.
func familyOps(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(familySpec)
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Operations struct {
			List []struct {
				Name     string
				Do, Dump any
			}
		}
	}
	if err := yaml.Unmarshal(b, &spec); err != nil {
		t.Fatal(err)
	}
	ops := map[string][]string{}
	for _, op := range spec.Operations.List {
		for mode, has := range map[string]any{"do": op.Do, "dump": op.Dump} {
			if has != nil {
				ops[op.Name] = append(ops[op.Name], mode)
			}
		}
	}
	if len(ops) < 9 {
		t.Fatalf("operations: %v", ops)
	}
	return ops
}
