#include "frontend/onnx/file/ModelStructure.h"

#include "frontend/onnx/testing/Messages.h"
#include "frontend/onnx/testing/ModelWriter.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

using Kind = Attribute::Kind;
using Texts = std::vector<std::string>;

// The graph has the input x and the output y.
Texts mistakesOf(const std::vector<Message> &nodes, const std::vector<Message> &initializers = {},
                 const std::vector<Message> &functions = {}) {
  return mistakesIn(model({.graph = graph({.nodes = nodes,
                                           .initializers = initializers,
                                           .inputs = {valueInfo("x", DataType::Float, {2})},
                                           .outputs = {valueInfo("y")}}),
                           .functions = functions,
                           .operatorSets = {{"", 17}, {"local", 1}}}));
}
Texts mistakesOfBody(const std::vector<Message> &nodes, const Names &attributes = {}) {
  return mistakesOf({node({"Relu", {"x"}, {"y"}})}, {},
                    {function({.name = "f",
                               .inputs = {"a"},
                               .outputs = {"b"},
                               .nodes = nodes,
                               .attributes = attributes})});
}

Message relu(const std::string &input, const std::string &output, const std::string &name = "") {
  return node({.opType = "Relu", .inputs = {input}, .outputs = {output}, .name = name});
}
Message call(const std::string &name, const Names &inputs, const Names &outputs,
             const std::vector<Message> &attributes = {}) {
  return node({.opType = name,
               .inputs = inputs,
               .outputs = outputs,
               .attributes = attributes,
               .domain = "local"});
}
Message branch(const std::vector<Message> &nodes, const std::string &output,
               const std::vector<Message> &inputs = {}) {
  return graphAttribute("then_branch",
                        graph({.nodes = nodes, .inputs = inputs, .outputs = {valueInfo(output)}}));
}

// The numbers of the nodes in the order in which verifyStructure leaves them.
std::vector<int64_t> orderOf(const std::vector<Message> &nodes) {
  std::string bytes = model({.graph = graph({.nodes = nodes, .inputs = {valueInfo("x")}})});
  Model model = readModel({"model.onnx", bytes});
  ModelErrors errors("model.onnx");
  verifyStructure(model, nullptr, errors);
  EXPECT_EQ(errors.messages(), Texts{});
  std::vector<int64_t> numbers;
  for (const Node &node : model.graph.nodes)
    numbers.push_back(node.number);
  return numbers;
}

} // namespace

TEST(OnnxModelStructure, acceptsWhatModelsMayDo) {
  EXPECT_EQ(mistakesOf({relu("x", "y")}), Texts{});
  // Operands and results that are left out, operators of other domains.
  EXPECT_EQ(mistakesOf({node({"Clip", {"x", "", ""}, {"y", ""}}), call("Own", {"y"}, {""})}),
            Texts{});
  // An input with a default value, an output that is an input.
  EXPECT_EQ(mistakesIn(model(
                {.graph = graph({.initializers = {rawTensor<float>("x", DataType::Float, {1}, {1})},
                                 .inputs = {valueInfo("x")},
                                 .outputs = {valueInfo("x")}})})),
            Texts{});
  // Inner graphs see outer names, may give them as results, and define the same names one beside
  // the other. Their inputs may have outer names and no type.
  Message inner = branch({relu("x", "t")}, "t");
  EXPECT_EQ(
      mistakesOf(
          {node({"If", {"x"}, {"u"}, {inner}}), node({"If", {"x"}, {"v"}, {inner}}),
           node({"Loop", {"x"}, {"y"}, {branch({relu("x", "w")}, "u", {bytesField(1, "x")})}})}),
      Texts{});
  // An inner name that an outer node behind defines, too.
  EXPECT_EQ(mistakesOf({node({"If", {"x"}, {"y"}, {inner}}), relu("x", "t")}), Texts{});
  // A domain that is listed twice means its highest version.
  std::string bytes =
      model({.graph = graph({}), .operatorSets = {{"", 9}, {"ai.onnx", 11}, {"", 10}}});
  Model read = readModel({"model.onnx", bytes});
  ModelErrors errors("model.onnx");
  verifyStructure(read, nullptr, errors);
  ASSERT_EQ(read.operatorSets.size(), 1);
  EXPECT_EQ(read.operatorSets[0].version, 11);
}

