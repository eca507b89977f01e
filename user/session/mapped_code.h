// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/probe.h"

namespace argtrace {

/// A file that this process has mapped as code, for as long as it has this. The kernel looks at an instruction that is to be traced only
/// where a process has mapped it; otherwise it would accept what it cannot trace, and never call.
class MappedCode {
public:
    explicit MappedCode(const UserFile &file);
    MappedCode(MappedCode &&other) noexcept;
    MappedCode &operator=(MappedCode &&) = delete;
    ~MappedCode();

private:
    void *at_;
    std::size_t size_ = 0;
};

/// Those that the probes are in, each once.
std::vector<MappedCode> map_code(std::span<const Probe> probes);

} // namespace argtrace
