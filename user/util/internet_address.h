// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>

namespace argtrace {

/// "10.0.0.1" or "::1". `family` is AF_INET or AF_INET6, and `address` that many bytes in network order.
std::string address_text(int family, const void *address);

/// The same with a port, in host order: "10.0.0.1:22" or "[::1]:22".
std::string endpoint_text(int family, const void *address, unsigned port);

} // namespace argtrace
