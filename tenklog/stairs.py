"""Stairs: this module works out the values of a turn from the highest points down, all nodes of a row at once.

It does what `policy` does node by node, ten times as fast; but numpy, which it needs, takes longer to load than a few
solutions take without it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenklog.graph import Graph


class Stairs:
    """What the throws of a graph's nodes are worth, from the values of the rows of more points.

    `forced` are nodes of which none is thrown, `lost` is what a throw that loses the turn costs, in points.
    """

    def __init__(self, graph: Graph, forced: Sequence[bool], lost: int) -> None:
        self.count = len(graph.nodes)
        thrown = [
            (number, throw)
            for number, (throw, never) in enumerate(zip(graph.throws, forced, strict=True))
            if throw is not None and not never and graph.ways[number]
        ]
        ways = [way for number, _ in thrown for way in graph.ways[number]]
        # The places of each way in a column, filled up by the last; they count from the end, these from the lowest.
        most = max((len(way.places) for way in ways), default=1)
        filled = [[*way.places, *way.places[-1:] * (most - len(way.places))] for way in ways]
        places = np.array(filled, np.int64).reshape(-1, most).T
        self._lowest = places.min(initial=0)
        self._places = np.ascontiguousarray(places - self._lowest)
        self._weights = np.array([float(way.weight) for way in ways])
        self._node = np.array([number for number, _ in thrown])
        self._ways = _begins(len(graph.ways[number]) for number, _ in thrown)
        self._total = np.array([throw.total for _, throw in thrown])
        self._fixed = np.zeros(self.count)
        for number, (throw, never) in enumerate(zip(graph.throws, forced, strict=True)):
            if throw is not None and not never:
                self._fixed[number] = -throw.lost * lost / throw.total

    @staticmethod
    def fits(graph: Graph) -> bool:
        """Tell whether no throw of a graph leads to a node at the same points."""
        return all(points > 0 for ways in graph.ways for way in ways for points, _ in way.options)

    def down(self, values: list[float], banked: Sequence[Sequence[float | None]]) -> list[float]:
        """Return the rows below some others, one for each of `banked`: what to bank posts at each node, or None."""
        begin = len(values)
        rows = np.empty(begin + len(banked) * self.count)
        rows[:begin] = values
        banks = np.array([[-np.inf if one is None else one for one in row] for row in banked])
        for number in range(len(banked)):
            end = begin + (number + 1) * self.count
            best = rows[end + self._lowest : end].take(self._places).max(0)
            rolls = self._fixed.copy()
            rolls[self._node] += np.add.reduceat(self._weights * best, self._ways) / self._total
            rows[end - self.count : end] = np.maximum(banks[number], rolls)
        found: list[float] = rows[begin:].tolist()
        return found


def _begins(sizes: Any) -> Any:
    """Return where groups of these sizes begin."""
    return np.cumsum([0, *sizes])[:-1]
