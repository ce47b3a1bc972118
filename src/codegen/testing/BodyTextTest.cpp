#include "codegen/testing/BodyText.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <regex>

using namespace tokamak;
using namespace tokamak::codegen;

template <typename List, typename TextOf>
static std::string joined(const List &list, const TextOf &textOf) {
  std::string text;
  for (const auto &item : list)
    text += (text.empty() ? "" : ", ") + textOf(item);
  return text;
}

static std::string listOf(const std::set<unsigned> &axes) {
  return joined(axes, [](unsigned axis) { return "d" + std::to_string(axis); });
}

// "s0 + 1" is written as a string.
static std::string sizesOf(const std::vector<std::string> &sizes) {
  return joined(sizes, [](const std::string &size) {
    return size.find_first_of(" *") == std::string::npos ? size : '"' + size + '"';
  });
}

static std::string behindAt(const std::vector<BodyCell> &indices) {
  if (indices.empty())
    return "";
  return " at " + joined(indices, [](const BodyCell &cell) { return cell.name; }) + " : " +
         joined(indices, [](const BodyCell &cell) { return cell.type(); });
}

std::string BodyCell::type() const {
  return "!plan.cell<(" + listOf(axes) + ") -> " + element + ">";
}

BodyText::Array BodyText::arrayOf(const std::string &element, const Sizes &sizes) {
  std::string dimensions;
  for (size_t i = 0; i < sizes.size(); ++i)
    dimensions += "?x";
  return {"tensor<" + dimensions + element + ">", element, "[" + sizesOf(sizes) + "]"};
}

unsigned BodyText::array(const std::string &element, const Sizes &sizes) {
  operands_.push_back(arrayOf(element, sizes));
  return operands_.size() - 1;
}

unsigned BodyText::scalar(const std::string &type) {
  operands_.push_back({type, type, ""});
  return operands_.size() - 1;
}

unsigned BodyText::result(const std::string &element, const Sizes &sizes) {
  results_.push_back(arrayOf(element, sizes));
  return results_.size() - 1;
}

std::string BodyText::mapOf(const std::string &places, size_t symbols) const {
  std::string dimensions, names;
  for (size_t axis = 0; axis < axes_.size(); ++axis)
    dimensions += fmt::format("{}d{}", axis == 0 ? "" : ", ", axis);
  for (size_t symbol = 0; symbol < symbols; ++symbol)
    names += fmt::format("{}s{}", symbol == 0 ? "" : ", ", symbol);
  return fmt::format("({}){} -> ({})", dimensions, names.empty() ? "" : "[" + names + "]", places);
}

static std::set<unsigned> axesOf(const std::string &map, const std::vector<BodyCell> &indices) {
  static const std::regex axis("d(\\d+)");
  std::set<unsigned> axes;
  for (std::sregex_iterator it(map.begin(), map.end(), axis), end; it != end; ++it)
    axes.insert(std::stoul((*it)[1].str()));
  for (const BodyCell &index : indices)
    axes.insert(index.axes.begin(), index.axes.end());
  return axes;
}

static std::set<unsigned> axesOf(const std::vector<BodyCell> &cells) { return axesOf("", cells); }

BodyCell BodyText::define(const std::string &operation, std::set<unsigned> axes,
                          std::string element, const std::string &types) {
  BodyCell cell{"%" + std::to_string(cells_++), std::move(axes), std::move(element)};
  body_ += fmt::format("    {} = plan.{} : {}{}\n", cell.name, operation, types, cell.type());
  return cell;
}

BodyCell BodyText::read(unsigned operand, const std::string &map, const std::string &outside,
                        const std::vector<BodyCell> &indices) {
  return define(fmt::format("read %p{} {}{}{}", operand, mapOf(map, indices.size()),
                            behindAt(indices), outside.empty() ? "" : " outside " + outside),
                axesOf(map, indices), operands_[operand].element, operands_[operand].type + " -> ");
}

