"""The cases of ./dev conformance dml: small programs that call one library function each.

test/dml_conformance/cases/NAME.dml holds the cases of the function NAME. A line that begins with ## begins a case and names it; the
rest of the file up to the next such line is its program, which begins with test/dml_conformance/given.dml. Options stand behind the name:

  ## dense
  ## small steps  tolerance=1e-6      numbers may differ by this much, relative to max(1, |number|); 1e-9 where it isn't given
  ## timed  prints=ignored            only what show() and showFrame() print counts
  ## slow  seconds=300                each may take so long; 60 where it isn't given
  ## as drawn  draws=same             only where both run SystemDS's script, which then draws the same numbers
  ## bad: rows differ                 both have to refuse it; a message of stop() must be the same
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "test/dml_conformance"
TOLERANCE = 1e-9
SECONDS = 60
HEAD = re.compile(r"## *(.*?)((?: +\w+=\S+)*) *$")


@dataclasses.dataclass(frozen=True)
class Case:
    function: str
    name: str
    line: int        # of its ## line
    body: str
    tolerance: float = TOLERANCE
    prints: bool = True
    seconds: int = SECONDS
    same_draws: bool = False

    @property
    def bad(self):
        return self.name.startswith("bad")

    @property
    def needs_stand_ins(self):
        return "staging" in self.body or "sherlock" in self.body

    def text(self, given):
        return f"{given}\n{self.body}"


def read(function, text):
    """The cases of one file; ValueError where an option is unknown or text stands before the first case."""
    cases, body, head, options = [], [], None, {}

    def finish():
        if head is not None:
            cases.append(Case(function, head[1], head[0], "\n".join(body).strip() + "\n", **options))

    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("##"):
            finish()
            found = HEAD.match(line)
            options = {}
            for option in found.group(2).split():
                key, value = option.split("=")
                if key == "tolerance":
                    options[key] = float(value)
                elif key == "seconds":
                    options[key] = int(value)
                elif option == "draws=same":
                    options["same_draws"] = True
                elif option == "prints=ignored":
                    options["prints"] = False
                else:
                    raise ValueError(f"{function}.dml:{number}: there is no option {option}")
            head, body = (number, found.group(1)), []
        elif head is not None:
            body.append(line)
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f"{function}.dml:{number}: a program stands before the first ##")
    finish()
    return cases


def given():
    return (FOLDER / "given.dml").read_text()


def load():
    """{function: its cases}, in alphabetical order."""
    files = sorted((FOLDER / "cases").glob("*.dml"), key=lambda path: path.stem.lower())
    return {path.stem: read(path.stem, path.read_text()) for path in files}
