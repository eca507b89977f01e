// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace argtrace {

// Each adds its subcommand to `app`, with a callback that runs it.
void setup_list(CLI::App &app);
void setup_add(CLI::App &app);
void setup_rm(CLI::App &app);
void setup_clear(CLI::App &app);
void setup_status(CLI::App &app);
void setup_info(CLI::App &app);
void setup_doctor(CLI::App &app);
void setup_types(CLI::App &app);
void setup_report(CLI::App &app);
void setup_export(CLI::App &app);
void setup_snapshot(CLI::App &app);

// `words`: what follows `--`.
void setup_trace(CLI::App &app, const std::vector<std::string> &words);
void setup_record(CLI::App &app, const std::vector<std::string> &words);
void setup_count(CLI::App &app, const std::vector<std::string> &words);
void setup_stacks(CLI::App &app, const std::vector<std::string> &words);
void setup_profile(CLI::App &app, const std::vector<std::string> &words);
void setup_hist(CLI::App &app, const std::vector<std::string> &words);
void setup_sum(CLI::App &app, const std::vector<std::string> &words);
void setup_min(CLI::App &app, const std::vector<std::string> &words);
void setup_max(CLI::App &app, const std::vector<std::string> &words);
void setup_avg(CLI::App &app, const std::vector<std::string> &words);
void setup_latency(CLI::App &app, const std::vector<std::string> &words);
void setup_offcpu(CLI::App &app, const std::vector<std::string> &words);
void setup_top(CLI::App &app, const std::vector<std::string> &words);

} // namespace argtrace
