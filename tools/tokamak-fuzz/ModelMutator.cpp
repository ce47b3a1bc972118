#include "tokamak-fuzz/ModelMutator.h"

#include "base/Error.h"
#include "tokamak-fuzz/ModelValues.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <sstream>

namespace tokamak::fuzz {
namespace {

using onnx::DataType;

constexpr size_t largestModel = 200'000; // in bytes, without its values

std::string readFile(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Field integerField(uint32_t number, int64_t value) {
  return {number, Field::Form::Integer, static_cast<uint64_t>(value)};
}

Field messageField(uint32_t number, MessageKind kind, std::vector<Field> fields) {
  return {number, Field::Form::Message, 0, {}, kind, std::move(fields)};
}

// A field and those beside it, in their message.
struct Place {
  Field *owner;
  size_t index;
  Field &field() const { return owner->fields[index]; }
};

void collect(Field &message, std::vector<Place> &places) {
  for (size_t i = 0; i < message.fields.size(); ++i) {
    places.push_back({&message, i});
    collect(message.fields[i], places);
  }
}

std::vector<Place> placesIn(Field &model) {
  std::vector<Place> places;
  collect(model, places);
  return places;
}

// Whether the field is a name: of values, nodes, operators, attributes, sizes.
bool isName(const Place &place) {
  if (place.field().form != Field::Form::Bytes)
    return false;
  uint32_t number = place.field().number;
  switch (place.owner->kind) {
  case MessageKind::Node:
    return number != 6;
  case MessageKind::Attribute:
    return number == 1 || number == 4 || number == 9;
  case MessageKind::Tensor:
    return number == 8;
  case MessageKind::ValueInfo:
  case MessageKind::OperatorSet:
    return number == 1;
  case MessageKind::Dimension:
    return number == 2;
  case MessageKind::Function:
    return number != 8;
  default:
    return false;
  }
}

class Mutation {
public:
  Mutation(Random &random, Field &model, const std::vector<Field> &others)
      : random_(random), model_(model), others_(others) {
    graph_ = fieldOf(model_, 7);
    std::vector<Place> all = placesIn(model_);
    isEndless_ = std::ranges::any_of(all, [](const Place &place) {
      return place.owner->kind == MessageKind::Node && place.field().number == 4 &&
             place.field().bytes == "Loop";
    });
  }

  void apply() {
    using Step = void (Mutation::*)();
    static constexpr Step steps[] = {
        &Mutation::remove,       &Mutation::repeat,        &Mutation::exchange,
        &Mutation::changeNumber, &Mutation::changeNumber,  &Mutation::changeNumber,
        &Mutation::changeName,   &Mutation::changeName,    &Mutation::replace,
        &Mutation::resizeValue,  &Mutation::resizeValue,   &Mutation::retypeValue,
        &Mutation::retypeFloats, &Mutation::retypeFloats,  &Mutation::changeCells,
        &Mutation::changeCells,  &Mutation::truncateCells, &Mutation::forgetShapes,
        &Mutation::wrapNodes,    &Mutation::changeOpset,   &Mutation::changeReal,
        &Mutation::addInteger};
    (this->*steps[random_.upTo(std::size(steps))])();
  }

private:
  std::vector<Place> placesOf(const std::function<bool(const Place &)> &isWanted) {
    std::vector<Place> places = placesIn(model_);
    std::erase_if(places, [&](const Place &place) { return !isWanted(place); });
    return places;
  }

  //===- any field ---------------------------------------------------------------------------===//

  std::vector<Place> messagesAndNames() {
    return placesOf([](const Place &place) {
      return place.field().form == Field::Form::Message || isName(place);
    });
  }

  void remove() {
    std::vector<Place> places = messagesAndNames();
    if (places.empty())
      return;
    Place place = random_.choose(places);
    place.owner->fields.erase(place.owner->fields.begin() + static_cast<int64_t>(place.index));
  }

  void repeat() {
    std::vector<Place> places = messagesAndNames();
    if (places.empty())
      return;
    Place place = random_.choose(places);
    Field copy = place.field();
    place.owner->fields.push_back(std::move(copy));
  }

  // Two of the same message with the same number: operands, attributes, nodes, sizes.
  void exchange() {
    std::vector<Place> places = messagesAndNames();
    std::erase_if(places, [](const Place &place) {
      return fieldsOf(*place.owner, place.field().number).size() < 2;
    });
    if (places.empty())
      return;
    Place place = random_.choose(places);
    Field &other = *random_.choose(fieldsOf(*place.owner, place.field().number));
    std::swap(place.field(), other);
  }

  int64_t oddNumber(int64_t old) {
    if (random_.chance(0.6))
      return random_.choose({old + 1, old - 1, -old, old * 2, old / 2, int64_t{0}, int64_t{1},
                             int64_t{-1}, int64_t{2}, int64_t{3}, int64_t{-2}, int64_t{-5}});
    if (isEndless_)
      return random_.between(-100, 100);
    constexpr int64_t largest = std::numeric_limits<int64_t>::max();
    return random_.choose({int64_t{64}, int64_t{100}, int64_t{1000}, int64_t{1} << 31,
                           int64_t{1} << 32, (int64_t{1} << 31) - 1, int64_t{1} << 40, largest,
                           -largest, -largest - 1, largest / 2});
  }

  void changeNumber() {
    std::vector<Place> places =
        placesOf([](const Place &place) { return place.field().form == Field::Form::Integer; });
    if (places.empty())
      return;
    Field &field = random_.choose(places).field();
    // Unsigned: what is written may wrap.
    field.integer = static_cast<uint64_t>(oddNumber(static_cast<int32_t>(field.integer)));
  }

  void changeReal() {
    std::vector<Place> places =
        placesOf([](const Place &place) { return place.field().form == Field::Form::Word; });
    if (!places.empty())
      random_.choose(places).field().integer = random_.choose(
          {0x00000000U, 0x80000000U, 0x7fc00000U, 0x7f800000U, 0xff800000U, 0x3f800000U,
           0xbf800000U, 0x00000001U, 0x7f7fffffU, 0x3f000000U, 0x40200000U});
  }

  // One more number in a list of them.
  void addInteger() {
    std::vector<Place> places = placesOf([](const Place &place) {
      return place.field().form == Field::Form::Integer &&
             (place.owner->kind == MessageKind::Attribute ||
              place.owner->kind == MessageKind::Tensor);
    });
    if (places.empty())
      return;
    Place place = random_.choose(places);
    Field copy = place.field();
    if (random_.chance(0.5))
      copy.integer = static_cast<uint64_t>(oddNumber(1));
    place.owner->fields.push_back(copy);
  }

  void changeName() {
    std::vector<Place> places = placesOf(isName);
    if (places.empty())
      return;
    Field &field = random_.choose(places).field();
    static const std::vector<std::string> odd = {
        "",        "nothing", "SAME_UPPER", "SAME_LOWER", "VALID",   "linear", "cubic",
        "nearest", "reflect", "edge",       "wrap",       "reverse", "sum",    "mean",
        "none",    "add",     "mul",        "max",        "axis",    "axes",   "Identity"};
    if (random_.chance(0.6))
      field.bytes = random_.choose(places).field().bytes;
    else if (random_.chance(0.5))
      field.bytes = random_.choose(odd);
    else if (Place other = otherPlace(isName); other.owner)
      field.bytes = other.field().bytes;
  }

  // A place in another model.
  Place otherPlace(const std::function<bool(const Place &)> &isWanted) {
    other_ = others_[random_.upTo(static_cast<int64_t>(others_.size()))];
    std::vector<Place> places = placesIn(other_);
    std::erase_if(places, [&](const Place &place) { return !isWanted(place); });
    return places.empty() ? Place{nullptr, 0} : random_.choose(places);
  }

  // A message by one of the same kind in another model.
  void replace() {
    std::vector<Place> places =
        placesOf([](const Place &place) { return place.field().form == Field::Form::Message; });
    if (places.empty())
      return;
    Place place = random_.choose(places);
    MessageKind kind = place.field().kind;
    Place other = otherPlace([&](const Place &place) { return place.field().kind == kind; });
    if (!other.owner)
      return;
    uint32_t number = place.field().number;
    place.field() = other.field();
    place.field().number = number;
  }

  void changeOpset() {
    std::vector<Place> places = placesOf([](const Place &place) {
      return place.owner->kind == MessageKind::OperatorSet && place.field().number == 2;
    });
    if (!places.empty())
      random_.choose(places).field().integer =
          static_cast<uint64_t>(random_.chance(0.9) ? random_.between(1, 28) : oddNumber(13));
  }

  //===- values ------------------------------------------------------------------------------===//

  std::vector<Field *> tensors() {
    std::vector<Field *> found;
    for (const Place &place :
         placesOf([](const Place &place) { return place.field().kind == MessageKind::Tensor; }))
      found.push_back(&place.field());
    return found;
  }

  static std::vector<int64_t> sizesOf(Field &tensor) {
    std::vector<int64_t> sizes;
    for (Field *size : fieldsOf(tensor, 1))
      sizes.push_back(static_cast<int64_t>(size->integer));
    return sizes;
  }
  static DataType typeOf(Field &tensor) {
    Field *type = fieldOf(tensor, 2);
    return type ? static_cast<DataType>(type->integer) : DataType::Undefined;
  }

  // New cells; what the graph says of the value goes along.
  void rewrite(Field &tensor, DataType type, const std::vector<int64_t> &sizes) {
    std::string name = textOf(tensor, 8);
    std::optional<ElementType> element = onnx::elementTypeOf(type);
    CellRange range = element && isFloat(*element) ? CellRange{-2, 3} : CellRange{0, 3};
    Field changed =
        readMessage(randomTensor(random_, name, type, sizes, range), MessageKind::Tensor);
    tensor.fields = std::move(changed.fields);
    if (!graph_)
      return;
    for (Field *input : fieldsOf(*graph_, 11))
      if (textOf(*input, 1) == name)
        declare(*input, type, sizes);
  }

  void declare(Field &info, DataType type, const std::vector<int64_t> &sizes) {
    std::vector<Field> dimensions;
    for (int64_t size : sizes)
      dimensions.push_back(messageField(
          1, MessageKind::Dimension,
          random_.chance(0.5) ? std::vector<Field>{integerField(1, size)} : std::vector<Field>{}));
    std::erase_if(info.fields, [](const Field &field) { return field.number == 2; });
    Field shape = messageField(2, MessageKind::Shape, std::move(dimensions));
    Field tensor = messageField(1, MessageKind::TensorType,
                                {integerField(1, static_cast<int64_t>(type)), std::move(shape)});
    info.fields.push_back(messageField(2, MessageKind::Type, {std::move(tensor)}));
  }

  void resizeValue() {
    std::vector<Field *> all = tensors();
    if (all.empty())
      return;
    Field &tensor = *random_.choose(all);
    std::vector<int64_t> sizes = sizesOf(tensor);
    if (sizes.empty() || random_.chance(0.15))
      sizes.push_back(random_.choose({1, 2, 3}));
    else if (random_.chance(0.2))
      sizes.erase(sizes.begin() + random_.upTo(static_cast<int64_t>(sizes.size())));
    else if (int64_t &size = sizes[random_.upTo(static_cast<int64_t>(sizes.size()))];
             random_.chance(0.8))
      size = random_.choose({int64_t{0}, int64_t{1}, int64_t{2}, size + 1, size - 1, size * 2});
    else
      size = oddNumber(size);
    rewrite(tensor, typeOf(tensor), sizes);
  }

  void retypeValue() {
    std::vector<Field *> all = tensors();
    if (all.empty())
      return;
    Field &tensor = *random_.choose(all);
    rewrite(tensor, anyDataType(random_), sizesOf(tensor));
  }

  // All of single precision in another type, so that the model may still be right.
  void retypeFloats() {
    DataType type = anyDataType(random_);
    for (Field *tensor : tensors())
      if (typeOf(*tensor) == DataType::Float)
        rewrite(*tensor, type, sizesOf(*tensor));
    if (!graph_)
      return;
    for (const Place &place : placesOf([](const Place &place) {
           return place.owner->kind == MessageKind::TensorType && place.field().number == 1 &&
                  place.field().integer == static_cast<uint64_t>(DataType::Float);
         }))
      place.field().integer = static_cast<uint64_t>(type);
  }

  // Of integers, which may be places and sizes.
  void changeCells() {
    std::vector<Field *> all = tensors();
    std::erase_if(all, [](Field *tensor) {
      return typeOf(*tensor) != DataType::Int64 && typeOf(*tensor) != DataType::Int32;
    });
    if (all.empty())
      return;
    Field &tensor = *random_.choose(all);
    Field *raw = fieldOf(tensor, 9);
    size_t width = typeOf(tensor) == DataType::Int64 ? 8 : 4;
    if (!raw || raw->bytes.size() < width)
      return;
    size_t at = width * random_.upTo(static_cast<int64_t>(raw->bytes.size() / width));
    int64_t old = 0;
    std::copy_n(raw->bytes.data() + at, width, reinterpret_cast<char *>(&old));
    int64_t changed = oddNumber(width == 4 ? static_cast<int32_t>(old) : old / 2);
    std::copy_n(reinterpret_cast<const char *>(&changed), width, raw->bytes.data() + at);
  }

  void truncateCells() {
    std::vector<Field *> all = tensors();
    std::erase_if(all, [](Field *tensor) { return fieldOf(*tensor, 9) == nullptr; });
    if (all.empty())
      return;
    std::string &bytes = fieldOf(*random_.choose(all), 9)->bytes;
    bytes.resize(random_.upTo(static_cast<int64_t>(bytes.size()) + 2));
  }

  //===- graphs ------------------------------------------------------------------------------===//

  // Sizes become names, or inputs lose their rank.
  void forgetShapes() {
    bool ranks = random_.chance(0.3);
    for (const Place &place : placesOf([&](const Place &place) {
           return place.field().kind == (ranks ? MessageKind::TensorType : MessageKind::Dimension);
         }))
      if (random_.chance(0.6)) {
        if (ranks)
          std::erase_if(place.field().fields, [](const Field &field) { return field.number == 2; });
        else
          place.field().fields = {bytesField(2, random_.choose({"n", "m", "?"}))};
      }
  }

  // All nodes go into both branches of an If, which may be in another one.
  void wrapNodes() {
    if (!graph_)
      return;
    const int64_t deepest = random_.choose({1, 1, 1, 2, 3, 80});
    for (int64_t depth = 1; depth <= deepest; ++depth) {
      std::vector<Field> nodes, results;
      for (Field *node : fieldsOf(*graph_, 1))
        nodes.push_back(*node);
      for (Field *output : fieldsOf(*graph_, 12))
        nodes.push_back(*output);
      // Names of inner graphs are not those of outer ones.
      for (Field *output : fieldsOf(*graph_, 12))
        if (Field *name = fieldOf(*output, 1)) {
          name->bytes += '_';
          results.push_back(bytesField(2, name->bytes));
        }
      auto branch = [&](const char *name) {
        return messageField(
            5, MessageKind::Attribute,
            {bytesField(1, name), messageField(6, MessageKind::Graph, nodes), integerField(20, 5)});
      };
      std::string condition = fmt::format("condition{}", depth);
      Field choice = messageField(1, MessageKind::Node, {bytesField(1, condition)});
      choice.fields.insert(choice.fields.end(), results.begin(), results.end());
      choice.fields.push_back(bytesField(4, "If"));
      choice.fields.push_back(branch("then_branch"));
      choice.fields.push_back(branch("else_branch"));
      // Two of each would grow beyond all bounds.
      if (deepest > 3)
        fieldOf(choice.fields.back(), 6)->fields.clear();
      std::erase_if(graph_->fields, [](const Field &field) { return field.number == 1; });
      graph_->fields.push_back(std::move(choice));
      Field value =
          readMessage(tensorOf(condition, DataType::Bool, {}, {1.0}), MessageKind::Tensor);
      value.number = 5;
      graph_->fields.push_back(std::move(value));
      if (random_.chance(0.5))
        graph_->fields.push_back(conditionInput(condition));
    }
  }

  static Field conditionInput(const std::string &name) {
    return messageField(
        11, MessageKind::ValueInfo,
        {bytesField(1, name),
         messageField(2, MessageKind::Type,
                      {messageField(1, MessageKind::TensorType,
                                    {integerField(1, static_cast<int64_t>(DataType::Bool)),
                                     messageField(2, MessageKind::Shape, {})})})});
  }

  Random &random_;
  Field &model_;
  Field *graph_;
  const std::vector<Field> &others_;
  Field other_;
  bool isEndless_; // with large numbers, loops would not end
};

// The model with its values as weights.
Field withValues(const std::filesystem::path &folder) {
  Field model = readMessage(readFile(folder / "model.onnx"), MessageKind::Model);
  Field *graph = fieldOf(model, 7);
  std::vector<std::string> weights;
  for (Field *weight : fieldsOf(*graph, 5))
    weights.push_back(textOf(*weight, 8));
  std::vector<Field> values;
  std::vector<Field *> inputs = fieldsOf(*graph, 11);
  int number = 0;
  for (Field *input : inputs) {
    std::string name = textOf(*input, 1);
    if (std::ranges::count(weights, name) > 0)
      continue;
    Field *type = fieldOf(*input, 2);
    auto file = folder / "test_data_set_0" / fmt::format("input_{}.pb", number++);
    if (!type || !fieldOf(*type, 1))
      continue; // a sequence or an optional
    Field value = readMessage(readFile(file), MessageKind::Tensor);
    std::erase_if(value.fields, [](const Field &field) { return field.number == 8; });
    value.fields.push_back(bytesField(8, name));
    value.number = 5;
    values.push_back(std::move(value));
  }
  // At the end: `inputs` are addresses in the list.
  graph->fields.insert(graph->fields.end(), values.begin(), values.end());
  return model;
}

} // namespace

ModelMutator::ModelMutator(const std::vector<std::string> &folders) {
  for (const std::string &folder : folders) {
    std::vector<std::filesystem::path> cases;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (std::filesystem::exists(entry.path() / "model.onnx") &&
          std::filesystem::file_size(entry.path() / "model.onnx") < largestModel)
        cases.push_back(entry.path());
    std::ranges::sort(cases);
    for (const auto &path : cases)
      models_.push_back(withValues(path));
  }
  if (models_.empty())
    throw Error("there are no conformance cases in these folders");
}

SourceText ModelMutator::mutated(uint64_t seed) const {
  Random random(seed);
  Field model = models_[random.upTo(static_cast<int64_t>(models_.size()))];
  for (int64_t count = random.choose({1, 1, 1, 2, 3}); count > 0; --count)
    Mutation(random, model, models_).apply();
  return {bytesOf(model), Language::Onnx};
}

std::string shrinkModel(const std::string &text,
                        const std::function<bool(const std::string &)> &fails) {
  if (!fails(text))
    return text;
  Field model = readMessage(text, MessageKind::Model);
  constexpr int mostTries = 400;
  int tries = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < placesIn(model).size() && tries < mostTries;) {
      Place place = placesIn(model)[i];
      Field field = place.field();
      auto at = place.owner->fields.begin() + static_cast<int64_t>(place.index);
      place.owner->fields.erase(at);
      if (++tries; fails(bytesOf(model))) {
        changed = true;
        continue;
      }
      place.owner->fields.insert(place.owner->fields.begin() + static_cast<int64_t>(place.index),
                                 std::move(field));
      ++i;
    }
  }
  return bytesOf(model);
}

} // namespace tokamak::fuzz
