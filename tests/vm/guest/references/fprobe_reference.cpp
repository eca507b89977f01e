// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>

#include "references/tracefs_reference.h"

namespace vmtest {
namespace {

class FprobeReference : public EventReference {
public:
    FprobeReference() : EventReference("at_reference") {}

protected:
    std::string definition(const std::string &event, const std::string &function) const override {
        return "f:" + event + " " + function + " $arg*";
    }

    // FUNCTION: (FUNCTION+OFFSET/SIZE) NAME=VALUE ...
    bool parse_call(std::string_view text, const Find &functions, ReferenceCall &call) override {
        call.function = take(text, ": ");
        take(text, ")");
        const auto function = functions.find(call.function);
        if (function == functions.end())
            return false;
        for (const KernelParameter &parameter : function->second->parameters) {
            std::uint64_t value = 0;
            if (take(text, " ") != "" || take(text, "=") != parameter.name ||
                !parse_value(text.substr(0, text.find(' ')), value))
                return false;
            text.remove_prefix(std::min(text.find(' '), text.size()));
            call.values.push_back(value);
        }
        return text.empty();
    }
};

} // namespace

std::unique_ptr<Reference> fprobe_reference() {
    return std::make_unique<FprobeReference>();
}

} // namespace vmtest
