"""Links in Markdown within the repository lead to files and headings that are there."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")


def documents():
    return sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("src/**/README.md")})


def anchors(path):
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def dead_links(path):
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{link}: there is no such heading"


def discover():
    """{name: function that gives None or what is wrong}"""
    def run(path):
        return "\n".join(dead_links(path)) or None
    return {f"links/{path.relative_to(ROOT)}": lambda path=path: run(path) for path in documents()}
