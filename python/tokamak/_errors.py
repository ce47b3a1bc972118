"""What went wrong, as exceptions. Their text has the place in the script and its line with a caret."""

import re


class Error(Exception):
    """message: one line; text: as the command line shows it; file, line, column: of the script, line 0 if not known."""

    def __init__(self, message, text, file="", line=0, column=0):
        super().__init__(text.rstrip("\n"))
        self.message, self.text = message, text
        self.file, self.line, self.column = file, line, column

    def __reduce__(self):  # exceptions travel between processes
        return type(self), (self.message, self.text, self.file, self.line, self.column)


class CompileError(Error):
    """A mistake in a script, or in the arguments of a call, that was found before anything ran."""


class RunError(Error):
    """A function failed while it ran: sizes that don't match, stop(), data that can't be read, no memory."""


class PlaceError(RunError, IndexError):
    """An index of an array is beyond its size."""


class InternalError(Error):
    """A bug of Tokamak. Please report it with the script."""


_NO_PLACE = re.compile(r"there is no place (-?\d+) among the (\d+)")  # both from 1, negative ones behind the last


def _run_error(message, text, file, line, column):
    found = _NO_PLACE.search(message)
    if not found or not text.startswith("<arrays>"):  # scripts count from 1 and have indices of their own
        return RunError(message, text, file, line, column)
    place, size = int(found[1]), int(found[2])
    message = f"index {place - 1 if place > 0 else place - 1 - size} is out of bounds: there are {size} places"
    return PlaceError(message, message, file, line, column)


BY_STATUS = {1: _run_error, 2: CompileError, 70: InternalError}
