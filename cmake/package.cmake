# What is installed, and the Debian package: cmake --install BUILD, and cpack -G DEB in the build folder.
#
#   bin/dpc   lib/dpc/libdpruntime.a   include/dpc/*.h   what dpc needs to build programs; it finds them beside itself
#   share/man/man1, share/doc/dpc                        the manual page; the documentation, and the examples in examples/
set(DPC_DOC_DIR share/doc/dpc)

install(TARGETS dpc RUNTIME DESTINATION bin)
install(TARGETS dpruntime ARCHIVE DESTINATION lib/dpc)
install(DIRECTORY runtime/include/ DESTINATION include/dpc FILES_MATCHING PATTERN "*.h")
install(FILES README.md SECURITY.md DESTINATION ${DPC_DOC_DIR})
install(FILES packaging/copyright DESTINATION ${DPC_DOC_DIR})
install(DIRECTORY docs/ DESTINATION ${DPC_DOC_DIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples/ DESTINATION ${DPC_DOC_DIR}/examples)
# The manual page is what `dpc help` says.
find_program(GZIP gzip)
if(GZIP)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/changelog.gz DEPENDS packaging/changelog VERBATIM
                     COMMAND ${GZIP} -9nc ${CMAKE_CURRENT_SOURCE_DIR}/packaging/changelog > ${CMAKE_BINARY_DIR}/changelog.gz)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/dpc.1.gz DEPENDS packaging/manpage.sh dpc VERBATIM
                     COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/packaging/manpage.sh $<TARGET_FILE:dpc> ${PROJECT_VERSION}
                             > ${CMAKE_BINARY_DIR}/dpc.1
                     COMMAND ${GZIP} -9nkf ${CMAKE_BINARY_DIR}/dpc.1)
  add_custom_target(packaging ALL DEPENDS ${CMAKE_BINARY_DIR}/changelog.gz ${CMAKE_BINARY_DIR}/dpc.1.gz)
  install(FILES ${CMAKE_BINARY_DIR}/changelog.gz DESTINATION ${DPC_DOC_DIR})
  install(FILES ${CMAKE_BINARY_DIR}/dpc.1.gz DESTINATION share/man/man1)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dpc)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The dpc authors <maintainers@dpc.example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler for DP, a language of nested data parallelism")
set(CPACK_PACKAGE_DESCRIPTION
    "dpc compiles DP, a small functional language of sequences of sequences, to\nOpenCL. Nested and recursive parallel code is flattened into segmented\noperations, which run on a CPU (through PoCL) or a GPU.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What `dpc build` calls and links with.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gcc | c-compiler, libc6-dev | libc-dev, ocl-icd-opencl-dev${DPC_LINK_PACKAGES}")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
include(CPack)
