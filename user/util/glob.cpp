// SPDX-License-Identifier: GPL-2.0-only
#include "util/glob.h"

namespace argtrace {

bool is_glob(std::string_view text) {
    return text.find_first_of("*?") != text.npos;
}

bool glob_matches(std::string_view glob, std::string_view text) {
    std::size_t g = 0;
    std::size_t t = 0;
    std::size_t star = glob.npos; // the last `*` met, and where what it takes ends
    std::size_t taken = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            taken = t;
        } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
            g++;
            t++;
        } else if (star != glob.npos) {
            g = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    return glob.find_first_not_of('*', g) == glob.npos;
}

} // namespace argtrace
