// RUN: tokamak-opt %s -split-input-file -verify-diagnostics

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @sizes(%X: !m, %Y: !m) {
  // expected-error @+1 {{a size for each dimension of each operand that is an array}}
  %r = plan.operator (%x = %X [s0]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %0 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @no_size(%X: !m, %Y: !m) {
  // expected-error @+1 {{no size: s0 +}}
  %r = plan.operator (%x = %X ["s0 +", 2]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @result_sizes(%X: !m, %Y: !m) {
  // expected-error @+1 {{a size for each dimension of each result that is an array}}
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %0 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @drivers(%X: !m, %Y: !m) {
  // expected-error @+1 {{the drivers are sparse operands of the same sizes}}
  %r = plan.operator (%x = %X driver [s0, s1], %y = %Y driver [s1, s0]) axes [s0, s1] -> [s0, s1] : (!m, !m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %0 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @csr_result(%X: !m, %Y: !m) {
  // expected-error @+1 {{a sparse result has the sizes and the entries of a driver}}
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> sparse [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %0 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @dimensions_of_a_map(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    // expected-error @+1 {{the operator has 2 axes, the map 1}}
    %0 = plan.read %x (d0) -> (d0, 0) : !m -> !i
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @results_of_a_map(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    // expected-error @+1 {{the array has 2 dimensions, the map 1 results}}
    %0 = plan.read %x (d0, d1) -> (d0) : !m -> !i
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @wrong_map(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    // expected-error @+1 {{d1 may be longer than the dimension it accesses}}
    %0 = plan.read %x (d0, d1) -> (d1, d0) : !m -> !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @lost_axis_of_a_read(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    // expected-error @+1 {{the cell does not run over d1}}
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !i
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @axis_that_no_map_has(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    // expected-error @+1 {{the map does not depend on d1}}
    %0 = plan.read %x (d0, d1) -> (d0, 0) : !m -> !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @no_such_axis(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{there is no axis d2}}
    %1 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !plan.cell<(d0, d1, d2) -> f64>
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @type_of_a_read(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    // expected-error @+1 {{the cells of 'tensor<?x?xf64>' are not of type 'f32'}}
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !plan.cell<(d0, d1) -> f32>
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @index_is_missing(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    // expected-error @+1 {{the map has a symbol for each index}}
    %0 = plan.read %x (d0, d1)[s0] -> (s0, d1) : !m -> !plan.cell<(d1) -> f64>
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @type_of_an_index(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{must be variadic of cell of type i64}}
    %1 = plan.read %x (d0, d1)[s0] -> (s0, d1) at %0 : !ij : !m -> !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @lost_axis_of_a_cell(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{runs over d0, its operands over d0, d1}}
    %1 = plan.unary exp %0 : !ij -> !i
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @types_of_operands(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.constant 1.0 : f32 : !plan.cell<() -> f32>
    // expected-error @+1 {{both operands have the same element type}}
    %2 = plan.binary add %0, %1 : (!ij, !plan.cell<() -> f32>) -> !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @types_of_choices(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.constant 1.0 : f32 : !plan.cell<() -> f32>
    // expected-error @+1 {{both choices have the element type of the result}}
    %2 = plan.ifelse %0, %0, %1 : (!ij, !ij, !plan.cell<() -> f32>) -> !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @type_of_a_literal(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    // expected-error @+1 {{the number has the type of the cell}}
    %0 = plan.constant 1.0 : f64 : !plan.cell<() -> f32>
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @type_of_a_size(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    // expected-error @+1 {{must be cell of type i64}}
    %0 = plan.size "s0" : !c
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @reindexed_type(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{the map has a result for each axis of the operand}}
    %1 = plan.reindex %0 (d0, d1) -> (d0) : !ij -> !i
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @reduced_axis(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1 reduced] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.reduce sum %0 over [d1] in f64 : !ij -> !i
    // expected-error @+1 {{the operand runs over d0}}
    %2 = plan.reduce sum %1 over [d1] in f64 : !i -> !i
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @result_of_a_reduction(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1 reduced] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{runs over d0, d1, its operands over d0}}
    %1 = plan.reduce sum %0 over [d1] in f64 : !ij -> !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @accumulator(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1 reduced] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{no accumulator for 'f64': 'i64'}}
    %1 = plan.reduce sum %0 over [d1] in i64 : !ij -> !i
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @mean(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1 reduced] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{mean, var and sd are decomposed before}}
    %1 = plan.reduce mean %0 over [d1] in f64 : !ij -> !i
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @scan(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1 scanned] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{it is a sum, prod, min or max along one axis}}
    %1 = plan.scan index_max %0 over [d1] in f64 : !ij -> !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @kind_of_an_axis(%X: !m, %Y: !m) {
  // expected-error @+1 {{axis d1 is reduced}}
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, 1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.reduce sum %0 over [d1] in f64 : !ij -> !i
    plan.write %1 to 0 (d0, d1) -> (d0, 0) : !i
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @nothing_is_written(%X: !m, %Y: !m) {
  // expected-error @+1 {{what is written to result 0 does not fill it}}
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @a_part_is_missing(%X: !m, %Y: !m) {
  // expected-error @+1 {{what is written to result 0 does not fill it}}
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, "s1 + 1"] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    plan.write %0 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @written_beyond(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, 7] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{d1 may be longer than the dimension it accesses}}
    plan.write %0 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @written_along_no_axis(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{the operator has 2 axes, the map 9}}
    plan.write %0 to 0 (d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d8) : !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @no_such_result(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{there is no result 1}}
    plan.write %0 to 1 (d0, d1) -> (d0, d1) : !ij
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @type_of_a_result(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.cast %0 : !ij -> !plan.cell<(d0, d1) -> f32>
    // expected-error @+1 {{the result is of type 'f64'}}
    plan.write %1 to 0 (d0, d1) -> (d0, d1) : !plan.cell<(d0, d1) -> f32>
  }
  return
}

// -----

!m = tensor<?x?xf64>
!ij = !plan.cell<(d0, d1) -> f64>
!i = !plan.cell<(d0) -> f64>
!c = !plan.cell<() -> f64>
func.func @foreign_operation(%X: !m, %Y: !m) {
  %r = plan.operator (%x = %X [s0, s1]) axes [s0, s1] -> [s0, s1] : (!m) -> !m {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    // expected-error @+1 {{is no operation of a body}}
    %1 = tok.constant 1.0 : f64
  }
  return
}

// -----

// expected-error @+1 {{axes of a cell are in ascending order}}
!cell = !plan.cell<(d1, d0) -> f64>

// -----

// expected-error @+1 {{a cell has an element type of arrays, not 'i3'}}
!cell = !plan.cell<(d0) -> i3>

// -----

// expected-error @+1 {{argument 1: expected sizes like ["s0 + 1", 10]}}
func.func @argument(%s: f64, %x: tensor<?x?xf64> {tok.sizes = ["rows", 10]}) {
  return
}
