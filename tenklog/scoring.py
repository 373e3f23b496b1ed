"""Scoring: this module turns a ruleset's patterns into the points of a set of dice and the legal keeps of a roll.

It knows single rolls (and dice kept before, for `build_on_kept`), never turns or players. What it returns depends on
the set of dice alone, never on their order. Each answer is computed when first asked for and then remembered.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Literal

from msgspec import Struct, json

from tenklog.dice import Dice, contains, matches, minus, parts
from tenklog.rules import Combination, Ruleset, is_off

Verdict = Literal["win", "wipeout", "score", "nothing"]


class Part(Struct, frozen=True):
    """One combination of a partition: its name, its dice (ascending), its points."""

    name: str
    dice: Dice
    points: int


class Keep(Struct, frozen=True):
    """Dice set aside from one roll (ascending) and the points they add."""

    dice: Dice
    points: int


class Table:
    """The score table of one ruleset. Use `Table.of`, which shares tables between games of the same rules."""

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        on = {name: one for name, one in rules.scoring.items() if not is_off(one)}
        judged = (rules.set_aside, rules.build_on_kept, rules.wipeout, rules.instant_win)
        found = _found(json.encode((on, rules.dice)), judged)
        self._parts, self._partitions, self._keeps, self._looks = found

    @staticmethod
    def of(rules: Ruleset) -> "Table":
        """Return the table of a ruleset; rulesets with equal content share one."""
        return _table(json.encode(rules))

    def partition(self, dice: Dice) -> tuple[int, tuple[Part, ...]] | None:
        """Return points and combinations of the best partition of all these dice; None when a die is left over.

        Of equal partitions it is one with the fewest combinations.
        """
        if dice not in self._partitions:
            best = None
            # Whatever covers the smallest die starts with it.
            for part in self._parts[dice[0]]:
                rest = minus(dice, part.dice)
                after = None if rest is None else self.partition(rest)
                if after is not None:
                    found = (after[0] + part.points, (part, *after[1]))
                    if best is None or (found[0], -len(found[1])) > (best[0], -len(best[1])):
                        best = found
            self._partitions[dice] = best
        return self._partitions[dice]

    def points(self, dice: Dice) -> int | None:
        """Return the points of a set of dice kept together; None when a die scores nothing."""
        found = self.partition(dice)
        return None if found is None else found[0]

    def _split(self, dice: Dice, points: int, most: int) -> Iterator[tuple[Part, ...]]:
        if not dice and points == 0:
            yield ()
        if not dice or most == 0:
            return
        for part in self._parts[dice[0]]:
            rest = minus(dice, part.dice)
            if rest is not None and part.points <= points:
                for after in self._split(rest, points - part.points, most - 1):
                    yield (part, *after)

    def asides(self, dice: Dice) -> list[Dice]:
        """Return what may leave the table under `one-per-combination` for a keep: one die of each combination.

        Every best partition with the fewest combinations counts; the smallest choice comes first.
        """
        best = self.partition(dice)
        if best is None:
            return []
        split = self._split(dice, best[0], len(best[1]))
        return sorted(
            {tuple(sorted(choice)) for parts_ in split for choice in product(*(part.dice for part in parts_))}
        )

    def aside(self, dice: Dice) -> Dice | None:
        """Return what leaves the table by default for a legal keep; None where that is not to be said."""
        return self.asides(dice)[0] if self.rules.set_aside == "one-per-combination" else None

    def keeps(self, roll: Dice, kept: Dice = (), worth: int = 0) -> Mapping[Dice, int]:
        """Return every legal keep of a roll (ascending) with the points it adds, small keeps first.

        `kept` and `worth` (points) are the dice kept since the last fresh throw and what they count; they matter under
        `build_on_kept` alone.
        """
        if not self.rules.build_on_kept:
            kept, worth = (), 0
        key = (roll, kept, worth)
        found = self._keeps.get(key)
        if found is None:
            found = self._keeps[key] = self._find_keeps(roll, kept, worth)
        return found

    def _find_keeps(self, roll: Dice, kept: Dice, worth: int) -> dict[Dice, int]:
        found = {}
        for part in parts(roll):
            total = self.points(tuple(sorted((*kept, *part))) if kept else part)
            if total is not None and total > worth:
                found[part] = total - worth
        if found and self.rules.set_aside != "any":
            if self.rules.set_aside == "all":
                most = max(map(len, found))
                points = max(gain for dice, gain in found.items() if len(dice) == most)
                return {dice: gain for dice, gain in found.items() if len(dice) == most and gain == points}
            best = best_keep(found)
            return {best.dice: best.points}
        return found

    def look(self, throw: Dice) -> tuple[Dice, Verdict, Mapping[Dice, int]]:
        """Return a throw's set of dice, and what it is on a bare table: a win, a wipeout, a score or nothing.

        Third come its legal keeps there, as `keeps` gives them.
        """
        roll = tuple(sorted(throw))  # to remember all throws, fifty times as many, would take longer than to sort one
        seen = self._looks.get(roll)
        if seen is None:
            keeps = self.keeps(roll)
            verdict: Verdict = "nothing"
            if self.rules.instant_win is not None and contains(roll, self.rules.instant_win):
                verdict = "win"
            elif self.rules.wipeout is not None and contains(roll, self.rules.wipeout):
                verdict = "wipeout"
            elif keeps:
                verdict = "score"
            seen = self._looks[roll] = (roll, verdict, keeps)
        return seen


def best_keep(keeps: Mapping[Dice, int]) -> Keep:
    """Return the best of some keeps: most points, then most dice, then the smallest dice."""
    dice = min(keeps, key=lambda dice: (-keeps[dice], -len(dice), dice))
    return Keep(dice, keeps[dice])


_Partitions = dict[Dice, tuple[int, tuple[Part, ...]] | None]
_Keeps = dict[tuple[Dice, Dice, int], dict[Dice, int]]
_Looks = dict[Dice, tuple[Dice, Verdict, Mapping[Dice, int]]]


@lru_cache(maxsize=256)
def _found(scores: bytes, judged: tuple[object, ...]) -> tuple[dict[int, list[Part]], _Partitions, _Keeps, _Looks]:
    """Return what the tables of all rulesets that score alike have found out: many differ in other settings alone."""
    scoring, most = json.decode(scores, type=tuple[dict[str, Combination], int])
    best: dict[Dice, Part] = {}
    for name, combination in scoring.items():
        if len(combination.dice) > most:
            continue
        value = combination.points
        for dice, faces in _matches(combination.dice):
            points = value if isinstance(value, int) else int(value[:-1]) * faces[value[-1]]
            if dice not in best or points > best[dice].points:
                best[dice] = Part(name, dice, points)
    parts_: dict[int, list[Part]] = {face: [] for face in range(1, 7)}
    for dice, part in best.items():
        parts_[dice[0]].append(part)
    return parts_, {(): (0, ())}, {}, {}


@lru_cache(maxsize=256)
def _matches(pattern: str) -> tuple[tuple[Dice, dict[str, int]], ...]:
    return tuple(matches(pattern))


@lru_cache(maxsize=256)
def _table(encoded: bytes) -> Table:
    return Table(json.decode(encoded, type=Ruleset))
