// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

namespace argtrace {

std::vector<Argument> CallingConvention::places(const Prototype &prototype) const {
    if (prototype.hidden == 0)
        return arguments(prototype);
    Prototype passed = prototype;
    passed.parameters.insert(passed.parameters.begin(), prototype.hidden,
                             {"", "void *", {.kind = Shape::Kind::pointer, .bytes = 8}});
    std::vector<Argument> all = arguments(passed);
    all.erase(all.begin(), all.begin() + prototype.hidden);
    return all;
}

} // namespace argtrace
