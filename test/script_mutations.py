"""Mistakes that people make in DML scripts, made on purpose: a name misspelt, an argument dropped, a bracket lost.

A kind of mistake is a function that gets a script's tokens and random numbers, and gives the changed text, or None where the
script has no place for it. mutated_scripts.py runs what comes out.

    text, kind = "x = sum(A)", KINDS["bracket lost"]
    kind(Script(text), random.Random(1))    # "x = sumA)"
"""

import dataclasses
import functools
import re

KEYWORDS = ("as", "else", "for", "function", "if", "ifdef", "in", "parfor", "return", "source", "while")
TYPES = ("int", "double", "boolean", "string", "matrix[double]", "frame[string]", "list[unknown]", "scalar[int]", "matrix[string]")
OPERATORS = ("%*%", "%/%", "%%", "<=", ">=", "==", "!=", "&", "|", "<", ">", "+", "-", "*", "/", "^", "=", "<-", "+=", "!", ":")
BRACKETS = {"(": ")", "[": "]", "{": "}"}
TOKEN = re.compile(r"""(?P<comment>\#[^\n]*|/\*.*?\*/)|(?P<blank>\s+)|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<argument>\$\w+)|(?P<name>[A-Za-z]\w*(?:(?:::|\.)[A-Za-z]\w*)*)
    |(?P<sign>%\*%|%/%|%%|<-|<=|>=|==|!=|\+=|&&|\|\||.)""", re.VERBOSE | re.DOTALL)
FUNCTIONS = ("sum", "t", "nrow", "matrix", "rowSums", "solve", "table", "order", "toString", "as.scalar", "list", "seq", "cbind", "rev",
             "read", "ifelse", "quantile", "cumsum", "removeEmpty", "as.frame", "transformencode", "eval", "paramserv", "lmCG", "strlen")


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int


class Script:
    """A text with its tokens, without blanks and comments."""

    def __init__(self, text):
        self.text = text

    @functools.cached_property
    def tokens(self):
        return [Token(m.lastgroup, m.group(), *m.span()) for m in TOKEN.finditer(self.text) if m.lastgroup not in ("comment", "blank")]

    @functools.cached_property
    def calls(self):
        """Of each call with arguments: the span of every argument, as pairs of numbers of tokens."""
        calls, open_ = [], []
        for number, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in BRACKETS:
                named = number > 0 and self.tokens[number - 1].kind == "name" and self.tokens[number - 1].text not in KEYWORDS
                open_.append((token.text, named, [number + 1]))
            elif token.text == "," and open_:
                open_[-1][2].append(number + 1)
            elif token.text in BRACKETS.values() and open_:
                bracket, named, begins = open_.pop()
                if bracket == "(" and named and number > begins[-1]:
                    calls.append([(begin, end - 1) for begin, end in zip(begins, begins[1:] + [number + 1])])
        return calls

    def find(self, *kinds, where=lambda token: True):
        return [token for token in self.tokens if token.kind in kinds and where(token)]

    def replaced(self, token, text):
        return self.text[:token.begin] + text + self.text[token.end:]

    def span(self, first, last):
        """The piece of text from a token up to before another, as a token."""
        begin, end = self.tokens[first].begin, self.tokens[last - 1].end
        return Token("span", self.text[begin:end], begin, end)

    def statements(self):
        """Numbers of the lines that hold a whole statement, as far as brackets tell."""
        lines = self.text.split("\n")
        return [n for n, line in enumerate(lines) if line.strip() and not line.strip().startswith("#") and balanced(line)]


def balanced(line):
    line = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', "", line)
    return all(line.count(a) == line.count(b) for a, b in BRACKETS.items()) and '"' not in line


KINDS = {}


def kind(function):
    """Makes a function one of KINDS, under its name with blanks; what it has no place for in a script gives None."""
    def changed(script, random):
        try:
            text = function(script, random)
        except IndexError:  # random.choice of nothing
            return None
        return text if text != script.text else None
    KINDS[function.__name__.replace("_", " ")] = changed
    return changed


def misspelt(word, random):
    place = random.randrange(len(word))
    other = random.choice("abcdefghijklmnopqrstuvwxyz")
    return random.choice([word[:place] + other + word[place + 1:], word[:place] + other + word[place:],
                          word[:place] + word[place + 1:] or other, word[:place] + word[place:place + 2][::-1] + word[place + 2:]])


@kind
def name_misspelt(script, random):
    token = random.choice(script.find("name", where=lambda t: t.text not in KEYWORDS))
    return script.replaced(token, misspelt(token.text, random))


