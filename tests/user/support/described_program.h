// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "abi/calling_convention.h"
#include "dwarf/functions.h"
#include "elf/function_list.h"
#include "support/btf_builder.h"

namespace argtrace {

/// A program that is compiled with debug information, and what DWARF says of its functions.
class DescribedProgram {
public:
    /// `compiler` with its flags. "-o NAME" and the source are added.
    DescribedProgram(const std::string &source, const std::string &suffix, const std::string &compiler) {
        std::string name = testing::TempDir() + "argtrace_dwarf_XXXXXX";
        folder_ = ::mkdtemp(name.data());
        std::ofstream(folder_ + "/x" + suffix) << source;
        run(fmt::format("{} -w -o x x{}", compiler, suffix));
    }
    DescribedProgram(const DescribedProgram &) = delete;
    ~DescribedProgram() { std::filesystem::remove_all(folder_); }

    std::string path(const std::string &name = "x") const { return folder_ + '/' + name; }

    void run(const std::string &command) const {
        const std::string line = fmt::format("cd '{}' && {}", folder_, command);
        EXPECT_EQ(std::system(line.c_str()), 0) << line;
    }

    /// Reads what it says of all functions.
    void read(const std::string &name = "x") {
        const auto object = elf::Object::open(Fd(::open(path(name).c_str(), O_RDONLY | O_CLOEXEC)), path(name));
        ASSERT_TRUE(object);
        functions_ = dwarf::Functions::open(*object, dwarf_registers_x86_64);
        ASSERT_TRUE(functions_);
        BtfBuilder base;
        base.structure("file", 8);
        base.structure("opaque", 24);
        base.structure("task_struct", 8);
        base_ = base.take();
        dwarf::Functions::Prototypes made(*functions_, base_.get());
        std::map<std::string, std::size_t> numbers;
        for (const elf::NamedFunction &function : elf::list_functions(*object))
            if (const auto number = made.add(function.address, function))
                numbers[function.name] = *number;
        types_ = made.take();
        for (const auto &[title, number] : numbers)
            prototypes_[title] = made.prototype(number, types_.get(), title.c_str());
    }

    const std::map<std::string, Prototype> &prototypes() const { return prototypes_; }
    const btf *types() const { return types_.get(); }

    const Prototype &prototype(const std::string &name) const {
        static const Prototype none;
        const auto found = prototypes_.find(name);
        EXPECT_NE(found, prototypes_.end()) << name;
        return found == prototypes_.end() ? none : found->second;
    }

    /// "a rdi, b rsi:rdx, c ?"
    std::string places(const std::string &name) const {
        std::string text;
        for (const Argument &argument : user_functions_x86_64.places(prototype(name))) {
            const std::string place = user_functions_x86_64.location(argument);
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", argument.name, place.empty() ? "?" : place);
        }
        return text;
    }

    /// "a xmm0+rdi, b sp+8, c ?": what a program reads.
    std::string operands(const std::string &name) const {
        constexpr std::string_view integers[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
        const Prototype &found = prototype(name);
        const auto operands = user_functions_x86_64.operands(found);
        std::string text;
        for (std::size_t i = 0; i < operands.size(); i++) {
            text += fmt::format("{}{} ", text.empty() ? "" : ", ", found.parameters[i].name);
            if (!operands[i])
                text += "?";
            else if (operands[i]->kind == UserOperand::Kind::on_stack)
                text += fmt::format("sp+{}", operands[i]->number);
            else if (operands[i]->kind == UserOperand::Kind::in_vector)
                text += fmt::format("xmm{}", operands[i]->number);
            else
                for (const RegisterPart &part : operands[i]->parts)
                    text += (part.offset != 0 ? "+" : "") + (part.is_floating ? fmt::format("xmm{}", part.index) : std::string(integers[part.index]));
        }
        return text;
    }

private:
    std::string folder_;
    std::unique_ptr<dwarf::Functions> functions_;
    BtfPtr base_, types_; // in the order in which they build on each other
    std::map<std::string, Prototype> prototypes_;
};

} // namespace argtrace
