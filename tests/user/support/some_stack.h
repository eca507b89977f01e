// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "support/packet_builder.h"
#include "symbols/symbols.h"

namespace argtrace::test {

/// ksys_read, do_syscall_64 and a function of a module, one at each multiple of 0x1000.
class SomeFunctions : public Symbols {
public:
    std::optional<Symbol> find(CodePlace place) const override {
        const std::uint64_t address = place.address;
        static constexpr Symbol symbols[] = {{0x0, "zero", "", 0},
                                             {0x1000, "ksys_read", "", 0},
                                             {0x2000, "do_syscall_64", "", 0},
                                             {0x3000, "ext4_read", "ext4", 0}};
        return address < 0x4000 ? std::optional(symbols[address / 0x1000]) : std::nullopt;
    }
};

/// Two functions, one of a module, and the stack `id`, which has both.
class SomeStack : public Symbols {
public:
    static constexpr std::uint64_t id = 100;
    static constexpr const char *text = "ext4_read+0x10 [ext4] <- ksys_read+0x20";

    std::optional<Symbol> find(CodePlace place) const override {
        const std::uint64_t address = place.address;
        if (address >= 0x1000 && address < 0x2000)
            return Symbol{0x1000, "ksys_read", "", 0};
        if (address >= 0x2000 && address < 0x3000)
            return Symbol{0x2000, "ext4_read", "ext4", 0};
        return std::nullopt;
    }
    std::optional<Stack> stack(std::uint64_t wanted, StackRoom & /*room*/) const override {
        return wanted == id ? std::optional(Stack{addresses_, false}) : std::nullopt;
    }

private:
    std::vector<std::uint64_t> addresses_{0x2010, 0x1020};
};

/// A call with that stack, and one whose stack could not be taken.
struct CallsWithStacks {
    CallsWithStacks() {
        probe.id = 1;
        probe.function = "f";
        probe.args = {argument("count", ARGTRACE_TYPE_U64), output("stack", ARGTRACE_TYPE_STACK)};
        for (const bool captured : {true, false}) {
            Event event;
            event.ts = 2000;
            event.probe = &probe;
            event.first_value = static_cast<std::uint32_t>(batch.values.size());
            batch.values.push_back({5, 0, ARGTRACE_TYPE_U64, true, false});
            batch.values.push_back({SomeStack::id, 0, ARGTRACE_TYPE_STACK, captured, false});
            batch.events.push_back(event);
        }
    }

    Probe probe;
    EventBatch batch;
};

} // namespace argtrace::test
