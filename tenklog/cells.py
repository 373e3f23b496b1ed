"""Cells: this module reads a spreadsheet's CSV into cells that know where they stand and which number they hold.

It knows no rules and no players. What it can't read as CSV is a DataError; a cell that is no number is only a text.
"""

import csv
import io
import re
from typing import Literal

from msgspec import Struct

from tenklog.errors import DataError

MOST_BYTES = 1 << 20
MOST_CELLS = 100_000
DELIMITERS = "\t;|,"
# Words for a lost turn: the game's own, and those of the sheets in our sources.
BUSTS = frozenset({"bust", "busted", "farkle", "zilch", "baglås"})
NO_TURN = frozenset({"-", "left"})

_MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\u2010\u2011\ufe63\uff0d", "-"))
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u2009\u202f\u2007\t", " "))
# A whole number, plain or in groups of three, perhaps with decimals that are nothing.
_NUMBER = re.compile(r"([+-]?) ?(\d{1,15}|\d{1,3}(?:([ .,'\u2019])\d{3})(?:\3\d{3}){0,4})(?:[.,]0{1,2})?")

Kind = Literal["empty", "none", "number", "bust", "text"]


class Cell(Struct, frozen=True):
    """A cell: its line in the file and its column, from 1; `kind` none is a dash, which says that there was no turn.

    `value` is the number of points; of the word for a lost turn, and the penalty beside it, the penalty or nothing.
    """

    line: int
    column: int
    text: str = ""
    kind: Kind = "empty"
    value: int | None = None

    @property
    def letter(self) -> str:
        """Return the column as a spreadsheet calls it: A to Z, AA ..."""
        found, rest = "", self.column
        while rest:
            rest, last = divmod(rest - 1, 26)
            found = chr(ord("A") + last) + found
        return found


Grid = list[list[Cell]]


def read(text: str) -> Grid:
    """Return the rows of a CSV (or a Markdown table) that are not blank, all of one width; raise DataError."""
    text = text.removeprefix("\ufeff")
    grids: list[Grid] = []
    wrong: DataError | None = None
    for sign in DELIMITERS:
        try:
            grids.append(_parse(text, sign))
        except DataError as error:
            wrong = error
    found = max(grids, key=_regular)
    if wrong is not None and not _regular(found)[0]:
        raise wrong
    if not found:
        raise DataError("holds no table", "a row of players, and a row of points for each round")
    width = max(map(len, found))
    if width * len(found) > MOST_CELLS:
        raise DataError(f"has {width * len(found)} cells", f"the score sheet of one game, of at most {MOST_CELLS}")
    return [[*row, *(Cell(row[0].line, column) for column in range(len(row) + 1, width + 1))] for row in found]


def is_table(data: bytes) -> bool:
    """Tell whether a file is a table of numbers rather than another text."""
    try:
        rows = read(decode(data))
    except DataError:
        return False
    told = [one for row in rows for one in row[1:] if one.kind != "empty"]
    return len(rows) > 1 and sum(one.kind != "text" for one in told) * 2 > len(told) >= len(rows) - 1


def decode(data: bytes) -> str:
    """Return the text of a file as a spreadsheet saves it; raise DataError."""
    if len(data) > MOST_BYTES:
        raise DataError(f"has more than {MOST_BYTES} bytes", "the score sheet of one game")
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError(f"is no UTF-8 (byte {error.start})", "a sheet saved as CSV UTF-8", str(line)) from None


def _parse(text: str, delimiter: str) -> Grid:
    if delimiter == "|":  # a Markdown table; quotes mean nothing there
        lines = enumerate(text.splitlines(), 1)
        rows = [(line, row.strip().removeprefix("|").removesuffix("|").split("|")) for line, row in lines]
        rows = [(line, row) for line, row in rows if not all(re.fullmatch(r" *:?-{2,}:? *", one) for one in row)]
        rows = _halved(rows)
    else:
        rows = []
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        line = 1
        try:
            for row in reader:
                rows.append((line, row))
                line = reader.line_num + 1
        except csv.Error as error:
            raise DataError(f"is no CSV: {error}", "a table as a spreadsheet saves it", str(line)) from None
    found = []
    for line, row in rows:
        while row and not row[-1].strip():
            row.pop()
        if row:
            found.append([cell(line, column, one) for column, one in enumerate(row, 1)])
    return found


_HALVES = re.compile(r"(.*\S) {2,}(-?\d+)")


def _halved(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Divide columns in whose cells points and total stand side by side, as `tenklog sheet` writes them."""
    width = max((len(row) for _, row in rows), default=0)
    texts = [
        [row[place].strip() for _, row in rows if place < len(row) and row[place].strip()] for place in range(width)
    ]
    double = [sum(bool(_HALVES.fullmatch(one)) for one in column) * 2 >= len(column) > 1 for column in texts]
    found = []
    for line, row in rows:
        cells_: list[str] = []
        for place, text in enumerate(row):
            halves = _HALVES.fullmatch(text.strip())
            cells_ += [text] if not double[place] else [halves[1], halves[2]] if halves else [text, ""]
        found.append((line, cells_))
    return found


def _regular(grid: Grid) -> tuple[int, int]:
    """Return how good a reading this is: first the cells with numbers, in rows of two and more cells, then all."""
    told = [one for row in grid if len(row) > 1 for one in row]
    return sum(one.kind != "text" for one in told), len(told)


def cell(line: int, column: int, text: str) -> Cell:
    """Read what stands in a cell."""
    text = " ".join(text.translate(_SPACES).strip().split(" "))
    plain = text.translate(_MINUS).removeprefix("'")
    if not plain:
        return Cell(line, column, text)
    if plain.casefold() in NO_TURN:
        return Cell(line, column, text, "none")
    number = _number(plain)
    if number is not None:
        return Cell(line, column, text, "number", number)
    word, _, rest = plain.lower().partition(" ")
    if word in BUSTS and (not rest or _number(rest) is not None):
        return Cell(line, column, text, "bust", _number(rest) or 0)
    return Cell(line, column, text, "text")


def _number(text: str) -> int | None:
    """Return a whole number as people and spreadsheets write it, (1 000) and 1000- among them; None for all else."""
    if text.startswith("(") and text.endswith(")"):
        text = "-" + text[1:-1].strip()
    elif text.endswith("-") and text[0] != "-":
        text = "-" + text[:-1].strip()
    found = _NUMBER.fullmatch(text) if text.isascii() or "\u2019" in text else None
    if found is None:
        return None
    value = int("".join(sign for sign in found[2] if sign.isdigit()))
    return -value if found[1] == "-" else value
