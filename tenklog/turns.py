"""Turns: this module plays one table event on a position and returns the next, or raises IllegalMove.

It holds every rule of the game and nothing of the log: no sequence numbers, undo, notes or files. All is immutable, so a
position can be kept and gone back to. Points, totals and minimums are whole points; dice are counted in dice.
"""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from tenklog import events
from tenklog.dice import Dice, minus, write
from tenklog.errors import IllegalMove
from tenklog.rules import Ruleset, Value, change
from tenklog.scoring import Table, best_keep

Phase = Literal["to-roll", "rolled", "kept", "busted"]
Status = Literal["in-progress", "last-turns", "finished", "abandoned"]
Outcome = Literal["banked", "bust", "scoreless", "wiped-out", "won", "settled", "left"]


class Seat(Struct, frozen=True):
    """A player at the table: total in points, ended turns, busts, and counting turns in a row for the streak."""

    player: str
    total: int = 0
    opened: bool = False
    turns: int = 0
    busts: int = 0
    streak: int = 0
    left: bool = False
    challenged: tuple[bool, bool] = (False, False)  # used below the split, used at or above it


class Turn(Struct, frozen=True):
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


class Position(Struct, frozen=True, eq=False):
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


def play(position: Position, event: events.Event, asserted: bool = True) -> Position:
    """Return the position after a table event; raise IllegalMove for what the rules forbid.

    Without `asserted` the points that a bank of rolled dice names are not compared (they were, under other rules).
    """
    turn = position.turn
    if turn is None:
        raise IllegalMove(f"the game is {position.status}", "only undo, note and expect")
    if turn.phase == "busted" and type(event) is not events.Bust:
        raise IllegalMove(f"{write(turn.roll)} scores nothing and the bust follows", "bust, undo, note or expect")
    return _PLAYS[type(event)](position, turn, event, asserted)


def _at_turn(position: Position, turn: Turn, player: str) -> Seat:
    seat = position.seats[turn.seat]
    if seat.player != player:
        raise IllegalMove(f"it is {seat.player}'s turn, not {player}'s", f"a move of {seat.player}")
    return seat


def is_hot(position: Position, turn: Turn) -> bool:
    """Tell whether all dice are set aside."""
    return turn.phase == "kept" and turn.dice_left == position.rules.dice


def must_bank(position: Position, turn: Turn) -> bool:
    """Tell whether the bank is forced."""
    return position.rules.hot_dice == "must-bank" and not turn.free and is_hot(position, turn)


# -- rolling and keeping ----------------------------------------------------------------------------------------------


def _roll(position: Position, turn: Turn, event: events.Roll, asserted: bool) -> Position:
    dice = event.dice
    seat = turn.seat
    if position.seats[seat].player != event.player:
        _at_turn(position, turn, event.player)
    rules = position.rules
    if turn.phase == "rolled":
        raise IllegalMove(f"{write(turn.roll)} is rolled and nothing of it kept", f"keep {keep_words(position, turn)}")
    if must_bank(position, turn):
        raise IllegalMove("all dice are set aside and hot_dice is must-bank", f"bank {turn.points}")
    if len(dice) != turn.dice_left:
        raise IllegalMove(f"{len(dice)} dice rolled, {turn.dice_left} are to be thrown", f"roll {turn.dice_left} dice")
    if turn.dice_left == rules.dice:
        kept: Dice = ()
        worth = 0
    else:
        kept, worth = turn.kept, turn.worth
    roll, verdict = position.table.look(dice)
    if kept and rules.build_on_kept and verdict in ("score", "nothing"):
        verdict = "score" if position.table.keeps(roll, kept, worth) else "nothing"
    phase: Phase = "rolled"
    dice_left, points, tries = turn.dice_left, turn.points, 0
    if verdict != "score":
        phase = "busted"
        if verdict == "nothing":
            if dice_left == rules.dice and rules.blank_throw:
                phase, points = "kept", points + rules.blank_throw
            elif dice_left == 1 and turn.tries + 1 < rules.last_die_rolls:
                phase, tries = "to-roll", turn.tries + 1
    after = Turn(
        seat, dice_left, phase, turn.rolls + 1, points, dice, (), kept, worth, tries, turn.successes, False, turn.stolen,
        turn.challenge, turn.split,
    )  # fmt: skip
    if verdict == "win":
        return _win(position, after)
    return _with_turn(position, after)


