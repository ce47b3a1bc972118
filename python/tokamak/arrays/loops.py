"""A loop over arrays while it is captured: what its steps carry.

    loop = Loop(values, names, has_condition, is_open, runs)
    while not loop.capture_step(body, test, get, put):
        pass                              # what is carried has grown
    put(loop.results(count, condition))
"""

from . import changes, elementwise, graph, types
from .array import Array
from .graph import CaptureError
from .variables import Undefined, array_of, condition_node, described, is_number, is_traced, joined_type, placeholder_like, zeros_of


class Loop:
    """What steps carry: variables, each with an array or number of its own, and arrays that they change in place, as all names for
    those see. Arrays that the first step alone changes, before their variable names another one, are lost: unknown from then on."""

    def __init__(self, state, names, has_condition, is_open, runs):
        """`is_open`: nothing says yet that the condition depends on arrays."""
        self.state, self.names, self.has_condition, self.is_open, self.runs = state, names, has_condition, is_open, runs
        self.inits = {i: array_of(value)._node for i, value in enumerate(state) if isinstance(value, Array) or is_number(value)}
        self.in_place, self.lost = {}, {}  # id -> (array, node before the loop)

    def capture_step(self, body, test, get, put):
        """One step from placeholders. False: it has shown that it carries more, and has to be captured again."""
        counter, goes_on = graph.placeholder(types.int64, (), is_weak=True), graph.placeholder(types.bool, ())
        variables = [i for i in self.inits if not (isinstance(self.state[i], Array) and id(self.state[i]) in self.in_place)]
        self.inside = {i: placeholder_like(self.inits[i]) for i in variables if not changes.is_unknown(self.inits[i])}
        stand_ins = {key: placeholder_like(node) for key, (_, node) in self.in_place.items()}
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
            condition = condition_node(condition, "a loop's condition")
        widened = self._look_at_variables()
        ended = [array._node for array, _ in self.in_place.values()]
        carries_more = self._look_at_arrays(region)
        if self.runs:  # what the first step assigns to has a value after the loop; what it is before is never read
            widened |= {i: zeros_of(value)._node for i, value in self.first.items()}
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
                if isinstance(before, Undefined) and (isinstance(value, Array) or is_number(value)):
                    self.first[i] = value
                elif value is not before and i in self.inits:
                    raise CaptureError(f"variable {name!r} is changed in place by a loop over arrays, as another name for its array sees, "
                                       "and names another array after a step")
                elif value is not before and not isinstance(before, Undefined):
                    raise CaptureError(f"variable {name!r} is {described(before)} before the loop and {described(value)} after a step: "
                                       "loops over arrays carry arrays and numbers")
                continue
            if not (isinstance(value, Array) or is_number(value)):
                raise CaptureError(f"variable {name!r} is {described(before)} before the loop and {described(value)} after a step")
            node, init = array_of(value)._node, self.inits[i]
            dtype = joined_type(init, node)
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
        starts = None if condition is None else condition_node(condition, "a loop's condition")
        inputs = (None if count is None else count._node, starts, *(self.inits[i] for i in carried), *arrays, *self.subgraph.captured)
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
