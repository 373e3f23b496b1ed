"""A second, naive reading of the rules, to compare the real one with.

It is written from the rules page alone, slow and straightforward: `Scorer` tries every way to lay dice together,
`Ledger` keeps the score of a log as a person with a sheet of paper would. It takes the decisions as they come and
computes what follows from them; it shares nothing with the code under test but the events and the ruleset.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tenklog import events
from tenklog.rules import Ruleset, change

Dice = tuple[int, ...]


def readings(pattern: str, dice: Dice, faces: dict[str, int] | None = None) -> Iterator[dict[str, int]]:
    """Yield the faces of the letters for every way in which these dice, all of them, are the pattern."""
    faces = faces or {}
    if not pattern:
        if not dice:
            yield faces
        return
    sign = pattern[0]
    for face in sorted(set(dice)):
        if sign.isdigit():
            fits = face == int(sign)
        elif sign in faces:
            fits = face == faces[sign]
        else:
            fits = face not in faces.values()
        if fits:
            rest = list(dice)
            rest.remove(face)
            yield from readings(pattern[1:], tuple(rest), faces if sign.isdigit() else faces | {sign: face})


def subsets(dice: Dice) -> set[Dice]:
    """Return every non-empty part of some dice."""
    return {tuple(die for place, die in enumerate(dice) if mask >> place & 1) for mask in range(1, 1 << len(dice))}


def without(dice: Dice, taken: Dice) -> Dice:
    """Take dice away."""
    rest = list(dice)
    for die in taken:
        rest.remove(die)
    return tuple(rest)


class Scorer:
    """The points of dice kept together: the best way to lay all of them together in combinations."""

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.groups: dict[Dice, int] = {}
        self.kept: dict[Dice, tuple[int, int] | None] = {(): (0, 0)}

    def group(self, dice: Dice) -> int:
        """Return what dice are worth as one combination, 0 when they are none."""
        if dice not in self.groups:
            worth = [0]
            for one in self.rules.scoring.values():
                for faces in readings(one.dice, dice) if len(one.dice) <= self.rules.dice else ():
                    points = one.points
                    worth.append(points if isinstance(points, int) else int(points[:-1]) * faces[points[-1]])
            self.groups[dice] = max(worth)
        return self.groups[dice]

    def best(self, dice: Dice) -> tuple[int, int] | None:
        """Return the most points and, with those, the fewest combinations; None when a die is left over."""
        dice = tuple(sorted(dice))
        if dice not in self.kept:
            found = []
            for group in subsets(dice):
                rest = self.best(without(dice, group)) if self.group(group) else None
                if rest is not None:
                    found.append((-self.group(group) - rest[0], 1 + rest[1]))
            self.kept[dice] = (-min(found)[0], min(found)[1]) if found else None
        return self.kept[dice]

    def asides(self, dice: Dice) -> set[Dice]:
        """Return what may leave of a keep when one die of each combination leaves, over all best partitions."""
        best = self.best(dice)
        return set() if best is None else {tuple(sorted(taken)) for taken in self._taken(dice, *best)}

    def _taken(self, dice: Dice, points: int, count: int) -> Iterator[Dice]:
        if not dice and points == count == 0:
            yield ()
        if not dice or not count:
            return
        for group in subsets(dice):
            if self.group(group):
                for rest in self._taken(without(dice, group), points - self.group(group), count - 1):
                    yield from ((die, *rest) for die in set(group))

    def points(self, dice: Dice) -> int | None:
        """Return the points of dice kept together; None when a die is left over."""
        found = self.best(dice)
        return None if found is None else found[0]

    def shows(self, roll: Dice, pattern: str | None) -> bool:
        """Tell whether some dice of a roll are the pattern."""
        return pattern is not None and any(True for part in subsets(roll) for _ in readings(pattern, part))

    def legal(self, roll: Dice, kept: Dice, worth: int) -> dict[Dice, int]:
        """Return the keeps that score, and what they add, before `set_aside` narrows them."""
        found = {}
        for part in subsets(tuple(sorted(roll))):
            together = self.points(part + kept if self.rules.build_on_kept else part)
            before = worth if self.rules.build_on_kept else 0
            if together is not None and together > before:
                found[part] = together - before
        return found

    def keeps(self, roll: Dice, kept: Dice = (), worth: int = 0) -> dict[Dice, int]:
        """Return the legal keeps of a roll and what they add."""
        found = self.legal(roll, kept, worth)
        if not found or self.rules.set_aside == "any":
            return found
        if self.rules.set_aside == "all":
            largest = max((len(part), gain) for part, gain in found.items())
            return {part: gain for part, gain in found.items() if (len(part), gain) == largest}
        best = sorted(found, key=lambda part: (-found[part], -len(part), part))[0]
        return {best: found[best]}


_SCORERS: dict[int, tuple[Ruleset, Scorer]] = {}


def scorer(rules: Ruleset) -> Scorer:
    """Return the scorer of a ruleset, the same one for the same object."""
    return _SCORERS.setdefault(id(rules), (rules, Scorer(rules)))[1]


@dataclass
class Line:
    """A player's line on the paper."""

    name: str
    total: int = 0
    opened: bool = False
    row: int = 0  # counting turns in a row
    gone: bool = False
    used: set[str] = field(default_factory=set)  # challenges


