#!/usr/bin/env python3
"""Runs the blocks of code in README.md, in docs and in the other documents, so that no document shows what doesn't work.

usage: documented_blocks.py [FILTER]
       documented_blocks.py --written   only what can be seen without running: needs no build
       documented_blocks.py --reasons   lists the blocks that aren't run, and why

A block says behind its opening fence what it is:

  sh                     commands, which have to succeed
  python                 a part of the one program that all such blocks of a document are
  dml, or r dml          a program, which runs on both engines (GitHub shows r in colours)
  c, cpp                 a program, built against an installed release; it runs if it has a main
  LANGUAGE file NAME     is written to that file, for later blocks, one of which has to name it
  LANGUAGE in FILE       a part of that file, which an earlier block may have written
  LANGUAGE not run: WHY  isn't run, and why; but ./dev has to have the commands and options that it shows
  r                      R beside the DML that follows, for documented_tables.py --peers; python in that place runs, and has to print
                         the same

A plain block below a line that begins with "prints" is what the block above it prints. Its line … stands for any lines, and a line
that begins with ← is a note to readers. In a block marked text measured, numbers before a unit of time, a rate or % are those of one
machine: any number will do.

All blocks of a document run in order, in a folder that looks like the root of the repository with an empty folder build. Where commands
change to another folder, later blocks run there.
"""

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import re
import select
import subprocess
import sys
import tempfile

import document_links
import run_interfaces
import standalone

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release")
ENGINES = ("reference", "native")
SECONDS = 120  # that a block may take
# Other tests run what these hold: `--level library`, `--level reference`, and a unit test whose name begins with documented
RUN_ELSEWHERE = ("docs/library.md", "docs/language-reference.md", "docs/plan-ir.md")
LANGUAGES = ("sh", "python", "dml", "c", "cpp")
# What a block that runs may ask of ./dev; the others take minutes, or change the checkout.
QUICK_DEV = re.compile(r"\./dev (run\b|\w+ --help|--help)")
BUILT = re.compile(r"build/release/bin/\w")
MEASURED = re.compile(r"\d[\d.,]*(?= ?(?:(?:ns|us|ms|s|GB/s)\b|%))")


