"""What counts as equal between two programs that ran the same script: texts word by word, numbers up to a tolerance."""

import math
import re

SHOWN = re.compile(r"\[\w+\] \d+ x \d+$")
AGREES, DIFFERS, REFUSED, ORACLE_FAILS = "agrees", "differs", "refused", "SystemDS fails"
# Brackets, commas and signs of equality stand beside numbers in what scripts print.
WORD = re.compile(r"[^\s,;:=()\[\]]+|[,;:=()\[\]]")


def shown(text):
    """Of what a script printed the lines from `[name] R x C` to `[end]`, as show() prints them."""
    lines, inside = [], False
    for line in text.splitlines():
        inside = inside or SHOWN.match(line) is not None
        if inside:
            lines.append(line)
        inside = inside and line != "[end]"
    return "".join(line + "\n" for line in lines)


def number(word):
    """The number that a word is, or None."""
    if word in ("NaN", "Infinity", "-Infinity"):
        return float(word.replace("Infinity", "inf"))
    # Python reads more than numbers as programs print them: nan, inf, 1_000.
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", word):
        return None
    return float(word)


def same_number(a, b, tolerance):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def same_word(a, b, tolerance):
    if a == b:
        return True
    x, y = number(a), number(b)
    return x is not None and y is not None and same_number(x, y, tolerance)


def lines_of(text):
    """The words of each line that isn't empty."""
    return [words for words in (WORD.findall(line) for line in text.splitlines()) if words]


def difference(ours, theirs, tolerance):
    """None where both texts say the same, else a sentence about the first place where they don't."""
    a, b = lines_of(ours), lines_of(theirs)
    for k, (mine, other) in enumerate(zip(a, b), 1):
        if len(mine) != len(other) or not all(same_word(x, y, tolerance) for x, y in zip(mine, other)):
            return f"line {k} is `{short(mine, other, tolerance)}`, SystemDS's `{short(other, mine, tolerance)}`"
    if len(a) == len(b):
        return None
    longer, whose = (a, "ours") if len(a) > len(b) else (b, "SystemDS's")
    return f"{len(a)} lines, SystemDS has {len(b)}; the first that only {whose} has is `{' '.join(longer[min(len(a), len(b))])[:100]}`"


def short(words, others, tolerance):
    """Some words from the first that differs on, with its number where it isn't the first."""
    first = next((k for k, (x, y) in enumerate(zip(words, others)) if not same_word(x, y, tolerance)), min(len(words), len(others)))
    return ("… " if first else "") + " ".join(words[max(0, first - 1):first + 6])[:100]


def outcome(case, succeeded, printed, error, answer):
    """(one of AGREES, DIFFERS, REFUSED, ORACLE_FAILS, a sentence that says why). The first four are ours, `answer` SystemDS's."""
    if case.bad:
        if not succeeded and not answer.succeeded:
            if answer.stopped and not same_message(answer.error, error):
                return DIFFERS, f"stops with `{first_line(error)}`, SystemDS with `{answer.error[:150]}`"
            return AGREES, ""
        if succeeded and answer.succeeded:
            return DIFFERS, "the case should be refused, and both accept it"
        if succeeded:
            return DIFFERS, f"SystemDS refuses it: {last_reason(answer.error)}"
        return DIFFERS, f"SystemDS accepts it; here: {first_line(error)}"
    if not answer.succeeded:
        return ORACLE_FAILS, last_reason(answer.error) + ("" if succeeded else f"; here, too: {first_line(error)}")
    if not succeeded:
        return REFUSED, first_line(error)
    texts = (printed, answer.printed) if case.prints else (shown(printed), shown(answer.printed))
    wrong = difference(*texts, case.tolerance)
    return (DIFFERS, wrong) if wrong else (AGREES, "")


def same_message(message, error):
    """Whether our error holds the message; blanks, the way numbers are written, and the place of an assertion aside."""
    message = re.sub(r"^assertion failed at \d+:\d+-\d+:\d+$", "assertion failed", message)
    def plain(text):
        return re.sub(r"\s+", "", re.sub(r"(\d)\.0\b", r"\1", text))
    return plain(message) in plain(error)


def first_line(error):
    """Our message without the place."""
    lines = [line for line in error.splitlines() if line.strip()]
    found = next((line for line in lines if "error:" in line), lines[0] if lines else "no message")
    return found.split("error:", 1)[-1].strip()[:300]


def last_reason(error):
    """The innermost of the messages around a failure of SystemDS."""
    parts = [part for part in error.split(" <- ") if part.strip() and part != "None"]
    return " ".join(parts[-1].split())[:300] if parts else "no message"
