"""The kernels of the benchmarks as expressions on whole arrays, as one writes them with NumPy, JAX and PyTorch.

`library` is an object like NumPyLibrary in numpy_peer.py: what the three call by different names. Numba has loops under the
same names (numba_peer.py).
"""

LOG_ROOT_2_PI = 0.91893853320467274


def expressions(library):
    """{name: function}; each is compiled as a whole by libraries that compile."""
    kernels = {}

    def kernel(function):
        kernels[function.__name__] = library.compiled(function)
        return function

    @kernel
    def sum_of_product(X, Y, Z):
        return (X * Y * Z).sum()

    @kernel
    def sum_pair(X, Y, Z):
        return (X * Y).sum() + (X * Z).sum()

    @kernel
    def sum_of_squares(X):
        return (X * X).sum()

    @kernel
    def normal_product(X, v):
        return X.T @ (X @ v)

    @kernel
    def weighted_product(X, w, v):
        return X.T @ (w * (X @ v))

    @kernel
    def row_shares(X):
        return (X / X.sum(1)[:, None]).sum(0)

    @kernel
    def row_softmax(X):
        E = library.exp(X - library.row_max(X)[:, None])
        return E / E.sum(1)[:, None]

    @kernel
    def class_hessian(X, P, V):
        Q = P * (X @ V)
        return X.T @ (Q - P * Q.sum(1)[:, None])

    @kernel
    def nearest(X, C):
        D = -2 * (X @ C.T) + (C * C).sum(1)
        m = library.row_min(D)
        return m, library.number_type(D <= m[:, None])

    @kernel
    def product(X, v):
        return X @ v

    @kernel
    def transposed_product(X, y):
        return X.T @ y

    # The first and second derivative of what L2SVM minimises along a line, without the penalty.
    @kernel
    def svm_line(Y, Xw, Xd, step):
        out = 1 - Y * (Xw + step * Xd)
        violated = out > 0
        return (out * violated * Y * Xd).sum(), (Xd * violated * Xd).sum()

    @kernel
    def svm_descent(X, Y, Xw):
        return X.T @ (library.maximum(1 - Y * Xw, 0.0) * Y)

    # Sums and numbers of the rows that are nearest to each centre, and the sum of squared distances but for the rows' squares.
    @kernel
    def kmeans_step(X, C):
        D = -2 * (X @ C.T) + (C * C).sum(1)
        m = library.row_min(D)
        P = library.number_type(D <= m[:, None])
        P = P / P.sum(1)[:, None]
        return P.T @ X, P.sum(0), m.sum()

    # Probabilities of all classes but the last, whose scores are 0, and the logarithm of the likelihood but for its linear part.
    @kernel
    def class_probabilities(X, B):
        scores = X @ B
        highest = library.maximum(library.row_max(scores), 0.0)
        E = library.exp(scores - highest[:, None])
        total = E.sum(1) + library.exp(-highest)
        return E / total[:, None], scores, (highest + library.log(total)).sum()

    @kernel
    def class_gradient(X, P, T):
        return X.T @ (P - T)

    # For labels s of -1 and 1 under the probit link: the negative logarithm of the likelihood, its negative derivative by
    # the predictors eta, and its second one.
    @kernel
    def probit_loss(eta, s):
        return -library.log_normal_tail(s * eta).sum()

    @kernel
    def probit_score(eta, s):
        t = s * eta
        h = library.exp(-0.5 * eta * eta - LOG_ROOT_2_PI - library.log_normal_tail(t))
        return s * h, h * (h + t)

    @kernel
    def weighted_squares(X, w):
        return w @ (X * X)

    @kernel
    def autoencoder_forward(Z, W1, b1, W2, b2, W3, b3, W4, b4):
        H1 = library.tanh(Z @ W1.T + b1)
        H2 = library.tanh(H1 @ W2.T + b2)
        H3 = library.tanh(H2 @ W3.T + b3)
        return H1, H2, H3, library.tanh(H3 @ W4.T + b4)

    @kernel
    def autoencoder_step(X, mean, deviation, rate, mu, weights, moves):
        W1, b1, W2, b2, W3, b3, W4, b4 = weights
        Z = (X - mean) / deviation
        H1, H2, H3, Y = autoencoder_forward(Z, *weights)
        D4 = (Y - Z) * (1 - Y * Y)
        D3 = (D4 @ W4) * (1 - H3 * H3)
        D2 = (D3 @ W3) * (1 - H2 * H2)
        D1 = (D2 @ W2) * (1 - H1 * H1)
        gradients = (D1.T @ Z, D1.sum(0), D2.T @ H1, D2.sum(0), D3.T @ H2, D3.sum(0), D4.T @ H3, D4.sum(0))
        moves = tuple(mu * m - rate * g for m, g in zip(moves, gradients))
        return tuple(w + m for w, m in zip(weights, moves)), moves

    return kernels
