// SPDX-License-Identifier: GPL-2.0-only
// docs/event.schema.json against the events of a real file.
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "render/status.h"
#include "support/trace_builder.h"

namespace argtrace {
namespace {

using nlohmann::json;

bool has_type(const json &value, const std::string &type) {
    if (type == "integer")
        return value.is_number_integer();
    if (type == "number")
        return value.is_number();
    if (type == "boolean")
        return value.is_boolean();
    if (type == "string")
        return value.is_string();
    if (type == "null")
        return value.is_null();
    if (type == "array")
        return value.is_array();
    if (type == "object")
        return value.is_object();
    ADD_FAILURE() << "the schema has a type that this test does not know: " << type;
    return false;
}

/// As far as our schema goes: a keyword that is not known here fails the test.
class Validator {
public:
    explicit Validator(json schema) : root_(std::move(schema)) {}

    /// What is wrong; "" if nothing is.
    std::string check(const json &value) const { return check(value, root_); }

private:
    std::string check(const json &value, const json &schema) const {
        static const std::set<std::string> silent{"$schema", "title", "description", "$defs"};
        for (const auto &[keyword, wanted] : schema.items()) {
            if (silent.count(keyword) != 0)
                continue;
            const std::string wrong = check_keyword(value, schema, keyword, wanted);
            if (!wrong.empty())
                return wrong;
        }
        return "";
    }

    std::string check_keyword(const json &value, const json &schema, const std::string &keyword,
                              const json &wanted) const {
        const std::string wrong = keyword + " does not fit";
        if (keyword == "type") {
            if (wanted.is_string())
                return has_type(value, wanted) ? "" : wrong;
            for (const json &one : wanted) {
                if (has_type(value, one))
                    return "";
            }
            return wrong;
        }
        if (keyword == "required") {
            for (const json &name : wanted) {
                if (!value.contains(name.get<std::string>()))
                    return wrong + " " + name.dump();
            }
            return "";
        }
        if (keyword == "properties") {
            for (const auto &[name, one] : wanted.items()) {
                if (!value.contains(name))
                    continue;
                if (const std::string inner = check(value[name], one); !inner.empty())
                    return inner;
            }
            return "";
        }
        if (keyword == "patternProperties") {
            for (const auto &[pattern, one] : wanted.items())
                for (const auto &[name, member] : value.items())
                    if (std::regex_search(name, std::regex(pattern)))
                        if (const std::string inner = check(member, one); !inner.empty())
                            return inner;
            return "";
        }
        if (keyword == "additionalProperties") {
            for (const auto &[name, one] : value.items()) {
                if ((schema.contains("properties") && schema["properties"].contains(name)) || has_pattern(schema, name))
                    continue;
                if (wanted.is_boolean())
                    return wrong + " " + name;
                if (const std::string inner = check(one, wanted); !inner.empty())
                    return inner;
            }
            return "";
        }
        if (keyword == "items") {
            for (const json &one : value) {
                if (const std::string inner = check(one, wanted); !inner.empty())
                    return inner;
            }
            return "";
        }
        if (keyword == "anyOf") {
            for (const json &one : wanted) {
                if (check(value, one).empty())
                    return "";
            }
            return wrong;
        }
        if (keyword == "$ref")
            return check(value, root_.at(json::json_pointer(wanted.get<std::string>().substr(1))));
        // These are about values of their type alone.
        if (keyword == "minimum")
            return !value.is_number() || value >= wanted ? "" : wrong;
        if (keyword == "minLength")
            return !value.is_string() || value.get<std::string>().size() >= wanted ? "" : wrong;
        if (keyword == "const")
            return value == wanted ? "" : wrong;
        if (keyword == "pattern") {
            auto known = patterns_.find(wanted);
            if (known == patterns_.end())
                known = patterns_.emplace(wanted, wanted.get<std::string>()).first;
            return !value.is_string() || std::regex_search(value.get<std::string>(), known->second)
                       ? ""
                       : wrong;
        }
        ADD_FAILURE() << "the schema has a keyword that this test does not know: " << keyword;
        return wrong;
    }

    static bool has_pattern(const json &schema, const std::string &name) {
        if (!schema.contains("patternProperties"))
            return false;
        for (const auto &[pattern, one] : schema["patternProperties"].items())
            if (std::regex_search(name, std::regex(pattern)))
                return true;
        return false;
    }

