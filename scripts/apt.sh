# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Debian's packages for the scripts: of this machine's own suite, as apt is set up here, and of other suites of the same
# mirror, which this machine need not know. Sourced after lib.sh. Nothing is installed by it and root is not needed.

# With the messages of the C locale, which are parsed, and without the remark that the _apt user cannot write into our
# directory: it is true, harmless, and the same for everybody.
APT_OPTIONS=(-q=1 -o APT::Sandbox::User="$(id -un)")
apt_get() { LC_ALL=C apt-get "${APT_OPTIONS[@]}" "$@"; }
apt_cache() { LC_ALL=C apt-cache "${APT_OPTIONS[@]}" "$@"; }

APT_SUITE= # the other suite or architecture, where apt_use_suite or apt_use_architecture has chosen one

# Refreshes apt's lists: the machine's as root, else (and for other suites) a private copy of them in the cache.
apt_refresh() {
	if [[ ! $APT_SUITE ]] && ((EUID != 0)); then
		local state=$CACHE/apt/own
		mkdir -p "$state/lists/partial" "$state/archives/partial"
		APT_OPTIONS+=(-o Dir::State::lists="$state/lists" -o Dir::Cache="$state")
	fi
	# Its status counts a third-party source that does not answer; what matters is asked next.
	apt_get update >&2 || true
}

# The address which this machine's apt has its own suite from: there the others are as well.
apt_mirror() {
	local suite
	# shellcheck source=/dev/null
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	LC_ALL=C apt-get indextargets --format "\$(CODENAME) \$(RELEASE) \$(COMPONENT) \$(REPO_URI)" 'Created-By: Packages' |
		awk -v suite="$suite" '($1 == suite || $2 == suite || $2 == "stable") && $3 == "main" && !n++ { print $4 }'
}

# apt_use_suite SUITE [ARCH]: from here on apt_get and apt_cache mean this suite and its backports, and nothing of this
# machine's but how it reaches the net; with ARCH the packages for that architecture, NAME:amd64 being one for this machine.
apt_use_suite() {
	local mirror
	mirror=$(apt_mirror)
	[[ $mirror ]] || die "apt's sources here have no Debian mirror to take $1 from"
	apt_use_sources "$1${2:+-$2}" < <(printf "${2:+$2,}amd64 $mirror %s\n" "$1" "$1-backports")
	[[ ! ${2-} ]] || apt_prefer_architecture "$2"
}

# This machine's own suite, its updates and its security updates, as "ADDRESS SUITE".
apt_own_sources() {
	local suite
	# shellcheck source=/dev/null
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	LC_ALL=C apt-get indextargets --format "\$(REPO_URI) \$(RELEASE) \$(CODENAME) \$(COMPONENT)" 'Created-By: Packages' |
		awk -v suite="$suite" '$4 == "main" && ($3 == suite || $3 == suite "-updates" || $3 == suite "-security") && !seen[$1 $3]++ { print $1, $3 }'
}

# apt_use_architecture ARCH: from here on apt_get and apt_cache mean the packages for that architecture of what this machine
# has its own from; NAME:amd64 is one for this machine.
apt_use_architecture() {
	apt_use_sources "$1" < <(apt_own_sources | sed "s/^/$1,amd64 /")
	grep -q . "$CACHE/apt/$1/sources.list" || die "apt's sources here have no Debian mirror to take packages for $1 from"
	apt_prefer_architecture "$1"
}

apt_prefer_architecture() {
	APT_OPTIONS+=(-o APT::Architecture="$1" -o APT::Architectures::="$1" -o APT::Architectures::=amd64)
}

# apt_use_sources NAME: stdin's lines are "ARCHITECTURES ADDRESS SUITE"; the lists are kept under that name.
apt_use_sources() {
	local state=$CACHE/apt/$1 architectures mirror source
	APT_SUITE=$1
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	while read -r architectures mirror source; do
		echo "deb [arch=$architectures signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $source main"
	done >"$state/sources.list.$$"
	mv "$state/sources.list.$$" "$state/sources.list"
	: >>"$state/status" # nothing is installed there
	APT_OPTIONS+=(-o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null
		-o Dir::State="$state" -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status"
		-o Dir::Cache="$state" -o Acquire::Languages=none)
	need gpgv gpgv
	[[ -f /usr/share/keyrings/debian-archive-keyring.gpg ]] ||
		die "the keys of Debian's archive are not installed: apt-get install debian-archive-keyring"
}

package_known() { apt_cache show "$1" 2>/dev/null | grep '^Filename:' >/dev/null; }

# depends PACKAGE PATTERN: the dependencies of PACKAGE which match, one a line.
depends() {
	apt_cache depends --important "$1" 2>/dev/null |
		sed -n 's/^[ |]*Depends: //p' | awk -v re="$2" '$0 ~ re && !seen[$0]++'
}

# newest_package GLOB: of the packages whose names match, the one with the highest version in its name.
newest_package() {
	local name
	apt_cache pkgnames "${1%%\**}" | while read -r name; do
		# shellcheck disable=SC2053 # a glob
		[[ $name != $1 ]] || echo "$name"
	done | sort -V | tail -n 1
}
