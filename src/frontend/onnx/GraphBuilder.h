// Writes operations of `tok` for the nodes of a graph: what import rules are made of.
//
//   mlir::Value sum = graph.binary(BinaryOperator::Add, x, y);      // with NumPy's broadcasting
//   mlir::Value largest = graph.reduce(AggregateKind::Max, sum, {1}, KeepDimensions::Yes);
//
// Dimensions count from 0, as in the standard. What is computed with sizes are scalars: the cells of small
// arrays of integers are known one by one, so that Reshape knows how many sizes it is given, and nothing of
// a model's arithmetic with shapes is left as arrays.
#ifndef TOKAMAK_FRONTEND_ONNX_GRAPHBUILDER_H
#define TOKAMAK_FRONTEND_ONNX_GRAPHBUILDER_H

#include "ir/tok/TokDialect.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace tokamak::onnx {

using Unary = UnaryOperator;
using Binary = BinaryOperator;
using Values = llvm::SmallVector<mlir::Value, 4>;
using Numbers = llvm::SmallVector<int64_t, 4>;

// The numbers from `first` up to, but without, `end`.
Numbers numbersFrom(int64_t first, int64_t end);

enum class KeepDimensions : uint8_t { No, Yes };

// An integer among sizes: a scalar of the program, or the number itself where it is known.
std::optional<int64_t> constantInteger(mlir::Value scalar);

class GraphBuilder {
public:
  // `builder` stands where operations are to be written.
  explicit GraphBuilder(mlir::OpBuilder builder) : builder_(std::move(builder)) {}

  mlir::OpBuilder &builder() { return builder_; }
  // Of the operations that follow.
  void setLocation(mlir::Location location) { location_ = location; }
  mlir::Location location() const { return location_; }

  //===- types -------------------------------------------------------------------------------===//

  mlir::Type typeOf(ElementType element);
  mlir::RankedTensorType arrayType(int64_t rank, mlir::Type element);
  static int64_t rankOf(mlir::Value array);
  static mlir::Type elementOf(mlir::Value array);
  static ElementType elementTypeOf(mlir::Value array);

  //===- numbers -----------------------------------------------------------------------------===//

  mlir::Value integer(int64_t value);
  mlir::Value real(double value);
  // Of numbers of the program.
  mlir::Value scalar(BinaryOperator op, mlir::Value lhs, mlir::Value rhs);
  mlir::Value scalar(UnaryOperator op, mlir::Value operand);
  // A double, or an integer without what follows its point.
  mlir::Value inDoubles(mlir::Value number);
  mlir::Value inIntegers(mlir::Value number);
  // The only cell of an array as a scalar of the program: a double of floats, a boolean of booleans, else an integer.
  mlir::Value scalarOf(mlir::Value array);
  // An array of 1 x 1 cells with this number or boolean.
  mlir::Value matrixOf(mlir::Value scalar);
  // An array without dimensions that is this double or boolean. Operators of such arrays compute with scalars of the
  // program, as a script does: no kernel is launched for one cell, and sums have the bits that a script's have.
  mlir::Value arrayOfScalar(mlir::Value scalar);
  // The size of a dimension, and of all together.
  mlir::Value size(mlir::Value array, int64_t dimension);
  Values sizes(mlir::Value array);
  // If it is known before any data: what follows from weights and from what knowSizes was told.
  std::optional<int64_t> knownSize(mlir::Value array, int64_t dimension);
  // The same of an integer of the program.
  std::optional<int64_t> knownInteger(mlir::Value scalar);
  // Of a parameter of the function; negative ones are not known.
  void knowSizes(mlir::Value parameter, llvm::ArrayRef<int64_t> sizes);
  mlir::Value product(llvm::ArrayRef<mlir::Value> sizes);
  // 1 or 0.
  mlir::Value isOne(mlir::Value size);

  //===- cells -------------------------------------------------------------------------------===//

  // An array written out.
  mlir::Value literal(mlir::DenseElementsAttr cells);
  // An array of no dimensions with this number, of this element type.
  mlir::Value filled(double value, mlir::Type element);
  mlir::Value unary(UnaryOperator op, mlir::Value operand);
  // Of two arrays, or an array and a number that takes its type. Comparisons and logic give booleans.
  mlir::Value binary(BinaryOperator op, mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value then, mlir::Value otherwise);
  mlir::Value cast(mlir::Value array, mlir::Type element);
  mlir::Value cast(mlir::Value array, ElementType element) { return cast(array, typeOf(element)); }
  // Halves go to the even neighbour.
  mlir::Value roundToEven(mlir::Value x);

  //===- shapes ------------------------------------------------------------------------------===//

