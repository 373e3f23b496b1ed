"""Score sheets on paper: whole games written down as people do, and the slips they make, each with its place.

Everything comes from the `random.Random` that is given. A sheet is a list of tables, a table a list of rows of texts;
`written` makes a CSV of them. What a sheet says is taken from the turns that the game's sheet lists, so it is sound.
"""

from collections.abc import Callable
from random import Random

from msgspec import Struct

from tenklog.game import Game
from tenklog.projections import sheet
from tenklog.rules import Ruleset
from tenklog.simulate import Plan, play_game

Rows = list[list[str]]
NAMES = ("Anna", "Ben", "Cara", "Dov", "Eli")
LAYOUTS = ("points", "final", "totals", "pairs", "below", "tables", "rows", "rows-final", "rows-totals")
WITH_SUMS = ("final", "totals", "pairs", "below", "tables", "rows-final", "rows-totals")


class Paper(Struct):
    """The turns of a game by player and round, None where there was none, and the totals after them."""

    players: list[str]
    points: dict[str, list[int | None]]
    totals: dict[str, list[int | None]]

    @property
    def rounds(self) -> int:
        """Return how many rounds there are."""
        return len(self.points[self.players[0]])


def paper(game: Game) -> Paper:
    """Write a game down."""
    found = sheet(game)
    points: dict[str, list[int | None]] = {player: [None] * len(found.rounds) for player in found.players}
    totals: dict[str, list[int | None]] = {player: [None] * len(found.rounds) for player in found.players}
    for number, one in enumerate(found.rounds):
        for entry in one.entries:
            points[entry.player][number] = entry.posted
            totals[entry.player][number] = entry.total
    return Paper(found.players, points, totals)


def played(rng: Random, rules: Ruleset) -> Game:
    """Play a game among two to five players."""
    how = ("greedy", "cautious", "hold:350", "hold:600", "dice:3")
    players = tuple((name, rng.choice(how)) for name in NAMES[: rng.randint(2, 5)])
    return play_game(Plan(rules, players, rng.randrange(1 << 30)), 1)[1]


def number(value: int | None) -> str:
    """Write a number plainly."""
    return "" if value is None else str(value)


def laid_out(one: Paper, layout: str, show: Callable[[int | None], str] = number) -> list[Rows]:
    """Return the tables of a sheet."""
    points = {player: [show(value) for value in column] for player, column in one.points.items()}
    totals = {player: [show(value) for value in column] for player, column in one.totals.items()}
    last = [
        show(next((value for value in reversed(one.totals[player]) if value is not None), 0)) for player in one.players
    ]
    rounds = range(one.rounds)
    head = ["Round", *one.players]
    plain = [head, *([str(row + 1), *(points[player][row] for player in one.players)] for row in rounds)]
    running = [head, *([str(row + 1), *(totals[player][row] for player in one.players)] for row in rounds)]
    match layout:
        case "points":
            return [plain]
        case "final":
            return [[*plain, ["Total", *last]]]
        case "totals":
            return [running]
        case "tables":
            return [plain, running]
        case "pairs":
            heads = ["Round", *(text for player in one.players for text in (player, "Total"))]
            rows = [
                [str(row + 1), *(text for player in one.players for text in (points[player][row], totals[player][row]))]
                for row in rounds
            ]
            return [[heads, *rows]]
        case "below":
            both = [[a, ["", *b[1:]]] for a, b in zip(plain[1:], running[1:], strict=True)]
            return [[head, *(row for pair in both for row in pair)]]
        case "rows":
            return [transposed(plain)]
        case "rows-final":
            return [transposed([*plain, ["Total", *last]])]
        case "rows-totals":
            return [transposed(running)]
    raise AssertionError(layout)


def transposed(rows: Rows) -> Rows:
    """Turn rows into columns."""
    return [list(column) for column in zip(*rows, strict=True)]


def written(tables: list[Rows], delimiter: str = ",") -> str:
    """Return the text of a CSV."""
    import csv
    import io

    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    for place, rows in enumerate(tables):
        if place:
            buffer.write("\n")
        writer.writerows(rows)
    return buffer.getvalue()


class Slip(Struct):
    """A slip: its kind, and the places that may be called wrong, each a table, row and column from 0."""

    kind: str
    places: list[tuple[int, int, int]]


KINDS = ("transposed", "lost", "exchanged")


def slipped(rng: Random, tables: list[Rows], layout: str, kind: str) -> Slip | None:
    """Make one slip in the first table, in place; None when no cell there can have it.

    `exchanged` is a number in the column of the player beside, whose own number stands in its place.
    """
    across = layout.startswith("rows")
    rows = transposed(tables[0]) if across else tables[0]
    cells = [
        (row, column)
        for row in range(1, len(rows))
        for column in range(1, len(rows[row]))
        if rows[row][column] not in ("", "0")
    ]
    rng.shuffle(cells)
    for row, column in cells:
        text = rows[row][column]
        digits = text.removeprefix("-")
        sign = text[: len(text) - len(digits)]
        places = [(row, column)]
        if kind == "transposed":
            at = [n for n in range(len(digits) - 1) if digits[n] != digits[n + 1]]
            if not at:
                continue
            n = rng.choice(at)
            rows[row][column] = sign + str(int(digits[:n] + digits[n + 1] + digits[n] + digits[n + 2 :]))
        elif kind == "lost":
            if len(digits) < 2:
                continue
            n = rng.randrange(len(digits))
            rows[row][column] = sign + str(int(digits[:n] + digits[n + 1 :]))
        else:
            step = 2 if layout == "pairs" else 1
            beside = column + step
            if beside >= len(rows[row]) or rows[row][beside] in ("", text):
                continue
            rows[row][column], rows[row][beside] = rows[row][beside], text
            places.append((row, beside))
        tables[0] = transposed(rows) if across else rows
        return Slip(kind, [(0, column_, row_) if across else (0, row_, column_) for row_, column_ in places])
    return None


