"""Decide: this module turns what somebody asks for into the events that record it, or says why it is not legal.

It is pure: no file, no clock, no randomness. It never decides legality itself: it drafts events and lets `evolve` judge
them, so what it returns always folds. The events it returns carry no time and no id; whoever writes them adds those.
"""

from typing import Any

from msgspec import Struct

from tenklog import events, state
from tenklog.dice import Dice
from tenklog.errors import DataError, IllegalMove, TenklogError, UsageError
from tenklog.game import Game, evolve, false_expect, tag, undone_with
from tenklog.rules import Value
from tenklog.scoring import best_keep


class Roll(Struct, frozen=True):
    """Record dice that were thrown at the table."""

    dice: Dice


class Throw(Struct, frozen=True):
    """Throw with the tool's own dice: as many of the pool, from the front, as are to be thrown."""

    pool: Dice


class Keep(Struct, frozen=True):
    """Set dice aside: these, `all` (the largest legal keep) or `best` (the one with most points)."""

    dice: Dice | str
    aside: Dice | None = None


class Bank(Struct, frozen=True):
    """Bank the turn; a turn without dice needs its points."""

    points: int | None = None


class Bust(Struct, frozen=True):
    """Lose the turn without dice."""


class Steal(Struct, frozen=True):
    """Take over the dice of the turn that ended last."""


class Challenge(Struct, frozen=True):
    """Challenge an opponent."""

    opponent: str


class Change(Struct, frozen=True):
    """Change rules, from the next turn or for the whole game."""

    changes: dict[str, Value]
    whole_game: bool = False


class Expect(Struct, frozen=True):
    """Compare totals with paper."""

    totals: dict[str, int]


class Join(Struct, frozen=True):
    """Take a new seat."""

    player: str


class Leave(Struct, frozen=True):
    """Leave the table."""

    player: str


class Rename(Struct, frozen=True):
    """Be called differently."""

    player: str
    to: str


class Note(Struct, frozen=True):
    """Write a remark."""

    text: str


class Undo(Struct, frozen=True):
    """Take back the last table event."""

    why: str | None = None


class Fix(Struct, frozen=True):
    """Correct an earlier event: other dice for a roll or a keep, other points (None: a bust) for a score-sheet turn."""

    seq: int
    dice: Dice | None = None
    points: int | None = None
    aside: Dice | None = None


class Abandon(Struct, frozen=True):
    """Give the game up."""

    why: str | None = None


Command = (
    Roll | Throw | Keep | Bank | Bust | Steal | Challenge | Change | Expect | Join | Leave | Rename | Note | Undo | Fix
    | Abandon
)  # fmt: skip


def decide(game: Game, command: Command) -> list[events.AnyEvent]:
    """Return the events that record a command; raise IllegalMove, UsageError or (a false expect) DataError."""
    return draft(game, command).events


