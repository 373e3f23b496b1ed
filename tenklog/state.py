"""State: this module holds how a game stands, and says what is legal now and what forbids the rest.

All is immutable, so a position can be kept and gone back to. Points, totals and minimums are whole points; dice are
counted in dice. It knows nothing of the log: no sequence numbers, undo, notes or files.
"""

from typing import Literal

from msgspec import Struct

from tenklog.dice import Dice, write
from tenklog.errors import IllegalMove
from tenklog.rules import Ruleset
from tenklog.scoring import Table

Phase = Literal["to-roll", "rolled", "kept", "busted"]
Status = Literal["in-progress", "last-turns", "finished", "abandoned"]
Outcome = Literal["banked", "bust", "scoreless", "wiped-out", "won", "settled", "left"]


class Seat(Struct, frozen=True, gc=False):
    """A player at the table: total in points, ended turns, busts, and counting turns in a row for the streak."""

    player: str
    total: int = 0
    opened: bool = False
    turns: int = 0
    busts: int = 0
    streak: int = 0
    left: bool = False
    challenged: tuple[bool, bool] = (False, False)  # used below the split, used at or above it


class Turn(Struct, frozen=True, gc=False):
    """The turn in progress. `points` are at stake; `kept` and `worth` are since the last throw of all dice."""

    seat: int
    dice_left: int  # to be thrown next
    phase: Phase = "to-roll"
    rolls: int = 0
    points: int = 0
    roll: Dice = ()  # the roll in thrown order
    keep: Dice = ()  # what was kept of it
    kept: Dice = ()
    worth: int = 0
    tries: int = 0  # throws of the last die that scored nothing
    successes: int = 0  # throws of the last die that scored
    free: bool = False  # after such a success one may throw or bank, whatever hot_dice says
    stolen: bool = False
    challenge: int | None = None  # the opponent's seat
    split: int = 0  # which challenge it is: 0 below the split, 1 at or above it

    @property
    def with_dice(self) -> bool:
        """Tell whether dice are played, as opposed to a turn of a score sheet (or one where that is still open)."""
        return self.rolls > 0 or self.stolen

    @property
    def begun(self) -> bool:
        """Tell whether there was a roll, a steal or a challenge."""
        return self.rolls > 0 or self.stolen or self.challenge is not None


# The linked structs stay with the garbage collector: it is what takes long chains apart without deep recursion.
class Ended(Struct, frozen=True, eq=False):
    """A turn that ended, linked to the one before it. `change` is the change of the own total, penalties included."""

    turn: Turn
    number: int  # from 1, 0 for a turn that `leave` dropped
    round: int
    outcome: Outcome
    posted: int
    change: int
    total: int
    dice: int  # in a fresh throw
    last: bool  # a last or extra turn
    before: "Ended | None"


class Position(Struct, frozen=True, eq=False, gc=False):
    """How the game stands. `due` is None until last turns begin, then the seats in order, the one at turn first."""

    rules: Ruleset
    table: Table
    seats: tuple[Seat, ...]
    turn: Turn | None
    round: int = 1
    ended: Ended | None = None
    pending: Ruleset | None = None  # holds from the next turn
    due: tuple[int, ...] | None = None
    extra: bool = False  # a level end is being played out
    winners: tuple[int, ...] = ()
    abandoned: bool = False
    replayed: bool = False  # settled banks are allowed

    @property
    def status(self) -> Status:
        """Return the status in the words of every output."""
        if self.turn is not None:
            return "in-progress" if self.due is None else "last-turns"
        return "abandoned" if self.abandoned else "finished"

    def seat_of(self, player: str) -> int | None:
        """Return the seat (from 0) of a player's present name."""
        return next((number for number, seat in enumerate(self.seats) if seat.player == player), None)

    def turns(self) -> list[Ended]:
        """Return the ended turns from the first on, dropped ones included."""
        found = []
        ended = self.ended
        while ended is not None:
            found.append(ended)
            ended = ended.before
        return found[::-1]


def opening(players: tuple[str, ...], rules: Ruleset, replayed: bool = False) -> Position:
    """Return the position before the first throw."""
    return Position(
        rules, Table.of(rules), tuple(Seat(player) for player in players), Turn(0, rules.dice), replayed=replayed
    )


