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

// A sum of sums is a double at all times, since it begins with one, and so it may be printed.
// CHECK-LABEL: func.func @sumOfSums(
// CHECK: %[[R:.*]] = tok.for {{.*}} carrying ({{.*}}) : f64
// CHECK: tok.for {{.*}} carrying ({{.*}}) : f64
// CHECK: tok.binary add %{{.*}}, %{{.*}} : (f64, f64) -> f64
// CHECK: %[[P:.*]] = tok.cast %[[R]] : f64 -> !tok.scalar
// CHECK: tok.print %[[P]]
func.func @sumOfSums(%x: f64, %n: i64) {
  %zero = tok.constant 0 : i64
  %one = tok.constant 1 : i64
  %half = tok.constant 5.000000e-01 : f64
  %first = tok.cast %half : f64 -> !tok.scalar
  %start = tok.cast %zero : i64 -> !tok.scalar
  %r = tok.for %i = %one to %n step %one carrying (%t = %first) : !tok.scalar {
    %0 = tok.for %j = %one to %n step %one carrying (%s = %start) : !tok.scalar {
      %2 = tok.binary add %s, %x : (!tok.scalar, f64) -> !tok.scalar
      tok.yield %2 : !tok.scalar
    }
    %1 = tok.binary add %t, %0 : (!tok.scalar, !tok.scalar) -> !tok.scalar
    tok.yield %1 : !tok.scalar
  }
  tok.print %r : (!tok.scalar) -> ()
  return
}

// What is larger, absolute, chosen or left by a division is as small as what it is of.
// CHECK-LABEL: func.func @bounded(
// CHECK-NOT: !tok.scalar
// CHECK: return
func.func @bounded(%x: f64, %n: i64, %c: i1) -> f64 {
  %zero = tok.constant 0 : i64
  %one = tok.constant 1 : i64
  %seven = tok.constant 7 : i64
  %start = tok.cast %seven : i64 -> !tok.scalar
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : !tok.scalar {
    %0 = tok.binary max %s, %x : (!tok.scalar, f64) -> !tok.scalar
    %1 = tok.binary min %0, %seven : (!tok.scalar, i64) -> !tok.scalar
    %2 = tok.binary mod %1, %seven : (!tok.scalar, i64) -> !tok.scalar
    %3 = tok.unary abs %2 : !tok.scalar -> !tok.scalar
    %4 = tok.ifelse %c, %3, %s : (i1, !tok.scalar, !tok.scalar) -> !tok.scalar
    %5 = tok.binary lt %4, %i : (!tok.scalar, i64) -> i1
    %6 = tok.if %5 -> !tok.scalar {
      %7 = tok.binary pow %4, %seven : (!tok.scalar, i64) -> f64
      %8 = tok.unary sqrt %4 : !tok.scalar -> f64
      %9 = tok.binary add %7, %8 : (f64, f64) -> f64
      %10 = tok.cast %9 : f64 -> !tok.scalar
      tok.yield %10 : !tok.scalar
    } else {
      tok.yield %4 : !tok.scalar
    }
    tok.yield %6 : !tok.scalar
  }
  %11 = tok.cast %r : !tok.scalar -> f64
  return %11 : f64
}

// Integers that are negated are never -0, nor are their quotients, and those by 0 stop the program.
// CHECK-LABEL: func.func @zeros(
// CHECK: tok.for {{.*}} carrying ({{.*}}) : !tok.scalar, !tok.scalar, !tok.scalar
func.func @zeros(%x: f64, %n: i64) -> (f64, f64, f64) {
  %zero = tok.constant 0 : i64
  %one = tok.constant 1 : i64
  %start = tok.cast %zero : i64 -> !tok.scalar
  %number = tok.cast %x : f64 -> !tok.scalar
  %r:3 = tok.for %i = %one to %n step %one carrying (%s = %start, %t = %start, %u = %start) : !tok.scalar, !tok.scalar, !tok.scalar {
    %0 = tok.unary neg %s : !tok.scalar -> !tok.scalar
    %1 = tok.binary intdiv %t, %one : (!tok.scalar, i64) -> !tok.scalar
    %2 = tok.binary mod %u, %zero : (!tok.scalar, i64) -> !tok.scalar
    tok.yield %0, %1, %2 : !tok.scalar, !tok.scalar, !tok.scalar
  }
  %3 = tok.cast %r#0 : !tok.scalar -> f64
  %4 = tok.cast %r#1 : !tok.scalar -> f64
  %5 = tok.cast %r#2 : !tok.scalar -> f64
  return %3, %4, %5 : f64, f64, f64
}

// A choice between a double and any integer stays an integer if that is chosen; a truth is no number of these.
// CHECK-LABEL: func.func @others(
// CHECK: %[[S:.*]] = tok.if %{{.*}} -> f64
// CHECK: %[[N:.*]] = tok.cast %[[S]] : f64 -> !tok.scalar
// CHECK: tok.ifelse %{{.*}}, %[[N]], %{{.*}} : (i1, !tok.scalar, i64) -> !tok.scalar
// CHECK: %[[M:.*]] = tok.cast %[[S]] : f64 -> !tok.scalar
// CHECK: tok.binary add %[[M]], %{{.*}} : (!tok.scalar, i1) -> !tok.scalar
func.func @others(%x: f64, %n: i64, %c: i1) -> (!tok.scalar, !tok.scalar) {
  %a = tok.cast %x : f64 -> !tok.scalar
  %y = tok.unary sqrt %x : f64 -> f64
  %b = tok.cast %y : f64 -> !tok.scalar
  %s = tok.if %c -> !tok.scalar {
    tok.yield %a : !tok.scalar
  } else {
    tok.yield %b : !tok.scalar
  }
  %0 = tok.ifelse %c, %s, %n : (i1, !tok.scalar, i64) -> !tok.scalar
  %1 = tok.binary add %s, %c : (!tok.scalar, i1) -> !tok.scalar
  return %0, %1 : !tok.scalar, !tok.scalar
}
