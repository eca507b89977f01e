// SPDX-License-Identifier: GPL-2.0-only
// Functions that are passed structs and numbers in registers of both kinds, and return them, for tests that trace them. It prints what it passes
// and what it gets, a line for each call: "NAME" and the values as JSON.
//
//   user_structs ROUNDS LOG

#include <cmath>
#include <complex>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

struct us_point {
    double x, y;
};
struct us_triple {
    float a, b, c;
};
struct us_pair {
    float a, b;
};
struct us_single {
    float a;
};
struct us_before { // an integer register and one for floating-point numbers
    long n;
    double d;
};
struct us_behind {
    double d;
    const char *text;
};
struct us_shared { // what is a number of either kind is in a register for integers
    float f;
    int i;
    double d;
};
union us_either {
    double d;
    float f[2];
};
struct us_nested {
    us_single first[2];
    struct {
        unsigned short s;
        signed char c : 5;
        bool flag;
        int last;
    } second;
};

struct us_extended_t {
    long double value;
};

__extension__ typedef __int128 int128_t;
__extension__ typedef unsigned __int128 unsigned_int128_t;
typedef float us_vector_t __attribute__((vector_size(16)));
typedef double _Complex us_complex_t;
typedef float _Complex us_complex_float_t;

namespace {

std::FILE *call_log;
volatile double sink;

/// As JSON has it, where it has one.
std::string shown(double number) {
    if (std::isnan(number))
        return "\"nan\"";
    if (std::isinf(number))
        return number < 0 ? "\"-inf\"" : "\"inf\"";
    char text[40];
    std::snprintf(text, sizeof(text), "%.17g", number);
    return text;
}

/// The shortest that is this number and no other.
std::string extended(long double number) {
    if (std::isnan(number))
        return "nan";
    char text[64];
    int digits = 0;
    do
        std::snprintf(text, sizeof(text), "%.*Lg", ++digits, number);
    while (digits < 36 && std::strtold(text, nullptr) != number);
    return text;
}

std::string positive_digits(unsigned_int128_t number) {
    std::string text;
    do
        text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
    while (number /= 10);
    return text;
}

std::string digits(int128_t number) {
    return number < 0 ? '-' + positive_digits(-static_cast<unsigned_int128_t>(number)) : positive_digits(static_cast<unsigned_int128_t>(number));
}

/// The shortest that is this number and no other.
std::string shown(float number) {
    char text[40];
    int digits = 0;
    do
        std::snprintf(text, sizeof(text), "%.*g", ++digits, static_cast<double>(number));
    while (digits < 9 && std::strtof(text, nullptr) != number);
    return std::isfinite(number) ? text : shown(static_cast<double>(number));
}

std::string shown(us_point p) {
    return "{\"x\":" + shown(p.x) + ",\"y\":" + shown(p.y) + "}";
}

std::string shown(us_vector_t v) {
    return "{\"v\":[" + shown(v[0]) + "," + shown(v[1]) + "," + shown(v[2]) + "," + shown(v[3]) + "]}";
}

std::string shown(us_triple t) {
    return "{\"a\":" + shown(t.a) + ",\"b\":" + shown(t.b) + ",\"c\":" + shown(t.c) + "}";
}

std::string shown(us_pair p) {
    return "{\"a\":" + shown(p.a) + ",\"b\":" + shown(p.b) + "}";
}

std::string shown(us_single s) {
    return "{\"a\":" + shown(s.a) + "}";
}

std::string shown(us_before b) {
    return "{\"n\":" + std::to_string(b.n) + ",\"d\":" + shown(b.d) + "}";
}

std::string shown(us_shared s) {
    return "{\"f\":" + shown(s.f) + ",\"i\":" + std::to_string(s.i) + ",\"d\":" + shown(s.d) + "}";
}

std::string shown(us_either e) {
    return "{\"d\":" + shown(e.d) + ",\"f\":[" + shown(e.f[0]) + "," + shown(e.f[1]) + "]}";
}

std::string shown(const us_nested &n) {
    return "{\"first\":[" + shown(n.first[0]) + "," + shown(n.first[1]) + "],\"second\":{\"s\":" + std::to_string(n.second.s) +
           ",\"c\":" + std::to_string(n.second.c) + ",\"flag\":" + (n.second.flag ? "true" : "false") + ",\"last\":" + std::to_string(n.second.last) + "}}";
}

std::string shown_complex(double real, double imag) {
    return "{\"real\":" + shown(real) + ",\"imag\":" + shown(imag) + "}";
}

std::string shown(us_complex_t z) {
    return shown_complex(__real__ z, __imag__ z);
}

template<typename Number>
std::string shown(std::complex<Number> z) {
    return "{\"_M_value\":" + shown_complex(z.real(), z.imag()) + "}";
}

void log(const char *format, ...) __attribute__((format(printf, 1, 2)));

void log(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(call_log, format, arguments);
    va_end(arguments);
}

} // namespace

#define CALLED __attribute__((noinline, used, visibility("default")))

