// SPDX-License-Identifier: GPL-2.0-only
#include "elf/function_code.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace argtrace::elf {

namespace {

constexpr std::uint64_t piece_max = 1 << 20; // bytes; a larger function is not decoded
constexpr std::size_t returns_max = 2047;    // ARGTRACE_PROBE_RETURNS_MAX

} // namespace

FunctionCode::FunctionCode(const Object &object, std::span<const CodePiece> pieces, std::uint32_t entry)
    : object_(object), pieces_(pieces), entry_(pieces.empty() ? 0 : pieces[0].address + entry) {}

Text FunctionCode::read(const CodePiece &piece) const {
    const auto offset = object_.offset_of(piece.address);
    if (!offset || piece.size == 0 || piece.size > piece_max)
        return {};
    Text bytes = object_.read(*offset, piece.size);
    return bytes.size() == piece.size ? std::move(bytes) : Text();
}

bool FunctionCode::has(std::uint64_t address) const {
    return std::any_of(pieces_.begin(), pieces_.end(), [address](const CodePiece &piece) { return address - piece.address < piece.size; });
}

bool FunctionCode::add_return(std::uint64_t address) {
    const auto place = static_cast<std::int64_t>(address - entry_);
    if (place < std::numeric_limits<std::int32_t>::min() || place > std::numeric_limits<std::int32_t>::max())
        return false;
    returns_.places.push_back(static_cast<std::int32_t>(place));
    return true;
}

bool FunctionCode::add_jump(std::uint64_t target) {
    returns_.loops = returns_.loops || target == entry_;
    return has(target);
}

FunctionReturns FunctionCode::take_returns(bool known) {
    returns_.never = known && !has_open_end_ && returns_.places.empty();
    if (!known || returns_.places.size() > returns_max)
        returns_.places.clear();
    return std::move(returns_);
}

} // namespace argtrace::elf
