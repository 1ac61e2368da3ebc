// SPDX-License-Identifier: MIT

// Package vm runs tests in virtual machines: real kernels, joined by a switch in
// the test process. This is a guide for who writes such a test.
//
// # A test
//
// Tests live in test/vm/suite and take their configuration from the flags of
// the test binary:
//
//	func TestReconnect(t *testing.T) {
//		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
//		defer cancel()
//		env := vm.New(t, *config)
//		a, b, err := env.Pair(ctx)        // two VMs, booted at the same time
//		if err != nil {
//			t.Fatal(err)
//		}
//		for _, n := range []*vm.Node{a, b} {
//			if err := n.Load(ctx, vm.OurRDS()...); err != nil {
//				t.Fatal(err)
//			}
//		}
//		wires, err := env.Capture("reconnect")
//		...
//		server, err := b.Start(ctx, agent.Exec{Argv: []string{"rdsmr", "serve", "--bind", b.IP()}})
//		_, err = server.Stdout.WaitLine(ctx, regexp.MustCompile("^ready "))
//		out, err := a.Run(ctx, "rdsmr", "stress", b.IP(), "--json")
//		b.Link(0).Cut()
//		...
//		b.Link(0).Restore()
//		res, err := server.Stop(syscall.SIGINT)
//		trace, err := wire.Analyse(ether.View(wires.Frames(), ether.FromNode))
//		for _, c := range trace.Conns { c.First(addrA).Find(wire.ExtVersion) ... }
//	}
//
// [New] ends the environment with the test and fails the test for whatever was
// wrong with a VM. A program without a *testing.T uses [Open] and [Env.Close],
// which returns the same as an error. Nothing else here knows of package
// testing.
//
// # When a VM fails
//
// A VM has passed only when it has said goodbye with its token, on a port apart
// from the console. A report of its kernel (package splat) fails it whatever
// else it said; so does an end that nobody asked for, and silence for
// [Config.HangLimit]. Each operation on the node returns such a failure as an
// error, running ones included, and Env.Close returns it again. A context
// without deadline gets [Config.OpLimit], so that nothing waits for ever.
//
// A fault of stock code that a test cannot avoid is let pass by [Config.Known].
//
// # A kernel that checks itself
//
// "make debug-kernel" builds a kernel with KASAN, lockdep, kmemleak and more, to
// be used like any other: -kernel debug. Its VMs have more memory, and all limits
// here are longer; a test stretches its own by [Config.Scale]. Before a VM of it
// is switched off, the kernel looks for lost memory, and whatever it finds fails
// the test. Kernel.go lists the faults of stock code that are let pass, leaks.go
// the leaks. Lockdep stops watching at its first report: the log of the test says
// of which nodes that is true.
//
// That kernel also fails on demand. [Node.StartFaults] makes every n-th allocation,
// or copy from and to a process, fail for the commands that "underfaults COMMAND"
// has started; the program failnth makes each step of one call fail in turn, after
// [Node.PrepareFaults]. Both are in test/vm/tools, and so in the VMs of the suite.
//
// # What is left behind
//
// build/vm/KERNEL/TEST has a directory for each VM with console.log (seconds
// since QEMU was started in front), qemu.log, which begins with the exact
// command line, and repeat.sh, which boots the same VM by hand. The captures lie
// next to them. They stay until the test runs again.
// "rdsinfo decode --direction in FILE" prints what a capture has of RDS, and
// "go run ./test/vm/cmd/vmrun" runs a script on VMs for an experiment.
//
// # Several tests on the same VMs
//
// A boot takes 3 to 5 seconds of a CPU under emulation. Subtests can share VMs:
// begin each with [Node.UseRDS], which replaces all RDS modules, with Reset of
// the switch, and with a capture of its own.
//
// # Modules
//
// The image has the distribution's modules for RDS with all that they need,
// and all of build/kmod/KERNEL. Nothing of RDS is loaded by itself: [Node.Load]
// says which module comes from where, see [StockRDS], [PatchedRDS] and [OurRDS].
// The programs of build/bin are in /bin, further files come by [Config.Files].
// There is no shell.
//
// # The switch
//
// Rules on a link drop, delay, duplicate, reorder and corrupt, see package
// ether; wire.Match makes predicates on what is in a packet:
//
//	rule, err := a.Link(0).Add(ether.ToNode, ether.Rule{
//		Name: "loss", Match: wire.Match(wire.IsRC), Pick: ether.Rate(0.02), Do: ether.Drop(),
//	})
//
// A capture has each frame as it was sent and again as it was delivered.
//
// # Parts
//
// Package agent is the protocol with the guest, guest its end in the VM,
// initramfs and bzimage make what is booted, qemu runs it, splat reads its
// console, ether is the switch, wire decodes captures. Test/vm/selftest proves
// that VMs which fail do fail the test.
package vm
