// Lazy arrays in C++17, over tokamak.h: what is computed with them becomes a graph, and runs as one fused program when cells are
// asked for. Programs are kept by the structure of their graph: operators, types and numbers of dimensions, not sizes.
//
//   std::vector<double> cells(3000, 1.0);
//   tk::Array x = tk::borrow(cells.data(), {1000, 3});              // no copy
//   tk::Array y = tk::sqrt(tk::sum((x - tk::mean(x, {0})) * 2.0, {1}));
//   std::vector<double> result = y.cells<double>();                 // runs
//
// Cells are double, float, int64_t or bool. Operands are broadcast as in NumPy, and have one type; a number takes that of the array
// beside it. Numbers are part of the structure: one that changes from call to call is better `tk::scalar(number)`. An array is a
// handle: copies are cheap, and its cells don't change. A loop computes all that it carries on in each
// step, with tk::eval, so that its graph doesn't grow. Mistakes throw tk::Error. Several threads may use arrays and evaluate them at the
// same time; one that needs what another one is computing waits for it. What an evaluation computes on its way and an array, or another
// graph, still has is kept, too, unless it is large and is computed again as fast as it is read.
#ifndef TOKAMAK_HPP
#define TOKAMAK_HPP

#include <tokamak.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tk {

using Shape = std::vector<int64_t>;

// What went wrong; what() is one line.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

namespace internal {

inline void check(tokamak_error *error) {
  if (!error)
    return;
  std::string message = tokamak_error_message(error);
  tokamak_error_free(error);
  throw Error(message);
}

// As ONNX numbers them.
template <typename T> struct TypeOf;
template <> struct TypeOf<float> {
  static constexpr int onnx = 1;
  static constexpr tokamak_type type = TOKAMAK_F32;
};
template <> struct TypeOf<int64_t> {
  static constexpr int onnx = 7;
  static constexpr tokamak_type type = TOKAMAK_I64;
};
template <> struct TypeOf<bool> {
  static constexpr int onnx = 9;
  static constexpr tokamak_type type = TOKAMAK_BOOL;
};
template <> struct TypeOf<double> {
  static constexpr int onnx = 11;
  static constexpr tokamak_type type = TOKAMAK_F64;
};

struct ValueDeleter {
  void operator()(const tokamak_value *value) const { tokamak_value_free(value); }
};
using Value = std::shared_ptr<const tokamak_value>;

// One operator, or an array that is there. `value`, `inputs`, `op` and `isRunning` change when it gets its value: what reads them
// holds the lock of evaluations.
struct Node {
  Node() = default;
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;

