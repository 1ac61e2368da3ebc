# SPDX-License-Identifier: GPL-2.0
# Every target sets up what it needs by itself, once: packages, kernels, modules.

# The kernel of make kmod, demo, bench and check-abi, and those of make test.
KVER ?= 6.1
KERNELS ?= 6.1 6.12
# How long make fuzz-exthdr runs.
FUZZTIME ?= 60s
# Flags of make bench, such as -rounds 5 or -require-targets.
BENCH ?=

export GOTOOLCHAIN := auto
# There may be no repository to take a version from: a tarball, or another owner.
export GOFLAGS += -buildvcs=false
build := $(abspath $(or $(RDS_EXT_BUILD),build))

.PHONY: help
help: ## show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24
	@echo
	@echo "  KVER=$(KVER) (or 6.12, 7.3, debug) chooses the kernel of kmod, demo, bench and check-abi,"
	@echo "  KERNELS=\"$(KERNELS)\" the kernels whose VMs make test boots."

.PHONY: demo
demo: kmod tools ## two VMs with rds_ext: connections, versions, 10 s of verified RDMA
	@go build -o $(build)/demo ./test/vm/demo
	@$(build)/demo -kernel $(KVER) -build $(build)

.PHONY: bench
bench: kmod tools ## stock modules and ours side by side in VMs: table, JSON, page (BENCH=flags)
	@go build -o $(build)/bench ./test/vm/bench
	@# In batches: else each frame on the wire stops a VM's processor, in the
	@# middle of whatever is being timed there.
	@chrt --batch 0 $(build)/bench -kernel $(KVER) -build $(build) $(BENCH)

.PHONY: test
test: prereq ## all tests: unit, fuzz, lint, ABI, and in VMs (KERNELS="6.1 6.12")
	@go build -o $(build)/testrun ./scripts/testrun
	@$(build)/testrun -kernels "$(KERNELS)"

.PHONY: debug-kernel
debug-kernel: prereq ## a 6.1 kernel with KASAN, lockdep, kmemleak and more, in build/kernel/debug
	@scripts/debug-kernel

.PHONY: test-debug
test-debug: prereq tools ## the tests in VMs, on that kernel
	@go build -o $(build)/testrun ./scripts/testrun
	@$(build)/testrun -kernels debug -only " debug"

.PHONY: kmod
kmod: prereq ## rds.ko, rds_rdma.ko and rds_ext.ko in build/kmod/KVER (KVER=6.1)
	@scripts/kmod-build $(KVER)

.PHONY: tools
tools: prereq ## the command line tools, static, in build/bin
	@scripts/tools-build

.PHONY: check-abi
check-abi: kmod ## compare our exported symbols with the distribution's (KVER=6.1)
	@scripts/check-abi $(KVER)

.PHONY: lint
lint: prereq ## compiler warnings, sparse, checkpatch, gofmt, vet, staticcheck, shellcheck
	@scripts/lint

.PHONY: fuzz-exthdr
fuzz-exthdr: prereq ## fuzz the extension-header codec (FUZZTIME=60s)
	@$(MAKE) --no-print-directory -C kmod/rds_ext/test fuzz \
		BUILD=$(build)/exthdr FUZZTIME=$(FUZZTIME)

.PHONY: prereq
prereq:
	@scripts/prereq

.PHONY: clean
clean: ## remove everything that was built or fetched
	rm -rf $(build)
