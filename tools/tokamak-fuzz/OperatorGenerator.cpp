#include "tokamak-fuzz/OperatorGenerator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tokamak::fuzz {
namespace {

using Sizes = std::vector<int64_t>;
using Axes = std::set<size_t>;

constexpr int64_t mostPoints = 3000;
constexpr double largestExact = 0x1p53; // sums of whole numbers up to this are exact in f64

enum class Role : uint8_t { Parallel, Reduced, Scanned };

struct Axis {
  int64_t length;
  Role role;
  bool isUsed = false;  // reduced over or scanned along
  bool isNamed = false; // by a symbol, which an operand has as a size
};

struct Cell {
  std::string name;
  Axes axes;
  double most = 0;      // bound on its magnitude
  bool isWhole = false; // a whole number, and no negative zero
  bool isTruth = false;
};

std::string tensorOf(size_t rank, ElementType cells) {
  std::string dimensions;
  for (size_t i = 0; i < rank; ++i)
    dimensions += "?x";
  return fmt::format("tensor<{}{}>", dimensions, nameOf(cells));
}

class OperatorWriter {
public:
  OperatorWriter(Random &random, ElementType cells, const std::string &prefix)
      : random_(random), type_(cells), prefix_(prefix) {}

  GeneratedOperator write(const Sizes &sizes,
                          const std::function<std::string(const Sizes &)> &drawn) {
    chooseAxes(sizes);
    for (int64_t i = 0, reads = random_.between(1, 3); i < reads; ++i)
      read(i == 0, drawn);
    for (int64_t i = random_.between(2, 8); i > 0; --i)
      operation();
    writeResult(cells_.back());
    if (random_.chance(0.3))
      writeResult(random_.choose(cells_));
    return {statement(head() + " {\n@}", {sequence(body_)}), results_};
  }

private:
  static std::string axis(size_t number) { return fmt::format("d{}", number); }
  static std::string listOf(const Axes &axes) {
    std::vector<std::string> names;
    for (size_t i : axes)
      names.push_back(axis(i));
    return fmt::format("{}", fmt::join(names, ", "));
  }
  std::string allAxes() const {
    Axes all;
    for (size_t i = 0; i < axes_.size(); ++i)
      all.insert(i);
    return listOf(all);
  }
  std::string typeOf(const Cell &cell) const {
    return fmt::format("!plan.cell<({}) -> {}>", listOf(cell.axes),
                       cell.isTruth ? "i1" : nameOf(type_));
  }
  std::string sizeOf(size_t axis) const {
    return axes_[axis].isNamed ? fmt::format("s{}", axis) : std::to_string(axes_[axis].length);
  }
  bool areFloats() const { return isFloat(type_); }
  std::string accumulator() const {
    return areFloats() ? "f64" : type_ == ElementType::U64 ? "ui64" : "i64";
  }

  void chooseAxes(const Sizes &sizes) {
    int64_t most = mostPoints;
    Role last = Role::Scanned;
    for (int64_t i = 0, count = random_.between(1, 4); i < count; ++i) {
      int64_t length = std::max<int64_t>(1, random_.choose(sizes));
      if (length > most)
        length = std::min<int64_t>(most, random_.between(1, 3));
      most /= length;
      Role role = i == 0 ? Role::Parallel
                         : random_.choose({Role::Parallel, Role::Reduced, Role::Reduced, last});
      if (role == Role::Scanned)
        last = Role::Parallel; // one axis at most is scanned
      axes_.push_back({length, role});
    }
  }

  Cell define(const std::string &operation, Cell cell, const std::string &operandTypes) {
    cell.name = fmt::format("%c{}", names_++);
    body_.push_back(statement(
        fmt::format("{} = plan.{} : {}{}", cell.name, operation, operandTypes, typeOf(cell))));
    return cell;
  }

  //===- reads -------------------------------------------------------------------------------===//

  // The first read runs over all axes.
  void read(bool isFirst, const std::function<std::string(const Sizes &)> &drawn) {
    std::vector<size_t> read;
    for (size_t i = 0; i < axes_.size(); ++i)
      if (isFirst || random_.chance(0.6))
        read.insert(read.begin() + random_.upTo(static_cast<int64_t>(read.size()) + 1), i);
    if (read.empty())
      read.push_back(0);
    std::vector<std::string> places, texts;
    Sizes sizes;
    bool isOpen = false;
    for (size_t i : read) {
      int64_t length = axes_[i].length;
      switch (random_.upTo(10)) {
      case 0:
        isOpen = true;
        places.push_back(axis(i) + (random_.chance(0.5) ? " + 2" : " - 1"));
        break;
      case 1:
        length *= 2;
        places.push_back("2 * " + axis(i) + " + 1");
        break;
      default:
        axes_[i].isNamed |= random_.chance(0.6);
        places.push_back(axis(i));
      }
      sizes.push_back(length);
      bool isStride = length != axes_[i].length, isPlain = places.back() == axis(i);
      texts.push_back(isStride  ? fmt::format("@2{}", i)
                      : isPlain ? fmt::format("@1{}", i)
                                : std::to_string(length));
    }
    std::string array = drawn(sizes), type = tensorOf(sizes.size(), type_);
    operands_.push_back({array, texts, type});
    Cell cell{"", Axes(read.begin(), read.end()), areFloats() ? 3.0 : 0, !areFloats(), false};
    cells_.push_back(
        define(fmt::format("read %p{} ({}) -> ({}){}", operands_.size() - 1, allAxes(),
                           fmt::join(places, ", "),
                           isOpen ? random_.choose({" outside 0.0", " outside 1.0"}) : ""),
               std::move(cell), type + " -> "));
  }

