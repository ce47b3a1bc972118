// What import rules refuse and where, and which version of an operator they follow; that results are right is
// shown by `./dev test onnx`.
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/ImportModel.h"

#include "frontend/onnx/testing/ModelWriter.h"
#include "frontend/onnx/testing/TestFolder.h"
#include "ir/tok/TokDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

Message floats(const std::string &name, const std::vector<int64_t> &dims) {
  return valueInfo(name, DataType::Float, dims);
}
Message integers(const std::string &name, const std::vector<int64_t> &dims) {
  return valueInfo(name, DataType::Int64, dims);
}
Message textAttribute(const std::string &name, const std::string &text) {
  return attribute(name, Attribute::Kind::String, bytesField(4, text));
}
Message intsAttribute(const std::string &name, const std::vector<int64_t> &numbers) {
  return attribute(name, Attribute::Kind::Ints, packedField(8, numbers));
}

struct Imported {
  std::string problem;        // the first one, without the model's name
  std::vector<int64_t> ranks; // of the results
};

Imported importGraph(const GraphParts &parts, const std::string &domain = "",
                     int64_t version = 17) {
  TestFolder folder;
  folder.write("model.onnx", model({.graph = graph(parts), .operatorSets = {{domain, version}}}));
  ModelFile file(folder.path("model.onnx"));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  KnownInputs known;
  ModelErrors errors("m");
  std::optional<ImportedModel> imported = importModel(file, known, context, errors);
  if (!imported)
    return {errors.messages().front().substr(std::string("m: ").size()), {}};
  EXPECT_TRUE(succeeded(mlir::verify(*imported->module)));
  Imported result;
  auto function = imported->module->lookupSymbol<mlir::func::FuncOp>("main");
  for (mlir::Type type : function.getResultTypes())
    result.ranks.push_back(mlir::cast<mlir::RankedTensorType>(type).getRank());
  return result;
}

// A graph of one node with operands i0, i1, … and results r0, r1, …
Imported importNode(const std::string &opType, const std::vector<Message> &inputs,
                    const std::vector<Message> &attributes = {}, int64_t version = 17,
                    size_t results = 1, const std::string &domain = "") {
  NodeParts parts{opType, {}, {}, attributes};
  parts.domain = domain;
  GraphParts graphParts;
  graphParts.inputs = inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    parts.inputs.push_back("i" + std::to_string(i));
  for (size_t i = 0; i < results; ++i) {
    parts.outputs.push_back("r" + std::to_string(i));
    graphParts.outputs.push_back(valueInfo(parts.outputs.back()));
  }
  graphParts.nodes = {node(parts)};
  return importGraph(graphParts, domain, version);
}

using Ranks = std::vector<int64_t>;

TEST(ImportRulesTest, partsAreOfAllDimensions) {
  auto part = [](const std::vector<int64_t> &starts, const std::vector<int64_t> &steps) {
    return importNode("Part", {floats("i0", {5, 4})},
                      {intsAttribute("starts", starts), intsAttribute("sizes", {2, 3}),
                       intsAttribute("steps", steps)},
                      1, 1, "tokamak");
  };
  EXPECT_EQ(part({1, 0}, {1, 1}).ranks, Ranks{2});
  EXPECT_EQ(part({1, 0}, {2, 1}).ranks, Ranks{2});
  EXPECT_EQ(part({1}, {1, 1}).problem,
            "node 0 (tokamak.Part, opset 1): starts, sizes and steps are as "
            "many as the array's dimensions");
}

TEST(ImportRulesTest, linearAlgebraIsOfMatrices) {
  auto operation = [](const std::string &opType, std::vector<Message> inputs, size_t results) {
    return importNode(opType, inputs, {}, 1, results, "tokamak");
  };
  Message square = floats("i0", {3, 3});
  EXPECT_EQ(operation("Solve", {square, floats("i1", {3, 2})}, 1).ranks, Ranks{2});
  EXPECT_EQ(operation("Eigen", {square}, 2).ranks, (Ranks{2, 2}));
  EXPECT_EQ(operation("Svd", {floats("i0", {4, 3})}, 3).ranks, (Ranks{2, 2, 2}));
  EXPECT_EQ(operation("Inverse", {floats("i0", {2, 3, 3})}, 1).problem,
            "node 0 (tokamak.Inverse, opset 1): a matrix has two dimensions");
}