TEST(OnnxModelStructure, knowsVersions) {
  auto mistakes = [](int64_t irVersion, const OperatorSets &sets) {
    return mistakesIn(model({.graph = graph({}), .operatorSets = sets, .irVersion = irVersion}));
  };
  EXPECT_EQ(mistakes(3, {{"", 1}}), Texts{});
  EXPECT_EQ(mistakes(14, {{"", 28}, {"com.acme", 1000}}), Texts{});
  EXPECT_EQ(
      mistakes(15, {{"", 29}, {"com.acme", 0}}),
      (Texts{"model.onnx: its IR version is 15; those from 3 to 14 are known",
             "model.onnx: its operators are of opset 29; those from 1 to 28 are known",
             "model.onnx: its operators of domain 'com.acme' are of opset 0; versions begin at "
             "1"}));
  EXPECT_EQ(mistakes(2, {{"", 0}}),
            (Texts{"model.onnx: its IR version is 2; those from 3 to 14 are known",
                   "model.onnx: its operators are of opset 0; those from 1 to 28 are known"}));
  EXPECT_EQ(mistakesIn(bytesField(8, "")),
            (Texts{"model.onnx: its IR version is 0; those from 3 to 14 are known",
                   "model.onnx: its operators are of opset 0; those from 1 to 28 are known"}));
  EXPECT_EQ(mistakesIn(""),
            Texts{"model.onnx: it is no ONNX model: it has neither an IR version nor nodes"});
  OperatorSets many;
  for (int i = 0; i < 257; ++i)
    many.emplace_back("d" + std::to_string(i), 1);
  EXPECT_EQ(mistakes(8, many),
            Texts{"model.onnx: it has operators of 257 domains; at most 256 are accepted"});
}

TEST(OnnxModelStructure, wantsEveryNameDefinedOnce) {
  EXPECT_EQ(
      mistakesOf({relu("x", "x", "first"), relu("x", "y"), relu("x", "y")}),
      (Texts{"model.onnx: node 0 'first' (Relu, opset 17): output 0 is 'x', as an input is "
             "already",
             "model.onnx: node 2 (Relu, opset 17): output 0 is 'y', as node 1 (Relu, opset 17) "
             "is already"}));
  Message weight = rawTensor<float>("w", DataType::Float, {1}, {1});
  EXPECT_EQ(mistakesOf({relu("x", "y"), relu("x", "w")}, {weight, weight}),
            (Texts{"model.onnx: initializer 1 is 'w', as an initializer is already",
                   "model.onnx: node 1 (Relu, opset 17): output 0 is 'w', as an initializer is "
                   "already"}));
  EXPECT_EQ(mistakesIn(model(
                {.graph = graph({.inputs = {valueInfo("x"), valueInfo("x"), valueInfo("")},
                                 .outputs = {valueInfo("x"), valueInfo("x"), valueInfo("")}})})),
            (Texts{"model.onnx: input 1 of the graph is 'x', as an input is already",
                   "model.onnx: input 2 of the graph has no name",
                   "model.onnx: output 2 of the graph has no name",
                   "model.onnx: output 'x' of the graph stands twice"}));
  EXPECT_EQ(mistakesOf({relu("x", "y")}, {rawTensor<float>("", DataType::Float, {1}, {1})}),
            Texts{"model.onnx: initializer 0 has no name"});
  // In inner graphs.
  EXPECT_EQ(
      mistakesOf({relu("x", "u", "outer"),
                  node({.opType = "If",
                        .inputs = {"x"},
                        .outputs = {"y"},
                        .attributes = {branch({relu("x", "x"), relu("x", "u")}, "u")},
                        .name = "choice"})}),
      (Texts{"model.onnx: node 1 'choice' (If, opset 17), graph 'then_branch', node 0 (Relu, "
             "opset 17): output 0 is 'x', as an input of a graph around it is already",
             "model.onnx: node 1 'choice' (If, opset 17), graph 'then_branch', node 1 (Relu, "
             "opset 17): output 0 is 'u', as node 0 'outer' (Relu, opset 17) of a graph around "
             "it is already"}));
  // What a node with an inner graph gives, and what stands behind it, cannot be seen there.
  EXPECT_EQ(mistakesOf({node({"If", {"x"}, {"u"}, {branch({relu("x", "u"), relu("u", "y")}, "y")}}),
                        relu("u", "y")}),
            Texts());
}

