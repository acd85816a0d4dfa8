// The grade ladder: the parameter-free classes from best to worst, and which of them an implementation still holds.
#pragma once

#include <string>
#include <vector>

#include "oracle/bound.h"
#include "oracle/verdict.h"

namespace wgrad::oracle {

/// One rung for problems of one dtype pair.
struct Rung {
  int bit;           // in GradeSet::alive
  std::string name;  // as --class takes it
  AccuracyClass accuracy_class;
};

/// The rungs that exist for the dtypes, best first.
std::vector<Rung> Ladder(DTypePair dtypes);

}  // namespace wgrad::oracle
