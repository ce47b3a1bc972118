// Cells of i1 have an index of i64.
func.func @main() {
  %v92 = tok.constant 384 : i64
  %v93 = tok.constant 3 : i64
  %v94 = tok.constant -2.0000 : f64
  %v95 = tok.constant 3.0000 : f64
  %v96 = tok.constant 1.0000 : f64
  %v97 = tok.constant 0.5000 : f64
  %v98 = tok.constant 317 : i64
  %v99 = tok.constant "uniform" : !tok.string
  %v91 = tok.rand %v92, %v93, %v94, %v95, %v97, %v98, %v99, %v96 : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %v101 = tok.constant 128 : i64
  %v102 = tok.constant 3 : i64
  %v103 = tok.constant 3 : i64
  %v100 = tok.view %v91 [%v101, %v102, %v103] : tensor<?x?xf32> -> tensor<?x?x?xf32>
  %v105 = tok.constant 1 : i64
  %v106 = tok.constant 1 : i64
  %v107 = tok.constant -2.0000 : f64
  %v108 = tok.constant 3.0000 : f64
  %v109 = tok.constant 1.0000 : f64
  %v110 = tok.constant 1.0000 : f64
  %v111 = tok.constant 61 : i64
  %v112 = tok.constant "uniform" : !tok.string
  %v104 = tok.rand %v105, %v106, %v107, %v108, %v110, %v111, %v112, %v109 : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %v114 = tok.constant 1 : i64
  %v115 = tok.constant 1 : i64
  %v116 = tok.constant 1 : i64
  %v113 = tok.view %v104 [%v114, %v115, %v116] : tensor<?x?xf32> -> tensor<?x?x?xf32>
  %v117 = tok.binary ne %v100, %v113 : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xi1>
  %v150 = tok.aggregate index_max row %v117 : tensor<?x?x?xi1> -> tensor<?x?x?xi64>
  tok.print %v150 : (tensor<?x?x?xi64>) -> ()
  return
}