def line_and_column(tables: list[Rows], place: tuple[int, int, int]) -> tuple[int, str]:
    """Return where a cell is in the CSV: the line, and the letter of the column."""
    table, row, column = place
    before = sum(len(rows) + 1 for rows in tables[:table])
    return before + row + 1, chr(ord("A") + column)


# -- damage -----------------------------------------------------------------------------------------------------------

DAMAGE = (
    "letter", "fraction", "emptied", "question", "too-long", "row-lost", "nameless", "same-name", "long-name", "sum",
    "impossible", "minus", "transposed", "lost", "exchanged", "label", "after-end", "bytes", "quote", "cut-off",
)  # fmt: skip


def damaged(rng: Random, one: Paper, kind: str) -> tuple[bytes, list[tuple[int, str]]] | None:
    """Return a damaged sheet with players in columns, and the places that may be named; None where it can't be so."""
    told = kind in ("sum", "minus", "transposed", "lost", "exchanged")
    layout = rng.choice(("pairs", "tables") if told else ("points", "final", "pairs", "tables"))
    if kind in ("after-end", "cut-off"):
        layout = "points"
    tables = laid_out(one, layout)
    rows = tables[0]
    step = 2 if layout == "pairs" else 1
    numbers = [
        (row, column)
        for row in range(1, one.rounds + 1)
        for column in range(1, len(rows[0]), step)
        if rows[row][column] not in ("", "0")
    ]
    inner = [
        (row, column)
        for row, column in numbers
        if row > 1 and any(rows[at][column] for at in range(row + 1, one.rounds + 1))
    ]
    if not inner or len({cell for _, cell in numbers}) < 2:
        return None
    row, column = rng.choice(inner)
    text = rows[row][column]
    places = [(0, row, column)]
    if kind in KINDS:
        slip = slipped(rng, tables, layout, kind)
        if slip is None:
            return None
        places = slip.places
    elif kind == "letter":
        rows[row][column] = text.replace("0", "o", 1) if "0" in text else text + "l"
    elif kind == "fraction":
        rows[row][column] = text + rng.choice((".5", ",25", "/2"))
    elif kind == "emptied":
        rows[row][column] = ""
    elif kind == "question":
        rows[row][column] = rng.choice(("?", "see below", "#REF!"))
    elif kind == "too-long":
        rows[row].append("450")
        places = [(0, row, len(rows[row]) - 1)]
    elif kind == "row-lost":
        if one.rounds < 4 or row == one.rounds or any(not rows[at][1] for at in (row, row + 1)):
            return None
        del rows[row]
        places = [(0, row, 0)]
    elif kind == "nameless":
        rows[0][column] = ""
        places = [(0, 0, column)]
    elif kind == "same-name":
        for table in tables:
            table[0][column] = "Anna" if column > step else "Ben"
        places = [(0, 0, max(column, 1 + step))]
    elif kind == "long-name":
        for table in tables:
            table[0][column] = rng.choice(("x" * 65, "An\u202ena", "Be\x07n"))
        places = [(0, 0, column)]
    elif kind == "sum":
        at = column + 1 if layout == "pairs" else column
        table = tables[0] if layout == "pairs" else tables[1]
        table[row][at] = str(int(table[row][at]) + rng.choice((100, -100, 1000)))
        places = [(0 if layout == "pairs" else 1, row, at)]
    elif kind == "impossible":
        rows[row][column] = str(abs(int(text)) + 5)
    elif kind == "minus":
        rows[row][column] = str(-int(text))
    elif kind == "label":
        rows[row][0] = str(row + 7)
        places = [(0, row, 0)]
    elif kind == "after-end":
        extra = ["350" if text else "" for text in rows[one.rounds][1:]]
        rows.append([str(one.rounds + 1), *extra])
        places = [(0, one.rounds + 1, 1 + extra.index("350"))]
    elif kind == "cut-off":
        row = one.rounds
        there = [at for at in range(1, len(rows[row]) - step, step) if rows[row][at] and rows[row][at + step]]
        if not there:
            return None
        rows[row][there[0]] = ""
        places = [(0, row, there[0])]
    data = written(tables).encode()
    found = [line_and_column(tables, place) for place in places]
    if kind == "bytes":
        lines = data.split(b"\n")
        lines[row] = lines[row].replace(b",", b",\xff", 1)
        data = b"\n".join(lines)
        found = [(row + 1, "")]
    if kind == "quote":
        lines = data.split(b"\n")
        lines[row] = lines[row].replace(b",", b',"', 1)
        data = b"\n".join(lines)
        found = [(row + 1, "")]
    return data, found
