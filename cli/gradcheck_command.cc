// `wgrad gradcheck`: the identities that tie the three maps of a convolution together, over random problems or one.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/judging_options.h"
#include "cli/registry.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "fuzz/case_source.h"
#include "fuzz/gradient_check.h"
#include "report/report.h"
#include "report/table.h"

namespace wgrad::cli {
namespace {

using report::internal::Align;
using report::internal::Grouped;
using report::internal::Paint;
using report::internal::Quantity;
using report::internal::Ratio;
using report::internal::Style;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kDefaultCases = 60;          // random problems
constexpr std::int64_t kDefaultCasesOfProblem = 5;  // of one problem
constexpr double kLongestSeconds = 1e6;
constexpr std::int64_t kMaxSize = 9;     // of an axis of a random problem,
constexpr std::int64_t kMaxWork = 2000;  // and its multiply-adds: exact maps are slow

struct GradcheckOptions {
  std::string candidate;    // empty: the reference's own maps
  std::int64_t cases = -1;  // below 0: not given
  double seconds = -1;
  std::string seed = "1";
  std::string problem;
  std::string dtype;
  JudgingWords judging;
};

// The options, read and found to make sense.
struct GradcheckRequest {
  oracle::JudgingChoice choice;
  std::uint64_t seed = 1;
  std::int64_t cases = 0;  // 0: no limit
  double seconds = 0;      // 0: no limit
  std::optional<Problem> problem;
};

Error Usage(const std::string& message) { return {ErrorCode::kInvalidArgument, message}; }

Status CheckNumbers(const GradcheckOptions& options) {
  if (options.seconds != -1 && !(options.seconds > 0 && options.seconds <= kLongestSeconds)) {
    return Usage("--time is a number of seconds above 0 and at most 1000000");
  }
  if (options.cases == 0 || options.cases < -1) {
    return Usage("--cases is a number of cases from 1, got " + std::to_string(options.cases));
  }
  return Ok();
}

Result<Problem> ReadProblem(const GradcheckOptions& options) {
  Selection selection;
  selection.problems = {options.problem};
  selection.dtype = options.dtype;
  const Result<Selected> selected = Select(selection);
  if (!selected.ok()) return selected.error();
  const Problem& problem = selected->problems.front();
  if (problem.multiply_adds() <= fuzz::kMaxGradientWork) return problem;
  return Usage("--problem " + Format(problem) + " has " + Grouped(problem.multiply_adds()) +
               " multiply-adds; exact maps are slow, and take at most " + Grouped(fuzz::kMaxGradientWork));
}

Result<GradcheckRequest> ReadRequest(const GradcheckOptions& options) {
  if (Status numbers = CheckNumbers(options); !numbers.ok()) return numbers.error();
  GradcheckRequest request;
  Result<oracle::JudgingChoice> choice = ToJudgingChoice(options.judging);
  if (!choice.ok()) return choice.error();
  request.choice = *choice;
  const Result<std::uint64_t> seed = ParseSeed(options.seed);
  if (!seed.ok()) return seed.error();
  request.seed = *seed;
  if (!options.problem.empty()) {
    Result<Problem> problem = ReadProblem(options);
    if (!problem.ok()) return problem.error();
    request.problem = *problem;
  } else if (!options.dtype.empty()) {
    const Result<DTypePair> dtype = ParseDTypeTag(options.dtype);
    if (!dtype.ok()) return dtype.error();
  }
  request.seconds = std::max(0.0, options.seconds);
  const std::int64_t usual = request.problem ? kDefaultCasesOfProblem : kDefaultCases;
  request.cases = options.cases > 0 ? options.cases : request.seconds > 0 ? 0 : usual;
  return request;
}

// What all cases of a run come to.
struct Totals {
  std::array<std::int64_t, fuzz::kIdentityCount> cases{};  // that compared something
  std::array<fuzz::IdentityVerdict, fuzz::kIdentityCount> identities{};
  std::int64_t run = 0, compared = 0, wrong = 0;
  std::string nothing_compared;  // why, in the first such case
  std::int64_t classic_run = 0, classic_passed = 0, classic_missed = 0, classic_refused = 0;
  double classic_error = 0;
  std::string first_failure;  // sentences and command

