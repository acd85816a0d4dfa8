// The folder where a fuzzer keeps its failures, as files of test vectors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/result.h"
#include "vectors/vector_file.h"

namespace wgrad::cli {

struct CorpusFile {
  std::string path;
  vectors::VectorFile content;
};

struct Corpus {
  std::vector<CorpusFile> files;     // by name
  std::vector<std::string> skipped;  // "PATH: why", for files that could not be read
};

/// The folder of a candidate's failures where the user names none: wgrad's cache, corpus, the candidate's name.
std::filesystem::path DefaultCorpusFolder(const std::string& candidate);

/// Reads all *.json of a folder; one that is not there yet is empty. Errors: a folder that cannot be listed.
Result<Corpus> ReadCorpus(const std::filesystem::path& folder);

/// Reads one file. Errors name the file.
Result<CorpusFile> ReadCorpusFile(const std::string& path);

/// Puts a file into the folder, which is made where it is missing. Errors: kUnavailable. Returns the file's path.
Result<std::string> SaveToCorpus(const std::filesystem::path& folder, const std::string& name,
                                 const vectors::VectorFile& content);

}  // namespace wgrad::cli
