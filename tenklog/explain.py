"""Explain: this module puts a divergence of a replay into a sentence that a player understands, with dice and points."""

from typing import Protocol

from tenklog import events, turns
from tenklog.dice import write
from tenklog.narrate import dice, points
from tenklog.turns import Ended, Position, Turn


class Step(Protocol):
    """A recorded event with the positions before and after it."""

    @property
    def before(self) -> Position: ...  # noqa: D102
    @property
    def after(self) -> Position: ...  # noqa: D102


def _who(position: Position) -> str:
    assert position.turn is not None
    return position.seats[position.turn.seat].player


def absent(there: Position, here: Position) -> str:
    """Say why a recorded turn has no place here."""
    player = _who(there)
    if here.turn is None:
        return f"{player}'s turn never happened: the game was over before it."
    return f"{player}'s turn never happened: here it is {_who(here)}'s turn."


def dropped(event: events.Join | events.Leave | events.Rename | events.Abandon, why: str) -> str:
    """Say why somebody did not join, leave or change the name here."""
    match event:
        case events.Join():
            what = f"{event.player} does not join"
        case events.Leave():
            what = f"{event.player} does not leave"
        case events.Rename():
            what = f"{event.player} is not renamed"
        case _:
            what = "The game is not abandoned"
    return f"{what} here: {why}."


def must_bank(there: Position, turn: Turn) -> str:
    """Say that the bank is forced here."""
    return f"{_who(there)} threw on, but with all dice set aside the {points(turn.points)} must be banked here"


def dice_differ(there: Position, event: events.Roll, turn: Turn) -> str:
    """Say that another number of dice would be thrown here."""
    thrown = dice(len(event.dice))
    return f"{_who(there)} threw {thrown} ({write(event.dice)}), but {turn.dice_left} are to be thrown here"


def wins_here(there: Position, event: events.Roll) -> str:
    """Say that a roll wins the game here."""
    return f"{_who(there)}'s {write(event.dice)} wins the game at once here"


def no_win(there: Position, event: events.Roll, here: Position) -> str:
    """Say that an instant win is none here."""
    return f"{_who(there)}'s {write(event.dice)} won the game at once, but here it {_scores(here)}"


def _scores(here: Position) -> str:
    turn = here.turn
    assert turn is not None
    if turn.phase == "busted":
        return "loses"
    if turn.phase == "to-roll":
        return "may be thrown again"
    if turn.phase == "kept":
        return f"counts {here.rules.blank_throw} as a blank throw"
    return f"scores (keep {turns.keep_words(here, turn, 1)})"


def roll_busts(step: Step, event: events.Roll, turn: Turn, here: Position) -> str:
    """Say that a roll that was played on with loses here."""
    lost = f" and loses {points(turn.points)}" if turn.points else ""
    how = "wipes the total out" if here.table.look(event.dice)[1] == "wipeout" else "is a bust"
    return f"{_who(step.before)} played on with {write(event.dice)}, but here that {how}{lost}"


def bust_scores(step: Step, event: events.Roll, here: Position) -> str:
    """Say that a roll that scored nothing scores here."""
    there = step.after.turn
    was = "a bust" if there is not None and there.phase == "busted" else "no score"
    return f"{write(event.dice)} was {was} for {_who(step.before)}, but here it {_scores(here)}"


def keep_illegal(there: Position, event: events.Keep, here: Position) -> str:
    """Say why a keep is not legal here."""
    turn = here.turn
    assert turn is not None
    asked = write(event.dice)
    kept = f"{_who(there)} kept {asked}"
    if turn.phase != "rolled":
        return f"{kept}, but here {write(turn.roll)} {_scores(here)} and nothing is kept of it"
    legal = turns.keep_words(here, turn, 3)
    return f"{kept} of {write(turn.roll)}, which is not legal here: possible are {legal}"


def must_roll(there: Position, turn: Turn, ban: str) -> str:
    """Say why stopping is not legal here."""
    return f"{_who(there)} stopped at {points(turn.points)}, which is not legal here: {ban}"


def ability(event: events.Steal | events.Challenge, why: str) -> str:
    """Say why a steal or a challenge is none here."""
    what = "took the dice over" if isinstance(event, events.Steal) else f"challenged {event.opponent}"
    return f"{event.player} {what}, which is not possible here: {why}; the turn is played as an ordinary one."


def posts(player: str, there: Ended, here: Ended, why: str) -> str:
    """Say that a turn whose every decision was taken over posts something else."""
    worth = here.turn.points
    if here.posted:
        return f"{player}'s {worth} posted {there.posted} there and post {here.posted} here."
    return f"{player} banked {worth}, which posts 0 here: {why}."


def settled(here: Position, last: str) -> str:
    """Say how a turn was settled; the end of the sentence of its divergence."""
    ended = here.ended
    assert ended is not None
    match last:
        case "won":
            return "."
        case "bust":
            return "; the turn is a bust."
        case "bank" if ended.posted == ended.turn.points:
            return f"; the turn is banked with {points(ended.posted)}."
        case "bank":
            return f"; the turn is banked with {points(ended.turn.points)} and posts {ended.posted}."
        case _:
            return "; the turn is settled at 0."
