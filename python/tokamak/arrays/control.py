"""Loops and branches over arrays whose cells aren't there yet, as operators with graphs of their own. What capture.py makes of a
function calls these; conditions and counts that are known run as Python runs them.

State is what a loop or branch assigns to: get() gives its values in the order of `names`, put(values) assigns them. `effects`: it
changes something else, too, such as an attribute, which can happen only where each step is known."""

from . import changes, elementwise, graph, types
from .array import Array
from .graph import CaptureError
from .loops import Loop
from .objects import Surroundings
from .variables import Undefined, array_of, condition_node, described, is_number, is_traced, joined_type, zeros_of

_MOST_ATTEMPTS = 12  # to capture a step: what is carried grows
_EFFECTS = "a {} over arrays changes an attribute, or a part of a part; it can assign to variables and their parts alone"
_MOST_WRITTEN_OUT = 100  # steps of a loop over a known range that can't be captured


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
        surroundings = Surroundings(body, test, get)
        if is_known and surroundings.has_iterators:
            reason = "it goes on with an iterator"
            body()
            continue
        try:
            start = array_of(bool(condition)) if is_known else condition
            return _captured_loop(None, start, lambda _: body(), test, get, put, names, is_known, surroundings)
        except _Spoilt:
            raise
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


def range_(function, *bounds):
    """Of what the name range stands for."""
    return Range(*bounds) if function is range and any(is_traced(each) for each in bounds) else function(*bounds)


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
    surroundings = Surroundings(body, get, *([] if test is None else [test]))
    can_be_written_out = isinstance(iterable, range) and len(iterable) <= _MOST_WRITTEN_OUT
    if effects and not can_be_written_out:
        raise CaptureError(_EFFECTS.format("loop"))
    if effects or surroundings.has_iterators and can_be_written_out:
        return for_(unrolled(iterable), body, get, put, names, effects, test)
    condition = None
    if test is not None:
        condition = test()
        if not is_traced(condition):
            if not condition:
                return
            condition = array_of(True)
    try:
        _captured_loop(count, condition, lambda i: body(item(i)), test, get, put, names, not isinstance(iterable, Range), surroundings)
    except _Spoilt:
        raise
    except CaptureError:
        if not can_be_written_out:
            raise
        for_(unrolled(iterable), body, get, put, names, effects, test)


class _Spoilt(CaptureError):
    """Capturing has changed what nothing sets back: a loop can't be written out any more."""


def _refuse_change(surroundings, what, advice):
    change = surroundings.change()
    if change is not None:
        text = f"a {what} over arrays changes {change}, which happens while the function is captured and not when it runs{advice}"
        raise CaptureError(text) if surroundings.restore() else _Spoilt(text)


_WRITE_OUT = "; write the loop out: for ... in unrolled(range(...))"


def _captured_loop(count, condition, body, test, get, put, names, runs, surroundings):
    """`runs`: it is known that there is a step."""
    loop = Loop(list(get()), names, condition is not None, runs and count is None, runs)
    try:
        for _ in range(_MOST_ATTEMPTS):
            is_settled = loop.capture_step(body, test, get, put)
            _refuse_change(surroundings, "loop", _WRITE_OUT)
            if is_settled:
                break
        else:
            raise CaptureError("what a step changes is not the same in each step")
    except Exception as error:
        if not surroundings.restore() and isinstance(error, CaptureError):
            raise _Spoilt(str(error)) from None
        raise
    finally:
        put(loop.state)
    put(loop.results(count, condition))


#===- branches -------------------------------------------------------------------------------------------------------===

