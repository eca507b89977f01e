# SPDX-License-Identifier: GPL-2.0-only
#
# Calls Kbuild for the module and CMake for the tool. Everything they make is in build/:
#
#   build/bin/argtrace              the tool
#   build/user/                     CMake's directory
#   build/arm64/                    the same for arm64: bin/ and user/
#   build/kmod/LABEL/argtrace.ko    the module for that kernel, with those of the tests
#   build/kmod/LABEL/tree/          links to the sources: Kbuild writes there, and the source tree stays clean
#
# KERNEL=LABEL chooses a kernel of scripts/kernels.list; the default is the running one, or that of KDIR=headers.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:

PREFIX ?= /usr/local
KREL ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KREL)/build
JOBS ?= $(shell nproc)

LABEL := $(or $(KERNEL),$(KREL))
KOUT := build/kmod/$(LABEL)
TREE := $(KOUT)/tree

# Sets KDIR, BTF, WITHIN (what to build it with) and CROSS (what Kbuild is told about another machine) in the shell of a recipe.
ifdef KERNEL
KERNEL_PARTS = parts=$$(scripts/kernel $(KERNEL)) && eval "$$parts"
CACHED_KERNEL := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/argtrace/kernels/$(KERNEL)/env
else
KERNEL_PARTS = KDIR=$(KDIR) BTF=/sys/kernel/btf/vmlinux WITHIN= CROSS=; \
	[ -d "$$KDIR" ] || { echo "make: the kernel $(KREL) has no headers in $(KDIR): install linux-headers-$(KREL)," \
		"or name another kernel with KERNEL= (see scripts/vm --list)" >&2; exit 1; }
endif

# What recipes call. Those that run Kbuild begin with +, as make sees no $(MAKE) in them.
#
#   $(call kbuild,FOLDER,ARGUMENTS)   builds the modules of the folder with the chosen kernel's headers
#   $(call add_btf,FILE)              gives a module BTF if Kbuild, without a vmlinux, has not; pahole would look for llvm-objcopy
#   $(call cmake_build,TARGETS)       builds them in build/user, not as a part of this make
kbuild = $(KERNEL_PARTS) && $$WITHIN $(MAKE) --no-print-directory -C "$$KDIR" M=$(CURDIR)/$(1) KCFLAGS=-Werror $$CROSS $(2) modules
add_btf = if ! readelf -SW $(1) | grep -q '\.BTF '; then LLVM_OBJCOPY="$${CROSS\#\#*=}objcopy" pahole -J --btf_base "$$BTF" $(1); fi
#   $(call cmake_build_arm64,TARGETS) the same for arm64, in build/arm64/user
cmake_build = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build build/user -j $(JOBS) --target $(1)
cmake_build_arm64 = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build build/arm64/user -j $(JOBS) --target $(1)

# $(call link_sources,FILES,TREE): into the tree, at their places. Links to files that are gone go.
define link_sources
	@mkdir -p $(2)
	@find $(2) -xtype l -delete
	@for file in $(1); do mkdir -p "$(2)/$$(dirname $$file)" && ln -sfn "$(CURDIR)/$$file" "$(2)/$$file"; done
endef

KMOD_SOURCES := $(shell find kmod include VERSION -type f 2>/dev/null)
KUNIT_SOURCES := $(shell find tests/kunit tests/data -name '*.[ch]' -o -name Kbuild 2>/dev/null)
# One of them has the sources that walk stacks in it.
TEST_MODULE_SOURCES := $(shell find include tests/vm/modules kmod/arch -type f 2>/dev/null) \
		       $(addprefix kmod/,base/compat.h base/hook.h base/kernel_calls.c base/kernel_calls.h base/memory.h base/recursion.c base/recursion.h) user/lang/kernel_macros.h user/spec/calls.table
BENCH_MODULE_SOURCES := $(shell find bench/modules -type f 2>/dev/null)
TOOL_SOURCES := CMakeLists.txt VERSION $(shell find cmake user include -type f 2>/dev/null)

all: tool module man ## build the tool, the module and the manual pages

