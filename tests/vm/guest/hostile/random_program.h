// SPDX-License-Identifier: GPL-2.0-only
// Programs that nobody would write, with pointers that lead anywhere; and what their records may
// hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "support/device.h"
#include "uapi/argtrace.h"

namespace vmtest {

/// A program that the ABI header allows. Of its probe's arguments it computes all that are
/// ARGTRACE_LOC_PROGRAM.
class RandomProgram {
public:
    /// `addresses`: some of those that the program takes for pointers; others are made up.
    RandomProgram(std::mt19937_64 &random, const std::vector<std::uint64_t> &addresses);
    /// One whose calls are added to that map, or, without one, are counted.
    RandomProgram(std::mt19937_64 &random, const std::vector<std::uint64_t> &addresses,
                  const argtrace_map *map);

    std::vector<std::byte> bytes() const;
    const std::vector<argtrace_arg> &outputs() const { return outputs_; }

    /// What is wrong with what a record holds of the outputs, from the word on that says what could
    /// not be read; "" if nothing is.
    std::string fault_of(std::span<const std::byte> data) const;

private:
    void add_key(const argtrace_map &map);
    void add_word();
    void add_text(std::uint16_t words);
    void seal();

    std::uint64_t random(std::uint64_t below) { return random_() % below; }
    bool one_in(unsigned n) { return random(n) == 0; }
    template<typename T>
    T one_of(std::initializer_list<T> choices) {
        return choices.begin()[random(choices.size())];
    }

    std::uint64_t address();
    /// Where the value comes from, and its loads. `number`: what a constant may be, else it is 0.
    argtrace_insn value(bool has_number, bool is_test);
    void add(const argtrace_insn &insn);
    void add_slots();
    void add_test(unsigned left);
    void make_text_test(argtrace_insn &insn);
    void add_filter();
    void add_output();

    std::mt19937_64 &random_;
    const std::vector<std::uint64_t> &addresses_;
    argtrace_program head_{};
    std::vector<argtrace_insn> insns_;
    std::string data_;
    std::vector<argtrace_arg> outputs_;
    unsigned slots_ = 0; ///< as many as are set, from 0 on
    unsigned paths_ = 0;
};

/// What ARGTRACE_IOC_MAP takes.
argtrace_map random_map(std::mt19937_64 &random);

} // namespace vmtest
