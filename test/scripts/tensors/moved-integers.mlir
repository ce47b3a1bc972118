// What only moves cells keeps all 64 bits.
!m = tensor<?x?xi64>
func.func @main() {
  %one = tok.constant 1 : i64
  %two = tok.constant 2 : i64
  %four = tok.constant 4 : i64
  %yes = tok.constant true
  %x = tok.literal dense<[[9007199254740993, -9223372036854775808], [5, 9223372036854775807]]> : tensor<2x2xi64>
  tok.print %x : (!m) -> ()
  %0 = tok.transpose %x : (!m) -> !m
  tok.print %0 : (!m) -> ()
  %1 = tok.native "rev"(%x) : (!m) -> !m
  tok.print %1 : (!m) -> ()
  %2 = tok.reshape %x, %one, %four, %yes : (!m, i64, i64, i1) -> !m
  tok.print %2 : (!m) -> ()
  %a = tok.constant 9007199254740995 : i64
  %b = tok.literal dense<[[9007199254740997]]> : tensor<1x1xi64>
  %3 = tok.slice %x, %one, %one, %one, %one : (!m, i64, i64, i64, i64) -> !m
  %4 = tok.cbind %3, %a, %b : (!m, i64, !m) -> !m
  tok.print %4 : (!m) -> ()
  %5 = tok.slice %x, %one, %one, %two, %two : (!m, i64, i64, i64, i64) -> !m
  tok.print %5 : (!m) -> ()
  %column = tok.slice %x, %one, %two, %one, %one : (!m, i64, i64, i64, i64) -> !m
  %6 = tok.diag %column : (!m) -> !m
  tok.print %6 : (!m) -> ()
  %7 = tok.expand %column [%two, %two] : !m -> !m
  tok.print %7 : (!m) -> ()
  %8 = tok.insert %7, %b, %one, %one, %two, %two : (!m, !m, i64, i64, i64, i64) -> !m
  %c = tok.constant 9007199254740993 : i64
  %9 = tok.insert %8, %c, %one, %one, %two, %two : (!m, i64, i64, i64, i64, i64) -> !m
  %10 = tok.insert %9, %c, %two, %two, %two, %two : (!m, i64, i64, i64, i64, i64) -> !m
  tok.print %10 : (!m) -> ()
  return
}
