# What an installed Motet offers to other builds: a pkg-config file and a CMake package.
include(CMakePackageConfigHelpers)
file(RELATIVE_PATH motet_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/motet.pc.in motet.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/motet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS motet EXPORT motet LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/motet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT motet NAMESPACE motet:: FILE motetConfig.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/motet)
write_basic_package_version_file(motetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/motetConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/motet)
