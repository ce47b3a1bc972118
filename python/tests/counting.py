"""What tests of lazy arrays count.

    with Counted() as counted:
        float(tk.sum(x))
    counted.evaluations                      # 1
"""

from tokamak.arrays import graph


class Counted:
    """How many programs are made and how often arrays are evaluated within."""

    def __enter__(self):
        self.before = graph.counts()
        return self

    def __exit__(self, *_):
        after = graph.counts()
        self.programs, self.evaluations = (after[name] - self.before[name] for name in ("programs", "evaluations"))
