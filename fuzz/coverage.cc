#include "fuzz/coverage.h"

#include <algorithm>

#include "fuzz/regions.h"

namespace wgrad::fuzz {
namespace {

constexpr std::int64_t kTailBlocks[] = {4, 8, 16, 32, 64, 128};

// 1, 2 and 3 or more are classes 0, 1 and 2; an empty axis counts with 1.
int UpToThree(std::int64_t size) { return static_cast<int>(std::clamp<std::int64_t>(size, 1, 3)) - 1; }
int AboveOne(std::int64_t step) { return step > 1 ? 1 : 0; }

int DTypeClass(const Case& c) {
  static const std::vector<std::string_view> tags = {"f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"};
  return static_cast<int>(std::find(tags.begin(), tags.end(), DTypeTag(c.problem)) - tags.begin());
}

std::vector<std::string_view> FillingNames() {
  std::vector<std::string_view> names;
  for (int i = 0; i < kFillingCount; ++i) names.push_back(NameOf(static_cast<Filling>(i)));
  return names;
}

// Everything that was chosen freely; each class can be met beside each of another argument but for what a space lacks.
std::vector<Argument> MakeArguments() {
  const std::vector<std::string_view> sizes = {"1", "2", "3+"};
  const std::vector<std::string_view> steps = {"1", "2+"};
  return {
      {"dtype", {"f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"}, DTypeClass},
      {"layout", {"NHWC", "NCHW"}, [](const Case& c) { return static_cast<int>(c.problem.data_format()); }},
      {"padding", {"SAME", "VALID", "EXPLICIT"}, [](const Case& c) { return static_cast<int>(c.problem.padding()); }},
      {"batch", sizes, [](const Case& c) { return UpToThree(c.problem.batch()); }},
      {"image rows", sizes, [](const Case& c) { return UpToThree(c.problem.rows().input); }},
      {"image columns", sizes, [](const Case& c) { return UpToThree(c.problem.columns().input); }},
      {"filter rows", sizes, [](const Case& c) { return UpToThree(c.problem.rows().filter); }},
      {"filter columns", sizes, [](const Case& c) { return UpToThree(c.problem.columns().filter); }},
      {"groups", steps, [](const Case& c) { return AboveOne(c.problem.groups()); }},
      {"filter depth", sizes, [](const Case& c) { return UpToThree(c.problem.filter_depth()); }},
      {"outputs a group", sizes, [](const Case& c) { return UpToThree(c.problem.out_depth_per_group()); }},
      {"stride of rows", steps, [](const Case& c) { return AboveOne(c.problem.rows().stride); }},
      {"stride of columns", steps, [](const Case& c) { return AboveOne(c.problem.columns().stride); }},
      {"dilation of rows", steps, [](const Case& c) { return AboveOne(c.problem.rows().dilation); }},
      {"dilation of columns", steps, [](const Case& c) { return AboveOne(c.problem.columns().dilation); }},
      {"filling", FillingNames(), [](const Case& c) { return static_cast<int>(c.filling); }},
  };
}

// Flat numbers for classes of arguments, and of their pairs and triples.
struct Numbering {
  std::vector<int> offsets;  // of each argument's first class
  int classes = 0;

