"""Moves: this module has the rarer moves of a game: busts without dice, what house rules add, and taking back."""

from typing import Any

import click

from tenklog import decider, dice
from tenklog.cli.common import command, record, record_options, whole
from tenklog.render import Format


@command("bust", example="tenklog bust")
@record_options
def bust(form: Format, **options: Any) -> None:
    """Lose a turn that is kept without dice. With dice a bust is recorded by itself."""
    record(decider.Bust(), form, **options)


@command("steal", example="tenklog steal")
@record_options
def steal(form: Format, **options: Any) -> None:
    """Take over the dice of the turn that ended last, where the rules allow it."""
    record(decider.Steal(), form, **options)


@command("challenge", example="tenklog challenge Ben")
@click.argument("opponent", metavar="PLAYER")
@record_options
def challenge(opponent: str, form: Format, **options: Any) -> None:
    """Challenge an opponent before the first roll, where the rules allow it."""
    from tenklog.events import name

    record(decider.Challenge(name(opponent)), form, **options)


@command("undo", example="tenklog undo")
@click.option("--why", help="The reason, for the log.")
@record_options
def undo(why: str | None, form: Format, **options: Any) -> None:
    """Take back the last move. Its line stays in the log."""
    from tenklog.events import text

    record(decider.Undo(None if why is None else text(why, "reason")), form, **options)


@command("fix", example="tenklog fix 7 133445")
@click.argument("seq", metavar="SEQ")
@click.argument("value", nargs=-1, required=True, metavar="DICE|POINTS|bust")
@click.option("--aside", metavar="DICE", help="Which dice leave the table, under one-per-combination.")
@record_options
def fix(seq: str, value: tuple[str, ...], aside: str | None, form: Format, **options: Any) -> None:
    """Correct an earlier roll or keep (its dice) or a score-sheet turn (its points); all that came later stays."""
    number, text = whole(seq, "an event", such_as=7), " ".join(value)
    leaves = None if aside is None else dice.parse(aside)
    if text == "bust":
        asked = decider.Fix(number)
    else:
        digits = text.replace(",", " ").replace(" ", "")
        # Whether 350 are dice or points, only the event can tell.
        points = whole(digits, "points")
        faces = dice.parse(digits) if set(digits) <= set("123456") and len(digits) <= dice.MOST else None
        asked = decider.Fix(number, faces, points, leaves)
    record(asked, form, **options)
