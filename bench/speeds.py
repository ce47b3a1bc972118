"""How fast this machine reads memory, multiplies and gathers, and so the time below which no program comes."""

import statistics

from measuring import self_timed
from peer_commands import CPP, ROOT, VENV, environment, installed


def bandwidth(threads, cells):
    """Bytes a nanosecond that are read from memory."""
    ns, _ = self_timed([CPP / "hand-written", "bandwidth", f"rows={cells // 100}", "cols=100", "reps=9", f"threads={threads}"],
                       environment(threads))
    return cells * 8 / min(ns)


def flop_rate(threads):
    """What NumPy's product of dense matrices reaches, in GFLOP/s; None without NumPy."""
    if not installed(("numpy", "scipy")):
        return None
    ns, _ = self_timed([VENV / "bin/python", ROOT / "bench/peers/numpy_peer.py", "square-product", "rows=2000", "cols=2000",
                        "reps=3", f"threads={threads}"], environment(threads))
    return 2 * 2000**3 / min(ns)


def gather_time(count):
    """Nanoseconds for one of many independent reads from random places of 8 MB."""
    ns, _ = self_timed([CPP / "hand-written", "gathers", f"rows={count}", "cols=1", "reps=5", "threads=1"], environment(1))
    return statistics.median(ns) / count


class Speeds:
    def __init__(self, threads, quick, gathers):
        self.read = {t: bandwidth(t, 2_000_000 if quick else 60_000_000) for t in threads}
        self.flops = {t: flop_rate(t) for t in threads}
        self.gather = gather_time(1_000_000 if quick else 20_000_000) if gathers else 0

    def add_least_time(self, row, entry):
        """To read memory, to multiply, or to gather, whichever is longest."""
        threads = entry["threads"]
        rate = (self.flops[threads] or float("inf")) * (2 if row.element == "f32" else 1)
        least = max(row.least_bytes() / self.read[threads], row.flops / rate, row.gathers * self.gather / threads) / 1e6
        if least <= 0:
            return
        entry["least_milliseconds"] = least
        if least > min(entry["milliseconds"].values(), default=0):
            return  # arrays that partly stay in the caches are read faster than that
        for bound in entry.get("bounds", []):
            if not bound["met"]:
                bound["largest_possible"] = bound["ratio"] * entry["milliseconds"]["Tokamak"] / least

    def text(self):
        lines = ["Memory read at " + ", ".join(f"{rate:.1f} GB/s ({t} threads)" for t, rate in self.read.items()) + "."]
        if all(self.flops.values()):
            lines.append("Products of dense matrices by OpenBLAS: " +
                         ", ".join(f"{rate:.1f} GFLOP/s ({t} threads)" for t, rate in self.flops.items()) + ".")
        if self.gather:
            lines.append(f"Reads from random places of 8 MB: {self.gather:.2f} ns each.")
        return "\n".join(lines)
