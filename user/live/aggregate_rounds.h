// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "answer/aggregate_options.h"
#include "answer/aggregate_output.h"
#include "live/loop.h"

namespace argtrace {

/// What of an aggregation is shown, and when, while it grows.
class AggregateView {
public:
    virtual ~AggregateView() = default;

    virtual void begin(std::uint64_t now) = 0;

    /// Shows what is due. How it ends, if it does.
    virtual std::optional<LiveLoop::End> round(std::uint64_t now) = 0;

    /// When the next is due; nothing: never.
    virtual std::optional<std::uint64_t> next() const = 0;

    /// What is shown in the end. False when nobody reads it any more.
    [[nodiscard]] virtual bool finish(std::uint64_t now) = 0;
};

/// At each interval what has come in it, or on a terminal how it stands, once a second.
class AggregateRounds : public AggregateView {
public:
    /// `read` tells how it stands.
    AggregateRounds(const AggregateOptions &options, AggregateOutput &output,
                    std::function<Aggregation()> read);

    void begin(std::uint64_t now) override;
    std::optional<LiveLoop::End> round(std::uint64_t now) override;
    std::optional<std::uint64_t> next() const override { return next_; }
    bool finish(std::uint64_t now) override;

private:
    const AggregateOptions &options_;
    AggregateOutput &output_;
    std::function<Aggregation()> read_;
    Aggregation shown_; // in the intervals before
    std::optional<std::uint64_t> next_;
    std::uint64_t rounds_ = 0; // intervals that have ended
};

} // namespace argtrace