def with_turn(position: Position, turn: Turn) -> Position:
    """Return a position with another turn in progress."""
    # Twice as fast as `replace`, and three events in four come through here.
    return Position(
        position.rules, position.table, position.seats, turn, position.round, position.ended, position.pending,
        position.due, position.extra, position.winners, position.abandoned, position.replayed,
    )  # fmt: skip


def with_seat(position: Position, number: int, seat: Seat) -> tuple[Seat, ...]:
    """Return the seats with one of them (from 0) replaced."""
    return (*position.seats[:number], seat, *position.seats[number + 1 :])


def known(position: Position, player: str) -> int:
    """Return a player's seat; raise IllegalMove when nobody is called so."""
    number = position.seat_of(player)
    if number is None:
        raise IllegalMove(f"there is no player {player}", "one of " + ", ".join(seat.player for seat in position.seats))
    return number


def free_name(position: Position, player: str) -> None:
    """Raise IllegalMove when somebody at the table has this name."""
    if position.seat_of(player) is not None:
        raise IllegalMove(f"there is a player {player} already", "a name that nobody has")


# -- what is legal ----------------------------------------------------------------------------------------------------


def count_dice(count: int) -> str:
    """Write a number of dice with its word."""
    return "1 die" if count == 1 else f"{count} dice"


def legal(position: Position) -> list[str]:
    """Return which of roll, keep, bank, bust, steal, challenge are legal now, in this order."""
    turn = position.turn
    if turn is None:
        return []
    if turn.phase == "busted":
        return ["bust"]
    if turn.phase == "rolled":
        return ["keep"]
    moves = [] if must_bank(position, turn) else ["roll"]
    if not turn.with_dice or not bank_ban(position, turn)[0]:
        moves.append("bank")
    if not turn.with_dice:
        moves.append("bust")
        if not steal_ban(position, turn):
            moves.append("steal")
        if not challenge_ban(position, turn):
            moves.append("challenge")
    return moves


def is_hot(position: Position, turn: Turn) -> bool:
    """Tell whether all dice are set aside."""
    return turn.phase == "kept" and turn.dice_left == position.rules.dice


def must_bank(position: Position, turn: Turn) -> bool:
    """Tell whether the bank is forced."""
    return position.rules.hot_dice == "must-bank" and not turn.free and is_hot(position, turn)


def keeps(position: Position, turn: Turn) -> dict[Dice, int]:
    """Return the legal keeps of the roll on the table, ascending dice to points; none unless one is due."""
    if turn.phase != "rolled":
        return {}
    return dict(position.table.keeps(tuple(sorted(turn.roll)), turn.kept, turn.worth))


def keep_words(position: Position, turn: Turn, most: int = 6) -> str:
    """List the legal keeps for people, best first."""
    legal = keeps(position, turn)
    ranked = sorted(legal, key=lambda dice: (-legal[dice], -len(dice), dice))
    words = [f"{write(dice)} ({legal[dice]})" for dice in ranked[:most]]
    return ", ".join(words) + (f" and {len(ranked) - most} more" if len(ranked) > most else "")


class Terms(Struct, frozen=True, gc=False):
    """What decides, for one turn, which points it may post: everything but the points themselves."""

    opened: bool
    minimum: int  # of points, by whether the player has opened
    previous: int = -1  # what the turn before posted, where that must be beaten
    total: int = 0
    exact: int | None = None  # the target, where it must be reached exactly
    overshoots: bool = False  # whether points above it post nothing


def terms(position: Position, turn: Turn) -> Terms:
    """Return what decides which points a turn may post."""
    rules, seat = position.rules, position.seats[turn.seat]
    minimum = rules.bank_minimum if seat.opened else rules.opening_minimum
    if not rules.must_beat_previous and rules.reach != "exactly":
        return Terms(seat.opened, minimum)
    previous = position.ended
    while previous is not None and previous.outcome == "left":
        previous = previous.before
    beaten = previous.posted if rules.must_beat_previous and previous is not None else -1
    exact = rules.target if rules.reach == "exactly" else None
    return Terms(seat.opened, minimum, beaten, seat.total, exact, exact is not None and not position.extra)


