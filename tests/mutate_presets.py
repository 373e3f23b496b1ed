"""Show that no value of a preset can change unseen: change each in turn and expect the comparison to fail.

`python tests/mutate_presets.py` prints what survived and exits 1 when anything did. Two kinds of change are made: every
key of every whole ruleset, in memory, and every value that stands in a ruleset file, in a copy of the folder.
"""

import csv
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import structs

from tenklog.rulebook import PRESETS, Card, card, read_card
from tenklog.rules import DEFAULTS, Combination

TABLE = Path(__file__).parent / "tables" / "presets.csv"
ABOUT = ("source", "title", "alias", "based_on")


def expectations() -> dict[str, dict[str, str]]:
    """Return what the hand-written table says of each preset: every key of the whole ruleset and what is said of it."""
    said: dict[str, dict[str, str]] = {}
    with TABLE.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            one = said.setdefault(row["preset"], {})
            one[row["key"]] = f"{one['alias']} {row['value']}" if row["key"] in one else row["value"]
    catalogue, default = said.pop("catalogue"), said.pop("default")
    whole: dict[str, dict[str, str]] = {}
    for name, one in said.items():  # a base stands above what is based on it
        base = whole[one["based_on"]] if "based_on" in one else default | dict.fromkeys(catalogue, "0")
        whole[name] = {key: value for key, value in base.items() if key not in ABOUT} | one
    return {
        name: {key: f"{catalogue[key]}:{value}" if key in catalogue else value for key, value in one.items()}
        for name, one in whole.items()
    }


def facts(found: Card) -> dict[str, str]:
    """Return the same of a preset as it is read, except what it is based on, which its values show."""
    values = {key: getattr(found.rules, key) for key in DEFAULTS} | dict(found.rules.scoring)
    return {key: _word(value) for key, value in values.items()} | {
        "name": found.rules.name,
        "source": found.source,
        "title": found.title,
        "alias": " ".join(found.aliases),
    }


def _word(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case tuple():
            return " ".join(map(str, value))
        case Combination():
            return f"{value.dice}:{value.points}"
    return str(value)


def differences(name: str, found: Card, said: dict[str, dict[str, str]]) -> list[str]:
    """Return the keys in which a preset is not as the table says."""
    read = facts(found)
    one = {"name": name, "alias": "", "title": read["title"]} | said[name]
    return [key for key in {**one, **read} if key != "based_on" and read.get(key) != one.get(key)]


def mutants(found: Card) -> Iterator[tuple[str, Card]]:
    """Yield a preset with one key changed, for every key. Nothing checks these rulesets; they are only compared."""
    for key in DEFAULTS:
        for value in _others(getattr(found.rules, key)):
            yield key, structs.replace(found, rules=structs.replace(found.rules, **{key: value}))
    for key, combination in found.rules.scoring.items():
        for change in ({"dice": combination.dice + "1"}, *({"points": value} for value in _others(combination.points))):
            scoring = found.rules.scoring | {key: structs.replace(combination, **change)}
            yield key, structs.replace(found, rules=structs.replace(found.rules, scoring=scoring))
        fewer = {name: one for name, one in found.rules.scoring.items() if name != key}
        yield key, structs.replace(found, rules=structs.replace(found.rules, scoring=fewer))
    more = found.rules.scoring | {"pair": Combination("AA", 10)}
    yield "pair", structs.replace(found, rules=structs.replace(found.rules, scoring=more))


def _others(value: Any) -> list[Any]:
    match value:
        case None:
            return ["AAAAAA"]
        case bool():
            return [not value]
        case int():
            return [value + 1, value - 1]
        case tuple():
            return [(value[0] + 1, value[1]), (value[0], value[1] + 1)]
    return [value + "x", "1" + str(value)]


def survivors() -> list[str]:
    """Return each change in memory that the comparison did not see."""
    said = expectations()
    return [
        f"{name}: {key}"
        for name in said
        for key, mutant in mutants(card(name))
        if key not in differences(name, mutant, said)
    ]


# A value in a ruleset file: a quoted text or a number, which is no comment and no sentence of decisions.
_VALUE = re.compile(r'(?<== )(?:"[^"]*"|\d+)|(?<=[\[ ])"[^"]*"(?=[,\]])')
_OTHER = {
    "set_aside": ["any", "all", "one-per-combination"],
    "hot_dice": ["may-roll", "must-roll"],
    "below_minimum": ["zero", "roll-on"],
    "steal": ["off", "after-bust", "after-bank"],
    "reach": ["at-least", "more-than", "exactly"],
    "last_turns": ["everyone-else", "rest-of-round", "none"],
    "based_on": ["farkle", "kingdom-come"],
    "name": ["another"],
    "source": ["another"],
    "title": ["another"],
    "aliases": ["another"],
}


def edits(text: str) -> Iterator[tuple[str, str]]:
    """Yield a ruleset file's text with one of its values changed, and the line that was changed."""
    start = 0
    told = False  # inside the sentences of `decisions`
    for line in text.splitlines(keepends=True):
        key = line.partition(" =")[0]
        told = key == "decisions" or (told and line.startswith((" ", "]")))
        if not told and not line.startswith("#"):
            for match in _VALUE.finditer(line):
                new = _another(key, match.group())
                yield line.strip(), text[: start + match.start()] + new + text[start + match.end() :]
        start += len(line)


def _another(key: str, old: str) -> str:
    """Return another value of the same kind, as TOML has it."""
    if not old.startswith('"'):
        return str(int(old) + 1)
    if key in _OTHER:
        return next(f'"{other}"' for other in _OTHER[key] if f'"{other}"' != old)
    if old[-2] == "A" and old[1] != "A":
        return f'"1{old[1:]}'  # 100A
    return old[:-2] + '"' if len(old) > 3 else old[:-1] + old[1:]  # a pattern


def surviving_edits() -> list[str]:
    """Return each change of a ruleset file that the comparison of that preset did not see."""
    said = expectations()
    unseen = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(PRESETS, Path(place) / "rulesets"))
        for path in sorted(folder.glob("*.toml")):
            text = path.read_text(encoding="utf-8")
            for line, edited in edits(text):
                if line.startswith("title") and "title" not in said[path.stem]:
                    continue
                path.write_text(edited, encoding="utf-8")
                if not differences(path.stem, read_card(path), said):
                    unseen.append(f"{path.name}: {line}")
            path.write_text(text, encoding="utf-8")
    return unseen


def main() -> int:
    """Print what survived; return the exit code."""
    said = expectations()
    wrong = [f"{name}: {key} is not as the table says" for name in said for key in differences(name, card(name), said)]
    unseen = [f"{change} can change unseen" for change in (*survivors(), *surviving_edits())]
    for line in (*wrong, *unseen):
        print(line)
    count = sum(1 for name in said for _ in mutants(card(name)))
    count += sum(1 for path in PRESETS.glob("*.toml") for _ in edits(path.read_text(encoding="utf-8")))
    print(f"{count} changes, {len(unseen)} unseen")
    return 1 if wrong or unseen else 0


if __name__ == "__main__":
    sys.exit(main())
