"""Lockstep: this module plays many simulated games at once, in a compiled loop, as `simulate` plays one.

It states no rule and no strategy. What a throw brings is what `chances` found on the fold, what the end of a turn
brings stands in `transitions.Ends`, and what a strategy does is asked of itself, once for each spot: who is at turn,
how that stands in the game, where the turn stands and what it holds. Games in which something else happens, such as an
instant win or a wipeout, are left to be played one by one. Needs numpy.
"""

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from tenklog import events, kernel, state
from tenklog.chances import Chances, Choice, Node, losing_throws
from tenklog.dice import MOST
from tenklog.kernel import AT_ONCE, BANKS, FOLLOWED, FREE, LATE, LOST, OTHER
from tenklog.lines import MOST_EVENTS
from tenklog.rows import is_free
from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.state import Position, opening, with_turn
from tenklog.strategies import MOST_TURNS, Strategy, all_throws, keep_most, next_event
from tenklog.tables import SETS
from tenklog.transitions import POSTS, ZERO, Ends, Ints
from tenklog.turns import play

MOST_NODES = 64  # of a ruleset's turns; with more of them games are played one by one
MOST_POINTS, MOST_TOTAL = 1 << 25, 1 << 29  # in a game that is not left to be played by itself: rows have 32 bits
MOST_LINES = MOST_EVENTS - 9  # of a game; a longer one is left to be played by itself
# Of rolls, which is a quarter of a gigabyte; games that would need more are left to be played by themselves.
MOST_ROWS = 1 << 22
BLOCK = 64  # random numbers that are drawn at once for each game
EVEN = 16  # numbers by which a column is longer than a power of 2: else all columns want the same places of a cache

_DICE = list(SETS)
# All throws of 1 to 6 dice, by number of dice and in the order of `strategies.fair`: their numbers, and sets.
_ALL = (throw for count in range(1, MOST + 1) for throw in all_throws(count))
THROWS = {throw: number for number, throw in enumerate(_ALL)}
SHOWN = np.array([SETS[tuple(sorted(throw))] for throw in THROWS], np.int16)
OFFSET = np.array([sum(6**one for one in range(1, count)) for count in range(MOST + 1)])
SIZE = 6.0 ** np.arange(MOST + 1)


class Board:
    """Where turns can stand under one ruleset, and what throws bring there: nodes and choices by number.

    For each node the dice that it throws, whether it must, and its chance to lose; for each node and set of dice the
    first of its choices (or LOST, or OTHER), how many, and the most points of one; for each choice the points, the node
    after it and the set of dice kept (-1 for none).
    """

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.nodes = [Node(rules.dice)]
        self.choices: list[Choice] = []
        chances = Chances.of(Table.of(rules))
        at = opening(("",), rules)
        first, many, most = [], [], []
        for node in self.nodes:
            begin = len(self.choices)
            options, counts, highest = np.full(len(SETS), OTHER), *np.zeros((2, len(SETS)), np.int64)
            found = chances.throw(node).choices if len(self.nodes) <= MOST_NODES else {}
            for dice, number in SETS.items():
                if dice in found:
                    options[number], counts[number] = len(self.choices), len(found[dice])
                    highest[number] = max(one.points for one in found[dice])
                    self.choices += found[dice]
                elif len(dice) == node.dice_left and self.few and _busts(at, node, dice):
                    options[number] = LOST
            self.nodes += dict.fromkeys(one.after for one in self.choices[begin:] if one.after not in self.nodes)
            first.append(options)
            many.append(counts)
            most.append(highest)
        numbers = {node: number for number, node in enumerate(self.nodes)}
        self.first, self.many, self.most = np.array(first), np.array(many), np.array(most)
        self.count = np.array([node.dice_left for node in self.nodes])
        self.must_throw = np.array([node.must_throw for node in self.nodes])
        self.bust_chance = np.array([losing_throws(at, node.turn(0, 0)) / 6**node.dice_left for node in self.nodes])
        self.points = np.array([one.points for one in self.choices] or [0])
        self.after = np.array([numbers[one.after] for one in self.choices] or [0])
        self.kept = np.array([SETS[one.dice] if one.dice else -1 for one in self.choices] or [-1])

    @property
    def few(self) -> bool:
        """Tell whether all nodes are known."""
        return len(self.nodes) <= MOST_NODES

    @property
    def small(self) -> bool:
        """Tell whether all nodes are known, and points are such that questions about them have room in a number."""
        return self.few and bool(self.points.max() < MOST_POINTS)


def _busts(at: Position, node: Node, dice: tuple[int, ...]) -> bool:
    """Tell whether a throw loses the turn by a mere bust."""
    rolled = play(with_turn(at, replace(node, must_throw=True).turn(0, 0)), events.Roll(1, player="", dice=dice))
    if rolled.turn is None:
        return False
    ended = play(rolled, events.Bust(1, player="")).ended
    return ended is not None and ended.outcome == "bust"


# -- what strategies do -----------------------------------------------------------------------------------------------


