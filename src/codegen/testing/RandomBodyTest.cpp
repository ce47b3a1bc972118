#include "codegen/testing/RandomBody.h"

#include "codegen/testing/BodyText.h"

#include <fmt/format.h>

#include <cmath>

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

struct CellsOfBody {
  const char *element, *sums;
  ElementType type;
  double tolerance;
};
constexpr CellsOfBody kinds[] = {
    {"f64", "f64", ElementType::F64, 1e-10}, {"f64", "f64", ElementType::F64, 1e-10},
    {"f32", "f64", ElementType::F32, 1e-4},  {"f32", "f32", ElementType::F32, 1e-3},
    {"f16", "f64", ElementType::F16, 5e-2},  {"bf16", "f64", ElementType::BF16, 3e-1},
    {"i32", "i64", ElementType::I32, 0},     {"i64", "i64", ElementType::I64, 0},
    {"ui8", "i64", ElementType::U8, 0},      {"i16", "i64", ElementType::I16, 0}};

// A value of the body, and what its magnitude is at most: sums are scaled down, so that rounding stays
// far below the tolerance.
struct Bounded {
  BodyCell cell;
  double most;
};

class Writer {
public:
  explicit Writer(uint64_t seed) : random_(seed), kind_(oneOf(random_, kinds)) {
    chooseAxes();
    body_ = std::make_unique<BodyText>(sizes_);
    // Names every size, and is never read.
    for (size_t symbol = 0; symbol < symbols_.size(); ++symbol)
      symbolTexts_.push_back("s" + std::to_string(symbol));
    if (!symbols_.empty()) {
      body_->array("ui8", symbolTexts_);
      addOperand(symbols_, ElementType::U8, 0, 9);
    }
  }

  RandomBody write() {
    for (int64_t i = 0, reads = randomNumber(random_, 1, 4); i < reads; ++i)
      addRead();
    for (int64_t i = 0, operations = randomNumber(random_, 1, 9); i < operations; ++i)
      addOperation();
    for (int64_t i = 0, results = randomNumber(random_, 1, 3); i < results; ++i)
      happens(random_, 25) ? writeInTwoParts() : writeOne(i == 0);
    return {body_->text(), std::move(operands_), kind_.tolerance};
  }

private:
  enum class Role { Parallel, Reduced, Scanned };

  void chooseAxes() {
    static constexpr int64_t lengths[] = {1, 2, 3, 5, 7, 8, 9, 16, 17, 33};
    int64_t most = 3000;
    for (int64_t i = 0, count = randomNumber(random_, 1, 4); i < count; ++i) {
      int64_t length = happens(random_, 3) ? 0 : oneOf(random_, lengths);
      if (length > most)
        length = randomNumber(random_, 1, 3);
      most /= std::max<int64_t>(1, length);
      Role role = i == 0 ? Role::Parallel
                         : oneOf(random_, std::vector{Role::Parallel, Role::Parallel, Role::Reduced,
                                                      Role::Reduced, Role::Scanned});
      bool isTwin = i > 0 && lengths_.back() <= most && happens(random_, 20);
      if (isTwin) // an axis of the same size, along which values are read again
        addAxis(sizes_.back(), lengths_.back(), role);
      else if (happens(random_, 40))
        addAxis(std::to_string(length), length, role);
      else {
        addAxis("s" + std::to_string(symbols_.size()), length, role);
        symbols_.push_back(length);
      }
    }
    if (happens(random_, 25))
      addAxis("3", 3, Role::Reduced);
  }
  void addAxis(const std::string &size, int64_t length, Role role) {
    sizes_.push_back(size);
    lengths_.push_back(length);
    roles_.push_back(role);
  }
  bool isFloats() const { return isFloat(kind_.type); }
  static std::string axis(unsigned number) { return "d" + std::to_string(number); }

  void addOperand(std::vector<int64_t> sizes, ElementType type, double low, double high) {
    reference::CellArray array{std::move(sizes), {}};
    int64_t count = 1;
    for (int64_t size : array.sizes)
      count *= size;
    for (int64_t i = 0; i < count; ++i) {
      double cell = low + (high - low) * static_cast<double>(random_() % 4096) / 4096;
      if (isFloat(type))
        array.cells.push_back(roundedTo(type, cell));
      else
        array.integers.push_back(integerOf(type, std::floor(cell)));
    }
    operands_.push_back(std::move(array));
  }

  std::vector<unsigned> someAxes(int percent) {
    std::vector<unsigned> axes;
    for (unsigned i = 0; i < sizes_.size(); ++i)
      if (happens(random_, percent))
        axes.push_back(i);
    if (axes.empty())
      axes.push_back(static_cast<unsigned>(randomNumber(random_, 0, sizes_.size() - 1)));
    shuffle(random_, axes);
    return axes;
  }

