"""Kernel: this module has the two loops of a bulk replay that are compiled where numba is installed.

They do what `transitions` and `bulk` do with numpy: look recorded rolls up in the cells of a table, and carry what
turns bring through the seats of a game. All that they know stands in the tables that they are given.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tenklog.transitions import ASKS, BUST, FIRST_BUST, GUESS, POSTS, SETTLED, UNKNOWN, ZERO

COMPILED = find_spec("numba") is not None
numba: Any = import_module("numba") if COMPILED else None


def _compiled(function: Any) -> Any:
    if not COMPILED:
        return function  # slow, but the same
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # there is nowhere to keep what was compiled
        return numba.njit(nogil=True)(function)


@_compiled
def walk(
    cells: Any, symbols: Any, first: Any, rolls: Any, todo: Any, missing: Any, ending: Any, points: Any, taken: Any
) -> int:
    """Walk the turns of `todo`; return how many are left, because of cells that are not known yet.

    Those turns stand at the beginning of `todo` then, and the keys of their cells in `missing`.
    """
    left = 0
    for number in range(len(todo)):
        turn = todo[number]
        stand = worth = 0
        count = rolls[turn]
        for place in range(count + 1):
            symbol = symbols[first[turn] + place] if place < count else 0  # behind the last roll stands the bank
            cell = cells[stand, symbol]
            if cell < 0:
                todo[left] = turn
                missing[left] = stand * cells.shape[1] + symbol
                left += 1
                break
            worth += cell >> 16
            stand = (cell & 0xFFFF) - 0x8000
            if stand < 0:
                ending[turn], points[turn], taken[turn] = -1 - stand, worth, min(place + 1, count)
                break
    return left


@_compiled
def play(
    begin: Any, counts: Any, seats: Any, lane: Any, ending: Any, points: Any, taken: Any, recorded: Any,
    kinds: Any, flags: Any, minimum: Any, costs: Any, after: Any, threshold: int, last: Any,
    turns: Any, finished: Any, same: Any, settled: Any, guesses: Any, unknown: Any, totals: Any,
) -> None:  # fmt: skip
    """Play games by how their turns end, and write down what becomes of each; totals are by lane, a seat of a game."""
    states = [0] * last.shape[1]
    for game in range(len(counts)):
        for seat in range(seats[game]):
            states[seat] = 0
        end = counts[game]  # the place of the last turn here, unless the log ends before
        for place in range(counts[game]):
            turn, seat = begin[game] + place, place % seats[game]
            state = states[seat]
            kind, noted = kinds[ending[turn]], flags[ending[turn]]
            if kind == BUST and taken[turn] == 1:
                kind = FIRST_BUST
            posted = 0
            if kind == POSTS:
                if points[turn] >= minimum[state]:
                    posted = points[turn]
                elif noted == ASKS:
                    noted = SETTLED | GUESS
                if posted == 0:
                    kind = ZERO
            change = posted + costs[state, kind]
            states[seat] = after[state, kind]
            total = totals[lane[game] + seat] = totals[lane[game] + seat] + change
            turns[game] += 1
            if noted & SETTLED:
                settled[game] += 1
            elif change == recorded[turn]:
                same[game] += 1
            guesses[game] += (noted & GUESS) > 0
            unknown[game] |= (noted & UNKNOWN) > 0
            if end == counts[game] and total >= threshold:
                end = place + last[seats[game], seat]
                # What lies behind the log's end is no end.
                end = end if end < counts[game] else counts[game] + 1
            if place == end:
                finished[game] = True
                break
