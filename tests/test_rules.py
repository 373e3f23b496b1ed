"""Rulesets: presets value by value, settings and what they take, changes, contradictions, files."""

import csv
import os
import random
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import mutate_presets
import pytest
from evening import ruleset
from msgspec import structs
from random_games import ENUMERATED, random_ruleset

from tenklog import cards, dice, rulebook, rules
from tenklog.errors import AccessError, DataError, TenklogError, UsageError
from tenklog.rulebook import card, preset
from tenklog.rules import CATALOGUE, DEFAULTS, Combination, Ruleset, change

NAMES = [
    "diecimila", "diecimila-5000", "diecimila-free", "tiotusen", "tiotusen-short", "tiotusen-stealing", "zilch",
    "zilch-10000", "zilch-5000", "ten-thousand", "farkle", "farkle-classic", "kingdom-come",
]  # fmt: skip


def refusal(one: Ruleset | None = None, /, **changes: Any) -> str:
    with pytest.raises(UsageError) as refused:
        change(one or ruleset(), changes)
    return str(refused.value)


# -- presets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_has_every_value_that_the_rules_say(name: str) -> None:
    assert mutate_presets.differences(name, card(name), mutate_presets.expectations()) == []


def test_the_table_speaks_of_every_preset_and_the_list_has_the_main_four_families_first() -> None:
    assert set(mutate_presets.expectations()) == set(NAMES)
    assert [rulebook.read_card(path).rules.name for path in rulebook.card_files()] == NAMES


def test_no_value_of_a_preset_can_change_unseen() -> None:
    assert mutate_presets.survivors() == []
    assert mutate_presets.surviving_edits() == []


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_says_its_title_and_source(name: str) -> None:
    found = card(name)
    assert found.title
    assert found.source
    assert all(decision.endswith(".") for decision in found.decisions)


def test_a_preset_quotes_its_decisions() -> None:
    for name in rulebook.MAIN_PRESETS:
        assert card(name).decisions


def test_the_catalogue_is_known_to_every_ruleset() -> None:
    with mutate_presets.TABLE.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["preset"] == "catalogue"]
    assert {row["key"]: row["value"] for row in rows} == CATALOGUE
    for name in NAMES:
        assert list(preset(name).scoring) == list(CATALOGUE)


def test_the_ruleset_of_no_keys_has_every_default(tmp_path: Path) -> None:
    path = tmp_path / "plain.toml"
    path.write_text('[scoring]\none = { dice = "1", points = 100 }\n', encoding="utf-8")
    found = rulebook.read_card(path).rules
    assert found.name == "plain"
    assert {key: getattr(found, key) for key in DEFAULTS} == DEFAULTS
    assert {name for name, one in found.scoring.items() if not rules.is_off(one)} == {"one"}


def test_what_is_shown_of_a_default_is_what_the_rules_say() -> None:
    said = mutate_presets.expectations()["farkle-classic"]
    for key, default in DEFAULTS.items():
        assert rules.shown(default).replace(",", " ") == said[key]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "none"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        ("any", "any"),
        ((600, 2000), "600,2000"),
        (Combination("AA", 50), "AA:50"),
        (Combination("AA", "10A"), "AA:10A"),
        (Combination("AA", 0), "off"),
        (Combination("AA", "0A"), "off"),
    ],
)
def test_a_value_is_shown_as_it_would_be_typed(value: rules.Value, shown: str) -> None:
    assert rules.shown(value) == shown


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("zilch", "zilch"),
        ("Zilch", "zilch"),
        ("ten_thousand", "ten-thousand"),
        ("Ten Thousand", "ten-thousand"),
        ("pocket-farkle", "farkle"),
        ("Pocket Farkle", "farkle"),
        ("tio-tusen", "tiotusen"),
    ],
)
def test_a_ruleset_is_found_by_its_name_or_another_name_of_it(typed: str, name: str) -> None:
    assert card(typed).rules.name == name


def test_10000_names_several_rulesets_and_is_answered_with_the_list() -> None:
    with pytest.raises(UsageError) as refused:
        card("10000")
    message = "'10000' names several rulesets; say which: diecimila, tiotusen, zilch-10000, ten-thousand"
    assert str(refused.value) == message


