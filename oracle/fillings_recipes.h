// The recipes behind oracle/fillings.h: for each filling how many runs it has and how one is made.
// Part of oracle/fillings; not installed.
#pragma once

#include <vector>

#include "oracle/fillings.h"

namespace wgrad::oracle::filling {

/// A run with both tensors all zero.
Run EmptyRun(const Problem& problem);

Run MakeIntA(const Case& c, int run);
Run MakeIntO(const Case& c, int run);
int PartitionRuns(const Problem& problem);
Run MakePartition(const Case& c, int run);

int OneHotRuns(const Problem& problem);
Run MakeOneHot(const Case& c, int run);
int CodedRuns(const Problem& problem);
Run MakeCoded(const Case& c, int run);

Run MakeNormal(const Case& c, int run);
Run MakePositive(const Case& c, int run);
Run MakeWide(const Case& c, int run);
int TinyRuns(const Problem& problem);
Run MakeTiny(const Case& c, int run);
int LocalRuns(const Problem& problem);
Run MakeLocal(const Case& c, int run);
int SymmetryRuns(const Problem& problem);
Run MakeSymmetry(const Case& c, int run);
std::vector<BitRelation> SymmetryRelations(const Problem& problem);

int StairRuns(const Problem& problem);
Run MakeStair(const Case& c, int run);
Run MakeCancel(const Case& c, int run);
int HugeRuns(const Problem& problem);
Run MakeHuge(const Case& c, int run);

int SpecialRuns(const Problem& problem);
Run MakeSpecial(const Case& c, int run);

}  // namespace wgrad::oracle::filling
