// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "lang/expression_error.h"
#include "lang/types.h"
#include "render/json.h"
#include "spec/calls.h"
#include "spec/kernel.h"
#include "spec/meanings.h"
#include "util/error.h"
#include "util/exit_status.h"
#include "util/message.h"
#include "util/output.h"

namespace argtrace {

namespace {

/// What is known of a type: the row that is taken, or why none is.
struct TypeMeaning {
    const Meanings::Row *row = nullptr;
    std::string why_not;
};

std::map<std::string, TypeMeaning> meanings_in(const Meanings &meanings, const lang::Types &types) {
    std::map<std::string, TypeMeaning> found;
    for (const Meanings::Row &row : meanings.rows()) {
        if (row.of_program)
            continue;
        TypeMeaning &known = found[row.type];
        if (known.row)
            continue;
        try {
            check_meaning(types, row);
            known.row = &row;
        } catch (const lang::ExpressionError &error) {
            if (known.why_not.empty())
                known.why_not = fmt::format("{}: {}", row.source, error.sentence());
        }
    }
    return found;
}

void append_text(std::string &out, const std::string &type, const TypeMeaning &meaning) {
    out += type + ": ";
    if (!meaning.row) {
        out += fmt::format("(not known here: {})\n", meaning.why_not);
        return;
    }
    std::string_view separator;
    for (const lang::ArgumentExpression &value : meaning.row->values) {
        fmt::format_to(std::back_inserter(out), "{}{} as {}", separator, value.expression.written(),
                       value.name);
        separator = ", ";
    }
    out += '\n';
}

void append_json(std::string &out, const std::string &type, const TypeMeaning &meaning) {
    out += "{\"type\":";
    append_json_string(out, type);
    out += ",\"values\":";
    if (meaning.row) {
        std::string_view separator;
        out += '{';
        for (const lang::ArgumentExpression &value : meaning.row->values) {
            out += separator;
            separator = ",";
            append_json_string(out, value.name);
            out += ':';
            append_json_string(out, value.expression.written());
        }
        out += '}';
    } else {
        out += "null,\"reason\":";
        append_json_string(out, meaning.why_not);
    }
    out += "}\n";
}

void run_types(bool json) {
    std::vector<std::string> wrong;
    const Meanings meanings = Meanings::load(wrong);
    std::ranges::copy(Calls::wrong_lines(), std::back_inserter(wrong));
    write_messages(wrong);
    Kernel kernel;
    const lang::Types types(kernel.types().kernel(), [&kernel](std::string_view name) -> std::optional<std::uint64_t> {
        try {
            return kernel.variable(name);
        } catch (const Error &) {
            return std::nullopt; // not everybody may see addresses
        }
    });
    Output output(STDOUT_FILENO);
    for (const auto &[type, meaning] : meanings_in(meanings, types))
        (json ? append_json : append_text)(output.buffer(), type, meaning);
    for (const Meanings::Row &row : meanings.rows()) // as each program has them
        if (row.of_program)
            (json ? append_json : append_text)(output.buffer(), "program " + row.type, {&row, {}});
    (void)output.flush(); // a reader that has gone is no failure
    if (!wrong.empty())
        throw ExitStatus{1};
}

} // namespace

void setup_types(CLI::App &app) {
    auto json = std::make_shared<bool>(false);
    CLI::App *command = app.add_subcommand("types", "Show what -d shows of arguments, by type");
    command->add_flag("--json", *json, "One JSON object a line");
    command->footer(
        "`it` is the argument. To add types, or to have others shown of one, write lines like "
        "these to ~/.config/argtrace/types or /etc/argtrace/types:\n"
        "  struct file *: path(it), it->f_pos as pos\n"
        "  struct my_device *: it->id, str(it->label)\n\n"
        "A type is written as in the prototypes that `argtrace list` shows, const aside. A line "
        "with nothing behind the colon has arguments of that type shown as they are. Of a struct or "
        "class of a program:\n"
        "  program app::Message*: text(it.data, it.size) as value, it.kind\n\n"
        "The numbers of system calls and functions have names there, too:\n"
        "  values ioctl: MY_IOCTL=0x1234\n"
        "  flags mine: MINE_A=1 MINE_B=2\n"
        "  my_function(how: mine)");
    command->callback([json] { run_types(*json); });
}

} // namespace argtrace
