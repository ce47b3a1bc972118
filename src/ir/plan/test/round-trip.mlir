// RUN: tokamak-opt %s | tokamak-opt | FileCheck %s

// CHECK-LABEL: func.func @row
func.func @row(%X: tensor<?x?xf64>, %v: tensor<?x?xf64>, %s: f64) -> tensor<?x?xf64> {
  // CHECK: plan.operator (%[[x:.*]] = %{{.*}} [s0, 10], %[[w:.*]] = %{{.*}} [10, 1], %[[c:.*]] = %{{.*}}) axes [s0, 10 reduced] -> [s0, 1] {label = "q"} : (tensor<?x?xf64>, tensor<?x?xf64>, f64) -> tensor<?x?xf64> {
  %q = plan.operator (%x = %X [s0, 10], %w = %v [10, 1], %c = %s) axes [s0, 10 reduced] -> [s0, 1] {label = "q"} : (tensor<?x?xf64>, tensor<?x?xf64>, f64) -> tensor<?x?xf64> {
    // CHECK-NEXT: plan.read %[[x]] (d0, d1) -> (d0, d1) : tensor<?x?xf64> -> {{(!plan.cell)?}}<(d0, d1) -> f64>
    %0 = plan.read %x (d0, d1) -> (d0, d1) : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>
    // CHECK-NEXT: plan.read %[[w]] (d0, d1) -> (d1, 0) : tensor<?x?xf64> -> {{(!plan.cell)?}}<(d1) -> f64>
    %1 = plan.read %w (d0, d1) -> (d1, 0) : tensor<?x?xf64> -> !plan.cell<(d1) -> f64>
    // CHECK-NEXT: plan.read %[[c]] (d0, d1) -> () : f64 -> {{(!plan.cell)?}}<() -> f64>
    %2 = plan.read %c (d0, d1) -> () : f64 -> !plan.cell<() -> f64>
    %3 = plan.binary mul %0, %1 : (!plan.cell<(d0, d1) -> f64>, !plan.cell<(d1) -> f64>) -> !plan.cell<(d0, d1) -> f64>
    // CHECK: plan.reduce sum %{{.*}} over [d1] in f64 : {{(!plan.cell)?}}<(d0, d1) -> f64> -> {{(!plan.cell)?}}<(d0) -> f64>
    %4 = plan.reduce sum %3 over [d1] in f64 : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0) -> f64>
    %5 = plan.binary lt %4, %2 : (!plan.cell<(d0) -> f64>, !plan.cell<() -> f64>) -> !plan.cell<(d0) -> i1>
    // CHECK: plan.constant 2.500000e+00 : f64 : {{(!plan.cell)?}}<() -> f64>
    %6 = plan.constant 2.5 : f64 : !plan.cell<() -> f64>
    // CHECK: plan.ifelse
    %7 = plan.ifelse %5, %4, %6 : (!plan.cell<(d0) -> i1>, !plan.cell<(d0) -> f64>, !plan.cell<() -> f64>) -> !plan.cell<(d0) -> f64>
    // CHECK: plan.write %{{.*}} to 0 (d0, d1) -> (d0, 0) : {{(!plan.cell)?}}<(d0) -> f64>
    plan.write %7 to 0 (d0, d1) -> (d0, 0) : !plan.cell<(d0) -> f64>
  }
  return %q : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @entries
func.func @entries(%S: tensor<?x?xf32>, %T: tensor<?x?xf32>, %D: tensor<?x?xf32>) -> (tensor<?x?xf32>, f64) {
  // CHECK: plan.operator (%{{.*}} = %{{.*}} driver [s0, s1], %{{.*}} = %{{.*}} driver [s0, s1], %{{.*}} = %{{.*}} sparse [s0, s1]) axes [s0 reduced, s1 reduced] -> sparse [s0, s1], scalar :
  %q:2 = plan.operator (%s = %S driver [s0, s1], %t = %T driver [s0, s1], %d = %D sparse [s0, s1]) axes [s0 reduced, s1 reduced] -> sparse [s0, s1], scalar : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> (tensor<?x?xf32>, f64) {
    %0 = plan.read %s (d0, d1) -> (d0, d1) : tensor<?x?xf32> -> !plan.cell<(d0, d1) -> f32>
    %1 = plan.read %t (d0, d1) -> (d0, d1) : tensor<?x?xf32> -> !plan.cell<(d0, d1) -> f32>
    %2 = plan.read %d (d0, d1) -> (d0, d1) : tensor<?x?xf32> -> !plan.cell<(d0, d1) -> f32>
    %3 = plan.binary add %0, %1 : (!plan.cell<(d0, d1) -> f32>, !plan.cell<(d0, d1) -> f32>) -> !plan.cell<(d0, d1) -> f32>
    plan.write %3 to 0 (d0, d1) -> (d0, d1) : !plan.cell<(d0, d1) -> f32>
    %4 = plan.binary mul %3, %2 : (!plan.cell<(d0, d1) -> f32>, !plan.cell<(d0, d1) -> f32>) -> !plan.cell<(d0, d1) -> f32>
    // CHECK: plan.cast %{{.*}} : {{(!plan.cell)?}}<(d0, d1) -> f32> -> {{(!plan.cell)?}}<(d0, d1) -> f64>
    %5 = plan.cast %4 : !plan.cell<(d0, d1) -> f32> -> !plan.cell<(d0, d1) -> f64>
    %6 = plan.reduce max %5 over [d0, d1] in f64 : !plan.cell<(d0, d1) -> f64> -> !plan.cell<() -> f64>
    plan.write %6 to 1 (d0, d1) -> () : !plan.cell<() -> f64>
  }
  return %q#0, %q#1 : tensor<?x?xf32>, f64
}

