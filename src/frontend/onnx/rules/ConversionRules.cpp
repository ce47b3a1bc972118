// Cells of one type as cells of another one.
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/NarrowCells.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

void castToNarrow(NodeImporter &node, DataType type) {
  Narrowing narrowing{node.integer("saturate", 1) != 0, node.text("round_mode", "up")};
  Value cells = narrowed(node.graph(), node.operand(0), type, narrowing);
  node.setValue(0, ImportedValue::ofArray(cells, type));
}

// Integers of the program that fit in i32: numbers that do, and sizes, as far as an exporter that holds them in i32 can
// rely on that.
bool areShort(GraphBuilder &graph, ArrayRef<Value> cells) {
  return llvm::all_of(cells, [&](Value cell) {
    std::optional<int64_t> known = graph.knownInteger(cell);
    return known ? *known == static_cast<int32_t>(*known) : bool(cell.getDefiningOp<tok::SizeOp>());
  });
}

void importCast(NodeImporter &node) {
  node.ignore({"saturate", "round_mode"}); // of narrow cells alone
  auto type = static_cast<DataType>(node.integer("to", 0));
  if (isNarrow(type))
    return castToNarrow(node, type);
  std::optional<ElementType> element = elementTypeOf(type);
  if (!element)
    node.refuse("Cast to " + nameOf(type));
  // Sizes stay known.
  if (std::optional<Values> cells = node.movableCells(0);
      cells && (*element == ElementType::I64 ||
                (*element == ElementType::I32 && areShort(node.graph(), *cells))))
    return node.setCells(0, *cells, node.isScalar(0), *element);
  node.setResult(0, node.graph().cast(node.operand(0), *element));
}

void importCastLike(NodeImporter &node) {
  node.ignore({"saturate", "round_mode"});
  if (DataType type = node.narrowType(1); isNarrow(type))
    return castToNarrow(node, type);
  node.setResult(0, node.graph().cast(node.operand(0), GraphBuilder::elementOf(node.operand(1))));
}

// The bits stay.
void importBitCast(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  auto type = static_cast<DataType>(node.integer("to", 0));
  std::optional<ElementType> from = GraphBuilder::elementTypeOf(x), to = elementTypeOf(type);
  if (!to)
    node.refuse("BitCast to " + nameOf(type));
  if (byteSize(*from) != byteSize(*to))
    throw Error(fmt::format("cells of {} bytes as {}", byteSize(*from), nameOf(type)));
  auto name = [&](ElementType element) -> Value {
    return graph.builder().create<tok::ConstantOp>(graph.location(), StringRef(nameOf(element)));
  };
  node.setResult(
      0, graph.native("bitcast", {x, name(*from), name(*to)}, node.rank(0), graph.typeOf(*to)));
}

constexpr ImportRule rules[] = {
    {"BitCast", 26, importBitCast},
    {"Cast", 6, importCast},
    {"CastLike", 15, importCastLike},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::conversionRules() { return rules; }
