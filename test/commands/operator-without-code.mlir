// Every row twice, which the reference can do.
!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
func.func @main() {
  %one = tok.constant 1.0 : f64
  %n4 = tok.constant 4 : i64
  %n5 = tok.constant 5 : i64
  %x = tok.fill %one, %n4, %n5 : (f64, i64, i64) -> !m
  %y = tok.fill %one, %n5, %n4 : (f64, i64, i64) -> !m
  %z = tok.transpose %y : (!m) -> !m
  %r = plan.operator (%a = %x [s0, s1]) axes ["2*s0", s1] -> ["2*s0", s1] : (!m) -> !m {
    %0 = plan.read %a (d0, d1) -> (d0 floordiv 2, d1) outside 0.0 : !m -> !ij
    plan.write %0 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  %sum = tok.aggregate sum full %r : !m -> f64
  tok.print %sum : (f64) -> ()
  return
}
