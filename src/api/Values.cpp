#include "api/Handles.h"

#include <cstring>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::api;
using runtime::Array;
using runtime::Frame;
using runtime::FrameColumn;
using runtime::FrameType;
using runtime::Value;

static_assert(static_cast<int>(ElementType::Bool) == TOKAMAK_BOOL);
static_assert(runtime::Shape::maxRank == TOKAMAK_MOST_DIMENSIONS);

//===- ownership -----------------------------------------------------------------------------===//

tokamak_value::~tokamak_value() {
  for (tokamak_value *element : elements)
    tokamak_value_free(element);
  delete frame.load();
}

tokamak_value *tokamak_value_share(const tokamak_value *value) {
  value->references.fetch_add(1, std::memory_order_relaxed);
  return const_cast<tokamak_value *>(value);
}

void tokamak_value_free(const tokamak_value *value) {
  if (value && value->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete value;
}

// Functions on lists call themselves for the lists in them.
static void checkDepth(int depth) {
  constexpr int deepest = 1000;
  if (depth > deepest)
    throw Error(fmt::format("lists are nested deeper than {} times", deepest));
}

static int depthOf(const std::vector<tokamak_value *> &elements) {
  int depth = 0;
  for (const tokamak_value *element : elements)
    depth = std::max(depth, element->depth);
  return depth + 1;
}

tokamak_value *api::newValue(Value value, int depth) {
  if (!value.isList()) {
    // Views of rows begin elsewhere.
    if (value.isArray() && value.array()->isSparse() && value.array()->rowOffsets()[0] != 0)
      value = value.array()->copy();
    return new tokamak_value(std::move(value));
  }
  checkDepth(depth);
  std::shared_ptr<const runtime::List> list = value.list();
  value = Value();
  bool isSole = list.use_count() == 1;
  auto made = std::make_unique<tokamak_value>(Value());
  made->isList = true;
  made->names = list->names;
  made->elements.reserve(list->elements.size());
  for (const Value &element : list->elements)
    made->elements.push_back(
        newValue(isSole ? std::move(const_cast<Value &>(element)) : element, depth + 1));
  made->depth = depthOf(made->elements);
  return made.release();
}

Value api::runtimeValue(const tokamak_value &value) {
  if (!value.isList)
    return value.value;
  auto list = std::make_shared<runtime::List>();
  list->names = value.names;
  for (const tokamak_value *element : value.elements)
    list->elements.push_back(runtimeValue(*element));
  return Value(std::shared_ptr<const runtime::List>(std::move(list)));
}

tokamak_kind tokamak_value_kind(const tokamak_value *value) {
  const Value &held = value->value;
  if (value->isList)
    return TOKAMAK_LIST;
  if (held.isBoolean())
    return TOKAMAK_BOOLEAN;
  if (held.isInteger())
    return TOKAMAK_INTEGER;
  if (held.isDouble())
    return TOKAMAK_DOUBLE;
  if (held.isString())
    return TOKAMAK_TEXT;
  return held.isFrame() ? TOKAMAK_FRAME : TOKAMAK_ARRAY;
}

//===- scalars -------------------------------------------------------------------------------===//

tokamak_value *tokamak_value_of_boolean(int value) { return new tokamak_value(Value(value != 0)); }
tokamak_value *tokamak_value_of_integer(int64_t value) { return new tokamak_value(Value(value)); }
tokamak_value *tokamak_value_of_double(double value) { return new tokamak_value(Value(value)); }

tokamak_error *tokamak_value_of_text(const char *text, size_t bytes, tokamak_value **value) {
  return guarded(nullptr, Stage::Preparing,
                 [&] { *value = new tokamak_value(Value(std::string(text, bytes))); });
}

static const Value &expect(const tokamak_value *value, bool isRight, const char *what) {
  if (!isRight)
    throw Error(fmt::format("expected {}, got {}", what,
                            value->isList ? "a list" : value->value.describe()));
  return value->value;
}

tokamak_error *tokamak_value_double(const tokamak_value *value, double *number) {
  return guarded(nullptr, Stage::Preparing,
                 [&] { *number = expect(value, value->value.isNumber(), "a number").asDouble(); });
}

tokamak_error *tokamak_value_integer(const tokamak_value *value, int64_t *number) {
  return guarded(nullptr, Stage::Preparing,
                 [&] { *number = expect(value, value->value.isNumber(), "a number").asInteger(); });
}

tokamak_error *tokamak_value_text(const tokamak_value *value, const char **text, size_t *bytes) {
  return guarded(nullptr, Stage::Preparing, [&] {
    const std::string &held = expect(value, value->value.isString(), "a text").text();
    *text = held.c_str();
    if (bytes)
      *bytes = held.size();
  });
}

//===- arrays --------------------------------------------------------------------------------===//

// Calls `release` when the last holder is gone.
static std::shared_ptr<const void> ownerOf(void (*release)(void *), void *owner) {
  if (!release)
    return nullptr;
  return {owner, release};
}

static ElementType elementType(tokamak_type type) {
  if (type < TOKAMAK_F64 || type > TOKAMAK_BOOL)
    throw Error(fmt::format("there is no type of cells {}", static_cast<int>(type)));
  return static_cast<ElementType>(type);
}

tokamak_error *tokamak_value_of_array(tokamak_type type, int32_t rank, const int64_t *sizes,
                                      const void *cells, void (*release)(void *), void *owner,
                                      tokamak_value **value) {
  return guarded(nullptr, Stage::Preparing, [&] {
    std::shared_ptr<const void> held = ownerOf(release, owner);
    if (rank < 0 || rank > TOKAMAK_MOST_DIMENSIONS)
      throw Error(
          fmt::format("an array has 0 to {} dimensions, not {}", TOKAMAK_MOST_DIMENSIONS, rank));
    runtime::Shape shape(std::span(sizes, static_cast<size_t>(rank)));
    runtime::ArrayReference array =
        Array::over(shape, elementType(type), static_cast<const std::byte *>(cells), held);
    *value = new tokamak_value(Array::aligned(std::move(array)));
  });
}

static void checkEntries(int64_t rows, int64_t columns, const int64_t *offsets,
                         const int32_t *indices) {
  if (offsets[0] != 0)
    throw Error(fmt::format("sparse matrix: the first offset is 0, not {}", offsets[0]));
  for (int64_t row = 0; row < rows; ++row)
    if (offsets[row + 1] < offsets[row])
      throw Error(fmt::format("sparse matrix: row {} ends before it begins", row));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t entry = offsets[row]; entry < offsets[row + 1]; ++entry) {
      if (indices[entry] < 0 || indices[entry] >= columns)
        throw Error(fmt::format("sparse matrix: row {} has an entry in column {} of {}", row,
                                indices[entry], columns));
      if (entry > offsets[row] && indices[entry] <= indices[entry - 1])
        throw Error(fmt::format("sparse matrix: the columns {}, {} of row {} don't ascend",
                                indices[entry - 1], indices[entry], row));
    }
  }
}

