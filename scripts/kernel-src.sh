# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Kernels that are built here, from Debian's source package and small configurations (scripts/config). Sourced by
# scripts/kernel.
#
# The source is unpacked once for all kernels of a machine, into sources/ of the cache, without most of the drivers. It stays
# there, since building modules needs its headers and its build system; of a kernel's build only what modules need is kept.

# src_for KIND: sets what differs with the machine that the kernel is for.
src_for() {
	local other_machines more_drivers
	case $1 in
	src)
		SRC_ARCH=x86 SRC_CROSS='' SRC_IMAGE=bzImage SRC_NAME='' SRC_TOOLS=(tools/objtool/objtool)
		other_machines=('arch/[!x]*' arch/xtensa) more_drivers=(drivers/clk)
		;;
	src-arm64)
		SRC_ARCH=arm64 SRC_CROSS=aarch64-linux-gnu- SRC_IMAGE=Image SRC_NAME=-arm64 SRC_TOOLS=()
		other_machines=('arch/[!a]*' arch/{alpha,arc,arm,arm64/boot/dts}) more_drivers=()
		;;
	esac
	# Debian compiled Linux 6.12 for Debian 12 with this compiler; the modules need the same.
	SRC_HOSTCC=gcc-12
	SRC_CC=$SRC_CROSS$SRC_HOSTCC
	# Never compiled here, so only Kconfig files and Makefiles are kept; no other folder includes its headers.
	SRC_UNUSED=(Documentation "${other_machines[@]}" sound tools/perf tools/testing fs/btrfs fs/xfs drivers/accel "${more_drivers[@]}"
		drivers/{crypto,gpu,hwmon,iio,infiniband,input,md,media,mtd,pinctrl,platform,scsi,staging,usb}
		'drivers/net/*') # except loopback.c and other files of drivers/net itself
}

# A folder to remove at the end, if any.
src_tmp=

