// RUN: tokamak-opt %s | tokamak-opt | FileCheck %s

// CHECK-LABEL: func.func @row
func.func @row(%X: tensor<?x?xf64>, %v: tensor<?x?xf64>, %s: f64) -> tensor<?x?xf64> {
  // CHECK: plan.operator row(%{{.*}}, %{{.*}}, %{{.*}}) sizes [s0, 10, 10, 1, 0, 0] : (tensor<?x?xf64>, tensor<?x?xf64>, f64) -> tensor<?x?xf64> {
  %q = plan.operator row(%X, %v, %s) sizes [s0, 10, 10, 1, 0, 0] : (tensor<?x?xf64>, tensor<?x?xf64>, f64) -> tensor<?x?xf64> {
  // CHECK-NEXT: ^bb0
  ^bb0(%x: tensor<?x?xf64>, %w: tensor<?x?xf64>, %c: f64):
    %0 = tok.matmul %x, %w : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    %1 = tok.binary mul %0, %c : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    // CHECK: plan.yield
    plan.yield %1 : tensor<?x?xf64>
  }
  return %q : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @united
func.func @united(%S: tensor<?x?xf64>, %T: tensor<?x?xf64>) -> tensor<?x?xf64> {
  // CHECK: plan.operator cell(%{{.*}}, %{{.*}}) sizes [s0, s1, s0, s1] {csr = array<i64: 0, 1>, csr_results = array<i64: 0>, driver = 0 : i64, united = array<i64: 0, 1>}
  %q = plan.operator cell(%S, %T) sizes [s0, s1, s0, s1] {csr = array<i64: 0, 1>, driver = 0 : i64, united = array<i64: 0, 1>, csr_results = array<i64: 0>} : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64> {
  ^bb0(%s: tensor<?x?xf64>, %t: tensor<?x?xf64>):
    %0 = tok.binary add %s, %t : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    plan.yield %0 : tensor<?x?xf64>
  }
  return %q : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @computed_sizes
func.func @computed_sizes(%S: tensor<?x?xf64>) -> tensor<?x?xf64> {
  // CHECK: plan.operator cell(%{{.*}}) sizes ["2*s0 + 1", "s1:2..600~500"] :
  %q = plan.operator cell(%S) sizes ["1 + s0*2", "s1:2..600~500"] : (tensor<?x?xf64>) -> tensor<?x?xf64> {
  ^bb0(%s: tensor<?x?xf64>):
    %0 = tok.unary exp %s : tensor<?x?xf64> -> tensor<?x?xf64>
    plan.yield %0 : tensor<?x?xf64>
  }
  return %q : tensor<?x?xf64>
}
