# SPDX-License-Identifier: GPL-2.0-only
#
# A file takes seconds to compile, nearly all of them for headers: CLI11, JSON, GoogleTest. So several files of a folder are
# compiled as one, in two fifths of the time. (CMake's own UNITY_BUILD puts the path of the tree into these, so that ccache
# would have no hits from other clones.)
set(ARGTRACE_TOGETHER 16 CACHE STRING "How many files of a folder are compiled as one; 1 is better while you change one")

# together(RESULT FILE... [ALONE NAME...]): what to compile for these files, which lie below the current folder; this must
# be among their include directories. Those with such a name, which would not get on with others, are not put together.
function(together result)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" ALONE)
    foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
        cmake_path(ABSOLUTE_PATH file)
        cmake_path(GET file FILENAME name)
        if(ARGTRACE_TOGETHER EQUAL 1 OR name IN_LIST arg_ALONE)
            list(APPEND files ${file})
            continue()
        endif()
        cmake_path(GET file PARENT_PATH folder)
        cmake_path(GET folder FILENAME folder)
        list(LENGTH in_${folder} number)
        list(APPEND in_${folder} ${file})
        math(EXPR number "${number} / ${ARGTRACE_TOGETHER}")
        cmake_path(RELATIVE_PATH file OUTPUT_VARIABLE name)
        string(APPEND ${folder}_${number} "#include \"${name}\"\n")
        list(APPEND units ${folder}_${number})
    endforeach()
    list(REMOVE_DUPLICATES units)
    foreach(unit IN LISTS units)
        set(file ${CMAKE_CURRENT_BINARY_DIR}/together/${unit}.cpp)
        file(CONFIGURE OUTPUT ${file} CONTENT "${${unit}}" @ONLY)
        list(APPEND files ${file})
    endforeach()
    set(${result} ${files} PARENT_SCOPE)
endfunction()
