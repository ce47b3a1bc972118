"""Links in Markdown within the repository lead to files and headings that are there, and docs/README.md leads to every document."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / "docs"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def documents():
    folders = ("*.md", "docs/**/*.md", "*/README.md", "src/**/README.md", "examples/**/README.md")
    return sorted({path for pattern in folders for path in ROOT.glob(pattern)})


def anchors(path):
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links(path):
    """(link, the file it leads to, the heading) of those within the repository."""
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for link in LINK.findall(text):
        if not re.match(r"[a-z]+:", link):
            file, _, anchor = link.partition("#")
            yield link, (path.parent / file).resolve() if file else path, anchor


def dead_links(path):
    for link, target, anchor in links(path):
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{link}: there is no such heading"


def unreachable():
    """Documents under docs to which no way leads from docs/README.md over documents under docs."""
    reached, waiting = set(), [SITE / "README.md"]
    while waiting:
        path = waiting.pop()
        if path not in reached and path.suffix == ".md" and path.is_relative_to(SITE) and path.exists():
            reached.add(path)
            waiting += [target for _, target, _ in links(path)]
    for path in sorted(set(SITE.rglob("*.md")) - reached):
        yield f"{path.relative_to(ROOT)}: no way leads there from docs/README.md"


def discover():
    """{name: function that gives None or what is wrong}"""
    def run(path):
        return "\n".join(dead_links(path)) or None
    return {"links/every-document-is-reached": lambda: "\n".join(unreachable()) or None,
            **{f"links/{path.relative_to(ROOT)}": lambda path=path: run(path) for path in documents()}}
