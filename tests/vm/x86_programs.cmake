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

# Stacks that UserStacks compares, as different compilations make them: NAME FLAGS...
function(stack_program name)
    add_executable(argtrace_user_stacks_${name} guest/programs/user_stacks.c)
    target_compile_options(argtrace_user_stacks_${name} PRIVATE -g0 -fexceptions ${ARGN})
    target_link_options(argtrace_user_stacks_${name} PRIVATE ${ARGN})
    target_link_libraries(argtrace_user_stacks_${name} PRIVATE Threads::Threads)
    set_target_properties(argtrace_user_stacks_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${ARGTRACE_BIN} OUTPUT_NAME user_stacks_${name})
    add_dependencies(argtrace_vm_tests argtrace_user_stacks_${name})
endfunction()
stack_program(o0 -O0)
stack_program(o2 -O2 -fomit-frame-pointer -fcf-protection=full)
stack_program(o3 -O3 -flto -fno-plt)
stack_program(os -Os)
stack_program(framed -O1 -fno-omit-frame-pointer -no-pie)
stack_program(static -O2 -static)

add_executable(argtrace_user_stacks_thrown guest/programs/user_stacks_thrown.cpp)
target_compile_options(argtrace_user_stacks_thrown PRIVATE -O2 -g0)
set_target_properties(argtrace_user_stacks_thrown PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${ARGTRACE_BIN} OUTPUT_NAME user_stacks_thrown)
add_dependencies(argtrace_vm_tests argtrace_user_stacks_thrown)

# What UserMappings traces: programs with functions of names of their own, and what executes them. A name of the user_stacks_* that
# tests/vm/run takes into the guest: NAME SOURCE
function(mapped_program name source)
    add_executable(argtrace_user_stacks_${name} guest/programs/${source})
    target_compile_options(argtrace_user_stacks_${name} PRIVATE -g0 -O1)
    set_target_properties(argtrace_user_stacks_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${ARGTRACE_BIN} OUTPUT_NAME user_stacks_${name})
    add_dependencies(argtrace_vm_tests argtrace_user_stacks_${name})
endfunction()
mapped_program(storm user_stacks_storm.c)
mapped_program(absent user_stacks_absent.c)
target_link_libraries(argtrace_user_stacks_absent PRIVATE Threads::Threads)
mapped_program(loader user_stacks_loader.c)
target_link_libraries(argtrace_user_stacks_loader PRIVATE ${CMAKE_DL_LIBS})
set(number 0)
foreach(name alpha beta gamma delta)
    math(EXPR number "${number} + 1")
    math(EXPR padding "${number} * 300")
    mapped_program(${name} user_stacks_mark.c)
    target_compile_definitions(argtrace_user_stacks_${name} PRIVATE NAME=${name} NUMBER=${number} PADDING="${padding}")
endforeach()
target_compile_options(argtrace_user_stacks_beta PRIVATE -fno-omit-frame-pointer -no-pie)
target_link_options(argtrace_user_stacks_beta PRIVATE -no-pie)
target_link_options(argtrace_user_stacks_delta PRIVATE -static)

# Libraries of one size: NAME and the lengths of what lies between its functions
function(mapped_library name before between behind)
    add_library(argtrace_user_stacks_${name} MODULE guest/programs/user_stacks_library.c)
    target_compile_options(argtrace_user_stacks_${name} PRIVATE -g0 -O1)
    target_compile_definitions(argtrace_user_stacks_${name} PRIVATE NAME=${name} BEFORE="${before}" BETWEEN="${between}" BEHIND="${behind}")
    set_target_properties(argtrace_user_stacks_${name} PROPERTIES PREFIX ""
        LIBRARY_OUTPUT_DIRECTORY ${ARGTRACE_BIN} OUTPUT_NAME user_stacks_${name})
    add_dependencies(argtrace_vm_tests argtrace_user_stacks_${name})
endfunction()
mapped_library(port 16 100 200)
mapped_library(star 200 16 100)
