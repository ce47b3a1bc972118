"""What lazy arrays are made of: nodes, each the result of one operator of ONNX, and how they get their values.

    x = leaf(np.ones(3))
    y = node("Add", (x, x), types.float64, (3,))
    evaluate([y])                                # y.value is array([2., 2., 2.])

Nodes that are asked for become one model together with all that they need. Programs are kept by the structure of their graph:
operators, types and ranks, not sizes nor the cells of inputs. A number of Python is part of the structure until it is seen to change.

Which other nodes of the graph get values, too: those that a caller can still ask for, unless they are large and are computed
again as fast as they are read; and what an earlier evaluation had computed already. So a loop that asks for one number in each
step computes each step once, and its graph doesn't grow.
"""

import itertools
import math
import os
import threading
from collections import OrderedDict

import numpy as np

from .. import _native, _process
from .._errors import Error
from . import model, types

_LARGEST_DEPTH = 200  # of a graph that nobody asks for: nodes beyond get values
_MOST_PROGRAMS = 256  # each takes about a megabyte
_SMALL = 1 << 16  # cells; arrays of fewer are always kept where a caller can ask for them
_MOST_CELL_OPERATORS = 8  # that are computed again rather than kept


class CaptureError(TypeError):
    """What a function does with arrays can't be part of a compiled program: it needs cells before there are any."""


Node = _native.Node  # (op, inputs, dtype, shape, attributes=())


def _shorten(node):
    """A node's graph is too deep: what it needs gets values."""
    needed = [each for each in node.inputs if each is not None]
    if _depth(needed) >= _LARGEST_DEPTH:
        evaluate(needed)
    node.depth = _depth(needed) + 1


_native.set_up_nodes(_shorten, _LARGEST_DEPTH)


def leaf(array):
    """Of an array of NumPy, which is not copied."""
    made = Node(None, (), array.dtype, array.shape)
    made.value, made.depth = array, 0
    return made


def placeholder(dtype, shape, is_weak=False):
    """A value of a traced function or loop that calls give."""
    made = Node("input", (), dtype, shape)
    made.is_traced, made.is_weak = True, is_weak
    return made


def scalar(number, dtype):
    """A number of Python as an array without dimensions."""
    return Node("scalar", (), dtype, (), float(number) if dtype.kind == "f" else number)


def integers(numbers):
    """A vector of integers that is part of the structure: sizes, axes, bounds."""
    return Node("integers", (), types.int64, (len(numbers),), tuple(numbers))


def integer(number):
    """The same of one integer."""
    return Node("integers", (), types.int64, (), number)


def selected(node, index, dtype, shape):
    """One of several results."""
    return Node("result", (node,), dtype, shape, index)


def _cells(dtype, shape, numbers):
    return np.asarray(numbers, dtype=dtype).reshape(shape).tobytes()


def _depth(targets):
    """Nodes that got values since their depth was noted count no more."""
    order, _ = ordered(targets, _has_value)
    for node in order:
        node.depth = 1 + max((each.depth for each in node.inputs if each is not None and each.value is None), default=0)
    return max((node.depth for node in targets if node.value is None), default=0)


#===- structure ------------------------------------------------------------------------------------------------------===

def ordered(targets, is_outside):
    """Nodes that the targets need, each behind those it needs; the others are `is_outside` and where the search stops."""
    order, outside, seen = [], [], set()
    stack = list(reversed(targets))
    while stack:
        node = stack.pop()
        if node.__class__ is tuple:
            order.append(node[0])
            continue
        if node in seen:
            continue
        seen.add(node)
        if node.op == "unknown":
            raise CaptureError(node.attributes)
        if is_outside(node):
            outside.append(node)
            continue
        if node.inputs:
            stack.append((node,))
            for each in reversed(node.inputs):
                if each is not None and each not in seen:
                    stack.append(each)
        else:
            order.append(node)
    return order, outside


def _structure(order, numbers):
    """Parts of a subgraph's key: what each node is, with the numbers of its inputs. Nodes get the numbers that follow. Keys of what is
    evaluated are made by _native.structure()."""
    parts, number = [], len(numbers)
    for node in order:
        numbers[node] = number
        number += 1
        if node.op == "scalar":
            parts.append((node.dtype, repr(node.attributes)))
            continue
        attributes = node.attributes
        if node.op in ("Loop", "If"):  # and not the nodes, which would live as long as the key
            attributes = tuple(each.key for each in attributes) if node.op == "If" else attributes.key
        parts.append((node.op, attributes, *[-1 if each is None else numbers[each] for each in node.inputs]))
    return parts


