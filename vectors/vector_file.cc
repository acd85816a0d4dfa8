#include "vectors/vector_file.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "io/json.h"
#include "io/op_arguments_json.h"
#include "vectors/tensor_json.h"

namespace wgrad::vectors {
namespace {

using io::Json;
using io::PointerStep;

Json Strings(const std::vector<std::string>& texts) {
  Json list = Json::MakeArray();
  for (const std::string& text : texts) list.Append(text);
  return list;
}

Json Integers(const std::vector<std::int64_t>& values) {
  Json list = Json::MakeArray();
  for (const std::int64_t value : values) list.Append(value);
  return list;
}

// wgrad's own text of the problem, and the same call in TensorFlow's terms for everybody else.
Json ToJson(const Problem& problem) {
  const OpArguments arguments = problem.arguments();
  Json json = Json::MakeObject({{"text", Format(problem)},
                                {"dtype", NameOf(problem.dtype())},
                                {"result_dtype", NameOf(problem.result_dtype())},
                                {"input_shape", Integers(problem.input_shape())},
                                {"out_backprop_shape", Integers(problem.out_backprop_shape())}});
  json["call"] = io::AttributesToJson(arguments);
  return json;
}

Json ToJson(const Test& test) {
  Json json = Json::MakeObject(
      {{"id", test.id}, {"comment", test.comment}, {"flags", Strings(test.flags)}, {"result", "valid"}});
  if (test.recipe) json["recipe"] = Format(*test.recipe);
  if (test.data) {
    json["input"] = TensorToJson(test.data->input);
    json["out_backprop"] = TensorToJson(test.data->out_backprop);
  }
  if (test.expected) json["expected"] = TensorToJson(*test.expected);
  return json;
}

Error Bad(const std::string& pointer, const std::string& why) {
  return {ErrorCode::kBadText, "at " + pointer + ": " + why};
}

// Keys beside those that an object may have are refused: they are likely misspelt.
Status CheckKeys(const Json& root, const std::string& pointer, std::initializer_list<std::string_view> known) {
  const Result<const Json::Object*> members = root.GetObject(pointer);
  if (!members.ok()) return members.error();
  for (const io::JsonMember& member : **members) {
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      return Bad(pointer + PointerStep(member.key), "unknown key");
    }
  }
  return Ok();
}

Status CheckHead(const Json& root) {
  if (Status keys = CheckKeys(root, "", {"schema", "version", "generator", "description", "notes", "count", "groups"});
      !keys.ok()) {
    return keys;
  }
  const Result<std::string> schema = root.GetString("/schema");
  if (!schema.ok()) return schema.error();
  if (*schema != kSchema) {
    return Bad("/schema", "expected \"" + std::string(kSchema) + "\", found \"" + *schema + "\"");
  }
  const Result<std::int64_t> version = root.GetInt64("/version");
  if (!version.ok()) return version.error();
  if (*version != kVersion) {
    return Bad("/version", "this wgrad reads version " + std::to_string(kVersion) + ", the file has version " +
                               std::to_string(*version));
  }
  return Ok();
}

Result<std::vector<Note>> ParseNotes(const Json& root) {
  const Result<const Json::Object*> members = root.GetObject("/notes");
  if (!members.ok()) return members.error();
  std::vector<Note> notes;
  for (const io::JsonMember& member : **members) {
    const Result<std::string> meaning = root.GetString("/notes" + PointerStep(member.key));
    if (!meaning.ok()) return meaning.error();
    notes.push_back({member.key, *meaning});
  }
  return notes;
}

Result<Problem> ParseProblemAt(const Json& root, const std::string& pointer) {
  const Result<std::string> text = root.GetString(pointer + "/text");
  if (!text.ok()) return text.error();
  Result<Problem> problem = ParseProblem(*text);
  if (!problem.ok()) return Bad(pointer + "/text", problem.error().message);
  // The two descriptions must be of one call.
  if (*root.At(pointer) != ToJson(*problem)) {
    return Bad(pointer, "the call differs from that of its text \"" + *text + "\"");
  }
  return problem;
}

Result<std::vector<std::string>> ParseStrings(const Json& root, const std::string& pointer) {
  const Result<const Json::Array*> list = root.GetArray(pointer);
  if (!list.ok()) return list.error();
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < (*list)->size(); ++at) {
    const Result<std::string> text = root.GetString(pointer + PointerStep(at));
    if (!text.ok()) return text.error();
    texts.push_back(*text);
  }
  return texts;
}

Status ParseData(const Json& root, const std::string& pointer, const Problem& problem, Test& test) {
  Result<Tensor> input = TensorFromJson(root, pointer + "/input", problem.dtype(), problem.input_shape());
  if (!input.ok()) return input.error();
  Result<Tensor> out_backprop =
      TensorFromJson(root, pointer + "/out_backprop", problem.dtype(), problem.out_backprop_shape());
  if (!out_backprop.ok()) return out_backprop.error();
  test.data = Data{std::move(input).value(), std::move(out_backprop).value()};
  if (!root.Has(pointer + "/expected")) return Ok();
  Result<Tensor> expected = TensorFromJson(root, pointer + "/expected", problem.result_dtype(), problem.filter_sizes());
  if (!expected.ok()) return expected.error();
  test.expected = std::move(expected).value();
  return Ok();
}

