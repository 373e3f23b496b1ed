"""Slips: this module finds what of a score sheet can't be true, and which one cell most likely is the slip.

Each player's numbers are held against the totals that dice can make (`turn_totals`), against what a lost turn can cost
(the fold is asked) and against the sheet's own sums. A slip is one cell, or two that changed places, whose correction
leaves the least that can't be true; of equals the likeliest: digits that changed places or were lost, then the rest.
It never changes the sheet: corrections are proposals, beside what is written.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from msgspec import Struct, json
from msgspec.structs import replace

from tenklog import events
from tenklog.cells import Cell
from tenklog.rules import LIMIT, Ruleset
from tenklog.sheets import Column, Finding, Sheet, finding
from tenklog.state import Position, Terms, opening, posts
from tenklog.totals import TurnTotals
from tenklog.turns import play

MOST_SUMS = 4_000  # different sums of one stretch, where some turns may count or not
MOST_TRIED = 4_000  # slips of a sheet; with more to try it is no slip that makes it what it is
MOST_PLAYED = 24  # slips that are compared by playing the game on
ODD = 3.0  # how much unlikelier a slip is for each thing that the rules then have against the game

Series = Literal["points", "totals", "sums"]
Spot = tuple[Series, int, int]  # the player's number and the row, both from 0
Fault = tuple[str, int, int]  # kind, player, row


class Slip(Struct):
    """A proposal: the cells it changes, how likely it is (small numbers first), and how it would have come about."""

    edits: dict[Spot, int | None]
    cost: float
    how: str
    place: Spot
    faults: int = 0


class Numbers(Struct):
    """The numbers of a player by rows: points of turns, totals beside them, totals below (how many rows, total).

    `loose` are turns of which only the word for a lost turn stands there; `gaps` rows without the number that is due.
    """

    points: list[int | None] | None
    totals: list[int | None] | None
    sums: list[tuple[int, int | None]]
    loose: frozenset[int]
    gaps: frozenset[int]


def losses(rules: Ruleset) -> frozenset[int]:
    """Return what a turn can cost (points below 0) by bust penalties and streaks, as the fold has it."""
    return _losses(json.encode(replace(rules, name="losses", target=LIMIT, negative_totals=True)))


@lru_cache(maxsize=256)
def _losses(encoded: bytes) -> frozenset[int]:
    rules = json.decode(encoded, type=Ruleset)
    found = set()
    bust, nothing = events.Bust(1, player=""), events.Bank(1, player="", points=0)
    length = min(rules.streak_length, 200) or 1
    for turns in ([bust] * length, [nothing] * length, [*[nothing] * (length - 1), bust]):
        position: Position = opening(("",), rules)
        for one in turns:
            position = play(position, one)
            assert position.ended is not None
            found.add(position.ended.change)
    return frozenset(change for change in found if change < 0)


class Judge:
    """Holds the numbers of a sheet against what is possible under some rules."""

    def __init__(self, sheet: Sheet, rules: Ruleset) -> None:
        self.sheet = sheet
        self.rules = rules
        self.players = [_numbers(column) for column in sheet.columns]
        self.accepted: set[Fault] = set()  # said already
        self.uncounted: set[tuple[int, int]] = set()  # player and row of turns that the sums leave out
        self.findings: list[Finding] = []
        self.tried = 0
        self.unsure: set[int] = set()  # players whose numbers are corrected by a mere guess
        self.totals = TurnTotals(rules)
        self.losses = losses(rules)

    def possible(self, change: int, total: int | None = None) -> bool:
        """Tell whether a turn can change the own total so; `total` is the one after it, where it is known."""
        if change >= 0:
            return change == 0 or change in self.totals
        if change in self.losses:
            return True
        return not self.rules.negative_totals and total == 0 and any(change > loss for loss in self.losses)

    # -- what can't be true -----------------------------------------------------------------------

    def faults(self, player: int, numbers: Numbers | None = None) -> list[Fault]:
        """Return what of a player's numbers can't be true and has not been said."""
        found = self._faults(player, numbers or self.players[player])
        return [one for one in found if one not in self.accepted]

    def _faults(self, player: int, one: Numbers) -> Iterator[Fault]:
        for row in sorted(one.gaps):
            yield "missing", player, row
        rows = len(one.points if one.points is not None else one.totals or [])
        start = 0
        sums = {0}
        unknown = 0
        opened = False
        below = [[value for number, value in one.sums if number == row] for row in range(rows + 1)]
        for row in range(rows):
            change = one.points[row] if one.points is not None else None
            total = one.totals[row] if one.totals is not None else None
            if change is not None:
                ways = self._ways(row, change, opened, one)
                opened = opened or change > 0
                if not self.possible(change, total):
                    yield "impossible", player, row
                sums = {a + b for a in sums for b in ways}
                if len(sums) > MOST_SUMS:
                    unknown += 1
                    sums = {0}
            elif row in one.gaps or (one.points is None and total is not None):
                unknown += 1
            for number, end in enumerate([total, *below[row + 1]]):
                if end is None:
                    continue
                if unknown == 0 and end - start not in sums:
                    yield "sum" if number == 0 and total is not None else "below", player, row
                elif unknown == 1 and not any(self.possible(end - start - one, end) for one in sums):
                    yield "impossible" if one.points is None else "sum", player, row
                start, sums, unknown = end, {0}, 0

    def _ways(self, row: int, change: int, opened: bool, one: Numbers) -> set[int]:
        """Return what a turn may have added to the sums: what is written, or nothing where a minimum lets it."""
        if row in one.loose:
            return {change, 0, *self.losses}
        rules = self.rules
        if change > 0:
            minimum = rules.bank_minimum if opened else rules.opening_minimum
            if rules.must_beat_previous or rules.reach == "exactly" or not posts(Terms(opened, minimum), change)[0]:
                return {change, 0}
        return {change}

    def all_faults(self) -> list[Fault]:
        """Return what can't be true of all players, by row."""
        found = [fault for player in range(len(self.players)) for fault in self.faults(player)]
        return sorted(found, key=lambda one: (one[2], one[1]))

    # -- the likely slips -------------------------------------------------------------------------

    def settle(self, odd: Callable[[list[Numbers]], int] | None) -> None:
        """Say what can't be true, each slip once, and put the likely numbers in their place.

        `odd` counts what a game of such numbers still has against the rules; it decides between slips as likely.
        Without it no slips are looked for.
        """
        self._fill()
        while faults := self.all_faults():
            found = list(self._slips(faults)) if odd is not None and self.tried < MOST_TRIED else []
            least = min((one.faults for one in found), default=len(faults))
            if least >= len(faults) or odd is None:
                self._state(faults[0])
                continue
            found = sorted((one for one in found if one.faults == least), key=lambda one: one.cost)[:MOST_PLAYED]
            for one in found if len(found) > 1 else []:
                self.tried += 20
                one.cost += ODD * odd(self._with(one))
            best = min(found, key=lambda one: (one.cost, self._size(one)))  # small turns are commoner than large ones
            level = [one for one in found if one.cost == best.cost and one.place != best.place]
            self.findings.append(self._finding(best, level))
            if not self._certain(best):
                self.unsure |= {spot[1] for spot in best.edits}
            self.players = self._with(best)

    def _fill(self) -> None:
        """Put what the sums tell in the place of cells of which it was said already that they are no numbers."""
        for player, one in enumerate(self.players):
            for row in one.gaps:
                series: Series = "points" if one.points is not None else "totals"
                if self.cell((series, player, row)).kind == "text":
                    self.accepted.add(("missing", player, row))
                    value = self._needed(series, player, row) if len(one.gaps) == 1 else None
                    if value is not None and self.possible(value):
                        self.players[player] = _edited(one, {(series, player, row): value})
                    else:
                        self.unsure.add(player)

    def _with(self, slip: Slip) -> list[Numbers]:
        """Return the numbers as they would be without a slip."""
        players = [*self.players]
        for spot, value in slip.edits.items():
            players[spot[1]] = _edited(players[spot[1]], {spot: value})
        return players

    def _size(self, slip: Slip) -> int:
        """Return how large the number is that one number is corrected to; of exchanged ones there is nothing to say."""
        return abs(slip.edits[slip.place] or 0) if len(slip.edits) == 1 and slip.place[0] == "points" else 0

    def _certain(self, slip: Slip) -> bool:
        """Tell whether the sheet's sums, and not only what dice can make, speak for a correction."""
        return all(
            spot[0] != "points" or any(a[0] <= spot[2] < b[0] for a, b in pairwise(self._ends(self.players[spot[1]])))
            for spot in slip.edits
        )

    def _slips(self, faults: list[Fault]) -> Iterator[Slip]:
        seen = set()
        count = len(faults)
        for player in dict.fromkeys(player for _, player, _ in faults):
            others = count - sum(one == player for _, one, _ in faults)
            for slip in self._edits(player, [one for one in faults if one[1] == player]):
                if self.tried > MOST_TRIED:
                    return
                slip.faults = others + self._left(slip)
                yield slip
        for series, player, row in dict.fromkeys(self._rows_of(faults)):
            for slip in self._moves(series, player, row):
                if self.tried > MOST_TRIED:
                    return
                if (key := str(sorted(slip.edits.items(), key=str))) not in seen:
                    seen.add(key)
                    touched = {spot[1] for spot in slip.edits}
                    slip.faults = sum(one not in touched for _, one, _ in faults) + self._left(slip)
                    yield slip

    def _rows_of(self, faults: list[Fault]) -> Iterator[Spot]:
        """Yield where numbers may stand in the wrong column: in the rows of a fault, all those of a sum among them."""
        for kind, player, row in faults:
            one = self.players[player]
            if one.points is not None:
                ends = self._ends(one)
                first, last = next(((a[0], b[0]) for a, b in pairwise(ends) if a[0] <= row < b[0]), (row, row + 1))
                rows = range(first, last) if kind in ("sum", "below") else (row,)
                yield from (("points", player, at) for at in rows)
            if one.totals is not None:
                yield from (("totals", player, at) for at in (row - 1, row) if at >= 0)
            yield from (
                ("sums", player, number) for number, (rows_, _) in enumerate(one.sums) if rows_ in (row, row + 1)
            )

    def _left(self, slip: Slip) -> int:
        """Count what still can't be true of the players whose numbers a slip changes."""
        self.tried += 1
        edits: dict[int, dict[Spot, int | None]] = {}
        for spot, value in slip.edits.items():
            edits.setdefault(spot[1], {})[spot] = value
        return sum(len(self.faults(player, _edited(self.players[player], one))) for player, one in edits.items())

    def _edits(self, player: int, faults: list[Fault]) -> Iterator[Slip]:
        """Propose other numbers for single cells of a player."""
        one = self.players[player]
        rows = len(one.points if one.points is not None else one.totals or [])
        ends = self._ends(one)
        spots: dict[Spot, set[int]] = {}
        for kind, _, row in faults:
            stretch = next(((a, b) for a, b in pairwise(ends) if a[0] <= row < b[0]), None)
            free = stretch is None
            first, last = (stretch[0][0], stretch[1][0]) if stretch else (ends[-1][0], rows)
            if one.points is not None:
                gap = 0 if stretch is None else stretch[1][1] - stretch[0][1]
                gap -= sum(one.points[at] or 0 for at in range(first, last)) if stretch else 0
                for at in range(first, last):
                    value = one.points[at]
                    if value is None and (at in one.gaps or self._is_empty(player, at)) and stretch:
                        spots.setdefault(("points", player, at), set()).add(gap)
                    elif value is not None and stretch and gap:
                        spots.setdefault(("points", player, at), set()).add(value + gap)
                    elif value is not None and at == row and kind == "impossible" and free:
                        spots.setdefault(("points", player, at), set()).update(neighbours(value))
                if stretch and gap:
                    self._ends_edited(player, stretch[1], gap, spots)
                    self._ends_edited(player, stretch[0], -gap, spots)
            else:
                for at in (row, row - 1):
                    if at >= 0 and one.totals is not None and one.totals[at] is not None:
                        value = one.totals[at]
                        spots.setdefault(("totals", player, at), set()).update(neighbours(value or 0))
                if stretch and kind == "below":
                    self._ends_edited(player, stretch[1], stretch[1][1] - stretch[0][1], spots)
        for spot, values in spots.items():
            written = self._value(spot)
            for value in values:
                how, cost = relation(written, value)
                if spot[0] != "points" and written is not None:
                    cost = min(cost, 4)
                yield Slip({spot: value}, cost, how, spot)

    def _ends_edited(
        self, player: int, end: tuple[int, int, Spot | None], gap: int, spots: dict[Spot, set[int]]
    ) -> None:
        """Propose the total at an end of a stretch that would fit its turns."""
        if end[2] is not None:
            spots.setdefault(end[2], set()).add(end[1] - gap)

    def _ends(self, one: Numbers) -> list[tuple[int, int, Spot | None]]:
        """Return where totals are known: how many rows are above, the total, and where it stands."""
        player = next(number for number, other in enumerate(self.players) if other is one)
        found: list[tuple[int, int, Spot | None]] = [(0, 0, None)]
        if one.totals is not None:
            found += [
                (row + 1, total, ("totals", player, row)) for row, total in enumerate(one.totals) if total is not None
            ]
        found += [
            (rows, total, ("sums", player, number))
            for number, (rows, total) in enumerate(one.sums)
            if total is not None
        ]
        return sorted(found, key=lambda end: end[0])

    def _moves(self, series: Series, player: int, row: int) -> Iterator[Slip]:
        """Propose that numbers of a row stand in the wrong columns."""
        columns = [_series(one, series) for one in self.players]
        if any(row >= len(column) for column in columns):
            return
        values = [column[row] for column in columns]
        for other in range(len(values)):
            a, b = values[player], values[other]
            if other != player and a is not None and b is not None and a != b:
                edits: dict[Spot, int | None] = {(series, player, row): b, (series, other, row): a}
                first = (series, min(player, other), row)
                yield Slip(edits, 1 if abs(player - other) == 1 else 3, "swap", first)
        if series == "sums":
            return
        for hole in (number for number, value in enumerate(values) if value is None):
            for step, ends in ((1, range(hole + 1, len(values))), (-1, range(hole - 1, -1, -1))):
                edits = {}
                for at in ends:
                    moved = values[at]
                    if moved is None:
                        break
                    edits[series, at - step, row] = moved
                    lost = self._needed(series, at, row)
                    yield Slip({**edits, (series, at, row): lost}, 1.5, "shift", (series, hole, row))

    def _needed(self, series: Series, player: int, row: int) -> int | None:
        """Return the number that a player's sums need in a row; None where they don't tell."""
        one = self.players[player]
        if series != "points" or one.points is None:
            return None
        for a, b in pairwise(self._ends(one)):
            if a[0] <= row < b[0]:
                return b[1] - a[1] - sum(one.points[at] or 0 for at in range(a[0], b[0]) if at != row)
        return None

    def _is_empty(self, player: int, row: int) -> bool:
        column = self.sheet.columns[player].points
        return column is not None and column[row].kind == "empty"

    # -- saying it --------------------------------------------------------------------------------

    def cell(self, spot: Spot) -> Cell:
        """Return the cell of a number."""
        series, player, row = spot
        column = self.sheet.columns[player]
        if series == "sums":
            return column.sums[row][1]
        cells = column.points if series == "points" else column.totals
        assert cells is not None
        return cells[row]

    def _value(self, spot: Spot) -> int | None:
        series, player, row = spot
        return _series(self.players[player], series)[row]

    def _say(self, spot: Spot, kind: str, what: str, right: str) -> Finding:
        series, player, row = spot
        name = self.sheet.columns[player].player
        return finding(self.cell(spot), name, None if series == "sums" else row + 1, kind, what, right)

    def _state(self, fault: Fault) -> None:
        """Say what can't be true where no single slip explains it, and go on with what is written."""
        kind, player, row = fault
        self.accepted.add(fault)
        one = self.players[player]
        if kind == "missing":
            series: Series = "points" if one.points is not None else "totals"
            what, right = "the cell is empty", "the points, 0, or - where there was no turn"
            if self.cell((series, player, row)).kind == "none":
                what = "a dash says that there was no turn, but one is due"
            self.findings.append(self._say((series, player, row), kind, what, right))
        elif kind == "impossible" and one.points is not None:
            value = one.points[row]
            self.findings.append(
                self._say(("points", player, row), *self._impossible(value or 0), self._perhaps(value or 0))
            )
        else:
            ends = self._ends(one)
            a, b = next((a, b) for a, b in pairwise(ends) if a[0] <= row < b[0] and (b[2] or ("",))[0] != "")
            assert b[2] is not None
            self.findings.append(self._say(b[2], "sum", *self._sum_words(one, a, b)))

    def _impossible(self, value: int) -> tuple[str, str]:
        if value < 0:
            return "penalty", f"no rule of {self.rules.name} takes {-value} points"
        return "impossible", f"no dice make {value} under {self.rules.name}"

    def _perhaps(self, value: int) -> str:
        likely = sorted((relation(value, one)[1], one) for one in neighbours(value) if self.possible(one) and one)
        words = [str(one) for cost, one in likely if cost == likely[0][0]][:3]
        if value < 0:
            costs = " or ".join(str(one) for one in sorted(self.losses, reverse=True)[:3]) or "0"
            return f"a lost turn costs {costs}"
        return f"perhaps {' or '.join(words)}" if words else "points that the dice can make"

    def _sum_words(
        self, one: Numbers, a: tuple[int, int, Spot | None], b: tuple[int, int, Spot | None]
    ) -> tuple[str, str]:
        if one.points is None:
            change = b[1] - a[1]
            what = f"the total {b[1]} after {a[1]} is a turn of {change}, and "
            return what + self._impossible(change)[1], "another total here or before"
        turns = [value for value in one.points[a[0] : b[0]] if value is not None]
        right = f"{a[1]} and {sum(turns)} make {a[1] + sum(turns)}" if a[0] else f"the points make {sum(turns)}"
        return f"the total {b[1]} does not add up", right

    def _finding(self, slip: Slip, level: list[Slip]) -> Finding:
        """Say a slip, and which others would explain as much."""
        found = self._words(slip)
        places = [self.cell(one.place) for one in level]
        others = list(dict.fromkeys(f"line {one.line}, column {one.letter}" for one in places))
        if others:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            found = replace(found, right=f"{found.right}; as likely {', '.join(others[:3])}{more}")
        return found

    def _words(self, slip: Slip) -> Finding:
        spot = slip.place
        series, player, row = spot
        name = self.sheet.columns[player].player
        if slip.how == "swap":
            (_, other, _), (_, first, _) = sorted(slip.edits, reverse=True)
            numbers = f"{self._value(spot)} and {self._value((series, other, row))}"
            names = f"{self.sheet.columns[first].player} and {self.sheet.columns[other].player}"
            return self._say(spot, "sum", f"{numbers} do not fit {names}", "likely they changed places")
        if slip.how == "shift":
            ends = [at for _, at, _ in slip.edits]
            others = [self.sheet.columns[at].player for at in ends if at != player]
            what = f"the cell is empty, and what {' and '.join(others)} have does not fit"
            value = slip.edits[spot]
            return self._say(spot, "missing", what, f"likely {value} is {name}'s, and stands one place too far")
        value = slip.edits[spot]
        written = self._value(spot)
        likely = f"likely {value}" + (f" ({slip.how})" if slip.how else "")
        if series != "points":
            one = self.players[player]
            a, b = next(((a, b) for a, b in pairwise(self._ends(one)) if b[2] == spot))
            what, right = self._sum_words(one, a, b)
            if one.points is None:
                if self.possible(b[1] - a[1], b[1]):
                    what = f"the total {written} does not fit the totals around it"
                return self._say(spot, "sum", what, likely)
            return self._say(spot, "sum", what, right + (f" (likely {slip.how})" if slip.how else ""))
        if written is None:
            right = f"likely {value}, as the total has it"
            return self._say(spot, "missing", "the cell is empty", right)
        if not self.possible(written):
            right = likely + (", as the total has it" if self._needed(series, player, row) == value else "")
            return self._say(spot, *self._impossible(written), right)
        return self._say(spot, "sum", f"{written} does not fit the total", likely)


