# One helper per kind of target, so that every folder is built with the same rules.

add_library(wgrad_options INTERFACE)
target_compile_features(wgrad_options INTERFACE cxx_std_20)
# Contraction would fuse a*b+c behind our back; every rounding here is meant.
target_compile_options(wgrad_options INTERFACE -ffp-contract=off)
if(WGRAD_SANITIZE)
  target_compile_options(wgrad_options INTERFACE -fsanitize=${WGRAD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(wgrad_options INTERFACE -fsanitize=${WGRAD_SANITIZE})
endif()

add_library(wgrad_warnings INTERFACE)
# -Wno-restrict: g++ 12 reports string concatenation as overlapping copies (GCC bug 105329).
target_compile_options(wgrad_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wno-restrict $<$<BOOL:${WGRAD_WERROR}>:-Werror>
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wsign-conversion -Wshadow -Wdouble-promotion -Wfloat-conversion
    -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual>)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# wgrad_add_library(<folder> SOURCES .. HEADERS .. [PUBLIC lib ..] [PRIVATE lib ..])
# makes target wgrad_<folder> with alias wgrad::<folder>. Headers are included root-relative: "core/tensor.h".
function(wgrad_add_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE")
  set(target wgrad_${folder})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(wgrad::${folder} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${folder})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE}
    $<BUILD_INTERFACE:wgrad_options> $<BUILD_INTERFACE:wgrad_warnings>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(WGRAD_INSTALL)
    install(TARGETS ${target} EXPORT wgrad-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wgrad)
  endif()
endfunction()

# wgrad_add_executable(<name> SOURCES .. [LINK lib ..])
function(wgrad_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LINK} wgrad_options wgrad_warnings)
  if(WGRAD_SANITIZE)
    # g++ 12 takes an empty std::optional for an uninitialised one once sanitizers are in.
    target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)
  endif()
endfunction()

# wgrad_add_test(<folder> SOURCES .. [LINK lib ..]) makes wgrad_<folder>_test out of GoogleTest files and registers its
# tests. Data files are found below WGRAD_TEST_DATA, a macro with the path of tests/data.
function(wgrad_add_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  set(target wgrad_${folder}_test)
  wgrad_add_executable(${target} SOURCES ${arg_SOURCES} LINK ${arg_LINK} GTest::gtest GTest::gtest_main)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)  # compiled once, run once
  target_compile_definitions(${target} PRIVATE WGRAD_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600 LABELS ${folder})
endfunction()
