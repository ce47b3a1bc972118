"""Loops and branches over arrays whose cells aren't there yet, as operators with graphs of their own. What capture.py makes of a
function calls these; conditions and counts that are known run as Python runs them.

State is what a loop or branch assigns to: get() gives its values in the order of `names`, put(values) assigns them. `effects`: it
changes something else, too, such as an attribute, which can happen only where each step is known."""

import numbers

from .. import _native
from . import changes, elementwise, graph, types
from .array import Array
from .graph import CaptureError
from .objects import Surroundings

_MOST_ATTEMPTS = 12  # to capture a step: what is carried grows
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
        is_restored = surroundings.restore()
        text = f"a {what} over arrays changes {change}, which happens while the function is captured and not when it runs{advice}"
        raise CaptureError(text) if is_restored else _Spoilt(text)


_WRITE_OUT = "; write the loop out: for ... in unrolled(range(...))"


def _captured_loop(count, condition, body, test, get, put, names, runs, surroundings):
    """`runs`: it is known that there is a step."""
    loop = _Loop(list(get()), names, condition is not None, runs and count is None, runs)
    try:
        for _ in range(_MOST_ATTEMPTS):
            is_settled = loop.capture_step(body, test, get, put)
            _refuse_change(surroundings, "loop", _WRITE_OUT)
            if is_settled:
                break
        else:
            raise CaptureError("what a step changes is not the same in each step")
    finally:
        put(loop.state)
        surroundings.restore()
    put(loop.results(count, condition))