TEST(OnnxModelStructure, wantsEveryNameDefined) {
  EXPECT_EQ(
      mistakesOf(
          {node({.opType = "Conv", .inputs = {"x", "conv1_w"}, .outputs = {"y"}, .name = "conv1"})},
          {rawTensor<float>("conv1_W", DataType::Float, {1}, {1})}),
      Texts{"model.onnx: node 0 'conv1' (Conv, opset 17): input 1 is 'conv1_w', which nothing "
            "defines; did you mean 'conv1_W'?"});
  EXPECT_EQ(mistakesOf({relu("x", "u")}),
            Texts{"model.onnx: output 0 of the graph is 'y', which nothing defines"});
  // What inner graphs define cannot be seen outside.
  EXPECT_EQ(
      mistakesOf({node({"If", {"x"}, {"u"}, {branch({relu("x", "inner")}, "inner")}}),
                  relu("inner", "y")}),
      Texts{"model.onnx: node 1 (Relu, opset 17): input 0 is 'inner', which nothing defines"});
  EXPECT_EQ(
      mistakesOf({node({"If", {"x"}, {"y"}, {branch({relu("z", "t")}, "s")}})}),
      (Texts{"model.onnx: node 0 (If, opset 17), graph 'then_branch', node 0 (Relu, opset 17): "
             "input 0 is 'z', which nothing defines",
             "model.onnx: node 0 (If, opset 17), graph 'then_branch': output 0 of the graph is "
             "'s', which nothing defines"}));
}

