"""Sequences of sizes that a program meets: of lines of text, of a cache that grows, at random. Each names a model of the table and
says, for each call, the sizes of those inputs that change.

    sequence = SEQUENCES["cache"]
    for sizes in sequence.calls():          # {"keys_0": (1, 4, 32, 0), ...}
        ...
"""

import dataclasses
import random
import typing


@dataclasses.dataclass(frozen=True)
class Sequence:
    model: str
    calls: typing.Callable
    few: int = 8   # calls after which all plans should be there


def widths():
    """Lines of text of 200 widths, the wide ones between narrow ones."""
    all_widths = list(range(64, 64 + 200 * 7, 7))
    random.Random(7).shuffle(all_widths)
    return [{"x": (1, 3, 48, width)} for width in all_widths]


def batches():
    return [{"x": (lines, 3, 48, 320)} for _ in range(5) for lines in range(1, 9)]


def cache():
    return [{name: sizes for layer in range(2) for name, sizes in ((f"keys_{layer}", (1, 4, 32, past)), (f"values_{layer}", (1, 4, past, 32)))}
            for past in range(200)]


def images():
    draw = random.Random(7)
    return [{"images": (draw.randint(1, 8), 1, draw.randint(8, 64), draw.randint(8, 64))} for _ in range(10_000)]


def rows():
    draw = random.Random(7)
    return [{"rows": (draw.randint(1, 500), 64)} for _ in range(10_000)]


SEQUENCES = {
    "widths": Sequence("ppocr-rec", widths),
    "batches": Sequence("ppocr-rec", batches),
    "cache": Sequence("remembering-decoder", cache),
    "images": Sequence("small-cnn", images),
    "rows": Sequence("small-mlp", rows),
}
