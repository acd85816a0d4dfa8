#include "cli/judging_options.h"

#include <CLI/CLI.hpp>

#include "cli/selection.h"
#include "cli/suggest.h"

namespace wgrad::cli {
namespace {

Result<oracle::PadPolicy> ParsePad(const std::string& word) {
  if (word == "skip") return oracle::PadPolicy::kSkip;
  if (word == "multiply") return oracle::PadPolicy::kMultiply;
  if (word == "either") return oracle::PadPolicy::kEither;
  return Error{ErrorCode::kBadText, "--pad is skip, multiply or either, got \"" + word + "\""};
}

Error UnknownClass(const std::string& name) {
  std::vector<std::string> known;
  for (const oracle::ClassDescription& description : oracle::ClassDescriptions()) known.emplace_back(description.name);
  return UnknownName("class", name.substr(0, name.find(':')), known);
}

Status AddClass(const std::string& word, oracle::JudgingChoice& choice) {
  const std::size_t cut = word.find('=');
  if (cut != std::string::npos) {
    const Result<DTypePair> dtype = ParseDTypeTag(word.substr(0, cut));
    if (!dtype.ok()) return dtype.error();
  }
  const std::string name = cut == std::string::npos ? word : word.substr(cut + 1);
  Result<oracle::AccuracyClass> parsed = oracle::ParseClass(name);
  if (!parsed.ok()) return parsed.error().code == ErrorCode::kNotFound ? UnknownClass(name) : parsed.error();
  if (cut == std::string::npos) {
    choice.any = *parsed;
  } else {
    choice.by_dtype.emplace_back(word.substr(0, cut), *parsed);
  }
  return Ok();
}

}  // namespace

void AddJudgingOptions(CLI::App& command, JudgingWords& words) {
  const std::string group = "Judging";
  command
      .add_option("--class", words.classes,
                  "Accuracy class to judge by, for all dtypes or one: order, f16=wide_hw, f32=input:tf32 "
                  "(`wgrad list classes`); may be repeated")
      ->type_name("[DTYPE=]NAME[:OPTION]")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--pad", words.pad, "NaN and infinities beside padding: skip, multiply (gives NaN), either (default)")
      ->type_name("WORD")
      ->group(group);
  command.add_flag("--ftz", words.ftz, "Tiny results may be flushed to zero")->group(group);
  command.add_flag("--daz", words.daz, "Subnormal inputs may be read as zero")->group(group);
  command.add_flag("--saturate", words.saturate, "The largest finite value may stand for an infinity")->group(group);
  command.add_flag("--zero-skip", words.zero_skip, "Products with a zero factor may be left out")->group(group);
}

Result<oracle::JudgingChoice> ToJudgingChoice(const JudgingWords& words) {
  oracle::JudgingChoice choice;
  for (const std::string& word : words.classes) {
    if (Status status = AddClass(word, choice); !status.ok()) return status.error();
  }
  if (!words.pad.empty()) {
    const Result<oracle::PadPolicy> pad = ParsePad(words.pad);
    if (!pad.ok()) return pad.error();
    choice.pad = *pad;
  }
  // A switch that is not given leaves the point to the candidate's declaration.
  if (words.ftz) choice.ftz = true;
  if (words.daz) choice.daz = true;
  if (words.saturate) choice.saturate = true;
  if (words.zero_skip) choice.zero_skip = true;
  return choice;
}

}  // namespace wgrad::cli
