// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace argtrace {

struct GeneratedAggregate;

struct GeneratedMember {
    std::string name;
    std::string type;            ///< empty: `inner`, which has no name either
    int width = 0;               ///< of a bitfield
    std::vector<int> dimensions; ///< of an array
    std::shared_ptr<GeneratedAggregate> inner;
};

struct GeneratedAggregate {
    bool is_union = false;
    std::vector<GeneratedMember> members; ///< but those that only fill up
};

struct GeneratedParameter {
    std::string declaration, name;
    std::string type; ///< of the values that are passed
};

struct GeneratedFunction {
    std::string result;
    std::vector<GeneratedParameter> parameters;
    bool variadic = false;
};

/// Writes C: types and functions that take values of them, and calls of these functions.
/// The same seed gives the same text.
class PrototypeGenerator {
public:
    /// `complex`: also numbers that BTF has not, which only DWARF tells from others.
    PrototypeGenerator(unsigned seed, bool floats, bool complex = false) : random_(seed), floats_(floats), complex_(complex) {}

    /// The file declares `count` functions, called f0, f1 ...; compiled with -DDEFINE it
    /// defines them, else the table of calls that prototypes_runner.c makes.
    std::string source(int count) {
        generate(count);
        std::string table;
        for (int i = 0; i < count; i++)
            table += write_function(i);
        return text_ + "#ifndef DEFINE\nconst struct call calls[] = {\n" + table +
               fmt::format("}};\nconst unsigned long nr_calls = {};\n#endif\n", count);
    }

    /// The same prototypes for those who write other files around them: types() defines all
    /// that functions() name, aggregates() says what is in them, by every name they have.
    void generate(int count) {
        text_ = "typedef signed char s8; typedef unsigned long long u64;\n"
                "typedef const volatile u64 cv_u64; typedef cv_u64 chain_t; typedef _Bool flag_t;\n"
                "typedef int (*callback_t)(void *, chain_t);\n"
                "typedef float vector_t __attribute__((vector_size(16)));\n"
                "#ifdef __x86_64__\n#define LONG_DOUBLE_BYTES 10\n#else\n#define LONG_DOUBLE_BYTES sizeof(long double)\n#endif\n"
                "enum e4 { E4A, E4B = 7 }; enum e4s { E4SA = -1, E4SB };\n"
                "enum __attribute__((packed)) e1 { E1A, E1B = 200 };\n"
                "enum __attribute__((packed)) e2 { E2A = -2, E2B = 3000 };\n"
                "enum e8 { E8A = 1ull << 40 }; enum e8s { E8SA = -1ll << 40 };\n"
                "struct empty { }; struct flexible { int n; char data[]; }; struct none { int n; "
                "char data[0]; };\n"
                "struct forward;\n"
                "struct value { void *data; unsigned long size; int is_bool; };\n"
                "struct call { void (*run)(void); const struct value *values;"
                " unsigned long count; };\n";
        contents_["struct empty"] = std::make_shared<GeneratedAggregate>();
        for (const char *name : {"struct flexible", "struct none"})
            contents_[name] = std::make_shared<GeneratedAggregate>(GeneratedAggregate{
                false, {{"n", "int", 0, {}, nullptr}, {"data", "char", 0, {0}, nullptr}}});
        scalars_ = {"char",
                    "s8",
                    "unsigned char",
                    "short",
                    "unsigned short",
                    "int",
                    "unsigned",
                    "long",
                    "unsigned long",
                    "long long",
                    "u64",
                    "chain_t",
                    "_Bool",
                    "flag_t",
                    "__int128",
                    "unsigned __int128",
                    "const __int128",
                    "enum e1",
                    "enum e2",
                    "enum e4",
                    "enum e4s",
                    "enum e8",
                    "enum e8s",
                    "void *",
                    "const char *const",
                    "struct forward *",
                    "callback_t",
                    "int **"};
        if (floats_)
            scalars_.insert(scalars_.end(), {"float", "double", "double", "const float"});
        if (complex_)
            scalars_.insert(scalars_.end(), {"double", "float", "double _Complex", "float _Complex", "long double", "vector_t"});
        for (int i = 0; i < count / 4; i++)
            aggregates_.push_back(aggregate(0));
        for (int i = 0; i < count; i++)
            functions_.push_back(function());
    }

