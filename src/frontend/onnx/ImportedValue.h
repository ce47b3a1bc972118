// What the names of a graph mean while it is imported, and which names a graph sees.
//
//   ImportScope outer;
//   outer.define("x", ImportedValue::ofArray(x));
//   ImportScope branch(&outer);             // of a graph in an attribute of a node of the outer one
//   branch.find("x")->array == x;
//
#ifndef TOKAMAK_FRONTEND_ONNX_IMPORTEDVALUE_H
#define TOKAMAK_FRONTEND_ONNX_IMPORTEDVALUE_H

#include "frontend/onnx/GraphBuilder.h"
#include "frontend/onnx/file/DataType.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <vector>

namespace tokamak::onnx {

// Arrays of sizes are known by cells, as scalars of the program; others as arrays. An optional is its value, or
// Absent, as is an operand that a call of a function leaves out. Failed: the node that gives it was refused.
struct ImportedValue {
  enum class Kind : uint8_t { Tensor, Sequence, Absent, Failed } kind = Kind::Tensor;
  mlir::Value array = {}; // of a tensor; null if nobody has asked for it yet
  // Of an array of integers with at most one dimension; of i64 if there is no array.
  std::optional<Values> cells = {};
  bool isScalar = false; // of `cells`: there is no dimension
  std::shared_ptr<const std::vector<ImportedValue>> elements = {}; // of a sequence
  DataType narrow = DataType::Undefined; // of an array that holds narrow cells in a wider type

  // `type` is that of the cells, if they are narrow.
  static ImportedValue ofArray(mlir::Value array, DataType type = DataType::Undefined) {
    return {.array = array, .narrow = isNarrow(type) ? type : DataType::Undefined};
  }
  static ImportedValue ofCells(Values cells, bool isScalar) {
    return {.cells = std::move(cells), .isScalar = isScalar};
  }
  static ImportedValue ofElements(std::vector<ImportedValue> elements) {
    return {.kind = Kind::Sequence,
            .elements = std::make_shared<std::vector<ImportedValue>>(std::move(elements))};
  }
  static ImportedValue absent() { return {.kind = Kind::Absent}; }
  static ImportedValue failed() { return {.kind = Kind::Failed}; }

  bool isTensor() const { return kind == Kind::Tensor; }
  // Whether cells of i64 are known: those of other types have an array, too.
  bool hasWholeCells() const {
    return cells && (!array || GraphBuilder::elementTypeOf(array) == ElementType::I64);
  }
};

using ImportedValues = std::vector<ImportedValue>;

// The tensor as an array, which is written where the builder stands if it is known by cells alone. Throws Error if
// it is no tensor.
mlir::Value arrayOf(ImportedValue &tensor, GraphBuilder &graph);

// The values of a graph by name, and those of the graphs around it.
class ImportScope {
public:
  explicit ImportScope(const ImportScope *outer = nullptr) : outer_(outer) {}

  void define(llvm::StringRef name, ImportedValue value) { own_[name] = std::move(value); }
  // Null if there is none. What is learned of a value of a graph around this one stays here: an array that is
  // written in a branch is not there outside of it.
  ImportedValue *find(llvm::StringRef name);

private:
  const ImportScope *outer_;
  llvm::StringMap<ImportedValue> own_;
};

} // namespace tokamak::onnx
#endif
