"""Policy: this module computes what a turn is worth, and how to play it for the most points.

The points of a turn are what it posts, less `bust_penalty` when it busts; what a win, a wipeout, a streak, a challenge
or a steal brings or costs beside them is the table's, not the turn's. A turn is a Markov decision process over points
and nodes (`chances`); it is solved backward from the points above which each best move is proved never to change again.
"""

from copy import copy
from functools import lru_cache
from math import ceil, gcd, inf
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from tenklog import state
from tenklog.chances import Chances, Choice, Node, Throw
from tenklog.dice import throws
from tenklog.errors import UsageError
from tenklog.rules import Ruleset
from tenklog.scoring import Table
from tenklog.state import Position, Seat, Terms, Turn

FAR = 10**9  # points beyond every minimum, target and bound
MOST_NODES = 3_000
MOST_STEPS = 100_000_000  # of a solution, about half a minute
MOST_ROUNDS = 2_000
CLOSE = 1e-9
_TINY = 1e-11

Line = tuple[float, float]  # slope and offset: a value of slope * points + offset


class Way(Struct, frozen=True):
    """Throws that leave the same options: how many of them, and each option's points and number of the node after."""

    weight: int
    options: tuple[tuple[int, int], ...]


class Graph:
    """The nodes that a turn can reach from some node, numbered, with the ways of a throw from each.

    Where the bonus of the last die grows, a turn with more than `successes` of them banks: its points are then beyond
    the bound of the solution.
    """

    def __init__(self, chances: Chances, start: Node, ordered: bool, successes: int) -> None:
        self.successes = successes
        self.nodes: list[Node] = []
        self.number: dict[Node, int] = {}
        self.throws: list[Throw | None] = []
        self.ways: list[list[Way]] = []
        self._give_number(start)
        self._give_number(Node(chances.rules.dice))
        for at in self.nodes:
            if len(self.nodes) > MOST_NODES:
                raise too_large(chances.rules)
            throw = chances.throw(at) if at.successes <= successes else None
            self.throws.append(throw)
            self.ways.append([] if throw is None else self._find_ways(throw, ordered))
        gains = {points for ways in self.ways for way in ways for points, _ in way.options} - {0}
        self.step = gcd(*gains) or 1
        self.most = max(gains, default=0)
        # A last die that is thrown again stays at the same points: the throws after it are worked out before it.
        self.order = sorted(range(len(self.nodes)), key=lambda number: -self.nodes[number].tries)

    def find(self, at: Node) -> int | None:
        """Return the number of a node, or of one from which a throw brings the same."""
        found = self.number.get(at)
        if found is None and at.must_throw:
            found = self.number.get(Node(at.dice_left, False, at.kept, at.worth, at.tries, at.successes))
        return found

    def _give_number(self, at: Node) -> int:
        if at not in self.number:
            self.number[at] = len(self.nodes)
            self.nodes.append(at)
        return self.number[at]

    def _find_ways(self, throw: Throw, ordered: bool) -> list[Way]:
        weights: dict[tuple[tuple[int, int], ...], int] = {}
        for dice, choices in throw.choices.items():
            options = {(self._give_number(one.after), one.points) for one in choices}
            if ordered:
                # More points at the same node are never worse, unless too many can miss a target.
                options = {*dict(sorted(options)).items()}
            key = tuple(sorted((points, number) for number, points in options))
            weights[key] = weights.get(key, 0) + throws(dice)
        return [Way(weight, options) for options, weight in weights.items()]


def too_large(rules: Ruleset) -> UsageError:
    """Say that a ruleset has too many states to be solved."""
    return UsageError(
        f"a turn under {rules.name} has too many states to be solved exactly",
        "rules without build_on_kept or a growing last_die_step, or points in larger steps",
    )


def endless(rules: Ruleset) -> UsageError:
    """Say that a turn has no value because nothing ever ends it."""
    return UsageError(
        f"a turn under {rules.name} can go on for ever without a risk, so no number says what it is worth",
        "rules under which some throw can lose",
    )


