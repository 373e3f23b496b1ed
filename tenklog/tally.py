"""Tally: this module turns a score sheet into the events of a game, and says what on it can't be true.

The sheet's turns are played through the fold, whoever it says is to play next: so what a turn posts, what a lost one
costs and when the game is over is asked of the rules and compared with the sheet. What slips explain is said once, at
the likeliest cell; what follows from it is not said again.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from tenklog import cells, events, state
from tenklog.cells import Cell
from tenklog.errors import TenklogError, UsageError, nearest
from tenklog.game import Game, check_players, evolve
from tenklog.rules import Ruleset
from tenklog.sheets import Column, Finding, Sheet, finding, lay_out
from tenklog.sheets import Numbers as What
from tenklog.slips import Judge, Numbers
from tenklog.state import Position, opening
from tenklog.turns import play

MOST_WAYS = 400  # readings of the turns so far that are followed at once


class Reading(Struct, frozen=True):
    """A sheet as read: the events of its game (without times), the game they fold to, and what is wrong, by line.

    Where anything is wrong, events and game are what the sheet says all the same, each oddity with a note before it.
    """

    events: list[events.AnyEvent]
    game: Game
    findings: list[Finding]


class Entry(Struct, frozen=True):
    """A turn on the sheet: its row (from 0), its cell, the change of the own total; None where only a word says so."""

    row: int
    cell: Cell
    change: int | None
    total: int | None  # the total after it, where the sheet has that


def read(
    text: str,
    rules: Ruleset,
    *,
    game: str = "sheet",
    title: str | None = None,
    first: str | None = None,
    numbers: What | None = None,
) -> Reading:
    """Read a score sheet; raise DataError (the place is its line) for what is no sheet, UsageError for `first`.

    Players sit as they stand on the sheet, and the one called `first` begins. `numbers` says whether the numbers are
    points of turns or running totals, where both are possible.
    """
    return tally(lay_out(cells.read(text), numbers), rules, game=game, title=title, first=first)


def tally(
    sheet: Sheet,
    rules: Ruleset,
    *,
    game: str = "sheet",
    title: str | None = None,
    first: str | None = None,
    slips: bool = True,
) -> Reading:
    """Read a sheet that is laid out already; as `read`. Without `slips` the likely ones are not looked for."""
    found = _tally(sheet, rules, game, title, first, slips)
    if found.findings and sheet.other is not None:
        other = _tally(sheet.other, rules, game, title, first, slips)
        if len(other.findings) < len(found.findings):
            return other
    return found


def _tally(sheet: Sheet, rules: Ruleset, game: str, title: str | None, first: str | None, slips: bool) -> Reading:
    names = [column.player for column in sheet.columns]
    if first is not None and first not in names:
        raise UsageError(f"nobody on the sheet is called {first}", nearest(first, names))
    check_players(tuple(names))
    start = names.index(first) if first is not None else 0
    order = [*range(start, len(names)), *range(start)]
    judge = Judge(sheet, rules)
    written = judge.players

    def odd(players: list[Numbers]) -> int:
        trial = _Tally(sheet, rules, players, order)
        trial.run()
        return len(trial.findings)

    judge.settle(odd if slips else None)
    strict = _Tally(sheet, rules, judge.players, order)
    strict.off = {order.index(player) for player in judge.unsure}
    strict.run()
    told = _sorted([*sheet.findings, *judge.findings, *strict.findings])
    used = strict
    if told:
        used = _Tally(sheet, rules, written, order)
        used.run()
    log = list(used.log(game, title, told))
    folded: Game | None = None
    for event in log:
        folded = evolve(folded, event)
    assert folded is not None
    return Reading(log, folded, told)


def _sorted(found: list[Finding]) -> list[Finding]:
    """Return findings by line, one for each cell."""
    at: dict[tuple[int, str], Finding] = {}
    for one in found:
        at.setdefault((one.line, one.column), one)
    return sorted(at.values(), key=lambda one: (one.line, len(one.column), one.column))


Link = tuple[Any, tuple[events.AnyEvent, tuple[int, int] | None]]  # what came before, and an event with its turn


class _Way(Struct):
    """A reading of the turns so far: the position, and the events linked backwards."""

    position: Position
    events: Link | None = None

    @property
    def key(self) -> object:
        """Return what later turns depend on: readings that agree in it are one."""
        return [(one.total, one.opened, one.streak, one.left) for one in self.position.seats]


class _Tally:
    def __init__(self, sheet: Sheet, rules: Ruleset, numbers: list[Numbers], order: list[int]) -> None:
        self.sheet = sheet
        self.rules = rules
        self.findings: list[Finding] = []
        self.columns = [sheet.columns[number] for number in order]
        self.queues = [_entries(sheet.columns[number], numbers[number]) for number in order]
        self.joins = [_joined(column) if queue else 0 for column, queue in zip(self.columns, self.queues, strict=True)]
        there = [number for number, row in enumerate(self.joins) if row == 0]
        if not there:
            self.joins = [0 for _ in self.joins]
            there = [*range(len(self.columns))]
        self.seats = there  # seat -> column
        self.players = tuple(self.columns[number].player for number in there)
        self.off: set[int] = set()  # columns whose total is no longer that of the sheet
        self.ways = [_Way(opening(self.players, rules))]

    @property
    def position(self) -> Position:
        """Return how the game stands in the likeliest reading."""
        return self.ways[0].position

    def run(self) -> None:
        """Play all the turns of the sheet."""
        queues = [iter(queue) for queue in self.queues]
        left = [len(queue) for queue in self.queues]
        idle = 0
        while any(left) and self.position.turn is not None and idle <= len(left):
            self.join()
            column = self.seats[self.position.turn.seat]
            idle += 1
            if left[column]:
                left[column] -= 1
                idle = 0
                self.turn(column, next(queues[column]))
            elif not self.leave(column):
                self.lacking(column)
        if any(left) and self.position.turn is None:
            rest = [entry for column, queue in enumerate(self.queues) for entry in queue[len(queue) - left[column] :]]
            self.over(rest)

    # -- players come and go ----------------------------------------------------------------------

    def join(self) -> None:
        """Let those join whose first turn is in this round."""
        position = self.position
        assert position.turn is not None
        if any(not seat.left for seat in position.seats[: position.turn.seat]):
            return
        for number, row in enumerate(self.joins):
            if number not in self.seats and position.round > row:
                try:
                    self.put(events.Join(1, player=self.columns[number].player))
                    self.seats.append(number)
                except TenklogError as error:
                    cell = self.queues[number][0].cell
                    self.say(number, cell, row, "rules", error.what, error.right)
                    self.joins[number] = 1 << 30

    def leave(self, column: int) -> bool:
        """Let a player leave whose column ends with dashes while the others go on."""
        cells_ = self.columns[column].points or self.columns[column].totals or []
        last = self.queues[column][-1].row if self.queues[column] else -1
        if not any(one.kind == "none" for one in cells_[last + 1 :]):
            return False
        try:
            self.put(events.Leave(1, player=self.columns[column].player))
        except TenklogError:
            return False
        return True

    def put(self, event: events.AnyEvent, keyed: tuple[int, int] | None = None) -> None:
        """Play an event in every reading."""
        for way in self.ways:
            way.position = play(way.position, event)
            way.events = (way.events, (event, keyed))

    # -- turns ------------------------------------------------------------------------------------

    def turn(self, column: int, entry: Entry) -> None:
        """Play a turn in every reading that explains what it changed."""
        found = [way for one in self.ways for way in self.explained(one, column, entry)]
        unlike: dict[str, _Way] = {}
        for way in found:
            unlike.setdefault(str(way.key), way)
        if unlike:
            self.ways = [*unlike.values()][:MOST_WAYS]
        else:
            self.unexplained(column, entry)

    def explained(self, way: _Way, column: int, entry: Entry) -> Iterator[_Way]:
        """Yield what a turn can have been, the likeliest first: points before a bust."""
        turn = way.position.turn
        assert turn is not None
        player = self.columns[column].player
        before = way.position.seats[turn.seat].total
        found = False
        for event in _candidates(player, entry):
            if found and not self.costly(column, entry):
                return
            after = play(way.position, event)
            assert after.ended is not None
            change = after.ended.change
            fits = change == entry.change or entry.change is None
            if entry.total is not None and column not in self.off:
                fits = before + change == entry.total or (fits and entry.change is not None)
            if not fits and change == 0 and isinstance(event, events.Bank):
                fits = self.uncounted(column, entry, before)
            if fits:
                found = True
                yield _Way(after, (way.events, (event, (column, entry.row))))

    def costly(self, column: int, entry: Entry) -> bool:
        """Tell whether a turn of nothing is followed by a loss, so that it matters whether it was a bust."""
        queue = self.queues[column]
        later = (one.change for one in queue[queue.index(entry) :])
        return next((change for change in later if change), 0) < 0

    def uncounted(self, column: int, entry: Entry, before: int) -> bool:
        """Tell whether the sheet's sums leave out what a turn says it was worth."""
        queue = self.queues[column]
        at = queue.index(entry)
        rest = 0
        ends = self.checks(column)
        for one in queue[at:]:
            rest += one.change or 0
            if one.row in ends:
                lacking = before + rest - ends[one.row][-1][0]
                return column not in self.off and lacking >= (entry.change or 0) > 0
        return False

    def checks(self, column: int) -> dict[int, list[tuple[int, Cell]]]:
        """Return the totals that the sheet has after a turn in some row, with their cells."""
        queue = self.queues[column]
        found: dict[int, list[tuple[int, Cell]]] = {}
        for one in queue:
            if one.total is not None and self.columns[column].totals is not None:
                found[one.row] = [(one.total, self.columns[column].totals[one.row])]  # type: ignore[index]
        for rows, cell in self.columns[column].sums:
            last = max((one.row for one in queue if one.row < rows), default=None)
            if last is not None and cell.value is not None:
                found.setdefault(last, []).append((cell.value, cell))
        return found

    def unexplained(self, column: int, entry: Entry) -> None:
        """Say that the rules do not explain a turn, and go on with what is nearest to it."""
        turn = self.position.turn
        assert turn is not None
        change = entry.change
        player = self.columns[column].player
        name = self.rules.name
        lost = play(self.position, events.Bust(1, player=player)).ended
        assert lost is not None
        costs = "nothing" if not lost.change else f"{-lost.change}"
        event: events.AnyEvent = events.Bust(1, player=player)
        if change is not None and change < 0:
            right = f"a lost turn costs {costs} here, unless bust_penalty or a streak is set otherwise"
            self.say(column, entry.cell, entry.row, "penalty", f"no rule of {name} takes {-change} points here", right)
        elif change:
            event = events.Bank(1, player=player, points=change)
            why = state.worth_banking(self.position, turn, change)[1]
            if column not in self.off or self.position.seats[turn.seat].opened:
                right = "0, as the turn posts nothing"
                self.say(column, entry.cell, entry.row, "minimum", f"{change} is {why}", right)
        else:
            if change is not None:
                event = events.Bank(1, player=player, points=0)
            after = play(self.position, event).ended
            assert after is not None
            what = f"{entry.cell.text or 'the turn'} does not fit: under {name} the total falls by {-after.change}"
            self.say(column, entry.cell, entry.row, "penalty", what, f"{after.change}")
        self.off.add(column)
        self.put(event, (column, entry.row))

    def lacking(self, column: int) -> None:
        """Say that a turn which is due is not on the sheet, and play it as one of no points."""
        queue = self.queues[column]
        row = queue[-1].row + 1 if queue else 0
        column_cells = self.columns[column].points or self.columns[column].totals or []
        if column not in self.off and row < len(column_cells):
            right = "the points, 0, or - in it and below where the player has left"
            self.say(column, column_cells[row], row, "missing", "the cell is empty, and others go on", right)
        self.off.add(column)
        self.put(events.Bank(1, player=self.columns[column].player, points=0), (column, row))

    def over(self, rest: list[Entry]) -> None:
        """Say that turns stand after the end of the game."""
        entry = min(rest, key=lambda one: (one.row, one.cell.column))
        column = next(number for number, queue in enumerate(self.queues) if entry in queue)
        position = self.position
        best = max(position.seats, key=lambda one: one.total)
        what = f"the game was over in round {position.round}: {best.player} had {best.total}"
        if not self.off:
            right = f"no turns after it, or rules by which it goes on ({self.rules.name}: target {self.rules.target})"
            self.say(column, entry.cell, entry.row, "after-end", what, right)

    def say(self, column: int, cell: Cell, row: int, kind: str, what: str, right: str) -> None:
        """Note what is wrong with a turn."""
        self.findings.append(finding(cell, self.columns[column].player, row + 1, kind, what, right))

    # -- the log ----------------------------------------------------------------------------------

    def log(self, game: str, title: str | None, findings: list[Finding]) -> Iterator[events.AnyEvent]:
        """Yield the events of the likeliest reading, notes about what is wrong before the turns they are about."""
        yield events.Start(
            1, game=game, version=events.VERSION, players=self.players, rules=self.rules, origin="import", title=title
        )
        played = []
        link = self.ways[0].events
        while link is not None:
            played.append(link[1])
            link = link[0]
        notes: dict[tuple[int, int] | None, list[Finding]] = {}
        names = [column.player for column in self.columns]
        keys = {key for _, key in played}
        for one in findings:
            key = (names.index(one.player), one.round - 1) if one.player in names and one.round else None
            notes.setdefault(key if key in keys else None, []).append(one)
        seq = 1
        for event, key in [*reversed(played), (None, None)]:
            if key is not None or event is None:
                for one in notes.pop(key, []):
                    seq += 1
                    text = f"line {one.line}, {one.place}: {one.what}; {one.right}"
                    yield events.normal(events.Note(seq, text=events.text(text[:2000], "note")))
            if event is not None:
                seq += 1
                fields = {name: getattr(event, name) for name in type(event).__struct_fields__[3:]}
                yield type(event)(seq, **fields)
        totals = self.agreed()
        if totals:
            yield events.Expect(seq + 1, totals=totals)

    def agreed(self) -> dict[str, int]:
        """Return the last totals of the sheet, of those players whose totals are so."""
        found = {}
        for column, queue in enumerate(self.queues):
            player = self.columns[column].player
            seat = self.position.seat_of(player)
            ends = self.checks(column)
            if queue and seat is not None and queue[-1].row in ends:
                total = ends[queue[-1].row][-1][0]
                if self.position.seats[seat].total == total:
                    found[player] = total
        return found


