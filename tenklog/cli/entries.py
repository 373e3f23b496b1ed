"""Entries: this module runs what is typed at the prompt of `play`, and knows what was last seen of the game.

An entry is run at once, as the command line that one would type for it, on what was on the screen: while somebody
thinks no lock is held, and when the game has moved on meanwhile nothing is recorded.
"""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenklog import narrate, reading, screen
from tenklog import play as words
from tenklog.cli.common import emit, home
from tenklog.errors import TenklogError, UsageError
from tenklog.render import Output, visible

if TYPE_CHECKING:
    from tenklog.game import Game
    from tenklog.state import Position


def run(line: list[str], path: Path | None = None, quiet: bool = False) -> tuple[int, str]:
    """Run a command line of tenklog, on a game; return its exit code, and what is wrong in one line."""
    from tenklog.cli import attempt

    with _environment("TENKLOG_GAME", None if path is None else name_of(path)):
        return attempt([*_before(quiet), *line])


def _before(quiet: bool = False) -> list[str]:
    quiet = quiet or click.get_current_context().obj["quiet"]
    return ["--home", str(home().folder), *(["--quiet"] if quiet else [])]


def name_of(path: Path) -> str:
    """Return what `-g` takes for a game."""
    return path.stem if path == home().games_folder / path.name else str(path)


def current() -> Path | None:
    """Return the path of the current game, or None."""
    try:
        return home().current()
    except TenklogError:
        return None


def say(lines: list[str]) -> None:
    """Print lines, if there are any."""
    if lines:
        emit(Output(None, text="\n".join(lines)))


@contextmanager
def _environment(key: str, value: str | None) -> Iterator[None]:
    """Set an environment variable inside `with`; with None leave all as it is."""
    before = os.environ.get(key)
    if value is not None:
        os.environ[key] = value
    try:
        yield
    finally:
        if before is not None:
            os.environ[key] = before
        else:
            os.environ.pop(key, None)


class Table:
    """A game at which somebody sits: what was last seen of it, and how entries are run on it."""

    def __init__(self, path: Path, totals: bool, advise: bool, pictures: screen.Pictures) -> None:
        self.path = path
        self.totals, self.advise, self.pictures = totals, advise, pictures
        self.log: reading.Log | None = None
        self.wrong = ""  # why the log can't be read
        self.brief = False  # what was answered last is to stay in sight
        self._stamp: object = None
        self._advice: tuple[object, list[str]] = (None, [])

    @property
    def game(self) -> "Game | None":
        """Return the game as it was last seen."""
        return self.log.game if self.log is not None else None

    @property
    def position(self) -> "Position | None":
        """Return how it stood."""
        return self.log.game.position if self.log is not None else None

    @property
    def seq(self) -> int:
        """Return the number of the last event that was seen."""
        return self.log.seq if self.log is not None else 0

    def look(self) -> None:
        """Read the log again if its file has changed; what is wrong with it is on the screen then."""
        try:
            found = os.stat(self.path)
            stamp: object = (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError:
            stamp = None
        if stamp is not None and stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self.log, self.wrong = reading.read(self.path, named=False), ""
        except TenklogError as error:
            self.log, self.wrong = None, str(error)

    def screen(self, columns: int, rows: int) -> list[str]:
        """Return the lines above the prompt."""
        if self.log is None:
            return [visible(self.wrong)]
        return screen.screen(self.log.game, columns, 0 if self.brief else rows, self.pictures, self.advice())

    def advice(self) -> list[str]:
        """Return what the moves are worth, if the table wants to know."""
        if not self.advise or self.log is None:
            return []
        key = self.log.fingerprint
        if self._advice[0] != key:
            self._advice = (key, words.odds(self.log.game.position))
        return self._advice[1]

    def news(self, seen: int) -> list[str]:
        """Say what others have recorded since event `seen`."""
        if self.log is None or not 0 < seen < self.log.seq:
            return []
        fresh = self.log.events[seen:]
        return ["Recorded meanwhile:", *map(visible, narrate.story(self.log.game, fresh, self.log.events))]

    def enter(self, text: str, seq: int) -> tuple[int, str]:
        """Do what was typed when the last event was `seq`; return the exit code, and what is wrong in one line.

        Raise EOFError for leaving.
        """
        before, self.brief = self.seq, False
        try:
            line = words.meaning(self.position, text, self.totals)
        except UsageError as error:
            return error.exit_code, str(error)
        if not line:
            return 0, ""
        code, wrong = self._do(line, seq)
        self.look()
        self.brief = not wrong and self.seq == before
        return code, wrong

    def _do(self, line: list[str], seq: int) -> tuple[int, str]:
        if line[0] == "quit":
            raise EOFError
        if line[0] == "help":
            return self._help(line[1:])
        if line[0] == "keys":
            say(words.keys())
            return 0, ""
        if line[0] == "fixes":
            say(words.fixes(self.game) if self.game is not None else [visible(self.wrong)])
            return 0, ""
        if line[0] == "play":
            return 2, "this is play already; `new Anna Ben` begins another game, `use GAME` goes to one"
        return self._command(line, seq)

    def _command(self, line: list[str], seq: int) -> tuple[int, str]:
        expected = ["--expect-seq", str(seq)] if seq and "expect_seq" in _options(line[0]) else []
        code, wrong = run([line[0], *expected, *line[1:]], self.path)
        self.look()
        if code == 5 and self.seq != seq:
            wrong = "the game has moved on meanwhile and nothing was recorded; look, then type it again"
        if not code and line[0] in ("new", "use"):
            self.path, self.log, self._stamp = home().current(), None, None
        return code, wrong

    def _help(self, line: list[str]) -> tuple[int, str]:
        """Explain the position, or what an entry would do."""
        if line and "dry_run" in _options(line[0]):
            _, wrong = run([line[0], "--dry-run", *line[1:]], self.path, quiet=True)
            say([f"Not possible: {visible(wrong)}."] if wrong else ["That is what it would do; nothing is recorded."])
            return 0, ""
        say(words.explanation(self.game) if self.game is not None else [visible(self.wrong)])
        return 0, ""

    def farewell(self) -> str:
        """Return the words for leaving."""
        if self.game is None:
            return visible(self.wrong)
        return words.farewell(name_of(self.path), self.path == current(), self.game)


def _options(name: str) -> set[str | None]:
    """Return the names of a command's parameters; none when there is no such command."""
    from tenklog.cli import cli

    found = cli.get_command(click.get_current_context(), name)
    return {one.name for one in found.params} if found is not None else set()


def completions(table: Table, text: str) -> list[tuple[str, int]]:
    """Return what the shell would complete, and for `c` the opponents; with the length of what is there already."""
    from click.shell_completion import ShellComplete

    from tenklog.cli import cli

    letter, blank, rest = text.partition(" ")
    if blank and letter.lower() == "c" and table.position is not None:
        names = [seat.player for seat in table.position.seats if not seat.left]
        return [(one, len(rest)) for one in names if one.casefold().startswith(rest.casefold())]
    last = text.rpartition(" ")[2]
    try:
        line = shlex.split(text.removesuffix(last))
    except ValueError:
        return []
    if not line and not last[:2].isalpha():
        return []
    shell = ShellComplete(cli, {}, "tenklog", "_TENKLOG_COMPLETE")
    with _environment("TENKLOG_GAME", name_of(table.path)):
        found = shell.get_completions([*_before(), *line], last)
    return [(shlex.quote(one.value), len(last)) for one in found if one.type == "plain"]
