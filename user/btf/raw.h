// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include <bpf/btf.h>

namespace argtrace {

/// The sections of a BTF object (Documentation/bpf/btf.rst), its own without its base's. They lie
/// in the object, and last as long as nothing is added to it; empty where it cannot be had as
/// bytes.
class RawBtf {
public:
    explicit RawBtf(const btf *types) {
        std::uint32_t size = 0;
        begin_ = static_cast<const char *>(btf__raw_data(types, &size));
        if (begin_ && size >= sizeof(header_))
            std::memcpy(&header_, begin_, sizeof(header_));
    }

    const btf_header &header() const { return header_; }
    std::string_view types() const { return section(header_.type_off, header_.type_len); }
    std::string_view strings() const { return section(header_.str_off, header_.str_len); }

private:
    std::string_view section(std::uint32_t offset, std::uint32_t size) const {
        return {begin_ + header_.hdr_len + offset, size};
    }

    const char *begin_;
    btf_header header_{};
};

} // namespace argtrace
