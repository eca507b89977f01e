// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <stdexcept>
#include <string>

namespace argtrace {

/// What went wrong, as one sentence for the user: it names the thing and the way out.
/// The command line prints it behind "argtrace: " and exits with 1.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace argtrace