  //===- reads -------------------------------------------------------------------------------===//

  // One dimension of an array that is read: its place and its size.
  struct Dimension {
    std::string place, size;
    int64_t length;
  };

  Dimension dimensionOf(unsigned i, std::vector<BodyCell> &indices, bool &isOpen) {
    const std::string &size = sizes_[i];
    int64_t length = lengths_[i];
    switch (randomNumber(random_, 1, 12)) {
    case 1: // shifted; some places are outside
      isOpen = true;
      return {axis(i) + (happens(random_, 50) ? " + 2" : " - 1"), size, length};
    case 2:
      return {"2 * " + axis(i) + " + 1", "2*" + size, 2 * length};
    case 3: {
      indices.push_back(body_->size(size + " - 1"));
      return {"s" + std::to_string(indices.size() - 1) + " - " + axis(i), size, length};
    }
    case 4: { // a window
      unsigned j = sizes_.size() - 1;
      if (j == i || sizes_[j] != "3")
        break;
      if (happens(random_, 50))
        return {axis(i) + " + " + axis(j), size + " + 2", length + 2};
      isOpen = true;
      return {axis(i) + " + " + axis(j) + " - 1", size, length};
    }
    case 5: { // numbered by cells along this axis
      isOpen = true;
      unsigned numbers = body_->array("i64", {size});
      addOperand({length}, ElementType::I64, -1, 7);
      indices.push_back(body_->read(numbers, axis(i)));
      std::string index = "s" + std::to_string(indices.size() - 1);
      return {happens(random_, 50) ? index : "2 * " + index + " - 1", "5", 5};
    }
    default:
      break;
    }
    return {axis(i), size, length};
  }

  void addRead() {
    if (happens(random_, 8) && (kind_.type == ElementType::F64 || kind_.type == ElementType::I64)) {
      addOperand({}, kind_.type, -1, 1.9);
      cells_.push_back({body_->read(body_->scalar(kind_.element), ""), 2});
      return;
    }
    std::string map;
    std::vector<std::string> sizes;
    std::vector<int64_t> lengths;
    std::vector<BodyCell> indices;
    bool isOpen = false;
    std::vector<Dimension> dimensions;
    for (unsigned i : someAxes(65))
      dimensions.push_back(dimensionOf(i, indices, isOpen));
    if (happens(random_, 15))
      dimensions.insert(dimensions.begin() + randomNumber(random_, 0, dimensions.size()),
                        {"1", "2", 2});
    for (const Dimension &dimension : dimensions) {
      map += (map.empty() ? "" : ", ") + dimension.place;
      sizes.push_back(dimension.size);
      lengths.push_back(dimension.length);
    }
    unsigned operand = body_->array(kind_.element, sizes);
    addOperand(lengths, kind_.type, isFloats() ? -1 : 0, isFloats() ? 1 : 40);
    std::string outside = isOpen ? oneOf(random_, std::vector<std::string>{"0.0", "1.0"}) : "";
    cells_.push_back({body_->read(operand, map, outside, indices), 1});
  }

  //===- operations --------------------------------------------------------------------------===//

  const Bounded &pick() {
    // Later values more often.
    size_t count = cells_.size();
    return cells_[std::max(randomNumber(random_, 0, count - 1),
                           randomNumber(random_, 0, count - 1))];
  }

  void add(const BodyCell &cell, double most) {
    if (!isFloats() || most <= 4) {
      cells_.push_back({cell, most});
      return;
    }
    double scale = std::exp2(-std::ceil(std::log2(most)));
    BodyCell factor = body_->constant(fmt::format("{:e}", scale), kind_.element);
    cells_.push_back({body_->binary("mul", cell, factor), 1});
  }

  void addOperation() {
    Bounded x = pick(), y = pick();
    int64_t choice = randomNumber(random_, 1, 20);
    if (choice <= 5)
      return add(body_->binary("mul", x.cell, y.cell), x.most * y.most);
    if (choice <= 7)
      return add(body_->binary("add", x.cell, y.cell), x.most + y.most);
    if (choice <= 8)
      return add(body_->binary(happens(random_, 50) ? "max" : "sub", x.cell, y.cell),
                 x.most + y.most);
    if (choice <= 9)
      return add(body_->unary("abs", x.cell), x.most);
    if (choice <= 11 && isFloats() && x.most <= 2)
      return add(body_->unary("exp", x.cell), std::exp(x.most));
    if (choice <= 12 && isFloats())
      return add(body_->unary("sigmoid", x.cell), 1);
    if (choice <= 13 && !isFloats())
      return add(body_->ifElse(body_->binary("lt", x.cell, y.cell, "i1"), x.cell, y.cell), 0);
    if (choice <= 15)
      return addScanOrReindex(x);
    addReduction(x);
  }

