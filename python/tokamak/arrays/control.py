"""Loops and branches over arrays whose cells aren't there yet, as operators with graphs of their own. What capture.py makes of a
function calls these; conditions and counts that are known run as Python runs them.

State is what a loop or branch assigns to: get() gives its values in the order of `names`, put(values) assigns them. `effects`: it
changes something else, too, such as an attribute, which can happen only where each step is known."""

import numbers

from .. import _native
from . import elementwise, graph, types
from .array import Array
from .graph import CaptureError

_MOST_WIDENINGS = 4
_EFFECTS = "a {} over arrays changes an attribute, or a part of a part; it can assign to variables and their parts alone"
_MOST_WRITTEN_OUT = 100  # steps of a loop over a known range that can't be captured


class Undefined:
    """A variable before its first assignment."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    def _fail(self, *_):
        raise CaptureError(f"variable {self._name!r} has no value here: it is assigned only in a loop or on one side of a branch "
                                "over arrays; assign it before")
    __getattr__ = __call__ = __iter__ = __len__ = __bool__ = __getitem__ = __setitem__ = __index__ = __float__ = _fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = _fail
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __pow__ = __rpow__ = __floordiv__ = __mod__ = __and__ = __or__ = __invert__ = _fail


def is_traced(x):
    return isinstance(x, Array) and x._node.is_traced


def _is_number(x):
    return isinstance(x, numbers.Number)


def array_of(x):
    """An array, or a number of Python as one that takes others' types."""
    if isinstance(x, Array):
        return x
    dtype = types.bool if isinstance(x, bool) else types.int64 if isinstance(x, int) else types.float64
    node = graph.scalar(x, dtype)
    node.is_weak = dtype != types.bool
    return Array(node)


def _condition(x, what):
    x = array_of(x)
    if x.dtype != types.bool or x.shape:
        raise CaptureError(f"{what} is one bool, not an array of {x.dtype} of shape {x.shape}")
    return x._node


def _joined_type(first, second):
    """Of two nodes that one variable stands for, or None."""
    if first.dtype == second.dtype:
        return first.dtype
    if first.is_weak != second.is_weak:
        weak, strong = (first, second) if first.is_weak else (second, first)
        return strong.dtype if weak.dtype == types.int64 or types.is_float(strong.dtype) else None
    if first.is_weak:
        return types.float64
    return None


#===- loops ----------------------------------------------------------------------------------------------------------===

def while_(test, body, get, put, names, effects):
    """Also a loop whose first condition is known is captured, unless it turns out that all of them are."""
    for _ in range(_MOST_WRITTEN_OUT):
        condition = test()
        is_known = not is_traced(condition)
        if is_known and not condition:
            return
        if effects:
            if not is_known:
                raise CaptureError(_EFFECTS.format("loop"))
            reason = _EFFECTS.format("loop")
            body()
            continue
        try:
            return _captured_loop(None, array_of(bool(condition)) if is_known else condition, lambda _: body(), test, get, put, names, runs=is_known)
        except CaptureError as error:
            if not is_known:
                raise
            reason = error
        body()
    raise CaptureError(f"a loop of more than {_MOST_WRITTEN_OUT} steps can't be captured: {reason}")


class Range:
    """range() of numbers some of which are computed."""

    def __init__(self, start, stop=None, step=1):
        self.start, self.stop, self.step = (0, start, step) if stop is None else (start, stop, step)
        if not isinstance(self.step, int) or self.step == 0:
            raise CaptureError("the step of a range over computed numbers is an integer of Python other than 0")

    def count(self):
        length = elementwise.floor_divide(elementwise.add(elementwise.subtract(self.stop, self.start), self.step - (1 if self.step > 0 else -1)),
                                          self.step)
        return elementwise.astype(elementwise.maximum(length, 0), types.int64)


def range_(*bounds):
    return Range(*bounds) if any(is_traced(each) for each in bounds) else range(*bounds)


def unrolled(iterable):
    """In a function that is captured: a loop over this is written out, each step with a number of Python."""
    return list(iterable)


def for_(iterable, body, get, put, names, effects, test):
    """`test`: whether to go on before a step; None: always."""
    if isinstance(iterable, (range, Range)):
        def item(i):
            return elementwise.add(elementwise.multiply(i, iterable.step), iterable.start)
        count = array_of(len(iterable) if isinstance(iterable, range) else iterable.count())
    elif is_traced(iterable):
        def item(i):
            return iterable[i]
        if not iterable.shape:
            raise TypeError("an array without dimensions has no parts")
        count = array_of(len(iterable))
    else:
        for each in iterable:
            if test is not None:
                goes_on = test()
                if is_traced(goes_on):
                    raise CaptureError("a loop over a list can't be left by a condition over arrays; loop over a range")
                if not goes_on:
                    return
            body(each)
        return
    if not isinstance(iterable, Range) and len(iterable) == 0:
        return
    if effects:
        if not isinstance(iterable, range) or len(iterable) > _MOST_WRITTEN_OUT:
            raise CaptureError(_EFFECTS.format("loop"))
        return for_(unrolled(iterable), body, get, put, names, effects, test)
    condition = None
    if test is not None:
        condition = test()
        if not is_traced(condition):
            if not condition:
                return
            condition = array_of(True)
    try:
        _captured_loop(count, condition, lambda i: body(item(i)), test, get, put, names, runs=not isinstance(iterable, Range))
    except CaptureError:
        if not isinstance(iterable, range) or len(iterable) > _MOST_WRITTEN_OUT:
            raise
        for_(unrolled(iterable), body, get, put, names, effects, test)


