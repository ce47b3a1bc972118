// RUN: tokamak-opt --tok-outline-blocks %s | FileCheck %s
// RUN: tokamak-opt --tok-outline-blocks %s | FileCheck %s --check-prefix=LITERALS
// RUN: tokamak-opt --tok-outline-blocks %s | FileCheck %s --check-prefix=EXPECTED
// RUN: tokamak-opt --tok-outline-blocks %s | FileCheck %s --check-prefix=SLICES
// RUN: tokamak-opt --tok-outline-blocks %s | FileCheck %s --check-prefix=LOOPS

// The print ends the first block; the constant moves into both; scalars that follow stay outside.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x?xf64>, %w: tensor<?x?xf64>) {
  %two = tok.constant 2.0 : f64
  // CHECK: %[[A:.*]]:2 = tok.execute @block_0(%{{.*}}, %{{.*}})
  %0 = tok.matmul %x, %w : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  // CHECK-NOT: tok.execute
  // CHECK: tok.binary mul %[[A]]#1
  %s = tok.binary mul %1, %two : (f64, f64) -> f64
  // CHECK: tok.print
  tok.print %s : (f64) -> ()
  // CHECK: tok.execute @block_1(%[[A]]#0)
  %2 = tok.binary mul %0, %two : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  tok.print %2 : (tensor<?x?xf64>) -> ()
  return
}
// CHECK: func.func private @block_0
// CHECK-SAME: {tok.bind = array<i1: false, false>, tok.block}
// CHECK: func.func private @block_1
// CHECK: tok.constant 2.0

// A scalar that changes in the loop is not bound, one from outside is.
// CHECK-LABEL: func.func private @block_2
// CHECK-SAME: tok.bind = array<i1: false, false, true>, tok.block, tok.loop_operations = 3 : i64}
func.func @loop(%x: tensor<?x?xf64>, %n: i64, %fixed: f64, %start: f64) -> f64 {
  %r = tok.for %i = %n to %n step %n carrying (%s = %start) : f64 {
    %a = tok.binary mul %x, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %b = tok.binary mul %a, %fixed : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %t = tok.aggregate sum full %b : tensor<?x?xf64> -> f64
    tok.yield %t : f64
  }
  return %r : f64
}

// Plans hold small literals; the weights of models go into blocks as other arrays do.
// LITERALS-LABEL: func.func @literals
func.func @literals(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  // LITERALS: %[[W:.*]] = tok.literal dense<2.000000e+00> : tensor<1x65xf64>
  // LITERALS: tok.execute @block_3(%{{.*}}, %[[W]])
  %0 = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %w = tok.literal dense<2.0> : tensor<1x65xf64>
  %v = tok.literal dense<3.0> : tensor<1x64xf64>
  %1 = tok.binary mul %0, %w : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary add %1, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// Each block has a copy: what one block makes would be an array of any cells to another one.
// LITERALS-LABEL: func.func @two_blocks
func.func @two_blocks(%x: tensor<?x?xf64>) {
  %v = tok.literal dense<3.0> : tensor<1x64xf64>
  // LITERALS-NOT: tok.literal
  // LITERALS: tok.execute @block_4(%{{[^,]*}})
  %0 = tok.binary mul %x, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  tok.print %0 : (tensor<?x?xf64>) -> ()
  // LITERALS: tok.execute @block_5(%{{[^,]*}})
  %1 = tok.binary add %0, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  tok.print %1 : (tensor<?x?xf64>) -> ()
  return
}
// LITERALS: func.func private @block_3
// LITERALS: tok.literal dense<3.000000e+00> : tensor<1x64xf64>
// LITERALS: func.func private @block_4
// LITERALS: tok.literal
// LITERALS: func.func private @block_5
// LITERALS: tok.literal

// What sizes inputs of blocks are going to have follows from what is said of those of the program.
func.func @expected(%x: tensor<?x?xf64> {tok.expected_sizes = ["s0:1..9", 8]}) {
  %0 = tok.cbind %x, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary exp %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  tok.print %1 : (tensor<?x?xf64>) -> ()
  %2 = tok.transpose %1 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.unary exp %2 : tensor<?x?xf64> -> tensor<?x?xf64>
  tok.print %3 : (tensor<?x?xf64>) -> ()
  return
}
// EXPECTED: func.func private @block_6(%{{.*}} {tok.expected_sizes = ["s0:1..9", 8]})
// EXPECTED: func.func private @block_7(%{{.*}} {tok.expected_sizes = ["s0:1..9", 16]})

// A slice at a block's beginning is part of it where its bounds follow from sizes, which plans know, and stays outside where they
// depend on another number.
// SLICES-LABEL: func.func @slices
func.func @slices(%x: tensor<?x?xf64>, %n: i64) -> (f64, f64) {
  %one = tok.constant 1 : i64
  // SLICES: %[[FIRST:.*]] = tok.execute @block_8(%arg0)
  %rows = tok.rows %x : tensor<?x?xf64>
  %last = tok.binary sub %rows, %one : (i64, i64) -> i64
  %0 = tok.slice %x, %one, %last, %one, %one : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  tok.print %1 : (f64) -> ()
  // SLICES: %[[PART:.*]] = tok.slice %arg0
  // SLICES: tok.execute @block_9(%[[PART]])
  %2 = tok.slice %x, %one, %n, %one, %one : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  %3 = tok.aggregate sum full %2 : tensor<?x?xf64> -> f64
  return %1, %3 : f64, f64
}

// Functions that loops call are executed in loops, and so are those that they call: of three operations on arrays, two of
// them here.
// LOOPS: func.func private @block_10
// LOOPS-SAME: tok.block, tok.loop_operations = 3 : i64}
func.func @called(%x: tensor<?x?xf64>) -> f64 {
  %0 = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  return %1 : f64
}
func.func @calling(%x: tensor<?x?xf64>) -> f64 {
  %0 = tok.call @called(%x) : (tensor<?x?xf64>) -> f64
  return %0 : f64
}

// LOOPS-LABEL: func.func private @block_11
// LOOPS-SAME: tok.block, tok.loop_operations = 2 : i64}
// LOOPS-LABEL: func.func private @block_12
// LOOPS-SAME: tok.block, tok.loop_operations = 4 : i64}
// LOOPS-LABEL: func.func private @block_13
// LOOPS-SAME: tok.block, tok.loop_operations = 3 : i64}
// LOOPS-LABEL: func.func private @block_14
// LOOPS-SAME: tok.block}
// LOOPS-NOT: tok.loop_operations
func.func @nested(%x: tensor<?x?xf64>, %n: i64, %start: f64) -> f64 {
  %r = tok.for %i = %n to %n step %n carrying (%s = %start) : f64 {
    // A loop with another one in it.
    %a = tok.binary mul %x, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %t = tok.aggregate sum full %a : tensor<?x?xf64> -> f64
    %u = tok.for %j = %n to %n step %n carrying (%v = %t) : f64 {
      %b = tok.binary add %x, %v : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
      %c = tok.aggregate sum full %b : tensor<?x?xf64> -> f64
      tok.yield %c : f64
    }
    tok.yield %u : f64
  }
  %q = tok.for %i = %n to %n step %n carrying (%s = %r) : f64 {
    // A loop with a call.
    %a = tok.binary mul %x, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %t = tok.call @calling(%a) : (tensor<?x?xf64>) -> f64
    tok.yield %t : f64
  }
  %e = tok.binary mul %x, %q : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %f = tok.aggregate sum full %e : tensor<?x?xf64> -> f64
  return %f : f64
}
