"""Replay: this module has the command that plays the same dice under other rules."""

import os
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenklog.cli.common import (
    EMPTY_ARCHIVE,
    archived,
    archived_option,
    cluster,
    command,
    emit,
    engine_options,
    game_option,
    load,
    output_options,
    progress_bar,
    remark,
    ruleset,
)
from tenklog.errors import TenklogError, UsageError
from tenklog.home import check_id
from tenklog.render import Format, Output, render, visible
from tenklog.rulebook import plain

if TYPE_CHECKING:
    from tenklog.compare import Comparison, GameReplays
    from tenklog.overview import ArchiveReplay
    from tenklog.replayer import Divergence, Replayed, Settle
    from tenklog.replays import Asked, Done
    from tenklog.rules import Ruleset
    from tenklog.store import Log

COLUMNS = (
    "game", "rules", "status", "winners", "leaders", "total", "settle", "guesses", "same", "rescored", "settled",
    "never_happened",
)  # fmt: skip
_NO_ARCHIVE = ("--engine spark without --archive", "--archive [DIR] with it")


@command("replay", example="tenklog replay --rules zilch --rules farkle")
@click.argument("games", nargs=-1, metavar="GAME...")
@game_option
@click.option("--rules", "names", multiple=True, metavar="R", help="A ruleset, or `recorded` (repeatable).")
@click.option("--set", "sets", multiple=True, metavar="K=V", help="Change a setting of each of them (repeatable).")
@click.option(
    "--settle",
    type=click.Choice(["bank", "void", "stop", "sample"]),
    default="bank",
    help="What becomes of a turn that can't go on as recorded: bank what it holds, 0, stop there (exit 1), or play it "
    "and the rest on many times and estimate who wins.",
)
@click.option("--samples", type=click.IntRange(1, 1_000_000), default=500, help="Games of --settle sample (500).")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, help="Seed of their dice (0).")
@click.option("--keep-rule-changes", is_flag=True, help="Keep the rule changes of the log, on top of the ruleset.")
@click.option("--write", metavar="FILE|DIR", help="Write the replayed logs: a .jsonl file, or a folder for several.")
@click.option("--dry-run", is_flag=True, help="With --write: write nothing, name the files.")
@click.option("--turns", is_flag=True, help="With --archive: keep there what became of each turn, too.")
@archived_option
@engine_options
@output_options
def replay(
    games: tuple[str, ...],
    game: str | None,
    names: tuple[str, ...],
    sets: tuple[str, ...],
    settle: "Settle",
    samples: int,
    seed: int,
    keep_rule_changes: bool,
    write: str | None,
    dry_run: bool,
    turns: bool,
    folder: str | None,
    engine: str,
    master: str | None,
    form: Format,
) -> None:
    """Play the dice of games under other rules, and say where the two part.

    Several rulesets stand side by side; several games are summed up. Of an archive, what becomes of each game is kept
    there as the table `replays`, for `query`, and with --turns what becomes of each of its turns as `replayed_turns`.
    On a cluster (--engine spark) it is only summed up.
    """
    from tenklog.compare import compare
    from tenklog.replayer import replay as play_again
    from tenklog.rules import parse_changes

    if dry_run and write is None:
        raise UsageError("--dry-run without --write", "--write FILE|DIR, or neither")
    if turns and folder is None:
        raise UsageError("--turns without --archive", "--archive [DIR], which keeps them")
    if turns and engine == "spark":
        raise UsageError("--turns with --engine spark", "one of them: a cluster only sums up")
    if not names and not sets:
        raise UsageError("no rules to replay under", "--rules R, such as --rules zilch, or --set K=V")
    asked: list[tuple[str, Ruleset | None]] = [
        (name, None if name == "recorded" else ruleset(name, sets)) for name in names or ("recorded",)
    ]
    where = cluster(engine, master)
    if folder is not None:
        from tenklog.replays import Asked

        others = {"write": write is not None, "settle sample": settle == "sample"}
        wanted = [
            Asked("recorded", None, sets, settle, keep_rule_changes)
            if rules is None
            else Asked(rules.name, rules, sets, settle, keep_rule_changes, ruleset(name) if sets else None)
            for name, rules in asked
        ]
        place = archived(folder, games, addresses=where is not None, **others)
        if where is not None:
            _on_spark(where, place, wanted, form)
        else:
            _archive(Path(place), wanted, turns, form)
        return
    if where is not None:
        raise UsageError(*_NO_ARCHIVE)
    found: list[tuple[Log, list[Replayed]]] = []
    steps = len(games or (game,)) * len(asked) * samples if settle == "sample" else 0
    with progress_bar(steps, "Playing on") as progress:
        for one in games or (game,):
            log = load(one)
            replays = []
            for name, rules in asked:
                own = log.game.position.pending or log.game.position.rules
                changes = parse_changes(sets, own) if rules is None else {}
                try:
                    replays.append(
                        play_again(
                            log.game,
                            log.events,
                            rules,
                            settle=settle,
                            keep_rule_changes=keep_rule_changes,
                            changes=changes,
                            of=log.fingerprint,
                            name=_new_name(write, log, name, len(games), len(asked)),
                            samples=samples,
                            seed=seed,
                            progress=progress,
                        )
                    )
                except TenklogError as error:
                    raise error.at(log.game.start.game) from None
            found.append((log, replays))
    document = compare([(log.game, replays) for log, replays in found])
    if write is not None:
        _write(Path(write), [one for _, replays in found for one in replays], dry_run)
    emit(Output(document, COLUMNS, _rows(document), _text(document)), form)
    if any(one.replay.status == "stopped" for _, replays in found for one in replays):
        click.get_current_context().exit(1)


