// The same call in other programs' words, so that a problem can be tried elsewhere.
#pragma once

#include <string>

#include "core/problem.h"

namespace wgrad::cli {

/// Python for TensorFlow's raw op.
std::string TensorFlowCall(const Problem& problem);
/// Python for torch.nn.grad.conv2d_weight; pads that differ before and after are laid around the input first.
std::string PyTorchCall(const Problem& problem);
/// The arguments of oneDNN's benchdnn.
std::string BenchdnnCall(const Problem& problem);

}  // namespace wgrad::cli
