// SPDX-License-Identifier: GPL-2.0-only
#include "render/status.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/clock.h"
#include "model/counts.h"
#include "model/return_way.h"
#include "render/json.h"
#include "util/error.h"

namespace argtrace {

namespace {

/// With a mark when its prototype was guessed.
std::string shown_name(const Probe &probe) {
    return probe.forced ? probe.function + '~' : probe.function;
}

constexpr std::pair<std::string_view, StatusOrder> orders[]{
    {"hits", StatusOrder::hits}, {"records", StatusOrder::records},
    {"lost", StatusOrder::lost}, {"filtered", StatusOrder::filtered},
    {"sampled", StatusOrder::sampled}, {"capped", StatusOrder::capped},
    {"faults", StatusOrder::faults}, {"name", StatusOrder::name},
};

std::uint64_t key(const argtrace_counts &counts, StatusOrder order, std::uint64_t beside) {
    switch (order) {
    case StatusOrder::hits:
        return hits(counts) + beside;
    case StatusOrder::records:
        return counts.records;
    case StatusOrder::lost:
        return lost_total(counts);
    case StatusOrder::filtered:
        return counts.filtered;
    case StatusOrder::sampled:
        return counts.sampled;
    case StatusOrder::capped:
        return counts.capped;
    case StatusOrder::faults:
        return counts.faults;
    case StatusOrder::name:
        break;
    }
    return 0; // all alike: the name decides
}

/// The columns of numbers, each as wide as it needs to be. What only programs count, or calls whose returns are followed, is left
/// out where there are none.
class CountColumns {
public:
    CountColumns(const argtrace_counts &largest, const ReturnTotals &returns) {
        const auto numbers = values(largest, returns);
        for (std::size_t i = 0; i < heads.size(); ++i) {
            if (i < always_shown || numbers[i] > 0)
                widths_[i] = gap + std::max(heads[i].size(), fmt::formatted_size("{}", numbers[i]));
        }
    }

    std::size_t width() const {
        return std::accumulate(widths_.begin(), widths_.end(), std::size_t{0});
    }

    void append_head(std::string &out) const { append_line(out, heads); }
    void append(std::string &out, const argtrace_counts &counts, const ReturnTotals &returns) const {
        append_line(out, values(counts, returns));
    }

private:
    static constexpr std::size_t gap = 2;
    static constexpr std::array<std::string_view, 9> heads{
        "HITS", "RECORDS", "LOST", "FILTERED", "IN-FLIGHT", "UNFOLLOWED", "SAMPLED", "CAPPED", "FAULTS"};
    static constexpr std::size_t always_shown = 4;

    static std::array<std::uint64_t, heads.size()> values(const argtrace_counts &counts, const ReturnTotals &returns) {
        const std::uint64_t unfollowed = unfollowed_total(returns);
        return {hits(counts) + returns.in_flight + unfollowed, counts.records, lost_total(counts), counts.filtered,
                returns.in_flight, unfollowed, counts.sampled, counts.capped, counts.faults};
    }

    template<typename Cell>
    void append_line(std::string &out, const std::array<Cell, heads.size()> &cells) const {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (widths_[i] > 0)
                fmt::format_to(std::back_inserter(out), "{:>{}}", cells[i], widths_[i]);
        }
        out += '\n';
    }

