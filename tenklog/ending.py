"""Ending: this module says what the end of a turn brings: what it posts, penalties, whose turn is next, who has won."""

from msgspec.structs import replace

from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.state import Ended, Outcome, Position, Seat, Turn


def end_turn(position: Position, turn: Turn, outcome: Outcome, posted: int) -> Position:
    """End a turn that posts these points: penalties, the sheet, the target, and whose turn is next."""
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
    return pass_on(position, tuple(seats), turn.seat, ended, due)


def win(position: Position, turn: Turn) -> Position:
    """End the game with an instant win of the player at turn."""
    after = end_turn(position, turn, "won", 0)
    return replace(
        position, seats=after.seats, ended=after.ended, turn=None, due=None, winners=(turn.seat,), pending=None
    )  # fmt: skip


def _lose(rules: Ruleset, total: int, points: int) -> int:
    low = total - points
    return low if rules.negative_totals else max(low, min(total, 0))


def _round_from(seats: tuple[Seat, ...] | list[Seat], seat: int) -> list[int]:
    order = [*range(seat + 1, len(seats)), *range(seat + 1)]
    return [number for number in order if not seats[number].left]


def _last_turns(rules: Ruleset, seats: list[Seat], seat: int) -> tuple[int, ...]:
    if rules.last_turns == "none":
        return ()
    others = [number for number in _round_from(seats, seat) if number != seat]
    return tuple(number for number in others if number > seat or rules.last_turns == "everyone-else")


def pass_on(
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
    following = due[0] if due else (seat + 1) % len(seats)
    while seats[following].left:
        following = (following + 1) % len(seats)
    if position.pending is not None:
        rules = position.pending
        table = Table.of(rules)
    return Position(
        rules, table, seats, Turn(following, rules.dice), position.round + (following <= seat), ended, None, due, extra,
        (), False, position.replayed,
    )  # fmt: skip
