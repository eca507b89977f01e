// SPDX-License-Identifier: GPL-2.0-only
#include "elf/call_frames.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>

#include "elf/byte_reader.h"
#include "uapi/argtrace_user.h"

namespace argtrace::elf {

namespace {

/// rbx, rbp, r12 to r15: System V x86-64 psABI, 3.2.1 and figure 3.36.
constexpr std::array<std::uint8_t, ARGTRACE_UNWIND_SAVED_X86_64> saved_x86_64 = {3, 6, 12, 13, 14, 15};
constexpr FrameRegisters x86_64_registers{.first = 0, .limit = 16, .stack_pointer = 7, .frame_pointer = 6, .return_address = 16, .is_linked = false, .saved = saved_x86_64};

/// x19 to x29: AAPCS64, 6.1.1; DWARF for the Arm 64-bit Architecture, 4.1. Those below x15 are in no rule.
constexpr std::array<std::uint8_t, ARGTRACE_UNWIND_SAVED_ARM64> saved_arm64 = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
constexpr FrameRegisters arm64_registers{.first = 15, .limit = 32, .stack_pointer = 31, .frame_pointer = 29, .return_address = 30, .is_linked = true, .saved = saved_arm64};

using How = RegisterRule::How;

/// States that are remembered and not yet restored. Compilers nest them once.
constexpr std::size_t remembered_max = 64;

/// DW_CFA_AARCH64_*: from here on the return address is signed, or is not. The module strips it in either case.
constexpr std::uint8_t negate_ra_state_with_pc = 0x2c, negate_ra_state = 0x2d;

std::string_view between(const std::uint8_t *start, const std::uint8_t *end) {
    return start && start < end ? std::string_view(reinterpret_cast<const char *>(start), static_cast<std::size_t>(end - start))
                                : std::string_view();
}

/// What a CIE says for its functions.
struct CommonEntry {
    std::string_view instructions;
    std::uint64_t code_alignment = 1;
    std::int64_t data_alignment = 1;
    std::uint8_t pointer_encoding = DW_EH_PE_absptr;
    bool is_sized = false; ///< functions have a size before what augments them
    bool is_signal_frame = false;
    FrameState initial;
};

/// A pointer, whose bytes are those that `reader` is at; `address` is where they are loaded.
std::optional<std::uint64_t> read_pointer(ByteReader &reader, std::uint8_t encoding, std::uint64_t address) {
    std::uint64_t value = 0;
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        value = reader.number<std::uint64_t>();
        break;
    case DW_EH_PE_uleb128:
        value = reader.uleb();
        break;
    case DW_EH_PE_sleb128:
        value = static_cast<std::uint64_t>(reader.sleb());
        break;
    case DW_EH_PE_udata2:
        value = reader.number<std::uint16_t>();
        break;
    case DW_EH_PE_sdata2:
        value = static_cast<std::uint64_t>(reader.number<std::int16_t>());
        break;
    case DW_EH_PE_udata4:
        value = reader.number<std::uint32_t>();
        break;
    case DW_EH_PE_sdata4:
        value = static_cast<std::uint64_t>(reader.number<std::int32_t>());
        break;
    default:
        return std::nullopt;
    }
    if (reader.failed())
        return std::nullopt;
    // Neither what is relative to other sections nor what is read through memory is in linked files.
    switch (encoding & 0xf0) {
    case DW_EH_PE_absptr:
        return value;
    case DW_EH_PE_pcrel:
        return address + value;
    default:
        return std::nullopt;
    }
}

/// Executes the instructions of a CIE or FDE.
class Interpreter {
public:
    Interpreter(const CommonEntry &common, const FrameRegisters &registers, FrameState &state, std::uint64_t location, std::uint64_t end)
        : common_(common), registers_(registers), state_(state), location_(location), end_(end) {}

