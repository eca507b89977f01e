# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The systems that tests/deb/run installs the packages in: Debian of a suite, with DKMS and headers of kernels. Made once and
# kept in the cache; each test gets a copy of its own. Sourced after lib.sh and apt.sh.

# system_sources SUITE: lines for sources.list, taken from this machine's apt configuration.
system_sources() {
	local own
	# shellcheck source=/dev/null
	own=$(. /etc/os-release && echo "$VERSION_CODENAME")
	if [[ $1 == "$own" ]]; then
		LC_ALL=C apt-get indextargets --format "deb \$(REPO_URI) \$(CODENAME) main" 'Created-By: Packages' |
			grep -E " $own(-updates|-security)? " | sort -u
	else
		printf 'deb %s %s main\n' "$(apt_mirror)" "$1" "$(apt_mirror)" "$1-backports"
	fi
}

# in_system DIR COMMAND...: runs a command in the chroot, as root, with a clean environment.
in_system() {
	local dir=$1
	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$dir" "$@"
}

# mount_system DIR: mounts /proc and /dev there. The caller has a mount namespace of its own, with which they go away.
mount_system() {
	mount -t proc proc "$1/proc"
	mount --rbind /dev "$1/dev"
}

# make_system SUITE DIR HEADERS... -- LATER: installs the headers; the packages of LATER are only downloaded.
make_system() {
	local suite=$1 dir=$2 headers=() later
	shift 2
	while [[ $1 != -- ]]; do
		headers+=("$1")
		shift
	done
	later=$2
	debootstrap --variant=minbase --include=ca-certificates "$suite" "$dir" "$(apt_mirror)" >/dev/null
	mount_system "$dir"
	system_sources "$suite" >"$dir/etc/apt/sources.list"
	printf '%s\n' 'APT::Install-Recommends "false";' 'Acquire::Languages "none";' 'APT::Keep-Downloaded-Packages "true";' \
		>"$dir/etc/apt/apt.conf.d/90test"
	cp /etc/resolv.conf "$dir/etc/resolv.conf"
	in_system "$dir" apt-get -q update
	later=$(in_system "$dir" apt-cache pkgnames "${later%%\**}" | grep -E "^${later//\*/.*}\$" | sort -V | tail -n 1)
	# bash-completion runs the completion; the libraries are the tool's.
	in_system "$dir" apt-get -qy install dkms make man-db bash-completion libbpf1 '?name(^libfmt[0-9]+$)' "${headers[@]}"
	in_system "$dir" apt-get -qy install --download-only "$later"
	echo "$later" >"$dir/later"
	umount -l "$dir/proc" "$dir/dev"
}

# add_poor_kernel DIR RELEASE: adds a kernel configured without BTF: another kernel's headers, copied under RELEASE.
add_poor_kernel() {
	local dir=$1 release=$2 like
	like=$(find "$dir"/usr/src -maxdepth 1 -name 'linux-headers-*-cloud-amd64' | sort -V | sed -n 1p)
	cp -r "$like" "$dir/usr/src/linux-headers-$release"
	sed -i 's/^CONFIG_DEBUG_INFO_BTF=y/# CONFIG_DEBUG_INFO_BTF is not set/' "$dir/usr/src/linux-headers-$release/.config" \
		"$dir/usr/src/linux-headers-$release/include/config/auto.conf"
	mkdir -p "$dir/lib/modules/$release"
	ln -s "/usr/src/linux-headers-$release" "$dir/lib/modules/$release/build"
}
