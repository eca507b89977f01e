// SPDX-License-Identifier: GPL-2.0-only
#include "spec/user_functions.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "btf/built_prototypes.h"
#include "elf/go_statements.h"
#include "elf/object.h"
#include "model/cold_part.h"
#include "model/probe_kind.h"
#include "spec/go_site.h"
#include "spec/line_site.h"
#include "spec/source_line.h"
#include "spec/usdt.h"
#include "spec/user_objects.h"
#include "util/suggestion.h"

namespace argtrace {

namespace {

constexpr std::size_t unresolved_shown = 5;

/// What stands behind a name, or in place of one: "+0x10", "0x1234".
struct Place {
    std::string_view name;
    std::uint64_t number = 0;
    bool is_address = false;
};

std::optional<std::uint64_t> parse_number(std::string_view text) {
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (is_hexadecimal)
        text.remove_prefix(2);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, is_hexadecimal ? 16 : 10);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

Place parse_place(std::string_view text) {
    if (const auto address = text.starts_with("0x") ? parse_number(text) : std::nullopt)
        return {{}, *address, true};
    const std::size_t plus = text.rfind('+');
    if (plus != text.npos && plus > 0)
        if (const auto offset = parse_number(text.substr(plus + 1)))
            return {text.substr(0, plus), *offset, false};
    return {text};
}

/// Where a resolver (IFUNC) of a library has led in this process: the same as in all others, if that is the same file.
std::optional<std::uint64_t> resolved_here(const elf::Object &object, const UserFile &file, const elf::NamedFunction &function) {
    // Another object may have a function of that name.
    const std::unique_ptr<void, int (*)(void *)> loaded(::dlopen(file.path.c_str(), RTLD_LAZY | RTLD_NOLOAD), ::dlclose);
    void *address = loaded ? ::dlsym(loaded.get(), function.symbol.c_str()) : nullptr;
    Dl_info info = {};
    struct stat ours = {}, theirs = {};
    if (!address || !::dladdr(address, &info) || !info.dli_fname || ::stat(info.dli_fname, &ours) != 0 ||
        ::fstat(file.file.get(), &theirs) != 0 || ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev)
        return std::nullopt;
    const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    return object.offset_of(reinterpret_cast<std::uintptr_t>(address) - base);
}

/// "main.pick[go.shape.int]", a function or a method of Go for types of one shape.
bool is_go_generic(std::string_view symbol) {
    return symbol.find("[go.shape.") != symbol.npos;
}

/// "main.pick[...]", as Go's own stacks have it.
std::string without_types(std::string_view symbol) {
    const std::size_t begin = symbol.find('['), end = symbol.rfind(']');
    return fmt::format("{}[...]{}", symbol.substr(0, begin), symbol.substr(end + 1));
}

/// Which functions a spec means.
class Choice {
public:
    explicit Choice(const Spec &spec) : spec_(spec), place_(parse_place(spec.pattern.text())) {}

    bool is_address() const { return spec_.pattern.kind() == Pattern::Kind::name && place_.is_address; }
    std::uint64_t number() const { return spec_.pattern.kind() == Pattern::Kind::name ? place_.number : 0; }

    bool matches(const elf::NamedFunction &function) {
        if (matches_text(function.symbol) || (is_go_generic(function.symbol) && matches_text(without_types(function.symbol))))
            return true;
        return function.name != function.symbol && (matches_text(function.name) || matches_text(elf::plain_name(function.name, room_)));
    }

    /// Whether that one function is meant, and not all of some name, such as the overloads of a function of C++ and the parts of these.
    bool is_of_one(const elf::NamedFunction &function) const {
        return spec_.pattern.kind() == Pattern::Kind::name && (matches_text(function.symbol) || matches_text(function.name));
    }

private:
    bool matches_text(std::string_view name) const {
        if (spec_.pattern.kind() == Pattern::Kind::name)
            return name == place_.name || name == spec_.pattern.text();
        return spec_.pattern.matches(name);
    }

