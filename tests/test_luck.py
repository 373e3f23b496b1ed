"""Luck and skill: the worked example, and that start + luck + decisions are the points of every turn."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from evening import at_table
from msgspec.structs import replace
from random_games import random_game, random_ruleset

from tenklog import advice, events, load
from tenklog.errors import UsageError
from tenklog.game import fold, retold
from tenklog.luck import luck, measured
from tenklog.rulebook import preset
from tenklog.rules import Ruleset, change, parse_changes
from tenklog.simulate import Plan, play_game

LONG = bool(os.environ.get("TENKLOG_LONG"))
RULESETS = 100 if LONG else 2
SIMULATED = 250 if LONG else 3  # games of each
SAMPLES = Path(__file__).parents[1] / "sample_logs"


def test_the_worked_example_has_its_luck_and_its_decisions() -> None:
    log = load(SAMPLES / "ten-thousand-example.jsonl")
    rules = preset("ten-thousand")
    as_pairs = change(rules, parse_changes(("six_of_a_kind=1500",), rules))
    start = events.Start(1, game="example", version=1, players=log.start.players, rules=as_pairs, origin="table")
    found = luck(fold([start, *log.events[1:]]))
    first, second = found.turns
    assert first.start == pytest.approx(576.756639, abs=5e-7)
    lucks = [step.luck for turn in found.turns for step in turn.steps if step.luck is not None]
    assert lucks == pytest.approx([-189.56, -87.19, 644.63, -918.23, -76.76, 125.64], abs=0.006)
    losses = [step.loss for turn in found.turns for step in turn.steps if step.loss]
    assert losses == pytest.approx([-26.40, -25.642], abs=0.006)
    assert (first.luck, first.decisions, first.points) == pytest.approx((-550.354, -26.403, 0), abs=5e-4)
    assert (second.decisions, second.points) == pytest.approx((-25.642, 600), abs=5e-4)
    one, two = found.players
    assert [(blunder.text, blunder.best) for blunder in (*one.blunders, *two.blunders)] == [
        ("rolled on", "bank 300"),
        ("rolled on", "bank 500"),
    ]
    assert one.luckiest is not None
    assert one.luckiest.dice == (5, 5)


def logs(rng: Random, rules: Ruleset) -> Iterator[Sequence[events.Event]]:
    """Yield games under a ruleset: some in which anything happens, and some that are simulated.

    Of rules under which solutions are large, and each total has one of its own, a few are all that there is time for.
    """
    anything, simulated = 5, SIMULATED
    if LONG and rules.build_on_kept:
        anything = simulated = 0 if rules.reach == "exactly" and rules.must_beat_previous else 1
    for _ in range(anything):
        yield random_game(rng, rules)
    plan = Plan(rules, (("anna", "greedy"), ("ben", "random"), ("cara", "hold:350")), rng.randrange(1000))
    for number in range(simulated):
        yield play_game(plan, number)[0]


def test_start_and_luck_and_decisions_are_the_points_of_every_turn() -> None:
    turns = games = rulesets = seed = 0
    while rulesets < RULESETS:
        seed += 1
        rng = Random(seed)
        rules = random_ruleset(rng)
        if not LONG and rules.build_on_kept and seed > 1:
            rules = replace(rules, build_on_kept=False)  # a second each
        try:
            for log in logs(rng, rules):
                game = fold(log)
                for _, turn, _ in measured(retold(game)[1], [seat.player for seat in game.position.seats]):
                    if turn.start is None:
                        assert (turn.luck, turn.decisions, turn.steps) == (None, None, [])
                        continue
                    assert turn.luck is not None
                    assert turn.decisions is not None
                    assert abs(turn.start + turn.luck + turn.decisions - turn.points) < 1e-9
                    assert all(step.loss is None or step.loss < 1e-9 for step in turn.steps)
                    turns += 1
                games += 1
        except UsageError as error:
            assert "can go on for ever" in error.what or "too many states" in error.what  # noqa: PT017
            continue
        rulesets += 1
    print(f"{rulesets} rulesets, {games} games, {turns} turns")
    assert turns > games


def test_who_plays_best_loses_nothing() -> None:
    plan = Plan(preset("ten-thousand"), (("anna", "best"), ("ben", "hold:1000")), 5)
    for number in range(1, 6):
        _, game = play_game(plan, number)
        by_name = {one.player: one for one in luck(game).players}
        assert by_name["anna"].blunders == []
        assert by_name["ben"].decisions < -200


def test_a_score_sheet_has_neither() -> None:
    found = luck(load(SAMPLES / "tiotusen-example.jsonl").game)
    assert found.sheet_turns == len(found.turns) == 18
    assert all(one.turns == 0 and one.loss is None and one.luckiest is None for one in found.players)


def test_points_are_what_the_sheet_says() -> None:
    for name in ("ten-thousand-evening", "diecimila-evening", "zilch-evening"):
        log = load(SAMPLES / f"{name}.jsonl")
        found = luck(log.game)
        totals = {seat.player: seat.total for seat in log.game.position.seats}
        assert {one.player: one.points for one in found.players} == totals
        for one in found.players:
            assert one.start + one.luck + one.decisions == pytest.approx(one.points, abs=1e-6)


@pytest.mark.parametrize(("step", "successes"), [(50, 8), (50, 16), (50, 33), (500, 8)])
def test_a_last_die_whose_bonus_grows_may_go_on_for_as_long_as_it_likes(step: int, successes: int) -> None:
    """A turn that leaves all that its first policy knows of is measured, and advised, on as it was before."""
    rules = {"last_die_rolls": 2, "last_die_step": step, "last_die_bonus": 100, "opening_minimum": 0}
    script = ", ".join(["roll 111554, keep 11155, roll 1, keep 1"] * successes)
    played = at_table("Anna Ben", "farkle-classic", **rules).then(script)
    moves = {one.move: one for one in advice.options(fold(played.log).position)}
    assert 0.7 < moves["roll"].value / moves["bank"].value < 1
    game = fold(played.then("roll 111554, keep 111, roll 234").log)
    ((_, turn, _),) = measured(retold(game)[1], ["Anna", "Ben"])
    assert turn.start is not None
    assert turn.luck is not None
    assert turn.decisions is not None
    assert turn.start + turn.luck + turn.decisions == pytest.approx(turn.points, abs=1e-6)
    *_, hot, _ = [one.loss for one in turn.steps if one.kind == "go-on"]
    assert hot == pytest.approx(moves["roll"].value - moves["bank"].value)
