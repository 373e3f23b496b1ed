"""Headings: this module reads the heading of a notated game, line by line, and makes its start event of it."""

import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from tenklog import events
from tenklog.errors import DataError, TenklogError, UsageError
from tenklog.game import check_players
from tenklog.home import check_id
from tenklog.notation import HEADING, NAMELESS
from tenklog.pieces import KEY, WORD, Line
from tenklog.rules import Ruleset, change

Find = Callable[[str], Ruleset]
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{3}))?)?)?Z?", re.ASCII)
_REPLAY = re.compile(r"replay of ([1-9][0-9]{0,15}:[0-9a-f]{32})(?!\S)", re.ASCII | re.IGNORECASE)


class Heading:
    """What a heading says and where, by its words; `place` is where it begins."""

    def __init__(self) -> None:
        self.said: dict[str, Any] = {}
        self.place = ""
        self.places: dict[str, str] = {}

    def read(self, word: str, line: Line, at: int, find: Find) -> None:
        """Read a line after its word; `find` knows rulesets by name."""
        if word in self.said:
            raise line.error(f"{word} stands twice in this heading", "one line for it", at)
        if line.done() and word != "first_throw":
            raise line.error(f"nothing stands after {word}")
        self.place = self.place or line.place(at)
        self.places[word] = line.place(line.at)
        with line.telling(line.at):
            self.said[word] = _rules(line, find) if word == "rules" else _READERS[word](line)
        line.end()

    def start(self, rules: Ruleset | None) -> events.Start:
        """Return the start event; `rules` are for a heading that names none."""
        said = self.said
        rules = said.get("rules", rules)
        if "players" not in said or rules is None:
            key = "rules" if "players" in said else "players"
            raise DataError(f"the game names no {key}", f"a line such as `{HEADING[key]}`", self.place)
        origin, of = said.get("origin", ("import", None))
        return events.Start(
            1, said.get("begun"), game=said.get("game", NAMELESS), version=events.VERSION, players=said["players"],
            rules=rules, origin=origin, of=of, title=said.get("title"),
            first_throw=said.get("first_throw"),
        )  # fmt: skip


def _game(line: Line) -> str:
    return check_id(line.take(WORD) or line.text[line.at :])


def _title(line: Line) -> str:
    return line.free_text("title", 200)


def _players(line: Line) -> tuple[str, ...]:
    players: tuple[str, ...] = ()
    while not players or line.sign(","):
        line.done()
        at = line.at
        players += (line.new_name(","),)
        with line.telling(at):
            check_players(players)
    return players


def _rules(line: Line, find: Find) -> Ruleset:
    words: list[str] = []
    while not line.done():
        at, word = line.at, line.take(KEY)
        if not word or line.sign("="):
            line.at = at  # of the first setting
            break
        words.append(word)
    called = " ".join(words)
    if not called or "/" in called or "\\" in called or called.endswith(".toml"):
        # A text from elsewhere opens no file.
        raise UsageError(f"{called or line.rest()!r} is no name of a ruleset", "a name from `tenklog rules list`")
    rules = find(called)
    line.done()
    at = line.at
    changes, _ = line.settings(rules)
    name = changes.pop("name", rules.name)
    with line.telling(at):
        return replace(change(rules, changes), name=name)


def _origin(line: Line) -> tuple[str, str | None]:
    found = line.take(_REPLAY)
    if found:
        return "replay", found.rpartition(" ")[2]
    origin = line.take(WORD).lower()
    if origin not in ("table", "import", "simulated"):
        raise UsageError(f"{origin!r} is no origin", "table, import, simulated, or replay of SEQ:H")
    return origin, None


def _begun(line: Line) -> str:
    rest, found = line.rest(), _TIME.match(line.text, line.at)
    try:
        if found:
            line.at = found.end()
            day, minute, second, part = found.groups()
            time = f"{day}T{minute or '00:00'}:{second or '00'}.{part or '000'}Z"
            events.check_times([events.Note(1, time, text="-")])
            return time
    except TenklogError:
        pass
    raise UsageError(f"{rest} is no day", "a day, and if it is known the time of it in UTC")


def _first_throw(line: Line) -> dict[str, tuple[int, ...]]:
    return {events.name(name): dice for name, _, dice in line.amounts(lambda: line.faces(100))}


_READERS: dict[str, Callable[[Line], Any]] = {
    "game": _game, "title": _title, "players": _players, "origin": _origin, "begun": _begun,
    "first_throw": _first_throw,
}  # fmt: skip
