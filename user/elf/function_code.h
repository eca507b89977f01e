// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>

#include "elf/function_returns.h"

namespace argtrace::elf {

/// A function whose code is decoded, of whatever architecture, and what is found of its returns.
class FunctionCode {
public:
    /// Both stay as long as this.
    FunctionCode(const Object &object, std::span<const CodePiece> pieces, std::uint32_t entry);

    /// decode(PIECE, ITS BYTES) for each piece. False: one of them cannot be read, is too large, or is not understood, or there are none.
    template<typename Decode> bool decode_pieces(Decode decode) {
        for (const CodePiece &piece : pieces_) {
            const Text bytes = read(piece);
            if (bytes.size() == 0 || !decode(piece, bytes))
                return false;
        }
        return !pieces_.empty();
    }

    bool is_first(const CodePiece &piece) const { return &piece == pieces_.data(); }
    bool has(std::uint64_t address) const;

    /// An instruction that returns. False: it is too far from the entry.
    bool add_return(std::uint64_t address);

    /// A jump. False: it leads out of the function.
    bool add_jump(std::uint64_t target);

    /// The last instruction of a piece goes on to what comes behind it, which may belong to another function.
    void add_open_end() { has_open_end_ = true; }

    /// `known`: all of it was understood.
    FunctionReturns take_returns(bool known);

private:
    /// All of a piece, or nothing.
    Text read(const CodePiece &piece) const;

    const Object &object_;
    std::span<const CodePiece> pieces_;
    std::uint64_t entry_; ///< where its calls begin
    FunctionReturns returns_;
    bool has_open_end_ = false;
};

} // namespace argtrace::elf
