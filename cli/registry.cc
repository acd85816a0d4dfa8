#include "cli/registry.h"

#include <wordexp.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "candidates/plugin/plugin_candidate.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "fuzz/kernels/right_kernels.h"
#include "fuzz/kernels/wrong_kernels.h"
#include "optimized/filter_gradient.h"
#include "reference/filter_gradient.h"

namespace wgrad::cli {
namespace {

constexpr std::string_view kMutantPrefix = "mutant:";
constexpr std::string_view kRightPrefix = "right:";

// A candidate's words: "onednn:any" is name onednn, variant any.
struct CandidateWords {
  std::string name;
  std::string variant;  // empty: all
  bool is_path = false;
};

bool LooksLikePath(std::string_view word) { return word.find('/') != std::string_view::npos || word.ends_with(".so"); }

CandidateWords Split(std::string_view argument) {
  const std::size_t cut = argument.rfind(':');
  const std::string_view name = argument.substr(0, cut);
  // The colon of a folder's name belongs to the path.
  const bool cuts_path = LooksLikePath(argument) && !name.ends_with(".so");
  if (cut == std::string_view::npos || cuts_path) return {std::string(argument), "", LooksLikePath(argument)};
  return {std::string(name), std::string(argument.substr(cut + 1)), LooksLikePath(name)};
}

template <typename Kernel>
std::vector<std::string> NamesOf(const std::vector<Kernel>& kernels) {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels) names.push_back(kernel.name);
  return names;
}

candidates::ProcessLimits LimitsOf(const CandidateSettings& settings) {
  candidates::ProcessLimits limits;
  if (settings.time_limit_seconds > 0) {
    limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(settings.time_limit_seconds * 1000));
  }
  if (settings.memory_limit_mib > 0) limits.memory_bytes = settings.memory_limit_mib << 20;
  return limits;
}

std::vector<OpenedCandidate> InProcess(std::string_view argument, const CandidateFactory& make) {
  return {{std::string(argument), make()->greeting(), make}};
}

OpenedCandidate ToCandidate(const std::string& argument, candidates::OpenedProcess process) {
  return {argument, std::move(process.greeting.greeting), std::move(process.make), std::move(process.make_perturbed)};
}

// `variants` of the candidate `name`, of which `variant` may be the only one wanted.
Result<std::vector<OpenedCandidate>> Chosen(const std::string& name, const std::string& variant,
                                            Result<candidates::OpenedVariants> variants) {
  if (!variants.ok()) return variants.error();
  candidates::OpenedVariants opened = std::move(variants).value();
  if (opened.opened.empty()) return UnknownName("variant of " + name, variant, opened.known);
  std::vector<OpenedCandidate> candidates;
  for (candidates::OpenedProcess& process : opened.opened) {
    const std::string suffix = process.variant.empty() ? "" : ":" + process.variant;
    candidates.push_back(ToCandidate(name + suffix, std::move(process)));
  }
  return candidates;
}

Result<std::vector<OpenedCandidate>> OpenPluginFile(const CandidateWords& words, const CandidateSettings& settings) {
  if (!std::filesystem::exists(words.name)) {
    return Error{ErrorCode::kNotFound, "candidate \"" + words.name + "\": there is no file " + words.name};
  }
  return Chosen(words.name, words.variant, candidates::OpenPlugin(words.name, LimitsOf(settings), words.variant));
}

// A shell's quotes, variables and wildcards, without its commands.
Result<std::vector<std::string>> SplitCommand(const std::string& text) {
  wordexp_t expansion;
  if (wordexp(text.c_str(), &expansion, WRDE_NOCMD) != 0) {
    return Error{ErrorCode::kBadText, "\"" + text +
                                          "\" is no program with its arguments: quote it as a shell wants it, "
                                          "without |, &, ;, <, >, (, ), {, } and $(..)"};
  }
  const std::span<char*> words(expansion.we_wordv, expansion.we_wordc);
  std::vector<std::string> command(words.begin(), words.end());
  wordfree(&expansion);
  if (command.empty()) return Error{ErrorCode::kBadText, "cmd: needs a program, e.g. 'cmd:python3 mine.py'"};
  return command;
}

// "cmd:python3 mine.py", or "cmd[VARIANT]:python3 mine.py".
struct CommandWords {
  std::string command;
  std::string variant;  // empty: all

  std::string WithVariant(const std::string& name) const {
    return (name.empty() ? "cmd:" : "cmd[" + name + "]:") + command;
  }
};

std::optional<CommandWords> ParseCommand(std::string_view argument) {
  constexpr std::string_view kAll = "cmd:";
  constexpr std::string_view kOne = "cmd[";
  if (argument.starts_with(kAll)) return CommandWords{std::string(argument.substr(kAll.size())), ""};
  const std::size_t end = argument.find("]:");
  if (!argument.starts_with(kOne) || end == std::string_view::npos) return std::nullopt;
  return CommandWords{std::string(argument.substr(end + 2)),
                      std::string(argument.substr(kOne.size(), end - kOne.size()))};
}

