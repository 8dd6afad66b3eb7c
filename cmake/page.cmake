# SPDX-License-Identifier: Apache-2.0
# `cmake --build build --target page` makes the pages of reports from web/ with Node.js, in
# build/share/pawl beside the program. Nothing else needs Node.js. Packages come with the versions of
# web/package-lock.json.
set(PAWL_PAGES ${PROJECT_BINARY_DIR}/share/pawl/report.html
               ${PROJECT_BINARY_DIR}/share/pawl/report-space.html)
find_program(PAWL_NODE node)
find_program(PAWL_NPM npm)
mark_as_advanced(PAWL_NODE PAWL_NPM)
if(PAWL_NODE AND PAWL_NPM)
  file(GLOB PAWL_PAGE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
  set(workshop ${PROJECT_BINARY_DIR}/web)
  set(locked ${PROJECT_SOURCE_DIR}/web/package.json ${PROJECT_SOURCE_DIR}/web/package-lock.json
             ${PROJECT_SOURCE_DIR}/web/.npmrc)
  add_custom_command(
    OUTPUT ${workshop}/installed
    COMMAND ${CMAKE_COMMAND} -E make_directory ${workshop}
    COMMAND ${CMAKE_COMMAND} -E copy ${locked} ${workshop}
    COMMAND ${CMAKE_COMMAND} -E chdir ${workshop} ${PAWL_NPM} ci --no-audit --no-fund --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${workshop}/installed
    DEPENDS ${locked}
    COMMENT "Fetching the packages of the page"
    VERBATIM)
  add_custom_command(
    OUTPUT ${PAWL_PAGES}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${workshop}/src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/web/src ${workshop}/src
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/build.mjs ${workshop}
    COMMAND ${PAWL_NODE} ${workshop}/build.mjs ${PROJECT_BINARY_DIR}/share/pawl
    DEPENDS ${workshop}/installed ${PAWL_PAGE_SOURCES} ${PROJECT_SOURCE_DIR}/web/build.mjs
    COMMENT "Making the pages of reports"
    VERBATIM)
  add_custom_target(page DEPENDS ${PAWL_PAGES})
else()
  message(STATUS "npm not found: the target page, for pawl run --report, cannot be made")
endif()
install(FILES ${PAWL_PAGES} DESTINATION ${CMAKE_INSTALL_DATADIR}/pawl OPTIONAL)
