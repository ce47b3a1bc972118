// The same with sizes that plans leave open.
// prints: -1.99E10
// prints: 2.67666005E12
// prints: 1.202E8
// prints: -1.99E10
// prints: 1.0E10
!v = tensor<?xf64>
!m = tensor<?x?xf64>
!t = tensor<?x?x?xf64>
func.func @count(%last: i64) -> !m {
  %one = tok.constant 1.0 : f64
  %none = tok.constant unit : none
  %end = tok.cast %last : i64 -> f64
  %0 = tok.seq %one, %end, %none : (f64, f64, none) -> !m
  return %0 : !m
}
func.func @main() {
  %n1 = tok.constant 1 : i64
  %n2 = tok.constant 2 : i64
  %n100 = tok.constant 100 : i64
  %n200 = tok.constant 200 : i64
  %n1000 = tok.constant 1000 : i64
  %n200000 = tok.constant 200000 : i64
  %cells = tok.call @count(%n200000) : (i64) -> !m
  %x = tok.view %cells [%n200, %n1000] : !m -> !m
  %column = tok.call @count(%n200) : (i64) -> !m
  %along = tok.call @count(%n1000) : (i64) -> !m
  %row = tok.transpose %along : (!m) -> !m
  tok.barrier

  %0 = tok.binary sub %row, %x : (!m, !m) -> !m
  %1 = tok.aggregate sum full %0 : !m -> f64
  tok.print %1 : (f64) -> ()
  tok.barrier
  %2 = tok.binary mul %column, %x : (!m, !m) -> !m
  %3 = tok.aggregate sum full %2 : !m -> f64
  tok.print %3 : (f64) -> ()
  tok.barrier
  %4 = tok.binary add %column, %row : (!m, !m) -> !m
  %5 = tok.aggregate sum full %4 : !m -> f64
  tok.print %5 : (f64) -> ()
  tok.barrier
  %v = tok.view %row [%n1000] : !m -> !v
  %several = tok.view %x [%n2, %n100, %n1000] : !m -> !t
  %6 = tok.binary sub %v, %several : (!v, !t) -> !t
  %7 = tok.aggregate sum full %6 : !t -> f64
  tok.print %7 : (f64) -> ()
  tok.barrier
  %first = tok.slice %x, %n1, %n100, %n1, %n1000 : (!m, i64, i64, i64, i64) -> !m
  %8 = tok.binary sub %several, %first : (!t, !m) -> !t
  %9 = tok.aggregate sum full %8 : !t -> f64
  tok.print %9 : (f64) -> ()
  return
}
