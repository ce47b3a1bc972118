// What the table of natives says (base/Natives.def), compared with what the dialect has and with
// what the natives do: every row is reached.
#include "reference/TextProgram.h"

#include "ir/tok/InferFacts.h"
#include "ir/tok/NativeFacts.h"
#include "runtime/natives/LateFunctions.h"
#include "runtime/natives/NativeTesting.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

using namespace tokamak;
using namespace tokamak::reference;
using runtime::ArrayPointer;

namespace {

struct Sample {
  NativeKind kind;
  std::vector<Value> operands;
};

Value integer(int64_t value) { return value; }

// Every function returns its first argument.
class Identity : public runtime::LateFunctions {
public:
  std::vector<Value> call(runtime::NamedCall call, runtime::ExecutionContext &) override {
    return {call.arguments.front()};
  }
};

std::vector<Value> call(NativeKind kind, std::vector<Value> operands) {
  const NativeRow &row = rowOf(kind);
  std::vector<Value> results(row.signature.results.size());
  std::ostringstream output;
  runtime::ExecutionContext context;
  context.output = &output;
  context.seed = 7;
  Identity functions;
  context.functions = &functions;
  runtime::findNative(row.name)->function(context, operands, results);
  return results;
}

std::string fileOfTest() {
  return std::filesystem::temp_directory_path() /
         ("tokamak-natives-test-" + std::to_string(getpid()) + ".csv");
}

// With metadata for transformmeta.
std::string folderOfTest() { return fileOfTest() + ".metadata"; }

// Operands for every native.
std::vector<Sample> samples() {
  using K = NativeKind;
  std::filesystem::create_directories(folderOfTest() + "/Recode");
  std::ofstream(folderOfTest() + "/column.names") << "c";
  std::ofstream(folderOfTest() + "/Recode/c.map") << "\"red\",1,1";
  std::ofstream(fileOfTest() + ".empty"); // a database without tables
  Value none, x = matrix(4, 3, {1, 2, 0, -1, 5, 3, 0, 0, 0, 2, 2, 7}),
              w = matrix(3, 4, std::vector<double>(12, 2));
  Value square = matrix(3, 3, {4, 1, 0, 1, 5, 2, 0, 2, 6}), column = matrix(4, 1, {2, 1, 2, 3}),
        row = matrix(1, 3, {1, 2, 3}), right = matrix(3, 2, {1, 2, 3, 4, 5, 6});
  Value frame = call(K::Frame, {"7", integer(2), integer(2), "string"}).front();
  Value schema = call(K::FrameTypes, {frame}).front();
  Value recode = R"({"ids": true, "recode": [1, 2]})";
  std::vector<Value> encoded = call(K::TransformEncode, {frame, recode});
  Value list = call(K::List, {"a,b", x, 2.0}).front(), single = call(K::List, {none, x}).front(),
        names = call(K::List, {none, "left", "right"}).front();
  Value leaf = call(K::List, {none, "(C) x"}).front(),
        product = call(K::List, {none, "(I) ba+*", leaf, leaf, x, w}).front(),
        lineage = call(K::List, {none, "(I) lineage", product}).front();
  Value number = 2.0, one = integer(1), two = integer(2), yes = true, no = false;
  Value repeated = runtime::Array::repeated({4, 3}, ElementType::F64, 2.0);
  Value boxes =
            call(K::View, {matrix(8, 4, std::vector<double>(32, 1)), two, integer(4), integer(4)})
                .front(),
        scores =
            call(K::View, {matrix(2, 4, std::vector<double>(8, 1)), two, one, integer(4)}).front();
  std::vector<Value> read(17), write(11);
  write[0] = x, write[1] = fileOfTest(), write[2] = "csv";
  read[0] = fileOfTest(), read[1] = "csv";
  return {
      {K::Matmul, {x, w}},
      {K::MatmulTransposedLeft, {x, x}},
      {K::MatmulTransposedRight, {x, x}},
      {K::Outer, {column, row, "+"}},
      {K::Transpose, {x}},
      {K::Diag, {square}},
      {K::Diag, {column}},
      {K::Rev, {x}},
      {K::Roll, {x, one}},
      {K::Reshape, {x, two, integer(6), yes}},
      {K::View, {x, two, integer(6)}},
      {K::Expand, {row, integer(5), integer(3)}},
      {K::Permute, {x, two, one}},
      {K::StridedSlice, {x, integer(4), two, integer(-2), one, integer(3), one}},
      {K::Take, {x, matrix(1, 2, {3, 1}), two}},
      {K::Windows,
       {x, 0.0, two, two, integer(0), two, one, one, integer(3), one, one, one, one, one}},
      {K::Pool,
       {x, "max", two, two, integer(0), two, one, one, integer(3), one, one, one, one, one}},
      {K::Convolve,
       {runtime::Array::create({1, 1, 4}), runtime::Array::create({2, 1, 2}), one, integer(3), two,
        one, one, one, one}},
      {K::Join, {two, x, x, column}},
      {K::Bitcast, {x, "f64", "i64"}},
      {K::Scatter, {x, matrix(2, 3, {1, 2, 3, 4, 5, 6}), matrix(2, 1, {4, 1})}},
      {K::Slice, {x, two, integer(3), one, two}},
      {K::Insert, {x, matrix(2, 1, {8, 9}), two, integer(3), one, one}},
      {K::Cbind, {x, column}},
      {K::Rbind, {x, row, row}},
      {K::LowerTri, {square, yes, yes}},
      {K::UpperTri, {square, yes, no}},
      {K::Fill, {number, integer(2), integer(5)}},
      {K::ParseMatrix, {"1 2 3 4", two, two}},
      {K::Seq, {1.0, 4.0, none}},
      {K::Rand, {two, integer(3), 0.0, 1.0, 1.0, integer(5), "uniform", 1.0}},
      {K::Sample, {integer(10), integer(3), yes, integer(5)}},
      {K::RepeatedCell, {repeated}},
      {K::Replace, {x, 0.0, 1.0}},
      {K::RemoveEmpty, {x, "rows", none, yes}},
      {K::RemoveEmpty, {x, "cols", none, yes}},
      {K::Order, {x, one, no, no}},
      {K::Order, {x, one, no, yes}},
      {K::TopPlaces, {x, two, yes}},
      {K::NonzeroPlaces, {x}},
      {K::RowRanks, {x}},
      {K::SortedPlaces, {x, call(K::View, {column, integer(4)}).front(), no}},
      {K::CheckedIndices, {call(K::NonzeroPlaces, {x}).front(), integer(20), yes}},
      {K::ScatterReduce, {x, matrix(2, 3, {1, 2, 3, 4, 5, 6}), matrix(2, 1, {4, 4}), "add"}},
      {K::SeparateBoxes, {boxes, scores, two, 0.5, 0.0, no}},
      {K::Unique, {x, "r"}},
      {K::CountDistinct, {x, "rc"}},
      {K::Contains, {x, number}},
      {K::Table, {column, column, none, integer(4), integer(5)}},
      {K::Aggregate, {column, column, "sum", none, none, none}},
      {K::Cumsum, {x}},
      {K::Cumprod, {x}},
      {K::Cumprodcells, {x}},
      {K::Cummin, {x}},
      {K::Cummax, {x}},
      {K::Rowcumsum, {x}},
      {K::Cumsumprod, {right}},
      {K::Trace, {square}},
      {K::Moment, {column, none, two}},
      {K::Cov, {column, column, none}},
      {K::InterQuartileMean, {column, none}},
      {K::Median, {column, none}},
      {K::Quantile, {column, none, 0.5}},
      {K::Cdf, {"normal", 0.5, none, none, none, none, none, none, none}},
      {K::Icdf, {"normal", 0.5, none, none, none, none, none, none, none}},
      {K::Solve, {x, column}},
      {K::Inv, {square}},
      {K::Det, {square}},
      {K::Determinants, {boxes}},
      {K::Cholesky, {square}},
      {K::Lu, {square}},
      {K::Qr, {x}},
      {K::Eigen, {square}},
      {K::Svd, {x}},
      {K::List, {none, x}},
      {K::AffineOperands, {lineage}},
      {K::Lineage, {lineage}},
      {K::ListElement, {single}},
      {K::ListInsert, {list, number, one}},
      {K::ListRemove, {list, one}},
      {K::ListSlice, {list, "b"}},
      {K::Frame, {"7", two, two, "string"}},
      {K::FrameApplySchema, {frame, schema}},
      {K::FrameDetectSchema, {frame}},
      {K::FrameDropInvalidLength, {frame, matrix(1, 2, {5, 5})}},
      {K::FrameDropInvalidType, {frame, schema}},
      {K::FrameCompare, {frame, "7", "=="}},
      {K::FrameMap, {frame, "x -> x.length()", integer(0)}},
      {K::FrameNames, {frame}},
      {K::FrameRemoveEmpty, {frame, "rows", none, yes}},
      {K::FrameReplace, {frame, "7", "8"}},
      {K::FrameReplicate, {frame, two}},
      {K::FrameSwapValues, {frame, schema}},
      {K::FrameTypes, {frame}},
      {K::FrameWithNames, {frame, names}},
      {K::Tokenize, {frame, R"({"algo": "split", "out": "count", "tokenize_col": 1})", none}},
      {K::TransformEncode, {frame, recode}},
      {K::TransformApply, {frame, recode, encoded[1], none}},
      {K::TransformDecode, {encoded[0], recode, encoded[1]}},
      {K::TransformColumnMap, {encoded[1], recode}},
      {K::TransformMask, {encoded[1], recode}},
      {K::TransformMetadata, {R"({"recode": ["c"]})", folderOfTest()}},
      {K::Sql, {"jdbc:sqlite:" + fileOfTest() + ".empty", "", "", "SELECT 1 AS one"}},
      {K::Fourier, {x, none, no, yes}},
      {K::ShortTimeFourier, {x, x, two, one}},
      {K::Eval, {"f", "script.dml", ",", x}},
      {K::EvalList, {"f", "script.dml", ",", list}},
      {K::IsAssigned, {x}},
      {K::Write, write},
      {K::Read, read},
      {K::Print, {x}},
      {K::ToString, {x, none, none, none, none, none, none}},
      {K::Stop, {"enough"}},
      {K::Raise, {"wrong"}},
      {K::Assert, {yes}},
      {K::Time, {}},
      {K::NumberBesideMatrix, {number, "+"}},
  };
}

class NativesTest : public ::testing::Test {
protected:
  NativesTest() : builder_(&context_) {
    context_.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
    module_ = mlir::ModuleOp::create(builder_.getUnknownLoc());
    builder_.setInsertionPointToEnd(module_->getBody());
  }
  ~NativesTest() override {
    std::filesystem::remove(fileOfTest());
    std::filesystem::remove(fileOfTest() + ".empty");
    std::filesystem::remove_all(folderOfTest());
  }

