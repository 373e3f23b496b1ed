"""An evening at the table: games written down as short scripts, for tests that read given / when / then.

A script is phrases with commas between them, each as one would say it on the command line: `roll 133446, keep 1, bank`.
A bank or a bust without a roll before it is a turn of a score sheet.
"""

from typing import Any

from tenklog import dice, events, rulebook, rules, state
from tenklog.decider import (
    Abandon,
    Bank,
    Bust,
    Challenge,
    Change,
    Command,
    Expect,
    Fix,
    Join,
    Keep,
    Leave,
    Note,
    Rename,
    Roll,
    Steal,
    Throw,
    Undo,
    draft,
)
from tenklog.errors import TenklogError
from tenklog.game import Game, evolve, fold
from tenklog.rules import Ruleset


class Evening:
    """A game in progress: what was written so far and how it stands."""

    def __init__(self, log: list[events.Event], game: Game) -> None:
        self.log = log
        self.game = game

    def then(self, script: str) -> "Evening":
        """Play the phrases of a script, one after another, and return the evening itself."""
        for phrase in script.replace("\n", " ").split(","):
            if phrase.strip():
                made = draft(self.game, self.command(phrase.split()))
                self.log += made.events
                self.game = made.game
        return self

    def refuses(self, phrase: str) -> str:
        """Return what is said when this is not allowed; fail when it is."""
        try:
            draft(self.game, self.command(phrase.split()))
        except TenklogError as error:
            return str(error)
        raise AssertionError(f"{phrase} was allowed")

    def command(self, words: list[str]) -> Command:
        """Read one phrase."""
        match words:
            case ["roll", faces]:
                return Roll(dice.parse(faces))
            case ["throw", faces]:
                return Throw(dice.parse(faces))
            case ["keep", ("all" | "best") as which]:
                return Keep(which)
            case ["keep", faces]:
                return Keep(dice.parse(faces))
            case ["keep", faces, "aside", aside]:
                return Keep(faces if faces in ("all", "best") else dice.parse(faces), dice.parse(aside))
            case ["bank"]:
                return Bank()
            case ["bank", points]:
                return Bank(int(points))
            case ["bust"]:
                return Bust()
            case ["steal"]:
                return Steal()
            case ["challenge", opponent]:
                return Challenge(opponent)
            case ["change", *changes]:
                return Change(self.changes(changes))
            case ["whole-game", *changes]:
                return Change(self.changes(changes), whole_game=True)
            case ["expect", *totals]:
                pairs = [total.split("=") for total in totals]
                return Expect({player: int(total) for player, total in pairs})
            case ["join", player]:
                return Join(player)
            case ["leave", player]:
                return Leave(player)
            case ["rename", player, to]:
                return Rename(player, to)
            case ["note", *text]:
                return Note(" ".join(text))
            case ["undo"]:
                return Undo()
            case ["fix", seq, "roll" | "keep", faces]:
                return Fix(int(seq), dice=dice.parse(faces))
            case ["fix", seq, "keep", faces, "aside", aside]:
                return Fix(int(seq), dice=dice.parse(faces), aside=dice.parse(aside))
            case ["fix", seq, "bank", points]:
                return Fix(int(seq), points=int(points))
            case ["fix", seq, "bust"]:
                return Fix(int(seq))
            case ["abandon"]:
                return Abandon()
        raise ValueError(f"no phrase of a script: {words}")

    def changes(self, typed: list[str]) -> dict[str, rules.Value]:
        """Read rule changes as typed."""
        position = self.game.position
        return dict(rules.parse_change(one, position.pending or position.rules) for one in typed)

    @property
    def position(self) -> state.Position:
        """Return how the game stands."""
        return self.game.position

    @property
    def turn(self) -> state.Turn:
        """Return the turn in progress or due."""
        assert self.position.turn is not None
        return self.position.turn

    @property
    def legal(self) -> list[str]:
        """Return the words of the legal moves."""
        return state.legal(self.position)

    @property
    def totals(self) -> dict[str, int]:
        """Return each player's total."""
        return {seat.player: seat.total for seat in self.position.seats}

    @property
    def to_play(self) -> str:
        """Return the player at turn; empty once the game is over."""
        turn = self.position.turn
        return "" if turn is None else self.position.seats[turn.seat].player

    @property
    def due(self) -> str:
        """Return who has a last or extra turn, in order."""
        return " ".join(self.position.seats[seat].player for seat in self.position.due or ())

    @property
    def winners(self) -> str:
        """Return who has won."""
        return " ".join(self.position.seats[seat].player for seat in self.position.winners)

    @property
    def last(self) -> state.Ended:
        """Return the turn that ended last."""
        assert self.position.ended is not None
        return self.position.ended

    @property
    def kinds(self) -> list[str]:
        """Return the types of the events written."""
        return [str(event.__struct_config__.tag) for event in self.log]


def ruleset(preset: str = "farkle-classic", /, **changes: Any) -> Ruleset:
    """Return a preset with changes. `farkle-classic` has every setting at its default: ones, fives and triplets."""
    return rules.change(rulebook.preset(preset), changes)


def start(players: str, agreed: Ruleset, **fields: Any) -> events.Start:
    """Return a start event for players named with spaces between them."""
    told: dict[str, Any] = {"game": "evening", "version": 1, "origin": "table"} | fields
    return events.Start(1, players=tuple(players.split()), rules=agreed, **told)


def at_table(players: str = "A B", preset: str = "farkle-classic", /, **changes: Any) -> Evening:
    """Begin a game between players under a preset with changes."""
    first = start(players, ruleset(preset, **changes))
    return Evening([first], fold([first]))


def why_not(game: Game, event: events.Event) -> str:
    """Return what is said when an event may not stand here; fail when it may."""
    try:
        evolve(game, event)
    except TenklogError as error:
        return str(error)
    raise AssertionError(f"{event} was allowed")


def position_facts(position: state.Position) -> dict[str, Any]:
    """Return all that makes two positions equal, the linked turns as a list."""
    facts = {name: getattr(position, name) for name in position.__struct_fields__ if name not in ("table", "ended")}
    ended = [
        {name: getattr(turn, name) for name in turn.__struct_fields__ if name != "before"} for turn in position.turns()
    ]
    return facts | {"ended": ended}
