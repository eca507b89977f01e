// SPDX-License-Identifier: GPL-2.0-only
#include "hostile/random_program.h"

#include <cstring>

namespace vmtest {

namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t{0};
constexpr std::uint16_t longest_text = 200;

// Where they are in struct mount of all kernels that are tested; offsets that are elsewhere do no
// harm.
constexpr argtrace_mount_layout usual_layout{
    .mnt = 32, .mnt_parent = 16, .mnt_mountpoint = 24, .mnt_ns = 232, .ns_root = 24, .reserved = 0};

} // namespace

RandomProgram::RandomProgram(std::mt19937_64 &random, const std::vector<std::uint64_t> &addresses)
    : random_(random), addresses_(addresses) {
    argtrace_mount_layout layout = usual_layout;
    if (one_in(8))
        layout.mnt_parent = static_cast<std::uint32_t>(8 * this->random(512));
    if (one_in(8))
        layout.mnt = static_cast<std::uint32_t>(8 * this->random(512));
    if (one_in(8))
        layout.ns_root = static_cast<std::uint32_t>(8 * this->random(512));
    data_.assign(reinterpret_cast<const char *>(&layout), sizeof(layout));
    if (!one_in(4))
        add_filter();
    head_.nr_filter = static_cast<std::uint16_t>(insns_.size());
    for (std::uint64_t left = this->random(5); left > 0; left--)
        add_output();
    seal();
}

RandomProgram::RandomProgram(std::mt19937_64 &random, const std::vector<std::uint64_t> &addresses,
                             const argtrace_map *map)
    : random_(random), addresses_(addresses) {
    if (!one_in(3))
        add_filter();
    head_.nr_filter = static_cast<std::uint16_t>(insns_.size());
    head_.sink = map ? ARGTRACE_SINK_MAP : ARGTRACE_SINK_COUNT;
    if (map)
        add_key(*map);
    seal();
}

/// Fills all words of the key, with numbers and texts, and adds the value.
void RandomProgram::add_key(const argtrace_map &map) {
    head_.map = static_cast<std::uint16_t>(map.id);
    for (std::uint64_t left = map.key_words; left > 0;) {
        const std::uint64_t words = one_in(4) ? 1 + random(left) : 1;
        if (words > 1 || one_in(5))
            add_text(static_cast<std::uint16_t>(words));
        else
            add_word();
        left -= words;
    }
    if (!(map.flags & ARGTRACE_MAP_VALUE))
        return;
    add_word();
    insns_.back().arg = 8;
    outputs_.back().size = 8;
    outputs_.back().type = ARGTRACE_TYPE_U64;
}

void RandomProgram::add_word() {
    if (one_in(2))
        add_slots();
    else
        slots_ = 0;
    argtrace_insn insn = value(true, false);
    // Plain registers, which have ways of their own.
    if (one_in(2)) {
        insn = {};
        insn.source = ARGTRACE_SOURCE_REG;
        insn.index = static_cast<std::uint8_t>(random(3));
        insn.mask = one_in(2) ? all_bits : 63;
    }
    insn.action = ARGTRACE_DO_OUT;
    insn.arg = one_of<std::uint16_t>({1, 2, 4, 8, 8});
    argtrace_arg arg{};
    arg.loc = ARGTRACE_LOC_PROGRAM;
    arg.type = insn.arg == 1   ? ARGTRACE_TYPE_U8
               : insn.arg == 2 ? ARGTRACE_TYPE_U16
               : insn.arg == 4 ? ARGTRACE_TYPE_U32
                               : ARGTRACE_TYPE_U64;
    arg.size = insn.arg;
    add(insn);
    outputs_.push_back(arg);
}

void RandomProgram::add_text(std::uint16_t words) {
    add_slots();
    argtrace_insn insn = value(true, false);
    insn.action = ARGTRACE_DO_STR;
    insn.arg = static_cast<std::uint16_t>(8 * words);
    argtrace_arg arg{};
    arg.loc = ARGTRACE_LOC_PROGRAM;
    arg.type = ARGTRACE_TYPE_STR;
    arg.size = insn.arg;
    add(insn);
    outputs_.push_back(arg);
}

argtrace_map random_map(std::mt19937_64 &random) {
    argtrace_map map{};
    map.size = sizeof(map);
    map.slots = 64u << random() % 5;
    map.key_words = static_cast<std::uint16_t>(random() % (random() % 3 ? 3 : 9));
    if (random() % 3 == 0)
        return map;
    map.flags = ARGTRACE_MAP_VALUE | (random() % 2 ? ARGTRACE_MAP_SIGNED : 0u);
    map.buckets = static_cast<std::uint16_t>(random() % 3);
    if (map.buckets == ARGTRACE_BUCKETS_LINEAR) {
        map.low = random() >> (2 + random() % 62);
        map.nr_buckets = static_cast<std::uint32_t>(1 + random() % ARGTRACE_MAP_BUCKETS_MAX);
        map.step = 1 + (random() >> (random() % 50 + 14));
    }
    return map;
}

