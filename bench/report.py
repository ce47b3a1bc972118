"""The table that ./dev bench prints, in Markdown, and the same as JSON (build/bench.json)."""

import json
import os
import pathlib
import platform

from peer_commands import PEERS, ROOT

REPORT = ROOT / "build/bench.json"
GROUP_NAMES = {"best other": "the best other", "best of all": "the best", "best SystemDS": "the better SystemDS"}


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def write_json(options, load, speeds, measured):
    """What has been measured so far, in place of what the file held."""
    REPORT.parent.mkdir(exist_ok=True)
    beside = REPORT.with_suffix(".part")
    beside.write_text(json.dumps({
        "processor": processor(), "cores": os.cpu_count(), "load_before": load, "quick": options.quick,
        "read_gigabytes_per_second": speeds.read, "product_gigaflops": speeds.flops, "gather_nanoseconds": speeds.gather,
        **measured}, indent=2) + "\n")
    beside.replace(REPORT)


def number(value, form=".2f"):
    return "–" if value is None else format(value, form)


def missed(bound):
    text = f"{GROUP_NAMES.get(bound['peer'], bound['peer'])} {bound['ratio']:.2f} < {bound['least']:g}"
    return text + (f" (no program: > {bound['largest_possible']:.2f})" if "largest_possible" in bound else "")


def verdict(entry):
    """What became of the bounds of a row."""
    parts = [f"error: {', '.join(entry['errors'])}"] if entry["errors"] else []
    bounds = entry.get("bounds", [])
    failures = [missed(bound) for bound in bounds if not bound["met"]]
    if failures:
        parts.append("MISSED " + "; ".join(failures))
    if len(failures) < len(bounds):
        parts.append(f"met {len(bounds) - len(failures)}")
    return ", ".join(parts)


def table(entries, speeds):
    """A line for each row and number of threads: milliseconds of Tokamak, and of each peer its time divided by that."""
    columns = [p for p in PEERS if any(p in e["milliseconds"] or p in e["absent"] for e in entries)]
    lines = ["| row | threads | Tokamak ms | " + " | ".join(columns) + " | least ms | GB/s | GFLOP/s | bounds |",
             "|---|--:|--:|" + "--:|" * len(columns) + "--:|--:|--:|---|"]
    for entry in entries:
        ratios = entry.get("ratio", {})
        cells = ["absent" if p in entry["absent"] else number(ratios.get(p)) for p in columns]
        lines.append("| " + " | ".join([
            entry["benchmark"], str(entry["threads"]), number(entry["milliseconds"].get("Tokamak"), ".3f"), *cells,
            number(entry.get("least_milliseconds")), number(entry.get("gigabytes_per_second"), ".1f"),
            number(entry.get("gigaflops"), ".1f"), verdict(entry)]) + " |")
    absent = {p: reason for entry in entries for p, reason in entry["absent"].items()}
    lines += ["", "Under a peer stands its time divided by Tokamak's: above 1, Tokamak is faster (bench/README.md)."]
    lines += [f"Absent: {peer}, {reason}" for peer, reason in absent.items()]
    lines += [f"{processor()}.", speeds.text()]
    return "\n".join(lines)