  //===- operations --------------------------------------------------------------------------===//

  Cell pick() { // later ones more often
    auto count = static_cast<int64_t>(cells_.size());
    return cells_[std::max(random_.upTo(count), random_.upTo(count))];
  }

  Cell constant(double number) {
    Cell cell{"", {}, std::abs(number), number == std::floor(number), false};
    std::string literal =
        areFloats() ? fmt::format("{:e}", number) : std::to_string(static_cast<int64_t>(number));
    return define(fmt::format("constant {} : {}", literal, nameOf(type_)), std::move(cell), "");
  }
  // Halves round whole numbers to whole numbers, but overflow early.
  double largest() const { return type_ == ElementType::F16 ? 6e4 : 1e30; }

  Cell unary(const char *name, const Cell &x, bool isWhole) {
    Cell y{"", x.axes, x.most, isWhole, false};
    return define(fmt::format("unary {} {}", name, x.name), std::move(y), typeOf(x) + " -> ");
  }
  Cell binary(const char *name, const Cell &x, const Cell &y, double most, bool isWhole,
              bool isTruth = false) {
    Cell z{"", x.axes, most, isWhole, isTruth};
    z.axes.insert(y.axes.begin(), y.axes.end());
    return define(fmt::format("binary {} {}, {}", name, x.name, y.name), std::move(z),
                  fmt::format("({}, {}) -> ", typeOf(x), typeOf(y)));
  }
  // A whole number, small enough for `count` of it to be added up exactly; zeros are positive.
  Cell wholeOf(Cell x, double count) {
    if (!areFloats())
      return x;
    if (x.most * count > largestExact || x.most * count > largest())
      x = binary("min", binary("max", x, constant(-4), 4, false), constant(4), 4, x.isWhole);
    if (!x.isWhole)
      x = unary("floor", x, true);
    return binary("add", x, constant(0), x.most, true);
  }

  void operation() {
    Cell x = pick(), y = pick();
    switch (random_.upTo(14)) {
    case 0:
      return keep(unary("neg", x, false));
    case 1:
      return keep(unary("abs", x, x.isWhole));
    case 2:
      return keep(areFloats() ? unary("floor", x, false)
                              : binary("div", x, constant(divisor()), 0, true));
    case 3:
    case 4:
      return keep(binary("mul", x, y, x.most * y.most, false));
    case 5:
      return keep(binary("add", x, y, x.most + y.most, false));
    case 6:
      return keep(binary("sub", x, y, x.most + y.most, false));
    case 7: // fractions
      return keep(areFloats() ? binary("mul", x, constant(random_.choose({0.1, 0.3, 1.0 / 3})),
                                       x.most, false)
                              : binary("intdiv", x, y, 0, true));
    case 8:
      return keep(areFloats()
                      ? binary("div", x, constant(random_.choose({3.0, 7.0, -9.0})), x.most, false)
                      : binary("mod", x, y, 0, true));
    case 9:
      return select(x, y);
    case 10:
      return scan(x);
    default:
      return reduce(x, /*all=*/false);
    }
  }
  int64_t divisor() { return isSignedInteger(type_) && random_.chance(0.6) ? -1 : 3; }

  void keep(Cell cell) {
    if (areFloats() && cell.most > largest() / 4)
      return; // too large for what may follow
    cells_.push_back(std::move(cell));
  }

  void select(const Cell &x, const Cell &y) {
    Cell test = binary(random_.choose({"lt", "ge", "eq"}), x, y, 1, true, /*isTruth=*/true);
    Cell z{"", test.axes, std::max(x.most, y.most), false, false};
    keep(define(fmt::format("ifelse {}, {}, {}", test.name, x.name, y.name), std::move(z),
                fmt::format("({}, {}, {}) -> ", typeOf(test), typeOf(x), typeOf(y))));
  }

  // Tiles are divided along the first axis: there is no code for aggregates and results that don't run
  // over it.
  Cell alongFirst(const Cell &x) {
    return x.axes.count(0) ? x
                           : binary("add", x, cells_.front(), x.most + cells_.front().most, false);
  }

  // Of what runs over parallel axes beside the scanned one.
  void scan(Cell x) {
    for (size_t i : Axes(x.axes)) {
      if (axes_[i].role != Role::Scanned)
        continue;
      auto count = static_cast<double>(axes_[i].length);
      x = alongFirst(x);
      if (runsOverReduced(x))
        return reduce(x, /*all=*/true);
      x = wholeOf(x, count);
      axes_[i].isUsed = true;
      Cell y{"", x.axes, x.most * count, areFloats() || x.isWhole, false};
      return keep(define(fmt::format("scan {} {} over [{}] in {}", random_.choose({"sum", "max"}),
                                     x.name, axis(i), accumulator()),
                         std::move(y), typeOf(x) + " -> "));
    }
  }

