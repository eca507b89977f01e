// SPDX-License-Identifier: GPL-2.0-only
#include "neighbours_bpf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "kallsyms.h"
#include "modules/neighbours.h"

namespace vmtest {
namespace {

constexpr const char *neighbours_module = "argtrace_neighbours";

/// What a program adds to: how often it has been called, and the sum of what it looks at.
struct ProgramSums {
    std::uint64_t calls = 0, values = 0;
};

class NeighbourProgram {
public:
    NeighbourProgram(const std::string &function, unsigned nr_args, bool at_return) : nr_args_(nr_args) {
        map_ = bpf_map_create(BPF_MAP_TYPE_ARRAY, "an_sums", 4, sizeof(ProgramSums), 1, nullptr);
        EXPECT_GE(map_, 0) << strerror(errno);
        const int btf = find_module_btf(function);
        EXPECT_GE(btf, 0) << "no types of " << neighbours_module;
        bpf_prog_load_opts options{};
        options.sz = sizeof(options);
        options.expected_attach_type = at_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
        options.attach_btf_obj_fd = static_cast<std::uint32_t>(btf);
        options.attach_btf_id = type_id_;
        static char log[16384];
        options.log_buf = log;
        options.log_size = sizeof(log);
        options.log_level = 1;
        const std::vector<bpf_insn> code = instructions(at_return);
        program_ = bpf_prog_load(BPF_PROG_TYPE_TRACING, "an_program", "GPL", code.data(), code.size(), &options);
        EXPECT_GE(program_, 0) << strerror(errno) << '\n' << log;
        link_ = bpf_raw_tracepoint_open(nullptr, program_);
        EXPECT_GE(link_, 0) << strerror(errno);
        ::close(btf);
    }
    ~NeighbourProgram() {
        for (const int fd : {link_, program_, map_})
            ::close(fd);
    }
    NeighbourProgram(const NeighbourProgram &) = delete;
    NeighbourProgram &operator=(const NeighbourProgram &) = delete;

    /// What it has seen since it was last asked.
    ProgramSums take() {
        const std::uint32_t key = 0;
        ProgramSums now;
        EXPECT_EQ(bpf_map_lookup_elem(map_, &key, &now), 0);
        const ProgramSums since{now.calls - last_.calls, now.values - last_.values};
        last_ = now;
        return since;
    }

private:
    // r6 = the first argument, or what is returned; r7 = the sums.
    std::vector<bpf_insn> instructions(bool at_return) const {
        const auto word = static_cast<std::int16_t>(at_return ? 8 * nr_args_ : 0);
        return {
            {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_6, BPF_REG_1, word, 0},
            {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_7, BPF_PSEUDO_MAP_VALUE, 0, map_},
            {0, 0, 0, 0, 0},
            {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 1},
            {BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_2, offsetof(ProgramSums, calls), BPF_ADD},
            {BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_6, offsetof(ProgramSums, values), BPF_ADD},
            {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
            {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
        };
    }

    /// A descriptor of the module's types, and in them the function's number.
    int find_module_btf(const std::string &function) {
        btf *const kernel = btf__load_vmlinux_btf();
        int found = -1;
        for (std::uint32_t id = 0; found < 0 && bpf_btf_get_next_id(id, &id) == 0;) {
            const int fd = bpf_btf_get_fd_by_id(id);
            char name[64] = "";
            bpf_btf_info info{};
            std::uint32_t size = sizeof(info);
            info.name = reinterpret_cast<std::uintptr_t>(name);
            info.name_len = sizeof(name);
            if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && std::string(name) == neighbours_module) {
                btf *const module = btf__load_from_kernel_by_id_split(id, kernel);
                type_id_ = static_cast<std::uint32_t>(btf__find_by_name_kind(module, function.c_str(), BTF_KIND_FUNC));
                btf__free(module);
                found = fd;
            } else if (fd >= 0) {
                ::close(fd);
            }
        }
        btf__free(kernel);
        return found;
    }

    unsigned nr_args_;
    std::uint32_t type_id_ = 0;
    int map_ = -1, program_ = -1, link_ = -1;
    ProgramSums last_;
};

class BpfNeighbour : public Neighbour {
public:
    explicit BpfNeighbour(bool at_return) : at_return_(at_return) {}

    void begin() override {
        programs_["an_value"] = std::make_unique<NeighbourProgram>("an_value", AN_VALUE_ARGS, at_return_);
        // Before Linux 6.10 a program cannot be attached to a function with arguments on the stack.
    }
    void end() override { programs_.clear(); }
    long seen(const std::string &function) override {
        const ProgramSums sums = programs_.at(function)->take();
        // c is the number of the call, from 0 on.
        std::uint64_t expected = 0;
        for (std::uint64_t c = 0; c < sums.calls; c++)
            expected += at_return_ ? an_result(c, AN_VALUE_ARGS) : an_argument(c, 0);
        EXPECT_EQ(sums.values, expected) << function;
        return static_cast<long>(sums.calls);
    }
    // ftrace calls BPF's trampoline in place of ours.
    bool lets_us_follow() const override { return false; }
    bool has_many() const override { return false; }

private:
    bool at_return_;
    std::map<std::string, std::unique_ptr<NeighbourProgram>> programs_;
};

} // namespace

std::unique_ptr<Neighbour> make_bpf_neighbour(bool at_return, std::string &why) {
    if (kallsyms_text().find(" bpf_int_jit_compile\n") != std::string::npos && kallsyms_text().find(" bpf_trampoline_link_prog\n") != std::string::npos)
        return std::make_unique<BpfNeighbour>(at_return);
    why = "this kernel is built without CONFIG_BPF_JIT: it attaches no BPF programs to functions";
    return nullptr;
}

} // namespace vmtest