TEST(OnnxModelStructure, sortsNodes) {
  EXPECT_EQ(orderOf({relu("x", "a"), relu("a", "b")}), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(orderOf({relu("b", "c"), relu("a", "b"), relu("x", "a")}),
            (std::vector<int64_t>{2, 1, 0}));
  // Of nodes that may run the first in the file comes first.
  EXPECT_EQ(orderOf({relu("c", "d"), relu("x", "a"), relu("x", "c"), relu("x", "e")}),
            (std::vector<int64_t>{1, 2, 0, 3}));
  // What an inner graph needs, its node needs.
  EXPECT_EQ(
      orderOf({node({"If", {"x"}, {"y"}, {branch({relu("late", "t")}, "t")}}), relu("x", "late")}),
      (std::vector<int64_t>{1, 0}));
}

TEST(OnnxModelStructure, findsCycles) {
  EXPECT_EQ(
      mistakesOf({relu("x", "y"), relu("c", "a", "first"), relu("a", "b"), relu("b", "c"),
                  relu("c", "d")}),
      Texts{"model.onnx: the graph has a cycle: node 1 'first' (Relu, opset 17) needs node 3 "
            "(Relu, opset 17) needs node 2 (Relu, opset 17) needs node 1 'first' (Relu, opset "
            "17)"});
  EXPECT_EQ(mistakesOf({relu("y", "y")}),
            Texts{"model.onnx: the graph has a cycle: node 0 (Relu, opset 17) needs node 0 (Relu, "
                  "opset 17)"});
  // Through an inner graph, and within one.
  EXPECT_EQ(
      mistakesOf({node({"If", {"x"}, {"y"}, {branch({relu("y", "t")}, "t")}})}),
      Texts{"model.onnx: the graph has a cycle: node 0 (If, opset 17) needs node 0 (If, opset "
            "17)"});
  EXPECT_EQ(mistakesOf({node({"If", {"x"}, {"y"}, {branch({relu("t", "t")}, "t")}})}),
            Texts{"model.onnx: node 0 (If, opset 17), graph 'then_branch': the graph has a cycle: "
                  "node 0 (Relu, opset 17) needs node 0 (Relu, opset 17)"});
  std::vector<Message> ring;
  for (int i = 0; i < 20; ++i)
    ring.push_back(relu("r" + std::to_string(i), "r" + std::to_string((i + 1) % 20)));
  ring.push_back(relu("x", "y"));
  Texts mistakes = mistakesOf(ring);
  ASSERT_EQ(mistakes.size(), 1);
  EXPECT_TRUE(
      mistakes[0].ends_with("node 13 (Relu, opset 17) needs 12 more needs node 0 (Relu, opset "
                            "17)"))
      << mistakes[0];
}

TEST(OnnxModelStructure, checksNodes) {
  EXPECT_EQ(mistakesOf({node({"", {"x"}, {"y"}})}),
            Texts{"model.onnx: node 0 (, opset 17): it has no operator"});
  EXPECT_EQ(
      mistakesOf({node({.opType = "Relu", .inputs = {"x"}, .outputs = {"y"}, .domain = "locla"})}),
      Texts{"model.onnx: node 0 (locla.Relu): no version of the operators of domain 'locla' is "
            "listed (opset_import); did you mean 'local'?"});
  EXPECT_EQ(
      mistakesIn(model({.graph = graph({.nodes = {node({"Relu", {}, {"y"}})}}),
                        .operatorSets = {{"ai.onnx.ml", 3}}})),
      Texts{"model.onnx: node 0 (Relu): no version of the operators is listed (opset_import)"});
  auto mistakes = [](const std::vector<Message> &attributes) {
    return mistakesOf({node({"Op", {"x"}, {"y"}, attributes})});
  };
  std::string place = "model.onnx: node 0 (Op, opset 17): ";
  EXPECT_EQ(mistakes({intAttribute("axis", 1), intAttribute("axis", 1)}),
            Texts{place + "attribute 'axis' stands twice"});
  EXPECT_EQ(mistakes({intAttribute("", 1)}), Texts{place + "attribute 0 has no name"});
  EXPECT_EQ(mistakes({bytesField(1, "a")}), Texts{place + "attribute 'a' has no value"});
  EXPECT_EQ(mistakes({attribute("a", Kind::Graph, "")}),
            Texts{place + "attribute 'a' has no value"});
  EXPECT_EQ(mistakes({bytesField(1, "a") + integerField(3, 1) + singleField(2, 1)}),
            Texts{place + "attribute 'a' has values of several kinds"});
  EXPECT_EQ(mistakes({attribute("a", Kind::Ints, singleField(2, 1))}),
            Texts{place + "attribute 'a' is said to be of kind 'ints', but has a value of kind "
                          "'float'"});
  EXPECT_EQ(mistakes({attribute("a", static_cast<Kind>(15), integerField(3, 1))}),
            Texts{place + "attribute 'a' is of kind 15; ONNX has kinds 1 to 14"});
  EXPECT_EQ(mistakes({attribute("a", static_cast<Kind>(-1), "")}),
            Texts{place + "attribute 'a' is of kind -1; ONNX has kinds 1 to 14"});
  EXPECT_EQ(mistakes({referenceAttribute("a", Kind::Int, "b")}),
            Texts{place + "attribute 'a' refers to 'b', but stands in no function"});
  EXPECT_EQ(mistakes({tensorAttribute("value", rawTensor<uint8_t>("", DataType::Float, {3}, {1}))}),
            Texts{place + "attribute 'value': its shape [3] of float needs 12 bytes, but raw_data "
                          "has 1"});
  EXPECT_EQ(
      mistakes({attribute("a", Kind::SparseTensor,
                          bytesField(22, bytesField(1, tensor("", DataType::Float, {0})) +
                                             bytesField(2, tensor("", DataType::Int8, {0}))))}),
      Texts{place + "attribute 'a': its indices are of int8, but must be of int64"});
  EXPECT_EQ(mistakes({attribute("a", Kind::Type, bytesField(14, ""))}),
            Texts{place + "attribute 'a': a type says neither what it is nor of what"});
}

TEST(OnnxModelStructure, checksTensorsAndTypes) {
  EXPECT_EQ(
      mistakesOf({relu("x", "y")}, {rawTensor<uint8_t>("w", DataType::Float, {3}, {1})}),
      Texts{"model.onnx: initializer 'w': its shape [3] of float needs 12 bytes, but raw_data "
            "has 1"});
  auto mistakes = [](const Message &input) {
    return mistakesIn(model({.graph = graph({.inputs = {input}})}));
  };
  EXPECT_EQ(mistakes(bytesField(1, "x")), Texts{"model.onnx: input 'x' has no type"});
  EXPECT_EQ(mistakes(valueInfo("x", static_cast<DataType>(77), {1})),
            Texts{"model.onnx: input 'x': its cells have type 77; ONNX has types 1 to 28"});
  EXPECT_EQ(mistakes(valueInfo("x", bytesField(4, ""))),
            Texts{"model.onnx: input 'x': its elements have no type"});
  EXPECT_EQ(mistakes(valueInfo("x", bytesField(5, bytesField(2, tensorType(DataType::Float))))),
            Texts{"model.onnx: input 'x': its keys have no type"});
}

TEST(OnnxModelStructure, checksFunctions) {
  EXPECT_EQ(mistakesOfBody({relu("a", "b")}), Texts{});
  EXPECT_EQ(mistakesOfBody({relu("b", "c"), relu("a", "b")}), Texts{}); // sorted
  EXPECT_EQ(mistakesOfBody({node({"Relu", {"x"}, {"b"}})}),
            Texts{"model.onnx: function 'local.f', node 0 (Relu, opset 17): input 0 is 'x', which "
                  "nothing defines"});
  EXPECT_EQ(mistakesOfBody({relu("a", "c")}),
            Texts{"model.onnx: function 'local.f': output 0 of the graph is 'b', which nothing "
                  "defines"});
  EXPECT_EQ(
      mistakesOfBody({node({"Relu", {"a"}, {"b"}, {referenceAttribute("q", Kind::Int, "axes")}})},
                     {"axis"}),
      Texts{"model.onnx: function 'local.f', node 0 (Relu, opset 17): attribute 'q' refers to "
            "'axes', which the function doesn't have; did you mean 'axis'?"});
  EXPECT_EQ(
      mistakesOfBody({node({"Relu", {"a"}, {"b"}, {referenceAttribute("q", Kind::Int, "axis")}})},
                     {"axis"}),
      Texts{});
  EXPECT_EQ(mistakesOfBody({relu("a", "b")}, {"axis", "axis"}),
            Texts{"model.onnx: function 'local.f': attribute 'axis' stands twice"});
  Message f = function({.name = "f", .inputs = {"a"}, .outputs = {"b"}, .nodes = {relu("a", "b")}});
  EXPECT_EQ(mistakesOf({relu("x", "y")}, {}, {f, f}),
            Texts{"model.onnx: function 'local.f': the model has another function of this name"});
  EXPECT_EQ(
      mistakesOf({relu("x", "y")}, {},
                 {function({.name = "",
                            .inputs = {},
                            .outputs = {},
                            .nodes = {},
                            .defaults = {graphAttribute("body", graph({}))},
                            .overload = "v",
                            .operatorSets = {{"", 99}}})}),
      (Texts{"model.onnx: function 'local.:v': its operators are of opset 99; those from 1 to "
             "28 are known",
             "model.onnx: function 'local.:v': the function has no name",
             "model.onnx: function 'local.:v': attribute 'body' has a graph for a default, but "
             "only nodes can have graphs"}));
}

TEST(OnnxModelStructure, checksCalls) {
  std::vector<Message> functions = {function({.name = "f",
                                              .inputs = {"a"},
                                              .outputs = {"b"},
                                              .nodes = {relu("a", "b")},
                                              .attributes = {"axis"}})};
  EXPECT_EQ(mistakesOf({call("f", {"x"}, {"y"}, {intAttribute("axis", 1)})}, {}, functions),
            Texts{});
  EXPECT_EQ(mistakesOf({call("f", {}, {}), relu("x", "y")}, {}, functions), Texts{});
  EXPECT_EQ(
      mistakesOf({call("f", {"x", "x"}, {"y", "z"}, {intAttribute("axes", 1)})}, {}, functions),
      (Texts{"model.onnx: node 0 (local.f, opset 1): it has 2 inputs, but function 'local.f' "
             "has 1",
             "model.onnx: node 0 (local.f, opset 1): it has 2 outputs, but function 'local.f' "
             "has 1",
             "model.onnx: node 0 (local.f, opset 1): function 'local.f' has no attribute "
             "'axes'; did you mean 'axis'?"}));
}

TEST(OnnxModelStructure, refusesCallsInCircles) {
  auto calling = [](const std::string &name, const Message &body) {
    return function({.name = name, .inputs = {"a"}, .outputs = {"b"}, .nodes = {body}});
  };
  EXPECT_EQ(mistakesOf({call("f", {"x"}, {"y"})}, {}, {calling("f", call("f", {"a"}, {"b"}))}),
            Texts{"model.onnx: function 'local.f': calls itself: function 'local.f' calls function "
                  "'local.f'"});
  EXPECT_EQ(
      mistakesOf(
          {relu("x", "y")}, {},
          {calling("f", call("g", {"a"}, {"b"})),
           calling("g", node({"If", {"a"}, {"b"}, {branch({call("f", {"a"}, {"t"})}, "t")}}))}),
      Texts{"model.onnx: function 'local.f': calls itself: function 'local.f' calls function "
            "'local.g' calls function 'local.f'"});
}

TEST(OnnxModelStructure, stopsAfterAHundredMistakes) {
  std::vector<Message> nodes(1000, relu("x", "y"));
  std::string bytes = model({.graph = graph({.nodes = nodes, .inputs = {valueInfo("x")}})});
  EXPECT_EQ(mistakesIn(bytes).size(), 100);
  Model model = readModel({"model.onnx", bytes});
  ModelErrors errors("model.onnx");
  verifyStructure(model, nullptr, errors);
  EXPECT_TRUE(messageOf([&] {
                errors.throwIfAny();
              }).ends_with("\nmodel.onnx: there may be more mistakes than these 100"));
}

// Names come from strangers.
TEST(OnnxModelStructure, writesNamesSafely) {
  EXPECT_EQ(mistakesOf({relu("\x1b[2Jx\xff\xc2\x85", "y", "größe")}),
            Texts{"model.onnx: node 0 'größe' (Relu, opset 17): input 0 is "
                  "'\\x1b[2Jx\\xff\\xc2\\x85', which nothing defines"});
  EXPECT_EQ(mistakesOf({relu(std::string(1000000, 'n'), "y")}),
            Texts{"model.onnx: node 0 (Relu, opset 17): input 0 is '" + std::string(100, 'n') +
                  "…', which nothing defines"});
}
