// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-negate-equalities))' %s | FileCheck %s

// CHECK-LABEL: func.func @equality(
// CHECK: %[[R:.*]] = tok.binary ne %arg0, %arg1
// CHECK: return %[[R]]
func.func @equality(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.binary eq %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary not %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// What failed still fails: the result has the sizes of the left operand.
// CHECK-LABEL: func.func @one_repeated(
// CHECK: tok.binary eq one_repeated %arg0, %arg1
func.func @one_repeated(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.binary ne one_repeated %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary not %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// !(NaN < 1) is true, NaN >= 1 is not.
// CHECK-LABEL: func.func @order(
// CHECK: tok.binary lt
// CHECK: tok.unary not
func.func @order(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.binary lt %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary not %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}
