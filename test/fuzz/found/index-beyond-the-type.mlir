// Of 128 cells of i8, the last one may be the largest: no i8 is its index.
func.func @main() {
  %v28 = tok.constant 64 : i64
  %v29 = tok.constant 128 : i64
  %v30 = tok.constant -2.0000 : f64
  %v31 = tok.constant 3.0000 : f64
  %v32 = tok.constant 1.0000 : f64
  %v33 = tok.constant 1.0000 : f64
  %v34 = tok.constant 211 : i64
  %v35 = tok.constant "uniform" : !tok.string
  %v27 = tok.rand %v28, %v29, %v30, %v31, %v33, %v34, %v35, %v32 : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf64>
  %v36 = tok.unary floor %v27 : tensor<?x?xf64> -> tensor<?x?xf64>
  %v38 = tok.constant 2 : i64
  %v39 = tok.constant 2 : i64
  %v40 = tok.constant 16 : i64
  %v41 = tok.constant 128 : i64
  %v37 = tok.view %v36 [%v38, %v39, %v40, %v41] : tensor<?x?xf64> -> tensor<?x?x?x?xf64>
  %v43 = tok.constant 100.0000 : f64
  %v42 = tok.binary mul %v37, %v43 : (tensor<?x?x?x?xf64>, f64) -> tensor<?x?x?x?xf64>
  %v44 = tok.cast %v42 : tensor<?x?x?x?xf64> -> tensor<?x?x?x?xi8>
  %v45 = tok.aggregate index_max row %v44 : tensor<?x?x?x?xi8> -> tensor<?x?x?x?xi8>
  tok.print %v45 : (tensor<?x?x?x?xi8>) -> ()
  return
}
