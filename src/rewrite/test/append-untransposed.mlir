// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-append-untransposed))' %s | FileCheck %s

// CHECK-LABEL: func.func @append(
// CHECK: %[[R:.*]] = tok.rbind %arg0, %arg1
// CHECK: return %[[R]]
func.func @append(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.transpose %b : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.cbind %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.transpose %2 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %3 : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @no_append(
// CHECK: tok.cbind
// CHECK: tok.transpose
func.func @no_append(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.cbind %0, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.transpose %1 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}
