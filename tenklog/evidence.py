"""Evidence: this module tells what in a record, a log or a score sheet, first contradicts some rules.

A ruleset explains a log when its standing events, begun under that ruleset, are a legal game in which the points that
banks assert and the totals that expects name are true, and no score-sheet turn has points that no dice make. It
explains a sheet when nothing on the sheet speaks against it that does not speak against every ruleset. So the fold
judges alone.
"""

from collections.abc import Iterable
from typing import Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from tenklog import events
from tenklog.errors import TenklogError, UsageError
from tenklog.findings import Finding
from tenklog.game import Game, false_expect
from tenklog.recorded import Step, agreed, steps
from tenklog.rules import Ruleset
from tenklog.sheets import Sheet
from tenklog.state import Position, opening
from tenklog.tally import tally
from tenklog.totals import TurnTotals
from tenklog.turns import play


class Contradiction(Struct, frozen=True):
    """Where a record first contradicts rules: `seq` of the event in a log, line and column in a sheet, and why."""

    text: str
    seq: int | None = None
    line: int | None = None
    column: str | None = None
    player: str | None = None
    round: int | None = None

    @property
    def place(self) -> str:
        """Return the place in words."""
        if self.seq is not None:
            return f"event {self.seq}"
        return f"line {self.line}, column {self.column}"


class Record(Protocol):
    """What a log and a sheet have in common here."""

    kind: Literal["log", "sheet"]
    dice: bool  # whether there are any

    def contradiction(self, rules: Ruleset) -> Contradiction | None:
        """Return what first contradicts some rules; None when they explain the record."""

    def amounts(self) -> set[int]:
        """Return numbers of points that a penalty may have had."""


# -- logs -------------------------------------------------------------------------------------------------------------


class LogRecord:
    """A folded log."""

    kind: Literal["log", "sheet"] = "log"

    def __init__(self, game: Game, log: Iterable[events.AnyEvent]) -> None:
        self.game = game
        self.steps: list[Step] = steps(game, log, own=False)
        self.dice = any(isinstance(step.event, events.Roll) for step in self.steps)
        self._totals: tuple[Ruleset, TurnTotals] | None = None

    def amounts(self) -> set[int]:
        """Return nothing: a log with dice names no penalty."""
        return set()

    def contradiction(self, rules: Ruleset) -> Contradiction | None:
        """Play the standing events under some rules, with the rule changes that were recorded."""
        try:
            base, changes = agreed(self.game, rules, {}, True)
        except UsageError as error:
            return Contradiction(f"with the recorded rule changes, {error.what}", seq=1)
        position = opening(self.game.start.players, base, self.game.position.replayed)
        for step in self.steps:
            event = step.event
            if isinstance(event, events.Note):
                continue
            if isinstance(event, events.Expect):
                # One that is false in the log itself says nothing about rules.
                wrong = false_expect(position, event)
                if wrong and not false_expect(step.before, event):
                    return Contradiction(wrong, seq=event.seq)
                continue
            if isinstance(event, events.RuleChange):
                if event.seq not in changes:
                    continue
                event = changes[event.seq]
            elif isinstance(event, events.Keep):
                event = _with_aside(position, event)
            why = self._against(position, step, event)
            if why:
                return Contradiction(why, seq=event.seq)
            try:
                position = play(position, event, asserted=False)
            except TenklogError as error:
                return Contradiction(_said(position, error), seq=event.seq)
        return None

    def _against(self, position: Position, step: Step, event: events.AnyEvent) -> str:
        """Say when the points of a bank are not those that the turn has under the rules of a position."""
        turn, recorded = position.turn, step.before.turn
        if not isinstance(event, events.Bank) or turn is None or recorded is None or event.settled:
            return ""
        if turn.with_dice:
            # Under the rules that hold in the end: those of the evening may have been changed for the whole game.
            if turn.phase == "kept" and turn.points != recorded.points:
                return f"the turn was banked with {recorded.points} points, and has {turn.points} under these rules"
        elif event.points:
            if self._totals is None or self._totals[0] is not position.rules:
                self._totals = (position.rules, TurnTotals(position.rules))
            if event.points in self._totals[1]:
                return ""
            return f"no dice make {event.points} under these rules"
        return ""


def _with_aside(position: Position, event: events.Keep) -> events.Keep:
    """Return a keep that names the dice which leave the table only where rules ask for that; how many, they tell."""
    rules, table = position.rules, position.table
    if rules.set_aside != "one-per-combination":
        return event if event.aside is None else replace(event, aside=None)
    dice = tuple(sorted(event.dice))
    allowed = table.asides(dice)
    if not allowed or (event.aside is not None and tuple(sorted(event.aside)) in allowed):
        return event
    return replace(event, aside=allowed[0])


def _said(position: Position, error: TenklogError) -> str:
    if position.turn is None and position.winners:
        best = position.seats[position.winners[0]]
        return f"the game was over: {best.player} had won with {best.total}"
    return error.what


# -- sheets -----------------------------------------------------------------------------------------------------------


class SheetRecord:
    """A score sheet that is laid out, and who begins. `slips` are what speaks against every known ruleset."""

    kind: Literal["log", "sheet"] = "sheet"
    dice = False

    def __init__(self, sheet: Sheet, first: str | None, known: Iterable[Ruleset]) -> None:
        self.sheet = sheet
        self.first = first
        found = [{self._key(one): one for one in self._findings(rules)} for rules in known]
        common = set.intersection(*(set(one) for one in found)) if found else set()
        self._common = {key for key in common if key[2] in ("cell", "row", "name", "missing", "sum")}
        self.slips = [one for key, one in found[0].items() if key in self._common] if found else []

    @staticmethod
    def _key(one: Finding) -> tuple[int, str, str]:
        return one.line, one.column, one.kind

    def _findings(self, rules: Ruleset) -> list[Finding]:
        return tally(self.sheet, rules, first=self.first, slips=False).findings

    def amounts(self) -> set[int]:
        """Return what the sheet takes from somebody in a turn."""
        found = set()
        for column in self.sheet.columns:
            before = 0
            for cell in column.points if column.points is not None else column.totals or []:
                value = cell.value or 0
                lost = -value if column.points is not None else before - value
                found |= {lost} if lost > 0 and cell.value is not None else set()
                before = value
        return set(sorted(found)[:6])

    def contradiction(self, rules: Ruleset) -> Contradiction | None:
        """Read the sheet under some rules."""
        for one in self._findings(rules):
            if self._key(one) not in self._common:
                return Contradiction(one.what, None, one.line, one.column, one.player, one.round)
        return None
