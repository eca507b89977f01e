// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>

struct btf;

namespace argtrace {

/// The declaration of something of that type, as C writes it, on one line:
/// "struct file *" for an empty declarator, "struct file *file", "int (*fn)(void *)".
/// A declarator may be any that C allows: "*p", "f(void)".
///
/// Not btf_dump__emit_type_decl(): it writes "struct foo___2" for the second type of a
/// name (the kernel has hundreds of them), and the bodies of anonymous types.
std::string declare(const btf *types, std::uint32_t type, std::string declarator = {});

/// "(struct file *file, ...)": the parameters of a BTF_KIND_FUNC_PROTO.
std::string declare_parameters(const btf *types, std::uint32_t function_proto);

} // namespace argtrace
