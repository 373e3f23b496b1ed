"""Store: this module appends to logs, begins them and repairs them, and keeps the promises of the log file.

Nothing acknowledged is lost, there is one history, torn tails heal, damage is found and named. A writer takes the lock,
reads and verifies everything, makes durable what a dead one left, decides on that, and writes what it decided in one
call; it returns when the disk holds it. A log is never added to while anything in it is unsound.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from tenklog import events, files
from tenklog.decider import Command, Throw, decide
from tenklog.errors import AccessError, Busy, Conflict, DataError, TenklogError, UsageError
from tenklog.events import AnyEvent
from tenklog.files import Lock, telling
from tenklog.game import Game, evolve, fold
from tenklog.home import Home, default_home
from tenklog.lines import MOST_EVENTS, MOST_LINE, Scan, scan, seal_all
from tenklog.reading import (
    MOST_WHOLE_GAME,
    Log,
    damaged,
    fold_found,
    log_of,
    misnamed,
    parse,
    read,
    read_bytes,
    read_many,
    states,
    whole_game_changes,
)  # fmt: skip

__all__ = [
    "Appended", "Home", "Log", "append", "begin", "create", "default_home", "parse", "read", "read_many", "repair",
    "states", "utc_now", "write_log",
]  # fmt: skip


class Appended(Struct, frozen=True):
    """What a command recorded, and the log after it. `repeated`: it was recorded before, under the same id."""

    log: Log
    events: tuple[AnyEvent, ...]
    repeated: bool
    healed: str  # what was done to a torn tail first, for stderr; empty when there was none


def utc_now() -> str:
    """Return the time as events write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:23] + "Z"


# -- appending --------------------------------------------------------------------------------------------------------


def append(
    path: Path,
    command: Command,
    *,
    id: str | None = None,  # noqa: A002  (what --id gives)
    expect_seq: int | None = None,
    timeout: float = 10.0,
    now: Callable[[], str] = utc_now,
) -> Appended:
    """Decide a command on what the log holds, record its events and return when the disk holds them.

    With the `id` of an earlier command nothing is written and its answer given again. Raise Conflict when that command
    was another one or the log is not at `expect_seq`; Busy when the lock was not free within `timeout` seconds or the
    outcome is unknown; AccessError when nothing could be written; and whatever `read` and `decide` raise.
    """
    with _Writing(path, timeout) as writing:
        found, healed = _sound(writing)
        log = log_of(path, found)
        first = next((n for n, event in enumerate(log.events) if event.id == id), None) if id is not None else None
        if first is not None:
            before, wanted = _once_more(log, first, command)
        elif expect_seq is not None and expect_seq != log.seq:
            raise Conflict(f"{path} is at event {log.seq}, not {expect_seq}", "look again: `tenklog show`")
        else:
            first, before, wanted = log.seq, log.game, decide(log.game, command)
        # Of a command that was recorded before, all is there already, unless its write was torn.
        there = log.events[first : first + len(wanted)]
        fresh = _stamped(wanted[len(there) :], now(), None if there else id)
        recorded = there + fresh
        after = before
        for event in recorded:
            after = evolve(after, event)
        lines = found.lines[: first + len(there)]
        if fresh:
            _check(log, fresh)
            new = _seal(fresh, lines[-1][-34:-2])
            _write(writing, found.size, b"".join([line + b"\n" for line in new]))
            lines += new
    size = sum(map(len, lines)) + len(lines)
    done = Log(path, after, log.events[:first] + recorded, lines[-1][-34:-2].decode(), after.seq, True, "", size)
    return Appended(done, tuple(recorded), not fresh, healed)


def _stamped(drafted: list[AnyEvent], time: str, key: str | None) -> list[AnyEvent]:
    """Give all events of a command their time, and the first the caller's key."""
    stamped = [replace(event, time=time) for event in drafted]
    if stamped and key is not None:
        stamped[0] = replace(stamped[0], id=key)
    return stamped


class _Writing:
    """A log that exists, locked and open to append inside `with`."""

    __slots__ = ("fd", "found", "lock", "path")

    def __init__(self, path: Path, timeout: float) -> None:
        self.path = path
        self.lock = Lock(_writable(path), timeout, beside=True)

    def __enter__(self) -> "_Writing":
        self.lock.__enter__()
        try:
            self.fd, self.found = files.open_plain(self.lock.log, files.APPEND, True)
        except BaseException as error:
            self.lock.__exit__(None, None, None)
            if isinstance(error, OSError):
                raise files.told(error, self.path) from None
            raise
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        files.close(self.fd)
        self.lock.__exit__(kind, error, trace)
        if isinstance(error, OSError):
            raise files.told(error, self.path) from None


def _writable(path: Path) -> str:
    place = str(path)
    if place == "-":
        raise UsageError("standard input can't be written to", "a game of the home folder, or the path of a log")
    return place


