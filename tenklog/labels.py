"""Labels: this module understands what stands at the edges of a score sheet: words for rounds, players and sums.

A label may count a round (1, `Round 2`, `3.`), say that its row or column holds sums, or name a player. Nothing is
taken from a single label where several can tell: one that is damaged must not turn the sheet round.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from tenklog.cells import Cell, Grid

ROUNDS = frozenset(
    {
        "round", "rounds", "runde", "runda", "omgång", "tur", "turn", "turns", "after", "efter", "nach", "dopo", "giro",
        "turno", "mano", "hand", "nr", "no", "#", "r", "t",
    }
)  # fmt: skip
AFTER = frozenset({"after", "efter", "nach", "dopo"})  # after a round: what stands there is a running total
PLAYERS = frozenset(
    {"player", "players", "name", "names", "spieler", "spelare", "spiller", "giocatore", "joueur"}
)  # fmt: skip
SUMS = frozenset(
    {
        "total", "totals", "totale", "totalt", "sum", "sums", "summe", "summa", "somma", "gesamt", "ialt", "score",
        "scores", "final", "end", "result", "results", "running", "cumulative", "standing", "standings",
    }
)  # fmt: skip
_COUNT = re.compile(r"(\D{0,20}?)[ .#]*(\d{1,4})[.):]?")


def word(cell: Cell) -> str:
    """Return the word in a cell, as the words above are written."""
    return cell.text.casefold().strip(" .:#()=") or cell.text.strip()


def count(label: Cell) -> int | None:
    """Return the number that a label ends with, whatever word is before it; None where there is none."""
    found = _COUNT.fullmatch(label.text)
    return None if found is None else int(found[2])


def _counts_rounds(label: Cell, words: bool) -> bool:
    """Tell whether a label is a number, or (with `words`) a word for a round and a number."""
    found = _COUNT.fullmatch(label.text)
    if found is None:
        return False
    return not found[1].strip() or (words and found[1].casefold().strip(" .:#") in ROUNDS)


def is_sum(label: Cell) -> bool:
    """Tell whether a label says that there are sums."""
    if label.kind != "text":
        return False
    text = label.text.casefold()
    words = re.split(r"[\s.:()='\u2019]+", text)
    return any(one in SUMS for one in words) or text.startswith("i alt") or "\u03a3" in label.text


def says_totals(corner: Cell) -> bool:
    """Tell whether the corner of a table says that it holds running totals."""
    return is_sum(corner) or word(corner) in AFTER


def numbered(labels: Sequence[Cell], words: bool = True) -> bool:
    """Tell whether most labels count rounds, by their places or at least among each other."""
    fitting = total = 0
    offset: int | None = None
    for place, label in enumerate(labels):
        if label.kind == "empty" or is_sum(label):
            continue
        total += 1
        number = count(label)
        if number is not None and _counts_rounds(label, words):
            offset = number - place if offset is None else offset
            fitting += number - place == offset
    # Rows of sums between the rounds take places without a number.
    told = [number for number in (count(label) for label in labels if not is_sum(label)) if number is not None]
    rising = sum(b == a + 1 for a, b in pairwise(told))
    return fitting > 0 and max(fitting, rising + 1) * 3 >= total * 2


def players_in_rows(grid: Grid) -> bool:
    """Tell whether each player has a row of the sheet, rather than a column."""
    corner, heads, labels = word(grid[0][0]), grid[0][1:], [row[0] for row in grid[1:]]
    for words in (False, True):
        if numbered(labels, words):
            return False
        if numbered([one for one in heads if one.kind != "empty"], words):
            return True
        if corner in PLAYERS or corner in ROUNDS:  # a corner may name what is below it or beside it, so it comes second
            return corner in PLAYERS
    return grid[0][0].kind == "text" and bool(heads) and all(one.kind != "text" for one in heads)
