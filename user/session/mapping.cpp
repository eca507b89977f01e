// SPDX-License-Identifier: GPL-2.0-only
#include "session/mapping.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

#include <fmt/format.h>

#include "uapi/argtrace.h"
#include "util/error.h"

namespace argtrace {

Mapping::~Mapping() {
    if (start_)
        ::munmap(start_, size_);
}

std::optional<Mapping> map_region(int fd, std::size_t size, int protection, std::uint32_t cpu,
                                  unsigned region, const char *what) {
    auto offset = static_cast<off_t>(ARGTRACE_MMAP_OFFSET(cpu, region));
    void *start = ::mmap(nullptr, size, protection, MAP_SHARED, fd, offset);
    if (start != MAP_FAILED)
        return Mapping(start, size);
    if (errno == ENXIO)
        return std::nullopt;
    throw Error(fmt::format("cannot map {} of CPU {}: {}", what, cpu, std::strerror(errno)));
}

} // namespace argtrace
