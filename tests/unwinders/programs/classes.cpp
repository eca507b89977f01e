// SPDX-License-Identifier: GPL-2.0-only
// Stacks of C++ that wait for ever: classes KIND.
#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace shapes {

struct Shape {
    virtual ~Shape() = default;
    virtual int area(const std::string &unit) const = 0;
};

template <typename Size> class Square : public Shape {
public:
    explicit Square(Size size) : size_(size) {}
    int area(const std::string &unit) const override { return unit.empty() ? size_ : pause(); }

private:
    Size size_;
};

struct Closing {
    ~Closing() { pause(); }
};

[[gnu::noinline]] void throws(int what) {
    if (what > 0)
        throw what;
}

/// Where it is left by an exception, the destructor is called by the unwinder.
[[gnu::noinline]] void is_left() {
    const Closing closing;
    throws(1);
}

[[gnu::noinline]] void catches() {
    try {
        throws(1);
    } catch (int what) {
        std::vector<int> numbers{3, 2, what};
        std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return pause() + a < b; });
    }
}

[[noreturn]] [[gnu::noinline]] void never_returns(int what) {
    pause();
    throw what;
}

[[gnu::noinline]] void ends_with_a_call(int what) {
    if (what > 0)
        never_returns(what);
}

void terminated() {
    pause();
    _exit(0);
}

} // namespace shapes

int main(int argc, char **argv) {
    using namespace shapes;
    const std::string kind = argc > 1 ? argv[1] : "";
    if (kind == "virtual") {
        const Square<short> square(4);
        const Shape &shape = square;
        const std::function<int(const Shape &)> call = [](const Shape &some) { return some.area("m"); };
        return call(shape);
    }
    if (kind == "left") {
        try {
            is_left();
        } catch (...) {
        }
    }
    if (kind == "caught")
        catches();
    if (kind == "noreturn")
        ends_with_a_call(argc);
    if (kind == "thread")
        std::thread([] { Square<long>(2).area("km"); }).join();
    if (kind == "uncaught") {
        std::set_terminate(terminated);
        throws(2);
    }
}
