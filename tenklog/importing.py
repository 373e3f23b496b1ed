"""Importing: this module puts games that were found in a file into the home folder, each once, whole or not at all.

It takes any events, wherever they were read. A game that names no id gets one made from its content, so that the same
file adds nothing the second time, under whatever name. Nothing that is there already is changed.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from tenklog import events, files, reading, store
from tenklog.errors import Conflict, DataError
from tenklog.events import AnyEvent
from tenklog.game import Game, false_expect
from tenklog.home import Home
from tenklog.notation import Found, name
from tenklog.projections import names
from tenklog.state import Status


class Imported(Struct, frozen=True):
    """What became of a game of a file: it is `new`, or was there `already` (and has gone on, when `events` is less).

    `totals` are the points of the players, in the order in which these stand.
    """

    game: str
    result: Literal["new", "already"]
    players: list[str]
    totals: list[int]
    rules: str
    status: Status
    events: int
    file: str


class Planned(Struct, frozen=True):
    """A game that is a legal one: where its log will lie, what is in it, and whether it is there already."""

    path: Path
    log: list[AnyEvent]
    places: Sequence[str]
    told: Imported


def plan(home: Home, found: Iterable[Found], file: str, *, among: Sequence[Planned] = ()) -> list[Planned]:
    """Return what importing games would do; write nothing.

    `among` was planned before, from other files. Raise DataError for a game that is no legal one or has an expect that
    is false, and Conflict for one under whose id there is another.
    """
    planned: list[Planned] = []
    known = {one.path: one.log for one in among}
    for one in found:
        log = [replace(start(one), game=_id(home, one)), *one.events[1:]]
        game = _folded(log, one.places)
        path = home.path(game.start.game)
        twin = known.get(path)
        if twin is None and files.exists(path):
            twin = reading.read(path).events
        if twin is not None:
            _compare(twin, log, one.places, game.start.game)
        told = Imported(
            game=game.start.game,
            result="new" if twin is None else "already",
            players=names(game.position, range(len(game.position.seats))),
            totals=[seat.total for seat in game.position.seats],
            rules=game.start.rules.name,
            status=game.position.status,
            events=len(log),
            file=file,
        )
        planned.append(Planned(path, log, one.places, told))
        known.setdefault(path, log)
    return planned


def write(planned: Planned) -> None:
    """Write the log of a game that is new, durably; that somebody else did so meanwhile is no error."""
    if planned.told.result == "already":
        return
    try:
        store.write_log(planned.path, planned.log)
    except Conflict:
        _compare(reading.read(planned.path).events, planned.log, planned.places, planned.told.game)


def start(found: Found) -> events.Start:
    """Return the start of a game; raise DataError for a list of events that begins with none."""
    first = found.events[0] if found.events else None
    if not isinstance(first, events.Start):
        raise DataError("begins with no start event", "the start first", found.places[0] if found.places else "")
    return first


class _Game(Struct):
    events: list[AnyEvent]


class _Export(Struct):
    games: list[_Game]


def read_export(data: bytes, where: str) -> list[Found]:
    """Read what `export` writes as JSON, in which the events stand as in the log; raise DataError."""
    try:
        games = json.decode(data, type=_Export).games
        for number, game in enumerate(games, 1):
            events.check_times(game.events)
            if not game.events:
                raise DataError(f"game {number} has no events")
    except (DecodeError, RecursionError, DataError) as error:
        what = error.what if isinstance(error, DataError) else str(error).replace("`", "'")
        raise DataError(what, "JSON as `tenklog export --format json` writes it", where) from None
    return [
        Found(game.events, [f"{where}: game {number}, event {n}" for n in range(1, len(game.events) + 1)], _named(game))
        for number, game in enumerate(games, 1)
    ]


def _named(game: _Game) -> str | None:
    first = game.events[0]
    return first.game if isinstance(first, events.Start) else None


def _id(home: Home, found: Found) -> str:
    """Return the id that a game names, else one that its content always gives."""
    if found.game is not None:
        return home.new_id(found.game)
    return home.new_id(key=events.digest(b"\n".join(map(events.encode, found.events))))


def _folded(log: list[AnyEvent], places: Sequence[str]) -> Game:
    """Fold a log from elsewhere; an assertion in it that is false keeps it out."""
    game, error = reading.fold_found(log)
    if error is not None:
        raise DataError(error.what, error.right, places[game.seq if game else 0])
    assert game is not None
    if any(type(event) is events.Expect for event in log):
        for at, event in zip(reading.steps(log), log, strict=True):
            if type(event) is events.Expect and (false := false_expect(at.position, event)):
                totals = ", ".join(f"{name(seat.player)}={seat.total}" for seat in at.position.seats)
                raise DataError(false, f"what the turns before add up to: `expect: {totals}`", places[at.seq - 1])
    if sum(len(events.encode(event)) for event in log) + 41 * len(log) > files.MOST_BYTES:
        raise DataError("is too large a game", f"at most {files.MOST_BYTES} bytes as a log", places[0])
    return game


def _compare(there: Sequence[AnyEvent], log: Sequence[AnyEvent], places: Sequence[str], game: str) -> None:
    """Raise Conflict unless a log begins with all that is to be imported; when it was recorded does not count."""
    for number, event in enumerate(log):
        if number == len(there) or _content(there[number]) != _content(event):
            what = f"ends before event {number + 1}" if number == len(there) else f"differs from event {number + 1} on"
            right = f"another id, such as `game: {game[:60]}-2` or -g {game[:60]}-2"
            raise Conflict(f"the game {game} is there already, and {what}", right, places[number])


def _content(event: events.Event) -> events.Event:
    return replace(event, time=None, id=None)
