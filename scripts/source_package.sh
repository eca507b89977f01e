# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Debian's source packages, for checks that need programs of others. Sourced after lib.sh.
# shellcheck source=scripts/apt.sh
. "$TOP/scripts/apt.sh"

SOURCE_SUITE=bookworm

# Lists of sources are no part of this machine's apt, and root is not needed.
use_source_lists() {
	local state=$1 mirror
	mirror=$(apt_mirror)
	[[ $mirror ]] || die "apt's sources here have no Debian mirror to take source packages from"
	mkdir -p "$state/lists/partial"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $SOURCE_SUITE main" >"$state/sources.list"
	APT_OPTIONS+=(-o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$state/lists")
}

# fetch_source PACKAGE STATE FOLDER: the package in FOLDER, its original source unpacked in FOLDER/source. STATE keeps apt's lists.
fetch_source() {
	local package=$1 state=$2 folder=$3
	use_source_lists "$state"
	apt_get update >&2
	if ! (cd "$folder" && apt_get source --download-only "$package") >"$folder/log" 2>&1; then
		cat "$folder/log" >&2
		die "the source of $package could not be fetched"
	fi
	mkdir "$folder/source"
	tar -xf "$folder/$package"_*.orig.tar.[gx]z -C "$folder/source" --strip-components=1
}
