"""Totals: this module finds out which points a turn can end with, from what every throw can bring.

It asks the same chances as the odds do, so a new combination or setting needs nothing here. Minimums, topping and all
that depends on the game rather than the dice are the fold's.
"""

from functools import lru_cache

from msgspec import json
from msgspec.structs import replace

from tenklog import state
from tenklog.chances import Chances, Node
from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.state import opening

MOST_STEPS = 20_000  # ways through a turn under one ruleset; above it, under a few odd ones, every total passes


def turn_totals(rules: Ruleset, most: int) -> frozenset[int] | None:
    """Return every number of points up to `most` that a turn of dice can bank; None where there are too many ways."""
    free = replace(
        rules, name="totals", opening_minimum=0, bank_minimum=0, must_beat_previous=False, target=1_000_000,
        reach="at-least", last_turns="none", tie="shared", bust_penalty=0, streak_length=0, streak_penalty=0,
        negative_totals=True, challenge_split=0, challenge_penalties=(0, 0), steal="off",
    )  # fmt: skip
    return _totals(json.encode(free), -(-most // 10_000) * 10_000)


@lru_cache(maxsize=256)
def _totals(encoded: bytes, most: int) -> frozenset[int] | None:
    rules = json.decode(encoded, type=Ruleset)
    chances = Chances.of(Table.of(rules))
    position = opening(("",), rules)
    within = (1 << most + 1) - 1
    # The points with which each node can be reached, a bit for each.
    reached = {Node(rules.dice): 1}
    banked = steps = 0
    waiting = [Node(rules.dice)]
    while waiting:
        at = waiting.pop()
        points = reached[at]
        ways = {(one.after, one.points) for choices in chances.throw(at).choices.values() for one in choices}
        steps += len(ways)
        if steps > MOST_STEPS:
            return None
        for after, gain in ways:
            new = (points << gain) & within & ~reached.get(after, 0)
            if not new:
                continue
            turn = after.turn(0, gain)
            if not after.must_throw and (state.must_bank(position, turn) or not state.bank_ban(position, turn)[0]):
                banked |= new
            if not state.must_bank(position, turn):
                reached[after] = reached.get(after, 0) | new
                if after not in waiting:
                    waiting.append(after)
    return frozenset(number for number in range(most + 1) if banked >> number & 1)