  // A long chain of inputs is let go one by one, and not by one destructor within the other.
  ~Node() {
    static thread_local std::vector<std::shared_ptr<Node>> *unused = nullptr;
    if (unused) {
      for (std::shared_ptr<Node> &input : inputs)
        unused->push_back(std::move(input));
      return;
    }
    std::vector<std::shared_ptr<Node>> all = std::move(inputs);
    unused = &all;
    while (!all.empty()) {
      std::shared_ptr<Node> last = std::move(all.back());
      all.pop_back();
    }
    unused = nullptr;
  }
  std::string op;         // of ONNX; "" where `value` is there
  std::string attributes; // protobuf
  std::vector<std::shared_ptr<Node>> inputs;
  std::string constant; // the tensor's protobuf without its name, of op "Constant"
  int type = 0;         // as ONNX numbers them
  Shape shape;
  Value value;
  bool isRunning = false; // an evaluation is computing the value
};
using NodePointer = std::shared_ptr<Node>;

inline int64_t cellsOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

//===- protobuf ------------------------------------------------------------------------------===//

inline std::string varint(uint64_t number) {
  std::string bytes;
  for (; number > 0x7F; number >>= 7)
    bytes.push_back(static_cast<char>((number & 0x7F) | 0x80));
  bytes.push_back(static_cast<char>(number));
  return bytes;
}
inline std::string field(int number, int64_t value) {
  return varint(static_cast<uint64_t>(number) << 3) + varint(static_cast<uint64_t>(value));
}
inline std::string field(int number, const std::string &bytes) {
  return varint((static_cast<uint64_t>(number) << 3) | 2) + varint(bytes.size()) + bytes;
}
inline std::string attribute(const std::string &name, int64_t value) {
  return field(5, field(1, name) + field(3, value) + field(20, int64_t(2)));
}
inline std::string attribute(const std::string &name, const std::vector<int64_t> &values) {
  std::string content = field(1, name);
  for (int64_t value : values)
    content += field(8, value);
  return field(5, content + field(20, int64_t(7)));
}
inline std::string valueInfo(const std::string &name, int type, size_t rank) {
  std::string shape;
  for (size_t i = 0; i < rank; ++i)
    shape += field(1, std::string());
  return field(1, name) + field(2, field(1, field(1, int64_t(type)) + field(2, shape)));
}

//===- programs ------------------------------------------------------------------------------===//

// The nodes that targets need, each behind those it needs, and which of them get values.
class Graph {
public:
  explicit Graph(const std::vector<NodePointer> &targets) {
    for (const NodePointer &target : targets)
      add(target);
    for (const NodePointer &target : targets)
      if (std::find(outputs_.begin(), outputs_.end(), target) == outputs_.end())
        outputs_.push_back(target);
    keepOthers();
  }
  const std::vector<NodePointer> &order() const { return order_; }
  // The targets, then nodes that are kept, too.
  const std::vector<NodePointer> &outputs() const { return outputs_; }
  bool needsWhatIsRunning() const {
    return std::any_of(order_.begin(), order_.end(),
                       [](const NodePointer &node) { return node->isRunning; });
  }

private:
  // Without recursion: graphs can be deep.
  void add(const NodePointer &target) {
    std::vector<std::pair<const NodePointer *, bool>> stack{{&target, false}};
    while (!stack.empty()) {
      auto [node, isReady] = stack.back();
      stack.pop_back();
      if (uses_.count(node->get()))
        continue;
      if (!isReady) {
        stack.push_back({node, true});
        for (auto input = (*node)->inputs.rbegin(); input != (*node)->inputs.rend(); ++input)
          stack.push_back({&*input, false});
        continue;
      }
      uses_[node->get()] = 0;
      for (const NodePointer &input : (*node)->inputs)
        ++uses_[input.get()];
      order_.push_back(*node);
    }
  }

  // What others than this graph have is kept, unless few operators on cells make many cells of what is there.
  void keepOthers() {
    constexpr int64_t small = 1 << 16;
    constexpr int mostOperators = 8;
    static const std::unordered_set<std::string> cellOperators = {"Abs",
                                                                  "Add",
                                                                  "And",
                                                                  "Cast",
                                                                  "Ceil",
                                                                  "Cos",
                                                                  "Div",
                                                                  "Equal",
                                                                  "Erf",
                                                                  "Exp",
                                                                  "Floor",
                                                                  "Log",
                                                                  "Expand",
                                                                  "Less",
                                                                  "LessOrEqual",
                                                                  "Max",
                                                                  "Min",
                                                                  "Mul",
                                                                  "Greater",
                                                                  "Neg",
                                                                  "Not",
                                                                  "Or",
                                                                  "GreaterOrEqual",
                                                                  "Pow",
                                                                  "Sign",
                                                                  "Round",
                                                                  "Sigmoid",
                                                                  "Sin",
                                                                  "Transpose",
                                                                  "Sqrt",
                                                                  "Sub",
                                                                  "Tan",
                                                                  "Tanh",
                                                                  "Where",
                                                                  "Reshape",
                                                                  "Constant"};
    std::unordered_map<const Node *, int> operators; // on cells, since something was kept
    std::unordered_set<const Node *> varying;        // depend on arrays that are there
    std::unordered_set<const Node *> targets;
    for (const NodePointer &target : outputs_)
      targets.insert(target.get());
    for (const NodePointer &node : order_) {
      int count = node->value ? 0 : 1;
      if (node->value)
        varying.insert(node.get());
      for (const NodePointer &input : node->inputs) {
        count = std::min(mostOperators + 1, count + operators[input.get()]);
        if (varying.count(input.get()))
          varying.insert(node.get());
      }
      if (!node->value && !cellOperators.count(node->op))
        count = mostOperators + 1;
      bool isHeld = node.use_count() > uses_[node.get()] + 1; // order_ has it once
      bool isCheap = count <= mostOperators && cellsOf(node->shape) > small;
      if (!node->value && isHeld && !isCheap && varying.count(node.get()) &&
          !targets.count(node.get())) {
        outputs_.push_back(node);
        count = 0;
      }
      operators[node.get()] = count;
    }
  }

