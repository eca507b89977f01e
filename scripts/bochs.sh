# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154 # the variables of scripts/vm
#
# Guests in Bochs, which emulates a processor that tracks indirect branches (IBT); QEMU has none. Sourced by scripts/vm.
#
# Bochs boots from a CD, and has serial lines in place of virtio: the console is the first, and the others carry what the ports of
# run.c do. It ends when its processor faults while it handles a fault for the third time, which is how the kernel resets a machine
# that is told so.

need_bochs() {
	need bochs-bin bochs
	need xorriso xorriso
	[[ -f /usr/lib/ISOLINUX/isolinux.bin ]] || die "isolinux is not installed: apt-get install isolinux, or scripts/bootstrap branches"
	[[ -f /usr/lib/syslinux/modules/bios/ldlinux.c32 ]] || die "syslinux-common is not installed: apt-get install syslinux-common"
}

# make_cd PARAMETERS: with the kernel and the initramfs, as $run/cd.iso.
make_cd() {
	local cd=$run/cd
	mkdir -p "$cd/isolinux"
	cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$cd/isolinux"
	cp "$VMLINUZ" "$cd/vmlinuz"
	ln "$run/initrd" "$cd/initrd"
	printf '%s\n' 'DEFAULT linux' 'LABEL linux' 'KERNEL /vmlinuz' "APPEND initrd=/initrd $1" >"$cd/isolinux/isolinux.cfg"
	xorriso -as mkisofs -quiet -o "$run/cd.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot \
		-boot-load-size 4 -boot-info-table "$cd" >"$run/cd.log" 2>&1 || { cat "$run/cd.log" >&2; die "xorriso made no CD"; }
	rm -r "$cd"
}

# Sets what run_qemu runs. Bochs's time stamp counter counts instructions, and what the processor says of its rate would make each second
# that the guest waits one of 2.7 thousand million steps. What it says of XSAVE, the kernel does not believe, and warns.
bochs_options() {
	local mib=${mem%[MG]} stream
	[[ $mem != *G ]] || mib=$((mib * 1024))
	make_cd "$(kernel_parameters) console=ttyS0,115200 panic=-1 reboot=triple tsc=reliable tsc_early_khz=400000 noxsave"
	cat >"$run/bochsrc" <<END
config_interface: textconfig
display_library: term
plugin_ctrl: unmapped=1, biosdev=1, speaker=0, extfpuirq=1, parallel=0, serial=1, gameport=0
cpu: model=tigerlake, count=1, ips=50000000, reset_on_triple_fault=0
memory: guest=$mib, host=$mib
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path=$run/cd.iso, status=inserted
boot: cdrom
log: $run/qemu.log
panic: action=fatal
error: action=ignore
info: action=ignore
clock: sync=none
END
	local -i line=1
	for stream in console out err status; do
		echo "com$line: enabled=1, mode=file, dev=$run/$stream" >>"$run/bochsrc"
		line+=1
	done
	echo continue >"$run/debugger"
	options=()
	# Its screen is a terminal, which nobody looks at.
	# shellcheck disable=SC2016 # that shell expands it
	qemu_command=(bash -c 'TERM=linux exec bochs-bin -q -f "$0/bochsrc" -rc "$0/debugger" >/dev/null' "$run")
}

# Warnings of the kernel that come with this machine: Bochs's processor has threads, and does not say of which core. And Linux 6.12
# warns when it makes the thunks of its first module, on every processor for which it makes them aligned.
known_warnings='topology_common\.c:[0-9]+ (at )?parse_legacy|set_memory\.c:[0-9]+ (at )?__change_page_attr_set_clr'

# Takes them out of what conclude judges.
pass_over_bochs() {
	awk -v known="$known_warnings" '
		/-\[ cut here \]-/ { block = "" ; within = 1 }
		!within { print; next }
		{ block = block $0 "\n" }
		/-\[ end trace / { if (block !~ known) printf "%s", block; within = 0 }
		END { if (within) printf "%s", block }' "$run/console.txt" >"$run/console.judged"
	mv "$run/console.judged" "$run/console.txt"
	trouble_taint=$((trouble_taint & ~(1 << 9)))
}
