// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <string>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/local_objects.h"
#include "report/stack_store.h"
#include "symbols/symbols.h"
#include "util/interned_texts.h"

namespace argtrace {

/// The symbols that a trace file has told so far. More may be added while others look.
class SymbolTable : public Symbols {
public:
    /// Lines as `nm -S` prints them, and of a module's symbol "[module]" behind it. False when one
    /// is malformed; the others are added.
    bool add(std::string_view lines, CodeSpace space = CodeSpace::kernel);

    std::optional<Symbol> find(CodePlace place) const override;

    /// Stacks as a chunk of the file has them. False when that is malformed; those before are added.
    bool add_stacks(std::span<const std::byte> bytes);

    std::optional<Stack> stack(std::uint64_t id, StackRoom &room) const override;
    bool has_stacks_alike() const override;

    /// Objects, and names of user code, as chunks of the file have them. False when a line is malformed; the others are added.
    bool add_objects(std::string_view lines);
    bool add_places(std::string_view lines);

    std::optional<CodeObject> object(std::uint32_t number) const override;

    /// How places that the file has no names of are named, and whether source() tells lines. Before others look.
    void set_naming(const CodeNaming &naming);
    std::vector<SourceFrame> source(CodePlace place) const override;

private:
    std::optional<Symbol> find_user(std::uint64_t word) const;

    struct Known {
        std::string name;
        std::string module;
        std::uint64_t size;
    };

    /// A SourceFrame, with numbers in place of texts: there are many places, and few functions.
    struct KnownSource {
        std::uint32_t function, file;
        int line;
    };

    struct KnownPlace {
        std::uint64_t offset;
        std::uint32_t name;
        std::uint32_t first_source, sources; ///< in `sources_`
    };

    struct KnownObject {
        CodeObject object;
        std::string build_id_text; ///< to find the file by; empty: it has none
    };

    bool lines_ = false;
    mutable LocalObjects local_; // what the file does not say
    mutable std::shared_mutex mutex_;
    InternedTexts texts_;                                  // of places
    std::unordered_map<std::uint64_t, KnownPlace> places_; // by the words of frames
    std::vector<KnownSource> sources_;
    std::map<std::uint32_t, KnownObject> objects_;         // they stay where they are
    StackStore stacks_;
    std::map<CodePlace, Known> symbols_;     // they stay where they are
};

} // namespace argtrace
