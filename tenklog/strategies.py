"""Strategies: this module plays turns by named strategies, with dice from a seeded generator.

A strategy is two small functions: what to keep of a roll, and whether to bank. Only one that plays whatever is legal
steals and challenges, which takes a third.
Equal seeds give equal games on every platform: the generator is Python's Mersenne Twister, one number a throw.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from random import Random

from msgspec import Struct

from tenklog import advice, events, state
from tenklog.chances import Chances, Choice, Node, node
from tenklog.dice import MOST, Dice, throws
from tenklog.errors import UsageError, nearest
from tenklog.scoring import Table
from tenklog.state import Position, Turn
from tenklog.turns import play

Throw = Callable[[Random, int], Dice]
MOST_TURNS = 5_000


class Strategy(Struct, frozen=True):
    """How somebody plays: what to keep of the roll on the table, and whether to bank where both is legal.

    Both may look at what the turn holds and where it stands, and at whether the seat has opened. One that `looks`
    further knows its total from the target on, and in last turns how far it leads or is behind; one that `draws` also
    draws numbers of its own.
    """

    name: str
    keep: Callable[[Position, Turn, Random], Choice]
    banks: Callable[[Position, Turn, Random], bool]
    looks: bool = False
    draws: bool = False
    begins: Callable[[Position, Turn, Random, int], events.Event | None] | None = None  # what may precede a first throw


# -- what to keep -----------------------------------------------------------------------------------------------------


def keep_best(position: Position, turn: Turn, rng: Random) -> Choice:
    """Keep what makes the turn worth most."""
    return advice.best_keep(position, turn)


def keep_most(position: Position, turn: Turn, rng: Random) -> Choice:
    """Keep the most points, then the most dice."""
    return _most(Chances.of(position.table).choices(turn))


@lru_cache(maxsize=1 << 16)
def _most(choices: tuple[Choice, ...]) -> Choice:
    return min(choices, key=lambda one: (-one.points, -len(one.dice), one.dice))


def keep_any(position: Position, turn: Turn, rng: Random) -> Choice:
    """Keep whatever is legal, each as likely as the other."""
    choices = Chances.of(position.table).choices(turn)
    return choices[int(rng.random() * len(choices))]


# -- whether to bank --------------------------------------------------------------------------------------------------


def bank_best(position: Position, turn: Turn, rng: Random) -> bool:
    """Bank when the turn is worth no more than what it holds."""
    return advice.best_is_to_bank(position, turn)


def bank_at_once(position: Position, turn: Turn, rng: Random) -> bool:
    """Bank as soon as that posts something."""
    return state.worth_banking(position, turn, turn.points)[0] > 0


def bank_greedily(position: Position, turn: Turn, rng: Random) -> bool:
    """Bank unless the next throw alone, kept for most points, gains on average."""
    kept, gain = _next_throw(position.table, node(position.rules, turn))
    cost = position.rules.bust_penalty * (1 - kept)
    return kept * turn.points + gain - cost <= turn.points and bank_at_once(position, turn, rng)


@lru_cache(maxsize=1 << 12)
def _next_throw(table: Table, at: Node) -> tuple[float, float]:
    """Return the chance that the next throw does not lose the turn, and the points that it adds on average."""
    throw = Chances.of(table).throw(at)
    gain = sum(throws(dice) * max(one.points for one in choices) for dice, choices in throw.choices.items())
    return 1 - (throw.lost + throw.won) / throw.total, gain / throw.total


def bank_any(position: Position, turn: Turn, rng: Random) -> bool:
    """Bank every other time."""
    return rng.random() < 0.5


# -- what comes before the first throw --------------------------------------------------------------------------------


def begin_any(position: Position, turn: Turn, rng: Random, seq: int) -> events.Event | None:
    """Challenge anybody every other time, and steal every other time, where that is legal."""
    player = position.seats[turn.seat].player
    if not state.challenge_ban(position, turn) and rng.random() < 0.5:
        others = state.opponents(position, turn)
        return events.Challenge(seq, player=player, opponent=others[int(rng.random() * len(others))])
    if not state.steal_ban(position, turn) and rng.random() < 0.5:
        return events.Steal(seq, player=player)
    return None


# -- the strategies ---------------------------------------------------------------------------------------------------


def _hold(points: int) -> Strategy:
    return Strategy(
        f"hold:{points}",
        keep_most,
        lambda position, turn, rng: turn.points >= points and bank_at_once(position, turn, rng),
    )


def _dice(least: int) -> Strategy:
    return Strategy(
        f"dice:{least}",
        keep_most,
        lambda position, turn, rng: turn.dice_left < least and bank_at_once(position, turn, rng),
    )


NAMED = {
    "best": Strategy("best", keep_best, bank_best, looks=True),
    "greedy": Strategy("greedy", keep_most, bank_greedily),
    "cautious": Strategy("cautious", keep_most, bank_at_once),
    "random": Strategy("random", keep_any, bank_any, draws=True, begins=begin_any),
}
BEST = NAMED["best"]
_WITH_NUMBER = {"hold": (_hold, 1, 1_000_000, "points", 350), "dice": (_dice, 2, MOST, "dice", 3)}
WORDS = "best, greedy, cautious, random, hold:POINTS or dice:LEFT"


def strategy(text: str) -> Strategy:
    """Return the strategy of a name, `hold:350` and `dice:3` among them; raise UsageError for anything else."""
    if text in NAMED:
        return NAMED[text]
    name, colon, number = text.partition(":")
    if name not in _WITH_NUMBER:
        raise UsageError(f"no strategy {text!r}", nearest(name, [*NAMED, *_WITH_NUMBER]) or WORDS)
    make, low, high, unit, such = _WITH_NUMBER[name]
    if not (colon and number.isascii() and number.isdigit() and len(number) <= 7 and low <= int(number) <= high):
        raise UsageError(f"{text!r} is no strategy", f"{name}:N with {low} to {high} {unit}, such as {name}:{such}")
    return make(int(number))


# -- playing ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=MOST)
def all_throws(count: int) -> list[Dice]:
    """Return every throw of some dice, in the order in which `fair` numbers them."""
    return list(product(range(1, 7), repeat=count))


def fair(rng: Random, count: int) -> Dice:
    """Throw dice, each face as likely as the other."""
    return all_throws(count)[int(rng.random() * 6**count)]


def next_event(position: Position, strategy: Strategy, rng: Random, seq: int = 1, throw: Throw = fair) -> events.Event:
    """Return the next event of the turn in progress, played by a strategy; it is legal."""
    turn = position.turn
    assert turn is not None
    player = position.seats[turn.seat].player
    if turn.phase == "busted":
        return events.Bust(seq, player=player)
    if turn.phase == "rolled":
        dice = strategy.keep(position, turn, rng).dice
        return events.Keep(seq, player=player, dice=dice, aside=position.table.aside(dice))
    if turn.phase == "kept" and (
        state.must_bank(position, turn)
        or (not state.bank_ban(position, turn)[0] and strategy.banks(position, turn, rng))
    ):
        return events.Bank(seq, player=player, points=turn.points)
    if not turn.with_dice and strategy.begins and (first := strategy.begins(position, turn, rng, seq)):
        return first
    return events.Roll(seq, player=player, dice=throw(rng, turn.dice_left))


def play_out(position: Position, strategies: Sequence[Strategy], rng: Random, throw: Throw = fair) -> Position:
    """Return the position at the end of the game, when each seat plays by its strategy; or after very many turns."""
    turns = 0
    while position.turn is not None and turns < MOST_TURNS:
        ended = position.ended
        position = play(position, next_event(position, strategies[position.turn.seat], rng, 1, throw))
        turns += position.ended is not ended
    return position
