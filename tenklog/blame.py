"""Blame: this module says in words which cell of a sheet can't be true, why, and what was likely meant.

It decides nothing: which fault or slip it is, it is told.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from tenklog.cells import Cell
from tenklog.faults import Fault
from tenklog.figures import Figures, Spot, Stretch
from tenklog.findings import Finding, finding
from tenklog.miswritten import neighbours, relation
from tenklog.proposals import Slip
from tenklog.sheets import Sheet
from tenklog.totals import Changes

Words = tuple[str, str, str]  # the kind of a finding, what is wrong, what would be right


def cell(sheet: Sheet, spot: Spot) -> Cell:
    """Return the cell of a number."""
    series, player, row = spot
    column = sheet.columns[player]
    if series == "sums":
        return column.sums[row][1]
    cells = column.points if series == "points" else column.totals
    assert cells is not None
    return cells[row]


def fault(sheet: Sheet, players: Sequence[Figures], changes: Changes, one: Fault) -> Finding:
    """Say what can't be true where no slip explains it."""
    numbers = players[one.player]
    if one.kind == "missing":
        spot = numbers.spot(numbers.main, one.row)
        dash = cell(sheet, spot).kind == "none"
        what = "a dash says that there was no turn, but one is due" if dash else "the cell is empty"
        return _finding(sheet, spot, ("missing", what, "the points, 0, or - where there was no turn"))
    if one.kind == "impossible" and numbers.points is not None:
        value = numbers.points[one.row] or 0
        kind, what = _impossible(value, changes)
        return _finding(sheet, numbers.spot("points", one.row), (kind, what, _perhaps(value, changes)))
    # Of a stretch that ends with two totals the first is named, which is beside the points.
    stretch = next(stretch for stretch in numbers.stretches() if one.row in stretch.rows)
    assert stretch.last.spot is not None
    return _finding(sheet, stretch.last.spot, ("sum", *_no_sum(numbers, stretch, changes)))


def slip(sheet: Sheet, players: Sequence[Figures], changes: Changes, one: Slip, level: Sequence[Spot]) -> Finding:
    """Say a slip, and at which other places one would explain as much."""
    match one.how:
        case "swap":
            words = _swapped(sheet, players, one)
        case "shift":
            words = _shifted(sheet, one)
        case _ if one.place[0] == "points":
            words = _points(players[one.place[1]], changes, one)
        case _:
            words = _total(players[one.place[1]], changes, one)
    found = _finding(sheet, one.place, words)
    cells = [cell(sheet, spot) for spot in level]
    others = list(dict.fromkeys(f"line {one.line}, column {one.letter}" for one in cells))
    if not others:
        return found
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return replace(found, right=f"{found.right}; as likely {', '.join(others[:3])}{more}")


def _finding(sheet: Sheet, spot: Spot, words: Words) -> Finding:
    series, player, row = spot
    return finding(cell(sheet, spot), sheet.columns[player].player, None if series == "sums" else row + 1, *words)


# -- slips ------------------------------------------------------------------------------------------------------------


def _swapped(sheet: Sheet, players: Sequence[Figures], one: Slip) -> Words:
    series, _, row = one.place
    first, other = sorted(player for _, player, _ in one.edits)
    a, b = (players[player].series(series)[row] for player in (first, other))
    names = f"{sheet.columns[first].player} and {sheet.columns[other].player}"
    return "sum", f"{a} and {b} do not fit {names}", "likely they changed places"


def _shifted(sheet: Sheet, one: Slip) -> Words:
    names = {player: sheet.columns[player].player for _, player, _ in one.edits}
    own = names.pop(one.place[1])
    what = f"the cell is empty, and what {' and '.join(names.values())} have does not fit"
    return "missing", what, f"likely {one.edits[one.place]} is {own}'s, and stands one place too far"


def _points(numbers: Figures, changes: Changes, one: Slip) -> Words:
    _, _, row = one.place
    written, value = numbers.series("points")[row], one.edits[one.place]
    if written is None:
        return "missing", "the cell is empty", f"likely {value}, as the total has it"
    if changes.possible(written):
        return "sum", f"{written} does not fit the total", _likely(one)
    sure = numbers.needed(row) == value
    return *_impossible(written, changes), _likely(one) + (", as the total has it" if sure else "")


def _total(numbers: Figures, changes: Changes, one: Slip) -> Words:
    stretch = next(stretch for stretch in numbers.stretches() if stretch.last.spot == one.place)
    what, right = _no_sum(numbers, stretch, changes)
    if numbers.points is not None:
        if sum(numbers.points[row] or 0 for row in stretch.rows) == stretch.change:
            return "sum", what, _likely(one)  # it adds up what posts nothing
        return "sum", what, right + (f" (likely {one.how})" if one.how else "")
    if changes.possible(stretch.change, stretch.last.total):
        what = f"the total {stretch.last.total} does not fit the totals around it"
    return "sum", what, _likely(one)


def _likely(one: Slip) -> str:
    return f"likely {one.edits[one.place]}" + (f" ({one.how})" if one.how else "")


# -- what can't be true -----------------------------------------------------------------------------------------------


def _impossible(value: int, changes: Changes) -> tuple[str, str]:
    """Return the kind of a finding and what is wrong with the points of a turn."""
    if value < 0:
        return "penalty", f"no rule of {changes.rules.name} takes {-value} points"
    return "impossible", f"no dice make {value} under {changes.rules.name}"


def _perhaps(value: int, changes: Changes) -> str:
    """Return what may have been meant instead of points that can't be."""
    if value < 0:
        costs = " or ".join(str(one) for one in sorted(changes.losses, reverse=True)[:3]) or "0"
        return f"a lost turn costs {costs}"
    likely = sorted((relation(value, one)[1], one) for one in neighbours(value) if one and changes.possible(one))
    words = [str(one) for cost, one in likely if cost == likely[0][0]][:3]
    return f"perhaps {' or '.join(words)}" if words else "points that the dice can make"


def _no_sum(numbers: Figures, stretch: Stretch, changes: Changes) -> tuple[str, str]:
    """Return what is wrong with the total at the end of a stretch, and what would be right."""
    before, total = stretch.first.total, stretch.last.total
    if numbers.points is None:
        what = f"the total {total} after {before} is a turn of {stretch.change}, and "
        return what + _impossible(stretch.change, changes)[1], "another total here or before"
    points = sum(numbers.points[row] or 0 for row in stretch.rows)
    right = f"{before} and {points} make {before + points}" if stretch.first.rows else f"the points make {points}"
    return f"the total {total} does not add up", right
