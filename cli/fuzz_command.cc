// `wgrad fuzz`: random cases until a failure, which is shrunk to its plainest form; or a statement of what was covered.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "cli/campaign.h"
#include "cli/checking.h"
#include "cli/commands.h"
#include "cli/corpus.h"
#include "cli/fuzz_text.h"
#include "cli/interrupt.h"
#include "cli/judging_options.h"
#include "cli/known_failures.h"
#include "cli/registry.h"
#include "cli/selection.h"
#include "cli/tally.h"
#include "cli/terminal.h"
#include "fuzz/finding_file.h"
#include "report/report.h"

namespace wgrad::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kDefaultSeconds = 60;
constexpr double kLongestSeconds = 1e6;  // eleven days

struct FuzzOptions {
  std::string candidate;
  std::int64_t cases = -1;  // below 0: not given
  double seconds = -1;
  std::string seed = "1";
  fuzz::SpaceLimits limits;
  int jobs = 0;  // 0: the cores
  std::string save_folder;
  int findings = 1;
  double shrink_seconds = 10;
  std::string known_file;
  double time_limit_seconds = 0;
  std::int64_t memory_limit_mib = 0;
  JudgingWords judging;
};

// The options, read and found to make sense.
struct FuzzRequest {
  oracle::JudgingChoice choice;
  std::uint64_t seed = 1;
  std::int64_t cases = 0;  // 0: no limit
  double seconds = 0;      // 0: no limit
  int jobs = 1;
  KnownFailures known;
};