void RandomProgram::seal() {
    head_.nr_insns = static_cast<std::uint16_t>(insns_.size());
    head_.data = static_cast<std::uint16_t>(data_.size());
    if (one_in(6))
        head_.sample = static_cast<std::uint32_t>(this->random(5));
    if (one_in(6))
        head_.max_rate = static_cast<std::uint32_t>(1 + this->random(200));
}

std::uint64_t RandomProgram::address() {
    const std::uint64_t known = addresses_[random(addresses_.size())];
    switch (random(10)) {
    case 0:
        return random_();
    case 1: // nothing, or an error
        return one_in(2) ? random(5000) : -random(5000);
    case 2: // of user space, there or not
        return one_of<std::uint64_t>({0x400000, 0x7ffff7ff0000, 0x7fffffffe000,
                                      reinterpret_cast<std::uintptr_t>(this)}) +
               random(8192);
    case 3: // no address at all
        return random_() >> 15 | std::uint64_t{1} << 48;
    case 4: // physical memory as the kernel maps it
        return 0xffff888000000000 + random(std::uint64_t{2} << 30);
    case 5: // close to the end of what may be an address
        return 0xffffffffff000000 - 64 + random(128);
    default:
        return known + random(256) - 64;
    }
}

argtrace_insn RandomProgram::value(bool has_number, bool is_test) {
    argtrace_insn insn{};
    insn.mask = one_in(6) ? random_() >> random(64) : all_bits;
    switch (random(12)) {
    case 0:
        insn.source = ARGTRACE_SOURCE_TASK;
        break;
    case 1:
        insn.source = ARGTRACE_SOURCE_STACK;
        break;
    case 2:
        insn.source = one_of<std::uint8_t>(
            {ARGTRACE_SOURCE_CALLER, ARGTRACE_SOURCE_CPU, ARGTRACE_SOURCE_TIME,
             ARGTRACE_SOURCE_IDENTITY});
        if (insn.source == ARGTRACE_SOURCE_IDENTITY)
            insn.index = static_cast<std::uint8_t>(random(ARGTRACE_IDENTITY_CGROUP + 1));
        break;
    case 3:
        insn.source = ARGTRACE_SOURCE_CONST;
        if (has_number)
            insn.span = address();
        break;
    case 4:
    case 5:
    case 6:
        if (slots_ > 0) {
            insn.source = ARGTRACE_SOURCE_SLOT;
            insn.index = static_cast<std::uint8_t>(random(slots_));
            break;
        }
        [[fallthrough]];
    default:
        insn.source = ARGTRACE_SOURCE_REG;
        insn.index = static_cast<std::uint8_t>(random(argument_registers));
    }
    insn.loads = static_cast<std::uint8_t>(random(4));
    if (insn.loads)
        insn.width = one_of<std::uint8_t>({1, 2, 4, 8, 8, 8});
    const unsigned offsets = insn.loads + (is_test ? 0u : 1u);
    for (unsigned i = 0; i < 3 && i < offsets; i++) {
        insn.offset[i] = static_cast<std::int32_t>(8 * random(64));
        if (one_in(8))
            insn.offset[i] = static_cast<std::int32_t>(random_() >> random(32));
        if (one_in(3))
            insn.offset[i] = 0;
    }
    if (one_in(4)) {
        insn.shl = static_cast<std::uint8_t>(random(64));
        insn.shr = one_in(2) ? insn.shl : static_cast<std::uint8_t>(random(64));
    }
    insn.flags = one_in(4) ? static_cast<std::uint8_t>(random(4)) : 0;
    for (unsigned i = 0; i < insn.loads; i++) {
        if (one_in(3))
            insn.flags |= ARGTRACE_INSN_USER(i);
    }
    return insn;
}

void RandomProgram::add(const argtrace_insn &insn) {
    insns_.push_back(insn);
}

/// What is to be used by the instructions after it. The slots are those of one filter or value.
void RandomProgram::add_slots() {
    slots_ = 0;
    for (std::uint64_t left = random(4); left > 0; left--) {
        argtrace_insn insn = value(true, false);
        if (slots_ == 0 || one_in(2)) {
            insn.action = one_in(4) ? ARGTRACE_DO_FILE : ARGTRACE_DO_SET;
            insn.arg = static_cast<std::uint16_t>(slots_);
        } else {
            insn.action = ARGTRACE_DO_ALU;
            insn.arg = static_cast<std::uint16_t>(random(slots_));
            insn.then = static_cast<std::uint8_t>(random(ARGTRACE_ALU_LE + 1));
            insn.other = one_of<std::uint8_t>({4, 8});
        }
        slots_ += insn.action != ARGTRACE_DO_ALU;
        add(insn);
    }
}