def test_an_unknown_ruleset_is_answered_with_the_known() -> None:
    with pytest.raises(UsageError) as refused:
        card("yatzy")
    assert str(refused.value).startswith("unknown ruleset 'yatzy'; known: ")
    assert all(name in str(refused.value) for name in NAMES)


def test_cosmic_wimpout_is_refused_by_name_with_the_reason() -> None:
    for typed in ("cosmic-wimpout", "Cosmic Wimpout"):
        with pytest.raises(UsageError, match="has dice of its own"):
            card(typed)


# -- settings ---------------------------------------------------------------------------------------------------------

COUNTS = [
    "opening_minimum", "bank_minimum", "blank_throw", "bust_penalty", "streak_length", "streak_penalty",
    "last_die_bonus", "last_die_step", "challenge_split",
]  # fmt: skip
WORDS = {
    "dice": ["6", "5"],
    "below_minimum": ["zero", "roll-on"],
    "hot_dice": ["may-roll", "must-roll", "must-bank"],
    "set_aside": ["any", "all", "one-per-combination"],
    "streak_counts": ["busts", "scoreless-turns", "first-roll-busts"],
    "steal": ["off", "after-bust", "after-bank"],
    "reach": ["at-least", "more-than", "exactly"],
    "last_turns": ["everyone-else", "rest-of-round", "none"],
    "tie": ["extra-turns", "shared"],
}
FLAGS = ["must_beat_previous", "build_on_kept", "negative_totals"]
PATTERNS = ["wipeout", "instant_win"]


def test_every_setting_is_tried_here() -> None:
    others = {"last_die_rolls", "target", "challenge_penalties"}
    assert {*COUNTS, *WORDS, *FLAGS, *PATTERNS, *others} == set(DEFAULTS)


def typed(text: str, one: Ruleset | None = None) -> Any:
    one = one or ruleset(target=1_000_000)
    key, value = rules.parse_change(text, one)
    changed = change(one, {key: value})
    return getattr(changed, key) if key in DEFAULTS else changed.scoring[key]


def not_typed(text: str) -> str:
    try:
        key, value = rules.parse_change(text, ruleset())
        change(ruleset(), {key: value})
    except UsageError as refused:
        return str(refused)
    raise AssertionError(f"{text} was accepted")


@pytest.mark.parametrize("key", COUNTS)
def test_a_count_is_a_whole_number_from_0_to_1000000(key: str) -> None:
    for value in (0, 1, 350, 1_000_000):
        assert typed(f"{key}={value}") == value
    for wrong in ("-1", "1000001", "1.5", "many", "true", "none", "1e3", "0x10", "9" * 30, "\u0665\u0660"):
        message = not_typed(f"{key}={wrong}")
        assert message.startswith(f"{key} can't be "), message
        assert message.endswith(f"; {key} is a whole number from 0 to 1000000")


@pytest.mark.parametrize("key", ["target", "last_die_rolls"])
def test_target_and_last_die_rolls_begin_at_1(key: str) -> None:
    for value in (1, 2, 1_000_000):
        assert typed(f"{key}={value}") == value
    assert not_typed(f"{key}=0") == f"{key} can't be '0'; {key} is a whole number from 1 to 1000000"
    assert not_typed(f"{key}=1000001").endswith(f"; {key} is a whole number from 1 to 1000000")


@pytest.mark.parametrize("key", sorted(WORDS))
def test_a_word_is_one_of_its_list(key: str) -> None:
    for value in WORDS[key]:
        assert str(typed(f"{key}={value}", ruleset("zilch"))) == value
    for wrong in ("7", "none" if key != "last_turns" else "nobody", "true", WORDS[key][0] + "s"):
        message = not_typed(f"{key}={wrong}")
        assert message.startswith(f"{key} can't be "), message
        assert message.endswith(f"; {key} is {' or '.join(WORDS[key])}")


@pytest.mark.parametrize("key", FLAGS)
def test_a_flag_is_true_or_false(key: str) -> None:
    assert typed(f"{key}=true") is True
    assert typed(f"{key}=false") is False
    for wrong in ("1", "0", "yes", "True"):
        assert not_typed(f"{key}={wrong}").endswith(f"; {key} is true or false")


