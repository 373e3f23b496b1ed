"""Turns: this module plays one table event on a position and returns the next, or raises IllegalMove.

Together with `state` (what is legal) and `ending` (what the end of a turn brings) it holds every rule of the game.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from tenklog import events
from tenklog.dice import Dice, minus, write
from tenklog.ending import end_turn, pass_on, win
from tenklog.errors import IllegalMove
from tenklog.rules import change
from tenklog.scoring import Table
from tenklog.state import (
    Ended,
    Phase,
    Position,
    Seat,
    Turn,
    bank_ban,
    challenge_ban,
    count_dice,
    free_name,
    keep_words,
    known,
    legal,
    loot,
    must_bank,
    opponents,
    steal_ban,
    with_seat,
    with_turn,
    worth_banking,
)  # fmt: skip


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


def _legal(position: Position) -> str:
    return f"legal is {' or '.join(legal(position))}"


def _at_turn(position: Position, turn: Turn, player: str) -> Seat:
    seat = position.seats[turn.seat]
    if seat.player != player:
        raise IllegalMove(f"it is {seat.player}'s turn, not {player}'s", f"a move of {seat.player}")
    return seat


# -- rolling and keeping ----------------------------------------------------------------------------------------------


def _roll(position: Position, turn: Turn, event: events.Roll, asserted: bool) -> Position:
    dice = event.dice
    seat = turn.seat
    if position.seats[seat].player != event.player:
        _at_turn(position, turn, event.player)
    rules = position.rules
    if turn.phase == "rolled":
        raise IllegalMove(f"{write(turn.roll)} is rolled and nothing of it kept", f"keep {keep_words(position, turn)}")
    if rules.hot_dice == "must-bank" and must_bank(position, turn):
        raise IllegalMove("all dice are set aside and hot_dice is must-bank", f"bank {turn.points}")
    if len(dice) != turn.dice_left:
        wanted = f"{turn.dice_left} {'is' if turn.dice_left == 1 else 'are'} to be thrown"
        raise IllegalMove(f"{count_dice(len(dice))} rolled, {wanted}", f"roll {count_dice(turn.dice_left)}")
    if turn.dice_left == rules.dice:
        kept: Dice = ()
        worth = 0
    else:
        kept, worth = turn.kept, turn.worth
    roll, verdict, _ = position.table.look(dice)
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
        seat, dice_left, phase, turn.rolls + 1, points, dice, (), kept, worth, tries, turn.successes, False,
        turn.stolen, turn.challenge, turn.split,
    )  # fmt: skip
    if verdict == "win":
        return win(position, after)
    return with_turn(position, after)


def _keep(position: Position, turn: Turn, event: events.Keep, asserted: bool) -> Position:
    if position.seats[turn.seat].player != event.player:
        _at_turn(position, turn, event.player)
    if turn.phase != "rolled":
        _refuse_keep(turn)
    rules, table = position.rules, position.table
    dice = event.dice
    roll, _, gains = table.look(turn.roll)
    if turn.kept and rules.build_on_kept:
        gains = table.keeps(roll, turn.kept, turn.worth)
    gain = gains.get(dice)
    if gain is None:
        dice = tuple(sorted(dice))
        gain = gains.get(dice)
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
        kept, worth = tuple(sorted((*turn.kept, *dice))) if turn.kept else dice, turn.worth + gain
    points = turn.points + gain
    successes, free = turn.successes, False
    if turn.dice_left == 1 and rules.last_die_rolls > 1:
        points += rules.last_die_bonus + rules.last_die_step * successes
        successes, free = successes + 1, True
    after = Turn(
        turn.seat, turn.dice_left - len(leaves) or rules.dice, "kept", turn.rolls, points, turn.roll, event.dice, kept,
        worth, 0, successes, free, turn.stolen, turn.challenge, turn.split,
    )  # fmt: skip
    return with_turn(position, after)


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
        what = f"keeping {write(dice)} leaves dice that score nothing"
        if len(dice) == 1:
            what = f"a {dice[0]} scores nothing"
        if turn.kept and position.rules.build_on_kept:
            what += f" with {write(turn.kept)} kept before"
    elif position.rules.build_on_kept and scored <= turn.worth:
        what = f"{write(dice)} with {write(turn.kept)} kept before is worth {scored}, not more than {turn.worth}"
    else:
        what = f"{write(dice)} is not what set_aside {position.rules.set_aside} takes"
    return IllegalMove(what, f"keep {words}")


# -- ending a turn ----------------------------------------------------------------------------------------------------


def _bank(position: Position, turn: Turn, event: events.Bank, asserted: bool) -> Position:
    _at_turn(position, turn, event.player)
    if event.settled:
        if not position.replayed or event.points:
            raise IllegalMove("a settled bank is a replay's, of 0 points", "a bank without settled")
        return end_turn(position, turn, "settled", 0)
    points = event.points
    if turn.with_dice:
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
    return end_turn(position, turn, "banked" if posted else "scoreless", posted)


def _bust(position: Position, turn: Turn, event: events.Bust, asserted: bool) -> Position:
    _at_turn(position, turn, event.player)
    if turn.phase == "busted":
        wiped = position.table.look(turn.roll)[1] == "wipeout"
        return end_turn(position, turn, "wiped-out" if wiped else "bust", 0)
    if turn.with_dice:
        what = f"{write(turn.roll)} is no bust" if turn.phase == "rolled" else "a bust follows a losing roll by itself"
        raise IllegalMove(what, _legal(position))
    return end_turn(position, turn, "bust", 0)


# -- stealing, challenges, players, rules -----------------------------------------------------------------------------


def _steal(position: Position, turn: Turn, event: events.Steal, asserted: bool) -> Position:
    _at_turn(position, turn, event.player)
    ban = steal_ban(position, turn)
    if ban:
        raise IllegalMove(ban, _legal(position))
    taken = loot(position)
    assert taken is not None
    assert position.ended is not None
    before = position.ended.turn
    after = replace(
        turn, dice_left=taken[0], points=taken[1], kept=before.kept, worth=before.worth, stolen=True
    )  # fmt: skip
    return with_turn(position, after)


def _challenge(position: Position, turn: Turn, event: events.Challenge, asserted: bool) -> Position:
    seat = _at_turn(position, turn, event.player)
    ban = challenge_ban(position, turn)
    if ban:
        raise IllegalMove(ban, _legal(position))
    if event.opponent not in opponents(position, turn):
        raise IllegalMove(
            f"{event.opponent} is no opponent in play", "challenge " + " or ".join(opponents(position, turn))
        )
    split = int(seat.total >= position.rules.challenge_split)
    used = (seat.challenged[0] or split == 0, seat.challenged[1] or split == 1)
    seats = with_seat(position, turn.seat, replace(seat, challenged=used))
    return replace(
        position, seats=seats, turn=replace(turn, challenge=position.seat_of(event.opponent), split=split)
    )  # fmt: skip


def _join(position: Position, turn: Turn, event: events.Join, asserted: bool) -> Position:
    free_name(position, event.player)
    if position.due is not None:
        raise IllegalMove("last turns have begun and nobody joins any more", "a new game")
    if len(position.seats) >= events.MOST_PLAYERS:
        raise IllegalMove(f"the table has {events.MOST_PLAYERS} seats", "a second table")
    return replace(position, seats=(*position.seats, Seat(event.player)))


def _leave(position: Position, turn: Turn, event: events.Leave, asserted: bool) -> Position:
    number = known(position, event.player)
    if position.seats[number].left:
        raise IllegalMove(f"{event.player} has left already", "nothing more to do")
    if sum(not seat.left for seat in position.seats) == 1:
        raise IllegalMove(f"{event.player} is the last player", "abandon the game instead")
    seats = with_seat(position, number, replace(position.seats[number], left=True))
    due = position.due and tuple(seat for seat in position.due if seat != number)
    if number != turn.seat:
        return replace(position, seats=seats, due=due)
    ended = position.ended
    if turn.begun:
        total = position.seats[number].total
        ended = Ended(
            turn, 0, position.round, "left", 0, 0, total, position.rules.dice, position.due is not None, ended
        )  # fmt: skip
    return pass_on(position, seats, number, ended, due)


def _rename(position: Position, turn: Turn, event: events.Rename, asserted: bool) -> Position:
    number = known(position, event.player)
    free_name(position, event.to)
    return replace(position, seats=with_seat(position, number, replace(position.seats[number], player=event.to)))


def _abandon(position: Position, turn: Turn, event: events.Abandon, asserted: bool) -> Position:
    return replace(position, turn=None, abandoned=True, due=None)


def _change(position: Position, turn: Turn, event: events.RuleChange, asserted: bool) -> Position:
    rules = change(position.pending or position.rules, event.changes)
    if turn.begun:
        return replace(position, pending=rules)
    return replace(position, rules=rules, table=Table.of(rules), turn=Turn(turn.seat, rules.dice), pending=None)


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
