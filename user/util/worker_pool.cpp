// SPDX-License-Identifier: GPL-2.0-only
#include "util/worker_pool.h"

#include <csignal>

namespace argtrace {

WorkerPool::WorkerPool(unsigned workers) {
    // Signals are for the thread that made us: it may have to be woken from a call that blocks.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < workers; ++i)
        threads_.emplace_back([this, i] { work(i); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
    if (threads_.empty())
        return job(0);
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