def serial_of(node):
    return node.serial


class Subgraph:
    """The body of a loop or a branch: nodes made since `mark`, from placeholders and from captured nodes that were there."""

    def __init__(self, placeholders, outputs, mark):
        self.placeholders, self.outputs = placeholders, outputs
        own = set(placeholders)

        def is_outside(node):
            return node.value is not None or node.serial < mark or node in own
        self.order, outside = ordered(outputs, is_outside)
        self.order.sort(key=serial_of)  # as the function computes: which operators stand together decides what is fused
        self.captured = [node for node in outside if node not in own]
        numbers = {node: i for i, node in enumerate([*placeholders, *self.captured])}
        kinds = tuple((node.dtype, len(node.shape)) for node in placeholders)
        parts = _structure(self.order, numbers)
        self.key = (kinds, len(self.captured), tuple(parts), tuple(numbers[node] for node in outputs))

#===- models ---------------------------------------------------------------------------------------------------------===

class _Writer:
    def __init__(self):
        self.names = (f"v{i}" for i in itertools.count())

    def operators(self, order, known):
        """Protobufs of nodes and of constants; `known` names what they use, and receives their names."""
        nodes, constants = [], []
        for node in order:
            op, attributes = node.op, {}
            if op == "result":
                known[node] = known[node.inputs[0]][node.attributes]
                continue
            if op in ("scalar", "integers"):
                known[node] = next(self.names)
                constants.append(model.constant(known[node], node.dtype, node.shape, _cells(node.dtype, node.shape, node.attributes)))
                continue
            if op == "input":
                raise CaptureError("a value of a loop or branch is used outside of it: assign it to a variable that the loop carries")
            inputs, count = [known[each] if each is not None else "" for each in node.inputs], RESULTS.get(op, 1)
            if op == "Loop":
                body = node.attributes
                count = len(body.outputs) - 1
                attributes["body"] = self.graph(body, known)
                inputs = inputs[:count + 2]
            elif op == "If":
                then, otherwise = node.attributes
                count = len(then.outputs)
                attributes["then_branch"], attributes["else_branch"] = self.graph(then, known), self.graph(otherwise, known)
                inputs = inputs[:1]
            else:
                attributes = dict(node.attributes)
            outputs = [next(self.names) for _ in range(count)]
            known[node] = outputs if op in MANY else outputs[0]
            nodes.append(model.operator(op, inputs, outputs, attributes))
        return nodes, constants

    def graph(self, body, known):
        inside, inputs = dict(known), []
        for node in body.placeholders:
            inside[node] = next(self.names)
            inputs.append((inside[node], node.dtype, len(node.shape)))
        nodes, constants = self.operators(body.order, inside)
        outputs = []
        for node in body.outputs:  # each has a name of its own
            name = next(self.names)
            nodes.append(model.operator("Identity", [inside[node]], [name], {}))
            outputs.append((name, node.dtype, len(node.shape)))
        return model.graph(nodes, constants, inputs, outputs)


# How many results an operator has, where it isn't one; those of control flow have as many as they carry.
RESULTS = {"TopK": 2, "Eigen": 2, "Svd": 3, "Qr": 2, "Lu": 3}
MANY = {*RESULTS, "Loop", "If"}


def model_of(order, inputs, outputs):
    """The bytes of a model whose inputs and outputs are nodes, in this order."""
    writer, known, parameters = _Writer(), {}, []
    for node in inputs:
        known[node] = next(writer.names)
        parameters.append((known[node], node.dtype, len(node.shape)))
    nodes, constants = writer.operators([node for node in order if node not in known], known)
    results, used = [], set(known[node] for node in inputs)
    for node in outputs:
        name = known[node]
        if name in used:
            name = next(writer.names)
            nodes.append(model.operator("Identity", [known[node]], [name], {}))
        used.add(name)
        results.append((name, node.dtype, len(node.shape)))
    return model.model(model.graph(nodes, constants, parameters, results))


