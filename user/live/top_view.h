// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "live/aggregate_rounds.h"

namespace argtrace {

/// The busiest functions of each interval: on a terminal in place, with commands that are lines of standard input;
/// else one table after another. Nothing about the terminal is changed, so that nothing has to be put back, however
/// it ends.
class TopView : public AggregateView {
public:
    TopView(const AggregateOptions &options, AggregateOutput &output,
            std::function<Aggregation()> read);

    void begin(std::uint64_t now) override;
    std::optional<LiveLoop::End> round(std::uint64_t now) override;
    std::optional<std::uint64_t> next() const override;
    bool finish(std::uint64_t now) override;

private:
    bool take_typed();
    bool obey(std::string_view line);
    bool show(std::uint64_t now);

    const AggregateOptions &options_;
    AggregateOutput &output_;
    std::function<Aggregation()> read_;
    TopStyle style_;
    bool listens_;
    bool paused_ = false;
    bool ended_ = false;
    std::string typed_;      // a line that has no end yet
    Aggregation before_;     // at the beginning of this interval
    Aggregation shown_;      // what has come in the last one,
    std::uint64_t took_ = 0; // which took so long
    std::uint64_t began_ = 0, due_ = 0, looked_ = 0;
    std::uint64_t rounds_ = 0;
};

} // namespace argtrace
