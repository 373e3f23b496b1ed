"""Entries: this module lists the turns that a score sheet has of each player, in the order in which they are due.

What a turn changed comes from the figures, which may be corrected ones; the cell is that of the sheet. It asks no
rules: it only yields what a turn can have been, and the fold tells what that would do.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from tenklog import events
from tenklog.cells import Cell
from tenklog.figures import Figures
from tenklog.sheets import Column


class Entry(Struct, frozen=True):
    """A turn on the sheet: its row (from 0), its cell, the change of the own total; None where only a word says so."""

    row: int
    cell: Cell
    change: int | None
    total: int | None  # the total after it, where the sheet has that

    def candidates(self, player: str) -> Iterator[events.AnyEvent]:
        """Yield what the turn can have been, the likeliest first: points before a bust."""
        if self.cell.kind != "bust":
            yield events.Bank(1, player=player, points=max(0, self.change or 0))
        if self.change is None or self.change <= 0:
            yield events.Bust(1, player=player)


class Part:
    """What a sheet has of one player: the turns, and how many of them are `done`.

    `joins` is the number of rounds that were over when the player came; `trusted` is False as soon as the game parts
    from the sheet, so that what follows from it is not blamed again.
    """

    def __init__(self, column: Column, numbers: Figures, trusted: bool) -> None:
        self.column = column
        self.player = column.player
        self.trusted = trusted
        self.entries = list(_entries(column, numbers))
        self.joins = column.joined if self.entries else 0
        self.done = 0
        self._ends = self._known()

    @property
    def left(self) -> Sequence[Entry]:
        """Return the turns that are not played yet."""
        return self.entries[self.done :]

    @property
    def next_row(self) -> int:
        """Return the row below the last turn."""
        return self.entries[-1].row + 1 if self.entries else 0

    @property
    def leaves(self) -> bool:
        """Tell whether the column ends with dashes."""
        return any(one.kind == "none" for one in self.column.main[self.next_row :])

    @property
    def end(self) -> int | None:
        """Return the total after the last turn, where the sheet has it."""
        return self._ends.get(self.entries[-1].row) if self.entries else None

    def _known(self) -> dict[int, int]:
        """Return the totals after turns, by their rows; sums below go before totals beside."""
        found = {one.row: one.total for one in self.entries if one.total is not None}
        for rows, cell in self.column.sums:
            last = max((one.row for one in self.entries if one.row < rows), default=None)
            if last is not None and cell.value is not None:
                found[last] = cell.value
        return found

    def costly(self, entry: Entry) -> bool:
        """Tell whether a turn of nothing is followed by a loss, so that it matters whether it was a bust."""
        later = (one.change for one in self.entries[self.entries.index(entry) :])
        return next((change for change in later if change), 0) < 0

    def uncounted(self, entry: Entry, before: int) -> bool:
        """Tell whether the sheet's sums leave out what a turn says it was worth; `before` is the total before it."""
        total = before
        for one in self.entries[self.entries.index(entry) :]:
            total += one.change or 0
            if one.row in self._ends:
                lacking = total - self._ends[one.row]
                return self.trusted and lacking >= (entry.change or 0) > 0
        return False


def _entries(column: Column, numbers: Figures) -> Iterator[Entry]:
    """Yield the turns of a player; one whose number is not known changes nothing, as far as anybody knows."""
    before = 0
    for row, cell in enumerate(column.main):
        total = numbers.totals[row] if numbers.totals is not None else None
        points = numbers.points[row] if numbers.points is not None else None
        due = row in numbers.gaps
        if numbers.points is None and (total is not None or due):
            yield Entry(row, cell, 0 if total is None else total - before, total)
        elif points is not None or due:
            yield Entry(row, cell, None if row in numbers.loose else points or 0, total)
        before = before if total is None else total