// All of it is used, and where it is written is known at the entry.
template<typename... Values>
static inline void use(const Values &...values) {
    const auto one = [](const auto &value) { asm volatile("" : : "r"(&value) : "memory"); };
    (one(values), ...);
}

CALLED us_point us_points(us_point a, int n, us_point b) {
    use(a, n, b);
    return {a.y + n, b.x};
}

CALLED us_triple us_triples(us_triple t, us_pair p, us_single s) {
    use(t, p, s);
    return {t.c, p.b, s.a};
}

CALLED us_pair us_pairs(us_pair p) {
    use(p);
    return {p.b, p.a};
}

CALLED us_before us_mixed(int k, us_before a, us_behind b) {
    use(k, a, b);
    return {a.n + k, b.d};
}

CALLED us_behind us_turned(us_behind a, us_shared b) {
    use(a, b);
    sink = b.f;
    return {b.d, a.text};
}

CALLED us_shared us_both(us_shared b) {
    use(b);
    return {b.f + 1, b.i + 1, b.d + 1};
}

CALLED us_either us_union(us_either u, double d) {
    use(u, d);
    return {u.d + d};
}

CALLED us_nested us_inner(us_nested n) {
    use(n);
    n.second.last++;
    return n;
}

CALLED us_complex_t us_complex(us_complex_t z, us_complex_float_t w) {
    use(z, w);
    return z + static_cast<us_complex_t>(w);
}

CALLED std::complex<double> us_library(std::complex<double> z, std::complex<float> w) {
    use(z, w);
    return {z.imag(), w.real()};
}

// The last that has room takes the last two registers; what needs another is on the stack, and what needs an integer register too.
CALLED us_point us_full(us_point a, us_point b, us_point c, double d, us_point e, double f, us_before g, long h, double i) {
    use(a, b, c, d, e, f, g, h, i);
    sink = a.x + b.x + c.x + d + f + g.d + i + static_cast<double>(h);
    return e;
}

// No integer register is left.
CALLED us_before us_spilled(long a, long b, long c, long d, long e, long f, us_before g, us_point h) {
    use(a, b, c, d, e, f, g, h);
    sink = h.x;
    return {a + b + c + d + e + f, g.d};
}

// Only a part is used, and clang says where that is alone.
CALLED double us_in_part(us_point p, us_before b) {
    return p.y + static_cast<double>(b.n);
}

// Numbers of 16 bytes: in pairs of registers and on the stack, in which 16 bytes are aligned.
CALLED int128_t us_wide(int128_t a, long b, unsigned_int128_t c, long d, int128_t e, long f) {
    use(a, b, c, d, e, f);
    return a + static_cast<int128_t>(c) + e + b + d + f;
}

CALLED int us_extended(us_extended_t alone, long double x, int n, double d, long double y) {
    use(alone, x, n, d, y);
    sink = static_cast<double>(alone.value + x + y) + d;
    return n;
}

// In a register of its own: of the x87 unit, or of those for floating-point numbers.
CALLED long double us_returns_extended(int n) {
    const long double third = n / 3.0L;
    sink = static_cast<double>(third); // not in a jump to what divides
    return third;
}

CALLED us_extended_t us_alone_extended(int n) {
    return {n / -7.0L};
}

CALLED us_vector_t us_vectors(us_vector_t a, double d, us_vector_t b) {
    use(a, d, b);
    return a * b;
}

namespace {

/// Calls it as one of which the compiler knows nothing, so that it passes what is not used as well.
template<auto Function, typename... Values>
auto through(Values... values) {
    decltype(Function) volatile pointer = Function;
    return pointer(values...);
}

void call_wide(long round) {
    const int128_t a = (static_cast<int128_t>(-round) << 70) - round;
    const unsigned_int128_t c = ~static_cast<unsigned_int128_t>(0) - static_cast<unsigned_int128_t>(round);
    const int128_t sum = through<us_wide>(a, round, c, -round, a + 1, 5);
    log("us_wide {\"a\":\"%s\",\"b\":%ld,\"c\":\"%s\",\"d\":%ld,\"e\":\"%s\",\"f\":5,\"ret\":\"%s\"}\n", digits(a).c_str(), round,
        positive_digits(c).c_str(), -round, digits(a + 1).c_str(), digits(sum).c_str());
    const long double special[] = {NAN, INFINITY, -INFINITY, -0.0L, 3.6e-4951L, 1e4932L};
    const long double x = round % 8 == 7 ? special[round / 8 % 6] : static_cast<long double>(round) / 3, y = -x / 7;
    through<us_extended>(us_extended_t{y}, x, static_cast<int>(round), 0.5, y);
    log("us_extended {\"alone\":{\"value\":\"%s\"},\"x\":\"%s\",\"n\":%ld,\"d\":0.5,\"y\":\"%s\"}\n", extended(y).c_str(), extended(x).c_str(), round,
        extended(y).c_str());
    log("us_returns_extended {\"n\":%ld,\"ret\":\"%s\"}\n", round, extended(through<us_returns_extended>(static_cast<int>(round))).c_str());
    log("us_alone_extended {\"n\":%ld,\"ret\":{\"value\":\"%s\"}}\n", round, extended(through<us_alone_extended>(static_cast<int>(round)).value).c_str());
    const float f = static_cast<float>(round);
    const us_vector_t v{f, 0.5f, -f, 8}, w{2, f, 3, f / 4};
    log("us_vectors {\"a\":%s,\"d\":1.5,\"b\":%s,\"ret\":%s}\n", shown(v).c_str(), shown(w).c_str(), shown(through<us_vectors>(v, 1.5, w)).c_str());
}

void call_all(long round) {
    const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-310};
    const double d = round % 8 == 7 ? special[round / 8 % 5] : static_cast<double>(round) / 3;
    const float f = static_cast<float>(round - 50) / 8;
    const us_point a{d, -0.5}, b{static_cast<double>(round), d / 7}, c{1.25, f};
    const us_before n{-round, d};
    const us_behind t{d * 2, "text"};
    const us_triple three{f, f + 1, static_cast<float>(round)};
    const us_pair two{-f, 0.5f};
    const us_single one{f * 2};
    const us_shared shared{f, static_cast<int>(-round), d};
    const us_nested nested{{{f}, {1.5f}}, {static_cast<unsigned short>(round * 1000), static_cast<signed char>(round % 32 - 16), round % 2 != 0, 7}};
    us_either either;
    either.f[0] = f;
    either.f[1] = 2.5f;
    us_complex_t z;
    us_complex_float_t w;
    __real__ z = d;
    __imag__ z = -1.5;
    __real__ w = f;
    __imag__ w = static_cast<float>(round);
    const std::string number = std::to_string(round);