def _with_turn(position: Position, turn: Turn) -> Position:
    # Twice as fast as `replace`, and three events in four come through here.
    return Position(
        position.rules, position.table, position.seats, turn, position.round, position.ended, position.pending,
        position.due, position.extra, position.winners, position.abandoned, position.replayed,
    )  # fmt: skip


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


def _keep(position: Position, turn: Turn, event: events.Keep, asserted: bool) -> Position:
    if position.seats[turn.seat].player != event.player:
        _at_turn(position, turn, event.player)
    if turn.phase != "rolled":
        _refuse_keep(turn)
    rules, table = position.rules, position.table
    dice = tuple(sorted(event.dice))
    roll = table.look(turn.roll)[0]
    gain = table.keeps(roll, turn.kept, turn.worth).get(dice)
    if gain is None:
        raise _illegal_keep(position, turn, roll, dice)
    if rules.set_aside == "one-per-combination":
        leaves = _aside(table, dice, event.aside)
        kept, worth = Dice(), 0
    else:
        if event.aside is not None:
            raise IllegalMove(
                f"aside is for set_aside one-per-combination, not {rules.set_aside}", "a keep without aside"
            )
        leaves = dice
        kept, worth = tuple(sorted((*turn.kept, *dice))), turn.worth + gain
    points = turn.points + gain
    successes, free = turn.successes, False
    if turn.dice_left == 1 and rules.last_die_rolls > 1:
        points += rules.last_die_bonus + rules.last_die_step * successes
        successes, free = successes + 1, True
    after = Turn(
        turn.seat, turn.dice_left - len(leaves) or rules.dice, "kept", turn.rolls, points, turn.roll, event.dice, kept, worth, 0,
        successes, free, turn.stolen, turn.challenge, turn.split,
    )  # fmt: skip
    return _with_turn(position, after)


def _refuse_keep(turn: Turn) -> None:
    if turn.keep:
        raise IllegalMove(f"already kept {write(turn.keep)}", "undo to change")
    if turn.phase == "kept":
        raise IllegalMove("nothing is left to keep of this roll", "roll or bank")
    raise IllegalMove("there is no roll to keep from", "roll the dice first")


def _aside(table: Table, dice: Dice, aside: Dice | None) -> Dice:
    allowed = table.asides(dice)
    words = " or ".join(map(write, allowed[:6]))
    if aside is None:
        raise IllegalMove("the keep does not say which dice leave the table", f"one die of each combination: {words}")
    if tuple(sorted(aside)) not in allowed:
        raise IllegalMove(f"{write(aside)} is not one die of each combination of {write(dice)}", f"set aside {words}")
    return aside


def _illegal_keep(position: Position, turn: Turn, roll: Dice, dice: Dice) -> IllegalMove:
    table = position.table
    words = keep_words(position, turn)
    if minus(roll, dice) is None:
        return IllegalMove(f"{write(dice)} was not thrown: the roll is {write(turn.roll)}", f"keep {words}")
    scored = table.points(tuple(sorted((*turn.kept, *dice)))) if position.rules.build_on_kept else table.points(dice)
    if scored is None:
        loose = next((die for die in dice if minus(dice, (die,)) == () or table.points((die,)) is None), dice[0])
        what = f"keeping {write(dice)} leaves dice that score nothing"
        if len(dice) == 1:
            what = f"a {loose} scores nothing"
        if turn.kept and position.rules.build_on_kept:
            what += f" with {write(turn.kept)} kept before"
    elif position.rules.build_on_kept and scored <= turn.worth:
        what = f"{write(dice)} with {write(turn.kept)} kept before is worth {scored}, not more than {turn.worth}"
    else:
        what = f"{write(dice)} is not what set_aside {position.rules.set_aside} takes"
    return IllegalMove(what, f"keep {words}")


# -- the end of a turn ------------------------------------------------------------------------------------------------


def worth_banking(position: Position, turn: Turn, points: int) -> tuple[int, str]:
    """Return what banking these points would post, and why when that is 0 (a minimum, topping, an overshoot).

    A reason that names a minimum begins with the word `below`; under `roll-on` it forbids to stop.
    """
    rules, seat = position.rules, position.seats[turn.seat]
    exact = rules.reach == "exactly" and seat.total + points == rules.target
    if not exact:
        minimum = rules.bank_minimum if seat.opened else rules.opening_minimum
        if points < minimum:
            which = "bank" if seat.opened else "opening"
            return 0, f"below the {which} minimum of {minimum} ({minimum - points} short)"
        previous = position.ended
        while previous is not None and previous.outcome == "left":
            previous = previous.before
        if rules.must_beat_previous and previous is not None and points <= previous.posted:
            return 0, f"below the turn before, which posted {previous.posted} and must be beaten"
        if rules.reach == "exactly" and not position.extra and points and seat.total + points > rules.target:
            return 0, f"over the target: {seat.total} and {points} are more than {rules.target}"
    return points, ""


