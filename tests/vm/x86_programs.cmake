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
