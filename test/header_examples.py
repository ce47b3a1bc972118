#!/usr/bin/env python3
"""The example in the comment that opens a header compiles.

usage: header_examples.py [PART...]     prints what is wrong with the headers whose paths contain one of the parts

An example is what the comment indents by three blanks or more. It is C++, in C headers C, unless the line before it ends
with the name of another language and a colon ("In DML:"). Examples become bodies of functions in the header's namespace,
many in one file. What such a function takes as given, its parameters, stands in header_examples/given.txt. Examples may
leave out what a reader doesn't miss: the semicolon after an expression that stands alone, and `...` in place of
statements.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release")
GIVEN = ROOT / "test/header_examples/given.txt"
# Headers whose examples are definitions, which don't stand in functions.
DEFINITIONS = {"src/base/WidestVectors.h", "src/codegen/testing/KernelCompilerFixture.h"}
OTHER_LANGUAGES = re.compile(r"\b(DML|MLIR|TableGen|text|table):$")
DIAGNOSTIC = re.compile(r"^([^\s:]+\.h):(\d+):\d+: (error|note): ")


class Example:
    def __init__(self, path):
        self.path = path
        self.name = path.relative_to(ROOT).as_posix()
        self.text = path.read_text()
        self.is_c = "#ifdef __cplusplus" in self.text
        # Those before the last declare what the header names of others.
        self.namespace = ["tokamak", *re.findall(r"^namespace (tokamak[\w:]*) \{", self.text, re.M)][-1]
        self.lines = {}  # of code, by line number
        language = None
        for number, line in enumerate(self.text.splitlines(), 1):
            if not line.startswith("//"):
                break
            if line.startswith("//   "):
                if not language:
                    self.lines[number] = line[5:]
            elif line != "//":
                language = OTHER_LANGUAGES.search(line)

    def body(self):
        """The code with the line numbers of the header; what examples leave out is added."""
        depth, result = 0, []
        lines = [(number, code) for number, line in self.lines.items() if (code := without_comment(line)).strip()]
        for (number, code), (_, following) in zip(lines, [*lines[1:], (None, "")]):
            code = re.sub(r"(^|\s)\.\.\.(?=\s*(\}|$))", r"\1;", code)
            depth += sum(code.count(c) for c in "([{") - sum(code.count(c) for c in ")]}")
            continues = indent_of(following) > indent_of(code) or re.match(r"\s*\.\w", following)
            if depth == 0 and not continues and not re.search(r"[;{},]$", code.rstrip()):
                code += ";"
            result.append(f'#line {number} "{self.name}"\n{code}\n')
        return "".join(result), depth

    def function(self, number, parameters):
        body, depth = self.body()
        if depth:
            return None
        if self.name in DEFINITIONS:
            return f"namespace {self.namespace} {{ namespace example_{number} {{\nUSING\n{body}}} }}\n"
        # In a block of its own, so that it may use the names of parameters for something else.
        function = f"#line {min(self.lines)} \"{self.name}\"\n[[maybe_unused]] static auto example({', '.join(parameters)}) {{ {{\n{body}}} }}\n"
        if self.is_c:
            return f'#include "{include_of(self.name)}"\nvoid example({", ".join(parameters) or "void"}) {{\n{body}}}\n'
        return f"namespace {self.namespace} {{ namespace example_{number} {{\nUSING\n{function}}} }}\n"


def include_of(name):
    return name.split("/", 1)[1]


def indent_of(line):
    return len(line) - len(line.lstrip())


def without_comment(line):
    return re.sub(r'("(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\')|//.*', lambda m: m.group(1) or "", line)


def read_given():
    """{header or folder: the parameters of the functions around its examples}"""
    given = {}
    for line in GIVEN.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, parameters = line.split(": ", 1)
            given.setdefault(name, []).extend(p.strip() for p in split_parameters(parameters))
    return given


def split_parameters(text):
    """At the commas outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "(<[{") - (c in ")>]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def name_of(parameter):
    return re.search(r"(\w+)(\[\w*\])?$", parameter).group(1)


def parameters_of(example, given):
    """[(scope, parameter)] of the header and the folders around it that the example uses; of each name the innermost."""
    words = set(re.findall(r"\w+", "\n".join(map(without_comment, example.lines.values()))))
    found, path = {}, pathlib.PurePosixPath(example.name)
    for scope in [path, *path.parents]:
        for parameter in given.get(scope.as_posix(), []):
            if name_of(parameter) in words and not (example.is_c and "::" in parameter):
                found.setdefault(name_of(parameter), (scope.as_posix(), parameter))
    return list(found.values())


def compile_flags():
    """[(folder, flags)] from the build, innermost folders first."""
    flags = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        output = words.index("-o")
        folder = pathlib.Path(entry["file"]).parent
        if folder.is_relative_to(ROOT) and "CMakeFiles/tokamak" in words[output + 1]:
            flags.setdefault(folder.relative_to(ROOT).as_posix(), tuple(words[:output]))
    return sorted(flags.items(), key=lambda item: -len(item[0]))


def flags_of(name, flags):
    """Those of the sources beside a header; where there are none (src/abi), of src/base, which knows as little."""
    return next((f for folder, f in flags if name.startswith(folder + "/")), dict(flags)["src/base"])


def compile_all(flags, suffix, text):
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
        file.write(text)
        file.flush()
        # Looking for names like an unknown one can take minutes where there are many.
        command = [*flags, "-w", "-ferror-limit=0", "-fno-caret-diagnostics", "-fno-spell-checking", "-fsyntax-only", file.name]
        done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True)
    return done.stderr if done.returncode == 0 or ": error: " in done.stderr else "clang: error: it failed\n" + done.stderr


