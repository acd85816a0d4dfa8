#include "cli/suggest.h"

#include <algorithm>
#include <vector>

namespace wgrad::cli {

int EditDistance(std::string_view a, std::string_view b) {
  // Row r of the usual table holds the distances of a's first r letters to b's prefixes; a swap looks two rows back.
  std::vector<int> before_last(b.size() + 1);
  std::vector<int> last(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (std::size_t column = 0; column <= b.size(); ++column) row[column] = static_cast<int>(column);
  for (std::size_t letter = 1; letter <= a.size(); ++letter) {
    before_last.swap(last);
    last.swap(row);
    row[0] = static_cast<int>(letter);
    for (std::size_t column = 1; column <= b.size(); ++column) {
      const bool same = a[letter - 1] == b[column - 1];
      row[column] = std::min({last[column] + 1, row[column - 1] + 1, last[column - 1] + (same ? 0 : 1)});
      const bool swapped = letter > 1 && column > 1 && a[letter - 1] == b[column - 2] && a[letter - 2] == b[column - 1];
      if (swapped) row[column] = std::min(row[column], before_last[column - 2] + 1);
    }
  }
  return row[b.size()];
}

Error UnknownName(std::string_view kind, std::string_view name, std::span<const std::string> known) {
  std::string message = "unknown " + std::string(kind) + " \"" + std::string(name) + "\"";
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return EditDistance(name, a) < EditDistance(name, b);
  });
  // A third of the letters wrong is a slip; more than that is another word.
  const bool is_near = nearest != known.end() &&
                       3 * EditDistance(name, *nearest) <= static_cast<int>(std::max(nearest->size(), name.size())) + 1;
  if (is_near) {
    message += "; did you mean \"" + *nearest + "\"?";
  } else if (!known.empty()) {
    message += "; known are ";
    for (std::size_t at = 0; at < known.size(); ++at) message += (at == 0 ? "" : ", ") + known[at];
  }
  return {ErrorCode::kNotFound, message};
}

}  // namespace wgrad::cli
