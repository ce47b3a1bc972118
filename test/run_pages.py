#!/usr/bin/env python3
"""Tests of the pages that `tokamak explain --html` writes, looked at in headless Chromium.

usage: run_pages.py [FILTER]
"""

import json
import pathlib
import sys
import tempfile

import command_tests
import standalone
from browser import Browser
from command_tests import script, tokamak

SMALL = "test/pages/five-operators.dml"
MODEL = "--machine-model=test/machine-model.json"


class Opened:
    """The page of a program, in a browser of its own."""

    def __init__(self, program, *options, **view):
        self.program, self.options, self.view = program, options, view

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        page = f"{self.folder.name}/page.html"
        self.output = tokamak("explain", self.program, f"--html={page}", MODEL, *self.options).stdout
        self.browser = Browser()
        return self.browser.open(page, **self.view)

    def __exit__(self, *_):
        self.browser.__exit__()
        self.folder.cleanup()


def program_of(blocks):
    """A program of so many blocks, with 50 operators each where nothing is fused."""
    lines = ["X = rand(rows=200, cols=20, seed=1)", "s = 0"]
    for block in range(blocks):
        lines += [f"a = X * {block + 1}"]
        lines += [f"c{i} = colSums(exp(a * {i + 1} / (1 + abs(X - {i}))))" for i in range(9)]
        lines += ["s = s + sum(" + " + ".join(f"c{i}" for i in range(9)) + ")", "if (s > 1e300) print(s)", "X = X + s / 1e30"]
    return "\n".join([*lines, "print(s > 0)"]) + "\n"


def quiet(page):
    assert page.messages == [], page.messages
    assert len(page.requests) == 1, f"the page loads something: {page.requests}"


def every_operation_is_drawn():
    with Opened(SMALL) as page:
        drawn = page.evaluate("""facts.plans.map(plan => {
            openPlan(plan);
            const graph = document.getElementById("graph");
            return { operations: plan.operations.filter(each => !graph.querySelector(`[data-operation="${each.index}"]`)).length,
                     kernels: plan.operators.filter(each => !each.native && !graph.querySelector(`[data-operator="${each.number}"]`)).length,
                     count: plan.operations.length, members: graph.querySelectorAll("[data-within]").length,
                     expected: plan.operators.filter(each => !each.native).reduce((sum, each) => sum + each.members.length, 0) };
        })""")
        assert sum(each["count"] for each in drawn) >= 10, drawn
        for each in drawn:
            assert each["operations"] == 0 and each["kernels"] == 0, drawn
            assert each["members"] == each["expected"], drawn
        text = page.evaluate("document.body.innerText")
        assert "operators of their own" in text and "ran in" in text, text
        measured = page.evaluate("facts.plans.flatMap(plan => plan.operators).map(each => each.measured?.ns ?? 0)")
        assert len(measured) >= 2 and all(time > 0 for time in measured), measured
        quiet(page)


def refusals_show_under_the_mouse_and_when_selected():
    with Opened(SMALL) as page:
        refused = page.evaluate("""(() => {
            const plan = facts.plans.find(plan => plan.operations.some(each => each.refusals.length > 0));
            openPlan(plan);
            return plan.operations.find(each => each.refusals.length > 0);
        })()""")
        assert "complete only after the last row" in refused["refusals"][0], refused
        page.hover(f'[data-operation="{refused["index"]}"]')
        hint = page.evaluate("(hint => hint.hidden ? '' : hint.innerText)(document.getElementById('hint'))")
        assert refused["refusals"][0].replace("x", "×") in hint.replace("x", "×"), hint
        page.click(f'[data-operation="{refused["index"]}"]')
        details = page.evaluate("document.getElementById('details').innerText")
        assert "complete only after the last row" in details and "Candidates" in details, details
        quiet(page)


def loops_and_assembly_are_added_on_demand():
    with Opened(SMALL) as page:
        page.evaluate("choose({ operator: 0 })")
        titles = page.evaluate("[...document.querySelectorAll('#details summary')].map(each => each.firstChild.textContent)")
        assert titles == ["Schedule", "Loops", "Assembly"], titles
        assert page.evaluate("document.querySelectorAll('#details pre').length") == 0
        page.evaluate("document.querySelectorAll('#details details')[2].scrollIntoView()")
        page.click("#details details:nth-of-type(3) summary")
        text = page.evaluate("new Promise(done => setTimeout(() => done(document.querySelector('#details pre').textContent), 50))")
        assert "ret" in text and "%r" in text, text[:500]
        quiet(page)