    /// Calls `advanced(start, end)` for each range that the state before an advance is for. False if
    /// the instructions are damaged, or cannot be understood.
    template<typename Advanced>
    bool run(std::string_view instructions, std::uint64_t loaded_at, const Advanced &advanced) {
        ByteReader reader(instructions);
        while (!reader.at_end()) {
            const auto code = reader.number<std::uint8_t>();
            std::optional<std::uint64_t> target;
            if (!step(reader, code, loaded_at + (instructions.size() - reader.rest().size()), target) || reader.failed())
                return false;
            if (!target)
                continue;
            if (*target < location_)
                return false;
            const std::uint64_t next = std::min(*target, end_);
            if (next > location_)
                advanced(location_, next);
            location_ = next;
            if (location_ == end_)
                break;
        }
        return true;
    }

    std::uint64_t location() const { return location_; }

private:
    /// The rule of a register; of those that are not kept one that nobody reads.
    RegisterRule &rule(std::uint64_t number) { return registers_.keeps(number) ? state_.registers[registers_.index(number)] : unused_; }

    std::int64_t factored(std::int64_t offset) const {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) * static_cast<std::uint64_t>(common_.data_alignment));
    }
    std::int64_t factored(std::uint64_t offset) const { return factored(static_cast<std::int64_t>(offset)); }

    void restore(std::uint64_t number) {
        if (registers_.keeps(number))
            rule(number) = common_.initial.registers[registers_.index(number)];
    }

    void define_cfa(std::uint64_t number, std::int64_t offset) {
        state_.cfa_is_expression = false;
        state_.cfa_register = number;
        state_.cfa_offset = offset;
    }

    std::uint64_t advance(std::uint64_t delta) const { return location_ + delta * common_.code_alignment; }

    bool step(ByteReader &reader, std::uint8_t code, std::uint64_t operand_at, std::optional<std::uint64_t> &target) {
        const std::uint64_t operand = code & 0x3f;
        switch (code & 0xc0) {
        case DW_CFA_advance_loc:
            target = advance(operand);
            return true;
        case DW_CFA_offset:
            rule(operand) = {How::offset, factored(reader.uleb()), {}};
            return true;
        case DW_CFA_restore:
            restore(operand);
            return true;
        default:
            return step_extended(reader, code, operand_at, target);
        }
    }

    bool step_extended(ByteReader &reader, std::uint8_t code, std::uint64_t operand_at, std::optional<std::uint64_t> &target) {
        switch (code) {
        case DW_CFA_nop:
            return true;
        case DW_CFA_set_loc:
            target = read_pointer(reader, common_.pointer_encoding, operand_at);
            return target.has_value();
        case DW_CFA_advance_loc1:
            target = advance(reader.number<std::uint8_t>());
            return true;
        case DW_CFA_advance_loc2:
            target = advance(reader.number<std::uint16_t>());
            return true;
        case DW_CFA_advance_loc4:
            target = advance(reader.number<std::uint32_t>());
            return true;
        case DW_CFA_remember_state:
            if (remembered_.size() == remembered_max)
                return false;
            remembered_.push_back(state_);
            return true;
        case DW_CFA_restore_state:
            if (remembered_.empty())
                return false;
            state_ = remembered_.back();
            remembered_.pop_back();
            return true;
        case DW_CFA_GNU_args_size: // what a call pushes as arguments, for exceptions
            reader.uleb();
            return true;
        case negate_ra_state:
        case negate_ra_state_with_pc:
            return registers_.is_linked;
        default:
            return step_cfa(reader, code) || step_register(reader, code);
        }
    }

    bool step_cfa(ByteReader &reader, std::uint8_t code) {
        switch (code) {
        case DW_CFA_def_cfa: {
            const std::uint64_t number = reader.uleb();
            define_cfa(number, static_cast<std::int64_t>(reader.uleb()));
            return true;
        }
        case DW_CFA_def_cfa_sf: {
            const std::uint64_t number = reader.uleb();
            define_cfa(number, factored(reader.sleb()));
            return true;
        }
        // These two change a rule that must be a register and an offset.
        case DW_CFA_def_cfa_register:
            define_cfa(reader.uleb(), state_.cfa_offset);
            return true;
        case DW_CFA_def_cfa_offset:
            define_cfa(state_.cfa_register, static_cast<std::int64_t>(reader.uleb()));
            return true;
        case DW_CFA_def_cfa_offset_sf:
            define_cfa(state_.cfa_register, factored(reader.sleb()));
            return true;
        case DW_CFA_def_cfa_expression:
            state_.cfa_is_expression = true;
            state_.cfa_expression = reader.block();
            return true;
        default:
            return false;
        }
    }

    bool step_register(ByteReader &reader, std::uint8_t code) {
        const std::uint64_t number = reader.uleb();
        RegisterRule &changed = rule(number);
        switch (code) {
        case DW_CFA_offset_extended:
            changed = {How::offset, factored(reader.uleb()), {}};
            return true;
        case DW_CFA_offset_extended_sf:
            changed = {How::offset, factored(reader.sleb()), {}};
            return true;
        case DW_CFA_GNU_negative_offset_extended:
            changed = {How::offset, factored(0 - reader.uleb()), {}};
            return true;
        case DW_CFA_val_offset:
            changed = {How::val_offset, factored(reader.uleb()), {}};
            return true;
        case DW_CFA_val_offset_sf:
            changed = {How::val_offset, factored(reader.sleb()), {}};
            return true;
        case DW_CFA_restore_extended:
            restore(number);
            return true;
        case DW_CFA_undefined:
            changed = {How::undefined, 0, {}};
            return true;
        case DW_CFA_same_value:
            changed = {How::same, 0, {}};
            return true;
        case DW_CFA_register:
            changed = {How::in_register, static_cast<std::int64_t>(reader.uleb()), {}};
            return true;
        case DW_CFA_expression:
            changed = {How::expression, 0, reader.block()};
            return true;
        case DW_CFA_val_expression:
            changed = {How::val_expression, 0, reader.block()};
            return true;
        default:
            return false;
        }
    }

    const CommonEntry &common_;
    const FrameRegisters &registers_;
    FrameState &state_;
    std::uint64_t location_, end_;
    std::vector<FrameState> remembered_;
    RegisterRule unused_;
};

