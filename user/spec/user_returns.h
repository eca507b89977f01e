// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "elf/called_entries.h"
#include "elf/function_list.h"
#include "elf/function_returns.h"
#include "spec/user_go.h"

namespace argtrace {

/// How calls of a user function can be followed until they return.
struct UserReturns {
    elf::FunctionReturns by = {};
    std::string_view why_none = {}; ///< they cannot, whatever follows them: "its stacks move"; empty: they can
    bool throws = false;            ///< an exception may go through it, which finds no way past the address of a uretprobe
    bool keeps_address = false;     ///< it keeps what it finds as the address to return to, as setjmp() does: not one of a uretprobe
    std::function<bool()> is_called = {}; ///< otherwise a uretprobe would replace what is no address to return to; set unless `why_none` is
};

/// Finds them for functions of one object. All stay the caller's.
class UserReturnsFinder {
public:
    UserReturnsFinder(const elf::Object &object, const std::vector<elf::NamedFunction> &functions, const std::optional<GoCode> &go);

    UserReturns find(const elf::NamedFunction &function);

private:
    const elf::Object &object_;
    const std::optional<GoCode> &go_;
    bool throws_;
    std::optional<elf::CalledEntries> called_; ///< once it is asked for
    std::multimap<std::string_view, elf::CodePiece> cold_; ///< what the compiler has put elsewhere, by the name of its function
};

} // namespace argtrace