@dataclass
class Hand:
    """The turn being played."""

    left: int  # dice to throw
    points: int = 0
    rolls: int = 0
    kept: Dice = ()
    worth: int = 0
    roll: Dice = ()
    misses: int = 0
    hits: int = 0
    stolen: bool = False
    opponent: int | None = None
    which: str = ""
    due: bool = False  # a keep is due
    thrown: int = 0  # dice of the last throw

    @property
    def begun(self) -> bool:
        """Tell whether something of the turn has happened."""
        return self.rolls > 0 or self.stolen or self.opponent is not None


class Ledger:
    """The paper sheet of a game without whole-game rule changes, fed with its events one after another."""

    def __init__(self, start: events.Start) -> None:
        self.rules = start.rules
        self.later: Ruleset | None = None
        self.lines = [Line(name) for name in start.players]
        self.seat = 0
        self.hand = Hand(start.rules.dice)
        self.due: list[int] | None = None
        self.extra = False
        self.over = False
        self.lost = False  # the bust of a losing roll is due
        self.winners: list[int] = []
        self.before: int | None = None  # what the turn before posted
        self.spoils: tuple[int, Hand, int] | None = None  # seat, hand, points that may be stolen
        self.sheet: list[tuple[str, str, int, int]] = []  # player, outcome, posted, change of the own total

    def feed(self, event: events.Event) -> None:
        """Write down one table event."""
        line, hand, rules = self.lines[self.seat], self.hand, self.rules
        assert not self.over
        match event:
            case events.Roll(player=player, dice=dice):
                assert player == line.name
                assert len(dice) == hand.left
                self.roll(dice)
            case events.Keep(player=player, dice=dice, aside=aside):
                assert player == line.name
                gain = self.keeps()[tuple(sorted(dice))]
                hand.points += gain
                hand.worth += gain
                hand.kept += dice
                hand.due = False
                if hand.left == 1 and rules.last_die_rolls > 1:
                    hand.points += rules.last_die_bonus + hand.hits * rules.last_die_step
                    hand.hits += 1
                hand.left -= len(dice if aside is None else aside)
                if hand.left == 0:
                    hand.left = rules.dice
            case events.Bank(player=player, points=points, settled=settled):
                assert player == line.name
                if settled:
                    self.end("settled", 0)
                elif hand.rolls:
                    assert points == hand.points
                    self.bank(points)
                else:
                    hand.points = points
                    self.bank(points)
            case events.Bust(player=player):
                assert player == line.name
                assert self.lost or not hand.rolls
                wiped = self.lost and scorer(rules).shows(hand.roll, rules.wipeout)
                self.lost = False
                self.end("wiped-out" if wiped else "bust", 0)
            case events.Steal():
                assert self.spoils is not None
                assert self.spoils[0] != self.seat
                _, theirs, points = self.spoils
                hand.stolen = True
                hand.points = points
                hand.left = theirs.left
                hand.kept, hand.worth = theirs.kept, theirs.worth
            case events.Challenge(opponent=opponent):
                hand.which = "second" if line.total >= rules.challenge_split else "first"
                assert hand.which not in line.used
                line.used.add(hand.which)
                hand.opponent = [one.name for one in self.lines].index(opponent)
            case events.Join(player=player):
                assert self.due is None
                self.lines.append(Line(player))
            case events.Leave(player=player):
                self.leave([one.name for one in self.lines].index(player))
            case events.Rename(player=player, to=to):
                next(one for one in self.lines if one.name == player).name = to
            case events.Abandon():
                self.over = True
            case events.RuleChange(changes=changes):
                self.later = change(self.later or rules, changes)
                if not hand.begun:
                    self.begin(self.seat)

    def roll(self, dice: Dice) -> None:
        """Judge a roll."""
        hand, rules, score = self.hand, self.rules, scorer(self.rules)
        if hand.left == rules.dice:
            hand.kept, hand.worth = (), 0
        hand.rolls += 1
        hand.thrown = len(dice)
        hand.roll = dice
        self.lost = False
        if score.shows(dice, rules.instant_win):
            self.end("won", 0)
            self.over, self.winners = True, [self.seat]
        elif score.shows(dice, rules.wipeout):
            self.lost = True
        elif score.keeps(dice, hand.kept, hand.worth):
            hand.misses = 0
            hand.due = True
        elif hand.left == rules.dice and rules.blank_throw:
            hand.points += rules.blank_throw
        elif hand.left == 1:
            hand.misses += 1
            self.lost = hand.misses >= rules.last_die_rolls
        else:
            self.lost = True

    def keeps(self) -> dict[Dice, int]:
        """Return the legal keeps of the roll on the table, when one is due."""
        hand = self.hand
        return scorer(self.rules).keeps(hand.roll, hand.kept, hand.worth) if hand.due else {}

    def bank(self, points: int) -> None:
        """End the turn with what it posts."""
        line, rules = self.lines[self.seat], self.rules
        exact = rules.reach == "exactly" and line.total + points == rules.target
        over = rules.reach == "exactly" and line.total + points > rules.target and not self.extra
        low = points < (rules.bank_minimum if line.opened else rules.opening_minimum)
        if rules.must_beat_previous and self.before is not None and points <= self.before:
            low = True
        posted = points if exact or not (low or over) else 0
        self.end("banked" if posted else "scoreless", posted)

    def lose(self, line: Line, points: int) -> None:
        """Take points away."""
        if self.rules.negative_totals:
            line.total -= points
        elif line.total > 0:
            line.total = max(0, line.total - points)

    def end(self, outcome: str, posted: int) -> None:
        """Post the turn, take the penalties, and pass the dice on."""
        line, hand, rules = self.lines[self.seat], self.hand, self.rules
        before = line.total
        bust = outcome in ("bust", "wiped-out")
        line.total += posted
        line.opened = line.opened or posted > 0
        if outcome == "wiped-out":
            line.total = 0
        if bust:
            self.lose(line, rules.bust_penalty)
            if hand.opponent is not None:
                self.lose(line, rules.challenge_penalties[0 if hand.which == "first" else 1])
        counts = {
            "busts": bust,
            "scoreless-turns": posted == 0,
            "first-roll-busts": bust and hand.rolls == 1 and not hand.stolen,
        }[rules.streak_counts]
        # A winning throw finishes the game at once; what it posts is not looked at any more.
        line.row = line.row + 1 if counts and rules.streak_length and outcome != "won" else 0
        if rules.streak_length and line.row >= rules.streak_length:
            self.lose(line, rules.streak_penalty)
            line.row = 0
        if hand.opponent is not None and not self.lines[hand.opponent].gone:
            self.lose(self.lines[hand.opponent], posted)
        self.sheet.append((line.name, outcome, posted, line.total - before))
        self.before = posted
        self.spoils = None
        if hand.rolls and bust and hand.points:
            hand.left = hand.thrown
            self.spoils = (self.seat, hand, hand.points)
        elif hand.rolls and outcome == "banked":
            self.spoils = (self.seat, hand, posted)
        if outcome == "won":
            return
        if self.due is not None:
            self.due.pop(0)
        elif line.total > rules.target or (line.total == rules.target and rules.reach != "more-than"):
            after = [seat for seat in self.around() if seat != self.seat]
            if rules.last_turns == "none":
                after = []
            elif rules.last_turns == "rest-of-round":
                after = [seat for seat in after if seat > self.seat]
            self.due = after
        self.pass_on()

    def around(self) -> list[int]:
        """Return the seats in play from the one after this on."""
        count = len(self.lines)
        order = [(self.seat + step) % count for step in range(1, count + 1)]
        return [seat for seat in order if not self.lines[seat].gone]

    def pass_on(self) -> None:
        """Give the dice to whoever is next, or finish."""
        if self.due == []:
            most = max(line.total for line in self.lines if not line.gone)
            leaders = [seat for seat in self.around() if self.lines[seat].total == most]
            if len(leaders) == 1 or self.rules.tie == "shared":
                self.over, self.winners = True, sorted(leaders)
                return
            self.due, self.extra = leaders, True
        self.begin(self.due[0] if self.due else self.around()[0])

    def begin(self, seat: int) -> None:
        """Begin the next turn, under the rules agreed on for it."""
        if self.later is not None:
            self.rules, self.later = self.later, None
        self.seat, self.hand = seat, Hand(self.rules.dice)

    def leave(self, seat: int) -> None:
        """Let a player go."""
        self.lines[seat].gone = True
        if self.due is not None:
            self.due = [one for one in self.due if one != seat]
        if seat != self.seat:
            return
        if self.hand.begun:
            self.sheet.append((self.lines[seat].name, "left", 0, 0))
            self.spoils = None
        self.pass_on()


def standing(log: Iterable[events.Event]) -> list[events.Event]:
    """Return the table events that were never taken back, the start left out, of a log without whole-game changes."""
    left: list[events.Event] = []
    for event in log:
        if isinstance(event, events.Undo):
            taken = left.pop()
            assert taken.seq == event.of
            # Between a roll and the bust of the same player nothing but notes can stand.
            before = left[-1] if left else None
            if isinstance(taken, events.Bust) and isinstance(before, events.Roll) and before.player == taken.player:
                left.pop()
        elif not isinstance(event, events.Start | events.Note | events.Expect):
            left.append(event)
    return left
