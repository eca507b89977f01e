# SPDX-License-Identifier: GPL-2.0-only
# What GoGenerated traces: Go takes the sources of a program from one folder.
if(NOT ARGTRACE_SANITIZE)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/go_generated)
    set(program ${ARGTRACE_BIN}/go_functions_generated)
    set(go_source ${CMAKE_CURRENT_SOURCE_DIR}/guest/programs/go_generated.go)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${program} DEPENDS ${go_source} argtrace_generate VERBATIM
        COMMAND argtrace_generate go 1 2000 > ${folder}/functions.go
        COMMAND ${CMAKE_COMMAND} -E copy ${go_source} ${folder}/main.go
        COMMAND ${CMAKE_COMMAND} -E env GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/go GO111MODULE=off CGO_ENABLED=0
            ${ARGTRACE_GO} build -o ${program} ${folder}/main.go ${folder}/functions.go)
    # What GoFunctionsWithC traces, and UserStacksOfGoWithC: NAME SOURCE FLAGS...
    set(programs_with_c)
    function(go_with_c name source)
        set(go_source ${CMAKE_CURRENT_SOURCE_DIR}/guest/programs/${source})
        add_custom_command(OUTPUT ${ARGTRACE_BIN}/${name} DEPENDS ${go_source} VERBATIM
            COMMAND ${CMAKE_COMMAND} -E env GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/go GO111MODULE=off CGO_ENABLED=1 "CGO_CFLAGS=-g -O1"
                ${ARGTRACE_GO} build ${ARGN} -o ${ARGTRACE_BIN}/${name} ${go_source})
        set(programs_with_c ${programs_with_c} ${ARGTRACE_BIN}/${name} PARENT_SCOPE)
    endfunction()
    go_with_c(go_functions_cgo go_cgo.go)
    go_with_c(user_stacks_cgo user_stacks_cgo.go)
    go_with_c(user_stacks_cgo_pie user_stacks_cgo.go -buildmode=pie)
    add_custom_target(argtrace_go_generated DEPENDS ${program} ${programs_with_c})
    add_dependencies(argtrace_vm_tests argtrace_go_generated)
endif()
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
