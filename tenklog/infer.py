"""Infer: this module finds out which rules explain a record, and what it tells of each setting.

Of the settings one at a time is varied, all others as in a ruleset that explains the record. Every value of a list is
tried; of numbers those that tables use, and where two neighbours differ the exact border between them. A range says
that its ends and the values tried inside explain the record (or do not). What no value changes can't be told. On a
sheet a combination without which everything is explained as well can't be told either, and no more of it is tried.
"""

from collections.abc import Iterable
from textwrap import wrap
from typing import Any, Literal, get_args, get_origin

from msgspec import Struct

from tenklog.errors import UsageError
from tenklog.evidence import Contradiction, Record
from tenklog.narrate import joined
from tenklog.render import listing
from tenklog.rules import (
    DEFAULTS,
    LIMIT,
    Combination,
    Pattern,
    Ruleset,
    Value,
    change,
    differences,
    is_off,
    shown,
)

COUNTS = (0, 1, 2, 3, 4, 5, 6, 10, LIMIT)
AMOUNTS = (0, 50, 100, 200, 300, 350, 400, 500, 600, 800, 1000, 1500, 2000, 5000, 10_000, LIMIT)
TARGETS = (1, 1000, 2000, 3000, 4000, 5000, 7500, 10_000, 15_000, 20_000, LIMIT)
PATTERNS = (None, "44", "2222", "AAAA", "AAAAA", "AAAAAA", "AAABBB", "AABBCC")
PENALTIES = ((0, 0), (600, 2000))
_KINDS: dict[str, Any] = Ruleset.__annotations__
COUNTED = ("streak_length", "last_die_rolls")


class Verdict(Struct, frozen=True):
    """Whether a ruleset explains the record, or what contradicts it first."""

    rules: str
    explains: bool
    contradiction: Contradiction | None


class Tried(Struct, frozen=True):
    """Values of a setting (one, or a range `1001 to 10000`) that the record contradicts, and where, for one of them."""

    value: str
    contradiction: Contradiction


class Setting(Struct, frozen=True):
    """A setting or combination of which the record tells something: which values explain it, and which do not."""

    key: str
    explains: list[str]
    contradicted: list[Tried]


class Inference(Struct, frozen=True):
    """Which rules explain a record. `base` is the ruleset of which single settings were varied.

    `settings` are those of which the record tells something, `untold` those of which it tells nothing. Where the base
    does not explain the record itself, `settings` has only those of which some value would explain it.
    """

    game: str
    kind: Literal["log", "sheet"]
    rulesets: list[Verdict]
    base: str
    settings: list[Setting]
    untold: list[str]


# -- what explains it -------------------------------------------------------------------------------------------------


def infer(
    name: str, record: Record, rulesets: Iterable[Ruleset], base: Ruleset | None = None
) -> Inference:  # fmt: skip
    """Return which of some rulesets explain a record, and what it tells of each setting.

    Without a `base` settings are varied from the first ruleset that explains the record, else from the one that does
    longest.
    """
    verdicts = []
    known = list(rulesets)
    for rules in known:
        wrong = record.contradiction(rules)
        verdicts.append(Verdict(rules.name, wrong is None, wrong))
    if base is None:
        # Where several do equally well, the one that a game has when nobody says otherwise.
        base = max(zip(known, verdicts, strict=True), key=lambda one: (_reach(one[1]), one[0].name == "tiotusen"))[0]
    trials = Trials(record, base, known)
    told, untold = [], []
    explains = trials(None, None) is None
    for key in [*DEFAULTS, *base.scoring]:
        found = trials.setting(key)
        if found.contradicted and found.explains:
            told.append(found)
        elif not found.contradicted and explains:
            untold.append(key)
    return Inference(name, record.kind, verdicts, base.name, told, untold)


def _reach(verdict: Verdict) -> int:
    """Return how far a ruleset explains a record."""
    wrong = verdict.contradiction
    return LIMIT * 2 if wrong is None else wrong.seq or (wrong.round or 0)


Span = tuple[Any, Any, Contradiction | None]  # first and last value, and what contradicts one of them


