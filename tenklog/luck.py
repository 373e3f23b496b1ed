"""Luck: this module says how lucky the dice of a played game were, and what each decision cost, in points.

A turn begins with what it is worth best played. A roll's luck is what it changes in that; a decision's loss is what the
choice made is worth less than the best. So start + luck + decisions = points, for every turn with dice; points are what
the turn posts, less `bust_penalty` when it busts. A turn of a score sheet has neither. Idea: GNU Backgammon's analysis.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from tenklog import events
from tenklog.advice import needed, wins_after, wins_now
from tenklog.chances import Chances, node
from tenklog.dice import Dice, write
from tenklog.game import Game, Step, retold
from tenklog.policy import Policy, best_policy
from tenklog.rules import Ruleset
from tenklog.state import Ended, Position, Turn

BLUNDER = 25.0  # expected points


class LuckStep(Struct, frozen=True, omit_defaults=True):
    """A roll with its luck, or a decision with its loss (0 or less), in expected points.

    `real` tells whether a decision had more than one choice, `best` what would have been better, where that is known.
    """

    seq: int
    kind: Literal["roll", "keep", "go-on", "bank"]
    dice: Dice | None
    luck: float | None = None
    loss: float | None = None
    real: bool = False
    best: str | None = None


class TurnLuck(Struct, frozen=True):
    """A turn: its value at the start, its steps and its points. A score-sheet turn has no start and no steps."""

    turn: int
    player: str
    start: float | None
    luck: float | None
    decisions: float | None
    points: int
    last: bool
    steps: list[LuckStep]


class Blunder(Struct, frozen=True):
    """A decision that cost much: event, turn, what was done, what would have been better, points lost (below 0)."""

    seq: int
    turn: int
    text: str
    best: str
    loss: float


class Extreme(Struct, frozen=True):
    """The luckiest or unluckiest roll of a player."""

    seq: int
    dice: Dice
    luck: float


class PlayerLuck(Struct, frozen=True):
    """A player's turns with dice: sums of starts, luck, decisions and points (start + luck + decisions = points).

    `real` counts the decisions with more than one choice, `loss` is the mean lost by one; `adjusted` is points less
    luck. A turn whose player had to catch the leader, or could win at once, has no blunders: points are not its aim.
    """

    player: str
    turns: int
    start: float
    luck: float
    decisions: float
    points: int
    adjusted: float
    real: int
    loss: float | None
    luckiest: Extreme | None
    unluckiest: Extreme | None
    blunders: list[Blunder]


class Luck(Struct, frozen=True):
    """Luck and skill in one game, by player and by turn; `sheet_turns` have no dice and count in no player's sums."""

    game: str
    rules: str
    players: list[PlayerLuck]
    turns: list[TurnLuck]
    sheet_turns: int


class _Turn:
    """A turn being measured: `value` is what it was worth after the last step."""

    def __init__(self, policy: Policy, start: float) -> None:
        self.policy = policy
        self.start = self.value = start
        self.steps: list[LuckStep] = []
        self.aimed = True  # whether points were what it was played for


def measured(told: list[Step], players: Sequence[str]) -> list[tuple[int, TurnLuck, bool]]:
    """Return for each turn that ended its seat (from 0), what its steps brought, and whether points were its aim.

    `told` are the standing events with their positions, as `game.retold` gives them, `players` the names by seat.
    Raises UsageError for rules under which a turn has no value.
    """
    found = []
    now: _Turn | None = None
    for event, before, after in told:
        turn = before.turn
        assert turn is not None
        if type(event) is events.Roll:
            now = now or _begin(before, turn)
            _rolled(now, event, before, turn, after)
        elif type(event) is events.Keep and now is not None:
            _kept(now, event, before, turn)
        elif type(event) is events.Bank and now is not None:
            _banked(now, event, before, turn, after)
        if after.ended is before.ended:
            continue
        ended = after.ended
        assert ended is not None
        if ended.number:
            found.append((ended.turn.seat, _summed(now, ended, before.rules, players), now is not None and now.aimed))
        now = None
    return found


def _summed(now: _Turn | None, ended: Ended, rules: Ruleset, players: Sequence[str]) -> TurnLuck:
    points = ended.posted - (rules.bust_penalty if ended.outcome in ("bust", "wiped-out") else 0)
    player = players[ended.turn.seat]
    if now is None:
        return TurnLuck(ended.number, player, None, None, None, points, ended.last, [])
    luck = sum((one.luck or 0.0 for one in now.steps), 0.0)
    loss = sum((one.loss or 0.0 for one in now.steps), 0.0)
    return TurnLuck(ended.number, player, now.start, luck, loss, points, ended.last, now.steps)


def _begin(position: Position, turn: Turn) -> _Turn:
    at = node(position.rules, turn)
    policy = best_policy(position, at, turn.points)
    made = _Turn(policy, policy.rolling(turn.points, at))
    made.aimed = not needed(position, turn)
    return made


