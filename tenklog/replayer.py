"""Replay: this module turns a recorded log into a new, legal log under other rules, and says where the two part.

It never repairs in silence. The unit is the turn: decisions that are legal here are taken over; from the first that
is not, nothing recorded in that turn is used and a policy settles it, which the result calls by its name (a guess,
where it is one).

Where the design leaves it open: a turn in progress at the log's end, or one that `leave` dropped, is walked and
settled as any other, but stands in no count, for it did not end. Notes are always taken over, expects where they hold
here. A rule change after the end here is dropped without a word: no turn is played by it. A divergence calls players
as the recorded log calls them in the end; seats are what is compared, so a rename that did not happen here changes
nothing. Under `stop` the turn of the guess counts as settled and all after it as never happened, without a divergence
each: the list ends with the guess.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from math import sqrt
from random import Random
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace as changed

from tenklog import events, explain
from tenklog.game import Game
from tenklog.projections import Standing, names, standings
from tenklog.recorded import Step, agreed, steps
from tenklog.rules import Ruleset, Value
from tenklog.state import Ended
from tenklog.walk import GUESSES, Found, Kind, Settle, Stop, Walked, Walker

__all__ = [
    "GUESSES", "Became", "Chance", "Divergence", "Kind", "Replay", "Replayed", "ReplayedTurn", "Rescored", "Settle",
    "Status", "TurnCounts", "replay",
]  # fmt: skip

Status = Literal["finished", "abandoned", "unfinished", "stopped"]
Became = Literal["same", "rescored", "settled", "never-happened"]


class Divergence(Struct, frozen=True):
    """Where the replay parts from the log: `seq` is the first event not taken over, `turn` the recorded turn from 1.

    For a consequence, and where nothing of the turn was left to take over, `seq` is the turn's last event. `recorded`
    and `replayed` are the changes of the own total by that turn, null where there is none; `turn` is null for a turn
    that `leave` dropped and for what is no turn, `player` for an abandon.
    """

    seq: int
    turn: int | None
    player: str | None
    kind: Kind
    guess: bool
    recorded: int | None
    replayed: int | None
    text: str


class TurnCounts(Struct, frozen=True):
    """How the recorded turns that ended are divided; the four add up to all of them."""

    same: int = 0
    rescored: int = 0
    settled: int = 0
    never_happened: int = 0


class ReplayedTurn(Struct, frozen=True):
    """What became of a recorded turn that ended, by its number from 1.

    `kind` is the divergence by which it was settled, `change` that of the own total here, each null without one.
    """

    turn: int
    became: Became
    kind: Kind | None
    change: int | None


class Rescored(Struct, frozen=True):
    """A recorded turn (from 1) whose decisions were all taken over, and that changes the own total otherwise here."""

    turn: int
    round: int
    player: str
    recorded: int
    replayed: int


class Chance(Struct, frozen=True):
    """A player's estimated chance to win, shared wins included, from 0 to 1, and its standard error."""

    player: str
    seat: int
    chance: float
    error: float


class Replay(Struct, frozen=True):
    """The outcome under one ruleset; `leaders` only of a game that these rules would have continued.

    Under the policy `sample` this is the first of `samples` games, and `chances` count who won in all of them.
    """

    rules: str
    settle: Settle
    status: Status
    winners: list[str]
    leaders: list[str]
    standings: list[Standing]
    guesses: int
    turns: TurnCounts
    divergences: list[Divergence]
    rescored: list[Rescored]
    chances: list[Chance] = []
    samples: int = 0
    seed: int | None = None


class Replayed(Struct, frozen=True):
    """A replay with the log that it wrote, the game that this log folds to, and each recorded turn that ended."""

    replay: Replay
    log: list[events.AnyEvent]
    game: Game
    turns: list[ReplayedTurn]
    seats: dict[int, int | None]  # recorded seat -> seat here, None for whoever could not join


def replay(
    game: Game,
    log: list[events.AnyEvent],
    rules: Ruleset | None,
    *,
    settle: Settle = "bank",
    keep_rule_changes: bool = False,
    changes: dict[str, Value] | None = None,
    of: str,
    name: str | None = None,
    samples: int = 500,
    seed: int = 0,
    progress: Callable[[int], object] = lambda count: None,
) -> Replayed:
    """Replay a folded log under other rules, or under its own (`rules` None).

    `of` is the fingerprint of the log (SEQ:H), `name` the id of the new game, `changes` are settings on top of the
    rules. The policy `sample` plays guesses, and the game beyond the log's end, on by the best policy, `samples` times
    with dice from `seed`, and tells `progress` of each. Raises UsageError when recorded rule changes that are to be
    kept contradict the rules, and under `sample` for rules under which no policy is known to be best.
    """
    asked, kept = agreed(game, rules, changes or {}, keep_rule_changes)
    start = changed(game.start, seq=1, id=None, game=name or game.start.game, rules=asked, origin="replay", of=of)
    walker = Walker(game, start, kept, "stop" if settle == "sample" else settle)
    taken = steps(game, log, own=rules is None and not changes)
    stopped = False
    chances: list[Chance] = []
    if settle == "sample":
        walker, chances = _sampled(walker, taken, samples, seed, progress)
    else:
        try:
            for step in taken:
                walker.step(step)
        except Stop:
            stopped = True
    there = _numbered(game)
    here = _numbered(walker.game)
    found = [*walker.found, *_consequences(walker, there, here)]
    divergences = [_divergence(one, there, here) for one in sorted(found, key=lambda one: one.seq)]
    turns = _turns(walker, there, here)
    count = Counter(one.became for one in turns)
    position = walker.position
    status: Status = "stopped" if stopped else "unfinished"
    if position.turn is None:
        status = "abandoned" if position.abandoned else "finished"
    best = max(seat.total for seat in position.seats if not seat.left)
    leaders = [seat.player for seat in position.seats if not seat.left and seat.total == best]
    outcome = Replay(
        rules="recorded" if rules is None else rules.name,
        settle=settle,
        status=status,
        winners=names(position, position.winners),
        leaders=leaders if status == "unfinished" else [],
        standings=standings(position),
        guesses=sum(one.guess for one in divergences),
        turns=TurnCounts(count["same"], count["rescored"], count["settled"], count["never-happened"]),
        divergences=divergences,
        rescored=[
            Rescored(one.number, one.round, walker.names[one.turn.seat], one.change, other.change)
            for _, one, other in _both(walker, there, here)
            if one.change != other.change
        ],
        chances=chances,
        samples=samples if chances else 0,
        seed=seed if chances else None,
    )
    seats = {seat: seat if seat < len(position.seats) else None for seat in range(len(game.position.seats))}
    return Replayed(outcome, walker.log, walker.game, turns, seats)


