// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-replace-in-cells))' %s | FileCheck %s

// CHECK-LABEL: func.func @number
func.func @number(%x: tensor<?x?xf64>, %r: f64) -> f64 {
  %p = tok.constant 3.0 : f64
  // CHECK: %[[IS:.*]] = tok.binary eq %arg0
  // CHECK: tok.ifelse %[[IS]], %arg1, %arg0
  %0 = tok.replace %x, %p, %r : (tensor<?x?xf64>, f64, f64) -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  return %1 : f64
}

// CHECK-LABEL: func.func @nan
func.func @nan(%x: tensor<?x?xf64>, %r: f64) -> tensor<?x?xf64> {
  %p = tok.constant 0x7FF8000000000000 : f64
  %y = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK: tok.unary is_nan
  // CHECK: tok.ifelse
  %0 = tok.replace %y, %p, %r : (tensor<?x?xf64>, f64, f64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// A number that is not known may be NaN; alone, nothing is gained; f32 compares other numbers.
// CHECK-LABEL: func.func @must_not_fire
func.func @must_not_fire(%x: tensor<?x?xf64>, %y: tensor<?x?xf32>, %p: f64) -> (f64, tensor<?x?xf64>, f64) {
  // CHECK: tok.replace
  %0 = tok.replace %x, %p, %p : (tensor<?x?xf64>, f64, f64) -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  %tenth = tok.constant 0.1 : f64
  // CHECK: tok.replace
  %2 = tok.replace %x, %tenth, %p : (tensor<?x?xf64>, f64, f64) -> tensor<?x?xf64>
  // CHECK: tok.replace
  %3 = tok.replace %y, %tenth, %p : (tensor<?x?xf32>, f64, f64) -> tensor<?x?xf32>
  %4 = tok.aggregate sum full %3 : tensor<?x?xf32> -> f64
  return %1, %2, %4 : f64, tensor<?x?xf64>, f64
}
