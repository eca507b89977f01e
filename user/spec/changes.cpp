// SPDX-License-Identifier: GPL-2.0-only
#include "spec/changes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "lang/check.h"
#include "lang/compile.h"
#include "lang/expression_error.h"
#include "lang/moment.h"
#include "spec/capture.h"

namespace argtrace {

namespace {

using Values = std::vector<lang::ArgumentExpression>;

bool has_name(const Values &values, std::string_view name) {
    return std::any_of(values.begin(), values.end(),
                       [name](const auto &value) { return value.name == name; });
}

/// Text behind such a pointer is no number, and what is behind one to const does not change.
bool points_to_number(const lang::Types &types, const lang::Scope::Parameter &parameter) {
    if (types.traits(parameter.type).kind != lang::TypeTraits::Kind::pointer ||
        parameter.place.type_name.starts_with("const "))
        return false;
    const lang::TypeTraits target = types.traits(types.target(parameter.type));
    return target.is_scalar() && !target.is_char && target.bytes <= sizeof(std::uint64_t);
}

class Changes {
public:
    Changes(const lang::Scope &scope, const Prototype &prototype, const Values &values)
        : scope_(scope), prototype_(prototype), values_(values) {}

    Values take() {
        for (const lang::ArgumentExpression &value : values_) {
            all_.push_back(value);
            if (const auto parameter = parameter_of(prototype_, value))
                add_target(value, scope_.parameters().at(*parameter));
            else if (may_change(value))
                add(fmt::format("({})@ret", value.expression.written()), return_name(value.name),
                    value.subject);
        }
        return std::move(all_);
    }

private:
    static std::string return_name(const std::string &name) {
        return name + std::string(lang::return_suffix);
    }

    void add_target(const lang::ArgumentExpression &pointer,
                    const lang::Scope::Parameter &parameter) {
        const std::string name = '*' + pointer.name;
        if (!points_to_number(scope_.types(), parameter) || has_name(values_, name))
            return;
        if (add('*' + parameter.place.name, name))
            add(fmt::format("(*{})@ret", parameter.place.name), return_name(name));
    }

    bool may_change(const lang::ArgumentExpression &value) const {
        const lang::NodePtr node = lang::check_value(scope_, value.expression, value.subject);
        return lang::may_change(*node) && !lang::is_of_return(*node);
    }

    bool add(const std::string &text, const std::string &name, const std::string &subject = {}) {
        if (has_name(values_, name))
            return false;
        try {
            Values parsed = lang::parse_values(text);
            parsed.front().name = name;
            parsed.front().named = true;
            parsed.front().subject = subject;
            parsed.front().optional = true;
            (void)lang::compile(scope_, {}, parsed);
            all_.push_back(std::move(parsed.front()));
            return true;
        } catch (const lang::ExpressionError &) {
            return false;
        }
    }

    const lang::Scope &scope_;
    const Prototype &prototype_;
    const Values &values_;
    Values all_;
};

} // namespace

std::vector<lang::ArgumentExpression> with_changes(const lang::Scope &scope,
                                                   const Prototype &prototype,
                                                   const std::vector<lang::ArgumentExpression> &values) {
    return Changes(scope, prototype, values).take();
}

} // namespace argtrace
