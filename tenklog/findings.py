"""Findings: this module holds what is wrong with a score sheet, each at its cell, and makes an error of it."""

from typing import Literal

from msgspec import Struct

from tenklog.cells import Cell
from tenklog.errors import DataError


class Finding(Struct, frozen=True):
    """What is wrong with a sheet, at a line (from 1) and a column (a letter), with the player and the round there."""

    line: int
    column: str
    player: str | None
    round: int | None
    kind: Literal["cell", "row", "name", "impossible", "sum", "penalty", "minimum", "missing", "after-end", "rules"]
    what: str
    right: str

    @property
    def place(self) -> str:
        """Return the column in words."""
        who = [self.player] if self.player is not None else []
        who += [f"round {self.round}"] if self.round is not None else []
        return f"column {self.column}" + (f" ({', '.join(who)})" if who else "")

    def error(self, file: str) -> DataError:
        """Return the finding as an error of a file."""
        return DataError(f"{self.place}: {self.what}", self.right, f"{file}:{self.line}")


def finding(
    cell: Cell, player: str | None, round_: int | None, kind: str, what: str, right: str
) -> Finding:  # fmt: skip
    """Return a finding at a cell."""
    return Finding(cell.line, cell.letter, player, round_, kind, what, right)  # type: ignore[arg-type]
