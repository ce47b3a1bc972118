#!/usr/bin/env python3
"""Runs the DML that documents hold, on both engines.

usage: documented_dml.py [FILTER]
       documented_dml.py --peers [--r PROGRAM] [--python PROGRAM]   compares it with the R or Python beside it, too

A block that opens with ```dml (or ```r dml, where readers see colours) is a program. Where the line "prints" and a plain block
follow, it must print just that. A block that opens with ```dml given, one in a document at most, defines what its tables use.
In a table whose second column is named DML every code span of that column is run, each after those above it: a statement, or
an expression.

--peers takes what stands beside: in tables the first column, before programs the block in another language, and ```r given or
```python given for the tables. It compares what expressions give, and what programs print, but for random numbers and what
each language shows in its own way. It is no part of the tests: they need neither R nor NumPy.
"""

import argparse
import dataclasses
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import standalone

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ENGINES = ("reference", "native")
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
class Program:
    line: int
    title: str  # of the part of the document
    text: str
    theirs: str  # the program in another language before it, or ""
    printed: object  # what the document says that it prints, or None


@dataclasses.dataclass
class Page:
    path: pathlib.Path
    given: dict  # by language
    tables: list  # of (title of the part of the document, rows)
    programs: list


def spans(cell):
    return [match.group(2).replace("\\|", "|").strip() for match in SPAN.finditer(cell)]


def read_page(path):
    page = Page(path, {}, [], [])
    lines = path.read_text().splitlines()
    theirs, program, number, inside_table, title = "", None, 0, False, "opening"
    while number < len(lines):
        line, begins = lines[number], number + 1
        if line.startswith("```"):
            words = line[3:].split()
            end = next(i for i in range(number + 1, len(lines)) if lines[i].startswith("```"))
            text = "".join(each + "\n" for each in lines[number + 1:end])
            number = end
            if len(words) == 2 and words[1] == "given":
                page.given[words[0]] = text
            elif words in (["dml"], ["r", "dml"]):
                program = Program(begins, title, text, theirs, None)
                page.programs.append(program)
            elif words in (["r"], ["python"]):
                theirs = text
            elif not words and program and "".join(lines[after:begins - 1]).strip() == "prints":
                program.printed = text
            if words != ["r"] and words != ["python"]:
                theirs = ""
            after = end + 1
        elif line.startswith("#"):
            title = re.sub(r"[^a-z0-9]+", "-", line.lower()).strip("-")
        elif line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not inside_table:
                inside_table = True
                ours = len(cells) > 1 and cells[1] == "DML"
                if ours:
                    page.tables.append((title, []))
            elif ours and not cells[0].startswith("--"):
                page.tables[-1][1].append(Row(begins, spans(cells[0]), spans(cells[1])))
        if not line.startswith("|"):
            inside_table = False
        number += 1
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


def program_is_right(page, program):
    for engine in ENGINES:
        done = run_dml(program.text, engine)
        where = f"{page.path.relative_to(ROOT)}:{program.line} ({engine})"
        if done.returncode != 0 or done.stderr:
            return f"{where}: exit status {done.returncode}\n{done.stderr[-3000:]}"
        if program.printed is not None and done.stdout.rstrip() != program.printed.rstrip():
            return f"{where}: the program prints\n{done.stdout}and the document says\n{program.printed}"
    return None


def discover():
    """{name of the test: what runs it}"""
    tests = {}
    for path in DOCUMENTS:
        page = read_page(path)
        name = f"documents/{path.relative_to(ROOT).with_suffix('')}"
        runs = [(f"table-{title}", lambda page=page, table=table: table_is_right(page, table)) for title, table in page.tables]
        runs += [(f"program-{program.title}", lambda page=page, program=program: program_is_right(page, program))
                 for program in page.programs]
        for part, run in runs:
            same = sum(test.startswith(f"{name}/{part}") for test in tests)
            tests[f"{name}/{part}" + (f"-{same + 1}" if same else "")] = run
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


def compare_with_peers(page, programs):
    """Prints where the code beside DML fails or gives something else; how often that happened."""
    language = "r" if "r" in page.given else "python"
    failed = compared = 0
    for _, table in page.tables:
        text, _ = table_script(page, table)
        ours = values(run_dml(text, "native").stdout)
        lines = [SHOW[language], page.given[language]]
        for row in table:
            for code in row.theirs[:1]:
                lines.append(code if THEIR_STATEMENT.match(code) else f'show_value("{row.line}", {code})')
        done = run_theirs(language, "\n".join(lines) + "\n", programs)
        if done.returncode != 0:
            failed += 1
            print(f"{page.path.name}: {language} fails:\n{done.stdout[-200:]}{done.stderr[-1500:]}")
        theirs = values(done.stdout)
        for row in table:
            mine = ours.get(str(row.line))
            if mine is None or str(row.line) not in theirs or UNLIKE.search(" ".join(row.theirs + row.ours)):
                continue
            compared += 1
            if not same(mine, theirs[str(row.line)]):
                failed += 1
                print(f"{page.path.name}:{row.line}: {row.ours} gives {mine}\n  {row.theirs} gives {theirs[str(row.line)]}")
    for program in page.programs:
        if program.theirs:
            done = run_theirs(language, program.theirs, programs)
            compared += 1
            if done.returncode != 0 or done.stdout.rstrip() != (program.printed or "").rstrip():
                failed += 1
                print(f"{page.path.name}:{program.line}: the program before it prints\n{done.stdout}{done.stderr[-1500:]}")
    print(f"{page.path.name}: {compared} compared, {failed} failed")
    return failed


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