  void addReduction(const Bounded &x) {
    std::vector<unsigned> over;
    double count = 1;
    for (unsigned i : x.cell.axes)
      if (roles_[i] == Role::Reduced && happens(random_, 80)) {
        over.push_back(i);
        count *= static_cast<double>(std::max<int64_t>(1, lengths_[i]));
      }
    if (over.empty())
      return;
    bool isMax = happens(random_, 30);
    // The maximum of nothing is -Infinity, which a sum of others would make a NaN of.
    for (unsigned i : over)
      isMax &= lengths_[i] > 0 || !isFloats();
    add(body_->reduce(isMax ? "max" : "sum", x.cell, over, kind_.sums),
        isMax ? x.most : x.most * count);
  }

  void addScanOrReindex(const Bounded &x) {
    for (unsigned i : x.cell.axes) {
      if (roles_[i] == Role::Scanned)
        return add(body_->scan(happens(random_, 30) ? "max" : "sum", x.cell, i, kind_.sums),
                   x.most * static_cast<double>(std::max<int64_t>(1, lengths_[i])));
      for (unsigned j = 0; j < sizes_.size(); ++j)
        if (i != j && sizes_[i] == sizes_[j] && !x.cell.axes.count(j)) {
          std::string map;
          for (unsigned own : x.cell.axes)
            map += (map.empty() ? "" : ", ") + axis(own == i ? j : own);
          return add(body_->reindex(x.cell, map), x.most);
        }
    }
  }

  //===- writes ------------------------------------------------------------------------------===//

  // The axes of the cell, with d0, along which it is repeated if it does not run over it.
  std::vector<unsigned> axesOf(const BodyCell &cell) {
    std::set<unsigned> axes = cell.axes;
    if (happens(random_, 95))
      axes.insert(0);
    std::vector<unsigned> list(axes.begin(), axes.end());
    if (happens(random_, 30))
      shuffle(random_, list);
    return list;
  }

  void writeOne(bool isLast) {
    const Bounded x = isLast ? cells_.back() : pick();
    std::string map;
    std::vector<std::string> sizes;
    std::vector<BodyCell> indices;
    for (unsigned i : axesOf(x.cell)) {
      std::string place = axis(i);
      if (happens(random_, 10)) { // backwards
        indices.push_back(body_->size(sizes_[i] + " - 1"));
        place = "s" + std::to_string(indices.size() - 1) + " - " + place;
      }
      map += (map.empty() ? "" : ", ") + place;
      sizes.push_back(sizes_[i]);
    }
    if (happens(random_, 10) || map.empty()) {
      map += map.empty() ? "0" : ", 0";
      sizes.push_back("1");
    }
    body_->write(x.cell, body_->result(kind_.element, sizes), map, indices);
  }

  // Two cells side by side: along the last dimension first a part with one axis, then one with another.
  void writeInTwoParts() {
    Bounded x = pick(), y = pick();
    for (unsigned i : x.cell.axes)
      for (unsigned j : y.cell.axes) {
        if (i == j || i == 0 || j == 0 || x.cell.axes.count(j) || y.cell.axes.count(i))
          continue;
        std::set<unsigned> others = {0};
        others.insert(x.cell.axes.begin(), x.cell.axes.end());
        others.insert(y.cell.axes.begin(), y.cell.axes.end());
        others.erase(i);
        others.erase(j);
        std::string map;
        std::vector<std::string> sizes;
        for (unsigned axisOfBoth : others) {
          map += axis(axisOfBoth) + ", ";
          sizes.push_back(sizes_[axisOfBoth]);
        }
        sizes.push_back(sizes_[i] + " + " + sizes_[j]);
        unsigned result = body_->result(kind_.element, sizes);
        body_->write(x.cell, result, map + axis(i));
        body_->write(y.cell, result, map + axis(j) + " + s0", {body_->size(sizes_[i])});
        return;
      }
    writeOne(false);
  }

  Generator random_;
  CellsOfBody kind_;
  std::vector<std::string> sizes_, symbolTexts_;
  std::vector<int64_t> lengths_, symbols_;
  std::vector<Role> roles_;
  std::unique_ptr<BodyText> body_;
  std::vector<reference::CellArray> operands_;
  std::vector<Bounded> cells_;
};

} // namespace

RandomBody RandomBody::make(uint64_t seed) { return Writer(seed).write(); }
