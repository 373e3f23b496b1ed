"""Simulated games, chances to win and sweeps: reproducible, legal, fair, and told honestly."""

import os
import sys
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

import pytest
from bulk_equality import usual
from msgspec import json
from msgspec.structs import replace
from random_games import random_ruleset

from tenklog import advice, events, files, jit, load, lockstep, reading, reports, simulate, stats, strategies
from tenklog.archive import connect, extract, open_archive, source
from tenklog.archiving import archive_logs
from tenklog.dice import Dice
from tenklog.errors import Conflict, UsageError
from tenklog.game import Game, fold, tag
from tenklog.lines import MOST_EVENTS, seal_all
from tenklog.reading import Log
from tenklog.replayer import Replayed, replay
from tenklog.rulebook import preset
from tenklog.rules import change, parse_changes
from tenklog.simulate import (
    Plan,
    into_archive,
    into_folder,
    only_played,
    parse_players,
    play_game,
    sealed,
    summary,
    to_win,
)
from tenklog.state import Position
from tenklog.strategies import Throw, fair, next_event, strategy
from tenklog.sweep import parse_axis, sweep
from tenklog.tables import TABLES
from tenklog.turns import play

LONG = bool(os.environ.get("TENKLOG_LONG"))
SAMPLES = Path(__file__).parents[1] / "sample_logs"
RULES = preset("farkle-classic")
PLAN = Plan(RULES, (("anna", "best"), ("ben", "hold:350"), ("cara", "greedy")), 11)
OF = "7:" + "0f" * 16


@pytest.mark.parametrize("rules", ["tiotusen", "zilch-10000"])
def test_nobody_but_random_stops_for_nothing(rules: str) -> None:
    plan = Plan(preset(rules), (("anna", "hold:350"), ("ben", "dice:3"), ("cara", "greedy"), ("dora", "cautious")), 4)
    opened = 0
    for number in range(10):
        _, game = play_game(plan, number)
        for one in game.position.turns():
            assert one.outcome != "scoreless", (one.turn.seat, one.turn.points)
            opened += one.outcome == "banked"
    assert opened > 100


@pytest.mark.parametrize("name", ["best", "greedy", "cautious", "random", "hold:300", "dice:3"])
@pytest.mark.parametrize("rules", ["zilch", "diecimila", "tiotusen", "farkle"])
def test_every_strategy_plays_a_legal_game_to_its_end(name: str, rules: str) -> None:
    plan = Plan(preset(rules), (("anna", name), ("ben", "hold:400")), 3)
    log, game = play_game(plan, 1)
    again = fold([events.decode(events.encode(event)) for event in log])
    assert again.position.status in ("finished", "abandoned")
    assert again.position.seats == game.position.seats
    assert log[0].origin == "simulated"  # type: ignore[union-attr]


@pytest.mark.parametrize("rules", ["diecimila", "zilch", "tiotusen", "tiotusen-stealing"])
def test_who_plays_at_random_does_all_that_is_legal_and_nobody_else_steals(rules: str) -> None:
    plan = Plan(
        replace(preset(rules), challenge_split=5000), (("anna", "random"), ("ben", "hold:350"), ("cara", "random")), 2
    )
    moves = {name: set[str]() for name, _ in plan.players}
    for number in range(30):
        log, game = play_game(plan, number)
        assert fold(log).position.seats == game.position.seats
        for event in log:
            if (player := getattr(event, "player", None)) is not None:
                moves[player].add(tag(event))
    usual = {"roll", "keep", "bank", "bust"}
    more = {"challenge"} if plan.rules.steal == "off" else {"challenge", "steal"}
    assert moves == {"anna": usual | more, "ben": usual, "cara": usual | more}


