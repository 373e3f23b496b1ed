"""Policy: this module computes what a turn is worth, and how to play it for the most points.

The points of a turn are what it posts, less `bust_penalty` when it busts; what a win, a wipeout, a streak, a challenge
or a steal brings or costs beside them is the table's, not the turn's. A turn is a Markov decision process over points
and nodes (`chances`); it is solved backward from the points above which each best move is proved never to change again.
"""

from bisect import bisect_left
from collections.abc import Callable
from copy import copy
from functools import lru_cache
from itertools import count
from math import ceil, inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec.structs import replace

from tenklog import state
from tenklog.chances import Chances, Choice, Node
from tenklog.graph import MOST_NODES, Graph, too_large
from tenklog.horizon import Horizon, crossing, endless
from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.state import Position, Seat, Terms, Turn

if TYPE_CHECKING:
    from tenklog.stairs import Stairs

FAR = 10**9  # points beyond every minimum, target and bound
MOST_STEPS = 100_000_000  # of a solution, about ten seconds at most
MOST_VALUES = 4_000_000  # of all policies that are remembered; each takes 50 bytes
CLOSE = 1e-9
FEW = 4  # solutions with a minimum that take less time than to load numpy
_FILLED = count()  # of them

Look = Callable[[list[float]], tuple[float, ...]]


class Task(NamedTuple):
    """How to work out what a throw is worth: from the points, and from values at some places of the table."""

    number: int
    twin: int | None
    total: int
    fixed: int
    slope: int
    single: list[tuple[int, int]]  # weight and place
    several: list[tuple[int, Look]]  # weight, and what looks the values up