# src_fragments NAME,NAME: their files.
src_fragments() {
	local name
	for name in ${1//,/ }; do
		[[ -f $TOP/scripts/config/$name.config ]] || die "$label: there is no scripts/config/$name.config"
		echo "$TOP/scripts/config/$name.config"
	done
}

# The lines of the fragments that say something: CONFIG_X=..., or "# CONFIG_X is not set". Of two about one option the last
# holds, so that a fragment can take back what an earlier one says.
src_wishes() {
	local files
	mapfile -t files < <(src_fragments "$1")
	sed -E -n '/^(CONFIG_[A-Z0-9_]+=|# CONFIG_[A-Z0-9_]+ is not set)/p' "${files[@]}" | tac |
		awk '{ name = $0; sub(/^# /, "", name); sub(/[= ].*/, "", name) } !seen[name]++' | tac
}

# Distinguishes sources of one version that lack different parts.
src_unused_key() { printf '%s\n' "${SRC_UNUSED[@]}" | sha256sum | cut -c 1-8; }

# src_version PACKAGE: the version that apt would fetch; nothing if it knows none.
src_version() { apt_cache show --no-all-versions "$1" 2>/dev/null | sed -n '1,/^$/s/^Version: //p'; }

# src_key PACKAGE FRAGMENTS: what a kernel of this row would be made from. Without apt's lists the version of the last build
# still holds.
src_key() {
	local version
	version=$(src_version "$1")
	[[ $version ]] || version=$(cut -d ' ' -f 1 "$CACHE/kernels/$label/built-from" 2>/dev/null || true)
	printf '%s %s %s\n' "$version" "$("$SRC_CC" -dumpfullversion 2>/dev/null || true)" \
		"$({ src_wishes "$2"; src_unused_key; } | sha256sum | cut -c 1-16)"
}

# src_is_current SUITE PACKAGE FRAGMENTS: whether the cached kernel is the one that would be built.
src_is_current() {
	[[ $(cat "$CACHE/kernels/$label/built-from" 2>/dev/null) == "$(src_key "$2" "$3")" ]]
}

# src_unpack PACKAGE VERSION: sets source to its folder, and fetches it if necessary.
src_unpack() {
	local package=$1 version=$2 part tmp excludes=() old
	source=$CACHE/sources/${package}${SRC_NAME}_${version//[^A-Za-z0-9.+~-]/_}_$(src_unused_key)
	mkdir -p "$CACHE/sources"
	exec {source_lock}>"$CACHE/sources/.lock"
	flock "$source_lock"
	if [[ ! -d $source ]]; then
		say "$label: fetching $package $version"
		tmp=$(mktemp -d "$CACHE/sources/.new.XXXXXX")
		src_tmp=$tmp
		(cd "$tmp" && apt_get download "$package=$version") >"$tmp/apt.log" 2>&1 || {
			cat "$tmp/apt.log" >&2
			die "$label: apt-get could not download $package"
		}
		for part in "${SRC_UNUSED[@]}"; do
			excludes+=(--exclude="$package/$part/*."{c,h,S,rst,txt,yaml,svg,json,dts,dtsi})
		done
		mkdir "$tmp/source"
		dpkg-deb --fsys-tarfile "$tmp"/*.deb | tar -xO "./usr/src/$package.tar.xz" | xz -dc |
			tar -x -C "$tmp/source" --strip-components=1 "${excludes[@]}"
		# Those of other versions have had their day; a kernel that still refers to one is rebuilt before it is used.
		for old in "$CACHE/sources/$package${SRC_NAME}"_*; do
			rm -rf "$old"
		done
		mv "$tmp/source" "$source"
		rm -rf "$tmp"
		src_tmp=
	fi
	exec {source_lock}>&-
}

# src_make TARGET...: in $out, its output to $log. Where variables are at each instruction, which takes a tenth of the
# time to find out, only debuggers would ask.
src_make() {
	make -s -C "$source" O="$out" ARCH="$SRC_ARCH" CROSS_COMPILE="$SRC_CROSS" CC="$SRC_CC" HOSTCC="$SRC_HOSTCC" \
		KCFLAGS=-fno-var-tracking -j "${JOBS:-$(nproc)}" "$@" </dev/null >>"$log" 2>&1
}

# The kernel drops what it is not ready to grant without a word: say which wish it was.
src_check_config() {
	local wish name missing=()
	while read -r wish; do
		name=${wish#\# }
		name=${name%%[= ]*}
		if [[ $wish == '#'* ]]; then
			! grep -q "^$name=" "$out/.config" || missing+=("$name is set")
		else
			grep -qxF -- "$wish" "$out/.config" || missing+=("$wish is missing")
		fi
	done < <(src_wishes "$1")
	((${#missing[@]} == 0)) ||
		die "$label: the kernel's configuration is not what scripts/config wants: $(printf '%s; ' "${missing[@]}" | sed 's/; $//')"
}

# src_keep OUT: drops all that neither booting nor building modules needs.
src_keep() {
	local keep=(Makefile .config Module.symvers include "arch/$SRC_ARCH/include" scripts "${SRC_TOOLS[@]}"
		tools/bpf/resolve_btfids/resolve_btfids)
	mkdir "$1.kept"
	(cd "$1" && tar -c --exclude='*.o' --exclude='.*.cmd' "${keep[@]}") | tar -x -C "$1.kept"
	# Debug information is of no use without the sources; the modules' BTF builds on this.
	"${SRC_CROSS}objcopy" --only-section=.BTF "$1/vmlinux" "$1.kept/vmlinux" 2>>"$log"
	rm -rf "$1"
	mv "$1.kept" "$1"
	# Debian's Makefile reads it.
	# shellcheck disable=SC2016 # make expands it
	echo 'CC = $(if $(DEBIAN_KERNEL_USE_CCACHE),ccache) $(CROSS_COMPILE)'"$SRC_HOSTCC" >"$1/.kernelvariables"
	# shellcheck disable=SC2016 # make expands it
	printf 'include $(dir $(lastword $(MAKEFILE_LIST)))../../../sources/%s/Makefile\n' "${source##*/}" >"$1/Makefile"
}

# fetch_src SUITE PACKAGE FRAGMENTS DIR: fills DIR.
fetch_src() {
	local suite=$1 package=$2 fragments=$3 dir=$4 out=$4/build log=$CACHE/kernels/.$label.log version source
	need dpkg-deb dpkg
	src_fragments "$fragments" >/dev/null
	need "$SRC_HOSTCC" "$SRC_HOSTCC"
	[[ ! $SRC_CROSS ]] || need "$SRC_CC" g++-aarch64-linux-gnu
	need flex flex
	need bison bison
	need bc bc
	need pahole dwarves
	if [[ $fresh || ! $(src_version "$package") ]]; then
		apt_refresh
	fi
	version=$(src_version "$package")
	[[ $version ]] || die "$label: apt knows no $package; is $suite, with its updates, among its sources?"
	src_key "$package" "$fragments" >"$dir/built-from"
	src_unpack "$package" "$version"

	say "$label: building Linux from $package $version; this takes some minutes"
	: >"$log"
	mkdir "$out"
	{
		src_make tinyconfig && src_wishes "$fragments" >>"$out/.config" && src_make olddefconfig
	} || src_failed
	src_check_config "$fragments"
	src_make "$SRC_IMAGE" modules || src_failed
	release=$(cat "$out/include/config/kernel.release")
	mkdir -p "$dir/boot" "$dir/lib/modules/$release"
	cp "$out/arch/$SRC_ARCH/boot/$SRC_IMAGE" "$dir/boot/vmlinuz-$release"
	cp "$out/.config" "$dir/boot/config-$release"
	cp "$out"/modules.{order,builtin,builtin.modinfo} "$dir/lib/modules/$release"
	need depmod kmod
	depmod -b "$dir" "$release"
	src_keep "$out" || src_failed
	rm -f "$log"
	write_env "$dir" "boot/vmlinuz-$release" build "lib/modules/$release" "boot/config-$release" build/vmlinux
}

src_failed() {
	say "the end of what make said:"
	grep -v "override: reassigning" "$log" | tail -n 25 | sed 's/^/  /' >&2
	die "$label: the kernel could not be built; all that make said is in $log"
}
