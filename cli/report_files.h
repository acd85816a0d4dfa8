// --json and --junit, the same for every command that judges.
#pragma once

#include <string>

#include "core/result.h"
#include "report/report.h"

namespace CLI {
class App;
}  // namespace CLI

namespace wgrad::cli {

struct ReportPaths {
  std::string json;
  std::string junit;
};
void AddReportOptions(CLI::App& command, ReportPaths& paths);

/// Before a run: whether the reports that were asked for can be written.
Status CheckWritable(const ReportPaths& paths);
Status WriteReports(const ReportPaths& paths, const report::CheckReport& report);

}  // namespace wgrad::cli