def test_equal_seeds_give_equal_games_whatever_the_processes(tmp_path: Path) -> None:
    one = into_folder(tmp_path / "one", PLAN, 120, processes=1)
    two = into_folder(tmp_path / "two", PLAN, 120, processes=3)
    assert [found.game for found in one] == [found.game for found in two]
    for found in one:
        name = f"{found.game}.jsonl"
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    other = replace(PLAN, seed=12)
    assert sealed(other, 1)[2] != sealed(PLAN, 1)[2]
    # The same on every platform: the generator is specified, and its first number gives the first throw, base 6.
    number = int(Random(f"tenklog {PLAN.key} 1").random() * 6**6)
    first = next(event.dice for event in play_game(PLAN, 1)[0] if isinstance(event, events.Roll))
    assert first == tuple(number // 6**place % 6 + 1 for place in range(5, -1, -1)) == (1, 3, 1, 2, 2, 3)


def test_games_go_into_an_archive_and_come_out_as_logs(tmp_path: Path) -> None:
    found = into_archive(tmp_path / "archive", PLAN, 20)
    assert {one.result for one in found} == {"archived"}
    assert {one.result for one in into_archive(tmp_path / "archive", PLAN, 20)} == {"already"}
    logs = dict(extract(tmp_path / "archive", None))
    assert len(logs) == 20
    for number in range(1, 21):
        assert logs[PLAN.game_id(number)] == sealed(PLAN, number)[2]
    told = summary(PLAN, found)
    assert sum(one.wins for one in told.players) == 20
    assert told.games == told.new == 20


def rows_of(folder: Path) -> dict[str, list[str]]:
    """Return all rows of an archive, by table and in a fixed order."""
    manifest = open_archive(folder)
    con = connect()
    found = {}
    for table in TABLES:
        done = con.execute(source(folder, manifest, table))
        found[table] = [repr(done.description), *sorted(map(repr, done.fetchall()))]
    con.close()
    return found


def both_ways(folder: Path, plan: Plan, games: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Play games together and one by one, compare all that comes of it, and return how many were played together."""
    left: list[int] = []
    together = simulate._together

    def spying(*given: Any) -> Any:
        found = yield from together(*given)
        left.extend(found)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(files, "sync", lambda fd: None)
        patched.setattr(files, "sync_folder", lambda path: None)
        patched.setattr(simulate, "FEW", 1)
        patched.setattr(jit, "COMPILED", True)  # what is not is slow, but the same
        patched.setattr(simulate, "_together", spying)
        quick = into_archive(folder / "together", plan, games)
        patched.setattr(simulate, "_lockstep", lambda told: None)
        slow = into_archive(folder / "one by one", plan, games)
    assert sorted(quick, key=lambda one: one.game) == slow
    assert rows_of(folder / "together") == rows_of(folder / "one by one")
    assert [*extract(folder / "together")] == [*extract(folder / "one by one")]
    return games - len(left)


FIVE = (("Anna", "best"), ("Bén", "hold:350"), ("cara", "greedy"), ('"D"', "cautious"), ("Eli", "dice:3"))


@pytest.mark.parametrize("players", [FIVE, FIVE[:1], FIVE[1:3]], ids=["five", "one", "two"])
@pytest.mark.parametrize("name", ["tiotusen", "zilch", "ten-thousand", "diecimila", "farkle-classic", "kingdom-come"])
def test_games_played_together_are_those_played_one_by_one(
    name: str, players: tuple[tuple[str, str], ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert both_ways(tmp_path, Plan(preset(name), players, 3), 24, monkeypatch) > 20


def test_under_any_rules_games_played_together_are_those_played_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = rulesets = 0
    for seed in range(1000):
        rng = Random(f"together {seed}")
        rules = usual(rng, random_ruleset(rng))
        players = tuple(rng.sample([*FIVE[1:], ("Flo", "hold:500"), ("Gus", "dice:2")], rng.randint(1, 4)))
        count += both_ways(tmp_path / str(seed), Plan(rules, players, seed), 12, monkeypatch)
        rulesets += 1
        if rulesets == (100 if LONG else 8):
            break
    assert count > 6 * rulesets


@pytest.mark.parametrize(
    ("players", "changes", "seed"),
    [
        ((("anna", "best"), ("ben", "best")), {"target": 500, "bust_penalty": 300}, 2),
        ((("anna", "best"),), {"target": 600, "bust_penalty": 600}, 18),
    ],
)
def test_the_best_strategy_knows_in_games_played_together_how_far_below_0_it_is(
    players: tuple[tuple[str, str], ...], changes: dict[str, Any], seed: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """It would take a turn worth the target for a win though the total is below 0."""
    rules = change(preset("ten-thousand"), {"opening_minimum": 0, **changes})
    assert both_ways(tmp_path, Plan(rules, players, seed), 20, monkeypatch) == 20


LEVEL: tuple[dict[str, Any], ...] = (
    {"last_turns": "everyone-else"}, {"last_turns": "rest-of-round"}, {"last_turns": "none"},
    {"bust_penalty": 100, "negative_totals": True},
    {"streak_length": 2, "streak_penalty": 150, "negative_totals": True},
    {
        "streak_counts": "scoreless-turns", "streak_length": 2, "streak_penalty": 150, "negative_totals": True,
        "bank_minimum": 150, "below_minimum": "zero",
    },
)  # fmt: skip


@pytest.mark.parametrize("tie", ["extra-turns", "shared"])
@pytest.mark.parametrize("changes", LEVEL, ids=str)
def test_level_ends_are_played_together_as_one_by_one(
    changes: dict[str, Any], tie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games to few points, of which many end level, some of them more than once, or with a leader who falls behind."""
    rules = change(preset("farkle-classic"), {"target": 200, "tie": tie, **changes})
    players = (("anna", "best"), ("ben", "cautious"), ("cara", "hold:150"), ("dov", "dice:5"))
    for plan in (Plan(rules, players, 4), Plan(rules, players[1:3], 4)):
        folder = tmp_path / str(len(plan.players))
        assert both_ways(folder, plan, 100, monkeypatch) == 100
        found, con = {}, connect()
        for table, kind in (("turns", "last"), ("seats", "won")):
            select = source(folder / "together", open_archive(folder / "together"), table)
            found[table] = con.execute(f"SELECT count(*) FROM ({select}) WHERE {kind} GROUP BY game").fetchall()
        con.close()
        # By the seats that win, or by last turns that are more than the others'.
        level = [count for (count,) in found["seats" if tie == "shared" else "turns"]]
        most = 1 if tie == "shared" else len(plan.players) - 1
        assert sum(count > most for count in level) > 1 or changes.get("last_turns") == "none"


def test_a_game_that_would_fill_its_log_is_abandoned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Plan(change(preset("zilch"), parse_changes(("any=A:50",), preset("zilch"))), (("anna", "hold:350"),), 1)
    log, game = play_game(endless, 1)
    assert game.position.status == "abandoned"
    assert MOST_EVENTS - 1 <= len(log) <= MOST_EVENTS
    assert reading.parse(sealed(endless, 1)[2], "endless").game.position.status == "abandoned"
    monkeypatch.setattr(simulate, "MOST_EVENTS", 250)
    monkeypatch.setattr(lockstep, "MOST_LINES", 241)
    assert 0 < both_ways(tmp_path, PLAN, 40, monkeypatch) < 40


def test_games_that_find_no_room_together_are_played_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockstep, "MOST_ROWS", 1 << 13)
    assert 0 < both_ways(tmp_path, PLAN, 80, monkeypatch) < 80


def test_strategies_that_draw_numbers_and_rules_that_look_further_are_played_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def can(plan: Plan) -> bool:
        simulate._lockstep.cache_clear()
        return simulate._lockstep(json.encode(plan)) is not None

    monkeypatch.setattr(jit, "COMPILED", False)
    assert not can(PLAN)
    monkeypatch.setattr(jit, "COMPILED", True)
    assert can(PLAN)
    assert not can(replace(PLAN, players=(("anna", "random"), ("ben", "hold:350"))))
    for text in ("reach=exactly", "must_beat_previous=true"):
        assert not can(replace(PLAN, rules=change(RULES, parse_changes((text,), RULES))))
    monkeypatch.setitem(sys.modules, "tenklog.ledger", None)  # as without numpy
    assert not can(PLAN)
    monkeypatch.undo()
    simulate._lockstep.cache_clear()


def test_games_that_go_on_for_very_long_are_not_played_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockstep, "MOST_TURNS", 48)
    monkeypatch.setattr(simulate, "MOST_TURNS", 48)
    assert 0 < both_ways(tmp_path, PLAN, 40, monkeypatch) < 40


