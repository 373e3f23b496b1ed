"""Rules: this module holds a ruleset as plain data, checks it, changes it and compares it.

A ruleset is never code: a table of combinations (a name, a pattern of dice, a value) and settings. Every ruleset that
leaves this module is whole (each key present) and free of contradictions; anything else is a UsageError that names the
key, the bad value and what would be accepted. Source of every key: the rules page of the project.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct, ValidationError, convert, json, structs, to_builtins

from tenklog.dice import contains, sets
from tenklog.errors import UsageError, cited, nearest

LIMIT = 1_000_000
Count = Annotated[int, Meta(ge=0, le=LIMIT)]
Positive = Annotated[int, Meta(ge=1, le=LIMIT)]
END = r"$(?!\n)"  # the end of a pattern of characters: `$` alone lets a newline stand behind it
Pattern = Annotated[str, Meta(pattern="^[1-6A-Z]{1,6}" + END)]
Name = Annotated[str, Meta(min_length=1, max_length=64)]
MOST_COMBINATIONS = 200


class Combination(Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern of dice and its value: whole points, or a number and the letter whose face multiplies it (`100A`)."""

    dice: Pattern
    points: Count | Annotated[str, Meta(pattern="^[0-9]{1,7}[A-Z]" + END)]


Value = bool | int | str | None | tuple[int, ...] | Combination


