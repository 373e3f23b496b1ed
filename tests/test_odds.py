"""Odds and the best turn: published values, exact bounds, and what the fold itself gives when the policy is played."""

import os
from collections.abc import Mapping
from functools import cache
from itertools import product
from math import sqrt
from random import Random

import pytest
from msgspec.structs import replace
from random_games import random_ruleset

from tenklog import events
from tenklog import policy as policies
from tenklog.chances import Chances, Node
from tenklog.dice import Dice, contains
from tenklog.errors import UsageError
from tenklog.odds import dice_odds, fraction, odds
from tenklog.policy import Policy, best_policy
from tenklog.rulebook import card_files, preset
from tenklog.rules import Ruleset, change, parse_changes
from tenklog.scoring import Table
from tenklog.state import Ended, Position, Seat, Turn
from tenklog.strategies import BEST, next_event
from tenklog.turns import play

LONG = bool(os.environ.get("TENKLOG_LONG"))
TURNS = int(os.environ.get("TENKLOG_TURNS", "2000000" if LONG else "2000"))
RULESETS = 30 if LONG else 6
PRESETS = [path.stem for path in card_files()]
SINGLES_AND_TRIPLES = "farkle-classic"


def house(base: str, *sets: str) -> Ruleset:
    rules = preset(base)
    return change(rules, parse_changes(sets, rules))


DOUBLING = ("four_of_a_kind=200A", "five_of_a_kind=400A", "six_of_a_kind=800A")
DOUBLING_ONES = ("four_ones=2000", "five_ones=4000", "six_ones=8000")
DICE_10001 = house(SINGLES_AND_TRIPLES, *DOUBLING, *DOUBLING_ONES, "straight=2000", "three_pairs=1500")
PLAYR = house(
    SINGLES_AND_TRIPLES, *DOUBLING, *DOUBLING_ONES, "straight=1500", "three_pairs=1500", "four_and_a_pair=1500",
    "six_as_pairs=AAAAAA:1500", "blank_throw=500", "bank_minimum=300", "below_minimum=roll-on",
)  # fmt: skip


def alone(rules: Ruleset, opened: bool = True) -> Position:
    """Return the start of a turn far from any target."""
    far = replace(rules, target=1_000_000, reach="at-least", must_beat_previous=False, opening_minimum=0)
    far = replace(far, opening_minimum=rules.opening_minimum, steal="off", challenge_split=0)
    return Position(far, Table.of(far), (Seat("Anna", opened=opened),), Turn(0, far.dice))


def policy(rules: Ruleset) -> Policy:
    return best_policy(alone(rules))


# -- values that others have published, or that were derived twice ----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "best", "value", "bank_at"),
    [
        ("tiotusen", "253625/648", 561.700326, [300, 250, 450, 1050, 3100, 16950]),
        ("ten-thousand", "536375/1296", 576.677066, [300, 250, 450, 1050, 2950, 17900]),
    ],
)
def test_a_preset_has_the_odds_that_were_derived_twice(name: str, best: str, value: float, bank_at: list[int]) -> None:
    found = odds(preset(name))
    assert [one.bust_exact for one in found.dice] == ["2/3", "4/9", "5/18", "17/108", "25/324", "5/216"]
    assert found.dice[5].expected_best_exact == best
    assert found.turn_value == pytest.approx(value, abs=5e-7)
    assert found.bank_at == {str(count): points for count, points in enumerate(bank_at, 1)}


def test_singles_and_triples_alone_have_the_published_odds() -> None:
    found = odds(preset(SINGLES_AND_TRIPLES))
    assert found.dice[5].bust_exact == "5/162"
    assert found.turn_value == pytest.approx(446.571440, abs=5e-7)
    assert [*found.bank_at.values()] == [250, 250, 400, 1000, 2900, 10050]


def test_dice_10001_has_its_published_values() -> None:
    found = policy(DICE_10001)
    assert found.value(0, Node(6)) == pytest.approx(590.66, abs=0.005)
    values = [found.rolling(0, Node(count, must_throw=False)) for count in (5, 4, 3, 2, 1)]
    assert values == pytest.approx([336.84, 240.80, 197.23, 185.01, 217.15], abs=0.005)


def test_zilch_at_playr_has_its_published_value() -> None:
    assert odds(PLAYR).turn_value == pytest.approx(623.0175, abs=0.00005)


def test_six_of_a_kind_as_three_pairs_has_the_start_value_of_the_worked_luck() -> None:
    assert odds(house("ten-thousand", "six_of_a_kind=1500")).turn_value == pytest.approx(576.756639, abs=5e-7)


