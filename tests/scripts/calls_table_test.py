# SPDX-License-Identifier: GPL-2.0-only
"""The constants of user/spec/calls.table have the values that the C library's and the kernel's headers give them."""

import platform
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "user/spec/calls.table"

# What may be included together. Headers that are not there are left out, as are constants that none of them has.
GROUPS = {
    "the C library": """fcntl.h sys/mman.h sys/socket.h netinet/in.h netinet/tcp.h arpa/inet.h poll.h sys/epoll.h signal.h sys/wait.h
        sys/resource.h sched.h sys/ptrace.h sys/prctl.h sys/inotify.h sys/eventfd.h sys/timerfd.h sys/signalfd.h unistd.h sys/ipc.h
        sys/sem.h sys/msg.h sys/shm.h sys/mount.h time.h sys/xattr.h sys/ioctl.h termios.h sys/personality.h sys/reboot.h sys/timex.h
        sys/quota.h sys/fanotify.h sys/stat.h linux/futex.h linux/kd.h linux/vt.h net/if.h""",
    "files": """asm/fcntl.h linux/fcntl.h linux/stat.h linux/fs.h linux/fscrypt.h linux/fsverity.h linux/fiemap.h linux/falloc.h
        linux/xattr.h linux/openat2.h linux/close_range.h linux/mount.h linux/memfd.h linux/eventpoll.h linux/inotify.h
        linux/fanotify.h linux/userfaultfd.h linux/quota.h linux/dqblk_xfs.h linux/loop.h linux/btrfs.h linux/nbd.h linux/blkpg.h linux/blkzoned.h
        linux/blktrace_api.h linux/dm-ioctl.h linux/auto_fs.h linux/fuse.h linux/msdos_fs.h linux/nsfs.h linux/dma-buf.h
        linux/dma-heap.h linux/udmabuf.h linux/sync_file.h linux/pidfd.h""",
    "processes": """linux/sched.h linux/wait.h linux/resource.h asm/resource.h linux/ioprio.h linux/prctl.h linux/seccomp.h
        linux/securebits.h linux/capability.h asm/prctl.h asm/ptrace-abi.h linux/ptrace.h linux/elf.h linux/kcmp.h linux/futex.h
        linux/personality.h linux/reboot.h linux/kexec.h linux/module.h linux/random.h linux/rseq.h asm/signal.h linux/time.h
        linux/mman.h asm/mman.h linux/mempolicy.h linux/membarrier.h linux/landlock.h linux/lsm.h linux/bpf.h linux/io_uring.h
        linux/perf_event.h linux/keyctl.h linux/ipc.h linux/sem.h linux/msg.h linux/shm.h""",
    "network": """linux/types.h asm/socket.h linux/in.h linux/in6.h linux/netlink.h linux/if_ether.h linux/tcp.h linux/udp.h
        linux/if_packet.h linux/tls.h linux/if_xdp.h linux/icmpv6.h linux/vm_sockets.h linux/if_alg.h linux/net.h linux/sockios.h
        linux/if_tun.h linux/ppp-ioctl.h linux/vhost.h linux/if_link.h linux/pci_regs.h""",
    "devices": """asm/ioctls.h linux/serial.h linux/input.h linux/uinput.h linux/kvm.h linux/rtc.h linux/watchdog.h linux/fb.h
        linux/cdrom.h linux/hdreg.h linux/nvme_ioctl.h linux/i2c-dev.h linux/hidraw.h linux/gpio.h linux/usbdevice_fs.h
        linux/videodev2.h linux/vfio.h linux/ptp_clock.h linux/spi/spidev.h linux/soundcard.h linux/tee.h linux/kd.h linux/vt.h""",
    "disks": "stddef.h sys/types.h scsi/sg.h scsi/scsi_ioctl.h",
    "arrays": "linux/types.h linux/ioctl.h linux/major.h linux/fs.h linux/raid/md_u.h",
    "sound": "time.h sound/asound.h",
}

# Of which the C library has others than the kernel: it needs none of them, or keeps the first signals for itself.
OTHERS_IN_LIBC = {"O_LARGEFILE", "F_GETLK64", "F_SETLK64", "F_SETLKW64", "SIGRTMIN"}

COMPARED_MIN = 2500