help: ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
	@echo "Variables: KERNEL=LABEL ($$(scripts/kernel --list | awk '{ print $$1 }' | paste -sd ' ')), KDIR, DESTDIR, PREFIX."

module: $(KOUT)/argtrace.ko ## build the module, for KERNEL=LABEL or for the running kernel

tool: build/bin/argtrace ## build the tool

arm64-tool: build/arm64/bin/argtrace # for scripts/vm and tests/vm/run

arm64-tests: arm64-tool # what tests/vm/run takes to a kernel of arm64
	@$(call cmake_build_arm64,argtrace_vm_tests) >/dev/null

man: build/man/argtrace.1 build/man/argtrace.dat.5 ## build the manual pages

test-modules: $(KOUT)/argtrace_test.ko ## build the modules that the VM tests need, for KERNEL=LABEL

bench-modules: $(KOUT)/argtrace_bench.ko

MUTANTS ?=
mutants: ## put plausible bugs into a copy of the tree and see whether the tests notice; MUTANTS='NAME ...' for some
	@scripts/bootstrap
	@tests/mutants/run $(MUTANTS)

bench: ## what a traced call costs, beside other tracers: KERNEL=LABEL, or all of them
	@scripts/bootstrap bench
	@bench/run $(KERNEL)

kunit: ## run the KUnit tests, in a kernel built for them
	@scripts/bootstrap
	@scripts/kernel kunit >/dev/null
	@$(MAKE) --no-print-directory -s kunit-module KERNEL=kunit
	@tests/kunit/run

kunit-module: $(KOUT)/argtrace_kunit.ko # for tests/kunit/run

demo: ## show it: installs packages, boots a kernel, traces in it
	@scripts/bootstrap
	@scripts/demo

check: ## test it: installs packages, runs the unit tests and the VM tests
	@scripts/check

check-all: ## the same on every kernel of scripts/kernels.list, and the Debian packages (as root)
	@scripts/check --all

deb: ## make the Debian packages, argtrace and argtrace-dkms, in build/deb
	@scripts/bootstrap deb
	@scripts/deb

check-deb: deb ## test the packages, in chroots of Debian systems (as root)
	@tests/deb/run

check-viewers: tool ## have other tools read what `argtrace export` writes (needs npm's registry)
	@scripts/bootstrap viewers
	@$(call cmake_build,viewer_samples) >/dev/null
	@tests/viewers/run

check-peers: ## compare answers with bpftrace, strace and the block layer, in one boot (`scripts/bootstrap peers` installs the tools)
	@tests/peers/run

check-strace: tool ## compare what `argtrace trace -d` shows of system calls with strace and with what its own tests expect
	@scripts/bootstrap strace
	@tests/strace/run

check-uftrace: tool ## compare trees of user functions with those that uftrace's own tests expect
	@scripts/bootstrap
	@tests/uftrace/run

check-go: tool ## run the VM tests of Go with programs that newer versions of Go have built
	@scripts/bootstrap
	@$(call cmake_build,argtrace_vm_tests) >/dev/null
	@tests/go/run

check-arguments: tool ## compare arguments of functions of Debian's Python with what gdb says at their first instructions
	@scripts/bootstrap unwinders
	@tests/arguments/run

check-postgresql: tool ## compare what USDT probes of Debian's PostgreSQL say of statements and transactions with the server's own log
	@scripts/bootstrap
	@tests/postgresql/run

check-unwinders: ## compare stacks of user code with gdb's of the same processes, and with perf's where there are frame pointers
	@scripts/bootstrap unwinders
	@tests/unwinders/run

check-branches: ## follow calls where indirect branches are tracked, in Bochs, and where returns go through the kernel's thunks
	@scripts/bootstrap branches
	@tests/branches/run

check-stressors: ## follow all functions while stress-ng stresses the kernel, on all kernels, or KERNEL=LABEL; about a quarter of an hour each
	@scripts/bootstrap stressors
	@tests/stressors/run $(KERNEL)

FUZZ_SECONDS ?= 60
fuzz: ## run the fuzzers, FUZZ_SECONDS each
	@scripts/bootstrap
	@scripts/fuzz seconds $(FUZZ_SECONDS)

