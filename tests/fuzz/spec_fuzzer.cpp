// SPDX-License-Identifier: GPL-2.0-only
//
// What a user may write to say which functions are meant.

#include <string>

#include "fuzzer.h"
#include "spec/spec.h"

using namespace argtrace;

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    if (size == 0 || size > 512) // an argument of a command line
        return 0;
    const auto syntax = data[0] % 8 == 0 ? PatternSyntax::regex : PatternSyntax::glob;
    const std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
    try {
        const Spec spec = parse_spec(text, syntax);
        (void)spec.matches("vfs_read", "");
        (void)spec.matches("ext4_file_read_iter", "ext4");
        (void)spec.title();
        (void)error_in(spec, spec.pattern_at, "what is wrong");
    } catch (const Error &) {
    }
    return 0;
}