TEST(ImportRulesTest, equationsAreChecked) {
  auto einsum = [](const std::string &equation, int64_t operands = 2) {
    std::vector<Message> inputs;
    for (int64_t i = 0; i < operands; ++i)
      inputs.push_back(floats("i" + std::to_string(i), {2, 2}));
    return importNode("Einsum", inputs, {textAttribute("equation", equation)});
  };
  EXPECT_EQ(einsum("ij, jk -> ik").ranks, Ranks{2});
  EXPECT_EQ(einsum("ij,jk").ranks, Ranks{2});
  EXPECT_EQ(einsum("...j,jk->...k").ranks, Ranks{2});
  EXPECT_EQ(einsum("ii,ij->").ranks, Ranks{0});
  EXPECT_EQ(einsum("ij,kl,mn->nmlkji", 3).ranks, Ranks{6});
  EXPECT_EQ(einsum("ij->ji").problem,
            "node 0 (Einsum, opset 17): the equation 'ij->ji' has 1 terms for 2 operands");
  EXPECT_EQ(einsum("ij,ijk->k").problem,
            "node 0 (Einsum, opset 17): 'ijk' of the equation stands for an array of 2 dimensions");
  EXPECT_EQ(einsum("ij,jk->il").problem, "node 0 (Einsum, opset 17): the equation 'ij,jk->il' "
                                         "gives a dimension twice or from nowhere");
  EXPECT_EQ(einsum("i1,jk->i").problem,
            "node 0 (Einsum, opset 17): '1' of the equation is no letter");
}

TEST(ImportRulesTest, sizesInEquationsAreChecked) {
  auto problem = [](const std::string &equation, std::vector<int64_t> first,
                    std::vector<int64_t> second) {
    return importNode("Einsum", {floats("i0", first), floats("i1", second)},
                      {textAttribute("equation", equation)})
        .problem;
  };
  EXPECT_EQ(problem("ij,jk->ik", {2, 3}, {4, 5}),
            "node 0 (Einsum, opset 17): 'j' of the equation 'ij,jk->ik' has size 3 in operand 0, "
            "but 4 in operand 1");
  EXPECT_EQ(problem("ii,ij->j", {1, 3}, {3, 5}),
            "node 0 (Einsum, opset 17): 'i' of the equation 'ii,ij->j' has size 1 in operand 0, "
            "but 3 in operand 0");
  EXPECT_EQ(problem("...i,...i->...", {2, 3}, {4, 3}),
            "node 0 (Einsum, opset 17): a dimension of '...' of the equation '...i,...i->...' has "
            "size 2 in operand 0, but 4 in operand 1");
  EXPECT_EQ(problem("ij,ij->ij", {2, 3}, {1, 3}), "");
  EXPECT_EQ(problem("ij,jk->ik", {2, -1}, {4, 5}), "");
}

TEST(ImportRulesTest, numbersOfPlacesFollowFromRanksAndSizes) {
  // How many dimensions the result has depends on the size of the indices' last one.
  Message x = floats("i0", {2, 3, 4});
  EXPECT_EQ(importNode("GatherND", {x, integers("i1", {5, 2})}).ranks, Ranks{2});
  EXPECT_EQ(
      importNode("GatherND", {x, integers("i1", {2, 5, 1})}, {intAttribute("batch_dims", 1)}).ranks,
      Ranks{3});
  EXPECT_EQ(importNode("GatherND", {x, integers("i1", {5, -1})}).problem,
            "node 0 (GatherND, opset 17): GatherND by an unknown number of places is not supported "
            "yet");
  EXPECT_EQ(
      importNode("GatherND", {x, integers("i1", {5, 4})}).problem,
      "node 0 (GatherND, opset 17): indices of 2 dimensions for tuples of 4 places behind the "
      "first 0, in an array of 3 dimensions");
  EXPECT_EQ(importNode("ScatterND", {x, integers("i1", {-1, -1}), floats("i2", {-1, 4})}).ranks,
            Ranks{3});
  EXPECT_EQ(
      importNode("ScatterElements", {x, integers("i1", {2, 3}), floats("i2", {2, 3})}).problem,
      "node 0 (ScatterElements, opset 17): data of 3, indices of 2 and updates of 2 "
      "dimensions");
  EXPECT_EQ(importNode("ScatterElements", {x, integers("i1", {2, 3, 4}), floats("i2", {2, 3, 4})},
                       {textAttribute("reduction", "mean")}, 18)
                .problem,
            "node 0 (ScatterElements, opset 18): there is no reduction 'mean'");
}

