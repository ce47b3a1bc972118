#!/usr/bin/env python3
"""Runs the DML in tables of equivalents, on both engines, and the R or Python beside it.

usage: documented_tables.py [FILTER]
       documented_tables.py --peers [--r PROGRAM] [--python PROGRAM]   compares all of it with what stands beside, programs, too

In a table whose second column is named DML every code span of that column is run, each after those above it: a statement, or
an expression. A block that opens with ```dml given, one in a document at most, defines what its tables use; ```r given or
```python given does so for the first column, which --peers compares: it takes what expressions give, but for random numbers and
what each language shows in its own way. Tests do that with Python, where build/python-venv has what it needs; they need no R.
"""

import argparse
import dataclasses
import functools
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import documented_blocks
import run_interfaces
import standalone
from documented_blocks import ROOT
from run_documents import BUILD, ENGINES

TOKAMAK = BUILD / "bin/tokamak"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SPAN = re.compile(r"(`+)(.+?)\1")
STATEMENT = re.compile(r"\[\w+(, \w+)*\] = |[\w.]+(\[[^=]*\])? (=|\+=|<-) |"
                       r"(if|for|while|parfor|print|write|stop|assert|setwd|source)\b ?\(")
# The same of R and Python.
THEIR_STATEMENT = re.compile(r"[\w., ]+(\[.*\])? (<-|[-+*/]?=) |(if|for|while|print|write|stop|assert|import|def|with|from)\b")
# What is drawn at random, and what each language shows in its own way.
UNLIKE = re.compile(r"rand|sample|runif|rnorm|rpois|read|list\(|class|dtypes|dict\(")


@dataclasses.dataclass
class Row:
    line: int
    theirs: list  # code spans
    ours: list


@dataclasses.dataclass
class Page:
    path: pathlib.Path
    given: dict  # by language
    tables: list  # of (title of the part of the document, rows)


def spans(cell):
    return [match.group(2).replace("\\|", "|").strip() for match in SPAN.finditer(cell)]


def read_page(path):
    page = Page(path, {block.language: block.text for block in documented_blocks.read(path) if block.purpose == "given"}, [])
    inside_table = inside_block = False
    title = "opening"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside_block = not inside_block
        elif line.startswith("#") and not inside_block:
            title = re.sub(r"[^a-z0-9]+", "-", line.lower()).strip("-")
        elif line.startswith("|") and not inside_block:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not inside_table:
                ours = len(cells) > 1 and cells[1] == "DML"
                if ours:
                    page.tables.append((title, []))
            elif ours and not cells[0].startswith("--"):
                page.tables[-1][1].append(Row(number, spans(cells[0]), spans(cells[1])))
        inside_table = line.startswith("|")
    return page


def is_statement(code):
    return bool(STATEMENT.match(code))


def run_in_folder(text, name, command):
    """Runs a program in a folder of its own, in which the examples lie, too."""
    with tempfile.TemporaryDirectory(prefix="tokamak-documents-") as folder:
        (pathlib.Path(folder) / name).write_text(text)
        (pathlib.Path(folder) / "examples").symlink_to(ROOT / "examples")
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def run_dml(text, engine):
    return run_in_folder(text, "script.dml", [TOKAMAK, "run", "script.dml", f"--engine={engine}", "--color=never"])


def table_script(page, table):
    """The script, and for each of its lines the line of the document; what a row gives is printed behind its line in the document."""
    lines = [(0, line) for line in page.given.get("dml", "").splitlines()]
    for row in table:
        for place, code in enumerate(row.ours):
            if is_statement(code):
                lines.append((row.line, code))
            else:
                lines.append((row.line, f"value{row.line}x{place} = {code}"))
                shown = f"toString(value{row.line}x{place}, rows=1000, cols=1000, decimal=12)"
                lines.append((row.line, f'print("@{row.line} " + {shown})'))
    return "".join(line + "\n" for _, line in lines), [number for number, _ in lines]


def table_is_right(page, table):
    text, places = table_script(page, table)
    for engine in ENGINES:
        done = run_dml(text, engine)
        if done.returncode != 0 or done.stderr:
            found = {places[int(number) - 1] for number in re.findall(r"script\.dml:(\d+):", done.stderr)}
            where = ", ".join(f"{page.path.relative_to(ROOT)}:{line}" for line in sorted(found))
            return f"{where} ({engine}):\n{done.stderr[-3000:]}"
    return None


def peers_differ(page, programs):
    return "\n".join(differences(page, programs)[0]) or None


def python_differs(page):
    try:
        python = run_interfaces.interpreter()
    except run_interfaces.make_wheel.Unreachable as error:
        print(f"SKIPPED the Python of {page.path.relative_to(ROOT)}: PyPI can't be reached, where what it needs comes from\n{error}",
              file=sys.stderr)
        return None
    return peers_differ(page, {"python": python})


