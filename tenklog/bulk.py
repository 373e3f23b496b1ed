"""Bulk: this module replays many archived games at once, and gives for each what `replayer.replay` would give.

Of the games that nothing unusual happened in, turns are looked up in tables of transitions, all of them together, and
only what they bring to the totals is worked out round by round. Every other game, and each that meets here what the
tables leave out, is replayed plainly. Needs numpy.
"""

from collections.abc import Sequence
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, json

from tenklog.compare import compare
from tenklog.events import MOST_PLAYERS
from tenklog.reading import Log
from tenklog.replayer import Status, replay
from tenklog.rules import Ruleset, parse_changes
from tenklog.transitions import BUST, FIRST_BUST, POSTS, WIDTH, WON, ZERO, Ending, Ends, Ints, Symbols, Transitions
from tenklog.walk import Settle

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_RULES = 64  # that are remembered at once
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


class Told(Struct, frozen=True):
    """What the archive says of a game as a whole; `usual` says that it is finished and no replay."""

    game: str
    players: list[str]
    winners: list[str]
    rules_hash: str
    turns: int
    events: int
    usual: bool
    key: int  # of its rows


class Recorded(Struct, frozen=True):
    """Archived games, and their turns that ended, game after game.

    For each game: whether nothing unusual happened in it, its seats, its turns and where they begin. For each turn: by
    what it changed the total, its rolls, and where their symbols (as numbers) begin.
    """

    games: list[Told]
    plain: Ints
    seats: Ints
    turns: Ints
    begin: Ints
    change: Ints
    rolls: Ints
    first: Ints
    symbols: Ints


# One value instead of many wherever that is possible, for each costs as much as to read it.
_KEY = "(hash(game) >> 33)::BIGINT"
_GAMES = f"""SELECT coalesce(to_json(list({{{{'game': game, 'players': players, 'winners': coalesce(winners, []),
'rules_hash': rules_hash, 'turns': turns, 'events': events, 'usual': status = 'finished' AND origin <> 'replay',
'key': {_KEY}}}}})), '[]') FROM ({{games}})"""
_TURNS = f"""SELECT turn, seat, coalesce(rolls, 0)::INTEGER AS rolls, change, {_KEY} AS key,
CASE outcome WHEN 'banked' THEN 1 WHEN 'scoreless' THEN 1 WHEN 'bust' THEN 2 WHEN 'wiped-out' THEN 2 WHEN 'won' THEN 3
ELSE 0 END::UTINYINT AS how FROM ({{turns}}) WHERE turn IS NOT NULL"""
_ROLLS = f"""SELECT ({_KEY} << 32) + (roll_set::INTEGER * {WIDTH} + coalesce(kept_set + 1, 0)) * 2 + (roll = 1)::INTEGER
AS roll FROM ({{rolls}}) WHERE turn IS NOT NULL"""
_UNUSUAL = "SELECT DISTINCT game FROM ({events}) WHERE game IN (SELECT unnest($games)) AND type NOT IN $plain"
_told = json.Decoder(list[Told]).decode


