#include "candidates/adapter/adapter.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "candidates/adapter/install.h"
#include "io/json.h"

namespace wgrad::candidates {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "adapter.json";
constexpr const char* kDebiansPython = "/usr/bin/python3";
constexpr const char* kDebiansModules = "/usr/lib/python3/dist-packages";

Error BadManifest(const fs::path& path, const std::string& what) {
  return {ErrorCode::kBadFile, path.string() + ": " + what};
}

Status ReadWords(const io::Json& object, const char* field, std::vector<std::string>& words) {
  if (object.Find(field) == nullptr) return Ok();
  const auto list = object.GetArray(io::PointerStep(field));
  if (!list.ok()) return list.error();
  for (const io::Json& item : **list) {
    auto word = item.GetString();
    if (!word.ok()) return word.error();
    words.push_back(std::move(word).value());
  }
  return Ok();
}

Status ReadText(const io::Json& object, const char* field, std::string& text) {
  if (object.Find(field) == nullptr) return Ok();
  auto read = object.GetString(io::PointerStep(field));
  if (!read.ok()) return read.error();
  text = std::move(read).value();
  return Ok();
}

Result<AdapterVariant> ReadVariant(const std::string& name, const io::Json& json) {
  AdapterVariant variant{name, "", {}};
  if (const Status status = ReadText(json, "description", variant.description); !status.ok()) return status.error();
  if (const io::Json* variables = json.Find("environment")) {
    const auto object = variables->GetObject();
    if (!object.ok()) return object.error();
    for (const io::JsonMember& member : **object) {
      const Status status = ReadText(*variables, member.key.c_str(), variant.environment[member.key]);
      if (!status.ok()) return status.error();
    }
  }
  return variant;
}

Status ReadVariants(const io::Json& manifest, std::vector<AdapterVariant>& variants) {
  if (manifest.Find("variants") == nullptr) return Ok();
  const auto object = manifest.GetObject("/variants");
  if (!object.ok()) return object.error();
  for (const io::JsonMember& member : **object) {
    Result<AdapterVariant> variant = ReadVariant(member.key, member.value);
    if (!variant.ok()) return variant.error();
    variants.push_back(std::move(variant).value());
  }
  return Ok();
}

Status ReadPlugin(const io::Json& manifest, AdapterPlugin& plugin) {
  const io::Json* field = manifest.Find("plugin");
  if (field == nullptr) return Ok();
  for (const Status& status :
       {ReadText(*field, "built", plugin.built), ReadText(*field, "source", plugin.source),
        ReadWords(*field, "flags", plugin.flags), ReadWords(*field, "libraries", plugin.libraries)}) {
    if (!status.ok()) return status;
  }
  return Ok();
}

fs::path CacheRoot() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  if (!variable("WGRAD_CACHE").empty()) return fs::absolute(variable("WGRAD_CACHE"));
  if (!variable("XDG_CACHE_HOME").empty()) return variable("XDG_CACHE_HOME") / "wgrad";
  return (variable("HOME").empty() ? fs::temp_directory_path() : variable("HOME") / ".cache") / "wgrad";
}

std::string Replaced(std::string word, const std::string& name, const std::string& value) {
  for (std::size_t at = word.find(name); at != std::string::npos; at = word.find(name, at + value.size())) {
    word.replace(at, name.size(), value);
  }
  return word;
}

bool ProbeFinds(const std::string& probe) {
  const std::size_t cut = probe.find(':');
  const std::string what = probe.substr(cut + 1);
  return fs::exists(probe.starts_with("python:") ? fs::path(kDebiansModules) / what : fs::path(what));
}

}  // namespace