@command("sweep", example="tenklog sweep sample_logs/ten-thousand-evening.jsonl --set bank_minimum=0..500:50")
@click.argument("games", nargs=-1, metavar="GAME...")
@game_option
@click.option("--rules", "name", metavar="R", help="Replay under this ruleset (default: the log's own).")
@click.option(
    "--set",
    "sets",
    multiple=True,
    required=True,
    metavar="K=V",
    help="A setting and its values, K=FROM..TO:STEP or K=A,B,C (once or twice); more settings with one value each.",
)
@click.option("--settle", type=click.Choice(["bank", "void"]), default="bank", help="How a guess is settled.")
@click.option("--chart", is_flag=True, help="Draw how often the winner changes (needs tenklog[chart]).")
@archived_option
@engine_options
@output_options
def sweep(
    games: tuple[str, ...],
    game: str | None,
    name: str | None,
    sets: tuple[str, ...],
    settle: "Settle",
    chart: bool,
    folder: str | None,
    engine: str,
    master: str | None,
    form: Format,
) -> None:
    """Replay games along one or two settings: how often another one wins, how long games are, what turns become."""
    from tenklog import sweep as sweeping
    from tenklog.projections import row

    axes = [(text, sweeping.parse_axis(text)) for text in sets]
    ranges = [axis for _, axis in axes if axis is not None]
    fixed = [text for text, axis in axes if axis is None]
    if len(ranges) > 2:
        raise UsageError(f"{len(ranges)} settings with a range", "one or two")
    rules = None if name in (None, "recorded") else ruleset(name or "")
    count = prod(len(axis.values) for axis in ranges)
    where = cluster(engine, master)
    if where is not None:
        from tenklog import executors, spark

        if folder is None:
            raise UsageError(*_NO_ARCHIVE)
        address = archived(folder, games, addresses=True)
        with spark.session(where, package=True) as session:
            found = executors.sweep(session, address, rules, fixed, ranges, settle)
    elif folder is not None:
        from tenklog import overview
        from tenklog.archive import read_manifest

        place = Path(archived(folder, games))
        with progress_bar(read_manifest(place).games * count, "Replaying", "games") as progress:
            found, done = overview.sweep_archive(
                place, rules, fixed, ranges, settle, processes=os.cpu_count() or 1, progress=progress
            )
        remark(_done(done))
    else:
        logs = [load(one) for one in games or (game,)]
        with progress_bar(len(logs) * count, "Replaying") as progress:
            found = sweeping.sweep(logs, rules, fixed, ranges, settle, progress)
    for one in found.left_out:
        remark(f"left out: {one}")
    if chart and form == "table":
        from tenklog.charts import changes

        emit(Output(found, text=changes(found)), form)
        return
    columns = (*found.keys, *sweeping.SweepRow.__struct_fields__[1:])
    rows = [{**one.values, **row(one)} for one in found.rows]
    units = {"changed": "share", "rounds": "mean", "turns": "mean"}
    emit(Output(found, columns, rows, units=units, heads="stacked"), form)


def _archive(folder: Path, asked: "list[Asked]", turns: bool, form: Format) -> None:
    """Replay an archive, and print what that shows together."""
    from tenklog import overview, replays
    from tenklog.archive import read_manifest

    count = read_manifest(folder).games
    done = replays.Done(0, 0, 0, 0, 0)
    if count:  # a home without an archive has no folder either
        with progress_bar(count * len(asked), "Replaying", "games") as progress:
            done = replays.replay_archive(folder, asked, turns=turns, processes=os.cpu_count() or 1, progress=progress)
    remark(_done(done) if count else EMPTY_ARCHIVE)
    _totals(overview.ArchiveReplay(asked[0].settle, overview.totals(folder, asked), done), form)


def _on_spark(master: str, folder: Path | str, asked: "list[Asked]", form: Format) -> None:
    """Replay an archive on a cluster, and print what that shows together."""
    from tenklog import executors, overview, replays, spark

    with spark.session(master, package=True) as session:
        totals = executors.totals(session, folder, asked)
    done = replays.Done(0, 0, sum(one.games for one in totals), 0, 0)
    _totals(overview.ArchiveReplay(asked[0].settle, totals, done), form)