# -- against plain counting -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_odds_are_those_of_all_ordered_throws(name: str) -> None:
    rules = preset(name)
    table = Table.of(rules)
    for count in range(1, 6):
        lost = hot = best = 0
        for throw in product(range(1, 7), repeat=count):
            keeps: Mapping[Dice, int] = table.keeps(tuple(sorted(throw)))
            lost += not keeps
            best += max(keeps.values(), default=0)
            left = [
                len(table.asides(one)[0]) if rules.set_aside == "one-per-combination" else len(one) for one in keeps
            ]
            hot += count in left
        found = dice_odds(Chances.of(table), count)
        exact = (found.bust_exact, found.hot_exact, found.expected_best_exact)
        assert exact == tuple(fraction(one, 6**count) for one in (lost, hot, best))


def test_a_last_die_that_is_thrown_again_is_lost_only_when_all_its_throws_are() -> None:
    found = odds(house("diecimila-free", "last_die_rolls=3")).dice[0]
    assert found.bust_exact == "8/27"
    assert found.hot_exact == "19/27"
    assert found.expected_best_exact == fraction(25 * 9 + 25 * 6 + 25 * 4, 9)


def test_a_wipeout_is_a_bust_of_the_odds() -> None:
    found = odds(house("tiotusen", "wipeout=11"))
    twos = product(range(1, 7), repeat=2)
    lost = sum(contains(tuple(sorted(throw)), "11") or not {1, 5} & {*throw} for throw in twos)
    assert found.dice[1].bust_exact == fraction(lost, 36)


