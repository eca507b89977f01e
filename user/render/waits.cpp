// SPDX-License-Identifier: GPL-2.0-only
#include "render/waits.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/call_node.h"
#include "render/flame_graph.h"
#include "render/json.h"
#include "render/pprof.h"
#include "render/stack.h"
#include "render/stack_flames.h"
#include "render/stack_summary.h"
#include "render/table.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"
#include "util/wide_number.h"

namespace argtrace {

namespace {

using WaitRow = const WaitTotals::Entries::value_type *;

constexpr std::string_view new_task = "[new task]";
constexpr std::string_view runnable_frame = "[runnable]";
constexpr std::string_view waker_border = "--";

constexpr std::pair<std::string_view, WaitOrder> wait_order_names[]{
    {"total", WaitOrder::total}, {"blocked", WaitOrder::blocked}, {"runnable", WaitOrder::runnable},
    {"count", WaitOrder::count}, {"longest", WaitOrder::longest},
};

constexpr std::pair<char, std::string_view> state_words[]{
    {'R', "runnable"}, {'S', "sleeping"}, {'D', "uninterruptible"}, {'T', "stopped"},
    {'t', "traced"},   {'P', "parked"},   {'I', "idle"},
};

WideNumber wait_rank(const WaitTotal &total, WaitOrder order) {
    switch (order) {
    case WaitOrder::blocked:
        return total.blocked;
    case WaitOrder::runnable:
        return total.runnable;
    case WaitOrder::count:
        return total.waits;
    case WaitOrder::longest:
        return total.longest;
    case WaitOrder::total:
        break;
    }
    return total.time();
}

/// Always the same order, whatever that of the entries is.
bool wait_key_before(const Key &a, const Key &b) {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(), [](const KeyPart &one, const KeyPart &other) {
            return std::tie(one.text, one.value.low) < std::tie(other.text, other.value.low);
        });
}

std::vector<WaitRow> wait_rows(const WaitTotals &totals, const WaitStyle &style) {
    std::vector<WaitRow> rows;
    for (const auto &row : totals.entries())
        rows.push_back(&row);
    std::sort(rows.begin(), rows.end(), [&style](WaitRow a, WaitRow b) {
        const auto one = wait_rank(a->second, style.order), other = wait_rank(b->second, style.order);
        return one != other ? one > other : wait_key_before(a->first, b->first);
    });
    if (style.top && rows.size() > *style.top)
        rows.resize(*style.top);
    return rows;
}

/// The parts of a key.
struct WaitParts {
    std::span<const KeyPart> plain;
    const KeyPart *stack = nullptr;
    const KeyPart *user_stack = nullptr;
    const KeyPart *waker = nullptr;
    const KeyPart *waker_stack = nullptr;