Result<std::vector<OpenedCandidate>> OpenCommand(const CommandWords& wanted, const CandidateSettings& settings) {
  const Result<std::vector<std::string>> words = SplitCommand(wanted.command);
  if (!words.ok()) return words.error();
  Result<candidates::OpenedVariants> variants = candidates::OpenVariants({*words}, LimitsOf(settings), wanted.variant);
  if (!variants.ok()) {
    const std::string& message = variants.error().message;
    return Error{variants.error().code, (message.starts_with("died: ") ? words->front() + " " : "") + message};
  }
  candidates::OpenedVariants opened = std::move(variants).value();
  if (opened.opened.empty()) return UnknownName("variant of " + words->front(), wanted.variant, opened.known);
  std::vector<OpenedCandidate> candidates;
  for (candidates::OpenedProcess& process : opened.opened) {
    const std::string argument = wanted.WithVariant(process.variant);
    candidates.push_back(ToCandidate(argument, std::move(process)));
  }
  return candidates;
}

// An adapter that is installed and yet does not start: each of its cases dies.
class UnstartableCandidate : public Candidate {
 public:
  UnstartableCandidate(Greeting greeting, std::string why) : greeting_(std::move(greeting)), why_(std::move(why)) {}
  const Greeting& greeting() const override { return greeting_; }
  Answer FilterGradient(const Problem&, const Tensor&, const Tensor&) override {
    return Answer::Of(AnswerKind::kDied, why_);
  }

 private:
  Greeting greeting_;
  std::string why_;
};

OpenedCandidate Unstartable(const std::string& argument, const std::string& why) {
  const Greeting greeting{.name = argument};
  return {argument, greeting, [=] { return std::make_unique<UnstartableCandidate>(greeting, why); }};
}

// Never called: its greeting covers nothing.
class MissingCandidate : public Candidate {
 public:
  explicit MissingCandidate(Greeting greeting) : greeting_(std::move(greeting)) {}
  const Greeting& greeting() const override { return greeting_; }
  Answer FilterGradient(const Problem&, const Tensor&, const Tensor&) override {
    return Answer::Of(AnswerKind::kUnsupported, greeting_.capabilities.unavailable);
  }

 private:
  Greeting greeting_;
};

OpenedCandidate Missing(const std::string& argument, const std::string& why) {
  Greeting greeting{.name = argument};
  greeting.capabilities.unavailable = why;
  return {argument, greeting, [greeting] { return std::make_unique<MissingCandidate>(greeting); }};
}

Result<std::vector<OpenedCandidate>> OpenAdapterPlugin(const candidates::Adapter& adapter, const CandidateWords& words,
                                                       const CandidateSettings& settings) {
  const std::string path = candidates::PluginPath(adapter, Places()).string();
  return Chosen(adapter.name, words.variant, candidates::OpenPlugin(path, LimitsOf(settings), words.variant));
}

Result<std::vector<OpenedCandidate>> OpenAdapter(const candidates::Adapter& adapter, const CandidateWords& words,
                                                 const CandidateSettings& settings) {
  const candidates::AdapterPlaces places = Places();
  if (const std::string why = candidates::WhyNotInstalled(adapter, places); !why.empty()) {
    const std::string suffix = words.variant.empty() ? "" : ":" + words.variant;
    return std::vector<OpenedCandidate>{
        Missing(adapter.name + suffix, why + "; to install it: " + ProgramName() + " install " + adapter.name)};
  }
  if (adapter.is_plugin()) return OpenAdapterPlugin(adapter, words, settings);
  std::vector<candidates::AdapterVariant> variants = adapter.variants;
  if (variants.empty()) variants.emplace_back();
  std::vector<std::string> names;
  std::vector<OpenedCandidate> opened;
  for (const candidates::AdapterVariant& variant : variants) {
    names.push_back(variant.name);
    if (!words.variant.empty() && words.variant != variant.name) continue;
    const std::string argument = adapter.name + (variant.name.empty() ? "" : ":" + variant.name);
    Result<candidates::OpenedProcess> process =
        candidates::OpenProcess(candidates::CommandFor(adapter, variant, places), LimitsOf(settings));
    // The other variants can be judged all the same.
    if (!process.ok()) {
      opened.push_back(Unstartable(argument, "it does not start: " + process.error().message));
      continue;
    }
    opened.push_back(ToCandidate(argument, std::move(process).value()));
  }
  if (opened.empty()) return UnknownName("variant of " + adapter.name, words.variant, names);
  return opened;
}

// One of the kernels of fuzz/, which `make` makes by name.
struct BuiltInKernels {
  std::string_view prefix;
  std::string_view kind;
  std::vector<std::string> names;
  std::unique_ptr<Candidate> (*make)(std::string_view name);
};

std::vector<BuiltInKernels> AllBuiltInKernels() {
  return {{kMutantPrefix, "wrong kernel", NamesOf(fuzz::WrongKernels()), fuzz::MakeWrongKernel},
          {kRightPrefix, "right kernel", NamesOf(fuzz::RightKernels()), fuzz::MakeRightKernel}};
}

