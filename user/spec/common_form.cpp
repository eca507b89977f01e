// SPDX-License-Identifier: GPL-2.0-only
#include "spec/common_form.h"

#include <algorithm>

#include "lang/parser.h"
#include "model/probe_kind.h"

namespace argtrace {

void CommonForm::add(const Function &function, std::string_view name) {
    const auto &parameters = function.prototype.parameters;
    const auto found = std::ranges::find(parameters, name, &Parameter::name);
    const bool is_result = found == parameters.end();
    if (is_result && name != lang::result_name)
        add_row_form(nullptr);
    else
        add_rows(function.name(), is_result ? std::nullopt : std::optional(static_cast<std::size_t>(found - parameters.begin())), name,
                 is_result ? std::string_view() : found->type);
}

void CommonForm::add(const Probe &probe, const Argument &argument) {
    const bool is_result = argument.loc == ARGTRACE_LOC_RETURN;
    const bool is_argument = argument.loc != ARGTRACE_LOC_PROGRAM && argument.loc != ARGTRACE_LOC_NONE;
    if (!is_argument || (!is_result && argument.loc != ARGTRACE_LOC_REG && *split_title(probe.function).kind == syscall_kind))
        add_row_form(nullptr);
    else
        add_rows(probe.function, is_result ? std::nullopt : std::optional<std::size_t>(argument.index), argument.name, argument.type_name);
}

/// `position`: nothing means the result.
void CommonForm::add_rows(std::string_view title, std::optional<std::size_t> position, std::string_view name, std::string_view type) {
    const bool is_syscall = *split_title(title).kind == syscall_kind;
    const std::vector<CallRow> *rows = calls_.rows(title);
    if (!rows)
        add_row_form(position && *split_title(title).kind == function_kind ? calls_.otherwise(name, type) : nullptr);
    for (std::size_t i = 0; rows && i < rows->size(); ++i) {
        const CallRow &row = (*rows)[i];
        if (!position) {
            add_row_form(&row.result);
        } else if (is_syscall) {
            add_row_form(*position < row.arguments.size() ? &row.arguments[*position].shown : nullptr);
        } else {
            const CallRow::Argument *known = row.argument(name);
            add_row_form(known ? &known->shown : calls_.otherwise(name, type));
        }
    }
}

void CommonForm::add_row_form(const ShownAs *form) {
    const bool is_plain = form && !form->structure && *form != ShownAs();
    differs_ = differs_ || !is_plain || (form_ && *form_ != *form);
    if (is_plain)
        form_ = *form;
}

std::optional<ShownAs> CommonForm::form() const {
    return differs_ ? std::nullopt : form_;
}

} // namespace argtrace
