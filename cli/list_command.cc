// `wgrad list`: the names that other commands take.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>

#include "cli/commands.h"
#include "cli/registry.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "oracle/accuracy_class.h"
#include "oracle/fillings.h"
#include "suites/suites.h"

namespace wgrad::cli {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

Result<Rows> Candidates() {
  const Result<std::vector<CandidateListing>> listings = ListCandidates();
  if (!listings.ok()) return listings.error();
  Rows rows;
  for (const CandidateListing& candidate : *listings) rows.emplace_back(candidate.name, candidate.description);
  return rows;
}

Result<Rows> SuiteNames() {
  Rows rows;
  for (const suites::Suite& suite : suites::Suites()) rows.emplace_back(suite.name, suite.description);
  return rows;
}

Result<Rows> Classes() {
  Rows rows;
  for (const oracle::ClassDescription& description : oracle::ClassDescriptions()) {
    rows.emplace_back(description.name,
                      std::string(description.meaning) + "; e.g. " + std::string(description.example));
  }
  return rows;
}

Result<Rows> Fillings() {
  Rows rows;
  for (int filling = 0; filling < kFillingCount; ++filling) {
    rows.emplace_back(NameOf(static_cast<Filling>(filling)), oracle::DescriptionOf(static_cast<Filling>(filling)));
  }
  return rows;
}

std::string Table(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& [name, description] : rows) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, description] : rows) {
    text += name + std::string(width + 2 - name.size(), ' ') + description + "\n";
  }
  return text;
}

}  // namespace

void AddListCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("list", "Show the names that the other commands take");
  auto what = std::make_shared<std::string>();
  command->add_option("WHAT", *what, "candidates, suites, classes or fillings")->required();
  command->footer("Example:\n  wgrad list suites");
  command->callback([what, &exit_code] {
    const std::vector<std::pair<std::string, std::function<Result<Rows>()>>> lists = {
        {"candidates", Candidates}, {"suites", SuiteNames}, {"classes", Classes}, {"fillings", Fillings}};
    std::vector<std::string> names;
    for (const auto& [name, rows] : lists) {
      names.push_back(name);
      if (name != *what) continue;
      const Result<Rows> listed = rows();
      if (listed.ok()) return Print(Table(*listed));
      exit_code = Refuse(listed.error());
      return;
    }
    exit_code = Refuse(UnknownName("list", *what, names));
  });
}

}  // namespace wgrad::cli
