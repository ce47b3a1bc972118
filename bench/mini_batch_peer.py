#!/usr/bin/env python3
"""What programs/mini-batch.dml does, in NumPy. usage: mini_batch_peer.py BATCH"""

import sys

import numpy as np

ROWS, FEATURES, HIDDEN, CLASSES, EPOCHS = 6400, 64, 64, 10, 3
RATE, MOMENTUM, DECAY = 0.1, 0.9, 1e-4


def main(batch):
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, (ROWS, FEATURES))
    y = np.eye(CLASSES)[(x @ random.uniform(-1, 1, (FEATURES, CLASSES))).argmax(1)]
    weights = [0.2 * random.uniform(-1, 1, (FEATURES, HIDDEN)), np.zeros((1, HIDDEN)),
               0.2 * random.uniform(-1, 1, (HIDDEN, CLASSES)), np.zeros((1, CLASSES))]
    speeds = [0 * w for w in weights]
    for epoch in range(EPOCHS):
        loss = correct = 0.0
        for first in range(0, ROWS, batch):
            xb, yb = x[first:first + batch], y[first:first + batch]
            w1, b1, w2, b2 = weights
            h = np.maximum(xb @ w1 + b1, 0)
            s = h @ w2 + b2
            s = s - s.max(1, keepdims=True)
            e = np.exp(s)
            p = e / e.sum(1, keepdims=True)
            loss -= (yb * np.log(p + 1e-12)).sum()
            correct += (p.argmax(1) == yb.argmax(1)).sum()
            g = (p - yb) / batch
            dh = (g @ w2.T) * (h > 0)
            gradients = [xb.T @ dh + DECAY * w1, dh.sum(0, keepdims=True), h.T @ g + DECAY * w2, g.sum(0, keepdims=True)]
            speeds = [MOMENTUM * v - RATE * d for v, d in zip(speeds, gradients)]
            weights = [w + v for w, v in zip(weights, speeds)]
        print(f"epoch {epoch + 1}: loss {loss / ROWS:.3f}, accuracy {correct / ROWS:.3f}")


main(int(sys.argv[1]))
