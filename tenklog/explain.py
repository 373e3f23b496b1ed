"""Explain: this module puts a divergence of a replay into a sentence that a player understands, with dice and points.

The first half says what happened at the table and what these rules make of it; `end` adds how the turn ends here. The
names are given, for players may be called otherwise here. No sentence has its full stop yet.
"""

from typing import Literal, Protocol

from tenklog import events, state
from tenklog.dice import Dice, minus, write
from tenklog.narrate import joined, points
from tenklog.state import Ended, Position, Turn, count_dice

Last = Literal["bank", "bust", "void"]
STOPPED = "; the replay stops there"


class Step(Protocol):
    """A recorded event with the positions before and after it."""

    @property
    def event(self) -> events.AnyEvent: ...  # noqa: D102
    @property
    def before(self) -> Position: ...  # noqa: D102
    @property
    def after(self) -> Position: ...  # noqa: D102


_TURNS = {"bust": "bust", "wiped-out": "wipeout", "scoreless": "turn of 0 points", "won": "winning throw"}


def absent(who: str, there: Ended | None, instead: str | None) -> str:
    """Say why a recorded turn has no place here: it is the turn of somebody else (`instead`), or the game was over."""
    turn = "unfinished turn" if there is None else _TURNS.get(there.outcome, f"turn of {points(there.posted)}")
    why = "the game was over before it" if instead is None else f"it was {instead}'s turn"
    return f"{who}'s {turn} never happened: by these rules {why}"


def dropped(event: events.Join | events.Leave | events.Rename | events.Abandon, who: str | None, why: str) -> str:
    """Say why somebody did not join, leave or change the name here."""
    match event:
        case events.Join():
            what = f"{who} did not join"
        case events.Leave():
            what = f"{who} did not leave"
        case events.Rename():
            what = f"{event.player} was not renamed to {event.to}"
        case _:
            what = "The game was not abandoned"
    return f"{what}: by these rules {why}"


def must_bank(who: str) -> str:
    """Say that the bank is forced here."""
    return f"{who} threw on with all dice set aside, but by these rules one must bank then"


def dice_differ(who: str, event: events.Roll, turn: Turn) -> str:
    """Say that another number of dice would be thrown here."""
    thrown, due = count_dice(len(event.dice)), count_dice(turn.dice_left)
    return f"{who} threw {thrown} ({write(event.dice)}), but by these rules it is {due}"


def wins_here(who: str, event: events.Roll) -> str:
    """Say that a roll wins the game here."""
    return f"{who}'s {write(event.dice)} wins the game at once by these rules"


def roll_busts(who: str, event: events.Roll, here: Position) -> str:
    """Say that a roll that was played on with loses here."""
    return f"{who} threw {write(event.dice)} and went on, but by these rules {_scores(here, ())}"


def scores_otherwise(who: str, step: Step, event: events.Roll, here: Position, keep: Dice) -> str:
    """Say that a roll that won or scored nothing is something else here; `keep` is its best keep here."""
    before, after = step.before.turn, step.after.turn
    assert before is not None
    roll = write(event.dice)
    if after is None:
        what = f"{who}'s {roll} won the game at once"
    elif after.phase == "kept":
        what = f"{who}'s {roll} was a blank throw for {points(after.points - before.points)}"
    elif after.phase == "to-roll":
        what = f"{who}'s {roll} scored nothing and was thrown again"
    elif step.before.table.look(event.dice)[1] == "wipeout":
        what = f"{who}'s {roll} wiped the total out"
    else:
        what = f"{who}'s {roll} was a bust"
    return f"{what}, but by these rules {_scores(here, keep)}"


