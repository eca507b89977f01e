// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/syscall_formats.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

std::vector<std::string> written(const SyscallFormats &formats, std::string_view name) {
    const std::vector<WrittenParameter> arguments = formats.arguments(name).value_or(std::vector<WrittenParameter>());
    std::vector<std::string> texts;
    for (const WrittenParameter &argument : arguments)
        texts.push_back(argument.type + " " + argument.name);
    return texts;
}

// As Linux 7.3 has them.
constexpr const char *common = "	field:unsigned short common_type;	offset:0;	size:2;	signed:0;\n"
                               "	field:int common_pid;	offset:4;	size:4;	signed:1;\n"
                               "\n"
                               "	field:int __syscall_nr;	offset:8;	size:4;	signed:1;\n";

TEST(SyscallFormats, AnArgumentMayBeCalledAsTheNumberOfTheCall) {
    const SyscallFormats formats({
        {"io_submit", std::string(common) + "	field:aio_context_t ctx_id;	offset:16;	size:8;	signed:0;\n"
                                            "	field:long nr;	offset:24;	size:8;	signed:0;\n"
                                            "	field:struct iocb * * iocbpp;	offset:32;	size:8;	signed:0;\n"},
        {"futex_wake", std::string(common) + "	field:void * uaddr;	offset:16;	size:8;	signed:0;\n"
                                             "	field:unsigned long mask;	offset:24;	size:8;	signed:0;\n"
                                             "	field:int nr;	offset:32;	size:8;	signed:0;\n"
                                             "	field:unsigned int flags;	offset:40;	size:8;	signed:0;\n"},
    });
    EXPECT_EQ(written(formats, "io_submit"),
              (std::vector<std::string>{"aio_context_t ctx_id", "long nr", "struct iocb * * iocbpp"}));
    EXPECT_EQ(written(formats, "futex_wake"),
              (std::vector<std::string>{"void * uaddr", "unsigned long mask", "int nr", "unsigned int flags"}));
    EXPECT_FALSE(formats.arguments("read").has_value());
}

// Since Linux 7.0 the kernel copies what some of the arguments point to.
TEST(SyscallFormats, WhatTheKernelHasCopiedIsNoArgument) {
    const SyscallFormats formats({
        {"chdir", std::string(common) + "	field:const char * filename;	offset:16;	size:8;	signed:0;\n"
                                        "	field:__data_loc char[] __filename_val;	offset:24;	size:4;	signed:0;\n"},
    });
    EXPECT_EQ(written(formats, "chdir"), std::vector<std::string>{"const char * filename"});
}

} // namespace
} // namespace argtrace
