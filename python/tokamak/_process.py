"""What holds for all programs in this process: how many threads they use, and the memory of their arrays."""

import operator
import re

from . import _native

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


_threads = None


def set_threads(count):
    """How many threads calls use, of programs that are compiled from now on without `threads`, and of tokamak.library and
    tokamak.learn. None: all cores that the process may use."""
    global _threads
    _threads = checked_threads(count)
    _native.forget_traced_calls()


def checked_threads(count):
    return None if count is None else checked_integer(count, "threads", 1, (1 << 31) - 1)


def checked_integer(number, name, least, most):
    """As an int. Raises TypeError or ValueError, which say what is expected."""
    try:
        number = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} is an integer or None, not {number!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} is at least {least} and at most {most}, not {number}")
    return number


def threads():
    """What set_threads was told."""
    return _threads


def set_memory(limit):
    """The most memory that Tokamak's arrays may take in this process: bytes, a text like "8G", or None for the default, four
    fifths of the machine's."""
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", limit, re.IGNORECASE)
        if not match:
            raise ValueError(f"{limit!r} is no size of memory; write bytes, or a text like '8G'")
        limit = int(float(match.group(1)) * _UNITS[match.group(2).upper()])
    _native.set_memory(0 if limit is None else checked_integer(limit, "the limit of memory in bytes", 1, (1 << 63) - 1))


def memory():
    """What arrays take now, in bytes: {"in use": ..., "kept for reuse": ...}."""
    in_use, cached = _native.memory()
    return {"in use": in_use, "kept for reuse": cached}