@pytest.mark.parametrize("key", PATTERNS)
def test_a_pattern_is_of_1_to_6_digits_and_letters_or_none(key: str) -> None:
    for value in ("44", "2222", "AAAAAA", "1A", "123456", "ZZ"):
        assert typed(f"{key}={value}") == value
    assert typed(f"{key}=none") is None
    for wrong in ("7", "0", "a", "AAAAAAA", "A B", "true", "44!", "Ä", "4\n4"):
        message = not_typed(f"{key}={wrong}")
        assert message.startswith(f"{key} can't be "), message
        assert message.endswith(
            "; " + f"{key} is a pattern of 1 to 6 digits 1-6 and letters A-Z, such as 2222 or AAAAAA, or none"
        )


def test_challenge_penalties_are_two_whole_numbers() -> None:
    assert typed("challenge_penalties=600,2000") == (600, 2000)
    for wrong in ("600", "600,2000,1", "600,-1", "600,1000001", "a,b", "600,", "none"):
        message = not_typed(f"challenge_penalties={wrong}")
        assert message.startswith("challenge_penalties can't be ")
        assert message.endswith("; challenge_penalties is two whole numbers from 0 to 1000000, such as 600,2000")


def test_an_unknown_setting_is_answered_with_the_nearest() -> None:
    assert not_typed("opening_minium=500").startswith("unknown setting 'opening_minium'; did you mean opening_minimum?")
    assert not_typed("three_pair=500").startswith("unknown setting 'three_pair'; did you mean three_pairs?")
    assert refusal(opening_minium=500).startswith("unknown setting 'opening_minium'; did you mean opening_minimum?")


@pytest.mark.parametrize("text", ["target", "=5", "target=", "", "=", " = "])
def test_a_change_is_a_key_and_a_value(text: str) -> None:
    assert not_typed(text).endswith(" gives no value; KEY=VALUE, such as target=5000 or three_pairs=1500")


def test_a_change_may_have_spaces_around_its_equals() -> None:
    assert typed(" target = 500 ") == 500


def test_a_change_keeps_all_else_and_the_name() -> None:
    before = preset("zilch")
    after = change(before, {"target": 5000, "one": 120})
    assert rules.differences(before, after) == {
        "target": (15000, 5000),
        "one": (Combination("1", 100), Combination("1", 120)),
    }
    assert after.name == "zilch"
    assert preset("zilch") == before


# -- contradictions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["opening_minimum", "bank_minimum"])
def test_a_minimum_above_the_target_is_a_contradiction(key: str) -> None:
    assert refusal(**{key: 10001}) == f"{key} 10001 is above target 10000; {key} from 0 to 10000"
    assert getattr(ruleset(**{key: 10000}), key) == 10000
    assert refusal(ruleset(**{key: 900}), target=899) == f"{key} 900 is above target 899; {key} from 0 to 899"


def test_pyramiding_contradicts_one_per_combination() -> None:
    message = "build_on_kept contradicts set_aside one-per-combination; set_aside any or all, or build_on_kept false"
    assert refusal(build_on_kept=True, set_aside="one-per-combination") == message
    assert refusal(preset("diecimila"), build_on_kept=True) == message
    assert change(preset("diecimila"), {"build_on_kept": True, "set_aside": "all"}).build_on_kept


NOTHING: dict[str, Any] = {"one": 0, "five": 0, "three_ones": 0, "three_of_a_kind": 0}


def test_rules_under_which_no_roll_of_all_dice_scores_are_a_contradiction() -> None:
    message = "no roll of all 6 dice could be kept; a combination with points, or blank_throw above 0"
    assert refusal(**NOTHING) == message
    assert ruleset(**NOTHING, blank_throw=50).blank_throw == 50
    assert ruleset(**NOTHING | {"five": 50}).scoring["five"].points == 50