def read(con: "DuckDBPyConnection", sources: dict[str, str], symbols: Symbols) -> Recorded:
    """Read archived games; `sources` has the SQL of the tables, whose rows lie game after game as they were written."""

    def arrays(sql: str) -> dict[str, Ints]:
        return con.execute(sql.format(**sources)).fetchnumpy()

    games = _told(con.execute(_GAMES.format(**sources)).fetchall()[0][0])
    seats, count, lines, key = (
        np.array([one(game) for game in games], np.int64)
        for one in (lambda game: len(game.players), lambda game: game.turns, lambda game: game.events,
                    lambda game: game.key)
    )  # fmt: skip
    end = np.cumsum(count)
    begin = end - count
    turns, thrown = arrays(_TURNS), arrays(_ROLLS)["roll"]
    rolls, how, key = turns["rolls"].astype(np.int64), turns["how"], np.repeat(key, count)
    first = np.cumsum(rolls) - rolls
    if not (  # tables are joined by the order of their rows, so that order is looked at
        np.array_equal(turns["key"], key)
        and np.array_equal(thrown >> 32, np.repeat(key, rolls))
        and np.array_equal(np.flatnonzero(thrown & 1), first[rolls > 0])
    ):
        none = np.zeros(0, np.int64)
        return Recorded(games, np.zeros(len(games), bool), seats, count * 0, count * 0, none, none, none, none)
    symbol = (thrown & 0xFFFFFFFF) >> 1

    def of_game(each: Ints) -> Ints:
        """Sum up for each game what its turns have."""
        total = np.concatenate([[0], np.cumsum(each)])
        summed: Ints = total[end] - total[begin]
        return summed

    place = np.arange(len(how)) - np.repeat(begin, count)
    lost = symbol % WIDTH == 0  # nothing was kept of it
    kept = np.concatenate([[0], np.cumsum(~lost)])
    kept = kept[first + rolls] - kept[first]
    usual = (
        (rolls > 0)
        & (how > 0)
        & (turns["turn"] == place + 1)
        & (turns["seat"] == place % np.repeat(np.maximum(seats, 1), count) + 1)
        & (kept == rolls - (how > 1))  # no blank throw, and no last die that was thrown again
    )
    last = (first + rolls - 1)[usual]
    usual[usual] = lost[last] == (how[usual] > 1)
    symbol[(first + rolls - 1)[usual & (how == 3)]] += WON
    plain = (count > 0) & (of_game(usual) == count) & (count <= MOST_ROUNDS * seats)
    plain &= np.array([game.usual for game in games], bool)
    said = plain & (1 + of_game(rolls + kept + (how < 3)) != lines)  # more than the moves of the turns
    if said.any():
        given = {"games": [games[number].game for number in np.flatnonzero(said)], "plain": PLAIN}
        unusual = {row[0] for row in con.execute(_UNUSUAL.format(**sources), given).fetchall()}
        plain &= np.array([game.game not in unusual for game in games], bool)
    change = np.asarray(turns["change"], np.int64)
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

    lead = np.add.reduceat(leads, lane, dtype=np.int64)
    sure = (count(happened & (flag & UNKNOWN > 0)) == 0) & ~(finished & (lead > 1))  # level ends may be played on
    kept, settled, guessed = count(same), count(settled), count(happened & (flag & GUESS > 0))
    numbers = {
        "rounds": np.where(finished, over // seats, counts // seats) + 1, "turns": turns, "guesses": guessed,
        "same": kept, "rescored": turns - kept - settled, "settled": settled, "never_happened": counts - turns,
    }  # fmt: skip
    players = [player for number in chosen for player in recorded.games[number].players]
    leading = iter([players[one] for one in np.flatnonzero(leads & np.repeat(sure, seats))])
    ahead = [[*islice(leading, count)] for count in lead[sure].tolist()]
    totals = iter(final[np.repeat(sure, seats)].tolist())
    over_here, games = finished[sure].tolist(), [recorded.games[number] for number in chosen[sure]]
    columns: dict[str, list[Any]] = {
        "game": [game.game for game in games],
        "status": ["finished" if done else "unfinished" for done in over_here],
        "winners": [names if done else [] for names, done in zip(ahead, over_here, strict=True)],
        "leaders": [[] if done else names for names, done in zip(ahead, over_here, strict=True)],
        "totals": [[*islice(totals, count)] for count in seats[sure].tolist()],
        "same_winner": [
            names == game.winners if done else None for names, done, game in zip(ahead, over_here, games, strict=True)
        ],
    }  # fmt: skip
    return sure, columns | {key: values[sure].tolist() for key, values in numbers.items()}


# What is noted of turns.
SETTLED, GUESS, ASKS, UNKNOWN = 1, 2, 4, 8


def _of_ending(ending: Ending) -> tuple[int, int]:
    """Return what an ending is to its seat, and what is noted of it."""
    kind = {"bank": POSTS, "bust": BUST}.get(ending.how, ZERO)
    noted = SETTLED * ending.settled | GUESS * ending.guess | ASKS * ending.asks
    return kind, noted | UNKNOWN * (ending.how == "other")


class Known:
    """What was found out about rulesets. Threads may share it."""

    def __init__(self) -> None:
        self.symbols = Symbols()
        self._rules: dict[bytes, Rules] = {}
        self._lock = Lock()

    def rules(self, rules: Ruleset, settle: Settle) -> Rules:
        """Return what is known about a ruleset."""
        key = json.encode((rules, settle))
        with self._lock:
            if key not in self._rules:
                if len(self._rules) == MOST_RULES:
                    self._rules.clear()
                self._rules[key] = Rules(rules, settle, self.symbols)
            return self._rules[key]


def looked_up(
    recorded: Recorded, rules: Ruleset | dict[str, Ruleset], settle: Settle, known: Known
) -> tuple[dict[str, list[Any]], list[int]]:
    """Replay all games that can be looked up, under one ruleset or under changed ones by the hash of their own.

    Return the columns of their rows, and the places of the games that are left.
    """
    columns: dict[str, list[Any]] = {key: [] for key in Row.__struct_fields__}
    left = np.ones(len(recorded.games), bool)
    hashes = np.array([game.rules_hash for game in recorded.games])
    for rules_hash, one in rules.items() if isinstance(rules, dict) else (("", rules),):
        found = known.rules(one, settle)
        chosen = np.flatnonzero(recorded.plain & (hashes == rules_hash) if rules_hash else recorded.plain)
        if found.simple and len(chosen):
            sure, more = fast(recorded, chosen, found)
            left[chosen[sure]] = False
            for key, values in more.items():
                columns[key] += values
    return columns, np.flatnonzero(left).tolist()


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