// What was once written all the same, in operations that nothing can run.
TEST(ImportRulesTest, operandsSuitTheOperator) {
  Message x = floats("i0", {2, 3}), whole = integers("i0", {2, 3}), other = integers("i1", {2, 3});
  auto problemOf = [](const char *opType, const std::vector<Message> &inputs,
                      const std::vector<Message> &attributes = {}) {
    return importNode(opType, inputs, attributes).problem;
  };
  EXPECT_EQ(problemOf("Log", {whole}), "node 0 (Log, opset 17): cells of i64 have no 'log'");
  EXPECT_EQ(problemOf("Softsign", {whole}),
            "node 0 (Softsign, opset 17): cells of i64 have no 'add' with such a number");
  EXPECT_EQ(problemOf("Relu", {whole}), "");
  EXPECT_EQ(problemOf("Add", {x, other}),
            "node 0 (Add, opset 17): cells of f32 and of i64 go into one 'add'");
  EXPECT_EQ(problemOf("MatMul", {x, integers("i1", {3, 2})}),
            "node 0 (MatMul, opset 17): cells of f32 and of i64, where one type is expected");
  EXPECT_EQ(problemOf("Concat", {x, other}, {intAttribute("axis", 0)}),
            "node 0 (Concat, opset 17): cells of f32 and of i64, where one type is expected");
  EXPECT_EQ(problemOf("Concat", {x, floats("i1", {2, 3, 1})}, {intAttribute("axis", 0)}),
            "node 0 (Concat, opset 17): arrays of 2 and of 3 dimensions can't be joined");
  EXPECT_EQ(
      problemOf("ConvTranspose", {floats("i0", {1, 1, 3}), integers("i1", {1, 1, 2})}),
      "node 0 (ConvTranspose, opset 17): cells of f32 and of i64, where one type is expected");
  EXPECT_EQ(problemOf("ScatterElements", {x, other, integers("i2", {2, 3})}),
            "node 0 (ScatterElements, opset 17): cells of f32 and of i64, where one type is "
            "expected");
  EXPECT_EQ(problemOf("DepthToSpace", {x}, {intAttribute("blocksize", 2)}),
            "node 0 (DepthToSpace, opset 17): dimension 2 of an array of 2 dimensions is needed");
  EXPECT_EQ(problemOf("Where", {valueInfo("i0", DataType::Bool, {2, 3}), floats("i1", {2, 3}),
                                integers("i2", {2, 3})}),
            "node 0 (Where, opset 17): cells of f32 and of i64, where one type is expected");
  Message truths = valueInfo("i0", DataType::Bool, {2, 2});
  EXPECT_EQ(problemOf("Sqrt", {truths}), "node 0 (Sqrt, opset 17): cells of bool have no 'sqrt'");
  EXPECT_EQ(problemOf("MatMul", {truths, valueInfo("i1", DataType::Bool, {2, 2})}),
            "node 0 (MatMul, opset 17): booleans have no products");
  EXPECT_EQ(problemOf("ReduceSum", {truths}),
            "node 0 (ReduceSum, opset 17): booleans have no 'sum'");
  EXPECT_EQ(problemOf("Abs", {floats("i0", {1, 1, 1, 1, 1, 1, 1, 1, 1})}),
            "input 'i0': an array of 9 dimensions; at most 8 are supported");
}