  bool runsOverReduced(const Cell &x) const {
    return std::any_of(x.axes.begin(), x.axes.end(),
                       [&](size_t i) { return axes_[i].role == Role::Reduced; });
  }

  // Over some of its reduced axes, or over all of them.
  void reduce(Cell x, bool all) {
    Axes over;
    double count = 1;
    for (size_t i : x.axes)
      if (axes_[i].role == Role::Reduced && (all || random_.chance(0.8))) {
        over.insert(i);
        count *= static_cast<double>(axes_[i].length);
      }
    if (over.empty())
      return;
    if (!x.axes.count(0))
      return reduce(alongFirst(x), all);
    x = wholeOf(x, count);
    Cell y{"", x.axes, x.most * count, true, false};
    for (size_t i : over) {
      axes_[i].isUsed = true;
      y.axes.erase(i);
    }
    cells_.push_back(define(fmt::format("reduce {} {} over [{}] in {}",
                                        random_.choose({"sum", "sum", "max", "min"}), x.name,
                                        listOf(over), accumulator()),
                            std::move(y), typeOf(x) + " -> "));
  }

  //===- results -----------------------------------------------------------------------------===//

  void writeResult(Cell x) {
    x = alongFirst(x);
    if (runsOverReduced(x)) {
      reduce(x, /*all=*/true);
      x = cells_.back();
    }
    Axes axes = x.axes; // along d0 it is repeated where it does not run over it
    axes.insert(0);
    std::vector<size_t> order;
    for (size_t i : axes)
      order.insert(random_.chance(0.8) ? order.end() : order.begin(), i);
    std::vector<std::string> places, texts;
    GeneratedOperator::Result result{fmt::format("%{}_{}", prefix_, results_.size()), {}, x.most};
    for (size_t i : order) {
      places.push_back(axis(i));
      texts.push_back(fmt::format("@1{}", i));
      result.sizes.push_back(axes_[i].length);
    }
    body_.push_back(
        statement(fmt::format("plan.write {} to {} ({}) -> ({}) : {}", x.name, results_.size(),
                              allAxes(), fmt::join(places, ", "), typeOf(x))));
    resultSizes_.push_back(texts);
    results_.push_back(std::move(result));
  }

  // "[s0, 3]" of sizes, in which "@10" stands for the size of d0, "@20" for twice that.
  std::string sizesText(const std::vector<std::string> &texts) const {
    std::vector<std::string> sizes;
    for (const std::string &text : texts) {
      size_t axis = text[0] == '@' ? std::stoul(text.substr(2)) : 0;
      sizes.push_back(text[0] != '@'        ? text
                      : text[1] == '1'      ? sizeOf(axis)
                      : axes_[axis].isNamed ? fmt::format("\"2*s{}\"", axis)
                                            : std::to_string(2 * axes_[axis].length));
    }
    return fmt::format("[{}]", fmt::join(sizes, ", "));
  }

  std::string head() const {
    std::vector<std::string> operands, operandTypes, axes, sizes, types, names;
    for (size_t i = 0; i < operands_.size(); ++i) {
      operands.push_back(
          fmt::format("%p{} = {} {}", i, operands_[i].array, sizesText(operands_[i].sizes)));
      operandTypes.push_back(operands_[i].type);
    }
    for (size_t i = 0; i < axes_.size(); ++i) {
      const char *role = !axes_[i].isUsed                 ? ""
                         : axes_[i].role == Role::Reduced ? " reduced"
                                                          : " scanned";
      axes.push_back(sizeOf(i) + role);
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      names.push_back(results_[i].name);
      sizes.push_back(sizesText(resultSizes_[i]));
      types.push_back(tensorOf(results_[i].sizes.size(), type_));
    }
    return fmt::format("{} = plan.operator ({}) axes [{}] -> {} : ({}) -> ({})",
                       fmt::join(names, ", "), fmt::join(operands, ", "), fmt::join(axes, ", "),
                       fmt::join(sizes, ", "), fmt::join(operandTypes, ", "),
                       fmt::join(types, ", "));
  }

  struct Operand {
    std::string array;
    std::vector<std::string> sizes;
    std::string type;
  };

  Random &random_;
  ElementType type_;
  std::string prefix_;
  std::vector<Axis> axes_;
  std::vector<Operand> operands_;
  std::vector<Cell> cells_;
  std::vector<Node> body_;
  std::vector<std::vector<std::string>> resultSizes_;
  std::vector<GeneratedOperator::Result> results_;
  int names_ = 0;
};

} // namespace

GeneratedOperator
generateOperator(Random &random, ElementType cells, const std::vector<int64_t> &sizes,
                 const std::function<std::string(const std::vector<int64_t> &)> &drawn,
                 const std::string &prefix) {
  return OperatorWriter(random, cells, prefix).write(sizes, drawn);
}

} // namespace tokamak::fuzz