def _sound(writing: _Writing) -> tuple[Scan, str]:
    """Make durable what is sound in a log and move a torn tail out of it; say what was moved.

    Raise DataError, and change nothing, when the log is damaged or not sealed.
    """
    data = files.read(writing.fd)
    found = scan(data)
    if found.damage is not None:
        raise damaged(writing.path, found.damage)
    if not found.sealed:
        right = "`tenklog repair --seal`, then it can be written to"
        raise DataError("is not sealed", right, str(writing.path))
    _make_durable(writing, data)
    if found.torn:
        return _heal(writing, found)
    if not found.ended:
        _write(writing, found.size, b"\n")
        return replace(found, size=found.size + 1, ended=True), ""
    return found, ""


def _make_durable(writing: _Writing, data: bytes) -> None:
    """Write what a dead writer or a failed sync left behind once more, and sync it."""
    offset = writing.lock.dirty(len(data))
    if offset is not None:
        files.rewrite(writing.path, data, offset)
        files.sync(writing.fd)
        files.sync_folder(writing.path.parent)
        writing.lock.mark(len(data))


def _heal(writing: _Writing, found: Scan) -> tuple[Scan, str]:
    """Move a torn tail to a file beside the log; it is there, durably, before it is cut off here."""
    path = writing.path
    aside = files.set_aside(path, f"torn-{found.size}", found.torn)
    try:
        files.truncate(writing.fd, found.size)
    except OSError:
        files.remove(aside)
        raise
    files.sync(writing.fd)
    writing.lock.mark(found.size)  # or a line as long as what was cut off would pass for synced
    moved = f"{path}: the last {len(found.torn)} bytes, a torn line, were moved to {aside.name}"
    return replace(found, torn=b""), moved


def _once_more(log: Log, first: int, command: Command) -> tuple[Game, list[AnyEvent]]:
    """Return the game before an earlier command, and its events; raise Conflict when it was not this command."""
    recorded = log.events[first:]
    other = Conflict(f"the id {recorded[0].id!r} was used for event {first + 1}, another command", "a new id")
    if first == 0:
        raise other
    before = fold(log.events[:first])
    if isinstance(command, Throw):
        # Dice are thrown once: these are the ones.
        thrown = (event.dice for event in recorded[:2] if type(event) is events.Roll)
        command = Throw(next(thrown, command.pool))
    try:
        wanted = decide(before, command)
    except TenklogError:
        wanted = []
    if not wanted or any(map(_differ, recorded, wanted)):
        raise other
    return before, wanted


def _differ(one: events.Event, other: events.Event) -> bool:
    return replace(one, time=None, id=None) != replace(other, time=None, id=None)


def _check(log: Log, fresh: list[AnyEvent]) -> None:
    """Make sure that the log with these events can be read again; raise UsageError otherwise."""
    if log.seq + len(fresh) > MOST_EVENTS:
        raise UsageError(f"the log has {log.seq} events", f"at most {MOST_EVENTS}")
    if len(whole_game_changes(log.events + fresh)) > MOST_WHOLE_GAME:
        raise UsageError("one rule change for the whole game too many", f"at most {MOST_WHOLE_GAME} in a log")
    for event in fresh:
        try:
            events.decode(events.encode(event))
        except UnicodeEncodeError:
            raise UsageError("what was asked for is not UTF-8 text", "text of readable characters") from None
        except DataError as error:
            raise UsageError(f"what was asked for can't be recorded: {error.what}", error.right) from None


def _seal(fresh: list[AnyEvent], previous: bytes) -> list[bytes]:
    """Return the sealed lines of new events; raise UsageError when one is too long."""
    lines = seal_all(fresh, previous)
    longest = max(map(len, lines))
    if longest > MOST_LINE:
        raise UsageError(f"an event of {longest} bytes", f"at most {MOST_LINE}")
    return lines


def _write(writing: _Writing, size: int, data: bytes) -> None:
    """Add bytes to a log of this size, and return when the disk holds them."""
    try:
        files.write(writing.fd, data)
    except OSError as error:
        _take_back(writing, size)
        raise AccessError(f"nothing was recorded: {error.strerror}", "room on the disk", str(writing.path)) from None
    size += len(data)
    try:
        files.sync(writing.fd)
        all_there = files.holds(writing.lock.log, writing.found, size)
    except OSError:
        _take_back(writing, size - len(data))
        raise _unknown(writing.path) from None
    if not all_there:  # somebody wrote without the lock, or put another file in its place
        with suppress(OSError):
            writing.lock.mark(0)
        raise _unknown(writing.path)
    try:  # noqa: SIM105
        writing.lock.mark(size)
    except OSError:
        pass


def _unknown(path: Path) -> Busy:
    what = f"{path}: it is unknown whether the disk holds what was written"
    return Busy(what, "repeat the command with the same --id")


def _take_back(writing: _Writing, size: int) -> None:
    """Cut off what was written last; the disk may hold it all the same until whoever writes next has synced the log."""
    try:
        writing.lock.mark(0)
        files.truncate(writing.fd, size)
    except OSError:
        raise _unknown(writing.path) from None


# -- whole logs -------------------------------------------------------------------------------------------------------


