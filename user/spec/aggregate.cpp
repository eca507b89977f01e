// SPDX-License-Identifier: GPL-2.0-only
#include "spec/aggregate.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "btf/display_types.h"
#include "model/key_room.h"
#include "model/type.h"
#include "spec/resolve.h"
#include "uapi/argtrace_map.h"
#include "util/error.h"

namespace argtrace {

namespace {

bool mentions_outcome(const lang::Ast &ast, const Prototype &prototype) {
    if (ast.kind == lang::Ast::Kind::at_return)
        return true;
    if (ast.kind == lang::Ast::Kind::name) {
        const std::string &name = ast.token.text;
        if (name == "$ret" || name == "$duration")
            return true;
        const auto &parameters = prototype.parameters;
        auto parameter = std::ranges::find(parameters, name, &Parameter::name);
        if (parameter == parameters.end())
            parameter = std::ranges::find_if(parameters, [&](const Parameter &one) { return one.go && one.go->result_name == name; });
        if (parameter != parameters.end()) // the last ones may be results
            return static_cast<std::size_t>(parameters.end() - parameter) <= prototype.results;
        return name == "ret" || name == "duration";
    }
    return std::any_of(ast.operands.begin(), ast.operands.end(), [&](const lang::AstPtr &operand) {
        return mentions_outcome(*operand, prototype);
    });
}

bool is_builtin(const lang::ArgumentExpression &key, std::string_view builtin) {
    std::string_view name = key.expression.written();
    if (name.starts_with('$'))
        name.remove_prefix(1);
    return name == builtin;
}

/// The type of numbers of which some functions have one and some have the other.
std::uint8_t common_type(std::uint8_t one, std::uint8_t other) {
    if (one == other)
        return one;
    return type_info(one).is_signed || type_info(other).is_signed ? ARGTRACE_TYPE_S64
                                                                  : ARGTRACE_TYPE_U64;
}

/// What the functions' programs say of the parts of their keys.
class KeyCollector {
public:
    explicit KeyCollector(const Aggregate &aggregate) : aggregate_(aggregate) {
        for (const lang::ArgumentExpression &key : aggregate.keys)
            keys_.push_back({key.name, is_function_key(key), is_builtin(key, "ret"),
                             is_builtin(key, "caller"), is_builtin(key, "ustack")});
        differ_.resize(keys_.size());
    }

    void add(const Function &function) {
        const auto &values = function.capture.program.values;
        for (std::size_t i = 0; i < keys_.size(); ++i)
            add(function, i, values[i]);
        if (!first_)
            first_ = &function;
        if (aggregate_.value == Aggregate::Value::of_spec)
            is_signed_ = is_signed_ || type_info(values.back().type).is_signed;
    }

    void describe(AggregatedFunctions &result, const std::vector<std::uint32_t> &room) {
        std::vector<ShownValue> shown;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            KeyDescription &key = keys_[i];
            key.room = room[i];
            if (key.is_function)
                key.type = ARGTRACE_TYPE_STR;
            const lang::ProgramValue &value = first_->capture.program.values[i];
            shown.push_back(differ_[i] || key.is_function || key.room > 0
                                ? ShownValue{}
                                : ShownValue{value.btf_id, value.name, false, value.flags,
                                             value.one_flag, value.size, value.symbol});
            result.shown.args.push_back({.loc = ARGTRACE_LOC_PROGRAM,
                                         .type = key.type,
                                         .size = value.size,
                                         .name = key.name,
                                         .type_name = differ_[i] ? "" : value.type_name});
        }
        if (first_->capture.types)
            result.shown.types = display_types(first_->capture.types, shown);
        result.keys = std::move(keys_);
        result.is_signed = is_signed_;
    }

    std::vector<std::uint32_t> lengths() const {
        std::vector<std::uint32_t> lengths;
        for (const KeyDescription &key : keys_)
            lengths.push_back(key.length);
        return lengths;
    }

private:
    void add(const Function &function, std::size_t at, const lang::ProgramValue &value) {
        KeyDescription &key = keys_[at];
        if (key.is_function)
            return;
        const bool is_text = value.type == ARGTRACE_TYPE_STR;
        if (!first_) {
            key.type = value.type;
        } else if (is_text != (key.type == ARGTRACE_TYPE_STR)) {
            throw Error(fmt::format("{}: is {} in {}, and {} in {}: count their calls one by one",
                                    key.name, is_text ? "text" : "a number", function.name(),
                                    is_text ? "a number" : "text", first_->name()));
        } else {
            const lang::ProgramValue &other = first_->capture.program.values[at];
            differ_[at] = differ_[at] || value.type_name != other.type_name ||
                          value.flags != other.flags || value.type != other.type;
            key.type = common_type(key.type, value.type);
        }
        if (is_text)
            key.length = std::max(key.length, value.size);
    }

