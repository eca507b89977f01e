// SPDX-License-Identifier: GPL-2.0-only
#include "cli/help.h"

#include <fmt/format.h>

#include "util/wrap.h"

namespace argtrace {

namespace {

constexpr std::size_t line_width = 80;
constexpr std::size_t text_column = 28; // where descriptions begin

/// "  TITLE    DESCRIPTION", with the description on lines of its own where the title is too long.
std::string entry(const std::string &title, const std::string &description) {
    std::string text = "  " + title;
    if (description.empty())
        return text + '\n';
    if (text.size() + 2 > text_column)
        text += '\n' + std::string(text_column, ' ');
    else
        text.append(text_column - text.size(), ' ');
    return text + wrap(description, line_width, text_column) + '\n';
}

} // namespace

std::string option_title(const CLI::Option &option, bool is_positional) {
    const std::string &type = option.get_type_name();
    if (is_positional)
        return option.get_name(true, false) +
               (option.get_expected_max() >= CLI::detail::expected_max_vector_size ? "..." : "");
    std::string title;
    for (const std::string &name : option.get_snames())
        title += fmt::format("{}-{}", title.empty() ? "" : ", ", name);
    for (const std::string &name : option.get_lnames())
        title += fmt::format("{}--{}", title.empty() ? "" : ", ", name);
    if (type.starts_with("[=")) // a value that may be left out
        return title + type;
    return option.get_type_size() == 0 || type.empty() ? title : title + ' ' + type;
}

std::string HelpFormatter::make_usage(const CLI::App *app, std::string name) const {
    std::string text = "Usage: " + name + " [OPTION]...";
    for (const CLI::Option *option : app->get_options())
        if (option->get_positional())
            text += option->get_required() ? ' ' + option_title(*option, true)
                                           : fmt::format(" [{}]", option_title(*option, true));
    const auto commands = app->get_subcommands([](const CLI::App *) { return true; });
    if (!commands.empty())
        text = "Usage: " + name + " COMMAND [OPTION]...";
    return wrap(text, line_width, std::string_view("Usage: ").size()) + '\n';
}

std::string HelpFormatter::make_option(const CLI::Option *option, bool is_positional) const {
    return entry(option_title(*option, is_positional), option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App *command) const {
    return entry(command->get_name(), command->get_description());
}

std::string HelpFormatter::make_description(const CLI::App *app) const {
    return wrap(app->get_description(), line_width) + '\n';
}

std::string HelpFormatter::make_footer(const CLI::App *app) const {
    const std::string footer = app->get_footer();
    return footer.empty() ? "" : wrap(footer, line_width) + '\n';
}

} // namespace argtrace
