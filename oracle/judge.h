// CaseJudge: the runs of one case against their exact sums, element by element. May include: core, reference, oracle.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "oracle/bound.h"
#include "oracle/facts.h"
#include "oracle/ladder.h"
#include "oracle/statistics.h"
#include "oracle/verdict.h"

namespace wgrad::oracle {

/// One call's data and answer.
struct JudgedRun {
  int number = 0;
  const std::string& label;
  const Tensor& input;
  const Tensor& out_backprop;
  const Tensor& actual;  // HWIO, the problem's result dtype
};

class CaseJudge {
 public:
  /// `filling` is nothing for data of a user's own.
  CaseJudge(const Problem& problem, const Judging& judging, std::optional<Filling> filling);

  /// Judges every element of a run. The first run also has its sums checked: one element per tap, drawn by `seed`, is
  /// summed again by the reference's two routes, and so is each wrong element that the verdict shows.
  void Add(const JudgedRun& run, std::uint64_t seed);

  /// Fills outcome (pass, fail or blind), reason, counts, worst elements, statistics, grades and advisories.
  void Finish(CaseVerdict& verdict) const;

 private:
  struct Element;  // one element while it is judged
  struct Row {     // a ladder class while it is alive
    Rung rung;
    ClassBound bound;
  };

  void AddBlock(const JudgedRun& run, FactsEngine& engine, const ElementRange& range);
  void JudgeElement(const JudgedRun& run, FactsEngine& engine, Element& element);
  bool Accepts(ClassBound& bound, FactsEngine& engine, Element& element);
  std::optional<bool> AcceptsSpecial(const Element& element) const;
  std::optional<bool> AcceptsQuickly(ClassBound& bound, Element& element);
  void AddNumbers(Element& element);
  /// How far from the sum `actual` may lie through the store alone.
  static double StoreReach(const ClassBound& bound, const Element& element);
  void UpdateGrades(FactsEngine& engine, Element& element);
  void Remember(const JudgedRun& run, FactsEngine& engine, Element& element, bool wrong);
  ElementFacts ExactFacts(const ClassBound& bound, FactsEngine& engine, const Element& element) const;
  bool CorrectlyRounded(Element& element) const;
  static bool HoldsCorrectlyRounded(const ClassBound& bound, const Element& element);
  /// Counts the element's covered terms where that is plain, else returns the magnitude above which they are.
  double CountCoverage(Element& element);
  double CoverageThreshold(Element& element);
  const ErrorRange& Permitted(Element& element);
  QuickFacts QuickFactsOf(const ClassBound& bound, const Element& element) const;
  void PrepareChannels(const JudgedRun& run, FactsEngine& engine);
  void CheckSample(const JudgedRun& run, const FactsBlock& block) const;

  Problem problem_;
  Judging judging_;
  DType result_dtype_;
  FloatFormat out_;
  ClassBound bound_;
  std::vector<Row> ladder_;
  GradeSet grades_;
  StatisticsCollector statistics_;
  std::int64_t wrong_ = 0;
  std::array<std::vector<std::int64_t>, 4> wrong_by_axis_;  // wrong elements by kh, kw, ic, oc
  std::vector<ElementFinding> worst_;
  std::uint64_t sample_seed_ = 0;
  // Of the run that is being judged:
  std::vector<double> input_norms_;  // by c; empty where no norm is wanted
  std::vector<double> out_backprop_norms_;
  double tensor_norm_ = 0;
  std::vector<bool> nonfinite_input_channels_;  // by c; empty where all are finite
  std::vector<bool> nonfinite_out_channels_;
};

}  // namespace wgrad::oracle
