# Debian's OpenBLAS package sets variables but has no target; this makes OpenBLAS::OpenBLAS. Installed beside the
# package config, because the exported wgrad::optimized names that target.
if(NOT TARGET OpenBLAS::OpenBLAS)
  find_path(WGRAD_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES x86_64-linux-gnu openblas REQUIRED)
  find_library(WGRAD_OPENBLAS_LIBRARY openblas REQUIRED)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES
    IMPORTED_LOCATION ${WGRAD_OPENBLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${WGRAD_OPENBLAS_INCLUDE})
endif()
