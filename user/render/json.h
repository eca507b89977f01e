// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "render/caller.h"
#include "render/line.h"
#include "render/plan.h"
#include "render/recent.h"
#include "render/renderer.h"
#include "render/value_writer.h"

namespace argtrace {

/// Events as one JSON object a line:
///
///     {"ts":2209678123,"cpu":1,"pid":149,"tid":149,"comm":"dd","flags":"....",
///      "func":"vfs_read","caller":"ksys_read+0x6b",
///      "args":{"file":"0xff1e1afafffb5e40","count":4096}}
///
/// without the line breaks. A function of a module has `module` after `func`. Where text was cut,
/// "cut":["NAME",...] at the end says of which arguments: in the text itself a mark could be a part of it. `caller` is null
/// when it was not recorded, an argument when it was not captured, `pid` when it is not known; an
/// unknown comm is empty.
class JsonRenderer : public Renderer {
public:
    /// With `types`, each event also tells its arguments' types.
    JsonRenderer(CallerNames &callers, bool types);

    void begin(std::string &, std::uint64_t) override {}
    using Renderer::event;
    void event(Line &out, const EventView &view) override;

private:
    Plan make_plan(const Probe &probe);
    void append_described(Line &out, const EventView &view, const Plan &plan, const DescribedCall::Choice &choice, std::size_t value);
    static void append_cut(Line &out, const EventView &view);
    static Snippet make_task(const Event &event);
    Snippet make_caller(CodePlace place);

    CallerNames &callers_;
    ValueWriter values_;
    bool types_;
    PlanCache plans_;
    TaskSnippets tasks_;
    CallerSnippets recent_callers_;
    Snippet start_{"{\"ts\":"};
    Snippet cpu_{",\"cpu\":"};
    Snippet no_caller_{"null,\"args\":{"};
};

/// Appends `text` as a JSON string, valid whatever bytes it has: what is not UTF-8 becomes
/// U+FFFD.
void append_json_string(Line &out, std::string_view text);
void append_json_string(std::string &out, std::string_view text);

/// Appends a value, other than BYTES and STR: a number, true or false, a pointer as a string, null if not
/// captured. A number of 128 bits is a string, too: few readers could hold it.
void append_json_value(Line &out, const Value &value);

} // namespace argtrace