class Asked:
    """Answers to questions that are whole numbers, each asked once."""

    def __init__(self, ask: Callable[[int], int]) -> None:
        self._ask = ask
        self.questions, self.answers = np.zeros((2, 0), np.int64)  # in the order of questions

    def ask(self, questions: Ints) -> None:
        """Ask some questions that were not asked yet."""
        fresh = np.unique(questions)
        where = np.searchsorted(self.questions, fresh)
        self.answers = np.insert(self.answers, where, [self._ask(one) for one in fresh.tolist()])
        self.questions = np.insert(self.questions, where, fresh)


class Spots:
    """What strategies do, as they say themselves on a position that looks to them as the game does."""

    def __init__(self, board: Board, ends: Ends, strategies: Sequence[Strategy]) -> None:
        self.board, self.ends, self.strategies = board, ends, strategies
        self._positions: list[tuple[Strategy, Position]] = []
        self._rng = Random(0)  # noqa: S311  (none of these strategies draws numbers)
        self.contexts, self.keeps, self.stops = Asked(self._context), Asked(self._keep), Asked(self._stop)
        known = [one.name for one in strategies]
        self.same = np.array([known.index(name) for name in known])  # players of one strategy do the same
        # In states in which a bank brings the same, a strategy knows no difference.
        banks = np.column_stack([ends.minimum, ends.costs[:, [POSTS, ZERO]]])
        self.alike = (banks[:, None] == banks).all(2).argmax(1)
        # The keep of a strategy that looks at the dice alone is that of any spot.
        self.blind = np.array([one.keep is keep_most for one in strategies])
        self.looks = np.array([one.looks for one in strategies])
        # Where a seat stands that has not opened, and turns follow.
        plain = [kernel.context_of(number, 0, FOLLOWED, 0) for number in self.same.tolist()]
        self.contexts.ask(np.array(plain))
        self.plain = self.contexts.answers[np.searchsorted(self.contexts.questions, plain)]

    @property
    def asked(self) -> tuple[Asked, Asked, Asked]:
        """Return all that is asked: for contexts, what to keep, and whether to stop."""
        return self.contexts, self.keeps, self.stops

    def _context(self, question: int) -> int:
        """Make a position for a strategy, the state of its seat, how that stands, and by how many points."""
        question, points = divmod(question, 1 << 32)
        question, standing = divmod(question, 4)
        number, at = divmod(question, 64)
        points -= 1 << 31
        ends = self.ends
        own = replace(ends.states[at], player="own")
        other = replace(ends.states[0], player="other")
        position = opening(("own", "other"), ends.rules)
        if standing == AT_ONCE:
            # Whoever is alone is followed by nobody; else it is the seat at the end of the round.
            seats = (other, replace(own, total=points))[len(self.blind) == 1 :]
            position = replace(position, seats=seats, turn=replace(self._turn(position), seat=len(seats) - 1))
        elif standing == FOLLOWED:
            position = replace(position, seats=(own, other))
        else:
            seats = (replace(own, total=ends.threshold + points), replace(other, total=ends.threshold))
            position = replace(position, seats=seats, due=(0, 1) if standing == LATE else (0,))
        self._positions.append((self.strategies[number], position))
        return len(self._positions) - 1

    @staticmethod
    def _turn(position: Position) -> state.Turn:
        assert position.turn is not None
        return position.turn

    def _at(self, question: int) -> tuple[Strategy, Position, int]:
        """Return who is asked, where the turn stands, and what else is in the question."""
        context, points, node, number = question >> 42, question >> 16 & 0x3FFFFFF, question >> 10 & 63, question & 1023
        asked, position = self._positions[context]
        turn = self.board.nodes[node].turn(self._turn(position).seat, points)
        return asked, with_turn(position, turn), number

    def _keep(self, question: int) -> int:
        """Return the number of the choice, from that of the first one."""
        asked, position, number = self._at(question)
        node, dice = question >> 10 & 63, _DICE[number]
        must = replace(self._turn(position), phase="to-roll")
        player = position.seats[must.seat].player
        rolled = play(with_turn(position, must), events.Roll(1, player=player, dice=dice))
        begin = int(self.board.first[node, number])
        choices = self.board.choices[begin : begin + int(self.board.many[node, number])]
        return choices.index(asked.keep(rolled, self._turn(rolled), self._rng))

    def _stop(self, question: int) -> int:
        asked, position, _ = self._at(question)
        banks = isinstance(next_event(position, asked, self._rng), events.Bank)
        return BANKS * banks + FREE * is_free(position)


# -- playing ----------------------------------------------------------------------------------------------------------

Columns = dict[str, Ints]
ROLLS = (
    "game", "player", "seat", "turn", "round", "roll", "throw", "shown", "node", "before", "choice", "kept", "points",
    "after", "stop", "lost", "ended",
)  # fmt: skip
# What is noted of `opened` first is the state of the seat.
TURNS = (
    "game", "player", "seat", "turn", "round", "kind", "points", "posted", "change", "before", "total", "lead", "rolls",
    "dice_left", "hot_dice", "opened", "last", "busts_running", "scores_running",
)  # fmt: skip
FLAGS = {"lost", "ended", "last"}