class FrameReader {
public:
    FrameReader(const FrameSection &section, const FrameVisitor &visitor) : section_(section), visitor_(visitor), common_budget_(section.bytes.size()) {
        data_.d_buf = const_cast<char *>(section.bytes.data());
        data_.d_size = section.bytes.size();
        data_.d_type = ELF_T_BYTE;
        data_.d_version = EV_CURRENT;
    }

    void run() {
        for (std::uint64_t offset = 0; offset < section_.bytes.size();) {
            const std::optional<std::uint64_t> next = next_after(offset);
            if (!next)
                return;
            Dwarf_CFI_Entry entry;
            if (read_entry(offset, entry) && !dwarf_cfi_cie_p(&entry))
                read_function(entry.fde);
            offset = *next;
        }
    }

private:
    /// Where the entry behind this one is. An entry of the length 0 ends .eh_frame for unwinders, but
    /// linkers leave it in the middle, too.
    std::optional<std::uint64_t> next_after(std::uint64_t offset) const {
        ByteReader reader(section_.bytes.substr(offset));
        std::uint64_t length = reader.number<std::uint32_t>();
        if (length == 0xffffffff)
            length = reader.number<std::uint64_t>();
        if (reader.failed() || length > reader.rest().size())
            return std::nullopt;
        return section_.bytes.size() - reader.rest().size() + length;
    }

