"""Scoring: the tables of best scores, legal keeps, and an independent scorer beside them."""

import random
from pathlib import Path

import pytest
from evening import ruleset
from random_games import random_ruleset
from reference import Scorer

from tenklog import dice, rulebook, rules
from tenklog.rules import Combination
from tenklog.scoring import Keep, Table, best_keep

TABLES = Path(__file__).parent / "tables"


def table(preset: str = "farkle-classic", /, **changes: object) -> Table:
    return Table.of(ruleset(preset, **changes))


def best(one: Table, roll: str) -> Keep | None:
    keeps = one.keeps(dice.parse(roll))
    return best_keep(keeps) if keeps else None


# -- the tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["diecimila", "tiotusen", "zilch", "ten-thousand"])
def test_the_best_scores_of_all_923_sets_come_out_as_tabled(preset: str) -> None:
    rows = ["dice,rolls,points,used"]
    scores = Table.of(rulebook.preset(preset))
    for roll in dice.sets():
        keeps = scores.keeps(roll)
        found = best_keep(keeps) if keeps else Keep((), 0)
        rows.append(f"{dice.write(roll, '-')},{dice.throws(roll)},{found.points},{len(found.dice)}")
    assert rows == (TABLES / f"best_{preset}.csv").read_text(encoding="utf-8").splitlines()


# -- an independent scorer --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(16))
def test_every_best_partition_is_what_trying_all_of_them_finds(seed: int) -> None:
    rng = random.Random(seed)
    one = random_ruleset(rng)
    scores, naive = Table.of(one), Scorer(one)
    for kept in rng.sample(list(dice.sets(one.dice)), 150):
        found = scores.partition(kept)
        assert (None if found is None else (found[0], len(found[1]))) == naive.best(kept), (kept, one.scoring)
        if found is not None:
            assert sorted(die for part in found[1] for die in part.dice) == list(kept)
            assert sum(part.points for part in found[1]) == found[0]
            assert all(part.points == naive.group(part.dice) for part in found[1])


@pytest.mark.parametrize("seed", range(16))
def test_every_legal_keep_is_what_trying_all_of_them_finds(seed: int) -> None:
    rng = random.Random(seed)
    one = random_ruleset(rng)
    scores, naive = Table.of(one), Scorer(one)
    for roll in rng.sample(list(dice.sets(one.dice)), 60):
        assert dict(scores.keeps(roll)) == naive.keeps(roll)


@pytest.mark.parametrize("seed", range(16))
def test_every_legal_keep_beside_kept_dice_is_what_trying_all_of_them_finds(seed: int) -> None:
    rng = random.Random(seed)
    one = rules.change(random_ruleset(rng), {"set_aside": rng.choice(("any", "all")), "build_on_kept": True})
    scores, naive = Table.of(one), Scorer(one)
    scoring = [kept for kept in dice.sets(one.dice - 1) if naive.points(kept)]
    for kept in rng.sample(scoring, min(20, len(scoring))):
        for roll in rng.sample(list(dice.sets(one.dice - len(kept))), 3):
            worth = naive.points(kept) or 0
            assert dict(scores.keeps(roll, kept, worth)) == naive.keeps(roll, kept, worth)


@pytest.mark.parametrize("seed", range(16))
def test_every_aside_takes_one_die_of_each_combination_of_a_best_partition(seed: int) -> None:
    rng = random.Random(seed)
    one = random_ruleset(rng)
    scores, naive = Table.of(one), Scorer(one)
    for kept in rng.sample(list(dice.sets(one.dice)), 60):
        assert set(scores.asides(kept)) == set(naive.asides(kept))


