# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # its variables are used by those who source it
#
# Shared by the scripts in bash. Sourced, never run; the caller has set -euo pipefail.

TOP=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/argtrace
KERNELS_LIST=${ARGTRACE_KERNELS_LIST:-$TOP/scripts/kernels.list}
ME=${0##*/}
# depmod and others are there, which users may not have on their PATH.
PATH=$PATH:/usr/sbin:/sbin

# Messages on stderr. say goes on, die exits with status 1, usage_error with status 2.
say() { printf '%s: %s\n' "$ME" "$*" >&2; }
die() { say "$*"; exit 1; }
usage_error() { say "$*"; exit 2; }

# without_comments [FILE]: the lines without comments, and without empty ones.
without_comments() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@"; }

kernel_rows() { without_comments "$KERNELS_LIST"; }

kernel_labels() { kernel_rows | awk '{ print $1 }'; }

# The labels in one line, for messages.
kernel_labels_line() { kernel_labels | paste -sd ' ' | sed 's/ /, /g'; }

kernel_default() { kernel_labels | sed -n 1p; }

# kernel_labels_checked [all]: the labels which `make check` covers, or `make check-all`.
kernel_labels_checked() { kernel_rows | awk -v all="${1-}" '$6 == "yes" || all && $6 == "all" { print $1 }'; }

# kernel_row LABEL: its row, or status 1.
kernel_row() { kernel_rows | awk -v label="$1" '$1 == label { print; found = 1 } END { exit !found }'; }

# kernel_machine LABEL: what uname -m says in it.
kernel_machine() { kernel_row "$1" | awk '{ print $2 ~ /-arm64$/ ? "aarch64" : "x86_64" }'; }

require_kernel_label() {
	kernel_row "$1" >/dev/null || usage_error "no kernel is called '$1'; there are: $(kernel_labels_line)"
}

# need PROGRAM PACKAGE: dies if the program is missing, and names the package to install.
need() {
	command -v "$1" >/dev/null || die "$1 is not installed: apt-get install $2, or scripts/bootstrap for everything"
}

# Has CMake configure builds that compile C++ through ccache, with hits from other clones: debuggers may then find the paths of
# another clone. Kbuild uses ccache as well while we run, if the headers are Debian's; before Linux 6.13 there are hits from
# the same path only, as Kbuild passes the path to the compiler.
compile_through_ccache() {
	local ccache=("CCACHE_DIR=$CACHE/ccache" CCACHE_MAXSIZE=2G "CCACHE_BASEDIR=$TOP" CCACHE_NOHASHDIR=1)
	export "${ccache[@]}" DEBIAN_KERNEL_USE_CCACHE=1
	CMAKE_CXX_COMPILER_LAUNCHER=$(IFS=';' && echo "env;${ccache[*]};ccache")
	export CMAKE_CXX_COMPILER_LAUNCHER
}
