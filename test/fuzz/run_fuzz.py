#!/usr/bin/env python3
"""Runs random programs on the reference and on the native engine and reports every difference, shrunk.

usage: run_fuzz.py [FIRST [COUNT]] [--quick] [--jobs N] [--save FOLDER] [--no-shrink]
       run_fuzz.py --script FILE.dml [--no-shrink]
  FIRST COUNT   seeds of generate_programs.py to run; default 1 200
  --quick       smaller programs, each with one selector in place of all four
  --save        where programs that differ go, shrunk: SEED.dml; default build/fuzz

A program is right if every configuration of the native engine (selector x 1 and 2 threads, half of them with some
passes left out) has the exit status and error text of the reference and prints the same, exactly behind `E` lines and
up to TOLERANCE behind `A` lines, and if for each selector the text does not depend on the threads.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import generate_programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKAMAK = pathlib.Path(os.environ.get("TOKAMAK") or ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak")
SELECTORS = ["none", "all", "no-redundancy", "cost"]
PASSES = ["inline", "constant-propagation", "canonicalize", "cse", "fold-facts", "loop-invariant-code-motion",
          "sink-transpositions", "dead-functions", "fold-sizes", "aggregate-vectors", "absorb-transpositions"]
TOLERANCE = 1e-6
TIMEOUT_SECONDS = 20
TAG = re.compile(r"([EA]) \w+( sum)?")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|Infinity)|NaN")


# ---- running and comparing

def run(path, options):
    """Exit status, stdout and stderr of one run."""
    command = [str(TOKAMAK), "run", str(path), "--quiet", "--color=never", *options]
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_SECONDS, stdin=subprocess.DEVNULL, cwd=path.parent)
    except subprocess.TimeoutExpired:
        return "timeout", "", ""
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def configurations(seed, quick):
    """Lists of options for the native engine; those of one selector stand together."""
    choose = random.Random(seed)
    for position, selector in enumerate(SELECTORS):
        if quick and position != seed % 4:
            continue
        disabled = choose.sample(PASSES, choose.randint(1, 4)) if choose.random() < 0.5 else []
        options = [f"--fusion={selector}"] + (["--disable=" + ",".join(disabled)] if disabled else [])
        for threads in (1, 2):
            yield ["--engine=native", f"--threads={threads}", *options]


def close(expected, actual):
    if expected == actual:
        return True
    a, b = (float(text.replace("Infinity", "inf")) for text in (expected, actual))
    return abs(a - b) <= TOLERANCE * max(1.0, abs(a))


def difference(expected, actual):
    """The first line that differs, or None."""
    exact, place = True, ""
    left, right = expected.splitlines(), actual.splitlines()
    for a, b in zip(left, right):
        tag = TAG.fullmatch(a)
        if tag:
            exact, place = tag[1] == "E", a
        if a == b:
            continue
        numbers = NUMBER.findall(a), NUMBER.findall(b)
        same = not exact and NUMBER.sub("#", a) == NUMBER.sub("#", b) and all(map(close, *numbers))
        if not same:
            return f"under '{place}': expected {a!r}, got {b!r}"
    return None if len(left) == len(right) else f"{len(left)} lines expected, got {len(right)}"


def same_mistake(found, raised):
    """Static analysis finds before the program starts, maybe with a size unknown, what the reference gets to."""
    pattern = re.escape(found.splitlines()[0] if found else "").replace(r"\?x", r"\d+x").replace(r"x\?", r"x\d+")
    return bool(pattern) and re.match(pattern, raised) is not None


def complaint(path, seed, quick=False, only=None):
    """(options, kind, text) of the first wrong configuration, or None; `only` tries nothing but these options."""
    status, out, err = run(path, ["--engine=reference"])
    if status not in (0, 1, 2):
        return [], "reference", f"the reference ended with {status}\n{err}"
    others = {}
    for options in only or configurations(seed, quick):
        outcome = run(path, options)
        if outcome[0] == 2 and status in (1, 2) and same_mistake(outcome[2], err):
            continue
        if outcome[0] != status:
            kind = "internal" if "internal error" in outcome[2] else "status"
            return options, kind, f"exit status {outcome[0]}, expected {status}\n{outcome[2]}{err}"
        if status != 0 and outcome[2] != err:
            return options, "error", f"error text\n{outcome[2]}expected\n{err}"
        wrong = difference(out, outcome[1])
        if wrong:
            return options, "output", wrong
        if others.setdefault(tuple(options[2:]), outcome[1]) != outcome[1]:
            return options, "threads", "the text depends on the number of threads"
    return None


# ---- shrinking

def pieces(lines):
    """Ranges of lines that can go together, the longest first: single lines, blocks with their braces, runs of lines."""
    ranges = {(i, i + 1) for i in range(len(lines))}
    for length in (2, 4, 8, 16, 32):
        ranges |= {(i, i + length) for i in range(0, len(lines) - length + 1, length // 2)}
    open_at = []
    for i, line in enumerate(lines):
        if line.strip().startswith("}") and open_at:
            ranges.add((open_at.pop(), i + 1))
        if line.rstrip().endswith("{"):
            open_at.append(i)
    return sorted(ranges, key=lambda r: r[0] - r[1])


def without(lines, first, last):
    yield lines[:first] + lines[last:]
    if lines[first].rstrip().endswith("{") and lines[last - 1].strip() == "}":
        inside = lines[first + 1:last - 1]
        yield lines[:first] + inside + lines[last:]
        if "} else {" in [line.strip() for line in inside]:
            middle = [line.strip() for line in inside].index("} else {")
            yield lines[:first] + inside[:middle] + lines[last:]
            yield lines[:first] + inside[middle + 1:] + lines[last:]


def arguments(text):
    """The top-level operands and arguments within one pair of parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        separator = depth == 0 and re.match(r", | (?:[-+*/^<>&|]|%\*%|%%|%/%|==|!=|<=|>=) ", text[i:])
        if separator:
            parts.append(text[start:i])
            start = i + separator.end()
    parts.append(text[start:])
    return [part.split("=", 1)[1] if re.match(r"[\w.]+=[^=]", part) else part for part in parts]