@pytest.mark.parametrize("text", ["bust_penalty=900000", "one=900000", "target=1000000", "opening_minimum=9000"])
def test_large_numbers_change_nothing_in_that(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "MOST_TURNS", 300)
    monkeypatch.setattr(simulate, "MOST_TURNS", 300)
    rules = change(RULES, parse_changes((text, "negative_totals=true"), RULES))
    both_ways(tmp_path, replace(PLAN, rules=rules, players=PLAN.players[1:]), 12, monkeypatch)


def test_games_of_too_many_points_are_not_played_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "MOST_POINTS", 2001)
    assert 0 < both_ways(tmp_path / "turns", replace(PLAN, players=(("anna", "dice:2"),)), 40, monkeypatch) < 40
    monkeypatch.setattr(lockstep, "MOST_TOTAL", 10_300)
    assert 0 < both_ways(tmp_path / "games", PLAN, 24, monkeypatch) < 24
    monkeypatch.setattr(lockstep, "MOST_POINTS", 1000)
    assert both_ways(tmp_path / "none", PLAN, 12, monkeypatch) == 0


def test_what_is_archived_already_is_not_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "FEW", 1)
    first = into_archive(tmp_path, PLAN, 10)
    again = into_archive(tmp_path, PLAN, 30)
    assert [one.result for one in again] == ["already"] * 10 + ["archived"] * 20
    assert [replace(one, result="archived") for one in again[:10]] == first
    assert [game for game, _ in extract(tmp_path)] == [PLAN.game_id(number) for number in range(1, 31)]


