// Random programs in the textual form of the dialect: arrays of one to four dimensions and of all
// element types.
#include "base/CellOperators.h"
#include "tokamak-fuzz/OperatorGenerator.h"
#include "tokamak-fuzz/ProgramGenerator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tokamak::fuzz {
namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t mostCells = 20'000;
constexpr double mostSize = 1e6; // bound on cells: a product of a few is finite even in f32

int64_t cellsOf(const Sizes &sizes) {
  int64_t cells = 1;
  for (int64_t size : sizes)
    cells *= size;
  return cells;
}

struct ArrayValue {
  std::string name;
  Sizes sizes;
  ElementType cells = ElementType::F64;
  double size = 1; // upper bound on the magnitude of finite cells; integers wrap
  int rank() const { return static_cast<int>(sizes.size()); }
};

std::string typeOf(int rank, ElementType cells) {
  std::string text = "tensor<";
  for (int i = 0; i < rank; ++i)
    text += "?x";
  return fmt::format("{}{}>", text, nameOf(cells));
}
std::string typeOf(const ArrayValue &array) { return typeOf(array.rank(), array.cells); }

class TokGenerator {
public:
  explicit TokGenerator(Random &random) : random_(random) {}

  Node program() {
    isMixed_ = random_.chance(0.4);
    cells_ = random_.choose({ElementType::F64, ElementType::F32, anyType(), anyType()});
    chooseSizes();
    for (int64_t i = random_.between(1, 3); i > 0; --i)
      drawn(sizesOf(anyRank()), cells());
    for (int64_t i = random_.between(2, 9); i > 0; --i)
      step();
    printAll();
    body_.push_back(statement("return"));
    std::vector<Node> all = functions_;
    all.push_back(statement("func.func @@main() {\n@}", {sequence(body_)}));
    return sequence(std::move(all));
  }

private:
  //===- values -------------------------------------------------------------------------------===//

