# SPDX-License-Identifier: GPL-2.0-only
# What RustFunctions traces. Debian's compiler makes programs for x86-64 alone; another one that people have may be found before it.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND NOT ARGTRACE_SANITIZE)
    find_program(ARGTRACE_RUST rustc PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
    set(rust_source ${CMAKE_CURRENT_SOURCE_DIR}/guest/programs/user_rust.rs)
    set(rust_programs)
    foreach(level 0 2)
        set(program ${ARGTRACE_BIN}/user_rust_o${level})
        add_custom_command(OUTPUT ${program} DEPENDS ${rust_source} VERBATIM
            COMMAND ${ARGTRACE_RUST} -g -C opt-level=${level} -o ${program} ${rust_source})
        list(APPEND rust_programs ${program})
    endforeach()
    add_custom_target(argtrace_user_rust DEPENDS ${rust_programs})
    add_dependencies(argtrace_vm_tests argtrace_user_rust)
endif()