  void Add(const fuzz::GradientVerdict& verdict);
  void AddClassic(const fuzz::ClassicVerdict& classic, bool wrong);
};

void Totals::Add(const fuzz::GradientVerdict& verdict) {
  ++run;
  const bool is_wrong = IsWrong(verdict.outcome);
  wrong += is_wrong ? 1 : 0;
  bool any = is_wrong;
  for (std::size_t i = 0; i < identities.size(); ++i) {
    const fuzz::IdentityVerdict& identity = verdict.identities[i];
    identities[i].comparisons += identity.comparisons;
    identities[i].failures += identity.failures;
    identities[i].ratio = std::max(identities[i].ratio, identity.ratio);
    cases[i] += identity.comparisons > 0 ? 1 : 0;
    any = any || identity.comparisons > 0;
  }
  compared += any ? 1 : 0;
  if (!any && nothing_compared.empty()) nothing_compared = verdict.reason;
  if (verdict.classic.ran) AddClassic(verdict.classic, is_wrong);
}

void Totals::AddClassic(const fuzz::ClassicVerdict& classic, bool is_wrong) {
  ++classic_run;
  classic_passed += classic.passed ? 1 : 0;
  classic_missed += classic.passed && is_wrong ? 1 : 0;
  classic_refused += !classic.passed && !is_wrong ? 1 : 0;
  classic_error = std::max(classic_error, classic.error);
}

std::string TableText(const Totals& totals, const Paint& paint) {
  report::internal::Table table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({{"identity"}, {"cases"}, {"comparisons"}, {"failures"}, {"error/tolerance"}, {""}});
  for (std::size_t i = 0; i < totals.identities.size(); ++i) {
    const auto identity = static_cast<fuzz::Identity>(i);
    const fuzz::IdentityVerdict& sums = totals.identities[i];
    const Style style = sums.failures > 0 ? Style::kBad : Style::kPlain;
    std::string error = "-";
    if (sums.comparisons > 0 && sums.failures == 0) error = "0";
    if (sums.failures > 0) error = "not equal";
    if (identity == fuzz::Identity::kRounded && sums.comparisons > 0) error = Ratio(sums.ratio);
    table.AddRow({{std::string(NameOf(identity))},
                  {Grouped(totals.cases[i])},
                  {Grouped(sums.comparisons)},
                  {Grouped(sums.failures), style},
                  {error, style},
                  {std::string(DescriptionOf(identity)), Style::kDim}});
  }
  return table.Render(2, paint);
}

std::string ClassicText(const Totals& totals) {
  if (totals.classic_run == 0) return "";
  std::string text =
      "\n  the usual check (float32 central difference, step 1e-3, tolerance 1e-3) decides nothing here; "
      "it would have\n  passed " +
      Grouped(totals.classic_passed) + " of " + Quantity(totals.classic_run, "case") + ", with a largest error of " +
      Ratio(totals.classic_error / fuzz::kClassicTolerance) + " times its tolerance";
  if (totals.classic_missed > 0) text += ", and missed " + Quantity(totals.classic_missed, "failing case");
  if (totals.classic_refused > 0) text += ", and refused " + Quantity(totals.classic_refused, "right case");
  return text + "\n";
}

// One candidate, one of its variants, or the reference's own maps.
class Gradcheck {
 public:
  Gradcheck(const GradcheckOptions& options, const GradcheckRequest& request, const OpenedCandidate* opened)
      : options_(options), request_(request), opened_(opened) {}

  /// Errors: dtypes that the candidate has not, a class that its declaration names and that does not exist.
  Status Run(double seconds) {
    if (opened_ != nullptr) candidate_ = opened_->make();
    const Result<fuzz::Space> space = MakeSpace();
    if (!request_.problem && !space.ok()) return Usage(Name() + ": " + space.error().message);
    std::optional<fuzz::CaseSource> source;
    if (!request_.problem) source.emplace(*space, fuzz::CaseSource::Options{request_.seed});
    const Clock::time_point end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    for (std::uint64_t i = 0; !Done(i) && !(seconds > 0 && Clock::now() >= end); ++i) {
      // Of a drawn case only problem and seed are used.
      const Case c = source ? source->Draw(i) : Case{*request_.problem, Filling::kIntA, request_.seed + i};
      if (Status status = RunCase(c.problem, c.seed); !status.ok()) return status;
    }
    Print(Text());
    return Ok();
  }

  const Totals& totals() const { return totals_; }

 private:
  std::string Name() const { return opened_ != nullptr ? opened_->argument : "the reference's own maps"; }
  bool Done(std::uint64_t i) const {
    return Interrupted() || (request_.cases > 0 && i >= static_cast<std::uint64_t>(request_.cases));
  }

  Result<fuzz::Space> MakeSpace() const {
    const Capabilities capabilities = opened_ != nullptr ? opened_->greeting.capabilities : Capabilities{};
    return fuzz::MakeSpace(capabilities, {.dtype = options_.dtype, .max_size = kMaxSize, .max_work = kMaxWork});
  }

  Status RunCase(const Problem& problem, std::uint64_t seed) {
    if (candidate_ == nullptr) {
      Take(problem, seed, fuzz::CheckMaps(problem, seed), "");
      return Ok();
    }
    const Result<oracle::Judging> judging = oracle::Resolve(problem, request_.choice, opened_->greeting.declaration);
    if (!judging.ok()) return judging.error();
    Take(problem, seed, fuzz::CheckGradient(problem, seed, *candidate_, *judging),
         report::JudgingWords(CommandLine(), *judging));
    return Ok();
  }

