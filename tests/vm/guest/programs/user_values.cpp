// SPDX-License-Identifier: GPL-2.0-only
// Functions that take objects of C++'s library, for tests that trace them. It prints what it passes, a line for each call: "NAME" and the
// arguments as JSON.
//
//   user_values ROUNDS LOG
//   user_values results ROUNDS LOG   the same of functions that return in memory, and where that is; ends with 3 if a value is wrong
//   user_values absent         passes objects that lead to memory which is not there, or is the kernel's

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

struct uv_point {
    int x, y;
};

struct uv_large {
    long values[5];
};

namespace {

volatile long sink;
std::FILE *call_log;

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text)
        if (c == '\0')
            out += "\\u0000";
        else
            out += c;
    return out + '"';
}

std::string hexadecimal(const void *pointer) {
    char text[32];
    std::snprintf(text, sizeof(text), "\"%p\"", pointer);
    return pointer ? text : "\"0x0\"";
}

} // namespace

#define CALLED __attribute__((noinline, used, visibility("default")))

CALLED void uv_string(const std::string &reference, std::string *pointer, std::string value, int last) {
    sink = sink + static_cast<long>(reference.size() + pointer->size() + value.size()) + last;
}

CALLED void uv_view(std::string_view view, const std::string_view &other) {
    sink = sink + static_cast<long>(view.size() + other.size());
}

CALLED void uv_vector(const std::vector<short> &numbers, std::vector<uv_point> *points, std::vector<bool> &bits) {
    sink = sink + static_cast<long>(numbers.size() + points->size() + bits.size());
}

CALLED void uv_containers(const std::map<int, long> &map, std::set<short> *set, std::unordered_map<int, int> &table, std::list<int> &list, const std::optional<int> &maybe) {
    sink = sink + static_cast<long>(map.size() + set->size() + table.size() + list.size()) + maybe.value_or(0);
}

struct uv_base {
    int id;
};
struct uv_item : uv_base {
    std::string name;
    uv_point place;
    std::unique_ptr<int> tag;
    std::vector<short> numbers;
    double weight;
    struct {
        std::string inner;
    } more;
};

CALLED void uv_item_of(const uv_item &item, uv_item *pointer) {
    sink = sink + static_cast<long>(item.name.size() + pointer->numbers.size());
}

CALLED void uv_pointers(const std::unique_ptr<uv_point> &owned, std::unique_ptr<uv_point, void (*)(uv_point *)> &freed, std::shared_ptr<uv_point> shared) {
    sink = sink + (owned ? 1 : 0) + (freed ? 1 : 0) + (shared ? 1 : 0);
}

/// Returned in memory: the one as it is large, the other as it has a destructor.
CALLED uv_large uv_makes(long number, int first) {
    sink = sink + 1;
    return {{first, number, number * 2, -number, sink * 0 + 7}};
}

CALLED std::unique_ptr<uv_point> uv_owns(int number) {
    return number % 3 ? std::unique_ptr<uv_point>(new uv_point{number, -number}) : nullptr;
}

CALLED std::string uv_names(int number) {
    return (number % 2 ? "name " : "a longer name, which is not in the object itself ") + std::to_string(number);
}

/// With arguments on the stack.
CALLED uv_large uv_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
    sink = sink + 1;
    return {{a + b, c + d, e + f, g + h, i * 100 + j}};
}

CALLED void uv_absent(const std::string &reference, std::string *pointer, std::string_view view, const std::vector<short> &numbers) {
    asm volatile("" : : "r"(&reference), "r"(pointer), "r"(view.data()), "r"(view.size()), "r"(&numbers));
}

