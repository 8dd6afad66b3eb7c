# SPDX-License-Identifier: Apache-2.0
# The manual page and the completion of shells, printed by the program itself from the tables of its
# help, and where they are installed.
if(CMAKE_CROSSCOMPILING)
  return()
endif()
set(folder ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${folder})

function(pawl_printed file)
  list(JOIN ARGN " " what)
  add_custom_command(
    OUTPUT ${folder}/${file}
    COMMAND ${CMAKE_COMMAND} -DPAWL=$<TARGET_FILE:pawl_cli> "-DWHAT=${what}"
            -DOUTPUT=${folder}/${file} -P ${PROJECT_SOURCE_DIR}/cmake/help.cmake
    DEPENDS pawl_cli ${PROJECT_SOURCE_DIR}/cmake/help.cmake
    VERBATIM)
endfunction()
pawl_printed(pawl.1 --man)
pawl_printed(pawl.bash --completion bash)
pawl_printed(_pawl --completion zsh)
pawl_printed(pawl.fish --completion fish)
set(made ${folder}/pawl.1 ${folder}/pawl.bash ${folder}/_pawl ${folder}/pawl.fish)

# Packages have manual pages compressed, without the time at which that was done.
find_program(PAWL_GZIP gzip)
set(page ${folder}/pawl.1)
if(PAWL_GZIP)
  add_custom_command(OUTPUT ${folder}/pawl.1.gz
                     COMMAND ${PAWL_GZIP} -9 -n -k -f pawl.1
                     WORKING_DIRECTORY ${folder} DEPENDS ${folder}/pawl.1 VERBATIM)
  set(page ${folder}/pawl.1.gz)
  list(APPEND made ${page})
endif()
add_custom_target(manual ALL DEPENDS ${made})

install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${folder}/pawl.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME pawl)
install(FILES ${folder}/pawl.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# zsh of Debian looks into the second one for packages, and into the first one below /usr/local.
foreach(place site-functions vendor-completions)
  install(FILES ${folder}/_pawl DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${place})
endforeach()
