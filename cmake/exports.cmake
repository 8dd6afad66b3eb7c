# SPDX-License-Identifier: Apache-2.0
# Exports from libpawl.so what the public headers declare with PAWL_API, and nothing else. Hidden
# visibility alone is not enough: compilers export the functions that they make themselves to choose
# between variants of a function for different processors.
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/pawl/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
set(names "")
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(REGEX MATCHALL "PAWL_API[^;()]*[ *]pawl_[A-Za-z0-9_]+\\(" declarations "${text}")
  foreach(declaration IN LISTS declarations)
    string(REGEX REPLACE ".*[ *](pawl_[A-Za-z0-9_]+)\\($" "\\1" name "${declaration}")
    string(APPEND names "    ${name};\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT exports.map CONTENT "{\n  global:\n${names}  local:\n    *;\n};\n")
target_link_options(pawl PRIVATE LINKER:--version-script=${PROJECT_BINARY_DIR}/exports.map)
set_property(TARGET pawl APPEND PROPERTY LINK_DEPENDS ${PROJECT_BINARY_DIR}/exports.map)