def bank_ban(position: Position, turn: Turn) -> tuple[str, str]:
    """Return what forbids to bank a turn with dice now, and what would be legal; two empty strings when nothing does."""
    rules = position.rules
    if turn.phase == "rolled":
        return f"{write(turn.roll)} is rolled and nothing of it kept", f"keep {keep_words(position, turn)}"
    if turn.phase == "to-roll":
        first = "stolen dice" if not turn.rolls else "a last die that scored nothing"
        return f"{first} must be thrown", f"roll {turn.dice_left} dice"
    if is_hot(position, turn) and not turn.free:
        if rules.hot_dice == "must-roll":
            return "all dice are set aside and hot_dice is must-roll", f"roll all {rules.dice} dice"
        if rules.hot_dice == "must-bank":
            return "", ""
    why = worth_banking(position, turn, turn.points)[1]
    if rules.below_minimum == "roll-on" and why.startswith("below"):
        return f"{turn.points} is {why}", f"roll {turn.dice_left} dice"
    return "", ""


def _bank(position: Position, turn: Turn, event: events.Bank, asserted: bool) -> Position:
    _at_turn(position, turn, event.player)
    if event.settled:
        if not position.replayed or event.points:
            raise IllegalMove("a settled bank is a replay's, of 0 points", "a bank without settled")
        return _end(position, turn, "settled", 0)
    points = event.points
    if turn.rolls or turn.stolen:
        what, right = bank_ban(position, turn)
        if what:
            raise IllegalMove(what, right)
        if asserted and points != turn.points:
            raise IllegalMove(f"the turn holds {turn.points} points, not {points}", f"bank {turn.points}")
        points = turn.points
    else:
        # The points at stake of a score-sheet turn are what was written down.
        turn = replace(turn, points=points)
    posted = worth_banking(position, turn, points)[0]
    return _end(position, turn, "banked" if posted else "scoreless", posted)


def _bust(position: Position, turn: Turn, event: events.Bust, asserted: bool) -> Position:
    _at_turn(position, turn, event.player)
    if turn.phase == "busted":
        wiped = position.table.look(turn.roll)[1] == "wipeout"
        return _end(position, turn, "wiped-out" if wiped else "bust", 0)
    if turn.rolls or turn.stolen:
        what = f"{write(turn.roll)} is no bust" if turn.phase == "rolled" else "a bust follows a losing roll by itself"
        raise IllegalMove(what, ", ".join(legal(position)))
    return _end(position, turn, "bust", 0)


def _win(position: Position, turn: Turn) -> Position:
    after = _end(position, turn, "won", 0)
    return replace(
        position, seats=after.seats, ended=after.ended, turn=None, due=None, winners=(turn.seat,), pending=None
    )  # fmt: skip


def _lose(rules: Ruleset, total: int, points: int) -> int:
    low = total - points
    return low if rules.negative_totals else max(low, min(total, 0))


def _end(position: Position, turn: Turn, outcome: Outcome, posted: int) -> Position:
    rules = position.rules
    seat = position.seats[turn.seat]
    bust = outcome in ("bust", "wiped-out")
    total = 0 if outcome == "wiped-out" else seat.total + posted
    if bust:
        total = _lose(rules, total, rules.bust_penalty)
        if turn.challenge is not None:
            total = _lose(rules, total, rules.challenge_penalties[turn.split])
    streak = 0
    if rules.streak_length and outcome != "won":
        counts = bust
        if rules.streak_counts == "scoreless-turns":
            counts = posted == 0
        elif rules.streak_counts == "first-roll-busts":
            counts = bust and turn.rolls == 1 and not turn.stolen
        streak = seat.streak + 1 if counts else 0
        if streak >= rules.streak_length:
            total, streak = _lose(rules, total, rules.streak_penalty), 0
    seats = list(position.seats)
    seats[turn.seat] = Seat(
        seat.player,
        total,
        seat.opened or posted > 0,
        seat.turns + 1,
        seat.busts + bust,
        streak,
        seat.left,
        seat.challenged,
    )
    if turn.challenge is not None and posted and not seats[turn.challenge].left:
        opponent = seats[turn.challenge]
        seats[turn.challenge] = replace(opponent, total=_lose(rules, opponent.total, posted))
    before = position.ended
    while before is not None and not before.number:
        before = before.before
    number = before.number + 1 if before else 1
    ended = Ended(
        turn, number, position.round, outcome, posted, total - seat.total, total, rules.dice, position.due is not None,
        position.ended,
    )  # fmt: skip
    due = position.due
    if due is not None:
        due = due[1:]
    elif total > rules.target or (total == rules.target and rules.reach != "more-than"):
        due = _last_turns(rules, seats, turn.seat)
    return _pass_on(position, tuple(seats), turn.seat, ended, due)