class Draft:
    """Events being drafted on top of a game."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.events: list[events.AnyEvent] = []

    @property
    def position(self) -> state.Position:
        """Return the position after the events drafted so far."""
        return self.game.position

    @property
    def turn(self) -> state.Turn:
        """Return the turn in progress; raise IllegalMove when the game is over."""
        turn = self.position.turn
        if turn is None:
            raise IllegalMove(f"the game is {self.position.status}", "only undo, note and expect")
        return turn

    @property
    def player(self) -> str:
        """Return the name of the player at turn."""
        return self.position.seats[self.turn.seat].player

    def add(self, kind: type[events.Event], **fields: Any) -> None:
        """Draft one event, and the bust that follows it by itself."""
        try:
            event = events.normal(kind(self.game.seq + 1, **fields))
        except DataError as error:
            raise UsageError(error.what, error.right) from None
        self.game = evolve(self.game, event)
        self.events.append(event)
        if kind in (events.Roll, events.RuleChange):
            self.complete()

    def complete(self) -> None:
        """Draft the bust that a losing roll still lacks."""
        turn = self.position.turn
        if turn is not None and turn.phase == "busted":
            self.add(events.Bust, player=self.player)

    def again(self, event: events.Event, **fields: Any) -> None:
        """Draft an earlier event once more, with some fields changed."""
        names = type(event).__struct_fields__[3:]
        self.add(type(event), **{name: getattr(event, name) for name in names} | fields)


def draft(game: Game, command: Command) -> Draft:
    """Return the drafted events of a command together with the game after them."""
    made = Draft(game)
    if not isinstance(command, Undo | Fix):
        made.complete()
    match command:
        case Roll(dice):
            made.add(events.Roll, player=made.player, dice=dice)
        case Throw(pool):
            made.add(events.Roll, player=made.player, dice=pool[: made.turn.dice_left], thrown_by="tenklog")
        case Keep():
            _keep(made, command)
        case Bank(points):
            _bank(made, points)
        case Bust():
            if not made.events:  # else the bust that was still lacking is what was asked for
                made.add(events.Bust, player=made.player)
        case Steal():
            made.add(events.Steal, player=made.player)
        case Challenge(opponent):
            made.add(events.Challenge, player=made.player, opponent=opponent)
        case Change(changes, whole_game):
            made.add(events.RuleChange, changes=changes, scope="whole-game" if whole_game else "next-turn")
        case Expect(totals):
            _expect(made, totals)
        case Join(player):
            made.add(events.Join, player=player)
        case Leave(player):
            made.add(events.Leave, player=player)
        case Rename(player, to):
            made.add(events.Rename, player=player, to=to)
        case Note(text):
            made.add(events.Note, text=text)
        case Undo(why):
            made.add(events.Undo, of=game.event.seq if game.event else 1, why=why)
        case Fix():
            _fix(made, command)
        case Abandon(why):
            made.add(events.Abandon, why=why)
    return made


def _keep(made: Draft, command: Keep) -> None:
    turn, table = made.turn, made.position.table
    legal = state.keeps(made.position, turn)
    dice = command.dice
    if isinstance(dice, str):
        if not legal:
            dice = turn.keep or turn.roll or (1,)  # evolve says what forbids it
        elif dice == "best":
            dice = best_keep(legal).dice
        else:
            dice = min(legal, key=lambda keep: (-len(keep), -legal[keep], keep))
    aside = command.aside
    if aside is None and made.position.rules.set_aside == "one-per-combination" and tuple(sorted(dice)) in legal:
        aside = table.asides(tuple(sorted(dice)))[0]
    made.add(events.Keep, player=made.player, dice=dice, aside=aside)


def _bank(made: Draft, points: int | None) -> None:
    turn = made.turn
    if points is None:
        if not turn.with_dice:
            raise UsageError("no dice were rolled in this turn", "give its points, such as `bank 350`, or roll")
        points = turn.points
    made.add(events.Bank, player=made.player, points=points)


def _expect(made: Draft, totals: dict[str, int]) -> None:
    made.add(events.Expect, totals=totals)
    false = false_expect(made.position, made.events[-1])  # type: ignore[arg-type]
    if false:
        raise DataError(false, "compare the sheet (`tenklog sheet`) with the paper")


def _fix(made: Draft, command: Fix) -> None:
    later: list[tuple[events.Event, bool]] = []
    while made.game.event is not None and made.game.event.seq != command.seq:
        taken = undone_with(made.game)
        assert taken is not None
        automatic = taken is not made.game.before
        before = made.game.before
        event = before.event if automatic and before is not None else made.game.event
        if automatic and event is not None and event.seq == command.seq:
            break  # the roll of a bust that followed by itself
        assert event is not None
        later.append((event, _has_dice(taken)))
        made.add(events.Undo, of=made.game.event.seq, why=f"fix {command.seq}")
    wrong = made.game.event
    if wrong is None:
        raise IllegalMove(f"{command.seq} is no table event that still stands", "a seq from `tenklog events`")
    automatic = isinstance(wrong, events.Bust) and undone_with(made.game) is not made.game.before
    if automatic and wrong.seq == command.seq:
        raise IllegalMove(f"the bust {wrong.seq} follows from its roll", "fix the roll")
    if automatic and made.game.before is not None and made.game.before.event is not None:
        wrong = made.game.before.event
    fields = _corrected(wrong, command, made.game)
    made.add(events.Undo, of=made.game.event.seq, why=f"fix {command.seq}")  # type: ignore[union-attr]
    if fields is None:
        made.add(events.Bust, player=wrong.player)  # type: ignore[attr-defined]
    elif isinstance(wrong, events.Keep):
        _keep(made, Keep(fields["dice"], fields["aside"]))
    elif isinstance(wrong, events.Bust):
        made.add(events.Bank, player=wrong.player, **fields)
    else:
        made.again(wrong, **fields)
    for event, had_dice in reversed(later):
        try:
            if not isinstance(event, events.Bank) or event.settled:
                made.again(event)
            elif _has_dice(made.game) != had_dice and made.player == event.player:
                raise IllegalMove(f"its turn would have {'no ' if had_dice else ''}dice")
            else:
                made.again(event, points=made.turn.points if _has_dice(made.game) else event.points)
        except TenklogError as error:
            raise IllegalMove(
                f"event {event.seq} ({tag(event)}) would become illegal: {error.what}", "undo back to there instead"
            ) from None


def _has_dice(game: Game) -> bool:
    turn = game.position.turn
    return turn is not None and (turn.rolls > 0 or turn.stolen)


def _corrected(wrong: events.Event, command: Fix, game: Game) -> dict[str, Any] | None:
    """Return the fields of the corrected event, None for a score-sheet bust; raise when it can't be corrected so."""
    if isinstance(wrong, events.Roll | events.Keep):
        if command.dice is None:
            raise UsageError(f"event {wrong.seq} is a {tag(wrong)}", "give its dice, such as `fix 7 133446`")
        if isinstance(wrong, events.Roll):
            return {"dice": command.dice, "thrown_by": None}
        return {"dice": command.dice, "aside": command.aside}
    if isinstance(wrong, events.Bank | events.Bust):
        ended = game.position.ended
        if ended is not None and ended.turn.with_dice:
            raise IllegalMove("the points of a turn with dice follow from its dice", "fix one of its rolls or keeps")
        if command.dice is None or command.points is not None:
            return None if command.points is None else {"points": command.points}
    raise IllegalMove(
        f"event {wrong.seq} is a {tag(wrong)}, and only rolls, keeps and points are fixed", "undo back to it"
    )