Status ParseRecipe(const Json& root, const std::string& pointer, const Problem& problem, Test& test) {
  const Result<std::string> text = root.GetString(pointer + "/recipe");
  if (!text.ok()) return text.error();
  const Result<Case> recipe = ParseCase(*text);
  if (!recipe.ok()) return Bad(pointer + "/recipe", recipe.error().message);
  if (recipe->problem != problem) return Bad(pointer + "/recipe", "the problem is not the group's");
  test.recipe = *recipe;
  return Ok();
}

Result<Test> ParseTest(const Json& root, const std::string& pointer, const Problem& problem) {
  if (Status keys =
          CheckKeys(root, pointer, {"id", "comment", "flags", "result", "recipe", "input", "out_backprop", "expected"});
      !keys.ok()) {
    return keys.error();
  }
  Test test;
  for (const auto& [key, field] : {std::pair("/id", &Test::id), std::pair("/comment", &Test::comment)}) {
    const Result<std::string> text = root.GetString(pointer + key);
    if (!text.ok()) return text.error();
    test.*field = *text;
  }
  const Result<std::vector<std::string>> flags = ParseStrings(root, pointer + "/flags");
  if (!flags.ok()) return flags.error();
  test.flags = *flags;
  const Result<std::string> result = root.GetString(pointer + "/result");
  if (!result.ok()) return result.error();
  if (*result != "valid") return Bad(pointer + "/result", "expected \"valid\", found \"" + *result + "\"");
  const bool has_recipe = root.Has(pointer + "/recipe");
  if (has_recipe == root.Has(pointer + "/input")) {
    return Bad(pointer, "a test has either \"recipe\" or \"input\" and \"out_backprop\"");
  }
  const Status data = has_recipe ? ParseRecipe(root, pointer, problem, test) : ParseData(root, pointer, problem, test);
  if (!data.ok()) return data.error();
  return test;
}

Result<Group> ParseGroup(const Json& root, const std::string& pointer) {
  if (Status keys = CheckKeys(root, pointer, {"problem", "tests"}); !keys.ok()) return keys.error();
  const Result<Problem> problem = ParseProblemAt(root, pointer + "/problem");
  if (!problem.ok()) return problem.error();
  const Result<const Json::Array*> list = root.GetArray(pointer + "/tests");
  if (!list.ok()) return list.error();
  Group group{*problem, {}};
  for (std::size_t at = 0; at < (*list)->size(); ++at) {
    Result<Test> test = ParseTest(root, pointer + "/tests" + PointerStep(at), *problem);
    if (!test.ok()) return test.error();
    group.tests.push_back(std::move(test).value());
  }
  return group;
}

Status CheckTests(const Json& root, const VectorFile& file) {
  std::set<std::string> flags;
  for (const Note& note : file.notes) flags.insert(note.flag);
  std::set<std::string> ids;
  for (const Group& group : file.groups) {
    for (const Test& test : group.tests) {
      if (!ids.insert(test.id).second) return Bad("/groups", "the id \"" + test.id + "\" is there twice");
      for (const std::string& flag : test.flags) {
        if (!flags.contains(flag)) return Bad("/notes", "flag \"" + flag + "\" of \"" + test.id + "\" has no note");
      }
    }
  }
  const Result<std::int64_t> count = root.GetInt64("/count");
  if (!count.ok()) return count.error();
  if (*count != static_cast<std::int64_t>(file.test_count())) {
    return Bad("/count",
               "the file has " + std::to_string(file.test_count()) + " tests, found " + std::to_string(*count));
  }
  return Ok();
}

}  // namespace

std::size_t VectorFile::test_count() const {
  std::size_t count = 0;
  for (const Group& group : groups) count += group.tests.size();
  return count;
}

std::string Format(const VectorFile& file) {
  Json notes = Json::MakeObject();
  for (const Note& note : file.notes) notes[note.flag] = note.meaning;
  Json groups = Json::MakeArray();
  for (const Group& group : file.groups) {
    Json tests = Json::MakeArray();
    for (const Test& test : group.tests) tests.Append(ToJson(test));
    groups.Append(Json::MakeObject({{"problem", ToJson(group.problem)}, {"tests", std::move(tests)}}));
  }
  const Json root = Json::MakeObject({{"schema", kSchema},
                                      {"version", kVersion},
                                      {"generator", file.generator},
                                      {"description", file.description},
                                      {"notes", std::move(notes)},
                                      {"count", static_cast<std::int64_t>(file.test_count())},
                                      {"groups", std::move(groups)}});
  return root.Dump(2) + "\n";
}

Result<VectorFile> Parse(std::string_view text) {
  const Result<Json> root = io::Parse(text, {.max_bytes = kMaxFileBytes});
  if (!root.ok()) return root.error();
  if (Status head = CheckHead(*root); !head.ok()) return head.error();
  VectorFile file;
  for (const auto& [key, field] :
       {std::pair("/generator", &VectorFile::generator), std::pair("/description", &VectorFile::description)}) {
    const Result<std::string> value = root->GetString(key);
    if (!value.ok()) return value.error();
    file.*field = *value;
  }
  const Result<std::vector<Note>> notes = ParseNotes(*root);
  if (!notes.ok()) return notes.error();
  file.notes = *notes;
  const Result<const Json::Array*> groups = root->GetArray("/groups");
  if (!groups.ok()) return groups.error();
  for (std::size_t at = 0; at < (*groups)->size(); ++at) {
    Result<Group> group = ParseGroup(*root, "/groups" + PointerStep(at));
    if (!group.ok()) return group.error();
    file.groups.push_back(std::move(group).value());
  }
  if (Status tests = CheckTests(*root, file); !tests.ok()) return tests.error();
  return file;
}

}  // namespace wgrad::vectors