# -- the scoring language ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "kept", "points"),
    [
        ("tiotusen", "111", 1000),
        ("tiotusen", "1111", 2000),
        ("tiotusen", "11111", 4000),
        ("tiotusen", "111111", 8000),
        ("tiotusen", "444", 400),
        ("tiotusen", "4444", 800),
        ("tiotusen", "44444", 1600),
        ("tiotusen", "444444", 3200),
        ("tiotusen", "123456", 1500),
        ("tiotusen", "223344", 1000),
        ("tiotusen", "222244", None),
        ("tiotusen", "555", 500),
        ("tiotusen", "11", 200),
        ("zilch", "222244", 2000),
        ("zilch", "222444", 3000),
        ("zilch", "2222", 4000),
        ("zilch", "22222", 5000),
        ("zilch", "222222", 6000),
        ("diecimila", "222244", 1000),
        ("diecimila", "111122", 1000),
        ("diecimila", "222222", 400),
        ("ten-thousand", "223344", 1500),
        ("ten-thousand", "222244", 1500),
        ("ten-thousand", "123456", 3000),
        ("farkle", "111", 300),
        ("kingdom-come", "223344", None),
        ("kingdom-come", "12345", 500),
        ("kingdom-come", "23456", 750),
        ("kingdom-come", "123455", 550),
    ],
)
def test_a_keep_is_worth_what_the_documents_say(preset: str, kept: str, points: int | None) -> None:
    assert Table.of(rulebook.preset(preset)).points(dice.parse(kept)) == points


def test_every_die_of_a_keep_is_used_exactly_once() -> None:
    scores = table()
    assert scores.points((1, 1, 1)) == 1000  # not 1000 and 300
    assert scores.points((1, 1, 1, 1)) == 1100
    assert scores.points((1, 2)) is None


def test_a_partition_takes_the_better_of_two_ways() -> None:
    # 1-1-1 as a triplet is 1000; as three single ones 1500 here.
    assert table(one=500).points((1, 1, 1)) == 1500


def test_value_0_switches_a_combination_off() -> None:
    assert table(one=0).points((1,)) is None
    assert table(three_of_a_kind="0A").points((4, 4, 4)) is None
    assert table(five=0).keeps((2, 3, 5)) == {}


def test_a_combination_longer_than_the_dice_is_off() -> None:
    scores = table("zilch", dice=5)
    assert scores.points((2, 2, 3, 3, 4, 4)) is None
    assert scores.points((2, 2, 2, 2, 2)) == 5000


def test_a_value_multiplies_the_face_of_its_letter() -> None:
    scores = table(pairs=Combination("AABB", "10B"))
    # Either letter may be either face, so the better reading counts.
    assert scores.points((2, 2, 6, 6)) == 60


def test_a_letter_beside_a_digit_may_be_its_face() -> None:
    assert table(odd=Combination("3A", 70)).points((3, 3)) == 70
    assert table(odd=Combination("3A", "70A")).points((3, 3)) == 210


def test_the_best_keep_has_most_points_then_most_dice_then_the_smallest_dice() -> None:
    assert best(table(), "15") == Keep((1, 5), 150)
    assert best(table(more_dice=Combination("12", 100)), "123") == Keep((1, 2), 100)
    assert best(table(low=Combination("23", 100), high=Combination("24", 100)), "234") == Keep((2, 3), 100)
    assert best_keep({(1,): 100, (5, 5): 100}) == Keep((5, 5), 100)
    assert best_keep({(5, 5): 100, (1, 5): 100, (1, 6): 100}) == Keep((1, 5), 100)
    assert best_keep({(5,): 150, (1, 5): 100}) == Keep((5,), 150)


def test_of_equal_partitions_it_is_one_with_the_fewest_combinations() -> None:
    found = table(one=500, three_ones=1500).partition((1, 1, 1))
    assert found is not None
    assert [part.name for part in found[1]] == ["three_ones"]


def test_a_roll_without_a_legal_keep_has_none() -> None:
    assert best(table(), "223446") is None


# -- what leaves the table --------------------------------------------------------------------------------------------


def test_set_aside_any_allows_any_legal_keep() -> None:
    assert table().keeps((1, 2, 5)) == {(1,): 100, (5,): 50, (1, 5): 150}


