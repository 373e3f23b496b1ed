"""Tally: this module turns a score sheet into the events of a game, and says what on it can't be true.

The sheet's turns are played through the fold, whoever it says is to play next: so what a turn posts, what a lost one
costs and when the game is over is asked of the rules and compared with the sheet. What slips explain is said once, at
the likeliest cell; what follows from it is not said again.
"""

from collections.abc import Iterator, Sequence, Set
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tenklog import cells, events, state
from tenklog.cells import Cell
from tenklog.entries import Entry, Part
from tenklog.errors import TenklogError, UsageError, nearest
from tenklog.figures import Figures
from tenklog.findings import Finding, finding
from tenklog.game import Game, check_players, evolve
from tenklog.rules import Ruleset
from tenklog.sheets import Numbers, Sheet, lay_out
from tenklog.slips import Judge
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


def read(
    text: str,
    rules: Ruleset,
    *,
    game: str = "sheet",
    title: str | None = None,
    first: str | None = None,
    numbers: Numbers | None = None,
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
    order = _order([column.player for column in sheet.columns], first)
    judge = Judge(sheet, rules)
    written = judge.players

    def played(players: list[Figures], unsure: Set[int] = frozenset()) -> _Tally:
        parts = [Part(sheet.columns[one], players[one], one not in unsure) for one in order]
        trial = _Tally(rules, parts)
        trial.run()
        return trial

    judge.settle((lambda players: len(played(players).findings)) if slips else None)
    likely = played(judge.players, judge.unsure)
    told = _sorted([*sheet.findings, *judge.findings, *likely.findings])
    log = (played(written) if told else likely).log(game, title, told)
    folded: Game | None = None
    for event in log:
        folded = evolve(folded, event)
    assert folded is not None
    return Reading(log, folded, told)


def _order(names: list[str], first: str | None) -> list[int]:
    """Return which players of the sheet play in turn."""
    if first is not None and first not in names:
        raise UsageError(f"nobody on the sheet is called {first}", nearest(first, names))
    check_players(tuple(names))
    start = names.index(first) if first is not None else 0
    return [*range(start, len(names)), *range(start)]


def _sorted(found: list[Finding]) -> list[Finding]:
    """Return findings by line, one for each cell."""
    at: dict[tuple[int, str], Finding] = {}
    for one in found:
        at.setdefault((one.line, one.column), one)
    return sorted(at.values(), key=lambda one: (one.line, len(one.column), one.column))


Turn = tuple[str, int]  # player and row of a turn on the sheet
Played = tuple[events.AnyEvent, Turn | None]
Link = tuple[Any, Played]  # what came before, and an event with its turn


class _Way(Struct):
    """A reading of the turns so far: the position, and the events linked backwards."""

    position: Position
    events: Link | None = None

    @property
    def key(self) -> object:
        """Return what later turns depend on: readings that agree in it are one."""
        return [(one.total, one.opened, one.streak, one.left) for one in self.position.seats]

    def played(self) -> list[Played]:
        """Return the events in their order."""
        found = []
        link = self.events
        while link is not None:
            link, one = link
            found.append(one)
        return found[::-1]


class _Tally:
    """Plays the turns of a sheet, and notes as findings what the rules do not explain."""

    def __init__(self, rules: Ruleset, parts: Sequence[Part]) -> None:
        self.rules = rules
        self.findings: list[Finding] = []
        self.parts = parts
        if all(part.joins for part in parts):
            for part in parts:
                part.joins = 0
        self.seats = [part for part in parts if part.joins == 0]
        self.players = tuple(part.player for part in self.seats)
        self.ways = [_Way(opening(self.players, rules))]

    @property
    def position(self) -> Position:
        """Return how the game stands in the likeliest reading."""
        return self.ways[0].position

    def run(self) -> None:
        """Play all the turns of the sheet."""
        idle = 0  # turns in a row that are due and not on the sheet
        while any(part.left for part in self.parts) and self.position.turn is not None and idle <= len(self.parts):
            self.join()
            part = self.seats[self.position.turn.seat]
            idle += 1
            if part.left:
                entry = part.left[0]
                part.done += 1
                idle = 0
                self.turn(part, entry)
            elif not self.leave(part):
                self.lacking(part)
        if self.position.turn is None:
            self.over()

    # -- players come and go ----------------------------------------------------------------------

    def join(self) -> None:
        """Let those join whose first turn is in this round."""
        position = self.position
        assert position.turn is not None
        if any(not seat.left for seat in position.seats[: position.turn.seat]):
            return
        for part in self.parts:
            if part not in self.seats and position.round > part.joins:
                try:
                    self.put(events.Join(1, player=part.player))
                    self.seats.append(part)
                except TenklogError as error:
                    self.say(part, part.entries[0].cell, part.joins, "rules", error.what, error.right)
                    part.joins = 1 << 30  # never

    def leave(self, part: Part) -> bool:
        """Let a player leave whose column ends with dashes while the others go on."""
        if not part.leaves:
            return False
        try:
            self.put(events.Leave(1, player=part.player))
        except TenklogError:
            return False
        return True

    def put(self, event: events.AnyEvent, turn: Turn | None = None) -> None:
        """Play an event in every reading."""
        for way in self.ways:
            way.position = play(way.position, event)
            way.events = (way.events, (event, turn))

    # -- turns ------------------------------------------------------------------------------------

    def turn(self, part: Part, entry: Entry) -> None:
        """Play a turn in every reading that explains what it changed."""
        unlike: dict[str, _Way] = {}
        for one in self.ways:
            for way in self.explained(one, part, entry):
                unlike.setdefault(str(way.key), way)
        if unlike:
            self.ways = [*unlike.values()][:MOST_WAYS]
        else:
            self.unexplained(part, entry)

    def explained(self, way: _Way, part: Part, entry: Entry) -> Iterator[_Way]:
        """Yield what a turn can have been; after what was found only where it matters for later turns."""
        turn = way.position.turn
        assert turn is not None
        before = way.position.seats[turn.seat].total
        found = False
        for event in entry.candidates(part.player):
            if found and not part.costly(entry):
                return
            after = play(way.position, event)
            assert after.ended is not None
            if self.fits(part, entry, event, before, after.ended.change):
                found = True
                yield _Way(after, (way.events, (event, (part.player, entry.row))))

    def fits(self, part: Part, entry: Entry, event: events.AnyEvent, before: int, change: int) -> bool:
        """Tell whether an event that changes the total so is what the sheet has of a turn."""
        fits = entry.change is None or change == entry.change
        if entry.total is not None and part.trusted:
            fits = before + change == entry.total or (fits and entry.change is not None)
        if not fits and change == 0 and isinstance(event, events.Bank):
            return part.uncounted(entry, before)
        return fits

    def unexplained(self, part: Part, entry: Entry) -> None:
        """Say that the rules do not explain a turn, and go on with what is nearest to it."""
        change = entry.change
        instead: events.AnyEvent = events.Bust(1, player=part.player)
        if change is not None and change >= 0:
            instead = events.Bank(1, player=part.player, points=change)
        if change is not None and change < 0:
            self.unexplained_loss(part, entry, -change)
        elif change:
            self.unexplained_points(part, entry, change)
        else:
            after = play(self.position, instead).ended
            assert after is not None
            falls = f"under {self.rules.name} the total falls by {-after.change}"
            what = f"{entry.cell.text or 'the turn'} does not fit: {falls}"
            self.say(part, entry.cell, entry.row, "penalty", what, f"{after.change}")
        part.trusted = False
        self.put(instead, (part.player, entry.row))

    def unexplained_loss(self, part: Part, entry: Entry, loss: int) -> None:
        """Say that no lost turn costs so much."""
        lost = play(self.position, events.Bust(1, player=part.player)).ended
        assert lost is not None
        costs = f"{-lost.change}" if lost.change else "nothing"
        right = f"a lost turn costs {costs} here, unless bust_penalty or a streak is set otherwise"
        self.say(
            part, entry.cell, entry.row, "penalty", f"no rule of {self.rules.name} takes {loss} points here", right
        )

    def unexplained_points(self, part: Part, entry: Entry, points: int) -> None:
        """Say that points do not count; not where the total may be wrong that a player opens with."""
        turn = self.position.turn
        assert turn is not None
        why = state.worth_banking(self.position, turn, points)[1]
        if part.trusted or self.position.seats[turn.seat].opened:
            right = "0, as the turn posts nothing"
            self.say(part, entry.cell, entry.row, "minimum", f"{points} is {why}", right)

    def lacking(self, part: Part) -> None:
        """Say that a turn which is due is not on the sheet, and play it as one of no points."""
        row = part.next_row
        if part.trusted and row < len(part.column.main):
            right = "the points, 0, or - in it and below where the player has left"
            self.say(part, part.column.main[row], row, "missing", "the cell is empty, and others go on", right)
        part.trusted = False
        self.put(events.Bank(1, player=part.player, points=0), (part.player, row))

    def over(self) -> None:
        """Say that turns stand after the end of the game, if there are any."""
        rest = [(part, entry) for part in self.parts for entry in part.left]
        if not rest or not all(part.trusted for part in self.parts):
            return
        part, entry = min(rest, key=lambda one: (one[1].row, one[1].cell.column))
        best = max(self.position.seats, key=lambda one: one.total)
        what = f"the game was over in round {self.position.round}: {best.player} had {best.total}"
        right = f"no turns after it, or rules by which it goes on ({self.rules.name}: target {self.rules.target})"
        self.say(part, entry.cell, entry.row, "after-end", what, right)

    def say(self, part: Part, cell: Cell, row: int, kind: str, what: str, right: str) -> None:
        """Note what is wrong with a turn."""
        self.findings.append(finding(cell, part.player, row + 1, kind, what, right))

    # -- the log ----------------------------------------------------------------------------------

    def log(self, game: str, title: str | None, findings: list[Finding]) -> list[events.AnyEvent]:
        """Return the events of the likeliest reading, notes about what is wrong before the turns they are about."""
        played = self.ways[0].played()
        notes: dict[Turn | None, list[events.AnyEvent]] = {turn: [] for turn in (*(turn for _, turn in played), None)}
        for one in findings:
            turn = (one.player, one.round - 1) if one.player is not None and one.round else None
            notes[turn if turn in notes else None].append(_note(one))
        log: list[events.AnyEvent] = [
            events.Start(
                1, game=game, version=events.VERSION, players=self.players, rules=self.rules, origin="import",
                title=title,
            )
        ]  # fmt: skip
        for event, turn in played:
            log += [*(notes.pop(turn, []) if turn is not None else []), event]
        log += notes[None]
        totals = self.agreed()
        if totals:
            log.append(events.Expect(1, totals=totals))
        return [replace(event, seq=seq) for seq, event in enumerate(log, 1)]

    def agreed(self) -> dict[str, int]:
        """Return the last totals of the sheet, of those players whose totals are so."""
        found = {}
        for part in self.parts:
            seat = self.position.seat_of(part.player)
            if seat is not None and part.end is not None and self.position.seats[seat].total == part.end:
                found[part.player] = part.end
        return found


def _note(one: Finding) -> events.AnyEvent:
    text = f"line {one.line}, {one.place}: {one.what}; {one.right}"
    return events.normal(events.Note(1, text=events.text(text[:2000], "note")))
