# SPDX-License-Identifier: Apache-2.0
# Writes what a command prints to a file: cmake -DPAWL=... -DWHAT=--man -DOUTPUT=... -P help.cmake
separate_arguments(WHAT)
execute_process(COMMAND ${PAWL} help ${WHAT} OUTPUT_FILE ${OUTPUT}.new RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PAWL} help ${WHAT}: ${code}")
endif()
file(RENAME ${OUTPUT}.new ${OUTPUT})
