#include "codegen/PanelProducts.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static constexpr int64_t lanes = VectorBuilder::lanes;

Value PanelProducts::columnCount(Value value) {
  if (auto constant = constantWidth(body_, value))
    return vectors_.integer(*constant);
  return kernel_.tile.columns;
}

// For each column: target(column) += the sum over i of factors[i] * cell(column, i).
void PanelProducts::accumulate(int64_t columnCount, ArrayRef<Value> factors,
                               llvm::function_ref<Value(Value)> target,
                               llvm::function_ref<Value(Value, int)> cell) {
  values_.forEachColumn(columnCount, [&](Value column) {
    Value place = target(column);
    Value sum = vectors_.load(place, {});
    for (auto [number, factor] : llvm::enumerate(factors))
      sum = vectors_.fma(factor, vectors_.splat(cell(column, number)), sum);
    vectors_.store(sum, place, {});
  });
}

//===- products of rows ----------------------------------------------------------------------===//

void PanelProducts::open(plan::ReduceOp product) {
  Value result = product.getCell(), zero = vectors_.number(0);
  values_.forEachColumn(*constantWidth(body_, result), [&](Value column) {
    vectors_.store(zero, values_.panelPointer(result, column), {});
  });
}

void PanelProducts::add(plan::ReduceOp product, ArrayRef<Value> columns, Value firstColumn) {
  Value result = product.getCell();
  auto [left, right, isTransposed] = *body_.productOf(product);
  ElementType cells = cellsOf(right);
  // The right operand's cell (j, c) lies at j * down + c * across.
  Value one = vectors_.integer(1);
  Value down = isTransposed ? one : columnCount(result);
  Value across = isTransposed ? columnCount(left) : one;
  Value start =
      vectors_.offsetCells(values_.inputArray(right), vectors_.multiply(firstColumn, down), cells);
  SmallVector<Value> factors;
  for (Value column : columns)
    factors.push_back(vectors_.extend(column));
  auto target = [&](Value column) { return values_.panelPointer(result, column); };
  auto cell = [&](Value column, int number) {
    Value top = vectors_.offsetCells(start, vectors_.multiply(column, across), cells);
    Value place = vectors_.multiply(down, vectors_.integer(number));
    return vectors_.extend(vectors_.loadCell(top, place, cells));
  };
  accumulate(*constantWidth(body_, result), factors, target, cell);
}

void PanelProducts::addChunk(plan::ReduceOp product) {
  Value left = body_.productOf(product)->left;
  const Chunk &chunk = values_.chunk();
  State rows;
  for (int row = 0; row < values_.rows(); ++row)
    rows.push_back(values_.wide(left, row));
  State columns = values_.acrossRows(rows);
  if (!chunk.count) {
    columns.resize(chunk.constantCount.value_or(lanes));
    return add(product, columns, chunk.column);
  }
  // The chunk's number of columns is known at run time only, and rows of the right operand beyond
  // it must not be read: store the columns and add them one by one.
  Type cells = cellType(vectors_, left);
  Value staging = values_.scratchPointer(values_.schedule().scratch.staging);
  auto place = [&](Value column) {
    return vectors_.offset(staging, vectors_.multiply(column, vectors_.integer(lanes)));
  };
  for (auto [number, column] : llvm::enumerate(columns))
    vectors_.store(column, place(vectors_.integer(number)), {});
  vectors_.forLoop(vectors_.integer(0), chunk.count, 1, [&](Value number) {
    add(product, {vectors_.load(place(number), {}, cells)}, vectors_.add(chunk.column, number));
  });
}

void PanelProducts::addPanel(plan::ReduceOp product) {
  Value left = body_.productOf(product)->left;
  int64_t width = body_.narrowColumns(left), whole = width / lanes * lanes;
  auto columns = [&](Value first, int64_t count) {
    State loaded;
    for (int64_t column = 0; column < count; ++column)
      loaded.push_back(values_.panelVector(left, vectors_.add(first, vectors_.integer(column))));
    add(product, loaded, first);
  };
  vectors_.forLoop(vectors_.integer(0), vectors_.integer(whole), lanes,
                   [&](Value first) { columns(first, lanes); });
  if (whole < width)
    columns(vectors_.integer(whole), width - whole);
}

//===- transposed products -------------------------------------------------------------------===//

Value PanelProducts::accumulatorLine(const Root &root, Value cell) {
  const ScratchLayout &scratch = values_.schedule().scratch;
  Value start, length;
  if (auto lines = scratch.accumulatorLines.find(&root); lines != scratch.accumulatorLines.end()) {
    start = values_.scratchLine(lines->second);
    length = values_.paddedColumns();
  } else {
    start = values_.scratchPointer(scratch.accumulators.lookup(&root));
    Value vectors = transposedRoles(body_, root).vectors;
    length = vectors_.integer((body_.narrowColumns(vectors) + lanes - 1) / lanes * lanes);
  }
  return vectors_.offset(start, vectors_.multiply(cell, length));
}

