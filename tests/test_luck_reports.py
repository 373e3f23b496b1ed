"""Luck and skill in the archive: what `luck` says of each game stands in the tables, and the reports sum it up."""

from collections import defaultdict
from math import sqrt
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any

import duckdb
import pytest
from evening import at_table, ruleset
from msgspec.structs import replace
from random_games import random_play, random_ruleset
from test_reports import differences, random_log

from tenklog import archive, events, reading, reports, simulate, stats, tables
from tenklog.archiving import archive_logs
from tenklog.errors import UsageError
from tenklog.game import retold
from tenklog.luck import TurnLuck, luck, measured
from tenklog.reading import Log
from tenklog.rulebook import preset
from tenklog.rules import Combination, Ruleset
from tenklog.stats import ORIGINS, Filters
from tenklog.store import write_log

EVERYTHING = Filters(origins=ORIGINS)
REPORTS = reports.ours()


def quick_ruleset(rng: Random) -> Ruleset:
    """Return a random ruleset that is solved in no time."""
    return replace(
        random_ruleset(rng), build_on_kept=False, last_die_step=0, reach="at-least", must_beat_previous=False
    )


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Log]:
    """Return random games of every origin, of presets and of rules that nobody plays."""
    folder = tmp_path_factory.mktemp("games")
    rng = Random(4)
    agreed = [preset(name) for name in ("tiotusen", "zilch", "ten-thousand")] + [quick_ruleset(rng) for _ in range(5)]
    found = []
    for number in range(60):
        path = folder / f"random-{number:04}.jsonl"
        write_log(path, random_log(rng, number, rng.choice(agreed)))
        found.append(reading.read(path))
    return found