@dataclasses.dataclass
class Block:
    path: pathlib.Path
    line: int  # of its opening fence
    language: str
    purpose: str  # "" (to be run), "file", "in", "not run", "given", "measured" or "unknown"
    detail: str  # the file, or the reason
    text: str
    before: str  # what stands between it and the block above
    printed: object = None  # the block that says what it prints

    def place(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    def is_output(self):
        return self.language == "" and self.before.startswith("prints")


PURPOSES = (("", r""), ("file", r"file (\S+)"), ("in", r"in (\S+)"), ("not run", r"not run: (.+)"), ("given", r"given"),
            ("measured", r"measured"))


def read(path):
    """The blocks of a document. A measured block has the language ""."""
    found, between = [], []
    lines = path.read_text().splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = re.match(r"(\s*)(```+)(.*)", line)
        if not fence:
            between.append(line)
            number += 1
            continue
        indent, ticks, words = fence.group(1), fence.group(2), fence.group(3).strip()
        end = next(i for i in range(number + 1, len(lines)) if lines[i].strip() == ticks)
        language, _, rest = words.partition(" ")
        if words.split()[:2] == ["r", "dml"]:
            language, rest = "dml", " ".join(words.split()[2:])
        purpose, detail = next(((name, match.group(1) if match.groups() else "") for name, pattern in PURPOSES
                                if (match := re.fullmatch(pattern, rest.strip()))), ("unknown", rest))
        if purpose == "measured" and language == "text":
            language = ""
        text = "".join(line.removeprefix(indent) + "\n" for line in lines[number + 1:end])
        block = Block(path, number + 1, language, purpose, detail, text, "\n".join(between).strip())
        if block.is_output() and found and not found[-1].is_output():
            found[-1].printed = block
        found.append(block)
        between = []
        number = end + 1
    for block, following in zip(found, found[1:]):  # programs in two languages print the same
        if is_beside(block, following):
            block.printed = following.printed
    return found


def is_beside(block, following):
    return block.language in ("r", "python") and block.purpose == "" and following.language == "dml" and not following.before


#===- what can be seen without running ------------------------------------------------------------------------------------------===

def violations(path):
    """What is wrong with how a document marks its blocks, and with how it names programs of the build."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if BUILT.search(line):
            yield f"{path.relative_to(ROOT)}:{number}: write tokamak, not where it was built: {line.strip()}"
    if str(path.relative_to(ROOT)) in RUN_ELSEWHERE:
        return
    blocks = read(path)
    for number, block in enumerate(blocks):
        if block.purpose == "unknown":
            yield f"{block.place()}: behind the fence stands {block.detail!r}; test/documented_blocks.py says what may"
        elif block.purpose in ("not run", "in", "given") and block.language:
            continue
        elif block.purpose == "file":
            name = pathlib.PurePath(block.detail).name
            if not any(name in later.text for later in blocks[number + 1:]):
                yield f"{block.place()}: no later block names {name}: what is it written for?"
        elif block.language == "r" and number + 1 < len(blocks) and is_beside(block, blocks[number + 1]):
            continue
        elif block.is_output():
            if not number or blocks[number - 1].printed is not block:
                yield f"{block.place()}: which block prints this?"
        elif block.language not in LANGUAGES:
            wrong = f"nothing runs {block.language}" if block.language else "it says no language"
            yield (f'{block.place()}: {wrong}: a block is run, is what a block above it prints ("prints" stands between), or says '
                   '"not run: WHY"')
        elif block.language == "sh":
            yield from (f"{block.place()}: a test can't run this, mark the block \"not run: WHY\": {line}"
                        for line in map(str.strip, block.text.splitlines()) if line.startswith("./dev") and not QUICK_DEV.match(line))


@functools.cache
def help_of(command):
    done = subprocess.run([ROOT / "dev", command, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else None


def unknown_to_dev(block):
    """What a block that isn't run asks of ./dev and doesn't get."""
    for line in block.text.splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["./dev"] and len(words) > 1:
            text = help_of(words[1])
            if text is None:
                yield f"there is no ./dev {words[1]}"
            else:
                yield from (f"./dev {words[1]} --help doesn't have {word}" for word in words[2:]
                            if word.startswith("--") and word.partition("=")[0] not in text)


#===- running -------------------------------------------------------------------------------------------------------------------===

# Reads [place, code] from a line of its input, runs the code, and answers by a line on the descriptor given: what is wrong, or null.
SESSION = """
import json, linecache, os, sys, traceback
answers = os.fdopen(int(sys.argv[1]), "w")
names = {"__name__": "__main__"}
for line in sys.stdin:
    place, code = json.loads(line)
    linecache.cache[place] = (len(code), None, code.splitlines(keepends=True), place)  # captured functions are read from their source
    wrong = None
    try:
        exec(compile(code, place, "exec"), names)
    except BaseException:
        wrong = traceback.format_exc()
    sys.stdout.flush()
    print(json.dumps(wrong), file=answers, flush=True)
"""


class PythonSession:
    """A process that runs the Python blocks of a document, with the wheel of this build."""

    def __init__(self, folder, environment):
        answers, theirs = os.pipe()
        self.output, self.errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen([run_interfaces.interpreter(), "-c", SESSION, str(theirs)], cwd=folder, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=self.output, stderr=self.errors, pass_fds=[theirs])
        os.close(theirs)
        self.answers = os.fdopen(answers)

    def run(self, block):
        """(what is wrong or None, what was printed)"""
        self.output.seek(0, os.SEEK_END)
        begin = self.output.tell()
        try:
            self.process.stdin.write(json.dumps([block.place(), block.text]) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return "the process ended", ""  # in an earlier block
        ready, _, _ = select.select([self.answers], [], [], SECONDS)
        answer = self.answers.readline() if ready else ""
        self.output.seek(begin)
        printed = self.output.read().decode(errors="replace")
        if not answer:
            self.errors.seek(0)
            reason = "the process ended" if ready else f"it took longer than {SECONDS} s"
            return f"{reason}\n{printed}{self.errors.read().decode(errors='replace')[-3000:]}", printed
        return json.loads(answer), printed

    def close(self):
        self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.answers, self.output, self.errors):
            try:
                file.close()
            except BrokenPipeError:
                pass


def python_is_there(block):
    """Whether the package could be installed; if not, says that the block is left out, and what follows it."""
    try:
        run_interfaces.interpreter()
    except run_interfaces.make_wheel.Unreachable as error:
        print(f"SKIPPED {block.place()} and what follows: PyPI can't be reached, where what Python needs comes from\n{error}", file=sys.stderr)
        return False
    return True


def lay_out(folder):
    """Makes the folder look like the root of the repository."""
    for path in ROOT.iterdir():
        if path.name not in ("build", "dev") and not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(BUILD)
    (folder / "dev").write_text(f'#!/bin/sh\nexec "{ROOT}/dev" "$@"\n')
    (folder / "dev").chmod(0o755)


def as_a_reader_has_it(blocks):
    """The environment, with the installed library if the document needs it."""
    environment = {name: value for name, value in os.environ.items() if name != "TOKAMAK_TIER"}
    environment |= {"PATH": f"{BUILD}/bin:{environment['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
    if any("pkg-config" in block.text for block in blocks if not block.purpose):
        place = run_interfaces.prefix()
        environment |= {"PKG_CONFIG_PATH": f"{place}/lib/pkgconfig", "LD_LIBRARY_PATH": f"{place}/lib"}
    return environment


def finished(command, folder, environment, **options):
    """(what is wrong or None, what was printed)"""
    done = run_interfaces.ran(*command, cwd=folder, env=environment, timeout=SECONDS, **options)
    return None if done.returncode == 0 else f"exit status {done.returncode}\n{done.stdout}{done.stderr or ''}"[-3000:], done.stdout


def run_commands(block, folder, environment):
    """What is wrong or None, and the folder in which the next block runs."""
    with tempfile.NamedTemporaryFile("r") as last:
        wrong, printed = finished(["bash", "-e", "-c", f"{block.text}pwd > {last.name}"], folder, environment, capture_output=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return wrong or differs(block, printed), folder if wrong else pathlib.Path(last.read().strip())


def run_dml(block, folder, environment):
    script = folder / "program.dml"
    script.write_text(block.text)
    for engine in ENGINES:
        done = run_interfaces.ran("tokamak", "run", script.name, f"--engine={engine}", "--color=never", cwd=folder, env=environment,
                                  timeout=SECONDS)
        if done.returncode or done.stderr:
            return f"{engine}: exit status {done.returncode}\n{done.stderr[-3000:]}"
        if wrong := differs(block, done.stdout):
            return f"{engine}: {wrong}"
    return None


def run_compiled(block, folder, environment):
    suffix, place = f".{block.language}", run_interfaces.prefix()
    (folder / f"program{suffix}").write_text(block.text)
    build = [*run_interfaces.COMPILERS[suffix], "-Wall", "-Wextra", "-Werror", f"-I{place}/include", f"program{suffix}"]
    if not re.search(r"\bmain\(", block.text):
        return finished([*build, "-fsyntax-only"], folder, environment)[0]
    wrong, _ = finished([*build, "-o", "program", f"-L{place}/lib", "-ltokamak", "-lm", f"-Wl,-rpath,{place}/lib"], folder, environment)
    if wrong:
        return wrong
    wrong, printed = finished(["./program"], folder, environment)
    return wrong or differs(block, printed)


def differs(block, printed):
    """None, or that the document says something else."""
    if block.printed is None:
        return None
    expected = [line.rstrip() for line in block.printed.text.rstrip().splitlines() if not line.lstrip().startswith("←")]
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "…" else line_pattern(line, block.printed.purpose == "measured") + "\n"
                      for line in expected)
    found = "".join(line.rstrip() + "\n" for line in printed.rstrip().splitlines())
    if re.fullmatch(pattern, found):
        return None
    return f"it prints\n{printed}\nand the document says\n{block.printed.text}"


def line_pattern(line, is_measured):
    """Of a measured line, columns of numbers may be narrower and wider."""
    if not is_measured:
        return re.escape(line)
    return " +".join(re.escape(part) for part in re.split(" +", MEASURED.sub("\0", line))).replace(re.escape("\0"), r"\d[\d.,]*")


def quoted_in(block, folder):
    """A block is a part of a file if its lines stand there one after the other, however they are indented."""
    path = folder / block.detail
    if not path.exists():
        return f"there is no file {block.detail}"
    lines = [[line.strip() for line in text.splitlines() if line.strip()] for text in (block.text, path.read_text())]
    wanted, there = lines
    is_there = any(there[i:i + len(wanted)] == wanted for i in range(len(there)))
    return None if is_there else f"these lines don't stand in {block.detail}"


def run_document(path):
    """Runs all blocks of a document in order: None, or what is wrong with some."""
    wrong = list(violations(path))
    if wrong or str(path.relative_to(ROOT)) in RUN_ELSEWHERE:
        return "\n".join(wrong) or None
    blocks = read(path)
    with tempfile.TemporaryDirectory(prefix="tokamak-documents-") as name:
        folder = pathlib.Path(name)
        lay_out(folder)
        environment = as_a_reader_has_it(blocks)
        session = None
        try:
            for block in blocks:
                if block.language == "python" and block.purpose == "" and session is None:
                    if not python_is_there(block):
                        break
                    session = PythonSession(folder, environment)
                if block.language == "sh" and block.purpose == "":
                    found, folder = run_commands(block, folder, environment)
                else:
                    found = run_block(block, folder, environment, session)
                if found:
                    wrong.append(f"{block.place()}: {found}")
        finally:
            if session:
                session.close()
    return "\n".join(wrong) or None


def run_block(block, folder, environment, session):
    """One that isn't commands: None, or what is wrong."""
    if block.purpose == "not run":
        return "\n".join(unknown_to_dev(block)) or None
    if block.purpose == "file":
        (folder / block.detail).parent.mkdir(parents=True, exist_ok=True)
        (folder / block.detail).write_text(block.text)
    elif block.purpose == "in":
        return quoted_in(block, folder)
    elif block.purpose:  # given: documented_tables.py runs it; measured: what another block prints
        return None
    elif block.language == "python":
        wrong, printed = session.run(block)
        return wrong or differs(block, printed)
    elif block.language == "dml":
        return run_dml(block, folder, environment)
    elif block.language in ("c", "cpp"):
        return run_compiled(block, folder, environment)
    return None


def has_blocks(path):
    return "```" in path.read_text()


def overlooked(path):
    """None, or which blocks of a document of test/documents are taken for right: the heading above a block says what is wrong."""
    blocks = read(path)
    if any(block.language == "python" and not python_is_there(block) for block in blocks):
        return None
    report = run_document(path) or ""
    parts = re.split(rf"^{re.escape(str(path.relative_to(ROOT)))}:(\d+): ", report, flags=re.MULTILINE)
    found = {int(line): text for line, text in zip(parts[1::2], parts[2::2])}
    missing = [f"{block.place()}: {block.before.removeprefix('## ')}" for block in blocks
               if block.before.startswith("## ") and block.before.removeprefix("## ") not in found.get(block.line, "")]
    return "\n".join(["not found:", *missing, "found:", report]) if missing else None


def discover():
    """{name of the test: what runs it}, one for each document that has blocks"""
    tests = {f"documents/{path.relative_to(ROOT).with_suffix('')}": lambda path=path: run_document(path)
             for path in document_links.documents() if has_blocks(path)}
    return tests | {f"documents/mistakes-are-found/{path.stem}": lambda path=path: overlooked(path)
                    for path in sorted((ROOT / "test/documents").glob("*.md"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="?", default="")
    parser.add_argument("--written", action="store_true")
    parser.add_argument("--reasons", action="store_true")
    options = parser.parse_args()
    if options.reasons:
        for path in filter(has_blocks, document_links.documents()):
            for block in read(path):
                if block.purpose == "not run":
                    print(f"{block.place()}: {block.language}: {block.detail}")
        return 0
    if options.written:
        wrong = [each for path in document_links.documents() for each in violations(path)]
        print("".join(each + "\n" for each in wrong), end="")
        return 1 if wrong else 0
    tests = {name: run for name, run in discover().items() if options.filter in name}
    failed = standalone.failures(tests)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