def _numbers(column: Column) -> Numbers:
    main = column.points if column.points is not None else column.totals or []
    there = [number for number, one in enumerate(main) if one.kind in ("number", "bust", "text")]
    joined = 0
    while joined < len(main) and main[joined].kind == "none":
        joined += 1
    gaps = {
        number
        for number in range(joined, max(there, default=0) + 1)
        if main[number].kind not in ("number", "bust") and there
    }
    loose = {number for number, one in enumerate(column.points or []) if one.kind == "bust" and not one.value}
    return Numbers(
        None if column.points is None else [one.value for one in column.points],
        None if column.totals is None else [one.value for one in column.totals],
        [(number, one.value) for number, one in column.sums],
        frozenset(loose),
        frozenset(gaps),
    )


def _series(one: Numbers, series: Series) -> list[int | None]:
    if series == "sums":
        return [total for _, total in one.sums]
    return (one.points if series == "points" else one.totals) or []


def _edited(one: Numbers, edits: dict[Spot, int | None]) -> Numbers:
    points = None if one.points is None else [*one.points]
    totals = None if one.totals is None else [*one.totals]
    sums, gaps, loose = [*one.sums], set(one.gaps), set(one.loose)
    for (series, _, row), value in edits.items():
        if series == "sums":
            sums[row] = (sums[row][0], value)
            continue
        values = points if series == "points" else totals
        assert values is not None
        values[row] = value
        if series == "points" or points is None:
            loose.discard(row)
            gaps.discard(row)
            if value is None:
                gaps.add(row)
    return Numbers(points, totals, sums, frozenset(loose), frozenset(gaps))


