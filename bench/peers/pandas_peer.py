"""The pandas peer: pandas_peer.py FILE reads a csv file with the C engine, with the output of read-csv.dml."""

import sys
import time

import pandas as pd


def main():
    start = time.perf_counter_ns()
    frame = pd.read_csv(sys.argv[1], header=None, engine="c")
    print("ns", time.perf_counter_ns() - start)
    print(f"result {frame.to_numpy().sum():.17g}")


main()
