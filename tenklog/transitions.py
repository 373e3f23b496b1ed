"""Transitions: this module remembers what the walk makes of a recorded roll, so that many turns can look it up.

Each answer is found once, by walking that roll, and the keep, bust or bank after it, on a game under the other rules.
No rule is stated here: where a turn stands, what it is worth and how it ends is what the walk says, and what the end of
a turn brings to its seat and to the game is what `ending` says. Needs numpy.
"""

from threading import Lock
from typing import Any, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from tenklog import events, state
from tenklog.chances import node
from tenklog.ending import end_turn, pass_on
from tenklog.game import Game
from tenklog.recorded import RecordedTurn, Step
from tenklog.rules import LIMIT, Ruleset
from tenklog.state import Outcome, Position, Seat, Turn, opening, with_turn
from tenklog.tables import SETS
from tenklog.walk import GUESSES, Kind, Settle, Stop, Walked, Walker

Ints = NDArray[Any]

_DICE = list(SETS)
# A recorded roll is one number, a symbol: its set times WIDTH, plus 1 and the set kept of it; instead of that stands
# LOST when it lost the turn, WON when it won the game. A bank is a symbol of its own.
LOST, WON = 0, len(SETS) + 1
WIDTH = 1024  # a power of 2 above these, which is fast to divide by
BANK = len(SETS) * WIDTH
MOST_CELLS = 1 << 20  # of the table of one ruleset; what has no room there is replayed plainly
MOST_STATES = 64  # of a seat
MOST_ENDINGS = 64  # of turns, more than there are kinds of them
_NOBODY = "nobody"


class Ending(Struct, frozen=True):
    """How a turn ends here: bank (which may post 0), void, bust, wiped-out or won; stopped is under that policy, and
    other what found no room in the tables.

    `kind` is the divergence that settled it. With `asks`, a bank below the minimum is a guess and void, or stops.
    """  # noqa: D205

    how: str
    kind: Kind | None = None
    asks: bool = False

    @property
    def settled(self) -> bool:
        """Tell whether the turn ended otherwise than it was recorded."""
        return self.kind is not None

    @property
    def guess(self) -> bool:
        """Tell whether nobody knows how it would have gone on."""
        return self.kind in GUESSES


OTHER = Ending("other")
# The divergences by number, and what a bank below the minimum is where that `asks`.
KIND = {kind: number for number, kind in enumerate(get_args(Kind))}
BELOW: Kind = "must-roll"


