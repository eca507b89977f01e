# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2154 # SPECs and scripts; variables of common.sh
#
# What conditions and values behind pointers cost, beside others. Sourced by tables.sh. BPF's program with the path is
# called by vfs_read, not at its entry.

# cell FIGURE: above untraced; a dash where there is none.
cell() { [ "$1" ] && calc '%.0f' "$1-$untraced" || printf -; }

own_cell() { # OPTION...
	argtrace add --buffer 16M "$@" >/dev/null 2>/tmp/errors || { printf -; return; }
	cell "$(loop)"
	argtrace clear
}

bpf_cell() { # PROGRAM
	[ "$1" ] || { printf -; return; }
	cell "$(/root/bpf_peer "$1" /root/pread_loop 2>/dev/null | cut -d' ' -f1)"
}

bpftrace_cell() { # SCRIPT
	[ "$1" ] && [ -x /root/bpftrace ] || { printf -; return; }
	cell "$(/root/bpftrace -B full -o /tmp/shown -e "$1" -c /root/pread_loop 2>/dev/null | cut -d' ' -f1)"
}

# An fprobe event, whose filter is ftrace's.
event_cell() { # DEFINITION [FILTER]
	[ "$1" ] && has_event "$1" || { printf -; return; }
	begin
	[ -z "${2-}" ] || echo "$2" >$tracing/events/fprobes/bench/filter || { event_off; printf -; return; }
	event_on
	echo 1 >$tracing/tracing_on
	cell "$(loop)"
	echo 0 >$tracing/tracing_on
	event_off
}

# line NAME ARGTRACE BPF BPFTRACE EVENT FILTER
line() {
	printf '| %s | %s | %s | %s | %s |\n' "$1" "$(own_cell "${own[@]}")" "$(bpf_cell "$2")" "$(bpftrace_cell "$3")" \
		"$(event_cell "${4-}" "${5-}")"
}

# within FILE COMMAND...: of another device of the kind of /dev/null, which is untraced as dear as that.
within() {
	[ ! "${1%/*}" ] || mkdir -p "${1%/*}"
	mknod "$1" c 1 3
	PREAD_LOOP_FILE=$1 "${@:2}"
	rm "$1"
}

table_values() {
	local own none='0xfffffffffff' name
	echo '| vfs_read, with conditions and values | argtrace | BPF fentry | bpftrace | fprobe event, filter |'
	echo '|---|--:|--:|--:|--:|'
	own=("vfs_read if count == $none")
	line 'rejected by an argument' reject "kfunc:vfs_read /args->count == $none/ { @ = count(); }" "$fprobe_args" "count == $none"
	own=("vfs_read if file->f_inode->i_ino == $none")
	line 'by `file->f_inode->i_ino`' reject_inode "kfunc:vfs_read /args->file->f_inode->i_ino == $none/ { @ = count(); }" \
		'f:fprobes/bench vfs_read ino=file->f_inode->i_ino' "ino == $none"
	own=('vfs_read if comm == "no_such_task"')
	line 'by `comm`' reject_comm 'kfunc:vfs_read /comm == "no_such_task"/ { @ = count(); }' "$fprobe_args" 'COMM == "no_such_task"'
	own=('vfs_read if file->f_inode->i_sb->s_id == "sda1"')
	line 'by `file->f_inode->i_sb->s_id`' reject_device \
		'kfunc:vfs_read /args->file->f_inode->i_sb->s_id == "sda1"/ { @ = count(); }' \
		'f:fprobes/bench vfs_read id=file->f_inode->i_sb->s_id:string' 'id == "sda1"'
	own=("vfs_read if count == 1 && file->f_inode->i_mode & S_IFCHR && file->f_inode->i_ino == $none")
	line 'by the third of three terms' reject_three "kfunc:vfs_read /args->count == 1 && args->file->f_inode->i_mode & 0x2000 &&
		args->file->f_inode->i_ino == $none/ { @ = count(); }" \
		'f:fprobes/bench vfs_read count mode=file->f_inode->i_mode ino=file->f_inode->i_ino' \
		"count == 1 && mode & 0x2000 && ino == $none"
	own=("vfs_read if cgroup == $none")
	line 'by cgroup' reject_cgroup "kfunc:vfs_read /cgroup == $none/ { @ = count(); }"
	own=('vfs_read if uid == 12345')
	line 'by uid' reject_user 'kfunc:vfs_read /uid == 12345/ { @ = count(); }'
	own=(--sample 1000 vfs_read)
	line 'one call in 1000 is recorded' sample ''
	own=(--max-rate 1 vfs_read)
	line 'capped at one record a second' '' ''
	own=(vfs_read)
	line 'recorded, four arguments' record '' "$fprobe_args"
	own=('vfs_read if count == 1')
	line 'and a condition that holds' '' ''
	own=('vfs_read(file, buf, count, pos, file->f_inode->i_ino)')
	line 'recorded, and the inode' record_inode '' "$fprobe_args ino=file->f_inode->i_ino"
	own=('vfs_read(file, buf, count, pos, str(file->f_path.dentry->d_name.name))')
	name='f:fprobes/bench vfs_read $arg* name=file->f_path.dentry->d_name.name:string'
	within "$files/eight_ch" line 'and the name, of 8 characters' record_name '' "$name"
	within "$files/thirty_characters_are_in_names" line 'and the name, of 30 characters' record_name '' "$name"
	own=('vfs_read(file, buf, count, pos, path(file))')
	within /depth line 'and the path, of depth 1' record_path ''
	within /three/more/folders/depth line 'of depth 4' record_path ''
	within /seven/more/folders/make/a/path/of/depth line 'of depth 8' record_path ''
	within "$files/depth" line 'of depth 1, below two mounts' record_path ''
	own=(--stack vfs_read)
	line 'recorded, and the stack, of three callers' record_stack ''
}
