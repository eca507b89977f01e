// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "lang/node.h"

namespace argtrace::lang {

/// Eight bytes of a text that has a length and no NUL at its end, as a part of a key has them: with zeros behind the end. Nothing beyond the end is
/// read. `text` is a node of kind `buffer`; `word` is which eight bytes they are.
NodePtr key_word(const Node &text, unsigned word);

} // namespace argtrace::lang
