// SPDX-License-Identifier: GPL-2.0-only
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "cases/case.h"

namespace cases {
namespace {

class Parser {
public:
    explicit Parser(const std::string &file) : file_(file) {}

    std::vector<Case> parse(const std::string &text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            number_++;
            if (!line.empty() && line[0] != '#')
                take(line);
        }
        finish_case();
        return std::move(cases_);
    }

private:
    [[noreturn]] void fail(const std::string &what) const {
        throw std::runtime_error(file_ + ":" + std::to_string(number_) + ": " + what);
    }

    void take(const std::string &line) {
        const std::size_t blank = line.find(' ');
        const std::string keyword = line.substr(0, blank);
        const std::string rest = blank == std::string::npos ? "" : line.substr(blank + 1);
        if (keyword == "case")
            begin_case(rest);
        else if (keyword == "needs")
            take_need(rest);
        else if (keyword == "run")
            begin_step(rest);
        else if (keyword == "status")
            step().status = number(rest);
        else if (keyword == "out" || keyword == "out~")
            step().out.push_back(expected(keyword.ends_with('~'), rest));
        else if (keyword == "err" || keyword == "err~")
            step().err.push_back(expected(keyword.ends_with('~'), rest));
        else
            fail("'" + keyword + "' is not one of case, needs, run, status, out, out~, err, err~");
    }

    void begin_case(const std::string &name) {
        finish_case();
        if (name.empty() ||
            name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
            fail("a case has a name of a-z, 0-9 and _, not '" + name + "'");
        if (!names_.insert(name).second)
            fail("there is another case " + name);
        cases_.push_back(for_all_);
        cases_.back().name = name;
        cases_.back().file = file_;
        cases_.back().line = number_;
    }

    void finish_case() {
        if (!cases_.empty() && cases_.back().steps.empty())
            fail("the case " + cases_.back().name + " runs nothing");
    }

    /// Before the first case it holds for all of the file.
    void take_need(const std::string &what) {
        Case &test = cases_.empty() ? for_all_ : cases_.back();
        if (!test.steps.empty())
            fail("needs come before the first command");
        if (what == "no kernel")
            test.needs_kernel = false;
        else if (what == "x86-64")
            test.needs_x86_64 = true;
        else if (what.starts_with("/"))
            test.needs.push_back({what, true});
        else if (what.starts_with("no /"))
            test.needs.push_back({what.substr(3), false});
        else
            fail("needs /PATH, no /PATH, no kernel, or x86-64; not '" + what + "'");
    }

    void begin_step(const std::string &command) {
        if (cases_.empty())
            fail("a command belongs to a case");
        if (command.empty())
            fail("there is no command");
        cases_.back().steps.push_back({number_, command, 0, {}, {}});
    }

    Step &step() {
        if (cases_.empty() || cases_.back().steps.empty())
            fail("what is expected comes after the command that it is expected of");
        return cases_.back().steps.back();
    }

    int number(const std::string &text) {
        if (text.empty() || text.size() > 3 ||
            text.find_first_not_of("0123456789") != std::string::npos)
            fail("a status is a number from 0 to 255, not '" + text + "'");
        return std::stoi(text);
    }

    Expected expected(bool is_pattern, const std::string &text) {
        if (!is_pattern)
            return {text == "..." ? Expected::Kind::any_lines : Expected::Kind::literal, text, {}};
        try {
            return {Expected::Kind::pattern, text, std::regex(text)};
        } catch (const std::regex_error &error) {
            fail("the pattern '" + text + "' is not a regular expression: " + error.what());
        }
    }

    std::string file_;
    int number_ = 0;
    Case for_all_;
    std::vector<Case> cases_;
    std::set<std::string> names_;
};

} // namespace

std::vector<Case> parse_cases(const std::string &file, const std::string &text) {
    return Parser(file).parse(text);
}

std::vector<Case> read_cases(const std::string &path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in)
        throw std::runtime_error(path + ": cannot be read");
    return parse_cases(path.substr(path.rfind('/') + 1), text.str());
}

} // namespace cases
