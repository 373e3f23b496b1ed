"""Game: this module folds a log's events into the state of the game, one after another.

`evolve(game, event)` is the whole meaning of a log: it is pure, and it verifies, so a log that folds is a legal game.
What `undo` and `whole-game` rule changes need of the past is kept in the state itself: each table event that still
stands is linked to the game before it.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from tenklog import events
from tenklog.errors import IllegalMove, TenklogError
from tenklog.rules import Ruleset, Value, change, check
from tenklog.state import Position, opening
from tenklog.turns import play


class Game(Struct, frozen=True, eq=False):
    """A log folded so far: the position, and the last table event that still stands with the game before it."""

    start: events.Start
    seq: int
    position: Position
    event: events.Event | None = None
    before: "Game | None" = None

    def standing(self) -> Iterator["Game"]:
        """Yield, latest first, the game after each table event that still stands."""
        game = self
        while game.before is not None:
            yield game
            game = game.before


def fold(log: Iterable[events.Event]) -> Game:
    """Fold a whole log; raise IllegalMove with the number of the event as its place when it is no legal game."""
    game: Game | None = None
    for event in log:
        try:
            game = evolve(game, event)
        except TenklogError as error:
            raise error.at(f"event {event.seq}") from None
    if game is None:
        raise IllegalMove("a log without events", "a start event first")
    return game


def evolve(game: Game | None, event: events.Event) -> Game:
    """Return the game after one more event; raise IllegalMove or UsageError when it may not stand here."""
    if game is None:
        return _begin(event)
    if event.seq != game.seq + 1:
        raise IllegalMove(f"seq {event.seq} follows seq {game.seq}", f"seq {game.seq + 1}")
    kind = type(event)
    if kind in _ASIDE:
        return _evolve_aside(game, event)
    return Game(game.start, event.seq, play(game.position, event), event, game)


# What is no plain move of the game; nearly every event is one, and asks no further.
_ASIDE = frozenset(
    {events.Undo, events.Note, events.Expect, events.Start, events.Join, events.Rename, events.RuleChange}
)


def _evolve_aside(game: Game, event: events.Event) -> Game:
    if isinstance(event, events.Undo):
        return _undo(game, event)
    if isinstance(event, events.Note | events.Expect):
        return Game(game.start, event.seq, game.position, game.event, game.before)
    if isinstance(event, events.Start):
        raise IllegalMove("a second start", "one start, on the first line")
    if isinstance(event, events.RuleChange) and event.scope == "whole-game":
        return Game(game.start, event.seq, recompute(game, event), event, game)
    if isinstance(event, events.Join):
        check_name(event.player)
    elif isinstance(event, events.Rename):
        check_name(event.to)
    return Game(game.start, event.seq, play(game.position, event), event, game)


def _begin(event: events.Event) -> Game:
    if not isinstance(event, events.Start):
        raise IllegalMove(f"the first event is a {tag(event)}", "a start event first")
    if event.seq != 1:
        raise IllegalMove(f"the start has seq {event.seq}", "seq 1")
    check_players(event.players)
    for player in event.first_throw or {}:
        if player not in event.players:
            raise IllegalMove(f"first_throw names {player}, who does not play", "one of " + ", ".join(event.players))
    if (event.of is None) != (event.origin != "replay"):
        raise IllegalMove(
            f"origin {event.origin} {'without' if event.of is None else 'with'} of",
            "of is the fingerprint of the log that was replayed, with origin replay only",
        )
    return Game(event, 1, opening(event.players, check(event.rules), event.origin == "replay"))


def check_players(players: tuple[str, ...]) -> None:
    """Raise for too many players, and for a name that may not stand in a table or stands there twice."""
    if not 1 <= len(players) <= events.MOST_PLAYERS:
        raise IllegalMove(f"{len(players)} players", f"1 to {events.MOST_PLAYERS} at a table")
    for number, player in enumerate(players):
        check_name(player)
        if player in players[:number]:
            raise IllegalMove(f"two players are called {player}", "a name for each")


def check_name(player: str) -> None:
    """Raise for a name that is not as `events.name` would give it."""
    if events.name(player) != player:
        raise IllegalMove(f"the name {player!r} is not in Unicode NFC", "the composed form")


def tag(event: events.Event) -> str:
    """Return an event's type as the log writes it."""
    return str(event.__struct_config__.tag)


def undone_with(game: Game) -> Game | None:
    """Return the game before the last table event that stands; a bust that followed by itself goes with its roll."""
    before = game.before
    if before is not None and type(game.event) is events.Bust and before.position.turn is not None:
        followed = before.position.turn.phase == "busted"
        return before.before if followed else before
    return before