def posts(terms: Terms, points: int) -> tuple[int, str]:
    """Return what banking these points would post, and why when that is 0 (a minimum, topping, an overshoot).

    A reason that names a minimum begins with the word `below`; under `roll-on` it forbids to stop.
    """
    exact, total = terms.exact, terms.total
    if exact is None or total + points != exact:
        if points < terms.minimum:
            which = "bank" if terms.opened else "opening"
            return 0, f"below the {which} minimum of {terms.minimum} ({terms.minimum - points} short)"
        if points <= terms.previous:
            return 0, f"below the turn before, which posted {terms.previous} and must be beaten"
        if terms.overshoots and points and exact is not None and total + points > exact:
            return 0, f"over the target: {total} and {points} are more than {exact}"
    return points, ""


def worth_banking(position: Position, turn: Turn, points: int) -> tuple[int, str]:
    """Return what banking these points of a turn would post, and why when that is 0; as `posts` has it."""
    return posts(terms(position, turn), points)


def bank_ban(position: Position, turn: Turn) -> tuple[str, str]:
    """Return what forbids to bank a turn with dice now and what would be legal, two empty strings when nothing does."""
    rules = position.rules
    if turn.phase == "rolled":
        return f"{write(turn.roll)} is rolled and nothing of it kept", f"keep {keep_words(position, turn)}"
    if turn.phase == "to-roll":
        first = "stolen dice" if not turn.rolls else "a last die that scored nothing"
        return f"{first} must be thrown", f"roll {count_dice(turn.dice_left)}"
    if rules.hot_dice != "may-roll" and is_hot(position, turn) and not turn.free:
        if rules.hot_dice == "must-roll":
            return "all dice are set aside and hot_dice is must-roll", f"roll all {rules.dice} dice"
        return "", ""
    if rules.below_minimum == "roll-on":
        why = worth_banking(position, turn, turn.points)[1]
        if why.startswith("below"):
            return f"{turn.points} is {why}", f"roll {count_dice(turn.dice_left)}"
    return "", ""


def loot(position: Position) -> tuple[int, int] | None:
    """Return the dice and points that the turn that ended last leaves to be stolen, or None."""
    ended, how = position.ended, position.rules.steal
    if ended is None or not ended.turn.rolls or ended.dice != position.rules.dice:
        return None
    if how == "after-bust" and ended.outcome in ("bust", "wiped-out") and ended.turn.points:
        return ended.turn.dice_left, ended.turn.points
    if how == "after-bank" and ended.outcome == "banked":
        return ended.turn.dice_left, ended.posted
    return None


def steal_ban(position: Position, turn: Turn) -> str:
    """Return what forbids to steal now; an empty string when nothing does."""
    if position.rules.steal == "off":
        return "steal is off in these rules"
    if turn.with_dice:
        return "stealing comes before the turn's first roll"
    if position.ended is not None and position.ended.turn.seat == turn.seat:
        return "nobody steals from oneself"
    if position.ended is not None and position.ended.dice != position.rules.dice:
        return "the number of dice has changed since the turn before"
    if loot(position) is None:
        lost = "lost points in a bust" if position.rules.steal == "after-bust" else "banked rolled dice"
        return f"the turn before has not {lost}"
    return ""


def challenge_ban(position: Position, turn: Turn) -> str:
    """Return what forbids to challenge anybody now; an empty string when nothing does."""
    split = position.rules.challenge_split
    if not split:
        return "there are no challenges in these rules (challenge_split is 0)"
    if turn.with_dice:
        return "a challenge comes before the turn's first roll and before a steal"
    if turn.challenge is not None:
        return "one challenge a turn"
    seat = position.seats[turn.seat]
    if seat.challenged[seat.total >= split]:
        return f"{seat.player} has used the challenge {'from' if seat.total >= split else 'below'} {split}"
    if not opponents(position, turn):
        return "there is no opponent"
    return ""


def opponents(position: Position, turn: Turn) -> list[str]:
    """Return who may be challenged."""
    return [seat.player for number, seat in enumerate(position.seats) if number != turn.seat and not seat.left]
