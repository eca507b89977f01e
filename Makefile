# SPDX-License-Identifier: GPL-2.0-only
#
# The front door. Kbuild builds the module and CMake the tool; everything they make lies in build/:
#
#   build/bin/argtrace              the tool
#   build/user/                     CMake's directory
#   build/kmod/LABEL/argtrace.ko    the module for that kernel, those of the tests beside it
#   build/kmod/LABEL/tree/          links to the sources, where Kbuild works, so that the tree stays clean
#
# KERNEL=LABEL chooses a kernel of scripts/kernels.list; else it is the running one, or the one of KDIR=headers.

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

# Sets KDIR and BTF in the shell of a recipe.
ifdef KERNEL
KERNEL_PARTS = parts=$$(scripts/kernel $(KERNEL)) && eval "$$parts"
CACHED_KERNEL := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/argtrace/kernels/$(KERNEL)/env
else
KERNEL_PARTS = KDIR=$(KDIR) BTF=/sys/kernel/btf/vmlinux; \
	[ -d "$$KDIR" ] || { echo "make: the kernel $(KREL) has no headers in $(KDIR): install linux-headers-$(KREL)," \
		"or name another kernel with KERNEL= (see scripts/vm --list)" >&2; exit 1; }
endif

KMOD_SOURCES := $(shell find kmod include VERSION -type f 2>/dev/null)
KUNIT_SOURCES := $(shell find tests/kunit tests/data -name '*.[ch]' -o -name Kbuild 2>/dev/null)
PROOF_SOURCES := $(shell find tests/proof -name '*.c' -o -name Kbuild 2>/dev/null)
TEST_MODULE_SOURCES := $(shell find tests/vm/modules -type f 2>/dev/null)
TOOL_SOURCES := CMakeLists.txt VERSION $(shell find user include -type f 2>/dev/null)

all: tool module man ## build the tool, the module and the manual page

help: ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
	@echo "Variables: KERNEL=LABEL ($$(scripts/kernel --list | awk '{ print $$1 }' | paste -sd ' ')), KDIR, DESTDIR, PREFIX."

module: $(KOUT)/argtrace.ko ## build the module, for KERNEL=LABEL or for the running kernel

tool: build/bin/argtrace ## build the tool

man: build/man/argtrace.1 ## build the manual page

test-modules: $(KOUT)/argtrace_test.ko ## build the modules that the VM tests need, for KERNEL=LABEL

kunit: ## test the module's parts inside a kernel built for it (KUnit)
	@scripts/bootstrap
	@scripts/kernel kunit >/dev/null
	@$(MAKE) --no-print-directory -s kunit-module KERNEL=kunit
	@tests/kunit/run

# STEPS and SEED: see tests/vm/stress/run --help.
STEPS ?= 1500
SEED ?=
stress: ## use the module at random on a kernel that tells on it, for as long as STEPS says
	@scripts/bootstrap
	@scripts/kernel kasan >/dev/null
	@$(MAKE) --no-print-directory -s tool module test-modules KERNEL=kasan
	@env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build build/user -j $(JOBS) --target argtrace_vm_stress
	@tests/vm/stress/run $(if $(SEED),--seed $(SEED)) --steps $(STEPS) stress
	@tests/vm/stress/run $(if $(SEED),--seed $(SEED)) --steps $(STEPS)0 fuzz

kunit-module: $(KOUT)/argtrace_kunit.ko # for tests/kunit/run

broken-modules: $(foreach kind,kasan lockdep kmemleak,$(KOUT)/broken-$(kind)/argtrace.ko) # for tests/proof/run

demo: ## show it: installs packages, boots a kernel, traces in it
	@scripts/bootstrap
	@scripts/demo

check: ## test it: installs packages, runs the unit tests and the VM tests
	@scripts/check

# Below DESTDIR, where packages are made, depmod is left to their installation.
DEPMOD = $(if $(DESTDIR),:,depmod)

install: all ## install all three here (as root), or below DESTDIR
	@$(KERNEL_PARTS) && release="$${RELEASE:-$(KREL)}" && set -x && \
		install -D -m 644 $(KOUT)/argtrace.ko "$(DESTDIR)/lib/modules/$$release/updates/argtrace.ko" && \
		install -D -m 755 build/bin/argtrace "$(DESTDIR)$(PREFIX)/bin/argtrace" && \
		install -D -m 644 build/man/argtrace.1 "$(DESTDIR)$(PREFIX)/share/man/man1/argtrace.1" && \
		$(DEPMOD) "$$release"