def constants(text, machine="x86_64"):
    """By name, the values that the table gives it on such a machine."""
    found = {}
    for line in text.splitlines():
        if not line.startswith(("flags ", "values ")):
            continue
        only = re.match(r"\w+ \w+ on (\w+)", line)
        if only and only[1] != machine:
            continue
        for word in line.split(":", 1)[1].split():
            name, equals, value = word.rpartition("=")
            if not equals:
                continue
            name = name.rpartition("/")[2]
            number = int(value, 8) if re.fullmatch(r"0[0-7]+", value) else int(value, 0)
            found.setdefault(name, set()).add(number)
    return found


def header_values(headers, names):
    """What the headers say of those of the names that they have."""
    includes = "".join(f"#if __has_include(<{header}>)\n#include <{header}>\n#endif\n" for header in headers.split())
    prologue = "#define _GNU_SOURCE\n#include <linux/ioctl.h>\n" + includes
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "all.c"), Path(folder, "all")
        source.write_text(prologue)
        said = subprocess.run(["gcc", "-E", "-dD", "-P", source], capture_output=True, text=True, check=True).stdout
        words = set(re.findall(r"\w+", said))
        left = [name for name in names if all(word in words for word in re.findall(r"\w*[A-Za-z_]\w*", name))]
        while left:
            lines = [f'\tprintf("%lld %s\\n", (long long)({name}), "{name}");' for name in left]
            head = prologue + "#include <stdio.h>\nint main(void)\n{\n"
            source.write_text(head + "\n".join(lines) + "\n\treturn 0;\n}\n")
            result = subprocess.run(["gcc", "-w", source, "-o", program], capture_output=True, text=True)
            if result.returncode == 0:
                break
            first = head.count("\n") + 1
            wrong = {int(line) - first for line in re.findall(re.escape(str(source)) + r":(\d+):\d+: error", result.stderr)}
            if not wrong & set(range(len(left))):
                raise AssertionError(result.stderr[:2000])
            left = [name for i, name in enumerate(left) if i not in wrong]
        else:
            return {}
        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for value, name in (line.split(" ", 1) for line in said.splitlines())}


class CallsTable(unittest.TestCase):
    def test_the_table_is_read(self):
        self.assertEqual(constants("# A=1\nflags x else hex: 3/A=0 3/B=0x10 7/@y\nvalues y: C=-100 D=010\nflags z: A=1\ns:a(b: x = A)"),
                         {"A": {0, 1}, "B": {16}, "C": {-100}, "D": {8}})

    def test_machines_have_constants_of_their_own(self):
        table = "flags x: A=1\nflags x on x86_64: B=2\nvalues y on aarch64 else hex: B=4"
        self.assertEqual(constants(table), {"A": {1}, "B": {2}})
        self.assertEqual(constants(table, "aarch64"), {"A": {1}, "B": {4}})

    @unittest.skipUnless(shutil.which("aarch64-linux-gnu-gcc"), "no compiler for arm64")
    def test_constants_of_arm64_are_those_of_its_headers(self):
        known = constants(TABLE.read_text(), "aarch64")
        headers = "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <asm/mman.h>\n#include <asm/ptrace.h>\n#include <linux/ptrace.h>\n"
        for line in TABLE.read_text().splitlines():
            if re.match(r"\w+ \w+ on aarch64", line):
                for name in constants(line, "aarch64"):
                    value = "0400000" if name in OTHERS_IN_LIBC else name
                    checks = " || ".join(f"({value}) == {one}" for one in known[name])
                    source = f"{headers}_Static_assert({checks}, \"\");\n"
                    result = subprocess.run(["aarch64-linux-gnu-gcc", "-x", "c", "-fsyntax-only", "-"], input=source, capture_output=True, text=True)
                    self.assertEqual(result.returncode, 0, f"{name}: {result.stderr}")

    @unittest.skipUnless(platform.machine() == "x86_64" and shutil.which("gcc"), "the constants are those of x86-64, and gcc says them")
    def test_constants_are_those_of_the_headers(self):
        known = constants(TABLE.read_text())
        compared = set()
        for title, headers in GROUPS.items():
            for name, value in header_values(headers, known).items():
                if title == "the C library" and name in OTHERS_IN_LIBC:
                    continue
                with self.subTest(title, name=name):
                    compared.add(name)
                    self.assertIn(value & 0xffffffff, {one & 0xffffffff for one in known[name]})
        self.assertGreaterEqual(len(compared), COMPARED_MIN, f"of {len(known)}")


if __name__ == "__main__":
    unittest.main()
