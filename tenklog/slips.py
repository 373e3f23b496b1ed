"""Slips: this module judges which one slip most likely made of a score sheet what can't be true.

A slip is one cell, or some of a row that changed places, whose correction leaves the least that can't be true; of
equals the likeliest: digits that changed places or were lost, then the rest, and a game that the rules explain before
one that they don't. It never changes the sheet: corrections are proposals, beside what is written.
"""

from collections.abc import Callable, Iterator

from tenklog import blame
from tenklog.faults import Fault, faults
from tenklog.figures import Figures, figures
from tenklog.findings import Finding
from tenklog.proposals import Slip, proposals
from tenklog.rules import Ruleset
from tenklog.sheets import Sheet
from tenklog.totals import Changes

MOST_TRIED = 4_000  # slips of a sheet; with more to try it is no slip that makes it what it is
MOST_PLAYED = 24  # slips that are compared by playing the game on
TRIES_PLAYED = 20  # how many tries it counts to play a game on
ODD = 3.0  # how much unlikelier a slip is for each thing that the rules then have against the game

Odd = Callable[[list[Figures]], int]


class Judge:
    """Holds the numbers of a sheet against what is possible under some rules.

    `settle` notes as `findings` what can't be true, and makes of `players` the likely numbers; `unsure` are those
    players whose numbers are corrected by a mere guess, or lack what nothing tells.
    """

    def __init__(self, sheet: Sheet, rules: Ruleset) -> None:
        self.players = [figures(number, column) for number, column in enumerate(sheet.columns)]
        self.findings: list[Finding] = []
        self.unsure: set[int] = set()
        self._sheet = sheet
        self._changes = Changes(rules)
        self._said: set[Fault] = set()
        self._tried = 0

    def settle(self, odd: Odd | None) -> None:
        """Say what can't be true, each slip once, and put the likely numbers in their place.

        `odd` counts what a game of such numbers still has against the rules; it decides between slips as likely.
        Without it no slips are looked for.
        """
        self._fill()
        while found := self._all_faults():
            slips = self._helpful(found) if odd is not None and self._tried < MOST_TRIED else []
            if odd is None or not slips:
                # No single slip explains it, so it is said as it stands, and the sheet is read on.
                self.findings.append(blame.fault(self._sheet, self.players, self._changes, found[0]))
                self._said.add(found[0])
                if found[0].kind == "missing":  # points that nobody knows may have opened
                    self.unsure.add(found[0].player)
            else:
                self._correct(slips, odd)

    # -- what can't be true -----------------------------------------------------------------------

    def _faults(self, one: Figures) -> list[Fault]:
        """Return what of a player's numbers can't be true and has not been said."""
        return [fault for fault in faults(one, self._changes) if fault not in self._said]

    def _all_faults(self) -> list[Fault]:
        """Return what can't be true of all players, by row."""
        found = [fault for one in self.players for fault in self._faults(one)]
        return sorted(found, key=lambda fault: (fault.row, fault.player))

    def _fill(self) -> None:
        """Put what the sums tell in the place of cells of which it was said already that they are no numbers."""
        for player, one in enumerate(self.players):
            for row in one.gaps:
                spot = one.spot(one.main, row)
                if blame.cell(self._sheet, spot).kind != "text":
                    continue
                self._said.add(Fault("missing", player, row))
                value = one.needed(row) if len(one.gaps) == 1 else None
                if value is not None and self._changes.possible(value):
                    self.players[player] = one.edited({spot: value})
                else:
                    self.unsure.add(player)

    # -- which slip it likely was -----------------------------------------------------------------

    def _helpful(self, found: list[Fault]) -> list[Slip]:
        """Return the slips that explain most of the faults, the likeliest first; none when none explains any."""
        slips = list(self._counted(found))
        least = min((slip.faults for slip in slips), default=len(found))
        if least >= len(found):
            return []
        return sorted((slip for slip in slips if slip.faults == least), key=lambda slip: slip.cost)[:MOST_PLAYED]

    def _counted(self, found: list[Fault]) -> Iterator[Slip]:
        """Yield slips, each with the number of faults that are left without it."""
        for slip in proposals(self.players, found):
            if self._tried > MOST_TRIED:
                return
            self._tried += 1
            corrected = self._without(slip)
            touched = {spot[1] for spot in slip.edits}
            slip.faults = sum(fault.player not in touched for fault in found)
            slip.faults += sum(len(self._faults(corrected[player])) for player in touched)
            yield slip

    def _without(self, slip: Slip) -> list[Figures]:
        """Return the numbers as they would be without a slip."""
        players = [*self.players]
        for spot, value in slip.edits.items():
            players[spot[1]] = players[spot[1]].edited({spot: value})
        return players

    def _correct(self, slips: list[Slip], odd: Odd) -> None:
        """Say the likeliest of some slips, and go on without it."""
        if len(slips) > 1:
            for slip in slips:
                self._tried += TRIES_PLAYED
                slip.cost += ODD * odd(self._without(slip))
        best = min(slips, key=lambda slip: (slip.cost, _size(slip)))
        level = [slip.place for slip in slips if slip.cost == best.cost and slip.place != best.place]
        self.findings.append(blame.slip(self._sheet, self.players, self._changes, best, level))
        self.unsure |= {spot[1] for spot in best.edits if not self._certain(best)}
        self.players = self._without(best)

    def _certain(self, slip: Slip) -> bool:
        """Tell whether the sheet's sums, and not only what dice can make, speak for a correction."""
        return all(series != "points" or self.players[player].stretch(row) for series, player, row in slip.edits)


def _size(slip: Slip) -> int:
    """Return how large the points are that one cell is corrected to: small turns are commoner than large ones."""
    alone = len(slip.edits) == 1 and slip.place[0] == "points"
    return abs(slip.edits[slip.place] or 0) if alone else 0