// An attribute that nobody reads would say nothing without a word.
TEST(ImportRulesTest, attributesAreThoseOfTheOperator) {
  auto problemOf = [](const char *opType, int64_t version, const std::vector<Message> &attributes,
                      std::vector<Message> inputs = {floats("i0", {2, 3})}) {
    return importNode(opType, inputs, attributes, version).problem;
  };
  EXPECT_EQ(problemOf("Softmax", 13, {intAttribute("axis", 1)}), "");
  EXPECT_EQ(problemOf("Softmax", 13, {intAttribute("axsi", 1)}),
            "node 0 (Softmax, opset 13): 'Softmax' has no attribute 'axsi'; did you mean 'axis'?");
  EXPECT_EQ(problemOf("Relu", 14, {intAttribute("keepdims", 1)}),
            "node 0 (Relu, opset 14): 'Relu' has no attribute 'keepdims'");
  // Of old versions, and of training.
  EXPECT_EQ(problemOf("Relu", 1, {intAttribute("consumed_inputs", 0)}), "");
  EXPECT_EQ(problemOf("Relu", 14, {intAttribute("consumed_inputs", 0)}),
            "node 0 (Relu, opset 14): 'Relu' has no attribute 'consumed_inputs'");
  EXPECT_EQ(problemOf("Dropout", 13, {intAttribute("seed", 7)}), "");
  // Each place of an image would have its own moments.
  std::vector<Message> image = {floats("i0", {1, 3, 4, 4})};
  for (const char *name : {"i1", "i2", "i3", "i4"})
    image.push_back(floats(name, {3}));
  EXPECT_EQ(problemOf("BatchNormalization", 7, {intAttribute("spatial", 1)}, image), "");
  EXPECT_EQ(problemOf("BatchNormalization", 7, {intAttribute("spatial", 0)}, image),
            "node 0 (BatchNormalization, opset 7): BatchNormalization of each place is not "
            "supported yet");
  EXPECT_EQ(problemOf("Split", 18, {intAttribute("axis", 1), intAttribute("num_outputs", 3)}),
            "node 0 (Split, opset 18): it has 1 outputs, but num_outputs is 3");
}

// Sizes that no shape gives: an array of two numbers, computed from another one.
TEST(ImportRulesTest, sizesAreReadFromArraysOfKnownSize) {
  auto reshape = [](int64_t sizes) {
    return importGraph(
        {.nodes = {node({"Cast", {"i1"}, {"s"}, {intAttribute("to", 7)}}),
                   node({"Reshape", {"i0", "s"}, {"r"}}), node({"ConstantOfShape", {"s"}, {"c"}})},
         .inputs = {floats("i0", {2, 3}), floats("i1", {sizes})},
         .outputs = {valueInfo("r"), valueInfo("c")}});
  };
  EXPECT_EQ(reshape(3).ranks, (Ranks{3, 3}));
  EXPECT_EQ(reshape(-1).problem, "node 1 (Reshape, opset 17): Reshape to an unknown number of "
                                 "dimensions is not supported yet");
}

TEST(ImportRulesTest, cachesAreWrittenBehindTheirBatches) {
  Message cache = floats("i0", {2, 3, 8, 4}), more = floats("i1", {2, 3, 1, 4});
  EXPECT_EQ(importNode("TensorScatter", {cache, more, integers("i2", {2})}, {}, 24).ranks,
            Ranks{4});
  EXPECT_EQ(
      importNode("TensorScatter", {cache, more}, {intAttribute("axis", 0)}, 24).problem,
      "node 0 (TensorScatter, opset 24): a cache and what is written to it have batches first, "
      "and as many dimensions");
  EXPECT_EQ(
      importNode("TensorScatter", {cache, more}, {textAttribute("mode", "round")}, 24).problem,
      "node 0 (TensorScatter, opset 24): there is no mode 'round'");
}

TEST(ImportRulesTest, operandsThatWereAttributesAreBoth) {
  Message x = floats("i0", {2, 3});
  EXPECT_EQ(importNode("TopK", {x}, {intAttribute("k", 2)}, 1, 2).ranks, (Ranks{2, 2}));
  EXPECT_EQ(importNode("TopK", {x, integers("i1", {1})}, {}, 11, 2).ranks, (Ranks{2, 2}));
  EXPECT_EQ(importNode("TopK", {x, integers("i1", {1})}, {intAttribute("axis", 2)}, 11, 2).problem,
            "node 0 (TopK, opset 11): axis 2 of an array of 2 dimensions");
  Message signal = floats("i0", {1, 8, 2});
  EXPECT_EQ(importNode("DFT", {signal}, {intAttribute("axis", 1)}, 17).ranks, Ranks{3});
  EXPECT_EQ(importNode("DFT", {signal}, {}, 20).ranks, Ranks{3});
  EXPECT_EQ(importNode("DFT", {signal}, {intAttribute("axis", 2)}, 17).problem,
            "node 0 (DFT, opset 17): the axis is that of the parts of a complex number");
  EXPECT_EQ(importNode("DFT", {floats("i0", {1, 8, -1})}, {}, 17).problem,
            "node 0 (DFT, opset 17): a transform of numbers of which it is not known whether they "
            "are complex is not supported yet");
}