# SEED is also the seed of the generated test modules and has a default for that; here only a given one counts.
STRESS_STEPS ?= 2000
stress: ## STRESS_STEPS of random use and misuse on the sanitizer kernel; SEED=N repeats a run
	@scripts/bootstrap
	@scripts/kernel kasan >/dev/null
	@$(MAKE) --no-print-directory -s tool module test-modules KERNEL=kasan SEED=1
	@$(call cmake_build,argtrace_vm_tests) >/dev/null
	@tests/vm/run --filter 'IoctlFuzz.*:ProgramFuzz.*:HostileCalls.*:Stress.*' --steps $(STRESS_STEPS) $(if $(filter-out default file,$(origin SEED)),--seed $(SEED)) kasan

bench-decode: ## measure how fast events are decoded, merged and written
	@scripts/bootstrap
	@cmake -S . -B build/user -DARGTRACE_BENCH=ON >/dev/null
	@$(call cmake_build,decode_benchmark) >/dev/null
	@build/bin/decode_benchmark
	@bench/instructions

bench-report: ## measure how fast recordings are read, beside others
	@scripts/bootstrap bench
	@cmake -S . -B build/user -DARGTRACE_BENCH=ON >/dev/null
	@$(call cmake_build,argtrace trace_copies) >/dev/null
	@bench/report

bench-stacks: ## measure what it takes to show a million different stacks of user code
	@scripts/bootstrap
	@cmake -S . -B build/user -DARGTRACE_BENCH=ON >/dev/null
	@$(call cmake_build,argtrace user_stacks_file name_user_stacks) >/dev/null
	@bench/stacks

# With DESTDIR, for packages, depmod is left to their installation.
DEPMOD = $(if $(DESTDIR),:,depmod)

SHARE = $(DESTDIR)$(PREFIX)/share
BASH_COMPLETION = $(SHARE)/bash-completion/completions/argtrace
ZSH_COMPLETION = $(SHARE)/zsh/site-functions/_argtrace
UDEV_RULES = $(DESTDIR)$(PREFIX)/lib/udev/rules.d/60-argtrace.rules

install: all ## install them here (as root), or below DESTDIR
	@$(KERNEL_PARTS) && release="$${RELEASE:-$(KREL)}" && set -x && \
		install -D -m 644 $(KOUT)/argtrace.ko "$(DESTDIR)/lib/modules/$$release/updates/argtrace.ko" && \
		install -D -m 755 build/bin/argtrace "$(DESTDIR)$(PREFIX)/bin/argtrace" && \
		install -D -m 644 build/man/argtrace.1 "$(SHARE)/man/man1/argtrace.1" && \
		install -D -m 644 build/man/argtrace.dat.5 "$(SHARE)/man/man5/argtrace.dat.5" && \
		install -D -m 644 packaging/completion/argtrace.bash "$(BASH_COMPLETION)" && \
		install -D -m 644 packaging/completion/_argtrace "$(ZSH_COMPLETION)" && \
		install -D -m 644 packaging/debian/argtrace.udev "$(UDEV_RULES)" && \
		$(DEPMOD) "$$release"

uninstall: ## remove them
	@$(KERNEL_PARTS) && release="$${RELEASE:-$(KREL)}" && set -x && \
		rm -f "$(DESTDIR)/lib/modules/$$release/updates/argtrace.ko" "$(DESTDIR)$(PREFIX)/bin/argtrace" \
			"$(SHARE)/man/man1/argtrace.1" "$(SHARE)/man/man5/argtrace.dat.5" "$(BASH_COMPLETION)" "$(ZSH_COMPLETION)" \
			"$(UDEV_RULES)" && \
		$(DEPMOD) "$$release"

clean: ## remove what was built (fetched kernels stay in the cache)
	rm -rf build

# Fetched once. scripts/kernel --fresh takes a newer package, and the module is then built again.
$(CACHED_KERNEL):
	@scripts/kernel $(KERNEL) >/dev/null

$(KOUT)/argtrace.ko: $(KMOD_SOURCES) $(CACHED_KERNEL) Makefile
	$(call link_sources,$(KMOD_SOURCES),$(TREE))
	+@$(call kbuild,$(TREE)/kmod)
	@cp $(TREE)/kmod/argtrace.ko $@

