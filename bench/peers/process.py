"""The process of a peer in Python: `PEER.py PROGRAM name=value ...`, with the output of HandWritten.cpp.

It prints `ns N` for each repetition, and at the end `result R`, a number that all peers must agree on. A repetition that is
not timed comes first; what takes long and isn't compiled does without.
"""

import os
import sys
import time


def arguments():
    """(program, {name: number}); rows, cols, reps and threads are always there, and element, a text."""
    given = dict(word.split("=", 1) for word in sys.argv[2:])
    element = given.pop("element", "f64")
    return sys.argv[1], {name: float(text) if "." in text or "e" in text else int(text) for name, text in given.items()} | {
        "element": element}


def limit_processors(threads):
    """For libraries whose threads only follow the processors that a process may use."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def problem_of(program, kernels, sizes):
    from problems import problem  # imports much
    return problem(program, kernels, sizes)


def main(kernels):
    """Runs a program on `kernels`, which know their own problems or those of problems.py; `kernels.compiles` says whether
    what runs first is slower."""
    program, sizes = arguments()
    task = kernels.problem(program, sizes) if hasattr(kernels, "problem") else problem_of(program, kernels, sizes)
    for r in range(0 if kernels.compiles or sizes["reps"] > 1 else 1, sizes["reps"] + 1):
        given = kernels.ready(task.prepare(r))
        start = time.perf_counter_ns()
        out = kernels.ready(task.run(*given))
        stop = time.perf_counter_ns()
        if r > 0:
            print("ns", stop - start)
    print(f"result {task.result(out):.17g}")