std::string Plain(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

Error Usage(const std::string& message) { return {ErrorCode::kInvalidArgument, message}; }

Status CheckNumbers(const FuzzOptions& options) {
  if (options.seconds != -1 && !(options.seconds > 0 && options.seconds <= kLongestSeconds)) {
    return Usage("--time is a number of seconds above 0, got " + Plain(options.seconds));
  }
  if (options.cases == 0 || options.cases < -1) {
    return Usage("--cases is a number of cases from 1, got " + std::to_string(options.cases));
  }
  if (options.limits.max_size > fuzz::kMaxSize) {
    return Usage("--max-size is at most " + std::to_string(fuzz::kMaxSize) + ", got " +
                 std::to_string(options.limits.max_size));
  }
  if (options.findings < 1) return Usage("--findings is a number from 1, got " + std::to_string(options.findings));
  if (options.limits.dtype.empty()) return Ok();
  const Result<DTypePair> dtype = ParseDTypeTag(options.limits.dtype);
  return dtype.ok() ? Ok() : Status(dtype.error());
}

Result<FuzzRequest> ReadRequest(const FuzzOptions& options) {
  if (Status numbers = CheckNumbers(options); !numbers.ok()) return numbers.error();
  FuzzRequest request;
  Result<oracle::JudgingChoice> choice = ToJudgingChoice(options.judging);
  if (!choice.ok()) return choice.error();
  request.choice = *choice;
  const Result<std::uint64_t> seed = ParseSeed(options.seed);
  if (!seed.ok()) return seed.error();
  request.seed = *seed;
  if (!options.known_file.empty()) {
    Result<KnownFailures> known = KnownFailures::Read(options.known_file);
    if (!known.ok()) return known.error();
    request.known = *known;
  }
  request.cases = std::max<std::int64_t>(0, options.cases);
  request.seconds = options.seconds;
  if (options.seconds < 0) request.seconds = request.cases > 0 ? 0 : kDefaultSeconds;
  request.jobs = options.jobs > 0 ? options.jobs : Cores();
  return request;
}

// One candidate, or one variant, while it is fuzzed.
class Fuzzing {
 public:
  Fuzzing(const FuzzOptions& options, const FuzzRequest& request, const OpenedCandidate& candidate, fuzz::Space space)
      : options_(options), request_(request), candidate_(candidate), space_(std::move(space)), state_(space_) {
    folder_ = options.save_folder.empty() ? DefaultCorpusFolder(candidate.argument)
                                          : std::filesystem::path(options.save_folder);
  }

  // The corpus, then random cases. Errors: a corpus folder that cannot be read, a finding that cannot be saved.
  Status Run(double seconds) {
    color_ = MayColor(STDOUT_FILENO);
    Print(Title());
    if (Status corpus = RunCorpus(); !corpus.ok()) return corpus;
    if (Status found = RunCampaign(seconds); !found.ok()) return found;
    Print(CoverageText(state_, findings_ == 0));
    Print("\n" + Conclusion() + "\n\n");
    return Ok();
  }

  bool found_any() const { return findings_ > 0; }
  bool compared_any() const { return state_.coverage.cases() > state_.blind || corpus_tests_ > 0; }
  const std::string& internal_error() const { return state_.internal_error; }

 private:
  std::string Title() const {
    const Greeting& greeting = candidate_.greeting;
    std::string text = "fuzzing " + candidate_.argument;
    if (!greeting.name.empty() && greeting.name != candidate_.argument) text += ", " + greeting.name;
    if (!greeting.version.empty()) text += " " + greeting.version;
    return text + ", seed " + std::to_string(request_.seed) + "\n\n";
  }

  fuzz::ProbeOptions Questions(double seconds) const {
    const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    const bool in_process = !candidate_.make_perturbed;
    return {candidate_.make, request_.choice, in_process, Clock::now() + limit, Interrupted};
  }

  // What failed before is run first.
  Status RunCorpus() {
    const Result<Corpus> corpus = ReadCorpus(folder_);
    if (!corpus.ok()) return corpus.error();
    for (const std::string& skipped : corpus->skipped) Print("skipped " + skipped + "\n");
    fuzz::Probe probe(Questions(kLongestSeconds));
    std::int64_t failing_files = 0;
    for (const CorpusFile& file : corpus->files) failing_files += FailsAgain(file, probe) ? 1 : 0;
    if (!corpus->files.empty() || !corpus->skipped.empty()) {
      Print("earlier failures in " + folder_.string() + ": " + std::to_string(corpus->files.size()) + " files, " +
            std::to_string(failing_files) + " still failing, " + std::to_string(corpus->skipped.size()) +
            " skipped\n\n");
    }
    return Ok();
  }

  bool FailsAgain(const CorpusFile& file, fuzz::Probe& probe) {
    for (const vectors::Group& group : file.content.groups) {
      const bool wanted =
          std::ranges::count(space_.dtypes, DTypePair{group.problem.dtype(), group.problem.result_dtype()});
      for (const vectors::Test& test : group.tests) {
        if (!wanted || Interrupted()) continue;
        const oracle::CaseVerdict verdict = fuzz::RunTest(group.problem, test, probe);
        if (verdict.outcome == oracle::Outcome::kUnsupported) continue;
        ++corpus_tests_;
        if (!IsWrong(verdict.outcome) || IsKnown(request_.known, verdict)) continue;
        Print(report::ToText(verdict, "", {.color = color_}) + "\n  " + test.comment + "\n" +
              ReplayLine(file.path, candidate_.argument, verdict) + "\n");
        ++findings_;
        return true;
      }
    }
    return false;
  }

  CampaignPlan Plan(double seconds) const {
    CampaignPlan plan{candidate_.make, request_.choice, space_, request_.seed, request_.cases};
    plan.jobs = request_.jobs;
    plan.deterministic = candidate_.greeting.declaration.deterministic;
    plan.is_failure = [this](const oracle::CaseVerdict& verdict) { return !IsKnown(request_.known, verdict); };
    if (seconds > 0) {
      plan.deadline =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    return plan;
  }

  Status RunCampaign(double seconds) {
    CampaignPlan plan = Plan(seconds);
    while (findings_ < options_.findings && !state_.finished) {
      const std::optional<oracle::CaseVerdict> failure = RunUntilFailure(plan, state_);
      if (!failure) break;
      if (!kinds_.insert(KindOf(*failure)).second) {
        ++repeated_;
        continue;
      }
      const Clock::time_point start = Clock::now();
      if (Status taken = Take(*failure); !taken.ok()) return taken;
      // Shrinking is not part of the time that cases are given.
      if (seconds > 0) plan.deadline += Clock::now() - start;
    }
    return Ok();
  }

  // Failures of one kind are shown once: same outcome, dtype and filling, same rule but for its numbers.
  static std::string KindOf(const oracle::CaseVerdict& verdict) {
    std::string kind = DTypeTag(*verdict.problem) + " " + std::string(NameOf(verdict.c->filling)) + " ";
    for (const char c : verdict.reason) kind += c >= '0' && c <= '9' ? '#' : c;
    return kind;
  }

  // Saves the failure as it was found, shrinks it, saves that, and shows it.
  Status Take(const oracle::CaseVerdict& failure) {
    const fuzz::FindingOrigin origin{"wgrad " + report::CurrentEnvironment().version, candidate_.argument};
    const std::string name = fuzz::FindingFileName(*failure.c);
    Result<std::string> saved = SaveToCorpus(folder_, name, fuzz::FindingFile(origin, failure, nullptr));
    if (!saved.ok()) return saved.error();
    ++findings_;
    PrintNote("a failure after " + std::to_string(state_.next) + " cases, saved as " + *saved + "; shrinking it");
    Finding finding{failure, state_.next, fuzz::Shrink(failure, Questions(options_.shrink_seconds)), *saved};
    saved = SaveToCorpus(folder_, name, fuzz::FindingFile(origin, failure, &finding.shrunk));
    if (!saved.ok()) return saved.error();
    Print(FindingText(finding, candidate_.argument, color_));
    return Ok();
  }

  std::string Conclusion() const {
    std::string text = findings_ > 0 ? "FAIL: " + candidate_.argument + " is wrong in " + std::to_string(findings_) +
                                           (findings_ == 1 ? " finding" : " findings")
                                     : "PASS: " + candidate_.argument + " failed no case";
    if (repeated_ > 0) text += ", " + std::to_string(repeated_) + " more failures were of the same kinds";
    if (Interrupted()) text += "; interrupted";
    return text;
  }

  const FuzzOptions& options_;
  const FuzzRequest& request_;
  const OpenedCandidate& candidate_;
  const fuzz::Space space_;
  std::filesystem::path folder_;
  CampaignState state_;
  std::set<std::string> kinds_;
  std::int64_t repeated_ = 0;
  int findings_ = 0;
  std::int64_t corpus_tests_ = 0;
  bool color_ = false;
};

// All variants one after the other; the time is shared out among them.
ExitCode FuzzAll(const FuzzOptions& options, const FuzzRequest& request,
                 const std::vector<OpenedCandidate>& candidates) {
  bool found = false, compared = false;
  const double seconds = request.seconds / static_cast<double>(candidates.size());
  std::vector<fuzz::Space> spaces;
  for (const OpenedCandidate& candidate : candidates) {
    Result<fuzz::Space> space = fuzz::MakeSpace(candidate.greeting.capabilities, options.limits);
    if (!space.ok()) return Refuse({space.error().code, candidate.argument + ": " + space.error().message});
    spaces.push_back(*space);
  }
  for (std::size_t i = 0; i < candidates.size() && !Interrupted(); ++i) {
    Fuzzing fuzzing(options, request, candidates[i], spaces[i]);
    const Status run = fuzzing.Run(seconds);
    if (!run.ok()) return Refuse(run.error());
    if (!fuzzing.internal_error().empty()) {
      PrintError("internal failure: " + fuzzing.internal_error());
      return ExitCode::kInternal;
    }
    found = found || fuzzing.found_any();
    compared = compared || fuzzing.compared_any();
  }
  if (found) return ExitCode::kFailed;
  if (Interrupted()) return ExitCode::kInterrupted;
  return compared ? ExitCode::kPass : ExitCode::kNothingCompared;
}

ExitCode Fuzz(const FuzzOptions& options) {
  CatchInterrupts();
  const Result<FuzzRequest> request = ReadRequest(options);
  if (!request.ok()) return Refuse(request.error());
  const CandidateSettings settings{std::max(1, Cores() / request->jobs), options.time_limit_seconds,
                                   options.memory_limit_mib};
  const Result<std::vector<OpenedCandidate>> candidates = OpenCandidate(options.candidate, settings);
  if (!candidates.ok()) return Refuse(candidates.error());
  return FuzzAll(options, *request, *candidates);
}

void AddSpaceOptions(CLI::App& command, FuzzOptions& options) {
  const std::string group = "What is drawn";
  command.add_option("--cases", options.cases, "Stop after this many cases")->type_name("N")->group(group);
  command.add_option("--time", options.seconds, "Stop after this many seconds; default 60 where --cases is not given")
      ->type_name("SECONDS")
      ->group(group);
  command.add_option("--seed", options.seed, "Seed of the cases; default 1")->type_name("N")->group(group);
  command.add_option("--dtype", options.limits.dtype, "This dtype only: f16, bf16, f32, f64, f16_f32, bf16_f32")
      ->type_name("TAG")
      ->group(group);
  command.add_option("--max-size", options.limits.max_size, "Largest size of an axis; default 130")
      ->type_name("N")
      ->group(group);
  command.add_option("--max-work", options.limits.max_work, "Most multiply-adds of a call; default 100000")
      ->type_name("N")
      ->group(group);
}

void AddFindingOptions(CLI::App& command, FuzzOptions& options) {
  const std::string group = "What is found";
  command
      .add_option("--save", options.save_folder,
                  "Folder where failures are kept, and run first the next time; default: in wgrad's cache")
      ->type_name("DIR")
      ->group(group);
  command.add_option("--findings", options.findings, "Go on until there are this many failures of different kinds")
      ->type_name("N")
      ->group(group);
  command.add_option("--shrink-time", options.shrink_seconds, "Seconds that shrinking a failure may take; default 10")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_option("--known", options.known_file, "File of failures that are expected, as for `wgrad check`")
      ->type_name("FILE")
      ->group(group);
}

void AddRunningOptions(CLI::App& command, FuzzOptions& options) {
  const std::string group = "How it is run";
  command.add_option("--jobs", options.jobs, "Cases at a time; default the cores")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->group(group);
  command.add_option("--time-limit", options.time_limit_seconds, "Seconds that one call may take, where isolated")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_option("--memory-limit", options.memory_limit_mib, "MiB that a candidate's own process may occupy")
      ->type_name("MIB")
      ->check(CLI::PositiveNumber)
      ->group(group);
}

}  // namespace

void AddFuzzCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("fuzz", "Look for a case that an implementation fails, and shrink it");
  auto options = std::make_shared<FuzzOptions>();
  command
      ->add_option("CANDIDATE", options->candidate,
                   "A name (`wgrad list candidates`), name:variant, the path of a plugin (.so), or cmd:COMMAND")
      ->required();
  AddSpaceOptions(*command, *options);
  AddJudgingOptions(*command, options->judging);
  AddFindingOptions(*command, *options);
  AddRunningOptions(*command, *options);
  command->footer(
      "Examples:\n"
      "  wgrad fuzz openblas --time 60\n"
      "  wgrad fuzz ./libmine.so --dtype bf16 --cases 10000 --save failures/\n"
      "  wgrad fuzz mutant:dilation_ignored");
  command->callback([options, &exit_code] { exit_code = Fuzz(*options); });
}

}  // namespace wgrad::cli
