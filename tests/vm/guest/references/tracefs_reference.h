// SPDX-License-Identifier: GPL-2.0-only
// What references have in common that write to the kernel's trace buffer.
#pragma once

#include <map>
#include <string_view>

#include "references/reference.h"

namespace vmtest {

/// Takes from `text` what lies before `end`, and both away.
std::string_view take(std::string_view &text, std::string_view end);

/// Decimal with or without sign, or hexadecimal.
bool parse_value(std::string_view text, std::uint64_t &value);

class TracefsReference : public Reference {
public:
    void pause() override;
    std::vector<ReferenceCall> calls(const std::vector<KernelFunction> &functions) override;

protected:
    /// An empty buffer with room for a test, into which nothing is written yet.
    void begin();
    void resume();
    /// The buffer as it was, empty.
    void end();

    /// Finds the function that a line names; null where it is none of them.
    using Find = std::map<std::string_view, const KernelFunction *>;

    /// Reads what follows a line's time stamp: sets the function and its values.
    virtual bool parse_call(std::string_view text, const Find &functions, ReferenceCall &call) = 0;

private:
    virtual bool parse(std::string_view text, const Find &functions, ReferenceCall &call);
};

/// An event for each function.
class EventReference : public TracefsReference {
public:
    /// `group` is that of the events.
    explicit EventReference(std::string group) : group_(std::move(group)) {}

    std::vector<KernelFunction> arm(const std::vector<KernelFunction> &functions) override;
    void disarm() override;

protected:
    /// As dynamic_events takes it, with `event` for its name.
    virtual std::string definition(const std::string &event, const std::string &function) const = 0;

private:
    std::string group_;
};

} // namespace vmtest