def lines_of_the_source_lead_to_what_they_compute():
    with Opened(SMALL) as page:
        assert page.evaluate("document.querySelector('#source [data-line=\"5\"] code').textContent") == "q = t(X) %*% (w * (X %*% v))"
        page.click('#source [data-line="5"]')
        chosen = page.evaluate("state.plan.byIndex.get(state.selected.operation).line")
        assert chosen == 5, chosen
        assert page.evaluate("document.querySelector('#source .selected').dataset.line") == "5"
        assert page.evaluate("document.querySelectorAll('#graph .operation.selected').length") == 1


def the_keyboard_reaches_everything():
    with Opened(SMALL) as page:
        page.press("/")
        page.type("colsums")
        page.press("Enter")
        # sum over the columns of exp(...), whatever its name in the plan
        assert page.evaluate("document.querySelectorAll('#graph .match').length") == 0
        assert page.evaluate("document.getElementById('matches').textContent") == "Nothing found"
        page.evaluate("document.getElementById('search').value = ''")
        page.type("rowSums")
        page.press("Enter")
        found = page.evaluate("state.plan.byIndex.get(state.selected.operation).text")
        assert "rowSums" in found, found
        page.press("Escape")
        page.evaluate("document.querySelector('#graph [tabindex=\"0\"]').focus()")
        visited = set()
        for key in ["ArrowDown"] * 6 + ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowUp"]:
            page.press(key)
            visited.add(json.dumps(page.evaluate("state.selected")))
        assert len(visited) >= 4, visited
        assert page.evaluate("document.activeElement.matches('.selected')"), "what has the focus is selected"
        page.press("Escape")
        assert page.evaluate("state.selected") is None
        quiet(page)


CONTRAST = """(() => {
  const parse = color => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    const shape = element.parentElement.querySelector(":scope > rect");
    if (element instanceof SVGElement && shape) return parse(getComputedStyle(shape).fill);
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const seen = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.textContent.trim()).join("");
    if (text === "" || element.closest("script, style, noscript, [hidden]") || element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(parse(element instanceof SVGElement ? style.fill : style.color)), light(behind(element))];
    seen.push([text, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]);
  }
  return seen;
})()"""


def texts_are_readable_in_light_and_in_dark():
    papers = set()
    for scheme in ("light", "dark"):
        with Opened(SMALL, scheme=scheme) as page:
            for selection in ("null", "{ operator: 0 }", "{ operation: state.plan.operations.find(each => each.refusals.length).index }"):
                page.evaluate(f"choose({selection})")
                seen = page.evaluate(CONTRAST)
                assert len(seen) > 40, len(seen)
                faint = [(text, round(contrast, 2)) for text, contrast in seen if contrast < 4.5]
                assert not faint, (scheme, faint)
            papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(papers) == 2, papers


# Boxes of operations and pills that overlap, kernels that overlap, and labels that are wider than their boxes.
OVERLAPS = """(() => {
  const graph = document.getElementById("graph");
  const box = element => element.getBoundingClientRect();
  const overlapping = elements => {
    const boxes = elements.map(element => [element, box(element)]), wrong = [];
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
      if (p.left < q.right - 0.5 && q.left < p.right - 0.5 && p.top < q.bottom - 0.5 && q.top < p.bottom - 0.5)
        wrong.push([a.parentElement.textContent, b.parentElement.textContent]);
    }));
    return wrong;
  };
  const shapes = [...graph.querySelectorAll(".operation > rect, .pill > rect")];
  const hulls = [...graph.querySelectorAll(".hull > .outline, .outside > rect")];
  const texts = [...graph.querySelectorAll(".operation, .pill")].filter(each => [...each.querySelectorAll("text")]
    .some(text => box(text).width > box(each.querySelector("rect")).width)).map(each => each.textContent);
  const titles = [...graph.querySelectorAll(".hull")].filter(hull => box(hull.querySelector(".title")).right > box(hull.querySelector(".time")).left);
  return [...overlapping(shapes), ...overlapping(hulls), ...texts, ...titles.map(each => each.textContent)];
})()"""


def nothing_overlaps():
    with Opened(SMALL) as page:
        for plan in range(page.evaluate("facts.plans.length")):
            page.evaluate(f"openPlan(facts.plans[{plan}])")
            assert page.evaluate(OVERLAPS) == []
    with Opened("examples/breast-cancer-svm.dml") as page:
        for plan in range(page.evaluate("facts.plans.length")):
            page.evaluate(f"openPlan(facts.plans[{plan}])")
            assert page.evaluate(OVERLAPS) == []
        quiet(page)