class _Loop:
    """What steps carry: variables, each with an array or number of its own, and arrays that they change in place, as all names for
    those see. Arrays that the first step alone changes, before their variable names another one, are lost: unknown from then on."""

    def __init__(self, state, names, has_condition, is_open, runs):
        """`is_open`: nothing says yet that the condition depends on arrays."""
        self.state, self.names, self.has_condition, self.is_open, self.runs = state, names, has_condition, is_open, runs
        self.inits = {i: array_of(value)._node for i, value in enumerate(state) if isinstance(value, Array) or _is_number(value)}
        self.in_place, self.lost = {}, {}  # id -> (array, node before the loop)

    def capture_step(self, body, test, get, put):
        """One step from placeholders. False: it has shown that it carries more, and has to be captured again."""
        counter, goes_on = graph.placeholder(types.int64, (), is_weak=True), graph.placeholder(types.bool, ())
        variables = [i for i in self.inits if not (isinstance(self.state[i], Array) and id(self.state[i]) in self.in_place)]
        self.inside = {i: _placeholder_like(self.inits[i]) for i in variables if not changes.is_unknown(self.inits[i])}
        stand_ins = {key: _placeholder_like(node) for key, (_, node) in self.in_place.items()}
        placeholders = [counter, goes_on, *self.inside.values(), *stand_ins.values()]
        try:
            for key, (array, _) in self.in_place.items():
                changes.put(array, stand_ins[key])
            for array, node in self.lost.values():
                changes.put(array, changes.unknown(node))
            with changes.Region() as region:
                try:
                    return self._capture_within(region, placeholders, variables, body, test, get, put)
                finally:
                    region.undo()
        finally:
            for array, node in (*self.in_place.values(), *self.lost.values()):
                array._node = node

    def _capture_within(self, region, placeholders, variables, body, test, get, put):
        counter, condition, *_ = placeholders
        self.mark = region.mark
        self.held = {i: Array(self.inside.get(i) or self.inits[i]) for i in variables}
        self._relate_stand_ins()
        put([self.held.get(i, value) for i, value in enumerate(self.state)])
        body(Array(counter))
        self.after = list(get())
        if self.has_condition:
            condition = test()
            if self.is_open and not is_traced(condition):
                raise CaptureError("the loop's condition doesn't depend on arrays")
            condition = _condition(condition, "a loop's condition")
        widened = self._look_at_variables()
        ended = [array._node for array, _ in self.in_place.values()]
        carries_more = self._look_at_arrays(region)
        if self.runs:  # what the first step assigns to has a value after the loop; what it is before is never read
            widened |= {i: _zeros(value)._node for i, value in self.first.items()}
        self.inits.update(widened)
        if widened or carries_more:
            return False
        self.subgraph = graph.Subgraph(placeholders, [condition, *(self.nodes[i] for i in self.inside), *ended], region.mark)
        return True

    def _relate_stand_ins(self):
        """What variables name in the first step may be one array."""
        for i, own in self.held.items():
            if not isinstance(self.state[i], Array):
                continue
            others = {id(each): each for each in changes.relatives(self.state[i])}
            for each in others.values():
                changes.relate(own, each)
            for j, other in self.held.items():
                is_same = self.state[j] is self.state[i] and id(self.state[i]) in self.lost  # one that isn't is carried by both
                if j != i and (is_same or id(self.state[j]) in others):
                    changes.relate(own, other)

    def _look_at_variables(self):
        """Notes the nodes of variables after the step, and the values of those that it is the first to assign to. Returns {place:
        node before the loop} of variables whose type grows."""
        self.nodes, self.first, widened = {}, {}, {}
        for i, (before, value) in enumerate(zip(self.state, self.after)):
            name = self.names[i]
            if i not in self.inside:
                if i in self.held:  # unknown before the step
                    continue
                if isinstance(before, Undefined) and (isinstance(value, Array) or _is_number(value)):
                    self.first[i] = value
                elif value is not before and i in self.inits:
                    raise CaptureError(f"variable {name!r} is changed in place by a loop over arrays, as another name for its array sees, "
                                       "and names another array after a step")
                elif value is not before and not isinstance(before, Undefined):
                    raise CaptureError(f"variable {name!r} is {_described(before)} before the loop and {_described(value)} after a step: "
                                       "loops over arrays carry arrays and numbers")
                continue
            if not (isinstance(value, Array) or _is_number(value)):
                raise CaptureError(f"variable {name!r} is {_described(before)} before the loop and {_described(value)} after a step")
            node, init = array_of(value)._node, self.inits[i]
            dtype = _joined_type(init, node)
            if dtype is None or node.shape != init.shape:
                raise CaptureError(f"variable {name!r} is an array of {init.dtype} of shape {init.shape} before the loop, and of "
                                   f"{node.dtype} of shape {node.shape} after a step; it has to stay the same")
            if changes.is_unknown(node) and not changes.is_unknown(init):
                widened[i] = changes.unknown(init)
            elif dtype != init.dtype or init.is_weak and not node.is_weak:
                widened[i] = elementwise.cast(init, dtype) if dtype != init.dtype else graph.Node("Identity", (init,), dtype, init.shape)
            self.nodes[i] = elementwise.cast(node, dtype)
        return widened

    def _look_at_arrays(self, region):
        """Whether the step changes arrays in place that were not known for it."""
        known, before = (set(self.in_place), set(self.lost)), {id(array): node for array, node in region.changed}

        def add(arrays, array):
            if id(array) not in self.in_place and id(array) not in self.lost:
                arrays[id(array)] = array, before.get(id(array), array._node)
        for key, (array, node) in list(self.in_place.items()):
            if changes.is_unknown(array._node):
                self.lost[key] = self.in_place.pop(key)
        changed = {id(own) for i, own in self.held.items() if i in self.inside and own._node is not self.inside[i]}
        for i, own in self.held.items():
            if id(own) in changed and isinstance(self.state[i], Array) and not self.state[i]._node.is_weak:
                add(self.in_place if self.after[i] is own else self.lost, self.state[i])
        for array, _ in region.changed:
            add(self.lost if changes.is_unknown(array._node) else self.in_place, array)
        for array, _ in (*self.in_place.values(), *self.lost.values()):
            for other in changes.relatives(array):
                add(self.lost, other)
        for i, own in self.held.items():
            others = {id(each) for each in self._others(i)}
            if others and (id(own) in changed or others & (changed | set(self.in_place))):
                raise CaptureError(f"variable {self.names[i]!r} is another name for an array after a step, which a step changes in place: "
                                   "copy it, as by tk.asarray(x, copy=True)")
        return (set(self.in_place), set(self.lost)) != known

    def _others(self, i):
        """What variable i may name after a step but what it named before and what is its own."""
        value, own = self.after[i], self.held[i]
        if not isinstance(value, Array) or value is own or value._node.is_weak:
            return []
        named = {id(each) for j, each in enumerate(self.after) if j != i} | {id(each) for j, each in self.held.items() if j != i}
        return [each for each in (value, *changes.relatives(value)) if each is not own and (id(each) in named or each._serial < self.mark)]

    def results(self, count, condition):
        """Values of the variables after the loop; arrays that it changes in place become what they are then."""
        carried, arrays = list(self.inside), [node for _, node in self.in_place.values()]
        inputs = (count._node if count is not None else None, _condition(condition, "a loop's condition") if condition is not None else None,
                  *(self.inits[i] for i in carried), *arrays, *self.subgraph.captured)
        loop = graph.Node("Loop", inputs, None, None, self.subgraph)
        results, made = list(self.state), {}
        for i, own in self.held.items():
            if i not in self.inside:
                results[i] = own
                continue
            if self.after[i] is own and own._node is self.inside[i] and not isinstance(self.state[i], Undefined):
                continue  # it names what it named
            result = graph.selected(loop, carried.index(i), self.inits[i].dtype, self.inits[i].shape)
            result.is_weak = self.inits[i].is_weak and self.nodes[i].is_weak
            results[i] = made.setdefault(id(self.after[i]) if self.runs else i, Array(result))
        for i in self.held:
            self._relate(i, results)
        for number, (array, node) in enumerate(self.in_place.values(), len(carried)):
            changes.put(array, graph.selected(loop, number, node.dtype, node.shape))
        for array, node in self.lost.values():
            changes.put(array, changes.unknown(node))
        return [Undefined(self.names[i]) if isinstance(value, Undefined) else value for i, value in enumerate(results)]

    def _relate(self, i, results):
        """Notes what else the array may be that a variable names after the loop."""
        if results[i] is self.state[i] or not isinstance(results[i], Array) or results[i]._node.is_weak:
            return
        others = [] if self.runs else [self.state[i]]
        for each in (self.after[i], *changes.relatives(self.after[i])) if isinstance(self.after[i], Array) else ():
            others += [value for j, own in self.held.items() if each is own for value in (self.state[j], results[j])]
            others += [results[j] for j, value in enumerate(self.after) if each is value]
            others += [each] if each._serial < self.mark else []
        for other in others:
            if isinstance(other, Array):
                changes.relate(results[i], other)


