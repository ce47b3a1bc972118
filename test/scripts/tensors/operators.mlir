// Fused operators in the text of a program: their symbols stand for the sizes of their operands.
// prints: 2870.0
// prints: TRUE
!m = tensor<?x?xf64>
!c = !plan.cell<() -> f64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
func.func @softmax(%X: !m) -> !m {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1 reduced] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.reduce max %0 over [d1] in f64 : !ij -> !i
    %2 = plan.binary sub %0, %1 : (!ij, !i) -> !ij
    %3 = plan.unary exp %2 : !ij -> !ij
    %4 = plan.reduce sum %3 over [d1] in f64 : !ij -> !i
    %5 = plan.binary div %3, %4 : (!ij, !i) -> !ij
    plan.write %5 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %r : !m
}
func.func @main() {
  %one = tok.constant 1.0 : f64
  %none = tok.constant unit : none
  %end = tok.constant 20.0 : f64
  %column = tok.seq %one, %end, %none : (f64, f64, none) -> !m
  %n4 = tok.constant 4 : i64
  %n5 = tok.constant 5 : i64
  %x = tok.view %column [%n4, %n5] : !m -> !m
  %sum = plan.operator (%a = %x [s0, s1], %b = %x [s0, s1]) axes [s0 reduced, s1 reduced] -> scalar : (!m, !m) -> f64 {
    %0 = plan.read %a (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.read %b (d0, d1) -> (d0, d1) : !m -> !ij
    %2 = plan.binary mul %0, %1 : (!ij, !ij) -> !ij
    %3 = plan.reduce sum %2 over [d0, d1] in f64 : !ij -> !c
    plan.write %3 to 0 (d0, d1) -> () : !c
  }
  tok.print %sum : (f64) -> ()
  // The same as operations of tok.
  %weights = tok.call @softmax(%x) : (!m) -> !m
  %largest = tok.aggregate max row %x : !m -> !m
  %shifted = tok.binary sub %x, %largest : (!m, !m) -> !m
  %exponents = tok.unary exp %shifted : !m -> !m
  %sums = tok.aggregate sum row %exponents : !m -> !m
  %expected = tok.binary div %exponents, %sums : (!m, !m) -> !m
  %difference = tok.binary sub %weights, %expected : (!m, !m) -> !m
  %size = tok.unary abs %difference : !m -> !m
  %most = tok.aggregate max full %size : !m -> f64
  %bound = tok.constant 1.0E-14 : f64
  %isSmall = tok.binary lt %most, %bound : (f64, f64) -> i1
  tok.print %isSmall : (i1) -> ()
  return
}