    const Aggregate &aggregate_;
    const Function *first_ = nullptr;
    std::vector<KeyDescription> keys_;
    std::vector<bool> differ_; // not all functions have the same type there
    bool is_signed_ = false;
};

/// The module wants a name of each, which nobody sees.
std::string output_name(std::size_t number) {
    return fmt::format("key{}", number);
}

std::vector<Argument> outputs_of(const AggregatedFunctions &all, const lang::Program &program) {
    std::vector<Argument> outputs;
    for (std::size_t i = 0; i < program.values.size(); ++i) {
        const std::uint32_t room = i < all.keys.size() ? all.keys[i].room : 0;
        const bool is_stack = i < all.keys.size() && all.keys[i].type == ARGTRACE_TYPE_STACK;
        const std::uint8_t type = room && program.values[i].has_length ? ARGTRACE_TYPE_BYTES
                                  : room                               ? ARGTRACE_TYPE_STR
                                  : is_stack                           ? ARGTRACE_TYPE_STACK
                                                                       : ARGTRACE_TYPE_U64;
        outputs.push_back({.loc = ARGTRACE_LOC_PROGRAM,
                           .type = type,
                           .size = room ? room : std::uint32_t{sizeof(std::uint64_t)},
                           .name = output_name(i),
                           .type_name = room                                       ? "char[]"
                                        : is_stack && all.keys[i].is_user_stack ? std::string(user_stack_name)
                                                                                 : "unsigned long"});
    }
    return outputs;
}

} // namespace

bool Aggregate::counts_only() const {
    return value == Value::none && std::all_of(keys.begin(), keys.end(), is_function_key);
}

bool is_function_key(const lang::ArgumentExpression &key) {
    return key.expression.plain_name() == "func";
}

// No error is further from 0: MAX_ERRNO, include/linux/err.h. It holds of pointers, too.
lang::ArgumentExpression error_key() {
    return lang::parse_values("(unsigned long)$ret >= 0xfffffffffffff001 as error").front();
}

bool is_error_key(const lang::ArgumentExpression &key) {
    static const lang::ArgumentExpression known = error_key();
    return key.expression.written() == known.expression.written();
}

bool needs_return(const Aggregate &aggregate, std::span<const lang::Expression> conditions,
                  const Prototype &prototype, const Capture &capture) {
    const auto mentions = [&prototype](const lang::Expression &expression) {
        return mentions_outcome(expression.root(), prototype);
    };
    const auto value_mentions = [&mentions](const lang::ArgumentExpression &value) {
        return mentions(value.expression);
    };
    return aggregate.value == Aggregate::Value::duration ||
           std::any_of(aggregate.keys.begin(), aggregate.keys.end(), value_mentions) ||
           std::any_of(conditions.begin(), conditions.end(), mentions) ||
           (capture.condition && mentions(*capture.condition)) ||
           (capture.values &&
            std::any_of(capture.values->begin(), capture.values->end(), value_mentions));
}

std::uint16_t AggregatedFunctions::key_words() const {
    std::size_t words = 0;
    for (const KeyDescription &key : keys)
        words += key.room ? key.room / sizeof(std::uint64_t) : 1;
    return static_cast<std::uint16_t>(words);
}

std::vector<Probe> AggregatedFunctions::probes(std::uint16_t map) const {
    std::vector<Probe> made;
    for (const Function &function : functions) {
        const Capture &capture = function.capture;
        Probe &probe = made.emplace_back(begin_probe(function));
        if (!counts_only)
            probe.args = outputs_of(*this, capture.program);
        lang::Program program = capture.program;
        program.sink = counts_only ? ARGTRACE_SINK_COUNT : ARGTRACE_SINK_MAP;
        program.map = counts_only ? std::uint16_t{0} : map;
        probe.program = program.bytes(capture.limits.sample, capture.limits.max_rate);
    }
    return made;
}

AggregatedFunctions resolve_aggregate(Kernel &kernel, Request request) {
    AggregatedFunctions result;
    result.counts_only = request.aggregate->counts_only();
    Found found = find_functions(kernel, request);
    result.left = std::move(found.left);
    result.functions = std::move(found.functions);
    if (result.functions.empty())
        throw Error("no function is left: what is named is excluded with !, or nothing else is named");

    std::unordered_map<std::string_view, std::uint32_t> numbers;
    for (Function &function : result.functions) {
        const auto number = static_cast<std::uint32_t>(result.names.size());
        const auto known = numbers.try_emplace(function.name(), number);
        if (known.second)
            result.names.emplace_back(function.name());
        function.capture.number = known.first->second;
    }
    if (result.counts_only)
        return result;

    Aggregate placed = *request.aggregate;
    if (placed.func_of_stacks && result.names.size() == 1) {
        result.only_function_at = placed.func_of_stacks;
        placed.keys.erase(placed.keys.begin() + static_cast<std::ptrdiff_t>(*placed.func_of_stacks));
        CaptureCompiler compiler(kernel, request.conditions, nullptr, &placed);
        for (Function &function : result.functions)
            compiler.compile(function);
    }
    KeyCollector collector(placed);
    for (const Function &function : result.functions)
        collector.add(function);
    placed.room = share_key_room(collector.lengths());
    if (placed.room.empty() && !placed.keys.empty())
        throw Error(fmt::format("--by: a key has at most {} parts, and text takes more than one of "
                                "these places",
                                ARGTRACE_MAP_KEY_WORDS_MAX));
    CaptureCompiler compiler(kernel, request.conditions, nullptr, &placed);
    for (Function &function : result.functions)
        compiler.compile(function);
    collector.describe(result, placed.room);
    return result;
}

} // namespace argtrace
