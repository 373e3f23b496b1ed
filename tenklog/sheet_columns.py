"""Sheet columns: this module reads one table of a score sheet: whose its columns are, which rows are rounds or sums.

Players stand in columns, the names in the first row. What is damaged (a name twice, a row too long, a round that is
missing) is noted, and read as it was likely meant.
"""

from msgspec import Struct

from tenklog import events
from tenklog.cells import Cell, Grid
from tenklog.errors import UsageError
from tenklog.findings import Finding, finding
from tenklog.labels import PLAYERS, ROUNDS, count, is_sum, numbered, says_totals, word

Places = dict[str, int]  # the place in a row by player


class Table(Struct):
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

    def take(self, row: list[Cell], heads: Places, beside: Places) -> None:
        """Take a row of numbers in."""
        for series, at in ((self.main, heads), (self.beside, beside)):
            for player, place in at.items():
                series[player].append(row[place])

    def go_on(self, other: "Table") -> None:
        """Take the rounds of a table in that goes on counting them."""
        self.sums += [(self.rounds + number, row) for number, row in other.sums]
        for mine, more in ((self.main, other.main), (self.beside, other.beside)):
            for player in mine:
                mine[player] += more[player]


def tables(grid: Grid) -> list[Grid]:
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


def table(rows: Grid, findings: list[Finding]) -> Table:
    """Read a table, and note what is wrong with how it is written."""
    head, body = rows[0], rows[1:]
    labels = [row[0] for row in body]
    counted = numbered(labels)
    labelled = _labelled(head[0], labels, counted)
    heads, beside = _heads(rows, int(labelled), findings)
    found = Table(
        {player: head[place] for player, place in heads.items()},
        {player: [] for player in heads},
        {player: [] for player in beside},
        [],
        1,
        says_totals(head[0]),
    )
    if labelled and counted and (first := count(labels[0])) is not None:
        found.first = first
    between = labelled and counted and _sums_between(body, heads)
    places = [*heads.values(), *beside.values()]
    expected = found.first
    for number, row in enumerate(body):
        told = [row[place] for place in places if row[place].kind != "empty"]
        label = row[0] if labelled else None
        if not any(one.kind != "text" for one in told) and (len(told) < 2 or (label and is_sum(label))):
            continue  # nothing but its label, or a remark
        taken = {player: row[place] for player, place in heads.items()}
        unlabelled = between and row[0].kind == "empty"
        if unlabelled or _is_sums_row(found, label, taken, counted, number == len(body) - 1):
            found.sums.append((found.rounds, taken))
            continue
        if label and counted and _skips(label, expected, findings):
            lacking = [Cell(one.line, one.column, "", "text") for one in row]
            found.take(lacking, heads, beside)
            expected += 1
        found.take(_shortened(row, places, int(labelled), found.rounds + 1, findings), heads, beside)
        expected += 1
    return found


def adds_up(points: dict[str, list[Cell]], totals: dict[str, list[Cell]]) -> int:
    """Count the numbers of one table that are the running totals of another."""
    fitting = 0
    for player, column in points.items():
        before = 0
        for one, total in zip(column, totals[player], strict=False):
            if one.value is not None and total.value is not None:
                fitting += total.value == before + one.value and one.value != 0
            before = total.value if total.value is not None else before
    return fitting


# -- heads and labels -------------------------------------------------------------------------------------------------


def _labelled(corner: Cell, labels: list[Cell], counted: bool) -> bool:
    """Tell whether the first column has labels rather than numbers of a player."""
    texts = sum(one.kind == "text" for one in labels)
    return corner.kind == "empty" or word(corner) in ROUNDS | PLAYERS or counted or texts * 2 > len(labels)


def _heads(rows: Grid, first: int, findings: list[Finding]) -> tuple[Places, Places]:
    """Return where the numbers of each player stand, and where the totals beside them, if every player has some.

    Whoever has no name of their own is called after the column, and the sheet is read on.
    """
    places = [place for place in range(first, len(rows[0])) if _used(rows, place)]
    doubled = len(places) % 2 == 0 and all(
        _is_beside(rows, name, place) for name, place in zip(places[::2], places[1::2], strict=True)
    )
    if not doubled and any(is_sum(rows[0][place]) for place in places):
        places = [place for place in places if not is_sum(rows[0][place])]  # the sum of a round, of all players
    heads: Places = {}
    for place in places[::2] if doubled else places:
        cell = rows[0][place]
        spare = f"column {cell.letter}" if rows[0][0].line == cell.line else f"line {cell.line}"
        heads[_name(cell, spare, heads, findings)] = place
    if not doubled:
        return heads, {}
    return heads, {player: place + places[1] - places[0] for player, place in heads.items()}


def _name(cell: Cell, spare: str, taken: Places, findings: list[Finding]) -> str:
    """Return the name at the head of a column, or the spare one where there is none that can be used."""
    try:
        player = events.name(cell.text.removeprefix("'") or spare)
    except UsageError as error:
        findings.append(finding(cell, None, None, "name", error.what, error.right))
        player = spare
    if not cell.text:
        findings.append(finding(cell, None, None, "name", "numbers without a name", "the player's name at the head"))
    if player in taken:
        findings.append(finding(cell, player, None, "name", f"two players are called {player}", "a name for each"))
        player = spare
    return player


def _used(rows: Grid, place: int) -> bool:
    """Tell whether a column has a name, or numbers in at least half of the rows: not the remains of a long row."""
    told = sum(row[place].kind not in ("empty", "text") for row in rows[1:])
    head = rows[0][place].kind
    named = head != "empty" and not (head == "none" and told == 0)
    return named or told * 2 >= len(rows)


def _is_beside(rows: Grid, name: int, place: int) -> bool:
    """Tell whether a column has the running totals of the one before: its head says so, or most of its numbers."""
    head = rows[0][place]
    if is_sum(head):
        return True
    if head.kind != "empty" and head.text != rows[0][name].text:
        return False
    points = [row[name] for row in rows[1:]]
    totals = [row[place] for row in rows[1:]]
    return adds_up({"": points}, {"": totals}) * 2 > sum(bool(one.value) for one in points)


# -- rows -------------------------------------------------------------------------------------------------------------


def _sums_between(body: Grid, heads: Places) -> bool:
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


def _is_sums_row(found: Table, label: Cell | None, taken: dict[str, Cell], counted: bool, last: bool) -> bool:
    """Tell whether a row holds sums: it says so, or it is not counted among the rounds and adds up."""
    if label is not None and is_sum(label):
        return True
    above = [sum(one.value or 0 for one in found.main[player]) for player in taken]
    there = [one.value for one in taken.values()]
    fitting = sum(a == b for a, b in zip(above, there, strict=True) if b)
    if label is None or not counted:
        return last and found.rounds > 1 and fitting > 1 and fitting * 2 > len(there)
    return count(label) is None and fitting > 0 and fitting * 2 >= len([one for one in there if one])


def _skips(label: Cell, expected: int, findings: list[Finding]) -> bool:
    """Say when a row has another number than is due, and tell whether just one row is missing before it."""
    said = count(label)
    if said is None or said == expected:
        return False
    skips = said == expected + 1
    what = f"round {said} follows round {expected - 1}" if skips else f"round {said} stands here"
    findings.append(finding(label, None, None, "row", what, f"round {expected}"))
    return skips


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
