"""Figures: this module holds the numbers that a score sheet has of each player, and which totals are known where.

They begin as they are written and may be edited: every edit makes new ones, so that corrections can be tried. It knows
no rules: whether the numbers can be true is not its question.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from tenklog.sheets import Column

Series = Literal["points", "totals", "sums"]  # points of turns, totals beside them, totals below or between the rounds
Spot = tuple[Series, int, int]  # where a number stands: the player's number and the row of the series, both from 0
Edits = Mapping[Spot, int | None]


class End(Struct, frozen=True):
    """A place where a total is known: how many rows are above it, the total, and where it stands (None: the begin)."""

    rows: int
    total: int
    spot: Spot | None


class Stretch(Struct, frozen=True):
    """The rows between two totals that follow each other."""

    first: End
    last: End

    @property
    def rows(self) -> range:
        """Return its rows."""
        return range(self.first.rows, self.last.rows)

    @property
    def change(self) -> int:
        """Return what its turns together change, as the totals have it."""
        return self.last.total - self.first.total


class Figures(Struct, frozen=True):
    """The numbers of a player by rows: points of turns, totals beside them, totals below (how many rows, total).

    `loose` are turns of which only the word for a lost turn stands there; `gaps` rows without the number that is due;
    `blank` rows in whose cell for points nothing is written.
    """

    player: int
    points: list[int | None] | None
    totals: list[int | None] | None
    sums: list[tuple[int, int | None]]
    loose: frozenset[int]
    gaps: frozenset[int]
    blank: frozenset[int]

    @property
    def main(self) -> Series:
        """Return which series has a number for each turn."""
        return "totals" if self.points is None else "points"

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return len(self.series(self.main))

    def series(self, series: Series) -> list[int | None]:
        """Return all numbers of a kind; nothing where the sheet has none."""
        if series == "sums":
            return [total for _, total in self.sums]
        return (self.points if series == "points" else self.totals) or []

    def spot(self, series: Series, row: int) -> Spot:
        """Return where a number of this player stands."""
        return series, self.player, row

    def ends(self) -> list[End]:
        """Return where totals are known, by rows; the first is that nobody has anything at the beginning."""
        beside = [(row + 1, total, self.spot("totals", row)) for row, total in enumerate(self.totals or [])]
        below = [(rows, total, self.spot("sums", number)) for number, (rows, total) in enumerate(self.sums)]
        known = [End(rows, total, spot) for rows, total, spot in [*beside, *below] if total is not None]
        return sorted([End(0, 0, None), *known], key=lambda end: end.rows)

    def stretches(self) -> list[Stretch]:
        """Return what lies between the totals; empty stretches too, where two totals are of the same turn."""
        return [Stretch(first, last) for first, last in pairwise(self.ends())]

    def stretch(self, row: int) -> Stretch | None:
        """Return the stretch that a row is in; None when no total follows."""
        return next((one for one in self.stretches() if row in one.rows), None)

    def needed(self, row: int) -> int | None:
        """Return the points that the totals around a row leave for it; None where they don't tell."""
        stretch = self.stretch(row)
        if self.points is None or stretch is None:
            return None
        return stretch.change - sum(self.points[at] or 0 for at in stretch.rows if at != row)

    def edited(self, edits: Edits) -> "Figures":
        """Return these numbers with others in some places."""
        points = None if self.points is None else [*self.points]
        totals = None if self.totals is None else [*self.totals]
        sums, gaps, loose = [*self.sums], set(self.gaps), set(self.loose)
        for (series, _, row), value in edits.items():
            if series == "sums":
                sums[row] = (sums[row][0], value)
                continue
            values = points if series == "points" else totals
            assert values is not None
            values[row] = value
            if series == self.main:
                loose.discard(row)
                gaps.discard(row)
                if value is None:
                    gaps.add(row)
        return Figures(self.player, points, totals, sums, frozenset(loose), frozenset(gaps), self.blank)


def figures(player: int, column: Column) -> Figures:
    """Return the numbers of a player as they are written."""
    points = column.points or []
    return Figures(
        player,
        None if column.points is None else [one.value for one in column.points],
        None if column.totals is None else [one.value for one in column.totals],
        [(number, one.value) for number, one in column.sums],
        frozenset(number for number, one in enumerate(points) if one.kind == "bust" and not one.value),
        _gaps(column),
        frozenset(number for number, one in enumerate(points) if one.kind == "empty"),
    )


def _gaps(column: Column) -> frozenset[int]:
    """Return the rows without the number that is due: before the last turn, and not before the player joined."""
    main = column.main
    there = [number for number, one in enumerate(main) if one.kind in ("number", "bust", "text")]
    if not there:
        return frozenset()
    rows = range(column.joined, max(there) + 1)
    return frozenset(number for number in rows if main[number].kind not in ("number", "bust"))