  std::vector<NodePointer> order_, outputs_;
  std::unordered_map<const Node *, int64_t> uses_; // as inputs within the graph
};

// The model of a graph.
class Writer {
public:
  explicit Writer(const Graph &graph) {
    for (const NodePointer &node : graph.order())
      write(*node);
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      const Node &node = *graph.outputs()[i];
      std::string name = "r" + std::to_string(i);
      nodes_ +=
          field(1, field(1, names_.at(&node)) + field(2, name) + field(4, std::string("Identity")));
      outputs_ += field(12, valueInfo(name, node.type, node.shape.size()));
    }
  }
  std::string model() const {
    std::string graph = nodes_ + field(2, std::string("main")) + constants_ + inputs_ + outputs_;
    return field(1, int64_t(13)) + field(7, graph) +
           field(8, field(1, std::string()) + field(2, int64_t(26))) +
           field(8, field(1, std::string("tokamak")) + field(2, int64_t(1)));
  }
  const std::vector<Value> &leaves() const { return leaves_; }

private:
  void write(const Node &node) {
    std::string name = "v" + std::to_string(names_.size());
    names_[&node] = name;
    if (node.value) {
      inputs_ += field(11, valueInfo(name, node.type, node.shape.size()));
      leaves_.push_back(node.value);
    } else if (node.op == "Constant") {
      constants_ += field(5, node.constant + field(8, name));
    } else {
      std::string content;
      for (const NodePointer &input : node.inputs)
        content += field(1, names_.at(input.get()));
      nodes_ += field(1, content + field(2, name) + field(4, node.op) + node.attributes);
    }
  }

  std::unordered_map<const Node *, std::string> names_;
  std::vector<Value> leaves_;
  std::string nodes_, constants_, inputs_, outputs_;
};

// The program of a model; the first thread that needs it compiles it.
class Program {
public:
  ~Program() { tokamak_program_free(program_); }
  tokamak_function *function(const std::string &model) {
    std::lock_guard<std::mutex> lock(compiling_);
    if (!program_)
      check(tokamak_program_compile_model("<arrays>", model.data(), model.size(), nullptr,
                                          &program_));
    return tokamak_program_function_at(program_, 0);
  }

private:
  std::mutex compiling_;
  tokamak_program *program_ = nullptr;
};

// What threads share.
struct Evaluations {
  std::mutex mutex;                   // of the fields of nodes that change, and of `programs`
  std::condition_variable isFinished; // an evaluation
  std::map<std::string, std::shared_ptr<Program>> programs;

  // Never freed: when a process ends, what the library needs for freeing programs may be gone already.
  static Evaluations &ofAll() {
    static Evaluations &evaluations = *new Evaluations;
    return evaluations;
  }
  std::shared_ptr<Program> programOf(const std::string &model) {
    constexpr size_t mostPrograms = 256; // each takes about a megabyte
    if (programs.size() >= mostPrograms && !programs.count(model))
      programs.clear(); // graphs whose structure always differs
    std::shared_ptr<Program> &program = programs[model];
    if (!program)
      program = std::make_shared<Program>();
    return program;
  }
};

// The results of a model as a list.
inline Value resultsOf(Program &program, const std::string &model,
                       const std::vector<Value> &leaves) {
  std::vector<tokamak_argument> arguments;
  for (const Value &leaf : leaves)
    arguments.push_back({nullptr, leaf.get()});
  tokamak_value *results = nullptr;
  check(
      tokamak_function_call(program.function(model), arguments.data(), arguments.size(), &results));
  return Value(results, ValueDeleter());
}