  mlir::Value view(mlir::Value array, llvm::ArrayRef<mlir::Value> sizes);
  // Without the dimensions, which have size 1, or with new ones of size 1: these are their numbers in the
  // result.
  mlir::Value squeeze(mlir::Value array, llvm::ArrayRef<int64_t> dimensions);
  mlir::Value unsqueeze(mlir::Value array, llvm::ArrayRef<int64_t> dimensions);
  // Throws Error if the arrays' cells are not all of one type.
  static void checkSameCells(llvm::ArrayRef<mlir::Value> arrays);
  // An operation of the runtime (base/Natives.def) with one result.
  mlir::Value native(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands, int64_t rank,
                     mlir::Type element);
  // With dimensions of size 1 behind, so that it goes with an array of this rank from `dimension` on.
  mlir::Value startingAt(mlir::Value array, int64_t dimension, int64_t rank);
  // With dimensions of size 1 in front, up to this rank.
  mlir::Value withRank(mlir::Value array, int64_t rank);
  // Repeated along dimensions of size 1, as if it were beside an array of these sizes.
  mlir::Value broadcast(mlir::Value array, llvm::ArrayRef<mlir::Value> sizes);
  mlir::Value permute(mlir::Value array, llvm::ArrayRef<int64_t> order);
  // Undoes a permutation by this order.
  mlir::Value permuteBack(mlir::Value array, llvm::ArrayRef<int64_t> order);
  mlir::Value join(llvm::ArrayRef<mlir::Value> arrays, int64_t dimension);
  // By place of a dimension, from 0: along `dimension`, or whole slices of many.
  mlir::Value slice(mlir::Value array, int64_t dimension, mlir::Value begin, mlir::Value size,
                    int64_t step = 1);
  mlir::Value slice(mlir::Value array, int64_t dimension, mlir::Value begin, mlir::Value size,
                    mlir::Value step);
  // What it has at one place of a dimension, which the result has not.
  mlir::Value part(mlir::Value array, int64_t dimension, mlir::Value place);
  // For each cell of `indices` (from 0; negative ones count from the end) what the array has there.
  mlir::Value take(mlir::Value array, mlir::Value indices, int64_t dimension);
  // Indices from 0, of which negative ones counted from the end of a dimension of this size.
  mlir::Value fromZero(mlir::Value indices, mlir::Value size);
  // The same, but an index outside of the dimension is an error of the run. What reads or writes by places of several
  // dimensions needs it: outside of one dimension, a place is another one of the array.
  enum class CountFrom : uint8_t { Begin, BothEnds };
  mlir::Value checkedIndices(mlir::Value indices, mlir::Value size,
                             CountFrom from = CountFrom::BothEnds);
  // For each cell of `along`, places in the dimension from 0, what the array has there: in other dimensions where
  // the cell stands.
  mlir::Value takeElements(mlir::Value array, mlir::Value along, int64_t dimension);
  // The numbers of these cells in row-major order.
  mlir::Value placesOfElements(mlir::Value array, mlir::Value along, int64_t dimension);
  // Overlapping parts of the last dimensions (native `windows`): six numbers for each of them.
  mlir::Value windows(mlir::Value array, mlir::Value outside, llvm::ArrayRef<mlir::Value> numbers);
  // Natives `convolve` and `pool` ("max" or "sum").
  mlir::Value convolve(mlir::Value image, mlir::Value weights, mlir::Value groups,
                       llvm::ArrayRef<mlir::Value> numbers);
  mlir::Value pool(mlir::Value array, llvm::StringRef kind, llvm::ArrayRef<mlir::Value> numbers);
  // 0, 1, … along a dimension of this size.
  mlir::Value places(mlir::Value size, mlir::Type element);
  // The same number in every cell.
  mlir::Value filled(double value, mlir::Type element, llvm::ArrayRef<mlir::Value> sizes);

  //===- products and aggregates -------------------------------------------------------------===//

  // Of the matrices in the last two dimensions; leading ones are broadcast.
  mlir::Value matmul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value reduce(AggregateKind kind, mlir::Value array, llvm::ArrayRef<int64_t> dimensions,
                     KeepDimensions keep);

private:
  // The double or boolean that an array without dimensions is, or the operand itself if it is a scalar; else null.
  mlir::Value asScalar(mlir::Value operand);
  // The same of all operands, or none.
  std::optional<Values> asScalars(llvm::ArrayRef<mlir::Value> operands);
  mlir::Value
  cellwise(llvm::ArrayRef<mlir::Value> operands,
           llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>, int64_t rank)> create);
  struct Grouped {
    mlir::Value array; // the reduced dimensions are one, the last
    Values kept,
        flat; // sizes of the result, with and without dimensions of size 1 for reduced ones
  };
  Grouped groupLast(mlir::Value array, llvm::ArrayRef<int64_t> dimensions);
  const tok::Facts &factsOf(mlir::Value value);

  mlir::OpBuilder builder_;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars_; // by the array that arrayOfScalar made
  llvm::DenseMap<mlir::Value, tok::Facts> facts_;
  mlir::Location location_ = builder_.getUnknownLoc();
};

} // namespace tokamak::onnx
#endif
