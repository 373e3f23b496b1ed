"""Odds: this module tells the exact odds of a throw under a ruleset, and how the best turn is played.

What belongs to the table rather than to one turn is not in the numbers, and named in notes.
"""

from math import gcd

from msgspec import Struct
from msgspec.structs import replace

from tenklog.chances import Chances, Node
from tenklog.dice import throws
from tenklog.policy import best_policy
from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.state import Position, Seat, Turn


class DiceOdds(Struct, frozen=True):
    """The odds of throwing some dice: chances as numbers from 0 to 1 and as fractions, points as numbers and fractions.

    `bust` is the chance to lose the turn by it (a last die that may be thrown again included), `hot` that all dice can
    be set aside; `expected_best` counts the most points that one throw can add, and 0 where it loses.
    """

    dice: int
    bust: float
    bust_exact: str
    hot: float
    hot_exact: str
    expected_best: float
    expected_best_exact: str


class Odds(Struct, frozen=True):
    """The odds under one ruleset, and the best turn: what it is worth in expected points, and how to play it.

    `bank_at` says for each number of dice left from how many points on to bank, null for never.
    """

    rules: str
    opening: bool
    minimum: int
    dice: list[DiceOdds]
    turn_value: float
    bank_at: dict[str, int | None]
    notes: list[str]


def fraction(over: int, under: int) -> str:
    """Write an exact fraction in lowest terms."""
    shared = gcd(over, under)
    return str(over // under) if under == shared else f"{over // shared}/{under // shared}"


def dice_odds(chances: Chances, count: int) -> DiceOdds:
    """Return the odds of throwing some dice, with nothing kept that could be built on."""
    at: Node | None = Node(count, count == chances.rules.dice)
    lost = hot = best = 0
    reached = total = 1  # of all ordered rows of throws, how many come to this throw
    while at is not None:
        throw, at = chances.throw(at), None
        total, lost, hot, best = (one * throw.total for one in (total, lost, hot, best))
        lost += reached * throw.lost
        again = 0
        for dice, choices in throw.choices.items():
            weight = reached * throws(dice)
            if not choices[0].points:  # a last die that scores nothing and is thrown once more
                again, at = again + weight, choices[0].after
                continue
            best += weight * max(one.points for one in choices)
            hot += weight * any(one.after.dice_left == chances.rules.dice for one in choices)
        reached = again
    return DiceOdds(
        dice=count,
        bust=lost / total,
        bust_exact=fraction(lost, total),
        hot=hot / total,
        hot_exact=fraction(hot, total),
        expected_best=best / total,
        expected_best_exact=fraction(best, total),
    )


def odds(rules: Ruleset, opening: bool = False) -> Odds:
    """Return the odds under a ruleset and its best turn, for a player who has opened or, with `opening`, has not."""
    table = Table.of(rules)
    seat = Seat("", opened=not opening)
    far = replace(rules, reach="at-least", must_beat_previous=False)
    position = Position(far, table, (seat,), Turn(0, rules.dice))
    best = best_policy(position)
    counts = range(1, rules.dice + 1)
    return Odds(
        rules=rules.name,
        opening=opening,
        minimum=rules.opening_minimum if opening else rules.bank_minimum,
        dice=[dice_odds(best.chances, count) for count in counts],
        turn_value=best.value(0, Node(rules.dice)),
        bank_at={str(count): best.bank_at(count) for count in counts},
        notes=notes(rules),
    )


def notes(rules: Ruleset) -> list[str]:
    """Say what of a ruleset is not in the numbers of one turn, setting by setting."""
    said = []
    if rules.must_beat_previous:
        said.append("must_beat_previous: the turn before is the table's; here there is none to beat.")
    if rules.steal != "off":
        said.append("steal: stolen dice are the table's; this is a turn with dice of one's own.")
    if rules.challenge_split:
        said.append("challenge_split: challenges are the table's; this is a turn without one.")
    if rules.reach == "exactly":
        said.append("reach exactly: this is a turn far from the target; `tenklog advise` knows the distance.")
    if rules.streak_length and rules.streak_penalty:
        said.append("streak_penalty: what a row of turns costs is not in the points of one.")
    if rules.wipeout is not None:
        said.append("wipeout: counts as a bust; the total that it takes is not in the points of a turn.")
    if rules.instant_win is not None:
        said.append("instant_win: ends the turn with 0 points; that it wins the game is not in the points of a turn.")
    if rules.bust_penalty:
        said.append(
            f"bust_penalty: a bust counts as -{rules.bust_penalty} points"
            + ("." if rules.negative_totals else ", whatever the total is.")
        )
    if rules.build_on_kept:
        said.append("build_on_kept: the odds are those with nothing kept to build on; bank_at holds whatever was kept.")
    if rules.last_die_rolls > 1:
        said.append(f"last_die_rolls: the odds of 1 die are those of up to {rules.last_die_rolls} throws of it.")
    return said
