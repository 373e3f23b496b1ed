"""Kernel: this module has the loops that are compiled where numba is installed.

Those of a bulk replay do what `columns`, `transitions` and `bulk` do with numpy: tell usual turns from others, look
recorded rolls up in the cells of a table, and carry what turns bring through the seats of a game. Those of `lockstep`
and `followed` play games, simulated or recorded ones, and write down their rolls and turns. All that they know of rules
and strategies stands in the tables that they are given.
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
# Of a simulated throw: it loses the turn by a bust, or brings something else but choices.
LOST, OTHER = -1, -2
# How a simulated turn stands in the game: turns follow the one that reaches the target; it may end the game at once; it
# is one of the last turns, or the very last and may win.
FOLLOWED, AT_ONCE, LATE, LAST = range(4)
BANKS, FREE = 1, 2  # a bank is made; both a bank and a throw were legal
# How the turn went on after a recorded roll, and what is legal where one may be banked, beside FREE.
GOES_ON, ENDS, LOSES = range(3)
MAY_BANK, MAY_THROW = 1, 4
# Why a simulated game waits: it is over or goes on no more, it needs random numbers or room for rows, or an answer.
GONE, DRAWS, ROOM, CONTEXT, KEEP, STOP = range(6)
COMPILED = find_spec("numba") is not None
numba: Any = import_module("numba") if COMPILED else None
# Of what is asked for most: a signed index may count from the end, and whether it does is looked at each time.
INDEX = np.uintp


def _compiled(function: Any) -> Any:
    if not COMPILED:
        return function  # slow, but the same
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # there is nowhere to keep what was compiled
        return numba.njit(nogil=True)(function)


@_compiled
def begins(counts: Any) -> Any:
    """Return where runs of so many begin, one after another, and where the last one ends."""
    found, end = np.empty(len(counts), np.int32), 0
    for place in range(len(counts)):
        found[place] = end
        end += counts[place]
    return found, end


@_compiled
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


@_compiled
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


@_compiled
def _answer(questions: Any, answers: Any, question: int) -> Any:
    """Return the answer to a question, -1 for one that was not asked yet."""
    at = np.searchsorted(questions, question)
    return answers[at] if at < len(questions) and questions[at] == question else np.int64(-1)


@_compiled
def _write(rows: Any, at: int, row: Any) -> None:
    """Write a row down, a number in each column."""
    for column in range(len(row)):
        rows[column, at] = row[column]


@_compiled
def question_of(context: int, points: int, node: int, number: int) -> Any:
    """Return the number of the question what to do in a context, where a turn stands, and what it holds."""
    return (context << 42) + (points << 16) + (node << 10) + number


@_compiled
def context_of(strategy: int, state: int, standing: int, by: int) -> Any:
    """Return the number of the question for the context of a strategy, its seat, how that stands, and by how much."""
    return (((strategy * 64 + state) * 4 + standing) << 32) + by + (1 << 31)


@_compiled
def _lead(totals: Any, seat: int) -> Any:
    """Return by how much a seat leads the best other; with one seat its total."""
    if len(totals) == 1:
        return totals[0]
    best = totals[0 if seat else 1]
    for other in range(len(totals)):
        if other != seat:
            best = max(best, totals[other])
    return totals[seat] - best


@_compiled
def _stands(followed: Any, due: int, own: int, lead: int, most: int, threshold: int) -> Any:
    """Return how a turn stands that may come to so many points, and by how many, as far as its strategy looks.

    Before last turns it sees its total where it may end the game; in them its lead, and whether it may win.
    """
    if due < 0:
        if followed or max(own, 0) + most < threshold:
            return np.int64(FOLLOWED), np.int64(0)
        return np.int64(AT_ONCE), np.int64(own)
    return np.int64(LAST if due == 1 and lead + most > 0 else LATE), np.int64(lead)


@_compiled
def _end(
    turns: Any, ended: int, game: int, player: int, seat: int, turn: int, number: int, points: int, thrown: int,
    left: int, hot: int, lost: Any, due: Any, table: Any, minimum: Any, costs: Any, then: Any, threshold: int,
    last: Any,
) -> Any:  # fmt: skip
    """End a turn in the table of its game, and write it down as a row.

    Return the total, and how many last turns are due then (-1 before them).
    """
    totals = table[:, 0]
    own, state, lead = totals[seat], table[seat, 1], _lead(totals, seat)
    worth = np.int64(0) if lost else points
    posts = worth > 0 and worth >= minimum[state]
    kind = np.int64((FIRST_BUST if thrown == 1 else BUST) if lost else POSTS if posts else ZERO)
    posted = worth if posts else np.int64(0)
    total = totals[seat] = own + posted + costs[state, kind]
    table[seat, 1] = then[state, kind]
    table[seat, 2] = table[seat, 2] + 1 if lost else 0
    table[seat, 3] = table[seat, 3] + 1 if posts else 0
    table[seat, 4] += 1
    table[seat, 5] += lost
    _write(turns, ended, (
        game, player, seat, turn, number, kind, points, posted, total - own, own, total, lead, thrown, left, hot, state,
        np.int64(due >= 0), table[seat, 2], table[seat, 3],
    ))  # fmt: skip
    if due < 0:
        due = last[seat] if total >= threshold else np.int64(-1)
    else:
        due -= due > 0
    return total, due


@_compiled
def _pass_on(totals: Any, seat: int, number: int, due: Any, playing: Any, shared: Any) -> Any:
    """Pass the dice on: to the next of those who are `playing` (bits), in level ends the leaders alone.

    Return the seat, the round, how many turns are due then (0 when the game is over), and who is playing.
    """
    if due == 0:
        best, playing = totals.max(), np.int64(0)
        for leader in range(len(totals)):
            level = np.int64(totals[leader] == best)
            due += level
            playing |= level << leader
        if shared or due == 1:
            return seat, number, np.int64(0), playing
    following = (seat + 1) % len(totals)
    while not playing >> following & 1:
        following = (following + 1) % len(totals)
    return following, number + (following <= seat), due, playing


@_compiled
def simulate(
    todo: Any, waits: Any, question: Any, draws: Any, size: Any, offset: Any, sets: Any,
    options: Any, many: Any, highest: Any, dice: Any, must_throw: Any, gains: Any, after: Any, kept: Any, whole: int,
    minimum: Any, costs: Any, then: Any, threshold: int, last: Any,
    same: Any, alike: Any, looks: Any, blind: Any, plain: Any,
    contexts: Any, of_contexts: Any, keeps: Any, of_keeps: Any, stops: Any, of_stops: Any,
    most_points: int, most_total: int, most_turns: int, most_lines: int, shared: Any,
    first: Any, games: Any, seats: Any, over: Any, rolls: Any, turns: Any, rolled: int, ended: int,
) -> Any:  # fmt: skip
    """Play the games of `todo` until they are over, or wait for something (`waits`, and the `question`).

    Return how many rows `rolls` and `turns` have then, beside those that they had before.
    """
    players = seats.shape[1]
    for place in range(len(todo)):
        game = todo[place]
        stands, table = games[game], seats[game]
        totals = table[:, 0]
        seat, node, points, thrown, hot = stands[0], stands[1], stands[2], stands[3], stands[4]
        turn, number, due, drawn, written, playing = stands[5], stands[6], stands[7], stands[8], stands[9], stands[10]
        while True:
            if drawn == draws.shape[1]:
                waits[game] = DRAWS
                break
            if rolled == rolls.shape[1] or ended == turns.shape[1]:
                waits[game] = ROOM
                break
            throw = offset[dice[node]] + np.int64(draws[game, drawn] * size[dice[node]])
            shown = np.int64(sets[throw])
            choice = options[node, shown]
            if choice == OTHER or points >= most_points or written >= most_lines:
                waits[game] = GONE
                break
            player = (first[game] + seat) % players
            own, state, lost = totals[seat], table[seat, 1], choice == LOST
            sees = due if looks[player] else np.int64(-1)  # of last turns
            lead = _lead(totals, seat) if sees >= 0 else np.int64(0)
            followed = not looks[player] or last[seat] > 0
            if many[node, shown] > 1:
                context, at_stake = plain[player], np.int64(0)
                if not blind[player]:
                    standing, by = _stands(followed, sees, own, lead, points + highest[node, shown], threshold)
                    asked = context_of(same[player], alike[state], standing, by)
                    context, at_stake = _answer(contexts, of_contexts, asked), points
                    if context < 0:
                        waits[game], question[game] = CONTEXT, asked
                        break
                asked = question_of(context, at_stake, node, shown)
                which = _answer(keeps, of_keeps, asked)
                if which < 0:
                    waits[game], question[game] = KEEP, asked
                    break
                choice += which
            now, leaves = (points, node) if lost else (points + gains[choice], after[choice])
            stop = np.int64(0)
            if not lost and not must_throw[leaves]:
                standing, by = _stands(followed, sees, own, lead, now, threshold)
                asked = context_of(same[player], alike[state], standing, by)
                context = _answer(contexts, of_contexts, asked)
                if context < 0:
                    waits[game], question[game] = CONTEXT, asked
                    break
                asked = question_of(context, now, leaves, 0)
                stop = _answer(stops, of_stops, asked)
                if stop < 0:
                    waits[game], question[game] = STOP, asked
                    break
            keep = np.int64(-1) if lost else kept[choice]
            drawn += 1
            thrown += 1
            hot += keep >= 0 and dice[leaves] == whole
            ends = lost or (stop & BANKS) > 0
            written += 1 + (keep >= 0) + ends
            _write(rolls, rolled, (
                game, player, seat, turn, number, thrown, throw, shown, node, points, choice, keep, now, leaves, stop,
                np.int64(lost), np.int64(ends),
            ))  # fmt: skip
            rolled += 1
            points, node = now, leaves
            if not ends:
                continue
            total, due = _end(
                turns, ended, game, player, seat, turn, number, points, thrown, dice[node], hot, lost, due, table,
                minimum, costs, then, threshold, last,
            )  # fmt: skip
            seat, number, due, playing = _pass_on(totals, seat, number, due, playing, shared)
            ended += 1
            node, points, thrown, hot, turn = 0, 0, 0, 0, turn + 1
            over[game] = due == 0
            if due == 0 or turn == most_turns or abs(total) > most_total:
                waits[game] = GONE
                break
        left = (seat, node, points, thrown, hot, turn, number, due, drawn, written, playing)
        for column in range(len(left)):
            stands[column] = left[column]
    return rolled, ended


@_compiled
def follow(
    begin: Any, throws: Any, who: Any, keeps: Any, how: Any, banked: Any, sets: Any,
    options: Any, many: Any, dice: Any, must_throw: Any, gains: Any, after: Any, kept: Any, whole: int,
    minimum: Any, costs: Any, then: Any, threshold: int, last: Any, questions: Any, answers: Any,
    most_points: int, most_total: int, shared: Any, missing: Any, rounds: Any, seats: Any, over: Any, rolls: Any,
    turns: Any,
) -> Any:  # fmt: skip
    """Play recorded games, whose rolls lie one after another, as far as each goes as it was recorded, to its end.

    Return how many rows `rolls` and `turns` have, and how many answers are `missing`: what is legal there is taken for
    granted until they are known. Rows of games that are not `over` then stand among the others.
    """
    rolled = ended = lacking = 0
    for game in range(len(over)):
        table = seats[game]
        totals = table[:, 0]
        table[:] = 0
        over[game] = False
        seat = node = points = thrown = hot = turn = np.int64(0)
        number, due, playing = np.int64(1), np.int64(-1), np.int64(-1)
        for at in range(begin[game], begin[game + 1]):
            throw = throws[at]
            if due == 0 or who[at] != seat:
                break
            shown = np.int64(sets[throw])
            choice = options[node, shown]
            lost = choice == LOST
            if choice == OTHER or points >= most_points or lost != (how[at] == LOSES):
                break
            keep = np.int64(-1) if keeps[at] < 0 else np.int64(sets[keeps[at]])
            if not lost:
                end = choice + many[node, shown]
                while choice < end and kept[choice] != keep:
                    choice += 1
                if choice == end:
                    break
            elif keep >= 0:
                break
            state, ends = table[seat, 1], how[at] != GOES_ON
            now, leaves = (points, node) if lost else (points + gains[choice], after[choice])
            legal = np.int64(MAY_THROW)
            if not lost and not must_throw[leaves]:
                asked = question_of(state, now, leaves, 0)
                legal = _answer(questions, answers, asked)
                if legal < 0:
                    missing[lacking] = asked
                    lacking += 1
                    legal = np.int64(MAY_THROW | MAY_BANK)
            if not lost and (not legal & (MAY_BANK if ends else MAY_THROW) or (ends and banked[at] != now)):
                break
            stop = np.int64((BANKS if ends and not lost else 0) | (legal & FREE))
            thrown += 1
            hot += keep >= 0 and dice[leaves] == whole
            _write(rolls, rolled, (
                game, who[at], seat, turn, number, thrown, throw, shown, node, points, choice, keep, now, leaves, stop,
                np.int64(lost), np.int64(ends),
            ))  # fmt: skip
            rolled += 1
            points, node = now, leaves
            if not ends:
                continue
            total, due = _end(
                turns, ended, game, who[at], seat, turn, number, points, thrown, dice[node], hot, lost, due, table,
                minimum, costs, then, threshold, last,
            )  # fmt: skip
            seat, number, due, playing = _pass_on(totals, seat, number, due, playing, shared)
            ended += 1
            turn += 1
            node = points = thrown = hot = np.int64(0)
            if abs(total) > most_total:
                break
        else:
            over[game] = due == 0
        rounds[game] = number
    return rolled, ended, lacking