def _undo(game: Game, event: events.Undo) -> Game:
    last = undone_with(game)
    if last is None or game.event is None:
        raise IllegalMove("there is nothing to undo", "a move first")
    if event.of != game.event.seq:
        raise IllegalMove(f"undo of event {event.of}", f"event {game.event.seq} is the last table event that stands")
    return Game(game.start, event.seq, last.position, last.event, last.before)


def false_expect(position: Position, expect: events.Expect) -> str:
    """Return in words where an assertion of totals is false; an empty string when it holds."""
    if not expect.totals:
        return "the expect names nobody"
    for player, total in expect.totals.items():
        seat = position.seat_of(player)
        if seat is None:
            return f"there is no player {player}"
        if position.seats[seat].total != total:
            return f"{player} stands at {position.seats[seat].total}, not {total}"
    return ""


# -- rule changes for the whole game ----------------------------------------------------------------------------------


def _resolved(changes: dict[str, Value], rules: Ruleset) -> dict[str, Value]:
    """Give combinations that a change names by their points alone the pattern that they have now."""
    after = change(rules, changes)
    return {key: after.scoring.get(key, value) for key, value in changes.items()}


def whole_game(base: Ruleset, log: list[tuple[events.Event, Ruleset]]) -> tuple[Ruleset, list[events.Event]]:
    """Move whole-game changes into the base: return it, and the events that are left, without what those replaced.

    The log pairs each standing table event with the rules that held (or were pending) when it was written.
    """
    left: list[events.Event] = []
    overridden: set[str] = set()
    moved: list[dict[str, Value]] = []
    for event, rules in reversed(log):
        if not isinstance(event, events.RuleChange):
            left.append(event)
        elif event.scope == "whole-game":
            moved.append(_resolved(event.changes, rules))
            overridden |= event.changes.keys()
        else:
            kept = {key: value for key, value in event.changes.items() if key not in overridden}
            if kept:
                left.append(replace(event, changes=kept))
    changes: dict[str, Value] = {}
    for one in reversed(moved):
        changes |= one
    return change(base, changes), left[::-1]


def history(game: Game) -> list[tuple[events.Event, Ruleset]]:
    """Return the standing table events, first to last, each with the rules that held or were pending before it."""
    log = []
    for node in game.standing():
        assert node.before is not None
        assert node.event is not None
        log.append((node.event, node.before.position.pending or node.before.position.rules))
    return log[::-1]


def recompute(game: Game, event: events.RuleChange) -> Position:
    """Return the position when a whole-game change holds from the first turn; raise when the game would not be legal.

    What earlier events assert (`bank.points`) held under the rules that they were written under and is not asked again.
    """
    # Whatever forbids a change for the next turn forbids this one too.
    play(game.position, replace(event, scope="next-turn"))
    now = game.position.pending or game.position.rules
    past = history(game)
    rules, left = whole_game(game.start.rules, [*past, (event, now)])
    position = opening(game.start.players, rules, game.position.replayed)
    played = {earlier.seq: earlier for earlier in left}
    for earlier, _ in past:
        try:
            if earlier.seq in played:
                position = play(position, played[earlier.seq], asserted=False)
            elif position.turn is None:  # a rule change that has moved into the base still stands here
                raise IllegalMove(f"the game is {position.status}", "a rule change needs a running game")
        except TenklogError as error:
            raise IllegalMove(
                f"event {earlier.seq} ({tag(earlier)}) would not be legal under these rules: {error.what}",
                "change the rules from the next turn on (without --whole-game), or see `tenklog replay`",
            ) from None
    return position


Step = tuple[events.Event, Position, Position]


def retold(game: Game) -> tuple[Ruleset, list[Step]]:
    """Return the rules of the first turn, and each table event that stands with the positions before and after it.

    All is told as the table understands it now: under the rule changes that were made for the whole game later on.
    """
    steps: list[Step] = []
    rewritten = False
    node = game
    while (before := node.before) is not None:
        event = node.event
        assert event is not None
        steps.append((event, before.position, node.position))
        rewritten = rewritten or (type(event) is events.RuleChange and event.scope == "whole-game")
        node = before
    if not rewritten:
        return game.start.rules, steps[::-1]
    rules, left = whole_game(game.start.rules, history(game))
    after = opening(game.start.players, rules, game.position.replayed)
    steps = []
    for event in left:
        start = after
        after = play(start, event, asserted=False)
        steps.append((event, start, after))
    return rules, steps
