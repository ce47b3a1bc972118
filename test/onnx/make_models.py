"""Writes test/onnx/models: whole models that a test takes. run_onnx.py runs them; results may be off by 1e-4 of the largest cell.

usage: python3 test/onnx/make_models.py [NAME...]     all if none is named; needs the packages onnx and onnxruntime of PyPI and, for what
                                                      exporters write (exported_models.py), torch, onnxscript, scikit-learn and skl2onnx
"""

import pathlib
import shutil
import sys

import case_files

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import models

FOLDER = ROOT / "test/onnx/models"


def recipes():
    """{name: function that gives a model and {input: value}}"""
    import exported_models
    return {name: recipe.make for name, recipe in models.SMALL.items()} | exported_models.RECIPES


def main():
    found = recipes()
    for name in sys.argv[1:] or found:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        case_files.write(FOLDER / name, *found[name]())


main()