class Policy:
    """What a turn is worth, and how to play it for the most points. Use `best_policy`.

    Points are those of the turn so far; values are expected points of the turn.
    """

    def __init__(self, chances: Chances, graph: Graph, position: Position, rest: int) -> None:
        self.rules = chances.rules
        self.chances = chances
        self.graph = graph
        self.rest = rest
        self._levels = 0  # that are solved, from the lowest on
        # In rows, as `graph` has them; below a minimum in rows of its own, so that all minimums share those above it.
        self._values: list[float] = []
        self._below: list[float] = []
        self.move_to(position)
        banks = [self._bank(FAR, at) for at in graph.nodes]
        self._forced = [forced or throw is None for (_, forced), throw in zip(banks, graph.throws, strict=True)]
        slopes = [None if posted is None else posted / FAR for posted, _ in banks]
        self._horizon = Horizon(graph, self.rules, slopes, self._forced)

    def move_to(self, position: Position) -> None:
        """Take over what a position says about the turn, before that is solved."""
        self._position = position
        self._found: dict[tuple[int, object], Any] = {}  # decisions taken before
        limits = state.terms(position, Node(self.rules.dice).turn(0, 0))
        # From these points on it matters no more to a bank how many they are.
        self._even = max(0, limits.minimum, limits.previous + 1)
        if limits.exact is not None:
            self._even = max(self._even, limits.exact - limits.total + 1)

    @property
    def size(self) -> int:
        """Return how many values it was solved for."""
        return len(self._below) or len(self._values)

    @property
    def bound(self) -> float:
        """Return the points from which on each value is a line."""
        return max(self._even, self._horizon.start)

    # -- what one may ask -------------------------------------------------------------------------

    def covers(self, at: Node) -> bool:
        """Tell whether a node and whatever its throw leads to are known; those of a growing last die have no end."""
        return self.graph.find(at) is not None and (not at.successes or at.successes < self.graph.successes)

    def value(self, points: int, at: Node) -> float:
        """Return what the turn is worth at a node, best played."""
        number = self.graph.number.get(at)
        if number is None:
            return self.rolling(points, at)
        level = (points - self.rest) // self.graph.step
        if level < self._levels:
            return self._stored(number - len(self.graph.nodes) * (level + 1))
        slope, offset = self._horizon.lines[number]
        return slope * points + offset

    def rolling(self, points: int, at: Node) -> float:
        """Return what the turn is worth when the dice are thrown now."""
        number = self.graph.find(at)
        assert number is not None, at
        level = (points - self.rest) // self.graph.step
        if level >= self._levels:
            slope, offset = self._horizon.rolls[number]
            return slope * points + offset
        there, throw = self.graph.nodes[number], self.graph.throws[number]
        value = self.value(points, there)
        posted, forced = self._bank(points, there)
        if throw is None or posted is None or (posted < value and not forced):
            return value
        below = len(self.graph.nodes) * level
        won = sum(
            way.weight * max([self._stored(place - below) for place in way.places]) for way in self.graph.ways[number]
        )
        return (won - throw.lost * self.rules.bust_penalty) / throw.total

    def _stored(self, place: int) -> float:
        """Return the value at a place, counted from the end."""
        return self._below[place] if -place <= len(self._below) else self._values[place]

    def banking(self, points: int, at: Node) -> int | None:
        """Return what banking now posts; None where that is illegal."""
        return self._bank(points, at)[0]

    def must_bank(self, points: int, at: Node) -> bool:
        """Tell whether banking is forced."""
        return self._bank(points, at)[1]

    def banks(self, points: int, at: Node) -> bool:
        """Tell whether to bank is best here (also when to throw is as good)."""
        key = (points, at)
        found = self._found.get(key)
        if found is None:
            posted, forced = self._bank(points, at)
            found = posted is not None and (forced or posted >= self.rolling(points, at) - CLOSE)
            self._found[key] = found
        return bool(found)

    def worth(self, points: int, choice: Choice) -> float:
        """Return what the turn is worth after a choice is made at these points."""
        return self.value(points + choice.points, choice.after)

    def best(self, points: int, choices: tuple[Choice, ...]) -> Choice:
        """Return the best of the choices that `chances` gives; of equal ones most points, most dice, smallest dice."""
        key = (points, id(choices))  # to hash what they are takes longer than to decide
        known = self._found.get(key)
        if known is not None and known[0] is choices:
            return cast(Choice, known[1])
        worth = [round(self.worth(points, one), 7) for one in choices]
        most = max(worth)
        equal = [one for one, value in zip(choices, worth, strict=True) if value == most]
        best = max(equal, key=lambda one: (one.points, len(one.dice), [-die for die in one.dice]))
        self._found[key] = (choices, best)
        return best

    def bank_at(self, dice_left: int) -> int | None:
        """Return from how many points on to bank with so many dice left, whatever was kept; None when never."""
        found = -1
        for number, at in enumerate(self.graph.nodes):
            if (
                at.dice_left != dice_left
                or at.must_throw
                or at.free
                or at.successes
                or self.graph.throws[number] is None
            ):
                continue
            # From the minimums on, a bank that is best stays best with more points: there is more to lose.
            even = range(min(self._level(self._even), self._levels), self._levels)
            last = even.start - 1 + bisect_left(even, True, key=lambda level: self.banks(self._points(level), at))
            while 0 <= last < even.start and self.banks(self._points(last), at):
                last -= 1
            if last == self._levels - 1:
                return None
            found = max(found, self._points(last + 1))
        return found if found >= 0 else None

    # -- the solution -----------------------------------------------------------------------------

    def _points(self, level: int) -> int:
        return self.rest + level * self.graph.step

    def _level(self, points: float) -> int:
        """Return the lowest level that has so many points."""
        return max(0, ceil((points - self.rest) / self.graph.step))

    def _bank(self, points: int, at: Node) -> tuple[int | None, bool]:
        """Return what banking posts, None where it is illegal, and whether it is forced."""
        if at.must_throw:
            return None, False
        turn = at.turn(0, points)
        if state.must_bank(self._position, turn):
            return state.worth_banking(self._position, turn, points)[0], True
        if state.bank_ban(self._position, turn)[0]:
            return None, False
        return state.worth_banking(self._position, turn, points)[0], False

    def grown(self) -> bool:
        """Tell whether the graph holds all successes of the last die that can matter below the bound."""
        most = self.graph.successes
        if not most:
            return True
        one, before = (self._threshold(Node(1, False, successes=count)) for count in (most, most - 1))
        return (
            one + (one - before) <= _successes_are_worth(self.rules, most + 1) >= self.bound
            and self.rules.last_die_bonus + self.rules.last_die_step * most >= one - before
        )

    def _threshold(self, at: Node) -> float:
        number = self.graph.number.get(at)
        if number is None:
            return 0.0
        if self._horizon.lines[number] != (1.0, 0.0):
            raise endless(self.rules)
        return max(0.0, crossing(self._horizon.lines[number], self._horizon.rolls[number]))

    def solve(self) -> None:
        """Work the values out, backward from the bound; beyond it the lines are the solution of the same equations."""
        graph = self.graph
        high = self._level(self.bound) + 1
        if high * sum(len(way.options) for ways in graph.ways for way in ways) > MOST_STEPS:
            raise too_large(self.rules)
        beyond = [self._points(level) for level in range(high + graph.rows - 1, high - 1, -1)]
        self._levels = high
        self._values = [slope * points + offset for points in beyond for slope, offset in self._horizon.lines]
        low = min(self._level(self._even), high)
        even = {number for number, line in enumerate(self._horizon.lines) if line == (1.0, 0.0)}
        self._fill(self._values, high, low, even)
        self._values += self._fill_below(self._values[-self.graph.rows * len(self.graph.nodes) :], low)

    def raise_minimum(self, position: Position) -> None:
        """Give the solution another position, with a minimum: from that minimum on, the values stay as they are."""
        self.move_to(position)
        below, width = self._level(self._even), len(self.graph.nodes)
        if below >= self._levels:
            self.solve()
        elif below:
            end = len(self._values) - below * width
            self._below = self._fill_below(self._values[end - self.graph.rows * width : end], below)

    def _fill_below(self, above: list[float], high: int) -> list[float]:
        """Return the values of the levels below a minimum, in whole rows once that was done a few times."""
        if not high:
            return []
        stairs = _stairs(self.graph, tuple(self._forced), self.rules.bust_penalty) if next(_FILLED) >= FEW else None
        if stairs:
            banked = [self._banked(self._points(level)) for level in range(high - 1, -1, -1)]
            return stairs.down(above, banked)
        values = [*above]
        self._fill(values, high, 0, set())
        return values[len(above) :]

    def _fill(self, values: list[float], high: int, low: int, settled: set[int]) -> None:
        """Work out the values of some levels, the highest first, from those of the levels above them, and add them.

        At a settled node, to bank all points is best at every level above. There to roll is worth no more with fewer
        points: to bank stays best until the points fall below what to roll was worth when that was worked out last.
        """
        count = len(self.graph.nodes)
        rolls = [inf] * count
        plan: list[Task] = []
        planned = -1
        for level in range(high - 1, low - 1, -1):
            if planned != len(settled):
                plan, planned = [self._task(number, settled) for number in self.graph.order], len(settled)
            points = self._points(level)
            banked = self._banked(points)
            values += [0.0] * count
            for number, twin, total, fixed, slope, single, several in plan:
                if number not in settled or points < rolls[number]:
                    if twin is None:
                        won: float = fixed + slope * points
                        for weight, place in single:
                            won += weight * values[place]
                        for weight, look in several:
                            won += weight * max(look(values))
                        rolls[number] = won / total
                    else:
                        rolls[number] = rolls[twin]
                value = banked[number]
                if value is None or value < rolls[number]:
                    value = rolls[number]
                    settled.discard(number)
                values[number - count] = value

    def _task(self, number: int, settled: set[int]) -> Task:
        """Return how to work out a node: of options that lead to settled ones, that with the most points is best."""
        graph, throw = self.graph, self.graph.throws[number]
        if throw is None or self._forced[number]:
            return Task(number, None, 1, 0, 0, [], [])
        fixed, slope = -throw.lost * self.rules.bust_penalty, 0
        weights: dict[tuple[int, ...], int] = {}
        for way in graph.ways[number]:
            banked: tuple[int, ...] = ()
            left: tuple[int, ...] = ()
            for (points, after), place in zip(way.options, way.places, strict=True):  # in order of their points
                if after in settled:
                    banked, most = (place,), points
                else:
                    left += (place,)
            if left:
                weights[left + banked] = weights.get(left + banked, 0) + way.weight
            else:
                fixed += way.weight * most
                slope += way.weight
        single = [(weight, left[0]) for left, weight in weights.items() if len(left) == 1]
        several: list[tuple[int, Look]] = [
            (weight, itemgetter(*left)) for left, weight in weights.items() if len(left) > 1
        ]
        return Task(number, graph.twins.get(number), throw.total, fixed, slope, single, several)

    def _banked(self, points: int) -> list[float | None]:
        """Return for each node what banking posts there, None where it is illegal."""
        if points >= self._even:
            return [None if bank is None else bank * points for bank in self._horizon.banks]
        posted = [self._bank(points, at)[0] for at in self.graph.kinds]
        found = [None if one is None else float(one) for one in posted]
        return [found[kind] for kind in self.graph.kind]