def _placeholder_like(node):
    return graph.placeholder(node.dtype, node.shape, node.is_weak)


def _described(value):
    return "without a value" if isinstance(value, Undefined) else "an array" if isinstance(value, Array) else f"a {type(value).__name__}"


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
        elif _is_number(one) and _is_number(other) and type(one) is type(other) and one == other:
            after[i] = one
        elif isinstance(one, Undefined) or isinstance(other, Undefined):
            known = other if isinstance(one, Undefined) else one
            if names[i] != RESULT:
                after[i] = Undefined(names[i])
            elif isinstance(known, Array) or _is_number(known):  # of the side that doesn't return: never read
                node, zeros = nodes2[i] if known is other else nodes1[i], _zeros(known)._node
                joined.append((i, *((zeros, node or array_of(known)._node) if known is other else (node or array_of(known)._node, zeros))))
            else:
                raise CaptureError("what is returned on one side of a branch over arrays is an array or a number")
        elif not all(isinstance(each, Array) or _is_number(each) for each in (one, other)):
            raise CaptureError(f"variable {names[i]!r} is {_described(one)} on one side of a branch over arrays and {_described(other)} "
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
        dtype = _joined_type(left, right)
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
    inputs = (_condition(condition, "a branch's condition"), *graph1.captured, *graph2.captured)
    branch = graph.Node("If", inputs, None, None, (graph1, graph2))
    number = 0
    for i, (_, left, right) in enumerate(values):
        if results[i] is None:
            results[i] = graph.selected(branch, number, outputs1[number].dtype, outputs1[number].shape)
            results[i].is_weak = left.is_weak and right.is_weak
            number += 1
    return results


RESULT = "_tk_result"  # the variable that returned values are kept in


def _zeros(like):
    node = array_of(like)._node
    zeros = elementwise.filled(0, node.dtype, node.shape)
    zeros._node.is_weak = node.is_weak
    return zeros


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
        raise CaptureError("a branch or loop over arrays raises an exception, which a program can't: compute a flag that says so, return it, "
                           "and raise the exception where the function was called")


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
    return [Array(_condition(each, "each side of `and` and `or`")) for each in (first, second)]
