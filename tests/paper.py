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
