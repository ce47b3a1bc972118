// Aggregates of integers are exact: over all cells as 64 bits, of rows in the type stated.
!u8 = tensor<?x?xui8>
!i8 = tensor<?x?xi8>
!i64 = tensor<?x?xi64>
!u64 = tensor<?x?xui64>
!b = tensor<?x?xi1>
func.func @main() {
  %x = tok.literal dense<[[255, 255], [0, 0]]> : tensor<2x2xui8>
  %0 = tok.aggregate sum full %x : !u8 -> i64
  tok.print %0 : (i64) -> ()
  %1 = tok.aggregate sum row %x : !u8 -> !u8
  %2 = tok.transpose %1 : (!u8) -> !u8
  tok.print %2 : (!u8) -> ()
  %y = tok.literal dense<[[255, 255], [0, 1]]> : tensor<2x2xui8>
  %3 = tok.aggregate sum column %y : !u8 -> !i64
  tok.print %3 : (!i64) -> ()
  %z = tok.literal dense<[[1, -128], [127, 5]]> : tensor<2x2xi8>
  %4 = tok.aggregate min full %z : !i8 -> i64
  tok.print %4 : (i64) -> ()

  // 2^53 + 1 is no double.
  %large = tok.literal dense<[[9007199254740992, 1]]> : tensor<1x2xi64>
  %5 = tok.aggregate sum full %large : !i64 -> i64
  tok.print %5 : (i64) -> ()
  %most = tok.literal dense<[[9223372036854775807, 1]]> : tensor<1x2xi64>
  %6 = tok.aggregate sum full %most : !i64 -> i64
  tok.print %6 : (i64) -> ()

  %a = tok.literal dense<[[1, 0, 1, 1]]> : tensor<1x4xi1>
  %7 = tok.aggregate sum full %a : !b -> i64
  tok.print %7 : (i64) -> ()
  %b = tok.literal dense<[[1, 0, 1], [0, 0, 1]]> : tensor<2x3xi1>
  %8 = tok.aggregate sum row %b : !b -> !i64
  %9 = tok.transpose %8 : (!i64) -> !i64
  tok.print %9 : (!i64) -> ()
  // 9007199254740993 is larger than 9007199254740992, though their doubles are equal.
  %c = tok.literal dense<[[9007199254740992, 9007199254740993, 3]]> : tensor<1x3xi64>
  %10 = tok.aggregate index_max row %c : !i64 -> !i64
  tok.print %10 : (!i64) -> ()
  %d = tok.literal dense<[[1, 2, 3, 4, 5]]> : tensor<1x5xi64>
  %11 = tok.aggregate prod full %d : !i64 -> i64
  tok.print %11 : (i64) -> ()

  // More cells than one vector has.
  %n1 = tok.constant 1.0 : f64
  %n2 = tok.constant 9.0 : f64
  %none = tok.constant unit : none
  %s = tok.seq %n1, %n2, %none : (f64, f64, none) -> tensor<?x?xi64>
  %two = tok.constant 2 : i64
  %t = tok.binary mul %s, %two : (!i64, i64) -> !i64
  %st = tok.cbind %s, %t : (!i64, !i64) -> !i64
  %12 = tok.aggregate sum column %st : !i64 -> !i64
  tok.print %12 : (!i64) -> ()

  // The least and the largest integer are the extremes of no cells.
  %zero = tok.constant 0 : i64
  %none8 = tok.fill %zero, %two, %zero : (i64, i64, i64) -> !i8
  %13 = tok.aggregate min row %none8 : !i8 -> !i8
  %14 = tok.aggregate max row %none8 : !i8 -> !i8
  %15 = tok.cbind %13, %14 : (!i8, !i8) -> !i8
  %17 = tok.aggregate min column %15 : !i8 -> !i8
  tok.print %17 : (!i8) -> ()
  %noneU = tok.fill %zero, %zero, %two : (i64, i64, i64) -> !u64
  %18 = tok.aggregate sum column %noneU : !u64 -> !u64
  %19 = tok.aggregate prod column %noneU : !u64 -> !u64
  %20 = tok.aggregate min column %noneU : !u64 -> !u64
  %21 = tok.aggregate max column %noneU : !u64 -> !u64
  %22 = tok.cbind %18, %19, %20, %21 : (!u64, !u64, !u64, !u64) -> !u64
  tok.print %22 : (!u64) -> ()
  return
}