    const Spec &spec_;
    Place place_;
    std::string room_;
};

/// C++ and Go have brackets in names, so that a pattern has no sets of characters as those of ftrace and the shell.
std::string about_sets(const Spec &spec) {
    const std::string &pattern = spec.pattern.text();
    const std::size_t open = pattern.find('[');
    if (spec.pattern.kind() == Pattern::Kind::regex || open == pattern.npos || pattern.find(']', open) == pattern.npos)
        return {};
    std::string regex;
    for (const char c : pattern)
        regex += c == '*' ? ".*" : c == '?' ? "." : std::string(1, c);
    return fmt::format("; sets of characters are for --regex: --regex 'u:{}:^{}$'", spec.module->text, regex);
}

/// What of a function's name has no namespace, class or package, which C++ and Rust have before "::", and Go before ".".
std::string_view last_part(std::string_view name) {
    const std::size_t at = name.find_last_of(":.");
    return at == name.npos ? name : name.substr(at + 1);
}

/// Which functions may be meant by a name that there is not, as did_you_mean() says it: by names as people type them, so with
/// parameters only where they typed such.
std::string function_meant(std::string_view text, const std::vector<elf::NamedFunction> &functions) {
    const bool has_parameters = text.find('(') != text.npos;
    std::string room;
    std::set<std::string, std::less<>> all;
    for (const elf::NamedFunction &function : functions)
        if (!is_cold(function.symbol))
            all.emplace(has_parameters ? function.name : elf::plain_name(function.name, room));
    const std::vector<std::string_view> names(all.begin(), all.end());
    if (const Suggestion near = suggest(text, names); !near.names.empty() || has_parameters)
        return did_you_mean(near);
    std::vector<std::string_view> parts;
    std::ranges::transform(names, std::back_inserter(parts), last_part);
    Suggestion near = suggest(last_part(text), parts);
    // Each is the end of a whole name, as its address tells.
    for (std::string_view &part : near.names)
        part = *std::ranges::find(names, part.end(), [](std::string_view name) { return name.end(); });
    return did_you_mean(near);
}

Error why_none(const Spec &spec, const std::string &path, const elf::Object &object, const std::vector<elf::NamedFunction> &functions) {
    // As bcc's tools write them.
    if (const std::string probe = usdt_of_name(object, spec.module->text, spec.pattern.text()); !probe.empty())
        return error_in(spec, fmt::format("{}: {} has no such function, but a USDT probe of that name: {}", spec.title(), path, probe));
    if (functions.empty())
        return error_in(spec, fmt::format("{}: {} has no symbols of functions, nor a debug file: --objects names a folder that has one; a place in it is u:OBJECT:0xADDRESS",
                                          spec.title(), path));
    const std::string list = fmt::format("`argtrace list 'u:{}:*'`", spec.module->text);
    if (spec.pattern.kind() != Pattern::Kind::name)
        return error_in(spec, fmt::format("{}: matches no function of {}; {} shows all of them{}", spec.title(), path, list, about_sets(spec)));
    const std::string near = function_meant(spec.pattern.text(), functions);
    if (near.empty())
        return error_in(spec, fmt::format("{}: {} has no such function; {} shows those that it has{}", spec.title(), path, list, about_sets(spec)));
    return error_in(spec, fmt::format("{}: {} has no such function{}", spec.title(), path, near));
}

/// Where its frame is, too.
dwarf::LineAddress line_address(const elf::Object &object, std::uint64_t offset, const LinePlace &place, const elf::UnwindTable &frames) {
    dwarf::LineAddress at{object.address_of(offset).value_or(0), place.file, place.line};
    const argtrace_unwind_rule *const rule = elf::rule_at(frames, offset);
    if (rule && rule->cfa == ARGTRACE_CFA_REGISTER && rule->ra != ARGTRACE_RA_END) {
        at.frame_register = rule->reg;
        at.frame_offset = rule->offset;
    }
    return at;
}

/// Nothing of a program whose addresses are others than the file's.
std::vector<dwarf::MadeType::Enumerator> beginnings_in(const elf::Object &object) {
    std::vector<dwarf::MadeType::Enumerator> enumerators;
    const auto functions = object.is_movable() ? std::nullopt : elf::GoFunctions::read(object);
    if (functions)
        for (elf::GoStatement &statement : elf::go_statements(object, *functions))
            enumerators.push_back({std::move(statement.place), statement.address});
    return enumerators;
}

/// A place that is no function's first instruction has none.
UserReturns no_function() {
    return {.why_none = "it is not known to be a function's first instruction"};
}

} // namespace

void UserFunctionFinder::read(Object &object) const {
    object.functions = elf::list_functions(object.content, debug_files_);
    object.described = dwarf::Functions::open(object.content, *kernel_.architecture().user_functions->dwarf_registers, debug_files_);
    object.go = GoCode::of(object.content);
}

/// How a function is passed its arguments.
enum class Passed : std::uint8_t {
    as_c,
    as_go,
    unknown, ///< as assembly in Go, and functions of old versions of it
};

/// Collects the functions of one object that a spec means; what they take is made into types all at once.
class UserFunctionFinder::Collection {
public:
    Collection(Kernel &kernel, const Object &object)
        : kernel_(kernel), object_(object), built_(kernel.types().copy_of_kernel()) {
        if (object.described)
            described_.emplace(*object.described, kernel.types().copy_of_kernel());
    }

