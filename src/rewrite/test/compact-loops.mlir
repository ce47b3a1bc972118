// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-compact-loops))' %s | FileCheck %s

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>

// CHECK-LABEL: func.func @few
func.func @few(%X: !m) -> !m {
  // CHECK: -> [1024, 64] {compact}
  %0 = plan.operator (%x = %X [1024, 64]) axes [1024, 64] -> [1024, 64] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}

// CHECK-LABEL: func.func @many
func.func @many(%X: !m) -> !m {
  // CHECK: -> [1025, 64] :
  %0 = plan.operator (%x = %X [1025, 64]) axes [1025, 64] -> [1025, 64] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}

// Reduced axes count, too.
// CHECK-LABEL: func.func @reduced
func.func @reduced(%X: !m) -> !m {
  // CHECK: -> [1024, 1] :
  %0 = plan.operator (%x = %X [1024, 65]) axes [1024, 65 reduced] -> [1024, 1] : (!m) -> !m {
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

// Narrow rows count as if they had 128 cells.
// CHECK-LABEL: func.func @in_a_range
func.func @in_a_range(%X: !m) -> !m {
  // CHECK: -> ["s0:129..8192~512", 4] {compact}
  %0 = plan.operator (%x = %X ["s0:129..8192~512", 4]) axes ["s0:129..8192~512", 4] -> ["s0:129..8192~512", 4] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}

// CHECK-LABEL: func.func @in_a_wide_range
func.func @in_a_wide_range(%X: !m) -> !m {
  // CHECK: -> ["s0:129..8193~512", 4] :
  %0 = plan.operator (%x = %X ["s0:129..8193~512", 4]) axes ["s0:129..8193~512", 4] -> ["s0:129..8193~512", 4] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}

// CHECK-LABEL: func.func @probably_many
func.func @probably_many(%X: !m) -> !m {
  // CHECK: -> ["s0:129..8192~513", 4] :
  %0 = plan.operator (%x = %X ["s0:129..8192~513", 4]) axes ["s0:129..8192~513", 4] -> ["s0:129..8192~513", 4] : (!m) -> !m {
    %c = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %c to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %0 : !m
}
