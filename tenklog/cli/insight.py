"""Insight: this module has the commands about odds, the best decision, luck and skill, and simulated games."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tenklog import dice
from tenklog.cli.common import (
    command,
    emit,
    game_argument,
    game_option,
    home,
    load,
    one_of,
    output_options,
    progress_bar,
    rules_here,
    rules_option,
    ruleset,
    typed,
    whole,
)
from tenklog.errors import UsageError
from tenklog.projections import row
from tenklog.render import Format, Output, render, visible

if TYPE_CHECKING:
    from tenklog.advice import Advice
    from tenklog.luck import Luck
    from tenklog.odds import Odds
    from tenklog.rules import Ruleset
    from tenklog.state import Position

_MEANS = {"bust": "share", "hot": "share", "expected_best": "mean"}


def _table(columns: tuple[str, ...], rows: "list[dict[str, object]]", units: dict[str, str]) -> str:
    return render(Output(None, columns, rows, units=units), "table").rstrip("\n")


@command("odds", example="tenklog odds --rules zilch --opening")
@rules_option
@click.option("--opening", is_flag=True, help="For a player who has not opened yet.")
@output_options
def odds(name: str | None, sets: tuple[str, ...], opening: bool, form: Format) -> None:
    """Show the exact odds of 1 to 6 dice, what a turn is worth and from how many points on to bank.

    Without --rules, by the rules of the current game.
    """
    from tenklog import odds as exact

    found = exact.odds(rules_here(name, sets), opening)
    rows: list[dict[str, object]] = [row(one) | {"bank_at": found.bank_at[str(one.dice)]} for one in found.dice]
    columns = ("dice", "bust", "bust_exact", "hot", "hot_exact", "expected_best", "expected_best_exact", "bank_at")
    emit(Output(found, columns, rows, _odds_text(found, rows), _MEANS if form == "markdown" else {}), form)


def _odds_text(found: "Odds", rows: "list[dict[str, object]]") -> str:
    who = "a player who has not opened" if found.opening else "a player who has opened"
    lines = [visible(f"{found.rules}, for {who}" + (f" (minimum {found.minimum})" if found.minimum else "") + "."), ""]
    rows = [one | {"bank_at": "never" if one["bank_at"] is None else one["bank_at"]} for one in rows]
    lines.append(_table(("dice", "bust", "bust_exact", "hot", "expected_best", "bank_at"), rows, _MEANS))
    lines += ["", f"A turn is worth {found.turn_value:.2f} points when played so; bank_at is the points to bank from,"]
    lines.append("with so many dice left to throw.")
    lines += [visible(one) for one in found.notes]
    return "\n".join(lines)


@command("advise", example="tenklog advise 115322 --points 350 --rules tiotusen")
@click.argument("faces", nargs=-1, metavar="[DICE]")
@game_option
@rules_option
@click.option("--points", "held", metavar="N", help="Points of the turn before this roll of DICE (0).")
@click.option("--kept", metavar="DICE", help="Dice kept since the last throw of all, under build_on_kept.")
@click.option("--opening", is_flag=True, help="The player has not opened yet.")
@click.option("--goal", type=click.Choice(["points", "win"]), default="points", help="What is best: points, or to win.")
@click.option("--samples", type=click.IntRange(1, 1_000_000), default=400, help="Games played for --goal win (400).")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, help="Seed of their dice (0).")
@output_options
def advise(
    faces: tuple[str, ...],
    game: str | None,
    name: str | None,
    sets: tuple[str, ...],
    held: str | None,
    kept: str | None,
    opening: bool,
    goal: 'Literal["points", "win"]',
    samples: int,
    seed: int,
    form: Format,
) -> None:
    """Say what each legal move is worth, and which is best: in the game in progress, or for DICE just rolled.

    Values are expected points of the turn, best played on. DICE without --rules go by the rules of the current game.
    """
    from tenklog import advice
    from tenklog.odds import notes

    position: Position
    if faces:
        if goal == "win":
            raise UsageError("--goal win for dice without a game", "a game in progress, without DICE")
        if game is not None and typed("game"):
            raise UsageError("DICE and -g GAME", "one of them: in a game, advise is about its own roll")
        position = _thrown(rules_here(name, sets), dice.parse(" ".join(faces)), held, kept, opening)
        of = player = None
    else:
        if name or sets or held or kept or opening:
            raise UsageError("--rules, --set, --points, --kept or --opening without DICE", "DICE that were rolled")
        log = load(game)
        position = log.game.position
        of = log.game.start.game
        player = position.seats[position.turn.seat].player if position.turn else None
    turn = position.turn
    if turn is None or turn.phase == "busted":
        what = "the roll scores nothing" if turn else f"the game is {position.status}"
        raise UsageError(f"{what}, so there is nothing to decide", "a turn in progress")
    found = advice.options(position)
    if goal == "win":
        from tenklog.simulate import to_win

        with progress_bar(samples * len(found), "Playing on") as progress:
            found = to_win(position, found, samples, seed, progress)
    document = advice.Advice(
        of, position.rules.name, player, turn.phase, turn.points, turn.roll or None, goal, found, notes(position.rules)
    )
    columns: tuple[str, ...] = ("best", "move", "dice", "points", "dice_left", "value", "rolling", "banking", "bust")
    if goal == "win":
        columns = (*columns, "win", "error")
    rows = [row(one) | {"dice": None if one.dice is None else dice.write(one.dice, "")} for one in found]
    units = {"value": "mean", "rolling": "mean", "bust": "share", "win": "share", "error": "share"}
    emit(Output(document, columns, rows, _advice_text(document, columns, rows, units), units), form)


def _thrown(rules: "Ruleset", roll: dice.Dice, held: str | None, kept: str | None, opening: bool) -> "Position":
    """Return the position of a turn with a roll on the table, in a game of its own."""
    from msgspec.structs import replace

    from tenklog import events, state
    from tenklog.turns import play

    if len(roll) > rules.dice:
        raise UsageError(f"{len(roll)} dice under {rules.name}", f"at most {rules.dice}")
    points = 0 if held is None else whole(held, "points")
    before: dice.Dice = ()
    worth = 0
    position = state.opening(("",), rules)
    if kept is not None:
        before = tuple(sorted(dice.parse(kept)))
        scored = position.table.points(before)
        if not rules.build_on_kept:
            raise UsageError(f"--kept under {rules.name}", "rules with build_on_kept")
        if scored is None or scored > points:
            wrong = "scores nothing" if scored is None else f"is worth {scored}, more than the {points} of --points"
            raise UsageError(f"--kept {kept} {wrong}", "dice that score, of no more points than --points")
        worth = scored
    if len(roll) < rules.dice and rules.build_on_kept and len(before) != rules.dice - len(roll):
        raise UsageError(
            f"{len(roll)} dice rolled and {len(before)} kept before",
            f"--kept with the {rules.dice - len(roll)} dice kept, for build_on_kept",
        )
    if len(roll) < rules.dice and held is None:
        raise UsageError(f"only {len(roll)} dice", "--points N with what the turn holds")
    turn = state.Turn(0, len(roll), "to-roll", 1 if points else 0, points, (), (), before, worth)
    position = replace(position, turn=turn, seats=(state.Seat("", opened=not opening),))
    return play(position, events.Roll(1, player="", dice=roll))


def _advice_text(
    document: "Advice", columns: tuple[str, ...], rows: "list[dict[str, object]]", units: dict[str, str]
) -> str:
    said = f"{document.rules}: " + (f"{document.player} has " if document.player else "")
    said += f"{dice.write(document.roll, '')} rolled" if document.phase == "rolled" and document.roll else "the turn"
    said += f", {document.points} points at stake."
    if document.phase == "to-roll":
        said = f"{document.rules}: {document.player or 'the player'} throws next, {document.points} points at stake."
    from tenklog.advice import phrase

    shown = columns if any(one.dice for one in document.options) else tuple(one for one in columns if one != "dice")
    marked = [one | {"best": "*" if one["best"] else ""} for one in rows]
    lines = [visible(said), "", _table(shown, marked, units), "", f"Best: {phrase(document.options[0])}."]
    return "\n".join(lines + [visible(one) for one in document.notes])


@command("luck", example="tenklog luck sample_logs/ten-thousand-evening.jsonl")
@game_argument
@click.option("--turns", "by_turn", is_flag=True, help="A row for each turn instead of each player.")
@output_options
def luck(given: str | None, game: str | None, by_turn: bool, form: Format) -> None:
    """Tell luck from skill: what the dice gave, and what each decision cost, in exact expected points.

    For every turn with dice, start + luck + decisions = points. Turns of a score sheet have neither.
    """
    from tenklog.luck import luck as measure

    found = measure(load(one_of(given, game)).game)
    columns: tuple[str, ...] = (
        "player", "turns", "points", "start", "luck", "decisions", "adjusted", "real", "loss", "blunders",
    )  # fmt: skip
    rows = [row(one) | {"blunders": len(one.blunders)} for one in found.players]
    if by_turn:
        columns = ("turn", "player", "start", "luck", "decisions", "points", "last")
        rows = [row(one) for one in found.turns]
    for one in rows:
        for key in ("luckiest", "unluckiest", "steps"):
            one.pop(key, None)
    units = dict.fromkeys(("start", "luck", "decisions", "adjusted", "loss"), "mean")
    emit(Output(found, columns, rows, _luck_text(found, columns, rows, units, by_turn), units), form)


def _luck_text(
    found: "Luck", columns: tuple[str, ...], rows: "list[dict[str, object]]", units: dict[str, str], by_turn: bool
) -> str:
    lines = [visible(f"{found.game} under {found.rules}, in expected points."), "", _table(columns, rows, units)]
    if found.sheet_turns:
        lines += ["", f"{found.sheet_turns} turns are kept without dice: they have neither luck nor decisions."]
    if by_turn:
        return "\n".join(lines)
    for one in found.players:
        if one.luckiest is None or one.unluckiest is None:
            continue
        lines += ["", visible(f"{one.player}")]
        for word, roll in (("luckiest", one.luckiest), ("unluckiest", one.unluckiest)):
            lines.append(f"  {word} roll: {dice.write(roll.dice, '')} ({roll.luck:+.0f}, event {roll.seq})")
        for blunder in one.blunders[:3]:
            lines.append(f"  {blunder.loss:+.0f}, event {blunder.seq}: {blunder.text}; better: {blunder.best}")
        if len(one.blunders) > 3:
            lines.append(f"  and {len(one.blunders) - 3} more decisions that cost 25 points or more")
    return "\n".join(lines)


@command("simulate", example="tenklog simulate --games 100 --players anna=best,ben=hold:350,cara=greedy --into games")
@click.option("--games", "count", type=click.IntRange(1, 10_000_000), default=1000, help="How many games (1000).")
@rules_option
@click.option(
    "--players",
    "seats",
    required=True,
    metavar="NAME=STRATEGY,...",
    help="Who plays how: best, greedy, cautious, random, hold:POINTS, dice:LEFT.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Equal seeds give equal games (default: a new one).")
@click.option("--into", metavar="DIR", help="Write the logs there.")
@click.option(
    "--archive",
    "folder",
    metavar="DIR",
    is_flag=False,
    flag_value="",
    help="Put them into an archive (default: the home's).",
)
@click.option("--luck", is_flag=True, help="With --archive: work out luck and skill too.")
@click.option("--dry-run", is_flag=True, help="Write nothing, only say who wins how often.")
@output_options
def simulate(
    count: int,
    name: str | None,
    sets: tuple[str, ...],
    seats: str,
    seed: int | None,
    into: str | None,
    folder: str | None,
    luck: bool,
    dry_run: bool,
    form: Format,
) -> None:
    """Play many games by strategies, and say who wins how often.

    best plays for most expected points, greedy for the next throw alone, cautious banks at once, hold:350 from 350
    points, dice:3 with fewer than 3 dice left, random does anything legal; nobody else steals or
    challenges.
    """  # fmt: skip
    from tenklog import simulate as simulation

    if sum((into is not None, folder is not None, dry_run)) != 1:
        raise UsageError(
            "nowhere to put the games" if not dry_run else "--dry-run and a place",
            "--into DIR or --archive or --dry-run",
        )
    if luck and folder is None:
        raise UsageError("--luck without an archive", "--archive with it")
    if into == "":
        raise UsageError("--into is empty", "a folder")
    rules = ruleset(name or "tiotusen", sets)
    seed = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    plan = simulation.Plan(rules, simulation.parse_players(seats), seed)
    processes = os.cpu_count() or 1
    with progress_bar(count, "Playing") as progress:
        if into is not None:
            found = simulation.into_folder(Path(into), plan, count, processes=processes, progress=progress)
        elif folder is not None:
            place = Path(folder) if folder else home().archive
            found = simulation.into_archive(
                place, plan, count, luck=luck, processes=processes, progress=progress
            )  # fmt: skip
        else:
            found = simulation.only_played(plan, count, processes=processes, progress=progress)
    document = simulation.summary(plan, found)
    columns = ("player", "strategy", "games", "wins", "win_rate", "error", "points")
    rows = [row(one) for one in document.players]
    units = {"win_rate": "share", "error": "share", "points": "mean"}
    written = "nothing is written" if dry_run else f"{document.new} new"
    text = [visible(f"{document.games} games under {document.rules}, seed {seed}: {written}."), ""]
    text.append(_table(columns, rows, units))
    emit(Output(document, columns, rows, "\n".join(text), units), form)
