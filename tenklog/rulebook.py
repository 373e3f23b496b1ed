"""Rulebook: this module finds rulesets by name or path, reads them from TOML and writes them so.

The presets are files too, like a user's own. A file may be based on another ruleset; what it says of itself (title,
source, other names, decisions) is its card. What is wrong is an error that names the file and the key.
"""

import os
import re
from pathlib import Path
from typing import Any

from msgspec import Struct, json, structs

from tenklog import files
from tenklog.errors import DataError, TenklogError, UsageError, cited, nearest
from tenklog.rules import CARD_KEYS, CATALOGUE, DEFAULTS, Combination, Ruleset, Value, change, is_off

MOST_BASES = 20
_RIGHT_PATH = "the path of a ruleset's TOML file"
PRESETS = Path(__file__).parent / "rulesets"
MAIN_PRESETS = ("diecimila", "tiotusen", "zilch", "ten-thousand")
# Games that look alike but that the settings can't express, with the reason.
OTHER_GAMES = {"cosmic-wimpout": "Cosmic Wimpout has dice of its own (five, with suns, stars and moons on their faces)"}


class Card(Struct, frozen=True):
    """A ruleset with what its file says about it: title, source, other names, decisions (sentences)."""

    rules: Ruleset
    title: str = ""
    source: str = ""
    aliases: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()


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
        raise UsageError(f"{cited(name)} names several rulesets", "say which: " + ", ".join(called))
    raise UsageError(f"unknown ruleset {cited(name)}", "known: " + ", ".join(paths))


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
        raise UsageError(f"{cited(path)} is no path", _RIGHT_PATH)
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
            f"name can't be {cited(name)}", "lower-case letters, digits and hyphens, such as our-house-rules"
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
            raise UsageError(f"{key} can't be {cited(data[key])}", f"{key} is {such}")
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
            raise UsageError(f"unknown key {cited(key)}", nearest(key, [*CARD_KEYS, *DEFAULTS]))
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
