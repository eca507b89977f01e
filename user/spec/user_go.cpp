// SPDX-License-Identifier: GPL-2.0-only
#include "spec/user_go.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>
#include <unistd.h>

#include <fmt/format.h>

#include "elf/go_entry.h"
#include "elf/go_functions.h"
#include "elf/go_version.h"
#include "elf/symbol_tables.h"
#include "elf/symbol_addresses.h"

namespace argtrace {

namespace {

/// Where struct g of the runtime has the number of a goroutine (runtime/runtime2.go), by version, for programs without debug information.
struct GoidRow {
    std::string_view version;
    std::uint32_t offset;
};

constexpr GoidRow goid_rows[] = {
    {"go1.18", 152}, {"go1.19", 152}, {"go1.20", 152}, {"go1.21", 152}, {"go1.22", 152}, {"go1.23", 160}, {"go1.24", 160}, {"go1.25", 152}, {"go1.26", 152}, {"go1.27", 152},
};

/// "go1.19" of "go1.19.8", "go1.19rc1" and "go1.19".
std::string_view release_of(std::string_view version) {
    const std::size_t minor = version.find('.');
    const std::size_t end = minor == version.npos ? minor : version.find_first_not_of("0123456789", minor + 1);
    return version.substr(0, end);
}

/// Go's cmd/link: a thread has the runtime's pointer to struct g right before what its own variables are relative to. Nothing: there are other such variables.
std::optional<GoThread> thread_on_x86_64(const elf::Object &object) {
    constexpr std::uint64_t pointer_bytes = 8;
    const auto segments = object.segments();
    const auto own = std::ranges::find(segments, static_cast<Elf64_Word>(PT_TLS), &Elf64_Phdr::p_type);
    if (own != segments.end() && own->p_memsz > pointer_bytes)
        return std::nullopt;
    return GoThread{.pointer = "task->thread.fsbase", .current = -static_cast<std::int64_t>(pointer_bytes)};
}

/// Go's cmd/compile/abi-internal.md: R28 is the pointer to struct g, while the thread does not execute C. The kernel keeps the registers of user code at the end
/// of the thread's kernel stack, of which its mapping has a page more, to guard it (kernel/fork.c, arch/arm64/include/asm/processor.h).
GoThread thread_on_arm64() {
    return GoThread{.pointer = fmt::format("((struct pt_regs *)((unsigned long)task->stack + task->stack_vm_area->size - {}) - 1)->regs[28]", ::sysconf(_SC_PAGESIZE)),
                    .current = std::nullopt};
}

std::optional<GoThread> thread_of(const elf::Object &object, const dwarf::GoTypes &types) {
    if (!types.goroutine_id || !types.m || !types.g0 || !types.curg)
        return std::nullopt;
    std::optional<GoThread> thread = object.machine() == EM_AARCH64 ? thread_on_arm64() : thread_on_x86_64(object);
    if (thread) {
        thread->m = *types.m;
        thread->g0 = *types.g0;
        thread->curg = *types.curg;
    }
    return thread;
}

} // namespace

GoProgram go_program(const elf::Object &object, const dwarf::Functions *described) {
    GoProgram program;
    if (described) {
        dwarf::GoTypes types = described->go_types();
        program.goroutine_id = types.goroutine_id;
        program.texts = std::move(types.texts);
        program.beginning = types.beginning;
        program.thread = thread_of(object, types);
    }
    if (!program.goroutine_id) {
        const std::optional<std::string> version = elf::go_version(object);
        const auto known = version ? std::ranges::find(goid_rows, release_of(*version), &GoidRow::version) : std::end(goid_rows);
        if (known != std::end(goid_rows))
            program.goroutine_id = known->offset;
        else
            program.why_no_id = version ? fmt::format("it has no debug information, and where {} has it is not known", *version)
                                        : "it has no debug information, and does not say which version of Go has made it";
    }
    program.types = elf::SymbolAddresses(object).find("runtime.types");
    program.is_movable = object.is_movable();
    return program;
}

/// What assembly and Go both call is there twice under one name, once for each calling convention, and one calls the other. The one that takes its arguments
/// where Go has them is what people mean, and can be followed, whichever is the wrapper.
void GoCode::choose_convention(const std::vector<Kind *> &kinds) {
    if (kinds.size() < 2)
        return;
    const bool is_assembly = std::ranges::any_of(kinds, &Kind::is_assembly);
    const bool is_of_go = std::ranges::any_of(kinds, [](const Kind *kind) { return !kind->is_assembly && !kind->is_wrapper; });
    for (Kind *kind : kinds) {
        if (is_assembly && !kind->is_assembly)
            kind->is_wrapper = false;
        else if (is_assembly || (is_of_go && kind->is_wrapper))
            kind->is_twin = true;
    }
}

std::optional<GoCode> GoCode::of(const elf::Object &object) {
    const bool is_go = object.section(".gopclntab") || object.section(".data.rel.ro.gopclntab") || object.section(".note.go.buildid");
    const auto functions = elf::GoFunctions::read(object);
    if (!is_go && !functions)
        return std::nullopt;
    GoCode code(object);
    if (!functions)
        return code;
    const auto name_of = [&](const elf::GoFunctions::Function &function) { return elf::string_at(functions->names(), function.name); };
    const std::vector<bool> are_wrappers = functions->find_wrappers();
    std::map<std::string_view, std::vector<Kind *>> by_name;
    for (std::size_t i = 0; i < functions->count(); i++)
        if (const auto function = functions->at(i)) {
            const auto [added, is_new] = code.functions_.emplace(function->start, Kind{function->is_assembly, are_wrappers[i], false, function->passed});
            if (is_new)
                by_name[name_of(*function)].push_back(&added->second);
        }
    for (auto &[name, kinds] : by_name)
        choose_convention(kinds);
    return code;
}

const GoCode::Kind *GoCode::kind_of(const elf::NamedFunction &function) const {
    const auto known = functions_.find(function.address);
    return known == functions_.end() ? nullptr : &known->second;
}

bool GoCode::is_wrapper(const elf::NamedFunction &function) const {
    const Kind *kind = kind_of(function);
    return kind && kind->is_wrapper;
}

bool GoCode::is_twin(const elf::NamedFunction &function) const {
    const Kind *kind = kind_of(function);
    return kind && kind->is_twin;
}

std::optional<std::uint32_t> GoCode::passed_bytes(const elf::NamedFunction &function) const {
    const Kind *kind = kind_of(function);
    return kind ? std::optional(kind->passed_bytes) : std::nullopt;
}

std::uint32_t GoCode::entry(const elf::NamedFunction &function) const {
    return takes_registers(function) ? elf::go_entry(*object_, {function.address, function.size}) : 0;
}

std::string_view GoCode::why_not_followed(const elf::NamedFunction &function) const {
    const Kind *kind = kind_of(function);
    if (!kind)
        return "it is in a program that was made by Go before version 1.18, or whose functions are not known";
    if (kind->is_assembly || function.symbol.ends_with(go_old_convention))
        return "it is written in assembly, or called from there, and has no goroutine in the register that functions of Go have it in";
    return {};
}

} // namespace argtrace
