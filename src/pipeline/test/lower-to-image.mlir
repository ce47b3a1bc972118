// RUN: tokamak-opt --tok-lower-to-image %s -o /dev/null | FileCheck %s

// The loop carries its sum in one slot; the counter has a slot of its own.
// CHECK: function main
func.func @main() {
  %one = tok.constant 1 : i64
  %ten = tok.constant 10 : i64
  %zero = tok.constant 0 : i64
  // CHECK: loop-test
  %r = tok.for %i = %one to %ten step %one carrying (%s = %zero) : i64 {
    // CHECK: add
    %t = tok.binary add %s, %i : (i64, i64) -> i64
    tok.yield %t : i64
  }
  // CHECK: loop-step {{.*}} -> 5
  // CHECK: native print
  tok.print %r : (i64) -> ()
  return
}