  mlir::Type typeOf(const Value &value) {
    if (value.isArray())
      return tok::matrixType(&context_);
    if (value.isList())
      return tok::ListType::get(&context_);
    if (value.isFrame())
      return tok::FrameType::get(&context_);
    if (value.isString())
      return tok::StringType::get(&context_);
    if (value.isNothing())
      return builder_.getNoneType();
    if (value.isDouble())
      return builder_.getF64Type();
    return value.isInteger() ? mlir::Type(builder_.getI64Type()) : builder_.getI1Type();
  }

  tok::Facts factsOf(const Value &value) {
    tok::Facts facts;
    if (value.isArray())
      for (int64_t size : value.array()->shape().sizes())
        facts.dims.push_back(Size::constant(size));
    if (value.isInteger())
      facts.integer = Size::constant(value.asInteger());
    if (value.isInteger() || value.isBoolean())
      facts.value = builder_.getIntegerAttr(typeOf(value), value.asInteger());
    if (value.isString())
      facts.value = builder_.getStringAttr(value.text());
    return facts;
  }

  // The operation that the native executes: one of its own, or tok.native.
  mlir::Operation *operationOf(const NativeRow &row, const std::vector<Value> &operands,
                               const std::vector<Value> &results) {
    std::vector<mlir::Value> values;
    for (const Value &operand : operands)
      values.push_back(
          builder_.create<tok::UndefOp>(builder_.getUnknownLoc(), typeOf(operand), "operand"));
    std::vector<mlir::Type> types;
    for (const Value &result : results)
      types.push_back(typeOf(result));
    std::string name = "tok." + std::string(row.name);
    auto own = mlir::RegisteredOperationName::lookup(name, &context_);
    if (!own || !own->hasInterface<tok::NativeOpInterface>())
      return builder_.create<tok::CallNativeOp>(builder_.getUnknownLoc(), types, row.name, values);
    mlir::OperationState state(builder_.getUnknownLoc(), name, values, types);
    return builder_.create(state);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

TEST_F(NativesTest, haveARowForEachOfTheirOperations) {
  int natives = 0;
  for (mlir::RegisteredOperationName name : context_.getRegisteredOperations()) {
    if (!name.hasInterface<tok::NativeOpInterface>() || name.getStringRef() == "tok.native")
      continue;
    ++natives;
    EXPECT_NE(findNativeRow(std::string_view(name.stripDialect())), nullptr)
        << name.getStringRef().str();
  }
  EXPECT_GT(natives, 25);
  EXPECT_EQ(findNativeRow("nothing"), nullptr);
}

// Sizes of results, signatures and effects.
TEST_F(NativesTest, doWhatTheirRowsSay) {
  std::set<NativeKind> reached;
  for (const Sample &sample : samples()) {
    const NativeRow &row = rowOf(sample.kind);
    reached.insert(sample.kind);
    std::vector<Value> results;
    bool fails = sample.kind == NativeKind::Stop || sample.kind == NativeKind::Raise;
    if (fails)
      EXPECT_THROW(call(sample.kind, sample.operands), Error);
    else
      results = call(sample.kind, sample.operands);

    mlir::Operation *operation = operationOf(row, sample.operands, results);
    EXPECT_EQ(tok::nativeRowOf(operation), &row);
    EXPECT_TRUE(succeeded(tok::verifyNative(operation))) << row.name;
    bool hasNoEffect = row.effect == NativeEffect::Total || row.effect == NativeEffect::Fallible;
    EXPECT_EQ(mlir::isMemoryEffectFree(operation), hasNoEffect) << row.name;
    EXPECT_EQ(mlir::isPure(operation), row.effect == NativeEffect::Total) << row.name;

    llvm::SmallVector<tok::Facts> operands, facts(results.size());
    for (const Value &operand : sample.operands)
      operands.push_back(factsOf(operand));
    tok::inferFacts(operation, operands, facts);
    bool isSizeKnown = !row.hasSizesFromCells() && row.shape != NativeShape::SizesAt2;
    for (auto [fact, result] : llvm::zip(facts, results)) {
      if (!result.isArray())
        continue;
      std::span<const int64_t> sizes = result.array()->shape().sizes();
      EXPECT_TRUE(fact.dims.empty() || fact.dims.size() == sizes.size()) << row.name;
      EXPECT_TRUE(!isSizeKnown || !fact.dims.empty()) << row.name;
      for (auto [dimension, size] : llvm::enumerate(fact.dims))
        EXPECT_TRUE(size.isConstant(sizes[dimension]) || (size.isUnknown() && !isSizeKnown))
            << row.name << ": " << size.text() << " is " << sizes[dimension];
    }
  }
  for (const NativeRow &row : allNativeRows())
    EXPECT_TRUE(reached.contains(row.kind)) << row.name << " has no sample";
}

// The first two rows of operands that are split, and the others.
std::vector<Value> partOf(const Sample &sample, bool first) {
  const Value &whole = sample.operands.front();
  int64_t rows = whole.array()->rows();
  std::vector<Value> operands = sample.operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    bool isSplit = operands[i].isArray() && operands[i].array()->rows() == rows &&
                   (i == 0 || rowOf(sample.kind).rows != RowSplit::First);
    if (isSplit)
      operands[i] = Value(operands[i].array()->rowView(first ? 0 : 2, first ? 2 : rows));
  }
  return operands;
}

TEST_F(NativesTest, areSplitByRowsAsTheirRowsSay) {
  std::set<NativeKind> split;
  for (const Sample &sample : samples()) {
    const NativeRow &row = rowOf(sample.kind);
    if (row.rows == RowSplit::Whole)
      continue;
    split.insert(sample.kind);
    Value upper = call(sample.kind, partOf(sample, true)).front(),
          lower = call(sample.kind, partOf(sample, false)).front();
    Value joined;
    if (row.rows == RowSplit::Sums) {
      ArrayPointer sum = runtime::Array::asDense(upper.array())->copy();
      runtime::ArrayReference other = runtime::Array::asDense(lower.array());
      for (int64_t i = 0; i < sum->cells(); ++i)
        sum->mutableData()[i] += other->data()[i];
      joined = Value(sum);
    } else {
      joined = call(NativeKind::Rbind, {upper, lower}).front();
    }
    EXPECT_EQ(shown(joined), shown(call(sample.kind, sample.operands).front())) << row.name;
  }
  for (const NativeRow &row : allNativeRows())
    EXPECT_EQ(split.contains(row.kind), row.rows != RowSplit::Whole) << row.name;
}

TEST_F(NativesTest, areRefusedOperandsThatAreNotInTheirSignature) {
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(&context_, [&](mlir::Diagnostic &diagnostic) {
    complaint = diagnostic.str();
    return mlir::success();
  });
  Value x = matrix(2, 1, {1, 2}), none;
  auto complaintAbout = [&](NativeKind kind, const std::vector<Value> &operands,
                            const std::vector<Value> &results) {
    complaint.clear();
    EXPECT_TRUE(failed(tok::verifyNative(operationOf(rowOf(kind), operands, results))));
    return complaint;
  };
  EXPECT_EQ(complaintAbout(NativeKind::Rev, {x, x}, {x}),
            "rev takes 1 operands and gives 1 results, not 2 and 1");
  EXPECT_EQ(complaintAbout(NativeKind::Rev, {2.0}, {x}),
            "operand 1 of rev is an array, not of 'f64'");
  EXPECT_EQ(complaintAbout(NativeKind::Rev, {none}, {x}),
            "operand 1 of rev is an array, not of 'none'");
  EXPECT_EQ(complaintAbout(NativeKind::Rev, {x}, {2.0}),
            "result 1 of rev is an array, not of 'f64'");
}

} // namespace
