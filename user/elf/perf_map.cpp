// SPDX-License-Identifier: GPL-2.0-only
#include "elf/perf_map.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fd.h"
#include "util/hex.h"

namespace argtrace::elf {

namespace {

/// The process writes the file, and as much as it likes.
constexpr std::size_t map_size_max = 64u << 20;
constexpr std::size_t functions_max = 1u << 21;

/// Takes the next word off a line.
std::string_view next_word(std::string_view &line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

std::optional<std::uint64_t> next_number(std::string_view &line) {
    std::string_view word = next_word(line);
    if (word.starts_with("0x"))
        word.remove_prefix(2);
    return parse_hex(word);
}

/// Ranges, of which later ones replace what was there.
template<typename Piece>
class Ranges {
public:
    void put(Piece piece) {
        // What was there before this is cut; what lies behind is kept.
        auto next = pieces_.lower_bound(piece.start);
        if (next != pieces_.begin()) {
            Piece &before = std::prev(next)->second;
            if (before.end > piece.end) {
                Piece behind = before;
                behind.start = piece.end;
                pieces_.emplace(piece.end, behind);
            }
            before.end = std::min(before.end, piece.start);
        }
        next = pieces_.lower_bound(piece.start);
        while (next != pieces_.end() && next->second.end <= piece.end)
            next = pieces_.erase(next);
        if (next != pieces_.end() && next->first < piece.end) {
            Piece behind = next->second;
            behind.start = piece.end;
            pieces_.erase(next);
            pieces_.emplace(piece.end, behind);
        }
        pieces_.insert_or_assign(piece.start, piece);
    }

    std::size_t size() const { return pieces_.size(); }

    std::vector<Piece> take() const {
        std::vector<Piece> sorted;
        sorted.reserve(pieces_.size());
        for (const auto &[start, piece] : pieces_)
            sorted.push_back(piece);
        return sorted;
    }

private:
    std::map<std::uint64_t, Piece> pieces_; ///< by beginning
};

} // namespace

PerfMap::PerfMap(std::string_view text) {
    Ranges<Piece> ranges;
    while (!text.empty()) {
        if (ranges.size() >= functions_max)
            break;
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto start = next_number(line), size = next_number(line);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        if (!start || !size || *size == 0 || *start + *size < *start || line.empty() || names_.size() + line.size() > map_size_max)
            continue;
        ranges.put({*start, *start + *size, *start, static_cast<std::uint32_t>(names_.size()), static_cast<std::uint32_t>(line.size())});
        names_ += line;
    }
    pieces_ = ranges.take();
}

PerfMap PerfMap::read(const std::string &path) {
    // Not what a process may have put there in its place: a link, or a FIFO.
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    struct stat status = {};
    std::string text;
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return PerfMap(text);
    constexpr std::size_t step = 1 << 20;
    for (std::size_t have = 0; have < map_size_max;) {
        text.resize(have + step);
        const ssize_t n = ::read(file.get(), text.data() + have, step);
        have += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
        text.resize(have);
        if (n <= 0)
            break;
    }
    return PerfMap(text);
}

std::optional<PerfMap::Name> PerfMap::at(std::uint64_t address) const {
    const auto behind =
        std::upper_bound(pieces_.begin(), pieces_.end(), address, [](std::uint64_t at, const Piece &piece) { return at < piece.start; });
    if (behind == pieces_.begin() || address >= std::prev(behind)->end)
        return std::nullopt;
    const Piece &piece = *std::prev(behind);
    return Name{std::string_view(names_).substr(piece.name, piece.length), address - piece.function};
}

} // namespace argtrace::elf