# -- how numbers are miswritten ---------------------------------------------------------------------------------------


def relation(written: int | None, right: int | None) -> tuple[str, float]:
    """Say how a number came to be written for another, and how unlikely that is; nothing and 5 where nobody knows."""
    if written is None or right is None:
        return "", 1.5
    if written == 0:
        return "", 4  # nobody writes 300 so that 0 is left
    if written == -right:
        return "the minus is missing" if right < 0 else "a minus too many", 1
    if (written < 0) != (right < 0) and written and right:
        return "", 5
    a, b = str(abs(written)), str(abs(right))
    wide = a.zfill(len(b))
    if len(wide) == len(b):
        differing = [place for place in range(len(b)) if wide[place] != b[place]]
        if (
            len(differing) == 2
            and differing[1] == differing[0] + 1
            and (wide[differing[0]], wide[differing[1]]) == (b[differing[1]], b[differing[0]])
        ):
            return "digits transposed", 1
    if any(int(b[:place] + b[place + 1 :] or "0") == abs(written) for place in range(len(b))):
        return "a digit is missing", 1
    if any(int(a[:place] + a[place + 1 :] or "0") == abs(right) for place in range(len(a))):
        return "a digit too many", 2
    if len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1:
        return "a wrong digit", 2
    return "", 5


@lru_cache(maxsize=1 << 14)
def neighbours(written: int) -> frozenset[int]:
    """Return every number for which this one could have been written by a small slip."""
    digits = str(abs(written))
    found = {-written} if written else set()
    makers: list[Callable[[int], list[str]]] = [
        lambda at: [digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :]] if at + 1 < len(digits) else [],
        lambda at: [digits[:at] + digits[at + 1 :]] if at < len(digits) else [],
        lambda at: [digits[:at] + one + digits[at:] for one in "0123456789"],
        lambda at: [digits[:at] + one + digits[at + 1 :] for one in "0123456789"] if at < len(digits) else [],
    ]
    for at in range(len(digits) + 1):
        for make in makers:
            found |= {int(one or "0") * (-1 if written < 0 else 1) for one in make(at)}
    if len(digits) > 1:
        # 0150 is written 150: the first two changed places.
        found.add(int(digits[0] + "0" + digits[1:]) * (-1 if written < 0 else 1))
    return frozenset(found - {written})