def _rolled(now: _Turn, event: events.Roll, before: Position, turn: Turn, after: Position) -> None:
    at = node(before.rules, turn)
    if not now.policy.covers(at):
        now.policy = best_policy(before, at, turn.points)
    policy = now.policy
    if turn.phase == "kept":
        _decide(now, event.seq, "go-on", before, turn, policy.rolling(turn.points, at))
    rolled = after.turn
    if after.ended is not before.ended or rolled is None:
        value = 0.0
    elif rolled.phase == "busted":
        value = float(-before.rules.bust_penalty)
    elif rolled.phase == "rolled":
        choices = Chances.of(before.table).choices(rolled)
        value = max(policy.worth(rolled.points, one) for one in choices)
    else:
        value = policy.value(rolled.points, node(before.rules, rolled))
    now.steps.append(LuckStep(event.seq, "roll", event.dice, luck=value - now.value))
    now.value = value


def _kept(now: _Turn, event: events.Keep, before: Position, turn: Turn) -> None:
    policy = now.policy
    choices = Chances.of(before.table).choices(turn)
    kept = tuple(sorted(event.dice))
    value = next(policy.worth(turn.points, one) for one in choices if one.dice == kept)
    loss = value - now.value
    best = None
    if loss < -1e-9:
        best = f"keep {write(policy.best(turn.points, choices).dice)}"
    if any(wins_after(before, turn, one) for one in choices):
        now.aimed = False
    now.steps.append(LuckStep(event.seq, "keep", event.dice, loss=loss, real=len(choices) > 1, best=best))
    now.value = value


def _decide(now: _Turn, seq: int, kind: Literal["go-on", "bank"], before: Position, turn: Turn, value: float) -> None:
    """Note the decision to bank or to go on, which was best when it is worth what the turn was."""
    at = node(before.rules, turn)
    if wins_now(before, turn):
        now.aimed = False
    loss = value - now.value
    real = now.policy.banking(turn.points, at) is not None and not now.policy.must_bank(turn.points, at)
    best = None
    if loss < -1e-9:
        best = f"bank {turn.points}" if kind == "go-on" else "roll on"
    now.steps.append(LuckStep(seq, kind, None, loss=loss, real=real, best=best))
    now.value = value


def _banked(now: _Turn, event: events.Bank, before: Position, turn: Turn, after: Position) -> None:
    assert after.ended is not None
    if not event.settled:
        _decide(now, event.seq, "bank", before, turn, float(after.ended.posted))
    else:  # what ends a turn of a replay was nobody's decision
        now.steps.append(LuckStep(event.seq, "bank", None, loss=after.ended.posted - now.value))


def luck(game: Game) -> Luck:
    """Return luck and skill of every player of a game, and of every turn that ended."""
    _, told = retold(game)
    names = [seat.player for seat in game.position.seats]
    found = measured(told, names)
    players = [
        _player(name, [(turn, aimed) for seat, turn, aimed in found if seat == number and turn.start is not None])
        for number, name in enumerate(names)
    ]
    turns = [turn for _, turn, _ in found]
    sheets = sum(turn.start is None for turn in turns)
    return Luck(game.start.game, game.start.rules.name, players, turns, sheets)


def _player(player: str, turns: list[tuple[TurnLuck, bool]]) -> PlayerLuck:
    steps = [step for turn, _ in turns for step in turn.steps]
    rolls = [Extreme(step.seq, step.dice, step.luck) for step in steps if step.luck is not None and step.dice]
    losses = [step.loss or 0.0 for step in steps if step.real]
    lucky = sum((turn.luck or 0.0 for turn, _ in turns), 0.0)
    points = sum(turn.points for turn, _ in turns)
    blunders = [
        Blunder(step.seq, turn.turn, _said(step), step.best or "", step.loss)
        for turn, aimed in turns
        for step in turn.steps
        if aimed and step.real and step.loss is not None and step.loss <= -BLUNDER
    ]
    return PlayerLuck(
        player=player,
        turns=len(turns),
        start=sum((turn.start or 0.0 for turn, _ in turns), 0.0),
        luck=lucky,
        decisions=sum((turn.decisions or 0.0 for turn, _ in turns), 0.0),
        points=points,
        adjusted=points - lucky,
        real=len(losses),
        loss=sum(losses) / len(losses) if losses else None,
        luckiest=max(rolls, key=lambda one: one.luck, default=None),
        unluckiest=min(rolls, key=lambda one: one.luck, default=None),
        blunders=sorted(blunders, key=lambda one: one.loss),
    )


def _said(step: LuckStep) -> str:
    if step.kind == "keep":
        return f"kept {write(step.dice or ())}"
    return "rolled on" if step.kind == "go-on" else "banked"
