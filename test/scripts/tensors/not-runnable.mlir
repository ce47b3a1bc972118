// What can't run is refused before anything does, each thing at its place.
// exit: 2
// error-contains: 'tensor<2x3xf64>': sizes are facts, not part of the type: write ? for each, and tok.assume to state one
// error-contains: 'tensor<?x?xi5>': arrays run with elements of type f64, f32, f16, bf16, i8 to i64, ui8 to ui64 or i1
// error-contains: tok.diag is of matrices, not of 'tensor<?x?x?xf64>'; tok.view shows an array as a matrix
// error-contains: tok.execute is what the compiler makes of a block; call functions by tok.call
// error-contains: a program consists of tok operations, plan.operator, func.func and return, not of 'func.call'
func.func @sized(%x: tensor<2x3xf64>) {
  return
}
func.func @integers(%x: tensor<?x?xi5>) {
  return
}
func.func @cube(%x: tensor<?x?x?xf64>) {
  %0 = tok.diag %x : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  tok.execute @nothing() : () -> ()
  return
}
func.func private @nothing() {
  return
}
func.func @main() {
  func.call @nothing() : () -> ()
  return
}