    std::array<std::size_t, heads.size()> widths_{}; // with the gap before; 0: not shown
};

/// What stands behind "func" in a status line, or in that of the totals.
void append_counts_json(std::string &out, const argtrace_counts &counts, std::uint64_t beside = 0) {
    auto to = std::back_inserter(out);
    fmt::format_to(to, "\"hits\":{},\"records\":{},\"lost\":{{", hits(counts) + beside,
                   std::uint64_t{counts.records});
    for (std::size_t i = 0; i < lost_causes.size(); ++i)
        fmt::format_to(to, "{}\"{}\":{}", i > 0 ? "," : "", lost_causes[i].key,
                       std::uint64_t{counts.lost[i]});
    fmt::format_to(to, "}},\"filtered\":{},\"sampled\":{},\"capped\":{},\"faults\":{}",
                   std::uint64_t{counts.filtered}, std::uint64_t{counts.sampled},
                   std::uint64_t{counts.capped}, std::uint64_t{counts.faults});
}

void append_returns_json(std::string &out, const ReturnTotals &returns) {
    auto to = std::back_inserter(out);
    fmt::format_to(to, ",\"in_flight\":{},\"unfollowed\":{{", returns.in_flight);
    for (std::size_t i = 0; i < unfollowed_causes.size(); ++i)
        fmt::format_to(to, "{}\"{}\":{}", i > 0 ? "," : "", unfollowed_causes[i].key,
                       returns.unfollowed[i]);
    out += '}';
}

/// Those of one probe; none for one whose returns are not followed.
ReturnTotals returns_of(const std::optional<SessionState> &session, std::uint32_t id) {
    if (!session)
        return {};
    const auto found = session->returns.find(id);
    return found == session->returns.end() ? ReturnTotals{} : found->second;
}

/// Those of the probes that are shown.
ReturnTotals returns_of_all(const std::optional<SessionState> &session, std::span<const Probe> probes) {
    ReturnTotals sum;
    for (const Probe &probe : probes) {
        const ReturnTotals one = returns_of(session, probe.id);
        sum.in_flight += one.in_flight;
        for (std::size_t i = 0; i < sum.unfollowed.size(); ++i)
            sum.unfollowed[i] += one.unfollowed[i];
    }
    return sum;
}

void append_session_text(std::string &out, const SessionState &session, const ReturnTotals &returns) {
    auto to = std::back_inserter(out);
    fmt::format_to(to, "clock: {}\n", clock_name(session.clock));
    if (!session.processes.pids.empty())
        fmt::format_to(to, "only calls of {}; the others are filtered\n",
                       describe(session.processes));
    if (const std::string beside = describe_returns(returns); !beside.empty())
        fmt::format_to(to, "calls whose returns are followed: {}\n", beside);
    if (const std::string remedy = taken_remedy(returns); !remedy.empty())
        out += remedy + '\n';
    if (const std::string functions = describe_in_flight(session.in_flight); !functions.empty())
        fmt::format_to(to, "in flight: {}\n", functions);
    if (session.stack_loss)
        if (const std::string sentence = stack_loss_sentence(*session.stack_loss); !sentence.empty())
            out += sentence + '\n';
    if (session.user_stack_loss)
        for (const std::string &sentence : stack_loss_sentences(*session.user_stack_loss))
            out += sentence + '\n';
    if (session.overwritten)
        fmt::format_to(to, "flight recorder: {} of the records have been overwritten since\n",
                       *session.overwritten);
}

void append_session_json(std::string &out, const SessionState &session) {
    auto to = std::back_inserter(out);
    if (session.overwritten)
        fmt::format_to(to, ",\"overwritten\":{}", *session.overwritten);
    if (session.stack_loss)
        append_stack_loss_json(out, *session.stack_loss);
    if (session.user_stack_loss)
        append_stack_loss_json(out, *session.user_stack_loss);
    fmt::format_to(to, ",\"clock\":\"{}\"", clock_name(session.clock));
    if (!session.processes.pids.empty())
        fmt::format_to(to, ",\"processes\":[{}],\"children\":{}",
                       fmt::join(session.processes.pids, ","), session.processes.children);
}

/// What came of the last load, as far as it is not what was wanted.
std::string describe_load(const argtrace_on_load_order &order) {
    if (order.loads == 0)
        return "not loaded yet";
    if (order.armed + order.absent + order.refused == 0 && order.error == 0)
        return "another build was loaded: add them again for that one";
    if (order.error != 0)
        return fmt::format("none could be traced: {}", std::strerror(-order.error));
    std::vector<std::string> parts;
    if (order.absent > 0)
        parts.push_back(fmt::format("{} not in the module that was loaded", order.absent));
    if (order.refused > 0)
        parts.push_back(fmt::format("{} that ftrace does not trace", order.refused));
    return fmt::format("{}", fmt::join(parts, ", "));
}

void append_orders_text(std::string &out, std::span<const argtrace_on_load_order> orders) {
    if (orders.empty())
        return;
    std::size_t width = sizeof("ON LOAD OF") - 1;
    for (const argtrace_on_load_order &order : orders)
        width = std::max(width, std::string_view(order.module).size());
    fmt::format_to(std::back_inserter(out), "\n{:{}} {:>9} {:>6} {:>6}  LAST LOAD\n", "ON LOAD OF",
                   width, "FUNCTIONS", "LOADS", "TRACED");
    for (const argtrace_on_load_order &order : orders) {
        const std::string note = describe_load(order);
        fmt::format_to(std::back_inserter(out), "{:{}} {:>9} {:>6} {:>6}{}{}\n", order.module,
                       width, std::uint32_t{order.count}, std::uint32_t{order.loads},
                       std::uint32_t{order.armed}, note.empty() ? "" : "  ", note);
    }
}

void append_orders_json(std::string &out, std::span<const argtrace_on_load_order> orders) {
    for (const argtrace_on_load_order &order : orders) {
        out += "{\"on_load\":";
        append_json_string(out, order.module);
        fmt::format_to(std::back_inserter(out),
                       ",\"functions\":{},\"loads\":{},\"other_builds\":{},\"traced\":{},"
                       "\"absent\":{},\"refused\":{}",
                       std::uint32_t{order.count}, std::uint32_t{order.loads},
                       std::uint32_t{order.other_builds}, std::uint32_t{order.armed},
                       std::uint32_t{order.absent}, std::uint32_t{order.refused});
        if (order.error != 0) {
            out += ",\"error\":";
            append_json_string(out, std::strerror(-order.error));
        }
        out += "}\n";
    }
}

/// Which of them the kernel follows until they return, by what means and why.
void append_ways_text(std::string &out, std::span<const Probe> probes) {
    std::map<std::pair<std::string_view, std::string_view>, std::vector<std::string>> ways;
    for (const Probe &probe : probes)
        if (is_by_kernel(probe))
            ways[{return_way(probe), reason_of(probe).words}].push_back(shown_name(probe));
    constexpr std::size_t most = 8;
    for (auto &[way, names] : ways) {
        const std::size_t others = names.size() - std::min(names.size(), most);
        names.resize(names.size() - others);
        fmt::format_to(std::back_inserter(out), "returns by {} ({}): {}{}\n", way.first, way.second, fmt::join(names, ", "),
                       others > 0 ? fmt::format(" and {} more", others) : "");
    }
}

} // namespace