// CHECK-LABEL: func.func @computed_sizes
func.func @computed_sizes(%S: tensor<?x?xf64>) -> tensor<?x?xf64> {
  // CHECK: plan.operator (%{{.*}} = %{{.*}} ["2*s0 + 1", "s1:2..600~500"]) axes ["2*s0 + 1", "s1:2..600~500"] -> ["s1:2..600~500", "2*s0 + 1"] :
  %q = plan.operator (%s = %S ["1 + s0*2", "s1:2..600~500"]) axes ["2*s0 + 1", "s1:2..600~500"] -> ["s1:2..600~500", "2*s0 + 1"] : (tensor<?x?xf64>) -> tensor<?x?xf64> {
    %0 = plan.read %s (d0, d1) -> (d0, d1) : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>
    // CHECK: plan.unary exp
    %1 = plan.unary exp %0 : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0, d1) -> f64>
    plan.write %1 to 0 (d0, d1) -> (d1, d0) : !plan.cell<(d0, d1) -> f64>
  }
  return %q : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @gather
func.func @gather(%X: tensor<?x?xf64>, %K: tensor<?x?xi64>) -> tensor<?x?xf64> {
  %q = plan.operator (%x = %X [s0, s1], %k = %K [s2, 1]) axes [s2, s1] -> [s2, s1] : (tensor<?x?xf64>, tensor<?x?xi64>) -> tensor<?x?xf64> {
    %0 = plan.read %k (d0, d1) -> (d0, 0) : tensor<?x?xi64> -> !plan.cell<(d0) -> i64>
    // CHECK: plan.read %{{.*}} (d0, d1)[s0] -> (s0 - 1, d1) at %{{.*}} : {{(!plan.cell)?}}<(d0) -> i64> : tensor<?x?xf64> -> {{(!plan.cell)?}}<(d0, d1) -> f64>
    %1 = plan.read %x (d0, d1)[s0] -> (s0 - 1, d1) at %0 : !plan.cell<(d0) -> i64> : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>
    plan.write %1 to 0 (d0, d1) -> (d0, d1) : !plan.cell<(d0, d1) -> f64>
  }
  return %q : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @own_rows
func.func @own_rows(%P: tensor<?x?xf64>, %B: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %q = plan.operator (%p = %P [s0, 8], %b = %B [8, 8]) axes [s0, 8, 8 reduced] -> [s0, 8] : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64> {
    %0 = plan.read %p (d0, d1, d2) -> (d0, d1) : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>
    %1 = plan.unary tanh %0 : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0, d1) -> f64>
    // CHECK: plan.reindex %{{.*}} (d0, d1, d2) -> (d0, d2) : {{(!plan.cell)?}}<(d0, d1) -> f64> -> {{(!plan.cell)?}}<(d0, d2) -> f64>
    %2 = plan.reindex %1 (d0, d1, d2) -> (d0, d2) : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0, d2) -> f64>
    %3 = plan.read %b (d0, d1, d2) -> (d2, d1) : tensor<?x?xf64> -> !plan.cell<(d1, d2) -> f64>
    %4 = plan.binary mul %2, %3 : (!plan.cell<(d0, d2) -> f64>, !plan.cell<(d1, d2) -> f64>) -> !plan.cell<(d0, d1, d2) -> f64>
    %5 = plan.reduce sum %4 over [d2] in f64 : !plan.cell<(d0, d1, d2) -> f64> -> !plan.cell<(d0, d1) -> f64>
    %6 = plan.binary add %1, %5 : (!plan.cell<(d0, d1) -> f64>, !plan.cell<(d0, d1) -> f64>) -> !plan.cell<(d0, d1) -> f64>
    plan.write %6 to 0 (d0, d1, d2) -> (d0, d1) : !plan.cell<(d0, d1) -> f64>
  }
  return %q : tensor<?x?xf64>
}
