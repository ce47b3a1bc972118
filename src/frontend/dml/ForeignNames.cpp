#include "frontend/dml/ForeignNames.h"

#include "frontend/dml/Builtins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

namespace tokamak::frontend {

// The functions that SystemDS 3.4.0 defines as scripts (scripts/builtin), except those that are
// native builtins here.
static constexpr llvm::StringLiteral systemDsLibrary =
    "abstain adasyn als alsCG alsDS alsPredict alsTopkPredict ampute apply_pipeline arima auc "
    "autoencoder_2layer bandit bivar components confusionMatrix cooccurrenceMatrix cor "
    "correctTypos correctTyposApply cox cspline csplineCG csplineDS cvlm dbscan dbscanApply "
    "decisionTree decisionTreePredict dedup deepWalk denialConstraints differenceStatistics "
    "discoverFD dist dmv ema executePipeline f1Score fdr ffPredict ffTrain fit_pipeline "
    "fixInvalidLengths fixInvalidLengthsApply flattenQuantile frameSort frequencyEncode "
    "frequencyEncodeApply garch gaussianClassifier getAccuracy glm glmPredict glove gmm "
    "gmmPredict gnmf gridSearch hospitalResidencyMatch hyperband img_brightness "
    "img_brightness_linearized img_crop img_crop_linearized img_cutout img_cutout_linearized "
    "img_invert img_invert_linearized img_mirror img_mirror_linearized img_posterize "
    "img_posterize_linearized img_rotate img_rotate_linearized img_sample_pairing "
    "img_sample_pairing_linearized img_shear img_shear_linearized img_transform "
    "img_transform_linearized img_translate img_translate_linearized impurityMeasures "
    "imputeByFD imputeByFDApply imputeByKNN imputeByMean imputeByMeanApply imputeByMedian "
    "imputeByMedianApply imputeByMode imputeByModeApply incSliceLine independentSubnetTrain "
    "intersect km kmeans kmeansPredict knn knnbf knnGraph l2svm l2svmPredict lasso "
    "lenetPredict lenetTrain lm lmCG lmDS lmPredict lmPredictStats logSumExp mae mape "
    "matrixProfile mcc mdedup mice miceApply mse msmape msvm msvmPredict multiLogReg "
    "multiLogRegPredict na_locf naiveBayes naiveBayesPredict normalize normalizeApply nrmse "
    "outlier outlierByArima outlierByIQR outlierByIQRApply outlierBySd outlierBySdApply "
    "pageRank pca pcaInverse pcaTransform pnmf ppca psnr quantizeByCluster raGroupby raJoin "
    "randomForest randomForestPredict raSelection rmse scale scaleApply scaleMinMax "
    "scaleRobust scaleRobustApply selectByVarThresh ses setdiff shapExplainer sherlock "
    "sherlockPredict shortestPath skewness slicefinder sliceLine sliceLineDebug "
    "sliceLineExtract smape smote softmax split splitBalanced sqrtMatrix stableMarriage "
    "statsNA steplm stratstats symmetricDifference tomeklink toOneHot topk_cleaning tSNE "
    "underSampling union univar vectorToCsv wer winsorize winsorizeApply WoE WoEApply "
    "xdummyTypo xgboost xgboostPredictClassification xgboostPredictRegression";

static bool isInSystemDsLibrary(llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 0> names;
  systemDsLibrary.split(names, ' ');
  return llvm::is_contained(names, name);
}

std::string hintForVariable(llvm::StringRef name) {
  return llvm::StringSwitch<std::string>(name)
      .Cases("PI", "Pi", "the constant is written 'pi'")
      .Cases("inf", "INF", "Infinity", "infinity", "the constant is written 'Inf'")
      .Cases("nan", "NAN", "Nan", "the constant is written 'NaN'")
      .Cases("true", "True", "T", "the constant is written 'TRUE'")
      .Cases("false", "False", "F", "the constant is written 'FALSE'")
      .Cases(
          "null", "Null", "None", "nil",
          "there is no null: an empty matrix is matrix(0, rows=0, cols=0), an empty list is list()")
      .Cases("e", "E", "Euler's number is exp(1)")
      .Default("");
}

static std::string hintForForeignFunction(llvm::StringRef name) {
  return llvm::StringSwitch<std::string>(name)
      .Case("c",
            "write matrix(\"1 2 3\", rows=3, cols=1), join values with rbind or cbind, or make a "
            "list(...)")
      .Cases("rep", "rep.int", "write matrix(value, rows=n, cols=1)")
      .Cases("numeric", "vector", "zeros", "write matrix(0, rows=n, cols=1)")
      .Case("ones", "write matrix(1, rows=n, cols=1)")
      .Cases("eye", "identity", "write diag(matrix(1, rows=n, cols=1))")
      .Cases("array", "data.frame", "use matrix(...), frame(...) or list(...)")
      .Cases("seq_len", "arange", "linspace", "write seq(from, to, increment)")
      .Cases("runif", "random", "write rand(rows=n, cols=m, min=0, max=1)")
      .Cases("rnorm", "randn", "write rand(rows=n, cols=m, pdf=\"normal\")")
      .Cases("dim", "shape", "size", "use nrow(X) and ncol(X)")
      .Case("len", "use length(X)")
      .Case("crossprod", "write t(X) %*% Y")
      .Case("tcrossprod", "write X %*% t(Y)")
      .Cases("dot", "matmul", "mm", "write X %*% Y")
      .Case("transpose", "use t(X)")
      .Cases("hstack", "concat", "concatenate", "use cbind(X, Y)")
      .Case("vstack", "use rbind(X, Y)")
      .Cases("norm", "norm2", "write sqrt(sum(X^2))")
      .Cases("pow", "power", "write x^y")
      .Cases("square", "sqr", "write x^2")
      .Case("mod", "write x %% y")
      .Case("ln", "use log(x)")
      .Case("log10", "write log(x, 10)")
      .Case("log2", "write log(x, 2)")
      .Case("log1p", "write log(1 + x)")
      .Case("expm1", "write exp(x) - 1")
      .Case("relu", "write max(X, 0)")
      .Cases("std", "stdev", "use sd(X)")
      .Case("variance", "use var(X)")
      .Cases("argmax", "which.max", "max.col", "use rowIndexMax(X)")
      .Cases("argmin", "which.min", "use rowIndexMin(X)")
      .Case("which", "write removeEmpty(target=seq(1, nrow(v)), margin=\"rows\", select=v)")
      .Case("any", "write sum(X != 0) > 0")
      .Case("all", "write sum(X == 0) == 0")
      .Case("sort", "use order(target=X, by=1)")
      .Cases("head", "tail", "index the rows: X[1:5, ]")
      .Cases("apply", "sapply", "lapply", "vapply", "mapply",
             "write a for or parfor loop; functions such as rowSums need none")
      .Cases("cat", "println", "echo", "printf", "message", "use print(...)")
      .Case("sprintf", "print(\"%d of %d\", i, n) prints by a format")
      .Cases("paste", "paste0", "write a + b: '+' joins strings")
      .Cases("str", "as.character", "format", "use toString(x)")
      .Cases("nchar", "substr", "substring", "strsplit", "toupper", "tolower", "trimws", "gsub",
             "sub", "grepl",
             "map does it for the texts of a frame: map(F, \"x -> x.substring(0, 3)\")")
      .Cases("nlevels", "levels", "factor", "use transformencode with \"recode\"")
      .Cases("tapply", "ave", "use aggregate(target=X, groups=g, fn=\"mean\")")
      .Case("do.call", "use eval(\"name\", arguments)")
      .Cases("pmin", "minimum", "use min(X, Y)")
      .Cases("pmax", "maximum", "use max(X, Y)")
      .Case("diff", "write x[2:nrow(x), ] - x[1:nrow(x) - 1, ]")
      .Case("sweep", "write X - v: a row or a column is repeated")
      .Case("factorial", "write prod(seq(1, n))")
      .Case("NROW", "use nrow(X)")
      .Case("NCOL", "use ncol(X)")
      .Cases("names", "dimnames", "use colnames(F)")
      .Case("set.seed", "give seeds to rand and sample: rand(rows=n, cols=m, seed=7)")
      .Cases("as.numeric", "float", "use as.double(x)")
      .Case("as.vector", "write matrix(X, rows=length(X), cols=1)")
      .Case("stopifnot", "use assert(condition)")
      .Cases("error", "raise", "throw", "exit", "quit", "use stop(\"message\")")
      .Cases("is.null", "missing", "use exists(\"name\"), or ifdef for command line arguments")
      .Cases("read.csv", "read.table", "fread", "write read(\"file.csv\", format=\"csv\")")
      .Cases("write.csv", "write.table", "write write(X, \"file.csv\", format=\"csv\")")
      .Case("Sys.time", "use time()")
      .Cases("library", "require", "import", "write source(\"file.dml\") as name")
      .Case("return", "a function gives back the variables named in its signature")
      .Default("");
}

std::string hintForFunction(llvm::StringRef name) {
  if (isInSystemDsLibrary(name))
    return "'" + name.str() +
           "' is in SystemDS's library, not in ours yet; --library=FOLDER adds a folder of such "
           "functions (scripts/builtin of SystemDS)";
  return hintForForeignFunction(name);
}

std::string hintForMember(llvm::StringRef object, llvm::StringRef member) {
  std::string x = object.str();
  if (member == "T")
    return "write t(" + x + ")";
  if (member == "shape" || member == "dim")
    return "write nrow(" + x + ") and ncol(" + x + ")";
  return findBuiltin(member) ? "write " + member.str() + "(" + x + ")" : "";
}

std::string hintForStatement(llvm::StringRef word) {
  return llvm::StringSwitch<std::string>(word)
      .Case("break",
            "a loop can't be left early; use while with a flag: go = TRUE; while (go) { ... if "
            "(found) go = FALSE }")
      .Cases("next", "continue",
             "an iteration can't be left early: put the rest of it into an 'if'")
      .Case("repeat", "write while (TRUE) { ... } with a condition that becomes false")
      .Cases("elseif", "elif", "elsif", "write 'else if'")
      .Cases("end", "endif", "fi", "done", "begin",
             "braces make several statements one: if (a) { ... }")
      .Cases("def", "fn", "func", "proc",
             "a function is written name = function(matrix[double] X) return (double y) { ... }")
      .Cases("let", "var", "auto", "const", "a variable needs no declaration: x = 1")
      .Default(hintForWord(word));
}

std::string hintForWord(llvm::StringRef word) {
  return llvm::StringSwitch<std::string>(word)
      .Case("and", "write 'a & b'")
      .Case("or", "write 'a | b'")
      .Case("not", "write '!a'")
      .Case("then", "a statement or '{' follows the condition")
      .Case("do", "a statement or '{' follows the head of a loop")
      .Default("");
}

std::string hintForOperator(llvm::StringRef spelling) {
  return llvm::StringSwitch<std::string>(spelling)
      .Case("**", "write x ^ y")
      .Case("//", "write x %/% y")
      .Case("%in%",
            "rowSums(outer(v, t(values), \"==\")) > 0 says which cells of a column are among "
            "others")
      .Case("%o%", "write outer(u, t(v), \"*\")")
      .Case("?", "ifelse(condition, a, b) is one of two values")
      .Default("");
}

std::string parameterMeantBy(llvm::StringRef name) {
  return llvm::StringSwitch<std::string>(name)
      .Cases("nrow", "nrows", "rows")
      .Cases("ncol", "ncols", "cols")
      .Cases("by", "step", "incr")
      .Default("");
}

} // namespace tokamak::frontend