  Numbering() {
    for (const Argument& argument : Arguments()) {
      offsets.push_back(classes);
      classes += static_cast<int>(argument.classes.size());
    }
  }
  std::size_t Of(std::size_t argument, int argument_class) const {
    return static_cast<std::size_t>(offsets[argument] + argument_class);
  }
  std::size_t Pair(std::size_t a, std::size_t b) const { return a * static_cast<std::size_t>(classes) + b; }
  std::size_t Triple(std::size_t a, std::size_t b, std::size_t c) const {
    return Pair(a, b) * static_cast<std::size_t>(classes) + c;
  }
};

const Numbering& Numbers() {
  static const Numbering numbering;
  return numbering;
}

bool IsNarrow(const DTypePair& dtypes) { return SizeOf(dtypes.dtype) == 2 || SizeOf(dtypes.result_dtype) == 2; }

}  // namespace

const std::vector<Argument>& Arguments() {
  static const std::vector<Argument> arguments = MakeArguments();
  return arguments;
}

Coverage::Coverage(const Space& space) : space_(space), regions_(Regions().size()) {
  const auto classes = static_cast<std::size_t>(Numbers().classes);
  pairs_.resize(classes * classes);
  triples_.resize(classes * classes * classes);
  for (const std::int64_t block : kTailBlocks) {
    for (const std::int64_t size : {block - 1, block + 1}) {
      if (size <= space.max_size) tails_[size] = {};
    }
  }
}

void Coverage::Add(const oracle::CaseVerdict& verdict) {
  const Case& c = *verdict.c;
  ++cases_;
  elements_ += verdict.statistics.elements;
  terms_ += verdict.statistics.terms;
  covered_terms_ += verdict.statistics.covered_terms;
  ++fillings_[static_cast<std::size_t>(c.filling)];
  for (std::size_t region = 0; region < regions_.size(); ++region) {
    if (Regions()[region].contains(c.problem)) ++regions_[region];
  }
  AddClasses(c);
  const std::int64_t sizes[] = {c.problem.filter_depth(), c.problem.out_depth(), c.problem.columns().output,
                                c.problem.batch()};
  for (std::size_t axis = 0; axis < std::size(sizes); ++axis) {
    const auto tail = tails_.find(sizes[axis]);
    if (tail != tails_.end()) tail->second[axis] = true;
  }
}

void Coverage::AddClasses(const Case& c) {
  std::vector<std::size_t> classes;
  for (const Argument& argument : Arguments()) {
    classes.push_back(Numbers().Of(classes.size(), argument.class_of(c)));
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    for (std::size_t j = i + 1; j < classes.size(); ++j) {
      pairs_[Numbers().Pair(classes[i], classes[j])] = true;
      for (std::size_t k = j + 1; k < classes.size(); ++k) {
        triples_[Numbers().Triple(classes[i], classes[j], classes[k])] = true;
      }
    }
  }
}

void Coverage::Merge(const Coverage& other) {
  cases_ += other.cases_;
  elements_ += other.elements_;
  terms_ += other.terms_;
  covered_terms_ += other.covered_terms_;
  for (std::size_t i = 0; i < fillings_.size(); ++i) fillings_[i] += other.fillings_[i];
  for (std::size_t i = 0; i < regions_.size(); ++i) regions_[i] += other.regions_[i];
  for (std::size_t i = 0; i < pairs_.size(); ++i) pairs_[i] = pairs_[i] || other.pairs_[i];
  for (std::size_t i = 0; i < triples_.size(); ++i) triples_[i] = triples_[i] || other.triples_[i];
  for (const auto& [size, met] : other.tails_) {
    for (std::size_t axis = 0; axis < met.size(); ++axis) tails_[size][axis] = tails_[size][axis] || met[axis];
  }
}

// Whether the space has problems of the class. A pair may still be impossible for a candidate of few abilities, or in
// problems that are small enough; such pairs are then shown as missing.
bool Coverage::IsPossible(std::size_t argument, int argument_class) const {
  const std::string_view name = Arguments()[argument].name;
  const std::string_view wanted = Arguments()[argument].classes[static_cast<std::size_t>(argument_class)];
  const Capabilities& can = space_.capabilities;
  const auto any_dtype = [&](const auto& holds) { return std::ranges::any_of(space_.dtypes, holds); };
  if (name == "dtype") return any_dtype([&](const DTypePair& pair) { return DTypePairFromTag(wanted) == pair; });
  if (name == "layout") return can.data_formats.contains(std::string(wanted));
  if (name == "padding") return can.paddings.contains(std::string(wanted));
  if (name == "groups") return wanted == "1" || can.groups;
  if (name.starts_with("dilation")) return wanted == "1" || can.dilation;
  if (name == "filling" && wanted == NameOf(Filling::kIntO)) return any_dtype(IsNarrow);
  return true;
}

// The classes that the space has, as (argument, class), arguments in order.
std::vector<Coverage::Word> Coverage::PossibleWords() const {
  std::vector<Word> words;
  for (std::size_t argument = 0; argument < Arguments().size(); ++argument) {
    for (int which = 0; which < static_cast<int>(Arguments()[argument].classes.size()); ++which) {
      if (IsPossible(argument, which)) words.push_back({argument, which, Numbers().Of(argument, which)});
    }
  }
  return words;
}

Share Coverage::Pairs() const {
  Share share;
  const std::vector<Word> words = PossibleWords();
  for (const Word& a : words) {
    for (const Word& b : words) {
      if (a.argument >= b.argument) continue;
      ++share.total;
      share.seen += pairs_[Numbers().Pair(a.number, b.number)] ? 1 : 0;
    }
  }
  return share;
}

Share Coverage::Triples() const {
  Share share;
  const std::vector<Word> words = PossibleWords();
  for (const Word& a : words) {
    for (const Word& b : words) {
      if (a.argument >= b.argument) continue;
      for (const Word& c : words) {
        if (b.argument >= c.argument) continue;
        ++share.total;
        share.seen += triples_[Numbers().Triple(a.number, b.number, c.number)] ? 1 : 0;
      }
    }
  }
  return share;
}

std::vector<std::string> Coverage::MissingPairs() const {
  const auto text = [](const Word& word) {
    const Argument& argument = Arguments()[word.argument];
    return std::string(argument.name) + " " +
           std::string(argument.classes[static_cast<std::size_t>(word.argument_class)]);
  };
  std::vector<std::string> missing;
  const std::vector<Word> words = PossibleWords();
  for (const Word& a : words) {
    for (const Word& b : words) {
      const bool seen = a.argument >= b.argument || pairs_[Numbers().Pair(a.number, b.number)];
      if (!seen) missing.push_back(text(a) + " with " + text(b));
    }
  }
  return missing;
}

Share Coverage::Tails() const {
  Share share;
  for (const auto& [size, met] : tails_) {
    share.total += static_cast<std::int64_t>(met.size());
    share.seen += std::count(met.begin(), met.end(), true);
  }
  return share;
}

}  // namespace wgrad::fuzz