    bool read_entry(std::uint64_t offset, Dwarf_CFI_Entry &entry) {
        static constexpr unsigned char ident[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
        Dwarf_Off next = 0;
        return ::dwarf_next_cfi(ident, &data_, section_.is_eh_frame, offset, &next, &entry) == 0;
    }

    std::uint64_t loaded_at(const char *place) const {
        return section_.address + static_cast<std::uint64_t>(place - section_.bytes.data());
    }

    /// nullptr if it cannot be understood.
    const CommonEntry *common_at(std::uint64_t offset) {
        const auto [found, is_new] = common_.try_emplace(offset);
        if (!is_new)
            return found->second.get();
        Dwarf_CFI_Entry entry;
        if (offset >= section_.bytes.size() || !read_entry(offset, entry) || !dwarf_cfi_cie_p(&entry) ||
            entry.cie.return_address_register != section_.registers->return_address)
            return nullptr;
        auto common = std::make_unique<CommonEntry>();
        common->code_alignment = entry.cie.code_alignment_factor;
        common->data_alignment = entry.cie.data_alignment_factor;
        common->instructions = between(entry.cie.initial_instructions, entry.cie.initial_instructions_end);
        // CIEs that do not overlap are not longer than the section together.
        if (!read_augmentation(entry.cie, *common) || common->instructions.size() > common_budget_)
            return nullptr;
        common_budget_ -= common->instructions.size();
        FrameState state;
        Interpreter interpreter(*common, *section_.registers, state, 0, UINT64_MAX);
        const bool understood = interpreter.run(common->instructions, loaded_at(common->instructions.data()), [](std::uint64_t, std::uint64_t) {});
        if (!understood || interpreter.location() != 0)
            return nullptr;
        common->initial = state;
        found->second = std::move(common);
        return found->second.get();
    }

    bool read_augmentation(const Dwarf_CIE &cie, CommonEntry &common) const {
        const std::string_view letters = cie.augmentation;
        if (letters.empty())
            return true;
        if (letters[0] != 'z')
            return false;
        common.is_sized = true;
        ByteReader reader(between(cie.augmentation_data, cie.augmentation_data + cie.augmentation_data_size));
        for (const char letter : letters.substr(1)) {
            switch (letter) {
            case 'R':
                common.pointer_encoding = reader.number<std::uint8_t>();
                break;
            case 'L':
                reader.number<std::uint8_t>();
                break;
            case 'P': {
                const auto encoding = reader.number<std::uint8_t>();
                if (!read_pointer(reader, encoding & 0x0f, 0))
                    return false;
                break;
            }
            case 'S':
                common.is_signal_frame = true;
                break;
            case 'B': // return addresses are signed by the key B
            case 'G': // the stack has tags
                if (!section_.registers->is_linked)
                    return false;
                break;
            default:
                return false;
            }
        }
        return !reader.failed();
    }

    void read_function(const Dwarf_FDE &fde) {
        const CommonEntry *common = common_at(fde.CIE_pointer);
        if (!common)
            return;
        ByteReader reader(between(fde.start, fde.end));
        const auto start = read_pointer(reader, common->pointer_encoding, loaded_at(reader.rest().data()));
        const auto size = read_pointer(reader, common->pointer_encoding & 0x0f, 0);
        // Linkers let functions that they have dropped begin at 0.
        if (!start || !size || *start == 0 || *size == 0 || *start + *size < *start)
            return;
        if (common->is_sized)
            reader.block();
        const std::uint64_t end = *start + *size;
        if (reader.failed() || !visitor_.function(*start, end))
            return;
        FrameState state = common->initial;
        Interpreter interpreter(*common, *section_.registers, state, *start, end);
        const bool understood = interpreter.run(reader.rest(), loaded_at(reader.rest().data()), [&](std::uint64_t from, std::uint64_t to) {
            visitor_.row(from, to, &state, common->is_signal_frame);
        });
        if (interpreter.location() < end)
            visitor_.row(interpreter.location(), end, understood ? &state : nullptr, common->is_signal_frame);
    }

    const FrameSection &section_;
    const FrameVisitor &visitor_;
    Elf_Data data_ = {};
    std::unordered_map<std::uint64_t, std::unique_ptr<CommonEntry>> common_; ///< by offset
    std::size_t common_budget_;
};

} // namespace

const FrameRegisters *frame_registers(int machine) {
    switch (machine) {
    case EM_X86_64:
        return &x86_64_registers;
    case EM_AARCH64:
        return &arm64_registers;
    default:
        return nullptr;
    }
}

void visit_frames(const FrameSection &section, const FrameVisitor &visitor) {
    FrameReader(section, visitor).run();
}

} // namespace argtrace::elf