    log("us_points {\"a\":%s,\"n\":%ld,\"b\":%s,\"ret\":%s}\n", shown(a).c_str(), round, shown(b).c_str(), shown(through<us_points>(a, static_cast<int>(round), b)).c_str());
    log("us_triples {\"t\":%s,\"p\":%s,\"s\":%s,\"ret\":%s}\n", shown(three).c_str(), shown(two).c_str(), shown(one).c_str(),
        shown(through<us_triples>(three, two, one)).c_str());
    log("us_pairs {\"p\":%s,\"ret\":%s}\n", shown(two).c_str(), shown(through<us_pairs>(two)).c_str());
    log("us_mixed {\"k\":3,\"a\":%s,\"d\":%s,\"text\":\"text\",\"ret\":%s}\n", shown(n).c_str(), shown(t.d).c_str(), shown(through<us_mixed>(3, n, t)).c_str());
    const us_behind turned = through<us_turned>(t, shared);
    log("us_turned {\"text\":\"text\",\"b\":%s,\"ret.d\":%s,\"ret.text\":\"text\"}\n", shown(shared).c_str(), shown(turned.d).c_str());
    log("us_both {\"b\":%s,\"ret\":%s}\n", shown(shared).c_str(), shown(through<us_both>(shared)).c_str());
    log("us_union {\"u\":%s,\"d\":%s,\"ret\":%s}\n", shown(either).c_str(), shown(d).c_str(), shown(through<us_union>(either, d)).c_str());
    log("us_inner {\"n\":%s,\"ret\":%s}\n", shown(nested).c_str(), shown(through<us_inner>(nested)).c_str());
    log("us_complex {\"z\":%s,\"w\":%s,\"ret\":%s}\n", shown(z).c_str(), shown_complex(__real__ w, __imag__ w).c_str(), shown(through<us_complex>(z, w)).c_str());
    const std::complex<double> wide(d, 0.25);
    const std::complex<float> narrow(f, -1);
    log("us_library {\"z\":%s,\"w\":%s,\"ret\":%s}\n", shown(wide).c_str(), shown(narrow).c_str(), shown(through<us_library>(wide, narrow)).c_str());
    log("us_full {\"a\":%s,\"b\":%s,\"c\":%s,\"d\":0.75,\"e\":%s,\"f\":%s,\"g\":%s,\"h\":%s,\"i\":4.5,\"ret\":%s}\n", shown(a).c_str(), shown(b).c_str(),
        shown(c).c_str(), shown(a).c_str(), shown(d).c_str(), shown(n).c_str(), number.c_str(), shown(through<us_full>(a, b, c, 0.75, a, d, n, round, 4.5)).c_str());
    log("us_spilled {\"g\":%s,\"h\":%s,\"ret\":%s}\n", shown(n).c_str(), shown(b).c_str(), shown(through<us_spilled>(1, 2, 3, 4, 5, round, n, b)).c_str());
    call_wide(round);
    log("us_in_part {\"p\":%s,\"b\":%s,\"ret\":%s}\n", shown(b).c_str(), shown(n).c_str(), shown(through<us_in_part>(b, n)).c_str());
}

} // namespace

int main(int argc, char **argv) {
    const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 0;
    call_log = argc > 2 ? std::fopen(argv[2], "w") : nullptr;
    if (!call_log)
        return 2;
    for (long round = 0; round < rounds; round++)
        call_all(round);
    return std::fclose(call_log) != 0;
}
