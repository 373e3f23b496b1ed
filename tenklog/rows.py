"""Rows: this module derives from a log the rows that it has in the archive's tables, and lines of the log from rows.

Only what stands in a log has rows in `turns` and `rolls`: what was taken back never happened. Players have the names
that they have at the end, so one person has one name in a game.

Rows leave as JSON. The columns of `seats`, `turns` and `rolls` are lists, one object a game, which DuckDB takes apart
three times faster than an object a row.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import json

from tenklog import events
from tenklog.chances import losing_throws
from tenklog.dice import Dice
from tenklog.errors import DataError, UsageError
from tenklog.events import digest
from tenklog.game import Step, retold
from tenklog.lines import Scan, seal_all
from tenklog.luck import measured
from tenklog.projections import names, standings
from tenklog.reading import Log
from tenklog.rules import DEFAULTS, Ruleset
from tenklog.state import Ended, Position, Turn, bank_ban, must_bank
from tenklog.tables import OF_LUCK, SETS, TABLES, Rows

MOST_TOTAL = 2**62
_ORDERED = [6**count for count in range(7)]
_encode = json.Encoder().encode
# The events that nearly all lines are; the columns of `events` say all of them.
PLAIN: tuple[type[events.Event], ...] = (events.Roll, events.Keep, events.Bank, events.Bust)


def rows(log: Log, found: Scan, data: bytes, luck: bool = False) -> Rows:
    """Return the rows of a log as JSON Lines, by table; `data` are the bytes that were found to be the log.

    With `luck`, those of turns and rolls say what was luck and what skill, which takes as long as all the rest or more.
    """
    game = log.game
    position, start = game.position, game.start
    agreed, told = retold(game)
    ended = position.turns()
    if any(abs(one.total) > MOST_TOTAL for one in ended):
        raise DataError(f"a total is above {MOST_TOTAL}", "totals that an archive can hold", str(log.path))
    players = names(position, range(len(position.seats)))
    turns, rolls = _turns_and_rolls(told, ended, players)
    of_luck = _luck(told, ended, rolls, players) if luck else {}
    record = of_rules(agreed) | of_lines(found, data)
    record |= {
        "turns": sum(one.number > 0 for one in ended), "rule_changes": _later_changes(told), "measured": luck,
    }  # fmt: skip
    return of_result(start, position, record) | {
        "turns": _listed("turns", _of_game(start), turns, of_luck.get("turns", ())),
        "rolls": _listed("rolls", _of_game(start), rolls, of_luck.get("rolls", ())),
        "events": of_events(start.game, found),
    }


def of_lines(found: Scan, data: bytes) -> dict[str, Any]:
    """Return what the row of a game says of the lines of a log, `data`, that are all sound."""
    last = found.hash_at(len(found.lines)) if found.sealed else seal_all(found.events)[-1][-34:-2].decode()
    return {
        "ended": next((event.time for event in reversed(found.events) if event.time), None),
        "seq": len(found.lines),
        "h": last,
        "first_h": first_hash(found),
        "sealed": found.sealed,
        "digest": digest(data),
    }


def of_rules(agreed: Ruleset) -> dict[str, Any]:
    """Return what the row of a game says of the rules of its first turn."""
    ruleset = _encode(agreed)
    settings = {key: getattr(agreed, key) for key in DEFAULTS}
    return {"rules_hash": digest(ruleset), "ruleset": ruleset.decode(), "settings": settings}


def of_result(start: events.Start, position: Position, record: dict[str, Any]) -> Rows:
    """Return the rows of a game and its seats from its last position; `record` is what that does not say."""
    of_game, over = _of_game(start), position.status == "finished"
    players = names(position, range(len(position.seats)))
    row = of_game | record | {
        "title": start.title,
        "status": position.status,
        "players": players,
        "winners": names(position, position.winners) if over else None,
        "rounds": position.round,
        "events": record["seq"],
        "replay_of": start.of,
    }  # fmt: skip
    return {
        "games": _encode(row) + b"\n",
        "seats": _listed("seats", of_game, _seats(position, players, over)),
    }


def _of_game(start: events.Start) -> dict[str, Any]:
    return {"game": start.game, "rules": start.rules.name, "origin": start.origin, "begun": start.time}


def first_hash(found: Scan) -> str:
    """Return the hash of a log's first line, or what sealing would give it."""
    if found.sealed:
        return found.hash_at(1)
    return events.link(events.ZEROS, events.encode(found.events[0])[:-1]).decode()


def _listed(
    table: str, of_game: dict[str, Any], rows: Sequence[tuple[Any, ...]], more: Sequence[tuple[Any, ...]] = ()
) -> bytes:
    """Return the rows of a game's table as one line of JSON: what the game gives, and a list for each other column.

    The last columns of a row come from `more`; without it they are left out, and DuckDB reads null.
    """
    if not rows:
        return b""
    listed = [column.name for column in TABLES[table] if column.name not in of_game]
    columns = [*zip(*rows, strict=True), *zip(*more, strict=True)]
    return _encode(of_game | dict(zip(listed, columns, strict=False))) + b"\n"


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


