// Names of operators in the text of both dialects: the custom directives UnaryName, BinaryName,
// AggregateName and DirectionName of the assembly formats.
//
//   mlir::IntegerAttr attribute;
//   if (failed(parseUnaryName(parser, attribute))) ...      // of "exp"
//
// They are used in TableGen:
//
//   let assemblyFormat = "custom<UnaryName>($cellOperator) $operand ...";    // tok.unary exp %x
#ifndef TOKAMAK_IR_TOK_OPERATORNAMES_H
#define TOKAMAK_IR_TOK_OPERATORNAMES_H

#include "base/CellOperators.h"

#include "mlir/IR/OpImplementation.h"

namespace tokamak::tok {

template <typename Find>
mlir::ParseResult parseName(mlir::OpAsmParser &parser, mlir::IntegerAttr &attribute,
                            llvm::StringRef what, Find find) {
  llvm::StringRef name;
  llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return mlir::failure();
  auto found = find(std::string_view(name.data(), name.size()));
  if (!found)
    return parser.emitError(place) << "unknown " << what << " '" << name << "'";
  attribute = parser.getBuilder().getI32IntegerAttr(static_cast<int32_t>(*found));
  return mlir::success();
}

template <typename Enum> void printName(mlir::OpAsmPrinter &printer, mlir::IntegerAttr attribute) {
  std::string_view name = mnemonic(static_cast<Enum>(attribute.getInt()));
  printer << llvm::StringRef(name.data(), name.size());
}

inline mlir::ParseResult parseUnaryName(mlir::OpAsmParser &parser, mlir::IntegerAttr &attribute) {
  return parseName(parser, attribute, "unary operator", findUnaryOperator);
}
inline void printUnaryName(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::IntegerAttr attribute) {
  printName<UnaryOperator>(printer, attribute);
}
inline mlir::ParseResult parseBinaryName(mlir::OpAsmParser &parser, mlir::IntegerAttr &attribute) {
  return parseName(parser, attribute, "binary operator", findBinaryOperator);
}
inline void printBinaryName(mlir::OpAsmPrinter &printer, mlir::Operation *,
                            mlir::IntegerAttr attribute) {
  printName<BinaryOperator>(printer, attribute);
}
inline mlir::ParseResult parseAggregateName(mlir::OpAsmParser &parser,
                                            mlir::IntegerAttr &attribute) {
  return parseName(parser, attribute, "aggregation", findAggregateKind);
}
inline void printAggregateName(mlir::OpAsmPrinter &printer, mlir::Operation *,
                               mlir::IntegerAttr attribute) {
  printName<AggregateKind>(printer, attribute);
}
inline mlir::ParseResult parseDirectionName(mlir::OpAsmParser &parser,
                                            mlir::IntegerAttr &attribute) {
  return parseName(parser, attribute, "direction", findAggregateDirection);
}
inline void printDirectionName(mlir::OpAsmPrinter &printer, mlir::Operation *,
                               mlir::IntegerAttr attribute) {
  printName<AggregateDirection>(printer, attribute);
}

} // namespace tokamak::tok
#endif
