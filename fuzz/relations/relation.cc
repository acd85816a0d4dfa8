#include "fuzz/relations/relation.h"

#include <utility>

namespace wgrad::fuzz {

std::string NameOf(const Element& element) {
  return "filter_backprop[kh=" + std::to_string(element.kh) + ", kw=" + std::to_string(element.kw) +
         ", ic=" + std::to_string(element.ic) + ", oc=" + std::to_string(element.oc) + "]";
}

Relation Inapplicable(std::string why) { return {.inapplicable = std::move(why)}; }

Call PlainCall(const Source& source, std::string label) {
  return {.label = std::move(label), .problem = source.problem, .operands = source.operands};
}

Relation OneToOne(const Source& source, Call other, std::function<Element(const Element&)> place) {
  Relation relation;
  relation.calls.push_back(PlainCall(source));
  relation.calls.push_back(std::move(other));
  relation.due = [place = std::move(place)](const Element& element) {
    return std::vector<Share>{{.call = 1, .at = place(element)}};
  };
  return relation;
}

}  // namespace wgrad::fuzz
