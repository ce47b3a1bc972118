#include "frontend/onnx/file/ModelReader.h"

#include "base/Error.h"
#include "frontend/onnx/file/TensorReader.h"
#include "frontend/onnx/file/TypeReader.h"

#include <bit>
#include <fmt/format.h>

namespace tokamak::onnx {
namespace {

using Bytes = std::string_view;

// "ai.onnx" is another name of "".
Bytes domainNamed(Bytes name) { return name == "ai.onnx" ? "" : name; }

// The numbers of fields are those of onnx.proto. `depth` counts the messages of the same kind around
// what is read.
class PartReader {
public:
  explicit PartReader(const Source &source) : source_(source), tensors_(source) {}

  Model model(Bytes bytes) {
    Model result;
    bool hasGraph = false;
    MessageReader reader = tensors_.part(bytes, "ModelProto");
    while (reader.next()) {
      switch (reader.field()) {
      case 1:
        result.irVersion = reader.integer();
        break;
      case 2:
        result.producerName = reader.bytes();
        break;
      case 3:
        result.producerVersion = reader.bytes();
        break;
      case 4:
        result.domain = reader.bytes();
        break;
      case 5:
        result.modelVersion = reader.integer();
        break;
      case 7:
        result.graph = graph(reader.onlyBytes(hasGraph), 1);
        hasGraph = true;
        break;
      case 8:
        result.operatorSets.push_back(operatorSet(reader.bytes()));
        break;
      case 14:
        result.metadata.push_back(tensors_.keyAndValue(reader.bytes()));
        break;
      case 25:
        if (result.functions.size() == mostFunctions)
          throw Error(fmt::format("{}: the file has more than {} functions", reader.place(),
                                  mostFunctions));
        result.functions.push_back(function(reader.bytes()));
        break;
      default:
        reader.skip();
      }
    }
    return result;
  }

private:
  OperatorSet operatorSet(Bytes bytes) {
    OperatorSet result;
    MessageReader reader = tensors_.part(bytes, "OperatorSetIdProto");
    while (reader.next()) {
      switch (reader.field()) {
      case 1:
        result.domain = domainNamed(reader.bytes());
        break;
      case 2:
        result.version = reader.integer();
        break;
      default:
        reader.skip();
      }
    }
    return result;
  }

  Function function(Bytes bytes) {
    Function result;
    MessageReader reader = tensors_.part(bytes, "FunctionProto");
    while (reader.next()) {
      switch (reader.field()) {
      case 1:
        result.name = reader.bytes();
        break;
      case 4:
        result.inputs.push_back(reader.bytes());
        break;
      case 5:
        result.outputs.push_back(reader.bytes());
        break;
      case 6:
        result.attributes.push_back(reader.bytes());
        break;
      case 7:
        result.nodes.push_back(node(reader.bytes(), result.nodes.size(), 1));
        break;
      case 9:
        result.operatorSets.push_back(operatorSet(reader.bytes()));
        break;
      case 10:
        result.domain = domainNamed(reader.bytes());
        break;
      case 11:
        result.defaults.push_back(attribute(reader.bytes(), 1));
        break;
      case 12:
        result.valueInfos.push_back(types_.valueInfo(reader.bytes()));
        break;
      case 13:
        result.overload = reader.bytes();
        break;
      default:
        reader.skip();
      }
    }
    return result;
  }

  // Nodes are many and large: a list that grew as they are read would need three times the memory.
  void makeRoom(Bytes bytes, Graph &graph) {
    size_t nodes = 0, initializers = 0;
    MessageReader reader(source_, bytes, "GraphProto");
    while (reader.next()) {
      nodes += reader.field() == 1;
      initializers += reader.field() == 5;
      reader.skip();
    }
    tensors_.expectParts(reader, static_cast<int64_t>(nodes + initializers));
    graph.nodes.reserve(nodes);
    graph.initializers.reserve(initializers);
  }

  Graph graph(Bytes bytes, int depth) {
    Graph result;
    MessageReader reader = tensors_.nestedPart(bytes, "GraphProto", depth, "graphs");
    makeRoom(bytes, result);
    while (reader.next()) {
      switch (reader.field()) {
      case 1:
        result.nodes.push_back(node(reader.bytes(), result.nodes.size(), depth));
        break;
      case 2:
        result.name = reader.bytes();
        break;
      case 5:
        result.initializers.push_back(tensors_.tensor(reader.bytes()));
        break;
      case 11:
        result.inputs.push_back(types_.valueInfo(reader.bytes()));
        break;
      case 12:
        result.outputs.push_back(types_.valueInfo(reader.bytes()));
        break;
      case 13:
        result.valueInfos.push_back(types_.valueInfo(reader.bytes()));
        break;
      case 15:
        result.sparseInitializers.push_back(tensors_.sparseTensor(reader.bytes()));
        break;
      default:
        reader.skip();
      }
    }
    return result;
  }

  Node node(Bytes bytes, size_t number, int depth) {
    Node result;
    result.number = static_cast<int64_t>(number);
    MessageReader reader = tensors_.part(bytes, "NodeProto");
    while (reader.next()) {
      switch (reader.field()) {
      case 1:
        result.inputs.push_back(reader.bytes());
        break;
      case 2:
        result.outputs.push_back(reader.bytes());
        break;
      case 3:
        result.name = reader.bytes();
        break;
      case 4:
        result.opType = reader.bytes();
        break;
      case 5:
        result.attributes.push_back(attribute(reader.bytes(), depth));
        break;
      case 7:
        result.domain = domainNamed(reader.bytes());
        break;
      case 8:
        result.overload = reader.bytes();
        break;
      default:
        reader.skip();
      }
    }
    return result;
  }