def _captured_loop(count, condition, body, test, get, put, names, runs):
    """`runs`: it is known that there is a step."""
    state = list(get())
    inits = {i: array_of(value)._node for i, value in enumerate(state) if isinstance(value, Array) or _is_number(value)}
    containers = [(i, value, value.copy()) for i, value in enumerate(state) if isinstance(value, (list, dict, set))]
    try:
        for _ in range(_MOST_WIDENINGS):
            step, widened, first = _captured_step(state, inits, condition is not None, runs and count is None, body, test, get, put, names)
            for i, value, copy in containers:
                if _has_changed(value, copy):
                    raise CaptureError(f"variable {names[i]!r}, a {type(value).__name__}, changes in a loop over arrays; write the loop out: "
                                       "for ... in unrolled(range(...))")
            if runs:  # what the first step assigns to has a value after the loop; what it is before is never read
                widened |= {i: _zeros(value)._node for i, value in first.items()}
            if not widened:
                break
            inits.update(widened)
    finally:
        put(state)
        for _, value, copy in containers:
            _restore(value, copy)
    placeholders, after, goes_on, mark = step
    carried = list(inits)
    subgraph = graph.Subgraph(placeholders, [goes_on, *(after[i] for i in carried)], mark)
    inputs = (count._node if count is not None else None, _condition(condition, "a loop's condition") if condition is not None else None,
              *(inits[i] for i in carried), *subgraph.captured)
    loop = graph.Node("Loop", inputs, None, None, subgraph)
    for number, i in enumerate(carried):
        result = graph.selected(loop, number, inits[i].dtype, inits[i].shape)
        result.is_weak = inits[i].is_weak and after[i].is_weak
        state[i] = Array(result)
    put([Undefined(names[i]) if isinstance(value, Undefined) else value for i, value in enumerate(state)])


def _has_changed(container, copy):
    """Since the copy was made: other objects, in another order."""
    def objects(each):
        return list(map(id, each.values() if isinstance(each, dict) else each))
    return len(container) != len(copy) or objects(container) != objects(copy)


def _restore(container, copy):
    container.clear()
    container.extend(copy) if isinstance(container, list) else container.update(copy)


def _captured_step(state, inits, has_condition, is_open, body, test, get, put, names):
    """One step from placeholders: ((placeholders, nodes after it, condition, mark), {place: node} of variables whose type grows,
    {place: array} of those that it is the first to assign to). `is_open`: nothing says yet that the condition depends on arrays."""
    counter, goes_on = graph.placeholder(types.int64, (), is_weak=True), graph.placeholder(types.bool, ())
    inside = {i: graph.placeholder(node.dtype, node.shape, node.is_weak) for i, node in inits.items()}
    mark = _native.next_serial()
    held = [Array(inside[i]) if i in inside else value for i, value in enumerate(state)]
    put(held)
    with graph.region(mark, held):
        body(Array(counter))
    after, nodes, widened, first = list(get()), {}, {}, {}
    for i, value in enumerate(after):
        if i not in inside:
            if isinstance(state[i], Undefined) and (isinstance(value, Array) or _is_number(value)):
                first[i] = value
            elif value is not state[i] and not isinstance(state[i], Undefined):
                raise CaptureError(f"variable {names[i]!r} is {_described(state[i])} before the loop and {_described(value)} after a step: "
                                   "loops over arrays carry arrays and numbers")
            continue
        if not (isinstance(value, Array) or _is_number(value)):
            raise CaptureError(f"variable {names[i]!r} is {_described(state[i])} before the loop and {_described(value)} after a step")
        node, init = array_of(value)._node, inits[i]
        dtype = _joined_type(init, node)
        if dtype is None or node.shape != init.shape:
            raise CaptureError(f"variable {names[i]!r} is an array of {init.dtype} of shape {init.shape} before the loop, and of "
                               f"{node.dtype} of shape {node.shape} after a step; it has to stay the same")
        if dtype != init.dtype or init.is_weak and not node.is_weak:
            widened[i] = elementwise.cast(init, dtype) if dtype != init.dtype else graph.Node("Identity", (init,), dtype, init.shape)
        nodes[i] = elementwise.cast(node, dtype)
    condition = goes_on
    if has_condition:
        condition = test()
        if is_open and not is_traced(condition):
            raise CaptureError("the loop's condition doesn't depend on arrays")
        condition = _condition(condition, "a loop's condition")
    return ([counter, goes_on, *inside.values()], nodes, condition, mark), widened, first


