#include "fuzz/shrink.h"

#include <chrono>
#include <utility>

#include "fuzz/shrink_problem.h"
#include "fuzz/witness.h"
#include "oracle/fillings.h"

namespace wgrad::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// Integers show a fault of structure best, and shrink furthest; the case's own data come second.
std::vector<Filling> PlainerFillings(Filling filling) {
  if (filling == Filling::kIntA) return {filling};
  return {Filling::kIntA, filling};
}

// The first run of the case that fails by itself.
std::optional<PlainCall> FailingRun(const Case& c, Probe& probe) {
  const oracle::FilledCase filled(c);
  for (int number = 0; number < filled.run_count() && !probe.OutOfTime(); ++number) {
    oracle::Run run = filled.MakeRun(number);
    CallData data{c.problem, std::move(run.input), std::move(run.out_backprop)};
    if (std::optional<CallOutcome> outcome = probe.Fails(data)) return PlainCall{std::move(data), *std::move(outcome)};
  }
  return std::nullopt;
}

void ShrinkCase(Shrunk& shrunk, Probe& probe) {
  const oracle::Outcome kind = shrunk.verdict.outcome;
  const auto take = [&](const Case& c) {
    std::optional<oracle::CaseVerdict> verdict = probe.Fails(c);
    if (!verdict || verdict->outcome != kind) return false;
    shrunk.plainest = c;
    shrunk.verdict = *std::move(verdict);
    return true;
  };
  for (const Filling filling : PlainerFillings(shrunk.plainest.filling)) {
    if (filling == shrunk.plainest.filling || take({shrunk.plainest.problem, filling, shrunk.plainest.seed})) break;
  }
  const Case start = shrunk.plainest;
  ShrinkProblem(start.problem, [&](const Problem& problem) { return take({problem, start.filling, start.seed}); });
  if (shrunk.plainest.seed != 1) take({shrunk.plainest.problem, shrunk.plainest.filling, 1});
}

}  // namespace

Shrunk Shrink(const oracle::CaseVerdict& failure, const ProbeOptions& options) {
  const Clock::time_point start = Clock::now();
  Probe probe(options);
  Shrunk shrunk{*failure.c, failure, {}, std::nullopt, "", 0, false};
  shrunk.rate = probe.Measure(*failure.c);
  if (!shrunk.rate.never()) {
    probe.RepeatFor(shrunk.rate);
    ShrinkCase(shrunk, probe);
    if (std::optional<PlainCall> call = FailingRun(shrunk.plainest, probe)) {
      shrunk.call = ShrinkData(std::move(call->data), std::move(call->outcome), probe);
      shrunk.witness = WitnessSentence(*shrunk.call);
    }
  }
  shrunk.out_of_time = probe.OutOfTime();
  shrunk.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return shrunk;
}

}  // namespace wgrad::fuzz