def _scores(here: Position, keep: Dice) -> str:
    turn = here.turn
    assert turn is not None
    if turn.phase == "busted":
        wiped = here.table.look(turn.roll)[1] == "wipeout"
        return "it wipes the total out" if wiped else "nothing of it scores and it is a bust"
    if turn.phase == "to-roll":
        return "it scores nothing and that last die is thrown again"
    if turn.phase == "kept":
        return f"nothing of it scores, and as a blank throw it counts {points(here.rules.blank_throw)}"
    worth = points(state.keeps(here, turn)[keep])
    return f"it scores {worth}" if len(keep) == len(turn.roll) else f"{write(keep)} of it can be kept for {worth}"


def keep_illegal(who: str, step: Step, event: events.Keep, here: Position, keep: Dice) -> str:
    """Say why a keep is not legal here, and what is kept instead."""
    turn, before, after = here.turn, step.before.turn, step.after.turn
    assert turn is not None
    assert before is not None
    assert after is not None
    roll = "" if len(event.dice) == len(turn.roll) else f" of {write(turn.roll)}"
    what = f"{who} kept {write(event.dice)}{roll} for {points(after.points - before.points)}"
    if not keep:
        return f"{what}, but by these rules {_scores(here, ())}"
    worth = points(state.keeps(here, turn)[keep])
    if minus(event.dice, keep) is not None:
        return f"{what}, but by these rules only {write(keep)} of that can be kept, for {worth}"
    return f"{what}, but by these rules that is no keep and {write(keep)} is the best one, for {worth}"


def must_roll(who: str, turn: Turn, ban: str) -> str:
    """Say why stopping is not legal here."""
    return f"{who} stopped at {points(turn.points)}, but by these rules the turn must go on: {ban}"


def ability(who: str, step: Step, opponent: str | None, why: str) -> str:
    """Say why a steal, or the challenge of an opponent, is none here."""
    what = f"{who} challenged {opponent}"
    if opponent is None:
        assert step.after.turn is not None
        what = f"{who} took over {count_dice(step.after.turn.dice_left)} and {points(step.after.turn.points)}"
    return f"{what}, but by these rules that is not possible: {why}; the turn is played without it"


def posts(who: str, there: Ended, here: Ended, why: str) -> str:
    """Say that a turn whose every decision was taken over posts something else; `why` it posts 0 here."""
    sheet = not there.turn.rolls
    what = f"{who} {'wrote down' if sheet else 'banked'} {points(there.turn.points)}"
    if there.turn.points != there.posted:
        what += f", which posted {there.posted}"
    worth = "" if here.turn.points == there.turn.points else f" the turn is worth {here.turn.points} and"
    return f"{what}, but by these rules{worth or ' it'} posts {here.posted}{_being(why)}{_cost(here)}"


def _being(why: str) -> str:
    return f", being {why}" if why else ""


def _cost(ended: Ended) -> str:
    return f"; it costs {points(-ended.change)}" if not ended.posted and ended.change else ""


def played(ended: Ended | None) -> str:
    """Say how a turn ended that was played on with other dice, in a sample."""
    if ended is None:
        return "; played on, it went on"
    how = {"bust": "bust", "wiped-out": "was wiped out", "won": "won the game"}.get(ended.outcome)
    return f"; played on with other dice, it {how or f'banked {points(ended.posted)}'} in this sample"


def end(last: Last, ended: Ended, why: str) -> str:
    """Say how a turn ends here; `why` it can't be banked, or posts 0."""
    if last == "bank":
        zero = " and posts 0" if why else ""
        return f"; the turn is banked with {points(ended.turn.points)}{zero}{_being(why)}{_cost(ended)}"
    if last == "void":
        ban = f" can't be banked, for {why}, and" if why else ""
        return f"; the turn{ban} is settled at 0{_cost(ended)}"
    parts = []
    if ended.turn.points:
        parts.append(f"the turn's {points(ended.turn.points)} are lost")
    if ended.outcome == "wiped-out":
        parts.append(f"the total is {ended.total}")
    elif ended.change:
        parts.append(f"it costs {points(-ended.change)}")
    return "; " + joined(parts) if parts else ""
