"""Damage to games in the notation: each kind spoils a text at one place and says which.

Everything before the place stays as it was, and what stands there is wrong whatever comes after it, so a reader must
name exactly this line and column.
"""

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

TURN = re.compile(r'(?P<name>"(?:[^"\\]|\\.)*"|[^:"]+): (?P<entries>[^"]+)')
ROLL = re.compile(r"(?<!\S)(?P<dice>[1-6]+)\*?(?P<after>/[1-6]+(?:\([1-6]+\))?|!)?(?!\S)")
BANK = re.compile(r"(?<!\S)=(?P<points>\d+)$")


class Damage(NamedTuple):
    """A text that is wrong at one place (from 1)."""

    kind: str
    text: str
    line: int
    column: int


class Text:
    """A game's text taken apart."""

    def __init__(self, rng: Random, text: str) -> None:
        self.rng = rng
        self.lines = text.splitlines()
        self.blank = self.lines.index("")

    def turns(self, entry: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str], re.Match[str]]]:
        """Yield the turns (number of the line from 0) with an entry, and the entry."""
        for number in range(self.blank + 1, len(self.lines)):
            turn = TURN.fullmatch(self.lines[number])
            if turn and (turn["name"].startswith('"') or turn["name"] not in ("note", "undo", "abandon", *TABLE)):
                for found in entry.finditer(self.lines[number], turn.start("entries")):
                    yield number, turn, found

    def one(self, entry: re.Pattern[str]) -> tuple[int, re.Match[str], re.Match[str]]:
        """Choose one of them; IndexError when there is none."""
        return self.rng.choice(list(self.turns(entry)))

    def put(self, kind: str, number: int, at: int, end: int, new: str, column: int | None = None) -> Damage:
        """Replace part of a line; the wrong place is its beginning, unless another column (from 0) is said."""
        line = self.lines[number]
        lines = [*self.lines]
        lines[number] = line[:at] + new + line[end:]
        return Damage(kind, "\n".join(lines) + "\n", number + 1, (at if column is None else column) + 1)

    def insert(self, kind: str, number: int, line: str) -> Damage:
        """Put a wrong line before another."""
        lines = [*self.lines[:number], line, *self.lines[number:]]
        return Damage(kind, "\n".join(lines) + "\n", number + 1, 1)


TABLE = ("change", "expect", "join", "leave", "rename")


def no_die(text: Text) -> Damage:
    number, _, roll = text.one(ROLL)
    at = text.rng.randrange(*roll.span("dice"))
    return text.put("no-die", number, at, at + 1, text.rng.choice("0789xQ"))


def too_few_dice(text: Text) -> Damage:
    number, _, roll = text.one(ROLL)
    dice = roll["dice"]
    return text.put("too-few-dice", number, *roll.span("dice"), dice[:-1] if len(dice) > 1 else dice * 2)


def not_thrown(text: Text) -> Damage:
    number, _, roll = text.one(re.compile(ROLL.pattern.replace("|!)?", ")")))
    face = next(face for face in "123456654321" if face not in roll["dice"])  # StopIteration: all are there
    return text.put("not-thrown", number, *roll.span("after"), f"/{face}")


def no_bust(text: Text) -> Damage:
    number, _, roll = text.one(re.compile(ROLL.pattern.replace("|!)?", ")")))
    return text.put("no-bust", number, *roll.span("after"), "!")


def bust_left_out(text: Text) -> Damage:
    number, _, roll = text.one(re.compile(r"(?<!\S)(?P<dice>[1-6]+)\*?(?P<after>!)$"))
    after = TURN.fullmatch(text.lines[number + 1])  # IndexError: the game ends here
    if not after or after["name"] in ("note", "undo", "expect") or after["entries"].startswith("!"):
        raise LookupError  # all of which may follow
    return text.put("bust-left-out", number, *roll.span("after"), "", roll.start())


def keep_left_out(text: Text) -> Damage:
    number, _, roll = text.one(re.compile(r"(?<!\S)(?P<dice>[1-6]+)\*?(?P<after>/[1-6]+(?:\([1-6]+\))?) (?=[=1-6])"))
    return text.put("keep-left-out", number, *roll.span("after"), "", roll.start("after") + 1)


def wrong_points(text: Text) -> Damage:
    number, turn, bank = text.one(BANK)
    if not ROLL.search(turn["entries"]):
        raise LookupError  # a score sheet may say any points
    return text.put("wrong-points", number, *bank.span("points"), str(int(bank["points"]) + 50), bank.start())