# -- the solution solves the equations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "sets", "total"),
    [
        ("zilch", (), 0),
        ("zilch", ("bank_minimum=0", "bust_penalty=300"), 0),
        ("tiotusen", ("hot_dice=must-bank", "bank_minimum=425"), 0),
        ("diecimila", ("last_die_rolls=3", "last_die_bonus=500"), 0),
        ("farkle-classic", ("bank_minimum=13000", "target=20000"), 0),
        ("tiotusen", ("reach=exactly",), 7_500),
        ("zilch", ("reach=exactly",), 14_800),
    ],
)
def test_every_value_is_that_of_the_best_move_there(base: str, sets: tuple[str, ...], total: int) -> None:
    rules = house(base, *sets)
    found = best_policy(Position(rules, Table.of(rules), (Seat("Anna", total, opened=True),), Turn(0, 6)))
    graph = found.graph
    last = int(found.bound // graph.step) + 1
    for level in {*range(60), *range(60, last, 1 + last // 60), *range(last - 3, last + 3)}:
        points = level * graph.step
        for number, at in enumerate(graph.nodes):
            throw = graph.throws[number]
            assert throw is not None
            won = -float(throw.lost * rules.bust_penalty)
            for way in graph.ways[number]:
                won += way.weight * max(found.value(points + gain, graph.nodes[after]) for gain, after in way.options)
            rolling, posted = won / throw.total, found.banking(points, at)
            assert found.rolling(points, at) == pytest.approx(rolling, rel=1e-12, abs=1e-9)
            if posted is not None:
                rolling = posted if found.must_bank(points, at) else max(posted, rolling)
            assert found.value(points, at) == pytest.approx(rolling, rel=1e-12, abs=1e-9), (points, at)


@pytest.mark.parametrize(("minimum", "first"), [(10_050, 10_050), (10_100, 10_100), (15_010, 15_050)])
def test_a_minimum_beyond_all_decisions_is_banked_from(minimum: int, first: int) -> None:
    rules = house("farkle-classic", f"opening_minimum={minimum}", "target=20000")
    assert {*odds(rules, opening=True).bank_at.values()} == {first}


# -- nothing does better ----------------------------------------------------------------------------------------------


def exact_value(found: Policy, bank_at: Mapping[int, int | None], far_out: int, greedy: bool = False) -> float:
    """Return what a turn is worth that banks from so many points on, by dice left; keeps are the best for that.

    `greedy` keeps most points instead. A recursion of its own, on the same graph. Above `far_out` points it plays on by
    the best policy: what thresholds of the best do there anyhow, and too good for any others.
    """
    graph = found.graph
    penalty = found.rules.bust_penalty

    @cache
    def worth(points: int, number: int) -> float:
        at = graph.nodes[number]
        if points > far_out:
            return found.value(points, at)
        limit = bank_at[at.dice_left]
        posted, forced = found.banking(points, at), found.must_bank(points, at)
        if posted is not None and (forced or (limit is not None and points >= limit)):
            return float(posted)
        throw = graph.throws[number]
        if throw is None:
            return found.value(points, at)
        total = -float(throw.lost * penalty)
        for way in graph.ways[number]:
            options = sorted(way.options, reverse=True)[:1] if greedy else way.options
            total += way.weight * max(worth(points + gain, after) for gain, after in options)
        return total / throw.total

    # So that no call goes deep; a last die that is thrown again adds nothing.
    for points in range(far_out // graph.step * graph.step, -1, -graph.step):
        for number in graph.order:
            worth(points, number)
    return worth(0, graph.number[Node(found.rules.dice)])


@pytest.mark.parametrize("name", ["tiotusen", "zilch"] if not LONG else PRESETS)
def test_no_threshold_one_step_away_does_better(name: str) -> None:
    rules = preset(name)
    found = policy(rules)
    best = found.value(0, Node(rules.dice))
    known = {count: found.bank_at(count) for count in range(1, rules.dice + 1)}
    highest = max(points for points in known.values() if points is not None)
    assert exact_value(found, known, highest if LONG else 4_000) == pytest.approx(best, abs=1e-9)
    none_better(found, known)


def none_better(found: Policy, known: dict[int, int | None]) -> None:
    """Make sure that no threshold one step away from those of the best, for one number of dice, is better."""
    best = found.value(0, Node(found.rules.dice))
    for count, points in known.items():
        for step in (-found.graph.step, found.graph.step):
            if points is not None:
                value = exact_value(found, known | {count: points + step}, points + 2 * found.graph.step)
                assert value <= best + 1e-9, (count, step)


@pytest.mark.parametrize("name", ["zilch", "diecimila-free"] if not LONG else PRESETS)
def test_no_hold_does_better(name: str) -> None:
    found = policy(preset(name))
    best = found.value(0, Node(found.rules.dice))
    for points in range(50, 2_001, 50 if LONG else 250):
        assert exact_value(found, dict.fromkeys(range(1, 7), points), 6_000, greedy=True) <= best + 1e-9


def test_nothing_does_better_under_random_rules() -> None:
    for _, rules in random_rulesets()[: RULESETS if LONG else 2]:
        found = policy(rules)
        if len(found.graph.nodes) > 60:
            continue  # of a last die whose bonus grows, or pyramiding: minutes each
        none_better(found, {count: found.bank_at(count) for count in range(1, rules.dice + 1)})
        best = found.value(0, Node(rules.dice))
        for points in range(50, 2_001, 500):
            assert exact_value(found, dict.fromkeys(range(1, 7), points), 6_000, greedy=True) <= best + 1e-9


# -- the fold plays it ------------------------------------------------------------------------------------------------


def turn_points(start: Position, rng: Random) -> float:
    """Play one turn on the fold by the best policy; return what it posts, less the penalty of a bust."""
    position = start
    while (ended := position.ended) is None:
        position = play(position, next_event(position, BEST, rng))
    assert isinstance(ended, Ended)
    lost = ended.outcome in ("bust", "wiped-out")
    return ended.posted - (start.rules.bust_penalty if lost else 0)


def random_rulesets() -> list[tuple[str, Ruleset]]:
    """Return rulesets of every kind whose turns have a value."""
    found: list[tuple[str, Ruleset]] = []
    for seed in range(1000):
        rules = replace(random_ruleset(Random(seed)), target=100_000)
        if seed % 4 == 1 and rules.set_aside != "one-per-combination":
            rules = replace(rules, build_on_kept=True)
        try:
            policy(rules)
        except UsageError:
            continue
        found.append((f"random-{seed}", rules))
        if len(found) == RULESETS:
            break
    return found


@pytest.mark.parametrize(("name", "rules"), [*((one, preset(one)) for one in PRESETS), *random_rulesets()])
def test_the_fold_gives_the_exact_value(name: str, rules: Ruleset) -> None:
    start = alone(rules)
    exact = best_policy(start).value(0, Node(rules.dice))
    rng = Random(f"odds {name}")
    total = squares = 0.0
    for _ in range(TURNS):
        points = turn_points(start, rng)
        total += points
        squares += points * points
    mean = total / TURNS
    error = sqrt(max(squares / TURNS - mean * mean, 0.0) / TURNS)
    assert abs(mean - exact) <= 4 * error + 1e-9, (mean, exact, error)


# -- what makes the policy depend on more -----------------------------------------------------------------------------


def test_below_a_minimum_nothing_is_banked_and_above_it_nothing_changes() -> None:
    free, bound = policy(house("tiotusen")), policy(house("tiotusen", "bank_minimum=400"))
    at = Node(2, must_throw=False)
    assert (free.banks(300, at), bound.banks(300, at), bound.banks(400, at)) == (True, False, True)
    for points in range(400, 20_000, 50):
        assert bound.value(points, at) == pytest.approx(free.value(points, at), abs=1e-9)
    assert bound.value(0, Node(6)) < free.value(0, Node(6))


def test_an_exact_target_stops_a_turn_where_it_is_reached() -> None:
    rules = house("tiotusen", "reach=exactly", "opening_minimum=0")
    position = Position(rules, Table.of(rules), (Seat("Anna", 9_900, opened=True),), Turn(0, 6))
    found = best_policy(position)
    assert found.banks(100, Node(5, must_throw=False))
    assert found.value(150, Node(5, must_throw=False)) == 0
    assert found.value(0, Node(6)) < 100


def test_a_bust_penalty_is_in_the_value() -> None:
    free, dear = policy(preset("tiotusen")), policy(house("tiotusen", "bust_penalty=1000"))
    assert dear.value(0, Node(6)) < free.value(0, Node(6))
    assert (dear.bank_at(3) or 0) < (free.bank_at(3) or 0)


@pytest.mark.parametrize(
    "sets",
    [
        ("nothing=A:50",),
        ("nothing=A:50", "hot_dice=must-roll"),
        ("nothing=A:50", "last_die_rolls=2", "last_die_step=50"),
    ],
)
def test_rules_under_which_nothing_is_ever_lost_are_refused(sets: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="can go on for ever"):
        odds(house("tiotusen", *sets))


def test_what_belongs_to_the_table_is_named() -> None:
    rules = house(
        "tiotusen", "must_beat_previous=true", "steal=after-bust", "challenge_split=5000", "reach=exactly",
        "wipeout=2222", "instant_win=AAAAAA", "bust_penalty=50", "last_die_rolls=2", "build_on_kept=true",
    )  # fmt: skip
    named = {note.split(":")[0].split()[0] for note in odds(rules).notes}
    assert named == {
        "must_beat_previous", "steal", "challenge_split", "reach", "streak_penalty", "wipeout", "instant_win",
        "bust_penalty", "build_on_kept", "last_die_rolls",
    }  # fmt: skip


def test_losing_throws_are_counted_on_the_fold() -> None:
    position = alone(preset("tiotusen"))
    turn = replace(Turn(0, 6), dice_left=2, phase="kept", points=300, rolls=1)
    chances = Chances.of(position.table)
    assert chances.throw(Node(2)).lost == 16
    assert chances.choices(replace(turn, phase="rolled", roll=(5, 1)))[0].dice == (1,)
    assert isinstance(next_event(position, BEST, Random(1)), events.Roll)


def test_what_is_remembered_of_solutions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    every = [preset(name) for name in PRESETS]
    known = [policy(rules).value(0, Node(rules.dice)) for rules in every]
    remembered = policies._Policies()
    monkeypatch.setattr(policies, "_policies", remembered)
    monkeypatch.setattr(policies, "MOST_VALUES", 5_000)
    for _ in range(2):
        for rules, value in zip(every, known, strict=True):
            assert policy(rules).value(0, Node(rules.dice)) == value
            held = [one.size for one in remembered._found.values()]
            assert sum(held) == remembered.values
            assert remembered.values <= 5_000 or len(held) == 1
    assert 1 < len(remembered._found) < len(every)


@pytest.mark.parametrize("name", ["tiotusen", "zilch", "diecimila", "kingdom-come"])
def test_values_below_a_minimum_are_the_same_row_by_row_and_node_by_node(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = preset(name)
    nodes = [Node(count, must) for count in range(1, rules.dice + 1) for must in (False, True)]
    found = []
    for few in (10**9, 0):
        monkeypatch.setattr("tenklog.policy._policies", policies._Policies())
        monkeypatch.setattr("tenklog.policy.FEW", few)
        values = []
        for least in (50, 1000, 9000):
            one = best_policy(alone(rules), least=least)
            values += [one.value(points, at) for at in nodes for points in range(0, least + 1000, 50)]
            values += [one.rolling(points, at) for at in nodes for points in range(0, least + 1000, 50)]
        found.append(values)
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert min(found[0]) >= 0
