# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where. The folder may be moved afterwards: no file names its prefix.
include(CMakePackageConfigHelpers)

install(TARGETS pawl EXPORT pawl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/pawl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/pawl
        FILES_MATCHING PATTERN "*.yaml" PATTERN "*.urdf")
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)  # as Debian calls it
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")

# find_package(pawl) gives the target pawl::pawl. Before 1.0 a minor version may change the API.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/pawl)
install(EXPORT pawl FILE pawl-config.cmake NAMESPACE pawl:: DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pawl-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pawl-config-version.cmake DESTINATION ${package})

# The prefix as seen from the folder of pawl.pc.
file(RELATIVE_PATH PAWL_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/pawl.pc.in pawl.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pawl.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
