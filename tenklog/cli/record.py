"""Record: this module has the commands of which a game has hundreds: roll, throw, keep, bank."""

from typing import Any

import click

from tenklog import decider, dice
from tenklog.cli.common import command, record, record_options, throw_dice, whole
from tenklog.render import Format


@command("roll", example="tenklog roll 133446")
@click.argument("faces", nargs=-1, metavar="DICE")
@record_options
def roll(faces: tuple[str, ...], form: Format, **options: Any) -> None:
    """Record dice that were thrown."""
    record(decider.Roll(dice.parse(" ".join(faces))), form, **options)


@command("throw", example="tenklog throw")
@record_options
def throw(form: Format, **options: Any) -> None:
    """Let tenklog throw the dice that are to be thrown; the log says that it did."""
    record(decider.Throw(throw_dice(dice.MOST)), form, **options)


@command("keep", example="tenklog keep 1")
@click.argument("faces", nargs=-1, metavar="DICE|all|best")
@click.option("--aside", metavar="DICE", help="Which of them leave the table, under one-per-combination.")
@record_options
def keep(faces: tuple[str, ...], aside: str | None, form: Format, **options: Any) -> None:
    """Set scoring dice of the roll aside: some, all that score, or the best keep."""
    text = " ".join(faces)
    chosen = text if text in ("all", "best") else dice.parse(text)
    record(decider.Keep(chosen, None if aside is None else dice.parse(aside)), form, **options)


@command("bank", example="tenklog bank")
@click.argument("points", required=False)
@record_options
def bank(points: str | None, form: Format, **options: Any) -> None:
    """Bank the turn. Without dice (a score sheet) give its points."""
    record(decider.Bank(None if points is None else whole(points, "points")), form, **options)
