"""Screen: this module draws how a game stands into the rows above a prompt, dice as faces, as full as they have room.

It knows no terminal: it returns lines of plain text without any character that a terminal would obey.
"""

from collections.abc import Sequence
from typing import Literal

from tenklog import state
from tenklog.dice import write
from tenklog.game import Game
from tenklog.narrate import points, score_line, situation
from tenklog.projections import standings
from tenklog.render import grid, visible
from tenklog.state import Position, Turn

Pictures = Literal["unicode", "ascii", "none"]

_PIPS = {1: ("     ", "  o  ", "     "), 2: ("o    ", "     ", "    o"), 3: ("o    ", "  o  ", "    o")}
_PIPS |= {4: ("o   o", "     ", "o   o"), 5: ("o   o", "  o  ", "o   o"), 6: ("o   o", "o   o", "o   o")}
_SIGNS = str.maketrans({"o": "●", "|": "│"})


def faces(turn: Turn, pictures: Pictures) -> list[str]:
    """Draw the dice on the table, each five rows high; those that were kept are marked below."""
    if pictures == "none" or not turn.roll or turn.rolls == 0:
        return []
    rows = [" ".join(f"|{_PIPS[die][row]}|" for die in turn.roll) for row in range(3)]
    top = bottom = " ".join(["+-----+"] * len(turn.roll))
    if pictures == "unicode":
        rows = [row.translate(_SIGNS) for row in rows]
        top, bottom = (" ".join([edge] * len(turn.roll)) for edge in ("┌─────┐", "└─────┘"))
    return [top, *rows, bottom, *_marks(turn)]


def _marks(turn: Turn) -> list[str]:
    rest = list(turn.keep)
    marks = []
    for die in turn.roll:
        marks.append("  kept " if die in rest else " " * 7)
        if die in rest:
            rest.remove(die)
    return [" ".join(marks).rstrip()] if turn.keep else []


def screen(
    game: Game, columns: int = 80, rows: int = 1000, pictures: Pictures = "none", advice: Sequence[str] = ()
) -> list[str]:
    """Return the lines above the prompt: standings, the dice on the table, the turn in progress, and advice.

    Of several forms it is the fullest that leaves four of the rows free; the shortest are the lines about the turn.
    """
    position = game.position
    turn = position.turn
    title = f"{game.start.title}: " if game.start.title else ""
    head = f"{title}{game.start.game}, {position.rules.name} to {position.rules.target}, round {position.round}"
    table = [*_wrapped([head], columns), *_standings(position), ""]
    line = [*_wrapped([head, score_line(position)], columns), ""]
    picture = faces(turn, pictures) if turn is not None else []
    picture = [*picture, ""] if picture and len(picture[0]) <= columns else []
    said = _wrapped([*_turn(position), *advice], columns)
    forms = ([*table, *picture, *said], [*line, *picture, *said], [*line, *said], said)
    return next((form for form in forms if len(form) <= rows - 4 and _width(form) <= columns), said)


def _width(lines: Sequence[str]) -> int:
    from wcwidth import wcswidth

    return max(map(wcswidth, lines), default=0)


def _wrapped(lines: Sequence[str], columns: int) -> list[str]:
    """Break lines at blanks; in a writing whose characters are two columns wide, after half as many of them."""
    from textwrap import wrap

    narrow = _width(lines) <= max(map(len, lines), default=0)
    return [part for line in lines for part in wrap(visible(line), max(columns if narrow else columns // 2, 10))]


def _standings(position: Position) -> list[str]:
    opening = position.rules.opening_minimum > 0
    at_turn = position.turn.seat + 1 if position.turn is not None else 0
    cells = [
        [
            ">" if one.seat == at_turn else "",
            one.player,
            str(one.total),
            "left" if one.left else str(one.to_go),
            *(["yes" if one.opened else "no"] if opening else []),
        ]
        for one in standings(position)
    ]
    heads = ["", "player", "total", "to go", *(["opened"] if opening else [])]
    return grid(heads, cells, [False, False, True, True, False][: len(heads)], "table").rstrip("\n").split("\n")


def _turn(position: Position) -> list[str]:
    turn = position.turn
    if turn is None:
        return [situation(position)]
    held = f" {points(turn.points)} in the turn." if turn.points else ""
    player = position.seats[turn.seat].player
    rival = f" {position.seats[turn.challenge].player} is challenged." if turn.challenge is not None else ""
    if turn.phase == "rolled":
        return [f"{player} has thrown {write(turn.roll)}.{held}{rival}", f"Keep {state.keep_words(position, turn)}."]
    return [f"{situation(position)}{held}{rival}"]
