// The format binary: sequence files of blocks, as SystemDS writes them. A matrix is cut into blocks of
// the same size, of which the last ones may be smaller; a block that is missing has no cells.
#include "runtime/io/BinaryFrames.h"
#include "runtime/io/Format.h"
#include "runtime/io/MatrixBlocks.h"
#include "runtime/io/SequenceFile.h"
#include "runtime/sparse/CellCollector.h"

#include <algorithm>
#include <mutex>

namespace tokamak::runtime {
namespace {

constexpr std::string_view keyClass = "org.apache.sysds.runtime.matrix.data.MatrixIndexes",
                           valueClass = "org.apache.sysds.runtime.matrix.data.MatrixBlock";
constexpr int64_t defaultSize = 1000;

struct PlacedBlock {
  int64_t row = 0, column = 0; // of the block among the blocks, from 0
  MatrixBlock block;
};

// Runs the body; its Error gets the place of the block.
template <typename Body>
void atBlock(const std::string &path, const PlacedBlock &placed, const Body &body) {
  try {
    body();
  } catch (const Error &error) {
    throw Error(fmt::format("{}: block ({}, {}): {}", path, placed.row + 1, placed.column + 1,
                            error.message()),
                error.kind());
  }
}

// All blocks of a file or a folder, and where they lie in the matrix.
class Blocks {
public:
  Blocks(const MatrixFile &file, TextSource &source) : file_(file) {
    for (size_t part = 0; part < source.parts(); ++part)
      if (std::string_view bytes = source.bytesOf(part); !bytes.empty())
        addPart(source.pathOf(part), bytes);
    findSizes();
    checkSize(file_, "row", file_.rows, rows_);
    checkSize(file_, "column", file_.columns, columns_);
    checkPlaces();
  }

  ArrayReference read(ExecutionContext &context) const {
    int64_t entries = 0;
    for (const PlacedBlock &placed : blocks_)
      entries += placed.block.entries;
    return Array::isBetterSparse({rows_, columns_}, entries) ? readSparse(context)
                                                             : readDense(context);
  }

private:
  void addPart(const std::string &path, std::string_view bytes) {
    SequenceFile part(path, bytes);
    if (part.keyClass() != keyClass || part.valueClass() != valueClass)
      throw Error(fmt::format("{}: it holds records of {} and {}: expected blocks of a matrix{}",
                              path, quotedField(part.keyClass()), quotedField(part.valueClass()),
                              part.valueClass().ends_with(".FrameBlock")
                                  ? "; give data_type=\"frame\" in the call"
                                  : ""));
    int64_t number = 0;
    for (const SequenceRecord &record : part.records()) {
      PlacedBlock placed;
      ++number;
      if (record.key.size() != 2 * sizeof(int64_t))
        throw Error(fmt::format("{}: record {}: the place of its block is damaged", path, number));
      BigEndianReader key(record.key);
      auto row = key.take<int64_t>(), column = key.take<int64_t>(); // from 1
      if (row < 1 || column < 1 || !isSize(row) || !isSize(column))
        throw Error(
            fmt::format("{}: record {}: blocks can't lie at ({}, {})", path, number, row, column));
      placed.row = row - 1;
      placed.column = column - 1;
      atBlock(path, placed, [&] { placed.block = parseMatrixBlock(record.value); });
      blocks_.push_back(placed);
    }
  }

  // The sizes of blocks and of the matrix, as far as they are not known, from the blocks: all but the
  // last ones of a row or column of blocks have the full size.
  void findSizes() {
    blockRows_ =
        sizeOfBlocks(file_.rowsInBlock, &PlacedBlock::row, &MatrixBlock::rows, "rows_in_block");
    blockColumns_ = sizeOfBlocks(file_.columnsInBlock, &PlacedBlock::column, &MatrixBlock::columns,
                                 "cols_in_block");
    for (const PlacedBlock &placed : blocks_) {
      auto end = [&](int64_t index, int64_t size, int64_t cells, std::string_view what) {
        return checkedSum(checkedProduct(index, size, file_.path, what), cells, file_.path, what);
      };
      rows_ = std::max(rows_, end(placed.row, blockRows_, placed.block.rows, "rows"));
      columns_ =
          std::max(columns_, end(placed.column, blockColumns_, placed.block.columns, "columns"));
    }
    // Blocks without cells may be missing. SystemDS stores a 1x1 block for a matrix without rows.
    bool isEmpty = std::all_of(blocks_.begin(), blocks_.end(), [](const PlacedBlock &placed) {
      return placed.block.kind == BlockKind::Empty;
    });
    bool hasNoCells = file_.rows == 0 || file_.columns == 0;
    auto known = [&](std::optional<int64_t> size, int64_t &found) {
      if (size && (*size > found || (isEmpty && hasNoCells)))
        found = *size;
    };
    known(file_.rows, rows_);
    known(file_.columns, columns_);
    if (isEmpty && (rows_ == 0 || columns_ == 0))
      blocks_.clear();
  }