TEST(ImportRulesTest, imagesAndWhatIsReadOfThemFitTogether) {
  Message image = floats("i0", {1, 2, 5, 5});
  EXPECT_EQ(importNode("GridSample", {image, floats("i1", {1, 3, 3, 2})}).ranks, Ranks{4});
  EXPECT_EQ(importNode("GridSample", {floats("i0", {1, 2, 5, 5, 5}), floats("i1", {1, 3, 3, 3, 3})},
                       {textAttribute("mode", "cubic")}, 20)
                .ranks,
            Ranks{5});
  EXPECT_EQ(importNode("GridSample", {image, floats("i1", {1, 3, 2})}).problem,
            "node 0 (GridSample, opset 17): an image of 4 and a grid of 3 dimensions");
  EXPECT_EQ(importNode("GridSample", {image, floats("i1", {1, 3, 3, 2})},
                       {textAttribute("mode", "spline")})
                .problem,
            "node 0 (GridSample, opset 17): there is no mode 'spline'");
  std::vector<int64_t> six(6, 2);
  EXPECT_EQ(importNode("GridSample", {floats("i0", six), floats("i1", six)}).problem,
            "node 0 (GridSample, opset 17): GridSample of 6 dimensions is not supported yet");
  EXPECT_EQ(importNode("RoiAlign", {image, floats("i1", {3, 4}), integers("i2", {3})}).ranks,
            Ranks{4});
  EXPECT_EQ(
      importNode("RoiAlign", {image, floats("i1", {4}), integers("i2", {3})}).problem,
      "node 0 (RoiAlign, opset 17): images of 4, regions of 2 and their images of 1 dimensions "
      "are expected");
  EXPECT_EQ(importNode("MaxPool", {image}, {intsAttribute("kernel_shape", {2, 2})}, 12, 2).ranks,
            (Ranks{4, 4}));
}

TEST(ImportRulesTest, sequencesOfNumbersHaveTheirColumns) {
  auto count = [](std::vector<int64_t> begins, std::vector<int64_t> columns) {
    return importNode(
        "TfIdfVectorizer", {integers("i0", {6})},
        {intsAttribute("ngram_counts", begins), intsAttribute("ngram_indexes", columns),
         intsAttribute("pool_int64s", {1, 2, 3, 4}), intAttribute("max_gram_length", 2)});
  };
  EXPECT_EQ(count({0, 2}, {0, 1, 2}).ranks, Ranks{1});
  EXPECT_EQ(
      count({0, 1}, {0, 1, 2}).problem,
      "node 0 (TfIdfVectorizer, opset 17): ngram_counts: no sequences of 2 lie from 1 to 4 of "
      "4 numbers");
  EXPECT_EQ(count({0, 2}, {0, 1, 1}).problem,
            "node 0 (TfIdfVectorizer, opset 17): two sequences have column 1");
  EXPECT_EQ(count({0, 2}, {0, 1, int64_t{1} << 60}).problem,
            "node 0 (TfIdfVectorizer, opset 17): sequences have columns from 0 to "
            "1152921504606846976");
}

TEST(ImportRulesTest, optimisersAreOfTheirOwnDomain) {
  std::vector<Message> inputs = {floats("i0", {}), integers("i1", {}), floats("i2", {2}),
                                 floats("i3", {2}), floats("i4", {2})};
  const std::string training = "ai.onnx.preview.training";
  EXPECT_EQ(importNode("Momentum", inputs, {}, 1, 2, training).ranks, (Ranks{1, 1}));
  EXPECT_EQ(importNode("Momentum", inputs, {}, 17, 2).problem,
            "node 0 (Momentum, opset 17): the operator 'Momentum' is not supported yet");
  EXPECT_EQ(
      importNode("Adam", inputs, {}, 1, 3, training).problem,
      "node 0 (ai.onnx.preview.training.Adam, opset 1): 5 operands are not two and 4 lists of "
      "one length");
}