// Nothing where `argument` has none of their prefixes.
std::optional<Result<std::vector<OpenedCandidate>>> OpenBuiltInKernel(std::string_view argument) {
  for (const BuiltInKernels& kernels : AllBuiltInKernels()) {
    if (!argument.starts_with(kernels.prefix)) continue;
    const std::string name(argument.substr(kernels.prefix.size()));
    if (std::ranges::count(kernels.names, name) == 0) return UnknownName(kernels.kind, name, kernels.names);
    return InProcess(argument, [name, make = kernels.make] { return make(name); });
  }
  return std::nullopt;
}

bool NamesBuiltInKernel(std::string_view argument) {
  return argument.starts_with(kMutantPrefix) || argument.starts_with(kRightPrefix);
}

}  // namespace

candidates::AdapterPlaces Places() { return candidates::AdapterPlaces::OfThisProgram(WGRAD_INSTALL_LIBDIR); }

Result<std::vector<candidates::Adapter>> Adapters() { return candidates::ReadAdapters(Places().share / "candidates"); }

Result<candidates::Adapter> FindAdapter(const std::string& name) {
  const Result<std::vector<candidates::Adapter>> adapters = Adapters();
  if (!adapters.ok()) return adapters.error();
  std::vector<std::string> names;
  for (const candidates::Adapter& adapter : *adapters) {
    if (adapter.name == name) return adapter;
    names.push_back(adapter.name);
  }
  return UnknownName("adapter", name, names);
}

Result<std::vector<OpenedCandidate>> OpenCandidate(std::string_view argument, const CandidateSettings& settings) {
  if (auto kernel = OpenBuiltInKernel(argument)) return *std::move(kernel);
  if (const auto command = ParseCommand(argument)) return OpenCommand(*command, settings);
  const CandidateWords words = Split(argument);
  if (words.is_path) return OpenPluginFile(words, settings);
  const bool built_in = words.name == "openblas" || words.name == "reference";
  if (built_in && !words.variant.empty()) {
    return Error{ErrorCode::kNotFound,
                 "candidate \"" + words.name + "\" has no variants, got \"" + std::string(argument) + "\""};
  }
  if (words.name == "reference") return InProcess(argument, reference::MakeReferenceCandidate);
  if (words.name == "openblas") {
    return InProcess(argument, [threads = settings.threads] { return optimized::MakeOpenBlasCandidate(threads); });
  }
  const Result<std::vector<candidates::Adapter>> adapters = Adapters();
  if (!adapters.ok()) return adapters.error();
  std::vector<std::string> known = {"openblas", "reference"};
  for (const candidates::Adapter& adapter : *adapters) {
    if (adapter.name == words.name) return OpenAdapter(adapter, words, settings);
    known.push_back(adapter.name);
  }
  return UnknownName("candidate", argument, known);
}

Result<std::vector<CandidateListing>> ListCandidates() {
  std::vector<CandidateListing> listings = {
      {"openblas", "the optimized path: unrolled images and OpenBLAS, in working precision"},
      {"reference", "the definition, exact and slow, correctly rounded"},
  };
  const Result<std::vector<candidates::Adapter>> adapters = Adapters();
  if (!adapters.ok()) return adapters.error();
  for (const candidates::Adapter& adapter : *adapters) {
    const std::string why = candidates::WhyNotInstalled(adapter, Places());
    const std::string state =
        why.empty() ? "" : " (" + why + "; to install it: " + ProgramName() + " install " + adapter.name + ")";
    listings.push_back({adapter.name, adapter.description + state});
    for (const candidates::AdapterVariant& variant : adapter.variants) {
      listings.push_back({adapter.name + ":" + variant.name, variant.description});
    }
  }
  listings.push_back({"PATH.so", "a plugin of your own (docs/plugin.md), with :VARIANT where it has several"});
  listings.push_back({"cmd:COMMAND", "a program in any language that speaks the process protocol (docs/protocol.md)"});
  for (const fuzz::RightKernel& kernel : fuzz::RightKernels()) {
    listings.push_back({std::string(kRightPrefix) + kernel.name, "right and different: " + kernel.description});
  }
  for (const fuzz::WrongKernel& kernel : fuzz::WrongKernels()) {
    const bool control = kernel.family == fuzz::FaultFamily::kControl;
    listings.push_back({std::string(kMutantPrefix) + kernel.name,
                        (control ? "right, for comparison: " : "wrong on purpose: ") + kernel.description});
  }
  return listings;
}

Status CheckName(std::string_view argument) {
  const CandidateWords words = Split(argument);
  if (NamesBuiltInKernel(argument) || ParseCommand(argument) || words.is_path) return Ok();
  const Result<std::vector<std::string>> known = MatrixCandidates();
  if (!known.ok()) return known.error();
  if (std::ranges::count(*known, words.name) != 0) return Ok();
  return UnknownName("candidate", argument, *known);
}

Result<std::vector<std::string>> MatrixCandidates() {
  const Result<std::vector<candidates::Adapter>> adapters = Adapters();
  if (!adapters.ok()) return adapters.error();
  std::vector<std::string> names = {"openblas", "reference"};
  for (const candidates::Adapter& adapter : *adapters) names.push_back(adapter.name);
  return names;
}

}  // namespace wgrad::cli
