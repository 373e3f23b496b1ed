"""Notation: this module has the words of the text notation for whole games, and writes games in it.

One turn a line, `Anna: 133446/1 22234/222 =300`, under a heading that names players and rules; `schemas/NOTATION.md`
has the grammar, and `notated` reads it. What is written here reads back as equal events, but for times (that of the
start stays) and ids; it holds no character that a terminal would obey or an editor would not show.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct, json

from tenklog import events, rulebook, rules
from tenklog.dice import write as faces
from tenklog.errors import UsageError
from tenklog.events import AnyEvent
from tenklog.game import Game, evolve
from tenklog.rules import CATALOGUE, DEFAULTS, Combination, Ruleset, Value
from tenklog.state import Position

# The words that begin a line which is no turn, each with a right example of it.
HEADING = {
    "game": "game: friday-2",
    "title": "title: Friday at Anna's",
    "players": "players: Anna, Ben",
    "rules": "rules: tiotusen opening_minimum=500",
    "origin": "origin: import",
    "begun": "begun: 2026-11-20 19:30",
    "first_throw": "first_throw: Anna=6, Ben=4",
}
TABLE = {
    "note": "note: the cat sat on the sheet",
    "undo": "undo: misread",
    "change": "change: opening_minimum=500",
    "expect": "expect: Anna=1200, Ben=-500",
    "join": "join: Dora",
    "leave": "leave: Ben",
    "rename": "rename: Ben -> Benjamin",
    "abandon": "abandon: bedtime",
}
EXAMPLES = HEADING | TABLE
KEYWORD = re.compile(rf"({'|'.join(EXAMPLES)}|first throw)(?=\s*:|\s|$)", re.IGNORECASE)
# What a turn may begin with: a text that does so is written in quotes, because a player may be called Note.
MOVES = re.compile(r"[1-6/=!]|(steal|challenge)\b", re.IGNORECASE)
MOST_ENTRIES = 200  # on a line; a turn may take several
NAMELESS = "game"  # stands in the start of a game to which a text gives no id
SIGNS = frozenset(':,="#/\\>!*()')  # what no name has that stands without quotes
_JOINERS = "\u200c\u200d"


class Found(Struct, frozen=True):
    """A game found in a text: its events, where each stands (FILE:LINE:COLUMN), and the id that the text gives it."""

    events: list[AnyEvent]
    places: list[str]
    game: str | None = None


def write(log: Iterable[events.Event]) -> str:
    """Return a whole game in the notation, ended by a newline; raise IllegalMove for a log that is no legal game."""
    script = _Script()
    game: Game | None = None
    for event in log:
        before = game.position if game is not None else None
        game = evolve(game, event)
        if before is None:
            script.lines += _heading(game.start)
        else:
            _put(script, event, before, game.position)
    script.turn_ends()
    return "\n".join(script.lines) + "\n"


class _Script:
    """Lines being written, and the entries of a turn that are not a line yet."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.player = ""
        self.entries: list[str] = []

    def line(self, word: str, text: str = "") -> None:
        self.turn_ends()
        self.lines.append(f"{word}: {text}" if text else word)

    def entry(self, player: str, text: str, joined: bool = False) -> None:
        """Add an entry to the line of a player, `joined` to the entry before it if there is one."""
        if player != self.player or len(self.entries) == MOST_ENTRIES:
            self.turn_ends()
        self.player = player
        if joined and self.entries:
            self.entries[-1] += text
        else:
            self.entries.append(text)

    def turn_ends(self) -> None:
        if self.entries:
            self.lines.append(f"{name(self.player)}: {' '.join(self.entries)}")
            self.entries = []


