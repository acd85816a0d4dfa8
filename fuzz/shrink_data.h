// Data that are plainer than those of a failing call: zeros wherever they will do, then +-1, then fewer bits.
#pragma once

#include "fuzz/probe.h"

namespace wgrad::fuzz {

/// A failing call of which no single number can be left out, and what came of it. Where the fault is one of structure,
/// that is one number in each tensor: a wrong result that is bilinear in the two tensors is wrong for some pair of
/// single numbers, and a set from which nothing can be left out is then such a pair.
struct PlainCall {
  CallData data;
  CallOutcome outcome;
};

/// Requires that `data` failed with `outcome`. Stops where the probe's time is out, with what it has.
PlainCall ShrinkData(CallData data, CallOutcome outcome, Probe& probe);

}  // namespace wgrad::fuzz
