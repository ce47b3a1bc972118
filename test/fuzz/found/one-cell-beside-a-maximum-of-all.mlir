// Of axes of one place the first must stay: one result is a maximum over all others, the other no aggregate at all.
func.func @main() {
  %v33 = tok.constant 1 : i64
  %v34 = tok.constant 3 : i64
  %v35 = tok.constant -2.0000 : f64
  %v36 = tok.constant 3.0000 : f64
  %v37 = tok.constant 1.0000 : f64
  %v38 = tok.constant 1.0000 : f64
  %v39 = tok.constant 280 : i64
  %v40 = tok.constant "uniform" : !tok.string
  %v32 = tok.rand %v33, %v34, %v35, %v36, %v38, %v39, %v40, %v37 : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf64>
  %v42 = tok.constant 1 : i64
  %v43 = tok.constant 1 : i64
  %v44 = tok.constant 3 : i64
  %v41 = tok.view %v32 [%v42, %v43, %v44] : tensor<?x?xf64> -> tensor<?x?x?xf64>
  %v46 = tok.constant 1 : i64
  %v47 = tok.constant 1 : i64
  %v48 = tok.constant -2.0000 : f64
  %v49 = tok.constant 3.0000 : f64
  %v50 = tok.constant 1.0000 : f64
  %v51 = tok.constant 1.0000 : f64
  %v52 = tok.constant 167 : i64
  %v53 = tok.constant "uniform" : !tok.string
  %v45 = tok.rand %v46, %v47, %v48, %v49, %v51, %v52, %v53, %v50 : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf64>
  %v55 = tok.constant 1 : i64
  %v54 = tok.view %v45 [%v55] : tensor<?x?xf64> -> tensor<?xf64>
  %v57 = tok.constant 1 : i64
  %v58 = tok.constant 3 : i64
  %v59 = tok.constant -2.0000 : f64
  %v60 = tok.constant 3.0000 : f64
  %v61 = tok.constant 1.0000 : f64
  %v62 = tok.constant 1.0000 : f64
  %v63 = tok.constant 393 : i64
  %v64 = tok.constant "uniform" : !tok.string
  %v56 = tok.rand %v57, %v58, %v59, %v60, %v62, %v63, %v64, %v61 : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf64>
  %v65 = tok.unary floor %v56 : tensor<?x?xf64> -> tensor<?x?xf64>
  %v67 = tok.constant 3 : i64
  %v66 = tok.view %v65 [%v67] : tensor<?x?xf64> -> tensor<?xf64>
  %o31_0, %o31_1 = plan.operator (%p0 = %v41 [s1, 1, 3], %p1 = %v54 [1], %p2 = %v66 [3]) axes [1, s1 reduced, 3 reduced] -> [1], [1] : (tensor<?x?x?xf64>, tensor<?xf64>, tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
    %c0 = plan.read %p0 (d0, d1, d2) -> (d1, d0, d2) : tensor<?x?x?xf64> -> !plan.cell<(d0, d1, d2) -> f64>
    %c1 = plan.read %p1 (d0, d1, d2) -> (d0) : tensor<?xf64> -> !plan.cell<(d0) -> f64>
    %c2 = plan.read %p2 (d0, d1, d2) -> (d2) : tensor<?xf64> -> !plan.cell<(d2) -> f64>
    %c4 = plan.unary neg %c2 : !plan.cell<(d2) -> f64> -> !plan.cell<(d2) -> f64>
    %c5 = plan.constant 3.000000e-01 : f64 : !plan.cell<() -> f64>
    %c6 = plan.binary mul %c4, %c5 : (!plan.cell<(d2) -> f64>, !plan.cell<() -> f64>) -> !plan.cell<(d2) -> f64>
    %c7 = plan.binary add %c6, %c0 : (!plan.cell<(d2) -> f64>, !plan.cell<(d0, d1, d2) -> f64>) -> !plan.cell<(d0, d1, d2) -> f64>
    %c8 = plan.unary floor %c7 : !plan.cell<(d0, d1, d2) -> f64> -> !plan.cell<(d0, d1, d2) -> f64>
    %c9 = plan.constant 0.000000e+00 : f64 : !plan.cell<() -> f64>
    %c10 = plan.binary add %c8, %c9 : (!plan.cell<(d0, d1, d2) -> f64>, !plan.cell<() -> f64>) -> !plan.cell<(d0, d1, d2) -> f64>
    %c11 = plan.reduce max %c10 over [d1, d2] in f64 : !plan.cell<(d0, d1, d2) -> f64> -> !plan.cell<(d0) -> f64>
    plan.write %c11 to 0 (d0, d1, d2) -> (d0) : !plan.cell<(d0) -> f64>
    plan.write %c1 to 1 (d0, d1, d2) -> (d0) : !plan.cell<(d0) -> f64>
  }
  %v68 = tok.aggregate sd row %o31_1 : tensor<?xf64> -> tensor<?xf64>
  tok.print %v68 : (tensor<?xf64>) -> ()
  return
}
