// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>

#include <bpf/btf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "btf/kernel_types.h"

namespace argtrace {

/// A C file, compiled and loaded into the test, with the BTF that pahole makes of it.
class CompiledC {
public:
    explicit CompiledC(const std::string &source, const std::string &flags = "") {
        std::string name = std::filesystem::temp_directory_path() / "argtrace-XXXXXX";
        if (!mkdtemp(name.data()))
            return;
        directory_ = name;
        std::ofstream(path("test.c")) << source;
        run(fmt::format("gcc -w -g -fPIC -shared {} -o test.so test.c", flags));
        run("pahole --btf_gen_floats --btf_encode_detached=test.btf test.so");
        types_.reset(btf__parse(path("test.btf").c_str(), nullptr));
        EXPECT_NE(types_, nullptr);
        handle_ = dlopen(path("test.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(handle_, nullptr) << dlerror();
    }
    CompiledC(const CompiledC &) = delete;
    ~CompiledC() {
        if (handle_)
            dlclose(handle_);
        if (!directory_.empty())
            std::filesystem::remove_all(directory_);
    }

    bool good() const { return types_ && handle_; }
    btf *types() const { return types_.get(); }
    BtfPtr take_types() { return std::move(types_); }

    template<typename Function>
    Function *function(const char *name) const {
        return reinterpret_cast<Function *>(symbol(name));
    }
    void *symbol(const char *name) const {
        void *found = dlsym(handle_, name);
        EXPECT_NE(found, nullptr) << name;
        return found;
    }

private:
    std::string path(const char *file) const { return directory_ + "/" + file; }

    void run(const std::string &command) const {
        const std::string line = fmt::format("cd '{}' && {}", directory_, command);
        EXPECT_EQ(std::system(line.c_str()), 0) << line;
    }

    std::string directory_;
    BtfPtr types_;
    void *handle_ = nullptr;
};

} // namespace argtrace