    /// At an offset in the file, of which the first name counts. Without a prototype it has registers.
    void add(std::uint64_t offset, std::string_view name, const std::optional<WrittenPrototype> &written,
             std::function<UserReturns()> find_returns, Passed passed = Passed::as_c) {
        if (!offsets_.insert(offset).second)
            return;
        Pending one{begin(offset, name, std::move(find_returns), passed), 0, false};
        if (passed == Passed::as_c)
            one.prototype = written ? built_.add(written->parameters, written->result, written->variadic) : registers();
        else if (passed == Passed::as_go)
            add_go(one, written);
        else
            one.prototype = built_.add({}, "void");
        pending_.push_back(std::move(one));
    }

    /// The same by DWARF, which has the function at `begin`; false if that does not describe it. Parameters are called as the manual has
    /// them, where that is known.
    bool add_described(std::uint64_t offset, std::uint64_t begin_offset, const elf::NamedFunction &function, const std::optional<WrittenPrototype> &manual,
                       std::function<UserReturns()> find_returns, Passed passed) {
        if (passed == Passed::unknown)
            return false;
        if (!described_ || offsets_.contains(offset))
            return offsets_.contains(offset);
        const std::optional<std::uint64_t> address = object_.content.address_of(begin_offset);
        const auto number = address ? described_->add(*address, function, manual ? manual->parameters : std::vector<WrittenParameter>()) : std::nullopt;
        if (!number)
            return false;
        offsets_.insert(offset);
        pending_.push_back({begin(offset, function.name, std::move(find_returns), passed), *number, true});
        if (passed == Passed::as_go)
            pending_.back().passed_bytes = object_.go->passed_bytes(function);
        return true;
    }

    /// A place in the midst of a function, known by its line: the variables that DWARF has there, or else registers.
    void add_line(std::uint64_t offset, const LinePlace &place, const elf::UnwindTable &frames) {
        if (!offsets_.insert(offset).second)
            return;
        Pending one{begin(offset, {}, no_function, Passed::as_c), 0, false};
        // Registers of another machine are not read.
        const bool is_read = described_ && object_.content.machine() == kernel_.architecture().elf_machine;
        const auto number = is_read ? described_->add_line(line_address(object_.content, offset, place, frames)) : std::nullopt;
        one.is_described = one.is_line = number.has_value();
        one.prototype = number ? *number : registers();
        one.function.title = title_of(user_kind, fmt::format("{}@{}", object_.name, file_name(place.file)), fmt::format("{}", place.line));
        pending_.push_back(std::move(one));
    }

    bool empty() const { return pending_.empty(); }

    /// All of a program of Go.
    void set_go() {
        if (described_ && !go_ && !object_.go_beginnings.empty())
            described_->add_enumeration(go_beginning_type, object_.go_beginnings);
        go_ = object_.go_program;
    }

    std::vector<Function> take() {
        const btf *types = kernel_.types().keep(built_.take());
        const btf *own_types = described_ ? kernel_.types().keep(described_->take()) : nullptr;
        std::vector<Function> functions;
        for (Pending &one : pending_) {
            const char *title = one.function.title.c_str();
            one.function.prototype = one.is_described ? described_->prototype(one.prototype, own_types, title)
                                                      : prototype_of(types, title, static_cast<std::uint32_t>(one.prototype));
            one.function.prototype.function = one.function.title;
            if (!one.is_described && registers_ && one.prototype == *registers_)
                one.function.prototype.text = fmt::format("{}({})", one.function.title, fmt::join(register_names(), ", "));
            if (one.function.is_go)
                finish_go(one);
            if (one.is_line)
                one.function.site = std::make_shared<const UsdtSite>(line_site(one.function.prototype));
            functions.push_back(std::move(one.function));
        }
        return functions;
    }

private:
    struct Pending {
        Function function;
        std::size_t prototype; ///< its number
        bool is_described;     ///< by DWARF
        bool is_line = false;  ///< whose parameters are variables
        std::uint32_t results = 0; ///< of a function of Go that is not described
        std::optional<std::uint32_t> passed_bytes = {}; ///< see GoCode, of one that is
    };

