"""Sheets: this module finds out how a score sheet is laid out: its players, its turns, and which numbers are sums.

It knows no rules: whether the numbers can be true is not its question. Players may stand in columns or in rows; a
number may be what a turn posted or the running total, or both stand side by side, in rows below each other or in two
tables, as on the Tiotusen page. Nothing is guessed from a single number: what is damaged must not turn the sheet round.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from tenklog import events
from tenklog.cells import Cell, Grid
from tenklog.errors import DataError, UsageError

ROUNDS = frozenset(
    {
        "round", "rounds", "runde", "runda", "omgång", "tur", "turn", "turns", "after", "efter", "nach", "dopo", "giro",
        "turno", "mano", "hand", "nr", "no", "#", "r", "t",
    }
)  # fmt: skip
PLAYERS = frozenset(
    {"player", "players", "name", "names", "spieler", "spelare", "spiller", "giocatore", "joueur"}
)  # fmt: skip
SUMS = frozenset(
    {
        "total", "totals", "totale", "totalt", "sum", "sums", "summe", "summa", "somma", "gesamt", "ialt", "score",
        "scores", "final", "end", "result", "results", "running", "cumulative", "standing", "standings",
    }
)  # fmt: skip
_LABEL = re.compile(r"(\D{0,20}?)[ .#]*(\d{1,4})[.):]?")

FEW = 8  # rounds whose numbers may all rise by accident
Numbers = Literal["points", "totals"]


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


class Sheet(Struct):
    """A score sheet: the players in the order in which they stand, and what is wrong with how it is written.

    `other` is another reading of few numbers that may be points of turns as well as running totals.
    """

    columns: list[Column]
    findings: list[Finding]
    other: "Sheet | None" = None


class _Table(Struct):
    """A table of the sheet: the heads, the numbers below them by player, those beside these, rows of sums."""

    heads: dict[str, Cell]
    main: dict[str, list[Cell]]
    beside: dict[str, list[Cell]]
    sums: list[tuple[int, dict[str, Cell]]]
    first: int  # the number of the first round
    totals: bool  # its head says that it holds running totals

    @property
    def rounds(self) -> int:
        """Return how many rounds it has so far."""
        return len(next(iter(self.main.values()), []))

    def take(self, row: list[Cell], heads: dict[str, int], beside: dict[str, int]) -> None:
        """Take a row of numbers in."""
        for series, at in ((self.main, heads), (self.beside, beside)):
            for player, place in at.items():
                series[player].append(row[place])


def lay_out(grid: Grid, numbers: Numbers | None = None) -> Sheet:
    """Return the sheet that a table of cells is; `numbers` says what they are, else they tell. Raises DataError."""
    while len(grid) > 1 and _filled(grid[0]) < 2 and max(map(_filled, grid)) > 1:
        grid = grid[1:]  # a title
    if _players_in_rows(grid):
        headed = all(one.kind != "text" for one in grid[0][1:]) and grid[0][0].kind == "text"
        if headed and _word(grid[0][0]) not in PLAYERS and not _numbered(grid[0][1:]):
            width = len(grid[0])
            grid = [[Cell(grid[0][0].line, column) for column in range(1, width + 1)], *grid]
        grid = [list(column) for column in zip(*grid, strict=True)]
    findings: list[Finding] = []
    # The heads of further tables only repeat the first.
    tables = [_table(rows, findings if not place else []) for place, rows in enumerate(_tables(grid))]
    if not tables or not tables[0].heads:
        raise DataError("names no players", "a row (or a column) of the players' names", str(grid[0][0].line))
    tables = _joined(tables)
    if not tables[0].rounds:
        raise DataError("has no rounds", "a row of points for each round below the names", str(grid[0][0].line))
    if numbers is None and len(tables) == 1 and not tables[0].beside and (guess := _rises(tables[0])) is not None:
        ways: list[Numbers] = ["totals", "points"] if guess else ["points", "totals"]
        best, other = (_sheet(tables, way, findings) for way in ways)
        best.other = other if max(map(_rounds, best.columns)) <= FEW else None
        return best
    return _sheet(tables, numbers, findings)


def _sheet(tables: list[_Table], numbers: Numbers | None, findings: list[Finding]) -> Sheet:
    found = [*findings]
    return Sheet(_columns(tables, numbers, found), found)


def _rounds(column: Column) -> int:
    return len(column.points if column.points is not None else column.totals or [])


def _filled(row: Iterable[Cell]) -> int:
    return sum(one.kind != "empty" for one in row)


def _word(cell: Cell) -> str:
    return cell.text.casefold().strip(" .:#()=") or cell.text.strip()


def _numbered(labels: Sequence[Cell], words: bool = True) -> bool:
    """Tell whether most labels count rounds: 1, 2, 3 or `Round 1`, `Round 2`; one that is damaged changes nothing."""
    fitting = total = 0
    offset: int | None = None
    for place, label in enumerate(labels):
        found = _LABEL.fullmatch(label.text)
        if label.kind == "empty" or _is_sum(label):
            continue
        total += 1
        if found is not None and (not found[1].strip() or (words and _word_of(found[1]) in ROUNDS)):
            offset = int(found[2]) - place if offset is None else offset
            fitting += int(found[2]) - place == offset
    # Rows of sums between the rounds take places without a number.
    told = [int(one[2]) for one in (_LABEL.fullmatch(label.text) for label in labels if not _is_sum(label)) if one]
    rising = sum(b == a + 1 for a, b in pairwise(told))
    return total > 0 and (fitting * 3 >= total * 2 or (rising + 1) * 3 >= total * 2) and bool(fitting)


def _word_of(text: str) -> str:
    return text.casefold().strip(" .:#")


def _is_sum(label: Cell) -> bool:
    if label.kind != "text":
        return False
    words = re.split(r"[\s.:()='\u2019]+", label.text.casefold())
    return any(word in SUMS for word in words) or label.text.casefold().startswith("i alt") or "\u03a3" in label.text


def _players_in_rows(grid: Grid) -> bool:
    corner, heads, labels = _word(grid[0][0]), grid[0][1:], [row[0] for row in grid[1:]]
    for words in (False, True):
        if _numbered(labels, words):
            return False
        if _numbered([one for one in heads if one.kind != "empty"], words):
            return True
        if corner in PLAYERS or corner in ROUNDS:  # a corner may name what is below it or beside it, so it comes second
            return corner in PLAYERS
    return grid[0][0].kind == "text" and bool(heads) and all(one.kind != "text" for one in heads)


def _tables(grid: Grid) -> list[Grid]:
    """Divide rows into tables: a row of words that repeats names of the first one begins another."""
    names = {one.text for one in grid[0][1:] if one.kind == "text"} | {grid[0][0].text}
    found: list[Grid] = []
    for row in grid:
        told = [one for one in row[1:] if one.kind != "empty"]
        again = bool(told) and all(one.kind == "text" for one in told) and any(one.text in names for one in told)
        if not found or again:
            found.append([])
        found[-1].append(row)
    return found


def _table(rows: Grid, findings: list[Finding]) -> _Table:
    head, body = rows[0], rows[1:]
    labels = [row[0] for row in body]
    texts = sum(one.kind == "text" for one in labels)
    counted = _numbered(labels)
    labelled = head[0].kind == "empty" or _word(head[0]) in ROUNDS | PLAYERS or counted or texts * 2 > len(labels)
    heads, beside = _heads(rows, int(labelled), findings)
    table = _Table(
        {player: head[place] for player, place in heads.items()},
        {player: [] for player in heads},
        {player: [] for player in beside},
        [],
        1,
        _is_sum(head[0]) or _word(head[0]) in ("after", "efter", "nach", "dopo"),
    )
    if labelled and counted and (first := _LABEL.fullmatch(labels[0].text)):
        table.first = int(first[2])
    between = labelled and counted and _sums_between(body, heads)
    places = [*heads.values(), *beside.values()]
    expected = table.first
    for number, row in enumerate(body):
        told = [row[place] for place in places if row[place].kind != "empty"]
        label = row[0] if labelled else None
        if not any(one.kind != "text" for one in told) and (len(told) < 2 or (label and _is_sum(label))):
            continue  # nothing but its label, or a remark
        taken = {player: row[place] for player, place in heads.items()}
        unlabelled = between and row[0].kind == "empty"
        if unlabelled or _sums_row(table, label, taken, counted, number == len(body) - 1):
            table.sums.append((table.rounds, taken))
            continue
        if label and counted and _skips(label, expected, findings):
            lacking = [Cell(one.line, one.column, "", "text") for one in row]
            table.take(lacking, heads, beside)
            expected += 1
        table.take(_shortened(row, places, int(labelled), table.rounds + 1, findings), heads, beside)
        expected += 1
    return table


def _skips(label: Cell, expected: int, findings: list[Finding]) -> bool:
    """Say when a row has another number than is due, and tell whether just one row is missing before it."""
    said = _LABEL.fullmatch(label.text)
    if said is None or int(said[2]) == expected:
        return False
    skips = int(said[2]) == expected + 1
    what = f"round {said[2]} follows round {expected - 1}" if skips else f"round {said[2]} stands here"
    findings.append(finding(label, None, None, "row", what, f"round {expected}"))
    return skips


def _heads(rows: Grid, first: int, findings: list[Finding]) -> tuple[dict[str, int], dict[str, int]]:
    """Return where the numbers of each player stand, and where the totals beside them, if every player has some.

    Whoever has no name of their own is called after the column, and the sheet is read on.
    """
    places = [place for place in range(first, len(rows[0])) if _used(rows, place)]
    doubled = len(places) % 2 == 0 and all(
        _is_beside(rows, name, place) for name, place in zip(places[::2], places[1::2], strict=True)
    )
    if not doubled and any(_is_sum(rows[0][place]) for place in places):
        places = [place for place in places if not _is_sum(rows[0][place])]  # the sum of a round, of all players
    heads: dict[str, int] = {}
    for place in places[::2] if doubled else places:
        cell = rows[0][place]
        spare = f"column {cell.letter}" if rows[0][0].line == cell.line else f"line {cell.line}"
        try:
            player = events.name(cell.text.removeprefix("'") or spare)
        except UsageError as error:
            findings.append(finding(cell, None, None, "name", error.what, error.right))
            player = spare
        if not cell.text:
            findings.append(
                finding(cell, None, None, "name", "numbers without a name", "the player's name at the head")
            )
        if player in heads:
            findings.append(finding(cell, player, None, "name", f"two players are called {player}", "a name for each"))
            player = spare
        heads[player] = place
    if not doubled:
        return heads, {}
    return heads, {player: place + places[1] - places[0] for player, place in heads.items()}


def _used(rows: Grid, place: int) -> bool:
    """Tell whether a column has a name, or numbers in at least half of the rows: not the remains of a long row."""
    told = sum(row[place].kind not in ("empty", "text") for row in rows[1:])
    return (rows[0][place].kind != "empty" and not (told == 0 and rows[0][place].kind == "none")) or told * 2 >= len(
        rows
    )


def _is_beside(rows: Grid, name: int, place: int) -> bool:
    """Tell whether a column has the running totals of the one before: its head says so, or most of its numbers."""
    head = rows[0][place]
    if _is_sum(head):
        return True
    if head.kind != "empty" and head.text != rows[0][name].text:
        return False
    points = {"": [row[name] for row in rows[1:]]}
    totals = {"": [row[place] for row in rows[1:]]}
    told = sum(bool(one.value) for one in points[""])
    return _adds_up(points, totals) * 2 > told


def _sums_between(body: Grid, heads: dict[str, int]) -> bool:
    """Tell whether the rows without a label hold running totals of those above: most numbers in them say so."""
    above = dict.fromkeys(heads, 0)
    fitting = total = 0
    for row in body:
        for player, place in heads.items():
            if row[0].kind != "empty":
                above[player] += row[place].value or 0
            elif row[place].value:
                total += 1
                fitting += row[place].value == above[player]
    return fitting * 2 > total


def _sums_row(table: _Table, label: Cell | None, taken: dict[str, Cell], counted: bool, last: bool) -> bool:
    """Tell whether a row holds sums: it says so, or it is not counted among the rounds and adds up."""
    if label is not None and _is_sum(label):
        return True
    above = [sum(one.value or 0 for one in table.main[player]) for player in taken]
    there = [one.value for one in taken.values()]
    fitting = sum(a == b for a, b in zip(above, there, strict=True) if b)
    if label is None or not counted:
        rounds = table.rounds
        return last and rounds > 1 and fitting > 1 and fitting * 2 > len(there)
    return not _LABEL.fullmatch(label.text) and fitting > 0 and fitting * 2 >= len([one for one in there if one])


def _shortened(row: list[Cell], places: list[int], first: int, number: int, findings: list[Finding]) -> list[Cell]:
    """Return a row of which nothing stands beside the players' columns; one that is too long has one cell too many."""
    width = max(places) + 1
    over = next((one for one in row[width:] if one.kind != "empty"), None)
    if over is None or len(places) != width - first:
        return row
    if over.kind == "text":
        return row  # a remark beside the table
    hole = next((place for place in range(first, width) if row[place].kind == "empty"), None)
    what = f"the row has {width + 1 - first} numbers for {width - first} columns"
    if hole is None or any(one.kind != "empty" for one in row[width + 1 :]):
        findings.append(finding(over, None, number, "row", what, "one for each column"))
        return row
    right = f"likely all from here on stand one {'line' if over.line != row[first].line else 'column'} too far"
    findings.append(finding(row[hole], None, number, "row", what, right))
    return [*row[:hole], *row[hole + 1 : width + 1], row[hole]]


