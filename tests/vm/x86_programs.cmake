# SPDX-License-Identifier: GPL-2.0-only
# What UsdtProbes traces, and argtrace_tests reads.
add_executable(argtrace_usdt_probes guest/programs/usdt_probes.c)
target_compile_options(argtrace_usdt_probes PRIVATE -O2 -g0)
set_target_properties(argtrace_usdt_probes PROPERTIES OUTPUT_NAME usdt_probes)
if(ARGTRACE_SANITIZE)
    # argtrace_tests reads it, and the guest has the one of the other build.
    target_compile_options(argtrace_usdt_probes PRIVATE -fno-sanitize=all)
    target_link_options(argtrace_usdt_probes PRIVATE -fno-sanitize=all)
else()
    set_target_properties(argtrace_usdt_probes PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${ARGTRACE_BIN})
endif()
add_dependencies(argtrace_vm_tests argtrace_usdt_probes)

# What UserLines traces, by two compilers, with debug information: NAME COMPILER FLAGS...
find_program(ARGTRACE_CLANG clang REQUIRED)
set(lines_source ${CMAKE_CURRENT_SOURCE_DIR}/guest/programs/user_lines.c)
function(lines_program name)
    set(program ${ARGTRACE_BIN}/user_lines_${name})
    add_custom_command(OUTPUT ${program} DEPENDS ${lines_source} VERBATIM COMMAND ${ARGN} -g -o ${program} ${lines_source})
    set(lines_programs ${lines_programs} ${program} PARENT_SCOPE)
endfunction()
lines_program(gcc_o0 ${CMAKE_C_COMPILER} -O0 -gdwarf-4)
lines_program(gcc_o2 ${CMAKE_C_COMPILER} -O2)
lines_program(clang_o0 ${ARGTRACE_CLANG} -O0)
lines_program(clang_o2 ${ARGTRACE_CLANG} -O2 -fomit-frame-pointer)
add_custom_target(argtrace_user_lines DEPENDS ${lines_programs})
add_dependencies(argtrace_vm_tests argtrace_user_lines)
