"""Random rulesets, and random legal games played under them by a player who does whatever is allowed.

Everything comes from the `random.Random` that is given, so a seed is a game. Games are written by `decide.draft` alone
(and, in a replay's log, settled banks), so each is what a table could have recorded. Targets are small: most end.

    rng = random.Random(7)
    rules = random_ruleset(rng)
    log = random_game(rng, rules)                                      # events with seq, without time
    log = random_game(rng, rules, without={"undo", "fix", "change"})   # no line of it is ever taken back
"""

from collections.abc import Callable, Collection
from random import Random
from typing import Any, Literal, get_args, get_origin

from tenklog import events, state
from tenklog.decider import (
    Abandon,
    Bank,
    Bust,
    Challenge,
    Change,
    Command,
    Draft,
    Expect,
    Fix,
    Join,
    Keep,
    Leave,
    Note,
    Rename,
    Roll,
    Steal,
    Undo,
    draft,
)
from tenklog.dice import Dice
from tenklog.errors import TenklogError
from tenklog.game import Game, fold
from tenklog.rulebook import preset
from tenklog.rules import CATALOGUE, DEFAULTS, Combination, Ruleset, Value, change

_KINDS: dict[str, Any] = Ruleset.__annotations__
# Every setting with a fixed list of values.
ENUMERATED: dict[str, tuple[Value, ...]] = {
    key: (False, True) if kind is bool else get_args(kind)
    for key, kind in _KINDS.items()
    if kind is bool or get_origin(kind) is Literal
}

# What a random game may hold beside the moves of a turn; `without` takes any of these, and of a turn's moves
# `sheet` (turns without dice), `steal` and `challenge`.
ASIDES = ("undo", "fix", "note", "expect", "join", "leave", "rename", "change", "whole-game", "abandon")

PRESETS = ("diecimila", "tiotusen", "zilch", "ten-thousand", "farkle", "farkle-classic", "kingdom-come")
_BASES = {name: preset(name) for name in PRESETS}
_NAMES = ("Anna", "Ben", "Cara", "Dov", "Eli", "007", "Ünal", "-x", "1e5", "Ann e")


def random_dice(rng: Random, count: int) -> Dice:
    """Throw dice."""
    return tuple(rng.choices((1, 2, 3, 4, 5, 6), k=count))


def random_pattern(rng: Random, most: int = 6) -> str:
    """Return a pattern of digits, letters or both."""
    signs = rng.choice(("123456", "AB", "ABCDEF", "15AB", "123456ABC"))
    return "".join(rng.choices(signs, k=rng.randint(1, most)))


def _points(rng: Random, pattern: str) -> int | str:
    letters = [sign for sign in pattern if sign.isalpha()]
    if letters and rng.random() < 0.4:
        return f"{rng.choice((1, 10, 50, 100))}{rng.choice(letters)}"
    return rng.choice((10, 50, 100, 150, 200, 300, 500, 1000))


def random_changes(rng: Random, count: int) -> dict[str, Value]:
    """Return changes of some settings and combinations, each value in range; together they may contradict."""
    changes: dict[str, Value] = {}
    for key in rng.sample([*DEFAULTS, *CATALOGUE], count):
        if key in CATALOGUE:
            changes[key] = rng.choice((0, _points(rng, CATALOGUE[key])))
        else:
            changes[key] = _SETTINGS[key](rng)
    if rng.random() < 0.2:
        pattern = random_pattern(rng)
        changes[rng.choice(("extra", "house_rule"))] = Combination(pattern, _points(rng, pattern))
    return changes


def _some(*values: Value) -> Callable[[Random], Value]:
    return lambda rng: rng.choice(values)


def _ending(rng: Random) -> Value:
    return rng.choice((None, "44", "2222", "AAAAAA", "1AA", "AAABBB", random_pattern(rng)))


