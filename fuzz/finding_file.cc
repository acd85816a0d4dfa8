#include "fuzz/finding_file.h"

#include <algorithm>
#include <utility>

#include "reference/filter_gradient.h"

namespace wgrad::fuzz {
namespace {

constexpr const char* kFound = "found_by_fuzzing";
constexpr const char* kShrunk = "shrunk";

vectors::Test RecipeTest(const std::string& id, const oracle::CaseVerdict& verdict, const std::string& flag) {
  return {id, std::string(NameOf(verdict.outcome)) + ": " + verdict.reason, {flag}, *verdict.c};
}

vectors::Test CallTest(const std::string& id, const Shrunk& shrunk) {
  const CallData& data = shrunk.call->data;
  vectors::Test test{id, shrunk.witness, {kShrunk}};
  test.data = vectors::Data{data.input, data.out_backprop};
  test.expected = reference::RoundedFilterGradient(data.problem, data.input, data.out_backprop);
  return test;
}

}  // namespace

vectors::VectorFile FindingFile(const FindingOrigin& origin, const oracle::CaseVerdict& failure, const Shrunk* shrunk) {
  vectors::VectorFile file{origin.generator, "A failure of " + origin.candidate};
  file.notes.push_back({kFound, "a random case that a candidate failed, as it was found"});
  file.groups.push_back({failure.c->problem, {RecipeTest("found", failure, kFound)}});
  if (shrunk == nullptr) return file;
  file.notes.push_back({kShrunk, "the plainest case, and the plainest call, that still failed"});
  vectors::Group plainest{shrunk->plainest.problem, {}};
  if (!(shrunk->plainest == *failure.c)) plainest.tests.push_back(RecipeTest("plainest", shrunk->verdict, kShrunk));
  if (shrunk->call) plainest.tests.push_back(CallTest("witness", *shrunk));
  if (!plainest.tests.empty()) file.groups.push_back(std::move(plainest));
  return file;
}

std::string FindingFileName(const Case& c) {
  std::string name = Format(c);
  std::replace(name.begin(), name.end(), '/', '_');
  return name + ".json";
}

oracle::CaseVerdict RunTest(const Problem& problem, const vectors::Test& test, Probe& probe) {
  if (test.recipe) return probe.Run(*test.recipe);
  return probe.Run(CallData{problem, test.data->input, test.data->out_backprop}).verdict;
}

}  // namespace wgrad::fuzz
