// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/go_kind.h"
#include "lang/ast.h"
#include "lang/flag_name_cache.h"
#include "lang/type.h"

struct btf;

namespace argtrace::lang {

/// The types of a kernel, or of a module with those of its kernel, as expressions need them. It
/// indexes them when it is made, which takes about ten milliseconds for a kernel: make it once
/// for each BTF object. Where BTF is broken, types are of kind `unknown`.
class Types {
public:
    /// Where a variable of the kernel's is, if that is known; asked only for what needs it.
    using FindVariable = std::function<std::optional<std::uint64_t>(std::string_view name)>;

    /// The owner of the types, without those of a base.
    enum class Owner : bool {
        kernel,
        program, ///< on the kernel's: pointers among them lead to user memory, and none of them is one of the kernel's of the same name
    };

    /// `types` must outlive it, and stay as it is.
    explicit Types(const btf *types, FindVariable find_variable = {}, Owner owner = Owner::kernel);

    const btf *btf_object() const { return types_; }

    TypeTraits traits(Type type) const;

    /// What a pointer points to, or an array consists of; void if it is neither. A pointer in user memory leads to user memory.
    Type target(Type type) const;

    /// What a pointer points to: by its type's tags where nothing else has been said. Of other types the kernel's memory.
    Space space(Type type) const;

    /// An array's elements.
    std::uint32_t count(Type array) const;

    /// Whether two types are one behind typedefs and qualifiers; of integers, whether they are
    /// represented the same.
    bool same(Type a, Type b) const;

    /// As C writes it: "struct sock *", "unsigned long"; and the kernel a pointer to user memory: "char __user *".
    std::string name(Type type) const;

    /// The type of that name; nothing if there is none. A module's own comes before one of its
    /// kernel. Where different types have the name it is one of them: ask is_ambiguous().
    std::optional<Type> find(const TypeName &name) const;

    /// The kernel's, whatever else has the name.
    std::optional<Type> find_of_kernel(const TypeName &name) const;

    /// Whether types that differ in more than what lies behind their pointers have that name.
    bool is_ambiguous(const TypeName &name) const;

    /// The different types of that name.
    std::vector<Type> all(const TypeName &name) const;

    /// The name of the program's struct, class or union that a type is, or points to; empty if it is, or points to, none.
    std::string_view program_struct(Type type) const;

    /// The name of a struct or union that is `incomplete`; empty for any other type.
    TypeName declared_name(Type type) const;

    /// Names of types of that sort, for suggestions.
    std::vector<std::string_view> names(TypeName::Tag tag) const;

    /// What a type of a program of Go is to Go; a pointer to it is none.
    GoKind go_kind(Type type) const;

    struct Member {
        Type type;
        std::uint64_t bit_offset = 0;
        std::uint32_t bits = 0; ///< of a bit-field, else 0
    };

    /// The member of that name of a struct or union; those of anonymous members are its own. Base classes of C++ are such members, too: a
    /// class hides what those behind it have, and of two that are as far there is none.
    std::optional<Member> member(Type aggregate, std::string_view name) const;
    std::vector<std::string_view> member_names(Type aggregate) const;

    /// How a struct of Go's has a member of one that is embedded in it, or to which a pointer is: the embedded members that lead to the struct that has it, from
    /// the outermost. The least deep counts; of several that are as deep none does.
    struct Promotion {
        std::vector<std::string_view> path; ///< empty: there is none
        std::vector<std::string_view> other = {}; ///< another of the same length
    };
    Promotion promotion(Type aggregate, std::string_view name) const;

    /// Whether it is a reference of a program, which has no elements but those of what it refers to: BTF has a pointer for it.
    bool is_reference(Type type) const;

    struct Enumerator {
        std::uint64_t value = 0; ///< extended by its sign, if its type has one
        Type type;               ///< int if it fits, as in C; else what the enum is stored in
    };

    /// Nothing, too, if enumerators of that name have different values: see enumerator_values(). As C++ and Rust have it, the name may
    /// begin with that of the enum, or of what this is in: "app::Level::high", "Level::high".
    std::optional<Enumerator> enumerator(std::string_view name) const;
    /// The different values of all enumerators of that name, in order.
    std::vector<std::int64_t> enumerator_values(std::string_view name) const;
    std::vector<std::string_view> enumerator_names() const;
    /// "app::Level::high", "app::Mood::high": those of that name of the program's enums.
    std::vector<std::string> qualified_enumerators(std::string_view name) const;
    /// BTF's number of the enum that has it, the first one if there are several; 0 if there is none.
    std::uint32_t enum_of(std::string_view enumerator) const;
    FlagNameCache &flag_name_cache() const { return *flag_name_cache_; }
    /// All of that enum's.
    std::vector<std::pair<std::string_view, std::uint64_t>> enumerators_of(std::uint32_t id) const;

    std::optional<std::uint64_t> variable(std::string_view name) const {
        return find_variable_ ? find_variable_(name) : std::nullopt;
    }

    /// What a function returns. `function_proto` is BTF's.
    Type result(std::uint32_t function_proto) const;

    /// The type of a function's parameter. `function_proto` is BTF's.
    Type parameter(std::uint32_t function_proto, std::uint32_t index) const;

private:
    struct Named {
        std::uint32_t id = 0;
        int position = 0; ///< of an enumerator, within the enum
        bool is_ambiguous = false;
    };
    using Index = std::unordered_map<std::string_view, Named>;

    template<typename Found> std::uint32_t find_beneath(Type type, Found found) const;
    Type target_anywhere(Type type) const;
    std::string name_anywhere(Type type) const;
    void index(std::uint32_t begin, std::uint32_t end);
    void index(std::uint32_t id);
    void add(Index &index, std::string_view name, Named named);
    static std::optional<Type> basic_named(std::string_view name);
    bool is_own(std::uint32_t id) const { return id >= own_begin_; }
    bool is_of_program(Type type) const { return owner_ == Owner::program && own_begin_ > 1 && is_own(type.id); }
    bool alike(Type a, Type b, int depth = 0) const;
    bool alike_inside(std::uint32_t a, std::uint32_t b, int depth) const;
    Enumerator enumerator(const Named &named) const;
    template<typename Visit> void visit_enumerators(std::string_view name, Visit visit) const;
    std::optional<Enumerator> qualified_enumerator(std::string_view qualifier, std::string_view name) const;
    const Named *named(const TypeName &name) const;
    std::uint32_t complete(std::uint32_t id) const;
    void add_member_names(std::uint32_t aggregate, std::vector<std::string_view> &names,
                          int depth) const;
    const Index *index_of(TypeName::Tag tag) const;
    std::string_view string(std::uint32_t offset) const;

    const btf *types_;
    FindVariable find_variable_;
    Owner owner_;
    std::uint32_t own_begin_ = 1; // a module's types are behind those of its kernel
    bool char_is_signed_ = true; // Linux 6.2 and later are compiled with -funsigned-char
    Index structs_, unions_, enums_, typedefs_, integers_;
    Index enumerators_;
    std::unordered_map<std::uint32_t, GoKind> go_kinds_;
    std::set<std::uint32_t> references_;
    std::set<std::pair<std::uint32_t, int>> embedded_; ///< members by their struct and their place in it
    std::shared_ptr<FlagNameCache> flag_name_cache_ = std::make_shared<FlagNameCache>();
};

} // namespace argtrace::lang
