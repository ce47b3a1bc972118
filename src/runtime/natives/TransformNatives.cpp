// The natives transformencode, transformapply, transformdecode, transformcolmap, getCategoricalMask: frames of texts and
// numbers to matrices and back.
#include "runtime/natives/NativeOperands.h"
#include "runtime/transform/ColumnCodes.h"
#include "runtime/values/Frame.h"

#include <cmath>
#include <memory>

namespace tokamak::runtime {
namespace {

// The columns of the matrix that one column of the frame becomes.
struct Encoder {
  ColumnTransform transform;
  ColumnCodes codes;
  int64_t width; // how many

  Encoder(const ColumnTransform &transform, ColumnCodes codes, int64_t embedding)
      : transform(transform), codes(std::move(codes)),
        width(transform.coding == ColumnCoding::WordEmbedding ? embedding
              : transform.dummycode                           ? this->codes.count()
                                                              : 1) {}
};

using Encoders = std::vector<Encoder>;

int64_t widthOf(const Encoders &encoders) {
  int64_t width = 0;
  for (const Encoder &encoder : encoders)
    width = checkedSum(width, encoder.width, "transformencode", "columns");
  return width;
}

const Frame &frameAt(std::span<Value> operands, size_t position) {
  return *operands[position].frame();
}

TransformSpec specAt(std::span<Value> operands, size_t position, const Frame &frame,
                     std::string_view native) {
  return TransformSpec::parse(textOperand(operands[position], native, "spec"), frame.names(),
                              native);
}

// Columns are independent of each other.
template <typename Body>
void forEachColumn(ExecutionContext &context, int64_t columns, const Body &body) {
  forEachRange(context, columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j)
      body(j);
  });
}

Encoders encodersOf(ExecutionContext &context, const Frame &frame, const TransformSpec &spec) {
  std::vector<std::optional<ColumnCodes>> codes(spec.columns.size());
  forEachColumn(context, frame.columns(), [&](int64_t j) {
    codes[j] = ColumnCodes::of(*frame.column(j), spec.columns[j], frame.name(j));
  });
  Encoders encoders;
  for (size_t j = 0; j < codes.size(); ++j)
    encoders.emplace_back(spec.columns[j], std::move(*codes[j]), 0);
  return encoders;
}

Encoders encodersFromMetadata(const Frame &metadata, const TransformSpec &spec, int64_t embedding) {
  Encoders encoders;
  for (int64_t j = 0; j < metadata.columns(); ++j)
    encoders.emplace_back(spec.columns[j],
                          ColumnCodes::fromMetadata(*metadata.column(j), spec.columns[j],
                                                    metadata.name(j), metadata.replacement(j)),
                          embedding);
  return encoders;
}

// Those in which no cell is missing that must not be. Nothing: all rows.
std::optional<std::vector<int64_t>> keptRows(const Frame &frame, const TransformSpec &spec) {
  if (std::ranges::none_of(spec.columns, &ColumnTransform::omit))
    return std::nullopt;
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < frame.rows(); ++i) {
    bool isKept = true;
    for (int64_t j = 0; j < frame.columns() && isKept; ++j)
      isKept = !spec.columns[j].omit || !ColumnCodes::isMissing(*frame.column(j), i);
    if (isKept)
      kept.push_back(i);
  }
  return kept;
}

// Where columns become many, most of their cells are 0.
class EncodedMatrix {
public:
  EncodedMatrix(ExecutionContext &context, const Frame &frame, const TransformSpec &spec,
                const Encoders &encoders, const Array *embedding)
      : context_(context), encoders_(encoders), embedding_(embedding), rows_(keptRows(frame, spec)),
        rowCount_(rows_ ? std::ssize(*rows_) : frame.rows()) {
    constexpr int64_t rowsAtOnce = int64_t{1} << 17; // each looks numbers up anew
    int64_t ranges = (frame.rows() + rowsAtOnce - 1) / rowsAtOnce;
    std::vector<double *> numbers;
    for (size_t j = 0; j < encoders.size(); ++j)
      numbers.push_back(numbers_.emplace_back(Array::create({frame.rows(), 1}))->mutableData());
    forEachRange(context, frame.columns() * ranges, 1, [&](int64_t task, int64_t) {
      int64_t j = task / ranges, begin = task % ranges * rowsAtOnce;
      encoders[j].codes.encode(*frame.column(j), begin, std::min(frame.rows(), begin + rowsAtOnce),
                               numbers[j]);
    });
  }

