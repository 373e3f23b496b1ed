"""Bulk: this module replays many archived games at once, and gives for each what `replayer.replay` would give.

Of the games that nothing unusual happened in, turns are looked up in tables of transitions, all of them together, and
only what they bring to the totals is worked out round by round. Every other game, and each that meets here what the
tables leave out, is replayed plainly. Needs numpy.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from tenklog.compare import compare
from tenklog.events import MOST_PLAYERS
from tenklog.reading import Log
from tenklog.replayer import Status, replay
from tenklog.rules import Ruleset, parse_changes
from tenklog.transitions import BUST, FIRST_BUST, POSTS, WIDTH, WON, ZERO, Ending, Ends, Ints, Symbols, Transitions
from tenklog.walk import Settle

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_ROUNDS = 250  # of games whose turns are looked up; the longest sets the size of what is worked out
PLAIN = ["start", "roll", "keep", "bank", "bust", "note", "expect", "undo"]


class Row(Struct, frozen=True):
    """What a replay makes of a game; `totals` are by recorded seat, null for whoever did not join here."""

    game: str
    status: Status
    winners: list[str]
    leaders: list[str]
    totals: list[int | None]
    same_winner: bool | None
    rounds: int
    turns: int
    guesses: int
    same: int
    rescored: int
    settled: int
    never_happened: int


# -- what was recorded ------------------------------------------------------------------------------------------------


class Recorded(Struct, frozen=True):
    """Archived games, and their turns that ended, game after game.

    For each game: its row, whether nothing unusual happened in it, its seats, its turns and where they begin. For each
    turn: by what it changed the total, its rolls, and where their symbols (as numbers) begin.
    """

    games: list[tuple[Any, ...]]
    plain: Ints
    seats: Ints
    turns: Ints
    begin: Ints
    change: Ints
    rolls: Ints
    first: Ints
    symbols: Ints


_GAMES = "SELECT game, players, coalesce(winners, []), ruleset, status, origin, turns, events FROM ({games})"
_TURNS = """SELECT turn, seat, coalesce(rolls, 0)::INTEGER AS rolls, change,
CASE outcome WHEN 'banked' THEN 1 WHEN 'scoreless' THEN 1 WHEN 'bust' THEN 2 WHEN 'wiped-out' THEN 2 WHEN 'won' THEN 3
ELSE 0 END::UTINYINT AS how FROM ({turns}) WHERE turn IS NOT NULL"""
_ROLLS = f"""SELECT roll = 1 AS first, (roll_set::INTEGER * {WIDTH} + coalesce(kept_set + 1, 0))::INTEGER AS symbol
FROM ({{rolls}}) WHERE turn IS NOT NULL"""
_IN_TURNS = "SELECT game FROM ({turns}) WHERE turn = 1"
_IN_ROLLS = "SELECT game FROM ({rolls}) WHERE turn = 1 AND roll = 1"
_UNUSUAL = "SELECT DISTINCT game FROM ({events}) WHERE game IN (SELECT unnest($games)) AND type NOT IN $plain"


def read(con: "DuckDBPyConnection", sources: dict[str, str], symbols: Symbols) -> Recorded:
    """Read archived games; `sources` has the SQL of the tables, whose rows lie game after game as they were written."""

    def rows(sql: str, **given: object) -> list[tuple[Any, ...]]:
        return con.execute(sql.format(**sources), given or None).fetchall()

    def arrays(sql: str) -> dict[str, Ints]:
        return con.execute(sql.format(**sources)).fetchnumpy()

    games = rows(_GAMES)
    seats = np.array([len(game[1]) for game in games], np.int64)
    count = np.array([game[6] for game in games], np.int64)
    end = np.cumsum(count)
    begin = end - count
    told, thrown = arrays(_TURNS), arrays(_ROLLS)
    symbol, rolls, how = thrown["symbol"], told["rolls"].astype(np.int64), told["how"]
    first = np.cumsum(rolls) - rolls
    place = np.arange(len(how)) - np.repeat(begin, count) if len(how) == count.sum() else None
    # Tables are joined by the order of their rows, so that order is looked at.
    if (
        place is None
        or not np.array_equal(told["turn"], place + 1)
        or not np.array_equal(np.flatnonzero(thrown["first"]), first[rolls > 0])
        or len(symbol) != rolls.sum()
        or [row[0] for row in rows(_IN_TURNS)] != [game[0] for game in games if game[6]]
        or [row[0] for row in rows(_IN_ROLLS)] != [games[n][0] for n in np.flatnonzero(count) if rolls[begin[n]]]
    ):
        none = np.zeros(0, np.int64)
        return Recorded(games, np.zeros(len(games), bool), seats, count * 0, count * 0, none, none, none, none)

    def of_game(each: Ints) -> Ints:
        """Sum up for each game what its turns have."""
        total = np.concatenate([[0], np.cumsum(each)])
        summed: Ints = total[end] - total[begin]
        return summed

    lost = symbol % WIDTH == 0  # nothing was kept of it
    kept = np.concatenate([[0], np.cumsum(~lost)])
    kept = kept[first + rolls] - kept[first]
    last = np.where(rolls > 0, first + rolls - 1, 0)
    usual = (
        (rolls > 0)
        & (how > 0)
        & (told["seat"] == place % np.repeat(np.maximum(seats, 1), count) + 1)
        & (kept == rolls - (how > 1))  # no blank throw, and no last die that was thrown again
    )
    usual[usual] &= lost[last[usual]] == (how[usual] > 1)
    symbol[last[how == 3]] += WON
    lines = 1 + of_game(rolls + kept + (how < 3))
    plain = (count > 0) & (of_game(usual) == count) & (count <= MOST_ROUNDS * seats)
    plain &= np.array([game[4] == "finished" and game[5] != "replay" for game in games], bool)
    more = [games[n][0] for n in np.flatnonzero(plain & (lines != np.array([game[7] for game in games])))]
    if more:
        unusual = {row[0] for row in rows(_UNUSUAL, games=more, plain=PLAIN)}
        plain &= np.array([game[0] not in unusual for game in games], bool)
    change = np.asarray(told["change"], np.int64)
    return Recorded(games, plain, seats, count, begin, change, rolls, first, symbols.number(symbol))


# -- what becomes of it -----------------------------------------------------------------------------------------------


class Rules:
    """A ruleset with what was found out about it."""

    def __init__(self, rules: Ruleset, settle: Settle, symbols: Symbols) -> None:
        self.rules = rules
        self.turns = Transitions(rules, settle, symbols)
        self.ends = Ends(rules)
        self._last = np.zeros((MOST_PLAYERS + 1, MOST_PLAYERS), np.int64)
        for seats in range(1, MOST_PLAYERS + 1) if self.simple else ():
            self._last[seats, :seats] = self.ends.last_turns(seats)

    def last_turns(self, seats: Ints, seat: Ints) -> Ints:
        """Return how many turns follow the one that is the first to reach the target, at tables of so many seats."""
        following: Ints = self._last[seats, seat]
        return following

    @property
    def simple(self) -> bool:
        """Tell whether a turn changes totals by what it and its seat's own turns before it give, and by no more."""
        rules = self.rules
        costs = rules.bust_penalty or (rules.streak_length and rules.streak_penalty)
        return (
            self.ends.few
            and not rules.must_beat_previous
            and rules.reach != "exactly"
            and (rules.negative_totals or not costs)
        )


