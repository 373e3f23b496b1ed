"""Rules: this module holds a ruleset as plain data, reads it from TOML, changes it and compares it.

A ruleset is never code: a table of combinations (a name, a pattern of dice, a value) and settings. Every ruleset that
leaves this module is whole (each key present) and free of contradictions; anything else is a UsageError that names the
key, the bad value and what would be accepted. Source of every key: the rules page of the project.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct, ValidationError, convert, json, structs, to_builtins

from tenklog import files
from tenklog.dice import contains, sets
from tenklog.errors import DataError, TenklogError, UsageError, nearest

LIMIT = 1_000_000
Count = Annotated[int, Meta(ge=0, le=LIMIT)]
Positive = Annotated[int, Meta(ge=1, le=LIMIT)]
END = r"$(?!\n)"  # the end of a pattern of characters: `$` alone lets a newline stand behind it
Pattern = Annotated[str, Meta(pattern="^[1-6A-Z]{1,6}" + END)]
Name = Annotated[str, Meta(min_length=1, max_length=64)]
MOST_COMBINATIONS = 200
MOST_BASES = 20
_RIGHT_PATH = "the path of a ruleset's TOML file"


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


class Card(Struct, frozen=True):
    """A ruleset with what its file says about it: title, source, other names, decisions (sentences)."""

    rules: Ruleset
    title: str = ""
    source: str = ""
    aliases: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()


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
        raise UsageError(f"combination name {_quote(name)}", "lower-case letters, digits and _, such as three_pairs")
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


def _quote(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= 40 else text[:37] + "...")


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
                f"unknown setting {_quote(key)}", f"{nearest(key, known)} (a new combination: {key}=AABB:500)"
            )
    return check(structs.replace(rules, scoring=scoring, **settings))


def setting(key: str, value: object) -> Any:
    """Return the value of a setting as its type has it; raise UsageError that says what is accepted."""
    try:
        return convert(to_builtins(value), _TYPES[key])
    except ValidationError:
        shown = "none" if value is None else str(value).lower() if isinstance(value, bool) else _quote(value)
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
            f"combination {_quote(name)} can't be {_quote(shown)}",
            f"a pattern of 1 to 6 digits 1-6 and letters A-Z with 0 to {LIMIT} points or such as 100A: AABB:500",
        ) from None
    _check_combination(name, new)
    return new


def parse_change(text: str, rules: Ruleset) -> tuple[str, Value]:
    """Read KEY=VALUE as typed, for a setting, a combination's points, or NAME=PATTERN:POINTS; raise UsageError."""
    key, equals, raw = text.partition("=")
    key, raw = key.strip(), raw.strip()
    if not equals or not key or not raw:
        raise UsageError(f"{_quote(text)} gives no value", "KEY=VALUE, such as target=5000 or three_pairs=1500")
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
            f"unknown setting {_quote(key)}",
            f"{nearest(key, [*DEFAULTS, *rules.scoring])} (a new combination: NAME=PATTERN:POINTS)",
        )
    try:
        return key, _combination(key, value, rules.scoring[key]).points
    except UsageError:
        right = f"points such as 500 or 100A, or PATTERN:POINTS, such as {rules.scoring[key].dice}:500"
        raise UsageError(f"combination {_quote(key)} can't be {_quote(raw)}", right) from None


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


# -- presets and files ------------------------------------------------------------------------------------------------

PRESETS = Path(__file__).parent / "rulesets"
MAIN_PRESETS = ("diecimila", "tiotusen", "zilch", "ten-thousand")
# Games that look alike but that the settings can't express, with the reason.
OTHER_GAMES = {"cosmic-wimpout": "Cosmic Wimpout has dice of its own (five, with suns, stars and moons on their faces)"}


def plain(name: str) -> str:
    """Fold a ruleset's name as typed to the form of names: lower case, hyphens."""
    return "-".join(name.lower().replace("_", " ").replace("-", " ").split())


def card(name: str, *folders: Path) -> Card:
    """Find a ruleset by name, alias or path of a TOML file; raise UsageError listing the known or the candidates.

    A user's own files lie in the folders; one with the name of a preset makes that name ambiguous.
    """
    return _find(name, folders, ())


def _find(name: str, folders: tuple[Path, ...], seen: tuple[str, ...]) -> Card:
    if name.endswith(".toml") or "/" in name or "\\" in name:
        return read_card(Path(name), folders, seen)
    wanted = plain(name)
    paths = {path.stem: path for path in card_files(*folders)}
    if wanted in paths and paths[wanted].parent != PRESETS and (PRESETS / paths[wanted].name).exists():
        raise UsageError(f"{wanted} is a preset, and {paths[wanted]} has its name too", "another name for the file")
    if wanted in paths:
        return read_card(paths[wanted], folders, seen)
    if wanted in OTHER_GAMES:
        raise UsageError(f"{name} can't be played by these rules: {OTHER_GAMES[wanted]}", "see `tenklog rules list`")
    called = [stem for stem, path in paths.items() if wanted in _aliases(path)]
    if len(called) == 1:
        return read_card(paths[called[0]], folders, seen)
    if called:
        raise UsageError(f"{_quote(name)} names several rulesets", "say which: " + ", ".join(called))
    raise UsageError(f"unknown ruleset {_quote(name)}", "known: " + ", ".join(paths))


