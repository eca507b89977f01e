// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "btf/format.h"
#include "model/event.h"
#include "render/caller.h"
#include "render/described_call.h"
#include "render/line.h"
#include "render/probe_parts.h"
#include "render/shown_numbers.h"

namespace argtrace {

/// Which calls are shown as the table of calls says: those that were recorded with -d, all that it
/// knows, or none.
enum class Described { recorded, all, none };

/// So many elements of an array are shown in text.
inline constexpr std::size_t text_elements_max = 16;

/// Whether it is what only() has where its condition does not hold: nothing. `-` in text, null in JSON.
bool is_absent(const Value &value, const Format *format);

/// Arguments as text or JSON, by the types that their probe carries:
///
///                        text                  JSON
///     struct, union      {uid={val=0}, n=1}    {"uid":{"val":0},"n":1}
///     array              [1, 2, 3]             [1,2,3]
///     array of char      "dd\n"                "dd\n"
///     enum               PIDTYPE_TGID          "PIDTYPE_TGID"   a number where no name fits
///     flags              O_CREAT|O_TRUNC|0x40  "O_CREAT|O_TRUNC|0x40"
///     function           do_exit, f+0x4 [m]    "do_exit"
///     dev_t              8:1                   8388609
///     umode_t            0100644               33188
///     struct in_addr     10.0.0.1              "10.0.0.1"          in6_addr alike
///     struct sockaddr    10.0.0.1:22, [::1]:22, "/run/x", "@abstract", "/run/cu"..., family 16
///     struct cpumask     0-3,7, none           "0-3,7", "none"
///     text               "sda1", "/usr/li"...  "sda1", "/usr/li"   of which the second was cut
///     text()             "a\0b"...             "a\u0000b"
///     strs()             ["ls", "-l"]         ["ls","-l"]
///     records()          [{len=17, data={61}}] [{"len":17,"data":"61"}]
///
/// All members of a union are shown. An array is cut in text, never in JSON; one of char ends
/// before its first NUL. That text was cut is not in its JSON: see JsonRenderer. A struct whose types are unknown is shown as bytes in hexadecimal.
class ValueWriter {
public:
    enum class Style { text, json };

    ValueWriter(CallerNames &names, Style style, Described which = Described::recorded)
        : names_(names), style_(style), which_(which) {}

    /// Appends a value of that event; `format` as in ProbeFormats::argument().
    void append(Line &out, const EventView &view, const Value &value, const Format *format);

    /// What was recorded of what arguments mean is left out.
    bool shows_arguments_alone() const { return which_ == Described::none; }

    /// Appends a number as the table of calls has it shown; false, with nothing appended: as its type says.
    bool append_shown(Line &out, const ShownAs &as, std::uint64_t number) { return numbers_.append(out, as, number); }

    /// Appends what those bytes of a value are, by their format.
    void append_formatted(Line &out, const Format &format, std::span<const std::byte> data);

    /// The formats of a probe, which must stay where it is.
    const ProbeFormats &formats(const Probe &probe) { return find(probe).formats; }

    /// Which of its arguments are shown as what, likewise.
    const ProbeParts &parts(const Probe &probe) { return find(probe).parts; }

    /// What the table of calls says of that probe, likewise; null where its calls are not to be shown
    /// so, or the table does not know them.
    const DescribedCall *described(const Probe &probe) {
        const auto &described = find(probe).described;
        return described ? &*described : nullptr;
    }

private:
    using Bytes = std::span<const std::byte>;

    /// What is prepared for a probe when it is first asked for.
    struct Known {
        Known(const Probe &probe, Described which);

        ProbeFormats formats;
        ProbeParts parts;
        std::optional<DescribedCall> described;
    };

    const Known &find(const Probe &probe) { return &probe == last_probe_ ? *last_ : find_other(probe); }
    const Known &find_other(const Probe &probe);

    void append_value(Line &out, const Value &value) const;
    void append_bytes(Line &out, Bytes data, bool cut) const;
    void append_name(Line &out, std::string_view name) const;
    void append_go_pointer(Line &out, std::uint64_t address) const;
    void append_scalar(Line &out, const Format &format, const Value &value);
    void append_flags(Line &out, const Format &format, const Value &value) const;
    void append_number(Line &out, const Format &format, const Value &value) const;
    void append_long_number(Line &out, const Format &format, Bytes data) const;
    void append_address(Line &out, const Format &format, Bytes data) const;
    void append_socket_address(Line &out, Bytes data) const;
    void append_cpus(Line &out, const Format &format, Bytes data) const;
    void append_unix_name(Line &out, std::string_view text) const;
    void append_fields(Line &out, const Format &format, Bytes data);
    void append_record(Line &out, const Format &format, Bytes data);
    void append_records(Line &out, const Format &format, Bytes data, bool cut);
    void append_array(Line &out, const Format &format, Bytes data, bool cut = false);
    void append_texts(Line &out, Bytes data, bool cut) const;
    void append_string(Line &out, std::string_view text) const;

    CallerNames &names_;
    Style style_;
    Described which_;
    std::unordered_map<const Probe *, Known> known_;
    const Probe *last_probe_ = nullptr;
    const Known *last_ = nullptr;
    ShownNumbers numbers_;
};

} // namespace argtrace
