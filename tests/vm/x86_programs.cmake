# SPDX-License-Identifier: GPL-2.0-only
# What UserStacksOf traces with musl, by frame pointers. Its loader is its library, which tests/vm/run puts into the guest.
find_program(ARGTRACE_MUSL_GCC musl-gcc REQUIRED)
set(musl_source ${CMAKE_CURRENT_SOURCE_DIR}/guest/programs/user_stacks.c)
function(musl_program name)
    set(program ${ARGTRACE_BIN}/user_stacks_${name})
    add_custom_command(OUTPUT ${program} DEPENDS ${musl_source} ${CMAKE_CURRENT_SOURCE_DIR}/guest/programs/raw_call.h VERBATIM
        COMMAND ${ARGTRACE_MUSL_GCC} -O2 -g0 -fno-omit-frame-pointer ${ARGN} -o ${program} ${musl_source})
    set(musl_programs ${musl_programs} ${program} PARENT_SCOPE)
endfunction()
musl_program(musl -Wl,--dynamic-linker=/root/libc.so)
musl_program(musl_static -static)
add_custom_target(argtrace_user_stacks_musl DEPENDS ${musl_programs})
add_dependencies(argtrace_vm_tests argtrace_user_stacks_musl)
