// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dwarf/functions.h"
#include "elf/function_list.h"
#include "elf/unwind_table.h"
#include "spec/functions.h"
#include "spec/kernel.h"
#include "spec/object_scope.h"
#include "spec/spec.h"
#include "spec/user_go.h"
#include "spec/user_objects.h"
#include "spec/user_returns.h"

namespace argtrace {

struct LinePlace;

/// Finds functions of programs and libraries (u:OBJECT:FUNCTION, and lines of their source, u:OBJECT@FILE:LINE), in the symbol tables of their files. What they take is what the user
/// has given a prototype of, else what DWARF says, else what is known of usual libraries (library_prototypes.table); the others have six registers.
class UserFunctionFinder {
public:
    /// All of them stay the caller's: the kernel, whose types prototypes use, what the user has written, the finder of objects.
    UserFunctionFinder(Kernel &kernel, const std::vector<WrittenPrototype> &prototypes, ObjectFinder &files, const DebugFiles &debug_files)
        : kernel_(kernel), written_(prototypes), files_(files), debug_files_(debug_files) {}

    /// Throws Error, which says why, if there is none.
    FoundUserFunctions find(const Spec &spec);

private:
    class Collection;
    struct Object : UserObject {
        std::vector<elf::NamedFunction> functions = {};
        std::unique_ptr<dwarf::Functions> described = {}; ///< by DWARF; null: there is none
        std::optional<GoCode> go = {};                 ///< nothing: it has none
        std::optional<UserReturnsFinder> returns = {}; ///< once they are asked for
        std::shared_ptr<const GoProgram> go_program = {}; ///< once a function of Go is,
        std::vector<dwarf::MadeType::Enumerator> go_beginnings = {}; ///< and where it begins goroutines: none are known where addresses are not the file's
        std::optional<elf::UnwindTable> frames = {}; ///< once a line of its source is
    };

    void read(Object &object) const;
    FoundUserFunctions find_in(Object &object, const Spec &spec);
    FoundUserFunctions find_line(const Spec &spec, const LinePlace &place);
    static std::function<UserReturns()> returns_of(Object &object, const elf::NamedFunction &function, std::uint64_t offset);
    void add(Collection &collection, Object &object, const elf::NamedFunction &function, std::uint64_t begin);

    Kernel &kernel_;
    const std::vector<WrittenPrototype> &written_;
    ObjectFinder &files_;
    const DebugFiles &debug_files_;
    OpenObjects<Object> objects_;
};

} // namespace argtrace
