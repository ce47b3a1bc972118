// RUN: tokamak-opt --tok-carry-doubles %s | FileCheck %s

// A sum that begins with an integer, goes on as a double, and ends as one: nothing can tell.
// CHECK-LABEL: func.func @sum(
// CHECK-NOT: !tok.scalar
// CHECK: tok.for {{.*}} carrying ({{.*}}) : f64
// CHECK-NOT: !tok.scalar
// CHECK: return %{{.*}} : f64
func.func @sum(%x: f64, %n: i64) -> f64 {
  %zero = tok.constant 0 : i64
  %one = tok.constant 1 : i64
  %start = tok.cast %zero : i64 -> !tok.scalar
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : !tok.scalar {
    %0 = tok.binary lt %s, %x : (!tok.scalar, f64) -> i1
    %1 = tok.if %0 -> !tok.scalar {
      %2 = tok.binary add %s, %x : (!tok.scalar, f64) -> !tok.scalar
      tok.yield %2 : !tok.scalar
    } else {
      tok.yield %s : !tok.scalar
    }
    tok.yield %1 : !tok.scalar
  }
  %3 = tok.cast %r : !tok.scalar -> f64
  return %3 : f64
}

// What is printed may be an integer, and so may what an integer is added to.
// CHECK-LABEL: func.func @printed(
// CHECK: tok.for {{.*}} carrying ({{.*}}) : !tok.scalar
func.func @printed(%x: f64, %n: i64) {
  %zero = tok.constant 0 : i64
  %one = tok.constant 1 : i64
  %start = tok.cast %zero : i64 -> !tok.scalar
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : !tok.scalar {
    %0 = tok.binary add %s, %x : (!tok.scalar, f64) -> !tok.scalar
    tok.yield %0 : !tok.scalar
  }
  tok.print %r : (!tok.scalar) -> ()
  return
}

// The difference is a double whatever the sum is, and is passed on as the number that is printed.
// CHECK-LABEL: func.func @difference(
// CHECK: %[[S:.*]] = tok.if %{{.*}} -> f64
// CHECK: %[[D:.*]] = tok.binary sub %[[S]], %{{.*}} : (f64, f64) -> f64
// CHECK: %[[P:.*]] = tok.cast %[[D]] : f64 -> !tok.scalar
// CHECK: tok.print %[[P]]
func.func @difference(%x: f64, %c: i1) {
  %zero = tok.constant 0 : i64
  %start = tok.cast %zero : i64 -> !tok.scalar
  %number = tok.cast %x : f64 -> !tok.scalar
  %s = tok.if %c -> !tok.scalar {
    tok.yield %number : !tok.scalar
  } else {
    tok.yield %start : !tok.scalar
  }
  %d = tok.binary sub %s, %x : (!tok.scalar, f64) -> !tok.scalar
  tok.print %d : (!tok.scalar) -> ()
  return
}