def create(path: Path, start: events.Start, *, now: Callable[[], str] = utc_now) -> Log:
    """Begin a game at a path, durably; its start gets the time. Raise Conflict when the file exists."""
    return write_log(path, [start if start.time is not None else replace(start, time=now())])


def begin(place: Home, start: events.Start, *, now: Callable[[], str] = utc_now) -> tuple[Log, bool]:
    """Begin a game in the home folder; return its log and whether it had been begun before, under the same id."""
    path = place.path(start.game)
    try:
        return create(path, start, now=now), False
    except Conflict:
        if start.id is None:
            raise
    with _Writing(path, 10.0) as writing:
        first = log_of(path, _sound(writing)[0]).start
    if first.id != start.id or _differ(_unordered(first), _unordered(start)):
        raise Conflict(f"the game {start.game} was begun by another command", "a new id")
    return _whole(path, [first]), True


def _unordered(start: events.Start) -> events.Start:
    """Leave out who threw what for the first turn: dice are thrown once, and the order of the seats came from them."""
    if start.first_throw is None:
        return start
    return replace(start, first_throw=dict.fromkeys(sorted(start.players), ()), players=tuple(sorted(start.players)))


def write_log(path: Path, log: Iterable[events.Event], *, timeout: float = 10.0) -> Log:
    """Write a whole new log, durably, all or nothing; raise Conflict when the file exists, and what `fold` raises."""
    written = _whole(path, cast("list[AnyEvent]", list(log)))
    if wrong := misnamed(path, written.start):
        raise UsageError(f"{path} {wrong}", f"the name {written.start.game}.jsonl")
    with telling(path):
        files.make_folder(path.parent)
        with Lock(path, timeout) as held:
            if files.exists(path):
                raise Conflict(f"{path} exists already", "another id for the new game")
            _replace(path, held, seal_all(written.events))
    return written


def _whole(path: Path, log: list[AnyEvent]) -> Log:
    game = fold(log)
    lines = seal_all(log)
    return Log(path, game, log, lines[-1][-34:-2].decode(), len(log), True, "", sum(map(len, lines)) + len(lines))


def _replace(path: Path, held: Lock, lines: list[bytes]) -> None:
    """Give a log these lines, whole and durable; until then whoever looks sees the old file."""
    data = b"".join([line + b"\n" for line in lines])
    held.mark(0)
    files.put(path, data)
    try:
        files.sync_folder(path.parent)
    except OSError:
        raise Busy(f"{path}: it is unknown whether the disk holds the file", "look with `tenklog check`") from None
    with suppress(OSError):
        held.mark(len(data))


# -- repair -----------------------------------------------------------------------------------------------------------


def repair(path: Path, *, seal: bool = False, dry_run: bool = False, timeout: float = 10.0) -> list[str]:
    """Keep what is sound of a damaged log, or seal a hand-written one; return what was done, or would be.

    The original is copied beside it first. A log of which nothing is sound stays as it is, and so does one with a whole
    line that is no event of this version, or is too long or one too many for it; a hand-written one that is wrong
    anywhere is for its writer to correct: raise DataError.
    """
    if dry_run:
        return _plan(path, read_bytes(path), seal)[0]
    with telling(path), Lock(_writable(path), timeout, beside=True) as held:
        with files.opened(path, files.APPEND, refuse_links=True) as fd:
            data = files.read(fd)
        steps, lines = _plan(path, data, seal)
        if steps:
            aside = files.set_aside(path, "before-repair", data)
            try:
                _replace(path, held, lines)
            except OSError:
                files.remove(aside)  # the log is as it was, and this may be what filled the disk
                raise
            steps.append(f"the log as it was is kept as {aside.name}")
        return steps


def _plan(path: Path, data: bytes, seal: bool) -> tuple[list[str], list[bytes]]:
    """Return what a repair does to a log and the lines it ends with."""
    found = scan(data)
    game, error = fold_found(found.events)
    by_hand = not found.sealed and (error is not None or found.damage is not None or (found.torn and not seal))
    if game is None or by_hand:
        log_of(path, found)  # says what is wrong, and where
        raise DataError("the last line is not whole", "correct it by hand", f"{path}:{len(found.lines) + 1}")
    if error is None and found.damage is not None and found.damage.whole:
        log_of(path, found)  # nothing is damaged
    steps = []
    kept = game.seq
    byte = sum(map(len, found.lines[:kept])) + kept
    if error is not None:
        steps.append(f"line {kept + 1} {error.what}: it and what follows are cut")
    elif found.damage is not None:
        steps.append(f"line {kept + 1} {found.damage.what}: it and what follows are cut")
    elif found.torn:
        steps.append("the last line is torn and is cut")
    if steps:
        steps.append(f"{kept} events are kept, {len(data) - byte} bytes are cut")
    elif not found.ended:
        steps.append("the last line gets its newline")
    if seal and not found.sealed:
        steps.append(f"{kept} events are written canonically and sealed")
    return steps, seal_all(found.events[:kept])