def _sampled(
    walker: Walker, taken: list[Step], samples: int, seed: int, progress: Callable[[int], object]
) -> tuple[Walker, list[Chance]]:
    """Walk to the first guess once, and from there on many times; return the first sample, and who won how often.

    No chances where nothing was left to chance, or the game was abandoned.
    """
    at = len(taken)
    for number, step in enumerate(taken):
        before = walker.fork()
        try:
            walker.step(step)
        except Stop:
            walker, at = before, number
            break
    if at == len(taken) and walker.position.turn is None:
        return walker, []
    first: Walker | None = None
    wins = [0] * len(walker.position.seats)
    for number in range(samples):
        rng = Random(f"tenklog sample {seed} {number}")  # noqa: S311  (dice that can be thrown again the same way)
        one = walker.fork(rng)
        for step in taken[at:]:
            one.step(step)
        if not one.position.abandoned:
            one.play_out(rng)
        wins += [0] * (len(one.position.seats) - len(wins))
        for seat in one.position.winners:
            wins[seat] += 1
        first = first or one
        progress(1)
    assert first is not None
    if first.position.abandoned:
        return first, []
    rates = [won / samples for won in wins]
    errors = [sqrt(rate * (1 - rate) / samples) for rate in rates]
    return first, [
        Chance(walker.names[seat], seat + 1, rate, error)
        for seat, (rate, error) in enumerate(zip(rates, errors, strict=True))
    ]


def _numbered(game: Game) -> dict[int, Ended]:
    """Return the turns that ended by their number; those that `leave` dropped have none."""
    return {ended.number: ended for ended in game.position.turns() if ended.number}


def _both(walker: Walker, there: dict[int, Ended], here: dict[int, Ended]) -> Iterator[tuple[Walked, Ended, Ended]]:
    """Yield the turns whose every decision was taken over, with how they ended there and here."""
    for walked in walker.walked:
        number = walked.recorded.number
        if walked.mode == "walk" and number in there and walked.here is not None:
            yield walked, there[number], here[walked.here]


def _turns(walker: Walker, there: dict[int, Ended], here: dict[int, Ended]) -> list[ReplayedTurn]:
    """Return what became of each turn that ended there: what no walk tells of never happened."""
    turns = {number: ReplayedTurn(number, "never-happened", None, None) for number in there}
    for _, one, other in _both(walker, there, here):
        became: Became = "same" if one.change == other.change else "rescored"
        turns[one.number] = ReplayedTurn(one.number, became, None, other.change)
    for found in walker.found:  # of a turn that is settled, the last divergence is what settled it
        if found.walked is not None and found.walked.mode == "settled":
            number, ended = found.walked.recorded.number, found.walked.here
            if number in there:
                change = None if ended is None else here[ended].change
                turns[number] = ReplayedTurn(number, "settled", found.kind, change)
    return [turns[number] for number in sorted(turns)]


def _consequences(walker: Walker, there: dict[int, Ended], here: dict[int, Ended]) -> Iterator[Found]:
    """Yield what turns post differently although each of their decisions was taken over."""
    for walked, one, other in _both(walker, there, here):
        sheet = not one.turn.rolls
        if one.posted != other.posted and (sheet or not other.posted):
            player = walker.names[walked.recorded.seat]
            text = explain.posts(player, one, other, walked.why)
            yield Found(walked.recorded.moves[-1], "no-dice" if sheet else "posts-zero", player, text, walked)


def _divergence(found: Found, there: dict[int, Ended], here: dict[int, Ended]) -> Divergence:
    walked = found.walked
    number = walked.recorded.number if walked else None
    return Divergence(
        seq=found.seq,
        turn=number,
        player=found.player,
        kind=found.kind,
        guess=found.kind in GUESSES,
        recorded=there[number].change if number in there else None,
        replayed=here[walked.here].change if walked and walked.here else None,
        text=found.text + ".",
    )