def _successes_are_worth(rules: Ruleset, count: int) -> int:
    """Return the points that so many successes of the last die have brought at least."""
    return count * rules.last_die_bonus + rules.last_die_step * count * (count - 1) // 2


def best_policy(position: Position, at: Node | None = None, points: int = 0, least: int = 0) -> Policy:
    """Return the policy for the turn in progress (or for one with minimums met), that holds at a node with points.

    It knows what the position says about this one turn: minimums, topping, an exact target; points below `least` count
    as nothing. Raises UsageError for rules under which a turn has no bound, or too many states.
    """
    chances = Chances.of(position.table)
    here = Terms(True, 0) if position.turn is None else state.terms(position, position.turn)
    total = 0 if here.exact is None else here.total
    limits = Terms(True, max(here.minimum, here.previous + 1, least), -1, total, here.exact, here.overshoots)
    start = Node(chances.rules.dice)
    found = _policies.get(chances, start, limits, 0)
    if at is not None and not found.covers(at):
        start = at
        found = _policies.get(chances, start, limits, 0)
    rest = points % found.graph.step
    return found if not rest else _policies.get(chances, start, limits, rest)


class _Policies:
    """Policies that were asked for before; when they have too many values, those asked for longest ago are forgotten.

    There are rules under which one has as many values as a thousand others.
    """

    def __init__(self) -> None:
        self.values = 0
        self._found: dict[tuple[Chances, Node, Terms, int], Policy] = {}

    def get(self, chances: Chances, start: Node, limits: Terms, rest: int) -> Policy:
        """Return the policy for turns that begin at a node, with points of this rest by the graph's step."""
        key = (chances, start, limits, rest)
        found = self._found.pop(key, None)
        if found is None:
            found = _solved(*key)
            self.values += found.size
        self._found[key] = found
        while self.values > MOST_VALUES and len(self._found) > 1:
            self.values -= self._found.pop(next(iter(self._found))).size
        return found