inline void evaluate(std::vector<NodePointer> targets) {
  Evaluations &all = Evaluations::ofAll();
  std::unique_lock<std::mutex> lock(all.mutex);
  std::unique_ptr<Graph> graph;
  for (;;) {
    targets.erase(std::remove_if(targets.begin(), targets.end(),
                                 [](const NodePointer &node) { return node->value != nullptr; }),
                  targets.end());
    if (targets.empty())
      return;
    graph = std::make_unique<Graph>(targets);
    if (!graph->needsWhatIsRunning())
      break;
    graph.reset(); // its nodes would look as if others had them
    all.isFinished.wait(lock);
  }
  Writer writer(*graph);
  std::string model = writer.model();
  std::shared_ptr<Program> program = all.programOf(model);
  auto setRunning = [&](bool isRunning) {
    for (const NodePointer &node : graph->outputs())
      node->isRunning = isRunning;
    if (!isRunning)
      all.isFinished.notify_all();
  };
  setRunning(true);
  lock.unlock();
  Value results;
  try {
    results = resultsOf(*program, model, writer.leaves());
  } catch (...) {
    lock.lock();
    setRunning(false);
    throw;
  }
  std::vector<std::vector<NodePointer>> unused; // is let go without the lock
  lock.lock();
  for (size_t i = 0; i < graph->outputs().size(); ++i) {
    Node &node = *graph->outputs()[i];
    node.value =
        Value(tokamak_value_share(tokamak_value_element(results.get(), i)), ValueDeleter());
    unused.push_back(std::move(node.inputs));
    node.inputs.clear();
    node.op.clear();
  }
  setRunning(false);
  lock.unlock();
}

inline std::string shapeText(const Shape &shape) {
  std::string text = "(";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ")";
}

inline Shape broadcast(const Shape &first, const Shape &second) {
  Shape result(std::max(first.size(), second.size()));
  for (size_t i = 0; i < result.size(); ++i) { // from the last
    int64_t a = i < first.size() ? first[first.size() - 1 - i] : 1;
    int64_t b = i < second.size() ? second[second.size() - 1 - i] : 1;
    if (a != b && a != 1 && b != 1)
      throw Error("shapes " + shapeText(first) + " and " + shapeText(second) +
                  " can't be broadcast");
    result[result.size() - 1 - i] = a == 1 ? b : a;
  }
  return result;
}

inline NodePointer node(std::string op, int type, Shape shape, std::vector<NodePointer> inputs,
                        std::string attributes = "") {
  auto made = std::make_shared<Node>();
  made->op = std::move(op);
  made->type = type;
  made->shape = std::move(shape);
  made->inputs = std::move(inputs);
  made->attributes = std::move(attributes);
  return made;
}

inline NodePointer constant(int type, const Shape &shape, const void *cells, size_t bytes) {
  NodePointer made = node("Constant", type, shape, {});
  for (int64_t size : shape)
    made->constant += field(1, size);
  made->constant +=
      field(2, int64_t(type)) + field(9, std::string(static_cast<const char *>(cells), bytes));
  return made;
}

inline NodePointer integers(const std::vector<int64_t> &numbers) {
  return constant(TypeOf<int64_t>::onnx, {static_cast<int64_t>(numbers.size())}, numbers.data(),
                  numbers.size() * sizeof(int64_t));
}

inline NodePointer number(int type, double value) {
  auto of = [&](auto cell) { return constant(type, {}, &cell, sizeof cell); };
  switch (type) {
  case TypeOf<float>::onnx:
    return of(static_cast<float>(value));
  case TypeOf<int64_t>::onnx:
    if (!(value >= -9007199254740992.0 && value <= 9007199254740992.0) ||
        value != static_cast<double>(static_cast<int64_t>(value)))
      throw Error(
          "beside an array of integers a number is whole and at most 2^53; tk::array has any");
    return of(static_cast<int64_t>(value));
  case TypeOf<bool>::onnx:
    return of(value != 0);
  default:
    return of(value);
  }
}

} // namespace internal

class Array {
public:
  explicit Array(internal::NodePointer node) : node_(std::move(node)) {}

