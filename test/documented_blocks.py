#!/usr/bin/env python3
"""Reads the blocks of code in the documents, which run_documents.py runs, and checks how they are marked.

usage: documented_blocks.py [--reasons]     --reasons lists the blocks that aren't run, and why

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
"""

import dataclasses
import pathlib
import re
import sys

import document_links

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Other tests run what these hold: `./dev test --level library`, `--level reference`, and those that `./dev test documented` names.
RUN_ELSEWHERE = ("docs/library.md", "docs/language-reference.md", "docs/plan-ir.md")
LANGUAGES = ("sh", "python", "dml", "c", "cpp")
PURPOSES = (("", r""), ("file", r"file (\S+)"), ("in", r"in (\S+)"), ("not run", r"not run: (.+)"), ("given", r"given"),
            ("measured", r"measured"))
# What a block that runs may ask of ./dev; the others take minutes, or change the checkout.
QUICK_DEV = re.compile(r"\./dev (run\b|\w+ --help|--help)")
BUILT = re.compile(r"build/release/bin/\w")


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

    def is_run(self):
        return self.purpose == "" and self.language in LANGUAGES

    def is_output(self):
        return self.language == "" and self.before.startswith("prints")


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
        if block.is_output() and found and found[-1].is_run():
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


def violations(path):
    """What is wrong with how a document marks its blocks, and where it says where a program was built, which README.md does, once."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if BUILT.search(line):
            yield f"{path.relative_to(ROOT)}:{number}: write tokamak, not where it was built: {line.strip()}"
    if str(path.relative_to(ROOT)) in RUN_ELSEWHERE:
        return
    blocks = read(path)
    for number, block in enumerate(blocks):
        if block.purpose == "unknown":
            yield f"{block.place()}: behind the fence stands {block.detail!r}; test/documented_blocks.py says what may"
        elif block.purpose in ("not run", "in") and block.language:
            continue
        elif block.purpose == "given":
            if "| DML |" not in path.read_text():
                yield f"{block.place()}: no table has a column DML, for which this is given"
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


def documents():
    """Those that have blocks."""
    return [path for path in document_links.documents() if "```" in path.read_text()]


def main():
    if "--reasons" in sys.argv[1:]:
        blocks = [block for path in documents() for block in read(path) if block.purpose == "not run"]
        print("\n".join(f"{block.place()}: {block.language}: {block.detail}" for block in blocks))
        return 0
    wrong = [each for path in document_links.documents() for each in violations(path)]
    print("".join(each + "\n" for each in wrong) + f"{len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
