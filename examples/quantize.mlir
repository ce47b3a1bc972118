// A matrix product in bytes: each row of X and each column of W is divided by its largest magnitude and rounded to an i8; the
// product is exact in i32 and scaled back.
//
//   ./dev run examples/quantize.mlir                        the largest error beside the product in f64
//   ./dev run examples/quantize.mlir --explain=fusion       what becomes one kernel
!real = tensor<?x?xf64>
!byte = tensor<?x?xi8>
!word = tensor<?x?xi32>

// The largest magnitude of each row, divided by the largest i8.
func.func @scale(%x: !real) -> !real {
  %magnitudes = tok.unary abs %x : !real -> !real
  %largest = tok.aggregate max row %magnitudes : !real -> !real
  %most = tok.constant 127.0 : f64
  %scale = tok.binary div %largest, %most : (!real, f64) -> !real
  return %scale : !real
}

func.func @quantized(%x: !real, %scale: !real) -> !byte {
  %scaled = tok.binary div %x, %scale : (!real, !real) -> !real
  %whole = tok.unary round %scaled : !real -> !real
  %bytes = tok.cast %whole : !real -> !byte
  return %bytes : !byte
}

func.func @draw(%rows: i64, %columns: i64, %seed: i64) -> !real {
  %low = tok.constant -1.0 : f64
  %high = tok.constant 1.0 : f64
  %pdf = tok.constant "uniform" : !tok.string
  %x = tok.rand %rows, %columns, %low, %high, %high, %seed, %pdf, %high
      : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> !real
  return %x : !real
}

func.func @main() {
  %rows = tok.constant 200 : i64
  %inner = tok.constant 300 : i64
  %columns = tok.constant 50 : i64
  %one = tok.constant 1 : i64
  %two = tok.constant 2 : i64
  %x = tok.call @draw(%rows, %inner, %one) : (i64, i64, i64) -> !real
  %wt = tok.call @draw(%columns, %inner, %two) : (i64, i64, i64) -> !real

  %xScale = tok.call @scale(%x) : (!real) -> !real
  %wScale = tok.call @scale(%wt) : (!real) -> !real
  %xBytes = tok.call @quantized(%x, %xScale) : (!real, !real) -> !byte
  %wtBytes = tok.call @quantized(%wt, %wScale) : (!real, !real) -> !byte
  %wBytes = tok.transpose %wtBytes : (!byte) -> !byte
  %product = tok.matmul %xBytes, %wBytes : (!byte, !byte) -> !word

  %real = tok.cast %product : !word -> !real
  %columnScale = tok.transpose %wScale : (!real) -> !real
  %byRow = tok.binary mul %real, %xScale : (!real, !real) -> !real
  %result = tok.binary mul %byRow, %columnScale : (!real, !real) -> !real

  %w = tok.transpose %wt : (!real) -> !real
  %exact = tok.matmul %x, %w : (!real, !real) -> !real
  %difference = tok.binary sub %result, %exact : (!real, !real) -> !real
  %magnitude = tok.unary abs %difference : !real -> !real
  %error = tok.aggregate max full %magnitude : !real -> f64
  %thousand = tok.constant 1000.0 : f64
  %scaledError = tok.binary mul %error, %thousand : (f64, f64) -> f64
  %rounded = tok.unary round %scaledError : f64 -> f64
  %text = tok.constant "largest error in thousandths: " : !tok.string
  %line = tok.concat %text, %rounded : !tok.string, f64
  tok.print %line : (!tok.string) -> ()
  return
}