# -- several tables ---------------------------------------------------------------------------------------------------


def _joined(tables: list[_Table]) -> list[_Table]:
    """Put tables that go on counting the rounds of the one before them together with it."""
    found = [tables[0]]
    for table in tables[1:]:
        before = found[-1]
        if len(table.heads) != len(before.heads) or len(table.beside) != len(before.beside):
            continue  # of something else
        names = dict(zip(table.heads, before.heads, strict=True))
        table.main = {names[player]: column for player, column in table.main.items()}
        table.beside = {names[player]: column for player, column in table.beside.items()}
        table.sums = [(number, {names[player]: cell for player, cell in row.items()}) for number, row in table.sums]
        rounds = before.rounds
        if table.first == before.first + rounds and not table.totals:
            for player in before.main:
                before.main[player] += table.main[player]
            for player in before.beside:
                before.beside[player] += table.beside[player]
            before.sums += [(rounds + number, row) for number, row in table.sums]
        else:
            found.append(table)
    return found


def _columns(tables: list[_Table], numbers: Numbers | None, findings: list[Finding]) -> list[Column]:
    first = tables[0]
    points: dict[str, list[Cell]] | None = first.main
    totals: dict[str, list[Cell]] | None = first.beside or None
    if len(tables) > 1 and totals is None:
        second = tables[1]
        if numbers == "totals" or first.totals or _adds_up(second.main, first.main) > _adds_up(first.main, second.main):
            points, totals = second.main, first.main
        else:
            totals = second.main
    elif totals is None and (numbers == "totals" or (numbers is None and first.sums and _sums_are_ends(first))):
        points, totals = None, first.main
    found = []
    for player, head in first.heads.items():
        column = Column(
            player, head, None if points is None else points[player], None if totals is None else totals[player], []
        )
        for table in tables[:2]:
            column.sums += [(number, row[player]) for number, row in table.sums if row[player].kind != "empty"]
        found.append(column)
    length = max(map(_rounds, found))
    for column in found:
        for series in (column.points, column.totals):
            if series is not None:
                end = series[-1] if series else column.head
                series += [Cell(end.line, end.column)] * (length - len(series))  # noqa: PLW2901  (grows in place)
    for column in found:
        for series in (column.points, column.totals, [cell for _, cell in column.sums]):
            for number, cell in enumerate(series or [], 1):
                if (cell.kind == "text" and cell.text) or (cell.kind == "bust" and series is not column.points):
                    what = f"{cell.text[:40]!r} is no number of points"
                    round_ = number if series in (column.points, column.totals) else None
                    right = "a whole number, bust, - where there was no turn"
                    findings.append(finding(cell, column.player, round_, "cell", what, right))
    return found