    Function begin(std::uint64_t offset, std::string_view name, std::function<UserReturns()> find_returns, Passed passed) const {
        Function function{Symbol{offset, {}, {}}, {}};
        function.kind = &user_kind;
        function.convention = kernel_.architecture().user_functions;
        function.file = object_.file;
        function.is_go = passed != Passed::as_c;
        if (passed == Passed::as_go) {
            function.go = go_;
            function.address = object_.content.address_of(offset).value_or(0);
        }
        function.find_returns = std::move(find_returns);
        function.title = title_of(user_kind, object_.name, name);
        return function;
    }

    /// What it returns stands behind what it takes.
    void add_go(Pending &one, const std::optional<WrittenPrototype> &written) {
        std::vector<WrittenParameter> all;
        for (std::size_t i = 0; !written && i < go_convention(object_.content.machine()).registers.size(); i++)
            all.push_back({"void *", fmt::format("arg{}", i)});
        if (written)
            all = written->parameters;
        one.results = written && written->result == "void" ? 0 : 1;
        if (one.results > 0)
            all.push_back({written ? written->result : "void *", std::string(lang::result_name)});
        one.prototype = built_.add(all, "void");
    }

    void finish_go(Pending &one) const {
        Prototype &prototype = one.function.prototype;
        if (!one.is_described)
            prototype.results = one.results;
        name_as_go(prototype);
        one.function.site = std::make_shared<const UsdtSite>(go_site(go_convention(object_.content.machine()), prototype, one.passed_bytes));
    }

    std::vector<std::string> register_names() const {
        std::vector<std::string> names;
        for (unsigned i = 0; i < kernel_.architecture().user_functions->registers; i++)
            names.push_back(fmt::format("arg{}", i));
        return names;
    }

    /// For functions of which nothing is known, whose types are not to be shown as if they were.
    std::uint32_t registers() {
        if (registers_)
            return *registers_;
        std::vector<WrittenParameter> parameters;
        for (std::string &name : register_names())
            parameters.push_back({"void *", std::move(name)});
        registers_ = built_.add(parameters, "void *", true);
        return *registers_;
    }

    Kernel &kernel_;
    const Object &object_;
    BuiltPrototypes built_;
    std::optional<dwarf::Functions::Prototypes> described_;
    std::optional<std::uint32_t> registers_;
    std::set<std::uint64_t> offsets_;
    std::vector<Pending> pending_;
    std::shared_ptr<const GoProgram> go_;
};

namespace {

std::string describe_unresolved(std::string_view object, const std::vector<std::string> &names) {
    const auto shown = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), unresolved_shown));
    return fmt::format("left out of {}, as what they lead to is chosen when it is loaded (IFUNC): {}{}", object, fmt::join(names.begin(), shown, ", "),
                       shown < names.end() ? " ..." : "");
}

} // namespace

std::function<UserReturns()> UserFunctionFinder::returns_of(Object &object, const elf::NamedFunction &function, std::uint64_t offset) {
    // What a resolver has chosen may be another function, of which no symbol tells.
    const elf::NamedFunction *at = &function;
    if (offset != function.offset) {
        const auto chosen = std::ranges::find(object.functions, offset, &elf::NamedFunction::offset);
        at = chosen == object.functions.end() ? nullptr : &*chosen;
    }
    return [&object, at] {
        if (!at)
            return UserReturns();
        if (!object.returns)
            object.returns.emplace(object.content, object.functions, object.go);
        return object.returns->find(*at);
    };
}

/// Adds what it takes: what the user says counts first, then what the compiler says. It begins at an offset in the file.
void UserFunctionFinder::add(Collection &collection, Object &object, const elf::NamedFunction &function, std::uint64_t begin) {
    const bool is_go = object.go && object.go->has(function);
    const Passed passed = !is_go ? Passed::as_c : object.go->takes_registers(function) ? Passed::as_go : Passed::unknown;
    const std::uint64_t offset = begin + (is_go ? object.go->entry(function) : 0);
    if (passed == Passed::as_go) {
        if (!object.go_program) {
            object.go_program = std::make_shared<const GoProgram>(go_program(object.content, object.described.get()));
            if (object.go_program->beginning)
                object.go_beginnings = beginnings_in(object.content);
        }
        collection.set_go();
    }
    const auto written = std::ranges::find(written_, function.symbol, &WrittenPrototype::name);
    if (written != written_.end()) {
        collection.add(offset, function.name, *written, returns_of(object, function, begin), passed);
        return;
    }
    // glibc's sources call arguments otherwise than its manual, and a SPEC is to mean the same whether its debug information is there or not.
    const std::optional<WrittenPrototype> manual = find_library_prototype(object.name, function.symbol);
    if (!collection.add_described(offset, begin, function, manual, returns_of(object, function, begin), passed))
        collection.add(offset, function.name, manual, returns_of(object, function, begin), passed);
}