def simpler(line):
    """Versions of a line with one subexpression replaced by an operand of it, or a size by a smaller one."""
    opened = []
    spans = []
    for i, c in enumerate(line):
        if c == "(":
            opened.append(i)
        elif c == ")" and opened:
            spans.append((opened.pop(), i))
    for begin, end in sorted(spans, key=lambda s: s[0] - s[1]):
        name = re.search(r"[\w.]*$", line[:begin]).start()
        if line[:name].strip() in ("", "}") or line[name:begin] in ("if", "while", "for", "function"):
            continue
        for operand in arguments(line[begin + 1:end]):
            yield line[:name] + operand + line[end + 1:]
    for number in re.finditer(r"(?<![\w.])\d{2,}(?![\w.])", line):
        for smaller in (1, 2, 9, int(number[0]) // 2):
            if smaller < int(number[0]):
                yield line[:number.start()] + str(smaller) + line[number.end():]


def shrink(text, fails):
    """A program as small as can be found for which fails(text) still holds."""
    lines, changed = text.splitlines(), True
    while changed:
        changed = False
        for first, last in pieces(lines):
            if last > len(lines):
                continue
            for candidate in without(lines, first, last):
                if fails("\n".join(candidate) + "\n"):
                    lines, changed = candidate, True
                    break
        for i in range(len(lines)):
            progress = True
            while progress:
                progress = False
                for line in simpler(lines[i]):
                    candidate = lines[:i] + [line] + lines[i + 1:]
                    if fails("\n".join(candidate) + "\n"):
                        lines, changed, progress = candidate, True, True
                        break
    return "\n".join(lines) + "\n"


def shrunk(text, options, kind):
    with tempfile.TemporaryDirectory(prefix="tokamak-fuzz-") as folder:
        path = pathlib.Path(folder) / "program.dml"
        pair = [options] if kind != "threads" else [[*options[:1], f"--threads={n}", *options[2:]] for n in (1, 2)]

        def fails(candidate):
            path.write_text(candidate)
            found = complaint(path, 0, only=pair)
            return found is not None and found[1] == kind
        return shrink(text, fails) if fails(text) else text


# ---- one program, all programs

def quick_test(seed):
    """One program of the short run: None, or what is wrong."""
    wrong = examine(generate_programs.program(seed, small=True), seed, quick=True, shrinking=False)
    return wrong and f"shrunk by: python3 test/fuzz/run_fuzz.py {seed} 1 --quick\n{wrong}"


def examine(text, seed, quick=False, save=None, shrinking=True):
    """None, or a text that says what is wrong with this program and holds it, shrunk."""
    with tempfile.TemporaryDirectory(prefix="tokamak-fuzz-") as folder:
        path = pathlib.Path(folder) / "program.dml"
        path.write_text(text)
        found = complaint(path, seed, quick)
    if not found:
        return None
    options, kind, wrong = found
    small = shrunk(text, options, kind) if shrinking else text
    if save:
        save.mkdir(parents=True, exist_ok=True)
        (save / f"{seed}.dml").write_text(f"# {kind}: {' '.join(options)}\n{small}")
    return f"seed {seed} [{kind}] {' '.join(options)}\n{wrong.rstrip()}\n{small}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("first", nargs="?", type=int, default=1)
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--save", type=pathlib.Path, default=ROOT / "build/fuzz")
    parser.add_argument("--script", type=pathlib.Path)
    parser.add_argument("--no-shrink", action="store_true")
    options = parser.parse_args()

    if options.script:
        wrong = examine(options.script.read_text(), 0, False, None, not options.no_shrink)
        print(wrong or "no difference")
        return 1 if wrong else 0
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        run_one = lambda seed: examine(generate_programs.program(seed, options.quick), seed, options.quick, options.save, not options.no_shrink)
        for done, wrong in enumerate(pool.map(run_one, range(options.first, options.first + options.count))):
            if done % 100 == 99:
                print(f"{done + 1} programs", file=sys.stderr, flush=True)
            if wrong:
                failed += 1
                print(f"FAILED {wrong}", flush=True)
    print(f"{options.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