def discover():
    """{name of the test: what runs it}"""
    tests = {}
    for path in DOCUMENTS:
        page = read_page(path)
        name = f"documents/{path.relative_to(ROOT).with_suffix('')}"
        for title, table in page.tables:
            same = sum(test.startswith(f"{name}/table-{title}") for test in tests)
            tests[f"{name}/table-{title}" + (f"-{same + 1}" if same else "")] = functools.partial(table_is_right, page, table)
        if "python" in page.given:
            tests[f"{name}/python-of-tables"] = functools.partial(python_differs, page)
    return tests


SHOW = {
    "r": """options(digits=15, scipen=100)
show_value <- function(place, value) {
  if (is.data.frame(value)) value <- as.matrix(value)
  if (inherits(value, "dist") || isS4(value)) value <- as.matrix(value)
  if (is.matrix(value) || is.table(value) && length(dim(value)) == 2) value <- t(value)
  if (is.logical(value)) value <- value * 1
  cat("@", place, " ", paste(as.vector(unlist(value)), collapse=" "), "\\n", sep="")
}
""",
    "python": """import numpy as np, scipy, scipy.stats, scipy.linalg, scipy.sparse
def show_value(place, value):
    value = value.toarray() if scipy.sparse.issparse(value) else value
    value = np.asarray(value)
    value = value * 1 if value.dtype == bool else value
    print("@" + place, *(str(each) for each in value.ravel()))
"""}


def run_theirs(language, text, programs):
    program = programs[language]
    return run_in_folder(text, "script", [program, "--file=script"] if language == "r" else [program, "script"])


def values(printed):
    """What follows each "@place": numbers, and words."""
    found = {}
    for part in re.split(r"^@", printed, flags=re.MULTILINE)[1:]:
        place, _, rest = part.partition(" ")
        kept = [line for line in rest.splitlines() if not line.startswith("#")]
        found[place.strip()] = [word for line in kept for word in line.split()]
    return found


def same(ours, theirs):
    return len(ours) == len(theirs) and all(map(same_word, ours, theirs))


def same_word(a, b):
    try:
        a, b = (float({"TRUE": "1", "FALSE": "0", "NA": "nan"}.get(word, word)) for word in (a, b))
    except ValueError:
        return a == b
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) or a != a and b != b


def differences(page, programs):
    """(where the code beside DML fails or gives something else, how many were compared)"""
    language = next(language for language in SHOW if language in page.given)
    wrong, compared = [], 0
    for _, table in page.tables:
        text, _ = table_script(page, table)
        ours = values(run_dml(text, "native").stdout)
        lines = [SHOW[language], page.given[language]]
        for row in table:
            for code in row.theirs[:1]:
                lines.append(code if THEIR_STATEMENT.match(code) else f'show_value("{row.line}", {code})')
        done = run_theirs(language, "\n".join(lines) + "\n", programs)
        if done.returncode != 0:
            wrong.append(f"{page.path.name}: {language} fails:\n{done.stdout[-200:]}{done.stderr[-1500:]}")
        theirs = values(done.stdout)
        for row in table:
            mine = ours.get(str(row.line))
            if mine is None or str(row.line) not in theirs or UNLIKE.search(" ".join(row.theirs + row.ours)):
                continue
            compared += 1
            if not same(mine, theirs[str(row.line)]):
                wrong.append(f"{page.path.name}:{row.line}: {row.ours} gives {mine}\n  {row.theirs} gives {theirs[str(row.line)]}")
    return wrong, compared


def compare_with_peers(page, programs):
    """Prints where tables and programs differ; how often that happened."""
    wrong, compared = differences(page, programs)
    blocks = documented_blocks.read(page.path)
    for block, following in zip(blocks, blocks[1:]):
        if documented_blocks.is_beside(block, following):
            done = run_theirs(block.language, block.text, programs)
            compared += 1
            if done.returncode != 0 or done.stdout.rstrip() != following.printed.text.rstrip():
                wrong.append(f"{block.place()}: the program prints\n{done.stdout}{done.stderr[-1500:]}")
    print("".join(each + "\n" for each in wrong) + f"{page.path.name}: {compared} compared, {len(wrong)} failed")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="?", default="")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--r", default="Rscript")
    parser.add_argument("--python", default="python3")
    options = parser.parse_args()
    if options.peers:
        pages = [read_page(path) for path in DOCUMENTS if options.filter in str(path)]
        return 1 if sum([compare_with_peers(page, vars(options)) for page in pages if page.given]) else 0
    tests = {name: run for name, run in discover().items() if options.filter in name}
    failed = standalone.failures(tests)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