class Ruleset(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that a table agreed on. The order of the keys is the order in which a rule card lists them."""

    name: Name
    scoring: dict[Name, Combination]
    dice: Literal[6, 5]
    opening_minimum: Count
    bank_minimum: Count
    must_beat_previous: bool
    below_minimum: Literal["zero", "roll-on"]
    hot_dice: Literal["may-roll", "must-roll", "must-bank"]
    set_aside: Literal["any", "all", "one-per-combination"]
    build_on_kept: bool
    blank_throw: Count
    bust_penalty: Count
    streak_length: Count
    streak_penalty: Count
    streak_counts: Literal["busts", "scoreless-turns", "first-roll-busts"]
    negative_totals: bool
    wipeout: Pattern | None
    instant_win: Pattern | None
    last_die_rolls: Positive
    last_die_bonus: Count
    last_die_step: Count
    steal: Literal["off", "after-bust", "after-bank"]
    challenge_split: Count
    challenge_penalties: tuple[Count, Count]
    target: Positive
    reach: Literal["at-least", "more-than", "exactly"]
    last_turns: Literal["everyone-else", "rest-of-round", "none"]
    tie: Literal["extra-turns", "shared"]


CATALOGUE = {
    "one": "1",
    "five": "5",
    "three_ones": "111",
    "four_ones": "1111",
    "five_ones": "11111",
    "six_ones": "111111",
    "three_of_a_kind": "AAA",
    "four_of_a_kind": "AAAA",
    "five_of_a_kind": "AAAAA",
    "six_of_a_kind": "AAAAAA",
    "straight": "123456",
    "low_straight": "12345",
    "high_straight": "23456",
    "three_pairs": "AABBCC",
    "four_and_a_pair": "AAAABB",
    "two_triplets": "AAABBB",
    "full_house": "AAABB",
}

DEFAULTS: dict[str, Any] = {
    "dice": 6,
    "opening_minimum": 0,
    "bank_minimum": 0,
    "must_beat_previous": False,
    "below_minimum": "zero",
    "hot_dice": "may-roll",
    "set_aside": "any",
    "build_on_kept": False,
    "blank_throw": 0,
    "bust_penalty": 0,
    "streak_length": 0,
    "streak_penalty": 0,
    "streak_counts": "busts",
    "negative_totals": True,
    "wipeout": None,
    "instant_win": None,
    "last_die_rolls": 1,
    "last_die_bonus": 0,
    "last_die_step": 0,
    "steal": "off",
    "challenge_split": 0,
    "challenge_penalties": (0, 0),
    "target": 10_000,
    "reach": "at-least",
    "last_turns": "everyone-else",
    "tie": "extra-turns",
}

# The keys of a TOML file that describe it rather than the game.
CARD_KEYS = ("name", "title", "source", "aliases", "based_on", "decisions", "scoring")

_TYPES: dict[str, Any] = {key: Ruleset.__annotations__[key] for key in DEFAULTS}


def accepted(key: str) -> str:
    """Say in words which values a setting takes."""
    kind = _TYPES[key]
    if kind is bool:
        return "true or false"
    if key == "challenge_penalties":
        return f"two whole numbers from 0 to {LIMIT}, such as 600,2000"
    if kind in (Count, Positive):
        return f"a whole number from {1 if kind is Positive else 0} to {LIMIT}"
    if kind == Pattern | None:
        return "a pattern of 1 to 6 digits 1-6 and letters A-Z, such as 2222 or AAAAAA, or none"
    return " or ".join(map(str, get_args(kind)))


_sound: set[bytes] = set()  # rulesets that passed already: thousands of games have a handful


def check(rules: Ruleset) -> Ruleset:
    """Return the ruleset, or raise UsageError for the first thing in it that no table could play."""
    content = json.encode(rules)
    if content in _sound:
        return rules
    if len(rules.scoring) > MOST_COMBINATIONS:
        raise UsageError(f"{len(rules.scoring)} combinations", f"at most {MOST_COMBINATIONS}")
    for name in CATALOGUE:
        if name not in rules.scoring:
            raise UsageError(f"scoring lacks {name}", "every name of the catalogue is listed, with 0 points when off")
    for name, combination in rules.scoring.items():
        _check_combination(name, combination)
    for key in ("opening_minimum", "bank_minimum"):
        minimum = getattr(rules, key)
        if minimum > rules.target:
            raise UsageError(f"{key} {minimum} is above target {rules.target}", f"{key} from 0 to {rules.target}")
    if rules.build_on_kept and rules.set_aside == "one-per-combination":
        raise UsageError(
            "build_on_kept contradicts set_aside one-per-combination", "set_aside any or all, or build_on_kept false"
        )
    if not _playable(rules):
        raise UsageError(
            f"no roll of all {rules.dice} dice could be kept", "a combination with points, or blank_throw above 0"
        )
    if len(_sound) < 1000:
        _sound.add(content)
    return rules


def _playable(rules: Ruleset) -> bool:
    combinations = [one.dice for one in rules.scoring.values() if len(one.dice) <= rules.dice and not is_off(one)]
    ends = [pattern for pattern in (rules.wipeout, rules.instant_win) if pattern is not None]
    if not ends:
        return bool(combinations) or rules.blank_throw > 0
    rolls = (roll for roll in sets(rules.dice) if len(roll) == rules.dice)
    quiet = (roll for roll in rolls if not any(contains(roll, pattern) for pattern in ends))
    return any(rules.blank_throw or any(contains(roll, pattern) for pattern in combinations) for roll in quiet)


def _check_combination(name: str, combination: Combination) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise UsageError(f"combination name {cited(name)}", "lower-case letters, digits and _, such as three_pairs")
    if name in DEFAULTS or name in CARD_KEYS:
        raise UsageError(f"combination {name} is named like a key of the file", "another name for it")
    points = combination.points
    if isinstance(points, str):
        if int(points[:-1]) > LIMIT:
            raise UsageError(f"{name}: points {points} are too many", f"a number from 0 to {LIMIT} before the letter")
        if points[-1] not in combination.dice:
            raise UsageError(
                f"{name}: points {points} name no letter of the pattern {combination.dice}",
                "whole points, or a number and a letter of the pattern, such as 100A",
            )


def change(rules: Ruleset, changes: Mapping[str, Any]) -> Ruleset:
    """Return the ruleset with settings and combinations changed, checked; raise UsageError naming the bad key.

    A combination's value may be its points alone (the pattern stays), or pattern and points together.
    """
    settings: dict[str, Any] = {}
    scoring = dict(rules.scoring)
    for key, value in changes.items():
        if key in DEFAULTS:
            settings[key] = setting(key, value)
        elif key in scoring or isinstance(value, Mapping | Combination):
            scoring[key] = _combination(key, value, scoring.get(key))
        else:
            known = [*DEFAULTS, *scoring]
            raise UsageError(
                f"unknown setting {cited(key)}", f"{nearest(key, known)} (a new combination: {key}=AABB:500)"
            )
    return check(structs.replace(rules, scoring=scoring, **settings))


def setting(key: str, value: object) -> Any:
    """Return the value of a setting as its type has it; raise UsageError that says what is accepted."""
    try:
        return convert(to_builtins(value), _TYPES[key])
    except ValidationError:
        shown = "none" if value is None else str(value).lower() if isinstance(value, bool) else cited(value)
        raise UsageError(f"{key} can't be {shown}", f"{key} is {accepted(key)}") from None


def _combination(name: str, value: object, old: Combination | None) -> Combination:
    if not isinstance(value, Mapping | Combination):
        value = {"dice": old.dice if old else "", "points": value}
    try:
        new = convert(to_builtins(value), Combination)
    except ValidationError:
        given: dict[str, object] = to_builtins(value)
        shown = f"{given.get('dice', '')}:{given.get('points', '')}"
        raise UsageError(
            f"combination {cited(name)} can't be {cited(shown)}",
            f"a pattern of 1 to 6 digits 1-6 and letters A-Z with 0 to {LIMIT} points or such as 100A: AABB:500",
        ) from None
    _check_combination(name, new)
    return new


def parse_change(text: str, rules: Ruleset) -> tuple[str, Value]:
    """Read KEY=VALUE as typed, for a setting, a combination's points, or NAME=PATTERN:POINTS; raise UsageError."""
    key, equals, raw = text.partition("=")
    key, raw = key.strip(), raw.strip()
    if not equals or not key or not raw:
        raise UsageError(f"{cited(text)} gives no value", "KEY=VALUE, such as target=5000 or three_pairs=1500")
    if key in DEFAULTS:
        return key, _typed(key, raw)
    if raw == "off" and key in rules.scoring:
        return key, 0
    pattern, colon, points = raw.rpartition(":")
    value: int | str = int(points) if _is_number(points) else points
    if colon:
        return key, _combination(key, {"dice": pattern, "points": value}, None)
    if key not in rules.scoring:
        raise UsageError(
            f"unknown setting {cited(key)}",
            f"{nearest(key, [*DEFAULTS, *rules.scoring])} (a new combination: NAME=PATTERN:POINTS)",
        )
    try:
        return key, _combination(key, value, rules.scoring[key]).points
    except UsageError:
        right = f"points such as 500 or 100A, or PATTERN:POINTS, such as {rules.scoring[key].dice}:500"
        raise UsageError(f"combination {cited(key)} can't be {cited(raw)}", right) from None


def parse_changes(texts: Iterable[str], rules: Ruleset) -> dict[str, Value]:
    """Read several KEY=VALUE; of one key the last counts; raise UsageError."""
    return dict(parse_change(text, rules) for text in texts)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 15


def _typed(key: str, raw: str) -> Value:
    value: Value = raw
    if _TYPES[key] is bool and raw in ("true", "false"):
        value = raw == "true"
    elif _TYPES[key] == Pattern | None:
        value = None if raw == "none" else raw
    elif key == "challenge_penalties" and all(map(_is_number, raw.split(","))):
        value = tuple(map(int, raw.split(",")))
    elif _is_number(raw):
        value = int(raw)
    typed: Value = setting(key, value)
    return typed


def differences(old: Ruleset, new: Ruleset) -> dict[str, tuple[Value, Value]]:
    """Return every key whose value differs, with the old and the new value; combinations that are off are equal.

    One that only the other ruleset has is off.
    """
    found: dict[str, tuple[Value, Value]] = {}
    for name, combination in (old.scoring | new.scoring).items():
        off = Combination(combination.dice, 0)
        before, after = old.scoring.get(name, off), new.scoring.get(name, off)
        if before != after and not (is_off(before) and is_off(after)):
            found[name] = (before, after)
    for key in DEFAULTS:
        if getattr(old, key) != getattr(new, key):
            found[key] = (getattr(old, key), getattr(new, key))
    return found


def is_off(combination: Combination | None) -> bool:
    """Tell whether a combination is switched off: absent, 0 points or 0 times a face."""
    if combination is None or isinstance(combination.points, int):
        return not (combination and combination.points)
    return int(combination.points[:-1]) == 0


def shown(value: Value) -> str:
    """Write a value as one would type it after `=`."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, Combination):
        return "off" if is_off(value) else f"{value.dice}:{value.points}"
    return str(value)