StatusOrder parse_status_order(const std::string &text) {
    for (const auto &[name, order] : orders) {
        if (text == name)
            return order;
    }
    throw Error(fmt::format("--sort is hits, records, lost, filtered, sampled, capped, faults or name, not '{}'",
                            text));
}

void sort_status(std::vector<Probe> &probes, std::vector<argtrace_counts> &counts,
                 StatusOrder order, const ReturnsById &returns) {
    std::vector<std::size_t> places(probes.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        const std::uint64_t one = key(counts[a], order, beside_counts(returns, probes[a].id));
        const std::uint64_t other = key(counts[b], order, beside_counts(returns, probes[b].id));
        return one != other ? one > other : probes[a].function < probes[b].function;
    });
    std::vector<Probe> sorted_probes;
    std::vector<argtrace_counts> sorted_counts;
    for (const std::size_t place : places) {
        sorted_probes.push_back(std::move(probes[place]));
        sorted_counts.push_back(counts[place]);
    }
    probes = std::move(sorted_probes);
    counts = std::move(sorted_counts);
}

std::size_t drop_uncalled(std::vector<Probe> &probes, std::vector<argtrace_counts> &counts,
                          const ReturnsById &returns) {
    const std::size_t all = probes.size();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all; ++i) {
        if (hits(counts[i]) + beside_counts(returns, probes[i].id) == 0)
            continue;
        if (kept != i) {
            probes[kept] = std::move(probes[i]);
            counts[kept] = counts[i];
        }
        ++kept;
    }
    probes.resize(kept);
    counts.resize(kept);
    return all - kept;
}