# The module with the fault BROKEN.patch of the folder FAULTS, for tests/vm/faults/run and tests/branches/run. Built from a copy of
# the sources, in a folder that nothing installs or packages from.
FAULTS := tests/vm/faults
BROKEN_OUT := $(KOUT)/broken/$(BROKEN)
broken-module: $(BROKEN_OUT)/argtrace.ko

$(BROKEN_OUT)/argtrace.ko: $(KMOD_SOURCES) $(FAULTS)/$(BROKEN).patch $(CACHED_KERNEL) Makefile
	@mkdir -p $(BROKEN_OUT)/tree
	@cp --parents $(KMOD_SOURCES) $(BROKEN_OUT)/tree
	@patch -s -p1 -d $(BROKEN_OUT)/tree <$(FAULTS)/$(BROKEN).patch
	+@$(call kbuild,$(BROKEN_OUT)/tree/kmod)
	@cp $(BROKEN_OUT)/tree/kmod/argtrace.ko $@

# pahole 1.30 and similar versions omit functions with a 128-bit argument, whose arguments are not in the registers it
# expects; such arguments are to be tested as well.
TEST_PAHOLE_FLAGS := --btf_features=encode_force,var,float,enum64,decl_tag,type_tag,optimized_func

# The seed of the generated test modules, the number of functions of the one, and that of the other, with eight expressions each.
SEED ?= 1
PROTOTYPES ?= 300
EXPRESSION_FUNCTIONS ?= 400

# The helper modules, and those among them whose functions are traced and so need BTF whatever the kernel. Where Kbuild has
# no vmlinux for that, pahole adds it here.
TEST_MODULES := $(shell sed -n 's/^\([a-z]\w*\).*/\1/p' tests/vm/modules/modules.list)
TYPED_TEST_MODULES := $(shell sed -n 's/^\([a-z]\w*\).*types$$/\1/p' tests/vm/modules/modules.list)

$(KOUT)/argtrace_test.ko: $(TEST_MODULE_SOURCES) build/bin/argtrace_generate $(CACHED_KERNEL) Makefile
	$(call link_sources,$(TEST_MODULE_SOURCES),$(TREE))
	@build/bin/argtrace_generate prototypes $(SEED) $(PROTOTYPES) >$(TREE)/tests/vm/modules/generated.c
	@build/bin/argtrace_generate expressions $(SEED) $(EXPRESSION_FUNCTIONS) >$(TREE)/tests/vm/modules/random_expressions.c
	@awk -f tests/vm/modules/constants.awk user/spec/calls.table >$(TREE)/tests/vm/modules/table_constants.h
	+@$(call kbuild,$(TREE)/tests/vm/modules,$${WITHIN:+PAHOLE_FLAGS="$(TEST_PAHOLE_FLAGS)"}) && \
		for name in $(TYPED_TEST_MODULES); do \
			new=$(KOUT)/$$name.ko.new && cp $(TREE)/tests/vm/modules/$$name.ko $$new && { $(call add_btf,$$new); } || exit; \
		done && \
		cp $(patsubst %,$(TREE)/tests/vm/modules/%.ko,$(filter-out $(TYPED_TEST_MODULES),$(TEST_MODULES))) $(KOUT) && \
		for name in $(TYPED_TEST_MODULES); do mv $(KOUT)/$$name.ko.new $(KOUT)/$$name.ko || exit; done

$(KOUT)/argtrace_bench.ko: $(BENCH_MODULE_SOURCES) $(CACHED_KERNEL) Makefile
	$(call link_sources,$(BENCH_MODULE_SOURCES),$(TREE))
	+@$(call kbuild,$(TREE)/bench/modules) && \
		cp $(TREE)/bench/modules/argtrace_bench.ko $@.new && { $(call add_btf,$@.new); } && mv $@.new $@

BENCH_PROGRAMS := $(addprefix build/bench/,pread_loop go_loop measure splice_record arm_cost map_cost tick_cost bpf_peer bpf_programs.bpf.o)

bench-programs: $(BENCH_PROGRAMS) # for bench/run

