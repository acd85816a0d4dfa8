#include "cli/corpus.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "cli/output_file.h"
#include "cli/registry.h"

namespace wgrad::cli {

std::filesystem::path DefaultCorpusFolder(const std::string& candidate) {
  std::string name;
  for (const char c : candidate) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return Places().cache / "corpus" / name;
}

Result<CorpusFile> ReadCorpusFile(const std::string& path) {
  const Result<std::string> text = ReadWhole(path, vectors::kMaxFileBytes);
  if (!text.ok()) return text.error();
  Result<vectors::VectorFile> content = vectors::Parse(*text);
  if (!content.ok()) return Error{ErrorCode::kBadFile, path + ": " + content.error().message};
  return CorpusFile{path, std::move(content).value()};
}

Result<Corpus> ReadCorpus(const std::filesystem::path& folder) {
  Corpus corpus;
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return corpus;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  if (error) return Error{ErrorCode::kUnavailable, folder.string() + ": " + error.message()};
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    Result<CorpusFile> file = ReadCorpusFile(path);
    if (file.ok()) {
      corpus.files.push_back(std::move(file).value());
    } else {
      corpus.skipped.push_back(file.error().message);
    }
  }
  return corpus;
}

Result<std::string> SaveToCorpus(const std::filesystem::path& folder, const std::string& name,
                                 const vectors::VectorFile& content) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Error{ErrorCode::kUnavailable, "cannot make the folder " + folder.string() + ": " + error.message()};
  const std::string path = (folder / name).string();
  if (Status written = WriteWhole(path, vectors::Format(content)); !written.ok()) return written.error();
  return path;
}

}  // namespace wgrad::cli
