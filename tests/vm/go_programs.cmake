# SPDX-License-Identifier: GPL-2.0-only
# Programs of Go, some of which argtrace_tests reads as well.
find_program(ARGTRACE_GO go REQUIRED)
set(go_architecture_x86_64 amd64)
set(go_architecture_aarch64 arm64)
set(go_native ${go_architecture_${CMAKE_SYSTEM_PROCESSOR}})
# Our programs call functions of the runtime that newer linkers know to be none of theirs.
execute_process(COMMAND ${CMAKE_COMMAND} -E env GO111MODULE=off ${ARGTRACE_GO} env GOVERSION OUTPUT_VARIABLE go_version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "[0-9.]+" go_version "${go_version}")
set(go_any_function)
if(go_version VERSION_GREATER_EQUAL 1.23)
    set(go_any_function " -checklinkname=0")
endif()
# What builds a program for an architecture, with and without C.
set(go_command ${CMAKE_COMMAND} -E env GOCACHE=${CMAKE_CURRENT_BINARY_DIR}/go GO111MODULE=off)
set(go_with_c CGO_ENABLED=1 "CGO_CFLAGS=-g -O1")
if(CMAKE_CROSSCOMPILING)
    list(APPEND go_with_c "CC=${CMAKE_C_COMPILER} --sysroot=${CMAKE_SYSROOT}" "CGO_LDFLAGS=${CMAKE_EXE_LINKER_FLAGS_INIT}")
endif()

# ARCHITECTURE NAME SOURCE FLAGS...
function(go_program architecture name source)
    set(go_source ${CMAKE_CURRENT_SOURCE_DIR}/guest/programs/${source})
    set(program ${ARGTRACE_BIN}/${name})
    add_custom_command(OUTPUT ${program} DEPENDS ${go_source} VERBATIM
        COMMAND ${go_command} GOARCH=${architecture} CGO_ENABLED=0 ${ARGTRACE_GO} build ${ARGN} -o ${program} ${go_source})
    set(go_programs ${go_programs} ${program} PARENT_SCOPE)
endfunction()
go_program(${go_native} user_stacks_go user_stacks.go "-ldflags=${go_any_function}")
go_program(${go_native} user_stacks_go_plain user_stacks.go "-gcflags=all=-N -l" "-ldflags=${go_any_function}")
go_program(${go_native} user_stacks_go_stripped user_stacks.go "-ldflags=-s -w${go_any_function}")
go_program(${go_native} user_stacks_go_pie user_stacks.go -buildmode=pie "-ldflags=-s -w${go_any_function}")
# What GoFunctions traces.
go_program(${go_native} go_functions go_functions.go)
go_program(${go_native} go_functions_plain go_functions.go "-gcflags=all=-N -l")
go_program(${go_native} go_functions_pie go_functions.go -buildmode=pie)
# What argtrace_tests reads alone.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    go_program(arm64 go_stacks_arm64 user_stacks.go "-ldflags=${go_any_function}")
    go_program(arm64 go_stacks_arm64_plain user_stacks.go "-gcflags=all=-N -l" "-ldflags=${go_any_function}")
endif()
add_custom_target(argtrace_user_stacks_go DEPENDS ${go_programs})
add_dependencies(argtrace_vm_tests argtrace_user_stacks_go)

if(NOT ARGTRACE_SANITIZE)
    # What GoGenerated traces: Go takes the sources of a program from one folder. The generator runs here.
    if(CMAKE_CROSSCOMPILING)
        set_target_properties(argtrace_generate PROPERTIES CROSSCOMPILING_EMULATOR "qemu-${CMAKE_SYSTEM_PROCESSOR};-L;${CMAKE_SYSROOT}")
    endif()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/go_generated)
    set(go_generated ${ARGTRACE_BIN}/go_functions_generated)
    set(go_source ${CMAKE_CURRENT_SOURCE_DIR}/guest/programs/go_generated.go)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${go_generated} DEPENDS ${go_source} argtrace_generate VERBATIM
        COMMAND argtrace_generate go 1 2000 > ${folder}/functions.go
        COMMAND ${CMAKE_COMMAND} -E copy ${go_source} ${folder}/main.go
        COMMAND ${go_command} GOARCH=${go_native} CGO_ENABLED=0 ${ARGTRACE_GO} build -o ${go_generated} ${folder}/main.go ${folder}/functions.go)

    # What GoFunctionsWithC traces, and UserStacksOfGoWithC: NAME SOURCE FLAGS...
    set(programs_with_c)
    function(program_with_c name source)
        set(go_source ${CMAKE_CURRENT_SOURCE_DIR}/guest/programs/${source})
        add_custom_command(OUTPUT ${ARGTRACE_BIN}/${name} DEPENDS ${go_source} VERBATIM
            COMMAND ${go_command} GOARCH=${go_native} ${go_with_c} ${ARGTRACE_GO} build ${ARGN} -o ${ARGTRACE_BIN}/${name} ${go_source})
        set(programs_with_c ${programs_with_c} ${ARGTRACE_BIN}/${name} PARENT_SCOPE)
    endfunction()
    program_with_c(go_functions_cgo go_cgo.go)
    program_with_c(user_stacks_cgo user_stacks_cgo.go)
    program_with_c(user_stacks_cgo_pie user_stacks_cgo.go -buildmode=pie)
    add_custom_target(argtrace_go_generated DEPENDS ${go_generated} ${programs_with_c})
    add_dependencies(argtrace_vm_tests argtrace_go_generated)
endif()
