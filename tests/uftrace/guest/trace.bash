# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Records the calls of all functions of the programs and libraries of each folder of /root/tests.tar while its command runs there, and writes an
# archive of the trees to stdout. Each line of /root/tests.list is a folder, and its command.
set -u
mkdir -p /tmp/uftrace/trees
cd /tmp/uftrace || exit 1
tar -xf /root/tests.tar || exit 1
while read -r folder command; do
	specs=()
	for file in "$folder"/*; do
		[[ $file == *.o || $(head -c 4 "$file") != $'\x7fELF' ]] || specs+=("u:$PWD/$file:*")
	done
	read -ra words <<<"$command"
	(
		cd "$folder" || exit
		export LD_LIBRARY_PATH=. # what they open by its name alone
		# Recording ends with the command, and some programs leave a daemon behind.
		timeout 60 argtrace record -r -F -o ../recording "${specs[@]}" -- sh -c '"$@"; sleep 0.5' sh "./${words[0]}" "${words[@]:1}" </dev/null
		argtrace report --tree ../recording >"../trees/$folder.tree"
	) >"trees/$folder.out" 2>"trees/$folder.err"
	rm -f recording
done </root/tests.list
tar -cf - trees
