"""Sets of dice: reading, writing, counting, patterns."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenklog import dice
from tenklog.errors import UsageError


@pytest.mark.parametrize("text", ["133446", "1 3 3 4 4 6", "1,3,3,4,4,6", "1, 3, 3, 4, 4, 6"])
def test_dice_are_read_together_with_spaces_or_with_commas(text: str) -> None:
    assert dice.parse(text) == (1, 3, 3, 4, 4, 6)


def test_dice_keep_the_order_in_which_they_were_thrown() -> None:
    assert dice.parse("641") == (6, 4, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("12a", "'a' is no die; dice are digits 1 to 6, such as 133446"),
        ("170", "'7' is no die; dice are digits 1 to 6, such as 133446"),
        ("0", "'0' is no die; dice are digits 1 to 6, such as 133446"),
        ("1\t2", "'\\t' is no die; dice are digits 1 to 6, such as 133446"),
        ("\u0661", "'\u0661' is no die; dice are digits 1 to 6, such as 133446"),
        ("-1", "'-' is no die; dice are digits 1 to 6, such as 133446"),
        ("", "0 dice given; give 1 to 6 dice, such as 133446"),
        (" , ", "0 dice given; give 1 to 6 dice, such as 133446"),
        ("1111111", "7 dice given; give 1 to 6 dice, such as 133446"),
    ],
)
def test_what_is_no_dice_is_refused_with_what_would_be(text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        dice.parse(text)
    assert str(refused.value) == message


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.sampled_from(["", " ", ",", ", "]))
def test_dice_that_are_written_read_back(faces: list[int], joint: str) -> None:
    assert dice.parse(dice.write(faces, joint)) == tuple(faces)


def test_there_are_923_sets_of_one_to_six_dice() -> None:
    sets = list(dice.sets())
    assert len(sets) == len(set(sets)) == 923
    assert {one for one in sets if tuple(sorted(one)) != one} == set()


def test_sets_come_by_size_and_then_ascending() -> None:
    sets = list(dice.sets())
    assert sets == sorted(sets, key=lambda one: (len(one), one))
    assert sets[:7] == [(1,), (2,), (3,), (4,), (5,), (6,), (1, 1)]
    assert len(list(dice.sets(5))) == 461


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_throws_counts_the_ordered_throws_of_a_set(count: int) -> None:
    thrown = Counter(tuple(sorted(throw)) for throw in product(range(1, 7), repeat=count))
    assert {one: dice.throws(one) for one in dice.sets(count) if len(one) == count} == thrown


def test_all_throws_of_six_dice_are_counted_once() -> None:
    assert sum(dice.throws(one) for one in dice.sets() if len(one) == 6) == 6**6


def test_parts_are_every_different_part_once_small_ones_first() -> None:
    assert list(dice.parts((1, 1, 5))) == [(1,), (5,), (1, 1), (1, 5), (1, 1, 5)]


def test_minus_takes_each_die_once_and_none_when_one_is_missing() -> None:
    assert dice.minus((1, 1, 5), (1,)) == (1, 5)
    assert dice.minus((1, 1, 5), (5, 1, 1)) == ()
    assert dice.minus((1, 1, 5), (5, 5)) is None


def sets_of(pattern: str) -> set[dice.Dice]:
    return {found for found, _ in dice.matches(pattern)}


def test_a_digit_stands_for_that_face() -> None:
    assert sets_of("123456") == {(1, 2, 3, 4, 5, 6)}
    assert sets_of("511") == {(1, 1, 5)}


def test_a_letter_stands_for_any_one_face_and_the_same_letter_is_the_same_face() -> None:
    assert sets_of("AAA") == {(face,) * 3 for face in range(1, 7)}


def test_different_letters_are_different_faces() -> None:
    pairs = sets_of("AABBCC")
    assert len(pairs) == 20
    assert (2, 2, 3, 3, 4, 4) in pairs
    assert (2, 2, 2, 2, 3, 3) not in pairs
    assert (2, 2, 2, 2, 3, 3) in sets_of("AAAABB")
    assert (2, 2, 2, 2, 2, 2) not in sets_of("AAAABB")


def test_a_letter_may_be_the_face_of_a_digit_beside_it() -> None:
    assert sets_of("1AA") == {tuple(sorted((1, face, face))) for face in range(1, 7)}


def test_six_letters_are_six_faces() -> None:
    assert sets_of("ABCDEF") == {(1, 2, 3, 4, 5, 6)}


def test_a_letter_has_the_face_that_it_stands_for() -> None:
    assert {(found, meant["Z"]) for found, meant in dice.matches("ZZ")} == {
        ((face, face), face) for face in range(1, 7)
    }


@pytest.mark.parametrize(
    ("roll", "pattern", "there"),
    [
        ((1, 2, 4, 4, 5, 6), "44", True),
        ((1, 2, 3, 4, 5, 6), "44", False),
        ((2, 2, 2, 2), "2222", True),
        ((2, 2, 2), "2222", False),
        ((3, 3, 3, 3, 3, 3), "AAAAAA", True),
        ((3, 3, 3, 3, 3), "AAAAAA", False),
        ((1, 1, 2, 2, 3, 4), "AABB", True),
        ((1, 1, 1, 1, 3, 4), "AABB", False),
    ],
)
def test_a_roll_contains_a_pattern_when_some_of_its_dice_match(roll: dice.Dice, pattern: str, there: bool) -> None:
    assert dice.contains(roll, pattern) is there