TEST(ImportRulesTest, headsOfAttentionFollowFromRanksOrAttributes) {
  std::vector<Message> arrays = {floats("i0", {2, 4, 3, 8}), floats("i1", {2, 2, 5, 8}),
                                 floats("i2", {2, 2, 5, 6})};
  EXPECT_EQ(importNode("Attention", arrays, {}, 23, 4).ranks, (Ranks{4, 4, 4, 4}));
  std::vector<Message> flat = {floats("i0", {2, 3, 32}), floats("i1", {2, 5, 16}),
                               floats("i2", {2, 5, 12})};
  EXPECT_EQ(importNode("Attention", flat,
                       {intAttribute("q_num_heads", 4), intAttribute("kv_num_heads", 2)}, 23)
                .ranks,
            Ranks{3});
  EXPECT_EQ(importNode("Attention", flat, {}, 23).problem,
            "node 0 (Attention, opset 23): an array of 3 dimensions and 0 heads");
  EXPECT_EQ(importNode("RotaryEmbedding",
                       {floats("i0", {2, 4, 3, 8}), floats("i1", {9, 4}), floats("i2", {9, 4}),
                        integers("i3", {2, 3})},
                       {}, 23)
                .ranks,
            Ranks{4});
}

TEST(ImportRulesTest, sizesOfImagesMayBeOperands) {
  auto sized = [](const std::string &opType, const std::vector<int64_t> &dims, int64_t sizes,
                  const std::vector<Message> &attributes = {}) {
    NodeParts parts{opType, {"x", "sizes"}, {"r"}, attributes};
    if (opType == "Col2Im")
      parts.inputs.push_back("sizes");
    std::vector<int64_t> numbers(sizes, 2);
    return importGraph({.nodes = {node(parts)},
                        .initializers = {rawTensor("sizes", DataType::Int64, {sizes}, numbers)},
                        .inputs = {floats("x", dims)},
                        .outputs = {valueInfo("r")}},
                       "", 20);
  };
  EXPECT_EQ(sized("AffineGrid", {2, 2, 3}, 4).ranks, Ranks{4});
  EXPECT_EQ(sized("AffineGrid", {2, 3, 4}, 5).ranks, Ranks{5});
  EXPECT_EQ(sized("CenterCropPad", {5, 6}, 2).ranks, Ranks{2});
  EXPECT_EQ(sized("CenterCropPad", {5, 6}, 3).problem,
            "node 0 (CenterCropPad, opset 20): 3 sizes for 2 dimensions");
  EXPECT_EQ(sized("Col2Im", {1, 4, 1}, 2).ranks, Ranks{4});
  EXPECT_EQ(importNode("GroupNormalization",
                       {floats("i0", {1, 4, 3}), floats("i1", {2}), floats("i2", {2})},
                       {intAttribute("num_groups", 2)}, 18)
                .ranks,
            Ranks{3});
  EXPECT_EQ(importNode("GroupNormalization",
                       {floats("i0", {1, 4, 3}), floats("i1", {2}), floats("i2", {2})}, {}, 18)
                .problem,
            "node 0 (GroupNormalization, opset 18): images with channels, and a number of groups, "
            "are expected");
}

// Versions before which an operator is not that of the standard's newest one.
TEST(ImportRulesTest, rulesHoldFromTheirVersionOn) {
  EXPECT_EQ(findImportRule("Erf", 8), nullptr);
  EXPECT_NE(findImportRule("Erf", 9), nullptr);
  EXPECT_EQ(findImportRule("Adam", 1), nullptr);
  EXPECT_NE(findImportRule("ai.onnx.preview.training.Adam", 1), nullptr);
}

TEST(ImportRulesTest, narrowCellsAreMovedAndConverted) {
  Message x = valueInfo("i0", DataType::Int4, {2, 3}), y = valueInfo("i1", DataType::Int4, {2, 3});
  EXPECT_EQ(importNode("Transpose", {x}).ranks, Ranks{2});
  EXPECT_EQ(importNode("Cast", {x}, {intAttribute("to", 1)}).ranks, Ranks{2});
  EXPECT_EQ(importNode("Add", {x, y}).problem, "node 0 (Add, opset 17): cells of int4 can be moved "
                                               "and converted, but 'Add' does neither");
  // What was moved is still narrow.
  EXPECT_EQ(importGraph({.nodes = {node({"Transpose", {"i0"}, {"t"}}), node({"Neg", {"t"}, {"r"}})},
                         .inputs = {x},
                         .outputs = {valueInfo("r")}})
                .problem,
            "node 1 (Neg, opset 17): cells of int4 can be moved and converted, but 'Neg' does "
            "neither");
  EXPECT_EQ(importNode("Cast", {floats("i0", {2})},
                       {intAttribute("to", 24), textAttribute("round_mode", "sideways")}, 25)
                .problem,
            "node 0 (Cast, opset 25): there is no rounding mode 'sideways'");
}

