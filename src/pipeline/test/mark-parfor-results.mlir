// RUN: tokamak-opt --tok-mark-parfor-results --split-input-file %s | FileCheck %s

// Cells, also through branches; a sum; what the last iteration leaves.
// CHECK-LABEL: func.func @merges
// CHECK: tok.insert {{.*}} {tok.updates = 0 : i64}
// CHECK: attributes {tok.merges = ["cells", "sum", "last"]}
func.func @merges(%x: tensor<?x?xf64>, %one: i64, %n: i64, %zero: f64, %c: i1) {
  %r:3 = tok.parfor %i = %one to %n step %one carrying (%a = %x, %s = %zero, %l = %one) : tensor<?x?xf64>, f64, i64 {
    %b = tok.if %c -> tensor<?x?xf64> {
      %w = tok.insert %a, %zero, %i, %i, %one, %one : (tensor<?x?xf64>, f64, i64, i64, i64, i64) -> tensor<?x?xf64>
      tok.yield %w : tensor<?x?xf64>
    } else {
      tok.yield %a : tensor<?x?xf64>
    }
    %t = tok.binary add %s, %zero : (f64, f64) -> f64
    tok.yield %b, %t, %i : tensor<?x?xf64>, f64, i64
  }
  tok.print %r#0 : (tensor<?x?xf64>) -> ()
  return
}

// -----

// The inner loop says which matrix of the outer one it works on.
// CHECK-LABEL: func.func @nested
// CHECK: tok.parfor
// CHECK: tok.parfor
// CHECK: tok.insert {{.*}} {tok.updates = 0 : i64}
// CHECK: attributes {tok.merges = ["cells"], tok.outer_values = array<i64: 0>}
// CHECK: attributes {tok.merges = ["cells"]}
func.func @nested(%x: tensor<?x?xf64>, %one: i64, %n: i64, %zero: f64) {
  %r = tok.parfor %i = %one to %n step %one carrying (%a = %x) : tensor<?x?xf64> {
    %q = tok.parfor %j = %one to %n step %one carrying (%b = %a) : tensor<?x?xf64> {
      %w = tok.insert %b, %zero, %i, %i, %j, %j : (tensor<?x?xf64>, f64, i64, i64, i64, i64) -> tensor<?x?xf64>
      tok.yield %w : tensor<?x?xf64>
    }
    tok.yield %q : tensor<?x?xf64>
  }
  tok.print %r : (tensor<?x?xf64>) -> ()
  return
}

// -----

// Iterations see the sum so far, or what the one before left: they run in order.
// CHECK-LABEL: func.func @in_order
// CHECK-NOT: tok.merges
func.func @in_order(%one: i64, %n: i64, %zero: f64) {
  %r = tok.parfor %i = %one to %n step %one carrying (%s = %zero) : f64 {
    %t = tok.binary add %s, %zero : (f64, f64) -> f64
    tok.print %t : (f64) -> ()
    tok.yield %t : f64
  }
  %q = tok.parfor %i = %one to %n step %one carrying (%s = %zero) : f64 {
    %t = tok.binary mul %s, %zero : (f64, f64) -> f64
    tok.yield %t : f64
  }
  tok.print %r : (f64) -> ()
  tok.print %q : (f64) -> ()
  return
}

// -----

// A sum of matrices is merged if it keeps its sizes.
// CHECK-LABEL: func.func @sums
// CHECK: attributes {tok.merges = ["sum"]}
// CHECK-NOT: tok.merges
func.func @sums(%one: i64, %n: i64, %x: tensor<?x?xf64>) {
  %r = tok.parfor %i = %one to %n step %one carrying (%s = %x) : tensor<?x?xf64> {
    %t = tok.binary add one_repeated %s, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield %t : tensor<?x?xf64>
  }
  %q = tok.parfor %i = %one to %n step %one carrying (%s = %x) : tensor<?x?xf64> {
    %t = tok.binary add %s, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield %t : tensor<?x?xf64>
  }
  tok.print %r : (tensor<?x?xf64>) -> ()
  tok.print %q : (tensor<?x?xf64>) -> ()
  return
}
