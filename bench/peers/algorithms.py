"""The algorithms of lib/ that benchmarks run, written over the kernels of a peer (expressions.py, numba_peer.py).

They do the same steps as the DML: as many iterations and searches, with the same conditions for their end.
"""

import math


def dot(a, b):
    return float((a * b).sum())


def linreg_cg(k, X, y, reg, iterations):
    residual = -k.transposed_product(X, y)
    direction, solution = -residual, 0 * residual
    squared = dot(residual, residual)
    for _ in range(iterations):
        q = k.normal_product(X, direction) + reg * direction
        step = squared / dot(direction, q)
        solution = solution + step * direction
        residual = residual + step * q
        before, squared = squared, dot(residual, residual)
        direction = -residual + squared / before * direction
    return solution


def l2svm(k, X, Y, reg, iterations):
    descent = k.transposed_product(X, Y)
    w, Xw = 0 * descent, 0 * Y
    direction, squared = descent, dot(descent, descent)
    for _ in range(iterations):
        Xd = k.product(X, direction)
        wd, dd, step = reg * dot(w, direction), reg * dot(direction, direction), 0.0
        for _ in range(20):
            toward, curvature = k.svm_line(Y, Xw, Xd, step)
            g, h = wd + step * dd - float(toward), dd + float(curvature)
            step -= g / max(h, 1e-300)
            if not g * g > 1e-10 * h:
                break
        w = w + step * direction
        Xw = Xw + step * Xd
        descent = k.svm_descent(X, Y, Xw) - reg * w
        before, squared = squared, dot(descent, descent)
        direction = descent + squared / before * direction
    return w


def multilogreg(k, X, T, reg, steps):
    """Newton steps by conjugate gradients; T has a column for each class but the last. Returns the loss."""
    B = k.zeros(X.shape[1], T.shape[1])
    P, scores, loss = k.class_probabilities(X, B)
    first = None
    for _ in range(steps):
        gradient = k.class_gradient(X, P, T) + reg * B
        S, R = 0 * B, -gradient
        V, squared = R, dot(R, R)
        norm = math.sqrt(squared)
        first = first or norm
        if norm <= 1e-3 * first:
            break
        for _ in range(20):
            if math.sqrt(squared) <= 0.1 * norm:
                break
            HV = k.class_hessian(X, P, V) + reg * V
            length = squared / dot(V, HV)
            S, R = S + length * V, R - length * HV
            before, squared = squared, dot(R, R)
            V = R + squared / before * V
        B = B + S
        P, scores, loss = k.class_probabilities(X, B)
    return float(loss) - dot(T, scores)


def glm_probit(k, X, s, reg, steps, tolerance):
    """Newton's method with preconditioned conjugate gradients and halved steps; labels -1 and 1."""
    def newton(g, w, weights, first):
        residual = k.transposed_product(X, g) - reg * weights
        inverse = 1 / (k.weighted_squares(X, w) + reg)
        change, direction = 0 * residual, inverse * residual
        norm = squared = dot(residual, direction)
        precision = min(0.1, (norm / first) ** 0.25) if first else 0.01
        slope = 0.0
        for _ in range(3 * X.shape[1] + 20):
            product = k.weighted_product(X, w, direction) + reg * direction
            length = squared / dot(direction, product)
            slope += length * squared
            change = change + length * direction
            residual = residual - length * product
            ahead = inverse * residual
            before, squared = squared, dot(residual, ahead)
            direction = ahead + squared / before * direction
            if squared <= precision**2 * norm:
                break
        return change, slope, norm

    equal = float(k.probit_loss(0 * s, s))
    halfway = s * (math.log(3) / 1.6)  # the link at 3/4 and 1/4
    g, w = k.probit_score(halfway, s)
    g = g + w * halfway
    zero = 0 * k.transposed_product(X, s)
    weights, _, first = newton(g, w, zero, None)
    eta = k.product(X, weights)
    loss = float(k.probit_loss(eta, s)) + reg / 2 * dot(weights, weights)
    for _ in range(steps):
        g, w = k.probit_score(eta, s)
        change, slope, _ = newton(g, w, weights, first)
        along, step = k.product(X, change), 1.0
        while True:
            moved = weights + step * change
            there = float(k.probit_loss(eta + step * along, s)) + reg / 2 * dot(moved, moved)
            if there <= loss - 1e-4 * step * slope + 1e-14 * loss:
                break
            step /= 2
        weights, eta, loss = moved, eta + step * along, there
        if step == 1 and slope <= tolerance * 2 * (loss + 0.001 * equal):
            break
    return weights


def kmeans(k, X, C, iterations):
    """Lloyd's iterations from given centres; the sum of squared distances."""
    squares = float(k.sum_of_squares(X))
    for _ in range(iterations):
        sums, counts, total = k.kmeans_step(X, C)
        C = sums / k.maximum(counts, 1.0)[:, None]
    return squares + float(total)


def pagerank(k, G, alpha, iterations):
    n = k.rows(G)
    p = k.array_of(1 / n, n)
    for _ in range(iterations):
        p = alpha * k.sparse_product(G, p) + (1 - alpha) * (p.sum() / n)
    return p


def pnmf(k, X, W, H, iterations):
    """Multiplicative updates of X = W %*% t(H); H has a row for each column of X. Returns the objective."""
    for _ in range(iterations):
        H = H * k.quotient_product(k.transposed(X), H, W) / k.maximum(W.sum(0), 1e-30)
        W = W * k.quotient_product(X, W, H) / k.maximum(H.sum(0), 1e-30)
    return dot(W.sum(0), H.sum(0)) - float(k.sampled_log(X, W, H, 1e-8))


def als(k, X, U, V, reg, iterations):
    """Alternating least squares by conjugate gradients, all rows at once. Returns the objective."""
    def solve(X, U, V):
        R = -(k.sampled_error_product(X, U, V) + reg * U)
        S, squared = R, (R * R).sum(1)
        enough = 1e-12 * squared
        for _ in range(U.shape[1]):
            HS = k.sampled_product(X, S, V) + reg * S
            curvature = (S * HS).sum(1)
            open_rows = k.number_type(squared > enough)
            if float(open_rows.sum()) == 0:
                break
            length = open_rows * squared / (curvature + k.number_type(curvature == 0))
            U, R = U + S * length[:, None], R - HS * length[:, None]
            before, squared = squared, (R * R).sum(1)
            S = R + S * (squared / (before + k.number_type(before == 0)))[:, None]
        return U

    for _ in range(iterations):
        U = solve(X, U, V)
        of_u, of_v = (U * U).sum(0), (V * V).sum(0)
        factor = (of_v / of_u) ** 0.25
        U = U * factor
        V = solve(k.transposed(X), V / factor, U)
    return 0.5 * (float(k.squared_error(X, U, V)) + reg * (dot(U, U) + dot(V, V)))


def autoencoder(k, X, weights, batch_size, step, mu, epochs):
    n = X.shape[0]
    X = X[k.order(n)]
    mean = X.sum(0) / n
    deviation = (((X - mean) * (X - mean)).sum(0) / max(n - 1, 1)) ** 0.5
    moves = tuple(0 * w for w in weights)
    for _ in range(epochs):
        for first in range(0, n, batch_size):
            batch = X[first:first + batch_size]
            weights, moves = k.autoencoder_step(batch, mean, deviation, step / batch.shape[0], mu, weights, moves)
        step *= 0.95
    Z = (X - mean) / deviation
    return weights, k.autoencoder_forward(Z, *weights)[1]