@pytest.fixture(scope="module")
def folder(logs: list[Log], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of the games with their luck."""
    made = tmp_path_factory.mktemp("archive")
    outcomes = archive_logs(made, [log.path for log in logs], luck=True)
    assert {one.result for one in outcomes} == {"archived"}
    return made


def worked_out(log: Log) -> list[tuple[TurnLuck, bool]]:
    try:
        players = [seat.player for seat in log.game.position.seats]
        return [(turn, aimed) for _, turn, aimed in measured(retold(log.game)[1], players) if turn.start is not None]
    except UsageError:
        return []


def ask(folder: Path, table: str, columns: str) -> list[tuple[Any, ...]]:
    found = archive.source(folder, archive.open_archive(folder), table)
    return duckdb.connect().execute(f"SELECT {columns} FROM ({found})").fetchall()


# -- the tables -------------------------------------------------------------------------------------------------------


def test_the_tables_say_what_luck_says(logs: list[Log], folder: Path) -> None:
    turns = {row[:2]: row[2:] for row in ask(folder, "turns", "game, turn, start, luck, decisions, aimed")}
    rolls = {
        row[:2]: row[2:]
        for row in ask(folder, "rolls", "game, seq, luck, keep_free, keep_loss, free, decision_loss, decision")
    }
    known_turns, known_rolls = set(), set()
    for log in logs:
        game = log.start.game
        for turn, aimed in worked_out(log):
            known_turns.add((game, turn.turn))
            assert turns[game, turn.turn] == (turn.start, turn.luck, turn.decisions, aimed)
            roll: tuple[str, int] = ("", 0)
            for step in turn.steps:
                if step.kind == "roll":
                    roll = (game, step.seq)
                    known_rolls.add(roll)
                    assert rolls[roll][0] == step.luck
                elif step.kind == "keep":
                    assert rolls[roll][1:3] == (step.real, step.loss)
                elif rolls[roll][5] is None:  # settled by a replay, so nobody decided it
                    assert (log.start.origin, step.kind, step.real) == ("replay", "bank", False)
                    assert rolls[roll][3:5] == (None, step.loss)
                else:
                    assert rolls[roll][3:] == (step.real, step.loss, "bank" if step.kind == "bank" else "roll")
    assert len(known_turns) > 300
    assert len(known_rolls) > 600
    assert {key for key, row in turns.items() if row != (None,) * 4} == known_turns
    assert {key for key, row in rolls.items() if row[0] is not None} == known_rolls
    for game, turn, seq, aimed in ask(folder, "rolls", "game, turn, seq, aimed"):
        assert aimed == (turns[game, turn][3] if (game, seq) in known_rolls else None)
    assert set(ask(folder, "games", "measured")) == {(True,)}


def test_without_luck_its_columns_are_null(logs: list[Log], tmp_path: Path) -> None:
    archive_logs(tmp_path, [log.path for log in logs])
    for table in ("turns", "rolls"):
        names = ", ".join(column.name for column in tables.OF_LUCK[table])
        assert set(ask(tmp_path, table, names)) == {(None,) * len(tables.OF_LUCK[table])}
    assert set(ask(tmp_path, "games", "measured")) == {(False,)}
    for name in ("luck", "skill"):
        assert stats.run(tmp_path, REPORTS[name], EVERYTHING).rows == []
    assert stats.unmeasured(tmp_path, EVERYTHING) == len(logs)


def test_games_that_are_archived_get_their_luck_later(logs: list[Log], folder: Path, tmp_path: Path) -> None:
    paths = [log.path for log in logs]
    archive_logs(tmp_path, paths[:20])
    first = archive_logs(tmp_path, paths[:30], luck=True)
    assert [one.result for one in first] == ["measured"] * 20 + ["archived"] * 10
    assert {one.result for one in archive_logs(tmp_path, paths[:30], luck=True)} == {"already"}
    assert {one.result for one in archive_logs(tmp_path, paths[:30])} == {"already"}
    archive_logs(tmp_path, paths, luck=True)
    for table in tables.TABLES:
        assert sorted(map(repr, ask(tmp_path, table, "*"))) == sorted(map(repr, ask(folder, table, "*")))
    assert stats.unmeasured(tmp_path, EVERYTHING) == 0


def test_the_luck_of_a_game_that_goes_on_is_worked_out_again(tmp_path: Path) -> None:
    path = tmp_path / "evening.jsonl"
    log = at_table("Anna Ben", "ten-thousand").then("roll 111222, keep 111222, bank, bank 11000").log
    write_log(path, [replace(log[0], game="evening"), *log[1:]])
    archive_logs(tmp_path / "archive", [path], luck=True)
    before = ask(tmp_path / "archive", "turns", "start")
    path.unlink()
    write_log(path, [replace(log[0], game="evening"), *log[1:], events.Note(len(log) + 1, text="what an evening")])
    assert [one.result for one in archive_logs(tmp_path / "archive", [path])] == ["superseded"]
    assert ask(tmp_path / "archive", "turns", "start") == before
    assert any(row[0] is not None for row in before)


def test_under_rules_that_give_a_turn_no_value_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "random.jsonl"
    rng = Random(1)
    safe = ruleset("tiotusen", nothing=Combination("A", 50), opening_minimum=0, target=500)
    log, game = random_play(rng, safe, seats=2, lines=400, asides=0)
    assert game.position.turn is None
    write_log(path, log)
    with pytest.raises(UsageError, match="for ever"):
        luck(game)
    assert [one.result for one in archive_logs(tmp_path / "archive", [path], luck=True)] == ["archived"]
    assert set(ask(tmp_path / "archive", "turns", "start, luck, aimed")) == {(None, None, None)}
    assert stats.unmeasured(tmp_path / "archive", EVERYTHING) == 0


def test_an_archive_of_before_has_no_luck(logs: list[Log], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that was written when the columns were not there reads as unmeasured, and can be measured."""
    now = tables.TABLES
    before = {
        table: tuple(one for one in columns if one not in tables.OF_LUCK.get(table, ()) and one.name != "measured")
        for table, columns in now.items()
    }
    paths = [log.path for log in logs[:5]]
    with monkeypatch.context() as patch:
        for table, columns in before.items():
            patch.setitem(now, table, columns)
        patch.setattr(archive, "COLUMNS", "of before")
        archive_logs(tmp_path, paths)
    assert {one.result for one in archive_logs(tmp_path, paths)} == {"already"}
    assert stats.unmeasured(tmp_path, EVERYTHING) == 5
    assert {one.result for one in archive_logs(tmp_path, paths, luck=True)} == {"measured"}
    assert stats.unmeasured(tmp_path, EVERYTHING) == 0


# -- the reports ------------------------------------------------------------------------------------------------------


def by_player(logs: list[Log]) -> dict[str, list[tuple[TurnLuck, bool]]]:
    found = defaultdict(list)
    for log in logs:
        for turn, aimed in worked_out(log):
            found[turn.player].append((turn, aimed))
    return found


def test_the_report_about_luck_sums_up_what_luck_says(logs: list[Log], folder: Path) -> None:
    expected = []
    for player, taken in by_player(logs).items():
        turns = [turn for turn, _ in taken]
        lucks = [turn.luck or 0.0 for turn in turns]
        rolls = [step.luck for turn in turns for step in turn.steps if step.luck is not None]
        expected.append((
            player, len(turns), fmean(turn.points for turn in turns), fmean(turn.start or 0.0 for turn in turns),
            fmean(lucks), stdev(lucks) / sqrt(len(lucks)), fmean(turn.decisions or 0.0 for turn in turns),
            fmean(turn.points for turn in turns) - fmean(lucks), sum(lucks), max(rolls), min(rolls),
        ))  # fmt: skip
    expected.sort(key=lambda row: -row[4])
    assert len(expected) > 4
    assert differences(REPORTS["luck"], stats.run(folder, REPORTS["luck"], EVERYTHING), expected) == []


def test_the_report_about_skill_sums_up_what_luck_says(logs: list[Log], folder: Path) -> None:
    expected = []
    for player, taken in by_player(logs).items():
        turns = [turn for turn, aimed in taken if aimed]
        steps = [step for turn in turns for step in turn.steps if step.real]
        losses = [step.loss or 0.0 for step in steps]
        of_kind = {kind: sum((step.loss or 0.0 for step in steps if step.kind == kind), 0.0) / len(turns)
                   for kind in ("keep", "go-on", "bank")}  # fmt: skip
        expected.append((
            player, len(turns), len(steps), sum(loss > -1e-6 for loss in losses) / len(losses), fmean(losses),
            sum(losses) / len(turns), of_kind["keep"], of_kind["go-on"], of_kind["bank"],
            sum(loss <= -25 for loss in losses), min(losses),
        ))  # fmt: skip
    expected.sort(key=lambda row: -row[5])
    assert len(expected) > 4
    assert differences(REPORTS["skill"], stats.run(folder, REPORTS["skill"], EVERYTHING), expected) == []


def test_the_luck_of_a_log_is_worked_out_where_it_is_asked_for(logs: list[Log], folder: Path, tmp_path: Path) -> None:
    archive_logs(tmp_path, [])
    one = [log.path for log in logs if log.start.origin == "table" and worked_out(log)][:1]
    archive_logs(tmp_path / "one", one, luck=True)
    for name in ("luck", "skill"):
        expected = stats.run(tmp_path / "one", REPORTS[name], EVERYTHING).rows
        assert expected
        assert differences(REPORTS[name], stats.run(tmp_path, REPORTS[name], EVERYTHING, logs=one), expected) == []


def test_who_plays_best_has_no_loss_in_simulated_games(tmp_path: Path) -> None:
    plan = simulate.Plan(preset("farkle"), (("anna", "best"), ("ben", "hold:350")), 1)
    simulate.into_archive(tmp_path, plan, 10, luck=True)
    answer = stats.run(tmp_path, REPORTS["skill"], EVERYTHING)
    (anna, ben) = (dict(zip(answer.columns, row, strict=True)) for row in answer.rows)
    assert (anna["player"], anna["best_rate"], anna["blunders"]) == ("anna", 1.0, 0)
    assert ben["loss_per_turn"] < -20
