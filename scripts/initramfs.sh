# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Makes the file trees that guests boot from. Sourced by scripts/vm after lib.sh.
#
# Programs are the host's, or, for a guest with another processor, those of GUEST_ROOT, which scripts/root fetches.
#
# A guest's initramfs is two archives in a row, which the kernel unpacks one over the other: the base, which is the same for
# all runs and kernels and so is cached, and a small one with the files of this run.

GUEST_ROOT=   # where the guest's programs are; empty: they are the host's
GUEST_TOOLS=  # the prefix of the compiler's and of binutils' names

# use_guest_root MACHINE: for a guest that is such a machine.
use_guest_root() {
	[[ $1 != x86_64 ]] || return 0
	need aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
	GUEST_ROOT=$("$TOP/scripts/root" --arm64) || die "no programs for the guest"
	GUEST_ROOT=$(realpath -- "$GUEST_ROOT")
	GUEST_TOOLS=aarch64-linux-gnu-
}

# guest_program NAME: where one of the guest's programs is here; status 1 if nowhere.
guest_program() {
	local dir
	if [[ ! $GUEST_ROOT ]]; then
		type -P -- "$1"
		return
	fi
	for dir in usr/bin usr/sbin; do
		if [[ -x $GUEST_ROOT/$dir/$1 ]]; then
			echo "$GUEST_ROOT/$dir/$1"
			return
		fi
	done
	return 1
}

# The path of a file here in the guest: its directory without symbolic links, and /bin, /lib ... below /usr.
guest_path() {
	local dir
	dir=$(realpath -- "$(dirname -- "$1")")
	[[ ! $GUEST_ROOT ]] || dir=${dir#"$GUEST_ROOT"}
	case $dir/ in
	/bin/* | /sbin/* | /lib/* | /lib64/*) dir=/usr$dir ;;
	esac
	printf '%s/%s\n' "${dir%/}" "$(basename -- "$1")"
}

# The shared libraries and the loaders of ELF programs. ldd fails for files that are not dynamic programs and need none.
libraries() {
	if [[ $GUEST_ROOT ]]; then
		libraries_in_root "$@"
		return
	fi
	{ ldd -- "$@" 2>/dev/null || true; } | sed -nE 's/^[^/]*(\/.*) \(0x[0-9a-f]+\)$/\1/p' | sort -u
}

# The same for programs that cannot run here.
libraries_in_root() {
	local files=("$@") found=() name path
	local -A seen=()
	while ((${#files[@]})); do
		found=()
		while read -r name; do
			[[ ! ${seen[$name]-} ]] || continue
			seen[$name]=1
			path=$GUEST_ROOT/usr/lib/aarch64-linux-gnu/$name
			[[ $name != /* ]] || path=$GUEST_ROOT/usr$name
			[[ ! -e $path ]] || found+=("$path")
		done < <(LC_ALL=C readelf -ld -- "${files[@]}" 2>/dev/null |
			sed -nE 's/.*\(NEEDED\).*\[(.*)\]$/\1/p; s/.*program interpreter: (.*)\]$/\1/p')
		((${#found[@]} == 0)) || printf '%s\n' "${found[@]}"
		files=("${found[@]}")
	done
}

# copy_file SOURCE TREE PATH: contents and mode; links are followed.
copy_file() {
	mkdir -p -- "$2$(dirname -- "$3")"
	cp -L --preserve=mode -- "$1" "$2$3"
}

# copy_program SOURCE TREE PATH: without debug information, which is most of what we build, if it is an ELF file.
copy_program() {
	mkdir -p -- "$2$(dirname -- "$3")"
	"${GUEST_TOOLS}strip" --strip-debug -o "$2$3" -- "$1" 2>/dev/null || copy_file "$@"
}

# copy_libraries TREE BASE_FILES PROGRAM...: the libraries that neither the tree nor the base has.
copy_libraries() {
	local tree=$1 base_files=$2 library path
	shift 2
	for library in $(libraries "$@"); do
		path=$(guest_path "$library")
		if [[ ! -e $tree$path ]] && ! grep -qxF -- "$path" "$base_files"; then
			copy_file "$library" "$tree" "$path"
		fi
	done
}

# pack TREE ARCHIVE
pack() { (cd "$1" && find . -print0 | LC_ALL=C sort -z | cpio --quiet -0 -o -H newc -R 0:0) >"$2"; }

# The programs of tools.list that there are.
base_programs() {
	local name
	sed -e 's/#.*//' "$TOP/scripts/guest/tools.list" | tr -s ' ' '\n' | while read -r name; do
		[[ ! $name ]] || guest_program "$name" || true
	done
}

# Sets BASE to the path of the base archive; BASE.files lists its contents. Its name is a hash of what goes into it: our own
# files, and the host's programs with their times (ld.so.cache changes whenever a library does).
make_base() {
	local programs key tree
	mapfile -t programs < <(base_programs; guest_program busybox)
	key=$({ cat "$TOP/scripts/initramfs.sh" "$TOP"/scripts/guest/*
		stat -L -c '%n %s %Y' "${programs[@]}" /etc/ld.so.cache; } | sha256sum)
	BASE=$CACHE/base/${key:0:16}.cpio
	if [[ -f $BASE ]]; then
		touch "$BASE"
		return
	fi

	mkdir -p "$CACHE/base"
	exec {base_lock}>"$CACHE/base/.lock"
	flock "$base_lock"
	if [[ ! -f $BASE ]]; then
		tree=$(mktemp -d "$CACHE/base/.tree.XXXXXX")
		on_exit "rm -rf '$tree'"
		fill_base "$tree" "${programs[@]}"
		(cd "$tree" && find . -type f -o -type l) | sed 's/^\.//' >"$BASE.files"
		pack "$tree" "$tree.cpio"
		mv "$tree.cpio" "$BASE"
		rm -rf "$tree"
		# A base that no run has used for a month belongs to a host that has changed since.
		find "$CACHE/base" -name '*.cpio*' -mtime +30 -delete
	fi
	exec {base_lock}>&-
}

# fill_base TREE PROGRAM...
fill_base() {
	local tree=$1 program path applet link
	shift
	for path in dev proc sys tmp run root mnt etc vm var/log usr/bin usr/sbin usr/lib usr/lib64 usr/local/bin; do
		mkdir -p "$tree/$path"
	done
	chmod 1777 "$tree/tmp"
	for link in bin sbin lib lib64; do
		ln -s "usr/$link" "$tree/$link"
	done
	ln -s /proc/mounts "$tree/etc/mtab"
	ln -s ../run "$tree/var/run"
	ln -s ../tmp "$tree/var/tmp"
	echo 'root:x:0:0:root:/root:/bin/bash' >"$tree/etc/passwd"
	echo 'root:x:0:' >"$tree/etc/group"
	echo '127.0.0.1 localhost guest' >"$tree/etc/hosts"

	for program in "$@"; do
		copy_file "$program" "$tree" "$(guest_path "$program")"
	done
	need cc build-essential
	"${GUEST_TOOLS:+${GUEST_TOOLS}g}cc" -O2 -Wall -o "$tree/vm/run" "$TOP/scripts/guest/run.c"
	copy_libraries "$tree" /dev/null "$@" "$tree/vm/run"
	for applet in $(busybox --list); do
		[[ -e $tree/usr/bin/$applet || -e $tree/usr/sbin/$applet ]] || ln -s busybox "$tree/usr/bin/$applet"
	done
	install -m 755 "$TOP/scripts/guest/init" "$tree/init"
	install -m 755 "$TOP/scripts/guest/leakcheck" "$tree/vm/leakcheck"
}