def _adds_up(points: dict[str, list[Cell]], totals: dict[str, list[Cell]]) -> int:
    """Count the numbers of one table that are the running totals of another."""
    fitting = 0
    for player, column in points.items():
        before = 0
        for one, total in zip(column, totals[player], strict=False):
            if one.value is not None and total.value is not None:
                fitting += total.value == before + one.value and one.value != 0
            before = total.value if total.value is not None else before
    return fitting


def _sums_are_ends(table: _Table) -> bool:
    """Tell whether the sums below a table repeat its last numbers, rather than add all of them up."""
    number, row = table.sums[-1]
    sums = [sum(one.value or 0 for one in column[:number]) for column in table.main.values()]
    ends = [
        next((one.value for one in column[:number][::-1] if one.value is not None), None)
        for column in table.main.values()
    ]
    there = [row[player].value for player in table.main]
    adding = sum(a == b for a, b in zip(sums, there, strict=True))
    return sum(a == b for a, b in zip(ends, there, strict=True)) > adding


def _rises(table: _Table) -> bool | None:
    """Guess whether numbers are running totals: hardly any is below the one above it. None where sums tell.

    Where numbers are few that may be an accident; but a lost turn leaves a total as it was, and points seldom repeat.
    """
    if table.sums or any(one.kind == "bust" for column in table.main.values() for one in column):
        return None
    steps = falls = again = 0
    for column in table.main.values():
        values = [one.value for one in column if one.value is not None]
        steps += max(0, len(values) - 1)
        falls += sum(b < a for a, b in pairwise(values))
        again += sum(b == a != 0 for a, b in pairwise(values))
    return table.totals or (falls * 6 <= steps and (steps >= 12 or again > 0))
