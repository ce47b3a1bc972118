// The bodies that docs/plan-ir.md explains.
// RUN: sed -n '/^```mlir/,/^```/p' %S/../../../../docs/plan-ir.md | sed '/^```/d' | tokamak-opt | tokamak-opt | FileCheck %s

// CHECK-LABEL: @sum_of_product
// CHECK-LABEL: @chain
// CHECK-LABEL: @softmax
// CHECK-LABEL: @sampled
// CHECK-LABEL: @transposed_product
// CHECK-LABEL: @running_mean
// CHECK: axes [s0 scanned, s1]
// CHECK-LABEL: @cbind
// CHECK: -> (d0, d2 + s0) at %{{.*}}
// CHECK-LABEL: @batched_product
// CHECK-LABEL: @convolution
// CHECK: (d0, d1 + d4 - 1, d2 + d5 - 1, d6) outside 0.000000e+00
// CHECK-LABEL: @attention