def test_a_combination_longer_than_the_dice_scores_no_roll() -> None:
    assert refusal(**NOTHING, dice=5, straight=1500).startswith("no roll of all 5 dice could be kept")
    assert ruleset(**NOTHING, dice=6, straight=1500).dice == 6
    assert ruleset(**NOTHING, dice=5, low_straight=1500).dice == 5


def test_rolls_that_win_or_wipe_out_are_no_keeps() -> None:
    assert refusal(wipeout="A").startswith("no roll of all 6 dice could be kept")
    assert refusal(instant_win="A").startswith("no roll of all 6 dice could be kept")
    # Every roll with a one ends the turn, and nothing else scores.
    assert refusal(**NOTHING | {"one": 100}, wipeout="1").startswith("no roll of all 6 dice could be kept")
    assert ruleset(**NOTHING | {"one": 100}, wipeout="11").wipeout == "11"
    # A roll of 6 dice without a pair is the straight, and that wins.
    assert refusal(wipeout="AA", instant_win="123456").startswith("no roll of all 6 dice could be kept")
    assert ruleset(wipeout="AA").wipeout == "AA"
    # A blank throw has no one, no five and no three of a kind; a pair of sixes wipes out.
    assert refusal(**NOTHING, blank_throw=500, wipeout="A").startswith("no roll of all 6 dice could be kept")
    assert ruleset(**NOTHING, blank_throw=500, wipeout="AA").blank_throw == 500


# -- combinations -----------------------------------------------------------------------------------------------------


def test_a_combination_is_set_by_its_points() -> None:
    assert typed("three_pairs=1500") == Combination("AABBCC", 1500)
    assert typed("four_of_a_kind=200A") == Combination("AAAA", "200A")
    assert typed("one=0") == Combination("1", 0)


def test_a_new_combination_has_a_pattern_and_points() -> None:
    assert typed("pair=AA:50") == Combination("AA", 50)
    assert typed("pair=AA:10A") == Combination("AA", "10A")
    assert typed("mixed=1A:1000000") == Combination("1A", 1_000_000)
    assert typed("pair=AA:1000000A") == Combination("AA", "1000000A")


def test_a_combination_that_is_known_may_get_another_pattern() -> None:
    assert typed("straight=12345:1200") == Combination("12345", 1200)


@pytest.mark.parametrize(
    "text",
    [
        "pair=AA:-1",
        "pair=AA:1000001",
        "pair=AA:",
        "pair=:50",
        "pair=AA:x",
        "pair=AA:50a",
        "pair=AA:1.5",
        "pair=7:50",
        "pair=aa:50",
        "pair=AAAAAAA:50",
        "one=-1",
        "one=1000001",
        "one=x",
        "one=true",
    ],
)
def test_a_combination_of_no_pattern_or_no_points_is_refused(text: str) -> None:
    name = text.partition("=")[0]
    message = not_typed(text)
    assert message.startswith(f"combination '{name}' can't be "), message
    if name == "one":
        assert message.endswith("; points such as 500 or 100A, or PATTERN:POINTS, such as 1:500")
    else:
        assert message.endswith("with 0 to 1000000 points or such as 100A: AABB:500")


def test_points_multiply_a_letter_of_the_pattern() -> None:
    assert not_typed("pair=AA:50B") == (
        "pair: points 50B name no letter of the pattern AA; "
        "whole points, or a number and a letter of the pattern, such as 100A"
    )
    assert not_typed("one=1:50A").startswith("one: points 50A name no letter of the pattern 1")
    assert (
        not_typed("pair=AA:1000001A")
        == "pair: points 1000001A are too many; a number from 0 to 1000000 before the letter"
    )


def test_a_combination_has_a_name_of_its_own() -> None:
    for name in ("name", "title", "source", "aliases", "based_on", "decisions", "scoring"):
        assert not_typed(f"{name}=AA:50") == f"combination {name} is named like a key of the file; another name for it"
    assert not_typed("target=AA:50").startswith("target can't be 'AA:50'")
    for name in ("Pair", "a-b", "1a", "ä", "a b", "n" * 65):
        assert not_typed(f"{name}=AA:50").startswith("combination name ")


