"""Bulk kernel: this module has the compiled loops of a bulk replay.

They do what `columns`, `transitions` and `bulk` do with numpy: tell usual turns from others, look recorded rolls up in
the cells of a table, and carry what turns bring through the seats of a game. All that they know of rules stands in the
tables that they are given.
"""

from typing import Any

import numpy as np

from tenklog.jit import INDEX, compiled
from tenklog.transitions import ASKS, BUST, GUESS, POSTS, SETTLED, UNKNOWN, WIDTH, WON

# What a recorded turn may have been, beside unusual (0); that much fewer than three lines follow its rolls and keeps.
BANKED, LOST_ALL, WON_ALL = 1, 2, 3
# What became of a recorded turn.
NEVER_HAPPENED, SAME, RESCORED, SETTLED_TURN = range(4)


@compiled
def begins(counts: Any) -> Any:
    """Return where runs of so many begin, one after another, and where the last one ends."""
    found, end = np.empty(len(counts), np.int32), 0
    for place in range(len(counts)):
        found[place] = end
        end += counts[place]
    return found, end


@compiled
def look(
    begin: Any, count: Any, seats: Any, turn: Any, seat: Any, rolls: Any, first: Any, how: Any, rolled: Any, kept: Any,
    numbers: Any,
) -> Any:  # fmt: skip
    """Return the numbers of the symbols of rolls, and whether all have one.

    And of games whether their turns are usual, how many are even, and their lines.
    """
    found, unknown = np.empty(len(rolled), np.int32), 0
    plain = np.ones(len(count), np.bool_)
    even, lines = count.copy(), np.ones(len(count), np.int64)
    for game in range(len(count)):
        if count[game] == 0:
            continue
        opening, closing = begin[game], begin[game] + count[game] - 1
        lost = 0  # rolls of which nothing was kept, but for those that lost a turn
        for number in range(first[opening], first[closing] + rolls[closing]):
            roll = INDEX(number)
            keep = kept[roll]
            found[roll] = numbers[INDEX(np.int64(rolled[roll]) * WIDTH + keep + 1)]
            unknown += found[roll] < 0
            lost += keep < 0
        usual = True
        here, moves = 0, 1
        for place in range(count[game]):
            at = INDEX(opening + place)
            kind, many = how[at], rolls[at]
            fits = (many > 0) & (kind > 0) & (turn[at] == place + 1)
            if many > 0:
                last = INDEX(first[at] + many - 1)
                nothing = kept[last] < 0
                fits &= nothing == (kind >= LOST_ALL)
                lost -= nothing
                if kind == WON_ALL and fits:
                    unknown -= found[last] < 0
                    found[last] = numbers[np.int64(rolled[last]) * WIDTH + WON]
                    unknown += found[last] < 0
            usual &= fits
            moves += 2 * many + 2 - kind
            if seat[at] != here + 1 and even[game] > place:
                even[game] = place
            here = here + 1 if here + 1 < seats[game] else 0
        plain[game] = usual & (lost == 0)
        lines[game] = moves
    return unknown == 0, found, plain, even, lines


@compiled
def play(
    todo: Any, missing: Any, cells: Any, symbols: Any, first: Any, rolls: Any,
    begin: Any, counts: Any, seats: Any, lane: Any, recorded: Any,
    kinds: Any, flags: Any, settling: Any, below: int, minimum: Any, costs: Any, after: Any, threshold: int, last: Any,
    became: Any, divergence: Any, changed: Any,
    turns: Any, begun: Any, finished: Any, same: Any, settled: Any, guesses: Any, unknown: Any,
    totals: Any, states: Any,
) -> Any:  # fmt: skip
    """Play the games of `todo`: walk their turns, carry on what these bring, and write down what becomes of each.

    Return how many games are left, because of cells that are not known yet, and how many cells. Those games stand at
    the beginning of `todo` then, and the keys of the cells in `missing`.

    Totals and states are by lane, a seat of a game. What becomes of a turn, and the divergence by which, is written
    down where there is room for it.
    """
    left = lacking = 0
    width, cells = cells.shape[1], cells.ravel()
    columns, costs, after = costs.shape[1], costs.ravel(), after.ravel()
    for number in range(len(todo)):
        game = todo[number]
        count, own, many = counts[game], lane[game], seats[game]
        totals[own : own + many] = 0
        states[own : own + many] = 0
        end = count  # the place of the last turn here, unless the log ends before
        seat = played = kept = other = guessed = 0
        left_out = stuck = False
        while played < count:
            turn, here = INDEX(begin[game] + played), INDEX(own + seat)
            # The turn, from its first roll to how it ends.
            roll, thrown = first[turn], rolls[turn]
            stand = worth = taken = key = 0
            while stand >= 0:
                symbol = symbols[INDEX(roll + taken)] if taken < thrown else 0  # behind the last roll stands the bank
                key = stand * width + symbol
                cell = cells[INDEX(key)]
                if cell < 0:
                    break
                worth += cell >> 16
                stand = (cell & 0xFFFF) - 0x8000
                taken += 1
            if stuck or stand >= 0 or -1 - stand >= len(kinds):  # an ending may have been found only now
                stuck = True
                if stand >= 0:
                    missing[lacking] = key
                    lacking += 1
                played += 1
                continue
            # Its end, worked out without branches, which nothing could foretell.
            state, ended = states[here], INDEX(-1 - stand)
            kind, noted, settled_by = np.int64(kinds[ended]), flags[ended], settling[ended]
            banks, enough = kind == POSTS, worth >= minimum[INDEX(state)]
            if banks & (not enough) & (noted == ASKS):
                noted, settled_by = SETTLED | GUESS, below
            posted = worth * (banks & enough)
            at_once = min(taken, thrown) == 1
            kind += (banks & (posted == 0)) | ((kind == BUST) & at_once)  # to ZERO, and to FIRST_BUST
            case = INDEX(state * columns + kind)
            change = posted + costs[case]
            states[here] = after[case]
            total = totals[here] = totals[here] + change
            is_settled = (noted & SETTLED) > 0
            other += is_settled
            kept += (change == recorded[turn]) & (not is_settled)
            guessed += (noted & GUESS) > 0
            left_out |= (noted & UNKNOWN) > 0
            if len(became) > 0:
                became[turn] = SETTLED_TURN if is_settled else SAME if change == recorded[turn] else RESCORED
                divergence[turn], changed[turn] = settled_by, change
            if end == count and total >= threshold:
                end = played + last[many, seat]
                # What lies behind the log's end is no end.
                end = end if end < count else count + 1
            played += 1
            if played > end:
                finished[game] = True
                break
            seat = seat + 1 if seat + 1 < many else 0
        if stuck:
            todo[left] = game
            left += 1
            continue
        turns[game], same[game], settled[game], guesses[game] = played, kept, other, guessed
        begun[game], unknown[game] = end != count, left_out
    return left, lacking