BodyCell BodyText::constant(const std::string &number, const std::string &element) {
  return define("constant " + number + (element == "i1" ? "" : " : " + element), {}, element, "");
}

BodyCell BodyText::size(const std::string &size) {
  return define("size \"" + size + "\"", {}, "i64", "");
}

BodyCell BodyText::unary(const std::string &name, const BodyCell &x) {
  return define("unary " + name + " " + x.name, x.axes, x.element, x.type() + " -> ");
}

BodyCell BodyText::binary(const std::string &name, const BodyCell &a, const BodyCell &b,
                          const std::string &element) {
  return define(fmt::format("binary {} {}, {}", name, a.name, b.name), axesOf({a, b}),
                element.empty() ? a.element : element,
                fmt::format("({}, {}) -> ", a.type(), b.type()));
}

BodyCell BodyText::ifElse(const BodyCell &condition, const BodyCell &then,
                          const BodyCell &otherwise) {
  return define(fmt::format("ifelse {}, {}, {}", condition.name, then.name, otherwise.name),
                axesOf({condition, then, otherwise}), then.element,
                fmt::format("({}, {}, {}) -> ", condition.type(), then.type(), otherwise.type()));
}

BodyCell BodyText::cast(const BodyCell &x, const std::string &element) {
  return define("cast " + x.name, x.axes, element, x.type() + " -> ");
}

BodyCell BodyText::reindex(const BodyCell &x, const std::string &map) {
  return define("reindex " + x.name + " " + mapOf(map, 0), axesOf(map, {}), x.element,
                x.type() + " -> ");
}

BodyCell BodyText::reduce(const std::string &kind, const BodyCell &x, const Axes &over,
                          const std::string &accumulator, const std::string &element) {
  std::set<unsigned> axes = x.axes;
  for (unsigned axis : over) {
    axes.erase(axis);
    if (kinds_[axis].empty())
      kinds_[axis] = " reduced";
  }
  return define(fmt::format("reduce {} {} over [{}] in {}", kind, x.name,
                            listOf({over.begin(), over.end()}), accumulator),
                axes, element.empty() ? x.element : element, x.type() + " -> ");
}

BodyCell BodyText::scan(const std::string &kind, const BodyCell &x, unsigned axis,
                        const std::string &accumulator) {
  kinds_[axis] = " scanned";
  return define(fmt::format("scan {} {} over [d{}] in {}", kind, x.name, axis, accumulator), x.axes,
                x.element, x.type() + " -> ");
}

void BodyText::write(const BodyCell &x, unsigned result, const std::string &map,
                     const std::vector<BodyCell> &indices) {
  body_ += fmt::format("    plan.write {} to {} {}{} : {}\n", x.name, result,
                       mapOf(map, indices.size()), behindAt(indices), x.type());
}

std::string BodyText::text() const {
  std::string arguments, operands, operandTypes, axes;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const char *comma = i == 0 ? "" : ", ";
    arguments += fmt::format("{}%a{}: {}", comma, i, operands_[i].type);
    operands += fmt::format("{}%p{} = %a{} {}", comma, i, i, operands_[i].sizes);
    operandTypes += comma + operands_[i].type;
  }
  for (size_t axis = 0; axis < axes_.size(); ++axis)
    axes += (axis == 0 ? "" : ", ") + sizesOf({axes_[axis]}) + kinds_[axis];
  std::string sizes = joined(results_, [](const Array &array) { return array.sizes; });
  std::string types = joined(results_, [](const Array &array) { return array.type; });
  std::string count = results_.size() == 1 ? "" : ":" + std::to_string(results_.size());
  return fmt::format(
      "func.func @body({}) {{\n  %r{} = plan.operator ({}) axes [{}] -> {} : ({}) -> "
      "({}) {{\n{}  }}\n  return\n}}\n",
      arguments, count, operands, axes, sizes, operandTypes, types, body_);
}
