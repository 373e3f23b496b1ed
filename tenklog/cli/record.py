"""Record: this module has the commands that a game is played with: new, roll, keep, bank and what the rules add."""

from typing import Any

import click

from tenklog import decide, dice
from tenklog.cli.common import (
    command,
    emit,
    home,
    output_options,
    record,
    record_options,
    remark,
    rules_option,
    ruleset,
)
from tenklog.errors import UsageError
from tenklog.render import Format, Output, visible


@command("new", example="tenklog new Anna Ben Cara --rules tiotusen --set bust_penalty=1000")
@click.argument("players", nargs=-1, metavar="PLAYER...")
@rules_option
@click.option("--title", help="A title for the game.")
@click.option("--throw-for-first", is_flag=True, help="Everybody throws a die; the highest begins, the order stays.")
@click.option("-g", "--game", "game", metavar="ID", help="An id of your own for the game.")
@click.option("--id", "key", metavar="KEY", help="Makes repeating this very command harmless.")
@output_options
def new(
    players: tuple[str, ...],
    name: str | None,
    sets: tuple[str, ...],
    title: str | None,
    throw_for_first: bool,
    game: str | None,
    key: str | None,
    form: Format,
) -> None:
    """Begin a game: its players, in the order in which they sit."""
    from tenklog import events, narrate, projections, store
    from tenklog.game import check_players

    if not players:
        raise UsageError("a game needs players", "such as `tenklog new Anna Ben`")
    if key is not None:
        events.text(key, "id", 128)
    names = tuple(map(events.name, players))
    check_players(names)
    place = home()
    start = events.Start(
        1,
        id=key,
        game=place.new_id(game, key),
        version=events.VERSION,
        players=names,
        rules=ruleset(name or "tiotusen", sets),
        origin="table",
        title=None if title is None else events.text(title, "title", 200),
    )
    if throw_for_first:
        start = _throw_for_first(start)
    log, repeated = store.begin(place, start)
    if repeated:
        remark(f"already begun under the id {key}")
    place.use(log.start.game)
    written = [log.start]
    document = projections.record(log.game, log.h, written)
    thrown = [f"{player}: {dice.write(faces)}." for player, faces in (log.start.first_throw or {}).items()]
    lines = [*thrown, *narrate.story(log.game, written, written)]
    rows = [projections.row(one) for one in document.show.standings]
    emit(Output(document, projections.STANDING, rows, "\n".join(map(visible, lines))), form)


def _throw_for_first(start: Any) -> Any:
    """Throw a die for each, again for those level, and turn the order so that the highest begins."""
    from msgspec.structs import replace

    thrown: dict[str, tuple[int, ...]] = dict.fromkeys(start.players, ())
    level = list(start.players)
    while len(level) > 1:
        for player in level:
            thrown[player] += (_faces(1)[0],)
        best = max(thrown[player][-1] for player in level)
        level = [player for player in level if thrown[player][-1] == best]
    if len(start.players) == 1:
        return start
    first = start.players.index(level[0])
    return replace(start, players=start.players[first:] + start.players[:first], first_throw=thrown)


def _faces(count: int) -> tuple[int, ...]:
    """Throw dice with the operating system's randomness."""
    from os import urandom

    faces: list[int] = []
    while len(faces) < count:
        # 252 is the largest multiple of 6 that a byte reaches: no face is favoured.
        faces += [byte % 6 + 1 for byte in urandom(16) if byte < 252]
    return tuple(faces[:count])


@command("roll", example="tenklog roll 133446")
@click.argument("faces", nargs=-1, metavar="DICE")
@record_options
def roll(faces: tuple[str, ...], form: Format, **options: Any) -> None:
    """Record dice that were thrown."""
    record(decide.Roll(dice.parse(" ".join(faces))), form, **options)


@command("throw", example="tenklog throw")
@record_options
def throw(form: Format, **options: Any) -> None:
    """Let tenklog throw the dice that are to be thrown; the log says that it did."""
    record(decide.Throw(_faces(dice.MOST)), form, **options)


@command("keep", example="tenklog keep 1")
@click.argument("faces", nargs=-1, metavar="DICE|all|best")
@click.option("--aside", metavar="DICE", help="Which of them leave the table, under one-per-combination.")
@record_options
def keep(faces: tuple[str, ...], aside: str | None, form: Format, **options: Any) -> None:
    """Set scoring dice of the roll aside: some, all that score, or the best keep."""
    text = " ".join(faces)
    chosen = text if text in ("all", "best") else dice.parse(text)
    record(decide.Keep(chosen, None if aside is None else dice.parse(aside)), form, **options)


@command("bank", example="tenklog bank")
@click.argument("points", required=False)
@record_options
def bank(points: str | None, form: Format, **options: Any) -> None:
    """Bank the turn. Without dice (a score sheet) give its points."""
    record(decide.Bank(None if points is None else whole(points, "points")), form, **options)


def whole(text: str, what: str, low: int = 0) -> int:
    """Read a whole number; raise UsageError for anything but ASCII digits (and a minus where it may be negative)."""
    digits = text.removeprefix("-").replace("\u2212", "-") if low < 0 else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 15):
        raise UsageError(
            f"{text!r} is no number of {what}", f"a whole number{'' if low < 0 else ' from 0'}, such as 350"
        )
    return -int(digits) if text.startswith("-") else int(digits)


@command("bust", example="tenklog bust")
@record_options
def bust(form: Format, **options: Any) -> None:
    """Lose a turn that is kept without dice. With dice a bust is recorded by itself."""
    record(decide.Bust(), form, **options)


@command("steal", example="tenklog steal")
@record_options
def steal(form: Format, **options: Any) -> None:
    """Take over the dice of the turn that ended last, where the rules allow it."""
    record(decide.Steal(), form, **options)


@command("challenge", example="tenklog challenge Ben")
@click.argument("opponent", metavar="PLAYER")
@record_options
def challenge(opponent: str, form: Format, **options: Any) -> None:
    """Challenge an opponent before the first roll, where the rules allow it."""
    from tenklog.events import name

    record(decide.Challenge(name(opponent)), form, **options)


@command("undo", example="tenklog undo")
@click.option("--why", help="The reason, for the log.")
@record_options
def undo(why: str | None, form: Format, **options: Any) -> None:
    """Take back the last move. Its line stays in the log."""
    from tenklog.events import text

    record(decide.Undo(None if why is None else text(why, "reason")), form, **options)


@command("fix", example="tenklog fix 7 133445")
@click.argument("seq", metavar="SEQ")
@click.argument("value", nargs=-1, metavar="DICE|POINTS|bust")
@click.option("--aside", metavar="DICE", help="Which dice leave the table, under one-per-combination.")
@record_options
def fix(seq: str, value: tuple[str, ...], aside: str | None, form: Format, **options: Any) -> None:
    """Correct an earlier roll or keep (its dice) or a score-sheet turn (its points); all that came later stays."""
    number, text = whole(seq, "an event"), " ".join(value)
    leaves = None if aside is None else dice.parse(aside)
    if text == "bust":
        asked = decide.Fix(number)
    else:
        digits = text.replace(",", " ").replace(" ", "")
        # Whether 350 are dice or points, only the event can tell.
        points = whole(digits, "points")
        faces = dice.parse(digits) if set(digits) <= set("123456") and len(digits) <= dice.MOST else None
        asked = decide.Fix(number, faces, points, leaves)
    record(asked, form, **options)