namespace {

void free_point(uv_point *point) {
    delete point;
}

/// As many characters as there are, behind which there is no memory.
class LastOfPage {
public:
    explicit LastOfPage(std::string_view text) : size_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
        page_ = static_cast<char *>(::mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        ::mprotect(page_ + size_, size_, PROT_NONE);
        view_ = {page_ + size_ - text.size(), text.size()};
        std::memcpy(page_ + size_ - text.size(), text.data(), text.size());
    }
    ~LastOfPage() { ::munmap(page_, 2 * size_); }
    std::string_view view() const { return view_; }

private:
    std::size_t size_;
    char *page_;
    std::string_view view_;
};

void call_strings(long round) {
    const std::string number = std::to_string(round);
    const std::string reference = round % 5 == 0 ? "" : "ref " + number;
    std::string pointer = "a longer one, which is not in the object itself " + number;
    std::string value = "with";
    value += '\0';
    value += "NUL" + number;
    std::fprintf(call_log, "uv_string {\"reference\":%s,\"pointer\":%s,\"value\":%s,\"last\":%ld}\n", quoted(reference).c_str(), quoted(pointer).c_str(),
                 quoted(value).c_str(), round);
    uv_string(reference, &pointer, value, static_cast<int>(round));
    const LastOfPage last("end of page " + number);
    const std::string_view part = std::string_view(pointer).substr(2, 6);
    std::fprintf(call_log, "uv_view {\"view\":%s,\"other\":%s}\n", quoted(last.view()).c_str(), quoted(part).c_str());
    uv_view(last.view(), part);
}

void call_vectors(long round) {
    std::vector<short> numbers;
    for (long i = 0; i < round % 40; i++)
        numbers.push_back(static_cast<short>(i - round));
    std::vector<uv_point> points(static_cast<std::size_t>(round % 3), {static_cast<int>(round), 2});
    std::vector<bool> bits(static_cast<std::size_t>(round * 7));
    std::string text = "[", point_text = "[";
    for (std::size_t i = 0; i < numbers.size() && i < 16; i++)
        text += (i ? "," : "") + std::to_string(numbers[i]);
    for (std::size_t i = 0; i < points.size(); i++)
        point_text += (i ? "," : "") + ("{\"x\":" + std::to_string(round) + ",\"y\":2}");
    std::fprintf(call_log, "uv_vector {\"numbers.value\":%s],\"numbers.size\":%zu,\"points.value\":%s],\"points.size\":%zu,\"bits.size\":%zu}\n", text.c_str(),
                 numbers.size(), point_text.c_str(), points.size(), bits.size());
    uv_vector(numbers, &points, bits);
}

void call_containers(long round) {
    std::map<int, long> map;
    std::set<short> set;
    std::unordered_map<int, int> table;
    std::list<int> list;
    for (int i = 0; i < round % 7; i++) {
        map[i] = round;
        set.insert(static_cast<short>(i / 2));
        table[i * 3] = i;
        list.push_back(i);
    }
    std::optional<int> maybe;
    if (round % 2)
        maybe = static_cast<int>(-round);
#if defined _GLIBCXX_USE_CXX11_ABI && !_GLIBCXX_USE_CXX11_ABI
    const std::string list_size; // it counts its elements
#else
    const std::string list_size = "\"list.size\":" + std::to_string(list.size()) + ',';
#endif
    std::fprintf(call_log, "uv_containers {\"map.size\":%zu,\"set.size\":%zu,\"table.size\":%zu,%s", map.size(), set.size(), table.size(), list_size.c_str());
    if (maybe)
        std::fprintf(call_log, "\"maybe.value\":%d,\"maybe.has_value\":true}\n", *maybe);
    else
        std::fprintf(call_log, "\"maybe.has_value\":false}\n");
    uv_containers(map, &set, table, list, maybe);
}

void call_item(long round) {
    uv_item item;
    item.id = static_cast<int>(round);
    item.name = (round % 2 ? "item " : "an item with a name that has no room in the object ") + std::to_string(round);
    item.place = {static_cast<int>(round), static_cast<int>(-round)};
    item.numbers.resize(static_cast<std::size_t>(round % 5));
    item.weight = static_cast<double>(round) + 0.5;
    item.more.inner = std::to_string(round);
    std::string members;
    for (const char *const name : {"item", "pointer"}) {
        char one[512];
        std::snprintf(one, sizeof(one),
                      "%s\"%s.id\":%d,\"%s.name\":%s,\"%s.place\":{\"x\":%d,\"y\":%d},\"%s.numbers.size\":%zu,\"%s.weight\":%.1f,\"%s.more.inner\":%s",
                      members.empty() ? "" : ",", name, item.id, name, quoted(item.name).c_str(), name, item.place.x, item.place.y, name, item.numbers.size(), name,
                      item.weight, name, quoted(item.more.inner).c_str());
        members += one;
    }
    std::fprintf(call_log, "uv_item_of {%s}\n", members.c_str());
    uv_item_of(item, &item);
}

void call_pointers(long round) {
    std::unique_ptr<uv_point> owned(round % 2 ? new uv_point{1, 2} : nullptr);
    std::unique_ptr<uv_point, void (*)(uv_point *)> freed(new uv_point{3, 4}, free_point);
    const auto shared = std::make_shared<uv_point>(uv_point{static_cast<int>(round), 6});
    std::fprintf(call_log, "uv_pointers {\"owned.ptr\":%s,\"freed.ptr\":%s,\"shared.ptr\":%s}\n", hexadecimal(owned.get()).c_str(),
                 hexadecimal(freed.get()).c_str(), hexadecimal(shared.get()).c_str());
    uv_pointers(owned, freed, shared);
}

std::string in_json(const uv_large &large) {
    std::string text = "{\"values\":[";
    for (const long value : large.values)
        text += (text.back() == '[' ? "" : ",") + std::to_string(value);
    return text + "]}";
}

/// Whether what has been returned is what the functions are to return.
bool call_results(long round) {
    const uv_large made = uv_makes(round, 3);
    std::fprintf(call_log, "uv_makes {\"number\":%ld,\"first\":3,\"ret\":%s}\n", round, in_json(made).c_str());
    const std::unique_ptr<uv_point> owned = uv_owns(static_cast<int>(round));
    std::fprintf(call_log, "uv_owns {\"number\":%ld,\"ret\":%s}\n", round, hexadecimal(&owned).c_str());
    const std::string name = uv_names(static_cast<int>(round));
    std::fprintf(call_log, "uv_names {\"number\":%ld,\"ret.value\":%s}\n", round, quoted(name).c_str());
    const uv_large many = uv_many(round, 1, 2, 3, 4, 5, 6, 7, 8, round + 9);
    std::fprintf(call_log, "uv_many {\"a\":%ld,\"b\":1,\"ret\":%s}\n", round, in_json(many).c_str());
    return made.values[0] == 3 && made.values[1] == round && made.values[2] == 2 * round && made.values[3] == -round && made.values[4] == 7 &&
           (owned ? owned->x == round && owned->y == -round && round % 3 : round % 3 == 0) && many.values[0] == round + 1 && many.values[1] == 5 &&
           many.values[2] == 9 && many.values[3] == 13 && many.values[4] == 800 + round + 9;
}

/// An object whose bytes are all of words that lead nowhere, or into the kernel.
struct alignas(8) Wrong {
    unsigned long words[8];
};

void call_absent() {
    for (const unsigned long word : {0x1001ul, 0xffffffff81000001ul}) {
        Wrong wrong;
        for (std::size_t i = 0; i < std::size(wrong.words); i++)
            wrong.words[i] = word + 16 * i; // the end of a vector is behind its begin
        uv_absent(reinterpret_cast<const std::string &>(wrong), reinterpret_cast<std::string *>(word), {reinterpret_cast<const char *>(word), 8},
                  reinterpret_cast<const std::vector<short> &>(wrong));
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1 && !std::strcmp(argv[1], "absent")) {
        call_absent();
        return 0;
    }
    if (argc > 3 && !std::strcmp(argv[1], "results")) {
        call_log = std::fopen(argv[3], "w");
        if (!call_log)
            return 2;
        bool are_right = true;
        for (long round = 0; round < std::strtol(argv[2], nullptr, 10); round++)
            are_right = call_results(round) && are_right;
        return std::fclose(call_log) != 0 ? 2 : are_right ? 0 : 3;
    }
    const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 0;
    call_log = argc > 2 ? std::fopen(argv[2], "w") : nullptr;
    if (!call_log)
        return 2;
    for (long round = 0; round < rounds; round++) {
        call_strings(round);
        call_vectors(round);
        call_containers(round);
        call_item(round);
        call_pointers(round);
    }
    return std::fclose(call_log) != 0;
}
