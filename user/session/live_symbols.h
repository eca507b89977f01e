// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "session/session.h"
#include "session/stack_reader.h"
#include "symbols/symbols.h"

namespace argtrace {

/// The running kernel's symbols, which it is asked for one by one: so they are right for modules
/// that have come since we began, and nothing is read that nobody needs. Those of user code are
/// read from the objects of the session.
class LiveSymbols : public Symbols {
public:
    /// The session stays the caller's.
    explicit LiveSymbols(const Session &session) : session_(session) {}

    std::optional<Symbol> find(CodePlace place) const override;

    /// A stack of the session.
    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override;

    std::vector<SourceFrame> source(CodePlace place) const override;

    std::optional<CodeObject> object(std::uint32_t number) const override;

private:
    std::optional<Symbol> find_user(std::uint64_t word) const;
    std::optional<Symbol> ask(std::uint64_t addr) const;
    std::string_view keep(std::string_view name) const;

    const Session &session_;
    mutable std::optional<StackReader> stacks_;
    mutable std::unordered_set<std::string> names_; // of the symbols that have been asked for
};

} // namespace argtrace