def no_number(text: Text) -> Damage:
    number, _, bank = text.one(BANK)
    return text.put("no-number", number, *bank.span("points"), text.rng.choice(("6oo", "1,000", "-5", "x")))


def after_the_end(text: Text) -> Damage:
    number, _, _ = text.one(re.compile(r"(=\d+|!)$"))
    end = len(text.lines[number])
    return text.put("after-the-end", number, end, end, f" {text.rng.choice(('5/5', '=100', '!', '/1'))}", end + 1)


def unknown_word(text: Text) -> Damage:
    number, turn, _ = text.one(re.compile("$"))
    at = turn.start("entries")
    return text.put("unknown-word", number, at, at, text.rng.choice(("farkle ", "rolls ", "é ")))


def no_colon(text: Text) -> Damage:
    number, turn, _ = text.one(re.compile("$"))
    return text.put("no-colon", number, turn.end("name"), turn.end("name") + 1, "", 0)


def unknown_player(text: Text) -> Damage:
    number, turn, _ = text.one(re.compile("$"))
    at = turn.end("name") - turn["name"].endswith('"')
    return text.put("unknown-player", number, at, at, "xyz", 0)


def not_at_turn(text: Text) -> Damage:
    number, turn, _ = text.one(re.compile("$"))
    names = {other["name"] for _, other, _ in text.turns(re.compile("$"))} - {turn["name"]}
    if any(line.startswith("rename") for line in text.lines) or not names:
        raise LookupError
    return text.put("not-at-turn", number, *turn.span("name"), text.rng.choice(sorted(names)), 0)


def unknown_line(text: Text) -> Damage:
    number = text.rng.randrange(text.blank + 1, len(text.lines) + 1)
    return text.insert("unknown-line", number, text.rng.choice(("nofe: tea", "ondo", "chnage: target=5", "???", "1 2")))


def heading_too_late(text: Text) -> Damage:
    number = text.rng.randrange(text.blank + 2, len(text.lines) + 1)
    line = text.rng.choice(("rules: zilch", "title: Late", "origin: table", "begun: 2026-01-01", "first_throw: A=1"))
    return text.insert("heading-too-late", number, line)


def open_quotes(text: Text) -> Damage:
    number = text.rng.randrange(text.blank + 1, len(text.lines) + 1)
    word = text.rng.choice(("note", "undo", "join", "abandon"))
    made = text.insert("open-quotes", number, f'{word}: "not closed')
    return made._replace(column=len(word) + 3)


def nothing_to_undo(text: Text) -> Damage:
    return text.insert("nothing-to-undo", text.blank + 1, "undo: too early")


def unknown_heading(text: Text) -> Damage:
    number = text.rng.randrange(text.blank)
    return text.put("unknown-heading", number, 0, 1, "x")


def unknown_rules(text: Text) -> Damage:
    number = next(number for number, line in enumerate(text.lines) if line.startswith("rules: "))
    return text.put("unknown-rules", number, 7, 7, "x")


def unknown_setting(text: Text) -> Damage:
    number = text.rng.randrange(text.blank + 1, len(text.lines) + 1)
    wrong = text.rng.choice(("targt=500", "target=many", "target", "hot_dice=never", "dice=7"))
    return text.insert("unknown-setting", number, f"change: {wrong}")._replace(column=9)


def same_player(text: Text) -> Damage:
    number = next(number for number, line in enumerate(text.lines) if line.startswith("players: "))
    line = text.lines[number]
    name = re.match(r'players: ("(?:[^"\\]|\\.)*"|[^,"]+)', line)
    assert name is not None
    return text.put("same-player", number, len(line), len(line), f", {name[1]}", len(line) + 2)


KINDS: tuple[Callable[[Text], Damage], ...] = (
    no_die, too_few_dice, not_thrown, no_bust, bust_left_out, keep_left_out, wrong_points, no_number, after_the_end,
    unknown_word, no_colon, unknown_player, not_at_turn, unknown_line, heading_too_late, open_quotes, nothing_to_undo,
    unknown_heading, unknown_rules, unknown_setting, same_player,
)  # fmt: skip


def damaged(rng: Random, text: str) -> Damage:
    """Spoil a text in one of the ways that are possible in it."""
    taken = Text(rng, text)
    while True:
        try:
            return rng.choice(KINDS)(taken)
        except (LookupError, StopIteration, ValueError):
            continue