def preset(name: str) -> Ruleset:
    """Return a packaged ruleset by name."""
    return card(name).rules


def card_files(*folders: Path) -> list[Path]:
    """Return the files of the presets, the main four first, then of a user's own."""
    presets = sorted(PRESETS.glob("*.toml"), key=lambda path: _preset_order(path.stem))
    return [*presets, *(path for folder in folders for path in sorted(folder.glob("*.toml")))]


def _preset_order(stem: str) -> tuple[int, str]:
    family = next((i for i, main in enumerate(MAIN_PRESETS) if stem == main or stem.startswith(main + "-")), 9)
    return family, stem


def read_card(path: Path, folders: tuple[Path, ...] = (), seen: tuple[str, ...] = ()) -> Card:
    """Read a ruleset file; raise UsageError, DataError or AccessError naming the file and the key.

    `seen` are the files that are based on this one.
    """
    place = _place(path)
    if place in seen:
        raise UsageError("based_on goes round in a circle", "a chain that ends at a preset or a whole file", str(path))
    if len(seen) > MOST_BASES:
        raise UsageError(
            f"is the base of {len(seen)} others", f"at most {MOST_BASES}, each based on another", str(path)
        )
    data = _read_toml(path)
    try:
        return _card_of(data, path, folders, (*seen, place))
    except TenklogError as error:
        raise error.at(str(path)) from None


def _target(path: Path) -> str:
    """Return the file to read: a link may stand for a ruleset, though not for a pipe or a device."""
    return _place(path) if os.path.islink(path) else str(path)


def _place(path: Path) -> str:
    """Return where a file is, whatever links lead to it."""
    if "\0" in str(path):
        raise UsageError(f"{_quote(path)} is no path", _RIGHT_PATH)
    return os.path.realpath(path)


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib  # a command that records reads its rules from the log

    with files.telling(path, _RIGHT_PATH), files.opened(_target(path), files.READ) as fd:
        text = files.read(fd)
    if len(text) > 1 << 16:
        raise DataError("is larger than 64 KiB", "a ruleset of a page or two", str(path))
    try:
        return tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"is no TOML file: {error}", "see `tenklog rules show tiotusen --toml`", str(path)) from None


def _aliases(path: Path) -> list[str]:
    """Return the other names of a ruleset as its file alone has them; a file that is none has no other names."""
    try:
        aliases = _read_toml(path).get("aliases")
    except TenklogError:
        return []
    return [plain(str(alias)) for alias in aliases] if isinstance(aliases, list) else []


def _card_of(data: dict[str, Any], path: Path, folders: tuple[Path, ...], seen: tuple[str, ...]) -> Card:
    name = data.get("name", path.stem)
    base_name = data.get("based_on")
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", name):
        raise UsageError(
            f"name can't be {_quote(name)}", "lower-case letters, digits and hyphens, such as our-house-rules"
        )
    for key, kind, such in (
        ("title", str, "a text"),
        ("source", str, "a text"),
        ("aliases", list, "a list of names"),
        ("based_on", str, "the name or the file of a ruleset"),
        ("decisions", list, "a list of texts"),
        ("scoring", dict, "a table"),
    ):
        if key in data and not isinstance(data[key], kind):
            raise UsageError(f"{key} can't be {_quote(data[key])}", f"{key} is {such}")
    if base_name is None:
        scoring = {key: Combination(pattern, 0) for key, pattern in CATALOGUE.items()}
        base = Ruleset(name=name, scoring=scoring, **DEFAULTS)
    else:
        near = path.parent / (base_name if base_name.endswith(".toml") else f"{plain(base_name)}.toml")
        base = (read_card(near, folders, seen) if near.is_file() else _find(base_name, folders, seen)).rules
    changes: dict[str, Any] = {}
    for key, value in data.items():
        if key in DEFAULTS:
            changes[key] = None if key in ("wipeout", "instant_win") and value == "none" else value
        elif key not in CARD_KEYS:
            raise UsageError(f"unknown key {_quote(key)}", nearest(key, [*CARD_KEYS, *DEFAULTS]))
    for key, value in data.get("scoring", {}).items():
        if key in DEFAULTS:
            raise UsageError(f"combination {key} is named like a key of the file", "another name for it")
        changes[key] = value if isinstance(value, dict) or key in base.scoring else {"dice": "", "points": value}
    return Card(
        rules=structs.replace(change(base, changes), name=name),
        title=data.get("title", ""),
        source=data.get("source", ""),
        aliases=tuple(map(str, data.get("aliases", []))),
        decisions=tuple(map(str, data.get("decisions", []))),
    )


def write_toml(rules: Ruleset) -> str:
    """Write a ruleset as a TOML file that reads back equal: every setting, every combination that is on."""
    lines = [f"name = {_toml(rules.name)}"]
    lines += [f"{key} = {_toml(getattr(rules, key))}" for key in DEFAULTS]
    lines += ["", "[scoring]"]
    for name, combination in rules.scoring.items():
        if not is_off(combination):
            lines.append(f"{name} = {{ dice = {_toml(combination.dice)}, points = {_toml(combination.points)} }}")
    return "\n".join(lines) + "\n"


def _toml(value: Value) -> str:
    return json.encode("none" if value is None else value).decode()
