// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-compact-loops))' %s | FileCheck %s

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>

// CHECK-LABEL: func.func @few
func.func @few(%X: !m) -> !m {
  // CHECK: -> [128, 64] {compact}
  %0 = plan.operator (%x = %X [128, 64]) axes [128, 64] -> [128, 64] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}

// CHECK-LABEL: func.func @many
func.func @many(%X: !m) -> !m {
  // CHECK: -> [129, 64] :
  %0 = plan.operator (%x = %X [129, 64]) axes [129, 64] -> [129, 64] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}

// Reduced axes count, too.
// CHECK-LABEL: func.func @reduced
func.func @reduced(%X: !m) -> !m {
  // CHECK: -> [128, 1] :
  %0 = plan.operator (%x = %X [128, 65]) axes [128, 65 reduced] -> [128, 1] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %s = plan.reduce sum %c over [d1] in f64 : !ij -> !plan.cell<(d0) -> f64>
    plan.write %s to 0 (d0, d1) -> (d0, 0) : !plan.cell<(d0) -> f64>
  }
  return %0 : !m
}

// A size that is unknown may be large.
// CHECK-LABEL: func.func @unknown
func.func @unknown(%X: !m) -> !m {
  // CHECK: -> [s0, 4] :
  %0 = plan.operator (%x = %X [s0, 4]) axes [s0, 4] -> [s0, 4] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}

// CHECK-LABEL: func.func @in_a_range
func.func @in_a_range(%X: !m) -> !m {
  // CHECK: -> ["s0:129..32768~2048", 4] {compact}
  %0 = plan.operator (%x = %X ["s0:129..32768~2048", 4]) axes ["s0:129..32768~2048", 4] -> ["s0:129..32768~2048", 4] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}

// CHECK-LABEL: func.func @in_a_wide_range
func.func @in_a_wide_range(%X: !m) -> !m {
  // CHECK: -> ["s0:129..32769~2048", 4] :
  %0 = plan.operator (%x = %X ["s0:129..32769~2048", 4]) axes ["s0:129..32769~2048", 4] -> ["s0:129..32769~2048", 4] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}

// CHECK-LABEL: func.func @probably_many
func.func @probably_many(%X: !m) -> !m {
  // CHECK: -> ["s0:129..32768~2049", 4] :
  %0 = plan.operator (%x = %X ["s0:129..32768~2049", 4]) axes ["s0:129..32768~2049", 4] -> ["s0:129..32768~2049", 4] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}
