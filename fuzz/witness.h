// What a plain failing call shows, in one sentence: which numbers, where they must land, where they did.
#pragma once

#include <string>

#include "fuzz/shrink_data.h"

namespace wgrad::fuzz {

/// Numbers that are not zero, in both tensors together.
std::int64_t NonZeroCount(const CallData& data);

/// "input[0,2,1,0] = 1 and out_backprop[0,1,0,0] = 1 must land on filter_backprop[1,1,0,0]; yours put it on [1,0,0,0]".
/// Indices are in the order of the problem's data format; those of filter_backprop are kh, kw, ic, oc.
std::string WitnessSentence(const PlainCall& call);

}  // namespace wgrad::fuzz
