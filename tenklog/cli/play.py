"""Play: this module has the command `play`: the whole game at one prompt, on a terminal or line by line.

What is typed becomes an event at once, so there is nothing to save and nothing that a closed terminal could lose.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from tenklog import narrate, reading, screen
from tenklog import play as words
from tenklog.cli.common import command, find, game_option, home, remark, rules_option, ruleset, typed
from tenklog.cli.entries import Table, completions, current, run, say
from tenklog.errors import AccessError, TenklogError, UsageError
from tenklog.render import visible

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples

    from tenklog.game import Game

MOST_TYPED = 10_000  # characters of an entry


@command("play", example="tenklog play Anna Ben --rules ten-thousand")
@click.argument("players", nargs=-1, metavar="[PLAYER]...")
@game_option
@rules_option
@click.option("--title", help="A title for a new game.")
@click.option("--totals", is_flag=True, help="A score sheet: a number is the points of a turn without dice.")
@click.option("--advise", is_flag=True, help="Show what the best moves are worth.")
@click.option("--ascii", "plain", is_flag=True, help="Draw the dice with plain characters.")
def play(
    players: tuple[str, ...],
    game: str | None,
    name: str | None,
    sets: tuple[str, ...],
    title: str | None,
    totals: bool,
    advise: bool,
    plain: bool,
) -> int:
    """Play a whole game at one prompt: begin one with its PLAYERs, or go on with the current one.

    Type the dice that were rolled, then those to keep; b banks, u takes back, ? explains. Each entry is in the log at
    once. Without a terminal, or without tenklog[play], it reads plain lines.
    """
    asked = Asked(name, sets, title)
    if players:
        path = _begun(players, game if typed("game") else None, asked)
    elif game is not None or asked == Asked():
        path = _going_on(game)
    else:
        path = _ask(asked, None)
    table = Table(path, totals, advise, _pictures(plain))
    table.look()
    if table.log is None:
        reading.read(path, named=False)  # raises what is wrong
    if _is_screen():
        try:
            from prompt_toolkit import PromptSession  # noqa: F401
        except ImportError:
            remark("pip install 'tenklog[play]' gives this prompt a screen")
        else:
            return _on_screen(table)
    return _line_by_line(table)


def _is_screen() -> bool:
    return _on_terminal() and (sys.platform == "win32" or os.environ.get("TERM", "") not in ("", "dumb"))


def _on_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _pictures(plain: bool) -> screen.Pictures:
    """Choose how dice are drawn: with signs that the terminal's encoding has, and none where nobody looks."""
    if not _on_terminal():
        return "none"
    try:
        "┌─┐│●└┘".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "ascii"
    return "ascii" if plain else "unicode"


# -- which game -------------------------------------------------------------------------------------------------------


class Asked(Struct, frozen=True):
    """What was asked for beside the players of a new game: a ruleset, settings, a title."""

    name: str | None = None
    sets: tuple[str, ...] = ()
    title: str | None = None

    def line(self, players: tuple[str, ...], game: str | None) -> list[str]:
        """Return the command line that begins the game."""
        line = ["new", *(["--rules", self.name] if self.name else [])]
        for one in self.sets:
            line += ["--set", one]
        line += ["--title", self.title] if self.title else []
        return [*line, *(["-g", game] if game else []), "--", *players]

    def fits(self, game: "Game") -> bool:
        """Tell whether a game is played by the rules that were asked for."""
        if self.title not in (None, game.start.title):
            return False
        return not (self.name or self.sets) or ruleset(self.name or "tiotusen", self.sets) == game.start.rules


def _begun(players: tuple[str, ...], game: str | None, asked: Asked) -> Path:
    """Begin a game; one that was begun so and is not over is gone on with, for the same line is soon typed again."""
    path = current() if game is None else home().path(game)
    there = _game_at(path)
    if path is not None and there is not None and words.same_table(there, players) and asked.fits(there):
        remark(f"{there.start.game} goes on; `tenklog new {words.hand_down(players)}` begins another")
        return path
    code, line = run(asked.line(players, game))
    if code:
        raise _error(line, code)
    return home().current()


def _going_on(game: str | None) -> Path:
    """Return the game that is named, or the current one; when that is over, begin another."""
    if game == "-":
        raise UsageError("nothing can be recorded on standard input", "a game of the home folder, or the path of a log")
    if game is not None:
        return find(game)
    path = current()
    there = _game_at(path)
    if path is not None and (there is None or there.position.turn is not None):
        return path
    return _ask(Asked(), there)


def _game_at(path: Path | None) -> "Game | None":
    """Return the game at a path, or None when none can be read there."""
    try:
        return reading.read(path).game if path is not None else None
    except TenklogError:
        return None


