# What is installed, and the Debian packages: cmake --install BUILD, and cpack -G DEB in the build folder. Components, one
# package each: dpc (the compiler), libdpc0 (programs that call DP), libdpc-dev, dpc-doc, python3-dpc, dpc-editors.
#
#   bin/dpc   lib/dpc/libdpruntime.a   include/dpc/*.h   what dpc needs to build programs; it finds them beside itself
#   lib/libdpc.so, include/dpc.h, lib/pkgconfig/dpc.pc   for programs that call DP (docs/embedding.md)
#   share/man/man1, share/doc/dpc                        manual pages; the documentation, and the examples in examples/
#   share/bash-completion, share/zsh, share/fish         completion for shells
#   share/vim/vimfiles, share/nvim/site, share/dpc       files for editors: Vim, Neovim; the .vsix and the tree-sitter grammar
set(DPC_DOC_DIR share/doc/dpc)
set(DPC_PACKAGES dpc libdpc0 libdpc-dev dpc-doc python3-dpc dpc-editors)

install(TARGETS dpc RUNTIME DESTINATION bin COMPONENT dpc)
install(TARGETS dpruntime ARCHIVE DESTINATION lib/dpc COMPONENT dpc)
install(TARGETS dpc_library LIBRARY DESTINATION lib COMPONENT libdpc0 NAMELINK_COMPONENT libdpc-dev)
if(DPC_STATIC)
  install(FILES ${DPC_STATIC} DESTINATION lib COMPONENT libdpc-dev)
endif()
install(FILES runtime/embed/dpc.h runtime/embed/dpc.hpp DESTINATION include COMPONENT libdpc-dev)
set(DPC_PC_LIBRARIES "")
foreach(library IN LISTS DPC_FORMAT_LIBRARIES) # /usr/lib/x86_64-linux-gnu/libz.so: -lz
  get_filename_component(name ${library} NAME_WE)
  string(REGEX REPLACE "^lib" "-l" name ${name})
  string(APPEND DPC_PC_LIBRARIES "${name} ")
endforeach()
configure_file(packaging/dpc.pc.in ${CMAKE_BINARY_DIR}/dpc.pc @ONLY)
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
foreach(package IN LISTS DPC_PACKAGES) # Debian wants them in each
  install(FILES packaging/copyright DESTINATION share/doc/${package} COMPONENT ${package})
endforeach()
install(FILES README.md SECURITY.md DESTINATION ${DPC_DOC_DIR} COMPONENT dpc-doc)
install(DIRECTORY docs/ DESTINATION ${DPC_DOC_DIR}/docs COMPONENT dpc-doc FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples/ DESTINATION ${DPC_DOC_DIR}/examples COMPONENT dpc-doc)
install(DIRECTORY python/dpc DESTINATION lib/python3/dist-packages COMPONENT python3-dpc FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed")
install(DIRECTORY editors/vim/ DESTINATION share/vim/vimfiles COMPONENT dpc-editors)
install(DIRECTORY editors/vim/ DESTINATION share/nvim/site COMPONENT dpc-editors)
install(DIRECTORY editors/tree-sitter-dp/queries/ DESTINATION share/nvim/site/queries/dp COMPONENT dpc-editors)
install(DIRECTORY editors/tree-sitter-dp DESTINATION share/dpc COMPONENT dpc-editors PATTERN generate EXCLUDE PATTERN test EXCLUDE PATTERN .gitignore EXCLUDE)
install(FILES editors/README.md DESTINATION share/doc/dpc-editors COMPONENT dpc-editors)
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
file(GLOB_RECURSE vscode_files CONFIGURE_DEPENDS editors/vscode/*)
set(DPC_VSIX dp-${PROJECT_VERSION}.0.vsix)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${DPC_VSIX} VERBATIM
                   COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/editors/vscode -DLICENSE=${CMAKE_CURRENT_SOURCE_DIR}/LICENSE
                           -DOUTPUT=${CMAKE_BINARY_DIR}/${DPC_VSIX} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/vsix.cmake
                   DEPENDS ${vscode_files} LICENSE cmake/vsix.cmake)
install(FILES ${CMAKE_BINARY_DIR}/${DPC_VSIX} DESTINATION share/dpc COMPONENT dpc-editors)
list(APPEND packaging_files ${DPC_VSIX})
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
  foreach(package IN LISTS DPC_PACKAGES)
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
# Not CPACK_PACKAGE_DESCRIPTION_SUMMARY, which would be the first line of all.
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL ${DPC_PACKAGES})
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
# What lintian says (tests/packages.sh): cpack calls ldconfig in scripts of its own, beside the trigger (maintscript-calls-ldconfig); lib is not
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
set(CPACK_DEBIAN_DPC-EDITORS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DPC-EDITORS_PACKAGE_SECTION editors)
set(CPACK_DEBIAN_DPC-EDITORS_PACKAGE_RECOMMENDS "dpc")
set(CPACK_DEBIAN_DPC-EDITORS_PACKAGE_SUGGESTS "vim | neovim")
set(CPACK_DEBIAN_DPC_DESCRIPTION
    "compiler for DP, a language of nested data parallelism\ndpc compiles DP, a small functional language of sequences of sequences, to\nOpenCL. Nested and recursive parallel code is flattened into segmented\noperations, which run on a CPU (through PoCL) or a GPU.")
set(CPACK_DEBIAN_LIBDPC0_DESCRIPTION
    "compiler and runtime of DP as a shared library\nPrograms compile DP, a language of nested data parallelism, while they run,\nand call it with arrays of theirs, in memory or in buffers of OpenCL.")
set(CPACK_DEBIAN_LIBDPC-DEV_DESCRIPTION
    "headers and libraries to call DP from C and C++\nThe headers dpc.h and dpc.hpp, libdpc as an archive, and files for pkg-config\nand CMake's find_package, with functions that build libraries and executables\nout of DP.")
set(CPACK_DEBIAN_DPC-DOC_DESCRIPTION
    "documentation and examples of dpc\nA tutorial, a course, the references of the language DP, its library and its\ntools, and examples from short programs to simulations.")
set(CPACK_DEBIAN_PYTHON3-DPC_DESCRIPTION
    "DP, a language of nested data parallelism, called from Python\nThe package dpc compiles DP and calls it with arrays of numpy, which are not\ncopied where they need not be.")
set(CPACK_DEBIAN_DPC-EDITORS_DESCRIPTION
    "files for editors of DP\nHighlighting and indentation for Vim and Neovim, a grammar for tree-sitter,\nand an extension for Visual Studio Code. They start the language server of\ndpc.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
include(CPack)