Result<Adapter> ReadAdapter(const fs::path& folder) {
  const fs::path path = folder / kManifest;
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::kNotFound, "there is no adapter in " + folder.string()};
  std::stringstream text;
  text << file.rdbuf();
  const Result<io::Json> manifest = io::Parse(text.str());
  if (!manifest.ok()) return BadManifest(path, manifest.error().message);
  Adapter adapter;
  adapter.name = folder.filename().string();
  adapter.folder = folder;
  for (const Status& status :
       {ReadText(*manifest, "description", adapter.description), ReadWords(*manifest, "command", adapter.command),
        ReadVariants(*manifest, adapter.variants), ReadPlugin(*manifest, adapter.plugin),
        ReadWords(*manifest, "apt", adapter.apt), ReadWords(*manifest, "pip", adapter.pip),
        ReadWords(*manifest, "npm", adapter.npm), ReadText(*manifest, "probe", adapter.probe)}) {
    if (!status.ok()) return BadManifest(path, status.error().message);
  }
  if (adapter.command.empty() == (adapter.plugin.built.empty() && adapter.plugin.source.empty())) {
    return BadManifest(path, "there must be either a \"command\" or a \"plugin\" with \"built\" or \"source\"");
  }
  return adapter;
}

Result<std::vector<Adapter>> ReadAdapters(const fs::path& root) {
  std::vector<Adapter> adapters;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, ignored)) {
    if (!fs::exists(entry.path() / kManifest)) continue;
    Result<Adapter> adapter = ReadAdapter(entry.path());
    if (!adapter.ok()) return adapter.error();
    adapters.push_back(std::move(adapter).value());
  }
  std::ranges::sort(adapters, {}, &Adapter::name);
  return adapters;
}

AdapterPlaces AdapterPlaces::OfThisProgram(const std::string& library_folder) {
  std::error_code ignored;
  const fs::path root = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  const fs::path installed = root / library_folder / "wgrad";
  const fs::path built = root / "lib" / "wgrad";
  AdapterPlaces places;
  places.share = root / "share" / "wgrad";
  places.libraries = fs::exists(installed, ignored) ? installed : built;
  places.include = places.share;
  places.cache = CacheRoot();
  return places;
}

std::string WhyNotInstalled(const Adapter& adapter, const AdapterPlaces& places) {
  if (!adapter.plugin.built.empty()) {
    if (fs::exists(PluginPath(adapter, places))) return "";
    return "not built: wgrad was built without " + (adapter.apt.empty() ? "its library" : adapter.apt.front());
  }
  if (!adapter.probe.empty() && !ProbeFinds(adapter.probe)) return "not installed";
  return InstallationIsCurrent(adapter, places) ? "" : "not installed";
}

fs::path PluginPath(const Adapter& adapter, const AdapterPlaces& places) {
  if (!adapter.plugin.built.empty()) return places.libraries / adapter.plugin.built;
  return places.CacheOf(adapter) / (adapter.name + ".so");
}

fs::path PythonOf(const Adapter& adapter, const AdapterPlaces& places) {
  if (adapter.pip.empty()) return kDebiansPython;
  return places.CacheOf(adapter) / "venv" / "bin" / "python";
}

Command CommandFor(const Adapter& adapter, const AdapterVariant& variant, const AdapterPlaces& places) {
  Command command;
  for (std::string word : adapter.command) {
    word = Replaced(word, "{python}", PythonOf(adapter, places).string());
    word = Replaced(word, "{node}", "node");
    word = Replaced(word, "{folder}", adapter.folder.string());
    command.words.push_back(Replaced(word, "{cache}", places.CacheOf(adapter).string()));
  }
  command.environment = variant.environment;
  command.environment["WGRAD_CACHE_FOLDER"] = places.CacheOf(adapter).string();
  const char* before = std::getenv("PYTHONPATH");
  const std::string clients = (places.share / "clients" / "python").string();
  command.environment["PYTHONPATH"] = before == nullptr ? clients : clients + ":" + before;
  if (!variant.name.empty()) command.environment["WGRAD_VARIANT"] = variant.name;
  return command;
}

}  // namespace wgrad::candidates
