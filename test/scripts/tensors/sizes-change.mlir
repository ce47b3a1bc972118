// A block meets arrays of other sizes in each iteration: narrow ones, wide ones, a dimension that becomes 1.
// prints: 1 4: 40.0
// prints: 2 400: 641600.0
// prints: 3 500: 1503000.0
// prints: 4 1: 16.0
!t = tensor<?x?x?xf64>
func.func @sums(%a: i64, %b: i64) -> f64 {
  %n2 = tok.constant 2 : i64
  %one = tok.constant 1.0 : f64
  %rows = tok.binary mul %a, %n2 : (i64, i64) -> i64
  %ones = tok.fill %one, %rows, %b : (f64, i64, i64) -> tensor<?x?xf64>
  %x = tok.view %ones [%n2, %a, %b] : tensor<?x?xf64> -> !t
  %sums = tok.aggregate sum row %x : !t -> !t
  %columns = tok.fill %one, %n2, %b : (f64, i64, i64) -> tensor<?x?xf64>
  %n1 = tok.constant 1 : i64
  %y = tok.view %columns [%n2, %n1, %b] : tensor<?x?xf64> -> !t
  %0 = tok.binary mul %sums, %y : (!t, !t) -> !t
  %1 = tok.binary add %0, %x : (!t, !t) -> !t
  %2 = tok.aggregate sum full %1 : !t -> f64
  return %2 : f64
}
func.func @show(%a: i64, %b: i64) {
  %format = tok.constant "%d %d: %s" : !tok.string
  %0 = tok.call @sums(%a, %b) : (i64, i64) -> f64
  tok.print %format, %a, %b, %0 : (!tok.string, i64, i64, f64) -> ()
  return
}
func.func @main() {
  %n1 = tok.constant 1 : i64
  %n4 = tok.constant 4 : i64
  tok.for %i = %n1 to %n4 step %n1 {
    %n3 = tok.constant 3 : i64
    %n2 = tok.constant 2 : i64
    %n400 = tok.constant 400 : i64
    %n500 = tok.constant 500 : i64
    %is2 = tok.binary eq %i, %n2 : (i64, i64) -> i1
    %is3 = tok.binary eq %i, %n3 : (i64, i64) -> i1
    %is4 = tok.binary eq %i, %n4 : (i64, i64) -> i1
    %b0 = tok.ifelse %is2, %n400, %n4 : (i1, i64, i64) -> i64
    %b1 = tok.ifelse %is3, %n500, %b0 : (i1, i64, i64) -> i64
    %b2 = tok.ifelse %is4, %n1, %b1 : (i1, i64, i64) -> i64
    tok.call @show(%i, %b2) : (i64, i64) -> ()
    tok.yield
  }
  return
}
