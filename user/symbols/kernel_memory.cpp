// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/kernel_memory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fcntl.h>

#include "symbols/core_symbols.h"
#include "util/fd.h"
#include "util/file.h"
#include "util/hex.h"
#include "util/lines.h"

namespace argtrace {

namespace {

constexpr std::uint32_t pages_max = 1 << 20;
constexpr std::uint32_t calls_max = 1 << 16; // of a page

/// So many functions, and all data before them, are compared with /proc/kallsyms.
constexpr std::size_t functions_compared = 64;

/// Where addresses of data that each CPU has end; those of the kernel's code are far above.
constexpr std::uint64_t percpu_end = 1ull << 32;

/// The first symbols that /proc/kallsyms lists, some functions among them.
class ListingBegin {
public:
    /// False if it has no such functions.
    bool read(const std::string &path) {
        const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        std::size_t functions = 0, used = 0;
        // The kernel prints no more than is asked for.
        while (file && functions < functions_compared && text_.size() - used >= chunk) {
            const ssize_t got = ::read(file.get(), text_.data() + used, chunk);
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                break;
            const std::string_view all(text_.data(), used + static_cast<std::size_t>(got));
            const std::size_t lines = all.rfind('\n') + 1; // npos + 1 is 0
            for_each_line(all.substr(parsed_, lines - std::min(lines, parsed_)), [&](std::string_view line) {
                functions += add(line);
            });
            parsed_ = std::max(parsed_, lines);
            used = all.size();
        }
        return functions >= functions_compared;
    }

    /// Whether that is the symbol with that number, which is below size().
    bool fits(std::size_t number, const ListedSymbol &symbol) const {
        const ListedSymbol &listed = symbols_[number];
        return listed.addr == symbol.addr && listed.type == symbol.type && listed.name == symbol.name;
    }

    std::size_t size() const { return symbols_.size(); }

private:
    static constexpr std::size_t chunk = 4096;

    /// Whether it is a function's.
    bool add(std::string_view line) {
        const auto addr = parse_hex(next_word(line));
        const std::string_view type = next_word(line);
        symbols_.push_back({addr.value_or(0), type.empty() ? '?' : type.front(), next_word(line), {}});
        return addr.value_or(0) >= percpu_end;
    }

    Text text_ = Text(1 << 20);
    std::size_t parsed_ = 0;
    std::vector<ListedSymbol> symbols_;
};

/// The kernel's variables, and the like, that are looked for among its symbols.
class Variables {
public:
    enum Which { module_list, freed_functions, ftrace_pages, text_begin, uts_names, count };

    /// How their names begin, and those of Kallsyms::variable().
    static constexpr std::string_view begins[] = {"modules", "ftrace_", "_stext", "init_uts_ns", "vmemmap_base", "__per_cpu_offset"};

    void note(const ListedSymbol &symbol) {
        for (std::size_t i = 0; i < count; i++)
            if (symbol.name == names[i]) {
                addresses_[i] = symbol.addr;
                times_[i]++;
            }
    }

    /// Whether each of them is there once.
    bool are_unique() const {
        return std::ranges::all_of(times_, [](std::uint32_t times) { return times == 1; });
    }

    std::uint64_t operator[](Which which) const { return addresses_[which]; }

private:
    static constexpr std::string_view names[count] = {"modules", "ftrace_mod_maps", "ftrace_pages_start", "_stext", "init_uts_ns"};

