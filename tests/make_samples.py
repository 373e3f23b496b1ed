"""Make the sample logs: the documents' worked examples, and games played here with seeded dice.

`python tests/make_samples.py FOLDER` writes the same files each time.
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from msgspec.structs import replace

from tenklog import decider, events, rulebook, rules, state, store
from tenklog.dice import parse
from tenklog.game import Game, evolve
from tenklog.rules import Ruleset, Value


class Sample:
    """A game being recorded, with a clock that runs."""

    def __init__(
        self, name: str, players: tuple[str, ...], ruleset: Ruleset, begins: str, title: str | None = None
    ) -> None:
        self.clock = datetime.fromisoformat(begins).replace(tzinfo=UTC)
        self.random = Random(name)
        start = events.Start(
            1, self.now(), game=name, version=1, players=players, rules=ruleset, origin="table", title=title
        )
        self.game: Game = evolve(None, start)
        self.log: list[events.Event] = [start]

    def now(self) -> str:
        """Return the time of the next event."""
        self.clock += timedelta(milliseconds=self.random.randrange(4_000, 21_000))
        return self.clock.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"

    def do(self, *commands: decider.Command) -> None:
        """Record some commands."""
        for command in commands:
            made = decider.draft(self.game, command)
            self.game = made.game
            time = self.now()
            self.log += [replace(event, time=time) for event in made.events]

    def turn(self, text: str) -> None:
        """Record rolls and keeps written `133446/1 22234/222`; a roll without a keep is a bust."""
        for part in text.split():
            roll, _, keep = part.partition("/")
            self.do(decider.Roll(parse(roll)))
            if keep:
                self.do(decider.Keep(parse(keep)))

    def play(self, rounds: int = 10_000) -> None:
        """Let everybody play on with dice thrown here, banking from 350 points or with few dice left."""
        until = self.game.position.round + rounds
        while (turn := self.game.position.turn) is not None and self.game.position.round < until:
            legal = state.legal(self.game.position)
            enough = turn.points >= 350 + 250 * (turn.seat % 2) or turn.dice_left < 3
            if "keep" in legal:
                self.do(decider.Keep("best"))
            elif turn.rolls and "bank" in legal and enough and self.worthwhile(turn):
                self.do(decider.Bank())
            else:
                self.do(decider.Throw(tuple(self.random.choices(range(1, 7), k=6))))

    def worthwhile(self, turn: state.Turn) -> bool:
        """Tell whether banking now would post anything."""
        return state.worth_banking(self.game.position, turn, turn.points)[0] > 0


def changed(name: str, **changes: Value) -> Ruleset:
    """Return a preset with settings changed."""
    return rules.change(rulebook.preset(name), changes)


def ten_thousand_example() -> Sample:
    """The worked example of the Ten Thousand page."""
    made = Sample("ten-thousand-example", ("Player 1", "Player 2"), rulebook.preset("ten-thousand"), "2026-11-20T19:00")
    made.turn("133446/1 22234/222 55/55 223446")
    made.turn("555244/555 123/1")
    made.do(decider.Bank())
    return made


TIOTUSEN: dict[str, list[int | None]] = {
    "Anna": [700, 1200, 2500, 1000, 3000, 2400],
    "Ben": [1050, 350, 0, 1200, 2000, 1500],
    "Cara": [0, 1500, 800, None, 2200, 1000],
}


def tiotusen_example(name: str, seats: tuple[str, ...]) -> Sample:
    """The worked example of the Tiotusen page, a score sheet where each bust costs 1000."""
    made = Sample(name, seats, changed("tiotusen", bust_penalty=1000), "2026-11-21T18:30")
    for number in range(6):
        for player in seats:
            points = TIOTUSEN[player][number]
            made.do(decider.Bust() if points is None else decider.Bank(points))
    return made


def finished(name: str, players: tuple[str, ...], begins: str) -> Sample:
    """A whole game with dice."""
    made = Sample(f"{name}-evening", players, rulebook.preset(name), begins, f"An evening of {name}")
    made.play()
    return made


def in_progress() -> Sample:
    """A game that is being played."""
    made = Sample("in-progress", ("Anna", "Ben", "Cara"), rulebook.preset("farkle"), "2026-11-27T20:15", "Friday")
    made.play(rounds=4)
    made.turn("115346/115 245/5")
    return made


def awkward() -> Sample:
    """A game with mistakes, rules changed on the way, and names that no program may trip over."""
    players = ("007", "-ben", '=HYPERLINK("x")', "👨\u200d👩\u200d👧", "می\u200cخواهم", "'; DROP TABLE games; --")
    made = Sample(
        "awkward", players, changed("tiotusen", opening_minimum=350), "2026-11-28T21:00", "Mistakes were made"
    )
    made.do(decider.Note("the cat sat on the sheet"))
    made.play(rounds=2)
    made.turn("115346/115")
    made.do(decider.Undo("kept too much"))
    made.do(decider.Keep(parse("11")), decider.Roll(parse("2334")))
    wrong = made.log[-2].seq
    made.do(decider.Fix(wrong, parse("2345")))
    made.do(decider.Keep(parse("5")), decider.Bank())
    made.do(decider.Change({"opening_minimum": 500}))
    made.play(rounds=2)
    made.do(decider.Change({"three_pairs": 1500, "bust_penalty": 50}, whole_game=True))
    made.do(decider.Join("<b>Eve</b>"), decider.Rename("-ben", "1e5"))
    totals = {seat.player: seat.total for seat in made.game.position.seats}
    made.do(decider.Expect(totals))
    made.play(rounds=3)
    made.do(decider.Leave("007"), decider.Abandon("the cat sat on the dice"))
    return made


def score_sheet() -> Sample:
    """A whole game without dice."""
    made = Sample("score-sheet", ("Mum", "Dad", "Kim"), changed("farkle", target=3000), "2026-11-22T17:00", "Sunday")
    for points in (600, 450, None, 350, 500, 700, None, 650, 300, 1200, 900, 850, 1000, None, 550, 1300, 0):
        if made.game.position.turn is not None:
            made.do(decider.Bust() if points is None else decider.Bank(points))
    return made


def samples() -> list[Sample]:
    """Return all sample games."""
    return [
        ten_thousand_example(),
        tiotusen_example("tiotusen-example", ("Anna", "Ben", "Cara")),
        tiotusen_example("tiotusen-example-anna-last", ("Ben", "Cara", "Anna")),
        finished("diecimila", ("Anna", "Ben"), "2026-11-23T19:30"),
        finished("tiotusen", ("Anna", "Ben", "Cara"), "2026-11-24T20:00"),
        finished("zilch", ("Ben", "Cara", "Dora"), "2026-11-25T19:45"),
        finished("ten-thousand", ("Anna", "Dora"), "2026-11-26T20:30"),
        in_progress(),
        awkward(),
        score_sheet(),
    ]


def main() -> None:
    """Write the logs into the folder that the command line names."""
    for made in samples():
        path = Path(sys.argv[1]) / f"{made.game.start.game}.jsonl"
        path.unlink(missing_ok=True)
        store.write_log(path, made.log)
        position = made.game.position
        print(path.name, position.status, position.round, [(seat.player, seat.total) for seat in position.seats])


if __name__ == "__main__":
    main()
