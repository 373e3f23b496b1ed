"""Walk: this module plays the events of a recorded game, turn by turn, on a game under other rules.

It writes the new log and notes where it parts from the recorded one, and never does the one without the other. What it
writes is judged by the same fold as any other game.
"""

from copy import copy
from random import Random
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from tenklog import events, explain, state
from tenklog.dice import Dice, minus
from tenklog.errors import IllegalMove, TenklogError, UsageError
from tenklog.game import Game, evolve, false_expect
from tenklog.recorded import RecordedTurn, Step, ended_turns, final_names
from tenklog.scoring import best_keep
from tenklog.state import Position, Turn
from tenklog.strategies import BEST, MOST_TURNS, next_event

Settle = Literal["bank", "void", "stop", "sample"]
Kind = Literal[
    "keep-illegal", "bust-scores", "no-win", "dice-differ", "must-roll", "roll-busts", "wins-here", "must-bank",
    "posts-zero", "ability-missing", "no-dice", "never-happened",
]  # fmt: skip
GUESSES = frozenset({"keep-illegal", "bust-scores", "no-win", "dice-differ", "must-roll"})
Mode = Literal["walk", "settled", "absent"]


class Walked(Struct):
    """A recorded turn and what became of it: the number of the turn here once that ended, why banking posts 0 here."""

    recorded: RecordedTurn
    mode: Mode = "walk"
    here: int | None = None
    why: str = ""


class Found(Struct):
    """A divergence being collected; `walked` is its turn."""

    seq: int
    kind: Kind
    player: str | None
    text: str
    walked: Walked | None = None


class Stop(Exception):
    """A guess under the policy `stop`."""