TEST(ImportRulesTest, arraysOfOtherRanksAreNotPermuted) {
  EXPECT_EQ(
      importNode("LSTM",
                 {floats("i0", {3, 1, 2, 2}), floats("i1", {1, 28, 2}), floats("i2", {1, 28, 7})},
                 {intAttribute("layout", 1)}, 14)
          .problem,
      "node 0 (LSTM, opset 14): an array of 4 dimensions, where 3 are expected");
}

TEST(ImportRulesTest, blocksAreCheckedAgainstTheArray) {
  auto quantize = [](const std::vector<int64_t> &scales, int64_t block) {
    return importNode("QuantizeLinear", {floats("i0", {4, 6}), floats("i1", scales)},
                      {intAttribute("block_size", block)}, 21);
  };
  EXPECT_EQ(quantize({4, 3}, 2).ranks, Ranks{2});
  EXPECT_EQ(quantize({4, 3}, 0).problem,
            "node 0 (QuantizeLinear, opset 21): scales of 2 dimensions "
            "and blocks of 0 cells for an array of 2");
}

TEST(ImportRulesTest, statesAndOffsetsAreChecked) {
  Message x = floats("i0", {2, 3, 4}), y = floats("i1", {2, 3, 4}), z = floats("i2", {2, 3, 4});
  EXPECT_EQ(
      importNode("LinearAttention", {x, y, z}, {textAttribute("update_rule", "none")}, 27).problem,
      "node 0 (LinearAttention, opset 27): there is no update rule 'none'");
  EXPECT_EQ(importNode("LinearAttention", {x, y, z}, {textAttribute("update_rule", "linear")}, 27)
                .problem,
            "node 0 (LinearAttention, opset 27): an array of 3 dimensions and 0 heads");
  EXPECT_EQ(importNode("CausalConvWithState", {x, floats("i1", {3, 2})}, {}, 27).problem,
            "node 0 (CausalConvWithState, opset 27): a signal of 3 and weights of 2 dimensions "
            "instead of 3");
  Message image = floats("i0", {1, 2, 4, 4}), weights = floats("i1", {2, 2, 2, 2}),
          offsets = floats("i2", {1, 8, 3, 3});
  EXPECT_EQ(importNode("DeformConv", {image, weights, offsets}, {}, 22).ranks, Ranks{4});
  EXPECT_EQ(
      importNode("DeformConv", {image, weights, offsets}, {intAttribute("group", 0)}, 22).problem,
      "node 0 (DeformConv, opset 22): a number of groups is less than 1");
  EXPECT_EQ(importNode("BitCast", {x}, {intAttribute("to", 11)}, 26).problem,
            "node 0 (BitCast, opset 26): cells of 4 bytes as double");
}

TEST(ImportRulesTest, treesAreChecked) {
  auto ensemble = [](int64_t onFalse, int64_t falseIsLeaf) {
    auto zeros = [](const std::string &name, DataType type, auto cell) {
      return tensorAttribute(name, rawTensor(name, type, {2}, std::vector{cell, cell}));
    };
    Message modes = zeros("nodes_modes", DataType::UInt8, uint8_t{0}),
            numbers = zeros("nodes_splits", DataType::Float, 0.0F),
            weights = zeros("leaf_weights", DataType::Float, 0.0F);
    return importNode("TreeEnsemble", {floats("i0", {3, 2})},
                      {modes, numbers, weights, intAttribute("n_targets", 1),
                       intsAttribute("tree_roots", {0}), intsAttribute("nodes_featureids", {0, 1}),
                       intsAttribute("nodes_truenodeids", {1, 0}),
                       intsAttribute("nodes_trueleafs", {0, 1}),
                       intsAttribute("nodes_falsenodeids", {0, onFalse}),
                       intsAttribute("nodes_falseleafs", {1, falseIsLeaf}),
                       intsAttribute("leaf_targetids", {0, 0})},
                      5, 1, "ai.onnx.ml");
  };
  EXPECT_EQ(ensemble(1, 1).ranks, Ranks{2});
  EXPECT_EQ(ensemble(0, 0).problem, "node 0 (ai.onnx.ml.TreeEnsemble, opset 5): nodes of its trees "
                                    "lead back to themselves");
  EXPECT_EQ(ensemble(2, 1).problem, "node 0 (ai.onnx.ml.TreeEnsemble, opset 5): attribute "
                                    "'nodes_falsenodeids' has 2, but there are 2");
}

