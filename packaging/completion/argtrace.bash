# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of argtrace's command line for bash. Commands and options are what `--help` says, so they are never out of
# date; functions are those that ftrace can trace, and for rm those that are traced.

# _argtrace_help SECTION [COMMAND]: the names in a section of the help.
_argtrace_help() {
	argtrace ${2:+"$2"} --help 2>/dev/null | awk -v section="$1:" '
		/^[^ ]/ { inside = $0 == section; next }
		inside && /^  [^ ]/ {
			names = $1
			if (section == "Options:") gsub(",", "\n", names)
			print names
		}'
}

# _argtrace_functions BEGINNING: `module:` before it as in a SPEC.
_argtrace_functions() {
	local module=
	[[ $1 != *:* ]] || module=${1%%:*}
	awk -v want="${1#*:}" -v module="$module" -v prefix="${module:+$module:}" '
		index($1, want) == 1 && (module == "" || $2 == "[" module "]" || module == "vmlinux" && NF == 1) {
			if (!seen[$1]++) print prefix $1
		}' /sys/kernel/tracing/available_filter_functions 2>/dev/null
}

_argtrace_traced() {
	argtrace status 2>/dev/null | awk -v want="$1" '$1 == "total" { exit } NR > 1 && index($1, want) == 1 { print $1 }'
}

_argtrace() {
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} line=${COMP_LINE:0:COMP_POINT}
	# A colon parts words for bash and is a part of ours: bash replaces what is behind it only.
	[[ $line == *[[:space:]] ]] || current=${line##*[[:space:]]}
	local head=
	[[ $current != *:* ]] || head=${current%"${current##*:}"}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$(_argtrace_help Subcommands) $(_argtrace_help Options)" -- "$current")
		return
	fi
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_argtrace_help Options "$command")" -- "$current")
		return
	fi
	if [[ $current == @* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -P @ -- "${current#@}")
		return
	fi
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	--encoding)
		mapfile -t COMPREPLY < <(compgen -W 'compact named' -- "$current")
		return
		;;
	-p | --pid)
		mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current")
		return
		;;
	--btf | -o | --output | -i | --input)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	esac
	case $command in
	rm) mapfile -t COMPREPLY < <(_argtrace_traced "$current") ;;
	clear | info | status | report) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
	*) mapfile -t COMPREPLY < <(_argtrace_functions "$current") ;;
	esac
	COMPREPLY=("${COMPREPLY[@]#"$head"}")
}

complete -F _argtrace argtrace
