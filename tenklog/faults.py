"""Faults: this module finds what of a player's numbers can't be true together.

Each turn is held against what dice can make and a lost turn can cost, and each total against the one before it and
the turns between. A turn may count or not: points below a minimum post nothing, a word for a lost turn names no
penalty. So a total fits if any reading of the turns makes it.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from tenklog.figures import Figures
from tenklog.rules import Ruleset
from tenklog.state import Terms, posts
from tenklog.totals import Changes

MOST_SUMS = 4_000  # different sums of one stretch, where some turns may count or not


class Fault(NamedTuple):
    """What can't be true: a number that is due is missing, a turn impossible, a total beside or below is no sum."""

    kind: Literal["missing", "impossible", "sum", "below"]
    player: int
    row: int


class _Since:
    """The turns since the last known total: what they may have made together, and how many are not known."""

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self.sums = {0}
        self.unknown = 0

    def add(self, ways: set[int]) -> None:
        """Add a turn that may have been worth each of some numbers."""
        self.sums = {a + b for a in self.sums for b in ways}
        if len(self.sums) > MOST_SUMS:
            self.unknown += 1
            self.sums = {0}

    def fits(self, total: int, changes: Changes) -> bool:
        """Tell whether a total can follow; with one turn unknown, whether there is a turn that makes it."""
        change = total - self.total
        if self.unknown == 0:
            return change in self.sums
        return self.unknown > 1 or any(changes.possible(change - one, total) for one in self.sums)


def faults(one: Figures, changes: Changes) -> Iterator[Fault]:
    """Yield what of a player's numbers can't be true: first what is missing, then the rest by rows."""
    for row in sorted(one.gaps):
        yield Fault("missing", one.player, row)
    points, totals = one.points or [None] * one.rows, one.totals or [None] * one.rows
    since = _Since()
    opened = False
    for row, (change, total) in enumerate(zip(points, totals, strict=True)):
        if change is not None:
            if not changes.possible(change, total):
                yield Fault("impossible", one.player, row)
            since.add({change, 0, *changes.losses} if row in one.loose else _ways(change, opened, changes.rules))
            opened = opened or change > 0
        elif row in one.gaps or (one.points is None and total is not None):
            since.unknown += 1
        below = [value for rows, value in one.sums if rows == row + 1]
        for place, known in enumerate([total, *below]):
            if known is None:
                continue
            if not since.fits(known, changes):
                beside = since.unknown > 0 or place == 0
                turn = since.unknown > 0 and one.points is None
                yield Fault("impossible" if turn else "sum" if beside else "below", one.player, row)
            since = _Since(known)


def _ways(change: int, opened: bool, rules: Ruleset) -> set[int]:
    """Return what a turn may have added to the sums: what is written, or nothing where a minimum lets it."""
    if change > 0:
        minimum = rules.bank_minimum if opened else rules.opening_minimum
        if rules.must_beat_previous or rules.reach == "exactly" or not posts(Terms(opened, minimum), change)[0]:
            return {change, 0}
    return {change}
