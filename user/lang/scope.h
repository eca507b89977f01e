// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/go_program.h"
#include "abi/user_registers.h"
#include "btf/prototype.h"
#include "lang/types.h"
#include "model/probe.h"

namespace argtrace::lang {

/// Bytes of text() that has no MAX; strace(1) has as many.
inline constexpr std::uint32_t text_bytes_default = 32;

class Expression;

/// What names mean in the expressions of one function.
class Scope {
public:
    struct Parameter {
        Type type;      ///< arrays and functions as the pointers that they are passed as
        Argument place; ///< with its name
        std::string other_name = {}; ///< as well, if nothing else has it: of a result of Go's
        std::optional<UserOperand> operand = {}; ///< where it is instead, if a USDT probe or a line of source says so
        bool is_variable = false;                ///< of a line of source
    };

    /// `places` is what the calling convention says of the prototype, one for each of its
    /// parameters. `types` must outlive the scope, and be those of the prototype's BTF; where a
    /// prototype is of none (six registers), its parameters are unsigned long.
    Scope(const Types &types, const Prototype &prototype, std::span<const Argument> places, const ProbeKind &kind = function_kind);

    /// A scope of one name, which is of that type and in the first argument register.
    Scope(const Types &types, std::string name, Type type);

    /// Where the parameters are, of a USDT probe: one for each of them, or nothing, as `places` say.
    void set_operands(std::span<const std::optional<UserOperand>> operands);

    /// Calls are recorded when they return: expressions may have `ret`, of that type, and
    /// `duration`.
    void set_result(Type type) { result_ = type; }
    const std::optional<Type> &result() const { return result_; }

    /// The registers that a user function returns a struct in.
    void set_result_operand(std::optional<UserOperand> operand) { result_operand_ = std::move(operand); }
    const std::optional<UserOperand> &result_operand() const { return result_operand_; }

    /// That struct is in memory, at the address that the function returns.
    void set_result_in_memory(bool in_memory) { is_result_in_memory_ = in_memory; }
    bool is_result_in_memory() const { return is_result_in_memory_; }

    /// It is in no register that is known: the compiler may have left it out.
    void set_result_unread(bool unread) { is_result_unread_ = unread; }
    bool is_result_unread() const { return is_result_unread_; }

    /// How many bytes text() has that says nothing of it.
    void set_text_bytes(std::uint32_t bytes) { text_bytes_ = bytes; }
    std::uint32_t text_bytes() const { return text_bytes_; }

    /// It is a function of a program of Go, which must outlive the scope, with its calls' place at an address of the file.
    struct OfGo {
        const GoProgram *program = nullptr; ///< null: it is none
        std::uint64_t place = 0;
    };
    void set_go(OfGo go) { go_ = go; }
    const OfGo &go() const { return go_; }

    /// A program of Go whose threads call it, though it is no function of that; it must outlive the scope. Null: none is known.
    void set_goroutines_of(const GoProgram *program) { goroutines_of_ = program; }
    const GoProgram *goroutines_of() const { return goroutines_of_; }

    /// What is known of what a program's struct holds, each an expression of `it`, or null.
    struct Contents {
        const Expression *text = nullptr;     ///< what it says, if that is a text
        const Expression *elements = nullptr; ///< a call whose operands are the first of its elements and their number
        const Expression *size = nullptr;     ///< their number, where that is said by itself
    };
    using FindContents = std::function<Contents(const Types &, Type)>;
    void set_contents_finder(FindContents find) { find_contents_ = std::move(find); }
    /// That of a struct of the program, or of a pointer to one; nothing of anything else.
    Contents contents_of(Type type) const { return find_contents_ && !types_->program_struct(type).empty() ? find_contents_(*types_, type) : Contents(); }

    const Types &types() const { return *types_; }
    const std::string &function() const { return function_; }
    const ProbeKind &kind() const { return *kind_; }

    /// Null if the function has no such parameter.
    const Parameter *parameter(std::string_view name) const;
    const std::vector<Parameter> &parameters() const { return parameters_; }

private:
    const Types *types_;
    std::string function_;
    std::vector<Parameter> parameters_;
    std::optional<Type> result_;
    std::optional<UserOperand> result_operand_;
    bool is_result_in_memory_ = false;
    bool is_result_unread_ = false;
    const ProbeKind *kind_ = &function_kind;
    std::uint32_t text_bytes_ = text_bytes_default;
    FindContents find_contents_;
    OfGo go_;
    const GoProgram *goroutines_of_ = nullptr;
};

/// A name that every function has: the task that runs, the CPU ...
struct Builtin {
    std::string_view name;
    std::string_view meaning; ///< an expression of `task`, the current struct task_struct; or ""
};

/// By name; null if there is none.
const Builtin *find_builtin(std::string_view name);
std::span<const Builtin> all_builtins();

/// The names of flags whose bits are numbered by enumerators of BTF: those of GFP, SLAB_* and REQ_*; see named_constant().
std::vector<std::string> bit_flag_names(const Types &types);

/// What a name means that is neither an argument nor a builtin: an enumerator of BTF, a macro, a
/// flag whose bit BTF numbers (those of GFP on Linux 6.10 and later, SLAB_* on 6.9 and later, REQ_*).
std::optional<Types::Enumerator> named_constant(const Types &types, std::string_view name);

} // namespace argtrace::lang
