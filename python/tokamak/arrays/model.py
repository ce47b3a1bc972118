"""Writes an ONNX model, in the protobuf of its standard, from a graph of nodes: what Tokamak compiles. Field numbers are those
of onnx.proto (Apache-2.0, https://github.com/onnx/onnx).

    operator("Add", ["x", "y"], ["z"], {})
    model([nodes of operator()], [("x", dtype, 2), ("y", dtype, 2)], [("z", dtype, 2)])   # bytes
"""

import struct

from . import types

OPERATOR_SET, DOMAIN = 26, "tokamak"
OWN_OPERATORS = {"Log1p", "Solve", "Inverse", "Cholesky", "Eigen", "Svd", "Qr", "Lu", "SearchSorted", "Part"}  # of DOMAIN; others are the standard's
DATA_TYPES = {types.float32: 1, types.uint8: 2, types.int8: 3, types.uint16: 4, types.int16: 5, types.int32: 6, types.int64: 7,
              types.bool: 9, types.float64: 11, types.uint32: 12, types.uint64: 13}
_IR_VERSION = 13


class Graph(bytes):
    """A graph as the value of an attribute."""


def _varint(number):
    number &= (1 << 64) - 1
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _number(field, number):
    return _varint(field << 3) + _varint(number)


def _bytes(field, content):
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field, text):
    return _bytes(field, text.encode())


def _attribute(name, value):
    content = _text(1, name)
    if isinstance(value, Graph):
        content += _bytes(6, value) + _number(20, 5)
    elif isinstance(value, float):
        content += _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    elif isinstance(value, int):
        content += _number(3, value) + _number(20, 2)
    elif isinstance(value, str):
        content += _text(4, value) + _number(20, 3)
    else:
        content += b"".join(_number(8, each) for each in value) + _number(20, 7)
    return content


def operator(name, inputs, outputs, attributes):
    """One node. Attributes are floats, ints, texts, tuples of ints, or a Graph."""
    content = b"".join(_text(1, each) for each in inputs) + b"".join(_text(2, each) for each in outputs) + _text(4, name)
    if name in OWN_OPERATORS:
        content += _text(7, DOMAIN)
    return content + b"".join(_bytes(5, _attribute(*each)) for each in attributes.items())


def constant(name, dtype, shape, cells):
    """One initializer."""
    dims = b"".join(_number(1, size) for size in shape)
    return dims + _number(2, DATA_TYPES[dtype]) + _text(8, name) + _bytes(9, cells)


def _value(name, dtype, rank):
    """Sizes are of nobody's concern before the call."""
    shape = b"".join(_bytes(1, b"") for _ in range(rank))
    tensor = _number(1, DATA_TYPES[dtype]) + _bytes(2, shape)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def graph(nodes, constants, inputs, outputs):
    """Inputs and outputs are (name, type, rank)."""
    return Graph(b"".join(_bytes(1, node) for node in nodes) + _text(2, "main") +
                 b"".join(_bytes(5, each) for each in constants) +
                 b"".join(_bytes(11, _value(*each)) for each in inputs) + b"".join(_bytes(12, _value(*each)) for each in outputs))


def model(content):
    """The file of a graph."""
    sets = _bytes(8, _text(1, "") + _number(2, OPERATOR_SET)) + _bytes(8, _text(1, DOMAIN) + _number(2, 1))
    return _number(1, _IR_VERSION) + _text(2, "tokamak") + _bytes(7, content) + sets
