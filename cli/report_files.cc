#include "cli/report_files.h"

#include <CLI/CLI.hpp>

#include "cli/output_file.h"

namespace wgrad::cli {

void AddReportOptions(CLI::App& command, ReportPaths& paths) {
  command.add_option("--json", paths.json, "Write the report as JSON")->type_name("FILE")->group("Report");
  command.add_option("--junit", paths.junit, "Write the report as JUnit XML")->type_name("FILE")->group("Report");
}

Status CheckWritable(const ReportPaths& paths) {
  for (const std::string& path : {paths.json, paths.junit}) {
    if (path.empty()) continue;
    if (Status status = CheckWritable(path); !status.ok()) return status;
  }
  return Ok();
}

Status WriteReports(const ReportPaths& paths, const report::CheckReport& report) {
  Status status = Ok();
  if (!paths.json.empty()) status = WriteWhole(paths.json, report::ToJson(report));
  if (!paths.junit.empty()) {
    const Status junit = WriteWhole(paths.junit, report::ToJUnit(report));
    if (status.ok()) status = junit;
  }
  return status;
}

}  // namespace wgrad::cli
