// RUN: tokamak-opt %s -split-input-file -verify-diagnostics

func.func @template(%x: tensor<?x?xf64>) {
  // expected-error @+1 {{no template outter}}
  %0 = plan.operator outter(%x) sizes [2, 2] : (tensor<?x?xf64>) -> tensor<?x?xf64> {
  ^bb0(%a: tensor<?x?xf64>):
    plan.yield %a : tensor<?x?xf64>
  }
  return
}

// -----

func.func @sizes(%x: tensor<?x?xf64>) {
  // expected-error @+1 {{sizes has rows and columns of every operand}}
  %0 = plan.operator cell(%x) sizes [2] : (tensor<?x?xf64>) -> tensor<?x?xf64> {
  ^bb0(%a: tensor<?x?xf64>):
    plan.yield %a : tensor<?x?xf64>
  }
  return
}

// -----

func.func @united(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) {
  // expected-error @+1 {{united lists the driver and CSR operands of its sizes}}
  %0 = plan.operator cell(%x, %y) sizes [s0, s1, s1, s0] {csr = array<i64: 0, 1>, driver = 0 : i64, united = array<i64: 0, 1>} : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64> {
  ^bb0(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>):
    plan.yield %a : tensor<?x?xf64>
  }
  return
}

// -----

func.func @size(%x: tensor<?x?xf64>) {
  // expected-error @+1 {{no size: s0 +}}
  %0 = plan.operator cell(%x) sizes ["s0 +", 2] : (tensor<?x?xf64>) -> tensor<?x?xf64> {
  ^bb0(%a: tensor<?x?xf64>):
    plan.yield %a : tensor<?x?xf64>
  }
  return
}

// -----

// expected-error @+1 {{argument 1: expected sizes like ["s0 + 1", 10]}}
func.func @argument(%s: f64, %x: tensor<?x?xf64> {tok.sizes = ["rows", 10]}) {
  return
}
