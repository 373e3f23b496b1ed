"""Many whole games for the benchmarks, played by a simple strategy, written as sealed logs on all cores.

    python tests/bench/games.py FOLDER COUNT

Three or four of eight players keep the best of each roll and bank from their own number of points on, with fewer than
three dice left at once. Every game is another one, and number N is the same each time.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tenklog import events, rulebook, state
from tenklog.game import Game, evolve
from tenklog.lines import seal_all

PLAYERS = ("Anna", "Ben", "Cara", "Dov", "Eli", "Fay", "Gus", "Hal")
RULES = ("tiotusen", "zilch", "farkle")
CHUNK = 500


def play(number: int) -> list[events.Event]:
    """Play game number N from the first throw to the end."""
    rng = Random(number)
    seats = rng.sample(range(len(PLAYERS)), 3 + number % 2)
    clock = datetime(2020, 1, 1, 18, tzinfo=UTC) + timedelta(minutes=25 * number)
    log: list[events.Event] = []
    game: Game | None = None

    def record(kind: Any, **fields: Any) -> Game:
        nonlocal clock, game
        clock += timedelta(milliseconds=rng.randrange(4_000, 21_000))
        time = clock.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
        log.append(kind(len(log) + 1, time=time, **fields))
        game = evolve(game, log[-1])
        return game

    agreed = rulebook.preset(RULES[number % len(RULES)])
    at = record(
        events.Start, game=f"game-{number:07}", version=1, players=tuple(PLAYERS[seat] for seat in seats), rules=agreed,
        origin="table",
    ).position  # fmt: skip
    while (turn := at.turn) is not None:
        player = at.seats[turn.seat].player
        enough = 250 + 50 * seats[turn.seat]
        if turn.phase == "busted":
            at = record(events.Bust, player=player).position
        elif turn.phase == "rolled":
            gains = state.keeps(at, turn)
            best = max(gains, key=lambda dice: (gains[dice], len(dice), dice))
            at = record(events.Keep, player=player, dice=best).position
        elif (turn.points >= enough or turn.dice_left < 3) and "bank" in state.legal(at) and turn.rolls:
            at = record(events.Bank, player=player, points=turn.points).position
        else:
            dice = tuple(rng.choices(range(1, 7), k=turn.dice_left))
            at = record(events.Roll, player=player, dice=dice).position
    return log


def _write(folder: Path, numbers: range) -> None:
    for number in numbers:
        log = play(number)
        data = b"".join(line + b"\n" for line in seal_all(log))
        (folder / f"game-{number:07}.jsonl").write_bytes(data)


def write_games(folder: Path, count: int) -> None:
    """Write games 0 to `count` - 1 into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    chunks = [range(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    with ProcessPoolExecutor() as pool:
        list(pool.map(partial(_write, folder), chunks))


if __name__ == "__main__":
    write_games(Path(sys.argv[1]), int(sys.argv[2]))
