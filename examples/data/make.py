"""Writes the data files of this folder from the copies that scikit-learn and networkx ship (python3 make.py, in a virtual
environment with both). Neither Tokamak nor its tests need this: the files are stored."""
import json
import pathlib

import networkx
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris

FOLDER = pathlib.Path(__file__).parent


def write(name, columns, rows, description):
    text = ",".join(columns) + "\n"
    text += "".join(",".join(repr(float(v)).removesuffix(".0") for v in row) + "\n" for row in rows)
    (FOLDER / f"{name}.csv").write_text(text)
    metadata = {
        "data_type": "matrix", "value_type": "double", "rows": len(rows), "cols": len(columns),
        "format": "csv", "header": True, "sep": ",", "description": description,
    }
    (FOLDER / f"{name}.csv.mtd").write_text(json.dumps(metadata, indent=2) + "\n")


cancer = load_breast_cancer()
# scikit-learn codes malignant as 0; here the last column is 1 for malignant and -1 for benign.
write("breast-cancer", [c.replace(" ", "_") for c in cancer.feature_names] + ["malignant"],
      [list(row) + [1 if label == 0 else -1] for row, label in zip(cancer.data, cancer.target)],
      "Breast Cancer Wisconsin (Diagnostic); last column: 1 malignant, -1 benign")

diabetes = load_diabetes(scaled=False)
write("diabetes", list(diabetes.feature_names) + ["progression"],
      [list(row) + [response] for row, response in zip(diabetes.data, diabetes.target)],
      "Diabetes progression after one year (Efron et al. 2004); last column: the response")

iris = load_iris()
write("iris", [c.removesuffix(" (cm)").replace(" ", "_") for c in iris.feature_names] + ["species"],
      [list(row) + [label + 1] for row, label in zip(iris.data, iris.target)],
      "Iris; last column: 1 setosa, 2 versicolor, 3 virginica")

digits = load_digits()
write("digits", [f"pixel_{i // 8}_{i % 8}" for i in range(64)] + ["digit"],
      [list(row) + [label] for row, label in zip(digits.data, digits.target)],
      "Handwritten digits, 8 x 8 pixels from 0 to 16; last column: the digit")

# The graph as a Matrix Market file, both directions stored once; the names as a list, line i for node i.
graph = networkx.les_miserables_graph()
names = sorted(graph)
number = {name: i + 1 for i, name in enumerate(names)}
edges = sorted((max(number[a], number[b]), min(number[a], number[b]), int(data["weight"]))
               for a, b, data in graph.edges(data=True))
text = "%%MatrixMarket matrix coordinate integer symmetric\n"
text += "% Les Miserables: number of chapters in which two characters appear together (D. Knuth)\n"
text += f"{len(names)} {len(names)} {len(edges)}\n" + "".join(f"{i} {j} {w}\n" for i, j, w in edges)
(FOLDER / "les-miserables.mtx").write_text(text)
(FOLDER / "les-miserables-names.txt").write_text("".join(f"{name}\n" for name in names))