def _described(value):
    return "without a value" if isinstance(value, Undefined) else "an array" if isinstance(value, Array) else f"a {type(value).__name__}"


#===- branches -------------------------------------------------------------------------------------------------------===

def if_(condition, then, otherwise, get, put, names, effects=False):
    if not is_traced(condition):
        return then() if condition else otherwise()
    if effects:
        raise CaptureError(_EFFECTS.format("branch"))
    before, sides = list(get()), []
    containers = [(i, value, value.copy()) for i, value in enumerate(before) if isinstance(value, (list, dict, set))]
    for branch in (then, otherwise):
        mark = _native.next_serial()
        held = [Array(value._node) if isinstance(value, Array) else value for value in before]
        put(held)
        try:
            with graph.region(mark, held):
                branch()
            sides.append((mark, list(get())))
        finally:
            put(before)
        for i, value, copy in containers:
            if _has_changed(value, copy):
                _restore(value, copy)
                raise CaptureError(f"variable {names[i]!r}, a {type(value).__name__}, changes in a branch over arrays")
    (mark1, first), (mark2, second) = sides
    after, joined = list(before), []
    for i, (one, other) in enumerate(zip(first, second)):
        if one is other or _is_same_node(one, other):
            after[i] = one
        elif _is_number(one) and _is_number(other) and type(one) is type(other) and one == other:
            after[i] = one
        elif isinstance(one, Undefined) or isinstance(other, Undefined):
            known = other if isinstance(one, Undefined) else one
            if names[i] != RESULT:
                after[i] = Undefined(names[i])
            elif isinstance(known, Array) or _is_number(known):  # of the side that doesn't return: never read
                joined.append((i, *((_zeros(known), known) if known is other else (known, _zeros(known)))))
            else:
                raise CaptureError("what is returned on one side of a branch over arrays is an array or a number")
        else:
            joined.append((i, one, other))
    outputs1, outputs2 = [], []
    for i, one, other in joined:
        if not all(isinstance(each, Array) or _is_number(each) for each in (one, other)):
            raise CaptureError(f"variable {names[i]!r} is {_described(one)} on one side of a branch over arrays and {_described(other)} "
                               "on the other")
        left, right = array_of(one)._node, array_of(other)._node
        dtype = _joined_type(left, right)
        if dtype is None or left.shape != right.shape:
            raise CaptureError(f"variable {names[i]!r} is an array of {left.dtype} of shape {left.shape} on one side of a branch, and of "
                               f"{right.dtype} of shape {right.shape} on the other")
        outputs1.append(elementwise.cast(left, dtype))
        outputs2.append(elementwise.cast(right, dtype))
    if joined:
        graph1, graph2 = graph.Subgraph([], outputs1, mark1), graph.Subgraph([], outputs2, mark2)
        branch = graph.Node("If", (_condition(condition, "a branch's condition"), *graph1.captured, *graph2.captured), None, None, (graph1, graph2))
        for number, (i, *_) in enumerate(joined):
            result = graph.selected(branch, number, outputs1[number].dtype, outputs1[number].shape)
            result.is_weak = array_of(first[i] if not isinstance(first[i], Undefined) else second[i])._node.is_weak
            after[i] = Array(result)
    put(after)


RESULT = "_tk_result"  # the variable that returned values are kept in


def _is_same_node(one, other):
    return isinstance(one, Array) and isinstance(other, Array) and one._node is other._node


def _zeros(like):
    node = array_of(like)._node
    return elementwise.filled(0, node.dtype, node.shape)


def choose(condition, then, otherwise):
    """then() if condition else otherwise()"""
    if not is_traced(condition):
        return then() if condition else otherwise()
    value = [Undefined("a conditional expression")]

    def set_to(made):
        value[0] = made()
    if_(condition, lambda: set_to(then), lambda: set_to(otherwise), lambda: tuple(value), lambda values: value.__setitem__(0, values[0]),
        ("a conditional expression",))
    return value[0]


#===- truth ----------------------------------------------------------------------------------------------------------===

def and_(first, rest):
    """first and rest()"""
    return elementwise.logical_and(*_truths(first, rest())) if is_traced(first) else first and rest()


def or_(first, rest):
    return elementwise.logical_or(*_truths(first, rest())) if is_traced(first) else first or rest()


def not_(x):
    return elementwise.logical_not(x) if is_traced(x) else not x


def none_of(*flags):
    """Whether no jump was taken."""
    result = True
    for flag in flags:
        result = and_(result, lambda flag=flag: not_(flag)) if is_traced(result) or result else result
    return result


def _truths(first, second):
    return [Array(_condition(each, "each side of `and` and `or`")) for each in (first, second)]
