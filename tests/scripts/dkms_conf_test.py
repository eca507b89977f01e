# SPDX-License-Identifier: GPL-2.0-only
"""For which kernels DKMS builds the module: it sources dkms.conf with `arch` and `kernelver` set, and compares."""

import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]


def sourced(arch, kernel):
    """Its patterns for architectures and kernels, and the options that the kernel must have."""
    script = 'set -e; arch=$1 kernelver=$2; source "$3"; printf "%s\\n" "$BUILD_EXCLUSIVE_ARCH" "$BUILD_EXCLUSIVE_KERNEL" "$BUILD_EXCLUSIVE_CONFIG"'
    said = subprocess.run(["bash", "-c", script, "bash", arch, kernel, TOP / "dkms.conf"], capture_output=True, text=True, check=True)
    return said.stdout.splitlines()


class DkmsConf(unittest.TestCase):
    def builds(self, arch, kernel):
        arch_pattern, kernel_pattern, _ = sourced(arch, kernel)
        return bool(re.search(arch_pattern, arch) and re.search(kernel_pattern, kernel))

    def test_which_kernels(self):
        for arch in ("x86_64", "aarch64"):
            for kernel in ("6.1.0-56-cloud", "6.12.117+deb12", "7.3.4", "10.0.1"):
                self.assertTrue(self.builds(arch, kernel), (arch, kernel))
            for kernel in ("5.10.0-1", "6.0.12", "4.19.0"):
                self.assertFalse(self.builds(arch, kernel), (arch, kernel))
        for arch in ("i686", "armv7l", "riscv64", "ppc64le", "x86_64_v3"):
            self.assertFalse(self.builds(arch, "6.12.1"), arch)

    def test_which_options(self):
        self.assertEqual(sourced("aarch64", "6.1.0-56-arm64")[2], "CONFIG_DYNAMIC_FTRACE_WITH_REGS CONFIG_DEBUG_INFO_BTF")
        for arch, kernel in (("aarch64", "6.12.1"), ("aarch64", "6.10.3"), ("x86_64", "6.1.0-56-amd64")):
            self.assertEqual(sourced(arch, kernel)[2], "CONFIG_DYNAMIC_FTRACE_WITH_ARGS CONFIG_DEBUG_INFO_BTF")


if __name__ == "__main__":
    unittest.main()