def test_a_killed_run_is_taken_up_and_a_stranger_is_not_overwritten(tmp_path: Path) -> None:
    into_folder(tmp_path, PLAN, 3)
    half, other = (tmp_path / f"{PLAN.game_id(number)}.jsonl" for number in (1, 2))
    whole = half.read_bytes()
    half.write_bytes(whole[:100])
    into_folder(tmp_path, PLAN, 1)
    assert half.read_bytes() == whole
    other.write_bytes(b"mine\n")
    with pytest.raises(Conflict, match="another log"):
        into_folder(tmp_path, PLAN, 3)
    assert other.read_bytes() == b"mine\n"


def test_the_best_policy_wins_more_than_others() -> None:
    told = summary(PLAN, only_played(PLAN, 150))
    rates = {one.strategy: one.win_rate or 0.0 for one in told.players}
    assert rates["best"] > rates["greedy"] > rates["hold:350"]


def test_a_game_that_nobody_wins_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenklog.simulate.MOST_TURNS", 30)
    rules = change(RULES, parse_changes(("opening_minimum=10000",), RULES))
    _, game = play_game(Plan(rules, (("anna", "cautious"), ("ben", "random")), 1), 1)
    assert game.position.status == "abandoned"
    assert sum(seat.turns for seat in game.position.seats) == 30


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("anna", "is no player"),
        ("anna=best,anna=greedy", "two players"),
        ("anna=bset", "no strategy 'bset'"),
        ("anna=hold", "is no strategy"),
        ("anna=hold:0", "is no strategy"),
        ("anna=hold:3٣", "is no strategy"),
        ("anna=dice:9", "is no strategy"),
        ("=best", "name"),
    ],
)
def test_players_that_are_none_are_named(text: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        parse_players(text)


# -- dice -------------------------------------------------------------------------------------------------------------


def loaded(rng: Random, count: int) -> Dice:
    """Throw dice of which one shows a six twice as often as any other face."""
    (die,) = rng.choices((1, 2, 3, 4, 5, 6), (1, 1, 1, 1, 1, 2))
    return (die, *fair(rng, count)[1:])


def suspects(folder: Path, seed: int, games: int, throw: Throw = fair) -> int:
    """Archive simulated games, and count the players whose dice the audit rejects at 5%."""
    paths = []
    for number in range(1, games + 1):
        log, game = play_game(Plan(RULES, (("anna", "hold:300"), ("ben", "cautious")), seed), number, throw)
        paths.append(folder / f"{game.start.game}.jsonl")
        paths[-1].write_bytes(b"".join(line + b"\n" for line in seal_all(log)))
    archive_logs(folder / "archive", paths)
    answer = stats.run(folder / "archive", reports.ours()["dice"], stats.Filters(origins=("simulated",)))
    assert len(answer.rows) == 2
    return sum(row[answer.columns.index("p_holm")] < 0.05 for row in answer.rows)


def test_the_audit_of_fair_dice_rejects_as_often_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "sync", lambda fd: None)
    seeds = 400 if LONG else 20
    rejected = sum(suspects(made(tmp_path, seed), seed, 4) > 0 for seed in range(seeds))
    low, high = (8, 34) if LONG else (0, 4)
    assert low <= rejected <= high