def if_(condition, then, otherwise, get, put, names, effects=False, count=None):
    """`count`: how many of the variables are read after the branch, the first ones; None: all."""
    if not is_traced(condition):
        return then() if condition else otherwise()
    if effects:
        raise CaptureError(_EFFECTS.format("branch"))
    before, sides, surroundings = list(get()), [], Surroundings(then, otherwise, get)
    for branch in (then, otherwise):
        with changes.Region() as region:
            try:
                branch()
                values = list(get())
                nodes = [value._node if isinstance(value, Array) else None for value in values]
                sides.append((region.mark, values, nodes, {id(array): (array, node, array._node) for array, node in region.changed}))
            finally:
                region.undo()
                put(before)
        _refuse_change(surroundings, "branch", "; where(condition, x, y) chooses between arrays")
    (mark1, first, nodes1, changed1), (mark2, second, nodes2, changed2) = sides
    after, joined = list(before), []
    for i, (one, other) in enumerate(zip(first, second)):
        if one is other:
            after[i] = one
        elif count is not None and i >= count:
            after[i] = Undefined(names[i])
        elif is_number(one) and is_number(other) and type(one) is type(other) and one == other:
            after[i] = one
        elif isinstance(one, Undefined) or isinstance(other, Undefined):
            known = other if isinstance(one, Undefined) else one
            if names[i] != RESULT:
                after[i] = Undefined(names[i])
            elif isinstance(known, Array) or is_number(known):  # of the side that doesn't return: never read
                node, zeros = nodes2[i] if known is other else nodes1[i], zeros_of(known)._node
                joined.append((i, *((zeros, node or array_of(known)._node) if known is other else (node or array_of(known)._node, zeros))))
            else:
                raise CaptureError("what is returned on one side of a branch over arrays is an array or a number")
        elif not all(isinstance(each, Array) or is_number(each) for each in (one, other)):
            raise CaptureError(f"variable {names[i]!r} is {described(one)} on one side of a branch over arrays and {described(other)} "
                               "on the other")
        else:
            joined.append((i, nodes1[i] or array_of(one)._node, nodes2[i] or array_of(other)._node))
    changed = {}  # array: its nodes on both sides
    for key, (array, node, _) in {**changed1, **changed2}.items():
        changed[key] = array, changed1.get(key, (None, None, node))[2], changed2.get(key, (None, None, node))[2]
    results = _joined(condition, [(_name_of(names[i]), left, right) for i, left, right in joined] +
                      [("an array", left, right) for _, left, right in changed.values()], mark1, mark2)
    made = {}
    for (i, left, right), node in zip(joined, results):
        after[i] = made.setdefault((id(first[i]), id(second[i])), Array(node))
        for each in (first[i], second[i]):
            if isinstance(each, Array) and not node.is_weak:
                changes.relate(after[i], each)
    put(after)
    for (array, _, _), node in zip(changed.values(), results[len(joined):]):
        changes.put(array, node)


def _name_of(name):
    return f"variable {name!r}"


def _joined(condition, values, mark1, mark2):
    """Nodes of what is one node on the one side of a branch and one on the other, of (what it is, the one, the other)."""
    outputs1, outputs2, results = [], [], []
    for what, left, right in values:
        dtype = joined_type(left, right)
        if dtype is None or left.shape != right.shape:
            raise CaptureError(f"{what} is an array of {left.dtype} of shape {left.shape} on one side of a branch, and of "
                               f"{right.dtype} of shape {right.shape} on the other")
        if left is right:
            results.append(left)
        elif changes.is_unknown(left) or changes.is_unknown(right):
            results.append(changes.unknown(left))
        else:
            results.append(None)
            outputs1.append(elementwise.cast(left, dtype))
            outputs2.append(elementwise.cast(right, dtype))
    if not outputs1:
        return results
    graph1, graph2 = graph.Subgraph([], outputs1, mark1), graph.Subgraph([], outputs2, mark2)
    inputs = (condition_node(condition, "a branch's condition"), *graph1.captured, *graph2.captured)
    branch = graph.Node("If", inputs, None, None, (graph1, graph2))
    number = 0
    for i, (_, left, right) in enumerate(values):
        if results[i] is None:
            results[i] = graph.selected(branch, number, outputs1[number].dtype, outputs1[number].shape)
            results[i].is_weak = left.is_weak and right.is_weak
            number += 1
    return results


RESULT = "_tk_result"  # the variable that returned values are kept in


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


def refuse_raise():
    """Before a `raise`."""
    if changes.is_in_region():
        raise CaptureError("a branch or loop over arrays raises an exception, which a program can't: compute a flag that says so, return "
                           "it, and raise the exception where the function was called")


#===- truth ----------------------------------------------------------------------------------------------------------===

def and_(first, rest):
    """first and rest()"""
    return elementwise.logical_and(*_truths(first, rest())) if is_traced(first) else first and rest()


def or_(first, rest):
    return elementwise.logical_or(*_truths(first, rest())) if is_traced(first) else first or rest()


def compared(left, *steps):
    """A chain of comparisons, of (function that compares, function that gives the next operand)."""
    result = True
    for compare, operand in steps:
        right = operand()
        step = compare(left, right)
        result = and_(result, lambda step=step: step)
        if not is_traced(result) and not result:
            break
        left = right
    return result


def not_(x):
    return elementwise.logical_not(x) if is_traced(x) else not x


def none_of(*flags):
    """Whether no jump was taken."""
    result = True
    for flag in flags:
        result = and_(result, lambda flag=flag: not_(flag)) if is_traced(result) or result else result
    return result


def _truths(first, second):
    return [Array(condition_node(each, "each side of `and` and `or`")) for each in (first, second)]
