// Probe: asks a candidate the same question again and again while a failure is taken apart.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/candidate.h"
#include "oracle/examine.h"

namespace wgrad::fuzz {

/// Input data of one call.
struct CallData {
  Problem problem;
  Tensor input;
  Tensor out_backprop;
};

/// What one call gave, judged; and its result, where there is one.
struct CallOutcome {
  oracle::CaseVerdict verdict;
  std::optional<Tensor> result;
};

/// How often a failure shows when its case is run again.
struct FailureRate {
  int failed = 0;
  int runs = 0;

  bool always() const { return runs > 0 && failed == runs; }
  bool never() const { return failed == 0; }
  /// "3 of 50 runs".
  std::string Text() const { return std::to_string(failed) + " of " + std::to_string(runs) + " runs"; }
};

struct ProbeOptions {
  CandidateFactory make;
  oracle::JudgingChoice choice = {};
  /// Whether each question goes to an instance of its own. It must where nothing but the case itself may matter; a
  /// candidate in a process of its own is spared the start.
  bool fresh_instances = true;
  std::chrono::steady_clock::time_point deadline = {};
  bool (*stop)() = nullptr;  // asked besides: whether the user has had enough
};

class Probe {
 public:
  explicit Probe(ProbeOptions options);

  bool OutOfTime() const;
  oracle::CaseVerdict Run(const Case& c);
  /// Calls twice, as oracle::Examine does: a second result that differs is judged too.
  CallOutcome Run(const CallData& data);

  /// Runs the case up to 50 times: stops early where it fails each of the first ten times, or time is short.
  FailureRate Measure(const Case& c);
  /// Once Measure has found that a case fails in some runs only, one question is repeated until it fails, this often.
  void RepeatFor(const FailureRate& rate);

  /// Whether the case, or the call, goes wrong in one of the repeats. False once time is out.
  std::optional<oracle::CaseVerdict> Fails(const Case& c);
  std::optional<CallOutcome> Fails(const CallData& data);

 private:
  Candidate& Instance();
  oracle::Judging JudgingOf(const Problem& problem);

  ProbeOptions options_;
  std::unique_ptr<Candidate> candidate_;
  int repeats_ = 1;
};

}  // namespace wgrad::fuzz
