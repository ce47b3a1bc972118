// Cells of three arrays of four dimensions, none of which is as large as the result: they agree in too many ways for a plan of each.
!array = tensor<?x?x?x?xf64>
!matrix = tensor<?x?xf64>
func.func @main() {
  %none = tok.constant unit : none
  %n1 = tok.constant 1 : i64
  %n2 = tok.constant 2 : i64
  %n3 = tok.constant 3 : i64
  %n6 = tok.constant 6 : i64
  %zero = tok.constant 0.0 : f64
  %one = tok.constant 1.0 : f64
  %three = tok.constant 3.0 : f64
  %six = tok.constant 6.0 : f64
  %ten = tok.constant 10.0 : f64
  %eighteen = tok.constant 18.0 : f64
  %c = tok.seq %zero, %three, %none : (f64, f64, none) -> !matrix
  %a = tok.seq %one, %six, %none : (f64, f64, none) -> !matrix
  %b = tok.seq %ten, %eighteen, %none : (f64, f64, none) -> !matrix
  %C = tok.view %c[%n2, %n1, %n2, %n1] : !matrix -> !array
  %A = tok.view %a[%n2, %n1, %n1, %n3] : !matrix -> !array
  %B = tok.view %b[%n1, %n3, %n1, %n3] : !matrix -> !array
  %chosen = tok.ifelse %C, %A, %B : (!array, !array, !array) -> !array
  %rows = tok.view %chosen[%n6, %n6] : !array -> !matrix
  tok.print %rows : (!matrix) -> ()
  return
}