class Symbols:
    """The symbols met so far, numbered as they came (`numbers`, -1 for others); the bank is number 0.

    Threads may share them.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self.known = [BANK]
        self.numbers = np.full(BANK + 1, -1, np.int32)
        self.numbers[BANK] = 0

    def number(self, symbols: Ints) -> Ints:
        """Return the numbers of some symbols."""
        found: Ints = self.numbers[symbols]
        if len(found) and found.min() < 0:
            seen = np.zeros(BANK + 1, bool)
            seen[symbols] = True
            with self._lock:
                fresh = np.flatnonzero(seen & (self.numbers < 0))
                count = len(self.known)
                self.known += fresh.tolist()
                self.numbers[fresh] = np.arange(count, count + len(fresh), dtype=np.int32)
            found = self.numbers[symbols]
        return found


# -- a turn -----------------------------------------------------------------------------------------------------------


class Transitions:
    """What becomes of recorded turns under one ruleset and policy, found out as it is asked for.

    The table has a row for each stand of a turn and a column for each symbol. A cell holds the points that are gained
    there (above the lowest 16 bits) and the stand after it, or how the turn ended; it is -1 until it is asked for. The
    last rows are those of ended turns, which a negative stand finds: nothing changes there any more. Threads may share
    it.
    """

    def __init__(self, rules: Ruleset, settle: Settle, symbols: Symbols) -> None:
        self.symbols = symbols
        self.stops = settle == "stop"
        self.endings = [OTHER]
        # With minimums of 0, what forbids to stop is about dice alone; with 1 it shows whether a minimum does too.
        self._free, self._bound = (_Probe(with_minimum(rules, points), settle) for points in (0, 1))
        self._stands = {Turn(0, rules.dice): 0}
        self._cells = _unknown(8, 1024)
        self._lock = Lock()

    def walk(self, symbols: Ints, first: Ints, rolls: Ints) -> tuple[Ints, Ints, Ints]:
        """Walk turns of which the rolls, as numbers of symbols, begin at `first`; those without rolls end as OTHER.

        Return for each how it ends (an index of `endings`), its points at stake then, and the rolls that it took.
        """
        ending, points, taken = (np.zeros(len(first), kind) for kind in (np.int16, np.int64, np.int32))
        if not len(rolls):
            return ending, points, taken
        # Longest first, so that whoever has a roll more is a slice. Behind the last roll stands the bank, number 0.
        narrow = rolls.astype(np.min_scalar_type(rolls.max()))  # what is short is sorted by its digits
        longest = np.argsort(narrow, kind="stable")[::-1]
        more = (len(rolls) - np.cumsum(np.bincount(narrow))).tolist()
        count = more[0]
        longest = longest[:count]
        at = first[longest].astype(np.int64)
        stand, gained, used = (np.zeros(count, kind) for kind in (np.int64, np.int64, np.int32))
        for left in more:
            symbol = symbols[at[:left]]
            used[:left] += stand[:left] >= 0
            at[:left] += 1
            found = self._look(stand[:count], symbol)  # of those that have no roll more, the bank
            gained[:count] += found >> 16
            found &= 0xFFFF
            np.subtract(found, 0x8000, out=stand[:count])
            count = left
        ending[longest], points[longest], taken[longest] = -1 - stand, gained, used
        return ending, points, taken

    def meanings(self) -> tuple[Ints, Ints, Ints]:
        """Return what each ending is to its seat, what is noted of it, and the number of its divergence or -1."""
        kinds = [{"bank": POSTS, "bust": BUST}.get(one.how, ZERO) for one in self.endings]
        noted = [
            SETTLED * one.settled
            | GUESS * one.guess
            | ASKS * one.asks
            | UNKNOWN * (one.how not in ("bank", "void", "bust") or (one.asks and self.stops))
            for one in self.endings
        ]
        settled = [-1 if one.kind is None else KIND[one.kind] for one in self.endings]
        return np.array(kinds, np.int8), np.array(noted, np.int8), np.array(settled, np.int8)

    def cells(self) -> Ints:
        """Return the table as it is now, with a column for every symbol met so far."""
        if len(self.symbols.known) > self._cells.shape[1]:
            with self._lock:
                self._widen(self._cells.shape[0] - MOST_ENDINGS, 2 * len(self.symbols.known))
        return self._cells

    def _look(self, stand: Ints, symbol: Ints) -> Ints:
        """Return the cells of some stands and symbols, those behind the last symbol with number 0."""
        while True:
            cells = self.cells()
            columns = cells.shape[1]
            key = stand * columns
            key[: len(symbol)] += symbol
            found: Ints = cells.ravel()[key]
            if not len(found) or found.min() >= 0:
                return found
            self.find(key[found < 0], columns)

    def find(self, keys: Ints, columns: int) -> None:
        """Find out cells, by their keys: the row times so many columns, and the column."""
        with self._lock:
            for key in np.unique(keys).tolist():
                self._find(*divmod(key, columns))

    def _widen(self, rows: int, columns: int) -> None:
        wider = _unknown(rows, columns)
        known = self._cells[:-MOST_ENDINGS]
        wider[: known.shape[0], : known.shape[1]] = known
        self._cells = wider

    def _find(self, stand: int, symbol: int) -> None:
        """Walk a symbol from a stand, and write down what becomes of the turn."""
        if self._cells[stand, symbol] >= 0:
            return  # another thread has found it
        turn, steps = list(self._stands)[stand], self._free.steps(self.symbols.known[symbol])
        found = self._free.walk(turn, steps)
        if isinstance(found, Turn):
            gain, after = found.points, self._number(replace(found, points=0))
        else:
            gain, ending = found
            if ending.how == "bank" and not ending.settled:
                asked = self._bound.walk(turn, steps)
                assert isinstance(asked, tuple)
                assert asked[1].kind in (None, BELOW)
                ending = replace(ending, asks=asked[1].settled)
            if ending not in self.endings:
                assert len(self.endings) < MOST_ENDINGS
                self.endings.append(ending)
            after = -1 - self.endings.index(ending)
        self._cells[stand, symbol] = (gain << 16) + after + 0x8000

    def _number(self, stand: Turn) -> int:
        """Return the number of a stand, or of the ending OTHER when there is no room for one more."""
        rows, columns = self._cells.shape[0] - MOST_ENDINGS, self._cells.shape[1]
        if stand not in self._stands:
            if len(self._stands) == rows:
                if 2 * rows * columns > MOST_CELLS:
                    return -1
                self._widen(2 * rows, columns)
            self._stands[stand] = len(self._stands)
        return self._stands[stand]


def _unknown(rows: int, columns: int) -> Ints:
    """Return a table of so many stands and symbols of which nothing is known yet."""
    cells = np.full((rows + MOST_ENDINGS, columns), -1, np.int64)
    cells[rows:] = np.arange(-MOST_ENDINGS, 0)[:, None] + 0x8000
    return cells


def with_minimum(rules: Ruleset, points: int) -> Ruleset:
    """Return the same rules for turns that are looked at by themselves: one minimum, and a target beyond reach."""
    return replace(rules, name="turns", opening_minimum=points, bank_minimum=points, target=LIMIT)


class _Probe:
    """A game under other rules on which turns are walked from any stand, one at a time."""

    def __init__(self, rules: Ruleset, settle: Settle) -> None:
        start = events.Start(
            1,
            game="probe",
            version=events.VERSION,
            players=(_NOBODY,),
            rules=rules,
            origin="replay",
            of="1:" + "0" * 32,
        )
        self._at = opening(start.players, rules, replayed=True)
        self._game = Game(start, 1, self._at)
        self._walker = Walker(self._game, start, {}, settle)
        self._turn = RecordedTurn(1, 0, [0, 2, 3])  # its first move is none of the steps

    def steps(self, symbol: int) -> list[Step]:
        """Return what was recorded of a symbol: events, and positions that hold what the walk asks of them."""
        if symbol == BANK:
            kept = with_turn(self._at, Turn(0, 1, "kept", 1))
            return [Step(events.Bank(2, player=_NOBODY, points=0), kept, self._at, self._turn)]
        rolled, what = divmod(symbol, WIDTH)
        dice = _DICE[rolled]
        roll = events.Roll(2, player=_NOBODY, dice=dice)
        before = with_turn(self._at, Turn(0, len(dice)))
        if what == WON:
            return [Step(roll, before, replace(self._at, turn=None), self._turn)]
        if what == LOST:
            lost = with_turn(self._at, Turn(0, len(dice), "busted", 1, roll=dice))
            bust = events.Bust(3, player=_NOBODY)
            return [Step(roll, before, lost, self._turn), Step(bust, lost, self._at, self._turn)]
        thrown = with_turn(self._at, Turn(0, len(dice), "rolled", 1, roll=dice))
        keep = events.Keep(3, player=_NOBODY, dice=_DICE[what - 1])
        kept = with_turn(self._at, Turn(0, len(dice), "kept", 1, roll=dice, keep=keep.dice))
        return [Step(roll, before, thrown, self._turn), Step(keep, thrown, kept, self._turn)]

    def walk(self, stand: Turn, steps: list[Step]) -> Turn | tuple[int, Ending]:
        """Walk some steps; return where the turn stands then, or the points it had when it ended, and how it ended."""
        walker = self._walker
        walker.game, walker.ended = replace(self._game, position=with_turn(self._at, stand)), 0
        walker.log, walker.found, walker.walked = [], [], [Walked(self._turn)]
        try:
            for step in steps:
                walker.step(step)
        except Stop:
            return 0, Ending("stopped", walker.found[-1].kind)
        ended = walker.position.ended
        if ended is None:
            now = walker.turn
            return node(self._at.rules, now).turn(0, now.points)
        last = walker.log[-1]
        how = ("void" if last.settled else "bank") if isinstance(last, events.Bank) else ended.outcome
        return ended.turn.points, Ending(how, walker.found[-1].kind if walker.now.mode == "settled" else None)


# -- the end of a turn ------------------------------------------------------------------------------------------------

# What a turn may be to its seat.
POSTS, ZERO, BUST, FIRST_BUST = range(4)
# What is noted of a turn.
SETTLED, GUESS, ASKS, UNKNOWN = 1, 2, 4, 8
KINDS: tuple[tuple[Outcome, int, int], ...] = (("banked", 1, 2), ("scoreless", 0, 2), ("bust", 0, 2), ("bust", 0, 1))


class Ends:
    """What the end of a turn brings under one ruleset: to its seat, and to the game.

    A seat is in one of some `states`; `minimum` has what a turn must be worth in each. `costs` (beside what is posted)
    and `after` (the state then) have a row for each state and a column for each kind of turn.
    """

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self._at = opening(("", "another"), replace(rules, target=LIMIT, reach="at-least"))
        states = [Seat("")]
        minimum, costs, after = [], [], []
        for seat in states:
            at = replace(self._at, seats=(seat, self._at.seats[1]))
            minimum.append(state.terms(at, Turn(0, rules.dice)).minimum)
            ends = [end_turn(at, Turn(0, rules.dice, rolls=rolls), outcome, posted) for outcome, posted, rolls in KINDS]
            costs.append([end.seats[0].total - posted for end, (_, posted, _) in zip(ends, KINDS, strict=True)])
            now = [Seat("", opened=end.seats[0].opened, streak=end.seats[0].streak) for end in ends]
            if len(states) < MOST_STATES:
                states += [one for one in dict.fromkeys(now) if one not in states]
            after.append([states.index(one) if one in states else 0 for one in now])
        self.states = states
        self.few = len(states) < MOST_STATES
        self.minimum, self.costs, self.after = (np.array(one, np.int64) for one in (minimum, costs, after))
        target = rules.target
        self.threshold = target if self._reached(1, 0, target).turn is None else target + 1
        self._last: dict[int, list[int]] = {}

    @property
    def simple(self) -> bool:
        """Tell whether a turn changes totals by what it and its seat's own turns before it give, and by no more."""
        rules = self.rules
        costs = rules.bust_penalty or (rules.streak_length and rules.streak_penalty)
        return (
            self.few
            and not rules.must_beat_previous
            and rules.reach != "exactly"
            and (rules.negative_totals or not costs)
        )

    def last_turns(self, most: int) -> Ints:
        """Return how many turns follow the one that is the first to reach the target, where the end is simple.

        They stand by the number of seats, up to so many, and by the seat.
        """
        found = np.zeros((most + 1, most + 1), np.int64)
        for seats in range(1, most + 1):
            if seats not in self._last:
                self._last[seats] = self._last_turns(seats)
            found[seats, :seats] = self._last[seats]
        return found

    def _last_turns(self, seats: int) -> list[int]:
        """Return `last_turns` of each seat of a table: they are those of the seats after it, one after another."""
        found = []
        for seat in range(seats):
            due = self._reached(seats, seat, self.threshold).due or ()
            assert due == tuple((seat + one) % seats for one in range(1, len(due) + 1))
            found.append(len(due))
        return found

    def stands(
        self, position: Position, totals: list[int], stated: list[int], seat: int, number: int, over: bool
    ) -> Position:
        """Return the position after a seat's turn in some round, before last turns, or when none is due any more.

        That is `over`. All seats have these totals and are in some states then.
        """
        seats = tuple(
            replace(self.states[state], player=one.player, total=total)
            for one, total, state in zip(position.seats, totals, stated, strict=True)
        )
        return pass_on(replace(position, round=number), seats, seat, None, () if over else None)

    def _reached(self, seats: int, seat: int, total: int) -> Position:
        """Return the position after a turn of 1 point that brought a seat to a total."""
        at = opening(tuple(map(str, range(seats))), self.rules)
        there = [replace(one, total=total - 1) if number == seat else one for number, one in enumerate(at.seats)]
        return end_turn(replace(at, seats=tuple(there)), Turn(seat, self.rules.dice, rolls=1), "banked", 1)
