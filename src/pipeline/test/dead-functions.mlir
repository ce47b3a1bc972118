// RUN: tokamak-opt --tok-dead-functions %s | FileCheck %s

// CHECK: func.func @main
func.func @main(%x: f64) -> f64 {
  %0 = tok.call @used(%x) : (f64) -> f64
  return %0 : f64
}

// CHECK: func.func private @used
func.func private @used(%x: f64) -> f64 {
  return %x : f64
}

// CHECK-NOT: @unused
func.func private @unused(%x: f64) -> f64 {
  return %x : f64
}