def test_the_audit_finds_a_loaded_die(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "sync", lambda fd: None)
    archives = 40 if LONG else 1
    found = sum(suspects(made(tmp_path, seed), seed, 200, loaded) > 0 for seed in range(archives))
    assert found >= 0.95 * archives


def made(folder: Path, number: int) -> Path:
    """Make a folder of its own."""
    (folder / str(number)).mkdir()
    return folder / str(number)


# -- chances to win ---------------------------------------------------------------------------------------------------


def sampled(game: Game, log: list[events.AnyEvent], samples: int, seed: int = 0) -> Replayed:
    return replay(game, log, None, settle="sample", of=OF, samples=samples, seed=seed)


def test_sample_is_the_plain_replay_where_nothing_is_a_guess() -> None:
    for name in ("ten-thousand-evening", "diecimila-evening"):
        log = load(SAMPLES / f"{name}.jsonl")
        plain = replay(log.game, log.events, None, of=OF)
        found = replay(log.game, log.events, None, settle="sample", of=OF, samples=5)
        assert replace(found.replay, settle="bank") == plain.replay
        assert found.log == plain.log


def test_a_sample_is_a_legal_game_with_chances_that_add_up() -> None:
    log = load(SAMPLES / "ten-thousand-evening.jsonl")
    found = replay(log.game, log.events, preset("zilch"), settle="sample", of=OF, samples=30, seed=2)
    assert found.replay.samples == 30
    assert sum(one.chance for one in found.replay.chances) == pytest.approx(1)
    for one in found.replay.chances:
        assert one.error == pytest.approx(sqrt(one.chance * (1 - one.chance) / 30))
    assert fold([events.decode(events.encode(event)) for event in found.log]).position.status == "finished"
    again = replay(log.game, log.events, preset("zilch"), settle="sample", of=OF, samples=30, seed=2)
    assert again.replay == found.replay
    divergences = found.replay.divergences
    assert all("played on with other dice" in one.text for one in divergences if one.guess)


def test_the_chance_of_a_cut_game_agrees_with_what_happens() -> None:
    """Calibration: the sum of squared errors of the forecasts is what it is when the chances are true, in 4 sigma."""
    games = 500 if LONG else 40
    samples = 60
    rules = change(RULES, parse_changes(("target=3000",), RULES))
    plan = Plan(rules, (("anna", "best"), ("ben", "best")), 21)
    off = spread = 0.0
    for number in range(1, games + 1):
        log, game = play_game(plan, number)
        cut = log[: 2 + int(Random(number).random() * (len(log) - 2))]
        found = sampled(fold(cut), cut, samples, number).replay
        chance = next(one.chance for one in found.chances if one.player == "anna")
        won = any(game.position.seats[seat].player == "anna" for seat in game.position.winners)
        off += won - chance
        spread += chance * (1 - chance) * (1 + 1 / samples) + 0.25 / samples
    assert abs(off) <= 4 * sqrt(spread)