    WaitParts(const Key &key, const WaitTotals::Wanted &wanted) {
        std::size_t at = wanted.keys.size();
        plain = std::span(key).first(at);
        if (wanted.stacks)
            stack = &key[at++];
        if (wanted.user_stacks)
            user_stack = &key[at++];
        if (wanted.wakers) {
            waker = &key[at];
            waker_stack = &key[at + 1];
        }
    }
};

std::string wait_key_text(const KeyPart &part, WaitKey key, KeyText &keys) {
    return keys.text({std::string(wait_key_name(key))}, part);
}

std::string wait_title(const WaitParts &parts, const WaitTotals::Wanted &wanted, KeyText &keys) {
    std::string title;
    for (std::size_t i = 0; i < parts.plain.size(); ++i)
        title += fmt::format(", {}={}", wait_key_name(wanted.keys[i]),
                             wait_key_text(parts.plain[i], wanted.keys[i], keys));
    return title;
}

StackValues stack_values(const KeyPart *kernel, const KeyPart *user = nullptr) {
    return {kernel ? &kernel->value : nullptr, user ? &user->value : nullptr};
}

/// The task has not run yet, and has none.
bool is_of_new_task(const StackValues &stacks) {
    return (stacks.kernel ? stacks.kernel : stacks.user)->high != 0;
}

/// The outermost first.
std::vector<StackFrame> wait_frames(const StackValues &stacks, KeyText &keys) {
    if (is_of_new_task(stacks))
        return {{keys.names().number(new_task)}};
    return stack_frames(keys.names(), stacks);
}

void append_wait_stack(std::string &out, const StackValues &stacks, KeyText &keys) {
    if (is_of_new_task(stacks)) {
        fmt::format_to(std::back_inserter(out), "        {}\n", new_task);
        return;
    }
    Line lines;
    append_call_stacks(lines, keys.names(), stacks);
    out += lines.view();
}

double share_of(const WaitTotal &part, const WaitTotal &all) {
    return all.time() > 0 ? 100.0 * static_cast<double>(part.time()) / static_cast<double>(all.time()) : 0;
}

std::string plural(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string are_waits(std::uint64_t count) {
    return plural(count, "wait") + (count == 1 ? " is" : " are");
}

void append_wait_stacks(std::string &out, const WaitTotals &totals, KeyText &keys,
                        const std::vector<WaitRow> &rows) {
    auto to = std::back_inserter(out);
    for (const WaitRow row : rows) {
        const WaitParts parts(row->first, totals.wanted());
        const WaitTotal &total = row->second;
        append_wait_stack(out, stack_values(parts.stack, parts.user_stack), keys);
        if (parts.waker && total.blocked > 0) {
            fmt::format_to(to, "      woken by {}:\n", keys.text({"waker"}, *parts.waker));
            append_wait_stack(out, stack_values(parts.waker_stack), keys);
        }
        fmt::format_to(to, "    {}: {} blocked, {} runnable ({:.1f} %), longest {}{}\n\n",
                       plural(total.waits, "wait"), format_duration(total.blocked),
                       format_duration(total.runnable), share_of(total, totals.all()),
                       format_duration(total.longest), wait_title(parts, totals.wanted(), keys));
    }
}

void add_wait_columns(Table &table) {
    for (const char *head : {"WAITS", "BLOCKED", "RUNNABLE", "LONGEST", "%"})
        table.add_column(head, true);
}

void add_wait_cells(Table &table, const WaitTotal &total, const WaitTotal &all) {
    table.add_cell(fmt::format("{}", total.waits));
    table.add_cell(format_duration(total.blocked));
    table.add_cell(format_duration(total.runnable));
    table.add_cell(format_duration(total.longest));
    table.add_cell(fmt::format("{:.1f}", share_of(total, all)));
}

void append_wait_table(std::string &out, const WaitTotals &totals, KeyText &keys,
                       const std::vector<WaitRow> &rows) {
    Table table;
    for (const WaitKey key : totals.wanted().keys) {
        std::string head(wait_key_name(key));
        std::transform(head.begin(), head.end(), head.begin(),
                       [](unsigned char one) { return static_cast<char>(std::toupper(one)); });
        table.add_column(std::move(head),
                         key == WaitKey::pid || key == WaitKey::tid || key == WaitKey::cpu);
    }
    add_wait_columns(table);
    for (const WaitRow row : rows) {
        for (std::size_t i = 0; i < totals.wanted().keys.size(); ++i)
            table.add_cell(wait_key_text(row->first[i], totals.wanted().keys[i], keys));
        add_wait_cells(table, row->second, totals.all());
    }
    table.append_to(out);
}

void append_wait_states(std::string &out, const WaitTotals &totals) {
    Table table;
    table.add_column("STATE", false);
    add_wait_columns(table);
    for (const auto &[letter, total] : totals.states()) {
        const auto known = std::find_if(std::begin(state_words), std::end(state_words),
                                        [letter = letter](const auto &one) { return one.first == letter; });
        table.add_cell(known == std::end(state_words) ? std::string(1, letter)
                                                      : fmt::format("{} {}", letter, known->second));
        add_wait_cells(table, total, totals.all());
    }
    table.append_to(out);
}

/// Calls `take` with the parts of a key, a chain of frames, from the outermost on, and the time that was spent at its end.
template<typename Take>
void for_each_stack(const WaitTotals &totals, KeyText &keys, const std::vector<WaitRow> &rows, const Take &take) {
    for (const WaitRow row : rows) {
        const WaitParts parts(row->first, totals.wanted());
        std::vector<StackFrame> frames = wait_frames(stack_values(parts.stack, parts.user_stack), keys);
        const WaitTotal &total = row->second;
        if (total.runnable > 0) {
            frames.push_back({keys.names().number(runnable_frame)});
            take(parts, frames, total.runnable, total.waits);
            frames.pop_back();
        }
        if (total.blocked == 0)
            continue;
        if (parts.waker) {
            frames.push_back({keys.names().number(waker_border)});
            std::vector<StackFrame> callers = wait_frames(stack_values(parts.waker_stack), keys);
            for (auto frame = callers.rbegin(); frame != callers.rend(); ++frame)
                frames.push_back(*frame);
            frames.push_back({keys.names().number(keys.text({"waker"}, *parts.waker))});
        }
        take(parts, frames, total.blocked, total.waits);
    }
}

/// The same with the parts of the key as the outermost frames, whose names are such as folded stacks have.
template<typename Take>
void for_each_chain(const WaitTotals &totals, KeyText &keys, const std::vector<WaitRow> &rows, const Take &take) {
    for_each_stack(totals, keys, rows, [&](const WaitParts &parts, const std::vector<StackFrame> &stack, std::uint64_t time, std::uint64_t waits) {
        std::vector<StackFrame> frames;
        for (std::size_t i = 0; i < parts.plain.size(); ++i)
            frames.push_back({keys.names().number(frame_name(wait_key_text(parts.plain[i], totals.wanted().keys[i], keys)))});
        for (const StackFrame &frame : stack)
            frames.push_back({keys.folded(frame.name), frame.space});
        take(frames, time, waits);
    });
}

void append_wait_profile(std::string &out, const WaitTotals &totals, KeyText &keys, const std::vector<WaitRow> &rows) {
    const PprofProfile::Kind kinds[]{{"waits", "count"}, {"delay", "nanoseconds"}}; // as Go's profiles of blocking have them
    PprofProfile profile(keys.names(), kinds);
    profile.set_time(realtime_now());
    for_each_stack(totals, keys, rows, [&](const WaitParts &parts, const std::vector<StackFrame> &frames, std::uint64_t time, std::uint64_t waits) {
        PprofProfile::Labels labels;
        for (std::size_t i = 0; i < parts.plain.size(); ++i)
            labels.emplace_back(wait_key_name(totals.wanted().keys[i]), wait_key_text(parts.plain[i], totals.wanted().keys[i], keys));
        const std::uint64_t values[]{waits, time};
        profile.add(frames, values, labels);
    });
    out += profile.finish();
}

void append_folded_waits(std::string &out, const WaitTotals &totals, KeyText &keys,
                         const std::vector<WaitRow> &rows) {
    for_each_chain(totals, keys, rows,
                   [&](const std::vector<StackFrame> &frames, std::uint64_t time, std::uint64_t) {
                       append_folded_frames(out, frames, keys.names());
                       fmt::format_to(std::back_inserter(out), " {}\n", time);
                   });
}

void append_wait_graph(std::string &out, const WaitTotals &totals, KeyText &keys,
                       const std::vector<WaitRow> &rows, StackForm form) {
    CallNode root;
    for_each_chain(totals, keys, rows,
                   [&](const std::vector<StackFrame> &frames, std::uint64_t time, std::uint64_t waits) {
                       CallNode *node = &root;
                       for (const StackFrame &frame : frames)
                           node = &callee_of(*node, keys.names().text(frame.name), frame.space == CodeSpace::user);
                       node->self += time;
                       node->calls += waits;
                   });
    FlameGraph graph(form == StackForm::svg ? FlameGraph::Page::svg : FlameGraph::Page::html,
                     FlameGraph::Unit::nanoseconds);
    graph.draw(root, {"Time off CPU", "", 0, totals.wanted().keys.size()}, [&out](std::string &piece) {
        out += piece;
        piece.clear();
    });
}

void append_wait_total_json(std::string &out, const WaitTotal &total) {
    fmt::format_to(std::back_inserter(out), "\"waits\":{},\"blocked\":{},\"runnable\":{},\"longest\":{}",
                   total.waits, total.blocked, total.runnable, total.longest);
}

void append_wait_stack_json(std::string &out, const StackValues &stacks, KeyText &keys) {
    if (is_of_new_task(stacks)) {
        if (stacks.kernel)
            fmt::format_to(std::back_inserter(out), ",\"stack\":[\"{}\"]", new_task);
        if (stacks.user)
            out += ",\"user_stack\":[]";
        return;
    }
    Line line;
    append_json_stacks(line, keys.names(), stacks);
    out += line.view();
}

} // namespace

WaitOrder parse_wait_order(const std::string &text) {
    std::vector<std::string_view> names;
    for (const auto &[name, order] : wait_order_names) {
        if (name == text)
            return order;
        names.push_back(name);
    }
    throw Error(fmt::format("--sort takes {}, not '{}'", fmt::join(names, ", "), text));
}

void append_waits(std::string &out, const WaitTotals &totals, KeyText &keys, const WaitStyle &style) {
    const std::vector<WaitRow> rows = wait_rows(totals, style);
    if (style.form == StackForm::folded) {
        append_folded_waits(out, totals, keys, rows);
        return;
    }
    if (style.form == StackForm::pprof) {
        append_wait_profile(out, totals, keys, rows);
        return;
    }
    if (style.form != StackForm::summary) {
        append_wait_graph(out, totals, keys, rows, style.form);
        return;
    }
    if (totals.wanted().any_stack())
        append_wait_stacks(out, totals, keys, rows);
    else
        append_wait_table(out, totals, keys, rows);
    if (const std::size_t more = totals.entries().size() - rows.size(); more > 0)
        fmt::format_to(std::back_inserter(out), "... and {} more\n", more);
    if (totals.all().waits == 0)
        return;
    out += '\n';
    append_wait_states(out, totals);
}

void append_waits_json(std::string &out, const WaitTotals &totals, KeyText &keys, const WaitStyle &style,
                       std::string_view time) {
    auto to = std::back_inserter(out);
    for (const WaitRow row : wait_rows(totals, style)) {
        const WaitParts parts(row->first, totals.wanted());
        out += '{';
        if (!time.empty())
            fmt::format_to(to, "{},", time);
        std::string_view separator = "\"key\":{";
        for (std::size_t i = 0; i < parts.plain.size(); ++i) {
            const std::string name(wait_key_name(totals.wanted().keys[i]));
            fmt::format_to(to, "{}\"{}\":", separator, name);
            keys.append_json(out, {name}, parts.plain[i]);
            separator = ",";
        }
        out += parts.plain.empty() ? "" : "},";
        append_wait_total_json(out, row->second);
        if (parts.stack || parts.user_stack)
            append_wait_stack_json(out, stack_values(parts.stack, parts.user_stack), keys);
        if (parts.waker) {
            out += ",\"waker\":{\"comm\":";
            keys.append_json(out, {"waker"}, *parts.waker);
            append_wait_stack_json(out, stack_values(parts.waker_stack), keys);
            out += '}';
        }
        out += "}\n";
    }
}

std::string waits_summary(const WaitTotal &all, const WaitsAside &aside) {
    std::string text = fmt::format("{}: {} blocked, {} runnable", plural(all.waits, "wait"),
                                   format_duration(all.blocked), format_duration(all.runnable));
    const auto add = [&text](std::uint64_t count, const std::string &sentence) {
        if (count > 0)
            text += '\n' + sentence;
    };
    const WaitTracker::LeftOut &left = aside.left_out;
    add(aside.unwanted, fmt::format("{} more wait{} of another length or in another state than asked for",
                                    aside.unwanted, aside.unwanted == 1 ? " was" : "s were"));
    add(aside.waiting.tasks,
        fmt::format("{} still waiting at the end, for {} so far, which is not in it",
                    aside.waiting.tasks == 1 ? "1 task was" : fmt::format("{} tasks were", aside.waiting.tasks),
                    format_duration(aside.waiting.time)));
    add(left.earlier, fmt::format("{} had begun before tracing did, and {} not in it",
                                  plural(left.earlier, "wait"), left.earlier == 1 ? "is" : "are"));
    add(left.lost, fmt::format("{} left out because records were lost meanwhile", are_waits(left.lost)));
    add(left.incomplete,
        fmt::format("{} left out because a record of {} is missing", are_waits(left.incomplete),
                    left.incomplete == 1 ? "it" : "them"));
    return text;
}

void append_waits_summary_json(std::string &out, const WaitTotal &all, const WaitsAside &aside) {
    auto to = std::back_inserter(out);
    out += '{';
    append_wait_total_json(out, all);
    fmt::format_to(to,
                   ",\"unwanted\":{},\"waiting\":{{\"tasks\":{},\"time\":{}}},"
                   "\"left_out\":{{\"earlier\":{},\"lost\":{},\"incomplete\":{}}}",
                   aside.unwanted, aside.waiting.tasks, aside.waiting.time, aside.left_out.earlier,
                   aside.left_out.lost, aside.left_out.incomplete);
    if (aside.records)
        fmt::format_to(to, ",\"records\":{{\"hits\":{},\"records\":{},\"lost\":{},\"filtered\":{},\"faults\":{}}}",
                       hits(*aside.records), std::uint64_t{aside.records->records}, lost_total(*aside.records),
                       std::uint64_t{aside.records->filtered}, std::uint64_t{aside.records->faults});
    out += "}\n";
}

} // namespace argtrace
