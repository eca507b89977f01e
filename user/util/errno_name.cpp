// SPDX-License-Identifier: GPL-2.0-only
#include "util/errno_name.h"

#include <cstring>

namespace argtrace {

namespace {

// include/linux/errno.h: never seen by user space, so that libc does not know them.
std::string_view kernel_errno_name(std::uint32_t number) {
    switch (number) {
    case 512:
        return "ERESTARTSYS";
    case 513:
        return "ERESTARTNOINTR";
    case 514:
        return "ERESTARTNOHAND";
    case 515:
        return "ENOIOCTLCMD";
    case 516:
        return "ERESTART_RESTARTBLOCK";
    case 517:
        return "EPROBE_DEFER";
    case 518:
        return "EOPENSTALE";
    case 519:
        return "ENOPARAM";
    case 521:
        return "EBADHANDLE";
    case 522:
        return "ENOTSYNC";
    case 523:
        return "EBADCOOKIE";
    case 524:
        return "ENOTSUPP";
    case 525:
        return "ETOOSMALL";
    case 526:
        return "ESERVERFAULT";
    case 527:
        return "EBADTYPE";
    case 528:
        return "EJUKEBOX";
    case 529:
        return "EIOCBQUEUED";
    case 530:
        return "ERECALLCONFLICT";
    case 531:
        return "ENOGRACE";
    default:
        return {};
    }
}

} // namespace

std::string_view errno_name(std::uint32_t number) {
    if (number == 0)
        return {}; // libc calls it "0"
    if (number >= 512)
        return kernel_errno_name(number);
    const char *name = strerrorname_np(static_cast<int>(number));
    return name ? name : std::string_view();
}

} // namespace argtrace