// Emits a loop over the columns of `cells`; they are too few to unroll.
static void forEachCell(const KernelBody &body, VectorBuilder &vectors, Value cells,
                        llvm::function_ref<void(Value)> visit) {
  vectors.forLoop(vectors.integer(0), vectors.integer(*constantWidth(body, cells)), 1, visit);
}

void PanelProducts::open(const Root &root) {
  auto [vectors, cells, isNatural] = transposedRoles(body_, root);
  Value zero = vectors_.number(0), width = columnCount(vectors);
  forEachCell(body_, vectors_, cells, [&](Value cell) {
    Value line = accumulatorLine(root, cell);
    vectors_.forLoop(vectors_.integer(0), width, lanes, [&](Value column) {
      vectors_.store(zero, vectors_.offset(line, column), {});
    });
  });
}

// The contents of lanes beyond the last column are undefined; accumulator lines
// are padded to whole vectors.
void PanelProducts::add(const Root &root, ArrayRef<Value> rows, Value firstColumn) {
  Value cells = transposedRoles(body_, root).cells;
  SmallVector<RowCells> factors;
  for (int row = 0; row < values_.rows(); ++row)
    factors.push_back(values_.rowCells(cells, row));
  auto target = [&](Value column) {
    return vectors_.offset(accumulatorLine(root, column), firstColumn);
  };
  auto cell = [&](Value column, int row) {
    auto [pointer, distance, type] = factors[row];
    Value place = vectors_.multiply(column, vectors_.integer(distance));
    Value number = vectors_.loadCell(pointer, place, type);
    // Products lie in their panels as doubles; an f32 product must be rounded before it is used.
    return vectors_.extend(vectors_.round(number, cellType(vectors_, cells)));
  };
  accumulate(*constantWidth(body_, cells), rows, target, cell);
}

void PanelProducts::addChunk(const Root &root) {
  Value vectors = transposedRoles(body_, root).vectors;
  State rows;
  for (int row = 0; row < values_.rows(); ++row)
    rows.push_back(vectors_.extend(values_.wide(vectors, row)));
  add(root, rows, values_.chunk().column);
}

void PanelProducts::addPanel(const Root &root) {
  Value vectors = transposedRoles(body_, root).vectors;
  ElementType type = cellsOf(vectors);
  int64_t width = body_.narrowColumns(vectors), whole = width / lanes * lanes;
  auto columns = [&](Value first, int64_t count) {
    State rows;
    if (isRead(vectors)) {
      Value mask = count < lanes ? vectors_.maskBelow(count) : Value();
      Value array = values_.inputArray(vectors);
      for (int row = 0; row < values_.rows(); ++row)
        rows.push_back(
            vectors_.loadCells(values_.cellPointer(array, vectors, row, type), first, mask, type));
    } else {
      rows = values_.rowsOfPanel(vectors, first, count);
      rows.resize(values_.rows());
    }
    for (Value &row : rows)
      row = vectors_.extend(row);
    add(root, rows, first);
  };
  vectors_.forLoop(vectors_.integer(0), vectors_.integer(whole), lanes,
                   [&](Value first) { columns(first, lanes); });
  if (whole < width)
    columns(vectors_.integer(whole), width - whole);
}

void PanelProducts::close(const Root &root) {
  auto [vectors, cells, isNatural] = transposedRoles(body_, root);
  Value partial = kernel_.partialPointer(root), width = columnCount(vectors);
  Value zero = vectors_.number(0), none = vectors_.integer(0);
  vectors_.forLoop(none, kernel_.partialSize(root), lanes,
                   [&](Value at) { vectors_.store(zero, vectors_.offset(partial, at), {}); });
  // Line `cell`, column `column` of D is cell (cell, column) of the result, or (column, cell) if D
  // is accumulated transposed.
  Value across = isNatural ? vectors_.integer(1) : columnCount(cells);
  Value down = isNatural ? width : vectors_.integer(1);
  forEachCell(body_, vectors_, cells, [&](Value cell) {
    Value line = accumulatorLine(root, cell);
    Value start = vectors_.offset(partial, vectors_.multiply(cell, down));
    vectors_.forLoop(none, width, 1, [&](Value column) {
      Value sum = vectors_.loadScalar(vectors_.offset(line, column));
      vectors_.storeScalar(sum, vectors_.offset(start, vectors_.multiply(column, across)));
    });
  });
}