  const Shape &shape() const { return node_->shape; }
  int64_t size() const { return internal::cellsOf(node_->shape); }
  // The cells, row by row, computed if they aren't there yet; valid as long as an array has them. T is the array's type.
  template <typename T> const T *data() const {
    if (internal::TypeOf<T>::onnx != node_->type)
      throw Error("the array has cells of another type");
    internal::evaluate({node_});
    tokamak_array array;
    internal::check(tokamak_value_array(node_->value.get(), &array));
    return static_cast<const T *>(array.cells);
  }
  template <typename T> std::vector<T> cells() const {
    const T *first = data<T>();
    return std::vector<T>(first, first + size());
  }
  // The only cell.
  template <typename T = double> T item() const {
    if (size() != 1)
      throw Error("an array of shape " + internal::shapeText(shape()) + " has not one cell");
    return *data<T>();
  }
  const internal::NodePointer &node() const { return node_; }

private:
  internal::NodePointer node_;
};

//===- arrays that are there -----------------------------------------------------------------===//

// Over the caller's cells, row by row, which must outlive all arrays that need them.
template <typename T> Array borrow(const T *cells, const Shape &shape) {
  tokamak_value *value = nullptr;
  internal::check(tokamak_value_of_array(internal::TypeOf<T>::type,
                                         static_cast<int32_t>(shape.size()), shape.data(), cells,
                                         nullptr, nullptr, &value));
  internal::NodePointer node = internal::node("", internal::TypeOf<T>::onnx, shape, {});
  node->value = internal::Value(value, internal::ValueDeleter());
  return Array(node);
}

// The array keeps the vector.
template <typename T> Array array(std::vector<T> cells, const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  if (count != static_cast<int64_t>(cells.size()))
    throw Error(std::to_string(cells.size()) + " cells don't fit shape " +
                internal::shapeText(shape));
  static_assert(!std::is_same<T, bool>::value,
                "std::vector<bool> has no cells: cast<bool>(x) makes an array of bool");
  auto *owner = new std::vector<T>(std::move(cells));
  tokamak_value *value = nullptr;
  internal::check(tokamak_value_of_array(
      internal::TypeOf<T>::type, static_cast<int32_t>(shape.size()), shape.data(), owner->data(),
      [](void *held) { delete static_cast<std::vector<T> *>(held); }, owner, &value));
  internal::NodePointer node = internal::node("", internal::TypeOf<T>::onnx, shape, {});
  node->value = internal::Value(value, internal::ValueDeleter());
  return Array(node);
}

// A number as an array without dimensions, which is no part of the structure.
inline Array scalar(double number) { return array(std::vector<double>{number}, {}); }

// All cells are one number.
template <typename T = double> Array full(const Shape &shape, T cell) {
  internal::NodePointer one = internal::constant(internal::TypeOf<T>::onnx, {}, &cell, sizeof cell);
  return shape.empty()
             ? Array(one)
             : Array(internal::node("Expand", one->type, shape, {one, internal::integers(shape)}));
}
inline Array zeros(const Shape &shape) { return full(shape, 0.0); }
inline Array ones(const Shape &shape) { return full(shape, 1.0); }

// Computes the cells of several arrays now, in one program.
template <typename... Arrays> void eval(const Arrays &...arrays) {
  internal::evaluate({arrays.node()...});
}

//===- cells ---------------------------------------------------------------------------------===//

namespace internal {

inline Array unary(const char *op, const Array &x) {
  return Array(node(op, x.node()->type, x.shape(), {x.node()}));
}
inline Array binary(const char *op, const Array &a, const Array &b, bool isTest = false) {
  if (a.node()->type != b.node()->type)
    throw Error(std::string(op) + " of arrays of two types; convert one of them with tk::cast");
  return Array(node(op, isTest ? TypeOf<bool>::onnx : a.node()->type,
                    broadcast(a.shape(), b.shape()), {a.node(), b.node()}));
}
inline Array like(const Array &x, double value) { return Array(number(x.node()->type, value)); }

} // namespace internal

#define TOKAMAK_UNARY(name, op)                                                                    \
  inline Array name(const Array &x) { return internal::unary(op, x); }