TEST(ImportRulesTest, treesInListsOfNodesAreChecked) {
  // One node with two leaves; the last of them votes.
  auto ensemble = [](const std::string &mode, int64_t onFalse, int64_t voter) {
    auto texts = [](const std::string &name, const std::vector<std::string> &all) {
      std::string fields;
      for (const std::string &text : all)
        fields += bytesField(9, text);
      return attribute(name, Attribute::Kind::Strings, fields);
    };
    auto doubles = [](const std::string &name, const std::vector<double> &numbers) {
      return tensorAttribute(
          name,
          rawTensor<double>("", DataType::Double, {static_cast<int64_t>(numbers.size())}, numbers));
    };
    return importNode(
        "TreeEnsembleRegressor", {floats("i0", {3, 2})},
        {texts("nodes_modes", {mode, "LEAF", "LEAF"}), intsAttribute("nodes_treeids", {4, 4, 4}),
         intsAttribute("nodes_nodeids", {0, 1, 2}), intsAttribute("nodes_featureids", {1, 0, 0}),
         doubles("nodes_values_as_tensor", {0.5, 0, 0}),
         intsAttribute("nodes_truenodeids", {1, 0, 0}),
         intsAttribute("nodes_falsenodeids", {onFalse, 0, 0}), intsAttribute("target_treeids", {4}),
         intsAttribute("target_nodeids", {voter}), intsAttribute("target_ids", {0}),
         doubles("target_weights_as_tensor", {1})},
        3, 1, "ai.onnx.ml");
  };
  EXPECT_EQ(ensemble("BRANCH_LT", 2, 2).ranks, Ranks{2});
  std::string node = "node 0 (ai.onnx.ml.TreeEnsembleRegressor, opset 3): ";
  EXPECT_EQ(ensemble("BRANCH_LT", 3, 2).problem, node + "tree 4 has no node 3");
  EXPECT_EQ(ensemble("BRANCH_LT", 0, 2).problem,
            node + "nodes of its trees lead back to themselves");
  EXPECT_EQ(ensemble("BRANCH_LT", 2, 0).problem,
            node + "node 0 of tree 4 has a weight and is no leaf");
  EXPECT_EQ(ensemble("LESS", 2, 2).problem, node + "there are no nodes of the mode 'LESS'");
}

TEST(ImportRulesTest, branchesOfOtherRanksFollowSizesOfInputs) {
  // Squeezes a dimension where its size is 1, as exporters write it.
  auto branch = [](const std::string &opType, const std::vector<std::string> &operands) {
    return graph({.nodes = {node({opType, operands, {"b"}})}, .outputs = {valueInfo("b")}});
  };
  Message one = tensorAttribute("value", rawTensor<int64_t>("", DataType::Int64, {1}, {1}));
  TestFolder folder;
  folder.write(
      "model.onnx",
      model(
          {.graph = graph(
               {.nodes = {node({"Constant", {}, {"one"}, {one}}), node({"Shape", {"x"}, {"sizes"}}),
                          node({"Gather", {"sizes", "one"}, {"size"}}),
                          node({"Equal", {"size", "one"}, {"is"}}),
                          node({"If",
                                {"is"},
                                {"r"},
                                {graphAttribute("then_branch", branch("Squeeze", {"x", "one"})),
                                 graphAttribute("else_branch", branch("Identity", {"x"}))}})},
                .inputs = {floats("x", {-1, -1})},
                .outputs = {valueInfo("r")}}),
           .operatorSets = {{"", 17}}}));
  ModelFile file(folder.path("model.onnx"));
  for (int64_t columns : {1, 3}) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    Tensor value;
    value.dataType = DataType::Float;
    value.dims = {2, columns};
    KnownInputs known;
    known.values["x"] = &value;
    ModelErrors errors("m");
    std::optional<ImportedModel> imported = importModel(file, known, context, errors);
    ASSERT_TRUE(imported) << errors.messages().front();
    EXPECT_TRUE(known.wantedSizes.contains("x"));
    EXPECT_FALSE(known.wanted.contains("x"));
    auto function = imported->module->lookupSymbol<mlir::func::FuncOp>("main");
    auto type = mlir::cast<mlir::RankedTensorType>(function.getResultTypes().front());
    EXPECT_EQ(type.getRank(), columns == 1 ? 1 : 2);
  }
}

} // namespace
