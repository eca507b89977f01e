// SPDX-License-Identifier: GPL-2.0-only
#include "support/machine.h"
#include "support/neighbours_bpf.h"

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

#include "modules/neighbours.h"
#include "support/kallsyms.h"

namespace vmtest {
namespace {

/// The kernel's own functions have "vmlinux" for a module.
struct ProgramTarget {
    const char *module, *function;
    unsigned nr_args;
    unsigned argument; ///< which it looks at, where it does not look at what is returned
    bool calls;        ///< whether the program has the kernel called from it
};

constexpr ProgramTarget value_target{"argtrace_neighbours", "an_value", AN_VALUE_ARGS, 0, false};
constexpr ProgramTarget file_targets[] = {{"vmlinux", "vfs_read", 4, 2, true}, {"vmlinux", "vfs_write", 4, 2, true}};

constexpr ProgramTarget getpgid_target{"vmlinux", SYSCALL_PREFIX "getpgid", 1, 0, false};

/// What a program adds to: how often it has been called, and the sum of what it looks at.
struct ProgramSums {
    std::uint64_t calls = 0, values = 0;
};

class NeighbourProgram {
public:
    NeighbourProgram(const ProgramTarget &target, bool at_return) : target_(target) {
        map_ = bpf_map_create(BPF_MAP_TYPE_ARRAY, "an_sums", 4, sizeof(ProgramSums), 1, nullptr);
        EXPECT_GE(map_, 0) << strerror(errno);
        const int btf = find_btf();
        EXPECT_GE(btf, 0) << "no types of " << target.module;
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
        const auto word = static_cast<std::int16_t>(8 * (at_return ? target_.nr_args : target_.argument));
        std::vector<bpf_insn> code = {
            {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_6, BPF_REG_1, word, 0},
            {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_7, BPF_PSEUDO_MAP_VALUE, 0, map_},
            {0, 0, 0, 0, 0},
            {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 1},
            {BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_2, offsetof(ProgramSums, calls), BPF_ADD},
            {BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_6, offsetof(ProgramSums, values), BPF_ADD},
        };
        if (target_.calls)
            code.insert(code.end(), {
                {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0},
                {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -16},
                {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 16},
                {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_comm},
            });
        code.insert(code.end(), {
            {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
            {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
        });
        return code;
    }

    /// A descriptor of the types that the function is among, and in them its number.
    int find_btf() {
        btf *const kernel = btf__load_vmlinux_btf();
        const bool in_kernel = target_.module == std::string("vmlinux");
        int found = -1;
        for (std::uint32_t id = 0; found < 0 && bpf_btf_get_next_id(id, &id) == 0;) {
            const int fd = bpf_btf_get_fd_by_id(id);
            char name[64] = "";
            bpf_btf_info info{};
            std::uint32_t size = sizeof(info);
            info.name = reinterpret_cast<std::uintptr_t>(name);
            info.name_len = sizeof(name);
            if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && std::string(name) == target_.module) {
                btf *const module = in_kernel ? nullptr : btf__load_from_kernel_by_id_split(id, kernel);
                type_id_ = static_cast<std::uint32_t>(btf__find_by_name_kind(in_kernel ? kernel : module, target_.function, BTF_KIND_FUNC));
                btf__free(module);
                found = fd;
            } else if (fd >= 0) {
                ::close(fd);
            }
        }
        btf__free(kernel);
        return found;
    }

    const ProgramTarget &target_;
    std::uint32_t type_id_ = 0;
    int map_ = -1, program_ = -1, link_ = -1;
    ProgramSums last_;
};

class BpfNeighbour : public Neighbour {
public:
    explicit BpfNeighbour(bool at_return) : at_return_(at_return) {}

    void begin() override {
        programs_["an_value"] = std::make_unique<NeighbourProgram>(value_target, at_return_);
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

/// At functions of the kernel, whoever calls them.
class BpfOfFiles : public Neighbour {
public:
    explicit BpfOfFiles(bool at_return) : at_return_(at_return) {}

    void begin() override {
        for (const ProgramTarget &target : file_targets)
            programs_[target.function] = std::make_unique<NeighbourProgram>(target, at_return_);
    }
    void end() override { programs_.clear(); }
    long seen(const std::string &function) override { return static_cast<long>(programs_.at(function)->take().calls); }

private:
    bool at_return_;
    std::map<std::string, std::unique_ptr<NeighbourProgram>> programs_;
};

/// At the return of a system call.
class BpfOfGetpgid : public Neighbour {
public:
    explicit BpfOfGetpgid(bool at_return) : at_return_(at_return) {}

    void begin() override { program_ = std::make_unique<NeighbourProgram>(getpgid_target, at_return_); }
    void end() override { program_.reset(); }
    long seen(const std::string &) override { return static_cast<long>(program_->take().calls); }

private:
    bool at_return_;
    std::unique_ptr<NeighbourProgram> program_;
};

template<typename Kind>
std::unique_ptr<Neighbour> make_where_possible(bool at_return, std::string &why) {
    if (kallsyms_text().find(" register_ftrace_direct") == std::string::npos) {
        why = "this kernel is built without CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS: it attaches no BPF programs to functions";
        return nullptr;
    }
    if (kallsyms_text().find(" bpf_int_jit_compile\n") != std::string::npos && kallsyms_text().find(" bpf_trampoline_link_prog\n") != std::string::npos)
        return std::make_unique<Kind>(at_return);
    why = "this kernel is built without CONFIG_BPF_JIT: it attaches no BPF programs to functions";
    return nullptr;
}

} // namespace

std::unique_ptr<Neighbour> make_bpf_neighbour(bool at_return, std::string &why) {
    return make_where_possible<BpfNeighbour>(at_return, why);
}

std::unique_ptr<Neighbour> make_bpf_of_files(bool at_return, std::string &why) {
    return make_where_possible<BpfOfFiles>(at_return, why);
}

std::unique_ptr<Neighbour> make_bpf_of_getpgid(bool at_return, std::string &why) {
    return make_where_possible<BpfOfGetpgid>(at_return, why);
}

} // namespace vmtest