  // The kind of the values in a field of an AttributeProto, or Undefined.
  static Attribute::Kind kindOfField(uint32_t field) {
    using Kind = Attribute::Kind;
    switch (field) {
    case 2:
      return Kind::Float;
    case 3:
      return Kind::Int;
    case 4:
      return Kind::String;
    case 5:
      return Kind::Tensor;
    case 6:
      return Kind::Graph;
    case 7:
      return Kind::Floats;
    case 8:
      return Kind::Ints;
    case 9:
      return Kind::Strings;
    case 10:
      return Kind::Tensors;
    case 11:
      return Kind::Graphs;
    case 14:
      return Kind::Type;
    case 15:
      return Kind::Types;
    case 22:
      return Kind::SparseTensor;
    case 23:
      return Kind::SparseTensors;
    default:
      return Kind::Undefined;
    }
  }

  // The kind may stand behind the value, so that the value is read by a second pass.
  Attribute attribute(Bytes bytes, int depth) {
    Attribute result;
    MessageReader reader = tensors_.part(bytes, "AttributeProto");
    while (reader.next()) {
      switch (uint32_t field = reader.field()) {
      case 1:
        result.name = reader.bytes();
        break;
      case 20:
        result.kind = static_cast<Attribute::Kind>(static_cast<int32_t>(reader.integer()));
        break;
      case 21:
        result.reference = reader.bytes();
        break;
      default:
        Attribute::Kind kind = kindOfField(field);
        if (kind != Attribute::Kind::Undefined)
          result.present = static_cast<uint16_t>(result.present | 1U << static_cast<int>(kind));
        reader.skip();
      }
    }
    if (result.kind == Attribute::Kind::Undefined && std::has_single_bit(result.present))
      result.kind = static_cast<Attribute::Kind>(std::countr_zero(result.present));
    if (result.reference.empty())
      readValue(bytes, depth, result);
    return result;
  }

  // What no field holds has its default value, as in all of protobuf, but for messages.
  static Attribute::Value defaultOf(Attribute::Kind kind) {
    using Kind = Attribute::Kind;
    switch (kind) {
    case Kind::Float:
      return 0.0F;
    case Kind::Int:
      return int64_t{0};
    case Kind::String:
      return Bytes();
    case Kind::Floats:
      return std::vector<float>();
    case Kind::Ints:
      return std::vector<int64_t>();
    case Kind::Strings:
      return std::vector<Bytes>();
    case Kind::Tensor:
    case Kind::Tensors:
      return std::vector<Tensor>();
    case Kind::Graph:
    case Kind::Graphs:
      return std::vector<Graph>();
    case Kind::SparseTensor:
    case Kind::SparseTensors:
      return std::vector<SparseTensor>();
    case Kind::Type:
    case Kind::Types:
      return std::vector<Type>();
    case Kind::Undefined:
      break;
    }
    return {};
  }

  void readValue(Bytes bytes, int depth, Attribute &to) {
    using Kind = Attribute::Kind;
    to.value = defaultOf(to.kind);
    bool hasValue = false;
    MessageReader reader(source_, bytes, "AttributeProto");
    while (reader.next()) {
      Kind kind = kindOfField(reader.field());
      if (kind == Kind::Undefined || kind != to.kind) {
        reader.skip();
        continue;
      }
      switch (kind) {
      case Kind::Float:
        to.value = reader.single();
        break;
      case Kind::Int:
        to.value = reader.integer();
        break;
      case Kind::String:
        to.value = reader.bytes();
        break;
      case Kind::Floats:
        reader.append(std::get<std::vector<float>>(to.value));
        break;
      case Kind::Ints:
        reader.append(std::get<std::vector<int64_t>>(to.value));
        break;
      case Kind::Strings:
        std::get<std::vector<Bytes>>(to.value).push_back(reader.bytes());
        break;
      case Kind::Tensor:
        reader.checkOnly(hasValue);
        [[fallthrough]];
      case Kind::Tensors:
        std::get<std::vector<Tensor>>(to.value).push_back(tensors_.tensor(reader.bytes()));
        break;
      case Kind::Graph:
        reader.checkOnly(hasValue);
        [[fallthrough]];
      case Kind::Graphs:
        std::get<std::vector<Graph>>(to.value).push_back(graph(reader.bytes(), depth + 1));
        break;
      case Kind::SparseTensor:
        reader.checkOnly(hasValue);
        [[fallthrough]];
      case Kind::SparseTensors:
        std::get<std::vector<SparseTensor>>(to.value).push_back(
            tensors_.sparseTensor(reader.bytes()));
        break;
      case Kind::Type:
        reader.checkOnly(hasValue);
        [[fallthrough]];
      case Kind::Types:
        std::get<std::vector<Type>>(to.value).push_back(types_.type(reader.bytes(), 1));
        break;
      case Kind::Undefined:
        break;
      }
      hasValue = true;
    }
  }

  const Source &source_;
  TensorReader tensors_;
  TypeReader types_{tensors_};
};

} // namespace

Model readModel(const Source &source) { return PartReader(source).model(source.bytes); }

} // namespace tokamak::onnx