tokamak_error *tokamak_value_of_csr(tokamak_type type, int64_t rows, int64_t columns,
                                    const int64_t *offsets, const int32_t *indices,
                                    const void *cells, void (*release)(void *), void *owner,
                                    tokamak_value **value) {
  return guarded(nullptr, Stage::Preparing, [&] {
    std::shared_ptr<const void> held = ownerOf(release, owner);
    if (!mayBeSparse(elementType(type)))
      throw Error("the cells of a sparse matrix are f64 or f32");
    Array::checkRoomForSparse(rows, columns);
    checkEntries(rows, columns, offsets, indices);
    runtime::ArrayReference array =
        Array::overSparse({rows, columns}, elementType(type), offsets, indices,
                          static_cast<const std::byte *>(cells), held);
    *value = new tokamak_value(std::move(array));
  });
}

static tokamak_array described(const Array &array, bool isUnique) {
  tokamak_array result = {};
  result.type = static_cast<tokamak_type>(array.elementType());
  result.rank = array.shape().rank();
  std::copy_n(array.shape().sizes().begin(), result.rank, result.sizes);
  result.cells = array.rawBytes();
  result.offsets = array.rowOffsets();
  result.indices = array.columnIndices();
  result.is_unique = isUnique;
  return result;
}

tokamak_error *tokamak_value_array(const tokamak_value *value, tokamak_array *array) {
  return guarded(nullptr, Stage::Preparing, [&] {
    const runtime::ArrayReference &held = expect(value, value->value.isArray(), "an array").array();
    bool isUnique = !held->isRepeated() && held.use_count() == 1 && held->ownsWholeBuffer();
    // The value keeps a converted one.
    *array = described(*Array::asDense(held), isUnique && !held->isSparse());
  });
}

