"""Recorded: this module lays a recorded game out for a replay: its standing events, its turns, its rule changes.

What was taken back is not in it. Nothing here plays by other rules than the log's own.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from tenklog import events
from tenklog.game import Game, history, whole_game
from tenklog.rules import Ruleset, Value, change
from tenklog.state import Position, opening
from tenklog.turns import play

MOVES = (events.Roll, events.Keep, events.Bank, events.Bust, events.Steal, events.Challenge)


class RecordedTurn(Struct):
    """A turn of the log: its seat (from 0) and the `seq` of its moves.

    `number` counts from 1 the turns that ended; the turn in progress at the log's end has the next one, a turn that
    `leave` dropped has none.
    """

    number: int | None
    seat: int
    moves: list[int]

    def after(self, seq: int) -> int:
        """Return the next move of the turn after one of them; the last has none and stands for itself."""
        return next((move for move in self.moves if move > seq), seq)


class Step(Struct, frozen=True):
    """A standing event, the recorded positions before and after it, and, if it is a move, the turn it belongs to."""

    event: events.AnyEvent
    before: Position
    after: Position
    turn: RecordedTurn | None = None


def steps(game: Game, log: Iterable[events.AnyEvent], own: bool) -> list[Step]:
    """Return the standing events of a folded log, notes and expects among them.

    With `own` the positions are those of the evening, a whole-game change holding from where it stands; else each turn
    is played by the rules that hold for it in the end, and whole-game changes are left out.
    """
    found: list[Step] = []
    turn: RecordedTurn | None = None
    for event, before, after in (_as_played if own else _in_the_end)(game, log):
        if isinstance(event, MOVES):
            assert before.turn is not None
            if turn is None or not before.turn.begun:
                turn = RecordedTurn(ended_turns(before) + 1, before.turn.seat, [])
            turn.moves.append(event.seq)
            found.append(Step(event, before, after, turn))
            continue
        if turn is not None and isinstance(event, events.Leave) and after.ended is not before.ended:
            turn.number = None
        found.append(Step(event, before, after))
    return found


def ended_turns(position: Position) -> int:
    """Count the turns that ended; those that `leave` dropped are none."""
    ended = position.ended
    while ended is not None and not ended.number:
        ended = ended.before
    return ended.number if ended is not None else 0


_Played = Iterator[tuple[events.AnyEvent, Position, Position]]


def _as_played(game: Game, log: Iterable[events.AnyEvent]) -> _Played:
    nodes = {node.event.seq: node for node in game.standing() if node.event is not None}
    position = opening(game.start.players, game.start.rules, game.position.replayed)
    for event in log:
        node = nodes.get(event.seq)
        if node is not None and node.before is not None:
            position = node.position
            yield event, node.before.position, position
        elif isinstance(event, events.Note | events.Expect):
            yield event, position, position


def _in_the_end(game: Game, log: Iterable[events.AnyEvent]) -> _Played:
    base, left = whole_game(game.start.rules, history(game))
    position = opening(game.start.players, base, game.position.replayed)
    played = {event.seq: event for event in left}
    for event in log:
        before = position
        if event.seq in played:
            # The points that banks assert were true under the rules that they were written under.
            position = play(position, played[event.seq], asserted=False)
        elif not isinstance(event, events.Note | events.Expect):
            continue
        yield event, before, position


def agreed(
    game: Game, rules: Ruleset | None, changes: dict[str, Value], keep_rule_changes: bool
) -> tuple[Ruleset, dict[int, events.RuleChange]]:
    """Return the ruleset that a replay starts with and the recorded rule changes that it takes over, by their `seq`.

    A ruleset asked for (`changes` are part of it) replaces the recorded changes. If those are kept, whole-game ones
    hold from the start, on top of all that was asked for, and the others from where they stand, but for keys that a
    later whole-game change gives. The log's own rules (None) keep them always, and `changes` are a whole-game change
    on top of them. Raises UsageError when all that contradicts itself.
    """
    past = history(game)
    if rules is None and not changes:
        own = (event for event, _ in past)
        return game.start.rules, {event.seq: event for event in own if isinstance(event, events.RuleChange)}
    if rules is None:
        last = events.RuleChange(game.seq + 1, changes=changes, scope="whole-game")
        base, left = whole_game(
            game.start.rules, [*past, (last, game.position.pending or game.position.rules)]
        )  # fmt: skip
    elif keep_rule_changes:
        base, left = whole_game(change(rules, changes), past)
    else:
        return change(rules, changes), {}
    return base, {event.seq: event for event in left if isinstance(event, events.RuleChange)}


def final_names(game: Game) -> list[str]:
    """Return the players' names as they are in the end, by recorded seat."""
    return [seat.player for seat in game.position.seats]
