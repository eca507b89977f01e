// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace argtrace {

/// Threads that run jobs in the order in which they were given.
class WorkerPool {
public:
    explicit WorkerPool(unsigned workers);

    /// Waits for what has begun; what has not is dropped.
    ~WorkerPool();

    unsigned size() const { return static_cast<unsigned>(threads_.size()); }

    /// Runs `job(worker)`, with the number of the worker that does it, from 0 on. What it
    /// throws, the future throws.
    template<typename Job>
    auto submit(Job job) -> std::future<decltype(job(0u))> {
        using Task = std::packaged_task<decltype(job(0u))(unsigned)>;
        auto task = std::make_shared<Task>(std::move(job));
        auto result = task->get_future();
        push([task](unsigned worker) { (*task)(worker); });
        return result;
    }

private:
    void push(std::function<void(unsigned)> job);
    void work(unsigned worker);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void(unsigned)>> jobs_;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

} // namespace argtrace
