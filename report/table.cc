#include "report/table.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace wgrad::report::internal {
namespace {

constexpr std::size_t kGap = 2;

// Columns of a terminal: code points, since no cell holds wide or combining characters.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void Table::AddRow(std::vector<Cell> cells) {
  WGRAD_CHECK(cells.size() <= columns_.size(), "a table row with more cells than columns");
  rows_.push_back({std::move(cells)});
}

void Table::AddNote(std::size_t column, Cell note) {
  WGRAD_CHECK(column < columns_.size(), "a table note beyond the columns");
  rows_.push_back({{std::move(note)}, true, column});
}

std::vector<std::size_t> Table::Widths() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const Row& row : rows_) {
    if (row.is_note) continue;
    for (std::size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], Width(row.cells[i].text));
  }
  return widths;
}

std::string Table::Render(std::size_t indent, const Paint& paint) const {
  const std::vector<std::size_t> widths = Widths();
  std::string out;
  for (const Row& row : rows_) {
    std::string line(indent, ' ');
    std::size_t pending = 0;  // blanks, written only once something follows them
    const auto write = [&](const Cell& cell) {
      line += std::string(pending, ' ') + paint(cell.style, cell.text);
      pending = 0;
    };
    if (row.is_note) {
      for (std::size_t i = 0; i < row.note_column; ++i) pending += widths[i] == 0 ? 0 : widths[i] + kGap;
      write(row.cells.front());
    }
    for (std::size_t i = 0; i < row.cells.size() && !row.is_note; ++i) {
      if (widths[i] == 0) continue;
      const std::size_t blanks = widths[i] - Width(row.cells[i].text);
      if (columns_[i] == Align::kRight) pending += blanks;
      if (!row.cells[i].text.empty()) write(row.cells[i]);
      pending += (columns_[i] == Align::kLeft ? blanks : 0) + kGap;
    }
    out += line + '\n';
  }
  return out;
}

}  // namespace wgrad::report::internal