def test_advice_to_win_in_the_last_turn_is_not_advice_for_points() -> None:
    rules = change(RULES, parse_changes(("target=2000",), RULES))
    start = events.Start(1, game="g", version=1, players=("a", "b"), rules=rules, origin="table")
    log: list[events.Event] = [
        start,
        events.Bank(2, player="a", points=2000),
        events.Roll(3, player="b", dice=(1, 1, 1, 2, 3, 4)),
    ]
    log.append(events.Keep(4, player="b", dice=(1, 1, 1)))
    position = fold(log).position
    found = advice.options(position)
    assert [one.move for one in found if one.best] == ["roll"]
    rated = to_win(position, found, 40, 1)
    assert rated[0].move == "roll"
    assert next(one.win for one in rated if one.move == "bank") == 0


def test_a_bank_that_wins_at_once_is_best() -> None:
    rules = preset("ten-thousand")
    start = events.Start(1, game="g", version=1, players=("a", "b"), rules=rules, origin="table")
    log: list[events.Event] = [start, events.Bank(2, player="a", points=9900), events.Bank(3, player="b", points=50)]
    log += [events.Roll(4, player="a", dice=(1, 2, 3, 4, 6, 6)), events.Keep(5, player="a", dice=(1,))]
    position: Position = fold(log).position
    assert [one.move for one in advice.options(position) if one.best] == ["bank"]
    assert play(position, next_event(position, strategy("best"), Random(1))).winners == (0,)


def test_advice_lists_every_legal_keep_once_with_the_best_first() -> None:
    log = load(SAMPLES / "ten-thousand-evening.jsonl")
    position = fold(log.events[:2]).position
    turn = position.turn
    assert turn is not None
    found = advice.options(position)
    assert {one.dice for one in found} == set(position.table.keeps(tuple(sorted(turn.roll))))
    assert [one.best for one in found] == [True] + [False] * (len(found) - 1)
    assert all(found[0].value >= one.value for one in found)


# -- sweeps -----------------------------------------------------------------------------------------------------------


def evenings() -> list[Log]:
    return [load(SAMPLES / f"{name}.jsonl") for name in ("ten-thousand-evening", "diecimila-evening")]


def test_a_sweep_is_the_replay_under_each_value() -> None:
    logs = evenings()
    rules = preset("tiotusen")
    axis = parse_axis("opening_minimum=0..1000:500")
    assert axis is not None
    assert axis.values == ("0", "500", "1000")
    found = sweep(logs, rules, ("target=8000",), [axis])
    assert [row.values for row in found.rows] == [{"opening_minimum": value} for value in axis.values]
    for row, value in zip(found.rows, axis.values, strict=True):
        changes = parse_changes((f"opening_minimum={value}", "target=8000"), rules)
        plain = [replay(log.game, log.events, rules, changes=changes, of=OF).replay for log in logs]
        assert row.same == sum(one.turns.same for one in plain)
        assert row.guesses == sum(one.guesses for one in plain)
        assert row.games == row.same_winner + row.other_winner + row.undecided == 2
        turns = row.same + row.rescored + row.settled + row.never_happened
        assert turns == sum(seat.turns for log in logs for seat in log.game.position.seats)


def test_a_value_that_contradicts_the_rules_is_left_out_by_name() -> None:
    axis = parse_axis("opening_minimum=0..12000:6000")
    assert axis is not None
    found = sweep(evenings(), preset("tiotusen"), (), [axis])
    assert [row.values["opening_minimum"] for row in found.rows] == ["0", "6000"]
    assert "opening_minimum=12000" in found.left_out[0]


@pytest.mark.parametrize("text", ["target", "target=5..1:1", "target=1..x", "target=0..9:0", "target=1..1000000"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_axis(text)


def test_strategies_are_told_apart() -> None:
    assert {strategies.strategy(name).name for name in ("best", "dice:2", "hold:50")} == {"best", "dice:2", "hold:50"}
