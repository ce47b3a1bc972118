// Operators of integers compute in the element type: what does not fit keeps its lowest bits; quotients are truncated.
!i8 = tensor<?xi8>
!u8 = tensor<?xui8>
!i32 = tensor<?xi32>
!i64 = tensor<?xi64>
!u64 = tensor<?xui64>
!b = tensor<?xi1>
func.func @main() {
  %x = tok.literal dense<[126, 127, 100]> : tensor<3xi8>
  %y = tok.literal dense<[1, 1, 100]> : tensor<3xi8>
  %one = tok.constant 1 : i64
  %0 = tok.binary add %x, %y : (!i8, !i8) -> !i8
  tok.print %0 : (!i8) -> ()
  %low = tok.literal dense<[-127, -128, 56]> : tensor<3xi8>
  %2 = tok.binary sub %low, %one : (!i8, i64) -> !i8
  tok.print %2 : (!i8) -> ()
  %signed = tok.literal dense<[-1, -128, 100]> : tensor<3xi8>
  %3 = tok.unary abs %signed : !i8 -> !i8
  tok.print %3 : (!i8) -> ()

  %u = tok.literal dense<[0, 127, 200]> : tensor<3xui8>
  %two = tok.constant 2 : i64
  %4 = tok.binary mul %u, %two : (!u8, i64) -> !u8
  tok.print %4 : (!u8) -> ()
  %v = tok.literal dense<[1, 255, 212]> : tensor<3xui8>
  %5 = tok.unary neg %v : !u8 -> !u8
  tok.print %5 : (!u8) -> ()

  %a = tok.literal dense<[-7, 7, 7]> : tensor<3xi32>
  %b = tok.literal dense<[2, 0, 2]> : tensor<3xi32>
  %6 = tok.binary div %a, %b : (!i32, !i32) -> !i32
  tok.print %6 : (!i32) -> ()
  %c = tok.literal dense<[-7, 7, -7]> : tensor<3xi32>
  %7 = tok.binary mod %c, %b : (!i32, !i32) -> !i32
  tok.print %7 : (!i32) -> ()
  %base = tok.literal dense<[3, 3, 2]> : tensor<3xi8>
  %exponent = tok.literal dense<[4, 5, -1]> : tensor<3xi8>
  %8 = tok.binary pow %base, %exponent : (!i8, !i8) -> !i8
  tok.print %8 : (!i8) -> ()

  // Beyond 2^53, where doubles have gaps.
  %p = tok.literal dense<[9223372036854775806, 9223372036854775807]> : tensor<2xi64>
  %9 = tok.binary add %p, %one : (!i64, i64) -> !i64
  tok.print %9 : (!i64) -> ()
  %16 = tok.literal dense<[-9223372036854775807, -9223372036854775808]> : tensor<2xi64>
  %17 = tok.binary sub %16, %one : (!i64, i64) -> !i64
  tok.print %17 : (!i64) -> ()
  %q = tok.literal dense<[18446744073709551614, 18446744073709551615]> : tensor<2xui64>
  %18 = tok.binary add %q, %one : (!u64, i64) -> !u64
  tok.print %18 : (!u64) -> ()
  %19 = tok.binary gt %18, %one : (!u64, i64) -> !u64
  tok.print %19 : (!u64) -> ()
  %20 = tok.aggregate max row %18 : !u64 -> !u64
  tok.print %20 : (!u64) -> ()

  %s = tok.literal dense<[1, 3]> : tensor<2xi8>
  %distance = tok.literal dense<[4, 7]> : tensor<2xi8>
  %21 = tok.binary bitw_shift_left %s, %distance : (!i8, !i8) -> !i8
  tok.print %21 : (!i8) -> ()
  %t = tok.literal dense<[-128, -128]> : tensor<2xi8>
  %far = tok.literal dense<[5, 20]> : tensor<2xi8>
  %22 = tok.binary bitw_shift_right %t, %far : (!i8, !i8) -> !i8
  tok.print %22 : (!i8) -> ()

  %23 = tok.binary lt %b, %a : (!i32, !i32) -> !b
  %24 = tok.binary ne %a, %b : (!i32, !i32) -> !b
  %25 = tok.binary xor %23, %24 : (!b, !b) -> !b
  tok.print %25 : (!b) -> ()
  %27 = tok.literal dense<[1, -1, 1]> : tensor<3xi8>
  %28 = tok.cast %27 : !i8 -> !i32
  %29 = tok.literal dense<[3, 3, 104]> : tensor<3xi32>
  %30 = tok.binary mul %28, %29 : (!i32, !i32) -> !i32
  tok.print %30 : (!i32) -> ()
  return
}
