# What is installed, and the Debian packages: cmake --install BUILD, and cpack -G DEB in the build folder. Components, one
# package each: dpc (the compiler), libdpc0 (programs that call DP), libdpc-dev, dpc-doc, python3-dpc.
#
#   bin/dpc   lib/dpc/libdpruntime.a   include/dpc/*.h   what dpc needs to build programs; it finds them beside itself
#   lib/libdpc.so, include/dpc.h, lib/pkgconfig/dpc.pc   for programs that call DP (docs/embedding.md)
#   share/man/man1, share/doc/dpc                        manual pages; the documentation, and the examples in examples/
#   share/bash-completion, share/zsh, share/fish         completion for shells
set(DPC_DOC_DIR share/doc/dpc)

install(TARGETS dpc RUNTIME DESTINATION bin COMPONENT dpc)
install(TARGETS dpruntime ARCHIVE DESTINATION lib/dpc COMPONENT dpc)
install(TARGETS dpc_library LIBRARY DESTINATION lib COMPONENT libdpc0 NAMELINK_COMPONENT libdpc-dev)
install(FILES runtime/embed/dpc.h runtime/embed/dpc.hpp DESTINATION include COMPONENT libdpc-dev)
configure_file(packaging/dpc.pc.in ${CMAKE_BINARY_DIR}/dpc.pc @ONLY)
set(DPC_PC_LIBRARIES "")
foreach(library IN LISTS DPC_FORMAT_LIBRARIES) # /usr/lib/x86_64-linux-gnu/libz.so: -lz
  get_filename_component(name ${library} NAME_WE)
  string(REGEX REPLACE "^lib" "-l" name ${name})
  string(APPEND DPC_PC_LIBRARIES "${name} ")
endforeach()
configure_file(packaging/dpc-runtime.pc.in ${CMAKE_BINARY_DIR}/dpc-runtime.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/dpc.pc ${CMAKE_BINARY_DIR}/dpc-runtime.pc DESTINATION lib/pkgconfig COMPONENT libdpc-dev)
# find_package(dpc): relative to where it lies, so that the whole may be moved.
include(CMakePackageConfigHelpers)
set(DPC_INCLUDE include)
set(DPC_LIB lib)
set(DPC_BIN bin)
configure_package_config_file(cmake/dpcConfig.cmake.in ${CMAKE_BINARY_DIR}/dpcConfig.cmake INSTALL_DESTINATION lib/cmake/dpc
                              PATH_VARS DPC_INCLUDE DPC_LIB DPC_BIN)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/dpcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/dpcConfig.cmake ${CMAKE_BINARY_DIR}/dpcConfigVersion.cmake DESTINATION lib/cmake/dpc
        COMPONENT libdpc-dev)
install(DIRECTORY runtime/include/ DESTINATION include/dpc COMPONENT dpc FILES_MATCHING PATTERN "*.h")
foreach(package dpc libdpc0 libdpc-dev dpc-doc python3-dpc) # Debian wants them in each
  install(FILES packaging/copyright DESTINATION share/doc/${package} COMPONENT ${package})
endforeach()
install(FILES README.md SECURITY.md DESTINATION ${DPC_DOC_DIR} COMPONENT dpc-doc)
install(DIRECTORY docs/ DESTINATION ${DPC_DOC_DIR}/docs COMPONENT dpc-doc FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples/ DESTINATION ${DPC_DOC_DIR}/examples COMPONENT dpc-doc)
install(DIRECTORY python/dpc DESTINATION lib/python3/dist-packages COMPONENT python3-dpc FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed")
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
install(FILES ${CMAKE_BINARY_DIR}/completion.bash DESTINATION share/bash-completion/completions RENAME dpc COMPONENT dpc)
install(FILES ${CMAKE_BINARY_DIR}/completion.zsh DESTINATION share/zsh/vendor-completions RENAME _dpc COMPONENT dpc)
install(FILES ${CMAKE_BINARY_DIR}/completion.fish DESTINATION share/fish/vendor_completions.d RENAME dpc.fish COMPONENT dpc)
list(APPEND packaging_files completion.bash completion.zsh completion.fish)
find_program(GZIP gzip)
if(GZIP)
  foreach(page dpc.1 dpc-program.1)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${page}.gz DEPENDS ${CMAKE_BINARY_DIR}/${page} VERBATIM
                       COMMAND ${GZIP} -9nkf ${CMAKE_BINARY_DIR}/${page})
    install(FILES ${CMAKE_BINARY_DIR}/${page}.gz DESTINATION share/man/man1 COMPONENT dpc)
    list(APPEND packaging_files ${page}.gz)
  endforeach()
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/changelog.gz DEPENDS packaging/changelog VERBATIM
                     COMMAND ${GZIP} -9nc ${CMAKE_CURRENT_SOURCE_DIR}/packaging/changelog > ${CMAKE_BINARY_DIR}/changelog.gz)
  foreach(package dpc libdpc0 libdpc-dev dpc-doc python3-dpc)
    install(FILES ${CMAKE_BINARY_DIR}/changelog.gz DESTINATION share/doc/${package} COMPONENT ${package})
  endforeach()
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
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL dpc libdpc0 libdpc-dev dpc-doc python3-dpc)
foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${package} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
endforeach()
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# What `dpc build` and `dpc library` call and link with.
set(CPACK_DEBIAN_DPC_PACKAGE_DEPENDS "gcc | c-compiler, libc6-dev | libc-dev, ocl-icd-opencl-dev${DPC_LINK_PACKAGES}")
set(CPACK_DEBIAN_DPC_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_DPC_PACKAGE_SUGGESTS "dpc-doc")
# What lintian says: cpack calls ldconfig in scripts of its own, beside the trigger (maintscript-calls-ldconfig); lib is not
# Debian's folder of one architecture (pkg-config-unavailable-for-cross-compilation).
set(CPACK_DEBIAN_LIBDPC0_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/packaging/triggers)
set(CPACK_DEBIAN_LIBDPC0_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBDPC0_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_LIBDPC-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBDPC-DEV_PACKAGE_DEPENDS "libdpc0 (= ${PROJECT_VERSION}), dpc (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DPC-DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DPC-DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-DPC_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-DPC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-DPC_PACKAGE_DEPENDS "python3, python3-numpy, libdpc0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DPC_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_DEBIAN_LIBDPC0_DESCRIPTION "compiles and runs DP in other programs\nThe shared library of dpc.")
set(CPACK_DEBIAN_LIBDPC-DEV_DESCRIPTION "headers and CMake files to call DP from C and C++\ndpc.h, dpc.hpp, pkg-config and find_package(dpc).")
set(CPACK_DEBIAN_DPC-DOC_DESCRIPTION "documentation and examples of dpc\nThe language, its library, the tools, and programs.")
set(CPACK_DEBIAN_PYTHON3-DPC_DESCRIPTION "DP in Python\nThe package dpc, with arrays of numpy.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
include(CPack)
