"""Replay: this module turns a recorded log into a new, legal log under other rules, and says where the two part.

It never repairs in silence. The unit is the turn: decisions that are legal here are taken over; from the first that is not,
nothing recorded in that turn is used and a policy settles it, which the result calls by its name (a guess, where it is
one). What it writes is judged by the same fold as any other game.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from tenklog import events, explain, turns
from tenklog.dice import minus
from tenklog.errors import IllegalMove, TenklogError, UsageError
from tenklog.game import Game, evolve, false_expect, history, whole_game
from tenklog.projections import Standing, names, standings
from tenklog.rules import Ruleset, Value, change
from tenklog.scoring import best_keep
from tenklog.turns import Ended, Position, Turn, opening, play

Settle = Literal["bank", "void", "stop"]
Kind = Literal[
    "keep-illegal", "bust-scores", "no-win", "dice-differ", "must-roll", "roll-busts", "wins-here", "must-bank",
    "posts-zero", "ability-missing", "no-dice", "never-happened",
]  # fmt: skip
Status = Literal["finished", "abandoned", "unfinished", "stopped"]
GUESSES = frozenset({"keep-illegal", "bust-scores", "no-win", "dice-differ", "must-roll"})
TURN_EVENTS = (events.Roll, events.Keep, events.Bank, events.Bust, events.Steal, events.Challenge)


class Divergence(Struct, frozen=True):
    """Where the replay parts from the log: `seq` is the first event not taken over, `turn` the recorded turn from 1.

    `recorded` and `replayed` are the changes of the own total by that turn, null where there is none.
    """

    seq: int
    turn: int | None
    player: str
    kind: Kind
    guess: bool
    recorded: int | None
    replayed: int | None
    text: str


class TurnCounts(Struct, frozen=True):
    """How the recorded turns that ended are divided."""

    same: int = 0
    rescored: int = 0
    settled: int = 0
    never_happened: int = 0


class Replay(Struct, frozen=True):
    """The outcome under one ruleset; `leaders` only of a game that these rules would have continued."""

    rules: str
    settle: Settle
    status: Status
    winners: list[str]
    leaders: list[str]
    standings: list[Standing]
    guesses: int
    turns: TurnCounts
    divergences: list[Divergence]


class Replayed(Struct, frozen=True):
    """A replay with the log that it wrote and the game that this log folds to."""

    replay: Replay
    log: list[events.AnyEvent]
    game: Game
    seats: dict[int, int | None]  # recorded seat -> seat here


class _Step(Struct, frozen=True):
    """A standing event with the recorded positions before and after it, by the rules that hold in the end."""

    event: events.AnyEvent
    before: Position
    after: Position


class _Found(Struct):
    """A divergence being collected; the numbers of the recorded turn and of the one that it became here."""

    seq: int
    kind: Kind
    player: str
    text: str
    turn: int | None = None
    here: int | None = None


class _End(Struct, frozen=True):
    """What became of a recorded turn that ended: the event that ended it, the turn here, why a bank posts 0 here."""

    mode: Literal["walk", "settled", "absent"]
    seq: int
    here: int | None
    why: str


class _Stop(Exception):  # noqa: N818  (a signal, no error)
    """A guess under the policy `stop`."""


def recorded_steps(game: Game, log: Iterable[events.AnyEvent]) -> Iterator[_Step]:
    """Yield the standing events of a folded log as they were played, notes and expects among them."""
    nodes = {node.event.seq: node for node in game.standing() if node.event is not None}
    position = None
    for event in log:
        node = nodes.get(event.seq)
        if node is not None and node.before is not None:
            position = node.position
            yield _Step(event, node.before.position, position)
        elif isinstance(event, events.Note | events.Expect):
            before = position or opening(game.start.players, game.start.rules)
            yield _Step(event, before, before)


def final_steps(game: Game, log: Iterable[events.AnyEvent]) -> Iterator[_Step]:
    """Yield the same, without whole-game changes: each turn by the rules that hold for it in the end."""
    base, left = whole_game(game.start.rules, history(game))
    position = opening(game.start.players, base, game.position.replayed)
    played = {event.seq: event for event in left}
    for event in log:
        before = position
        if event.seq in played:
            position = play(position, played[event.seq], asserted=False)
        elif not isinstance(event, events.Note | events.Expect):
            continue
        yield _Step(event, before, position)


def replay(
    game: Game,
    log: list[events.AnyEvent],
    rules: Ruleset | None,
    *,
    settle: Settle = "bank",
    keep_rule_changes: bool = False,
    changes: dict[str, Value] | None = None,
    of: str,
    name: str | None = None,
) -> Replayed:
    """Replay a folded log under other rules, or under its own (`rules` None).

    `of` is the fingerprint of the log (SEQ:H), `name` the id of the new game, `changes` are settings on top of the rules.
    Raises UsageError when recorded rule changes that are to be kept contradict the rules.
    """
    walker = _Walker(game, rules, settle, keep_rule_changes, changes or {}, of, name)
    status: Status | None = None
    try:
        recorded = list((recorded_steps if walker.own else final_steps)(game, log))
        for number, step in enumerate(recorded):
            walker.step(step, recorded[number + 1].event if number + 1 < len(recorded) else step.event)
    except _Stop:
        status = "stopped"
    return walker.result(game, status)


class _Walker:
    """Walks the recorded steps on a game of its own."""

    def __init__(
        self,
        recorded: Game,
        rules: Ruleset | None,
        settle: Settle,
        keep_rule_changes: bool,
        changes: dict[str, Value],
        of: str,
        name: str | None,
    ) -> None:
        self.settle_policy = settle
        self.own = rules is None and not changes
        self.name = "recorded" if rules is None else rules.name
        self.changes: dict[int, events.Event] = {}
        asked = recorded.start.rules if rules is None else rules
        past = history(recorded)
        if self.own:
            self.changes = {event.seq: event for event, _ in past if isinstance(event, events.RuleChange)}
        elif keep_rule_changes or rules is None:
            if changes and rules is None:
                last = events.RuleChange(recorded.seq + 1, changes=changes, scope="whole-game")
                past = [*past, (last, recorded.position.pending or recorded.position.rules)]
            asked, left = whole_game(change(asked, changes) if rules is not None else asked, past)
            self.changes = {event.seq: event for event in left if isinstance(event, events.RuleChange)}
        elif changes:
            asked = change(asked, changes)
        start = replace(
            recorded.start, seq=1, id=None, game=name or recorded.start.game, rules=asked, origin="replay", of=of
        )
        self.game = evolve(None, start)
        self.log: list[events.AnyEvent] = [start]
        self.seats: dict[int, int | None] = {number: number for number in range(len(start.players))}
        self.found: list[_Found] = []
        self.parted: list[_Found] = []  # those of the recorded turn that is being walked
        self.ends: dict[int, _End] = {}
        self.mode: Literal["walk", "settled", "absent"] = "walk"
        self.here: int | None = None  # number of the turn here that the recorded turn became
        self.why = ""  # why banking posts 0 here

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

    def put(self, event: events.AnyEvent) -> None:
        """Append an event to the new log, judged as any other."""
        event = replace(event, seq=self.game.seq + 1, id=None)
        before = self.position.ended
        self.game = evolve(self.game, event)
        self.log.append(event)
        ended = self.position.ended
        if ended is not before and ended is not None and ended.number:
            self.here = ended.number

    def diverge(self, step: _Step, kind: Kind, seq: int, text: str) -> None:
        """Note a divergence of the turn that is being walked."""
        turn = step.before.turn
        assert turn is not None
        player = step.before.seats[turn.seat].player
        self.found.append(_Found(seq, kind, player, text, _number(step.before)))
        self.parted.append(self.found[-1])
        if kind in GUESSES and self.settle_policy == "stop":
            raise _Stop

    # -- one step ---------------------------------------------------------------------------------

    def step(self, step: _Step, following: events.AnyEvent) -> None:
        """Take one recorded event over, or say why not; `following` is the event after it (itself at the end)."""
        event = step.event
        if isinstance(event, TURN_EVENTS):
            self.turn_event(step, following)
        elif isinstance(event, events.Note):
            self.put(event)
        elif isinstance(event, events.Expect):
            self.expect(step, event)
        elif isinstance(event, events.RuleChange):
            self.rule_change(event)
        elif not isinstance(event, events.Start | events.Undo):
            self.table_event(step, event)
        self.close(step)

    def expect(self, step: _Step, event: events.Expect) -> None:
        """Take an assertion over where it holds here as well."""
        totals = {}
        for player, total in event.totals.items():
            number = step.before.seat_of(player)
            here = None if number is None else self.seats.get(number)
            totals[player if here is None else self.position.seats[here].player] = total
        moved = replace(event, totals=totals)
        if not false_expect(self.position, moved):
            self.put(moved)

    def rule_change(self, event: events.RuleChange) -> None:
        """Take a rule change over where those are kept."""
        kept = self.changes.get(event.seq)
        if kept is None or self.position.turn is None:
            return
        try:
            self.put(kept)  # type: ignore[arg-type]
        except UsageError as error:
            raise UsageError(
                f"the recorded rule change {event.seq} contradicts these rules: {error.what}", error.right
            ) from None

    def table_event(self, step: _Step, event: events.Join | events.Leave | events.Rename | events.Abandon) -> None:
        """Let players join, leave and be renamed here as well, where that is legal."""
        player = "" if isinstance(event, events.Abandon) else event.player
        number = step.before.seat_of(player)
        here = None if number is None else self.seats.get(number)
        try:
            if isinstance(event, events.Join):
                self.seats[len(step.before.seats)] = None
                self.put(event)
                self.seats[len(step.before.seats)] = len(self.position.seats) - 1
            elif isinstance(event, events.Abandon):
                self.put(event)
            elif here is None:
                raise IllegalMove(f"{player} has no seat")
            else:
                self.put(replace(event, player=self.position.seats[here].player))
        except TenklogError as error:
            self.found.append(_Found(event.seq, "never-happened", player, explain.dropped(event, error.what)))

    def close(self, step: _Step) -> None:
        """Count the recorded turn if the step ended it, and make ready for the next."""
        ended = step.after.ended
        if ended is None or ended is step.before.ended or isinstance(step.event, events.RuleChange):
            return
        for found in self.parted:
            found.here = self.here
            found.turn = ended.number or None
        if ended.number:
            self.ends[ended.number] = _End(self.mode, step.event.seq, self.here, self.why)

    # -- one turn ---------------------------------------------------------------------------------

    def turn_event(self, step: _Step, following: events.AnyEvent) -> None:
        """Walk one move of a turn."""
        turn, event = step.before.turn, step.event
        assert turn is not None
        if not turn.rolls and not turn.stolen and turn.challenge is None:
            self.mode, self.here, self.why, self.parted = "walk", None, "", []
            here = self.seats.get(turn.seat)
            if self.position.turn is None or here != self.position.turn.seat:
                self.mode = "absent"
                self.diverge(step, "never-happened", event.seq, explain.absent(step.before, self.position))
        if self.mode != "walk":
            return
        match event:
            case events.Roll():
                self.roll(step, event, following)
            case events.Keep():
                self.keep(step, event)
            case events.Bank():
                self.bank(step, event)
            case events.Bust():
                self.put(replace(event, player=self.player))
            case events.Steal() | events.Challenge():
                self.ability(step, event)

    def settled(self, step: _Step, kind: Kind, seq: int, text: str, last: str | None = None) -> None:
        """End the turn here at a divergence: by `last` (`bank`, `bust`, `won`, `void`), or by the policy."""
        self.diverge(step, kind, seq, text)
        if last is None:
            legal = self.turn.phase == "kept" and not turns.bank_ban(self.position, self.turn)[0]
            last = "bank" if legal and self.settle_policy == "bank" else "void"
        if last == "bank":
            points = self.turn.points
            self.put(events.Bank(1, player=self.player, points=points))
        elif last == "bust":
            self.put(events.Bust(1, player=self.player))
        elif last == "void":
            self.put(events.Bank(1, player=self.player, points=0, settled=True))
        self.mode = "settled"
        self.found[-1].here = self.here
        self.found[-1].text += explain.settled(self.position, last)

    def best(self) -> None:
        """Keep the best of a roll that is on the table, if it is to be kept of."""
        legal = turns.keeps(self.position, self.turn)
        if legal:
            self.put_keep(best_keep(legal).dice)

    def put_keep(self, dice: tuple[int, ...], event: events.Keep | None = None) -> None:
        """Keep dice here, with those aside that the rules here ask for."""
        aside = None
        if self.position.rules.set_aside == "one-per-combination":
            allowed = self.position.table.asides(tuple(sorted(dice)))
            aside = event.aside if event and event.aside and tuple(sorted(event.aside)) in allowed else allowed[0]
        time = event.time if event else None
        self.put(events.Keep(1, time, player=self.player, dice=dice, aside=aside))

    def roll(self, step: _Step, event: events.Roll, following: events.AnyEvent) -> None:
        """Take a roll over, and look whether it is here what it was there."""
        turn = self.turn
        if turns.must_bank(self.position, turn):
            self.settled(step, "must-bank", event.seq, explain.must_bank(step.before, turn), "bank")
            return
        if len(event.dice) != turn.dice_left:
            first = None if turn.rolls else "void"
            self.settled(step, "dice-differ", event.seq, explain.dice_differ(step.before, event, turn), first)
            return
        self.put(replace(event, player=self.player))
        there = "won" if step.after.turn is None else step.after.turn.phase
        # After its last roll a turn has no further event of its own: the roll stands for it.
        seq = following.seq if following.seq > event.seq and there != "won" else event.seq
        if self.position.turn is None:
            if there != "won":
                self.settled(step, "wins-here", seq, explain.wins_here(step.before, event), "won")
            return
        here = self.turn.phase
        if here == there or (there == "rolled" and here != "busted"):
            return  # what a keep finds no roll for, the keep finds out
        if there == "won":
            self.diverge_on_roll(step, "no-win", seq, explain.no_win(step.before, event, self.position))
        elif here == "busted":
            self.settled(step, "roll-busts", seq, explain.roll_busts(step, event, turn, self.position), "bust")
        else:
            self.diverge_on_roll(step, "bust-scores", seq, explain.bust_scores(step, event, self.position))

    def diverge_on_roll(self, step: _Step, kind: Kind, seq: int, text: str) -> None:
        """Settle a turn whose roll is something else here: with its best keep, or as a bust where it loses."""
        if self.turn.phase == "busted":
            self.settled(step, kind, seq, text, "bust")
            return
        if self.settle_policy != "stop":
            self.best()
        self.settled(step, kind, seq, text)

    def keep(self, step: _Step, event: events.Keep) -> None:
        """Take a keep over, or its largest legal part."""
        legal = turns.keeps(self.position, self.turn)
        asked = tuple(sorted(event.dice))
        if asked in legal:
            self.put_keep(event.dice, event)
            return
        text = explain.keep_illegal(step.before, event, self.position)
        if legal and self.settle_policy != "stop":
            parts = [dice for dice in legal if minus(asked, dice) is not None]
            most = min(parts, key=lambda dice: (-len(dice), -legal[dice], dice), default=None)
            self.put_keep(best_keep(legal).dice if most is None else most)
        self.settled(step, "keep-illegal", event.seq, text)

    def bank(self, step: _Step, event: events.Bank) -> None:
        """Take a bank over, with the points that the turn has here."""
        before = step.before.turn
        assert before is not None
        turn = self.turn
        if event.settled:
            self.put(replace(event, player=self.player))
            return
        points = event.points
        if before.rolls or before.stolen:
            ban = turns.bank_ban(self.position, turn)[0]
            if ban:
                self.settled(step, "must-roll", event.seq, explain.must_roll(step.before, turn, ban), "void")
                return
            points = turn.points
        self.why = turns.worth_banking(self.position, turn, points)[1]
        self.put(replace(event, player=self.player, points=points))

    def ability(self, step: _Step, event: events.Steal | events.Challenge) -> None:
        """Take a steal or a challenge over where these rules know and allow it."""
        try:
            if isinstance(event, events.Steal):
                self.put(replace(event, player=self.player))
            else:
                number = step.before.seat_of(event.opponent)
                here = None if number is None else self.seats.get(number)
                if here is None:
                    raise IllegalMove(f"{event.opponent} has no seat")
                opponent = self.position.seats[here].player
                self.put(replace(event, player=self.player, opponent=opponent))
        except IllegalMove as error:
            self.diverge(step, "ability-missing", event.seq, explain.ability(event, error.what))

    # -- the result -------------------------------------------------------------------------------

    def result(self, recorded: Game, status: Status | None) -> Replayed:
        """Compare both sheets as they stand in the end, and put everything together."""
        here = {ended.number: ended for ended in self.position.turns()}
        there = {ended.number: ended for ended in recorded.position.turns()}
        kinds = dict.fromkeys(TurnCounts.__struct_fields__, 0)
        for number, end in self.ends.items():
            if end.here is None:
                kinds["never_happened"] += 1
            elif end.mode == "settled":
                kinds["settled"] += 1
            else:
                kinds["same" if here[end.here].change == there[number].change else "rescored"] += 1
                self.consequences(end, there[number], here[end.here])
        divergences = [
            Divergence(
                seq=one.seq,
                turn=one.turn,
                player=one.player,
                kind=one.kind,
                guess=one.kind in GUESSES,
                recorded=there[one.turn].change if one.turn in there else None,
                replayed=here[one.here].change if one.here in here else None,
                text=one.text if one.text.endswith(".") else one.text + ".",
            )
            for one in sorted(self.found, key=lambda one: one.seq)
        ]
        position = self.position
        if status is None:
            status = "unfinished" if position.turn is not None else "abandoned" if position.abandoned else "finished"
        best = max(seat.total for seat in position.seats if not seat.left)
        leaders = [seat.player for seat in position.seats if not seat.left and seat.total == best]
        found = Replay(
            rules=self.name,
            settle=self.settle_policy,
            status=status,
            winners=names(position, position.winners),
            leaders=leaders if status == "unfinished" else [],
            standings=standings(position),
            guesses=sum(one.guess for one in divergences),
            turns=TurnCounts(**kinds),
            divergences=divergences,
        )
        return Replayed(found, self.log, self.game, self.seats)

    def consequences(self, end: _End, there: Ended, here: Ended) -> None:
        """Note what a turn posts differently although each of its decisions was taken over."""
        sheet = not there.turn.rolls and not there.turn.stolen
        if there.posted == here.posted or (here.posted and not sheet):
            return
        player = self.position.seats[here.turn.seat].player
        text = explain.posts(player, there, here, end.why)
        kind: Kind = "no-dice" if sheet else "posts-zero"
        self.found.append(_Found(end.seq, kind, player, text, there.number, here.number))


def _number(position: Position) -> int:
    """Return the number of the turn in progress."""
    ended = position.ended
    while ended is not None and not ended.number:
        ended = ended.before
    return ended.number + 1 if ended is not None else 1