void RandomProgram::make_text_test(argtrace_insn &insn) {
    const std::string text = one_of<std::string>(
        {"a", "init", "argtrace", "*a*", "[a-z]?*", "\\", "x[", std::string(40, '*')});
    insn.action = ARGTRACE_DO_TEXT;
    insn.arg = static_cast<std::uint16_t>(1 + random(ARGTRACE_MATCH_MAX));
    insn.base = data_.size();
    insn.span = text.size() | random(ARGTRACE_MATCH_GLOB + 1) << 32;
    data_ += text + '\0';
    if (one_in(3))
        insn.flags |= ARGTRACE_INSN_USER_DATA;
}

/// `left`: as many tests follow in the filter.
void RandomProgram::add_test(unsigned left) {
    const bool text = one_in(5);
    argtrace_insn insn = value(false, !text);
    const auto next = static_cast<std::uint8_t>(insns_.size() + 1);
    if (text) {
        make_text_test(insn);
    } else {
        insn.action = ARGTRACE_DO_TEST;
        insn.base = one_of<std::uint64_t>({0, 1, random(4096), random_()});
        insn.span =
            one_of<std::uint64_t>({0, 1, random(100000), all_bits >> random(64), random_()});
    }
    // Each instruction is reached, at least by the one before it.
    const std::uint8_t elsewhere =
        one_of<std::uint8_t>({ARGTRACE_ACCEPT, ARGTRACE_REJECT,
                              static_cast<std::uint8_t>(next + (left > 1 ? random(left) : 0))});
    insn.then = left ? next : std::uint8_t{ARGTRACE_ACCEPT};
    insn.other = left ? elsewhere : std::uint8_t{ARGTRACE_REJECT};
    if (one_in(2))
        std::swap(insn.then, insn.other);
    add(insn);
}

void RandomProgram::add_filter() {
    add_slots();
    for (auto tests = static_cast<unsigned>(1 + random(5)); tests > 0; tests--)
        add_test(tests - 1);
}

void RandomProgram::add_output() {
    add_slots();
    argtrace_insn insn = value(true, false);
    argtrace_arg arg{};
    arg.loc = ARGTRACE_LOC_PROGRAM;
    switch (random(8)) {
    case 7:
        insn.action = ARGTRACE_DO_WORDS;
        insn.arg = static_cast<std::uint16_t>(1 + random(slots_ > 0 ? ARGTRACE_WORDS_MAX : 8));
        insn.base = insn.arg > 8 ? random(slots_) : 0;
        arg.type = ARGTRACE_TYPE_BYTES;
        break;
    case 0:
    case 1:
    case 2:
        insn.action = ARGTRACE_DO_OUT;
        insn.arg = one_of<std::uint16_t>({1, 2, 4, 8, 8});
        arg.type = insn.arg == 1   ? ARGTRACE_TYPE_U8
                   : insn.arg == 2 ? ARGTRACE_TYPE_S16
                   : insn.arg == 4 ? ARGTRACE_TYPE_U32
                                   : ARGTRACE_TYPE_PTR;
        break;
    case 3:
        insn.action = ARGTRACE_DO_MEM;
        insn.arg = static_cast<std::uint16_t>(1 + random(longest_text));
        arg.type = ARGTRACE_TYPE_BYTES;
        break;
    case 4:
        if (slots_ > 0) {
            insn.action = ARGTRACE_DO_BUF;
            insn.arg = static_cast<std::uint16_t>(1 + random(longest_text));
            insn.base = random(slots_);
            arg.type = ARGTRACE_TYPE_BYTES;
            break;
        }
        [[fallthrough]];
    case 5:
        if (paths_ < 2) {
            paths_++;
            insn.action = ARGTRACE_DO_PATH;
            insn.arg = static_cast<std::uint16_t>(random(3));
            // A node's layout is taken from what is one of mounts as well.
            arg.type = ARGTRACE_TYPE_PATH;
            break;
        }
        [[fallthrough]];
    default:
        insn.action = ARGTRACE_DO_STR;
        insn.arg = static_cast<std::uint16_t>(1 + random(longest_text));
        arg.type = ARGTRACE_TYPE_STR;
    }
    const bool is_number = insn.action == ARGTRACE_DO_OUT || insn.action == ARGTRACE_DO_WORDS;
    if ((arg.type == ARGTRACE_TYPE_STR || arg.type == ARGTRACE_TYPE_BYTES) && !is_number && one_in(3))
        insn.flags |= ARGTRACE_INSN_USER_DATA;
    if (insn.action == ARGTRACE_DO_MEM && one_in(3)) {
        insn.action = ARGTRACE_DO_STRS;
        insn.other = one_of<std::uint8_t>({4, 8});
    }
    if (insn.action == ARGTRACE_DO_BUF && one_in(2))
        insn.other = ARGTRACE_BUF_SIGNED;
    if (!is_number && one_in(3))
        insn.then = ARGTRACE_OUT_NULL;
    arg.size = insn.action == ARGTRACE_DO_PATH ? ARGTRACE_PATH_MAX : insn.arg;
    add(insn);
    outputs_.push_back(arg);
}