    const std::string &types() const { return text_; }
    const std::vector<GeneratedFunction> &functions() const { return functions_; }
    const std::map<std::string, std::shared_ptr<GeneratedAggregate>> &aggregates() const {
        return contents_;
    }
    /// An aggregate's name without its qualifiers, where it has no other.
    const std::map<std::string, std::string> &plain() const { return plain_; }

private:
    int below(int n) { return int(random_() % unsigned(n)); }
    bool one_in(int n) { return below(n) == 0; }
    const std::string &one_of(const std::vector<std::string> &list) {
        return list[std::size_t(below(int(list.size())))];
    }

    // Returns its declaration, and adds it to `to`.
    std::string member(int depth, const std::string &name, GeneratedAggregate &to) {
        auto add = [&](const std::string &type, int width = 0, std::vector<int> dimensions = {}) {
            to.members.push_back({name, type, width, std::move(dimensions), nullptr});
        };
        if (depth < 2 && one_in(5)) {
            add(aggregate(depth + 1));
            return fmt::format("{} {};", to.members.back().type, name);
        }
        if (depth < 2 && one_in(12)) { // unnamed
            auto inner = std::make_shared<GeneratedAggregate>();
            const std::string body = aggregate_body(depth + 1, *inner);
            to.members.push_back({"", "", 0, {}, inner});
            return body + ";";
        }
        if (one_in(6)) {
            const int width = 1 + below(31);
            add(one_in(2) ? "int" : "unsigned", width);
            return fmt::format("{} {}:{};", to.members.back().type, name, width);
        }
        if (one_in(25)) {
            add("unsigned long", 1 + below(63));
            return fmt::format("unsigned long {}:{};", name, to.members.back().width);
        }
        if (one_in(40))
            return fmt::format("int :{};", 1 + below(31));
        if (one_in(60)) {
            add("char");
            return fmt::format("char {} __attribute__((aligned(16)));", name);
        }
        if (one_in(4)) {
            const std::string type = one_in(2) ? "char" : "unsigned short";
            add(type, 0, {1 + below(9)});
            return fmt::format("{} {}[{}];", type, name, to.members.back().dimensions[0]);
        }
        if (one_in(20)) {
            const std::string type = one_in(2) ? "int" : "s8";
            const int outer = 1 + below(2), inner = 1 + below(2);
            add(type, 0, {outer, inner});
            return fmt::format("{} {}[{}][{}];", type, name, outer, inner);
        }
        add(one_of(scalars_));
        return fmt::format("{} {};", to.members.back().type, name);
    }

    // "struct { ... }"
    std::string aggregate_body(int depth, GeneratedAggregate &contents,
                               const std::string &tag = "") {
        const bool is_union = one_in(5);
        contents.is_union = is_union;
        std::string body =
            fmt::format("{}{}{} {{ ", is_union ? "union" : "struct",
                        one_in(6) ? " __attribute__((packed))" : "", tag.empty() ? "" : " " + tag);
        const int members = 1 + (one_in(4) ? below(6) : below(3));
        for (int i = 0; i < members; i++)
            body += member(depth, fmt::format("m{}_{}", members_++, depth), contents) + " ";
        return body + "}";
    }

