"""What went wrong, as exceptions. Their text has the place in the script and its line with a caret."""


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


class InternalError(Error):
    """A bug of Tokamak. Please report it with the script."""


BY_STATUS = {1: RunError, 2: CompileError, 70: InternalError}
