# SPDX-License-Identifier: GPL-2.0-only
#
# A unity build: a file takes seconds to compile, nearly all of them for headers (CLI11, JSON, GoogleTest), so up to 16 files
# of a folder are compiled as one, in two fifths of the time. (CMake's own UNITY_BUILD puts the path of the tree into these,
# so that ccache would have no hits from other clones.)
option(ARGTRACE_UNITY "Compile several files of a folder as one; OFF is better while you change one" ON)
set(unity_batch_size 16)

# unity_sources(RESULT FILE... [ALONE NAME...]): what to compile for these files, which lie below the current folder; this must
# be among their include directories. Those with such a name, which would not get on with others, are compiled alone.
function(unity_sources result)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" ALONE)
    foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
        cmake_path(ABSOLUTE_PATH file)
        cmake_path(GET file FILENAME name)
        if(NOT ARGTRACE_UNITY OR name IN_LIST arg_ALONE)
            list(APPEND files ${file})
            continue()
        endif()
        cmake_path(GET file PARENT_PATH folder)
        cmake_path(GET folder FILENAME folder)
        list(LENGTH in_${folder} number)
        list(APPEND in_${folder} ${file})
        math(EXPR number "${number} / ${unity_batch_size}")
        cmake_path(RELATIVE_PATH file OUTPUT_VARIABLE name)
        string(APPEND ${folder}_${number} "#include \"${name}\"\n")
        list(APPEND units ${folder}_${number})
    endforeach()
    list(REMOVE_DUPLICATES units)
    foreach(unit IN LISTS units)
        set(file ${CMAKE_CURRENT_BINARY_DIR}/unity/${unit}.cpp)
        file(CONFIGURE OUTPUT ${file} CONTENT "${${unit}}" @ONLY)
        list(APPEND files ${file})
    endforeach()
    set(${result} ${files} PARENT_SCOPE)
endfunction()
