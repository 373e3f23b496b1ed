"""Chances: this module finds out what a throw can bring, by playing each of its sets of dice on the fold itself.

What the rest of a turn depends on, its points aside, is a `Node`; what a throw from there brings is its `Throw`. No
rule is stated here, so whatever the rules make of a throw holds for the odds as well.
"""

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from tenklog import events, state
from tenklog.dice import Dice, sets, throws
from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.state import Position, Turn, opening, with_turn
from tenklog.turns import play

_SETS = {count: [dice for dice in sets() if len(dice) == count] for count in range(1, 7)}


class Node(Struct, frozen=True, order=True):
    """What the rest of a turn depends on, its points aside; fields as in `state.Turn`, zero where they don't matter.

    At a turn's start, after a steal and after a last die that may be thrown again, the dice must be thrown.
    """

    dice_left: int
    must_throw: bool = True
    kept: Dice = ()  # since the last throw of all dice, under build_on_kept
    worth: int = 0
    tries: int = 0
    successes: int = 0  # where the bonus of the last die grows
    free: bool = False

    def turn(self, seat: int, points: int) -> Turn:
        """Return a turn that stands here with these points."""
        return Turn(
            seat, self.dice_left, "to-roll" if self.must_throw else "kept", 1, points, (), (), self.kept, self.worth,
            self.tries, self.successes, self.free,
        )  # fmt: skip


def node(rules: Ruleset, turn: Turn) -> Node:
    """Return where a turn stands that is neither rolled nor lost."""
    builds = rules.build_on_kept and turn.dice_left < rules.dice
    grows = rules.last_die_rolls > 1 and rules.last_die_step > 0
    return Node(
        turn.dice_left,
        turn.phase == "to-roll",
        turn.kept if builds else (),
        turn.worth if builds else 0,
        turn.tries,
        turn.successes if grows else 0,
        turn.free and turn.dice_left == rules.dice,
    )


def thrown(rules: Ruleset, turn: Turn) -> Node:
    """Return from where a roll on the table was thrown; whether it was the last die's first throw matters no more."""
    at = node(rules, turn)
    return Node(at.dice_left, at.dice_left == rules.dice, at.kept, at.worth, 0, at.successes)


class Choice(Struct, frozen=True):
    """A way to go on after a throw: the dice kept (ascending), the points that they add, and where the turn stands.

    Nothing is kept of a blank throw, nor of a last die that is thrown again.
    """

    dice: Dice
    points: int
    after: Node


class Throw(Struct, frozen=True):
    """What the throw of a node's dice brings, out of 6**N ordered throws: how many lose the turn (wipeouts among
    them), how many win the game, and for each other set of dice what may be kept of it.
    """  # noqa: D205

    total: int
    lost: int
    won: int
    choices: dict[Dice, tuple[Choice, ...]]


class Chances:
    """What every throw under one ruleset can bring; worked out when first asked for. Use `Chances.of`.

    Who asks what some throws can bring gives those, by the number of dice; the counts of a `Throw` are then of them.
    """

    def __init__(self, table: Table, throws_: Mapping[int, list[Dice]] = _SETS) -> None:
        self.rules = table.rules
        self._sets = throws_
        self._start = opening(("",), table.rules)
        self._throws: dict[Node, Throw] = {}

    @staticmethod
    def of(table: Table) -> "Chances":
        """Return the chances of a ruleset's score table, shared by all who ask."""
        return _chances(table)

    def throw(self, at: Node) -> Throw:
        """Return what the throw of a node's dice brings."""
        if at.free or not at.must_throw:
            at = Node(at.dice_left, True, at.kept, at.worth, at.tries, at.successes)
        found = self._throws.get(at)
        if found is None:
            found = self._throws[at] = self._find(at)
        return found

    def choices(self, turn: Turn) -> tuple[Choice, ...]:
        """Return what may be kept of the roll on the table."""
        return self.throw(thrown(self.rules, turn)).choices[tuple(sorted(turn.roll))]

    def _find(self, at: Node) -> Throw:
        lost = won = 0
        choices = {}
        before = with_turn(self._start, at.turn(0, 0))
        for dice in self._sets[at.dice_left]:
            rolled = play(before, events.Roll(1, player="", dice=dice))
            turn = rolled.turn
            if turn is None:
                won += throws(dice)
            elif turn.phase == "busted":
                lost += throws(dice)
            elif turn.phase == "rolled":
                choices[dice] = tuple(self._keep(rolled, keep) for keep in state.keeps(rolled, turn))
            else:
                choices[dice] = (Choice((), turn.points, node(self.rules, turn)),)
        return Throw(6**at.dice_left, lost, won, choices)

    def _keep(self, rolled: Position, dice: Dice) -> Choice:
        aside = rolled.table.aside(dice)  # every other choice leaves as many dice
        turn = play(rolled, events.Keep(1, player="", dice=dice, aside=aside)).turn
        assert turn is not None
        return Choice(dice, turn.points, node(self.rules, turn))


@lru_cache(maxsize=64)
def _chances(table: Table) -> Chances:
    return Chances(table)


def losing_throws(position: Position, turn: Turn) -> int:
    """Count which of the 6**N ordered throws of the N dice to be thrown next lose the turn, wipeouts included.

    No bust: a blank throw that counts, and a last die that scores nothing but may be thrown again.
    """
    if turn.tries or position.rules.build_on_kept:
        return Chances.of(position.table).throw(node(position.rules, turn)).lost
    return _losing_throws(position.table, turn.dice_left)


@lru_cache(maxsize=1024)
def _losing_throws(table: Table, dice_left: int) -> int:
    """Count the throws of some dice that lose a turn where their number is all that matters."""
    return Chances.of(table).throw(Node(dice_left)).lost
