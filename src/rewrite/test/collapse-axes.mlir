// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-collapse-axes))' %s | FileCheck %s

!v = tensor<?xf32>
!m = tensor<?x?xf32>
!t3 = tensor<?x?x?xf32>
!t4 = tensor<?x?x?x?xf32>
!c = !plan.cell<(d1) -> f32>
!all = !plan.cell<(d0, d1, d2, d3) -> f32>

// A number for each channel is a column beside rows of all cells of a channel; what follows reads them as they are.
// CHECK-LABEL: func.func @channels
func.func @channels(%X: !t4, %B: !v) -> !t4 {
  %one = tok.constant 1 : i64
  %c = tok.constant 64 : i64
  %V = tok.view %B [%one, %c, %one, %one] : !v -> !t4
  // CHECK-DAG: %[[X:.*]] = tok.view %arg0[%{{.*}}, %{{.*}}] : tensor<?x?x?x?xf32> -> tensor<?x?xf32>
  // CHECK-DAG: %[[B:.*]] = tok.view %arg1[%{{.*}}, %{{.*}}] : tensor<?xf32> -> tensor<?x?xf32>
  // CHECK: %[[R:.*]] = plan.operator (%{{.*}} = %[[X]] [64, 3136], %{{.*}} = %[[B]] [64, 1]) axes [64, 3136] -> [64, 3136]
  // CHECK-DAG: plan.read %{{.*}} (d0, d1) -> (d0, d1)
  // CHECK-DAG: plan.read %{{.*}} (d0, d1) -> (d0, 0)
  %0 = plan.operator (%x = %X [1, 64, 56, 56], %b = %V [1, 64, 1, 1]) axes [1, 64, 56, 56] -> [1, 64, 56, 56]
      : (!t4, !t4) -> !t4 {
    %p = plan.read %x (d0, d1, d2, d3) -> (d0, d1, d2, d3) : !t4 -> !all
    %q = plan.read %b (d0, d1, d2, d3) -> (0, d1, 0, 0) : !t4 -> !c
    %s = plan.binary add %p, %q : (!all, !c) -> !all
    plan.write %s to 0 (d0, d1, d2, d3) -> (d0, d1, d2, d3) : !all
  }
  // CHECK: %[[R2:.*]] = tok.view %[[R]][%{{.*}}, %{{.*}}]
  // CHECK: %[[O:.*]] = plan.operator (%{{.*}} = %{{.*}} [200704, 1]) axes [200704] -> [200704, 1]
  %1 = plan.operator (%x = %0 [1, 64, 56, 56]) axes [1, 64, 56, 56] -> [1, 64, 56, 56] : (!t4) -> !t4 {
    %p = plan.read %x (d0, d1, d2, d3) -> (d0, d1, d2, d3) : !t4 -> !all
    %z = plan.unary abs %p : !all -> !all
    plan.write %z to 0 (d0, d1, d2, d3) -> (d0, d1, d2, d3) : !all
  }
  // CHECK: tok.view %[[O]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  return %1 : !t4
}

// Sizes that nobody knows are computed. An axis that is reduced stays apart from one that isn't.
// CHECK-LABEL: func.func @rows
func.func @rows(%X: !t3) -> !t3 {
  // CHECK-DAG: %[[A:.*]] = tok.size %arg0[1]
  // CHECK-DAG: %[[B:.*]] = tok.size %arg0[2]
  // CHECK-DAG: %[[P:.*]] = tok.binary mul %[[A]], %[[B]]
  // CHECK-DAG: %[[C:.*]] = tok.size %arg0[3]
  // CHECK: tok.view %arg0[%[[P]], %[[C]]]
  // CHECK: axes ["s0*s1", s2 reduced] -> ["s0*s1", 1]
  // CHECK: plan.reduce sum %{{.*}} over [d1]
  %0 = plan.operator (%x = %X ["s0", "s1", "s2"]) axes ["s0", "s1", "s2" reduced] -> ["s0", "s1", 1] : (!t3) -> !t3 {
    %p = plan.read %x (d0, d1, d2) -> (d0, d1, d2) : !t3 -> !plan.cell<(d0, d1, d2) -> f32>
    %s = plan.reduce sum %p over [d2] in f64 : !plan.cell<(d0, d1, d2) -> f32> -> !plan.cell<(d0, d1) -> f32>
    plan.write %s to 0 (d0, d1, d2) -> (d0, d1, 0) : !plan.cell<(d0, d1) -> f32>
  }
  return %0 : !t3
}