  std::string fresh() { return fmt::format("%v{}", ++names_); }
  void emit(Node node) { body_.push_back(std::move(node)); }
  void emit(const std::string &name, const std::string &text) {
    body_.push_back(statement(name + " = " + text));
  }
  std::string constant(int64_t value) {
    std::string name = fresh();
    body_.push_back(statement(name + " = tok.constant @ : i64", {size(value)}));
    return name;
  }
  std::string constant(double value) {
    std::string name = fresh();
    emit(name, fmt::format("tok.constant {:.4f} : f64", value));
    return name;
  }
  std::string integer(int64_t value) { // no size
    std::string name = fresh();
    emit(name, fmt::format("tok.constant {} : i64", value));
    return name;
  }
  std::string constants(const Sizes &sizes) {
    std::vector<std::string> names;
    for (int64_t size : sizes)
      names.push_back(constant(size));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  const ArrayValue &add(ArrayValue array) { return arrays_.emplace_back(std::move(array)); }
  ArrayValue result(const ArrayValue &like, double size) {
    return {fresh(), like.sizes, like.cells, size};
  }

  ElementType anyType() { return static_cast<ElementType>(random_.upTo(elementTypeCount)); }
  ElementType cells() {
    if (!isMixed_)
      return cells_;
    return random_.chance(0.5) ? anyType()
                               : random_.choose({ElementType::F64, ElementType::F32, cells_});
  }
  int anyRank() { return random_.choose({1, 2, 3, 3, 3, 4, 4}); }

  void chooseSizes() {
    known_ = {1, 2, 3};
    for (int64_t i = random_.between(1, 2); i > 0; --i)
      known_.push_back(random_.choose({1, 4, 5, 7, 8, 9, 16, 17, 33, 65, 128}));
    if (random_.chance(0.08))
      known_.push_back(0);
  }
  Sizes sizesOf(int rank) {
    for (;;) {
      Sizes sizes;
      for (int i = 0; i < rank; ++i)
        sizes.push_back(random_.choose(known_));
      if (cellsOf(sizes) <= mostCells)
        return sizes;
    }
  }

  // Random cells: generated as a matrix, then viewed in the given shape.
  ArrayValue drawn(const Sizes &sizes, ElementType cells) {
    if (!isFloat(cells)) {
      ArrayValue real = drawn(sizes, ElementType::F64);
      if (random_.chance(0.5)) { // so large that operators wrap
        ArrayValue large = result(real, 1);
        std::string factor = constant(random_.choose({100.0, 1e5, 1e18}));
        emit(large.name, fmt::format("tok.binary mul {}, {} : ({}, f64) -> {}", real.name, factor,
                                     typeOf(real), typeOf(large)));
        real = large;
      }
      return castTo(real, cells);
    }
    int64_t columns = sizes.back(), rows = columns == 0 ? 1 : cellsOf(sizes) / columns;
    if (columns == 0)
      for (size_t i = 0; i + 1 < sizes.size(); ++i)
        rows *= sizes[i];
    std::string type = typeOf(2, cells), name = fresh();
    std::string r = constant(rows), c = constant(columns), low = constant(-2.0),
                high = constant(3.0), one = constant(1.0);
    std::string density = constant(random_.choose({1.0, 1.0, 1.0, 0.5, 0.05}));
    std::string seed = fresh(), pdf = fresh();
    emit(seed, fmt::format("tok.constant {} : i64", random_.between(1, 1000)));
    emit(pdf, "tok.constant \"uniform\" : !tok.string");
    emit(name, fmt::format("tok.rand {}, {}, {}, {}, {}, {}, {}, {} : (i64, i64, f64, f64, f64, "
                           "i64, !tok.string, f64) -> {}",
                           r, c, low, high, density, seed, pdf, one, type));
    // Sums of integers are exact in any order.
    if (random_.chance(0.5)) {
      std::string whole = fresh();
      emit(whole, fmt::format("tok.unary floor {} : {} -> {}", name, type, type));
      name = whole;
    }
    ArrayValue array{name, sizes, cells, 3};
    if (sizes.size() != 2)
      array = viewed({name, {rows, columns}, cells, 3}, sizes);
    return add(array);
  }

  ArrayValue viewed(const ArrayValue &x, const Sizes &sizes) {
    ArrayValue y{fresh(), sizes, x.cells, x.size};
    std::string given = constants(sizes);
    emit(y.name, fmt::format("tok.view {} [{}] : {} -> {}", x.name, given, typeOf(x), typeOf(y)));
    return y;
  }

  ArrayValue any() { return random_.choose(arrays_); }
  // An array of these sizes and precision: an existing one, or a new one.
  ArrayValue of(const Sizes &sizes, ElementType cells) {
    std::vector<ArrayValue> fitting;
    for (const ArrayValue &array : arrays_)
      if (array.sizes == sizes && array.cells == cells)
        fitting.push_back(array);
    return fitting.empty() || random_.chance(0.2) ? drawn(sizes, cells) : random_.choose(fitting);
  }
  // An array that is broadcast to the sizes of x: its sizes are those of x, or 1, and it may have
  // no leading dimensions.
  ArrayValue partnerOf(const ArrayValue &x) {
    Sizes sizes = x.sizes;
    if (random_.chance(0.6))
      for (int64_t &size : sizes)
        if (random_.chance(0.5))
          size = 1;
    if (random_.chance(0.3))
      sizes.erase(sizes.begin(), sizes.end() - random_.between(1, x.rank()));
    return of(sizes, x.cells);
  }
  ArrayValue bounded(const ArrayValue &x, double size) {
    if (x.cells == ElementType::F16)
      size = std::min(size, 100.0);
    if (x.size <= size || !isFloat(x.cells))
      return x;
    ArrayValue y = result(x, 1);
    emit(y.name, fmt::format("tok.unary tanh {} : {} -> {}", x.name, typeOf(x), typeOf(y)));
    return y;
  }
  ArrayValue castTo(const ArrayValue &x, ElementType cells) {
    double size = isFloat(x.cells) ? x.size : 0x1p64;
    ArrayValue y{fresh(), x.sizes, cells, size};
    emit(y.name, fmt::format("tok.cast {} : {} -> {}", x.name, typeOf(x), typeOf(y)));
    return add(bounded(y, mostSize));
  }
  void keep(const ArrayValue &array) { add(bounded(array, mostSize)); }

  //===- steps --------------------------------------------------------------------------------===//

  void step() {
    using G = TokGenerator;
    static constexpr void (G::*steps[])() = {
        &G::unary,        &G::unary,          &G::binary,         &G::binary,      &G::binary,
        &G::binary,       &G::scaled,         &G::choice,         &G::aggregate,   &G::aggregate,
        &G::total,        &G::product,        &G::product,        &G::transpose,   &G::view,
        &G::expand,       &G::cast,           &G::softmax,        &G::loop,        &G::call,
        &G::oddBroadcast, &G::operatorOfText, &G::operatorOfText, &G::wrappedTotal};
    (this->*steps[random_.upTo(std::size(steps))])();
  }

  // The largest number of these for which the operator gives one that is not much larger.
  static double largestOperand(UnaryOperator op) {
    if (errorsOf(op) == UnaryErrors::Tangent)
      return 1;
    for (double largest : {1e6, 1e3})
      if (std::fabs(evaluate(op, largest)) <= 1e6)
        return largest;
    return evaluate(op, 6) <= 1e3 ? 6 : 1;
  }
  void unary() {
    static constexpr UnaryOperator operators[] = {
#define TOKAMAK_UNARY(Name, ...) UnaryOperator::Name,
#include "base/CellOperators.def"
    };
    UnaryOperator op = operators[random_.upTo(std::size(operators))];
    ArrayValue x = bounded(any(), largestOperand(op));
    if (!takes(op, x.cells))
      return;
    ArrayValue y = result(x, std::max(x.size, 1e3));
    emit(y.name,
         fmt::format("tok.unary {} {} : {} -> {}", mnemonic(op), x.name, typeOf(x), typeOf(y)));
    keep(y);
  }

  void combine(const ArrayValue &x, const ArrayValue &y, const Sizes &sizes) {
    std::string op = random_.choose<std::string>(
        {"add", "sub", "mul", "mul", "min", "max", "div", "gt", "eq", "le", "ne", "and", "mod"});
    if (!isFloat(x.cells) && random_.chance(0.4))
      op = random_.choose<std::string>({"xor", "or", "div", "intdiv", "intdiv", "pow", "bitw_and",
                                        "bitw_or", "bitw_xor", "bitw_shift_left",
                                        "bitw_shift_right"});
    BinaryOperator kind = *findBinaryOperator(op);
    if (!takes(kind, x.cells))
      op = "ne", kind = BinaryOperator::Ne;
    double size = op == "mul"                                 ? x.size * y.size
                  : op == "add" || op == "sub"                ? x.size + y.size
                  : op == "min" || op == "max" || op == "mod" ? std::max(x.size, y.size)
                  : op == "div"                               ? 1e3 * x.size
                                                              : 1;
    bool isTruth = resultOf(kind) == CellResult::Boolean && random_.chance(0.3);
    ArrayValue z{fresh(), sizes, isTruth ? ElementType::Bool : x.cells, size};
    bool keeps = x.sizes == sizes || y.sizes == sizes;
    const char *rule = keeps && random_.chance(0.3) ? "one_repeated " : "";
    emit(z.name, fmt::format("tok.binary {} {}{}, {} : ({}, {}) -> {}", op, rule, x.name, y.name,
                             typeOf(x), typeOf(y), typeOf(z)));
    keep(z);
  }

  void binary() {
    ArrayValue x = any(), y = partnerOf(x);
    if (random_.chance(0.4))
      combine(y, x, x.sizes);
    else
      combine(x, y, x.sizes);
  }

  // Combines [1,b,n] with [a,b,n], [a,1,n] with [1,b,1] or [b,1]: broadcast in some dimensions
  // only, and both operands.
  void oddBroadcast() {
    Sizes sizes = sizesOf(random_.choose({2, 3, 4}));
    Sizes left = sizes, right = sizes;
    for (size_t i = 0; i < sizes.size(); ++i)
      switch (random_.upTo(3)) {
      case 0:
        left[i] = 1;
        break;
      case 1:
        right[i] = 1;
        break;
      default:
        break;
      }
    Sizes &smaller = random_.chance(0.5) ? left : right;
    while (smaller.size() > 1 && smaller.front() == 1 && random_.chance(0.5))
      smaller.erase(smaller.begin());
    ElementType type = cells();
    ArrayValue x = of(left, type), y = of(right, type);
    combine(x, y, sizes);
  }

  void scaled() {
    ArrayValue x = any();
    if (x.cells == ElementType::Bool)
      return;
    const char *scalar = isFloat(x.cells) ? "f64" : "i64";
    std::vector<std::string> &known = isFloat(x.cells) ? scalars_ : integers_;
    std::string number = !known.empty() && random_.chance(0.5) ? random_.choose(known)
                         : isFloat(x.cells)
                             ? constant(random_.choose({0.5, 2.0, -1.0, 3.0, 0.1}))
                             : integer(random_.choose<int64_t>({0, 1, 2, 3, 7, 100, -1, -1}));
    std::string op = random_.choose<std::string>({"mul", "add", "sub", "gt", "div", "div", "max"});
    ArrayValue y = result(x, mostSize * 2);
    bool left = random_.chance(0.3);
    emit(y.name, fmt::format("tok.binary {} {}, {} : ({}, {}) -> {}", op, left ? number : x.name,
                             left ? x.name : number, left ? scalar : typeOf(x),
                             left ? typeOf(x) : scalar, typeOf(y)));
    keep(y);
  }

  void choice() {
    ArrayValue x = any();
    std::vector<ArrayValue> operands = {x, partnerOf(x), partnerOf(x)};
    std::swap(operands[0], operands[random_.upTo(3)]);
    if (isMixed_ && random_.chance(0.5)) // the condition may have a type of its own
      operands[0] = of(operands[0].sizes, ElementType::Bool);
    ArrayValue z = result(x, std::max(operands[1].size, operands[2].size));
    bool keeps = std::ranges::any_of(
        operands, [&](const ArrayValue &operand) { return operand.sizes == z.sizes; });
    const char *rule = keeps && random_.chance(0.5) ? "one_whole " : "";
    emit(z.name, fmt::format("tok.ifelse {}{}, {}, {} : ({}, {}, {}) -> {}", rule, operands[0].name,
                             operands[1].name, operands[2].name, typeOf(operands[0]),
                             typeOf(operands[1]), typeOf(operands[2]), typeOf(z)));
    keep(z);
  }

  ArrayValue alongRows(const ArrayValue &x, const std::string &kind) {
    bool isIndex = kind.find("index") != std::string::npos;
    double count = static_cast<double>(std::max<int64_t>(1, x.sizes.back()));
    ArrayValue y = result(x, kind == "sum"                   ? x.size * count
                             : isIndex                       ? count
                             : kind == "var" || kind == "sd" ? 4 * x.size * x.size
                                                             : x.size);
    y.sizes.back() = 1;
    bool isExtreme = kind == "min" || kind == "max";
    bool needsI64 = x.cells == ElementType::Bool && !isExtreme;
    if (needsI64 || ((isIndex || !isFloat(x.cells)) && random_.chance(0.5)))
      y.cells = ElementType::I64;
    emit(y.name,
         fmt::format("tok.aggregate {} row {} : {} -> {}", kind, x.name, typeOf(x), typeOf(y)));
    return y;
  }

  void aggregate() {
    ArrayValue x = any();
    if (cellsOf(x.sizes) == 0)
      return;
    keep(alongRows(x, isFloat(x.cells)
                          ? random_.choose<std::string>({"sum", "sum", "min", "max", "mean", "var",
                                                         "sd", "index_max", "first_index_min"})
                          : random_.choose<std::string>(
                                {"sum", "min", "max", "prod", "index_max", "first_index_max"})));
  }

  void total() {
    ArrayValue x = any();
    if (cellsOf(x.sizes) == 0)
      return;
    std::string name = fresh();
    std::string kind = random_.choose<std::string>({"sum", "sum", "min", "max", "mean"});
    if (!isFloat(x.cells) && kind == "mean")
      kind = "prod";
    emit(name, fmt::format("tok.aggregate {} full {} : {} -> {}", kind, x.name, typeOf(x),
                           isFloat(x.cells) ? "f64" : "i64"));
    (isFloat(x.cells) ? scalars_ : integers_).push_back(name);
  }

  // Sums of rows of narrow integers wrap: the sum of these is not that of all cells. Nothing else reads
  // them, so that a rule may join the two.
  void wrappedTotal() {
    ArrayValue x = of(sizesOf(random_.choose({2, 3})), ElementType::I8);
    if (cellsOf(x.sizes) == 0)
      return;
    ArrayValue rows = result(x, x.size);
    rows.sizes.back() = 1;
    emit(rows.name,
         fmt::format("tok.aggregate sum row {} : {} -> {}", x.name, typeOf(x), typeOf(rows)));
    std::string name = fresh();
    emit(name, fmt::format("tok.aggregate sum full {} : {} -> i64", rows.name, typeOf(rows)));
    integers_.push_back(name);
  }

  // A product of the matrices in the last two dimensions, broadcast over some of the leading ones.
  void product() {
    ArrayValue x = any();
    if (x.rank() < 2)
      x = of(sizesOf(random_.choose({2, 3, 4})), x.cells);
    if (x.cells == ElementType::Bool)
      return;
    x = bounded(x, 1e3);
    int64_t inner = x.sizes.back(), columns = random_.choose(known_);
    Sizes right = x.sizes;
    right[right.size() - 2] = inner;
    right.back() = columns;
    Sizes sizes = x.sizes;
    sizes.back() = columns;
    for (size_t i = 0; i + 2 < right.size(); ++i) {
      if (random_.chance(0.25))
        right[i] = 1;
      else if (x.sizes[i] == 1 && random_.chance(0.5))
        sizes[i] = right[i] = random_.choose({1, 2, 3});
    }
    if (cellsOf(sizes) * std::max<int64_t>(1, inner) > 20 * mostCells || cellsOf(right) > mostCells)
      return;
    ArrayValue y = bounded(of(right, x.cells), 1e3);
    bool isWider = isInteger(x.cells) && byteSize(x.cells) < 4 && random_.chance(0.5);
    ArrayValue z{fresh(), sizes, isWider ? ElementType::I32 : x.cells,
                 x.size * y.size * static_cast<double>(std::max<int64_t>(1, inner))};
    emit(z.name, fmt::format("tok.matmul {}, {} : ({}, {}) -> {}", x.name, y.name, typeOf(x),
                             typeOf(y), typeOf(z)));
    keep(z);
  }

  void transpose() {
    ArrayValue x = any();
    if (x.rank() < 2)
      return;
    ArrayValue y = result(x, x.size);
    std::swap(y.sizes[y.sizes.size() - 1], y.sizes[y.sizes.size() - 2]);
    emit(y.name, fmt::format("tok.transpose {} : ({}) -> {}", x.name, typeOf(x), typeOf(y)));
    add(y);
  }

  // A view of the same cells in another shape.
  void view() {
    ArrayValue x = any();
    Sizes sizes = x.sizes;
    if (sizes.size() > 1 && random_.chance(0.6)) {
      size_t at = random_.upTo(static_cast<int64_t>(sizes.size()) - 1);
      sizes[at] *= sizes[at + 1];
      sizes.erase(sizes.begin() + static_cast<int64_t>(at) + 1);
    } else if (sizes.size() < 4) {
      size_t at = random_.upTo(static_cast<int64_t>(sizes.size()));
      int64_t factor = sizes[at] > 0 && sizes[at] % 2 == 0 ? 2 : 1;
      sizes[at] /= factor;
      sizes.insert(sizes.begin() + static_cast<int64_t>(at), factor);
    }
    add(viewed(x, sizes));
  }

  void expand() {
    Sizes sizes = sizesOf(anyRank()), small = sizes;
    for (int64_t &size : small)
      if (random_.chance(0.5))
        size = 1;
    ArrayValue x = of(small, cells());
    ArrayValue y{fresh(), sizes, x.cells, x.size};
    std::string given = constants(sizes);
    emit(y.name, fmt::format("tok.expand {} [{}] : {} -> {}", x.name, given, typeOf(x), typeOf(y)));
    add(y);
  }

  void cast() {
    if (!isMixed_)
      return;
    ArrayValue x = any();
    ElementType type = cells();
    if (type != x.cells)
      castTo(x, type);
  }

  void softmax() {
    ArrayValue x = bounded(any(), 50);
    if (cellsOf(x.sizes) == 0 || !isFloat(x.cells))
      return;
    auto binary = [&](const char *op, const ArrayValue &a, const ArrayValue &b, double size) {
      ArrayValue z = result(a, size);
      emit(z.name, fmt::format("tok.binary {} {}, {} : ({}, {}) -> {}", op, a.name, b.name,
                               typeOf(a), typeOf(b), typeOf(z)));
      return z;
    };
    ArrayValue shifted = binary("sub", x, alongRows(x, "max"), 100);
    ArrayValue exponents = result(x, 1);
    emit(exponents.name, fmt::format("tok.unary exp {} : {} -> {}", shifted.name, typeOf(shifted),
                                     typeOf(exponents)));
    add(binary("div", exponents, alongRows(exponents, "sum"), 1));
  }

  // Its operands are drawn anew, so that they are exact.
  void operatorOfText() {
    ElementType type = cells();
    if (type == ElementType::Bool)
      return;
    GeneratedOperator made = generateOperator(
        random_, type, known_, [&](const Sizes &sizes) { return drawn(sizes, type).name; },
        fmt::format("o{}", ++names_));
    emit(std::move(made.statement));
    for (const GeneratedOperator::Result &result : made.results)
      keep({result.name, result.sizes, type, result.most});
  }

  //===- control flow -------------------------------------------------------------------------===//

  // The statements that `body` emits; the arrays and scalars that it defines go out of scope
  // afterwards.
  template <typename Body> std::vector<Node> part(Body body) {
    std::vector<ArrayValue> arrays = arrays_;
    std::vector<std::string> scalars = scalars_, integers = integers_;
    std::vector<Node> outer = std::exchange(body_, {});
    body();
    arrays_ = std::move(arrays);
    scalars_ = std::move(scalars);
    integers_ = std::move(integers);
    return std::exchange(body_, std::move(outer));
  }

  void loop() {
    if (inside_)
      return;
    inside_ = true;
    ArrayValue start = bounded(any(), 9), carried{fresh(), start.sizes, start.cells, 9};
    std::string counter = fresh(), first = constant(int64_t{1});
    std::string last = constant(random_.between(1, 4));
    std::vector<Node> body = part([&] {
      add(carried);
      for (int64_t i = random_.between(1, 3); i > 0; --i)
        step();
      ArrayValue end = bounded(of(start.sizes, start.cells), 9);
      emit(statement("tok.yield " + end.name + " : " + typeOf(end)));
    });
    ArrayValue y{fresh(), start.sizes, start.cells, 9};
    emit(statement(fmt::format("{} = tok.for {} = {} to {} step {} carrying ({} = {}) : {} {{\n@}}",
                               y.name, counter, first, last, first, carried.name, start.name,
                               typeOf(start)),
                   {sequence(std::move(body))}));
    add(y);
    inside_ = false;
  }

  // A function of two arrays, called with different arrays and with the same one twice.
  void call() {
    if (inside_)
      return;
    inside_ = true;
    ArrayValue x = bounded(any(), 9), y = bounded(of(x.sizes, x.cells), 9);
    std::string function = fmt::format("@@f{}", ++names_), type = typeOf(x);
    ArrayValue a{fresh(), x.sizes, x.cells, 9}, b{fresh(), x.sizes, x.cells, 9};
    std::vector<ArrayValue> outer = std::exchange(arrays_, {});
    std::vector<std::string> scalars = std::exchange(scalars_, {});
    std::vector<std::string> integers = std::exchange(integers_, {});
    std::vector<Node> body = part([&] {
      add(a);
      add(b);
      combine(a, b, a.sizes);
      for (int64_t i = random_.between(0, 2); i > 0; --i)
        step();
      ArrayValue end = bounded(of(x.sizes, x.cells), 9);
      emit(statement("return " + end.name + " : " + type));
    });
    arrays_ = std::move(outer);
    scalars_ = std::move(scalars);
    integers_ = std::move(integers);
    functions_.push_back(statement(fmt::format("func.func {}({}: {}, {}: {}) -> {} {{\n@}}",
                                               function, a.name, type, b.name, type, type),
                                   {sequence(std::move(body))}));
    for (int64_t i = random_.between(1, 3); i > 0; --i) {
      ArrayValue z{fresh(), x.sizes, x.cells, 9};
      emit(z.name, fmt::format("tok.call {}({}, {}) : ({}, {}) -> {}", function,
                               random_.chance(0.5) ? x.name : y.name,
                               random_.chance(0.5) ? x.name : y.name, type, type, type));
      add(z);
    }
    inside_ = false;
  }

  void printAll() {
    for (const ArrayValue &array : arrays_)
      emit(statement(fmt::format("tok.print {} : ({}) -> ()", array.name, typeOf(array))));
    for (const std::string &scalar : scalars_)
      emit(statement(fmt::format("tok.print {} : (f64) -> ()", scalar)));
    for (const std::string &integer : integers_)
      emit(statement(fmt::format("tok.print {} : (i64) -> ()", integer)));
  }

  Random &random_;
  Sizes known_;
  std::vector<ArrayValue> arrays_;
  std::vector<std::string> scalars_, integers_; // of type f64 and i64
  std::vector<Node> functions_, body_;
  int names_ = 0;
  bool isMixed_ = false, inside_ = false;
  ElementType cells_ = ElementType::F64; // of programs that are not mixed
};

} // namespace

Node generateTokProgram(Random &random) { return TokGenerator(random).program(); }

} // namespace tokamak::fuzz
