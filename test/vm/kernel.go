// SPDX-License-Identifier: MIT

package vm

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/rds-ext/rds_ext/test/vm/splat"
)

// checkedMemory is the least memory in MiB of a VM whose kernel checks itself:
// an eighth of it is KASAN's, and what was freed is kept back for a while.
const checkedMemory = 1536

// checkedSlowness is how many times longer such a kernel may take for anything.
const checkedSlowness = 5

// checks are what a kernel was configured to watch over.
type checks struct {
	kasan    bool
	kmemleak bool
	lockdep  bool
	failslab bool
}

// readChecks reads the configuration in the kernel's directory.
func readChecks(dir string) (checks, error) {
	b, err := os.ReadFile(filepath.Join(dir, "headers", ".config"))
	if err != nil {
		return checks{}, fmt.Errorf("configuration of the kernel: %w; run scripts/kernel-fetch %s", err, filepath.Base(dir))
	}
	has := func(option string) bool { return bytes.Contains(b, []byte("\n"+option+"=y\n")) }
	return checks{
		kasan: has("CONFIG_KASAN"), kmemleak: has("CONFIG_DEBUG_KMEMLEAK"),
		lockdep: has("CONFIG_PROVE_LOCKING"), failslab: has("CONFIG_FAILSLAB"),
	}, nil
}

// Scale stretches a limit of time by what the kernel of the configuration needs
// for its checks. A kernel that is not there is reported when a VM is made.
func (c *Config) Scale(d time.Duration) (time.Duration, error) {
	full := *c
	if full.Name == "" {
		full.Name = "scale"
	}
	if err := full.complete(); err != nil {
		return 0, err
	}
	k, err := readChecks(full.kernelDir())
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	return k.scale(d), err
}

func (k checks) scale(d time.Duration) time.Duration {
	if k.kasan {
		return d * checkedSlowness
	}
	return d
}

// known are the reports that a kernel makes of the distribution's own code: any
// kernel of the driver under RDS, one that checks itself of net/rds, too. They are
// let pass so that all others count.
func (k checks) known() []splat.Known {
	if !k.kasan {
		return driverFaults
	}
	return slices.Concat(driverFaults, stockFaults)
}

// ours matches a line of a trace, or of the list of locks, with code of ours.
var ours = regexp.MustCompile(`(\]\s+|at: )([\w.]+\+\S+ \[rds_ext\]|rds_hooks_\w+\+)`)

// driverFaults are faults of soft RoCE, which no user of it can help.
var driverFaults = []splat.Known{
	{
		First:  regexp.MustCompile(`WARNING: .* rxe_completer\+`),
		Unless: ours,
		Why:    "rxe ends a work request in error that it has not given an error status, now and then when a link is cut",
	},
}

// stockFaults are faults of the stock kernel that it reports of itself.
var stockFaults = []splat.Known{
	{
		// The second form where the tasklet interrupts a task that is about to sleep.
		First:  regexp.MustCompile(`BUG: sleeping function called from invalid context|WARNING: .* __might_sleep\+`),
		Inside: regexp.MustCompile(`\]  rds_rdma_free_op\+`),
		Unless: ours,
		Why:    "net/rds unpins and dirties user pages in the tasklet that ends an RDMA operation",
	},
	{
		// See kmod/rds_ext/fixes/10-address-check.cocci, by which our build of net/rds
		// does without. The stock one reports it.
		First:  regexp.MustCompile(`WARNING: possible (recursive locking|circular locking dependency) detected`),
		Inside: regexp.MustCompile(` rds_ib_laddr_check(_cm)?\+`),
		Unless: ours,
		Why:    "net/rds makes and destroys a CM id to check an address, in an event of another",
	},
	{
		First: regexp.MustCompile(`kmemleak: [0-9]+ new suspected memory leaks`),
		Why:   "each leak is judged by itself, see leaks.go",
	},
}
