// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>

/// What libFuzzer calls with each input. A fault is a sanitizer's complaint, an abort, an
/// exception that gets out, or a hang.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);
