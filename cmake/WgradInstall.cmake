# What `cmake --install` puts in place: libraries and headers (see WgradLibrary.cmake), programs, the oneDNN plugin, ready
# adapters and clients, and the package that makes find_package(wgrad) work.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wgrad)

install(EXPORT wgrad-targets NAMESPACE wgrad:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/wgrad-config.cmake.in ${PROJECT_BINARY_DIR}/wgrad-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wgrad-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wgrad-config.cmake ${PROJECT_BINARY_DIR}/wgrad-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/OpenBLASTarget.cmake DESTINATION ${package_dir})

foreach(program wgrad wgrad-plugin-host)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
if(TARGET wgrad_onednn)
  install(TARGETS wgrad_onednn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/wgrad)
endif()
if(WGRAD_BUILD_CLI)
  # The program looks for them in share/wgrad beside its own folder.
  install(DIRECTORY candidates clients DESTINATION share/wgrad
    FILES_MATCHING PATTERN "adapter.json" PATTERN "README.md" PATTERN "*.py" PATTERN "*.mjs" PATTERN "*.rs"
      PATTERN "*_plugin.cc" PATTERN "images.h" PATTERN "wgrad_plugin.h" PATTERN "wgrad_candidate.h"
      PATTERN "example.c" PATTERN "__pycache__" EXCLUDE PATTERN "process" EXCLUDE PATTERN "adapter" EXCLUDE)
endif()
