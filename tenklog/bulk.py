"""Bulk: this module replays many archived games at once, and gives for each what `replayer.replay` would give.

Of games that nothing unusual happened in, turns are looked up in tables of transitions. What they bring to the totals
is worked out for all games together where that is simple, and where it is not, game by game by the fold's own end of a
turn. Every other game is replayed plainly. Needs numpy and pyarrow.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from threading import Lock, local
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from msgspec import Struct, json
from msgspec.structs import asdict, astuple

from tenklog import archive, bulk_kernel, jit
from tenklog.bulk_kernel import NEVER_HAPPENED, RESCORED, SAME, SETTLED_TURN
from tenklog.columns import Recorded
from tenklog.ending import end_turn, win
from tenklog.events import MOST_PLAYERS
from tenklog.outcomes import Row, schema
from tenklog.projections import names
from tenklog.replayer import Became, ReplayedTurn
from tenklog.rules import Ruleset
from tenklog.state import Outcome, Turn, opening, worth_banking
from tenklog.transitions import (
    ASKS,
    BELOW,
    BUST,
    FIRST_BUST,
    GUESS,
    KIND,
    KINDS,
    POSTS,
    SETTLED,
    UNKNOWN,
    Ends,
    Ints,
    Symbols,
    Transitions,
    with_minimum,
)
from tenklog.walk import GUESSES, Settle

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_RULES = 64  # that are remembered at once
BECAME: tuple[Became, ...] = ("never-happened", "same", "rescored", "settled")  # by the numbers of `bulk_kernel`
NOTHING = np.iinfo(np.int64).min  # no change
_STATUS = pa.array(["unfinished", "finished"])  # once: pyarrow looks for pandas each time that it is given a list


# -- what becomes of it -----------------------------------------------------------------------------------------------


class Rules:
    """A ruleset with what was found out about it."""

    def __init__(self, rules: Ruleset, turns: Transitions) -> None:
        self.rules = rules
        self.turns = turns
        self.ends = Ends(rules)


class Told:
    """What became of each recorded turn: the number of that, of the divergence that settled it or -1, and by how much
    it changed the own total here, or NOTHING. Nothing is written down where nobody asked (`asked`).
    """  # noqa: D205

    def __init__(self, recorded: Recorded, asked: bool) -> None:
        count = int(recorded.turns.sum()) if asked else 0
        self.asked = asked
        self.became, self.kind = np.zeros(count, np.int8), np.zeros(count, np.int8)
        self.change = np.zeros(count, np.int64)
        self.forget(slice(None))

    def forget(self, turns: slice) -> None:
        """Begin some turns anew."""
        self.became[turns], self.kind[turns], self.change[turns] = NEVER_HAPPENED, -1, NOTHING

    def note(self, recorded: Recorded, place: int, turns: Sequence[ReplayedTurn]) -> None:
        """Write down what became of the turns of a game."""
        begin = int(recorded.begin[place])
        self.forget(slice(begin, begin + int(recorded.turns[place])))
        for one in turns:
            at = begin + one.turn - 1
            self.became[at] = BECAME.index(one.became)
            self.kind[at] = -1 if one.kind is None else KIND[one.kind]
            self.change[at] = NOTHING if one.change is None else one.change

    def table(self, recorded: Recorded) -> pa.Table:
        """Return a row for each turn."""
        count, kinds = recorded.turns, [*KIND]
        guess = np.array([kind in GUESSES for kind in kinds])
        return pa.table({
            "game": recorded.ids.take(pa.array(np.repeat(np.arange(len(count)), count))),
            "turn": pa.array((np.arange(len(self.kind)) - np.repeat(recorded.begin, count) + 1).astype(np.int32)),
            "became": pa.array(BECAME).take(pa.array(self.became)),
            "kind": pa.array(kinds).take(pa.array(self.kind, mask=self.kind < 0)),
            "guess": pa.array(guess[self.kind] & (self.kind >= 0)),
            "change": pa.array(self.change, mask=self.change == NOTHING),
        })  # fmt: skip


class Played(Struct, frozen=True):
    """What became of games: by game, and by lane, a seat of a game."""

    turns: Ints  # that happened here
    begun: Ints  # whether somebody reached the target
    finished: Ints
    same: Ints
    settled: Ints
    guesses: Ints
    unknown: Ints  # whether the tables left anything out
    totals: Ints
    states: Ints  # of `Ends`


# Marks that are added up in one number for each lane: those that stay the same, then each of what is noted of a turn.
_NOTED = (SETTLED, GUESS, UNKNOWN)
_PLACES = np.array([0, 16, 32, 48])  # of bits
_MARKS = np.array([sum((note & one > 0) << 16 * (1 + n) for n, one in enumerate(_NOTED)) for note in range(16)])


def together(recorded: Recorded, chosen: Ints, found: Rules, told: Told) -> Played:
    """Replay the even turns of chosen games round by round."""
    seats, counts, begin = recorded.seats[chosen], recorded.even[chosen], recorded.begin[chosen]
    lanes = int(seats.sum())
    lane = np.cumsum(seats) - seats  # of each game's first seat
    lengths = -(-counts // seats)
    rounds = int(lengths.max())
    wide = np.zeros(rounds + 1, np.int64)  # lanes up to the last one that has a turn in a round
    np.maximum.at(wide, lengths, lane + seats)
    wide = np.maximum.accumulate(wide[::-1])[::-1][1:]
    until = np.cumsum(wide)
    of_round = [slice(end - width, end) for width, end in zip(wide.tolist(), until.tolist(), strict=True)]
    seat, of_lane = np.arange(lanes) - np.repeat(lane, seats), np.repeat(seats, seats)
    opening, behind = np.repeat(begin, seats) + seat, np.repeat(begin + counts, seats)

    # The turns lie round by round, in each a turn for every lane; some lanes have none.
    turn = np.concatenate([opening[:width] + number * of_lane[:width] for number, width in enumerate(wide.tolist())])
    there = turn < np.concatenate([behind[:width] for width in wide.tolist()])
    turn[~there] = 0
    rolls = np.where(there, recorded.rolls[turn], 0)
    ending, points, taken = found.turns.walk(recorded.symbols, recorded.first[turn], rolls)
    kinds, flags, settling = found.turns.meanings()
    kind, noted = kinds[ending], flags[ending]
    kind[(kind == BUST) & (taken == 1)] = FIRST_BUST
    worth = points * (kind == POSTS)
    kind = np.maximum(kind, worth == 0)  # what posts nothing is a ZERO
    ends = found.ends
    change, total, stated = np.zeros((3, len(turn)), np.int64)
    low = np.zeros(len(turn), bool)
    state, now = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
    short = np.zeros(lanes, np.int64)  # rounds before the target was reached
    never = np.ones(lanes, bool)
    for here, width in zip(of_round, wide.tolist(), strict=True):
        state, now = state[:width], now[:width]
        below = np.less(worth[here], ends.minimum[state], out=low[here])
        cell = state * len(KINDS) + np.maximum(kind[here], below)
        one = np.add(worth[here] * ~below, ends.costs.ravel()[cell], out=change[here])
        now = np.add(now, one, out=total[here])
        never[:width] &= now < ends.threshold
        short[:width] += never[:width]
        state = stated[here] = ends.after.ravel()[cell]
    below = low & (noted == ASKS)
    noted[below] = SETTLED | GUESS

    # Whoever is the first to reach the target, in the order of turns, begins the last ones.
    began = np.minimum.reduceat(np.where(never, rounds * MOST_PLAYERS, short * of_lane + seat), lane)
    over = began + ends.last_turns(int(seats.max()))[seats, began % seats]
    finished = over < counts
    turns = np.where(finished, over + 1, counts)
    own = (np.repeat(turns, seats) - 1 - seat) // of_lane + 1  # turns of each seat
    final = (until - wide)[np.maximum(own, 1) - 1] + np.arange(lanes)
    totals, states = (np.where(own > 0, one[final], 0) for one in (total, stated))
    settled = noted & SETTLED > 0
    same_change = change == recorded.change[turn]
    marks = (~settled & same_change) + _MARKS[noted]
    counted = np.zeros(lanes, np.int64)
    for number, (here, width) in enumerate(zip(of_round, wide.tolist(), strict=True)):
        counted[:width] += marks[here] * (number < own[:width])
    if told.asked:
        happened = np.concatenate([number < own[:width] for number, width in enumerate(wide.tolist())])
        at = turn[happened]
        became = np.where(settled, SETTLED_TURN, np.where(same_change, SAME, RESCORED))
        told.became[at], told.change[at] = became[happened], change[happened]
        told.kind[at] = np.where(below, KIND[BELOW], settling[ending])[happened]
    same, settled, guesses, unknown = (np.add.reduceat(counted, lane) >> _PLACES[:, None]) & 0xFFFF
    return Played(turns, began < counts, finished, same, settled, guesses, unknown > 0, totals, states)


def compiled(recorded: Recorded, chosen: Ints, found: Rules, told: Told) -> Played:
    """Replay the even turns of chosen games one game after another, in what numba compiled."""
    seats, counts, turns, ends = recorded.seats[chosen], recorded.even[chosen], found.turns, found.ends
    games = len(chosen)
    of_games = (np.zeros(games, kind) for kind in (np.int64, bool, bool, np.int64, np.int64, np.int64, bool))
    played = Played(*of_games, *np.zeros((2, seats.sum()), np.int64))
    lie = (recorded.begin[chosen], counts, seats, np.cumsum(seats) - seats)
    last = ends.last_turns(int(seats.max()))
    todo, missing = np.arange(games), np.empty(counts.sum(), np.int64)
    while len(todo):
        cells = turns.cells()  # before their meanings: there is one for each then
        left, lacking = bulk_kernel.play(
            todo, missing, cells, recorded.symbols, recorded.first, recorded.rolls, *lie, recorded.change,
            *turns.meanings(), KIND[BELOW], ends.minimum, ends.costs, ends.after, ends.threshold, last,
            told.became, told.kind, told.change, *astuple(played),
        )  # fmt: skip
        todo = todo[:left]
        turns.find(missing[:lacking], cells.shape[1])
    return played


def fast(recorded: Recorded, chosen: Ints, found: Rules, told: Told) -> tuple[Ints, pa.Table]:
    """Replay chosen games, their even turns together; return which of them the tables have all of, and their rows."""
    played = (compiled if jit.COMPILED else together)(recorded, chosen, found, told)
    seats, counts, turns = recorded.seats[chosen], recorded.turns[chosen], played.turns
    lane = np.cumsum(seats) - seats
    leads = played.totals == np.repeat(np.maximum.reduceat(played.totals, lane), seats)
    lead = np.add.reduceat(leads, lane, dtype=np.int64)
    # A level end may be played on, and turns may follow the even ones.
    sure = ~played.unknown & np.where(played.finished, lead == 1, recorded.even[chosen] == counts)
    on = np.flatnonzero(~played.unknown & ~sure & (played.finished | ~played.begun)).tolist()
    there = np.arange(len(leads)) + np.repeat(recorded.lane[chosen] - lane, seats)  # each lane's own among all games
    same = np.logical_and.reduceat(leads == recorded.won[there], lane)[sure]
    numbers = {
        "rounds": np.where(played.finished, turns - 1, turns) // seats + 1, "turns": turns, "guesses": played.guesses,
        "same": played.same, "rescored": turns - played.same - played.settled, "settled": played.settled,
        "never_happened": counts - turns,
    }  # fmt: skip
    finished, of_sure = played.finished[sure], np.repeat(sure, seats)
    first = there[leads & of_sure]  # lanes of those in front
    over = np.repeat(finished, lead[sure])

    def lists(counted: Ints, values: pa.Array) -> pa.Array:
        """Return lists of so many of some values."""
        return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(counted)]), pa.int32()), values)

    columns = {
        "game": recorded.ids.take(pa.array(chosen[sure])),
        "status": _STATUS.take(pa.array(finished.astype(np.int8))),
        "winners": lists(np.where(finished, lead[sure], 0), recorded.names.take(pa.array(first[over]))),
        "leaders": lists(np.where(finished, 0, lead[sure]), recorded.names.take(pa.array(first[~over]))),
        "totals": lists(seats[sure], pa.array(played.totals[of_sure])),
        "same_winner": pa.array(same, mask=~finished),
    }
    columns |= {key: pa.array(values[sure].astype(np.int32)) for key, values in numbers.items()}
    table = pa.Table.from_arrays([columns[name] for name in schema().names], schema=schema())
    goes_on = by_turns(recorded, chosen[on].tolist(), found, told, (played, on, lane[on].tolist()))
    sure[[one for one, row in zip(on, goes_on, strict=True) if row]] = True
    more = [row for row in goes_on if row]
    return sure, pa.concat_tables([table, table_of(more)]) if more else table


def table_of(rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table."""
    return pa.Table.from_pylist([*map(asdict, rows)], schema=schema())