def _candidates(player: str, entry: Entry) -> Iterator[events.AnyEvent]:
    change = entry.change
    if entry.cell.kind != "bust":
        if change is not None and change >= 0:
            yield events.Bank(1, player=player, points=change)
        else:
            yield events.Bank(1, player=player, points=0)
    if change is None or change <= 0:
        yield events.Bust(1, player=player)


def _entries(column: Column, numbers: Numbers) -> list[Entry]:
    """Return the turns of a player; one whose number is not known changes nothing, as far as anybody knows."""
    found = []
    before = 0
    main = column.points if column.points is not None else column.totals or []
    for row, cell in enumerate(main):
        total = numbers.totals[row] if numbers.totals is not None else None
        points = numbers.points[row] if numbers.points is not None else None
        gap = row in numbers.gaps
        if numbers.points is None:
            if total is not None or gap:
                found.append(Entry(row, cell, 0 if total is None else total - before, total))
        elif points is not None or gap:
            loose = row in numbers.loose
            found.append(Entry(row, cell, None if loose else points or 0, total))
        before = before if total is None else total
    return found


def _joined(column: Column) -> int:
    """Return how many rounds a player missed at the beginning, by the dashes in them."""
    main = column.points if column.points is not None else column.totals or []
    return next((number for number, one in enumerate(main) if one.kind != "none"), 0)
