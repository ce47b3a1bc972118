"""Convolutional networks: MobileNet v2 and v3 (as torchvision builds them, batch normalisation and all), U-Net, ResNet-50, SqueezeNet,
and small ones that take images of any size."""

import numpy as np

from .graph import Graph, image


class Mobile(Graph):
    """Bottlenecks of mobile networks: wider by a 1x1 convolution, filtered channel by channel, narrower again."""

    def unit(self, x, channels, to, size, stride=1, groups=1, activation=None):
        x = self.normalised(self.convolved(x, channels, to, size, stride, groups, bias=False), to)
        if activation == "relu6":
            return self.add("Clip", x, np.float32(0), np.float32(6))
        return self.add(activation, x) if activation else x

    def gated(self, x, channels):
        """Channels scaled by what a small network makes of their means (squeeze and excitation)."""
        inner = rounded(channels / 4)
        means = self.add("GlobalAveragePool", x)
        shares = self.add("Relu", self.convolved(means, channels, inner, 1))
        return self.add("Mul", x, self.add("HardSigmoid", self.convolved(shares, inner, channels, 1), alpha=1 / 6))

    def bottleneck(self, x, channels, wide, to, size, stride, activation, is_gated=False):
        y = x if wide == channels else self.unit(x, channels, wide, 1, activation=activation)
        y = self.unit(y, wide, wide, size, stride, wide, activation)
        if is_gated:
            y = self.gated(y, wide)
        y = self.unit(y, wide, to, 1)
        return self.add("Add", x, y) if stride == 1 and channels == to else y