def _turns_and_rolls(
    told: list[Step], ended: list[Ended], players: list[str]
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows of `turns` and of `rolls`, but for what the game gives."""
    turns: list[tuple[Any, ...]] = []
    rolls: list[tuple[Any, ...]] = []
    opened = [False] * len(players)
    running = [(0, 0)] * len(players)  # busts in a row, turns with points in a row
    ends = iter(ended)
    number = 1  # of the turn, unless it is dropped
    begun = first = hot = 0  # the turn's first roll in `rolls`, its first event, how often all dice were set aside
    thrown: Step | None = None  # the turn's last roll
    kept: Turn | None = None  # the turn when dice of that were kept
    came = told[0][1] if told else None  # the position when the turn came to its seat
    for step in told:
        event, before, after = step
        kind = type(event)
        if kind is events.Roll:
            if thrown is not None:
                rolls.append(_roll(thrown, kept, number, players, "roll", before))
            thrown, kept = step, None
            first = first or event.seq
        elif kind is events.Keep:
            kept = after.turn
            assert kept is not None
            hot += kept.dice_left == before.rules.dice
        elif kind is events.Steal or kind is events.Challenge:
            first = first or event.seq
        if after.ended is before.ended:
            if kind is events.Leave and after.turn is not before.turn:
                came = after
            continue
        done = next(ends)
        if thrown is not None:
            decision = "bank" if kind is events.Bank and not event.settled else None  # type: ignore[attr-defined]
            outcome = None if done.outcome == "left" else done.outcome
            rolls.append(_roll(thrown, kept, number, players, decision, before, outcome))
        if not done.number:
            _drop(rolls, begun)
        assert came is not None
        turns.append(_turn(done, event, first, hot, came, opened, running, players))
        number += done.number > 0
        begun, first, hot, thrown, kept, came = len(rolls), 0, 0, None, None, after
    if thrown is not None:
        rolls.append(_roll(thrown, kept, number, players))
    _drop(rolls, begun)
    return turns, rolls


def _luck(
    told: list[Step], ended: list[Ended], rolls: list[tuple[Any, ...]], players: list[str]
) -> dict[str, list[Any]]:
    """Return the last columns of `turns` and `rolls`: what was luck and what skill, null where that can't be said."""
    try:
        found = measured(told, players)
    except UsageError:
        return {}  # under these rules a turn has no value
    turns = {turn.turn: (turn.start, turn.luck, turn.decisions, aimed) for _, turn, aimed in found if turn.steps}
    of_rolls: dict[int, list[Any]] = {}
    for _, turn, aimed in found:
        of_roll: list[Any] = []
        for step in turn.steps:
            if step.kind == "roll":
                of_roll = of_rolls[step.seq] = [step.luck, None, None, None, aimed]
            elif step.kind == "keep":
                of_roll[1:3] = step.real, step.loss
            elif of_roll:
                of_roll[3] = step.loss
    unknown = {table: (None,) * len(columns) for table, columns in OF_LUCK.items()}
    return {
        "turns": [turns.get(one.number, unknown["turns"]) for one in ended],
        "rolls": [of_rolls.get(seq, unknown["rolls"]) for _, _, _, _, _, seq, *_ in rolls],
    }


def _roll(
    thrown: Step, kept: Turn | None, number: int, players: list[str], decision: str | None = None,
    decided: Position | None = None, outcome: str | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the row of a roll: what was kept of it, what was decided next and where, how its turn ended if it did."""
    event, before, after = thrown
    turn, now = before.turn, after.turn
    assert isinstance(event, events.Roll)
    assert turn is not None
    seat, dice, points = turn.seat, event.dice, turn.points
    count = len(dice)
    keep = keep_set = left = None
    result, gained, hot = outcome, points, False
    if kept is not None:
        result, keep, gained, left = "kept", kept.keep, kept.points, kept.dice_left
        keep_set = _set(keep)
        hot = left == before.rules.dice
    elif now is not None and now.phase == "busted":
        result = outcome or "bust"
    elif now is not None and now.phase != "rolled":
        result, gained, left = "free", now.points, now.dice_left
    return (
        seat + 1, players[seat], number, before.round, turn.rolls + 1, event.seq, dice, count, _set(dice), keep,
        keep_set, result, points, gained, left, hot, decision, is_free(decided) if decision and decided else None,
        losing_throws(before, turn) / _ORDERED[count], event.thrown_by is not None,
    )  # fmt: skip


def _drop(rolls: list[tuple[Any, ...]], begun: int) -> None:
    """Leave the last rolls without the number of a turn: it was dropped, or never ended."""
    rolls[begun:] = [(*row[:2], None, *row[3:]) for row in rolls[begun:]]


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


def _set(dice: Dice) -> int:
    """Return the index of dice, in any order, among all sets."""
    index = SETS.get(dice)
    return SETS[tuple(sorted(dice))] if index is None else index


def is_free(position: Position) -> bool:
    """Tell whether to roll and to bank were both legal where one of them was decided."""
    turn, rules = position.turn, position.rules
    if turn is None or turn.phase != "kept":
        return False  # a last die that has to be thrown again
    if rules.hot_dice == "may-roll" and rules.below_minimum == "zero":
        return True
    return not must_bank(position, turn) and not bank_ban(position, turn)[0]


def of_events(game: str, found: Scan) -> bytes:
    """Return the lines of a log, each with the game's id; those that the columns don't say go along as they are."""
    lines = [*found.lines]
    prefix = b'{"log":"' + game.encode() + b'",'
    for number, event in enumerate(found.events):
        if not (found.sealed and type(event) in PLAIN):
            lines[number] = _whole_line(event, whole_text(found, number))
    return prefix + (b"\n" + prefix).join([line[1:] for line in lines]) + b"\n"


def whole_text(found: Scan, number: int) -> str:
    """Return the text of a line (from 0) without its hash."""
    line = found.lines[number]
    return (line[:-40] + b"}" if found.sealed else line).decode()


def _whole_line(event: events.Event, text: str) -> bytes:
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
