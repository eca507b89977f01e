// SPDX-License-Identifier: GPL-2.0-only
#include "live/pid_namespace.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "session/session.h"
#include "util/error.h"
#include "util/message.h"
#include "util/output_readers.h"

namespace argtrace {

namespace {

constexpr std::size_t told_max = 4;

// Has the module translate PIDs, which knows both.
class Translator {
public:
    Translator() : session_(Device::open()) {
        SessionOptions options;
        options.buffer = least_buffer;
        session_.create("", options);
    }

    std::vector<std::uint32_t> translate(std::span<const std::uint32_t> pids) {
        ProcessFilter filter;
        filter.pids.assign(pids.begin(), pids.end());
        session_.set_processes(filter);
        return session_.processes_in_events().pids;
    }

private:
    Session session_;
};

bool is_pid(const lang::Ast &ast) {
    constexpr std::array<std::string_view, 6> names{"pid", "tid", "ppid", "$pid", "$tid", "$ppid"};
    return ast.kind == lang::Ast::Kind::name && std::ranges::find(names, ast.token.text) != names.end();
}

// The numbers that an expression compares with pid, tid or ppid.
void add_compared(const lang::Ast &ast, std::vector<std::uint32_t> &pids) {
    if (ast.kind == lang::Ast::Kind::binary &&
        (ast.binary == lang::BinaryOperator::equal || ast.binary == lang::BinaryOperator::not_equal)) {
        const bool first = is_pid(*ast.operands[0]);
        const lang::Ast &other = *ast.operands[first ? 1 : 0];
        if ((first || is_pid(*ast.operands[1])) && other.kind == lang::Ast::Kind::number && other.token.value > 0 &&
            other.token.value <= std::numeric_limits<std::int32_t>::max())
            pids.push_back(static_cast<std::uint32_t>(other.token.value));
    }
    for (const lang::AstPtr &operand : ast.operands)
        if (operand)
            add_compared(*operand, pids);
}

std::vector<std::uint32_t> compared(const Request &request) {
    std::vector<std::uint32_t> pids;
    for (const lang::Expression &condition : request.conditions)
        add_compared(condition.root(), pids);
    for (const Spec &spec : request.specs)
        if (spec.condition)
            add_compared(spec.condition->root(), pids);
    return pids;
}

} // namespace

std::vector<std::uint32_t> pids_in_events(std::span<const std::uint32_t> pids) {
    if (pids.empty() || in_initial_pid_namespace())
        return {pids.begin(), pids.end()};
    return Translator().translate(pids);
}

std::uint32_t own_pid_in_events() {
    static const std::uint32_t own = [] {
        const std::uint32_t here[] = {static_cast<std::uint32_t>(::getpid())};
        return pids_in_events(here)[0];
    }();
    return own;
}

void tell_pid_namespace(std::span<const std::uint32_t> pids, const Request &request) {
    if (in_initial_pid_namespace())
        return;
    std::vector<std::uint32_t> named(pids.begin(), pids.end());
    std::ranges::copy(compared(request), std::back_inserter(named));
    std::vector<std::string> told;
    std::vector<std::uint32_t> known;
    Translator translator;
    for (const std::uint32_t pid : named) {
        if (std::ranges::find(known, pid) != known.end())
            continue;
        known.push_back(pid);
        if (told.size() == told_max) {
            told.emplace_back("...");
            break;
        }
        try {
            told.push_back(fmt::format("process {} here is {} there", pid, translator.translate({&pid, 1})[0]));
        } catch (const Error &) {
            told.push_back(fmt::format("{} is no process here", pid));
        }
    }
    if (told.empty())
        told.push_back(fmt::format("argtrace itself, {} here, is {} there", ::getpid(), own_pid_in_events()));
    message("events and conditions have the PIDs of the initial PID namespace, which is not this one: {}", fmt::join(told, ", "));
}

} // namespace argtrace
