// SPDX-License-Identifier: GPL-2.0-only
#include "util/cpus.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include "util/file.h"

namespace argtrace {

unsigned possible_cpus() {
    try {
        const Text text = read_file("/sys/devices/system/cpu/possible");
        const std::string_view all = view(text);
        unsigned last = 0;
        const std::size_t at = all.find_last_of("-,");
        const char *begin = all.data() + (at == all.npos ? 0 : at + 1);
        if (std::from_chars(begin, all.data() + all.size(), last).ec == std::errc())
            return last + 1;
    } catch (const std::system_error &) { // no sysfs
    }
    return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
}

} // namespace argtrace
