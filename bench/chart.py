"""Draws docs/bench.svg: how long each peer takes for the programs of arrays, as multiples of Tokamak's time, from what
`./dev bench python-arrays` has measured.

    chart.write(entries, processor, path)"""

import html

PEERS = {"NumPy": "#4c78a8", "numba": "#f58518", "JAX": "#72b7b2", "torch.compile": "#54a24b"}
OURS = "#d62728"
TITLES = {"kmeans": "k-means", "logistic": "logistic regression", "attention": "attention", "black-scholes": "Black–Scholes",
          "image-filter": "image filter", "product-sum": "sum(x·y·z)"}
PREFIX = "python-arrays-"
LABELS, SCALE, BAR, GAP, TOP, MOST = 150, 56, 13, 16, 64, 8  # pixels; the last in multiples, where bars are cut


def write(entries, processor, path):
    """Raises ValueError if no such row was measured."""
    rows = [entry for entry in entries if entry["benchmark"].startswith(PREFIX) and entry["threads"] == 1 and entry["ratio"]]
    if not rows:
        raise ValueError(f"no row {PREFIX}... was measured with one thread")
    path.write_text(drawn(rows, processor))


def drawn(rows, processor):
    parts, y = [], TOP
    for row in rows:
        bars = [("Tokamak", 1.0, OURS), *((peer, row["ratio"][peer], colour) for peer, colour in PEERS.items() if peer in row["ratio"])]
        middle = y + len(bars) * BAR / 2 + 4
        parts.append(text(LABELS - 10, middle, TITLES[row["benchmark"].removeprefix(PREFIX)], "end"))
        for name, ratio, colour in bars:
            width = min(ratio, MOST) * SCALE
            label = f'{row["milliseconds"]["Tokamak"]:.0f} ms' if name == "Tokamak" else f"{ratio:.1f} ×"
            parts.append(f'<rect x="{LABELS}" y="{y}" width="{width:.1f}" height="{BAR - 2}" fill="{colour}"/>')
            parts.append(text(LABELS + width + 5, y + BAR - 3, label, "start", 11))
            y += BAR
        y += GAP
    height, width = y + 16, LABELS + MOST * SCALE + 60
    legend = [("Tokamak", OURS), *PEERS.items()]
    head = [text(LABELS, 20, "Time of whole programs in Python, as multiples of Tokamak's", "start", 14)]
    x = LABELS
    for name, colour in legend:
        head.append(f'<rect x="{x}" y="34" width="11" height="11" fill="{colour}"/>' + text(x + 16, 44, name, "start", 12))
        x += 90
    foot = text(LABELS, y + 4, f"one thread, {processor}; shorter is faster", "start", 11)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif">\n<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join([*head, *parts, foot]) +
            "\n</svg>\n")


def text(x, y, content, anchor, size=12):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="#222">{html.escape(content)}</text>'
