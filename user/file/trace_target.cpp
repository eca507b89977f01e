// SPDX-License-Identifier: GPL-2.0-only
#include "file/trace_target.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "file/writer.h"
#include "util/error.h"

namespace argtrace {

namespace {

Error cannot_write(const std::string &name, int error) {
    return Error(fmt::format("{}: cannot be written: {}", name, std::strerror(error)));
}

/// The file that `path` leads to through symbolic links; "" where it leads nowhere.
std::string follow_links(const std::string &path) {
    char *const real = ::realpath(path.c_str(), nullptr);
    std::string followed = real ? real : "";
    std::free(real);
    return followed;
}

/// Whether a file can take the place of that one. One that is mounted, as into a container, cannot
/// be replaced, and in a sticky folder no other user's can.
bool is_replaceable(const std::string &path) {
    struct statx status {};
    if (::statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE | STATX_MODE | STATX_UID, &status) != 0)
        return false;
    return S_ISREG(status.stx_mode) && !(status.stx_attributes & STATX_ATTR_MOUNT_ROOT) &&
           (::geteuid() == 0 || ::geteuid() == status.stx_uid);
}

/// As `path` is, as far as we may.
void copy_owner_and_mode(const std::string &path, int file) {
    struct stat old {};
    if (::stat(path.c_str(), &old) != 0)
        return;
    [[maybe_unused]] const int owner = ::fchown(file, old.st_uid, old.st_gid);
    ::fchmod(file, old.st_mode & 0777);
}

} // namespace

TraceTarget::TraceTarget(const std::string &path) : name_(trace_name(path, false)) {
    if (path == "-") {
        if (::isatty(STDOUT_FILENO))
            throw Error("a trace is not text: let standard output go to a file or a pipe, or name "
                        "a file with -o");
        file_ = Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
        return;
    }
    struct stat link {};
    const bool exists = ::lstat(path.c_str(), &link) == 0;
    const std::string real = exists ? follow_links(path) : path;
    // /dev/stdout and the like may lead to a file that someone has open.
    const bool special = path.starts_with("/dev/") || path.starts_with("/proc/");
    if (special || real.empty() || (exists && !is_replaceable(real)) || !open_beside(real))
        open_directly(path);
    else
        replaces_ = exists;
}

void TraceTarget::open_directly(const std::string &path) {
    file_ = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file_)
        throw cannot_write(name_, errno);
}

/// False where there can be no such file, as in a folder that is read-only.
bool TraceTarget::open_beside(const std::string &path) {
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0 && errno != ENOENT)
        throw cannot_write(name_, errno);
    const std::size_t folder = path.rfind('/') + 1; // 0 where there is no slash
    std::string temporary = path.substr(0, folder) + "." + path.substr(folder) + ".XXXXXX";
    file_ = Fd(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file_)
        return false;
    path_ = path;
    temporary_ = std::move(temporary);
    copy_owner_and_mode(path_, file_.get());
    return true;
}

TraceTarget::TraceTarget(TraceTarget &&other) noexcept
    : file_(std::move(other.file_)), name_(std::move(other.name_)), path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})), replaces_(other.replaces_) {}

TraceTarget::~TraceTarget() {
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
}

void TraceTarget::keep() {
    if (temporary_.empty())
        return;
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
        throw cannot_write(name_, errno);
    temporary_.clear();
    replaces_ = false;
}

} // namespace argtrace
