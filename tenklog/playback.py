"""Playback: this module tells a game step by step: what lies on the table after each event, and how everybody stands.

It tells what still stands, as the table understands it now (under the rule changes made for the whole game later on),
with the notes that somebody wrote. What was taken back is not told.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from tenklog import events
from tenklog.dice import Dice
from tenklog.game import Game, Step, retold, tag
from tenklog.luck import Luck, LuckStep
from tenklog.narrate import sentence
from tenklog.projections import names
from tenklog.state import Ended, Outcome, Position

MOVES = (events.Roll, events.Keep, events.Bank, events.Bust, events.Steal, events.Challenge)
WORST = 3  # blunders of each player that stand out in pictures


class Moment(Struct, frozen=True):
    """One step. `roll` lies on the table, `kept` are the places in it that are kept, `aside` dice were kept before.

    `turn` counts the turns told, from 0, and is None for what is no move; `seat` is from 0. `points` are at stake,
    `totals` by seat after the step. `luck` is what the roll brought, `loss` what the decision cost (0 or less).
    """

    seq: int
    kind: str
    turn: int | None
    seat: int | None
    text: str
    roll: Dice
    kept: tuple[int, ...]
    aside: Dice
    points: int
    totals: tuple[int, ...]
    marks: tuple[str, ...] = ()  # of blunder, worst (of the player's blunders), lucky, unlucky
    luck: float | None = None
    loss: float | None = None
    best: str | None = None


class TurnTold(Struct):
    """A turn with the places of its moments; one that has not ended has no outcome, one that `leave` dropped no number.

    `change` is the change of the own total, `total` what it came to.
    """

    seat: int
    round: int
    moments: list[int]
    number: int | None = None
    outcome: Outcome | None = None
    change: int = 0
    total: int = 0
    with_dice: bool = False


class Playback(Struct, frozen=True):
    """A game step by step; the first moment is the start. `players` are the present names by seat."""

    players: list[str]
    turns: list[TurnTold]
    moments: list[Moment]


class _Table:
    """What lies on the table in the turn being told."""

    def __init__(self) -> None:
        self.roll: Dice = ()
        self.kept: tuple[int, ...] = ()
        self.aside: Dice = ()
        self.leaving: Dice = ()  # goes aside when the next roll falls

    def rolled(self, event: events.Roll, fresh: bool) -> None:
        self.aside = () if fresh else tuple(sorted((*self.aside, *self.leaving)))
        self.roll, self.kept, self.leaving = event.dice, (), ()

    def keeps(self, event: events.Keep) -> None:
        self.kept = places(self.roll, event.dice)
        self.leaving = event.aside or event.dice


def places(roll: Dice, kept: Dice) -> tuple[int, ...]:
    """Return where in a roll the dice kept of it lie, from 0; of equal ones the first."""
    left, found = list(kept), []
    for place, face in enumerate(roll):
        if face in left:
            left.remove(face)
            found.append(place)
    return tuple(found)


def playback(game: Game, log: Sequence[events.AnyEvent], luck: Luck | None = None) -> Playback:
    """Tell a folded log step by step, with luck and blunders where they are measured."""
    turns: list[TurnTold] = []
    moments = [_start(game)]
    lucks, marks = _measured(luck)
    table = _Table()
    now: TurnTold | None = None
    for event, before, after in _with_notes(retold(game)[1], log):
        if isinstance(event, MOVES) and now is None:
            assert before.turn is not None
            now = TurnTold(before.turn.seat, before.round, [])
            turns.append(now)
            table = _Table()
        if isinstance(event, events.Roll):
            table.rolled(event, len(event.dice) == before.rules.dice)
        elif isinstance(event, events.Keep):
            table.keeps(event)
        ended = after.ended if after.ended is not before.ended else None
        moment = _moment(event, before, after, len(turns) - 1 if now else None, table)
        moments.append(_marked(moment, lucks.get(event.seq, []), marks.get(event.seq, ())))
        if now is not None:
            now.moments.append(len(moments) - 1)
            now.with_dice = now.with_dice or isinstance(event, events.Roll | events.Steal)
        if ended is not None and now is not None:
            _end(now, ended)
            now, table = None, _Table()
    return Playback(names(game.position, range(len(game.position.seats))), turns, moments)


def _start(game: Game) -> Moment:
    totals = (0,) * len(game.start.players)
    return Moment(1, "start", None, None, sentence(game.start, None, game.position), (), (), (), 0, totals)


def _with_notes(told: list[Step], log: Sequence[events.AnyEvent]) -> Iterator[Step]:
    """Yield steps with the notes between them, in the order of the log; a note changes no position."""
    notes = [event for event in log if isinstance(event, events.Note)][::-1]
    position: Position | None = None
    for event, before, after in told:
        while notes and notes[-1].seq < event.seq:
            yield notes.pop(), before, before
        yield event, before, after
        position = after
    while notes and position is not None:
        yield notes.pop(), position, position


def _moment(event: events.Event, before: Position, after: Position, turn: int | None, table: _Table) -> Moment:
    ended = after.ended if after.ended is not before.ended else None
    running = ended.turn if ended is not None else after.turn
    text = event.text if isinstance(event, events.Note) else sentence(event, before, after)
    player = before.turn.seat if before.turn is not None and isinstance(event, MOVES) else None
    return Moment(
        seq=event.seq,
        kind=tag(event),
        turn=turn,
        seat=player,
        text=text,
        roll=table.roll,
        kept=table.kept,
        aside=table.aside,
        points=running.points if running is not None and turn is not None else 0,
        totals=tuple(seat.total for seat in after.seats),
    )


def _end(now: TurnTold, ended: Ended) -> None:
    now.number, now.outcome = ended.number or None, ended.outcome
    now.change, now.total = ended.change, ended.total


def _measured(luck: Luck | None) -> tuple[dict[int, list[LuckStep]], dict[int, tuple[str, ...]]]:
    """Return by event what the dice brought and decisions cost there, and what stands out."""
    steps: dict[int, list[LuckStep]] = {}
    marks: dict[int, tuple[str, ...]] = {}
    if luck is None:
        return steps, marks
    for turn in luck.turns:
        for step in turn.steps:
            steps.setdefault(step.seq, []).append(step)
    for player in luck.players:
        for word, roll in (("lucky", player.luckiest), ("unlucky", player.unluckiest)):
            if roll is not None and (roll.luck > 0) == (word == "lucky"):
                marks[roll.seq] = (*marks.get(roll.seq, ()), word)
        for rank, blunder in enumerate(player.blunders):
            words = ("blunder", "worst") if rank < WORST else ("blunder",)
            marks[blunder.seq] = (*words, *marks.get(blunder.seq, ()))
    return steps, marks


def _marked(moment: Moment, steps: list[LuckStep], marks: tuple[str, ...]) -> Moment:
    from msgspec.structs import replace

    if not steps:
        return moment
    luck = next((step.luck for step in steps if step.luck is not None), None)
    decision = next((step for step in steps if step.loss is not None), None)
    loss = decision.loss if decision is not None else None
    return replace(moment, marks=marks, luck=luck, loss=loss, best=decision.best if decision is not None else None)
