// exit: 2 (reference: 1)
// error-contains: dimension 1 of operand 2 has size 5 instead of 4
// error-line: 13
// An operand does not have the size that the operator declares for it.
!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
func.func @main() {
  %one = tok.constant 1.0 : f64
  %n4 = tok.constant 4 : i64
  %n5 = tok.constant 5 : i64
  %x = tok.fill %one, %n4, %n5 : (f64, i64, i64) -> !m
  %y = tok.fill %one, %n5, %n4 : (f64, i64, i64) -> !m
  %sum = plan.operator (%a = %x [s0, s1], %b = %y [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m, !m) -> !m {
    %0 = plan.read %a (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.read %b (d0, d1) -> (d0, d1) : !m -> !ij
    %2 = plan.binary mul %0, %1 : (!ij, !ij) -> !ij
    plan.write %2 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  tok.print %sum : (!m) -> ()
  return
}
