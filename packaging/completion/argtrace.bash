# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of argtrace's command line for bash. Commands, options and the values that an option can have are read from
# `--help`, so that they are never out of date; functions are those that ftrace can trace, for rm those that are traced,
# and for report and export those of the file.

# _argtrace_help SECTION [COMMAND]: the names in a section of the help. An option whose value may be left out has no '='.
_argtrace_help() {
	argtrace ${2:+"$2"} --help 2>/dev/null | awk -v section="$1:" '
		/^[^ ]/ { inside = $0 == section; next }
		inside && /^  [^ ]/ {
			for (i = 1; i <= NF; i++) {
				name = $i
				last = !sub(/,$/, "", name)
				sub(/\[.*/, "", name)
				if (section != "Options:" || name ~ /^-/) print name
				if (last) break
			}
		}'
}

# _argtrace_value OPTION COMMAND: what its help calls its value, such as FILE, tsc|mono or N,...; empty for a flag.
_argtrace_value() {
	argtrace "$2" --help 2>/dev/null | awk -v option="$1" '
		/^[^ ]/ { inside = $0 == "Options:"; next }
		inside && /^  -/ {
			for (i = 1; i <= NF && $i ~ /^-/; i++) {
				name = $i
				last = !sub(/,$/, "", name)
				found = found || name == option
				if (last) break
			}
			if (found) {
				# Two blanks part the value from the description.
				sub(/^  /, "")
				sub(/  .*/, "")
				print (NF > i ? $NF : "")
				exit
			}
		}'
}

# _argtrace_functions BEGINNING: `module:` before it as in a SPEC, or what says that a tracepoint or a system call is meant.
_argtrace_functions() {
	local module=
	case $1 in
	t:* | tracepoint:*)
		awk -v want="${1#*:}" -v prefix="${1%%:*}:" '!/^syscalls:/ && index($1, want) == 1 { print prefix $1 }' \
			/sys/kernel/tracing/available_events 2>/dev/null
		return
		;;
	s:* | syscall:*)
		awk -v want="syscalls:sys_enter_${1#*:}" -v prefix="${1%%:*}:" '
			index($1, want) == 1 { print prefix substr($1, length("syscalls:sys_enter_") + 1) }
			' /sys/kernel/tracing/available_events 2>/dev/null
		return
		;;
	esac
	[[ $1 != *:* ]] || module=${1%%:*}
	awk -v want="${1#*:}" -v module="$module" -v prefix="${module:+$module:}" '
		index($1, want) == 1 && (module == "" || $2 == "[" module "]" || module == "vmlinux" && NF == 1) {
			if (!seen[$1]++) print prefix $1
		}' /sys/kernel/tracing/available_filter_functions 2>/dev/null
}

_argtrace_traced() {
	argtrace status --json 2>/dev/null | sed -nE 's/^\{"func":"([^"]*)".*/\1/p'
}

# _argtrace_recorded FILE: the functions that it has calls of.
_argtrace_recorded() {
	argtrace report --stats --json "$1" 2>/dev/null | sed -nE 's/^\{"func":"([^"~]*).*/\1/p'
}

_argtrace_modules() {
	sed -E 's/:.*//; s,.*/,,; s/\.ko.*//; y/-/_/' "/lib/modules/$(uname -r)/modules.dep" 2>/dev/null
}

# _argtrace_offer WORD...: those that begin with what has been typed.
_argtrace_offer() {
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$*" -- "$current")
}