uninstall: ## take them away again
	@$(KERNEL_PARTS) && release="$${RELEASE:-$(KREL)}" && set -x && \
		rm -f "$(DESTDIR)/lib/modules/$$release/updates/argtrace.ko" "$(DESTDIR)$(PREFIX)/bin/argtrace" \
			"$(DESTDIR)$(PREFIX)/share/man/man1/argtrace.1" && \
		$(DEPMOD) "$$release"

clean: ## remove what was built (fetched kernels stay in the cache)
	rm -rf build

# Fetched once; a newer package is taken with scripts/kernel --fresh, and then the module is built anew.
$(CACHED_KERNEL):
	@scripts/kernel $(KERNEL) >/dev/null

# $(call link_sources,FILES,TREE): into the tree, at their places. Links to files that are gone go.
define link_sources
	@mkdir -p $(2)
	@find $(2) -xtype l -delete
	@for file in $(1); do mkdir -p "$(2)/$$(dirname $$file)" && ln -sfn "$(CURDIR)/$$file" "$(2)/$$file"; done
endef

$(KOUT)/argtrace.ko: $(KMOD_SOURCES) $(CACHED_KERNEL) Makefile
	$(call link_sources,$(KMOD_SOURCES),$(TREE))
	@$(KERNEL_PARTS) && $(MAKE) --no-print-directory -C "$$KDIR" M=$(CURDIR)/$(TREE)/kmod KCFLAGS=-Werror modules
	@cp $(TREE)/kmod/argtrace.ko $@

# With BTF whatever the kernel, since its functions are traced. Where Kbuild has no vmlinux for that, pahole adds it here.
# pahole would look for llvm-objcopy.
$(KOUT)/argtrace_test.ko: $(TEST_MODULE_SOURCES) $(CACHED_KERNEL) Makefile
	$(call link_sources,$(TEST_MODULE_SOURCES),$(TREE))
	@$(KERNEL_PARTS) && $(MAKE) --no-print-directory -C "$$KDIR" M=$(CURDIR)/$(TREE)/tests/vm/modules KCFLAGS=-Werror modules && \
		cp $(TREE)/tests/vm/modules/argtrace_test.ko $@.new && \
		if ! readelf -SW $@.new | grep -q '\.BTF '; then LLVM_OBJCOPY=objcopy pahole -J --btf_base "$$BTF" $@.new; fi && \
		cp $(TREE)/tests/vm/modules/argtrace_load.ko $(TREE)/tests/vm/modules/argtrace_other_version.ko $(KOUT) && mv $@.new $@

# In a tree of its own, since the module's objects are made anew there, for another module.
$(KOUT)/argtrace_kunit.ko: $(KMOD_SOURCES) $(KUNIT_SOURCES) $(CACHED_KERNEL) Makefile
	$(call link_sources,$(KMOD_SOURCES) $(KUNIT_SOURCES),$(KOUT)/kunit)
	@$(KERNEL_PARTS) && $(MAKE) --no-print-directory -C "$$KDIR" M=$(CURDIR)/$(KOUT)/kunit/tests/kunit KCFLAGS=-Werror modules
	@cp $(KOUT)/kunit/tests/kunit/argtrace_kunit.ko $@

# Never installed, never loaded outside tests/proof/run.
$(KOUT)/broken-%/argtrace.ko: $(KMOD_SOURCES) $(PROOF_SOURCES) $(CACHED_KERNEL) Makefile
	$(call link_sources,$(KMOD_SOURCES) $(PROOF_SOURCES),$(KOUT)/broken-$*/tree)
	@$(KERNEL_PARTS) && $(MAKE) --no-print-directory -C "$$KDIR" M=$(CURDIR)/$(KOUT)/broken-$*/tree/tests/proof \
		ARGTRACE_BREAK=$* KCFLAGS=-Werror modules
	@cp $(KOUT)/broken-$*/tree/tests/proof/argtrace.ko $@

build/user/CMakeCache.txt:
	@cmake -S . -B build/user -DCMAKE_BUILD_TYPE=RelWithDebInfo

# CMake may find that nothing is to be linked again; the date is what tells make.
build/bin/argtrace: $(TOOL_SOURCES) | build/user/CMakeCache.txt
	@env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build build/user -j $(JOBS) --target argtrace
	@touch $@

build/man/%: docs/%.scd
	@mkdir -p $(@D)
	@scdoc <$< >$@

.PHONY: all help module tool man test-modules kunit kunit-module broken-modules stress demo check install uninstall clean
