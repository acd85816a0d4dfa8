// The report of a whole run as JSON. Every field is documented in docs/json-report.md.
#include "io/json.h"

#include <cmath>
#include <sstream>

#include "core/case.h"
#include "io/op_arguments_json.h"
#include "report/report.h"
#include "report/words.h"

namespace wgrad::report {
namespace {

using io::Json;
using oracle::CaseVerdict;
using oracle::ElementFinding;

constexpr int kSchema = 1;

// JSON has no infinities and no NaN; such a ratio is null.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

template <typename Range>
Json ArrayOf(const Range& range) {
  Json array = Json::MakeArray();
  for (const auto& item : range) array.Append(item);
  return array;
}

Json ObjectOf(const std::map<std::string, std::string>& map) {
  Json object = Json::MakeObject();
  for (const auto& [key, value] : map) object.AddNewMember(key, value);
  return object;
}

Json CountsJson(const Counts& counts) {
  return Json::MakeObject({{"cases", counts.cases},
                           {"passed", counts.passed},
                           {"failed", counts.failed},
                           {"unsupported", counts.unsupported},
                           {"rejected", counts.rejected},
                           {"died", counts.died},
                           {"blind", counts.blind},
                           {"known", counts.known},
                           {"elements", counts.elements}});
}

Json GradeJson(const CandidateReport& candidate) {
  Json grades = Json::MakeObject();
  for (const auto& [tag, grade] : candidate.grades) {
    grades[tag] = Json::MakeObject({{"class", grade.grade},
                                    {"bound_ratio", Number(grade.bound_ratio)},
                                    {"achieved_depth", grade.achieved_depth},
                                    {"max_terms", grade.max_terms},
                                    {"correctly_rounded", Number(grade.correctly_rounded)}});
  }
  return grades;
}

Json ClassJson(const CandidateReport& candidate) {
  Json classes = Json::MakeObject();
  for (const auto& [tag, grade] : candidate.grades) {
    classes[tag] = Json::MakeObject({{"name", grade.judging_class}, {"source", grade.class_source}});
  }
  return classes;
}

Json GreetingJson(const CandidateReport& candidate) {
  return Json::MakeObject({{"name", candidate.greeting.name}, {"version", candidate.greeting.version}});
}

// The fields that describe one element; all null for a failure without one (a death, a refusal).
void AddElement(const ElementFinding* finding, DType dtype, Json& object) {
  const auto number = [dtype](std::uint64_t bits, const std::string& decimal) {
    return Json::MakeObject({{"bits", internal::HexBits(dtype, bits)}, {"decimal", decimal}});
  };
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  const bool is_there = finding != nullptr;
  const ElementFinding& shown = is_there ? *finding : ElementFinding();
  object["element"] = is_there ? ArrayOf(shown.index) : Json();
  object["actual"] = is_there ? number(shown.actual_bits, shown.actual_decimal) : Json();
  object["exact"] = is_there ? number(shown.exact_bits, shown.exact_decimal) : Json();
  object["error"] = text(shown.error_decimal);
  object["bound"] = text(shown.bound_decimal);
  object["bound_ratio"] = is_there ? Number(shown.bound_ratio) : Json();
  object["ulps"] = is_there ? Number(shown.ulps) : Json();
  object["allowed"] = text(shown.allowed);
  object["rule"] = text(shown.rule);
  object["terms"] = is_there ? Json(shown.terms) : Json();
  object["condition"] = is_there ? Number(shown.condition) : Json();
  object["run"] = is_there ? Json(shown.run) : Json();
  object["run_label"] = text(shown.run_label);
  object["read"] = text(shown.read);
}

// What a case is: its text and the text's parts, null for data of a user's own.
void AddCase(const CaseVerdict& verdict, Json& object) {
  object["case"] = verdict.c || verdict.call ? Json(oracle::CaseName(verdict)) : Json();
  object["problem"] = verdict.problem ? Json(Format(*verdict.problem)) : Json();
  object["filling"] = verdict.c ? Json(NameOf(verdict.c->filling)) : Json();
  object["seed"] = verdict.c ? Json(verdict.c->seed) : Json();
  object["outcome"] = NameOf(verdict.outcome);
  object["reason"] = verdict.reason.empty() ? Json() : Json(verdict.reason);
}

// TensorFlow's arguments of a call that breaks a rule; the tensors by dtype and shape.
Json CallJson(const ArgumentCase& call) {
  Json json = io::AttributesToJson(call.arguments);
  json["dtype"] = call.arguments.dtype;
  json["out_backprop_dtype"] = call.arguments.out_backprop_dtype;
  json["input_shape"] = ArrayOf(call.arguments.input_shape);
  json["out_backprop_shape"] = ArrayOf(call.arguments.out_backprop_shape);
  return json;
}

Json FailureJson(const CheckReport& report, const CandidateReport& candidate, const CaseVerdict& verdict) {
  const DType dtype = verdict.problem ? verdict.problem->result_dtype() : DType::kFloat32;
  const std::string replay = ReplayCommand(report, candidate, verdict);
  Json failure = Json::MakeObject({{"candidate", candidate.argument}});
  AddCase(verdict, failure);
  AddElement(verdict.worst.empty() ? nullptr : &verdict.worst.front(), dtype, failure);
  failure["call"] = verdict.call ? CallJson(*verdict.call) : Json();
  failure["detail"] = verdict.detail.empty() ? Json() : Json(verdict.detail);
  failure["elements_wrong"] = verdict.wrong_elements;
  failure["pattern"] = verdict.pattern.empty() ? Json() : Json(verdict.pattern);
  failure["replay"] = replay.empty() ? Json() : Json(replay);
  Json worst = Json::MakeArray();
  for (const ElementFinding& finding : verdict.worst) {
    Json element = Json::MakeObject();
    AddElement(&finding, dtype, element);
    worst.Append(std::move(element));
  }
  failure["worst"] = std::move(worst);
  return failure;
}

// Failed, rejected and died cases, without those known to fail.
void AppendFailures(const CheckReport& report, const CandidateReport& candidate, Json& failures) {
  for (std::size_t i = 0; i < candidate.verdicts.size(); ++i) {
    const CaseVerdict& verdict = candidate.verdicts[i];
    if (IsWrong(verdict.outcome) && candidate.known_cases.count(i) == 0) {
      failures.Append(FailureJson(report, candidate, verdict));
    }
  }
}

Json StatisticsJson(const oracle::Statistics& statistics) {
  return Json::MakeObject({{"elements", statistics.elements},
                           {"forced", statistics.forced},
                           {"finite", statistics.finite},
                           {"correctly_rounded", statistics.correctly_rounded},
                           {"max_ulp", Number(statistics.max_ulp)},
                           {"mean_ulp", Number(statistics.mean_ulp)},
                           {"rms_ulp", Number(statistics.rms_ulp)},
                           {"p50_ulp", Number(statistics.p50_ulp)},
                           {"p90_ulp", Number(statistics.p90_ulp)},
                           {"p99_ulp", Number(statistics.p99_ulp)},
                           {"max_bound_ratio", Number(statistics.max_bound_ratio)},
                           {"max_k_a", Number(statistics.max_k_a)},
                           {"max_k_n", Number(statistics.max_k_n)},
                           {"effective_bits", Number(statistics.effective_bits)},
                           {"achieved_depth", statistics.achieved_depth},
                           {"max_terms", statistics.max_terms},
                           {"above", statistics.above},
                           {"below", statistics.below},
                           {"bias_z", Number(statistics.bias_z)},
                           {"terms", statistics.terms},
                           {"covered_terms", statistics.covered_terms},
                           {"coverage", Number(statistics.coverage())},
                           {"vacuous", statistics.vacuous},
                           {"ulp_histogram", ArrayOf(statistics.ulp_histogram)},
                           {"ratio_histogram", ArrayOf(statistics.ratio_histogram)}});
}

void AppendCases(const CandidateReport& candidate, Json& cases) {
  for (std::size_t i = 0; i < candidate.verdicts.size(); ++i) {
    const CaseVerdict& verdict = candidate.verdicts[i];
    Json one = Json::MakeObject({{"candidate", candidate.argument}});
    AddCase(verdict, one);
    one["known"] = candidate.known_cases.count(i) > 0;
    one["class"] = oracle::Format(verdict.judging.accuracy_class);
    one["class_source"] = verdict.judging.class_source;
    one["policy"] = oracle::Format(verdict.judging.policy);
    one["runs"] = verdict.runs;
    one["repeats"] =
        Json::MakeObject({{"compared", verdict.repeats.compared}, {"differing", verdict.repeats.differing}});
    one["seconds"] = Number(verdict.seconds);
    one["statistics"] = verdict.statistics.elements == 0 ? Json() : StatisticsJson(verdict.statistics);
    cases.Append(std::move(one));
  }
}

void AppendAdvisories(const CandidateReport& candidate, Json& advisories) {
  for (const CaseVerdict& verdict : candidate.verdicts) {
    for (const std::string& finding : verdict.advisories) {
      Json advisory = Json::MakeObject({{"candidate", candidate.argument}});
      AddCase(verdict, advisory);
      advisory["finding"] = finding;
      advisories.Append(std::move(advisory));
    }
  }
}

Json EnvironmentJson(const CheckReport& report) {
  Json sets = Json::MakeArray();
  std::istringstream words(report.environment.instruction_sets);
  for (std::string word; words >> word;) sets.Append(word);
  std::map<std::string, std::string> libraries;
  for (const CandidateReport& candidate : report.candidates) {
    libraries.insert(candidate.greeting.libraries.begin(), candidate.greeting.libraries.end());
  }
  return Json::MakeObject({{"processor", report.environment.processor},
                           {"instruction_sets", std::move(sets)},
                           {"variables", ObjectOf(report.environment.variables)},
                           {"libraries", ObjectOf(libraries)}});
}

Json VariantJson(const CheckReport& report, const CandidateReport& candidate) {
  Json failures = Json::MakeArray();
  AppendFailures(report, candidate, failures);
  return Json::MakeObject({{"name", candidate.argument},
                           {"verdict", VerdictWord(candidate.counts)},
                           {"counts", CountsJson(candidate.counts)},
                           {"grade", GradeJson(candidate)},
                           {"class", ClassJson(candidate)},
                           {"greeting", GreetingJson(candidate)},
                           {"known_passing", ArrayOf(candidate.known_passing)},
                           {"failures", std::move(failures)}});
}

}  // namespace

std::string ToJson(const CheckReport& report) {
  const bool is_one = report.candidates.size() == 1;
  const CandidateReport none;
  const CandidateReport& first = is_one ? report.candidates.front() : none;
  Json failures = Json::MakeArray(), advisories = Json::MakeArray(), cases = Json::MakeArray();
  for (const CandidateReport& candidate : report.candidates) {
    AppendFailures(report, candidate, failures);
    AppendAdvisories(candidate, advisories);
    AppendCases(candidate, cases);
  }
  const Counts counts = TotalCounts(report);
  Json json;
  json["version"] = kSchema;
  json["wgrad"] = report.environment.version;
  json["command"] = report.command;
  json["candidate"] = report.candidate;
  json["verdict"] = VerdictWord(counts);
  json["counts"] = CountsJson(counts);
  json["grade"] = GradeJson(first);
  json["class"] = ClassJson(first);
  json["policy"] = report.policy;
  json["seed"] = report.seed;
  json["seconds"] = Number(report.seconds);
  json["interrupted"] = report.interrupted;
  json["environment"] = EnvironmentJson(report);
  json["greeting"] = GreetingJson(first);
  json["known_passing"] = ArrayOf(first.known_passing);
  json["failures"] = std::move(failures);
  if (!is_one) {
    json["variants"] = Json::MakeArray();
    for (const CandidateReport& candidate : report.candidates) json["variants"].Append(VariantJson(report, candidate));
  }
  json["advisories"] = std::move(advisories);
  json["cases"] = std::move(cases);
  return json.Dump(2) + "\n";
}

}  // namespace wgrad::report
