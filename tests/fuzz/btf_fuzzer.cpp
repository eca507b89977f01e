// SPDX-License-Identifier: GPL-2.0-only
//
// A file of types as --btf takes it.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "btf/external.h"
#include "fuzzer.h"
#include "util/error.h"
#include "util/fd.h"

using namespace argtrace;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const Fd file(::memfd_create("btf", MFD_CLOEXEC));
    if (!file || ::write(file.get(), data, size) != static_cast<ssize_t>(size))
        std::abort();
    static const BtfPtr kernel(btf__new_empty());
    try {
        (void)load_external({"fuzzed", "/proc/self/fd/" + std::to_string(file.get())},
                            kernel.get());
    } catch (const Error &) {
    }
    return 0;
}
