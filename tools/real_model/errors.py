"""The one exception that the demo reports as a line instead of a traceback."""


class DemoError(Exception):
    """What went wrong, in one line: the value found and the value allowed, or the command that would help."""
