// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/chain.h"
#include "lang/program.h"

namespace argtrace::lang {

/// Where a test goes: an instruction that may not be there yet, or the verdict.
using Label = unsigned;
inline constexpr Label accept_label = 0;
inline constexpr Label reject_label = 1;

/// Appends instructions to a program, with jumps to labels that are bound later.
class Emitter {
public:
    struct Full {}; ///< thrown when there are more instructions or data than a program may have

    Emitter() : bound_{ARGTRACE_ACCEPT, ARGTRACE_REJECT} {}

    Label make_label();
    void bind(Label label); ///< to the next instruction

    /// If lowest <= value of the chain <= highest (in the order of its type) then one, else the
    /// other. The chain is not of SOURCE_CONST, and has no offset behind its loads unless
    /// nothing follows that.
    void range(const Chain &chain, bool is_signed, std::uint64_t lowest, std::uint64_t highest,
               Label then, Label other);
    /// The same for one value.
    void equal(const Chain &chain, std::uint64_t value, Label then, Label other);

    void test(argtrace_insn insn, Label then, Label other); ///< TEST or TEXT
    void jump(Label to);
    void add(const argtrace_insn &insn);

    /// Where in the program's data these bytes are.
    std::uint32_t add_data(std::string_view bytes, std::size_t alignment = 1);

    std::size_t size() const { return insns_.size(); }
    /// With all labels resolved, and without those that no way leads to, which the module refuses.
    /// `nr_filter` of them are the filter, and `nr_return` behind these that at return.
    std::vector<argtrace_insn> take_insns(std::uint16_t &nr_filter, std::uint16_t &nr_return);
    std::vector<std::byte> take_data() { return std::move(data_); }

private:
    struct Targets {
        Label then, other;
        bool has_then, has_other;
    };

    void add(const argtrace_insn &insn, const Targets &targets);
    void remove_needless(std::uint16_t &nr_filter, std::uint16_t &nr_return);

    std::vector<argtrace_insn> insns_;
    std::vector<Targets> targets_; // of each instruction
    std::vector<unsigned> bound_;  // by label
    std::vector<std::byte> data_;
};

} // namespace argtrace::lang
