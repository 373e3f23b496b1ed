"""Tables: this module says what the archive's tables hold, and derives their rows from a folded log.

Every column has a DuckDB type and a meaning with its unit; the list is a promise: columns may come, none goes or
changes. Unknown is null, never 0. Only what stands in a log has rows in `turns` and `rolls`: what was taken back never
happened. Players have the names that they have at the end, so one person has one name in a game.

Rows leave as JSON. The columns of `seats`, `turns` and `rolls` are lists, one object a game, which DuckDB takes apart
three times faster than an object a row.
"""

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, json
from msgspec.structs import astuple

from tenklog import events
from tenklog.dice import Dice, sets
from tenklog.errors import AccessError, DataError
from tenklog.game import Step, retold
from tenklog.lines import Scan
from tenklog.odds import losing_throws
from tenklog.projections import names, standings
from tenklog.reading import Log
from tenklog.rules import DEFAULTS
from tenklog.state import Ended, Position, Turn, bank_ban, must_bank

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

MOST_TOTAL = 2**62
_ORDERED = [6**count for count in range(7)]
SETS = {dice: number for number, dice in enumerate(sets())}


class Column(Struct, frozen=True):
    """A column: its name, its DuckDB type, and what it means, with the unit."""

    name: str
    type: str
    about: str


def _settings() -> str:
    def kind(value: object) -> str:
        if isinstance(value, bool):
            return "BOOLEAN"
        if isinstance(value, tuple):
            return "INTEGER[]"
        return "INTEGER" if isinstance(value, int) else "VARCHAR"

    return f"STRUCT({', '.join(f'{key} {kind(value)}' for key, value in DEFAULTS.items())})"


