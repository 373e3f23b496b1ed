"""Kernel: this module has the compiled loops that play many games, simulated (`lockstep`) or recorded (`followed`).

They write down rolls and turns. All that they know of rules and strategies stands in the tables that they are given.
"""

from typing import Any

import numpy as np

from tenklog.jit import INDEX, compiled
from tenklog.transitions import BUST, FIRST_BUST, POSTS, ZERO

# Of a throw: it loses the turn by a bust, or brings something else but choices.
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


@compiled
def _answer(questions: Any, answers: Any, question: int) -> Any:
    """Return the answer to a question, -1 for one that was not asked yet."""
    left = len(questions)
    if left == 0:
        return np.int64(-1)
    at = INDEX(0)
    while left > 1:  # half of what is left, without a branch, which nothing could foretell
        half = INDEX(left >> 1)
        at += half * INDEX(questions[at + half - INDEX(1)] < question)
        left -= left >> 1
    return answers[at] if questions[at] == question else np.int64(-1)


@compiled
def _write(rows: Any, at: int, row: Any) -> None:
    """Write a row down, a number in each column."""
    for column in range(len(row)):
        rows[column, at] = row[column]


@compiled
def question_of(context: int, points: int, node: int, number: int) -> Any:
    """Return the number of the question what to do in a context, where a turn stands, and what it holds."""
    return (context << 42) + (points << 16) + (node << 10) + number


@compiled
def context_of(strategy: int, state: int, standing: int, by: int) -> Any:
    """Return the number of the question for the context of a strategy, its seat, how that stands, and by how much."""
    return (((strategy * 64 + state) * 4 + standing) << 32) + by + (1 << 31)


@compiled
def _lead(totals: Any, seat: int) -> Any:
    """Return by how much a seat leads the best other; with one seat its total."""
    if len(totals) == 1:
        return totals[0]
    best = totals[0 if seat else 1]
    for other in range(len(totals)):
        if other != seat:
            best = max(best, totals[other])
    return totals[seat] - best


@compiled
def _stands(followed: Any, due: int, own: int, lead: int, most: int, threshold: int) -> Any:
    """Return how a turn stands that may come to so many points, and by how many, as far as its strategy looks.

    Before last turns it sees its total where it may end the game; in them its lead, and whether it may win.
    """
    if due < 0:
        if followed or max(own, 0) + most < threshold:
            return np.int64(FOLLOWED), np.int64(0)
        return np.int64(AT_ONCE), np.int64(own)
    return np.int64(LAST if due == 1 and lead + most > 0 else LATE), np.int64(lead)


@compiled
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


@compiled
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


@compiled
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


@compiled
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