class Policy:
    """What a turn is worth, and how to play it for the most points. Use `best_policy`.

    Points are those of the turn so far; values are expected points of the turn. `bound` is the number of points from
    which on no best move changes any more: there each value is a line.
    """

    def __init__(self, chances: Chances, graph: Graph, position: Position, rest: int) -> None:
        self.rules = chances.rules
        self.chances = chances
        self.graph = graph
        self.rest = rest
        self._position = position
        self._penalty = -self.rules.bust_penalty
        self._lines = self._find_lines()
        self.bound = self._find_bound()
        self._values: list[list[float]] = [[] for _ in graph.nodes]
        self._rolls: list[list[float]] = [[] for _ in graph.nodes]
        self._found: dict[tuple[int, object], Any] = {}  # decisions taken before

    # -- what one may ask -------------------------------------------------------------------------

    def value(self, points: int, at: Node) -> float:
        """Return what the turn is worth at a node, best played."""
        if at.must_throw:
            return self.rolling(points, at)
        return self._look(self._values, self._lines, points, at)

    def rolling(self, points: int, at: Node) -> float:
        """Return what the turn is worth when the dice are thrown now."""
        return self._look(self._rolls, self._roll_lines, points, at)

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
        ranks = {
            one: (round(self.worth(points, one), 7), one.points, len(one.dice), [-die for die in one.dice])
            for one in choices
        }
        best = max(choices, key=ranks.__getitem__)
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
            levels = len(self._values[number])
            last = next(
                (level for level in range(levels - 1, -1, -1) if not self.banks(self._points(level), at)), -1
            )  # fmt: skip
            if last == levels - 1:
                return None
            found = max(found, self._points(last + 1))
        return found if found >= 0 else None

    # -- the solution -----------------------------------------------------------------------------

    def _points(self, level: int) -> int:
        return self.rest + level * self.graph.step

    def _look(self, table: list[list[float]], lines: list[Line], points: int, at: Node) -> float:
        number = self.graph.find(at)
        assert number is not None, at
        level = (points - self.rest) // self.graph.step
        if level < len(table[number]):
            return table[number][level]
        slope, offset = lines[number]
        return slope * points + offset

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

    def _find_lines(self) -> list[Line]:
        """Return what each node is worth when the points are many: what is saved first, what is won second."""
        graph = self.graph
        count = len(graph.nodes)
        banks: list[float | None] = []
        forced: list[bool] = []
        for number, at in enumerate(graph.nodes):
            posted, must = self._bank(FAR, at)
            banks.append(None if posted is None else posted / FAR)
            forced.append(must or graph.throws[number] is None)
        slopes = [bank or 0.0 for bank in banks]
        rolls = [0.0] * count
        for _ in range(MOST_ROUNDS):
            moved = 0.0
            for number in graph.order:
                throw = graph.throws[number]
                if throw is None:
                    continue
                kept = sum(way.weight * max(slopes[after] for _, after in way.options) for way in graph.ways[number])
                rolls[number] = kept / throw.total
                if not forced[number]:
                    slope = max(rolls[number], banks[number] or 0.0)
                    moved = max(moved, abs(slope - slopes[number]))
                    slopes[number] = slope
            if moved < _TINY / 100:
                break
        offsets = [0.0] * count
        roll_offsets = [0.0] * count
        ways = [
            [
                (way.weight, [one for one in way.options if slopes[one[1]] > best - _TINY])
                for way in graph.ways[number]
                for best in [max(slopes[after] for _, after in way.options)]
            ]
            for number in range(count)
        ]
        for _ in range(MOST_ROUNDS):
            moved = 0.0
            for number in graph.order:
                throw = graph.throws[number]
                if throw is None:
                    continue
                won = sum(
                    weight * max(slopes[after] * points + offsets[after] for points, after in options)
                    for weight, options in ways[number]
                )
                roll_offsets[number] = (won + throw.lost * self._penalty) / throw.total
                if not forced[number]:
                    bank = banks[number]
                    offset = roll_offsets[number] if bank is None or rolls[number] > bank - _TINY else 0.0
                    if bank is not None and bank > rolls[number] - _TINY:
                        offset = max(offset, 0.0)
                    moved = max(moved, abs(offset - offsets[number]))
                    offsets[number] = offset
            if moved < _TINY:
                break
        else:
            raise endless(self.rules)
        self._roll_lines = list(zip(rolls, roll_offsets, strict=True))
        self._bank_lines = banks
        self._forced = forced
        return list(zip(slopes, offsets, strict=True))

    def _find_bound(self) -> float:
        """Return the points from which on the lines hold: where no two of them cross any more."""
        limits = state.terms(self._position, Node(self.rules.dice).turn(0, 0))
        bound = max(0, limits.minimum, limits.previous + 1)
        if limits.exact is not None:
            bound = max(bound, limits.exact - limits.total + 1)
        found = float(bound)
        for number, ways in enumerate(self.graph.ways):
            bank = self._bank_lines[number]
            if bank is not None and not self._forced[number]:
                found = max(found, _crossing(self._lines[number], (bank, 0.0)))
                found = max(found, _crossing(self._lines[number], self._roll_lines[number]))
            for way in ways:
                lines = [_shifted(self._lines[after], points) for points, after in way.options]
                best = max(lines, key=lambda line: (round(line[0] / _TINY), line[1]))
                found = max(found, *(_crossing(best, line) for line in lines))
        return found

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
        if self._lines[number] != (1.0, 0.0):
            raise endless(self.rules)
        return max(0.0, _crossing(self._lines[number], self._roll_lines[number]))

    def solve(self) -> None:
        """Work the values out, backward from the bound; beyond it the lines are the solution of the same equations."""
        levels = max(1, ceil((self.bound - self.rest) / self.graph.step) + 1)
        if levels * sum(len(way.options) for ways in self.graph.ways for way in ways) > MOST_STEPS:
            raise too_large(self.rules)
        self._fill(levels, levels)

    def move_target(self, position: Position) -> None:
        """Give the policy, yet to be solved, another position: another distance from an exact target."""
        self._position = position
        self._found = {}
        self._values = [[] for _ in self.graph.nodes]
        self._rolls = [[] for _ in self.graph.nodes]
        self.bound = self._find_bound()

    def raise_minimum(self, position: Position) -> None:
        """Give the solution another position, with a minimum: from that minimum on, the values stay as they are."""
        self._position = position
        self._found = {}
        minimum = position.rules.bank_minimum
        self.bound = max(self.bound, minimum)
        below = max(0, ceil((minimum - self.rest) / self.graph.step))
        self._fill(max(below, len(self._values[0])), below)

    def _fill(self, levels: int, top: int) -> None:
        """Work out the values below a level, from those known above it and the lines."""
        graph, step = self.graph, self.graph.step
        further = max(levels, top + graph.most // step) + 1
        values, rolls = [], []
        for number, lines in enumerate(zip(self._lines, self._roll_lines, strict=True)):
            both = []
            for known, (slope, offset) in zip((self._values[number], self._rolls[number]), lines, strict=True):
                beyond = [slope * self._points(level) + offset for level in range(len(known), further)]
                both.append([*known, *beyond])
            values.append(both[0])
            rolls.append(both[1])
        plans = []
        first: dict[int, list[float]] = {}  # by throw: a throw of all dice is the same at the start and when hot
        for number in graph.order:
            at, throw = graph.nodes[number], graph.throws[number]
            ways = [
                (way.weight, [(values[after], points // step) for points, after in way.options])
                for way in graph.ways[number]
            ]
            single = [(weight, *options[0]) for weight, options in ways if len(options) == 1]
            several = [(weight, options) for weight, options in ways if len(options) > 1]
            least = _successes_are_worth(self.rules, at.successes)
            same = first.setdefault(id(throw), rolls[number])
            plans.append((at, throw, least, single, several, values[number], rolls[number], same))
        for level in range(min(top, levels) - 1, -1, -1):
            points = self._points(level)
            for at, throw, least, single, several, value, roll, same in plans:
                if points < least:
                    continue
                posted, forced = self._bank(points, at)
                if throw is None:
                    value[level] = float(posted or 0)
                    continue
                if same is roll:
                    total = float(throw.lost * self._penalty)
                    for weight, later, gain in single:
                        total += weight * later[level + gain]
                    for weight, options in several:
                        total += weight * max([later[level + gain] for later, gain in options])
                    roll[level] = total / throw.total
                roll[level] = now = same[level]
                if posted is not None and (forced or posted > now):
                    now = float(posted)
                value[level] = now
        self._values = [value[:levels] for value in values]
        self._rolls = [roll[:levels] for roll in rolls]


def _successes_are_worth(rules: Ruleset, count: int) -> int:
    """Return the points that so many successes of the last die have brought at least."""
    return count * rules.last_die_bonus + rules.last_die_step * count * (count - 1) // 2


def _shifted(line: Line, points: int) -> Line:
    return line[0], line[1] + line[0] * points


def _crossing(best: Line, other: Line) -> float:
    """Return the points from which on one line is never below another; it is so far out at the latest."""
    if best[0] - other[0] < _TINY:
        return -inf
    return (other[1] - best[1]) / (best[0] - other[0])


def best_policy(position: Position, at: Node | None = None, points: int = 0, least: int = 0) -> Policy:
    """Return the policy for the turn in progress (or for one with minimums met), that holds at a node with points.

    It knows what the position says about this one turn: minimums, topping, an exact target; points below `least` count
    as nothing. Raises UsageError for rules under which a turn has no bound, or too many states.
    """
    turn = position.turn
    limits = Terms(True, 0) if turn is None else state.terms(position, turn)
    least = max(limits.minimum, limits.previous + 1, least)
    return _policy_at(Chances.of(position.table), least, limits.total, limits.exact, limits.overshoots, at, points)


@lru_cache(maxsize=4096)
def _policy_at(
    chances: Chances, least: int, total: int, exact: int | None, overshoots: bool, at: Node | None, points: int
) -> Policy:
    limits = Terms(True, least, -1, total if exact is not None else 0, exact, overshoots)
    start = Node(chances.rules.dice)
    found = _policy(chances, start, limits, 0)
    if at is not None and found.graph.find(at) is None:
        start = at
        found = _policy(chances, start, limits, 0)
    rest = points % found.graph.step
    return found if not rest else _policy(chances, start, limits, rest)


@lru_cache(maxsize=512)
def _policy(chances: Chances, start: Node, limits: Terms, rest: int) -> Policy:
    rules = chances.rules
    here = replace(rules, bank_minimum=limits.minimum, must_beat_previous=False)
    seat = Seat("", limits.total, opened=True)
    position = Position(here, Table.of(rules), (seat,), Turn(0, rules.dice), extra=not limits.overshoots)
    if limits.exact is None and limits.minimum:
        found = copy(_policy(chances, start, replace(limits, minimum=0), rest))
        found.raise_minimum(position)
        return found
    if limits.exact is not None and limits.overshoots and limits.total:
        # Beyond the target nothing counts any more, wherever it is: the lines are the same for every distance.
        found = copy(_policy(chances, start, replace(limits, minimum=0, total=0), rest))
        found.move_target(position)
    else:
        found = _unsolved(chances, start, position, limits.exact is None, rest)
    found.solve()
    return found


def _unsolved(chances: Chances, start: Node, position: Position, ordered: bool, rest: int) -> Policy:
    """Return a policy on a graph that holds all successes of the last die that matter."""
    successes = 4 if chances.rules.last_die_rolls > 1 and chances.rules.last_die_step else 0
    while True:
        found = Policy(chances, _graph(chances, start, ordered, successes), position, rest)
        if found.grown():
            return found
        successes *= 2


@lru_cache(maxsize=64)
def _graph(chances: Chances, start: Node, ordered: bool, successes: int) -> Graph:
    return Graph(chances, start, ordered, successes)