def _round_from(seats: tuple[Seat, ...] | list[Seat], seat: int) -> list[int]:
    order = [*range(seat + 1, len(seats)), *range(seat + 1)]
    return [number for number in order if not seats[number].left]


def _last_turns(rules: Ruleset, seats: list[Seat], seat: int) -> tuple[int, ...]:
    if rules.last_turns == "none":
        return ()
    others = [number for number in _round_from(seats, seat) if number != seat]
    return tuple(number for number in others if number > seat or rules.last_turns == "everyone-else")


def _pass_on(
    position: Position, seats: tuple[Seat, ...], seat: int, ended: Ended | None, due: tuple[int, ...] | None
) -> Position:
    """Pass the dice on from a seat, or end the game when no turn is due."""
    rules, table, extra = position.rules, position.table, position.extra
    winners: tuple[int, ...] = ()
    if due == ():
        best = max(one.total for one in seats if not one.left)
        leaders = [number for number in _round_from(seats, seat) if seats[number].total == best]
        if len(leaders) == 1 or rules.tie == "shared":
            winners = tuple(sorted(leaders))
            return replace(position, seats=seats, turn=None, ended=ended, due=None, winners=winners, pending=None)
        due, extra = tuple(leaders), True
    following = due[0] if due else _round_from(seats, seat)[0]
    if position.pending is not None:
        rules = position.pending
        table = Table.of(rules)
    return Position(
        rules, table, seats, Turn(following, rules.dice), position.round + (following <= seat), ended, None, due, extra,
        (), False, position.replayed,
    )  # fmt: skip


# -- stealing, challenges, players, rules -----------------------------------------------------------------------------


def loot(position: Position, turn: Turn) -> tuple[int, int] | None:
    """Return dice and points that the turn may steal now, or None."""
    return None if steal_ban(position, turn) else _loot(position)


def _loot(position: Position) -> tuple[int, int] | None:
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
    if turn.rolls or turn.stolen:
        return "stealing comes before the turn's first roll"
    if position.ended is not None and position.ended.turn.seat == turn.seat:
        return "nobody steals from oneself"
    if _loot(position) is None:
        lost = "lost points in a bust" if position.rules.steal == "after-bust" else "banked rolled dice"
        return f"the turn before has not {lost}"
    return ""


def _steal(position: Position, turn: Turn, event: events.Steal, asserted: bool) -> Position:
    _at_turn(position, turn, event.player)
    ban = steal_ban(position, turn)
    if ban:
        raise IllegalMove(ban, ", ".join(legal(position)))
    taken = _loot(position)
    assert taken is not None
    assert position.ended is not None
    before = position.ended.turn
    after = replace(
        turn, dice_left=taken[0], points=taken[1], kept=before.kept, worth=before.worth, stolen=True
    )  # fmt: skip
    return _with_turn(position, after)


def challenge_ban(position: Position, turn: Turn) -> str:
    """Return what forbids to challenge anybody now; an empty string when nothing does."""
    split = position.rules.challenge_split
    if not split:
        return "there are no challenges in these rules (challenge_split is 0)"
    if turn.rolls or turn.stolen:
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