TOKAMAK_UNARY(abs, "Abs")
TOKAMAK_UNARY(ceil, "Ceil")
TOKAMAK_UNARY(cos, "Cos")
TOKAMAK_UNARY(erf, "Erf")
TOKAMAK_UNARY(exp, "Exp")
TOKAMAK_UNARY(floor, "Floor")
TOKAMAK_UNARY(log, "Log")
TOKAMAK_UNARY(round, "Round")
TOKAMAK_UNARY(sigmoid, "Sigmoid")
TOKAMAK_UNARY(sign, "Sign")
TOKAMAK_UNARY(sin, "Sin")
TOKAMAK_UNARY(sqrt, "Sqrt")
TOKAMAK_UNARY(tan, "Tan")
TOKAMAK_UNARY(tanh, "Tanh")
TOKAMAK_UNARY(operator-, "Neg")
TOKAMAK_UNARY(operator!, "Not")
#undef TOKAMAK_UNARY

// Of two arrays, or of an array and a number.
#define TOKAMAK_BINARY(name, op, isTest)                                                           \
  inline Array name(const Array &a, const Array &b) { return internal::binary(op, a, b, isTest); } \
  inline Array name(const Array &a, double b) { return name(a, internal::like(a, b)); }            \
  inline Array name(double a, const Array &b) { return name(internal::like(b, a), b); }
TOKAMAK_BINARY(operator+, "Add", false)
TOKAMAK_BINARY(operator-, "Sub", false)
TOKAMAK_BINARY(operator*, "Mul", false)
TOKAMAK_BINARY(operator/, "Div", false)
TOKAMAK_BINARY(pow, "Pow", false)
TOKAMAK_BINARY(maximum, "Max", false)
TOKAMAK_BINARY(minimum, "Min", false)
TOKAMAK_BINARY(operator<, "Less", true)
TOKAMAK_BINARY(operator<=, "LessOrEqual", true)
TOKAMAK_BINARY(operator>, "Greater", true)
TOKAMAK_BINARY(operator>=, "GreaterOrEqual", true)
TOKAMAK_BINARY(operator==, "Equal", true)
#undef TOKAMAK_BINARY
inline Array operator!=(const Array &a, const Array &b) { return !(a == b); }
inline Array operator&&(const Array &a, const Array &b) { return internal::binary("And", a, b); }
inline Array operator||(const Array &a, const Array &b) { return internal::binary("Or", a, b); }

// Cells of `a` where the condition holds, else of `b`.
inline Array where(const Array &condition, const Array &a, const Array &b) {
  Array both = internal::binary("Where", a, b);
  return Array(internal::node("Where", both.node()->type,
                              internal::broadcast(condition.shape(), both.shape()),
                              {condition.node(), a.node(), b.node()}));
}

// The cells in another type.
template <typename T> Array cast(const Array &x) {
  constexpr int type = internal::TypeOf<T>::onnx;
  return Array(internal::node("Cast", type, x.shape(), {x.node()},
                              internal::attribute("to", int64_t(type))));
}

//===- many cells ----------------------------------------------------------------------------===//

namespace internal {

inline std::vector<int64_t> places(std::vector<int64_t> axes, size_t rank) {
  for (int64_t &axis : axes) {
    if (axis < -static_cast<int64_t>(rank) || axis >= static_cast<int64_t>(rank))
      throw Error("axis " + std::to_string(axis) + " of an array with " + std::to_string(rank) +
                  " dimensions");
    axis = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  }
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    throw Error("a dimension is named twice");
  return axes;
}

inline Array reduce(const char *op, const Array &x, std::vector<int64_t> axes, bool keep) {
  size_t rank = x.shape().size();
  if (axes.empty())
    for (size_t i = 0; i < rank; ++i)
      axes.push_back(static_cast<int64_t>(i));
  axes = places(std::move(axes), rank);
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    bool isReduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!isReduced || keep)
      shape.push_back(isReduced ? 1 : x.shape()[i]);
  }
  return Array(node(op, x.node()->type, shape, {x.node(), integers(axes)},
                    attribute("keepdims", int64_t(keep))));
}

} // namespace internal

// Over these dimensions, or over all; `keep`: they stay, with size 1.
#define TOKAMAK_REDUCTION(name, op)                                                                \
  inline Array name(const Array &x, const std::vector<int64_t> &axes = {}, bool keep = false) {    \
    return internal::reduce(op, x, axes, keep);                                                    \
  }
