# cmake --install: library, headers, command, man page, and what find_package() and pkg-config need.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kedge)

install(TARGETS kedge EXPORT kedgeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kedge_hdf5 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/kedge DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(EXPORT kedgeTargets NAMESPACE kedge:: DESTINATION ${package_dir})

configure_package_config_file(cmake/kedgeConfig.cmake.in kedgeConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(kedgeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kedgeConfig.cmake ${PROJECT_BINARY_DIR}/kedgeConfigVersion.cmake
  DESTINATION ${package_dir})

# kedge.pc speaks of its own place, so that an installed tree can be moved.
file(RELATIVE_PATH KEDGE_PREFIX_FROM_PC
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/kedge.pc.in kedge.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kedge.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The executable finds the command, and that the library beside it, wherever the prefix is.
if(TARGET kedge_cli)
  file(RELATIVE_PATH lib_from_bin
    ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(kedge_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
  set_target_properties(kedge_command PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS kedge_cli kedge_command
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

find_program(KEDGE_SCDOC scdoc)
mark_as_advanced(KEDGE_SCDOC)
set(man_source ${PROJECT_SOURCE_DIR}/docs/man/kedge.1.scd)
if(KEDGE_SCDOC AND EXISTS ${man_source})
  add_custom_command(OUTPUT kedge.1
    COMMAND sh -c "'${KEDGE_SCDOC}' < '${man_source}' > kedge.1"
    DEPENDS ${man_source} VERBATIM)
  add_custom_target(kedge_man ALL DEPENDS kedge.1)
  install(FILES ${PROJECT_BINARY_DIR}/kedge.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
