// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace argtrace {

/// Help in 80 columns, broken between words.
class HelpFormatter : public CLI::Formatter {
public:
    std::string make_usage(const CLI::App *app, std::string name) const override;
    std::string make_option(const CLI::Option *option, bool is_positional) const override;
    std::string make_subcommand(const CLI::App *command) const override;
    std::string make_description(const CLI::App *app) const override;
    std::string make_footer(const CLI::App *app) const override;
};

/// "--compress[=LEVEL]", "-o, --output FILE", "SPEC...": as it is written on a command line.
std::string option_title(const CLI::Option &option, bool is_positional);

} // namespace argtrace
