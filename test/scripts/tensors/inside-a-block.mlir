// Literals, views, expansions, sizes and transposes between cell operations are part of the block.
// prints: [1,,]
// prints: 1.500 2.500 3.500
// prints: 5.500 6.500 7.500
// prints: [2,,]
// prints: 1.500 2.500 3.500
// prints: 5.500 6.500 7.500
// prints: 
// prints: 54.0
// prints: [1,,]
// prints: 1.500 5.500
// prints: 2.500 6.500
// prints: 3.500 7.500
// prints: 
!t = tensor<?x?x?xf64>
!m = tensor<?x?xf64>
func.func @main() {
  %n1 = tok.constant 1 : i64
  %n2 = tok.constant 2 : i64
  %half = tok.constant 0.5 : f64
  %a = tok.literal dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf64>
  %b = tok.binary add %a, %half : (!m, f64) -> !m
  %c = tok.literal dense<[[[0.0], [4.0]]]> : tensor<1x2x1xf64>
  %n3 = tok.columns %b : !m
  %d = tok.view %b [%n1, %n1, %n3] : !m -> !t
  %e = tok.binary add %c, %d : (!t, !t) -> !t
  %f = tok.expand %e [%n2, %n2, %n3] : !t -> !t
  %g = tok.unary abs %f : !t -> !t
  %s = tok.aggregate sum full %g : !t -> f64
  %h = tok.transpose %e : (!t) -> !t
  %i = tok.unary abs %h : !t -> !t
  tok.print %g : (!t) -> ()
  tok.print %s : (f64) -> ()
  tok.print %i : (!t) -> ()
  return
}