_policies = _Policies()


def _solved(chances: Chances, start: Node, limits: Terms, rest: int) -> Policy:
    rules = chances.rules
    here = replace(rules, bank_minimum=limits.minimum, must_beat_previous=False)
    seat = Seat("", limits.total, opened=True)
    position = Position(here, Table.of(rules), (seat,), Turn(0, rules.dice), extra=not limits.overshoots)
    if limits.exact is None and limits.minimum:
        found = copy(_policies.get(chances, start, replace(limits, minimum=0), rest))
        found.raise_minimum(position)
        return found
    if limits.exact is not None and limits.overshoots and limits.total:
        # Beyond the target nothing counts any more, wherever it is: the lines are the same for every distance.
        found = copy(_policies.get(chances, start, replace(limits, minimum=0, total=0), rest))
        found.move_to(position)
    else:
        found = _unsolved(chances, start, position, limits.exact is None, rest)
    found.solve()
    return found


def _unsolved(chances: Chances, start: Node, position: Position, ordered: bool, rest: int) -> Policy:
    """Return a policy on a graph that holds all successes of the last die that matter."""
    successes = 4 if chances.rules.last_die_rolls > 1 and chances.rules.last_die_step else 0
    while 0 < successes <= start.successes:
        successes *= 2
    while True:
        found = Policy(chances, _graph(chances, start, ordered, successes), position, rest)
        if found.grown():
            return found
        if 2 * len(found.graph.nodes) > MOST_NODES:
            raise too_large(chances.rules)  # twice the successes have about twice the nodes
        successes *= 2


@lru_cache(maxsize=16)
def _stairs(graph: Graph, forced: tuple[bool, ...], lost: int) -> "Stairs | None":
    """Return what works out whole rows at once; None where that can't be done, or numpy is missing."""
    try:
        from tenklog.stairs import Stairs
    except ImportError:
        return None
    return Stairs(graph, forced, lost) if Stairs.fits(graph) else None


@lru_cache(maxsize=16)
def _graph(chances: Chances, start: Node, ordered: bool, successes: int) -> Graph:
    return Graph(chances, start, ordered, successes)