  // The largest block has the full size, unless all lie in the last row or column of blocks.
  int64_t sizeOfBlocks(std::optional<int64_t> known, int64_t PlacedBlock::*index,
                       int64_t MatrixBlock::*cells, std::string_view parameter) const {
    if (known)
      return *known;
    int64_t largest = 1, first = largestSize, last = 0;
    for (const PlacedBlock &placed : blocks_) {
      largest = std::max(largest, placed.block.*cells);
      first = std::min(first, placed.*index);
      last = std::max(last, placed.*index);
    }
    if (!blocks_.empty() && first == last && last > 0)
      throw Error(
          fmt::format("{}: the file doesn't tell the size of its blocks: give {} in the call",
                      file_.path, parameter));
    return largest;
  }

  void checkPlaces() {
    std::sort(blocks_.begin(), blocks_.end(), [](const PlacedBlock &a, const PlacedBlock &b) {
      return std::pair(a.row, a.column) < std::pair(b.row, b.column);
    });
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const PlacedBlock &placed = blocks_[i];
      int64_t rows = std::min(blockRows_, rows_ - placed.row * blockRows_),
              columns = std::min(blockColumns_, columns_ - placed.column * blockColumns_);
      atBlock(file_.path, placed, [&] {
        if (placed.block.rows != rows || placed.block.columns != columns)
          throw Error(fmt::format("it has {}x{} cells, expected {}x{}: the matrix has {}x{} cells, "
                                  "blocks have {}x{}",
                                  placed.block.rows, placed.block.columns, rows, columns, rows_,
                                  columns_, blockRows_, blockColumns_));
        if (i > 0 && blocks_[i - 1].row == placed.row && blocks_[i - 1].column == placed.column)
          throw Error("it occurs twice");
      });
    }
  }

  // Calls body(i) for each block in parallel; throws the Error of the first block that has one.
  template <typename Body> void forEachBlock(ExecutionContext &context, const Body &body) const {
    std::mutex mutex;
    auto firstWrong = static_cast<int64_t>(blocks_.size());
    std::optional<Error> first;
    forEachRange(context, firstWrong, 1, [&](int64_t i, int64_t) {
      try {
        atBlock(file_.path, blocks_[i], [&] { body(static_cast<size_t>(i)); });
      } catch (const Error &error) {
        std::lock_guard lock(mutex);
        if (i < firstWrong)
          first = error;
        firstWrong = std::min(firstWrong, i);
      }
    });
    if (first)
      throw Error(*first);
  }

  ArrayReference readDense(ExecutionContext &context) const {
    ArrayPointer result = Array::filled({rows_, columns_}, 0);
    double *cells = result->mutableData();
    forEachBlock(context, [&](size_t i) {
      const PlacedBlock &placed = blocks_[i];
      double *corner = cells + placed.row * blockRows_ * columns_ + placed.column * blockColumns_;
      forEachCell(placed.block, [&](int64_t row, int64_t column, double value) {
        corner[row * columns_ + column] = value;
      });
    });
    return Array::inBestLayout(result);
  }

  ArrayReference readSparse(ExecutionContext &context) const {
    std::vector<BudgetedVector<Cell>> cells(blocks_.size());
    forEachBlock(context, [&](size_t i) {
      const PlacedBlock &placed = blocks_[i];
      int64_t firstRow = placed.row * blockRows_, firstColumn = placed.column * blockColumns_;
      cells[i].reserve(static_cast<size_t>(placed.block.entries));
      forEachCell(placed.block, [&](int64_t row, int64_t column, double value) {
        cells[i].push_back({firstRow + row, firstColumn + column, value});
      });
    });
    CellCollector collector(rows_, columns_);
    for (BudgetedVector<Cell> &ofBlock : cells)
      collector.add(std::move(ofBlock));
    return collector.finish(context);
  }