def by_header(errors):
    """{header: its errors}, each with its notes. An error belongs to the example that it or a note names, else to the
    header that it is in; what is in neither, and what ends the compilation, belongs to all, under None."""
    found, group = {}, []

    def close():
        names = [m.group(1) for m in map(DIAGNOSTIC.match, group) if m]
        examples = [name for name in names if not name.startswith("/")]
        files = [pathlib.Path(name).relative_to(ROOT).as_posix() for name in names if name.startswith(f"{ROOT}/")]
        if group:
            ends = "fatal error: " in group[0]
            found.setdefault(None if ends else next(iter(examples + files), None), []).extend(group)
    for line in errors.splitlines():
        if re.search(r": (fatal )?error: ", line):
            close()
            group = []
        group.append(line)
    close()
    return found


def check(names):
    """Yields (name, None or what is wrong) for headers by their paths."""
    given, flags = read_given(), compile_flags()
    wrong, batches = {}, {}
    for number, name in enumerate(names):
        example = Example(ROOT / name)
        if not example.lines:
            wrong[name] = "the comment that opens it has no example"
            continue
        function = example.function(number, [parameter for _, parameter in parameters_of(example, given)])
        if function is None:
            wrong[name] = "the brackets of its example don't match"
        elif example.is_c:
            batches[(name,)] = [(example, function)]
        else:
            batches.setdefault(flags_of(name, flags), []).append((example, function))

    def run(batch):
        key, examples = batch
        if examples[0][0].is_c:
            return compile_all(("clang-19", "-std=c11", f"-I{ROOT}/src"), ".c", "#include <stdio.h>\n" + examples[0][1])
        knows_mlir = any("mlir_header" in word for word in key)
        using = "using namespace mlir;" if knows_mlir else ""
        others = ["<iostream>", *(['"llvm/Target/TargetMachine.h"'] if knows_mlir else [])]
        # All headers with these flags, so that an example may use them whichever examples are compiled with it.
        known = [name for name in headers() if flags_of(name, flags) == key]
        includes = "".join(f"#include {other}\n" for other in [*others, *(f'"{include_of(name)}"' for name in known)])
        return compile_all(key, ".cpp", includes + "".join(function.replace("USING", using) for _, function in examples))

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for (key, examples), errors in zip(batches.items(), pool.map(run, batches.items())):
            found = by_header(errors)
            for example, _ in examples:
                lines = found.get(example.name, []) + found.get(None, [])
                wrong[example.name] = "\n".join(["its example doesn't compile", *lines]) if lines else None
    return [(name, wrong[name]) for name in names]


def spare_parameters():
    """Lines of given.txt with names that no example uses."""
    given = read_given()
    used = {entry for name in headers() for entry in parameters_of(Example(ROOT / name), given)}
    return [f"{scope}: no example uses {parameter}" for scope, parameters in given.items()
            for parameter in parameters if (scope, parameter) not in used]


def headers():
    return sorted(p.relative_to(ROOT).as_posix() for folder in ("src", "tools") for p in (ROOT / folder).rglob("*.h"))


def main():
    names = [name for name in headers() if any(part in name for part in sys.argv[1:] or [""])]
    found = [f"{name}: {wrong}" for name, wrong in check(names) if wrong] + spare_parameters()
    print("\n".join(found) or f"{len(names)} examples compile", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