def test_nothing_stands_behind_the_end_of_a_pattern() -> None:
    assert refusal(wipeout="44\n").startswith("wipeout can't be ")
    assert refusal(pair={"dice": "AA\n", "points": 5}).startswith("combination 'pair' can't be ")
    assert refusal(pair={"dice": "AA", "points": "5A\n"}).startswith("combination 'pair' can't be ")


def test_there_are_at_most_200_combinations() -> None:
    many: dict[str, Any] = {f"extra_{number}": Combination("AA", number) for number in range(200 - len(CATALOGUE))}
    assert len(ruleset(**many).scoring) == 200
    assert refusal(**many, one_more=Combination("AA", 5)) == "201 combinations; at most 200"


def test_a_ruleset_lists_the_whole_catalogue() -> None:
    fewer = {name: one for name, one in ruleset().scoring.items() if name != "full_house"}
    with pytest.raises(UsageError, match=r"^scoring lacks full_house; "):
        rules.check(structs.replace(ruleset(), scoring=fewer))


@pytest.mark.parametrize(
    ("combination", "off"),
    [
        (None, True),
        (Combination("1", 0), True),
        (Combination("AA", "0A"), True),
        (Combination("AA", "000A"), True),
        (Combination("1", 1), False),
        (Combination("AA", "1A"), False),
    ],
)
def test_value_0_switches_a_combination_off(combination: Combination | None, off: bool) -> None:
    assert rules.is_off(combination) is off


# -- differences ------------------------------------------------------------------------------------------------------


def test_differences_name_each_key_with_both_values() -> None:
    found = rules.differences(preset("tiotusen"), preset("tiotusen-short"))
    assert found == {"opening_minimum": (1000, 0), "target": (10000, 5000)}
    off = Combination("AAAAAA", 0)
    found = rules.differences(preset("zilch"), preset("zilch-10000"))
    assert found["six_of_a_kind"] == (Combination("AAAAAA", 6000), off)
    assert list(found) == ["four_of_a_kind", "five_of_a_kind", "six_of_a_kind", "target"]
    assert rules.differences(preset("zilch"), preset("zilch")) == {}


def test_what_is_shown_of_a_difference_can_be_typed() -> None:
    rng = random.Random(5)
    every = [preset(path.stem) for path in rulebook.card_files()] + [random_ruleset(rng) for _ in range(60)]
    off = 0
    for old in every:
        for new in rng.sample(every, 12):
            for key, (_, value) in rules.differences(old, new).items():
                _, typed = rules.parse_change(f"{key}={rules.shown(value)}", old)
                if isinstance(value, Combination) and rules.is_off(value):
                    off += 1
                    assert typed == 0
                else:
                    assert typed == value
    assert off > 500


def test_combinations_that_are_off_do_not_differ() -> None:
    other = ruleset(extra=Combination("AA", 0), straight=Combination("23456", 0))
    assert rules.differences(ruleset(), other) == {}
    pair = Combination("AA", 5)
    assert rules.differences(ruleset(), ruleset(extra=pair)) == {"extra": (Combination("AA", 0), pair)}


# -- files ------------------------------------------------------------------------------------------------------------


