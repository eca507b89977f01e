// SPDX-License-Identifier: GPL-2.0-only
#include "elf/debuginfod.h"

#include <cstdlib>
#include <memory>
#include <mutex>

#include <dlfcn.h>

#include "util/error.h"

namespace argtrace::elf {

namespace {

// As elfutils/debuginfod.h declares them. The library is loaded when it is wanted: it brings curl, and what that needs.
struct debuginfod_client;
using Begin = debuginfod_client *();
using Find = int(debuginfod_client *, const unsigned char *build_id, int build_id_length, char **path);
using End = void(debuginfod_client *);

struct Library {
    Begin *begin = nullptr;
    Find *find_debug_file = nullptr, *find_executable = nullptr;
    End *end = nullptr;

    bool complete() const { return begin && find_debug_file && find_executable && end; }

    static const Library &get() {
        static const Library library = load();
        return library;
    }

private:
    static Library load() {
        Library library;
        void *handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            return library;
        library.begin = reinterpret_cast<Begin *>(::dlsym(handle, "debuginfod_begin"));
        library.find_debug_file = reinterpret_cast<Find *>(::dlsym(handle, "debuginfod_find_debuginfo"));
        library.find_executable = reinterpret_cast<Find *>(::dlsym(handle, "debuginfod_find_executable"));
        library.end = reinterpret_cast<End *>(::dlsym(handle, "debuginfod_end"));
        return library;
    }
};

} // namespace

Fd fetch_by_build_id(const std::string &build_id, Fetched what, std::string &path) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const Library &library = Library::get();
    if (!library.complete())
        return Fd();
    const std::unique_ptr<debuginfod_client, End *> client(library.begin(), library.end);
    if (!client)
        return Fd();
    Find *find = what == Fetched::debug_file ? library.find_debug_file : library.find_executable;
    char *name = nullptr;
    constexpr int in_hexadecimal = 0;
    Fd file(find(client.get(), reinterpret_cast<const unsigned char *>(build_id.c_str()), in_hexadecimal, &name));
    const std::unique_ptr<char, void (*)(void *)> owner(name, std::free);
    path = name ? name : "";
    return file;
}

void check_debuginfod() {
    if (!Library::get().complete())
        throw Error("--debuginfod: there is no libdebuginfod.so.1: install it (libdebuginfod1 of Debian, elfutils-debuginfod-client of Fedora)");
    const char *servers = std::getenv("DEBUGINFOD_URLS");
    if (!servers || !*servers)
        throw Error("--debuginfod asks the servers that DEBUGINFOD_URLS names, and it is not set; sudo passes it on with "
                    "--preserve-env=DEBUGINFOD_URLS");
}

} // namespace argtrace::elf