void append_status_text(std::string &out, std::span<const Probe> probes,
                        std::span<const argtrace_counts> counts,
                        std::span<const argtrace_on_load_order> orders,
                        const std::optional<SessionState> &session,
                        std::optional<std::size_t> line_width) {
    const ReturnTotals returns = returns_of_all(session, probes);
    const CountColumns columns(total_of(counts), returns); // nothing is wider than the totals
    constexpr std::size_t least_width = sizeof("total") - 1;
    std::size_t width = least_width;
    for (const Probe &probe : probes)
        width = std::max(width, shown_name(probe).size());
    if (line_width) {
        const std::size_t left = *line_width - std::min(columns.width(), *line_width);
        width = std::min(width, std::max(left, least_width));
    }

    auto to = std::back_inserter(out);
    const auto line = [&](std::string_view name, const argtrace_counts &one, const ReturnTotals &beside) {
        fmt::format_to(to, "{:{}}", name, width);
        if (name.size() > width) // the name gets a line of its own
            fmt::format_to(to, "\n{:{}}", "", width);
        columns.append(out, one, beside);
    };
    fmt::format_to(to, "{:{}}", "FUNC", width);
    columns.append_head(out);
    for (std::size_t i = 0; i < probes.size(); ++i)
        line(shown_name(probes[i]), counts[i], returns_of(session, probes[i].id));
    line("total", total_of(counts), returns);
    append_ways_text(out, probes);
    if (session)
        append_session_text(out, *session, returns);
    append_orders_text(out, orders);
}

void append_status_json(std::string &out, std::span<const Probe> probes,
                        std::span<const argtrace_counts> counts,
                        std::span<const argtrace_on_load_order> orders,
                        const std::optional<SessionState> &session) {
    for (std::size_t i = 0; i < probes.size(); ++i) {
        out += "{\"func\":";
        append_json_string(out, probes[i].function);
        if (probes[i].forced)
            out += ",\"forced\":true";
        if (probes[i].flags & ARGTRACE_PROBE_GONE)
            out += ",\"unloaded\":true";
        if (records_returns(probes[i]))
            fmt::format_to(std::back_inserter(out), ",\"return_by\":\"{}\"", return_way(probes[i]));
        if (is_by_kernel(probes[i]))
            fmt::format_to(std::back_inserter(out), ",\"return_by_reason\":\"{}\"", reason_of(probes[i]).key);
        out += ',';
        const ReturnTotals returns = returns_of(session, probes[i].id);
        append_counts_json(out, counts[i], returns.in_flight + unfollowed_total(returns));
        if (records_returns(probes[i]) && session)
            append_returns_json(out, returns);
        out += "}\n";
    }
    append_orders_json(out, orders);
    out += '{';
    const ReturnTotals returns = returns_of_all(session, probes);
    append_counts_json(out, total_of(counts), returns.in_flight + unfollowed_total(returns));
    if (session && !session->returns.empty())
        append_returns_json(out, returns);
    if (session)
        append_session_json(out, *session);
    out += "}\n";
}

