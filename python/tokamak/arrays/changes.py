"""Changes of arrays in place, by x[...] = and x += , while a function is captured: which are part of a loop or a branch, and of which
arrays nobody knows then whether they changed.

    with Capture():                       # arrays that were there before stay as they are
        with Region() as region:          # a branch, or a step of a loop
            ...
        region.changed                    # [(array, node before)]: arrays that were there before it
        region.undo()

After a branch a variable may name one array or another. Where the one is changed then, the other has an unknown node, and whoever
computes with that is told why it can't be captured."""

import threading
import weakref

from .. import _native
from . import graph
from .graph import CaptureError

_scopes = threading.local()


class _Scope:
    def __init__(self):
        self.mark = _native.next_serial()

    def __enter__(self):
        _stack().append(self)
        return self

    def __exit__(self, *_):
        _stack().pop()


class Capture(_Scope):
    """While a function is captured."""

    def __init__(self):
        super().__init__()
        self._related = {}  # id of an array -> (a weak reference of it, [those of others that may be the same])

    def relate(self, array, other):
        known = self._related.get(id(array))
        if known is None or known[0]() is not array:
            known = self._related[id(array)] = weakref.ref(array), []
        known[1].append(weakref.ref(other))

    def relatives(self, array):
        found, waiting = {id(array): array}, [array]
        while waiting:
            each = waiting.pop()
            itself, others = self._related.get(id(each), (None, ()))
            for other in [reference() for reference in others] if itself is not None and itself() is each else ():
                if other is not None and id(other) not in found:
                    found[id(other)] = other
                    waiting.append(other)
        return list(found.values())[1:]


class Region(_Scope):
    """While a branch or a step of a loop is captured."""

    def __init__(self):
        super().__init__()
        self._before = {}

    @property
    def changed(self):
        return list(self._before.values())

    def note(self, array):
        if array._serial < self.mark:
            self._before.setdefault(id(array), (array, array._node))

    def undo(self):
        for array, node in self._before.values():
            array._node = node


def _stack():
    return _scopes.__dict__.setdefault("stack", [])


def _current():
    """(the capture of this thread or None, its regions)"""
    stack = _stack()
    first = next((i for i in reversed(range(len(stack))) if isinstance(stack[i], Capture)), None)
    return (None, []) if first is None else (stack[first], stack[first + 1:])


def is_in_region():
    return bool(_stack()) and isinstance(_stack()[-1], Region)


def give(array, node):
    """The array stands for another node from now on, as after x[...] = and x += . Those that may be the same stand for an unknown one."""
    if not _stack():
        array._node = node
        return
    for each in relatives(array):
        put(each, unknown(each._node))
    put(array, node)


def put(array, node):
    """The same, of one array alone: after a branch or a loop, which have seen to the others."""
    capture, regions = _current()
    if array._serial < capture.mark:
        raise CaptureError("an array from outside of the function is changed, which would happen once, when it is captured, and not when "
                           "it runs: return what it becomes, and assign that outside")
    for region in regions:
        region.note(array)
    array._node = node


def unknown(node):
    """What stands for the cells of an array that may have changed."""
    made = graph.Node("unknown", (), node.dtype, node.shape, "an array is used that a loop or branch over arrays may have changed by "
                      "another name for it, or not: use one name, or copy it before, as by copy = tk.asarray(x, copy=True)")
    made.is_traced = True
    return made


def is_unknown(node):
    return node.op == "unknown"


def relate(array, other):
    """From now on they may be the same."""
    capture, _ = _current()
    if capture is None or array is other:
        return
    for each in (other, *capture.relatives(other)):  # which may outlive the other
        if each is not array:
            capture.relate(array, each)
            capture.relate(each, array)


def relatives(array):
    """Other arrays that it may be the same as."""
    capture, _ = _current()
    return [] if capture is None else capture.relatives(array)