  void Take(const Problem& problem, std::uint64_t seed, const fuzz::GradientVerdict& verdict,
            const std::string& judging_words) {
    totals_.Add(verdict);
    if (!IsWrong(verdict.outcome) || !totals_.first_failure.empty()) return;
    const std::string what = verdict.outcome == fuzz::PropertyOutcome::kBroken
                                 ? ""
                                 : "the candidate's answer was " + std::string(NameOf(verdict.outcome)) + ": ";
    totals_.first_failure = "  " + Format(problem) + ", seed " + std::to_string(seed) + "\n  " + what +
                            report::internal::OneLine(verdict.reason) + "\n  again      " + ProgramName() +
                            " gradcheck " + (opened_ != nullptr ? report::QuoteForShell(opened_->argument) + " " : "") +
                            "--problem " + Format(problem) + " --seed " + std::to_string(seed) + " --cases 1" +
                            judging_words + "\n";
  }

  std::string Text() const {
    const Paint paint(MayColor(STDOUT_FILENO));
    std::string text = "gradient check of " + Name() + ", " + Quantity(totals_.run, "case") + ", seed " +
                       std::to_string(request_.seed) + "\n\n" + TableText(totals_, paint) + ClassicText(totals_);
    if (totals_.compared < totals_.run) {
      text += "\n  " + Quantity(totals_.run - totals_.compared, "case") +
              " compared nothing: " + report::internal::OneLine(totals_.nothing_compared) + "\n";
    }
    if (!totals_.first_failure.empty()) text += "\nfirst failure\n" + totals_.first_failure;
    return text + "\n" + Conclusion() + "\n\n";
  }

  std::string Conclusion() const {
    const std::string end = Interrupted() ? "; interrupted" : "";
    if (totals_.wrong > 0) {
      return "FAIL: " + Name() + " broke identities in " + Grouped(totals_.wrong) + " of " +
             Quantity(totals_.run, "case") + end;
    }
    return totals_.compared > 0 ? "PASS: " + Name() + " kept every identity" + end : "nothing was compared" + end;
  }

  const GradcheckOptions& options_;
  const GradcheckRequest& request_;
  const OpenedCandidate* opened_;
  std::unique_ptr<Candidate> candidate_;
  Totals totals_;
};

ExitCode RunAll(const GradcheckOptions& options, const GradcheckRequest& request,
                const std::vector<const OpenedCandidate*>& candidates) {
  bool wrong = false, compared = false;
  const double seconds = request.seconds / static_cast<double>(candidates.size());
  for (const OpenedCandidate* candidate : candidates) {
    if (Interrupted()) break;
    Gradcheck check(options, request, candidate);
    if (Status run = check.Run(seconds); !run.ok()) return Refuse(run.error());
    wrong = wrong || check.totals().wrong > 0;
    compared = compared || check.totals().compared > 0;
  }
  if (wrong) return ExitCode::kFailed;
  if (Interrupted()) return ExitCode::kInterrupted;
  return compared ? ExitCode::kPass : ExitCode::kNothingCompared;
}

ExitCode RunGradcheck(const GradcheckOptions& options) {
  CatchInterrupts();
  const Result<GradcheckRequest> request = ReadRequest(options);
  if (!request.ok()) return Refuse(request.error());
  if (options.candidate.empty()) return RunAll(options, *request, {nullptr});
  const Result<std::vector<OpenedCandidate>> opened = OpenCandidate(options.candidate, {});
  if (!opened.ok()) return Refuse(opened.error());
  std::vector<const OpenedCandidate*> candidates;
  for (const OpenedCandidate& candidate : *opened) candidates.push_back(&candidate);
  return RunAll(options, *request, candidates);
}

}  // namespace

void AddGradcheckCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command =
      program.add_subcommand("gradcheck", "Check a filter gradient against the forward map it belongs to");
  auto options = std::make_shared<GradcheckOptions>();
  command->add_option("CANDIDATE", options->candidate,
                      "As for `wgrad check`; without it, the reference's three maps are checked against each other");
  command->add_option("--cases", options->cases, "Stop after this many cases; default 60, of one problem 5")
      ->type_name("N");
  command->add_option("--time", options->seconds, "Stop after this many seconds")->type_name("SECONDS");
  command->add_option("--seed", options->seed, "Seed of problems and data; default 1")->type_name("N");
  command->add_option("--problem", options->problem, "This problem instead of random ones, with seeds from --seed on")
      ->type_name("PROBLEM");
  command->add_option("--dtype", options->dtype, "This dtype only: f16, bf16, f32, f64, f16_f32, bf16_f32")
      ->type_name("TAG");
  AddJudgingOptions(*command, options->judging);
  command->footer(
      "Examples:\n"
      "  wgrad gradcheck\n"
      "  wgrad gradcheck openblas --dtype f32 --time 10\n"
      "  wgrad gradcheck mutant:taps_rotated --problem n2_i5x7_c6_k3x2_o4_same_f32");
  command->callback([options, &exit_code] { exit_code = RunGradcheck(*options); });
}

}  // namespace wgrad::cli
