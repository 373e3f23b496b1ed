"""Pieces: this module reads what lines of the notation are made of: names, texts, dice, amounts, settings.

A line that is wrong is a DataError with its place, FILE:LINE:COLUMN (from 1), and a right example.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import DecodeError, json

from tenklog import dice, events
from tenklog.dice import Dice
from tenklog.errors import DataError, TenklogError, UsageError
from tenklog.notation import SIGNS, quoted
from tenklog.rules import Ruleset, Value, parse_change

WORD = re.compile(r"[^\s/=!*()#:\",]+")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_BARE = re.compile(rf"[^\s{re.escape(''.join(SIGNS))}][^{re.escape(''.join(SIGNS))}]*")
KEY = re.compile(r"[^\s=,#\"]+")
_VALUE = re.compile(r"[^\s\"]+")


class Line:
    """A line and how far it is read: `at` counts from 0. `example` is a right line of this kind."""

    def __init__(self, where: str, number: int, text: str) -> None:
        self.where = f"{where}:{number}"
        self.text = text
        self.at = 0
        self.example = "Anna: 133446/1 =100"

    def place(self, at: int) -> str:
        """Name a place in the line."""
        return f"{self.where}:{at + 1}"

    def error(self, what: str, right: str = "", at: int | None = None) -> DataError:
        """Say what is wrong here, or at another place of the line, and show what would be right."""
        such = f"such as `{self.example}`"
        if right:
            joint = " Such as" if right.endswith("?") else ":" if "such as" in right else ", such as"
            such = f"{right}{joint} `{self.example}`"
        return DataError(what, such, self.place(self.at if at is None else at))

    @contextmanager
    def telling(self, at: int) -> Iterator[None]:
        """Give an error that has no place this one, and the example."""
        try:
            yield
        except TenklogError as error:
            if error.where:
                raise
            raise self.error(error.what, error.right, at) from None

    # -- signs and words ----------------------------------------------------------------------------------------------

    def done(self) -> bool:
        """Go on to what is neither blank nor comment; tell whether there is nothing more."""
        text = self.text
        while self.at < len(text) and text[self.at].isspace():
            self.at += 1
        if text.startswith("#", self.at) and (self.at == 0 or text[self.at - 1].isspace() or text[self.at - 1] == ":"):
            self.at = len(text)
        return self.at >= len(text)

    def rest(self, at: int | None = None) -> str:
        """Show what stands from a place on, in an error."""
        return repr(self.text[self.at if at is None else at :][:20])

    def take(self, pattern: re.Pattern[str]) -> str:
        """Read what fits a pattern here, or nothing."""
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def sign(self, sign: str) -> bool:
        """Read a sign, after blanks; tell whether it was there."""
        if not self.done() and self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False

    def end(self) -> None:
        """Raise unless there is nothing more."""
        if not self.done():
            raise self.error(f"{self.rest()} is too much here")

    def quoted(self) -> str | None:
        """Read a text in quotes, written as in JSON; None when there is none here."""
        if self.done() or self.text[self.at] != '"':
            return None
        at, written = self.at, self.take(_QUOTED)
        try:
            return json.decode(written or '"', type=str)
        except DecodeError:
            what = "a backslash that means nothing" if written else "quotes that are not closed"
            raise self.error(what, r'"Ann \"Lucky\" e" is how quotes stand in quotes', at) from None

    # -- names and texts ----------------------------------------------------------------------------------------------

    def name(self, stops: str = "") -> tuple[str, bool]:
        """Read a name, which one of the stops may follow; tell whether it stood in quotes."""
        name = self.quoted()
        if name is not None:
            return name, True
        at, name = self.at, self.take(_BARE)
        after = self.text[self.at : self.at + 1]
        if not name and (not after or after in stops):
            raise self.error("a name is missing", at=at)
        if after in SIGNS - {*stops, "#"} or (after == "#" and not self.text[self.at - 1].isspace()):
            raise self.error(f"a name with {after} in it", f"quotes around it, {quoted(name.rstrip() + after)}", at)
        return name.rstrip(), False

    def new_name(self, stops: str = "") -> str:
        """Read the name of somebody who was not called so before."""
        self.done()
        with self.telling(self.at):
            return events.name(self.name(stops)[0])

    def free_text(self, what: str, most: int = 2000) -> str:
        """Read a text to the end of the line, or one in quotes as it is."""
        with self.telling(self.at):
            text = self.quoted()
            if text is None:
                text, self.at = events.text(self.text[self.at :], what, most), len(self.text)
            elif not 1 <= len(text) <= most:
                raise UsageError(f"the {what} has {len(text)} characters", f"1 to {most} characters")
            return text

    # -- numbers, dice, settings --------------------------------------------------------------------------------------

    def whole(self, what: str, least: int = 0) -> int:
        """Read a whole number."""
        self.done()
        at, word = self.at, self.take(WORD)
        digits = word.replace("\u2212", "-").removeprefix("-" if least < 0 else "")
        if not (digits.isascii() and digits.isdigit()) or re.match(r",\d", self.text[self.at :]):
            raise self.error(f"{self.rest(at)} is no number of {what}", "digits alone", at)
        digits = digits.lstrip("0") or "0"
        if len(digits) > 16 or int(digits) > events.MOST_POINTS:
            raise self.error(f"too large a number of {what}", f"at most {events.MOST_POINTS}", at)
        return int(digits) if word[0].isdigit() else -int(digits)

    def faces(self, most: int = dice.MOST) -> Dice:
        """Read dice."""
        self.done()
        at, word = self.at, self.take(WORD)
        wrong = next((place for place, face in enumerate(word) if face not in "123456"), None)
        if not word:
            raise self.error(f"{self.rest()} where dice are due" if self.text[at:] else "dice are missing", at=at)
        if wrong is not None:
            raise self.error(
                f"{word[wrong]!r} is no die", "dice are digits 1 to 6, and points stand after =", at + wrong
            )
        if len(word) > most:
            raise self.error(f"{len(word)} dice given", f"1 to {most} dice", at)
        return tuple(map(int, word))

    def amounts(self, value: Callable[[], Any]) -> Iterator[tuple[str, bool, Any]]:
        """Read NAME=VALUE, several of them, with commas or blanks between; tell of each whether it stood in quotes."""
        seen: set[str] = set()
        while not self.done():
            at = self.at
            name, quoted = self.name("=,")
            if not self.sign("="):
                raise self.error(f"{name[:64]} has no value", at=at)
            if name in seen:
                raise self.error(f"{name[:64]} stands twice", "once", at)
            seen.add(name)
            yield name, quoted, value()
            self.sign(",")

    def settings(self, rules: Ruleset, words: tuple[str, ...] = ()) -> tuple[dict[str, Value], set[str]]:
        """Read KEY=VALUE, several of them, and single words among them; `name` is that of the ruleset itself."""
        changes: dict[str, Value] = {}
        said: set[str] = set()
        while not self.done():
            at, key = self.at, self.take(KEY)
            if key.lower() in words and not self.sign("="):
                said.add(key.lower())
            elif not key or not self.sign("="):
                raise self.error(f"{self.rest(at)} gives no value", "KEY=VALUE", at)
            elif key in changes:
                raise self.error(f"{key} stands twice", "once", at)
            else:
                changes[key] = self._setting(key, at, rules)
            self.sign(",")
        return changes, said

    def _setting(self, key: str, at: int, rules: Ruleset) -> Value:
        self.done()
        value = self.quoted() if key == "name" else None
        if value is None:
            value = self.take(_VALUE).removesuffix(",")
        with self.telling(at):
            if key == "name":
                if not 1 <= len(value) <= 64:
                    raise UsageError("the name of the rules is empty or too long", "1 to 64 characters")
                return value
            return parse_change(f"{key}={value}", rules)[1]
