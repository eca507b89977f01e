# SPDX-License-Identifier: GPL-2.0-only
#
# CMake's toolchain file for arm64: Debian's cross compiler, and the packages of ARGTRACE_SYSROOT (scripts/root --arm64).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARGTRACE_SYSROOT)
set(CMAKE_SYSROOT ${ARGTRACE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ARGTRACE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${ARGTRACE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ARGTRACE_SYSROOT}/usr/share/pkgconfig)
# Libraries that those we link need.
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${ARGTRACE_SYSROOT}/usr/lib/aarch64-linux-gnu)
