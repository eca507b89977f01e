// SPDX-License-Identifier: GPL-2.0-only
#include "session/mapped_code.h"

#include <set>
#include <utility>

#include <sys/mman.h>
#include <sys/stat.h>

namespace argtrace {

// Where it cannot be mapped as code, no process can run it.
MappedCode::MappedCode(const UserFile &file) : at_(MAP_FAILED) {
    struct stat status = {};
    if (::fstat(file.file.get(), &status) != 0 || status.st_size <= 0)
        return;
    size_ = static_cast<std::size_t>(status.st_size);
    at_ = ::mmap(nullptr, size_, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.file.get(), 0);
}

MappedCode::MappedCode(MappedCode &&other) noexcept : at_(std::exchange(other.at_, MAP_FAILED)), size_(other.size_) {}

MappedCode::~MappedCode() {
    if (at_ != MAP_FAILED)
        ::munmap(at_, size_);
}

std::vector<MappedCode> map_code(std::span<const Probe> probes) {
    std::set<const UserFile *> files;
    std::vector<MappedCode> code;
    for (const Probe &probe : probes)
        if (probe.file && files.insert(probe.file.get()).second)
            code.emplace_back(*probe.file);
    return code;
}

} // namespace argtrace