    // Defines one and returns its name.
    std::string aggregate(int depth) {
        if (one_in(40))
            return "struct empty";
        if (one_in(60))
            return depth == 0 ? "struct flexible" : "struct none";
        const std::string tag = fmt::format("a{}", tags_++);
        auto contents = std::make_shared<GeneratedAggregate>();
        const std::string body = aggregate_body(depth, *contents, tag);
        const std::string keyword = body.substr(0, body.find(' '));
        text_ += body + (one_in(25) ? " __attribute__((aligned(16)))" : "") + ";\n";
        plain_[keyword + " " + tag] = keyword + " " + tag;
        contents_[keyword + " " + tag] = contents_[tag + "_t"] = contents;
        if (!one_in(4))
            return keyword + " " + tag;
        plain_[tag + "_t"] = keyword + " " + tag;
        text_ += fmt::format("typedef {} {} {}_t;\n", one_in(2) ? "const" : "", keyword + " " + tag,
                             tag);
        return tag + "_t";
    }

    GeneratedFunction function() {
        GeneratedFunction made;
        const int count = below(13);
        made.variadic = count > 0 && one_in(15);
        // Mostly values of all kinds; sometimes few structs, so that more is known.
        const int share = one_in(2) ? 3 : 12;
        for (int i = 0; i < count; i++) {
            GeneratedParameter one;
            one.name = fmt::format("p{}", i);
            one.type = one_in(share) ? one_of(aggregates_) : one_of(scalars_);
            one.declaration = fmt::format("{} p{}", one.type, i);
            if (one_in(30)) {
                one.declaration = fmt::format("void (*p{})(int)", i);
                one.type = "void *";
            } else if (one_in(30)) {
                one.declaration = fmt::format("int p{}[4]", i);
                one.type = "void *";
            }
            made.parameters.push_back(one);
        }
        made.result = one_in(6) ? one_of(aggregates_) : one_in(8) ? "void" : one_of(scalars_);
        return made;
    }

    // Returns its row in the table of calls.
    std::string write_function(int number) {
        const GeneratedFunction &made = functions_[std::size_t(number)];
        std::string parameters, values, arguments;
        std::string globals, clears;
        for (const GeneratedParameter &one : made.parameters) {
            const std::string &type = one.type;
            const std::string global = fmt::format("v{}_{}", number, one.name.substr(1));
            // Storage of its own: a const one would be read-only.
            globals += fmt::format("extern __typeof__({0}) {1}; __asm__(\".comm {1},4096,64\");\n",
                                   type, global);
            // Compilers need not pass padding on.
            if (plain_.contains(type))
                clears +=
                    fmt::format("__builtin_clear_padding(({} *)&{}); ", plain_.at(type), global);
            parameters += (parameters.empty() ? "" : ", ") + one.declaration;
            arguments += (arguments.empty() ? "" : ", ") + global;
            // The upper bytes of a long double are none of it.
            values += fmt::format("{{ (void *)&{0}, {2}sizeof({0}), {1} }}, ", global,
                                  type == "_Bool" || type == "flag_t" ? 1 : 0, type == "long double" ? "LONG_DOUBLE_BYTES + 0 * " : "");
        }
        if (made.variadic) {
            parameters += ", ...";
            arguments += ", 1, 2ul, (void *)0";
        }
        if (made.parameters.empty())
            parameters = "void";
        text_ += fmt::format("#ifdef DEFINE\n{0} f{1}({2}) {{ {3} }}\n#else\n"
                             "{0} f{1}({2}) __asm__(\"callee\");\n{4}"
                             "static void run{1}(void) {{ {7}f{1}({5}); }}\n"
                             "static const struct value values{1}[] = {{ {6} }};\n#endif\n",
                             made.result, number, parameters,
                             made.result == "void" ? "" : "__builtin_trap();", globals, arguments,
                             values, clears);
        return fmt::format("{{ run{0}, values{0}, {1} }},\n", number, made.parameters.size());
    }

    std::mt19937 random_;
    bool floats_, complex_;
    int members_ = 0;
    int tags_ = 0;
    std::string text_;
    std::vector<std::string> scalars_;
    std::vector<std::string> aggregates_;
    std::vector<GeneratedFunction> functions_;
    std::map<std::string, std::shared_ptr<GeneratedAggregate>> contents_;
    std::map<std::string, std::string> plain_;
};

} // namespace argtrace
