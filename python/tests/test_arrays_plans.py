"""What becomes of captured functions: which operators are fused, and that they are the programs that scripts are."""

import unittest

import numpy as np

import tokamak as tk


# The DML twin's loop, in the same order.
L2SVM = """
svm = function(matrix[double] X, matrix[double] Y, double lambda, double epsilon, int maxIterations)
    return (matrix[double] w, int i) {
  w = matrix(0, rows=ncol(X), cols=1)
  gradient = t(X) %*% Y
  s = gradient
  Xw = matrix(0, rows=nrow(X), cols=1)
  i = 0
  goesOn = TRUE
  while (goesOn & i < maxIterations) {
    step = 0.0
    Xd = X %*% s
    wd = lambda * sum(w * s)
    dd = lambda * sum(s * s)
    inner = TRUE
    while (inner) {
      out = 1 - Y * (Xw + step * Xd)
      sv = out > 0
      out = out * sv
      g = wd + step * dd - sum(out * Y * Xd)
      h = dd + sum(Xd * sv * Xd)
      step = step - g / h
      inner = g * g / h >= 0.0000000001
    }
    w = w + step * s
    Xw = Xw + step * Xd
    out = 1 - Y * Xw
    sv = out > 0
    out = sv * out
    objective = 0.5 * sum(out * out) + lambda / 2 * sum(w * w)
    next = t(X) %*% (out * Y) - lambda * w
    if (step * sum(s * gradient) < epsilon * objective) goesOn = FALSE
    s = sum(next * next) / sum(gradient * gradient) * s + next
    gradient = next
    i = i + 1
  }
}
"""


@tk.jit
def svm(X, Y, reg, epsilon, most):
    w = tk.zeros((X.shape[1], 1))
    gradient = X.T @ Y
    s = gradient
    Xw = tk.zeros((X.shape[0], 1))
    i = 0
    goes_on = True
    while goes_on and i < most:
        step = 0.0
        Xd = X @ s
        wd = reg * tk.sum(w * s)
        dd = reg * tk.sum(s * s)
        inner = True
        while inner:
            out = 1 - Y * (Xw + step * Xd)
            sv = tk.astype(out > 0, tk.float64)
            out = out * sv
            g = wd + step * dd - tk.sum(out * Y * Xd)
            h = dd + tk.sum(Xd * sv * Xd)
            step = step - g / h
            inner = g * g / h >= 0.0000000001
        w = w + step * s
        Xw = Xw + step * Xd
        out = 1 - Y * Xw
        sv = tk.astype(out > 0, tk.float64)
        out = sv * out
        objective = 0.5 * tk.sum(out * out) + reg / 2 * tk.sum(w * w)
        following = X.T @ (out * Y) - reg * w
        if step * tk.sum(s * gradient) < epsilon * objective:
            goes_on = False
        s = tk.sum(following * following) / tk.sum(gradient * gradient) * s + following
        gradient = following
        i += 1
    return w, i


class Plans(unittest.TestCase):
    def test_vectors_beside_products_are_fused(self):
        """What is computed of X @ w and multiplied with X.T again is one pass over X, though vectors have one dimension."""
        @tk.jit
        def step(X, y, w):
            return w - 0.5 * (X.T @ (1 / (1 + tk.exp(-(X @ w))) - y)) / X.shape[0]
        X, y, w = np.random.default_rng(1).random((20_000, 20)), np.ones(20_000), np.full(20, 0.1)
        plan = str(step.explain(X, y, w))
        self.assertEqual(plan.count(" reads "), 2, plan)  # of the gradient, and of the twenty cells of the new w
        expected = w - 0.5 * (X.T @ (1 / (1 + np.exp(-(X @ w))) - y)) / 20_000
        np.testing.assert_allclose(np.asarray(step(X, y, w)), expected, rtol=1e-12)

    def test_gradients_of_a_picture_are_one_operator(self):
        @tk.jit
        def edges(image):
            down = image[2:, 1:-1] - image[:-2, 1:-1]
            across = image[1:-1, 2:] - image[1:-1, :-2]
            return tk.sum(tk.sqrt(down * down + across * across))
        image = np.random.default_rng(1).random((300, 400))
        plan = str(edges.explain(image))
        self.assertEqual(plan.count(" reads "), 1, plan)
        down, across = image[2:, 1:-1] - image[:-2, 1:-1], image[1:-1, 2:] - image[1:-1, :-2]
        np.testing.assert_allclose(float(edges(image)), np.sqrt(down ** 2 + across ** 2).sum(), rtol=1e-12)

    def test_the_same_bits_as_the_script(self):
        rng = np.random.default_rng(7)
        for rows, columns in ((300, 7), (2000, 30)):
            X = rng.standard_normal((rows, columns))
            Y = np.sign(X @ rng.standard_normal((columns, 1)) + 0.1 * rng.standard_normal((rows, 1)))
            expected = tk.compile(L2SVM).svm(X, Y, 1.0, 0.001, 100)
            w, steps = svm(X, Y, 1.0, 0.001, 100)
            self.assertEqual(int(steps), expected.i)
            self.assertGreater(expected.i, 3)
            np.testing.assert_array_equal(np.asarray(w).view(np.int64), expected.w.view(np.int64))

    def test_explain_after_a_captured_array_has_its_cells(self):
        offset = tk.asarray([1.0, 2.0]) * 2

        @tk.jit
        def shifted(x):
            return x + offset
        shifted(np.ones(2))
        np.asarray(offset)
        self.assertIn("main", shifted.explain(np.ones(2), show="image"))

if __name__ == "__main__":
    unittest.main()
