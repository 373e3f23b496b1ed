"""Odds: this module counts the exact chances of a throw by going through every set of dice that it can show."""

from fractions import Fraction

from tenklog.dice import sets, throws
from tenklog.state import Position, Turn

_THROWS = {count: [dice for dice in sets() if len(dice) == count] for count in range(1, 7)}


def bust_chance(position: Position, turn: Turn) -> Fraction:
    """Return the chance that the next throw of a turn loses it, a wipeout included."""
    return Fraction(losing_throws(position, turn), 6**turn.dice_left)


def losing_throws(position: Position, turn: Turn) -> int:
    """Count which of the 6**N ordered throws of the N dice to be thrown next lose the turn, wipeouts included.

    No bust: a blank throw that counts, and a last die that scores nothing but may be thrown again.
    """
    rules, table, count = position.rules, position.table, turn.dice_left
    fresh = count == rules.dice
    excused = rules.blank_throw > 0 if fresh else count == 1 and turn.tries + 1 < rules.last_die_rolls
    kept, worth = (turn.kept, turn.worth) if rules.build_on_kept and not fresh else ((), 0)
    key = (count, excused, kept, worth)
    found = table.busts.get(key)
    if found is None:
        found = 0
        for dice in _THROWS[count]:
            verdict = table.look(dice)[1]
            if verdict in ("score", "nothing") and kept:
                verdict = "score" if table.keeps(dice, kept, worth) else "nothing"
            if verdict == "wipeout" or (verdict == "nothing" and not excused):
                found += throws(dice)
        table.busts[key] = found
    return found