def _challenge(position: Position, turn: Turn, event: events.Challenge, asserted: bool) -> Position:
    seat = _at_turn(position, turn, event.player)
    ban = challenge_ban(position, turn)
    if ban:
        raise IllegalMove(ban, ", ".join(legal(position)))
    if event.opponent not in opponents(position, turn):
        raise IllegalMove(
            f"{event.opponent} is no opponent in play", "challenge " + " or ".join(opponents(position, turn))
        )
    split = int(seat.total >= position.rules.challenge_split)
    used = (seat.challenged[0] or split == 0, seat.challenged[1] or split == 1)
    seats = _with_seat(position, turn.seat, replace(seat, challenged=used))
    return replace(
        position, seats=seats, turn=replace(turn, challenge=position.seat_of(event.opponent), split=split)
    )  # fmt: skip


def _with_seat(position: Position, number: int, seat: Seat) -> tuple[Seat, ...]:
    return (*position.seats[:number], seat, *position.seats[number + 1 :])


def free_name(position: Position, player: str) -> None:
    """Raise IllegalMove when somebody at the table has this name."""
    if position.seat_of(player) is not None:
        raise IllegalMove(f"there is a player {player} already", "a name that nobody has")


def _join(position: Position, turn: Turn, event: events.Join, asserted: bool) -> Position:
    free_name(position, event.player)
    if position.due is not None:
        raise IllegalMove("last turns have begun and nobody joins any more", "a new game")
    if len(position.seats) >= events.MOST_PLAYERS:
        raise IllegalMove(f"the table has {events.MOST_PLAYERS} seats", "a second table")
    return replace(position, seats=(*position.seats, Seat(event.player)))


def known(position: Position, player: str) -> int:
    """Return a player's seat; raise IllegalMove when nobody is called so."""
    number = position.seat_of(player)
    if number is None:
        raise IllegalMove(f"there is no player {player}", "one of " + ", ".join(seat.player for seat in position.seats))
    return number


def _leave(position: Position, turn: Turn, event: events.Leave, asserted: bool) -> Position:
    number = known(position, event.player)
    if position.seats[number].left:
        raise IllegalMove(f"{event.player} has left already", "nothing more to do")
    if sum(not seat.left for seat in position.seats) == 1:
        raise IllegalMove(f"{event.player} is the last player", "abandon the game instead")
    seats = _with_seat(position, number, replace(position.seats[number], left=True))
    due = position.due and tuple(seat for seat in position.due if seat != number)
    if number != turn.seat:
        return replace(position, seats=seats, due=due)
    ended = position.ended
    if turn.rolls or turn.stolen or turn.challenge is not None:
        total = position.seats[number].total
        ended = Ended(
            turn, 0, position.round, "left", 0, 0, total, position.rules.dice, position.due is not None, ended
        )  # fmt: skip
    return _pass_on(position, seats, number, ended, due)


def _rename(position: Position, turn: Turn, event: events.Rename, asserted: bool) -> Position:
    number = known(position, event.player)
    free_name(position, event.to)
    return replace(position, seats=_with_seat(position, number, replace(position.seats[number], player=event.to)))


def _abandon(position: Position, turn: Turn, event: events.Abandon, asserted: bool) -> Position:
    return replace(position, turn=None, abandoned=True, due=None)


def change_rules(position: Position, changes: dict[str, Value]) -> Position:
    """Return the position with rules that hold from the next turn that has not begun; raise UsageError."""
    turn = position.turn
    if turn is None:
        raise IllegalMove(f"the game is {position.status}", "a rule change needs a running game")
    rules = change(position.pending or position.rules, changes)
    if turn.rolls or turn.stolen or turn.challenge is not None:
        return replace(position, pending=rules)
    return replace(position, rules=rules, table=Table.of(rules), turn=Turn(turn.seat, rules.dice), pending=None)


def _change(position: Position, turn: Turn, event: events.RuleChange, asserted: bool) -> Position:
    return change_rules(position, event.changes)


_PLAYS: dict[type[Any], Callable[[Position, Turn, Any, bool], Position]] = {
    events.Roll: _roll,
    events.Keep: _keep,
    events.Bank: _bank,
    events.Bust: _bust,
    events.Steal: _steal,
    events.Challenge: _challenge,
    events.Join: _join,
    events.Leave: _leave,
    events.Rename: _rename,
    events.Abandon: _abandon,
    events.RuleChange: _change,
}


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
    sheet = not turn.rolls and not turn.stolen
    if sheet or not bank_ban(position, turn)[0]:
        moves.append("bank")
    if sheet:
        moves.append("bust")
        if not steal_ban(position, turn):
            moves.append("steal")
        if not challenge_ban(position, turn):
            moves.append("challenge")
    return moves