std::vector<std::string> loss_remedies(const argtrace_counts &total, bool flight, bool own,
                                       const std::string &larger) {
    std::vector<std::string> remedies;
    if (total.lost[ARGTRACE_LOST_FULL] > 0) {
        std::string what = flight ? "calls were lost to interrupts that filled a whole ring at once"
                                  : "calls were lost to full rings";
        std::string flag = flight ? "--flight " : "";
        remedies.push_back(
            own ? fmt::format("{}: use --buffer {}", what, larger)
                : fmt::format("{}: `argtrace clear`, then `argtrace add {}--buffer {} ...`", what,
                              flag, larger));
    }
    if (total.lost[ARGTRACE_LOST_RECURSION] > 0)
        remedies.emplace_back("calls were lost inside a tracer, or while one was starting: end "
                              "other tracers of the same functions, or leave out the functions "
                              "that tracers call");
    if (total.lost[ARGTRACE_LOST_NO_BUFFER] > 0)
        remedies.emplace_back(
            own ? "calls were lost on a CPU that came online while tracing, when there was no memory for its ring: start "
                  "again with a smaller --buffer"
                : "calls were lost on a CPU that came online after `argtrace add`, when there was no memory for its "
                  "ring: `argtrace clear`, then `argtrace add --buffer ...` with less");
    return remedies;
}

std::string taken_remedy(const ReturnTotals &returns) {
    if (returns.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] == 0)
        return "";
    return "one alone can take a call elsewhere: end the other session, live patch or tracer of these functions, or have the kernel "
           "follow them, with --return-by kretprobe";
}

std::string calls_summary(const argtrace_counts &total, std::optional<std::uint64_t> overwritten,
                          const ReturnTotals &returns, const UnreadValues &unread) {
    std::string causes = describe_lost(total);
    std::uint64_t calls = hits(total) + returns.in_flight + unfollowed_total(returns);
    std::string text =
        fmt::format("{} call{}: {} recorded, {} lost{}, {} filtered", calls, calls == 1 ? "" : "s",
                    std::uint64_t{total.records}, lost_total(total),
                    causes.empty() ? "" : fmt::format(" ({})", causes), std::uint64_t{total.filtered});
    auto to = std::back_inserter(text);
    if (total.sampled > 0)
        fmt::format_to(to, ", {} sampled out", std::uint64_t{total.sampled});
    if (total.capped > 0)
        fmt::format_to(to, ", {} capped", std::uint64_t{total.capped});
    if (overwritten)
        fmt::format_to(to, ", {} overwritten since", *overwritten);
    if (const std::string beside = describe_returns(returns); !beside.empty())
        text += ", " + beside;
    if (total.faults > 0)
        fmt::format_to(to, "; {} fault{}{}{}", std::uint64_t{total.faults}, total.faults == 1 ? "" : "s", unread.empty() ? "" : ": ",
                       unread.describe());
    return text;
}

void append_summary_json(std::string &out, std::uint64_t shown, const argtrace_counts *total,
                         const ReturnTotals *returns, const StackLoss *stacks, const UnreadValues &unread,
                         const UserStackLoss *user_stacks) {
    fmt::format_to(std::back_inserter(out), "{{\"shown\":{},", shown);
    if (total)
        append_counts_json(out, *total,
                           returns ? returns->in_flight + unfollowed_total(*returns) : 0);
    else
        out += R"("hits":null,"records":null,"lost":null,"filtered":null,)"
               R"("sampled":null,"capped":null,"faults":null)";
    if (returns)
        append_returns_json(out, *returns);
    if (stacks)
        append_stack_loss_json(out, *stacks);
    if (user_stacks)
        append_stack_loss_json(out, *user_stacks);
    if (!unread.empty()) {
        out += ",\"unread\":";
        unread.append_json(out);
    }
    out += "}\n";
}

namespace {

template<std::size_t N>
void append_causes_json(std::string &out, std::string_view name, const std::array<std::uint64_t, N> &counts,
                        const std::array<LostCause, N> &causes) {
    auto to = std::back_inserter(out);
    fmt::format_to(to, ",\"{}\":{{", name);
    for (std::size_t i = 0; i < N; ++i)
        fmt::format_to(to, "{}\"{}\":{}", i > 0 ? "," : "", causes[i].key, counts[i]);
    out += '}';
}

} // namespace

