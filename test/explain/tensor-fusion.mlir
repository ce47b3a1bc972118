// Arrays of any rank and precision fuse as matrices do: the softmax over the last of four dimensions is one kernel, and so
// is a chain over arrays of three dimensions.
// RUN: tokamak run %s %machine --explain=fusion 2>&1 | FileCheck %s
// RUN: tokamak run %s %machine --explain=fusion --precision=f32 2>&1 | FileCheck %s
// RUN: tokamak run %s %machine --explain=program --precision=f32 2>&1 | FileCheck %s --check-prefix=SINGLE
!four = tensor<?x?x?x?xf64>
!three = tensor<?x?x?xf64>
!matrix = tensor<?x?xf64>

func.func @draw(%rows: i64, %columns: i64, %seed: i64) -> !matrix {
  %zero = tok.constant 0.0 : f64
  %one = tok.constant 1.0 : f64
  %uniform = tok.constant "uniform" : !tok.string
  %0 = tok.rand %rows, %columns, %zero, %one, %one, %seed, %uniform, %one : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> !matrix
  return %0 : !matrix
}

func.func @main() {
  %n1 = tok.constant 1 : i64
  %n2 = tok.constant 2 : i64
  %n8 = tok.constant 8 : i64
  %n100 = tok.constant 100 : i64
  %n128 = tok.constant 128 : i64
  %n1600 = tok.constant 1600 : i64
  %zero = tok.constant 0.0 : f64
  %cells = tok.call @draw(%n1600, %n128, %n1) : (i64, i64, i64) -> !matrix

  // CHECK: fusion of block block_0
  // CHECK: {{^}}  operators{{$}}
  // CHECK-NEXT: 1. row 1600x128, 5 operations
  // CHECK-NOT: 2. {{row|cell}}
  %x = tok.view %cells [%n2, %n8, %n100, %n128] : !matrix -> !four
  %largest = tok.aggregate max row %x : !four -> !four
  %shifted = tok.binary sub %x, %largest : (!four, !four) -> !four
  %exponents = tok.unary exp %shifted : !four -> !four
  %sums = tok.aggregate sum row %exponents : !four -> !four
  %softmax = tok.binary div %exponents, %sums : (!four, !four) -> !four
  tok.barrier

  // CHECK: fusion of block block_1
  // CHECK: {{^}}  operators{{$}}
  // CHECK-NEXT: 1. cell ~1600x128, 4 operations
  // CHECK-NOT: 2. {{row|cell}}
  // SINGLE: tok.binary add {{.*}} : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  // SINGLE-NOT: xf64>
  %n200 = tok.constant 200 : i64
  %y = tok.view %cells [%n8, %n200, %n128] : !matrix -> !three
  %0 = tok.call @draw(%n1, %n128, %n2) : (i64, i64, i64) -> !matrix
  %gains = tok.view %0 [%n1, %n1, %n128] : !matrix -> !three
  %1 = tok.call @draw(%n1600, %n1, %n8) : (i64, i64, i64) -> !matrix
  %biases = tok.view %1 [%n8, %n200, %n1] : !matrix -> !three
  %scaled = tok.binary mul %gains, %y : (!three, !three) -> !three
  %moved = tok.binary add %biases, %scaled : (!three, !three) -> !three
  %chain = tok.binary max %moved, %zero : (!three, f64) -> !three
  %total = tok.aggregate sum full %chain : !three -> f64
  tok.barrier

  // Vectors on the left, of another rank or not, are read where they are.
  // CHECK: fusion of block block_2
  // CHECK: {{^}}  operators{{$}}
  // CHECK-NEXT: 1. {{row|cell}} ~1600x128, 4 operations
  // CHECK-NOT: 2. {{row|cell}}
  %gain = tok.view %0 [%n128] : !matrix -> tensor<?xf64>
  %2 = tok.binary mul %gain, %cells : (tensor<?xf64>, !matrix) -> !matrix
  %3 = tok.binary sub %0, %2 : (!matrix, !matrix) -> !matrix
  %4 = tok.binary max %1, %3 : (!matrix, !matrix) -> !matrix
  %largest_of_all = tok.aggregate max full %4 : !matrix -> f64
  tok.print %largest_of_all : (f64) -> ()
  tok.barrier
  // CHECK: 150444.11
  tok.print %total : (f64) -> ()
  %text = tok.constant "%s of %s" : !tok.string
  tok.print %text, %n1, %softmax : (!tok.string, i64, !four) -> ()
  return
}
