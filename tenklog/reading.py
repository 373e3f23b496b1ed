"""Reading: this module reads logs, verifies every byte of them and folds them; it takes no lock and changes nothing.

A log that it returns is sound and a legal game. A torn tail is left out, and said. Anything else that is wrong is a
DataError that names file, line and byte.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from tenklog import files
from tenklog.errors import AccessError, DataError, TenklogError
from tenklog.events import AnyEvent, RuleChange, Start
from tenklog.game import Game, evolve
from tenklog.home import STDIN
from tenklog.lines import Damage, Scan, scan, seal_all

MOST_WHOLE_GAME = 200


class Log(Struct, frozen=True):
    """A log as read: its events and the game they fold to. `torn` says, for stderr, what of a torn tail is left out."""

    path: Path
    game: Game
    events: list[AnyEvent]
    h: str  # 32 hex digits of the last line; empty when the log is not sealed
    seq: int
    sealed: bool
    torn: str
    size: int  # of what is sound, in bytes

    @property
    def start(self) -> Start:
        """Return the first event."""
        return self.game.start

    @property
    def folded(self) -> Game:
        """Return the game."""
        return self.game

    @property
    def fingerprint(self) -> str:
        """Return SEQ:H of the last line; for an unsealed log the one that sealing would give it."""
        return f"{self.seq}:{self.h or seal_all(self.events)[-1][-34:-2].decode()}"


def read(path: Path | str, named: bool = True) -> Log:
    """Read and verify a log; raise DataError for damage or an illegal event, AccessError when it can't be read.

    With `named`, a file that is named after another game is refused too.
    """
    path = Path(path)
    return log_of(path, scan(read_bytes(path)), named)


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a log, or of standard input for `-`."""
    if path == STDIN:
        if sys.stdin is None:
            raise AccessError("standard input is closed", "a log to read")
        data = sys.stdin.buffer.read(files.MOST_BYTES + 1)
    else:
        with files.telling(path), files.opened(path, files.READ) as fd:
            data = files.read(fd)
    if len(data) > files.MOST_BYTES:
        raise DataError(f"has more than {files.MOST_BYTES} bytes", "the most that a log may have", str(path))
    return data


def parse(data: bytes, where: str) -> Log:
    """Read and verify a log that is no file; `where` stands in errors."""
    return log_of(Path(where), scan(data), named=False)


def read_many(paths: Iterable[Path]) -> Iterator[Log]:
    """Read logs one after another, holding one at a time."""
    for path in paths:
        yield read(path)


def states(log: Log) -> Iterator[Game]:
    """Yield the game after each event."""
    return steps(log.events)


def log_of(path: Path, found: Scan, named: bool = True) -> Log:
    """Fold what was found sound in a log; raise DataError for the first thing in it that is wrong."""
    game, error = fold_found(found.events)
    if error is not None:
        raise DataError(error.what, error.right, f"{path}:{game.seq + 1 if game else 1}")
    if found.damage is not None:
        raise damaged(path, found.damage)
    assert game is not None  # without a sound line there is damage
    if named and (wrong := misnamed(path, game.start)):
        raise DataError(wrong, f"the name {game.start.game}.jsonl", f"{path}:1")
    torn = f"{path}: the last {len(found.torn)} bytes, a torn line, are left out" if found.torn else ""
    return Log(path, game, found.events, found.hash_at(game.seq), game.seq, found.sealed, torn, found.size)


def fold_found(log: list[AnyEvent]) -> tuple[Game | None, TenklogError | None]:
    """Fold a log as far as it is a legal game; return the game there and what is wrong with the event after it."""
    game: Game | None = None
    try:
        for game in steps(log):  # noqa: B007  (the last one counts)
            pass
    except TenklogError as error:
        return game, error
    return game, None


def steps(log: list[AnyEvent]) -> Iterator[Game]:
    """Yield the game after each event, and raise at the first that may not stand where it stands."""
    changes = whole_game_changes(log)
    end = changes[MOST_WHOLE_GAME] if len(changes) > MOST_WHOLE_GAME else len(log)
    game: Game | None = None
    for event in log[:end]:
        game = evolve(game, event)
        yield game
    if end < len(log):
        raise DataError("one rule change for the whole game too many", f"at most {MOST_WHOLE_GAME} in a log")


def whole_game_changes(log: list[AnyEvent]) -> list[int]:
    """Return the positions (from 0) of the rule changes for the whole game; each makes the fold begin anew."""
    return [n for n, event in enumerate(log) if type(event) is RuleChange and event.scope == "whole-game"]


def damaged(path: Path, damage: Damage) -> DataError:
    """Phrase damage as an error that names file, line and byte."""
    right = damage.right
    if damage.kind == "damage":
        before = ", or let `tenklog repair` keep what comes before it" if damage.line > 1 else ""
        right = f"put a good copy back{before}"
    return DataError(f"{damage.what} (byte {damage.byte})", right, f"{path}:{damage.line}")


def misnamed(path: Path, start: Start) -> str:
    """Say when a file is named after another game than the one in it."""
    if path.name == f"{start.game}.jsonl" or path.suffix != ".jsonl":
        return ""
    return f"is the game {start.game} in a file of another name"