  ArrayReference make() {
    if (numbers_.size() == 1 && !rows_ && !encoders_[0].transform.dummycode &&
        encoders_[0].transform.coding != ColumnCoding::WordEmbedding)
      return numbers_[0];
    Shape shape{rowCount_, widthOf(encoders_)};
    int64_t entries = 0;
    for (const Encoder &encoder : encoders_)
      entries += shape[0] * (encoder.transform.dummycode ? 1 : encoder.width);
    return Array::isBetterSparse(shape, entries) ? Array::inBestLayout(sparse(shape))
                                                 : Array::inBestLayout(dense(shape));
  }

private:
  // Calls body(column, value) for the cells of a row that may differ from 0, in the order of columns.
  template <typename Body> void forEachCell(int64_t row, const Body &body) const {
    int64_t column = 0;
    for (size_t j = 0; j < encoders_.size(); column += encoders_[j++].width) {
      double number = numbers_[j]->data()[rows_ ? (*rows_)[row] : row];
      const Encoder &encoder = encoders_[j];
      if (encoder.transform.coding == ColumnCoding::WordEmbedding) {
        for (int64_t k = 0; k < encoder.width && !std::isnan(number); ++k)
          body(column + k,
               embedding_->data()[(static_cast<int64_t>(number) - 1) * encoder.width + k]);
      } else if (!encoder.transform.dummycode) {
        body(column, number);
      } else if (!std::isnan(number)) {
        body(column + static_cast<int64_t>(number) - 1, 1.0);
      }
    }
  }

  ArrayPointer dense(const Shape &shape) const {
    ArrayPointer result = Array::create(shape);
    double *to = result->mutableData();
    forEachRowRange(context_, shape[0], shape[1], [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double *row = to + i * shape[1];
        std::fill(row, row + shape[1], 0.0);
        forEachCell(i, [&](int64_t column, double value) { row[column] = value; });
      }
    });
    return result;
  }

  ArrayPointer sparse(const Shape &shape) const {
    std::vector<int64_t> offsets(static_cast<size_t>(shape[0]) + 1);
    for (int64_t i = 0; i < shape[0]; ++i) {
      int64_t count = 0;
      forEachCell(i, [&](int64_t, double value) { count += value != 0; });
      offsets[i + 1] = offsets[i] + count;
    }
    ArrayPointer result = Array::createSparse(shape[0], shape[1], offsets.back());
    std::ranges::copy(offsets, result->mutableRowOffsets());
    int32_t *columns = result->mutableColumnIndices();
    double *values = result->mutableData();
    forEachRange(context_, shape[0], parallelGrain / std::max<int64_t>(1, std::ssize(encoders_)),
                 [&](int64_t begin, int64_t end) {
                   int64_t at = offsets[begin];
                   for (int64_t i = begin; i < end; ++i)
                     forEachCell(i, [&](int64_t column, double value) {
                       if (value == 0)
                         return;
                       columns[at] = static_cast<int32_t>(column);
                       values[at++] = value;
                     });
                 });
    return result;
  }

  ExecutionContext &context_;
  const Encoders &encoders_;
  const Array *embedding_;
  std::optional<std::vector<int64_t>> rows_; // those of the frame that are kept, if not all
  int64_t rowCount_;
  std::vector<ArrayPointer> numbers_; // by column
};

Value metadataOf(const Frame &frame, const Encoders &encoders) {
  int64_t rows = 0;
  for (const Encoder &encoder : encoders)
    rows = std::max(rows, encoder.codes.metadataRows());
  std::vector<ColumnPointer> columns;
  Frame::Replacements replacements;
  for (const Encoder &encoder : encoders) {
    FrameColumn::Texts texts(static_cast<size_t>(rows));
    for (int64_t i = 0; i < encoder.codes.metadataRows(); ++i)
      texts[i] = encoder.codes.metadataText(i);
    columns.push_back(std::make_shared<const FrameColumn>(std::move(texts)));
    replacements.push_back(encoder.codes.replacement());
  }
  bool hasReplacements =
      std::ranges::any_of(replacements, [](const auto &text) { return text.has_value(); });
  return Value(std::make_shared<const Frame>(rows, std::move(columns), frame.givenNames(),
                                             hasReplacements ? std::move(replacements)
                                                             : Frame::Replacements()));
}

} // namespace

// transformencode(target, spec): the matrix, and the metadata with which transformapply makes others.
void runTransformEncode(ExecutionContext &context, std::span<Value> operands,
                        std::span<Value> results) {
  const Frame &frame = frameAt(operands, 0);
  TransformSpec spec = specAt(operands, 1, frame, "transformencode");
  for (int64_t j = 0; j < frame.columns(); ++j)
    if (spec.columns[j].coding == ColumnCoding::WordEmbedding)
      throw Error(fmt::format(
          "transformencode: column {} needs an embedding, which only transformapply takes",
          frame.name(j)));
  Encoders encoders = encodersOf(context, frame, spec);
  results[0] = EncodedMatrix(context, frame, spec, encoders, nullptr).make();
  results[1] = metadataOf(frame, encoders);
}

