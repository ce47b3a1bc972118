"""The selectors of fusion beside each other: `./dev bench --selectors`, for "cost chooses well".

Each benchmark runs in turns, one process of each selector in every round, in random order. The regret of `cost` is its time divided by
that of the best other selector: above 1, another one chose better. Selectors that form the same operators count 1. The regret of
the fastest runs stands beside that of the medians: where only the latter is above 1, the machine was disturbed.
Ones that a first run shows to be far behind are not run again, so that large programs take minutes and not hours.
"""

import os
import random
import re
import statistics
import subprocess
import time

import against
from against import ROOT, TOKAMAK

SELECTORS = ("cost", "all", "no-redundancy", "patterns", "none")
# Numbers of blocks, and times, say nothing about which operators there are.
VOLATILE = re.compile(r"fusion of block \S+|[\d.]+ us|predicted .*")
# A selector whose first run takes more than so many times as long as that of `cost` can't be the best: it isn't run again.
HOPELESS = 2
# Whole processes, which also make the data: no other selector may take longer than so many times `cost`, or seconds.
PROCESS_TIMES, PROCESS_SECONDS = 4, 30


def run(benchmark, selector, options, seconds=None):
    """What a process printed; None if it took longer than so many seconds."""
    try:
        done = subprocess.run(against.command(TOKAMAK, ROOT / f"bench/programs/{benchmark.program}.dml",
                                              benchmark.arguments(),
                                              ["--threads=1", f"--fusion={selector}", *options]),
                              cwd=ROOT, capture_output=True, text=True, timeout=seconds,
                              env={**os.environ, "TOKAMAK_CACHE": "off", "TOKAMAK_TIER": "compile-first"})
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        raise RuntimeError(f"{benchmark.name} --fusion={selector}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done


def operators(explanation):
    """The operators that a selector forms, as text."""
    lines, keep = [], False
    for line in explanation.splitlines():
        keep = line == "  operators" or (keep and line.startswith("  "))
        if keep:
            lines.append(VOLATILE.sub("", line))
    return "\n".join(lines)


def nanoseconds(done):
    return [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("ns ")]


def tried(benchmark, say):
    """By selector, from one run of each: the operators that it forms and its time; without those that take too long."""
    formed, first, limit = {}, {}, None
    for selector in SELECTORS:
        say(f"  {benchmark.name}, --fusion={selector}")
        begin = time.monotonic()
        done = run(benchmark, selector, ["--explain=fusion"], limit)
        limit = limit or max(PROCESS_SECONDS, PROCESS_TIMES * (time.monotonic() - begin))
        if done:
            formed[selector], first[selector] = operators(done.stderr), statistics.median(nanoseconds(done))
    return formed, first


def regret(times, same):
    """What `cost` takes, divided by the best other selector; those of `same` form the same operators."""
    others = [times["cost"] if selector in same else times[selector] for selector in times if selector != "cost"]
    return times["cost"] / min(others, default=HOPELESS * times["cost"])


def report(benchmarks, rounds, say):
    columns = [*(f"{selector} ms" for selector in SELECTORS), "regret of cost", "of the fastest runs"]
    print("| benchmark | " + " | ".join(columns) + " |\n|---|" + "--:|" * len(columns))
    regrets = []
    for benchmark in benchmarks:
        formed, first = tried(benchmark, say)
        times = {selector: [] for selector in first if first[selector] <= HOPELESS * first["cost"]}
        for number in range(rounds):
            say(f"  {benchmark.name}, round {number + 1} of {rounds}")
            # In another order each time: which memory a process leaves to the next one depends on its selector, and on a
            # virtual machine some memory is slower by a fifth.
            for selector in random.Random(number).sample(list(times), len(times)):
                times[selector] += nanoseconds(run(benchmark, selector, []))
        medians = {selector: statistics.median(times[selector]) for selector in times}
        # What disturbs a run only makes it slower. Medians of the same operators differ by chance, their fastest runs hardly.
        fastest = {selector: min(times[selector]) for selector in times}
        same = {selector for selector in times if formed[selector] == formed["cost"]}
        regrets.append(regret(medians, same))

        def cell(selector):
            if selector in medians:
                return f"{medians[selector] / 1e6:.2f}"
            return f"once {first[selector] / 1e6:.0f}" if selector in first else "too long"
        cells = [*map(cell, SELECTORS), f"{regrets[-1]:.2f}", f"{regret(fastest, same):.2f}"]
        print(f"| {benchmark.name} | " + " | ".join(cells) + " |", flush=True)
    if regrets:
        mean = against.geometric_mean([max(each, 1) for each in regrets])
        print("| geometric mean, where it is above 1 |" + " |" * len(SELECTORS) + f" {mean:.3f} | |")
    return 0