@kind
def name_in_other_case(script, random):
    token = random.choice(script.find("name"))
    return script.replaced(token, token.text.swapcase())


@kind
def variable_replaced(script, random):
    token = random.choice(script.find("name", where=lambda t: t.text not in KEYWORDS))
    return script.replaced(token, random.choice(script.find("name", where=lambda t: t.text not in KEYWORDS)).text)


@kind
def function_replaced(script, random):
    heads = [script.tokens[call[0][0] - 2] for call in script.calls]
    return script.replaced(random.choice(heads), random.choice(FUNCTIONS + tuple(h.text for h in heads)))


@kind
def argument_dropped(script, random):
    call = random.choice(script.calls)
    place = random.randrange(len(call))
    if len(call) == 1:
        return script.replaced(script.span(*call[0]), "")
    first, last = (call[place][0], call[place + 1][0]) if place + 1 < len(call) else (call[place][0] - 1, call[place][1])
    return script.replaced(script.span(first, last), "")


@kind
def argument_added(script, random):
    piece = script.span(*random.choice(random.choice(script.calls)))
    other = random.choice(["1", "TRUE", '"text"', "rows=2", "x=1", "matrix(1, rows=2, cols=2)", "list(1)", piece.text, ""])
    return script.replaced(piece, f"{piece.text}, {other}")


@kind
def argument_renamed(script, random):
    names = [script.tokens[b] for call in script.calls for b, e in call if e - b > 2 and script.tokens[b + 1].text == "="]
    token = random.choice(names)
    return script.replaced(token, random.choice([misspelt(token.text, random), random.choice(names).text, token.text.upper()]))


@kind
def arguments_swapped(script, random):
    call = random.choice([call for call in script.calls if len(call) > 1])
    first, second = (script.span(*call[n]) for n in sorted(random.sample(range(len(call)), 2)))
    return script.text[:first.begin] + second.text + script.text[first.end:second.begin] + first.text + script.text[second.end:]


@kind
def argument_of_another_type(script, random):
    piece = script.span(*random.choice(random.choice(script.calls)))
    value = piece.text.split("=", 1)[0] + "=" if re.match(r"\w+\s*=[^=]", piece.text) else ""
    return script.replaced(piece, value + random.choice([
        '"text"', "TRUE", "1.5", "-1", "list(1, 2)", "matrix(1, rows=2, cols=3)", "NaN", "Inf", '""', 'as.frame("a")', "[1, 2]",
        "matrix(0, rows=0, cols=0)", f"({piece.text})[1]", f"as.scalar({piece.text})", f"as.matrix({piece.text})"]))


@kind
def size_changed(script, random):
    token = random.choice(script.find("number"))
    value = float(token.text)
    others = [f"{other:g}" for other in (0, -value, value + 1, value - 1, value * 3, value + 0.5)] + ["NaN"]
    return script.replaced(token, random.choice(others))


@kind
def number_far_off(script, random):
    token = random.choice(script.find("number"))
    return script.replaced(token, random.choice(
        ["1e20", "-1e20", "9223372036854775807", "99999999999999999999", "1e999", "1e-320", "4294967296", "3L", "0x10", "1_000", "1.2.3"]))


@kind
def index_out_of_range(script, random):
    places = [n for n, t in enumerate(script.tokens) if t.kind in ("number", "name") and n > 0 and n + 1 < len(script.tokens)
              and script.tokens[n - 1].text in "[,:" and script.tokens[n + 1].text in "],:"]
    others = ["0", "-1", "1000", "2:1", "1:1000", "1.5", '"a"', "TRUE", "1:"]
    return script.replaced(script.tokens[random.choice(places)], random.choice(others))


@kind
def bracket_lost(script, random):
    return script.replaced(random.choice(script.find("sign", where=lambda t: t.text in "()[]{}")), "")


@kind
def bracket_doubled_or_changed(script, random):
    token = random.choice(script.find("sign", where=lambda t: t.text in "()[]{}"))
    return script.replaced(token, random.choice([token.text * 2, random.choice("()[]{}")]))


@kind
def quote_lost_or_doubled(script, random):
    token = random.choice(script.find("text"))
    inner, quote = token.text[1:-1], token.text[0]
    return script.replaced(token, random.choice([
        quote + inner, inner + quote, inner, quote + token.text, quote + inner + "'", f"\u201c{inner}\u201d", f"{quote}{inner}\\{quote}"]))


@kind
def comma_lost_or_doubled(script, random):
    token = random.choice(script.find("sign", where=lambda t: t.text == ","))
    return script.replaced(token, random.choice(["", ",,", ";", ".", "=", ", ,"]))