def _put(script: _Script, event: events.Event, before: Position, after: Position) -> None:
    """Write one event; `before` and `after` it the game stood so."""
    match event:
        case events.Roll():
            script.entry(event.player, faces(event.dice, "") + ("*" if event.thrown_by else ""))
            if after.turn is None:
                script.turn_ends()
        case events.Keep():
            aside = event.aside
            if aside is not None and aside == before.table.aside(tuple(sorted(event.dice))):
                aside = None
            leaves = f"({faces(aside, '')})" if aside else ""
            script.entry(event.player, f"/{faces(event.dice, '')}{leaves}", joined=True)
        case events.Bank():
            script.entry(event.player, "=settled" if event.settled else f"={event.points}")
            script.turn_ends()
        case events.Bust():
            script.entry(event.player, "!", joined=True)
            script.turn_ends()
        case events.Steal():
            script.entry(event.player, "steal")
        case events.Challenge():
            script.entry(event.player, f"challenge {name(event.opponent, ' ')}")
        case events.RuleChange():
            changes = " ".join(f"{key}={_value(value)}" for key, value in event.changes.items())
            script.line("change", changes + (" whole-game" if event.scope == "whole-game" else ""))
        case events.Undo():
            script.line("undo", text(event.why))
        case events.Expect():
            seats = {seat.player for seat in before.seats}
            totals = [f"{name(one) if one in seats else quoted(one)}={total}" for one, total in event.totals.items()]
            script.line("expect", ", ".join(totals))
        case events.Join():
            script.line("join", name(event.player))
        case events.Leave():
            script.line("leave", name(event.player))
        case events.Rename():
            script.line("rename", f"{name(event.player)} -> {name(event.to)}")
        case events.Note():
            script.line("note", text(event.text))
        case events.Abandon():
            script.line("abandon", text(event.why))


def _heading(start: events.Start) -> list[str]:
    lines = [f"game: {start.game}"]
    if start.title is not None:
        lines.append(f"title: {text(start.title)}")
    lines.append(f"players: {', '.join(map(name, start.players))}")
    lines.append(f"rules: {_rules(start.rules)}")
    if start.origin != "import":
        lines.append(f"origin: {start.origin}{f' of {start.of}' if start.of else ''}")
    if start.time is not None:
        lines.append(f"begun: {start.time}")
    if start.first_throw is not None:
        thrown = ", ".join(f"{name(player)}={faces(dice, '')}" for player, dice in start.first_throw.items())
        lines.append(f"first_throw: {thrown}".rstrip())
    return [*lines, ""]


# -- names, texts, rules ----------------------------------------------------------------------------------------------


def name(player: str, more: str = "") -> str:
    """Write a name, in quotes where it could be misread; `more` are signs that would end it as well."""
    plain = player and not SIGNS & {*player} and not {*more} & {*player} and _shown(player) == player
    return player if plain and player == player.strip() and not KEYWORD.match(player) else quoted(player)


def text(words: str | None) -> str:
    """Write a free text, in quotes where it could be misread; no text is an empty string."""
    if words is None:
        return ""
    try:
        plain = events.text(words, "text") == words == _shown(words) and words[0] not in '"#' and not MOVES.match(words)
    except UsageError:
        plain = False
    return words if plain else quoted(words)


def quoted(words: str) -> str:
    """Write a text in quotes, as in JSON, with all that is not to be seen as an escape."""
    return _shown(json.encode(words).decode())


def _shown(words: str) -> str:
    if words.isascii() and words.isprintable():
        return words
    return "".join(one if one.isprintable() or one in _JOINERS else _escape(one) for one in words)


def _escape(sign: str) -> str:
    code = sign.encode("utf-16-be").hex()
    return "".join(f"\\u{code[place : place + 4]}" for place in range(0, len(code), 4))


def _value(value: Value) -> str:
    """Write a value as `--set` reads it; unlike `rules.shown`, the pattern of a combination that is off too."""
    return f"{value.dice}:{value.points}" if isinstance(value, Combination) else rules.shown(value)


@lru_cache(maxsize=1)
def _presets() -> Sequence[Ruleset]:
    return [rulebook.read_card(path).rules for path in rulebook.card_files()]


def _rules(ruleset: Ruleset) -> str:
    """Name the preset of a ruleset, or the one that is nearest to it, and what differs, as `--set` has it."""
    fitting = [one for one in _presets() if one.scoring.keys() <= ruleset.scoring.keys()]
    base = min(fitting, key=lambda one: (one.name != ruleset.name, len(_changes(one, ruleset))))
    words = [base.name]
    if base.name != ruleset.name:
        words.append(f"name={ruleset.name if re.fullmatch('[a-z0-9-]+', ruleset.name) else quoted(ruleset.name)}")
    return " ".join([*words, *(f"{key}={_value(value)}" for key, value in _changes(base, ruleset).items())])


def _changes(base: Ruleset, ruleset: Ruleset) -> dict[str, Value]:
    """Return what makes a ruleset of another; the points alone of a combination whose pattern stays."""
    found: dict[str, Value] = {}
    for key, one in ruleset.scoring.items():
        before = base.scoring.get(key)
        if one != before:
            same = before is not None and before.dice == one.dice and CATALOGUE.get(key) == one.dice
            found[key] = one.points if same else one
    return found | {key: getattr(ruleset, key) for key in DEFAULTS if getattr(ruleset, key) != getattr(base, key)}
