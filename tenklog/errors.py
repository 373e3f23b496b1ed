"""Errors: this module names the few kinds of error, each saying what is wrong, where, and what would be right."""


class TenklogError(Exception):
    """Something a user can act on: one line, and the exit code that belongs to it.

    `what` is wrong at `where` (a file and line, or nothing), and `right` says what would be accepted.
    """

    exit_code = 1

    def __init__(self, what: str, right: str = "", where: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.right = right
        self.where = where

    def at(self, where: str) -> "TenklogError":
        """Name the place, unless one is named already."""
        self.where = self.where or where
        return self

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}" if self.where else self.what
        return f"{line}; {self.right}" if self.right else line


class DataError(TenklogError):
    """The data is bad: a damaged log, a log that is no legal game, an assertion that is false (exit 1)."""


class UsageError(TenklogError):
    """What was asked for makes no sense: an unknown name, a value out of range (exit 2)."""

    exit_code = 2


class IllegalMove(TenklogError):
    """The rules forbid this now (exit 2); in a log from elsewhere the same is a DataError."""

    exit_code = 2


class Busy(TenklogError):
    """Try again: somebody else holds the lock, or the outcome of a write is unknown (exit 3)."""

    exit_code = 3


class AccessError(TenklogError):
    """A file could not be read or written; nothing was recorded (exit 4)."""

    exit_code = 4


class PipeClosed(AccessError):
    """Whoever read standard output has read enough; nothing is said about it (exit 4)."""


class Conflict(TenklogError):
    """The log is not what the caller thought it is (exit 5)."""

    exit_code = 5


def cited(value: object) -> str:
    """Put a bad value in quotation marks for a message, without its end where it is long."""
    text = str(value)
    return repr(text if len(text) <= 40 else text[:37] + "...")


def nearest(name: str, known: "list[str]") -> str:
    """Phrase the likeliest intended name, or the whole list when none is close."""
    from difflib import get_close_matches  # 12 ms that only an error pays

    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else "known: " + ", ".join(known)