@kind
def keyword_lost_or_doubled(script, random):
    token = random.choice(script.find("name", where=lambda t: t.text in KEYWORDS))
    return script.replaced(token, random.choice(["", f"{token.text} {token.text}", random.choice(KEYWORDS), misspelt(token.text, random)]))


@kind
def operator_replaced(script, random):
    token = random.choice(script.find("sign", where=lambda t: t.text in OPERATORS))
    return script.replaced(token, random.choice(["", f"{token.text} {token.text}", random.choice(OPERATORS), random.choice(OPERATORS)]))


@kind
def type_in_a_signature_changed(script, random):
    types = [m for m in re.finditer(r"\b(?:int|integer|double|boolean|string|matrix\[\w+\]|frame\[\w+\]|list\[\w+\])(?=\s+\w)", script.text,
                                    re.IGNORECASE)]
    match = random.choice(types)
    other = random.choice([random.choice(TYPES), misspelt(match.group(), random), "", "matrix"])
    return script.text[:match.start()] + other + script.text[match.end():]


@kind
def statement_dropped(script, random):
    lines = script.text.split("\n")
    lines.pop(random.choice(script.statements()))
    return "\n".join(lines)


@kind
def statement_doubled(script, random):
    lines = script.text.split("\n")
    place = random.choice(script.statements())
    lines.insert(place, lines[place])
    return "\n".join(lines)


@kind
def used_before_it_is_assigned(script, random):
    """An assignment moves behind some of the statements that follow."""
    lines = script.text.split("\n")
    places = script.statements()
    chosen = random.choice([n for n, place in enumerate(places[:-1]) if re.match(r"\s*[\w.]+\s*=", lines[place])])
    target = random.choice(places[chosen + 1:])
    lines.insert(target, lines.pop(places[chosen]))
    return "\n".join(lines)


@kind
def wrong_dollar_argument(script, random):
    arguments = script.find("argument")
    if not arguments:
        arguments = script.find("number", "text")
        return script.replaced(random.choice(arguments), random.choice(["$1", "$n", "$", "$9999999999", "ifdef($k)", "$ k"]))
    token = random.choice(arguments)
    return script.replaced(token, random.choice(["$" + misspelt(token.text[1:], random), "$0", "$", "$9", token.text[1:], token.text * 2]))


@kind
def specification_cut(script, random):
    """A text of JSON ends too soon or lacks a character."""
    token = random.choice(script.find("text", where=lambda t: t.text[1:].lstrip().startswith("{")))
    place = random.randrange(2, len(token.text))
    quote = token.text[0]
    inner = token.text[1:place].rstrip("\\")
    rest = token.text[place:-1].lstrip("\\") if not token.text[place - 1] == "\\" else ""
    return script.replaced(token, quote + random.choice([inner, inner[:-1] + rest, inner + "x" + rest, inner + "," + rest]) + quote)


@kind
def path_that_is_not_there(script, random):
    token = random.choice(script.find("text", where=lambda t: "/" in t.text or re.search(r"\.[a-z]+.$", t.text)))
    inner = token.text[1:-1]
    others = [misspelt(inner, random), inner.rsplit("/", 1)[0], inner + "/", "", inner + ".gz", "/dev/null", "nowhere/" + inner]
    return script.replaced(token, token.text[0] + random.choice(others) + token.text[0])


@kind
def text_changed(script, random):
    token = random.choice(script.find("text"))
    inner = token.text[1:-1]
    others = ["", inner + inner, "%d %s %q", "\\q", "\u00e4\u4e16", "-1", "csv", "(", "$1", " "]
    others.append(random.choice(script.find("text")).text[1:-1])
    if re.fullmatch(r"\w+", inner):
        others += [misspelt(inner, random)] * 6
    return script.replaced(token, token.text[0] + random.choice(others).replace(token.text[0], "") + token.text[0])


@kind
def stray_character(script, random):
    place = random.choice(script.tokens).begin
    strays = ["@", "?", "~", "`", "\u00a0", "\u2212", "\x00", "\\", "%", "$", ".", ";", "'", '"', "#", "/*", "\x7f", "_"]
    return script.text[:place] + random.choice(strays) + script.text[place:]


@kind
def tokens_swapped(script, random):
    first, second = random.choice(list(zip(script.tokens, script.tokens[1:])))
    return script.text[:first.begin] + second.text + script.text[first.end:second.begin] + first.text + script.text[second.end:]


@kind
def end_of_file_lost(script, random):
    return script.text[:random.choice(script.tokens).end]
