"""Proposals: this module lists the slips by which a sheet may have become what it is, likely or not.

A proposal is another number for one cell, two numbers of a row that changed places, or a row that stands one place
beside its columns. Which of them makes the sheet true, and which is the likeliest, is not its question.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from tenklog.faults import Fault
from tenklog.figures import Edits, End, Figures, Series, Spot
from tenklog.miswritten import neighbours, relation

# How unlikely slips are, beside those of `relation`.
EXCHANGED_BESIDE, EXCHANGED_AFAR, SHIFTED = 1, 3, 1.5
WRONG_TOTAL = 4  # at most: a total may be added up wrongly, so that no digit is right


class Slip(Struct):
    """A proposal: the cells it changes, how likely it is (small numbers first), and how it would have come about.

    `how` is `swap`, `shift`, or how the digits of one number were miswritten; `place` the cell that is named for it;
    `faults` how many things still can't be true without it, once somebody has counted them.
    """

    edits: Edits
    cost: float
    how: str
    place: Spot
    faults: int = 0


def proposals(players: Sequence[Figures], faults: Sequence[Fault]) -> Iterator[Slip]:
    """Yield each slip that may explain some of the faults, first those of single cells."""
    for player in dict.fromkeys(fault.player for fault in faults):
        yield from _rewritten(players[player], [fault for fault in faults if fault.player == player])
    seen = set()
    for spot in dict.fromkeys(spot for fault in faults for spot in _suspects(players[fault.player], fault)):
        for slip in (*_exchanged(players, spot), *_shifted(players, spot)):
            if (key := frozenset(slip.edits.items())) not in seen:
                seen.add(key)
                yield slip


# -- another number in a cell -----------------------------------------------------------------------------------------

Others = Iterator[tuple[Spot, Iterable[int]]]


def _rewritten(one: Figures, faults: Iterable[Fault]) -> Iterator[Slip]:
    """Propose other numbers for single cells of a player."""
    spots: dict[Spot, set[int]] = {}
    for fault in faults:
        for spot, values in _other_totals(one, fault) if one.points is None else _other_points(one, fault):
            spots.setdefault(spot, set()).update(values)
    for spot, values in spots.items():
        written = one.series(spot[0])[spot[2]]
        for value in values:
            how, cost = relation(written, value)
            if spot[0] != "points" and written is not None:
                cost = min(cost, WRONG_TOTAL)
            yield Slip({spot: value}, cost, how, spot)


def _other_points(one: Figures, fault: Fault) -> Others:
    """Yield what points and totals would be without a fault: what the sums need, else what the digits may have been."""
    points = one.series("points")
    stretch = one.stretch(fault.row)
    if stretch is None:
        value = points[fault.row]
        if fault.kind == "impossible" and value is not None:
            yield one.spot("points", fault.row), neighbours(value)
        return
    gap = stretch.change - sum(points[row] or 0 for row in stretch.rows)
    for row in stretch.rows:
        value = points[row]
        if value is not None and gap:
            yield one.spot("points", row), [value + gap]
        elif value is None and row in one.gaps | one.blank:
            yield one.spot("points", row), [gap]
    if gap:
        yield from _moved(stretch.last, -gap)
        yield from _moved(stretch.first, gap)


def _other_totals(one: Figures, fault: Fault) -> Others:
    """Yield what running totals would be without a fault: this one may be wrong, or the one before."""
    totals = one.series("totals")
    for row in (fault.row, fault.row - 1):
        if row >= 0 and (value := totals[row]) is not None:
            yield one.spot("totals", row), neighbours(value)
    if fault.kind == "below" and (stretch := one.stretch(fault.row)):
        yield from _moved(stretch.last, -stretch.change)


def _moved(end: End, change: int) -> Others:
    if end.spot is not None:
        yield end.spot, [end.total + change]


# -- numbers in each other's columns ----------------------------------------------------------------------------------


def _suspects(one: Figures, fault: Fault) -> Iterator[Spot]:
    """Yield where numbers may stand in the wrong column: in the row of a fault, all those of a sum among them."""
    if one.points is not None:
        stretch = one.stretch(fault.row) if fault.kind in ("sum", "below") else None
        for row in [fault.row] if stretch is None else stretch.rows:
            yield one.spot("points", row)
    if one.totals is not None:
        yield from (one.spot("totals", row) for row in (fault.row - 1, fault.row) if row >= 0)
    for number, (rows, _) in enumerate(one.sums):
        if rows in (fault.row, fault.row + 1):
            yield one.spot("sums", number)


def _across(players: Sequence[Figures], series: Series, row: int) -> list[int | None]:
    """Return the numbers of all players in a row; none unless everybody has that row."""
    columns = [one.series(series) for one in players]
    return [column[row] for column in columns] if all(row < len(column) for column in columns) else []


def _exchanged(players: Sequence[Figures], spot: Spot) -> Iterator[Slip]:
    """Propose that a number and one of the same row stand in each other's column."""
    series, player, row = spot
    values = _across(players, series, row)
    for other, value in enumerate(values):
        own = values[player]
        if value is not None and own is not None and value != own:
            edits = {spot: value, (series, other, row): own}
            cost = EXCHANGED_BESIDE if abs(player - other) == 1 else EXCHANGED_AFAR
            yield Slip(edits, cost, "swap", (series, min(player, other), row))


def _shifted(players: Sequence[Figures], spot: Spot) -> Iterator[Slip]:
    """Propose that from an empty cell on, to either side, the numbers of a row stand one column too far."""
    series, _, row = spot
    values = _across(players, series, row) if series != "sums" else []
    for hole in (player for player, value in enumerate(values) if value is None):
        for step, players_ in ((1, range(hole + 1, len(values))), (-1, range(hole - 1, -1, -1))):
            edits: dict[Spot, int | None] = {}
            for player in players_:
                if values[player] is None:
                    break
                edits[series, player - step, row] = values[player]
                left = players[player].needed(row) if series == "points" else None
                yield Slip({**edits, (series, player, row): left}, SHIFTED, "shift", (series, hole, row))
