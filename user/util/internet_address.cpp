// SPDX-License-Identifier: GPL-2.0-only
#include "util/internet_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

namespace argtrace {

std::string address_text(int family, const void *address) {
    char text[INET6_ADDRSTRLEN];
    return inet_ntop(family, address, text, sizeof(text));
}

std::string endpoint_text(int family, const void *address, unsigned port) {
    const std::string text = address_text(family, address);
    return family == AF_INET ? fmt::format("{}:{}", text, port) : fmt::format("[{}]:{}", text, port);
}

} // namespace argtrace
