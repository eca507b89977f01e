// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/counts.h"
#include "model/probe.h"
#include "session/device.h"
#include "session/objects.h"
#include "session/options.h"
#include "session/processes.h"
#include "session/ring_mapping.h"

namespace argtrace {

/// The named session that the commands use when they are not told otherwise.
inline constexpr const char *default_session = "default";

/// A device file and the session that it gets bound to. All throw Error with a sentence for
/// the user when the module refuses.
class Session {
public:
    explicit Session(Device device) : device_(std::move(device)), info_(device_.info()) {}

    /// Binds to an existing named session; false when there is none.
    bool attach(const std::string &name);

    /// Makes a session and binds to it: a nameless one if `name` is empty. If one of that
    /// name came into being meanwhile, binds to that.
    void create(const std::string &name, const SessionOptions &options);

    /// Removes a named session; false when there was none. Needs no binding.
    bool remove(const std::string &name);

    const argtrace_info &info() const { return info_; }

    /// What the session is like, once bound.
    const argtrace_session_attr &attributes() const { return attributes_; }

    /// A probe that the module does not take.
    struct Refused {
        std::size_t index;       ///< of the probe
        bool unfollowed = false; ///< the function's return cannot be followed; else its address
    };

    /// Adds all probes or none. The probe that the module does not take, if that is what was wrong.
    std::optional<Refused> add(std::span<const Probe> probes);

    /// Where the probe is in this session. The file of a user function is given a number for that, if it has none yet.
    std::uint64_t address_of(const Probe &probe);

    /// Removes the probes at these addresses: all or none.
    void remove(std::span<const ProbePlace> places);
    void remove_all();

    /// Adds all probes, or none, whenever the kernel loads `module`; their addr is 0.
    /// `srcversion`: of the build that they are for, if that is known. One whose return cannot be
    /// followed, if there is one.
    std::optional<Refused> add_on_load(const std::string &module, const std::string &srcversion,
                                       std::span<const Probe> probes);

    /// Takes back what add_on_load() has ordered for that module; false if there is nothing.
    bool remove_on_load(const std::string &module);
    void remove_all_on_load();

    /// What has been ordered, and what came of it.
    std::vector<argtrace_on_load_order> on_load_orders() const;

    /// Records the calls of these processes only. A session has a filter of this kind, or has none,
    /// from before its first function is added.
    void set_processes(const ProcessFilter &filter);
    ProcessFilter processes() const;
    /// The same with the PIDs that events have, those of the initial PID namespace.
    ProcessFilter processes_in_events() const;

    /// The probes by id, those that have been removed too if `removed`.
    std::vector<Probe> probes(bool removed) const;

    /// Their counts, in the same order.
    std::vector<argtrace_counts> counts(bool removed) const;

    /// The counts of all functions whose returns are followed, including removed ones; returns() has the sum.
    std::vector<argtrace_return_counts> return_counts() const;
    ReturnTotals returns() const;
    ReturnsById returns_by_id() const;

    /// Calls that have no stack; nothing if the session takes no stacks.
    std::optional<StackLoss> stack_loss() const;

    /// The same of stacks of user code.
    std::optional<UserStackLoss> user_stack_loss() const;

    /// The objects that user code is in; null if the session takes no stacks of it.
    UserObjects *objects() const;

    /// Whether tables of those that have been asked for are on their way. Asks nobody, and is cheap.
    bool is_making_tables() const { return objects_ && objects_->is_making_tables(); }

    /// Which user code is traced, and how it is named. Said before stacks of it are asked for.
    void expect_code(TracedCode code) { code_ = std::move(code); }
    void choose_naming(CodeNaming naming) { naming_ = std::move(naming); }

    /// How many stacks each CPU has room for; nothing if the session takes no stacks.
    std::optional<std::uint32_t> stack_table() const;

    /// How many there is to be room for when the first function is added whose stacks are taken. Throws Error when there is
    /// another number already.
    void choose_stack_table(std::uint32_t stacks);

    struct Snapshot {
        std::vector<Probe> probes;
        std::vector<argtrace_counts> counts; ///< one for each of them
    };

    /// Both, of one moment as far as adding and removing goes.
    Snapshot snapshot(bool removed) const;

    /// Makes us the session's reader, whose own calls are not recorded unless `include_self`.
    void become_reader(bool include_self = false);

    /// Has our own calls not recorded for as long as we live, where we look at the session without being its reader. They are recorded
    /// all the same if those of another process are left out already, or if the module cannot leave them out.
    void leave_out_own_calls();

    /// Whether the session, once bound, overwrites its oldest packets; such a one has no reader.
    bool is_flight() const { return attributes_.flags & ARGTRACE_SESSION_FLIGHT; }

    /// Makes a map: `wanted` is as struct argtrace_map says, with nothing in what the module fills in.
    /// Returns it with that. The map goes with the session.
    argtrace_map make_map(argtrace_map wanted) const;

    /// Whether a CPU has got a ring or slots of a map, or probes have been added or removed (also because of their
    /// module), since the session was bound or poll() last reported POLLPRI.
    bool has_changed() const;

    /// The ring of a CPU, nothing if it has none; and those of all CPUs that have one. We must be
    /// the reader, unless it is a flight recorder.
    std::optional<RingMapping> map_ring(std::uint32_t cpu) const;
    std::vector<RingMapping> map_rings() const;

    /// Records of a flight recorder that have been overwritten since it was made.
    std::uint64_t overwritten() const;

    const Device &device() const { return device_; }
    int fd() const { return device_.fd(); }

private:
    ProcessFilter list_processes(std::uint32_t flags) const;
    using Page = std::function<void(std::span<const std::byte> bytes, std::size_t count)>;

    /// Adds probes at these addresses, with those of their flags that `flags` has. 0, or an error of the ioctl, which has filled `request`.
    int request_add(std::span<const std::pair<std::uint64_t, const Probe *>> sorted, std::uint32_t flags, argtrace_probe_add &request);
    Error too_many(std::size_t count) const;
    Error too_large(const Probe &probe) const;
    static Error too_dear(const Probe &probe, std::uint64_t cost);
    void check_programs(std::span<const Probe> probes) const;
    void provide_stacks(std::span<const Probe> probes) const;
    void provide_stacks(StackChoice which) const;
    void provide_user_stacks() const;
    std::optional<argtrace_stacks> existing_stacks(std::uint32_t flags) const;
    void check_return(const Probe &probe) const;
    Error memory_refused(const Probe &probe) const;
    int bind(const std::string &name, std::uint32_t flags, argtrace_session_attr attr);
    void remove(std::span<const std::uint64_t> addrs, std::uint16_t kind);
    std::optional<std::uint32_t> list(unsigned long number, bool removed, const Page &page) const;
    std::uint32_t list_probes(bool removed, std::vector<Probe> &probes) const;
    std::uint32_t list_counts(bool removed, std::vector<argtrace_counts> &counts) const;

    Device device_;
    argtrace_info info_;
    argtrace_session_attr attributes_{};
    std::optional<std::uint32_t> stack_table_; // wished for
    TracedCode code_;
    CodeNaming naming_;
    mutable std::unique_ptr<UserObjects> objects_; // once there are stacks of user code
    std::map<std::pair<std::shared_ptr<const UserFile>, std::uint64_t>, std::uint32_t> files_; // with a semaphore or 0: their numbers
};

} // namespace argtrace
