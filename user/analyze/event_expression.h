// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/event_keys.h"
#include "lang/parser.h"
#include "lang/type.h"
#include "model/event.h"

namespace argtrace {

/// An expression about events that were recorded, a condition or a value: what the module's program would have made of them, as far
/// as it is about what EventKeys knows of an event. What is behind pointers is not.
class EventExpression {
public:
    /// Throws lang::ExpressionError for what no recording tells.
    explicit EventExpression(lang::Expression expression);

    /// Which of the names the events of a probe lack; empty: none. Throws lang::ExpressionError where the expression makes no
    /// sense with the types that they have there.
    const std::string &check(const Probe &probe);

    /// Whether it holds of an event of the probe that was checked last, which lacks nothing. It does not where a value could not be
    /// read.
    bool holds(const EventView &view);

    /// The number that it is, of such an event; nothing where a value could not be read, or was divided by zero.
    std::optional<std::uint64_t> number(const EventView &view);
    /// Its type, ARGTRACE_TYPE_*, in events of the probe that was checked last.
    std::uint8_t number_type() const;

private:
    /// A number as C has it, or a text.
    struct Operand {
        std::uint64_t number = 0; ///< extended by its sign, or by zeros
        lang::Type type = lang::int_type;
        std::string_view text = {};
    };

    void collect(const lang::Ast &ast);
    [[noreturn]] void fail(const lang::Ast &ast, std::string_view sentence) const;
    std::string_view written(const lang::Ast &ast) const;
    std::optional<std::size_t> name_index(const lang::Ast &ast) const;
    bool is_text(const lang::Ast &ast) const;
    void require_number(const lang::Ast &ast) const;
    void check_binary(const lang::Ast &ast) const;
    lang::Type type_of(const lang::Ast &ast) const;
    void look_at(const EventView &view);

    // These are nothing where something could not be read, or was divided by zero.
    std::optional<Operand> evaluate(const lang::Ast &ast) const;
    std::optional<bool> truth(const lang::Ast &ast) const;
    std::optional<Operand> name(const lang::Ast &ast) const;
    std::optional<Operand> unary(const lang::Ast &ast) const;
    std::optional<Operand> logical(const lang::Ast &ast) const;
    std::optional<Operand> binary(const lang::Ast &ast) const;

    lang::Expression expression_;
    std::vector<RecordedValue> names_; // all but constants
    EventKeys keys_;
    const std::vector<EventKeys::PartType> *types_ = nullptr; // of the names, in the probe that was checked last
    std::unordered_map<const Probe *, std::vector<EventKeys::PartType>> known_;
    const EventView *view_ = nullptr; // the event that is looked at
    Key parts_;                       // its values, one for each of the names
};

} // namespace argtrace