/// Those of one object; there may be none.
FoundUserFunctions UserFunctionFinder::find_in(Object &object, const Spec &spec) {
    Collection collection(kernel_, object);
    Choice choice(spec);
    if (choice.is_address()) {
        const auto offset = object.content.offset_of(choice.number());
        if (!offset)
            throw error_in(spec, spec.pattern_at, fmt::format("{} has nothing at that address", object.file->path));
        collection.add(*offset, spec.pattern.text(), std::nullopt, no_function);
        return {collection.take(), {}};
    }

    const auto is_left_out = [&](const elf::NamedFunction &function) {
        if (object.go && object.go->is_twin(function))
            return !spec.pattern.text().ends_with(go_old_convention);
        return (is_cold(function.symbol) || (object.go && object.go->is_wrapper(function))) && !choice.is_of_one(function);
    };
    std::vector<std::string> unresolved;
    for (const elf::NamedFunction &function : object.functions) {
        if (!choice.matches(function) || is_left_out(function))
            continue;
        const std::optional<std::uint64_t> offset =
            function.is_resolver ? resolved_here(object.content, *object.file, function) : std::optional(function.offset);
        if (!offset)
            unresolved.push_back(function.symbol);
        else if (choice.number() == 0)
            add(collection, object, function, *offset);
        else if (function.size != 0 && choice.number() >= function.size)
            throw error_in(spec, spec.pattern_at, fmt::format("{} has {} bytes, and the place is behind them", function.name, function.size));
        else
            collection.add(*offset + choice.number(), fmt::format("{}+{:#x}", function.name, choice.number()), std::nullopt, no_function);
    }
    FoundUserFunctions found;
    if (!collection.empty())
        found.functions = collection.take();
    if (!unresolved.empty())
        found.left.push_back(describe_unresolved(object.name, unresolved));
    return found;
}

/// Where a function begins it is the function that is meant, with its arguments.
FoundUserFunctions UserFunctionFinder::find_line(const Spec &spec, const LinePlace &place) {
    Spec of_object = spec;
    of_object.module->text = place.object;
    const auto [files, left] = files_.find(of_object);
    FoundUserFunctions found{{}, left};
    elf::SourceLine line;
    const std::vector<Object *> objects = objects_.open(of_object, files, [this](Object &object) { read(object); });
    for (Object *object : objects) {
        line = elf::find_source_line(object->content, debug_files_, place.file, place.line);
        Collection collection(kernel_, *object);
        for (const std::uint64_t offset : line.offsets) {
            const auto function = std::ranges::find(object->functions, offset, &elf::NamedFunction::offset);
            if (function != object->functions.end())
                add(collection, *object, *function, offset);
            else
                collection.add_line(offset, place, object->frames ? *object->frames : object->frames.emplace(elf::unwind_table(object->content, debug_files_)));
        }
        if (!collection.empty())
            std::ranges::move(collection.take(), std::back_inserter(found.functions));
    }
    if (found.functions.empty())
        throw why_no_line(spec, place, objects.back()->file->path, line);
    return found;
}

FoundUserFunctions UserFunctionFinder::find(const Spec &spec) {
    if (const std::optional<LinePlace> place = line_place(spec))
        return find_line(spec, *place);
    require_line(spec);
    const auto [files, left] = files_.find(spec);
    if (files.size() > 1 && Choice(spec).is_address())
        throw error_in(spec, spec.pattern_at, fmt::format("{}: an address is one of an object, and {} are meant", spec.title(), files.size()));
    const std::vector<Object *> objects = objects_.open(spec, files, [this](Object &object) { read(object); });
    FoundUserFunctions found;
    for (Object *object : objects) {
        FoundUserFunctions more = find_in(*object, spec);
        std::ranges::move(more.functions, std::back_inserter(found.functions));
        std::ranges::move(more.left, std::back_inserter(found.left));
    }
    if (!found.functions.empty()) {
        std::ranges::copy(left, std::back_inserter(found.left));
        return found;
    }
    if (!found.left.empty())
        throw error_in(spec, fmt::format("{}: what it leads to is chosen when {} is loaded (IFUNC), and argtrace has not loaded that file: name "
                                         "the function that it leads to",
                                         spec.title(), objects.back()->file->path));
    if (files.size() > 1)
        throw files_.none_has(spec, files.size(), "function");
    throw why_none(spec, objects.front()->file->path, objects.front()->content, objects.front()->functions);
}

} // namespace argtrace
