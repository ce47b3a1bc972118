// Products of integers: exact in a wider type, the lowest bits in the operands' type; also of batches and of vectors.
!i8 = tensor<?x?xi8>
!i32 = tensor<?x?xi32>
!i64 = tensor<?x?xi64>
!t = tensor<?x?x?xui16>
func.func @main() {
  %x = tok.literal dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %y = tok.literal dense<[[100, 100], [100, 50], [0, 0]]> : tensor<3x2xi8>
  %one = tok.constant 1 : i64
  %two = tok.constant 2 : i64
  %0 = tok.matmul %x, %y : (!i8, !i8) -> !i8
  %1 = tok.slice %0, %one, %one, %one, %two : (!i8, i64, i64, i64, i64) -> !i8
  tok.print %1 : (!i8) -> ()
  %2 = tok.matmul %x, %y : (!i8, !i8) -> !i32
  %3 = tok.slice %2, %one, %one, %one, %two : (!i32, i64, i64, i64, i64) -> !i32
  tok.print %3 : (!i32) -> ()
  %a = tok.literal dense<[[127, 127]]> : tensor<1x2xi8>
  %b = tok.literal dense<[[127, -128], [127, -128]]> : tensor<2x2xi8>
  %4 = tok.matmul %a, %b : (!i8, !i8) -> !i32
  tok.print %4 : (!i32) -> ()
  %p = tok.literal dense<[[9007199254740993, 1]]> : tensor<1x2xi64>
  %q = tok.literal dense<[[1], [2]]> : tensor<2x1xi64>
  %5 = tok.matmul %p, %q : (!i64, !i64) -> !i64
  tok.print %5 : (!i64) -> ()
  %s = tok.literal dense<[[[1, 1]], [[2, 4]]]> : tensor<2x1x2xui16>
  %t = tok.literal dense<[[[1], [2]], [[1], [3]]]> : tensor<2x2x1xui16>
  %6 = tok.matmul %s, %t : (!t, !t) -> !t
  tok.print %6 : (!t) -> ()

  // t(v) %*% v without the transposed copy.
  %first = tok.constant 1.0 : f64
  %last = tok.constant 12.0 : f64
  %none = tok.constant unit : none
  %v = tok.seq %first, %last, %none : (f64, f64, none) -> !i64
  %tv = tok.transpose %v : (!i64) -> !i64
  %7 = tok.matmul %tv, %v : (!i64, !i64) -> !i64
  tok.print %7 : (!i64) -> ()
  return
}