def _totals(document: "ArchiveReplay", form: Format) -> None:
    from tenklog import overview
    from tenklog.projections import row

    columns = (*overview.Total.__struct_fields__[:1], *overview.Total.__struct_fields__[2:])
    rows = [row(one) for one in document.totals]
    units = {"changed": "share", "rounds": "mean", "turns": "mean"}
    emit(Output(document, columns, rows, units=units, heads="stacked"), form)
    if any(one.stopped for one in document.totals):
        click.get_current_context().exit(1)


def _done(done: "Done") -> str:
    """Say what of it was there already, and how many turns were looked up."""
    parts = f"{done.made} {'part' if done.made == 1 else 'parts'} replayed, {done.there} there already"
    return f"{parts}; {done.looked_up / done.turns:.1%} of the turns looked up" if done.turns else parts


def _new_name(write: str | None, log: "Log", rules: str, games: int, rulesets: int) -> str | None:
    if write is None:
        return None
    path = Path(write)
    if path.suffix == ".jsonl":
        if games > 1 or rulesets > 1:
            raise UsageError(f"{write} holds one game", "a folder for several games or rulesets")
        return check_id(path.stem)
    if path.suffix and not path.is_dir():
        raise UsageError(f"{write} is no log's name", "a file that ends in .jsonl, or a folder")
    return check_id(f"{log.game.start.game[:40]}-{plain(Path(rules).stem)}"[:64].rstrip("-"))


def _write(target: Path, replays: "list[Replayed]", dry_run: bool) -> None:
    from tenklog import store

    for one in replays:
        start = one.game.start
        path = target if target.suffix == ".jsonl" else target / f"{start.game}.jsonl"
        if not dry_run:
            store.write_log(path, one.log)
        remark(f"{'would write' if dry_run else 'wrote'} {path}")


def _rows(document: "Comparison") -> list[dict[str, object]]:
    return [
        {
            "game": one.game,
            "rules": found.rules,
            "status": found.status,
            "winners": found.winners,
            "leaders": found.leaders,
            "total": max((one.total for one in found.standings if not one.left), default=None),
            "settle": found.settle,
            "guesses": found.guesses,
            "same": found.turns.same,
            "rescored": found.turns.rescored,
            "settled": found.turns.settled,
            "never_happened": found.turns.never_happened,
        }
        for one in document.games
        for found in one.replays
    ]


def _text(document: "Comparison") -> str:
    parts = [_game_text(one, len(document.games) == 1) for one in document.games]
    if len(document.games) > 1:
        columns = ("rules", "games", "same_winner", "other_winner", "undecided", *COLUMNS[-4:])
        rows: list[dict[str, object]] = [
            {key: getattr(one if key in columns[:5] else one.turns, key) for key in columns} for one in document.summary
        ]
        parts.append(render(Output(None, columns, rows), "table").rstrip("\n"))
    return "\n\n".join(parts)


def _game_text(one: "GameReplays", whole: bool) -> str:
    """Lay one game out: the standings side by side, a headline for each ruleset, and with `whole` every divergence."""
    from tenklog.compare import headline
    from tenklog.narrate import joined

    winners = joined(one.recorded.winners)
    ended = f"{winners} {'won' if winners else one.recorded.status}".strip()
    lines = [visible(f"{one.game}, recorded under {one.recorded.rules}: {ended}")]
    if whole:
        rows: list[dict[str, object]] = []
        for standing in one.recorded.standings:
            row: dict[str, object] = {"player": standing.player, "recorded": standing.total}
            for number, found in enumerate(one.replays):
                here = {other.seat: other.total for other in found.standings}
                row[_column(one, number)] = here.get(standing.seat)
            rows.append(row)
        columns = ["player", "recorded", *(_column(one, number) for number in range(len(one.replays)))]
        lines += ["", render(Output(None, columns, rows), "table")]
    for found in one.replays:
        lines.append(visible(headline(found)))
        if whole:
            turns = found.turns
            lines.append(
                f"  Turns: {turns.same} the same, {turns.rescored} rescored, {turns.settled} settled, "
                f"{turns.never_happened} never happened."
            )
            lines += map(visible, _divergences(found.divergences))
            told = {part.turn for part in found.divergences}
            lines += [
                visible(
                    f"        rescored: {part.player}'s turn in round {part.round}, {part.recorded:+} there, "
                    f"{part.replayed:+} here."
                )
                for part in found.rescored
                if part.turn not in told
            ]
    return "\n".join(lines)


def _divergences(found: "list[Divergence]") -> list[str]:
    """List divergences; of a long row of turns that never happened, the first and how many follow."""
    from tenklog.compare import shortened

    lines = []
    for one, more in shortened(found):
        lines.append(f"  {one.seq:>4}  {one.kind}: {one.text}")
        if more:
            lines.append(f"        ... and {len(more)} more that never happened, up to event {more[-1].seq}.")
    return lines


def _column(one: "GameReplays", number: int) -> str:
    name = one.replays[number].rules + (" (one sample)" if one.replays[number].chances else "")
    taken = [found.rules for found in one.replays[:number]]
    return name if name not in ("player", "recorded", *taken) else f"{name} ({number + 1})"