TOKAMAK_REDUCTION(sum, "ReduceSum")
TOKAMAK_REDUCTION(prod, "ReduceProd")
TOKAMAK_REDUCTION(mean, "ReduceMean")
TOKAMAK_REDUCTION(max, "ReduceMax")
TOKAMAK_REDUCTION(min, "ReduceMin")
#undef TOKAMAK_REDUCTION

// The place of the first greatest cell along a dimension, of int64_t.
inline Array argmax(const Array &x, int64_t axis) {
  axis = internal::places({axis}, x.shape().size())[0];
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  return Array(internal::node("ArgMax", internal::TypeOf<int64_t>::onnx, shape, {x.node()},
                              internal::attribute("axis", axis) +
                                  internal::attribute("keepdims", int64_t(0))));
}

// The product of matrices in the last two dimensions; a vector is a row on the left and a column on the right.
inline Array matmul(const Array &a, const Array &b) {
  const Shape &left = a.shape(), &right = b.shape();
  if (left.empty() || right.empty() || a.node()->type != b.node()->type)
    throw Error("matmul takes arrays with dimensions, of one type");
  int64_t inner = right.size() == 1 ? right[0] : right[right.size() - 2];
  if (left.back() != inner)
    throw Error("matmul of shapes " + internal::shapeText(left) + " and " +
                internal::shapeText(right));
  auto leading = [](const Shape &shape) {
    return shape.size() > 2 ? Shape(shape.begin(), shape.end() - 2) : Shape();
  };
  Shape shape = internal::broadcast(leading(left), leading(right));
  if (left.size() > 1)
    shape.push_back(left[left.size() - 2]);
  if (right.size() > 1)
    shape.push_back(right.back());
  return Array(internal::node("MatMul", a.node()->type, shape, {a.node(), b.node()}));
}

//===- shapes --------------------------------------------------------------------------------===//

// The same cells, row by row, in another shape.
inline Array reshape(const Array &x, const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count = size < 0 ? -1 : count * size;
  if (count != x.size())
    throw Error(std::to_string(x.size()) + " cells don't fit shape " + internal::shapeText(shape));
  return Array(internal::node("Reshape", x.node()->type, shape,
                              {x.node(), internal::integers(shape)},
                              internal::attribute("allowzero", int64_t(1))));
}

// With dimensions in this order; of a matrix the transpose without it.
inline Array transpose(const Array &x, std::vector<int64_t> order = {}) {
  if (order.empty())
    for (size_t i = x.shape().size(); i > 0; --i)
      order.push_back(static_cast<int64_t>(i) - 1);
  if (order.size() != x.shape().size())
    throw Error("transpose takes as many places as the array has dimensions");
  order = internal::places(order, x.shape().size());
  Shape shape;
  for (int64_t each : order)
    shape.push_back(x.shape()[static_cast<size_t>(each)]);
  return Array(internal::node("Transpose", x.node()->type, shape, {x.node()},
                              internal::attribute("perm", order)));
}

// Arrays one behind the other along a dimension.
inline Array concat(const std::vector<Array> &arrays, int64_t axis = 0) {
  if (arrays.empty())
    throw Error("concat takes at least one array");
  axis = internal::places({axis}, arrays[0].shape().size())[0];
  Shape shape = arrays[0].shape();
  std::vector<internal::NodePointer> nodes;
  shape[static_cast<size_t>(axis)] = 0;
  for (const Array &each : arrays) {
    Shape own = each.shape();
    for (size_t i = 0; i < shape.size(); ++i)
      if (own.size() != shape.size() || each.node()->type != arrays[0].node()->type ||
          (i != static_cast<size_t>(axis) && own[i] != shape[i]))
        throw Error("concat takes arrays of one type whose other sizes are equal, not shapes " +
                    internal::shapeText(arrays[0].shape()) + " and " + internal::shapeText(own));
    shape[static_cast<size_t>(axis)] += own[static_cast<size_t>(axis)];
    nodes.push_back(each.node());
  }
  return Array(
      internal::node("Concat", nodes[0]->type, shape, nodes, internal::attribute("axis", axis)));
}

} // namespace tk
#endif
