"""Graph: this module lists the nodes that a turn can reach from one, and the options that each of their throws leaves.

Values of nodes are worked out level by level of points, from the highest down, in one flat list: a row of all nodes for
each level. What a move leads to then stands as many places from the end at every level.
"""

from math import gcd

from msgspec import Struct

from tenklog.chances import Chances, Node, Throw
from tenklog.dice import throws
from tenklog.errors import UsageError
from tenklog.rules import Ruleset

MOST_NODES = 1_500  # a few milliseconds each to find out about, under rules with many keeps


class Way(Struct, frozen=True):
    """Throws that leave the same options: how many of them, each option's points and number of the node after.

    `places` say where the value after each option stands, counted from the end of the row of the points before it.
    """

    weight: int
    options: tuple[tuple[int, int], ...]
    places: tuple[int, ...]


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
        found: list[dict[tuple[tuple[int, int], ...], int]] = []
        self._give_number(start)
        self._give_number(Node(chances.rules.dice))
        for at in self.nodes:
            if len(self.nodes) > MOST_NODES:
                raise too_large(chances.rules)
            throw = chances.throw(at) if at.successes <= successes else None
            self.throws.append(throw)
            found.append({} if throw is None else self._find_options(throw, ordered))
        gains = {points for weights in found for options in weights for points, _ in options} - {0}
        self.step = gcd(*gains) or 1
        self.rows = max(gains, default=0) // self.step + 1  # that the values of a row depend on, its own among them
        self.ways = [
            [Way(weight, options, self._find_places(options)) for options, weight in weights.items()]
            for weights in found
        ]
        # A last die that is thrown again stays at the same points: the throws after it are worked out before it.
        self.order = sorted(range(len(self.nodes)), key=lambda number: -self.nodes[number].tries)
        self.twins = self._find_twins()
        # What banking posts, and whether it may or must be, depends on no more of a node than this.
        kinds = [(at.must_throw, at.dice_left == chances.rules.dice, at.free) for at in self.nodes]
        alike = dict(zip(kinds, self.nodes, strict=True))
        self.kinds = [*alike.values()]  # a node of each kind
        self.kind = [[*alike].index(one) for one in kinds]

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

    def _find_options(self, throw: Throw, ordered: bool) -> dict[tuple[tuple[int, int], ...], int]:
        """Return what options a throw leaves, and in how many of its ordered ways each of them."""
        weights: dict[tuple[tuple[int, int], ...], int] = {}
        for dice, choices in throw.choices.items():
            options = {(self._give_number(one.after), one.points) for one in choices}
            if ordered:
                # More points at the same node are never worse, unless too many can miss a target.
                options = {*dict(sorted(options)).items()}
            key = tuple(sorted((points, number) for number, points in options))
            weights[key] = weights.get(key, 0) + throws(dice)
        return weights

    def _find_twins(self) -> dict[int, int]:
        """Return nodes with the throw of one before them that must throw, as on hot dice that of a turn's start."""
        first: dict[int, int] = {}
        twins = {}
        for number in self.order:
            throw = id(self.throws[number])
            if throw in first:
                twins[number] = first[throw]
            elif self.nodes[number].must_throw:
                first[throw] = number
        return twins

    def _find_places(self, options: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
        return tuple(number - len(self.nodes) * (points // self.step + 1) for points, number in options)


def too_large(rules: Ruleset) -> UsageError:
    """Say that a ruleset has too many states to be solved."""
    return UsageError(
        f"a turn under {rules.name} has too many states to be solved exactly",
        "rules without build_on_kept or a growing last_die_step, or points in larger steps",
    )