    std::array<std::uint64_t, count> addresses_{};
    std::array<std::uint32_t, count> times_{};
};

/// Sorts numbers of which the first, nearly all, are in order.
void sort_rest(std::vector<std::uint64_t> &numbers) {
    const auto rest = std::ranges::is_sorted_until(numbers);
    std::sort(rest, numbers.end());
    if (rest != numbers.begin() && rest != numbers.end() && *rest < *(rest - 1))
        std::inplace_merge(numbers.begin(), rest, numbers.end());
}

} // namespace

bool is_generated_name(std::string_view name) {
    // kernel/bpf/core.c and trampoline.c, kernel/trace/ftrace.c, kernel/kprobes.c
    return name.starts_with("bpf_") || name == "ftrace_trampoline" || name == "kprobe_insn_page" || name == "kprobe_optinsn_page";
}

std::optional<KernelMemory> KernelMemory::open(KernelFiles files) {
    auto core = Kcore::open(files.kcore);
    return core ? std::optional(KernelMemory(std::move(*core), std::move(files))) : std::nullopt;
}

bool KernelMemory::read_core(Kallsyms::Builder &symbols) {
    auto core = CoreSymbols::read(core_);
    ListingBegin listing;
    if (!core || !listing.read(files_.kallsyms) || core->addresses().size() <= listing.size())
        return false;

    const CoreSymbols::Begins begins(*core, Variables::begins);
    Variables variables;
    bool fits = true;
    const bool is_whole = core->for_each([&, &addresses = core->addresses()](std::size_t number, const CoreSymbols::Name &name) {
        ListedSymbol symbol{addresses[number], name.type(), {}, {}};
        const bool is_compared = number < listing.size(), may_be_wanted = begins.may_have(name);
        // Most are of data, and most of these nobody asks for.
        if (!is_compared && !may_be_wanted && !Kallsyms::is_function_type(symbol.type))
            return;
        symbol.name = name.expand();
        fits = fits && !symbol.name.empty() && (!is_compared || listing.fits(number, symbol));
        if (may_be_wanted)
            variables.note(symbol);
        symbols.add(symbol);
    });
    if (!is_whole || !fits || !variables.are_unique())
        return false;
    addresses_ = std::move(*core).addresses();
    module_list_ = variables[Variables::module_list];
    freed_functions_ = variables[Variables::freed_functions];
    ftrace_pages_ = variables[Variables::ftrace_pages];
    // One of the first symbols and one of the last.
    return core_.noted_symbol("_stext") == variables[Variables::text_begin] && core_.noted_symbol("init_uts_ns") == variables[Variables::uts_names];
}

// ftrace remembers functions that modules had at their load, while something was traced, and has the kernel list them.
bool KernelMemory::has_functions_of_freed_code() const {
    return core_.load<std::uint64_t>(freed_functions_) != freed_functions_;
}

std::optional<Kallsyms> KernelMemory::read_symbols(const KernelLayout &layout) {
    layout_ = layout;
    auto modules = loaded_modules(files_.modules, files_.module_directories);
    if (!modules)
        return std::nullopt;
    modules_ = std::move(*modules);
    Kallsyms::Builder symbols;
    if (!read_core(symbols) || has_functions_of_freed_code())
        return std::nullopt;
    const bool is_whole = visit_module_symbols(core_, layout_, module_list_, modules_, [&](const ListedSymbol &symbol) {
        if (is_mapping_symbol(symbol.name))
            return;
        addresses_.push_back(symbol.addr);
        symbols.add(symbol);
    });
    if (!is_whole || loaded_modules(files_.modules, files_.module_directories) != modules_)
        return std::nullopt;
    return std::move(symbols).finish();
}

// Tracefs may be mounted elsewhere or closed to this user: then the list would not be had either.
bool KernelMemory::has_list_of_functions() const {
    return std::ranges::any_of(files_.tracefs, [this](const std::string &directory) {
        return number_in_file(directory + "/dyn_ftrace_total_info") == calls_.size() && Fd(::open((directory + "/available_filter_functions").c_str(), O_RDONLY | O_CLOEXEC));
    });
}

bool KernelMemory::read_calls() {
    const KernelLayout::FtracePage &page = layout_.ftrace_page;
    const KernelLayout::FtraceCall &call = layout_.ftrace_call;
    auto address = core_.load<std::uint64_t>(ftrace_pages_);
    for (std::uint32_t pages = 0; address && *address != 0; pages++) {
        const auto records = core_.load<std::uint64_t>(*address + page.records);
        const auto count = core_.load<std::uint32_t>(*address + page.index);
        if (!records || !count || *count > calls_max || pages == pages_max)
            return false;
        const auto bytes = *count == 0 ? RawBytes() : core_.bytes(*records, std::size_t{*count} * call.size);
        if (!bytes)
            return false;
        for (std::size_t at = call.ip; at < bytes->size(); at += call.size) {
            std::uint64_t ip = 0;
            std::memcpy(&ip, bytes->data() + at, sizeof(ip));
            calls_.push_back(ip);
        }
        address = core_.load<std::uint64_t>(*address + page.next);
    }
    return address.has_value() && has_list_of_functions() && loaded_modules(files_.modules, files_.module_directories) == modules_;
}

bool KernelMemory::is_traceable(std::uint64_t address) {
    if (!std::exchange(has_asked_for_calls_, true)) {
        if (!read_calls())
            calls_.clear();
        sort_rest(calls_);
        sort_rest(addresses_);
    }
    // Where symbols share an address, or follow closely, the list has but one of them.
    const auto symbol = std::ranges::lower_bound(addresses_, address);
    if (symbol == addresses_.end() || *symbol != address || (symbol + 1 != addresses_.end() && *(symbol + 1) - address < ftrace_call_within))
        return false;
    const auto call = std::ranges::lower_bound(calls_, address);
    return call != calls_.end() && *call - address < ftrace_call_within;
}

} // namespace argtrace