def written(folder: Path, text: str, name: str = "ours.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def file_refusal(folder: Path, text: str) -> str:
    path = written(folder, text)
    with pytest.raises(TenklogError) as refused:
        rulebook.read_card(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_a_house_rule_is_two_lines(tmp_path: Path) -> None:
    found = rulebook.read_card(written(tmp_path, 'based_on = "tiotusen"\nopening_minimum = 350\n')).rules
    assert found.name == "ours"
    assert rules.differences(preset("tiotusen"), found) == {"opening_minimum": (1000, 350)}


def test_a_scoring_entry_replaces_the_one_of_the_base(tmp_path: Path) -> None:
    text = 'based_on = "tiotusen"\n[scoring]\nthree_pairs = 1500\nstraight = { dice = "12345", points = 7 }\n'
    found = rulebook.read_card(written(tmp_path, text)).rules
    assert found.scoring["three_pairs"] == Combination("AABBCC", 1500)
    assert found.scoring["straight"] == Combination("12345", 7)
    assert found.scoring["four_ones"] == Combination("1111", 2000)


def test_no_pattern_is_written_none(tmp_path: Path) -> None:
    base = written(tmp_path, 'based_on = "tiotusen"\nwipeout = "44"\n', "base.toml")
    assert rulebook.read_card(base).rules.wipeout == "44"
    found = rulebook.read_card(written(tmp_path, 'based_on = "base"\nwipeout = "none"\n')).rules
    assert found.wipeout is None


def test_a_file_named_like_a_preset_makes_the_name_ambiguous(tmp_path: Path) -> None:
    path = written(tmp_path, 'based_on = "tiotusen"\ntarget = 7000\n', "zilch.toml")
    with pytest.raises(UsageError) as refused:
        card("zilch", tmp_path)
    assert str(refused.value) == f"zilch is a preset, and {path} has its name too; another name for the file"
    assert card("zilch").rules.target == 15000
    assert card(str(path)).rules.target == 7000


def test_a_file_may_be_based_on_one_beside_it_or_in_the_own_folder(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    written(tmp_path / "own", 'based_on = "zilch"\ntarget = 7000\n', "family.toml")
    path = written(tmp_path, 'based_on = "family"\nopening_minimum = 400\n')
    found = rulebook.read_card(path, (tmp_path / "own",)).rules
    assert rules.differences(preset("zilch"), found) == {"opening_minimum": (500, 400), "target": (15000, 7000)}


def test_based_on_may_not_go_round_in_a_circle(tmp_path: Path) -> None:
    written(tmp_path, 'based_on = "two"\n', "one.toml")
    path = written(tmp_path, 'based_on = "one"\n', "two.toml")
    with pytest.raises(UsageError, match="goes round in a circle"):
        rulebook.read_card(path)


def test_a_chain_of_files_has_an_end(tmp_path: Path) -> None:
    for number in range(400):
        written(tmp_path, f'based_on = "r{number + 1}"\n', f"r{number}.toml")
    written(tmp_path, 'based_on = "zilch"\n', "r400.toml")
    assert rulebook.read_card(tmp_path / "r390.toml").rules.target == 15000
    with pytest.raises(UsageError, match=r"r21\.toml: is the base of 21 others; at most 20"):
        rulebook.read_card(tmp_path / "r0.toml")


def test_a_file_that_is_based_on_nothing_costs_no_more_among_many_of_its_kind(tmp_path: Path) -> None:
    """Every file's other names are looked for, which must not read what each of them is based on, and so on."""
    for number in range(12):
        written(tmp_path, 'based_on = "nothing"\n', f"r{number}.toml")
    read: list[Path] = []
    real = rulebook._read_toml

    def counted(path: Path) -> dict[str, Any]:
        read.append(path)
        return real(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rulebook, "_read_toml", counted)
        with pytest.raises(UsageError, match="unknown ruleset 'nothing'"):
            rulebook.card("r0", tmp_path)
    assert len(read) < 60


def test_a_file_with_a_wrong_rule_is_found_by_its_other_name(tmp_path: Path) -> None:
    written(tmp_path, 'based_on = "zilch"\naliases = ["Our Game"]\ntarget = 0\n')
    with pytest.raises(UsageError, match=r"ours\.toml: target can't be '0'"):
        rulebook.card("our game", tmp_path)


def test_what_is_no_plain_file_is_no_ruleset_and_a_link_to_one_is(tmp_path: Path) -> None:
    pipe, loop, link = (tmp_path / f"{name}.toml" for name in ("pipe", "loop", "link"))
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    link.symlink_to(written(tmp_path, 'based_on = "zilch"\n'))
    assert rulebook.read_card(link).rules.target == 15000
    for path, words in (
        (pipe, "pipe or a device"), (Path("/dev/zero"), "pipe or a device"), (loop, "symbolic link"),
        (tmp_path, "folder"), (tmp_path / "a\0b.toml", "no path"), (tmp_path / ("x" * 300), "File name too long"),
    ):  # fmt: skip
        with pytest.raises(TenklogError, match=words):
            rulebook.read_card(path)
    with pytest.raises(UsageError, match="no path"):
        rulebook.read_card(written(tmp_path, 'based_on = "a\\u0000/b"\n', "nul.toml"))


def test_no_pattern_is_worked_out_twice_while_a_ruleset_is_checked(tmp_path: Path) -> None:
    patterns = ["".join(letters) for letters in islice(combinations("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 6), 180)]
    scoring = "".join(f'c{n} = {{ dice = "{one}", points = 50 }}\n' for n, one in enumerate(patterns))
    before = dice._shapes.cache_info().misses
    with pytest.raises(UsageError, match="no roll of all 6 dice could be kept"):
        rulebook.read_card(written(tmp_path, f'wipeout = "123456"\n[scoring]\n{scoring}'))
    assert dice._shapes.cache_info().misses - before <= 181


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('based_on = "tiotusen"\ntarget = 0\n', "target can't be '0'; target is a whole number from 1 to 1000000"),
        ('based_on = "tiotusen"\ntarget = true\n', "target can't be true; target is a whole number from 1 to 1000000"),
        ('based_on = "tiotusen"\ntarget = 1.5\n', "target can't be '1.5'; target is a whole number from 1 to 1000000"),
        (
            'based_on = "tiotusen"\ntarget = "500"\n',
            "target can't be '500'; target is a whole number from 1 to 1000000",
        ),
        ('based_on = "tiotusen"\ntarge = 500\n', "unknown key 'targe'; did you mean target?"),
        ('based_on = "tiotusn"\n', "unknown ruleset 'tiotusn'; known: "),
        (
            'name = "Our Rules"\n',
            "name can't be 'Our Rules'; lower-case letters, digits and hyphens, such as our-house-rules",
        ),
        ("title = 7\n", "title can't be '7'; title is a text"),
        ('based_on = "tiotusen"\n[scoring]\none = true\n', "combination 'one' can't be '1:True'; "),
        ('based_on = "tiotusen"\n[scoring]\npair = 50\n', "combination 'pair' can't be ':50'; "),
        ('[scoring]\ntarget = { dice = "1", points = 5 }\n', "combination target is named like a key of the file; "),
        ('[scoring]\none = { dice = "1", points = 5, colour = 1 }\n', "combination 'one' can't be '1:5'; "),
        ("", "no roll of all 6 dice could be kept; a combination with points, or blank_throw above 0"),
        ("target = \n", "is no TOML file: "),
    ],
)
def test_a_file_that_is_wrong_is_named_with_the_key_the_value_and_what_would_be_right(
    tmp_path: Path, text: str, message: str
) -> None:
    assert file_refusal(tmp_path, text).startswith(message)


def test_a_file_that_is_no_text_or_too_large_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="is no TOML file"):
        rulebook.read_card(path)
    path.write_bytes(b"#" * 70_000)
    with pytest.raises(DataError, match="is larger than 64 KiB"):
        rulebook.read_card(path)


@pytest.mark.parametrize("name", ["none.toml", "none"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(AccessError) as refused:
        card(str(tmp_path / name))
    assert str(refused.value).startswith(str(tmp_path / name))
    assert refused.value.exit_code == 4


@pytest.mark.parametrize("seed", range(40))
def test_a_ruleset_that_is_written_as_a_file_reads_back_equal(tmp_path: Path, seed: int) -> None:
    one = random_ruleset(random.Random(seed))
    found = rulebook.read_card(written(tmp_path, rulebook.write_toml(one))).rules
    assert rules.differences(one, found) == {}
    assert found.name == one.name


def test_a_rule_card_has_a_sentence_for_every_value_of_every_setting() -> None:
    assert list(cards.SENTENCES) == list(cards.MEANINGS) == list(DEFAULTS)
    said = []
    for key, default in DEFAULTS.items():
        values: tuple[Any, ...] = ENUMERATED.get(key, (0, 350))
        if key == "challenge_penalties":
            values = ((350, 2000),)
        elif default is None:
            values = ("A350",)
        said += [(value, cards.sentence(key, value)) for value in values]
    assert len({sentence for _, sentence in said}) == len(said) > 45
    for value, sentence in said:
        assert sentence.endswith(".")
        assert "{" not in sentence
        assert ("350" in sentence) == ("350" in str(value))
