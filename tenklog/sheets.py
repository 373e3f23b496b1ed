"""Sheets: this module finds out how a score sheet is laid out: its players, its turns, and which numbers are sums.

It knows no rules: whether the numbers can be true is not its question. Players may stand in columns or in rows; a
number may be what a turn posted or the running total, or both stand side by side, in rows below each other or in two
tables, as on the Tiotusen page. Nothing is guessed from a single number: what is damaged must not turn the sheet round.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from tenklog.cells import Cell, Grid
from tenklog.errors import DataError
from tenklog.findings import Finding, finding
from tenklog.labels import PLAYERS, numbered, players_in_rows, word
from tenklog.sheet_columns import Table, adds_up, table, tables

FEW = 8  # rounds whose numbers may all rise by accident
Numbers = Literal["points", "totals"]


class Column(Struct):
    """What a sheet says of a player: by rounds what a turn posted, and the total after it; cells may be empty.

    `points` or `totals` are None where the sheet has no such numbers. `sums` are totals below all the rounds, or
    between them: how many rounds are above each, and its cell.
    """

    player: str
    head: Cell
    points: list[Cell] | None
    totals: list[Cell] | None
    sums: list[tuple[int, Cell]]

    @property
    def main(self) -> list[Cell]:
        """Return the cells that have a number for each turn: points, where there are such, else totals."""
        return self.points if self.points is not None else self.totals or []

    @property
    def joined(self) -> int:
        """Return how many rounds the player missed at the beginning, by the dashes in them."""
        return next((number for number, one in enumerate(self.main) if one.kind != "none"), len(self.main))


class Sheet(Struct):
    """A score sheet: the players in the order in which they stand, and what is wrong with how it is written.

    `other` is another reading of few numbers that may be points of turns as well as running totals.
    """

    columns: list[Column]
    findings: list[Finding]
    other: "Sheet | None" = None


def lay_out(grid: Grid, numbers: Numbers | None = None) -> Sheet:
    """Return the sheet that a table of cells is; `numbers` says what they are, else they tell. Raises DataError."""
    grid = _turned(_untitled(grid))
    findings: list[Finding] = []
    # The heads of further tables only repeat the first.
    found = [table(rows, findings if not place else []) for place, rows in enumerate(tables(grid))]
    line = str(grid[0][0].line)
    if not found or not found[0].heads:
        raise DataError("names no players", "a row (or a column) of the players' names", line)
    found = _joined(found)
    if not found[0].rounds:
        raise DataError("has no rounds", "a row of points for each round below the names", line)
    guess = _rises(found[0]) if numbers is None and len(found) == 1 and not found[0].beside else None
    if guess is None:
        return _sheet(found, numbers, findings)
    ways: list[Numbers] = ["totals", "points"] if guess else ["points", "totals"]
    best, other = (_sheet(found, way, findings) for way in ways)
    best.other = other if max(len(column.main) for column in best.columns) <= FEW else None
    return best


# -- tables -----------------------------------------------------------------------------------------------------------


def _untitled(grid: Grid) -> Grid:
    """Return the rows below a title."""
    while len(grid) > 1 and _filled(grid[0]) < 2 and max(map(_filled, grid)) > 1:
        grid = grid[1:]
    return grid


def _filled(row: Iterable[Cell]) -> int:
    return sum(one.kind != "empty" for one in row)


def _turned(grid: Grid) -> Grid:
    """Return the rows with the players in columns and a row of heads, however they stand on the sheet."""
    if not players_in_rows(grid):
        return grid
    first = grid[0]
    headless = first[0].kind == "text" and all(one.kind != "text" for one in first[1:])
    if headless and word(first[0]) not in PLAYERS and not numbered(first[1:]):
        grid = [[Cell(first[0].line, column) for column in range(1, len(first) + 1)], *grid]
    return [list(column) for column in zip(*grid, strict=True)]


def _joined(found: list[Table]) -> list[Table]:
    """Put tables that go on counting the rounds of the one before them together with it."""
    joined = [found[0]]
    for one in found[1:]:
        before = joined[-1]
        if len(one.heads) != len(before.heads) or len(one.beside) != len(before.beside):
            continue  # of something else
        names = dict(zip(one.heads, before.heads, strict=True))
        one.main = {names[player]: column for player, column in one.main.items()}
        one.beside = {names[player]: column for player, column in one.beside.items()}
        one.sums = [(number, {names[player]: cell for player, cell in row.items()}) for number, row in one.sums]
        if one.first == before.first + before.rounds and not one.totals:
            before.go_on(one)
        else:
            joined.append(one)
    return joined


# -- what the numbers are ---------------------------------------------------------------------------------------------


def _sheet(found: list[Table], numbers: Numbers | None, findings: list[Finding]) -> Sheet:
    """Return the sheet that tables are, if their numbers are such."""
    points, totals = _series(found, numbers)
    columns = []
    for player, head in found[0].heads.items():
        sums = [(number, row[player]) for one in found[:2] for number, row in one.sums if row[player].kind != "empty"]
        beside = None if totals is None else totals[player]
        columns.append(Column(player, head, None if points is None else points[player], beside, sums))
    _fill_up(columns)
    return Sheet(columns, [*findings, *(one for column in columns for one in _no_numbers(column))])


Series = dict[str, list[Cell]]  # the cells of each player


def _series(found: list[Table], numbers: Numbers | None) -> tuple[Series | None, Series | None]:
    """Return the cells with points and those with totals."""
    first = found[0]
    if first.beside:
        return first.main, first.beside
    if len(found) > 1:
        second = found[1]
        turned = adds_up(second.main, first.main) > adds_up(first.main, second.main)
        if numbers == "totals" or first.totals or turned:
            return second.main, first.main
        return first.main, second.main
    if numbers == "totals" or (numbers is None and first.sums and _sums_are_ends(first)):
        return None, first.main
    return first.main, None


def _fill_up(columns: list[Column]) -> None:
    """Give all points and totals as many cells as the longest have."""
    series = [(column, one) for column in columns for one in (column.points, column.totals) if one is not None]
    length = max(len(one) for _, one in series)
    for column, one in series:
        end = one[-1] if one else column.head
        one.extend([Cell(end.line, end.column)] * (length - len(one)))


def _no_numbers(column: Column) -> Iterable[Finding]:
    """Yield the cells of a player that should have numbers and have none."""
    for series in (column.points, column.totals, [cell for _, cell in column.sums]):
        for number, cell in enumerate(series or [], 1):
            if (cell.kind == "text" and cell.text) or (cell.kind == "bust" and series is not column.points):
                what = f"{cell.text[:40]!r} is no number of points"
                round_ = number if series in (column.points, column.totals) else None
                right = "a whole number, bust, - where there was no turn"
                yield finding(cell, column.player, round_, "cell", what, right)


def _sums_are_ends(first: Table) -> bool:
    """Tell whether the sums below a table repeat its last numbers, rather than add all of them up."""
    number, row = first.sums[-1]
    ends = adding = 0
    for player, column in first.main.items():
        values = [one.value for one in column[:number] if one.value is not None]
        ends += row[player].value == (values[-1] if values else None)
        adding += row[player].value == sum(values)
    return ends > adding


def _rises(first: Table) -> bool | None:
    """Guess whether numbers are running totals: hardly any is below the one above it. None where sums tell.

    Where numbers are few that may be an accident; but a lost turn leaves a total as it was, and points seldom repeat.
    """
    if first.sums or any(one.kind == "bust" for column in first.main.values() for one in column):
        return None
    steps = falls = again = 0
    for column in first.main.values():
        values = [one.value for one in column if one.value is not None]
        steps += max(0, len(values) - 1)
        falls += sum(b < a for a, b in pairwise(values))
        again += sum(b == a != 0 for a, b in pairwise(values))
    return first.totals or (falls * 6 <= steps and (steps >= 12 or again > 0))