def rounded(channels):
    """To a multiple of eight, at least nine tenths of it."""
    whole = max(8, int(channels + 4) // 8 * 8)
    return whole if whole >= 0.9 * channels else whole + 8


# Factor of the inner width, channels, layers, stride of the first (Sandler et al. 2018, table 2).
V2 = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def mobilenet_v2(width, stages, size, last, classes, random):
    """`width`: of the channels; `stages`: how many lines of V2; `last`: channels behind them."""
    graph, channels = Mobile(random), rounded(32 * width)
    inputs = {"image": image(random, size)}
    x = graph.unit("image", 3, channels, 3, 2, activation="relu6")
    for factor, to, layers, stride in V2[:stages]:
        for layer in range(layers):
            x = graph.bottleneck(x, channels, factor * channels, rounded(to * width), 3, stride if layer == 0 else 1, "relu6")
            channels = rounded(to * width)
    x = graph.unit(x, channels, last, 1, activation="relu6")
    x = graph.add("ReduceMean", x, axes=[2, 3], keepdims=0)
    scores = graph.dense(x, last, classes)
    return graph.model("mobilenet_v2", inputs, {scores: 2}), inputs


# Size of filters, inner width, channels, whether gated, activation, stride (Howard et al. 2019, table 1).
V3 = ((3, 16, 16, False, "Relu", 1), (3, 64, 24, False, "Relu", 2), (3, 72, 24, False, "Relu", 1), (5, 72, 40, True, "Relu", 2),
            (5, 120, 40, True, "Relu", 1), (5, 120, 40, True, "Relu", 1), (3, 240, 80, False, "HardSwish", 2),
            (3, 200, 80, False, "HardSwish", 1), (3, 184, 80, False, "HardSwish", 1), (3, 184, 80, False, "HardSwish", 1),
            (3, 480, 112, True, "HardSwish", 1), (3, 672, 112, True, "HardSwish", 1), (5, 672, 160, True, "HardSwish", 2),
            (5, 960, 160, True, "HardSwish", 1), (5, 960, 160, True, "HardSwish", 1))


def mobilenet_v3(blocks, size, last, classes, random):
    """The large one. `blocks`: how many lines of V3; `last`: the width of the hidden layer of its classifier."""
    graph, channels = Mobile(random), 16
    inputs = {"image": image(random, size)}
    x = graph.unit("image", 3, channels, 3, 2, activation="HardSwish")
    for filters, wide, to, is_gated, activation, stride in V3[:blocks]:
        x = graph.bottleneck(x, channels, wide, to, filters, stride, activation, is_gated)
        channels = to
    x = graph.unit(x, channels, 6 * channels, 1, activation="HardSwish")
    x = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    scores = graph.dense(graph.add("HardSwish", graph.dense(x, 6 * channels, last)), last, classes)
    return graph.model("mobilenet_v3", inputs, {scores: 2}), inputs


def unet(depth, width, size, classes, random):
    """Down by `depth` halves and up again, where each level sees what the way down had at its size; scores of each cell."""
    graph, channels, skipped = Graph(random), width, []
    inputs = {"image": image(random, size)}

    def twice(x, channels, to):
        for given in (channels, to):
            x = graph.add("Relu", graph.normalised(graph.convolved(x, given, to, 3, bias=False), to))
        return x
    x = twice("image", 3, channels)
    for _ in range(depth):
        skipped.append(x)
        x = twice(graph.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), channels, 2 * channels)
        channels *= 2
    for kept in reversed(skipped):
        filters = (random.standard_normal((channels, channels // 2, 2, 2)) / np.sqrt(channels)).astype(np.float32)
        x = graph.add("ConvTranspose", x, filters, graph.vector(channels // 2), kernel_shape=[2, 2], strides=[2, 2])
        x = twice(graph.add("Concat", kept, x, axis=1), channels, channels // 2)
        channels //= 2
    scores = graph.convolved(x, channels, classes, 1)
    return graph.model("unet", inputs, {scores: 4}), inputs


def resnet50(width, size, classes, random):
    """He et al. 2015. `width`: of the narrow channels of all stages, which double from stage to stage in the paper: here the depth counts."""
    graph, wide = Graph(random), 4 * width
    inputs = {"image": image(random, size)}

    def unit(x, channels, to, filters, stride=1):
        return graph.normalised(graph.convolved(x, channels, to, filters, stride, bias=False), to)
    x = graph.add("Relu", unit("image", 3, width, 7, 2))
    x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = width
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = graph.add("Relu", unit(x, channels, width, 1))
            y = unit(graph.add("Relu", unit(y, width, width, 3, stride)), width, wide, 1)
            x = graph.add("Relu", graph.add("Add", y, unit(x, channels, wide, 1, stride) if block == 0 else x))
            channels = wide
    scores = graph.dense(graph.add("Flatten", graph.add("GlobalAveragePool", x)), wide, classes)
    return graph.model("resnet50", inputs, {scores: 2}), inputs


def squeezenet(width, size, classes, random):
    """Version 1.1 of Iandola et al. 2016. `width`: of the channels into which each module squeezes what it gets."""
    graph = Graph(random)
    inputs = {"image": image(random, size)}

    def smaller(x):
        return graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])

    def module(x, channels):
        narrow = graph.add("Relu", graph.convolved(x, channels, width, 1))
        sides = [graph.add("Relu", graph.convolved(narrow, width, 4 * width, filters)) for filters in (1, 3)]
        return graph.add("Concat", *sides, axis=1)
    x, channels = graph.add("Relu", graph.convolved("image", 3, 4 * width, 3, 2)), 4 * width
    for modules in (2, 2, 4):
        x = smaller(x)
        for _ in range(modules):
            x, channels = module(x, channels), 8 * width
    x = graph.add("Relu", graph.convolved(x, channels, classes, 1))
    scores = graph.add("Softmax", graph.add("Flatten", graph.add("GlobalAveragePool", x)))
    return graph.model("squeezenet", inputs, {scores: 2}), inputs


def digits(channels, classes, images, height, width, random):
    """Two convolutions and a mean, of any number of gray images of any size."""
    graph = Graph(random)
    inputs = {"images": random.uniform(-1, 1, (images, 1, height, width)).astype(np.float32)}
    x = graph.add("Relu", graph.convolved("images", 1, channels, 3))
    x = graph.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = graph.add("Relu", graph.convolved(x, channels, 2 * channels, 3))
    scores = graph.dense(graph.add("Flatten", graph.add("GlobalAveragePool", x)), 2 * channels, classes)
    opened = {"images": {0: "images", 2: "height", 3: "width"}}
    return graph.model("digits", inputs, {scores: 2}, open_sizes=opened), inputs


def perceptron(features, hidden, classes, rows, random):
    """Two layers, of any number of rows."""
    graph = Graph(random)
    inputs = {"rows": random.standard_normal((rows, features)).astype(np.float32)}
    scores = graph.dense(graph.add("Relu", graph.dense("rows", features, hidden)), hidden, classes)
    return graph.model("perceptron", inputs, {graph.add("Softmax", scores, axis=-1): 2}, open_sizes={"rows": {0: "rows"}}), inputs
