"""Followed: this module follows many recorded games at once, and makes the rows that `rows` makes of each by itself.

That is done for logs in which nothing happens but rolls, keeps, banks and busts of players who sit there from the first
turn to the last. Each move is looked up: what a throw brings is what `chances` found on the fold, what the end of a
turn brings stands in `transitions.Ends`, and what is legal is asked of `state`, once for each spot. A log that goes
another way than these tables, or that anything is wrong with, is left to the fold, which says what. Needs numpy and
pyarrow.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct, json
from msgspec.structs import replace

from tenklog import events, kernel, state
from tenklog.errors import TenklogError
from tenklog.game import evolve
from tenklog.ledger import (
    BANK,
    BUST,
    ROLL,
    agreed_by,
    events_of,
    lay_out,
    of_games,
    results_of,
    rolls_of,
    times,
    turns_of,
)
from tenklog.lines import Scan
from tenklog.lockstep import (
    MOST_POINTS,
    MOST_TOTAL,
    ROLLS,
    SHOWN,
    THROWS,
    TURNS,
    Asked,
    Board,
    Columns,
    played,
)
from tenklog.rows import PLAIN, is_free, of_lines, whole_text
from tenklog.rules import Ruleset
from tenklog.state import opening, with_turn
from tenklog.transitions import Ends

MOST_KINDS = 64  # of rulesets and numbers of seats that are remembered at once


class Moves(Struct):
    """What was recorded of a game, and its lines: of each roll who threw it, what was thrown and kept (-1 for nothing)
    as numbers of throws, how the turn went on, the points that were banked, and whether tenklog threw.
    """  # noqa: D205

    start: events.Start
    found: Scan
    rolls: list[list[int]]


def moves(found: Scan) -> Moves | None:
    """Return the moves of a log in which nothing else happens; None for any other, or when something is wrong."""
    start = found.events[0] if found.events else None
    if type(start) is not events.Start or start.origin == "replay" or not found.sealed or found.damage or found.torn:
        return None
    if [event.seq for event in found.events] != [*range(1, len(found.events) + 1)]:
        return None
    try:
        table = evolve(None, start).position.table
    except TenklogError:
        return None
    made = Moves(start, found, [])
    seats = {player: seat for seat, player in enumerate(start.players)}
    asides = start.rules.set_aside == "one-per-combination"
    roll: list[int] = []
    player, last = "", None  # the kind of the turn's last event
    others: list[Any] = found.events[1:]
    for event in others:
        kind: Any = type(event)
        if kind is events.Roll:
            if last is not None and event.player != player:
                return None
            player = event.player
            roll = [seats.get(player, -1), THROWS[event.dice], -1, kernel.GOES_ON, 0, event.thrown_by is not None]
            made.rolls.append(roll)
        elif kind not in PLAIN or last is None or event.player != player:
            return None
        elif kind is events.Keep and last is events.Roll:
            aside = event.aside and tuple(sorted(event.aside))
            if aside not in (table.asides(tuple(sorted(event.dice))) if asides else (None,)):
                return None
            roll[2] = THROWS[event.dice]
        elif kind is events.Bank and not event.settled:
            roll[3], roll[4] = kernel.ENDS, event.points
            kind = None
        elif kind is events.Bust and last is events.Roll:
            roll[3] = kernel.LOSES
            kind = None
        else:
            return None
        last = kind
    return made if last is None and made.rolls else None


class Followed(Struct, frozen=True):
    """Games that were followed: which of them to their ends, and the rows of those alone."""

    over: list[bool]
    tables: dict[str, pa.Table]


class Follower:
    """Follows games of one ruleset and number of seats."""

    def __init__(self, rules: Ruleset, seats: int) -> None:
        self.seats, self.board, self.ends, self._agreed = seats, Board(rules), Ends(rules), agreed_by(rules)
        self.last = self.ends.last_turns(seats)[seats]
        at = opening(("own", "other"), rules)
        self._positions = [replace(at, seats=(replace(one, player="own"), at.seats[1])) for one in self.ends.states]
        self._legal = Asked(self._legal_at)

    def _legal_at(self, question: int) -> int:
        """Tell what is legal in a state of the seat, with some points at a node where the dice need not be thrown."""
        at, points, node = question >> 42, question >> 16 & 0x3FFFFFF, question >> 10 & 63
        position = with_turn(self._positions[at], self.board.nodes[node].turn(0, points))
        legal = state.legal(position)
        return (
            kernel.MAY_BANK * ("bank" in legal) + kernel.MAY_THROW * ("roll" in legal) + kernel.FREE * is_free(position)
        )

    def follow(self, logs: Sequence[tuple[Moves, bytes]]) -> Followed:
        """Follow some games, of which the bytes are given too."""
        board, ends, count = self.board, self.ends, len(logs)
        counts = [len(one.rolls) for one, _ in logs]
        begin = np.cumsum([0, *counts])
        every = (roll for one, _ in logs for roll in one.rolls)
        recorded = np.array([*chain.from_iterable(every)], np.int64).reshape(-1, 6)
        who, throws, keeps, how, banked, by_tool = np.ascontiguousarray(recorded.T)
        rolls, turns = (np.zeros((len(names), begin[-1]), np.int32) for names in (ROLLS, TURNS))
        rounds, seats, over = (
            np.zeros(count, np.int64),
            np.zeros((count, self.seats, 6), np.int64),
            np.zeros(count, bool),
        )
        missing = np.zeros(begin[-1], np.int64)
        while True:
            rolled, ended, lacking = kernel.follow(
                begin, throws, who, keeps, how, banked, SHOWN, board.first, board.many, board.count,
                board.must_throw, board.points, board.after, board.kept, board.rules.dice, ends.minimum, ends.costs,
                ends.after, ends.threshold, self.last, self._legal.questions, self._legal.answers, MOST_POINTS,
                MOST_TOTAL, board.rules.tie == "shared", missing, rounds, seats, over, rolls, turns,
            )  # fmt: skip
            if not lacking:
                break
            self._legal.ask(missing[:lacking])
        found = played(rolls[:, :rolled], turns[:, :ended], over, rounds, seats, ends)
        if not over.any():
            return Followed(over.tolist(), {})
        there = np.repeat(over, counts)
        made, done = found.rolls | {"laid": keeps[there], "by_tool": by_tool[there] > 0}, found.turns
        logs = [one for one, is_over in zip(logs, over.tolist(), strict=True) if is_over]
        for one in (made, done):
            one["game"] = (np.cumsum(over) - 1)[one["game"]]
        starts, lines = [one.start for one, _ in logs], [of_lines(one.found, data) for one, data in logs]
        games = of_games(starts)
        results = results_of(starts, games, lines, self._agreed, found, over)
        return Followed(over.tolist(), results | self._tables([one for one, _ in logs], games, made, done))

    def _tables(
        self, logs: Sequence[Moves], games: dict[str, pa.Array], made: Columns, done: Columns
    ) -> dict[str, pa.Table]:
        """Return the rows of what happened in games that were followed to their ends."""
        names = pa.array([player for one in logs for player in one.start.players])
        for one in (made, done):
            one["player"] = one["game"] * self.seats + one["seat"]
        _, lines = lay_out(len(logs), made, done)
        every: list[Any] = [event for log in logs for event in log.found.events]
        when = times(pa.array([event.time for event in every], pa.string()))
        by_tool = np.zeros(len(every), bool)
        by_tool[lines["kind"] == ROLL] = made["by_tool"]
        more = {
            "time": when,
            "id": pa.array([event.id for event in every], pa.string()),
            "thrown_by": pa.array(["tenklog"]).take(pa.array(np.zeros(len(every), np.int8), mask=~by_tool)),
        }
        if self.board.rules.set_aside == "one-per-combination":
            more["aside"] = pa.array([getattr(event, "aside", None) for event in every], pa.list_(pa.uint8()))
        starts = [whole_text(log.found, 0) for log in logs]
        ends = pa.array(np.flatnonzero((lines["kind"] == BANK) | (lines["kind"] == BUST)))
        return {
            "turns": turns_of(done, games, names, self.seats == 1).append_column("time", when.take(ends)),
            "rolls": rolls_of(made, games, names, self.board),
            "events": events_of(lines, games["game"], names, starts, more),
        }


@lru_cache(maxsize=MOST_KINDS)
def follower(rules: bytes, seats: int) -> Follower | None:
    """Return what follows games of a ruleset, as JSON, and a number of seats; None when they can't be followed."""
    known = json.decode(rules, type=Ruleset)
    if not Ends(known).simple:
        return None
    found = Follower(known, seats)
    return found if found.board.small else None
