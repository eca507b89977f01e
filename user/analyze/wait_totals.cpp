// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/wait_totals.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

constexpr std::pair<std::string_view, WaitKey> wait_key_names[]{
    {"comm", WaitKey::comm},   {"pid", WaitKey::pid}, {"tid", WaitKey::tid},
    {"state", WaitKey::state}, {"cpu", WaitKey::cpu}, {"waker", WaitKey::waker},
};
constexpr std::string_view wait_state_letters = "RSDTtPI";

KeyPart text_key(std::string text) {
    return {{0, 0, ARGTRACE_TYPE_STR, true}, std::move(text)};
}

KeyPart number_key(std::uint64_t value) {
    return {{value, 0, ARGTRACE_TYPE_U32, true}};
}

/// `high`: there is none, as the task has not run yet.
KeyPart stack_key(std::uint64_t id, bool is_new = false) {
    return {{id, is_new, ARGTRACE_TYPE_STACK, id != 0}};
}

std::string name_of(const Comm &comm) {
    return {comm.data(), static_cast<std::size_t>(std::find(comm.begin(), comm.end(), '\0') - comm.begin())};
}

/// An interrupt is not the task that it has interrupted.
std::string waker_name(const Wait &wait) {
    if (!wait.was_woken)
        return "-";
    if (wait.waker.context & ARGTRACE_CTX_NMI)
        return "[nmi]";
    if (wait.waker.context & ARGTRACE_CTX_HARDIRQ)
        return "[hardirq]";
    if (wait.waker.context & ARGTRACE_CTX_SOFTIRQ)
        return "[softirq]";
    return name_of(wait.waker.task.comm);
}

KeyPart part_of(const Wait &wait, WaitKey key) {
    switch (key) {
    case WaitKey::comm:
        return text_key(name_of(wait.task.comm));
    case WaitKey::pid:
        return number_key(wait.task.tgid);
    case WaitKey::tid:
        return number_key(wait.task.tid);
    case WaitKey::state:
        return text_key(std::string(1, wait.state));
    case WaitKey::cpu:
        return number_key(wait.cpu);
    case WaitKey::waker:
        break;
    }
    return text_key(waker_name(wait));
}

} // namespace

std::string_view wait_key_name(WaitKey key) {
    for (const auto &[name, known] : wait_key_names)
        if (known == key)
            return name;
    return "";
}

std::vector<WaitKey> parse_wait_keys(std::string_view what, const std::string &text) {
    std::vector<WaitKey> keys;
    std::string_view rest = text;
    for (bool more = true; more;) {
        const std::string_view word = rest.substr(0, rest.find(','));
        more = word.size() < rest.size();
        rest.remove_prefix(std::min(word.size() + 1, rest.size()));
        const auto known = std::find_if(std::begin(wait_key_names), std::end(wait_key_names),
                                        [word](const auto &one) { return one.first == word; });
        if (known == std::end(wait_key_names)) {
            std::vector<std::string_view> names;
            for (const auto &[name, key] : wait_key_names)
                names.push_back(name);
            throw Error(fmt::format("{} takes {}, not '{}'", what, fmt::join(names, ", "), word));
        }
        if (std::find(keys.begin(), keys.end(), known->second) != keys.end())
            throw Error(fmt::format("{}: {} is there twice", what, word));
        keys.push_back(known->second);
    }
    return keys;
}

std::string parse_wait_states(std::string_view what, const std::string &text) {
    std::string states;
    for (const char letter : text) {
        if (letter == ',')
            continue;
        if (wait_state_letters.find(letter) == wait_state_letters.npos)
            throw Error(fmt::format("{} takes letters of {}, as ps shows them, not '{}'", what,
                                    wait_state_letters, text));
        if (states.find(letter) == states.npos)
            states += letter;
    }
    if (states.empty())
        throw Error(fmt::format("{} takes at least one letter of {}", what, wait_state_letters));
    return states;
}

void WaitTotal::add(const Wait &wait) {
    ++waits;
    blocked += wait.blocked();
    runnable += wait.runnable();
    longest = std::max(longest, wait.duration());
}

void WaitTotal::add(const WaitTotal &more) {
    waits += more.waits;
    blocked += more.blocked;
    runnable += more.runnable;
    longest = std::max(longest, more.longest);
}

void WaitTotals::add(const Wait &wait) {
    const std::uint64_t duration = wait.duration();
    if (duration < wanted_.min || duration > wanted_.max ||
        (!wanted_.states.empty() && wanted_.states.find(wait.state) == wanted_.states.npos)) {
        ++unwanted_;
        return;
    }
    Key key;
    for (const WaitKey one : wanted_.keys)
        key.push_back(part_of(wait, one));
    if (wanted_.stacks)
        key.push_back(stack_key(wait.stack, wait.is_new));
    if (wanted_.user_stacks)
        key.push_back(stack_key(wait.user_stack, wait.is_new));
    if (wanted_.wakers) {
        key.push_back(text_key(waker_name(wait)));
        key.push_back(stack_key(wait.was_woken ? wait.waker.stack : 0));
    }
    entries_[key].add(wait);
    states_[wait.state].add(wait);
    all_.add(wait);
}

std::optional<WaitTotals> WaitTotals::with_user_stacks(const std::function<std::uint64_t(std::uint64_t)> &number) const {
    const std::size_t part = wanted_.keys.size() + wanted_.stacks;
    const auto number_of = [&](const Key &key) { return key[part].value.captured ? number(key[part].value.low) : key[part].value.low; };
    if (!wanted_.user_stacks || std::all_of(entries_.begin(), entries_.end(), [&](const auto &entry) {
            return number_of(entry.first) == entry.first[part].value.low;
        }))
        return std::nullopt;
    WaitTotals other = *this;
    other.entries_.clear();
    for (const auto &[key, total] : entries_) {
        Key renumbered = key;
        renumbered[part].value.low = number_of(key);
        other.entries_[std::move(renumbered)].add(total);
    }
    return other;
}

void WaitTotals::clear() {
    entries_.clear();
    states_.clear();
    all_ = {};
}

} // namespace argtrace
