// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "analyze/aggregation.h"
#include "btf/format.h"
#include "render/caller.h"
#include "render/value_writer.h"

namespace argtrace {

/// One of the values that calls are told apart by: what it is called, and how it is shown.
struct KeyColumn {
    std::string name;
    bool is_function = false;       ///< the name of the function that was called
    bool is_result = false;         ///< what it returned: an error is shown by its name
    const Format *format = nullptr; ///< as in ProbeFormats::argument()
};

/// That of return addresses: a function and the place in it.
const Format *caller_format();

/// Parts of keys as arguments are shown, except that text has no quotes in a table.
class KeyText {
public:
    /// The names stay the caller's.
    explicit KeyText(CallerNames &names);

    std::string text(const KeyColumn &column, const KeyPart &part);
    void append_json(std::string &out, const KeyColumn &column, const KeyPart &part);

    CallerNames &names() { return names_; }

private:
    void append(Line &out, ValueWriter &values, const KeyColumn &column, const KeyPart &part);

    CallerNames &names_;
    ValueWriter texts_, json_;
    Line line_;
};

} // namespace argtrace