// What has only the middle dimension keeps all three apart.
// CHECK-LABEL: func.func @middle
// CHECK-NOT: tok.view
// CHECK: axes [4, 5, 6] -> [4, 5, 6]
func.func @middle(%X: !t3, %Y: !t3) -> !t3 {
  %0 = plan.operator (%x = %X [4, 5, 6], %y = %Y [1, 5, 1]) axes [4, 5, 6] -> [4, 5, 6] : (!t3, !t3) -> !t3 {
    %p = plan.read %x (d0, d1, d2) -> (d0, d1, d2) : !t3 -> !plan.cell<(d0, d1, d2) -> f32>
    %q = plan.read %y (d0, d1, d2) -> (0, d1, 0) : !t3 -> !c
    %s = plan.binary add %p, %q : (!plan.cell<(d0, d1, d2) -> f32>, !c) -> !plan.cell<(d0, d1, d2) -> f32>
    plan.write %s to 0 (d0, d1, d2) -> (d0, d1, d2) : !plan.cell<(d0, d1, d2) -> f32>
  }
  return %0 : !t3
}

// Matrices stay as they are, and so does what is read at other places.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tok.view
func.func @others(%X: !m, %Y: !v) -> (!m, !v) {
  %0 = plan.operator (%x = %X [1, 7]) axes [1, 7] -> [1, 7] : (!m) -> !m {
    %p = plan.read %x (d0, d1) -> (d0, d1) : !m -> !plan.cell<(d0, d1) -> f32>
    plan.write %p to 0 (d0, d1) -> (d0, d1) : !plan.cell<(d0, d1) -> f32>
  }
  %1 = plan.operator (%y = %Y [7]) axes [7] -> [7] : (!v) -> !v {
    %p = plan.read %y (d0) -> (d0 - 1) outside 0.0 : !v -> !plan.cell<(d0) -> f32>
    plan.write %p to 0 (d0) -> (d0) : !plan.cell<(d0) -> f32>
  }
  return %0, %1 : !m, !v
}

// What is reduced and used again needs an axis that tiles are cut from, even one of one place.
// CHECK-LABEL: func.func @used_again
// CHECK-NOT: tok.view
// CHECK: axes [1, 5 reduced, 3 reduced] -> [1]
// CHECK-LABEL: func.func @reduced_only
// CHECK: axes [15 reduced] -> [1, 1]
func.func @used_again(%X: !t3) -> !v {
  %0 = plan.operator (%x = %X [1, 5, 3]) axes [1, 5 reduced, 3 reduced] -> [1] : (!t3) -> !v {
    %p = plan.read %x (d0, d1, d2) -> (d0, d1, d2) : !t3 -> !plan.cell<(d0, d1, d2) -> f32>
    %s = plan.reduce sum %p over [d1, d2] in f64 : !plan.cell<(d0, d1, d2) -> f32> -> !plan.cell<(d0) -> f32>
    %q = plan.binary mul %p, %s : (!plan.cell<(d0, d1, d2) -> f32>, !plan.cell<(d0) -> f32>) -> !plan.cell<(d0, d1, d2) -> f32>
    %m = plan.reduce max %q over [d1, d2] in f64 : !plan.cell<(d0, d1, d2) -> f32> -> !plan.cell<(d0) -> f32>
    plan.write %m to 0 (d0, d1, d2) -> (d0) : !plan.cell<(d0) -> f32>
  }
  return %0 : !v
}
func.func @reduced_only(%X: !t3) -> !v {
  %0 = plan.operator (%x = %X [1, 5, 3]) axes [1, 5 reduced, 3 reduced] -> [1] : (!t3) -> !v {
    %p = plan.read %x (d0, d1, d2) -> (d0, d1, d2) : !t3 -> !plan.cell<(d0, d1, d2) -> f32>
    %s = plan.reduce sum %p over [d1, d2] in f64 : !plan.cell<(d0, d1, d2) -> f32> -> !plan.cell<(d0) -> f32>
    plan.write %s to 0 (d0, d1, d2) -> (d0) : !plan.cell<(d0) -> f32>
  }
  return %0 : !v
}

// Results of one cell and of several have only an axis of one place in common, from which tiles are cut.
// CHECK-LABEL: func.func @one_cell_beside_others
// CHECK-NOT: tok.view
// CHECK: axes [1, 3] -> [1], [1, 3]
func.func @one_cell_beside_others(%X: !m, %Y: !v) -> (!v, !m) {
  %0, %1 = plan.operator (%x = %X [1, 3], %y = %Y [1]) axes [1, 3] -> [1], [1, 3] : (!m, !v) -> (!v, !m) {
    %p = plan.read %x (d0, d1) -> (d0, d1) : !m -> !plan.cell<(d0, d1) -> f32>
    %q = plan.read %y (d0, d1) -> (d0) : !v -> !plan.cell<(d0) -> f32>
    %r = plan.unary abs %q : !plan.cell<(d0) -> f32> -> !plan.cell<(d0) -> f32>
    plan.write %r to 0 (d0, d1) -> (d0) : !plan.cell<(d0) -> f32>
    plan.write %p to 1 (d0, d1) -> (d0, d1) : !plan.cell<(d0, d1) -> f32>
  }
  return %0, %1 : !v, !m
}
