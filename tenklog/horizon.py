"""Horizon: this module finds what a turn is worth when its points are many, and from how many points on that holds.

There every best move is proved never to change again, so that each value is a line in the points.
"""

from math import inf

from tenklog.errors import UsageError
from tenklog.graph import Graph
from tenklog.rules import Ruleset

MOST_ROUNDS = 2_000
_TINY = 1e-11

Line = tuple[float, float]  # slope and offset: a value of slope * points + offset


def endless(rules: Ruleset) -> UsageError:
    """Say that a turn has no value because nothing ever ends it."""
    return UsageError(
        f"a turn under {rules.name} can go on for ever without a risk, so no number says what it is worth",
        "rules under which some throw can lose",
    )


class Horizon:
    """The lines of the nodes of a graph, of what each is worth and what to roll there is worth, and where they start.

    `banks` are the slopes of what banking posts, None where it is illegal, and `forced` says where there is no choice.
    """

    def __init__(self, graph: Graph, rules: Ruleset, banks: list[float | None], forced: list[bool]) -> None:
        self.graph = graph
        self.banks = banks
        self.forced = forced
        self.lines, self.rolls = _find_lines(graph, rules, banks, forced)
        self.start = self._find_start()

    def _find_start(self) -> float:
        """Return the points from which on the lines hold: where no two of them cross any more."""
        found = 0.0
        for number, ways in enumerate(self.graph.ways):
            bank = self.banks[number]
            if bank is not None and not self.forced[number]:
                found = max(found, crossing(self.lines[number], (bank, 0.0)))
                found = max(found, crossing(self.lines[number], self.rolls[number]))
            for way in ways:
                lines = [_shifted(self.lines[after], points) for points, after in way.options]
                best = max(lines, key=lambda line: (round(line[0] / _TINY), line[1]))
                found = max(found, *(crossing(best, line) for line in lines))
        return found


def _find_lines(
    graph: Graph, rules: Ruleset, banks: list[float | None], forced: list[bool]
) -> tuple[list[Line], list[Line]]:
    """Work the lines out round by round: what is saved first, what is won second."""
    count = len(graph.nodes)
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
            roll_offsets[number] = (won - throw.lost * rules.bust_penalty) / throw.total
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
        raise endless(rules)
    return list(zip(slopes, offsets, strict=True)), list(zip(rolls, roll_offsets, strict=True))


def _shifted(line: Line, points: int) -> Line:
    return line[0], line[1] + line[0] * points


def crossing(best: Line, other: Line) -> float:
    """Return the points from which on one line is never below another; it is so far out at the latest."""
    if best[0] - other[0] < _TINY:
        return -inf
    return (other[1] - best[1]) / (best[0] - other[0])
