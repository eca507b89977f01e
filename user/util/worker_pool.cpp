// SPDX-License-Identifier: GPL-2.0-only
#include "util/worker_pool.h"

#include <algorithm>

namespace argtrace {

WorkerPool::WorkerPool(unsigned workers) {
    for (unsigned i = 0; i < std::max(workers, 1u); ++i)
        threads_.emplace_back([this, i] { work(i); });
}

WorkerPool::~WorkerPool() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        jobs_.clear();
    }
    changed_.notify_all();
    for (std::thread &thread : threads_)
        thread.join();
}

void WorkerPool::push(std::function<void(unsigned)> job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
}

void WorkerPool::work(unsigned worker) {
    for (;;) {
        std::function<void(unsigned)> job;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
            if (ending_)
                return;
            job = std::move(jobs_.front());
            jobs_.pop_front();
        }
        job(worker);
    }
}

} // namespace argtrace