# Those that begin with what has been typed, of which bash replaces what is behind the last colon.
_argtrace_offer_functions() {
	mapfile -t COMPREPLY < <(_argtrace_functions "$current")
	[[ $current != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
}

_argtrace_files() {
	mapfile -t COMPREPLY < <(compgen -f -- "$current")
	compopt -o filenames 2>/dev/null # no terminal, no completion to set options of
}

# _argtrace_list VALUES: of a list that is parted by commas, the part that is being typed.
_argtrace_list() {
	local before=
	[[ $current != *,* ]] || before=${current%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${current##*,}")
	compopt -o nospace 2>/dev/null
}

# _argtrace_value_of OPTION: completes its value. False when it takes none.
_argtrace_value_of() {
	local value
	value=$(_argtrace_value "$1" "$command")
	case $1/$value in
	*/) return 1 ;;
	--fields/* | -f/*) _argtrace_list 'time comm pid tid cpu flags func args ret duration caller stack all' ;;
	--by/KEY*) _argtrace_list 'func comm pid tid cpu caller stack ustack ufunc uid gid cgroup ret duration' ;;
	--by/*,...) _argtrace_list "$(tr '|' ' ' <<<"${value%,...}")" ;;
	--from/* | --to/SPEC) _argtrace_offer_functions ;;
	--on-load/*)
		_argtrace_files
		_argtrace_offer "$(_argtrace_modules)"
		;;
	*/FILE | */PATH | */*=\]FILE) _argtrace_files ;;
	*/PID*) _argtrace_list "$(cd /proc && echo [0-9]*)" ;;
	*\|*)
		# Small letters are meant as they are, capital ones stand for something.
		_argtrace_offer "$(tr '|' '\n' <<<"$value" | grep -v '[A-Z]')"
		;;
	esac
	return 0
}

# The number of the word `--` before the one that is being typed; nothing if there is none.
_argtrace_dashes() {
	local i
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} != -- ]] || { echo "$i" && return; }
	done
}

# The first word behind the command that is neither an option nor the value of one: the file of report or export.
_argtrace_first_argument() {
	local i
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-i | --input) echo "${COMP_WORDS[i + 1]}" && return ;;
		-*) [[ -z $(_argtrace_value "${COMP_WORDS[i]}" "$command") ]] || ((i++)) ;;
		*) echo "${COMP_WORDS[i]}" && return ;;
		esac
	done
}

_argtrace() {
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} line=${COMP_LINE:0:COMP_POINT} dashes
	# Bash parts words at a colon and at an equals sign, which are parts of ours: it replaces what follows them only.
	[[ $line == *[[:space:]] ]] || current=${line##*[[:space:]]}
	local head=
	[[ $current != *:* ]] || head=${current%"${current##*:}"}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_argtrace_offer "$(_argtrace_help Commands) help $(_argtrace_help Options)"
		return
	fi
	dashes=$(_argtrace_dashes)
	if [[ $dashes ]]; then # what is run while it is recorded is completed as if it were typed alone
		if declare -F _command_offset >/dev/null; then
			_command_offset $((dashes + 1))
		elif ((COMP_CWORD == dashes + 1)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$current")
		else
			_argtrace_files
		fi
		return
	fi
	if [[ $command == help ]]; then
		((COMP_CWORD > 2)) || _argtrace_offer "$(_argtrace_help Commands)"
		return
	fi
	local option=${COMP_WORDS[COMP_CWORD - 1]}
	if [[ $current == --*=* ]]; then
		option=${current%%=*} current=${current#*=}
		_argtrace_value_of "$option"
		return
	fi
	if [[ $current == -?* ]]; then
		_argtrace_offer "$(_argtrace_help Options "$command")"
		return
	fi
	if [[ $option == -* ]] && _argtrace_value_of "$option"; then
		return
	fi
	if [[ $current == @* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -P @ -- "${current#@}")
		return
	fi
	case $command in
	trace | record | count | stacks | hist | sum | min | max | avg | latency | top | list | add) _argtrace_offer_functions && return ;;
	rm) _argtrace_offer "$(_argtrace_traced)" ;;
	report | export)
		local file
		file=$(_argtrace_first_argument)
		if [[ $file ]]; then
			_argtrace_offer "$(_argtrace_recorded "$file")"
		else
			_argtrace_files
		fi
		;;
	esac
	COMPREPLY=("${COMPREPLY[@]#"$head"}")
}

complete -F _argtrace argtrace
