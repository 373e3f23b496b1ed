"""Totals: this module finds out which points a turn can end with, and what a lost one can cost.

For points it asks the same chances as the odds do, for losses the fold, so a new combination or setting needs nothing
here. Minimums, topping and all that depends on the game rather than the dice are the fold's.
"""

from functools import lru_cache
from math import gcd

from msgspec import json
from msgspec.structs import replace

from tenklog import events, state
from tenklog.chances import Chances, Node
from tenklog.dice import MOST, Dice
from tenklog.rules import LIMIT, Ruleset
from tenklog.scoring import Table
from tenklog.state import Position, opening
from tenklog.turns import play

MOST_POINTS = 20_000  # that are followed throw by throw; beyond them all that have a step in common with these
MOST_WAYS = 20_000  # ways through a turn that are followed; under a few odd rules there are more


def _few(count: int) -> list[Dice]:
    """Return some throws: up to two ones and two fives among dice that are all different."""
    found = []
    for ones in range(min(2, count) + 1):
        for fives in range(min(2, count - ones) + 1):
            rest = count - ones - fives
            if ones + fives and rest <= 4:
                found.append(tuple(sorted((*[1] * ones, *[5] * fives, *(2, 3, 4, 6)[:rest]))))
    return found


# Nearly every total can be made with these, and to look at them alone is much faster.
FEW = {count: _few(count) for count in range(1, MOST + 1)}


class TurnTotals:
    """The numbers of points that a turn of dice can bank under some rules."""

    def __init__(self, rules: Ruleset) -> None:
        free = replace(
            rules, name="totals", opening_minimum=0, bank_minimum=0, must_beat_previous=False, target=LIMIT,
            reach="at-least", last_turns="none", tie="shared", bust_penalty=0, streak_length=0, streak_penalty=0,
            streak_counts="busts", negative_totals=True, challenge_split=0, challenge_penalties=(0, 0), steal="off",
        )  # fmt: skip
        self._encoded = json.encode(free)
        self._step = step(rules)
        self._found: dict[bool, frozenset[int] | None] = {}

    def __contains__(self, points: int) -> bool:
        """Tell whether dice can make a number of points (from 1); where too much would have to be tried, they can."""
        if points % self._step:
            return False
        for few in (True, False):
            if few not in self._found:
                self._found[few] = _totals(self._encoded, few)
            found = self._found[few]
            if found is None or points in found:
                return True
            if points > MOST_POINTS and max(found, default=0) == MOST_POINTS and points % gcd(*found) == 0:
                return True
        return False


def step(rules: Ruleset) -> int:
    """Return what all points that dice can make are a multiple of; it is not 0, since something scores."""
    values = [one.points for one in rules.scoring.values()]
    factors = [value if isinstance(value, int) else int(value[:-1]) for value in values]
    return gcd(*factors, rules.blank_throw, rules.last_die_bonus, rules.last_die_step)


@lru_cache(maxsize=512)
def _totals(encoded: bytes, few: bool) -> frozenset[int] | None:
    """Return all numbers of points up to the most that a turn can bank, or that a few throws make; None: too many.

    The points with which a node can be reached are the bits of a number.
    """
    rules = json.decode(encoded, type=Ruleset)
    chances = Chances(Table.of(rules), FEW) if few else Chances.of(Table.of(rules))
    position = opening(("",), rules)
    within = (1 << MOST_POINTS + 1) - 1
    reached = {Node(rules.dice): 1}
    waiting = [Node(rules.dice)]
    banked = ways = 0
    while waiting:
        at = waiting.pop(0)
        points = reached[at]
        steps = {(one.after, one.points) for choices in chances.throw(at).choices.values() for one in choices}
        ways += len(steps)
        if ways > MOST_WAYS:
            return frozenset() if few else None
        for after, gain in sorted(steps):  # in the same order each time, as it tells how many ways there are
            turn = after.turn(0, gain)
            forced = state.must_bank(position, turn)
            there = (points << gain) & within
            if not after.must_throw and (forced or not state.bank_ban(position, turn)[0]):
                banked |= there
            if not forced and there & ~reached.get(after, 0):
                reached[after] = reached.get(after, 0) | there
                if after not in waiting:
                    waiting.append(after)
    return frozenset(number for number, bit in enumerate(reversed(f"{banked:b}")) if bit == "1")


# -- lost turns -------------------------------------------------------------------------------------------------------


def losses(rules: Ruleset) -> frozenset[int]:
    """Return what a turn can cost (points below 0) by bust penalties and streaks, as the fold has it."""
    return _losses(json.encode(replace(rules, name="losses", target=LIMIT, negative_totals=True)))


@lru_cache(maxsize=256)
def _losses(encoded: bytes) -> frozenset[int]:
    rules = json.decode(encoded, type=Ruleset)
    found = set()
    bust, nothing = events.Bust(1, player=""), events.Bank(1, player="", points=0)
    length = min(rules.streak_length, 200) or 1
    for turns in ([bust] * length, [nothing] * length, [*[nothing] * (length - 1), bust]):
        position: Position = opening(("",), rules)
        for one in turns:
            position = play(position, one)
            assert position.ended is not None
            found.add(position.ended.change)
    return frozenset(change for change in found if change < 0)


class Changes:
    """What a turn can do to the own total under some rules: points that dice make, or what a lost turn costs."""

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.losses = losses(rules)
        self._totals = TurnTotals(rules)

    def possible(self, change: int, total: int | None = None) -> bool:
        """Tell whether a turn can change the own total so; `total` is the one after it, where it is known."""
        if change >= 0:
            return change == 0 or change in self._totals
        if change in self.losses:
            return True
        # Where no total falls below 0, a loss may cost less than it says.
        return not self.rules.negative_totals and total == 0 and any(change > loss for loss in self.losses)
