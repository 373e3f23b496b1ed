"""Kernel: this module has the three loops of a bulk replay that are compiled where numba is installed.

They do what `columns`, `transitions` and `bulk` do with numpy: tell usual turns from others, look recorded rolls up in
the cells of a table, and carry what turns bring through the seats of a game. All that they know of rules stands in the
tables that they are given.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from tenklog.transitions import ASKS, BUST, FIRST_BUST, GUESS, POSTS, SETTLED, UNKNOWN, WIDTH, WON, ZERO

# What a recorded turn may have been, beside unusual (0); that much fewer than three lines follow its rolls and keeps.
BANKED, LOST_ALL, WON_ALL = 1, 2, 3
# What became of a recorded turn.
NEVER_HAPPENED, SAME, RESCORED, SETTLED_TURN = range(4)
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
def look(
    begin: Any, count: Any, seats: Any, turn: Any, seat: Any, rolls: Any, after: Any, how: Any, rolled: Any, kept: Any,
    numbers: Any,
) -> Any:  # fmt: skip
    """Return the numbers of the symbols of rolls, and whether all have one.

    And of games whether their turns are usual, how many are even, and their lines.
    """
    found, lowest = np.empty(len(rolled), np.int32), np.int32(0)
    plain = np.ones(len(count), np.bool_)
    even, lines = count.copy(), np.ones(len(count), np.int64)
    for game in range(len(count)):
        here, moves = 0, 1
        for place in range(count[game]):
            at = begin[game] + place
            last, kind = after[at] - 1, how[at]
            usual = rolls[at] > 0 and kind > 0 and turn[at] == place + 1
            for roll in range(after[at] - rolls[at], after[at]):
                found[roll] = numbers[np.int64(rolled[roll]) * WIDTH + kept[roll] + 1]
                if roll != last or kind != WON_ALL:
                    lowest = min(lowest, found[roll])
                usual &= (kept[roll] < 0) == (roll == last and kind >= LOST_ALL)
            if kind == WON_ALL and rolls[at] > 0:
                if usual:
                    found[last] = numbers[np.int64(rolled[last]) * WIDTH + kept[last] + 1 + WON]
                lowest = min(lowest, found[last])
            plain[game] &= usual
            moves += 2 * rolls[at] + 2 - kind
            if seat[at] != here + 1 and even[game] > place:
                even[game] = place
            here = here + 1 if here + 1 < seats[game] else 0
        lines[game] = moves
    return lowest == 0, found, plain, even, lines


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
        begin, count = first[turn], rolls[turn]
        stand = worth = place = 0
        while True:
            symbol = symbols[begin + place] if place < count else 0  # behind the last roll stands the bank
            cell = cells[stand, symbol]
            if cell < 0:
                todo[left] = turn
                missing[left] = stand * cells.shape[1] + symbol
                left += 1
                break
            worth += cell >> 16
            stand = (cell & 0xFFFF) - 0x8000
            place += 1
            if stand < 0:
                ending[turn], points[turn], taken[turn] = -1 - stand, worth, min(place, count)
                break
    return left


@_compiled
def play(
    begin: Any, counts: Any, seats: Any, lane: Any, ending: Any, points: Any, taken: Any, recorded: Any,
    kinds: Any, flags: Any, settling: Any, below: int, minimum: Any, costs: Any, after: Any, threshold: int, last: Any,
    became: Any, divergence: Any, changed: Any,
    turns: Any, begun: Any, finished: Any, same: Any, settled: Any, guesses: Any, unknown: Any,
    totals: Any, states: Any,
) -> None:  # fmt: skip
    """Play games by how their turns end, and write down what becomes of each.

    Totals and states are by lane, a seat of a game. What becomes of a turn, and the divergence by which, is written
    down where there is room for it.
    """
    for game in range(len(counts)):
        count, own = counts[game], lane[game]
        end = count  # the place of the last turn here, unless the log ends before
        seat = played = kept = other = guessed = 0
        left_out = False
        while played < count:
            turn, here = begin[game] + played, own + seat
            state, posted = states[here], 0
            kind, noted, settled_by = kinds[ending[turn]], flags[ending[turn]], settling[ending[turn]]
            if kind == BUST and taken[turn] == 1:
                kind = FIRST_BUST
            if kind == POSTS:
                if points[turn] >= minimum[state]:
                    posted = points[turn]
                elif noted == ASKS:
                    noted, settled_by = SETTLED | GUESS, below
                if posted == 0:
                    kind = ZERO
            change = posted + costs[state, kind]
            states[here] = after[state, kind]
            total = totals[here] = totals[here] + change
            # Counted without branches, which nothing could foretell.
            is_settled = (noted & SETTLED) > 0
            other += is_settled
            kept += (change == recorded[turn]) & (not is_settled)
            guessed += (noted & GUESS) > 0
            left_out |= (noted & UNKNOWN) > 0
            if len(became) > 0:
                became[turn] = SETTLED_TURN if is_settled else SAME if change == recorded[turn] else RESCORED
                divergence[turn], changed[turn] = settled_by, change
            if end == count and total >= threshold:
                end = played + last[seats[game], seat]
                # What lies behind the log's end is no end.
                end = end if end < count else count + 1
            played += 1
            if played > end:
                finished[game] = True
                break
            seat = seat + 1 if seat + 1 < seats[game] else 0
        turns[game], same[game], settled[game], guesses[game] = played, kept, other, guessed
        begun[game], unknown[game] = end != count, left_out
