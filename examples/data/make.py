"""Writes breast-cancer.csv and diabetes.csv from the copies that scikit-learn ships (python3 make.py, in a virtual
environment with scikit-learn). Neither Tokamak nor its tests need this: the files are stored."""
import json
import pathlib

from sklearn.datasets import load_breast_cancer, load_diabetes

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
