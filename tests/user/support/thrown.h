// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

#include "util/error.h"

namespace argtrace {

/// The sentence of the Error that `action` throws; "" if it throws none.
template<typename Action>
std::string thrown(Action action) {
    try {
        action();
    } catch (const Error &error) {
        return error.what();
    }
    return "";
}

} // namespace argtrace
