"""Odds: this module counts the exact chances of a throw by going through every set of dice that it can show."""

from tenklog.dice import Dice, sets, throws
from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.state import Position, Turn

_THROWS = {count: [dice for dice in sets() if len(dice) == count] for count in range(1, 7)}


def losing_throws(position: Position, turn: Turn) -> int:
    """Count which of the 6**N ordered throws of the N dice to be thrown next lose the turn, wipeouts included.

    No bust: a blank throw that counts, and a last die that scores nothing but may be thrown again.
    """
    rules, table, count = position.rules, position.table, turn.dice_left
    if rules.build_on_kept or rules.last_die_rolls > 1:
        fresh = count == rules.dice
        key = (count, turn.tries + 1 < rules.last_die_rolls, () if fresh else turn.kept, 0 if fresh else turn.worth)
    else:
        key = (count, False, (), 0)
    found = table.busts.get(key)
    if found is None:
        found = table.busts[key] = _count(rules, table, *key)
    return found


def _count(rules: Ruleset, table: Table, count: int, again: bool, kept: Dice, worth: int) -> int:
    """Count the losing throws of some dice, to which others were kept; `again`: a last die may be thrown once more."""
    excused = rules.blank_throw > 0 if count == rules.dice else count == 1 and again
    lost = 0
    for dice in _THROWS[count]:
        verdict = table.look(dice)[1]
        if verdict in ("score", "nothing") and kept and rules.build_on_kept:
            verdict = "score" if table.keeps(dice, kept, worth) else "nothing"
        if verdict == "wipeout" or (verdict == "nothing" and not excused):
            lost += throws(dice)
    return lost
