# What is installed, and the Debian package: cmake --install BUILD, and cpack -G DEB in the build folder.
#
#   bin/dpc   lib/dpc/libdpruntime.a   include/dpc/*.h   what dpc needs to build programs; it finds them beside itself
#   lib/libdpc.so, include/dpc.h, lib/pkgconfig/dpc.pc   for programs that call DP (docs/embedding.md)
#   share/man/man1, share/doc/dpc                        manual pages; the documentation, and the examples in examples/
#   share/bash-completion, share/zsh, share/fish         completion for shells
set(DPC_DOC_DIR share/doc/dpc)

install(TARGETS dpc RUNTIME DESTINATION bin)
install(TARGETS dpruntime ARCHIVE DESTINATION lib/dpc)
install(TARGETS dpc_library LIBRARY DESTINATION lib)
install(FILES runtime/embed/dpc.h runtime/embed/dpc.hpp DESTINATION include)
configure_file(packaging/dpc.pc.in ${CMAKE_BINARY_DIR}/dpc.pc @ONLY)
configure_file(packaging/dpc-runtime.pc.in ${CMAKE_BINARY_DIR}/dpc-runtime.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/dpc.pc ${CMAKE_BINARY_DIR}/dpc-runtime.pc DESTINATION lib/pkgconfig)
install(DIRECTORY runtime/include/ DESTINATION include/dpc FILES_MATCHING PATTERN "*.h")
install(FILES README.md SECURITY.md DESTINATION ${DPC_DOC_DIR})
install(FILES packaging/copyright DESTINATION ${DPC_DOC_DIR})
install(DIRECTORY docs/ DESTINATION ${DPC_DOC_DIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples/ DESTINATION ${DPC_DOC_DIR}/examples)
# Manual pages and completion come from the tables of options, by dpc itself.
set(packaging_files "")
function(dpc_prints file) # dpc_prints(FILE WORD...): FILE, in the build folder, is what `dpc WORD...` prints
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${file} DEPENDS dpc VERBATIM
                     COMMAND $<TARGET_FILE:dpc> ${ARGN} > ${CMAKE_BINARY_DIR}/${file})
endfunction()
dpc_prints(completion.bash completion bash)
dpc_prints(completion.zsh completion zsh)
dpc_prints(completion.fish completion fish)
dpc_prints(dpc.1 manual dpc)
dpc_prints(dpc-program.1 manual dpc-program)
install(FILES ${CMAKE_BINARY_DIR}/completion.bash DESTINATION share/bash-completion/completions RENAME dpc)
install(FILES ${CMAKE_BINARY_DIR}/completion.zsh DESTINATION share/zsh/vendor-completions RENAME _dpc)
install(FILES ${CMAKE_BINARY_DIR}/completion.fish DESTINATION share/fish/vendor_completions.d RENAME dpc.fish)
list(APPEND packaging_files completion.bash completion.zsh completion.fish)
find_program(GZIP gzip)
if(GZIP)
  foreach(page dpc.1 dpc-program.1)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${page}.gz DEPENDS ${CMAKE_BINARY_DIR}/${page} VERBATIM
                       COMMAND ${GZIP} -9nkf ${CMAKE_BINARY_DIR}/${page})
    install(FILES ${CMAKE_BINARY_DIR}/${page}.gz DESTINATION share/man/man1)
    list(APPEND packaging_files ${page}.gz)
  endforeach()
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/changelog.gz DEPENDS packaging/changelog VERBATIM
                     COMMAND ${GZIP} -9nc ${CMAKE_CURRENT_SOURCE_DIR}/packaging/changelog > ${CMAKE_BINARY_DIR}/changelog.gz)
  install(FILES ${CMAKE_BINARY_DIR}/changelog.gz DESTINATION ${DPC_DOC_DIR})
  list(APPEND packaging_files changelog.gz)
endif()
list(TRANSFORM packaging_files PREPEND ${CMAKE_BINARY_DIR}/)
add_custom_target(packaging ALL DEPENDS ${packaging_files})

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
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# What `dpc build` calls and links with.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gcc | c-compiler, libc6-dev | libc-dev, ocl-icd-opencl-dev${DPC_LINK_PACKAGES}")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
include(CPack)
