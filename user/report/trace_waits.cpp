// SPDX-License-Identifier: GPL-2.0-only
#include "report/trace_waits.h"

#include <algorithm>
#include <map>
#include <optional>

#include "report/in_time_order.h"

namespace argtrace {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// The times of records are right to two microseconds (uapi/argtrace.h).
constexpr std::uint64_t clock_slack_ns = 10000;

/// What the packets of a CPU tell of loss. A packet says how many records its ring had lost when it was opened: those that it has
/// more than the one before were lost after that one was opened, and before its own first record.
class LossFinder {
public:
    void add(const DecodedPacket &packet, std::vector<TraceSurvey::Gap> &gaps) {
        if (packet.lost) {
            lossy_ = lossy_ || (seq_ ? packet.seq != *seq_ + 1 || *packet.lost != lost_ : *packet.lost != 0);
            first_lost_ = seq_ ? first_lost_ : *packet.lost;
            seq_ = packet.seq;
            lost_ = *packet.lost;
        }
        if (packet.time == 0)
            return; // there is no event in it
        if (lossy_)
            gaps.push_back({from_, packet.time + clock_slack_ns});
        lossy_ = false;
        if (packet.lost)
            from_ = packet.time - std::min(packet.time, clock_slack_ns);
    }

    /// `lost`: what the ring had lost since recording began when that ended.
    void finish(std::uint64_t lost, std::vector<TraceSurvey::Gap> &gaps) const {
        if (lossy_ || lost > lost_ - first_lost_)
            gaps.push_back({from_, never});
    }

private:
    std::optional<std::uint64_t> seq_; // of the packet before
    std::uint64_t lost_ = 0, first_lost_ = 0;
    std::uint64_t from_ = 0; // what is lost is no older
    bool lossy_ = false;     // since `from_`
};

} // namespace

TraceSurvey survey_trace(TraceReader &reader) {
    TraceSurvey survey;
    std::map<std::uint32_t, LossFinder> cpus;
    std::uint64_t mark = 0;
    while (const auto item = reader.next()) {
        if (!item->packet) {
            mark = item->mark;
            continue;
        }
        const std::vector<Event> &events = item->packet->batch.events;
        if (!events.empty())
            survey.last = std::max(survey.last, events.back().ts);
        cpus[item->packet->cpu].add(*item->packet, survey.gaps);
    }
    for (const auto &[cpu, lost] : reader.loss())
        cpus[cpu].finish(lost, survey.gaps);
    if (const auto &span = reader.span()) {
        survey.begin = span->begin + clock_slack_ns;
        survey.end = span->end;
    } else if (mark != 0) {
        survey.end = mark; // it has been cut short: behind that, some CPUs may have more than others
    }
    std::sort(survey.gaps.begin(), survey.gaps.end(),
              [](const TraceSurvey::Gap &a, const TraceSurvey::Gap &b) { return a.from < b.from; });
    return survey;
}

TraceWaits::TraceWaits(TraceReader &reader, const TraceSurvey &survey, WaitTracker &tracker)
    : reader_(reader), survey_(survey), sched_(tracker) {
    for (const TraceSurvey::Gap &gap : survey.gaps)
        tracker.lost(gap.from, gap.to);
}

void TraceWaits::run(const std::function<void()> &tell) {
    const auto take = [this](const TimeOrder::Packet &packet, const Event &event) {
        if (event.ts >= survey_.begin && event.ts <= survey_.end && sched_.take(packet->batch.view(event)))
            ++events_;
        return true;
    };
    const auto go_on = [&tell] {
        tell();
        return true;
    };
    read_in_time_order(
        reader_, [](const DecodedPacket &) {}, take, go_on);
}

std::uint64_t TraceWaits::end() const {
    return survey_.end == never ? survey_.last : survey_.end;
}

} // namespace argtrace
