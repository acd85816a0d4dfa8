#include "oracle/ladder.h"

#include <array>

#include "core/check.h"

namespace wgrad::oracle {
namespace {

constexpr std::array<const char*, 12> kRungs = {"cr",         "faithful",   "wide",        "wide_hw",
                                                "depth:tree", "order",      "order_hw",    "input:bf16x3",
                                                "input:tf32", "input:bf16", "channel:fft", "tensor:strassen"};

}  // namespace

std::vector<Rung> Ladder(DTypePair dtypes) {
  std::vector<Rung> ladder;
  const bool narrow = dtypes.result_dtype == DType::kFloat16 || dtypes.result_dtype == DType::kBFloat16;
  for (std::size_t bit = 0; bit < kRungs.size(); ++bit) {
    std::string name = kRungs[bit];
    // Rounded inputs say something only where the inputs have more bits: float32.
    if (name.starts_with("input") && dtypes.dtype != DType::kFloat32) continue;
    // A narrow result summed in its own format is the class with that accumulator by name.
    if (name == "order" && narrow) name += ":" + std::string(NameOf(dtypes.result_dtype));
    Result<AccuracyClass> parsed = ParseClass(name);
    WGRAD_CHECK(parsed.ok(), "the ladder names a class that does not exist");
    ladder.push_back({static_cast<int>(bit), name, *parsed});
  }
  return ladder;
}

std::optional<std::string> BestGrade(const GradeSet& grades, DTypePair dtypes) {
  for (const Rung& rung : Ladder(dtypes)) {
    if ((grades.alive >> rung.bit & 1) != 0) return rung.name;
  }
  return std::nullopt;
}

}  // namespace wgrad::oracle