tokamak_error *tokamak_value_stored(const tokamak_value *value, tokamak_array *array) {
  return guarded(nullptr, Stage::Preparing, [&] {
    const runtime::ArrayReference &held = expect(value, value->value.isArray(), "an array").array();
    bool isUnique = !held->isRepeated() && held.use_count() == 1 && held->ownsWholeBuffer();
    *array = described(*held, isUnique);
  });
}

//===- lists ---------------------------------------------------------------------------------===//

tokamak_error *tokamak_value_of_list(size_t count, const tokamak_value *const *elements,
                                     const char *const *names, tokamak_value **value) {
  return guarded(nullptr, Stage::Preparing, [&] {
    auto made = std::make_unique<tokamak_value>(Value());
    made->isList = true;
    made->elements.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      made->elements.push_back(tokamak_value_share(elements[i]));
      if (names)
        made->names.emplace_back(names[i] ? names[i] : "");
    }
    made->depth = depthOf(made->elements);
    checkDepth(made->depth);
    *value = made.release();
  });
}

size_t tokamak_value_count(const tokamak_value *list) { return list->elements.size(); }

const tokamak_value *tokamak_value_element(const tokamak_value *list, size_t index) {
  return index < list->elements.size() ? list->elements[index] : nullptr;
}

const char *tokamak_value_name(const tokamak_value *list, size_t index) {
  return index < list->names.size() ? list->names[index].c_str() : "";
}

//===- frames --------------------------------------------------------------------------------===//

template <typename Cells> static FrameColumn numbers(const tokamak_column &column, int64_t rows) {
  const auto *cells = static_cast<const typename Cells::value_type *>(column.cells);
  return FrameColumn(Cells(cells, cells + rows));
}

static FrameColumn columnOf(const tokamak_column &column, int64_t rows) {
  switch (column.kind) {
  case TOKAMAK_BOOLEAN:
    return numbers<FrameColumn::Booleans>(column, rows);
  case TOKAMAK_INTEGER:
    return numbers<FrameColumn::Integers>(column, rows);
  case TOKAMAK_DOUBLE:
    return numbers<FrameColumn::Doubles>(column, rows);
  case TOKAMAK_TEXT: {
    FrameColumn::Texts texts(static_cast<size_t>(rows));
    const char *bytes = static_cast<const char *>(column.cells);
    for (int64_t row = 0; row < rows; ++row)
      if (!column.missing || !column.missing[row])
        texts[row].emplace(bytes + column.offsets[row],
                           static_cast<size_t>(column.offsets[row + 1] - column.offsets[row]));
    return FrameColumn(std::move(texts));
  }
  default:
    throw Error(fmt::format("frame: column '{}' has no kind of cells", column.name));
  }
}