    json root_;
    mutable std::map<std::string, std::regex> patterns_; // made once: it takes long
};

Validator schema() {
    std::ifstream in(ARGTRACE_TEST_DATA "/../../docs/event.schema.json");
    return Validator(json::parse(in));
}

TEST(EventSchema, FitsTheEventsOfARealFile) {
    const Validator validator = schema();
    const Fd file(::open(ARGTRACE_TEST_DATA "/known_calls.dat", O_RDONLY | O_CLOEXEC));
    WorkerPool workers(1);
    std::istringstream lines(test::read_trace(file.get(), workers).text);
    std::string line;
    int count = 0;
    while (std::getline(lines, line)) {
        ASSERT_EQ(validator.check(json::parse(line)), "") << line;
        ++count;
    }
    EXPECT_GT(count, 100);
}

TEST(EventSchema, RefusesWhatIsNone) {
    const Validator validator = schema();
    const json event = json::parse(
        R"({"ts":1,"cpu":0,"pid":0,"tid":0,"comm":"","flags":"d.h1","func":"f","caller":null,"args":{}})");
    EXPECT_EQ(validator.check(event), "");
    for (const char *name :
         {"ts", "cpu", "pid", "tid", "comm", "flags", "func", "caller", "args"}) {
        json less = event;
        less.erase(name);
        EXPECT_NE(validator.check(less), "") << name;
        json other = event;
        other[name] = json::array();
        EXPECT_NE(validator.check(other), "") << name;
    }
    json more = event;
    more["unheard_of"] = 1;
    EXPECT_NE(validator.check(more), "");
    json cut = event;
    cut["cut"] = json::array({"name"});
    EXPECT_EQ(validator.check(cut), "");
    for (const json &wrong : {json("name"), json::array({1})}) {
        cut["cut"] = wrong;
        EXPECT_NE(validator.check(cut), "") << wrong;
    }
    json returned = event;
    returned["duration"] = 17;
    for (const json &value : {json(), json(-2), json("-ENOENT"), json::object({{"val", 1}})}) {
        returned["ret"] = value;
        EXPECT_EQ(validator.check(returned), "") << value;
    }
    returned["duration"] = returned["ret"] = json();
    returned["left_within"] = 17;
    EXPECT_EQ(validator.check(returned), "");
    returned["left_within"] = json();
    EXPECT_NE(validator.check(returned), "");
    returned.erase("left_within");
    returned["duration"] = "17us";
    EXPECT_NE(validator.check(returned), "");
    json flags = event;
    flags["flags"] = "....x";
    EXPECT_NE(validator.check(flags), "");
}

TEST(EventSchema, FitsTheSummary) {
    const Validator validator = schema();
    argtrace_counts total{};
    total.records = 7;
    total.lost[ARGTRACE_LOST_FULL] = 2;
    total.sampled = 3;
    total.capped = 4;
    total.faults = 5;
    std::string whole, unknown;
    append_summary_json(whole, 7, &total);
    append_summary_json(unknown, 7, nullptr);
    EXPECT_EQ(validator.check(json::parse(whole)), "") << whole;
    EXPECT_EQ(validator.check(json::parse(unknown)), "") << unknown;
    EXPECT_EQ(whole, R"({"shown":7,"hits":16,"records":7,)"
                     R"("lost":{"full":2,"recursion":0,"no_buffer":0},"filtered":0,"sampled":3,"capped":4,"faults":5})"
                     "\n");
    ReturnTotals returns;
    returns.in_flight = 3;
    returns.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] = 2;
    std::string followed;
    append_summary_json(followed, 7, &total, &returns);
    EXPECT_EQ(validator.check(json::parse(followed)), "") << followed;
    EXPECT_EQ(json::parse(followed)["hits"], 21);
    std::string stacks;
    const StackLoss loss{3, 2, 1};
    append_summary_json(stacks, 7, &total, nullptr, &loss);
    EXPECT_EQ(validator.check(json::parse(stacks)), "") << stacks;
    EXPECT_EQ(json::parse(stacks)["stacks_lost"].dump(), R"({"full":3,"recursion":2,"unknown":1})");
    std::string user_stacks;
    UserStackLoss user_loss;
    user_loss.lost[ARGTRACE_STACK_LOST_FULL] = 4;
    user_loss.incomplete[ARGTRACE_END_NO_RULE] = 5;
    user_loss.unnumbered = 6;
    user_loss.unknown = 7;
    user_loss.refused = 8;
    append_summary_json(user_stacks, 7, &total, nullptr, &loss, {}, &user_loss);
    EXPECT_EQ(validator.check(json::parse(user_stacks)), "") << user_stacks;
    EXPECT_EQ(json::parse(user_stacks)["user_stacks_lost"].dump(), R"({"full":4,"recursion":0,"unknown":0})");
    EXPECT_EQ(json::parse(user_stacks)["user_stacks_incomplete"]["no_rule"], 5);
    EXPECT_EQ(json::parse(user_stacks)["user_mappings_lost"].dump(), R"({"files":6,"processes":7,"tables":8})");
    json less = json::parse(whole);
    less.erase("lost");
    EXPECT_NE(validator.check(less), "");
    less = json::parse(whole);
    less.erase("capped");
    EXPECT_NE(validator.check(less), "");
}

} // namespace
} // namespace argtrace
