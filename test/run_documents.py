#!/usr/bin/env python3
"""Runs the blocks of code in README.md, in docs and in the other documents, so that no document shows what doesn't work.

usage: run_documents.py [FILTER]

documented_blocks.py says how blocks are marked. All blocks of a document run in order, in a folder that looks like the root of the
repository with an empty folder build; where commands change to another folder, later blocks run there.
"""

import functools
import json
import os
import pathlib
import re
import select
import subprocess
import sys
import tempfile

import run_interfaces
import standalone
from documented_blocks import ROOT, RUN_ELSEWHERE, documents, read, violations

BUILD = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release")
ENGINES = ("reference", "native")
SECONDS = 120  # that a block may take
# Documents with mistakes, which have to be found: the heading above a block says what has to be said of it.
MISTAKES = sorted((ROOT / "test/documents").glob("*.md"))
MEASURED = re.compile(r"\d[\d.,]*(?= ?(?:(?:ns|us|ms|s|GB/s)\b|%))")


# Reads [folder, place, code] from a line of its input, runs the code, and answers by a line on the descriptor given: what is wrong, or
# null.
SESSION = """
import json, linecache, os, sys, traceback
answers = os.fdopen(int(sys.argv[1]), "w")
names = {"__name__": "__main__"}
for line in sys.stdin:
    folder, place, code = json.loads(line)
    os.chdir(folder)
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

    def __init__(self, environment):
        answers, theirs = os.pipe()
        self.output, self.errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen([run_interfaces.interpreter(), "-c", SESSION, str(theirs)], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=self.output, stderr=self.errors, pass_fds=[theirs])
        os.close(theirs)
        self.answers = os.fdopen(answers)

    def run(self, block, folder):
        """(what is wrong or None, what was printed)"""
        self.output.seek(0, os.SEEK_END)
        begin = self.output.tell()
        try:
            self.process.stdin.write(json.dumps([str(folder), block.place(), block.text]) + "\n")
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
        print(f"SKIPPED {block.place()} and what follows: PyPI can't be reached, where what Python needs comes from\n{error}",
              file=sys.stderr)
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
        return "it has no main, and prints nothing" if block.printed else finished([*build, "-fsyntax-only"], folder, environment)[0]
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
                    session = PythonSession(environment)
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
        wrong, printed = session.run(block, folder)
        return wrong or differs(block, printed)
    elif block.language == "dml":
        return run_dml(block, folder, environment)
    elif block.language in ("c", "cpp"):
        return run_compiled(block, folder, environment)
    return None


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


def overlooked(path):
    """None, or which mistakes in a document weren't found."""
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
             for path in documents()}
    return tests | {f"documents/mistakes-are-found/{path.stem}": lambda path=path: overlooked(path) for path in MISTAKES}


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))


