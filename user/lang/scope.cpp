// SPDX-License-Identifier: GPL-2.0-only
#include "lang/scope.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "lang/constants.h"
#include "lang/spaces.h"

namespace argtrace::lang {

namespace {

constexpr Builtin builtin_rows[]{
    {"pid", "task->tgid"},
    {"tid", "task->pid"},
    {"ppid", "task->real_parent->tgid"},
    {"comm", "task->comm"},
    {"uid", ""},
    {"gid", ""},
    {"cgroup", ""},
    {"task", ""},
    {"cpu", ""},
    {"caller", ""},
    {"time", ""},
    {"ret", ""},
    {"duration", ""},
    {"stack", ""},
    {"ustack", ""},
    {"goid", ""},
    {"created_by", ""},
};

/// include/linux/gfp_types.h: what consists of others.
struct GfpRow {
    std::string_view name;
    std::string_view parts;
};

constexpr GfpRow gfp_rows[]{
    {"__GFP_RECLAIM", "__GFP_DIRECT_RECLAIM __GFP_KSWAPD_RECLAIM"},
    {"GFP_ATOMIC", "__GFP_HIGH __GFP_KSWAPD_RECLAIM"},
    {"GFP_KERNEL", "__GFP_RECLAIM __GFP_IO __GFP_FS"},
    {"GFP_KERNEL_ACCOUNT", "GFP_KERNEL __GFP_ACCOUNT"},
    {"GFP_NOIO", "__GFP_RECLAIM"},
    {"GFP_NOFS", "__GFP_RECLAIM __GFP_IO"},
    {"GFP_USER", "__GFP_RECLAIM __GFP_IO __GFP_FS __GFP_HARDWALL"},
    {"GFP_DMA", "__GFP_DMA"},
    {"GFP_DMA32", "__GFP_DMA32"},
    {"GFP_HIGHUSER", "GFP_USER __GFP_HIGHMEM"},
};

/// Linux 6.1 to 6.9 have no enumerators of them. include/linux/gfp_types.h: those whose bits were the
/// same in all these versions, by bit.
constexpr std::string_view old_gfp_bits[]{
    "__GFP_DMA",         "__GFP_HIGHMEM",        "__GFP_DMA32",    "__GFP_MOVABLE",
    "__GFP_RECLAIMABLE", "__GFP_HIGH",           "__GFP_IO",       "__GFP_FS",
    "__GFP_ZERO",        "",                     "__GFP_DIRECT_RECLAIM", "__GFP_KSWAPD_RECLAIM",
    "__GFP_WRITE",       "__GFP_NOWARN",         "__GFP_RETRY_MAYFAIL", "__GFP_NOFAIL",
    "__GFP_NORETRY",     "__GFP_MEMALLOC",       "__GFP_COMP",     "__GFP_NOMEMALLOC",
    "__GFP_HARDWALL",    "__GFP_THISNODE",       "__GFP_ACCOUNT",  "__GFP_ZEROTAGS",
};

bool has_gfp_enumerators(const Types &types) {
    return types.enumerator("___GFP_IO_BIT").has_value();
}

std::optional<std::uint64_t> old_gfp_constant(std::string_view name) {
    const auto *found = std::find(std::begin(old_gfp_bits), std::end(old_gfp_bits), name);
    if (found == std::end(old_gfp_bits))
        return std::nullopt;
    return std::uint64_t{1} << (found - std::begin(old_gfp_bits));
}

/// Enumerators of bits whose flags are macros: `__REQ_SYNC` of REQ_SYNC. The enumerator's name begins with more than the flag's.
struct BitRow {
    std::string_view flag; ///< how the names of the flags begin
    std::string_view more; ///< and what stands before that in the enumerator's
};

constexpr BitRow bit_rows[]{
    {"SLAB_", "_"}, // include/linux/slab.h, since Linux 6.9
    {"REQ_", "__"}, // include/linux/blk_types.h
};

/// `__REQ_NR_BITS` and `_SLAB_FLAGS_LAST_BIT` say how many there are.
bool is_number_of_bits(std::string_view name) {
    return name.ends_with("_BIT") || name.ends_with("_BITS");
}

std::optional<std::uint64_t> bit_constant(const Types &types, std::string_view name) {
    for (const BitRow &row : bit_rows) {
        if (!name.starts_with(row.flag) || is_number_of_bits(name))
            continue;
        if (const auto bit = types.enumerator(fmt::format("{}{}", row.more, name)); bit && bit->value < 64)
            return std::uint64_t{1} << bit->value;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> gfp_constant(const Types &types, std::string_view name) {
    for (const GfpRow &row : gfp_rows) {
        if (row.name != name)
            continue;
        std::uint64_t all = 0;
        for (std::string_view rest = row.parts; !rest.empty();) {
            const std::string_view part = rest.substr(0, rest.find(' '));
            rest.remove_prefix(std::min(part.size() + 1, rest.size()));
            const auto value = gfp_constant(types, part);
            if (!value)
                return std::nullopt;
            all |= *value;
        }
        return all;
    }
    if (!name.starts_with("__GFP_"))
        return std::nullopt;
    if (!has_gfp_enumerators(types))
        return old_gfp_constant(name);
    const auto bit = types.enumerator(fmt::format("_{}_BIT", name));
    if (!bit || bit->value >= 64)
        return std::nullopt;
    return std::uint64_t{1} << bit->value;
}

} // namespace

Scope::Scope(const Types &types, const Prototype &prototype, std::span<const Argument> places, const ProbeKind &kind)
    : types_(&types), function_(prototype.function), kind_(&kind) {
    const bool described = prototype.source.types != nullptr;
    for (std::uint32_t i = 0; i < places.size(); i++) {
        Type type = described ? types.parameter(prototype.source.id, prototype.hidden + i) : ulong_type;
        const TypeTraits traits = types.traits(type);
        const bool is_of_go = i < prototype.parameters.size() && prototype.parameters[i].go;
        const bool is_variable = i < prototype.parameters.size() && prototype.parameters[i].variable;
        if (traits.kind == TypeTraits::Kind::array && !is_of_go && !is_variable)
            type = types.target(type).pointer();
        else if (traits.kind == TypeTraits::Kind::function)
            type = type.pointer();
        const Space space = space_of_parameter(kind, function_, places[i].name);
        if (space != Space::unsaid && types.traits(type).kind == TypeTraits::Kind::pointer)
            type = type.in(space);
        parameters_.push_back({type, places[i]});
        parameters_.back().is_variable = is_variable;
        if (is_of_go)
            parameters_.back().other_name = prototype.parameters[i].go->result_name;
    }
}

Scope::Scope(const Types &types, std::string name, Type type) : types_(&types) {
    Argument place;
    place.loc = ARGTRACE_LOC_REG;
    place.name = std::move(name);
    parameters_.push_back({type, std::move(place)});
}

void Scope::set_operands(std::span<const std::optional<UserOperand>> operands) {
    for (std::size_t i = 0; i < std::min(operands.size(), parameters_.size()); i++)
        parameters_[i].operand = operands[i];
}

const Scope::Parameter *Scope::parameter(std::string_view name) const {
    for (const Parameter &parameter : parameters_)
        if (parameter.place.name == name)
            return &parameter;
    for (const Parameter &parameter : parameters_)
        if (!name.empty() && parameter.other_name == name)
            return &parameter;
    return nullptr;
}

std::vector<std::string> bit_flag_names(const Types &types) {
    constexpr std::string_view prefix = "___GFP_", suffix = "_BIT";
    std::vector<std::string> names;
    for (const std::string_view bit : types.enumerator_names()) {
        if (bit.starts_with(prefix) && bit.ends_with(suffix))
            names.emplace_back(bit.substr(1, bit.size() - 1 - suffix.size()));
        for (const BitRow &row : bit_rows)
            if (bit.starts_with(row.more) && bit.substr(row.more.size()).starts_with(row.flag) && !is_number_of_bits(bit))
                names.emplace_back(bit.substr(row.more.size()));
    }
    if (!has_gfp_enumerators(types))
        for (const std::string_view name : old_gfp_bits)
            if (!name.empty())
                names.emplace_back(name);
    for (const GfpRow &row : gfp_rows)
        names.emplace_back(row.name);
    return names;
}

const Builtin *find_builtin(std::string_view name) {
    for (const Builtin &builtin : builtin_rows)
        if (builtin.name == name)
            return &builtin;
    return nullptr;
}

std::span<const Builtin> all_builtins() {
    return builtin_rows;
}

std::optional<Types::Enumerator> named_constant(const Types &types, std::string_view name) {
    if (auto found = types.enumerator(name))
        return found;
    if (const auto flag = gfp_constant(types, name))
        return Types::Enumerator{*flag, uint_type};
    if (const auto flag = bit_constant(types, name))
        return Types::Enumerator{*flag, uint_type};
    if (const auto value = macro_constant(name)) {
        const bool fits = *value <= std::numeric_limits<std::int32_t>::max();
        return Types::Enumerator{static_cast<std::uint64_t>(*value), fits ? int_type : uint_type};
    }
    return std::nullopt;
}

} // namespace argtrace::lang
