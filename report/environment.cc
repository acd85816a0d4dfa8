// Where a run takes place: version, processor, and the variables that change what libraries compute.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "report/cpu_info.h"
#include "report/report.h"

namespace wgrad::report {
namespace {

constexpr std::string_view kRelevantSets[] = {
    "sse4_2",   "avx",      "f16c",     "fma",      "avx2",     "avx_vnni",    "avx512f",     "avx512bw",    "avx512dq",
    "avx512vl", "amx_tile", "amx_bf16", "amx_int8", "amx_fp16", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx10_1",
    "asimd",    "asimdhp",  "asimdfhm", "bf16",     "sve",      "sve2",        "svebf16",     "sme",
};

bool IsRelevantVariable(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"OPENBLAS_", "ONEDNN_", "DNNL_", "TF_ENABLE_", "TF_XLA_", "TF_NUM_"};
  const auto starts = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return name == "OMP_NUM_THREADS" || name == "MALLOC_PERTURB_" ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes), starts);
}

std::string FileText(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// "model name<tab>: X" -> X, or nothing where `line` is of another key.
std::string ValueOf(const std::string& line, std::string_view key) {
  if (!line.starts_with(key)) return "";
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos || line.find_first_not_of(" \t", key.size()) != colon) return "";
  const std::size_t begin = line.find_first_not_of(' ', colon + 1);
  return begin == std::string::npos ? "" : line.substr(begin);
}

}  // namespace

internal::CpuInfo internal::ParseCpuInfo(std::string_view text) {
  CpuInfo info;
  std::set<std::string> present;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (info.processor.empty()) info.processor = ValueOf(line, "model name");
    if (!present.empty()) continue;
    std::istringstream flags(ValueOf(line, "flags") + ValueOf(line, "Features"));
    for (std::string flag; flags >> flag;) present.insert(flag);
  }
  if (info.processor.empty()) info.processor = "unknown";
  for (const std::string_view name : kRelevantSets) {
    if (present.count(std::string(name)) == 0) continue;
    info.instruction_sets += (info.instruction_sets.empty() ? "" : " ") + std::string(name);
  }
  return info;
}

Environment CurrentEnvironment() {
  Environment environment;
  environment.version = WGRAD_VERSION;
  const internal::CpuInfo info = internal::ParseCpuInfo(FileText("/proc/cpuinfo"));
  environment.processor = info.processor;
  environment.instruction_sets = info.instruction_sets;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos || !IsRelevantVariable(variable.substr(0, equals))) continue;
    environment.variables[std::string(variable.substr(0, equals))] = std::string(variable.substr(equals + 1));
  }
  return environment;
}

}  // namespace wgrad::report
