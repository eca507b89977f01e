// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/kernel_types.h"
#include "btf/prototype.h"
#include "dwarf/go_types.h"
#include "dwarf/made_type.h"
#include "dwarf/variables.h"
#include "elf/function_list.h"
#include "model/code_naming.h"
#include "model/dwarf_registers.h"
#include "model/written_parameter.h"

namespace argtrace::dwarf {

/// What DWARF says of the functions of an object. It is read when they are asked for, a unit when one of its functions is.
class Functions {
public:
    /// Nothing if there is no DWARF.
    static std::unique_ptr<Functions> open(const elf::Object &object, const DwarfRegisters &registers, const DebugFiles &debug_files = {});

    ~Functions();

    /// What it says of the types of Go's runtime.
    GoTypes go_types() const;

    /// Makes prototypes of functions, with types of their own: a program's `struct file` is not the kernel's.
    class Prototypes;

private:
    struct Info;
    explicit Functions(std::unique_ptr<Info> info);

    std::unique_ptr<Info> info_;
};

class Functions::Prototypes {
public:
    /// The types build on `base`, which libbpf changes: see KernelTypes::copy_of_kernel(). A name that the program does not have is
    /// the kernel's. Both must outlive it.
    Prototypes(Functions &functions, btf *base);
    ~Prototypes();

    /// Has a prototype made of a function, which begins at an address of the object: its own, or of one that is chosen when the object is loaded the
    /// one it leads to. Returns its number among those of this object; nothing if DWARF does not describe it, or in a language that has a
    /// calling convention of its own. `names` are what its parameters are called, if they are as many.
    std::optional<std::size_t> add(std::uint64_t address, const elf::NamedFunction &function, std::span<const WrittenParameter> names = {});

    /// The same of an instruction with which a line begins, in DWARF's unit of it: its parameters are what names mean there. Nothing if DWARF has no
    /// names there, or in a language whose variables are not read. The instruction and its frame are as the object has them.
    std::optional<std::size_t> add_line(LineAddress at);

    /// Adds an enumeration of 8 bytes to the types.
    void add_enumeration(std::string name, std::vector<MadeType::Enumerator> enumerators);

    /// Ends the making. The types are those that prototype() takes.
    BtfPtr take();

    /// The prototype of that number, whose name is `title`.
    Prototype prototype(std::size_t number, const btf *types, const char *title) const;

private:
    struct Made;
    std::unique_ptr<Made> made_;
};

} // namespace argtrace::dwarf
