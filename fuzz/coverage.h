// Coverage: what a run of random cases has met. Counted exactly, so that the statement at its end is one of fact.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/case.h"
#include "fuzz/space.h"
#include "oracle/verdict.h"

namespace wgrad::fuzz {

/// Seen out of all that the space has.
struct Share {
  std::int64_t seen = 0;
  std::int64_t total = 0;
};

/// One argument and the classes that its values are counted in: "stride of rows": 1, 2, 3+.
struct Argument {
  std::string_view name;
  std::vector<std::string_view> classes;
  int (*class_of)(const Case& c);
};
const std::vector<Argument>& Arguments();

class Coverage {
 public:
  explicit Coverage(const Space& space);

  void Add(const oracle::CaseVerdict& verdict);
  void Merge(const Coverage& other);

  std::int64_t cases() const { return cases_; }
  std::int64_t elements() const { return elements_; }
  std::int64_t terms() const { return terms_; }
  /// Of terms(), those whose loss was certain to be seen under the class that judged.
  std::int64_t covered_terms() const { return covered_terms_; }

  Share Pairs() const;    // of classes of two arguments
  Share Triples() const;  // of three
  /// "groups 2+ with layout NCHW", for the pairs that were never met.
  std::vector<std::string> MissingPairs() const;
  const std::array<std::int64_t, kFillingCount>& fillings() const { return fillings_; }
  const std::vector<std::int64_t>& regions() const { return regions_; }  // cases in each of Regions()
  /// Sizes one short of or past a block that channels, columns or the batch had, of those that the space allows.
  Share Tails() const;

 private:
  struct Word {
    std::size_t argument;
    int argument_class;
    std::size_t number;  // of the class among those of all arguments
  };
  std::vector<Word> PossibleWords() const;
  void AddClasses(const Case& c);
  bool IsPossible(std::size_t argument, int argument_class) const;

  Space space_;
  std::int64_t cases_ = 0, elements_ = 0, terms_ = 0, covered_terms_ = 0;
  std::array<std::int64_t, kFillingCount> fillings_{};
  std::vector<std::int64_t> regions_;
  std::vector<bool> pairs_;
  std::vector<bool> triples_;
  std::map<std::int64_t, std::array<bool, 4>> tails_;  // size -> met as input depth, out depth, columns, batch
};

}  // namespace wgrad::fuzz
