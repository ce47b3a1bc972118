// An ONNX model as its file describes it: everything that says what is computed, and nothing
// interpreted. Texts and cells are views into the bytes of the file, which have to outlive the model
// (ModelFile.h keeps both).
//
//   for (const Node &node : model.graph.nodes)
//     fmt::print("{} of {} operands\n", node.opType, node.inputs.size());
//
// What tools left there for themselves (documentation, names of devices, annotations for quantisers
// and for training) is not read. "ai.onnx", the long name of the standard's domain, is read as "".
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_MODEL_H
#define TOKAMAK_FRONTEND_ONNX_FILE_MODEL_H

#include "frontend/onnx/file/DataType.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace tokamak::onnx {

struct Graph;

struct KeyAndValue {
  std::string_view key;
  std::string_view value;
};

// The version of the operators of a domain that nodes mean.
struct OperatorSet {
  std::string_view domain; // "" is the standard's
  int64_t version = 0;
};

// The size of a dimension: nothing if the file doesn't say, a number as written (0 and -1, too, by
// which some exporters mean "unknown"), or a name. Equal names hint at equal sizes, no more.
using Dimension = std::variant<std::monostate, int64_t, std::string_view>;

struct Type {
  enum class Kind : uint8_t { None, Tensor, SparseTensor, Sequence, Optional, Map, Opaque };
  Kind kind = Kind::None;
  DataType dataType = DataType::Undefined;     // of a tensor's cells or a map's keys
  std::optional<std::vector<Dimension>> shape; // of a tensor; nothing if not even its rank is known
  std::unique_ptr<Type> element;               // of a sequence or an optional; a map's values
};

struct ValueInfo {
  std::string_view name;
  Type type;
};

// Where the cells of a tensor are.
enum class CellStorage : uint8_t {
  TypedFields, // in the fields float_data, int32_data … of `message`
  Raw,         // in `raw`
  External,    // in another file, which `external` names (ExternalData.h)
};

// TensorCells.h gives the cells.
struct Tensor {
  std::string_view name;
  DataType dataType = DataType::Undefined; // perhaps unknown
  CellStorage storage = CellStorage::TypedFields;
  bool isSegment = false;    // a part of a tensor, which no reader accepts
  uint16_t typedFields = 0;  // bit n: field n of the message holds cells
  std::vector<int64_t> dims; // as written: may be negative
  std::string_view raw;
  std::string_view message; // the whole TensorProto
  std::vector<KeyAndValue> external;
};

// The cells that are not 0, and where they are: row-major positions, or a row of indices for each.
struct SparseTensor {
  Tensor values; // its name is that of the sparse tensor
  Tensor indices;
  std::vector<int64_t> dims;
};

struct Attribute {
  // The numbers are those of the format.
  enum class Kind : int32_t {
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    Type = 13,
    Types = 14,
  };
  // A single tensor, graph, sparse tensor or type is a vector of one. Nothing for a reference.
  using Value =
      std::variant<std::monostate, float, int64_t, std::string_view, std::vector<float>,
                   std::vector<int64_t>, std::vector<std::string_view>, std::vector<Tensor>,
                   std::vector<Graph>, std::vector<SparseTensor>, std::vector<Type>>;

  std::string_view name;
  // In the body of a function: the attribute of the function that gives the value. Else "".
  std::string_view reference;
  Kind kind = Kind::Undefined; // as written, or that of the only field with a value
  uint16_t present = 0;        // bit k: the file has the field for values of kind k
  Value value;                 // of this kind
};

struct Node {
  int64_t number = 0;    // its place in the file's list of nodes, from 0
  std::string_view name; // often ""
  std::string_view opType;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;  // "" is an operand left out
  std::vector<std::string_view> outputs; // "" is a result that nobody wants
  std::vector<Attribute> attributes;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<SparseTensor> sparseInitializers;
  std::vector<ValueInfo> inputs; // may name initializers: these are then defaults
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> valueInfos; // what the file says of other values: hints
};

// A node whose operator is (domain, name, overload) means the nodes of the function.
struct Function {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes; // those without a default
  std::vector<Attribute> defaults;          // the others
  std::vector<Node> nodes;
  std::vector<OperatorSet> operatorSets; // for these nodes
  std::vector<ValueInfo> valueInfos;
};

struct Model {
  int64_t irVersion = 0;
  std::string_view producerName;
  std::string_view producerVersion;
  std::string_view domain;
  int64_t modelVersion = 0;
  std::vector<OperatorSet> operatorSets; // a domain may stand twice: see versionOf
  Graph graph;
  std::vector<Function> functions;
  std::vector<KeyAndValue> metadata;
};

// The version that nodes of a domain mean: the highest listed, or nothing if none is.
inline std::optional<int64_t> versionOf(const std::vector<OperatorSet> &operatorSets,
                                        std::string_view domain) {
  std::optional<int64_t> version;
  for (const OperatorSet &set : operatorSets)
    if (set.domain == domain && (!version || set.version > *version))
      version = set.version;
  return version;
}

} // namespace tokamak::onnx
#endif
