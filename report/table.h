// An aligned table of text: columns as wide as their widest cell, no rules, no trailing blanks. Not installed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/words.h"

namespace wgrad::report::internal {

enum class Align : std::uint8_t { kLeft, kRight };

struct Cell {
  std::string text;
  Style style = Style::kPlain;
};

class Table {
 public:
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// At most as many cells as columns; missing ones are empty.
  void AddRow(std::vector<Cell> cells);
  /// A line of free text below the last row, starting at `column`; does not widen columns.
  void AddNote(std::size_t column, Cell note);

  /// Lines, each ended by a line feed and started by `indent` blanks.
  std::string Render(std::size_t indent, const Paint& paint) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    bool is_note = false;
    std::size_t note_column = 0;
  };
  std::vector<std::size_t> Widths() const;

  std::vector<Align> columns_;
  std::vector<Row> rows_;
};

}  // namespace wgrad::report::internal