def test_set_aside_all_allows_the_largest_legal_keep_alone() -> None:
    assert table(set_aside="all").keeps((1, 2, 5)) == {(1, 5): 150}


def test_set_aside_all_takes_the_best_of_the_largest_size() -> None:
    scores = table(set_aside="all", low=Combination("23", 10), high=Combination("24", 20))
    assert scores.keeps((2, 3, 4)) == {(2, 4): 20}


def test_set_aside_all_leaves_the_choice_among_equals() -> None:
    scores = table(set_aside="all", low=Combination("23", 10), high=Combination("24", 10))
    assert scores.keeps((2, 3, 4)) == {(2, 3): 10, (2, 4): 10}


def test_set_aside_all_prefers_dice_to_points() -> None:
    scores = table(set_aside="all", both=Combination("15", 10), five=0)
    assert scores.keeps((1, 5)) == {(1, 5): 10}


def test_one_per_combination_scores_the_best_partition_in_full() -> None:
    scores = table(set_aside="one-per-combination")
    assert scores.keeps((1, 2, 2, 2, 5, 6)) == {(1, 2, 2, 2, 5): 350}


def test_one_per_combination_takes_one_die_of_each_combination() -> None:
    scores = table(set_aside="one-per-combination")
    assert scores.asides((1, 2, 2, 2, 5)) == [(1, 2, 5)]
    assert table("diecimila").asides((1, 2, 3, 4, 5, 6)) == [(1,), (2,), (3,), (4,), (5,), (6,)]
    assert table("diecimila").asides((2, 2, 3, 3, 4, 4)) == [(2,), (3,), (4,)]


def test_one_per_combination_takes_any_equal_partition_with_the_fewest_combinations() -> None:
    # 2-2-2-3-3-3 is two triplets of 200 and 300, or three pairs of 2-3 for as much; the two triplets are fewer.
    even = table(
        set_aside="one-per-combination",
        three_of_a_kind=Combination("AAA", "30A"),
        mixed=Combination("23", 50),
    )
    assert even.points((2, 2, 2, 3, 3, 3)) == 150
    assert even.asides((2, 2, 2, 3, 3, 3)) == [(2, 3)]
    one_way = {"one": 0, "left": Combination("12", 50), "right": Combination("34", 50)}
    assert table(set_aside="one-per-combination", **one_way).asides((1, 2, 3, 4)) == [(1, 3), (1, 4), (2, 3), (2, 4)]
    two_ways = one_way | {"outer": Combination("14", 50), "inner": Combination("23", 50)}
    crossed = table(set_aside="one-per-combination", **two_ways).asides((1, 2, 3, 4))
    assert crossed == [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]


def test_dice_that_do_not_score_have_no_aside() -> None:
    assert table(set_aside="one-per-combination").asides((2, 3)) == []


# -- pyramiding -------------------------------------------------------------------------------------------------------


def test_without_build_on_kept_dice_kept_before_do_not_matter() -> None:
    assert table().keeps((5, 5), kept=(5,), worth=50) == {(5,): 50, (5, 5): 100}


def test_build_on_kept_makes_a_triplet_of_a_five_and_two_fives() -> None:
    assert table(build_on_kept=True).keeps((5, 5), kept=(5,), worth=50) == {(5,): 50, (5, 5): 450}


def test_build_on_kept_needs_the_dice_together_to_be_worth_more() -> None:
    changes = {"build_on_kept": True, "pair": Combination("22", 500)}
    assert table(three_of_a_kind=500, **changes).keeps((2,), kept=(2, 2), worth=500) == {}
    assert table(three_of_a_kind=501, **changes).keeps((2,), kept=(2, 2), worth=500) == {(2,): 1}


def test_build_on_kept_allows_dice_that_score_only_with_those_kept() -> None:
    assert table("tiotusen", build_on_kept=True).keeps((3, 4), kept=(3, 3, 3), worth=300) == {(3,): 300}


def test_tables_are_shared_between_equal_rulesets() -> None:
    assert table() is table()
    assert table() is not table(one=150)
