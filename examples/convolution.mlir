// A 3x3 convolution with bias and ReLU, as one operator: max(sum of image * kernel + bias, 0). A window is a place that is
// the sum of two axes; outside of the image there are zeros.
//
//   ./dev run examples/convolution.mlir                       channels last, and channels first with a stride of 2
//   ./dev run examples/convolution.mlir --explain=schedule    how the loops are arranged
//   ./dev run examples/convolution.mlir --engine=reference    the plain interpreter
!image = tensor<?x?x?x?xf32>
!matrix = tensor<?x?xf32>
!window = !plan.cell<(d0, d1, d2, d4, d5, d6) -> f32>
!kernel = !plan.cell<(d3, d4, d5, d6) -> f32>
!all = !plan.cell<(d0, d1, d2, d3, d4, d5, d6) -> f32>
!out = !plan.cell<(d0, d1, d2, d3) -> f32>
!bias = !plan.cell<(d3) -> f32>
!one = !plan.cell<() -> f32>

// image [n, rows, columns, channels], kernel [3, 3, channels, outputs]. Axes: image, row, column, output; row and column of
// the kernel, channel.
func.func @channels_last(%I: !image, %K: !image, %B: !matrix) -> !image {
  %r = plan.operator (%i = %I [s0, s1, s2, s3], %k = %K [3, 3, s3, s4], %b = %B [1, s4])
      axes [s0, s1, s2, s4, 3 reduced, 3 reduced, s3 reduced] -> [s0, s1, s2, s4] : (!image, !image, !matrix) -> !image {
    %0 = plan.read %i (d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6) outside 0.0 : !image -> !window
    %1 = plan.read %k (d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3) : !image -> !kernel
    %2 = plan.binary mul %0, %1 : (!window, !kernel) -> !all
    %3 = plan.reduce sum %2 over [d4, d5, d6] in f32 : !all -> !out
    %4 = plan.read %b (d0, d1, d2, d3, d4, d5, d6) -> (0, d3) : !matrix -> !bias
    %5 = plan.binary add %3, %4 : (!out, !bias) -> !out
    %6 = plan.constant 0.0 : f32 : !one
    %7 = plan.binary max %5, %6 : (!out, !one) -> !out
    plan.write %7 to 0 (d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3) : !out
  }
  return %r : !image
}

// image [n, channels, rows, columns], kernel [outputs, channels, 3, 3]; every second row and column. The axes are the same.
func.func @channels_first(%I: !image, %K: !image, %B: !matrix) -> !image {
  %r = plan.operator (%i = %I [s0, s3, s1, s2], %k = %K [s4, s3, 3, 3], %b = %B [1, s4])
      axes [s0, "floordiv(s1 + 1, 2)", "floordiv(s2 + 1, 2)", s4, 3 reduced, 3 reduced, s3 reduced]
      -> [s0, s4, "floordiv(s1 + 1, 2)", "floordiv(s2 + 1, 2)"] : (!image, !image, !matrix) -> !image {
    %0 = plan.read %i (d0, d1, d2, d3, d4, d5, d6) -> (d0, d6, 2 * d1 + d4 - 1, 2 * d2 + d5 - 1) outside 0.0 : !image -> !window
    %1 = plan.read %k (d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5) : !image -> !kernel
    %2 = plan.binary mul %0, %1 : (!window, !kernel) -> !all
    %3 = plan.reduce sum %2 over [d4, d5, d6] in f32 : !all -> !out
    %4 = plan.read %b (d0, d1, d2, d3, d4, d5, d6) -> (0, d3) : !matrix -> !bias
    %5 = plan.binary add %3, %4 : (!out, !bias) -> !out
    %6 = plan.constant 0.0 : f32 : !one
    %7 = plan.binary max %5, %6 : (!out, !one) -> !out
    plan.write %7 to 0 (d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d1, d2) : !out
  }
  return %r : !image
}

// The whole numbers from 0 to `most`, again and again, as an array of these sizes.
func.func @numbers(%most: f64, %a: i64, %b: i64, %c: i64, %d: i64) -> !image {
  %ab = tok.binary mul %a, %b : (i64, i64) -> i64
  %cd = tok.binary mul %c, %d : (i64, i64) -> i64
  %cells = tok.binary mul %ab, %cd : (i64, i64) -> i64
  %last = tok.cast %cells : i64 -> f64
  %one = tok.constant 1.0 : f64
  %none = tok.constant unit : none
  %line = tok.seq %one, %last, %none : (f64, f64, none) -> !matrix
  %numbers = tok.binary mod %line, %most : (!matrix, f64) -> !matrix
  %array = tok.view %numbers [%a, %b, %c, %d] : !matrix -> !image
  return %array : !image
}

func.func @main() {
  %n1 = tok.constant 1 : i64
  %n2 = tok.constant 2 : i64
  %n3 = tok.constant 3 : i64
  %n4 = tok.constant 4 : i64
  %n7 = tok.constant 7 : i64
  %n10 = tok.constant 10 : i64
  %n20 = tok.constant 20 : i64
  %five = tok.constant 5.0 : f64
  %three = tok.constant 3.0 : f64
  %shift = tok.constant 60.0 : f64
  %bias3 = tok.fill %shift, %n1, %n20 : (f64, i64, i64) -> !matrix
  %zero = tok.constant 0.0 : f64
  %bias = tok.binary sub %zero, %bias3 : (f64, !matrix) -> !matrix

  %lastImage = tok.call @numbers(%five, %n2, %n7, %n10, %n4) : (f64, i64, i64, i64, i64) -> !image
  %lastKernel = tok.call @numbers(%three, %n3, %n3, %n4, %n20) : (f64, i64, i64, i64, i64) -> !image
  %last = tok.call @channels_last(%lastImage, %lastKernel, %bias) : (!image, !image, !matrix) -> !image
  %lastSum = tok.aggregate sum full %last : !image -> f64
  %lastMost = tok.aggregate max full %last : !image -> f64
  %format = tok.constant "sum %.0f, largest %.0f" : !tok.string
  tok.print %format, %lastSum, %lastMost : (!tok.string, f64, f64) -> ()

  %firstImage = tok.call @numbers(%five, %n2, %n4, %n7, %n10) : (f64, i64, i64, i64, i64) -> !image
  %firstKernel = tok.call @numbers(%three, %n20, %n4, %n3, %n3) : (f64, i64, i64, i64, i64) -> !image
  %noBias = tok.fill %zero, %n1, %n20 : (f64, i64, i64) -> !matrix
  %first = tok.call @channels_first(%firstImage, %firstKernel, %noBias) : (!image, !image, !matrix) -> !image
  %firstSum = tok.aggregate sum full %first : !image -> f64
  %firstMost = tok.aggregate max full %first : !image -> f64
  tok.print %format, %firstSum, %firstMost : (!tok.string, f64, f64) -> ()
  %rows = tok.size %first[3] : !image
  %columns = tok.size %first[4] : !image
  %sizes = tok.constant "with a stride of 2 the image has %d rows and %d columns" : !tok.string
  tok.print %sizes, %rows, %columns : (!tok.string, i64, i64) -> ()
  return
}