def five_hundred_operators_stay_pleasant():
    with tempfile.TemporaryDirectory() as folder:
        program = script(folder, program_of(blocks=10))
        with Opened(program, "--fusion=none") as page:
            operators = page.evaluate("facts.plans.reduce((sum, plan) => sum + plan.operators.length, 0)")
            assert operators >= 500, operators
            for plan in range(page.evaluate("facts.plans.length")):
                page.evaluate(f"openPlan(facts.plans[{plan}])")
                size = page.evaluate("[document.querySelectorAll('#graph *').length, state.plan.operations.length]")
                assert size[0] <= 25 * size[1] + 50, f"only one block is drawn: {size}"
                assert page.evaluate(OVERLAPS) == []
            assert page.evaluate("document.querySelectorAll('*').length") < 4000
            page.evaluate("document.getElementById('search').focus()")
            page.type("c7 =")
            page.press("Enter")
            assert page.evaluate("state.plan.byIndex.get(state.selected.operation).definition.startsWith('c7 =')")
            assert page.evaluate("(box => box.top >= 0 && box.bottom <= innerHeight)(document.querySelector('#graph .selected').getBoundingClientRect())")
            quiet(page)


def times_have_three_digits():
    with Opened(SMALL) as page:
        shown = page.evaluate("[0.4, 999, 1000, 45670, 99960, 999600, 1234567, 2.5e12].map(timeText)")
        expected = ["0 ns", "999 ns", "1.00 µs", "45.7 µs", "100 µs", "1000 µs", "1.23 ms", "2500 s"]
        assert [each.replace("\u00a0", " ") for each in shown] == expected, shown


def narrow_windows_need_no_scrolling_sideways():
    for width in (700, 1000, 1400):
        with Opened(SMALL, width=width, height=800) as page:
            widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], widths


def hostile_texts_are_shown_as_text():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "<img src=x onerror=broken()>.dml"
        program.write_bytes(b"# \xff is no UTF-8, <!-- opens no comment\n" + (command_tests.ROOT / SMALL).read_bytes())
        with Opened(program) as page:
            assert page.evaluate("window.broken") is None
            assert page.evaluate("document.scripts.length") == 2
            assert page.evaluate("document.querySelectorAll('#source b, #source img, header img').length") == 0
            shown = page.evaluate("document.querySelector('#source').textContent")
            assert "</script><script>window.broken = true</script>" in shown and "<!-- opens no comment" in shown, shown
            assert "<img src=x" in page.evaluate("document.getElementById('script').textContent")
            quiet(page)


def a_page_is_written_whole_or_not_at_all():
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        page.write_text("the old one")
        failing = script(folder, "X = rand(rows=3, cols=3, seed=1)\nif (sum(X) > 0) stop(\"enough\")\n")
        assert "enough" in tokamak("explain", failing, f"--html={page}", status=1).stderr
        assert page.read_text() == "the old one"
        assert sorted(each.name for each in pathlib.Path(folder).iterdir()) == ["page.html", "script.dml"]
        errors = tokamak("explain", failing, "--html=/proc/none/page.html", status=2).stderr
        assert "/proc/none" in errors, errors
        assert tokamak("explain", SMALL, f"--html={page}").stdout.startswith("<b>TRUE"), "the program runs and prints"
        assert page.read_text().startswith("<!doctype html>")


def a_page_takes_arguments_as_run_does():
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        program = script(folder, "X = rand(rows=$rows, cols=4, seed=1)\nprint(sum(X * X + X) > 0)\n")
        done = tokamak("explain", program, f"--html={page}", "--threads=1", "--fusion=all", "-nvargs", "rows=37")
        assert done.stdout == "TRUE\n"
        assert '"selector":"all"' in page.read_text() and "37x4" in page.read_text()
        errors = tokamak("explain", program, "--threads=1", "-nvargs", "rows=37", status=2).stderr
        assert "--threads requires --html" in errors, errors
        errors = tokamak("explain", program, f"--html={page}", "--explain=image", "-nvargs", "rows=37", status=2).stderr
        assert "--explain excludes --html" in errors, errors


def discover():
    return {name.replace("commands/", "commands/page/"): test for name, test in command_tests.tests_of(globals()).items()}


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