_SETTINGS: dict[str, Callable[[Random], Value]] = {key: _some(*values) for key, values in ENUMERATED.items()} | {
    "opening_minimum": _some(0, 0, 50, 200, 350, 500),
    "bank_minimum": _some(0, 0, 50, 100, 300),
    "blank_throw": _some(0, 0, 50, 500),
    "bust_penalty": _some(0, 0, 50, 300, 1000),
    "streak_length": _some(0, 1, 2, 3),
    "streak_penalty": _some(0, 100, 500, 1000),
    "wipeout": _ending,
    "instant_win": _ending,
    "last_die_rolls": _some(1, 2, 3),
    "last_die_bonus": _some(0, 100, 500),
    "last_die_step": _some(0, 50, 500),
    "challenge_split": _some(0, 1, 300, 800),
    "challenge_penalties": lambda rng: (rng.choice((0, 50, 600)), rng.choice((0, 70, 2000))),
    "target": _some(500, 700, 1000, 1500, 2000),
}


def random_ruleset(rng: Random) -> Ruleset:
    """Return a valid ruleset: a preset's score table with changes, every setting at random, combinations of its own."""
    while True:
        base = rng.choice(list(_BASES.values()))
        changes: dict[str, Value] = {key: make(rng) for key, make in _SETTINGS.items()}
        # Either would end most games or turns when it were as likely as not.
        if rng.random() < 0.75:
            changes["wipeout"] = None
        if rng.random() < 0.7:
            changes["instant_win"] = None
        for name in rng.sample(list(CATALOGUE), rng.randint(0, 4)):
            changes[name] = rng.choice((0, _points(rng, CATALOGUE[name])))
        for number in range(rng.choice((0, 0, 1, 2))):
            pattern = random_pattern(rng)
            changes[f"extra_{number}"] = Combination(pattern, _points(rng, pattern))
        if changes["build_on_kept"] and changes["set_aside"] == "one-per-combination":
            changes[rng.choice(("build_on_kept", "set_aside"))] = False if rng.random() < 0.5 else "any"
        try:
            return change(base, changes)
        except TenklogError:
            continue


