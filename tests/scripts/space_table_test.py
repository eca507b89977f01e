# SPDX-License-Identifier: GPL-2.0-only
"""What scripts/space-table finds in a tree of the kernel's sources."""

import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/space-table"

SOURCES = {
    "fs/read.c": """
ssize_t vfs_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	return 0;
}

static int two_names(void __user *p)
{
	return 0;
}

SYSCALL_DEFINE2(openat, int, dfd, const char __user *, filename)
{
	return 0;
}

int vectors(const char __user *const __user *argv, char *const *envp, char __user **inner)
{
	return 0;
}
""",
    "mm/slub.c": """
static int two_names(void *p)
{
	return 0;
}
/* int commented(char __user *p) { } */
int declared(char __user *p);
""",
    "include/linux/slub.h": """
struct kmem_cache {
	struct kmem_cache_cpu __percpu *cpu_slab;
	const char *name;
};

struct iovec
{
	void __user *iov_base;
	__kernel_size_t iov_len;
};
""",
}


class SpaceTable(unittest.TestCase):
    def test_marks_of_parameters_and_members(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in SOURCES.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            rows = subprocess.run([SCRIPT, folder], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        # The pointer that a function takes decides, not what that points to; of two functions of one name nothing is known.
        self.assertEqual(rows, [
            "user __do_sys_openat: filename",
            "user struct iovec: iov_base",
            "percpu struct kmem_cache: cpu_slab",
            "user vectors: argv",
            "user vfs_read: buf",
        ])


if __name__ == "__main__":
    unittest.main()
