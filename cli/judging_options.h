// The options that say how results are judged, the same for every command that judges.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "oracle/accuracy_class.h"

namespace CLI {
class App;
}  // namespace CLI

namespace wgrad::cli {

/// --class, --pad, --ftz, --daz, --saturate, --zero-skip as typed.
struct JudgingWords {
  std::vector<std::string> classes;
  std::string pad;
  bool ftz = false;
  bool daz = false;
  bool saturate = false;
  bool zero_skip = false;
};
void AddJudgingOptions(CLI::App& command, JudgingWords& words);

/// Errors: a class or a dtype that does not exist, with the nearest one that does.
Result<oracle::JudgingChoice> ToJudgingChoice(const JudgingWords& words);

}  // namespace wgrad::cli