class _Player:
    """Plays a game at random, one command after another."""

    def __init__(self, rng: Random, game: Game, log: list[events.Event], without: Collection[str]) -> None:
        self.rng = rng
        self.game = game
        self.log = log
        self.without = without
        self.asides = [kind for kind in ASIDES if kind not in without]

    def write(self, made: Draft) -> bool:
        self.game = made.game
        self.log += made.events
        return True

    def ask(self, command: Command) -> bool:
        """Record a command, unless it is refused."""
        try:
            return self.write(draft(self.game, command))
        except TenklogError:
            return False

    def move(self) -> None:
        """Make one legal move of the turn."""
        rng, position = self.rng, self.game.position
        turn = position.turn
        assert turn is not None
        moves = [move for move in state.legal(position) if move not in self.without]
        sheet = not turn.rolls and not turn.stolen
        if sheet and ("steal" in moves or "challenge" in moves) and rng.random() < 0.5:
            moves = [move for move in moves if move in ("steal", "challenge")]
        elif sheet and ("sheet" in self.without or rng.random() < (0.8 if position.due is None else 0.4)):
            moves = ["roll"]
        elif sheet and position.due is not None:
            moves = ["bank"]  # level ends are rare enough
        elif turn.phase == "kept" and "bank" in moves and rng.random() < 0.35:
            moves = ["bank"]
        match rng.choice(moves):
            case "roll":
                made = self.ask(Roll(random_dice(rng, turn.dice_left)))
            case "keep":
                made = self.keep(position, turn)
            case "bank":
                made = self.ask(Bank(self.sheet(position, turn) if sheet else None))
            case "bust":
                made = self.ask(Bust())
            case "steal":
                made = self.ask(Steal())
            case "challenge":
                made = self.ask(Challenge(rng.choice(state.opponents(position, turn))))
        assert made, "a legal move was refused"

    def keep(self, position: state.Position, turn: state.Turn) -> bool:
        rng = self.rng
        dice = rng.choice(list(state.keeps(position, turn)))
        if position.rules.set_aside != "one-per-combination":
            return self.ask(Keep(tuple(rng.sample(dice, len(dice)))))
        return self.ask(Keep(dice, rng.choice(position.table.asides(dice))))

    def sheet(self, position: state.Position, turn: state.Turn) -> int:
        """Choose the points of a turn without dice: at times those that reach the target or draw level."""
        total = position.seats[turn.seat].total
        aim = position.rules.target if position.due is None else max(seat.total for seat in position.seats)
        if total < aim and self.rng.random() < (0.2 if position.due is None else 0.8):
            return aim - total
        return self.rng.randrange(0, position.rules.target // 2 + 100, 50)

    def aside(self) -> None:
        """Do something beside the turn; nothing when it is refused."""
        rng, position = self.rng, self.game.position
        seats = [seat.player for seat in position.seats]
        match rng.choice(self.asides):
            case "undo":
                self.ask(Undo(rng.choice((None, "misread"))))
            case "fix":
                self.fix()
            case "note":
                self.ask(Note(rng.choice(("tea", "„ja“", "a,b\n=1+1"))))
            case "expect":
                named = rng.sample(position.seats, rng.randint(1, len(seats)))
                self.ask(Expect({seat.player: seat.total for seat in named}))
            case "join":
                self.ask(Join(rng.choice(_NAMES)))
            case "leave":
                self.ask(Leave(rng.choice(seats) if position.turn is None else seats[position.turn.seat]))
            case "rename":
                self.ask(Rename(rng.choice(seats), rng.choice(_NAMES)))
            case "change":
                self.ask(Change(random_changes(rng, rng.randint(1, 3))))
            case "whole-game":
                self.ask(Change(random_changes(rng, 1), whole_game=True))
            case "abandon":
                if rng.random() < 0.4:
                    self.ask(Abandon(rng.choice((None, "late"))))

    def fix(self) -> None:
        """Correct one of the last events, the last one that still stands oftenest."""
        rng = self.rng
        for node in self.game.standing():
            event = node.event
            if isinstance(event, events.Roll) and rng.random() < 0.5:
                dice = list(event.dice)
                dice[rng.randrange(len(dice))] = rng.randint(1, 6)
                self.ask(Fix(event.seq, dice=tuple(dice)))
                return
            if isinstance(event, events.Keep) and rng.random() < 0.5:
                roll = node.position.turn.roll if node.position.turn else event.dice
                self.ask(Fix(event.seq, dice=tuple(rng.sample(roll, rng.randint(1, len(roll))))))
                return
            if isinstance(event, events.Bank | events.Bust) and rng.random() < 0.5:
                points = rng.choice((None, rng.randrange(0, 1000, 50)))
                self.ask(Fix(event.seq, points=points))
                return

    def settle(self) -> None:
        """Settle the turn in progress or due, as only a replay does."""
        made = Draft(self.game)
        made.add(events.Bank, player=made.player, points=0, settled=True)
        self.write(made)


def random_start(rng: Random, rules: Ruleset, seats: int | None = None, replay: bool = False) -> events.Start:
    """Return the start of a game for some players, of a replay's log if asked for."""
    players = tuple(rng.sample(_NAMES[:5], seats or rng.randint(1, 4)))
    told: dict[str, Any] = {"origin": "replay", "of": "7:" + "0f" * 16} if replay else {"origin": "table"}
    if rng.random() < 0.2:
        told["title"] = "Friday"
        told["first_throw"] = {player: random_dice(rng, 2) for player in players}
    return events.Start(1, game="random", version=events.VERSION, players=players, rules=rules, **told)


def random_play(
    rng: Random,
    rules: Ruleset | None = None,
    *,
    seats: int | None = None,
    lines: int = 60,
    without: Collection[str] = (),
    asides: float = 0.08,
    replay: bool = False,
) -> tuple[list[events.Event], Game]:
    """Play a random game and return its events and the game that they fold to.

    `lines` is about the most events that a game has when it does not end before; `asides` is how often something
    happens beside the turn; a `replay` is a replay's log with settled banks in it.
    """
    start = random_start(rng, rules or random_ruleset(rng), seats, replay)
    player = _Player(rng, fold([start]), [start], without)
    # One thing is always tried after the end: most is refused there, and an undo goes on with the game.
    over = False
    while len(player.log) < lines and not over:
        over = player.game.position.turn is None
        if player.asides and (over or rng.random() < asides):
            player.aside()
            over = over and player.game.position.turn is None
        elif replay and rng.random() < 0.1:
            player.settle()
        elif not over:
            player.move()
    return player.log, player.game


def random_game(rng: Random, rules: Ruleset | None = None, **options: Any) -> list[events.Event]:
    """Return the events of a random game: seq from 1, no time, no id. The options are those of `random_play`."""
    return random_play(rng, rules, **options)[0]