  const MatrixFile &file_;
  BudgetedVector<PlacedBlock> blocks_;
  int64_t rows_ = 0, columns_ = 0, blockRows_ = 0, blockColumns_ = 0;
};

ArrayReference read(const MatrixFile &file, TextSource &source, ExecutionContext &context) {
  return Blocks(file, source).read(context);
}

int64_t blockSize(const WriteOptions &options) {
  if (options.rowsInBlock && options.columnsInBlock &&
      *options.rowsInBlock != *options.columnsInBlock)
    throw Error(fmt::format("write: blocks of the format binary are square, but rows_in_block is "
                            "{} and cols_in_block {}",
                            *options.rowsInBlock, *options.columnsInBlock));
  return options.rowsInBlock.value_or(options.columnsInBlock.value_or(defaultSize));
}

// Whether the blocks of a row of blocks have entries: most blocks of a large sparse matrix don't, and
// looking for their cells would take longer than writing all others.
std::vector<bool> blocksWithEntries(const Array &matrix, int64_t firstRow, int64_t rows,
                                    int64_t size) {
  std::vector<bool> found(static_cast<size_t>((matrix.columns() + size - 1) / size),
                          !matrix.isSparse());
  if (matrix.isSparse())
    for (int64_t p = matrix.rowOffsets()[firstRow]; p < matrix.rowOffsets()[firstRow + rows]; ++p)
      found[static_cast<size_t>(matrix.columnIndices()[p] / size)] = true;
  return found;
}

void write(const Array &matrix, const WriteOptions &options, ExecutionContext &context,
           FileWriter &file) {
  int64_t size = blockSize(options);
  SequenceWriter writer(keyClass, valueClass);
  file.writeText(writer.header());
  auto count = [&](int64_t cells) { return (cells + size - 1) / size; };
  int64_t blockColumns = count(matrix.columns()),
          blockRows = matrix.columns() == 0 ? 0 : count(matrix.rows());
  // SystemDS writes empty blocks, too. It also reads files without them, which may be far smaller.
  constexpr int64_t mostBlocks = 1000000;
  bool writesEmpty = blockColumns == 0 || blockRows <= mostBlocks / blockColumns;
  constexpr int64_t cellsAtOnce = 1 << 23, mostAtOnce = 1 << 12;
  int64_t cells = std::min(size, matrix.rows()) * std::min(size, matrix.columns());
  int64_t atOnce = std::clamp<int64_t>(cellsAtOnce / std::max<int64_t>(1, cells), 1, mostAtOnce);
  std::vector<std::pair<int64_t, int64_t>> waiting; // places of blocks
  std::vector<std::string> blocks;
  auto writeWaiting = [&] {
    blocks.assign(waiting.size(), "");
    forEachRange(context, static_cast<int64_t>(waiting.size()), 1, [&](int64_t i, int64_t) {
      auto [row, column] = waiting[i];
      blocks[i] = formatMatrixBlock(matrix, {row * size, std::min(size, matrix.rows() - row * size),
                                             column * size,
                                             std::min(size, matrix.columns() - column * size)});
    });
    for (size_t i = 0; i < waiting.size(); ++i) {
      std::string key;
      appendBigEndian(key, waiting[i].first + 1);
      appendBigEndian(key, waiting[i].second + 1);
      file.writeText(writer.record(key, blocks[i]));
    }
    waiting.clear();
  };
  for (int64_t row = 0; row < blockRows; ++row) {
    int64_t rows = std::min(size, matrix.rows() - row * size);
    std::vector<bool> hasEntries = blocksWithEntries(matrix, row * size, rows, size);
    for (int64_t column = 0; column < blockColumns; ++column) {
      if (hasEntries[column] || writesEmpty)
        waiting.emplace_back(row, column);
      if (static_cast<int64_t>(waiting.size()) == atOnce)
        writeWaiting();
    }
  }
  writeWaiting();
}

void describe(const WriteOptions &options, MatrixMetadata &metadata) {
  if (metadata.dataType == "matrix")
    metadata.rowsInBlock = metadata.columnsInBlock = blockSize(options);
}

} // namespace

constinit const Format BinaryFormat = {.name = "binary",
                                       .beginning = SequenceFile::beginning,
                                       .readMatrix = read,
                                       .writeMatrix = write,
                                       .readFrame = readBinaryFrame,
                                       .writeFrame = writeBinaryFrame,
                                       .describe = describe};

} // namespace tokamak::runtime
