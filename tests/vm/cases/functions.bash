# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the commands of the cases may call.

# Recordings, for cases that need no kernel. Exported: the shell that script(1) starts does not read this file.
export data=${BASH_SOURCE[0]%/*}/../../data

# calls FILE COUNT: has argtrace_test call its functions; FILE is burst, run or storm (tests/vm/modules/argtrace_test.c).
calls() { echo "$2" >"/sys/kernel/debug/argtrace_test/$1"; }

# is_armed FUNCTION: whether ftrace calls somebody for it.
is_armed() { grep -q "^$1 " /sys/kernel/tracing/enabled_functions; }

# function_of NAME: of that system call, in this machine's kernel.
function_of() { [[ $(uname -m) == aarch64 ]] && echo "__arm64_sys_$1" || echo "__x64_sys_$1"; }

# forks: the system calls beside clone() that make processes. arm64 has none.
forks() { [[ $(uname -m) == aarch64 ]] || echo s:fork s:vfork; }

# until_true COMMAND...: waits until it is true, for a minute or two: a machine may have others to serve.
until_true() {
	local _
	for _ in {1..1200}; do
		if "$@"; then
			return
		fi
		sleep 0.05
	done
	echo "never came true: $*" >&2
	return 1
}

# manual: the source of argtrace(1).
manual() { cat "${BASH_ENV%/*}/../../../docs/argtrace.1.scd"; }

# commands: those that --help lists, one a line.
commands() { argtrace --help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p'; }

# is_read_by NAME: whether a process of that name reads what is written here, to a pipe. Until the shell has become that command, the
# reader is called bash, and for a moment it is the shell that makes the pipeline.
is_read_by() {
	local reader comm
	for reader in /proc/[0-9]*/fd/0; do
		if [[ $reader -ef /proc/self/fd/1 ]] && read -r comm <"${reader%/fd/0}/comm" && [[ $comm == "$1" ]]; then
			return
		fi
	done 2>/dev/null
	return 1
}

# The file of this tree, or of a guest where tests/vm/run has put it beside this one.
completion_of_bash() {
	local here=${BASH_ENV%/*}
	for file in "$here/argtrace.bash" "$here/../../../packaging/completion/argtrace.bash"; do
		[[ ! -e $file ]] || { echo "$file" && return; }
	done
}

# offers WORD...: what bash offers for the last word of that command line, one a line.
offers() {
	local COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT COMPREPLY=()
	COMP_POINT=${#COMP_LINE}
	# shellcheck source=packaging/completion/argtrace.bash
	. "$(completion_of_bash)"
	_argtrace
	((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
}

# zsh_offers WORD...: the same of zsh, with what its completion system would do made up here. Files are "files".
zsh_offers() {
	# shellcheck disable=SC2016 # zsh expands it
	zsh -fc '
		_describe() { local name=$@[-1]; print -rl -- ${${(P)name}%%:*}; }
		compadd() { [[ $1 == -a ]] && print -rl -- ${(P)2} || print -rl -- $@; }
		_values() { shift 3; print -rl -- $@; }
		_files() { print files; }
		_normal() { print -- $words[CURRENT]; }
		_message() { : }
		_call_program() { shift; eval "$@"; }
		compset() { PREFIX=${PREFIX#*=}; }
		file=$1
		shift
		words=("$@") CURRENT=$# PREFIX=$words[-1]
		source $file' zsh "${BASH_ENV%/*}/../../../packaging/completion/_argtrace" "$@"
}