void append_stack_loss_json(std::string &out, const StackLoss &loss) {
    append_causes_json(out, "stacks_lost", loss, stack_loss_causes);
}

void append_stack_loss_json(std::string &out, const UserStackLoss &loss) {
    append_causes_json(out, "user_stacks_lost", loss.lost, stack_loss_causes);
    append_causes_json(out, "user_stacks_incomplete", loss.incomplete, stack_end_causes);
    fmt::format_to(std::back_inserter(out), ",\"user_mappings_lost\":{{\"files\":{},\"processes\":{},\"tables\":{}}}", loss.unnumbered, loss.unknown,
                   loss.refused);
}

std::vector<std::string> stack_loss_sentences(const UserStackLoss &loss) {
    std::vector<std::string> sentences;
    const auto sum = [](const auto &counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); };
    if (const std::uint64_t calls = sum(loss.lost); calls > 0)
        sentences.push_back(fmt::format("{} call{} no stack of user code: {}", calls, calls == 1 ? " has" : "s have",
                                        describe_stack_loss(loss.lost)));
    if (const std::uint64_t stacks = sum(loss.incomplete); stacks > 0)
        sentences.push_back(fmt::format("{} stack{} of user code {} incomplete, which [... REASON] shows: {}", stacks, stacks == 1 ? "" : "s",
                                        stacks == 1 ? "is" : "are", describe_stack_ends(loss)));
    if (loss.unnumbered > 0)
        sentences.push_back(fmt::format("{} of files {} not followed, as there were too many files or no memory: {} code is in [anonymous]",
                                        loss.unnumbered == 1 ? "1 mapping" : fmt::format("{} mappings", loss.unnumbered),
                                        loss.unnumbered == 1 ? "was" : "were", loss.unnumbered == 1 ? "its" : "their"));
    if (loss.unknown > 0)
        sentences.push_back(fmt::format("the mappings of {} process{} are not known, as there was no memory", loss.unknown,
                                        loss.unknown == 1 ? "" : "es"));
    if (loss.refused > 0)
        sentences.push_back(fmt::format("the module has refused the unwind table of {} file{}, without which stacks may be incomplete, as its memory "
                                        "limit leaves no room: raise it, in /sys/module/argtrace/parameters/memory_limit_mb",
                                        loss.refused, loss.refused == 1 ? "" : "s"));
    return sentences;
}

std::string stack_loss_sentence(const StackLoss &loss) {
    const std::uint64_t calls = std::accumulate(loss.begin(), loss.end(), std::uint64_t{0});
    if (calls == 0)
        return "";
    return fmt::format("{} call{} no stack: {}", calls, calls == 1 ? " has" : "s have", describe_stack_loss(loss));
}

std::string stack_loss_remedy(const StackLoss &loss, std::uint32_t room, bool own) {
    constexpr std::uint32_t growth = 8;
    if (loss[ARGTRACE_STACK_LOST_FULL] == 0)
        return "";
    if (room >= ARGTRACE_STACK_ENTRIES_MAX)
        return fmt::format("no table has room for more than {} stacks: take those of fewer functions, or of calls that a "
                           "condition chooses",
                           ARGTRACE_STACK_ENTRIES_MAX);
    const std::uint32_t larger = std::min<std::uint32_t>(room * growth, ARGTRACE_STACK_ENTRIES_MAX);
    return own ? fmt::format("make room for more stacks with --stack-table-size {}", larger)
               : fmt::format("make room for more stacks: `argtrace clear`, then `argtrace add --stack-table-size {} ...`",
                             larger);
}

std::string trace_summary(std::uint64_t shown, const argtrace_counts &total,
                          const ReturnTotals &returns, const UnreadValues &unread) {
    return fmt::format("{} event{} shown; {}", shown, shown == 1 ? "" : "s",
                       calls_summary(total, std::nullopt, returns, unread));
}

} // namespace argtrace