// transformapply(target, spec, meta, embedding).
void runTransformApply(ExecutionContext &context, std::span<Value> operands,
                       std::span<Value> results) {
  const Frame &frame = frameAt(operands, 0), &metadata = frameAt(operands, 2);
  if (metadata.columns() != frame.columns())
    throw Error(fmt::format("transformapply: the metadata have {} columns, the frame {}",
                            metadata.columns(), frame.columns()));
  TransformSpec spec = specAt(operands, 1, frame, "transformapply");
  const Array *embedding =
      operands[3].isNothing() ? nullptr : &matrixOperand(operands[3], "transformapply");
  Encoders encoders = encodersFromMetadata(metadata, spec, embedding ? embedding->columns() : 0);
  for (const Encoder &encoder : encoders)
    if (encoder.transform.coding == ColumnCoding::WordEmbedding &&
        (!embedding || embedding->rows() < encoder.codes.count()))
      throw Error(
          fmt::format("transformapply: {} words need an embedding with as many rows, got {}",
                      encoder.codes.count(), embedding ? embedding->rows() : 0));
  results[0] = EncodedMatrix(context, frame, spec, encoders, embedding).make();
}

// transformdecode(target, spec, meta): each dummycoded column is the code with the largest cell.
void runTransformDecode(ExecutionContext &context, std::span<Value> operands,
                        std::span<Value> results) {
  const Array &matrix = matrixOperand(operands[0], "transformdecode");
  const Frame &metadata = frameAt(operands, 2);
  TransformSpec spec = specAt(operands, 1, metadata, "transformdecode");
  Encoders encoders = encodersFromMetadata(metadata, spec, 0);
  if (widthOf(encoders) != matrix.columns())
    throw Error(fmt::format("transformdecode: by its metadata, the matrix has {} columns, got {}",
                            widthOf(encoders), matrix.columns()));
  std::vector<int64_t> begins;
  int64_t begin = 0;
  for (const Encoder &encoder : encoders) {
    begins.push_back(begin);
    begin += encoder.width;
  }
  std::vector<ColumnPointer> columns(encoders.size());
  forEachColumn(context, metadata.columns(), [&](int64_t j) {
    const Encoder &encoder = encoders[j];
    auto column = std::make_shared<FrameColumn>(encoder.codes.decodedType(), matrix.rows());
    for (int64_t i = 0; i < matrix.rows(); ++i) {
      const double *cells = matrix.data() + i * matrix.columns() + begins[j];
      double code = cells[0];
      if (encoder.transform.dummycode) {
        const double *largest = std::max_element(cells, cells + encoder.width);
        code = encoder.width > 0 && *largest > 0 ? static_cast<double>(largest - cells + 1) : NAN;
      }
      column->set(i, encoder.codes.decode(code));
    }
    columns[j] = std::move(column);
  });
  results[0] = Value(
      std::make_shared<const Frame>(matrix.rows(), std::move(columns), metadata.givenNames()));
}

// transformcolmap(target, spec): for each column of the frame its number, and the first and last column of the matrix.
void runTransformColumnMap(ExecutionContext &, std::span<Value> operands,
                           std::span<Value> results) {
  const Frame &metadata = frameAt(operands, 0);
  Encoders encoders =
      encodersFromMetadata(metadata, specAt(operands, 1, metadata, "transformcolmap"), 1);
  ArrayPointer map = Array::create({std::ssize(encoders), 3});
  double *row = map->mutableData();
  int64_t begin = 1, number = 1;
  for (const Encoder &encoder : encoders) {
    *row++ = static_cast<double>(number++);
    *row++ = static_cast<double>(begin);
    *row++ = static_cast<double>(begin += encoder.width) - 1;
  }
  results[0] = ArrayReference(std::move(map));
}

// getCategoricalMask(meta, spec): 1 for columns of the matrix that are codes.
void runTransformMask(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Frame &metadata = frameAt(operands, 0);
  Encoders encoders =
      encodersFromMetadata(metadata, specAt(operands, 1, metadata, "getCategoricalMask"), 1);
  ArrayPointer mask = Array::create({1, widthOf(encoders)});
  double *cell = mask->mutableData();
  for (const Encoder &encoder : encoders) {
    bool isCode = encoder.transform.coding != ColumnCoding::PassThrough &&
                  encoder.transform.coding != ColumnCoding::WordEmbedding;
    cell = std::fill_n(cell, encoder.width, isCode ? 1.0 : 0.0);
  }
  results[0] = ArrayReference(std::move(mask));
}

} // namespace tokamak::runtime
