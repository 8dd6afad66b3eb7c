# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C file with the text of each file in INPUTS (separated by |) as a table
# TABLE[] of TYPE, declared in HEADER: name (the file's name without its ending), text and length.
string(REPLACE "|" ";" INPUTS "${INPUTS}")
set(arrays "")
set(table "")
foreach(input IN LISTS INPUTS)
  get_filename_component(name "${input}" NAME_WE)
  string(MAKE_C_IDENTIFIER "text_${name}" id)
  file(READ "${input}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${id}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${name}\", (const char*)${id}, sizeof ${id} - 1},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by cmake/embed.cmake.\n#include \"${HEADER}\"\n\n${arrays}
const ${TYPE} ${TABLE}[] = {\n${table}    {NULL, NULL, 0},\n};\n")