class Walker:
    """Walks the recorded steps on a game of its own.

    As long as the game runs here, seats and names are those of the log. Only a join (last turns have begun, and nobody
    joins any more) and the leave of the last player can fail before the end.
    """

    def __init__(
        self, recorded: Game, start: events.Start, changes: dict[int, events.RuleChange], policy: Settle
    ) -> None:
        self.policy = policy
        self.rng: Random | None = None  # of a sample
        self.changes = changes
        self.names = final_names(recorded)
        self.there = {ended.number: ended for ended in recorded.position.turns() if ended.number}
        self.game = evolve(None, start)
        self.log: list[events.AnyEvent] = [start]
        self.ended = 0  # turns that ended here
        self.found: list[Found] = []
        self.walked: list[Walked] = []

    def fork(self, rng: Random | None = None) -> "Walker":
        """Return a walker that goes on from here on its own, with its own dice."""
        other = copy(self)
        other.policy, other.rng = "sample", rng
        other.log, other.found, other.walked = [*self.log], [*self.found], [*self.walked]
        if self.walked:
            other.walked[-1] = now = copy(self.now)
            other.found = [replace(one, walked=now) if one.walked is self.now else one for one in self.found]
        return other

    # -- the log being written --------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """Return the position here."""
        return self.game.position

    @property
    def turn(self) -> Turn:
        """Return the turn in progress here."""
        turn = self.position.turn
        assert turn is not None
        return turn

    @property
    def player(self) -> str:
        """Return the name here of the player at turn."""
        return self.position.seats[self.turn.seat].player

    @property
    def now(self) -> Walked:
        """Return the recorded turn that is being walked, or was last."""
        return self.walked[-1]

    @property
    def who(self) -> str:
        """Return the final name of its player."""
        return self.names[self.now.recorded.seat]

    def put(self, event: events.AnyEvent) -> None:
        """Append an event to the new log, judged as any other."""
        event = replace(event, seq=self.game.seq + 1, id=None)
        self.game = evolve(self.game, event)
        self.log.append(event)
        ended = ended_turns(self.position)
        if ended > self.ended:
            self.ended = self.now.here = ended

    def diverge(self, kind: Kind, seq: int, text: str, mode: Mode = "settled") -> None:
        """Note a divergence of the turn that is being walked, and whether it is walked on."""
        self.now.mode = mode
        self.found.append(Found(seq, kind, self.who, text, self.now))

    # -- one step ---------------------------------------------------------------------------------

    def step(self, step: Step) -> None:
        """Take one recorded event over, or say why not."""
        event = step.event
        if step.turn is not None:
            self.move(step, step.turn)
        elif isinstance(event, events.Note):
            self.put(event)
        elif isinstance(event, events.Expect):
            self.expect(step, event)
        elif isinstance(event, events.RuleChange):
            self.rule_change(event)
        elif isinstance(event, events.Join | events.Leave | events.Rename | events.Abandon):
            self.table_event(step, event)

    def expect(self, step: Step, event: events.Expect) -> None:
        """Take an assertion over where it holds here as well, of the same seats, whatever they are called here."""
        totals = {}
        for player, total in event.totals.items():
            seat = step.before.seat_of(player)
            known = seat is not None and seat < len(self.position.seats)
            totals[self.position.seats[seat].player if known else player] = total  # type: ignore[index]
        moved = replace(event, totals=totals)
        if not false_expect(self.position, moved):
            self.put(moved)

    def rule_change(self, event: events.RuleChange) -> None:
        """Take a rule change over where those are kept."""
        kept = self.changes.get(event.seq)
        if kept is None or self.position.turn is None:
            return
        try:
            self.put(kept)
        except UsageError as error:
            raise UsageError(
                f"the recorded rule change {event.seq} contradicts these rules: {error.what}", error.right
            ) from None

    def table_event(self, step: Step, event: events.Join | events.Leave | events.Rename | events.Abandon) -> None:
        """Let players join, leave and be renamed here as well, where that is legal."""
        try:
            self.put(event)
        except TenklogError as error:
            player = None
            if not isinstance(event, events.Abandon):
                seat = step.before.seat_of(event.player)
                player = self.names[len(step.before.seats) if seat is None else seat]  # a joiner gets the next seat
            self.found.append(Found(event.seq, "never-happened", player, explain.dropped(event, player, error.what)))

    # -- one turn ---------------------------------------------------------------------------------

    def move(self, step: Step, turn: RecordedTurn) -> None:
        """Walk one move of a turn."""
        event = step.event
        if event.seq == turn.moves[0]:
            self.walked.append(Walked(turn))
            due = self.position.turn
            if due is None or due.seat != turn.seat:
                instead = None if due is None else self.names[due.seat]
                text = explain.absent(self.who, self.there.get(turn.number or 0), instead)
                self.diverge("never-happened", event.seq, text, "absent")
        if self.now.mode != "walk":
            return
        match event:
            case events.Roll():
                self.roll(step, turn, event)
            case events.Keep():
                self.keep(step, event)
            case events.Bank():
                self.bank(step, event)
            case events.Bust():
                self.put(event)
            case events.Steal() | events.Challenge():
                self.ability(step, event)

    def guess(self, kind: Kind, seq: int, text: str, keep: Dice = (), last: explain.Last | None = None) -> None:
        """Settle a turn of which nobody knows how it would have gone on: keep these dice, then end it by the policy.

        `last` is how it ends whatever the policy is, unless that is `stop`.
        """
        self.diverge(kind, seq, text)
        if self.policy == "stop":
            self.found[-1].text += explain.STOPPED
            raise Stop
        if keep:
            self.put_keep(keep)
        if self.rng is not None and last != "bust":
            self.play_turn(self.rng)
            self.found[-1].text += explain.played(self.position.ended)
            return
        ban = ""
        if last is None and self.policy == "bank":
            ban = state.bank_ban(self.position, self.turn)[0]
        self.end(last or ("bank" if self.policy == "bank" and not ban else "void"), ban)

    def end(self, last: explain.Last, why: str = "") -> None:
        """End the turn here at the divergence just noted, and say so; `why` it can't be banked."""
        points = self.turn.points
        if last == "bank":
            why = state.worth_banking(self.position, self.turn, points)[1]
            self.put(events.Bank(1, player=self.player, points=points))
        elif last == "bust":
            self.put(events.Bust(1, player=self.player))
        else:
            self.put(events.Bank(1, player=self.player, points=0, settled=True))
        ended = self.position.ended
        assert ended is not None
        self.found[-1].text += explain.end(last, ended, why)

    def play_turn(self, rng: Random) -> None:
        """Play the turn in progress to its end by the best policy, with dice of our own."""
        ended = self.position.ended
        while self.position.turn is not None and self.position.ended is ended:
            self.put(next_event(self.position, BEST, rng))  # type: ignore[arg-type]

    def play_out(self, rng: Random) -> None:
        """Play on beyond the log, to the end of the game or for very many turns: the turn in progress first."""
        if self.walked and self.now.here is None and self.now.mode == "walk" and self.turn.begun:
            self.play_turn(rng)
        last = self.ended + MOST_TURNS
        while self.position.turn is not None and self.ended < last:
            event = replace(next_event(self.position, BEST, rng), seq=self.game.seq + 1)
            self.game = evolve(self.game, event)
            self.log.append(event)  # type: ignore[arg-type]
            self.ended = ended_turns(self.position)

    def best(self) -> Dice:
        """Return the best keep of a roll on the table; nothing when none is to be kept."""
        legal = state.keeps(self.position, self.turn)
        return best_keep(legal).dice if legal else ()

    def put_keep(self, dice: Dice, event: events.Keep | None = None) -> None:
        """Keep dice here, with those aside that the rules here ask for."""
        aside = None
        if self.position.rules.set_aside == "one-per-combination":
            allowed = self.position.table.asides(tuple(sorted(dice)))
            aside = event.aside if event and event.aside and tuple(sorted(event.aside)) in allowed else allowed[0]
        time = event.time if event else None
        self.put(events.Keep(1, time, player=self.player, dice=dice, aside=aside))

    def roll(self, step: Step, turn: RecordedTurn, event: events.Roll) -> None:
        """Take a roll over, and look whether it is here what it was there."""
        at_stake = self.turn
        if state.must_bank(self.position, at_stake):
            self.diverge("must-bank", event.seq, explain.must_bank(self.who))
            self.end("bank")
            return
        if len(event.dice) != at_stake.dice_left:
            text = explain.dice_differ(self.who, event, at_stake)
            self.guess("dice-differ", event.seq, text, last=None if at_stake.rolls else "void")
            return
        self.put(event)
        there = "won" if step.after.turn is None else step.after.turn.phase
        here = "won" if self.position.turn is None else self.turn.phase
        if here == there or (there == "rolled" and here in ("kept", "to-roll")):
            return  # a keep that finds nothing to keep from says so itself
        seq = turn.after(event.seq)
        if here == "won":
            self.diverge("wins-here", seq, explain.wins_here(self.who, event))
        elif here == "busted" and there != "won":
            self.diverge("roll-busts", seq, explain.roll_busts(self.who, event, self.position))
            self.end("bust")
        else:
            keep = self.best()
            text = explain.scores_otherwise(self.who, step, event, self.position, keep)
            self.guess(
                "no-win" if there == "won" else "bust-scores", seq, text, keep, "bust" if here == "busted" else None
            )

    def keep(self, step: Step, event: events.Keep) -> None:
        """Take a keep over, or its largest legal part."""
        legal = state.keeps(self.position, self.turn)
        asked = tuple(sorted(event.dice))
        if asked in legal:
            self.put_keep(event.dice, event)
            return
        parts = [dice for dice in legal if minus(asked, dice) is not None]
        part = min(parts, key=lambda dice: (-len(dice), -legal[dice], dice), default=())
        keep = part or self.best()
        text = explain.keep_illegal(self.who, step, event, self.position, keep)
        self.guess("keep-illegal", event.seq, text, keep)

    def bank(self, step: Step, event: events.Bank) -> None:
        """Take a bank over, with the points that the turn has here; one that a replay settled stays as it is."""
        before, turn = step.before.turn, self.turn
        assert before is not None
        points = event.points
        if before.rolls and not event.settled:
            points = turn.points
            ban = state.bank_ban(self.position, turn)[0]
            if ban:
                self.guess("must-roll", event.seq, explain.must_roll(self.who, turn, ban), last="void")
                return
        self.now.why = state.worth_banking(self.position, turn, points)[1]
        self.put(replace(event, points=points))

    def ability(self, step: Step, event: events.Steal | events.Challenge) -> None:
        """Take a steal or a challenge over where these rules know and allow it."""
        try:
            self.put(event)
        except IllegalMove as error:
            opponent = step.before.seat_of(event.opponent) if isinstance(event, events.Challenge) else None
            against = None if opponent is None else self.names[opponent]
            self.diverge("ability-missing", event.seq, explain.ability(self.who, step, against, error.what), "walk")
