"""The selectors of fusion beside each other: `./dev bench --selectors`, for "cost chooses well".

Each benchmark runs in turns, one process of each selector after the other. The regret of `cost` is its time divided by
that of the best other selector: above 1, another one chose better. Selectors that form the same operators count 1.
"""

import os
import re
import statistics
import subprocess

import against
from against import ROOT, TOKAMAK

SELECTORS = ("cost", "all", "no-redundancy", "patterns", "none")
# Numbers of blocks, and times, say nothing about which operators there are.
VOLATILE = re.compile(r"fusion of block \S+|[\d.]+ us|predicted .*")


def run(benchmark, selector, options):
    done = subprocess.run(against.command(TOKAMAK, ROOT / f"bench/programs/{benchmark.program}.dml",
                                          benchmark.arguments(),
                                          ["--threads=1", f"--fusion={selector}", *options]),
                          cwd=ROOT, capture_output=True, text=True, env={**os.environ, "TOKAMAK_CACHE": "off", "TOKAMAK_TIER": "compile-first"})
    if done.returncode != 0:
        raise RuntimeError(f"{benchmark.name} --fusion={selector}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done


def operators(benchmark, selector):
    """The operators that a selector forms, as text."""
    lines, keep = [], False
    for line in run(benchmark, selector, ["--explain=fusion"]).stderr.splitlines():
        keep = line == "  operators" or (keep and line.startswith("  "))
        if keep:
            lines.append(VOLATILE.sub("", line))
    return "\n".join(lines)


def report(benchmarks, rounds, say):
    print("| benchmark | " + " | ".join(f"{s} ms" for s in SELECTORS) + " | regret of cost |\n|---|" + "--:|" * (len(SELECTORS) + 1))
    regrets = []
    for benchmark in benchmarks:
        formed = {selector: operators(benchmark, selector) for selector in SELECTORS}
        times = {selector: [] for selector in SELECTORS}
        for number in range(rounds):
            say(f"  {benchmark.name}, round {number + 1} of {rounds}")
            for selector in SELECTORS:
                times[selector] += [int(line.split()[1]) for line in run(benchmark, selector, []).stdout.splitlines()
                                    if line.startswith("ns ")]
        medians = {selector: statistics.median(times[selector]) / 1e6 for selector in SELECTORS}
        others = [medians["cost"] if formed[s] == formed["cost"] else medians[s] for s in SELECTORS[1:]]
        regrets.append(medians["cost"] / min(others))
        print(f"| {benchmark.name} | " + " | ".join(f"{medians[s]:.2f}" for s in SELECTORS) + f" | {regrets[-1]:.2f} |",
              flush=True)
    if regrets:
        mean = against.geometric_mean([max(regret, 1) for regret in regrets])
        print("| geometric mean, where it is above 1 |" + " |" * len(SELECTORS) + f" {mean:.3f} |")
    return 0
