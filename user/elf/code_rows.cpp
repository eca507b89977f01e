// SPDX-License-Identifier: GPL-2.0-only
#include "elf/code_rows.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "elf/stack_effect.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t decoded_max = 1 << 20; // bytes of a function
constexpr std::uint64_t executed_max = 1 << 23; // instructions of an object, some of them several times: about three seconds

/// The instructions that a function leads to, and the stack that each finds.
class CodeFlow {
public:
    CodeFlow(const Object &object, const FrameRegisters &registers, std::vector<CodeRange> functions)
        : object_(object), effect_(registers), functions_(std::move(functions)) {
        std::ranges::sort(functions_, {}, &CodeRange::start);
    }

    template<typename Add> void visit(Add add) {
        for (const CodeRange &function : functions_) {
            if (executed_ >= executed_max)
                return;
            if (!function.is_called || function.end - function.start > decoded_max || !follow(function.start))
                continue;
            mark_ends();
            for (const auto &[address, place] : places_)
                if (const auto offset = place.is_right() ? object_.offset_of(address) : std::nullopt)
                    add(*offset, *offset + place.size, effect_.frame_state(place.state));
        }
    }

private:
    using Addresses = std::vector<std::uint64_t>;

    struct Place {
        StackState state;
        std::uint8_t size = 0;       ///< of the instruction
        bool is_behind_call = false; ///< whichever way leads to it
        bool ends_right = false, ends_wrong = false; ///< one of the ends that it leads to is a return with the stack as it was, or with another
        Addresses before = {};       ///< instructions that lead to it
        Addresses calls_before = {}; ///< calls, which may not return

        bool is_right() const { return !ends_wrong && (ends_right || !is_behind_call); }
    };
    struct Way {
        std::uint64_t from, to;
        StackState state;
        bool is_behind_call; ///< by a call, or an instruction that is itself behind one
    };

    /// All that the function's first instruction leads to. False: two ways lead to one with different stacks. Behind a call that does not return
    /// there may be what another way leads to: that one counts.
    bool follow(std::uint64_t start) {
        places_.clear();
        ends_right_.clear();
        ends_wrong_.clear();
        std::deque<Way> ways = {{0, start, {}, false}}, behind_calls;
        while (!(ways.empty() && behind_calls.empty())) {
            if (++executed_ > executed_max)
                return false;
            std::deque<Way> &queue = ways.empty() ? behind_calls : ways;
            const bool is_by_call = ways.empty();
            Way way = std::move(queue.front());
            queue.pop_front();
            const auto [known, is_new] = places_.try_emplace(way.to);
            Place &place = known->second;
            const StackState before = is_new ? way.state : place.state;
            if (!way.state.merge(before)) {
                if (!way.is_behind_call)
                    return false;
                if (!is_by_call)
                    ends_wrong_.push_back(way.from);
                continue;
            }
            if (way.from != 0)
                (is_by_call ? place.calls_before : place.before).push_back(way.from);
            const bool is_behind_call = way.is_behind_call && (is_new || place.is_behind_call);
            if (!is_new && way.state == before && is_behind_call == place.is_behind_call)
                continue;
            place.state = way.state;
            place.is_behind_call = is_behind_call;
            if (!execute(way.to, place, start, ways, behind_calls))
                places_.erase(known);
        }
        return true;
    }

    /// False: it is no instruction.
    bool execute(std::uint64_t at, Place &place, std::uint64_t start, std::deque<Way> &ways, std::deque<Way> &behind_calls) {
        if (!effect_.decode(code_at(at)))
            return false;
        place.size = effect_.size();
        const std::uint64_t next = at + place.size;
        StackState state = place.state;
        using Flow = StackEffect::Flow;
        switch (effect_.flow()) {
        case Flow::returns:
            (state.is_as_called() ? ends_right_ : ends_wrong_).push_back(at);
            return true;
        case Flow::calls:
            if (effect_.distance() == 0)
                state.height += 8; // to know where it is
            behind_calls.push_back({at, next, state, true});
            return true;
        case Flow::branches:
            ways.push_back({at, next, state, place.is_behind_call});
            [[fallthrough]];
        case Flow::jumps:
            if (const auto distance = effect_.distance())
                jump(at, next + static_cast<std::uint64_t>(*distance), place, start, ways);
            else if (state.is_as_called()) // to another function; else by a table, to places that are not known
                ends_right_.push_back(at);
            return true;
        case Flow::on:
            if (effect_.apply(state))
                ways.push_back({at, next, state, place.is_behind_call});
            return true;
        case Flow::ends:
            return true;
        }
        return true;
    }

    /// A jump to another function that is called ends this one. One to code without a symbol may lead to a part of this one.
    void jump(std::uint64_t at, std::uint64_t target, const Place &place, std::uint64_t start, std::deque<Way> &ways) {
        const CodeRange *const function = function_at(target);
        if (function && (!function->is_called || function->start == start))
            ways.push_back({at, target, place.state, place.is_behind_call});
        else if (place.state.is_as_called())
            ends_right_.push_back(at);
        else if (function)
            ends_wrong_.push_back(at);
    }

    const CodeRange *function_at(std::uint64_t address) const {
        const auto behind = std::ranges::upper_bound(functions_, address, {}, &CodeRange::start);
        return behind != functions_.begin() && address < std::prev(behind)->end ? &*std::prev(behind) : nullptr;
    }

    /// From the address to the end of its function; nothing if there is none.
    std::string_view code_at(std::uint64_t address) {
        const CodeRange *const function = function_at(address);
        if (!function)
            return {};
        if (function->start != read_start_) {
            const auto offset = object_.offset_of(function->start);
            code_ = offset ? object_.read(*offset, function->end - function->start) : Text();
            read_start_ = function->start;
        }
        return view(code_).substr(std::min<std::uint64_t>(address - function->start, code_.size()));
    }

    /// What leads to a wrong end is wrong itself, up to a call: then that does not return. What is behind calls is right only if it leads to a right one.
    void mark_ends() {
        mark(ends_wrong_, &Place::ends_wrong, false);
        mark(ends_right_, &Place::ends_right, true);
    }

    void mark(Addresses addresses, bool Place::*mark, bool with_calls) {
        while (!addresses.empty()) {
            const auto found = places_.find(addresses.back());
            addresses.pop_back();
            if (found == places_.end() || std::exchange(found->second.*mark, true))
                continue;
            const Place &place = found->second;
            addresses.insert(addresses.end(), place.before.begin(), place.before.end());
            if (with_calls)
                addresses.insert(addresses.end(), place.calls_before.begin(), place.calls_before.end());
        }
    }

    const Object &object_;
    StackEffect effect_;
    std::vector<CodeRange> functions_;
    Text code_;
    std::uint64_t read_start_ = ~0ull;
    std::uint64_t executed_ = 0;
    std::map<std::uint64_t, Place> places_; ///< by address
    Addresses ends_right_, ends_wrong_;
};

} // namespace

void visit_code_rows(const Object &object, const FrameRegisters &registers, std::vector<CodeRange> functions,
                     const std::function<void(std::uint64_t start, std::uint64_t end, const FrameState &state)> &add) {
    CodeFlow(object, registers, std::move(functions)).visit(add);
}

} // namespace argtrace::elf