def compiled(content):
    """The function of a model; call(*arrays) gives a list of arrays."""
    return _native.Function(_native.Script("<arrays>", content, _process.threads() or 0, 0, None, None, "", "", False), "main")


class Compiled:
    """A program for all graphs of one structure. Of its numbers of Python those that were seen to change are inputs."""

    def __init__(self, order, leaves, scalars, outputs, changing):
        self.changing = changing
        self.fixed = [node.attributes for node in scalars]
        self.taken = [i for i, changes in enumerate(changing) if changes]
        self.has_many_outputs = len(outputs) > 1
        content = model_of(order, [*leaves, *(scalars[i] for i in self.taken)], outputs)
        self.function = compiled(content)

    def suits(self, scalars):
        return all(changes or _is_same(node.attributes, number)
                   for changes, number, node in zip(self.changing, self.fixed, scalars))

    def widened(self, scalars):
        return [changes or not _is_same(node.attributes, number)
                for changes, number, node in zip(self.changing, self.fixed, scalars)]

    def call(self, leaves, scalars):
        arguments = [node.value for node in leaves]
        arguments += [np.asarray(scalars[i].attributes, dtype=scalars[i].dtype) for i in self.taken]
        results = self.function(*arguments)
        return results if self.has_many_outputs else (results,)


def _is_same(first, second):
    return first == second and (first != 0 or math.copysign(1, first) == math.copysign(1, second))


_programs = OrderedDict()  # structure -> Compiled, those used last at the end
_lock = threading.RLock()
_counts = {"evaluations": 0, "programs": 0}
os.register_at_fork(after_in_child=lambda: _lock.__init__())


def counts():
    """How often arrays were given values, and how many programs were made for that."""
    return dict(_counts)


_CELL_OPERATORS = frozenset("""Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast
    Ceil Cos Cosh Div Equal Exp Expand Floor Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Log Log1p Max Min Mod Mul Neg Not Or
    Pow Reciprocal Reshape Round Sigmoid Sign Sin Sinh Sqrt Sub Tan Tanh Transpose Unsqueeze Squeeze Where Xor BitCast
    scalar integers""".split())


def evaluate(targets):
    """Gives values to nodes, and to others that they need if those are worth it."""
    with _lock:
        targets = list(dict.fromkeys([node for node in targets if node.value is None]))
        for node in targets:
            if node.is_traced:
                raise CaptureError("the cells of an array are needed here, but a function is being captured: they are known only when "
                                   "it runs. Conditions and loops over arrays are captured where they stand in the function itself")
        if not targets:
            return
        _planned.append(targets)
        try:
            order, leaves, scalars, outputs, found = _plan(targets)
        finally:
            _planned.pop()
    try:
        results = found.call(leaves, scalars)
    except Error as error:
        raise error.with_traceback(None)
    with _lock:
        if not _planned:
            _native.give_values(order, outputs, results)
            return
        for node, cells in zip(outputs, results):  # it keeps its inputs
            node.value = np.asarray(cells)


# Targets whose evaluation this thread plans. Where Python collects garbage meanwhile, what that calls may evaluate the same nodes.
_planned = []


def _plan(targets):
    order, leaves, scalars, outputs, key = _native.structure(targets, _process.threads(), _CELL_OPERATORS, MANY, _SMALL,
                                                             _MOST_CELL_OPERATORS)
    found = _programs.get(key)
    _counts["evaluations"] += 1
    if found is None or not found.suits(scalars):
        changing = found.widened(scalars) if found else [False] * len(scalars)
        found = _programs[key] = Compiled(order, leaves, scalars, outputs, changing)
        _counts["programs"] += 1
        if len(_programs) > _MOST_PROGRAMS:
            _programs.popitem(last=False)
    else:
        _programs.move_to_end(key)
    return order, leaves, scalars, outputs, found


def _has_value(node):
    return node.value is not None


def explanation(targets, show):
    """What becomes of the nodes' graph."""
    order, leaves = ordered([node for node in targets if node.value is None], _has_value)
    if not order:
        return "the cells are there already: nothing is computed\n"
    function = compiled(model_of(order, leaves, [node for node in targets if node.value is None]))
    return function.explanation(show, *[node.value for node in leaves])
