#include "frontend/dml/Builtins.h"
#include "frontend/dml/LanguageStatus.h"

#include "base/CellOperators.h"
#include "ir/tok/TokDialect.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::frontend;

// All native builtins of SystemDS, with their aliases.
static constexpr llvm::StringLiteral languageBuiltins =
    "read readMM write print stop assert sql federated matrix frame tensor rand seq sample list "
    "time nrow ncol length "
    "exists typeof colnames as.scalar castAsScalar as.matrix as.frame as.list as.double as.integer "
    "as.logical "
    "as.boolean t diag rev roll cbind append rbind order removeEmpty replace lower.tri upper.tri "
    "table ctable outer "
    "unique freplicate sum mean avg min pmin max pmax prod var sd trace tr colSums colMeans "
    "colMins colMaxs colProds "
    "colVars colSds rowSums rowMeans rowMins rowMaxs rowProds rowVars rowSds rowIndexMax "
    "rowIndexMin cumsum rowcumsum "
    "cumprod cummin cummax cumsumprod countDistinct countDistinctApprox rowCountDistinct "
    "colCountDistinct "
    "rowCountDistinctApprox colCountDistinctApprox aggregate groupedAggregate moment centralMoment "
    "cov "
    "quantile "
    "median interQuantile "
    "interQuartileMean cdf icdf pnorm pexp pchisq pf pt qnorm qexp qchisq qf qt abs sign sqrt exp "
    "log sin cos tan asin "
    "acos atan sinh cosh tanh round floor ceil ceiling is.na isNA is.nan isNaN is.infinite isInf "
    "ifelse xor ppred "
    "bitwAnd bitwOr bitwXor bitwShiftL bitwShiftR contains solve inv inverse det cholesky qr lu "
    "eigen svd fft ifft "
    "fft_linearized ifft_linearized stft sqrtMatrixJava einsum rowClassMeet rcm conv2d "
    "conv2d_backward_filter "
    "conv2d_backward_data max_pool avg_pool max_pool_backward avg_pool_backward bias_add "
    "bias_multiply batch_norm2d "
    "batch_norm2d_backward lstm lstm_backward transformencode transformapply transformdecode "
    "transformcolmap "
    "transformmeta tokenize map detectSchema applySchema dropInvalidType dropInvalidLength "
    "valueSwap "
    "getCategoricalMask remove eval evalList paramserv autoDiff lineage toString compress "
    "decompress "
    "quantize_compress local range";

TEST(Builtins, knowsEveryNameOfTheLanguage) {
  llvm::SmallVector<llvm::StringRef> names;
  languageBuiltins.split(names, ' ');
  for (llvm::StringRef name : names)
    EXPECT_NE(findBuiltin(name), nullptr) << name.str();
}

TEST(Builtins, namesAreUnique) {
  std::vector<std::string> names = builtinNames();
  llvm::sort(names);
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Builtins, targetsExist) {
  mlir::MLIRContext context;
  context.loadDialect<tok::TokDialect>();
  for (const Builtin &builtin : allBuiltins()) {
    std::string_view target(builtin.target.data(), builtin.target.size());
    std::string name = builtin.name.str();
    if (builtin.kind == BuiltinKind::Unary) {
      EXPECT_TRUE(findUnaryOperator(target)) << name;
    }
    if (builtin.kind == BuiltinKind::Binary) {
      EXPECT_TRUE(findBinaryOperator(target)) << name;
    }
    if (builtin.kind == BuiltinKind::Operation) {
      EXPECT_TRUE(mlir::RegisteredOperationName::lookup("tok." + builtin.target.str(), &context))
          << name;
    }
    if (builtin.kind == BuiltinKind::Aggregate) {
      EXPECT_TRUE(findAggregateKind(target.substr(0, target.find(' ')))) << name;
      EXPECT_TRUE(findAggregateDirection(target.substr(target.find(' ') + 1))) << name;
    }
  }
}

TEST(Builtins, parametersAreRead) {
  auto parameters = findBuiltin("toString")->parameters();
  ASSERT_EQ(parameters.size(), 7u);
  EXPECT_EQ(parameters[0].presence, ParameterPresence::Required);
  EXPECT_EQ(parameters[3].name, "decimal");
  EXPECT_EQ(parameters[3].type, ParameterType::Integer);
  EXPECT_EQ(parameters[3].defaultText, "3");
  EXPECT_EQ(parameters[5].defaultText, "' '");
  EXPECT_EQ(findBuiltin("cbind")->parameters()[0].presence, ParameterPresence::Variadic);
}

TEST(LanguageStatus, listsConstructsAndBuiltins) {
  std::string text = languageStatusMarkdown();
  EXPECT_NE(text.find("| `ceil(x)` | `ceiling` | runs |"), std::string::npos);
  EXPECT_NE(text.find("| `range(values...)` |  | means nothing, in SystemDS either: use `seq("),
            std::string::npos);
  EXPECT_NE(text.find("`while(FALSE){}`"), std::string::npos);
}