class Known:
    """What was found out about rulesets. Threads may share it."""

    def __init__(self) -> None:
        self.symbols = Symbols()
        self._rules: dict[bytes, Rules] = {}
        self._turns: dict[bytes, Transitions] = {}  # which rulesets share that differ in minimums or the target alone
        self._lock = Lock()
        self._own = local()

    def ask(self, sources: Mapping[str, str], sql: str, given: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """Ask DuckDB about some tables, in this thread's own connection: few parts need it, and it takes memory."""
        if not hasattr(self._own, "connection"):
            self._own.connection = archive.connect(1)
        con: DuckDBPyConnection = self._own.connection
        return con.execute(sql.format(**sources), dict(given) or None).fetchall()

    def rules(self, rules: Ruleset, settle: Settle) -> Rules:
        """Return what is known about a ruleset."""
        key = json.encode((rules, settle))
        with self._lock:
            if key not in self._rules:
                if len(self._rules) == MOST_RULES:
                    self._rules.clear()
                    self._turns.clear()
                alike = json.encode((with_minimum(rules, 0), settle))
                if alike not in self._turns:
                    self._turns[alike] = Transitions(rules, settle, self.symbols)
                self._rules[key] = Rules(rules, self._turns[alike])
            return self._rules[key]


def looked_up(
    recorded: Recorded, rules: Ruleset | dict[str, Ruleset], settle: Settle, known: Known, told: Told
) -> tuple[list[pa.Table], list[int]]:
    """Replay what is simple, under one ruleset or under changed ones by the hash of games' own.

    Return tables of rows, and the places of the games that are left.
    """
    tables: list[pa.Table] = []
    left = np.ones(len(recorded.ids), bool)
    for rules_hash, one in rules.items() if isinstance(rules, dict) else (("", rules),):
        found = known.rules(one, settle)
        even = recorded.plain & (recorded.even > 0)
        chosen = np.flatnonzero(even & (recorded.rules == rules_hash) if rules_hash else even)
        if found.ends.simple and len(chosen):
            if not jit.COMPILED:  # late rounds are short then
                chosen = chosen[np.argsort(-(recorded.even[chosen] // recorded.seats[chosen]))]
            sure, more = fast(recorded, chosen, found, told)
            left[chosen[sure]] = False
            tables.append(more)
    return tables, np.flatnonzero(left).tolist()


def turn_by_turn(
    recorded: Recorded,
    left: Sequence[int],
    rules: Ruleset | dict[str, Ruleset],
    settle: Settle,
    known: Known,
    told: Told,
) -> tuple[list[Row], list[int]]:
    """Replay what `looked_up` left, as far as turns can be looked up; return rows, and the places that are left."""
    rows: list[Row] = []
    walked = [place for place in left if not recorded.plain[place]]
    alike: dict[str, list[int]] = {}
    for place in left:
        if recorded.plain[place]:
            alike.setdefault(recorded.rules[place] if isinstance(rules, dict) else "", []).append(place)
    for rules_hash, places in alike.items():
        found = known.rules(rules[rules_hash] if isinstance(rules, dict) else rules, settle)
        for place, row in zip(places, by_turns(recorded, places, found, told), strict=True):
            if row is None:
                walked.append(place)
            else:
                rows.append(row)
    return rows, walked


# A turn that is looked up: its place, its seat, what it changed there, how it ends here, its points, and its rolls.
Looked = tuple[int, int, int, int, int, int]


def by_turns(
    recorded: Recorded,
    places: Sequence[int],
    found: Rules,
    told: Told,
    on: tuple[Played, Sequence[int], Sequence[int]] | None = None,
) -> list[Row | None]:
    """Replay plain games turn by turn: each is looked up, and ended by the fold itself; None for a game with an other.

    They go `on` after what is played already, of games of these numbers there, whose first lanes have those.
    """
    if not places:
        return []
    happened = np.zeros(len(places), np.int64) if on is None else on[0].turns[on[1]]
    ends = recorded.begin[places] + recorded.turns[places]
    counts = recorded.turns[places] - happened
    at = np.concatenate([np.arange(end - count, end) for end, count in zip(ends, counts, strict=True)])
    walked = found.turns.walk(recorded.symbols, recorded.first[at], recorded.rolls[at])
    turns = zip(*(one.tolist() for one in (at, recorded.seat[at], recorded.change[at], *walked)), strict=True)
    return [
        _by_turns(recorded, place, found, told, [*islice(turns, count)], on and (on[0], on[1][number], on[2][number]))
        for number, (place, count) in enumerate(zip(places, counts.tolist(), strict=True))
    ]


def _by_turns(
    recorded: Recorded, place: int, found: Rules, told: Told, turns: list[Looked], on: tuple[Played, int, int] | None
) -> Row | None:
    """Replay a game, or the rest of one."""
    rules, seats = found.rules, slice(recorded.lane[place], recorded.lane[place] + recorded.seats[place])
    position = opening(tuple(recorded.names[seats].to_pylist()), rules, replayed=True)
    stopped = False
    happened = same = settled = guesses = 0
    if on is not None:
        played, number, lane = on
        counts = (played.turns, played.same, played.settled, played.guesses)
        happened, same, settled, guesses = (int(one[number]) for one in counts)
        lanes = slice(lane, lane + len(position.seats))
        rounds, seat = divmod(happened - 1, len(position.seats))
        stood = (played.totals[lanes].tolist(), played.states[lanes].tolist())
        position = found.ends.stands(position, *stood, seat, rounds + 1, bool(played.finished[number]))
    end = int(recorded.begin[place] + recorded.turns[place])
    told.forget(slice(end - len(turns), end))
    for at, seat, there, ended, points, rolls in turns:
        if stopped or position.turn is None or position.turn.seat != seat:
            continue
        ending = found.turns.endings[ended]
        turn = Turn(seat, rules.dice, rolls=rolls, points=points)
        posted, why = worth_banking(position, turn, points)
        guess = ending.asks and why.startswith("below")
        happened += 1
        kind = BELOW if guess else ending.kind
        settled += kind is not None
        guesses += kind in GUESSES
        stopped = ending.how == "stopped" or (guess and found.turns.stops)
        if ending.how == "other":
            return None
        if told.asked and kind is not None:
            told.became[at], told.kind[at] = SETTLED_TURN, KIND[kind]
        if stopped:
            continue
        if ending.how == "won":
            position = win(position, turn)
        elif ending.how == "bank" and not guess:
            position = end_turn(position, turn, "banked" if posted else "scoreless", posted)
        else:
            outcome: Outcome = "bust" if ending.how == "bust" else "wiped-out"
            position = end_turn(position, turn, outcome if ending.how in ("bust", "wiped-out") else "settled", 0)
        assert position.ended is not None
        change = position.ended.change
        same += kind is None and change == there
        if told.asked:
            told.change[at] = change
            if kind is None:
                told.became[at] = SAME if change == there else RESCORED
    finished = position.turn is None
    totals = [one.total for one in position.seats]
    winners = names(position, position.winners)
    leaders = [one.player for one in position.seats if one.total == max(totals)]
    return Row(
        game=recorded.game(place),
        status="stopped" if stopped else "finished" if finished else "unfinished",
        winners=winners,
        leaders=[] if stopped or finished else leaders,
        totals=list(totals),
        same_winner=position.winners == tuple(np.flatnonzero(recorded.won[seats])) if finished else None,
        rounds=position.round,
        turns=happened - stopped,
        guesses=guesses,
        same=same,
        rescored=happened - same - settled,
        settled=settled,
        never_happened=int(recorded.turns[place]) - happened,
    )
