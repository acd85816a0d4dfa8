# cmake -DTEXTS=a.txt;b.txt -DOUTPUT=embedded_suites.cc -P embed.cmake
# Writes a source that defines Suites(): a file's name is the suite's, its first line ("# ...") the description.
set(entries "")
foreach(path IN LISTS TEXTS)
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} text)
  if(NOT text MATCHES "^# ([^\n]+)\n")
    message(FATAL_ERROR "${path} must begin with a line \"# DESCRIPTION\"")
  endif()
  set(description "${CMAKE_MATCH_1}")
  if(text MATCHES "[)]suite\"")
    message(FATAL_ERROR "${path} must not contain )suite\"")
  endif()
  string(APPEND entries "      {\"${name}\", R\"suite(${description})suite\",\n       R\"suite(${text})suite\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by suites/embed.cmake.
#include \"suites/suites.h\"

namespace wgrad::suites {

const std::vector<Suite>& Suites() {
  static const std::vector<Suite> suites = {
${entries}  };
  return suites;
}

}  // namespace wgrad::suites
")