class Played(Struct, frozen=True):
    """Columns of all rolls and all turns of games, game after game; only of those that were played to their ends.

    By game: whether that is so, and its rounds; by game and seat: the total, the turns, the busts and whether the
    player has opened.
    """

    rolls: Columns
    turns: Columns
    over: Ints
    rounds: Ints
    total: Ints
    count: Ints
    busts: Ints
    opened: Ints


class Lockstep:
    """Plays games of one ruleset by the strategies of its players."""

    def __init__(self, board: Board, ends: Ends, strategies: Sequence[Strategy]) -> None:
        self.board, self.ends = board, ends
        self.spots = Spots(self.board, self.ends, strategies)
        self.seats = len(strategies)
        self.last = ends.last_turns(self.seats)[self.seats]  # that follow the first to reach the target, by the seat
        # Room for the rows of games that are being played; it is used again, and doubled when it is full.
        self._rolls, self._turns = (np.empty((len(names), (1 << 12) + EVEN), np.int32) for names in (ROLLS, TURNS))

    @staticmethod
    def of(rules: Ruleset, strategies: Sequence[Strategy]) -> "Lockstep | None":
        """Return what plays games under some rules by some strategies; None when they can't be played so at all."""
        if any(one.draws for one in strategies) or not (ends := Ends(rules)).simple:
            return None
        return Lockstep(Board(rules), ends, strategies)

    def play(self, rngs: Sequence[Random], first: Ints) -> Played:
        """Play games, each with its own dice; `first` is the player who sits in the first seat."""
        board, ends, spots, count = self.board, self.ends, self.spots, len(rngs)
        draws = np.zeros((count, BLOCK))
        waits, question = np.full(count, kernel.DRAWS), np.zeros(count, np.int64)
        # Seat, node, points, rolls, hot dice, turns, round, last turns due, how many of the draws were used, lines, and
        # who is playing.
        games = np.zeros((count, 11), np.int64)
        games[:, 6:] = 1, -1, BLOCK, 1, -1
        seats = np.zeros((count, self.seats, 6), np.int64)  # total, state, busts and scores running, turns, busts
        over = np.zeros(count, bool)
        rolled = ended = 0
        todo = np.arange(count) if board.small else np.zeros(0, np.int64)
        while len(todo):
            for one in todo[waits[todo] == kernel.DRAWS].tolist():
                draw = rngs[one].random
                draws[one], games[one, 8] = [draw() for _ in range(BLOCK)], 0
            if rolled == self._rolls.shape[1] or ended == self._turns.shape[1]:
                if self._rolls.shape[1] >= MOST_ROWS:
                    break
                self._rolls, self._turns = (
                    np.concatenate([one, one[:, EVEN:]], 1) for one in (self._rolls, self._turns)
                )
            for kind, asked in zip((kernel.CONTEXT, kernel.KEEP, kernel.STOP), spots.asked, strict=True):
                if len(fresh := question[todo[waits[todo] == kind]]):
                    asked.ask(fresh)
            answers = (array for asked in spots.asked for array in (asked.questions, asked.answers))
            rolled, ended = kernel.simulate(
                todo, waits, question, draws, SIZE, OFFSET, SHOWN, board.first, board.many, board.most, board.count,
                board.must_throw, board.points, board.after, board.kept, board.rules.dice, ends.minimum, ends.costs,
                ends.after, ends.threshold, self.last, spots.same, spots.alike, spots.looks, spots.blind, spots.plain,
                *answers, MOST_POINTS, MOST_TOTAL, MOST_TURNS, MOST_LINES, board.rules.tie == "shared", first, games,
                seats, over, self._rolls, self._turns, rolled, ended,
            )  # fmt: skip
            todo = todo[waits[todo] != kernel.GONE]
        return played(self._rolls[:, :rolled], self._turns[:, :ended], over, games[:, 6], seats, self.ends)


def played(rolls: Ints, turns: Ints, over: Ints, rounds: Ints, seats: Ints, ends: Ends) -> Played:
    """Return games from the rows of their rolls and turns, their rounds, and how their seats stand."""
    opened = np.array([one.opened for one in ends.states])
    of_turns = _columns(TURNS, turns, over)
    of_turns["opened"] = opened[of_turns["opened"]]
    return Played(
        _columns(ROLLS, rolls, over), of_turns, over, rounds, seats[..., 0], seats[..., 4], seats[..., 5],
        opened[seats[..., 1]],
    )  # fmt: skip


def _columns(names: Sequence[str], made: Ints, over: Ints) -> Columns:
    """Name rows of columns and put them game after game, without those of games that are not over."""
    game = made[0]
    order = np.argsort(game, kind="stable")
    order = order[over[game[order]]]
    found = {name: column[order] for name, column in zip(names, made, strict=True)}
    return found | {name: found[name] > 0 for name in FLAGS & found.keys()}