def _ask(asked: Asked, last: "Game | None") -> Path:
    """Ask who plays, and by which rules; an empty answer takes what stands behind the question."""
    if not _on_terminal():
        over = f"{last.start.game} is {last.position.status}" if last is not None else "no game is in progress"
        raise UsageError(over, "begin one: `tenklog play Anna Ben --rules ten-thousand`")
    again = tuple(seat.player for seat in last.position.seats if not seat.left) if last is not None else ()
    if last is not None:
        say([visible(f"{last.start.game}: {narrate.situation(last.position)}")])
    before = visible(f" ({words.hand_down(again)})") if again else " (in the order in which they sit)"
    while True:
        players = tuple(words.typed_names(_answer(f"Who plays{before}? "))) or again
        if not players:
            continue
        rules = asked.name or (last.start.rules.name if last is not None else "tiotusen")
        if asked.name is None and not asked.sets:
            rules = _answer(f"By which rules ({rules})? ").strip() or rules
        code, line = run(Asked(rules, asked.sets, asked.title).line(players, None))
        if not code:
            return home().current()
        say([visible(line)])


def _answer(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        _end_line()
        raise click.Abort from None


def _error(line: str, code: int) -> TenklogError:
    """Return what a command line said as an error of this command."""
    error = TenklogError(line)
    error.exit_code = code
    return error


# -- line by line -----------------------------------------------------------------------------------------------------


def _line_by_line(table: Table) -> int:
    """Read entries from standard input; from a file or a pipe, the first that is wrong ends it."""
    if sys.stdin is None:
        raise AccessError("standard input is closed", "entries, one a line")
    person = sys.stdin.isatty()
    if table.seq > 1:  # else the game has just been told
        say(screen.screen(table.log.game) if table.log is not None else [])
    say([words.hint(table.position, table.totals)] if person else [])
    number = 0
    while True:
        number += 1
        seen = table.seq
        try:
            text = _read(words.prompt(table.position, table.totals), person)
            code, wrong = table.enter(text, seen)
        except EOFError:
            break
        except TenklogError as error:
            code, wrong = error.exit_code, str(error)
        except KeyboardInterrupt:
            if not person:
                raise
            _end_line()
            continue
        if wrong and not person:
            raise _error(f"standard input:{number}: {wrong}", code)
        say([visible(wrong)] if wrong else [])
        say(table.news(seen) if code == 5 else [])
        turn = table.position.turn if table.position is not None else None
        if turn is not None and table.seq != seen:
            say([*(screen.faces(turn, table.pictures) if turn.phase == "rolled" else []), *table.advice()])
    say([table.farewell()])
    return 0


def _read(before: str, person: bool) -> str:
    """Read a line; who types it is shown the prompt, for others it is put into what they read. Raise EOFError."""
    if person:
        sys.stderr.write(before)
        sys.stderr.flush()
    try:
        text = sys.stdin.readline(MOST_TYPED + 1)
    except UnicodeDecodeError:
        raise UsageError("what was typed is not UTF-8 text", "text of readable characters") from None
    if len(text) > MOST_TYPED:
        raise UsageError(f"an entry of more than {MOST_TYPED} characters", "a shorter one")
    if not text:
        if person:
            _end_line()
        raise EOFError
    if not person:
        say([visible(f"{before}{text.strip()}").rstrip()])
    return text


def _end_line() -> None:
    """Go to the next line after a prompt that was left without Enter."""
    sys.stderr.write("\n")
    sys.stderr.flush()


# -- on a screen ------------------------------------------------------------------------------------------------------


def _on_screen(table: Table) -> int:
    """Prompt with the game drawn above and the keys below; what others record shows within a second."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.history import InMemoryHistory

    class Entries(Completer):
        def get_completions(self, document: "Document", complete_event: "CompleteEvent") -> "Iterator[Completion]":
            for text, length in completions(table, document.text_before_cursor):
                yield Completion(text, start_position=-length)

    typed_at = table.seq  # the last event on the screen when somebody began to type

    def above() -> "StyleAndTextTuples":
        table.look()
        size = get_app().output.get_size()
        lines = table.screen(size.columns, size.rows)
        return [("", "".join(f"{line}\n" for line in lines)), ("bold", words.prompt(table.position, table.totals))]

    def below() -> "StyleAndTextTuples":
        return [("", words.hint(table.position, table.totals, get_app().output.get_size().columns))]

    def noticed(buffer: "Buffer") -> None:
        nonlocal typed_at
        if len(buffer.text) <= 1:
            typed_at = table.seq

    session: PromptSession[str] = PromptSession(
        above,
        bottom_toolbar=below,
        completer=Entries(),
        complete_while_typing=False,
        history=InMemoryHistory(),
        erase_when_done=True,
        refresh_interval=1.0,
        enable_suspend=True,
    )
    session.default_buffer.on_text_changed += noticed
    start = ""
    while True:
        seen = typed_at = table.seq
        try:
            text = session.prompt(default=start)
            start = ""
            say(table.news(seen))
            if text.strip():
                say([visible(f"{words.prompt(table.position, table.totals)}{text}")])
            _, wrong = table.enter(text, typed_at)
            say([visible(wrong)] if wrong else [])
            if text.strip() == "f":
                start = "f "
        except EOFError:
            break
        except KeyboardInterrupt:
            start = ""
    say([*(screen.screen(table.log.game) if table.log is not None else []), table.farewell()])
    return 0