tokamak_error *tokamak_value_of_frame(int64_t rows, size_t count, const tokamak_column *columns,
                                      tokamak_value **value) {
  return guarded(nullptr, Stage::Preparing, [&] {
    std::vector<runtime::ColumnPointer> made;
    std::vector<std::string> names;
    const char *next = reinterpret_cast<const char *>(columns);
    for (size_t i = 0; i < count; ++i) {
      tokamak_column column = {};
      size_t size = reinterpret_cast<const tokamak_column *>(next)->size;
      if (size < sizeof(size_t))
        throw Error(fmt::format("frame: column {} has no size", i));
      std::memcpy(&column, next, std::min(size, sizeof column));
      next += size;
      made.push_back(std::make_shared<const FrameColumn>(columnOf(column, rows)));
      names.emplace_back(column.name ? column.name : fmt::format("C{}", i + 1));
    }
    *value = new tokamak_value(
        Value(std::make_shared<const Frame>(rows, std::move(made), std::move(names))));
  });
}

int64_t tokamak_frame_rows(const tokamak_value *frame) {
  return frame->value.isFrame() ? frame->value.frame()->rows() : 0;
}

size_t tokamak_frame_columns(const tokamak_value *frame) {
  return frame->value.isFrame() ? static_cast<size_t>(frame->value.frame()->columns()) : 0;
}

static ShownFrame::Column shown(const Frame &frame, int64_t index) {
  ShownFrame::Column column{.name = frame.name(index), .bytes = {}, .offsets = {}, .missing = {}};
  const FrameColumn::Texts *cells = frame.column(index)->texts();
  if (!cells)
    return column;
  column.offsets.push_back(0);
  for (const std::optional<std::string> &cell : *cells) {
    column.bytes += cell.value_or("");
    column.offsets.push_back(static_cast<int64_t>(column.bytes.size()));
    column.missing.push_back(!cell);
  }
  return column;
}

static ShownFrame &shownFrameOf(const tokamak_value &value) {
  ShownFrame *known = value.frame.load();
  if (!known) {
    auto made = std::make_unique<ShownFrame>();
    if (value.frame.compare_exchange_strong(known, made.get()))
      known = made.release();
  }
  return *known;
}

tokamak_error *tokamak_frame_column(const tokamak_value *frame, size_t index,
                                    tokamak_column *column) {
  return guarded(nullptr, Stage::Preparing, [&] {
    const Frame &held = *expect(frame, frame->value.isFrame(), "a frame").frame();
    if (index >= static_cast<size_t>(held.columns()))
      throw Error(fmt::format("frame: there is no column {} of {}", index, held.columns()));
    const FrameColumn &cells = *held.column(static_cast<int64_t>(index));
    tokamak_column result = {};
    ShownFrame &shownFrame = shownFrameOf(*frame);
    std::lock_guard lock(shownFrame.mutex);
    auto [place, isNew] = shownFrame.columns.try_emplace(index);
    if (isNew)
      place->second = shown(held, static_cast<int64_t>(index));
    const ShownFrame::Column &texts = place->second;
    result.name = texts.name.c_str();
    switch (cells.type()) {
    case FrameType::String:
      result.kind = TOKAMAK_TEXT;
      result.cells = texts.bytes.c_str();
      result.offsets = texts.offsets.data();
      result.missing = texts.missing.data();
      break;
    case FrameType::Double:
      result.kind = TOKAMAK_DOUBLE;
      result.cells = cells.doubles()->data();
      break;
    case FrameType::Integer:
      result.kind = TOKAMAK_INTEGER;
      result.cells = cells.integers()->data();
      break;
    case FrameType::Boolean:
      result.kind = TOKAMAK_BOOLEAN;
      result.cells = cells.booleans()->data();
      break;
    }
    if (column->size < sizeof(size_t))
      throw Error("frame: the column to fill has no size");
    result.size = std::min(column->size, sizeof result);
    std::memcpy(column, &result, result.size);
  });
}