std::vector<std::byte> RandomProgram::bytes() const {
    const std::size_t insns = insns_.size() * sizeof(insns_[0]);
    std::vector<std::byte> out((sizeof(head_) + insns + data_.size() + 7) / 8 * 8);
    memcpy(out.data(), &head_, sizeof(head_));
    if (insns)
        memcpy(out.data() + sizeof(head_), insns_.data(), insns);
    memcpy(out.data() + sizeof(head_) + insns, data_.data(), data_.size());
    return out;
}

namespace {

std::string fault_of_path(std::span<const std::byte> path) {
    std::uint16_t flags;
    if (path.size() < sizeof(flags))
        return "a path without flags";
    memcpy(&flags, path.data(), sizeof(flags));
    path = path.subspan(sizeof(flags));
    if (flags & ~(ARGTRACE_PATH_CUT | ARGTRACE_PATH_CHANGING | ARGTRACE_PATH_DELETED |
                  ARGTRACE_PATH_DETACHED | ARGTRACE_PATH_PSEUDO | ARGTRACE_PATH_NONE |
                  ARGTRACE_PATH_SOCKET))
        return "a path with unknown flags";
    if ((flags & ARGTRACE_PATH_NONE) && (flags != ARGTRACE_PATH_NONE || !path.empty()))
        return "no path, and yet one";
    if (flags & ARGTRACE_PATH_PSEUDO) {
        if (path.size() < sizeof(argtrace_pseudo))
            return "a path without what names it";
        path = path.subspan(sizeof(argtrace_pseudo));
    }
    if (flags & ARGTRACE_PATH_SOCKET) {
        argtrace_socket socket;
        if (path.size() < sizeof(socket))
            return "a socket without what it is connected to";
        memcpy(&socket, path.data(), sizeof(socket));
        path = path.subspan(sizeof(socket));
        if (path.size() < socket.name_size)
            return "a socket without its name";
        path = path.subspan(socket.name_size);
    }
    return !path.empty() && path.back() != std::byte{'/'} ? "a path that does not end" : "";
}

} // namespace

std::string RandomProgram::fault_of(std::span<const std::byte> data) const {
    std::uint64_t unreadable = 0;
    if (outputs_.empty())
        return data.empty() ? "" : "outputs that there are not";
    if (data.size() < sizeof(unreadable))
        return "no outputs";
    memcpy(&unreadable, data.data(), sizeof(unreadable));
    data = data.subspan(sizeof(unreadable));
    if (unreadable >> outputs_.size())
        return "an output that there is not could not be read";
    for (std::size_t i = 0; i < outputs_.size(); i++) {
        const argtrace_arg &arg = outputs_[i];
        const bool readable = !(unreadable >> i & 1);
        std::size_t length = argtrace_type_size(arg.type);
        if (!length) {
            std::uint16_t counted;
            if (data.size() < sizeof(counted))
                return "an output without its length";
            memcpy(&counted, data.data(), sizeof(counted));
            data = data.subspan(sizeof(counted));
            // Text and buffers are marked where more was there than is recorded.
            const bool may_be_cut = arg.type == ARGTRACE_TYPE_STR || arg.type == ARGTRACE_TYPE_BYTES;
            length = may_be_cut ? counted & ~ARGTRACE_TEXT_CUT : counted;
            if (length > arg.size)
                return "an output that is too long";
            if (length != counted && length != arg.size)
                return "an output that is cut before its end";
            if (!readable && counted)
                return "an output that could not be read and has a length";
        }
        if (length > data.size())
            return "an output that is cut off";
        const std::span<const std::byte> value = data.first(length);
        data = data.subspan(length);
        if (!readable)
            continue;
        if (arg.type == ARGTRACE_TYPE_STR && memchr(value.data(), 0, value.size()))
            return "text with a NUL in it";
        if (arg.type == ARGTRACE_TYPE_PATH) {
            if (const std::string fault = fault_of_path(value); !fault.empty())
                return fault;
        }
    }
    return data.size() < 8 ? "" : "more than outputs";
}

} // namespace vmtest