build/bench/bpf_peer build/bench/map_cost: BENCH_LIBS = -lbpf
build/bench/%: bench/programs/%.c $(wildcard bench/programs/*.h include/uapi/*.h)
	@mkdir -p $(@D)
	@$(CC) -O2 -Wall -Iinclude -o $@ $< $(BENCH_LIBS)

build/bench/go_loop: bench/programs/go_loop.go
	@mkdir -p $(@D)
	@go build -o $@ $<

# Those of the tables that bench/run has for arm64.
BENCH_PROGRAMS_ARM64 := $(addprefix build/arm64/bench/,pread_loop bpf_peer bpf_programs.bpf.o)

bench-programs-arm64: $(BENCH_PROGRAMS_ARM64)

build/arm64/bench/bpf_peer: BENCH_LIBS = -lbpf
build/arm64/bench/%: bench/programs/%.c $(wildcard bench/programs/*.h include/uapi/*.h)
	@mkdir -p $(@D)
	@root=$$(scripts/root --arm64) && aarch64-linux-gnu-gcc --sysroot="$$root" -Wl,-rpath-link,"$$root/usr/lib/aarch64-linux-gnu" \
		-O2 -Wall -Iinclude -o $@ $< $(BENCH_LIBS)

build/arm64/bench/%.bpf.o: bench/programs/%.bpf.c
	@mkdir -p $(@D)
	@root=$$(scripts/root --arm64) && clang -O2 -g -Wall -target bpf -D__TARGET_ARCH_arm64 -I"$$root/usr/include/aarch64-linux-gnu" -c -o $@ $<

build/bench/%.bpf.o: bench/programs/%.bpf.c
	@mkdir -p $(@D)
	@clang -O2 -g -Wall -target bpf -I/usr/include/$(shell $(CC) -print-multiarch) -c -o $@ $<

# In a separate tree, since its objects belong to another module than those of the same sources in $(TREE).
$(KOUT)/argtrace_kunit.ko: $(KMOD_SOURCES) $(KUNIT_SOURCES) $(CACHED_KERNEL) Makefile
	$(call link_sources,$(KMOD_SOURCES) $(KUNIT_SOURCES),$(KOUT)/kunit)
	+@$(call kbuild,$(KOUT)/kunit/tests/kunit)
	@cp $(KOUT)/kunit/tests/kunit/argtrace_kunit.ko $@

build/user/CMakeCache.txt:
	@cmake -S . -B build/user -DCMAKE_BUILD_TYPE=RelWithDebInfo

# CMake may have nothing to link; make needs the new date.
build/bin/argtrace: $(TOOL_SOURCES) | build/user/CMakeCache.txt
	@$(call cmake_build,argtrace)
	@touch $@

# With other packages it begins anew: what has been found lies among those of before.
build/arm64/user/CMakeCache.txt: scripts/root
	@rm -f $@
	@root=$$(scripts/root --arm64) && cmake -S . -B build/arm64/user -DCMAKE_BUILD_TYPE=RelWithDebInfo \
		-DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/arm64.cmake -DARGTRACE_SYSROOT="$$root" -DARGTRACE_BIN=$(CURDIR)/build/arm64/bin

build/arm64/bin/argtrace: $(TOOL_SOURCES) | build/arm64/user/CMakeCache.txt
	@$(call cmake_build_arm64,argtrace)
	@touch $@

build/bin/argtrace_generate: CMakeLists.txt $(wildcard tests/vm/generator/* tests/user/support/prototype_generator.h) | build/user/CMakeCache.txt
	@cmake build/user >/dev/null # a directory that was configured earlier may not know the target
	@$(call cmake_build,argtrace_generate)
	@touch $@

build/man/%: docs/%.scd
	@mkdir -p $(@D)
	@scdoc <$< >$@

.PHONY: all help module broken-module tool arm64-tool arm64-tests man test-modules kunit kunit-module demo check check-all check-viewers check-peers check-strace check-uftrace check-go check-arguments check-postgresql check-unwinders check-branches check-stressors deb check-deb fuzz stress mutants \
	bench bench-modules bench-programs bench-programs-arm64 bench-decode bench-report bench-stacks install uninstall clean