class Trials:
    """Tries values of single settings on a record."""

    def __init__(self, record: Record, base: Ruleset, known: list[Ruleset]) -> None:
        self.record = record
        self.base = base
        self.known = known
        self.count = 0
        self._own: Contradiction | Literal["open"] | None = "open"

    def __call__(self, key: str | None, value: Value) -> Contradiction | None:
        """Return what contradicts the base with one setting changed; raise UsageError for what nobody can play."""
        if key is None or self._now(key) == value:
            if self._own == "open":
                self._own = self.record.contradiction(self.base)
            return self._own
        rules = change(self.base, {key: value})
        self.count += 1
        return self.record.contradiction(rules)

    def _now(self, key: str) -> Value:
        found: Value = getattr(self.base, key) if key in DEFAULTS else self.base.scoring[key]
        return found

    def setting(self, key: str) -> Setting:
        """Find out which values of a setting or combination explain the record."""
        if key not in DEFAULTS:
            spans = self._each(key, self._combinations(key))
        elif isinstance(DEFAULTS[key], bool):
            spans = self._each(key, (False, True))
        elif get_origin(kind := _KINDS[key]) is Literal:
            spans = self._each(key, get_args(kind))
        elif kind == Pattern | None:
            spans = self._each(key, dict.fromkeys((self._now(key), *PATTERNS)))
        elif key == "challenge_penalties":
            spans = self._each(key, dict.fromkeys((self._now(key), *PENALTIES)))
        else:
            spans = self._numbers(key)
        explains = [_written(low, high) for low, high, wrong in spans if wrong is None]
        return Setting(key, explains, [Tried(_written(low, high), wrong) for low, high, wrong in spans if wrong])

    def _combinations(self, key: str) -> list[Value]:
        """Return what a combination may be worth: what it is, nothing, and what it is in other rulesets."""
        now = self.base.scoring[key]
        values: list[Value] = [now]
        if not is_off(now):
            values.append(Combination(now.dice, 0))
        if not self.record.dice:
            try:
                if is_off(now) or self(key, values[1]) is None:
                    return [now]
            except UsageError:
                return [now]
        values += [one.scoring[key] for one in self.known if key in one.scoring and not is_off(one.scoring[key])]
        return list(dict.fromkeys(values))

    def _each(self, key: str, values: Iterable[Value]) -> list[Span]:
        spans: list[Span] = []
        for value in values:
            try:
                spans.append((value, value, self(key, value)))
            except UsageError:
                continue
        return spans

    def _numbers(self, key: str) -> list[Span]:
        """Try numbers, and find the borders between those that explain the record and those that do not."""
        ladder = COUNTS if key in COUNTED else TARGETS if key == "target" else AMOUNTS
        numbers = {*ladder, *(getattr(one, key) for one in self.known), self._now(key), *self.record.amounts()}
        tried = self._each(key, sorted(numbers - ({0} if key in ("target", "last_die_rolls") else set())))
        spans: list[Span] = []
        for value, _, wrong in tried:
            first = value
            if spans:
                low, high, before = spans[-1]
                if (before is None) == (wrong is None):
                    spans[-1] = (low, value, before)
                    continue
                high, first, wrong = self._border(key, high, value, wrong)  # noqa: PLW2901
                spans[-1] = (low, high, before)
            spans.append((first, value, wrong))
        return spans

    def _border(
        self, key: str, low: int, high: int, wrong: Contradiction | None
    ) -> tuple[int, int, Contradiction | None]:
        """Return the last number that is judged as the low one, the first as the high one, and what contradicts it."""
        explains = wrong is None
        while high - low > 1:
            middle = (low + high) // 2
            try:
                found = self(key, middle)
            except UsageError:
                break
            if (found is None) == explains:
                high, wrong = middle, found
            else:
                low = middle
        return low, high, wrong


def _written(low: Value, high: Value) -> str:
    return shown(low) if low == high else f"{shown(low)} to {shown(high)}"


# -- in words ---------------------------------------------------------------------------------------------------------


def rows(found: Inference) -> list[dict[str, object]]:
    """Return a row for each ruleset and each value of a setting."""
    made: list[dict[str, object]] = []

    def add(kind: str, name: str, value: str | None, wrong: Contradiction | None) -> None:
        place, why = (wrong.place, wrong.text) if wrong else (None, None)
        made.append({"kind": kind, "name": name, "value": value, "explains": wrong is None, "place": place, "why": why})

    for verdict in found.rulesets:
        add("ruleset", verdict.rules, None, verdict.contradiction)
    for setting in found.settings:
        for value in setting.explains:
            add("setting", setting.key, value, None)
        for tried in setting.contradicted:
            add("setting", setting.key, tried.value, tried.contradiction)
    return made


def story(found: Inference) -> str:
    """Say for people what was found."""
    good = [one.rules for one in found.rulesets if one.explains]
    by = joined(good) if good else "none"
    lines = [f"{found.game}: {len(good)} of {len(found.rulesets)} rulesets {_explain(len(good))} it: {by}."]
    wrong = [
        [one.rules, one.contradiction.place, one.contradiction.text] for one in found.rulesets if one.contradiction
    ]
    if wrong:
        lines += ["", "What first contradicts the others:", listing(wrong, 110)]
    if found.settings:
        lines += ["", f"Other values of single settings, the rest as in {found.base}:"]
        lines += [listing([[one.key, "; ".join(one.explains), _not(one)] for one in found.settings], 110)]
    elif not found.untold:
        lines += ["", f"No other value of a single setting of {found.base} explains it."]
    if found.untold:
        lines += ["", *wrap(f"Can't be told: {', '.join(found.untold)}.", 110)]
    return "\n".join(lines)


def _explain(count: int) -> str:
    return "explains" if count == 1 else "explain"


def _not(setting: Setting) -> str:
    return "not " + ", ".join(f"{one.value} ({one.contradiction.place})" for one in setting.contradicted)


def same(rules: Ruleset, others: Iterable[Ruleset]) -> bool:
    """Tell whether some ruleset is another one under any name."""
    return any(not differences(rules, other) for other in others)
