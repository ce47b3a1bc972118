// Arrays of one to eight dimensions: views, sizes, products, transposes, aggregates.
func.func @main() {
  %n0 = tok.constant 0 : i64
  %n1 = tok.constant 1 : i64
  %n2 = tok.constant 2 : i64
  %n3 = tok.constant 3 : i64
  %one = tok.constant 1.0 : f64
  %v = tok.literal dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  tok.print %v : (tensor<?xf64>) -> ()
  %sum = tok.aggregate sum full %v : tensor<?xf64> -> f64
  tok.print %sum : (f64) -> ()
  %row = tok.aggregate sum row %v : tensor<?xf64> -> tensor<?xf64>
  tok.print %row : (tensor<?xf64>) -> ()
  %moved = tok.binary add %v, %one : (tensor<?xf64>, f64) -> tensor<?xf64>
  %eight = tok.view %moved [%n1, %n1, %n1, %n1, %n1, %n1, %n1, %n3] : tensor<?xf64> -> tensor<?x?x?x?x?x?x?x?xf64>
  tok.print %eight : (tensor<?x?x?x?x?x?x?x?xf64>) -> ()

  %x = tok.literal dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]]> : tensor<2x2x3xf64>
  %y = tok.literal dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]> : tensor<1x2x3xf64>
  %t = tok.transpose %x : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %product = tok.matmul %y, %t : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  tok.print %product : (tensor<?x?x?xf64>) -> ()
  %best = tok.aggregate index_max row %product : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %worst = tok.aggregate min row %product : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %mean = tok.aggregate mean row %product : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %deviation = tok.aggregate sd row %x : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  tok.print %best : (tensor<?x?x?xf64>) -> ()
  tok.print %worst : (tensor<?x?x?xf64>) -> ()
  tok.print %mean : (tensor<?x?x?xf64>) -> ()
  tok.print %deviation : (tensor<?x?x?xf64>) -> ()

  %s1 = tok.size %t[1] : tensor<?x?x?xf64>
  %s2 = tok.size %t[2] : tensor<?x?x?xf64>
  %s3 = tok.size %t[3] : tensor<?x?x?xf64>
  %cells = tok.length %t : tensor<?x?x?xf64>
  %format = tok.constant "%d %d %d %d" : !tok.string
  tok.print %format, %s1, %s2, %s3, %cells : (!tok.string, i64, i64, i64, i64) -> ()

  %nothing = tok.fill %one, %n0, %n3 : (f64, i64, i64) -> tensor<?x?xf64>
  %empty = tok.view %nothing [%n2, %n0, %n3] : tensor<?x?xf64> -> tensor<?x?x?xf64>
  %turned = tok.transpose %empty : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %zeros = tok.matmul %turned, %empty : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  tok.print %zeros : (tensor<?x?x?xf64>) -> ()
  %largest = tok.aggregate max row %turned : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  tok.print %largest : (tensor<?x?x?xf64>) -> ()
  return
}