def fast(recorded: Recorded, chosen: Ints, found: Rules) -> tuple[Ints, dict[str, list[Any]]]:
    """Replay chosen plain games together; return which of them could be looked up, and the columns of their rows."""
    seats, counts, begin = recorded.seats[chosen], recorded.turns[chosen], recorded.begin[chosen]
    lanes = int(seats.sum())
    lane = np.cumsum(seats) - seats  # of each game's first seat
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    turn = place + np.repeat(begin, counts)
    of_seats = np.repeat(seats, counts)
    at = place // of_seats * lanes + np.repeat(lane, counts) + place % of_seats
    rounds = int((-(-counts // seats)).max())

    def laid_out(values: Ints) -> Ints:
        """Lay turns out by round and seat."""
        whole = np.zeros(rounds * lanes, values.dtype)
        whole[at] = values
        return whole.reshape(rounds, lanes)

    ending, points, taken = found.turns.walk(recorded.symbols, recorded.first[turn], recorded.rolls[turn])
    kinds, flags = (np.array(one, np.int8) for one in zip(*map(_of_ending, found.turns.endings), strict=True))
    kind = kinds[ending]
    kind[(kind == BUST) & (taken == 1)] = FIRST_BUST
    kind, points, flag = laid_out(kind), laid_out(points), laid_out(flags[ending])
    change, total = np.empty((rounds, lanes), np.int64), np.empty((rounds, lanes), np.int64)
    state, now, ends = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64), found.ends
    for number in range(rounds):
        banks = kind[number] == POSTS
        low = points[number] < ends.minimum[state]
        posted = np.where(banks & ~low, points[number], 0)
        one = np.where(banks & (posted == 0), ZERO, kind[number])
        flag[number] |= np.where(low & (flag[number] == ASKS), SETTLED | GUESS, 0)
        change[number] = posted + ends.change[state, one]
        now = now + change[number]
        total[number] = now
        state = ends.after[state, one]

    # Whoever is the first to reach the target, in the order of turns, begins the last ones.
    seat, of_lane = np.arange(lanes) - np.repeat(lane, seats), np.repeat(seats, seats)
    reached = total >= ends.threshold
    began = np.where(reached.any(0), reached.argmax(0) * of_lane + seat, rounds * int(seats.max()))
    began = np.minimum.reduceat(began, lane)
    over = began + found.last_turns(seats, began % seats)
    finished = over < counts
    turns = np.where(finished, over + 1, counts)
    own = (np.repeat(turns, seats) - 1 - seat) // of_lane + 1  # turns of each seat
    final = np.where(own > 0, total[own - 1, np.arange(lanes)], 0)
    leads = final == np.repeat(np.maximum.reduceat(final, lane), seats)

    happened = np.arange(rounds)[:, None] < own
    settled = happened & (flag & SETTLED > 0)
    same = happened & ~settled & (change == laid_out(recorded.change[turn]))

    def count(each: Ints) -> Ints:
        """Count turns by game."""
        counted: Ints = np.add.reduceat(each.sum(0), lane)
        return counted

    level = np.add.reduceat(leads, lane, dtype=np.int64) > 1
    sure = (count(happened & (flag & UNKNOWN > 0)) == 0) & ~(finished & level)  # level ends may be played on
    kept, settled, guessed = count(same), count(settled), count(happened & (flag & GUESS > 0))
    numbers = {
        "rounds": np.where(finished, over // seats, counts // seats) + 1, "turns": turns, "guesses": guessed,
        "same": kept, "rescored": turns - kept - settled, "settled": settled, "never_happened": counts - turns,
    }  # fmt: skip
    columns: dict[str, list[Any]] = {key: [] for key in Row.__struct_fields__}
    totals, leading = final.tolist(), leads.tolist()
    for number in np.flatnonzero(sure).tolist():
        game, players, winners, *_ = recorded.games[chosen[number]]
        own_lanes = slice(lane[number], lane[number] + seats[number])
        first = [player for player, leader in zip(players, leading[own_lanes], strict=True) if leader]
        done = finished[number]
        columns["game"].append(game)
        columns["status"].append("finished" if done else "unfinished")
        columns["winners"].append(first if done else [])
        columns["leaders"].append([] if done else first)
        columns["totals"].append(totals[own_lanes])
        columns["same_winner"].append(first == winners if done else None)
    columns |= {key: values[sure].tolist() for key, values in numbers.items()}
    return sure, columns


# What is noted of turns.
SETTLED, GUESS, ASKS, UNKNOWN = 1, 2, 4, 8


def _of_ending(ending: Ending) -> tuple[int, int]:
    """Return what an ending is to its seat, and what is noted of it."""
    kind = {"bank": POSTS, "bust": BUST}.get(ending.how, ZERO)
    noted = SETTLED * ending.settled | GUESS * ending.guess | ASKS * ending.asks
    return kind, noted | UNKNOWN * (ending.how == "other")


def plainly(log: Log, rules: Ruleset | None, settle: Settle, keep_rule_changes: bool, texts: Sequence[str]) -> Row:
    """Replay one log as `replay` does; `texts` are changes as they were typed."""
    position = log.game.position
    changes = parse_changes(texts, rules or position.pending or position.rules)
    replayed = replay(
        log.game, log.events, rules, settle=settle, keep_rule_changes=keep_rule_changes, changes=changes,
        of=log.fingerprint,
    )  # fmt: skip
    found, here = replayed.replay, replayed.game.position
    summary = compare([(log.game, [replayed])]).summary[0]
    there = [replayed.seats[seat] for seat in range(len(position.seats))]
    return Row(
        game=log.start.game,
        status=found.status,
        winners=found.winners,
        leaders=found.leaders,
        totals=[None if seat is None else here.seats[seat].total for seat in there],
        same_winner=None if summary.undecided else bool(summary.same_winner),
        rounds=here.round,
        turns=sum(seat.turns for seat in here.seats),
        guesses=found.guesses,
        same=found.turns.same,
        rescored=found.turns.rescored,
        settled=found.turns.settled,
        never_happened=found.turns.never_happened,
    )
