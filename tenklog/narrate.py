"""Narrate: this module says in sentences what happened and how it stands, as somebody reads it out to the table."""

from collections.abc import Iterable, Sequence

from tenklog import events, state
from tenklog.dice import write
from tenklog.game import Game, tag
from tenklog.projections import names, standings, words
from tenklog.state import Ended, Position, Turn, count_dice


def joined(items: Iterable[str], last: str = "and") -> str:
    """Join words as a sentence does: `Anna, Ben and Cara`."""
    words_ = list(items)
    return f" {last} ".join(filter(None, [", ".join(words_[:-1]), *words_[-1:]]))


def points(number: int) -> str:
    """Write a number of points with its word."""
    return f"{number} point" if abs(number) == 1 else f"{number} points"


def story(after: Game, written: Sequence[events.AnyEvent], log: Sequence[events.AnyEvent]) -> list[str]:
    """Return the sentences for a command: each event it wrote, then how the game stands.

    `log` is the whole log; what an undo takes back is looked up in it.
    """
    nodes = {node.event.seq: node for node in after.standing() if node.event is not None}
    undone = [event for event in written if isinstance(event, events.Undo)]
    lines = [_took_back(undone, log)] if undone else []
    told = [event for event in written if not isinstance(event, events.Undo)]
    for event in told[:1] if undone else told:
        node = nodes.get(event.seq)
        before = node.before.position if node is not None and node.before is not None else None
        lines.append(sentence(event, before, after.position if node is None else node.position))
    ended = any(
        node is not None and node.before is not None and node.position.ended is not node.before.position.ended
        for node in map(nodes.get, [event.seq for event in written])
    )
    turn = after.position.turn
    if ended or turn is None or not isinstance(written[-1], events.Roll | events.Keep):
        lines.append(score_line(after.position))
    if turn is None or turn.phase != "rolled":
        lines.append(situation(after.position))
    return list(filter(None, lines))


def _took_back(undone: Sequence[events.Undo], log: Sequence[events.AnyEvent]) -> str:
    first = log[undone[-1].of - 1]
    who = f"{first.player}'s " if hasattr(first, "player") else ""
    what = f"{who}{tag(first)} {words(first)}".strip()
    if len(undone) == 1:
        return f"Took back event {first.seq}, {what}."
    return f"Took back {len(undone)} moves, from event {first.seq}, {what}, and played the later ones again."


def sentence(event: events.Event, before: Position | None, now: Position) -> str:
    """Say what happened; `before` is None where nothing stood before the event, or it does not stand."""
    match event:
        case events.Start():
            verb = "plays" if len(event.players) == 1 else "play"
            return f"{event.game}: {joined(event.players)} {verb} {event.rules.name} to {event.rules.target}."
        case events.Roll() if now.turn is None:
            return f"{event.player} throws {write(event.dice)} and wins the game."
        case events.Roll() if before is not None and before.turn is not None:
            return _roll(event, now, before.turn)
        case events.Keep() if before is not None and before.turn is not None and now.turn is not None:
            gain = now.turn.points - before.turn.points
            aside = f" ({write(event.aside)} aside)" if event.aside else ""
            return f"{event.player} keeps {write(event.dice)}{aside} for {gain}: {points(now.turn.points)} in the turn."
        case events.Bank() if now.ended is not None and before is not None:
            return _bank(now.ended, before, event)
        case events.Bust() if now.ended is not None:
            return _bust(now.ended, event.player)
        case events.Steal() if now.turn is not None:
            return f"{event.player} takes over {count_dice(now.turn.dice_left)} and {points(now.turn.points)}."
        case events.Challenge():
            return f"{event.player} challenges {event.opponent}."
        case events.RuleChange():
            return f"Rules changed: {words(event)}."
        case events.Expect():
            return "The totals agree with the paper."
        case events.Join():
            return f"{event.player} joins."
        case events.Leave():
            return f"{event.player} leaves."
        case events.Rename():
            return f"{event.player} is now called {event.to}."
        case events.Note():
            return "Noted."
        case events.Abandon():
            return "The game is abandoned."
        case _:
            return f"Recorded {tag(event)}."


def _roll(event: events.Roll, now: Position, before: Turn) -> str:
    turn = now.turn
    assert turn is not None
    thrown = f"{event.player} throws {write(event.dice)}"
    if turn.phase == "rolled":
        return f"{thrown}. Keep {state.keep_words(now, turn)}."
    if turn.phase == "kept":
        return f"{thrown}: nothing scores, which counts {turn.points - before.points}."
    if turn.phase == "to-roll":
        return f"{thrown}: the last die scores nothing and is thrown again."
    return f"{thrown}."


def _bank(ended: Ended, before: Position, event: events.Bank) -> str:
    if event.settled:
        return f"{event.player}'s turn is settled at 0."
    assert before.turn is not None
    if ended.posted:
        taken = ended.turn.challenge
        more = f", and {before.seats[taken].player} loses as many" if taken is not None else ""
        return f"{event.player} banks {ended.posted}{more}."
    why = state.worth_banking(before, before.turn, event.points)[1]
    return f"{event.player} banks {event.points} and posts 0" + (f": {why}." if why else ".")


def _bust(ended: Ended, player: str) -> str:
    lost = f" {points(ended.turn.points)} of the turn are lost." if ended.turn.points else ""
    if ended.outcome == "wiped-out":
        return f"Wiped out: {player}'s total is {ended.total}.{lost}"
    cost = f" It costs {points(-ended.change)}." if ended.change < 0 else ""
    return f"Bust.{lost}{cost}"


def score_line(position: Position) -> str:
    """Return the standings in one line, in order of seats."""
    return " · ".join(f"{seat.player} {seat.total}" + (" (left)" if seat.left else "") for seat in position.seats)


def situation(position: Position) -> str:
    """Say whose turn it is and what is legal, or how the game ended."""
    turn = position.turn
    if turn is None:
        return _ending(position)
    player = position.seats[turn.seat].player
    due = ""
    if position.due is not None and turn.phase == "to-roll" and not turn.rolls:
        kind = "Extra turns" if position.extra else "Last turns"
        due = f"{kind}: {joined(names(position, position.due))}. "
    if turn.phase == "rolled":
        return f"{player} must keep."
    if turn.phase == "busted":
        return f"{player} has bust."
    moves = state.legal(position)
    if turn.phase == "to-roll":
        more = f" ({joined([move for move in moves if move in ('steal', 'challenge')], 'or')} is possible)"
        if turn.with_dice or not {"steal", "challenge"} & {*moves}:
            more = ""
        return f"{due}{player} throws {count_dice(turn.dice_left)}{more}."
    if moves == ["bank"]:
        return f"All dice are set aside: {player} must bank."
    hot = "all dice again" if state.is_hot(position, turn) else f"{count_dice(turn.dice_left)} left"
    if "bank" in moves:
        why = state.worth_banking(position, turn, turn.points)[1]
        return f"{player} may bank or throw, {hot}." + (f" Banking now posts 0: {why}." if why else "")
    return f"{player} must throw, {hot}: {state.bank_ban(position, turn)[0]}."


def _ending(position: Position) -> str:
    if position.abandoned:
        best = [one for one in standings(position) if one.place == 1]
        return f"{joined(one.player for one in best)} led with {best[0].total}."
    winners = names(position, position.winners)
    total = position.seats[position.winners[0]].total
    return f"{joined(winners)} {'wins' if len(winners) == 1 else 'win'} with {total}."