# What a game gives to each row of its seats, turns and rolls, so that reports need no join.
_OF_GAME = (
    Column("game", "VARCHAR", "the id of the game"),
    Column("rules", "VARCHAR", "the name of the ruleset"),
    Column("origin", "VARCHAR", "table, import, replay or simulated"),
    Column("begun", "TIMESTAMP", "when the game began, UTC"),
)
_OF_SEAT = (
    Column("seat", "UTINYINT", "the seat, from 1"),
    Column("player", "VARCHAR", "who sits there, by the name at the end of the game"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "games": (
        *_OF_GAME,
        Column("ended", "TIMESTAMP", "when the last event was written, UTC"),
        Column("title", "VARCHAR", "the title, if it has one"),
        Column("status", "VARCHAR", "finished or abandoned; in-progress or last-turns for a log read with --logs"),
        Column("players", "VARCHAR[]", "the players in order of seats, by their names at the end"),
        Column("winners", "VARCHAR[]", "who won, more than one when the win is shared; null without a result"),
        Column("rounds", "INTEGER", "rounds begun"),
        Column("turns", "INTEGER", "turns that ended"),
        Column("events", "INTEGER", "lines of the log"),
        Column("rule_changes", "INTEGER", "rule changes that hold from a later turn on"),
        Column("rules_hash", "VARCHAR", "BLAKE2b-128 of `ruleset`, 32 hex digits: equal for equal rules"),
        Column("ruleset", "VARCHAR", "the ruleset of the first turn as JSON, with changes for the whole game"),
        Column("settings", _settings(), "its settings, points in points"),
        Column("replay_of", "VARCHAR", "the fingerprint of the log that was replayed"),
        Column("seq", "INTEGER", "the number of the last event; with h the head of the log"),
        Column("h", "VARCHAR", "the hash of the last line; what sealing would give it for a log without hashes"),
        Column("first_h", "VARCHAR", "the hash of the first line: another game has another one"),
        Column("sealed", "BOOLEAN", "whether the log's lines carry hashes"),
        Column("digest", "VARCHAR", "BLAKE2b-128 of all bytes of the log file"),
    ),
    "seats": (
        *_OF_GAME,
        *_OF_SEAT,
        Column("status", "VARCHAR", "the status of the game"),
        Column("players", "UTINYINT", "seats at the table"),
        Column("place", "UTINYINT", "the place at the end; equals share it"),
        Column("total", "BIGINT", "the total, points"),
        Column("won", "BOOLEAN", "whether the seat won, alone or shared; null in a game without a result"),
        Column("shared", "BOOLEAN", "whether it shares the win; null in a game without a result"),
        Column("opened", "BOOLEAN", "whether it ever posted points"),
        Column("turns", "INTEGER", "turns that ended"),
        Column("busts", "INTEGER", "turns lost in a bust, wipeouts included"),
        Column("left", "BOOLEAN", "whether the player left the game"),
    ),
    "turns": (
        *_OF_GAME,
        *_OF_SEAT,
        Column("turn", "INTEGER", "the turn's number in the game, from 1; null when its player left during it"),
        Column("round", "INTEGER", "the round, from 1"),
        Column("outcome", "VARCHAR", "banked, bust, scoreless, wiped-out, won, settled or left"),
        Column("points", "BIGINT", "points at stake when it ended"),
        Column("posted", "BIGINT", "points banked, 0 for none"),
        Column("change", "BIGINT", "by how many points the own total changed, penalties included"),
        Column("total_before", "BIGINT", "the total before, points"),
        Column("total", "BIGINT", "the total after, points"),
        Column("lead", "BIGINT", "points ahead of the best other in play when the turn came; null without others"),
        Column("rolls", "INTEGER", "rolls; null on a score sheet, where nobody knows"),
        Column("dice_left", "UTINYINT", "dice that the next roll would have had; null unless the outcome is banked"),
        Column("hot_dice", "INTEGER", "how often all dice were set aside; null on a score sheet"),
        Column("with_dice", "BOOLEAN", "whether the dice are in the log, as opposed to a score sheet"),
        Column("opened", "BOOLEAN", "whether the player had posted points before"),
        Column("stolen", "BOOLEAN", "whether it began with a steal"),
        Column("challenged", "VARCHAR", "the opponent that was challenged"),
        Column("last", "BOOLEAN", "whether it is a last or extra turn"),
        Column("busts_running", "INTEGER", "busts of the seat in a row up to and with it; 0 for another outcome"),
        Column("scores_running", "INTEGER", "turns of the seat in a row that posted points, up to and with it"),
        Column("first_seq", "INTEGER", "its first event"),
        Column("last_seq", "INTEGER", "the event that ended it"),
        Column("time", "TIMESTAMP", "when it ended, UTC"),
    ),
    "rolls": (
        *_OF_GAME,
        *_OF_SEAT,
        Column("turn", "INTEGER", "the turn's number in the game; null for a turn that was dropped or never ended"),
        Column("round", "INTEGER", "the round, from 1"),
        Column("roll", "INTEGER", "the roll's number in the turn, from 1"),
        Column("seq", "INTEGER", "its event"),
        Column("dice", "UTINYINT[]", "the dice in thrown order"),
        Column("thrown", "UTINYINT", "how many dice"),
        Column("roll_set", "SMALLINT", "the set of dice, its index among the 923 (see FORMAT.md)"),
        Column("kept", "UTINYINT[]", "the dice kept of it, null for none"),
        Column("kept_set", "SMALLINT", "the set of dice kept, null for none"),
        Column("result", "VARCHAR", "kept, bust, wiped-out, won, free (scores nothing, goes on); null if cut off"),
        Column("points_before", "BIGINT", "points at stake before it"),
        Column("points", "BIGINT", "points at stake after it and what was kept"),
        Column("dice_left", "UTINYINT", "dice that the next roll would have; null when the turn was lost or won"),
        Column("hot", "BOOLEAN", "whether all dice are set aside after it"),
        Column("decision", "VARCHAR", "what came next, roll or bank; null when the turn ended otherwise"),
        Column("free", "BOOLEAN", "whether both were legal; null where there was no decision"),
        Column("bust_chance", "DOUBLE", "the exact chance of this throw to bust before it was thrown, 0 to 1"),
        Column("by_tool", "BOOLEAN", "whether tenklog threw the dice"),
    ),
    "events": (
        Column("game", "VARCHAR", "the id of the game"),
        Column("seq", "INTEGER", "the event's number, from 1"),
        Column("type", "VARCHAR", "its type, such as roll"),
        Column("time", "TIMESTAMP", "when it was written, UTC"),
        Column("id", "VARCHAR", "the caller's own key"),
        Column("player", "VARCHAR", "whose event, by the name at that time"),
        Column("dice", "UTINYINT[]", "of a roll, in thrown order, or a keep"),
        Column("aside", "UTINYINT[]", "of a keep, the dice that left the table, where the rules ask for it"),
        Column("points", "BIGINT", "of a bank"),
        Column("settled", "BOOLEAN", "true for a bank by which a replay ended a turn; null otherwise"),
        Column("thrown_by", "VARCHAR", "tenklog when the tool threw the dice"),
        Column("line", "VARCHAR", "the line without its hash, as JSON, where the other columns don't say it all"),
    ),
}  # fmt: skip

_encode = json.Encoder().encode
_GAME = [column.name for column in _OF_GAME]
# The events that nearly all lines are; the columns of `events` say all of them.
PLAIN: tuple[type[events.Event], ...] = (events.Roll, events.Keep, events.Bank, events.Bust)


def digest(data: bytes) -> str:
    """Return 32 hex digits that stand for bytes."""
    return blake2b(data, digest_size=16).hexdigest()


def rows(log: Log, found: Scan, data: bytes) -> dict[str, bytes]:
    """Return the rows of a log as JSON Lines, by table; `data` are the bytes that were found to be the log."""
    game = log.game
    position, start = game.position, game.start
    agreed, told = retold(game)
    ruleset = _encode(agreed)
    ended = position.turns()
    of_game: dict[str, Any] = {
        "game": start.game, "rules": start.rules.name, "origin": start.origin, "begun": start.time
    }  # fmt: skip
    if any(abs(one.total) > MOST_TOTAL for one in ended):
        raise DataError(f"a total is above {MOST_TOTAL}", "totals that an archive can hold", str(log.path))
    over = position.status == "finished"
    players = names(position, range(len(position.seats)))
    heads = (log.fingerprint if not log.sealed else f"{log.seq}:{log.h}").partition(":")
    record = of_game | {
        "ended": next((event.time for event in reversed(log.events) if event.time), None),
        "title": start.title,
        "status": position.status,
        "players": players,
        "winners": names(position, position.winners) if over else None,
        "rounds": position.round,
        "turns": sum(one.number > 0 for one in ended),
        "events": log.seq,
        "rule_changes": _later_changes(told),
        "rules_hash": digest(ruleset),
        "ruleset": ruleset.decode(),
        "settings": {key: getattr(agreed, key) for key in DEFAULTS},
        "replay_of": start.of,
        "seq": log.seq,
        "h": heads[2],
        "first_h": first_hash(found),
        "sealed": log.sealed,
        "digest": digest(data),
    }
    turns, rolls = _turns_and_rolls(told, ended, players)
    return {
        "games": _encode(record) + b"\n",
        "seats": _listed("seats", of_game, _seats(position, players, over)),
        "turns": _listed("turns", of_game, turns),
        "rolls": _listed("rolls", of_game, rolls),
        "events": _events(start.game, log, found),
    }


class RowFiles:
    """The rows of logs on their way to DuckDB: a file of JSON Lines for each table, open inside `with`."""

    def __init__(self, prefix: Path) -> None:
        self.paths = {table: prefix.parent / f"{prefix.name}-{table}.json" for table in TABLES}
        self._longest = 16 << 20  # bytes of a line; what DuckDB sets aside grows with it

    def __enter__(self) -> "RowFiles":
        self._all = ExitStack()
        self._open = {table: self._all.enter_context(path.open("wb")) for table, path in self.paths.items()}
        return self

    def __exit__(self, *_: object) -> None:
        self._all.close()  # each of them, even when the disk is full

    def add(self, rows: dict[str, bytes]) -> None:
        """Write the rows of one log."""
        for table, lines in rows.items():
            self._open[table].write(lines)
            if table != "events":
                self._longest = max(self._longest, len(lines))

    def select(self, table: str) -> str:
        """Return the SQL that reads the rows of a table."""
        columns = TABLES[table]
        many = table in ("seats", "turns", "rolls")
        lists = {column.name for column in columns if many and column.name not in _GAME}
        names = {
            column.name: "log" if (table, column.name) == ("events", "game") else column.name for column in columns
        }
        kinds = ", ".join(
            f"{sql_text(names[one.name])}: '{one.type}{'[]' if one.name in lists else ''}'" for one in columns
        )
        chosen = ", ".join(
            f'unnest("{name}") AS "{name}"' if name in lists else f'"{key}" AS "{name}"' for name, key in names.items()
        )
        options = f"format = 'newline_delimited', maximum_object_size = {self._longest}, columns = {{{kinds}}}"
        return f"SELECT {chosen} FROM read_json({quoted(self.paths[table])}, {options})"


def quoted(path: Path | str) -> str:
    """Return a path as a string in SQL, its signs that a pattern would mean taken as they are; raise AccessError.

    It is absolute, because DuckDB has its own meaning for `~` and for what looks like an address.
    """
    whole = os.path.abspath(path)
    try:
        whole.encode()
    except UnicodeEncodeError:
        raise AccessError("the name is not UTF-8", "an archive in a folder of another name", whole) from None
    plain = re.sub(r"[*?\[]", lambda sign: f"[{sign[0]}]", whole)
    return sql_text(plain)


def sql_text(value: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"


def first_hash(found: Scan) -> str:
    """Return the hash of a log's first line, or what sealing would give it."""
    if found.sealed:
        return found.hash_at(1)
    return events.link(events.ZEROS, events.encode(found.events[0])[:-1]).decode()


def _listed(table: str, of_game: dict[str, Any], rows: Sequence[tuple[Any, ...]]) -> bytes:
    """Return the rows of a game's table as one line of JSON: what the game gives, and a list for each other column."""
    if not rows:
        return b""
    listed = [column.name for column in TABLES[table] if column.name not in of_game]
    return _encode(of_game | dict(zip(listed, zip(*rows, strict=True), strict=True))) + b"\n"


def _seats(position: Position, players: list[str], over: bool) -> list[tuple[Any, ...]]:
    rows = []
    for one in sorted(standings(position), key=lambda one: one.seat):
        won = one.seat - 1 in position.winners
        rows.append((
            one.seat, one.player, position.status, len(players), one.place, one.total, won if over else None,
            (won and len(position.winners) > 1) if over else None, one.opened, one.turns, one.busts, one.left,
        ))  # fmt: skip
    return rows


def _later_changes(told: list[Step]) -> int:
    return sum(type(event) is events.RuleChange and event.scope == "next-turn" for event, _, _ in told)


class _Roll(Struct, gc=False):
    """A row of `rolls` but for what the game gives; what comes later in the turn completes it."""

    seat: int
    player: str
    turn: int | None
    round: int
    roll: int
    seq: int
    dice: Dice
    thrown: int
    roll_set: int
    kept: Dice | None
    kept_set: int | None
    result: str | None
    points_before: int
    points: int
    dice_left: int | None
    hot: bool
    decision: str | None
    free: bool | None
    bust_chance: float
    by_tool: bool


def _turns_and_rolls(
    told: list[Step], ended: list[Ended], players: list[str]
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows of `turns` and of `rolls`, but for what the game gives."""
    turns: list[tuple[Any, ...]] = []
    rolls: list[_Roll] = []
    opened = [False] * len(players)
    running = [(0, 0)] * len(players)  # busts in a row, turns with points in a row
    ends = iter(ended)
    number = 1  # of the turn, unless it is dropped
    begun = first = hot = 0  # the turn's first roll in `rolls`, its first event, how often all dice were set aside
    roll: _Roll | None = None
    came = told[0][1] if told else None  # the position when the turn came to its seat
    for event, before, after in told:
        kind = type(event)
        turn = before.turn
        assert turn is not None
        if kind is events.Roll:
            if roll is not None:
                _decide(roll, before, turn, "roll")
            roll = _new_roll(event, before, turn, number, players)  # type: ignore[arg-type]
            rolls.append(roll)
            now = after.turn
            if now is not None and now.phase == "busted":
                roll.result = "bust"
            elif now is not None and now.phase in ("to-roll", "kept"):
                roll.result, roll.points, roll.dice_left = "free", now.points, now.dice_left
            first = first or event.seq
        elif kind is events.Keep:
            assert roll is not None
            now = after.turn
            assert now is not None
            roll.kept, roll.kept_set, roll.result = now.keep, _set(now.keep), "kept"
            roll.points, roll.dice_left = now.points, now.dice_left
            if now.dice_left == before.rules.dice:
                roll.hot = True
                hot += 1
        elif kind is events.Steal or kind is events.Challenge:
            first = first or event.seq
        if after.ended is before.ended:
            if after.turn is not None and after.turn.seat != turn.seat:
                came = after
            continue
        done = next(ends)
        if roll is not None:
            if roll.result in (None, "bust"):
                roll.result = done.outcome if done.outcome != "left" else None
            elif kind is events.Bank and not event.settled:  # type: ignore[attr-defined]
                _decide(roll, before, turn, "bank")
        if not done.number:
            _drop(rolls[begun:])
        assert came is not None
        turns.append(_turn(done, event, first, hot, came, opened, running, players))
        number += done.number > 0
        begun, first, hot, roll, came = len(rolls), 0, 0, None, after
    _drop(rolls[begun:])
    return turns, list(map(astuple, rolls))


def _new_roll(event: events.Roll, position: Position, turn: Turn, number: int, players: list[str]) -> _Roll:
    seat, dice, points = turn.seat, event.dice, turn.points
    count = len(dice)
    return _Roll(
        seat + 1, players[seat], number, position.round, turn.rolls + 1, event.seq, dice, count, _set(dice), None, None,
        None, points, points, None, False, None, None, losing_throws(position, turn) / _ORDERED[count],
        event.thrown_by is not None,
    )  # fmt: skip


def _drop(rolls: list[_Roll]) -> None:
    """Leave rolls without the number of a turn: it was dropped, or never ended."""
    for roll in rolls:
        roll.turn = None


def _turn(
    done: Ended, event: events.Event, first: int, hot: int, came: Position, opened: list[bool],
    running: list[tuple[int, int]], players: list[str],
) -> tuple[Any, ...]:  # fmt: skip
    """Return the row of a turn, and carry on what its seat has had so far."""
    turn = done.turn
    seat = turn.seat
    posted, total, outcome = done.posted, done.total, done.outcome
    busts, scores = running[seat]
    running[seat] = busts, scores = (
        busts + 1 if outcome == "bust" or outcome == "wiped-out" else 0, scores + 1 if posted else 0  # noqa: PLR1714
    )  # fmt: skip
    had = opened[seat]
    opened[seat] = had or posted > 0
    before = total - done.change
    lead = None
    for number, other in enumerate(came.seats):
        if number != seat and not other.left and (lead is None or before - other.total < lead):
            lead = before - other.total
    dice = turn.with_dice
    return (
        seat + 1, players[seat], done.number or None, done.round, outcome, turn.points, posted, done.change, before,
        total, lead, turn.rolls if dice else None, turn.dice_left if dice and outcome == "banked" else None,
        hot if dice else None, dice, had, turn.stolen, None if turn.challenge is None else players[turn.challenge],
        done.last, busts, scores, first or event.seq, event.seq, event.time,
    )  # fmt: skip


@cache
def _set(dice: Dice) -> int:
    """Return the index of dice, in any order, among all sets."""
    return SETS[tuple(sorted(dice))]


def _decide(roll: _Roll, position: Position, turn: Turn, decision: str) -> None:
    """Note what was decided after a roll, and whether the other was legal too."""
    roll.decision = decision
    if turn.phase != "kept":
        roll.free = False  # a last die that has to be thrown again, or a settled bank in the middle of a roll
    elif position.rules.hot_dice == "may-roll" and position.rules.below_minimum == "zero":
        roll.free = True
    else:
        roll.free = not must_bank(position, turn) and not bank_ban(position, turn)[0]


def _events(game: str, log: Log, found: Scan) -> bytes:
    """Return the lines of a log, each with the game's id; those that the columns don't say go along as they are."""
    lines = found.lines[: log.seq]
    prefix = b'{"log":"' + game.encode() + b'",'
    for number, event in enumerate(log.events):
        if not (log.sealed and type(event) in PLAIN):
            lines[number] = _whole_line(event, lines[number], log.sealed)
    return prefix + (b"\n" + prefix).join([line[1:] for line in lines]) + b"\n"


def _whole_line(event: events.Event, line: bytes, sealed: bool) -> bytes:
    text = (line[:-40] + b"}" if sealed else line).decode()
    known = {"seq": event.seq, "type": event.__struct_config__.tag, "time": event.time, "id": event.id, "line": text}
    for name in ("player", "dice", "aside", "points", "settled", "thrown_by"):
        if (value := getattr(event, name, None)) is not None:
            known[name] = value
    return _encode(known)


def line_of(row: tuple[Any, ...]) -> bytes:
    """Return a line without its hash from a row of `events`, its time as the text of an event (columns in order)."""
    _, seq, kind, time, key, player, dice, aside, points, settled, thrown_by, line = row
    if line is not None:
        return str(line).encode()
    known: dict[str, Any] = {"seq": seq, "time": time, "id": key, "player": player}
    if kind == "roll":
        return events.encode(events.Roll(**known, dice=tuple(dice), thrown_by=thrown_by))
    if kind == "keep":
        return events.encode(events.Keep(**known, dice=tuple(dice), aside=None if aside is None else tuple(aside)))
    if kind == "bank":
        return events.encode(events.Bank(**known, points=points, settled=bool(settled)))
    return events.encode(events.Bust(**known))
