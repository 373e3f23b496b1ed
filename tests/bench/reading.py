"""How fast logs are read: a million events of many games, verified and folded, and the memory that takes.

    python tests/bench/reading.py [GAMES]

Prints the time against bare typed decoding of the same lines (limit 12), and the peak memory for all games against a
tenth of them (limit 1.2); exits 1 when one is passed. The bare decoder has the same structs with a field for the hash,
and reads no file. Both take turns game by game, five times over.
"""

import functools
import operator
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import msgspec
from figures import say
from msgspec.structs import replace

from tenklog import events, rulebook, store
from tenklog.decider import Bank, Command, Keep, Throw, draft
from tenklog.game import fold
from tenklog.lines import seal_all
from tenklog.rulebook import MAIN_PRESETS

TIMES = 12.0
MEMORY = 1.2
LENGTH = 100


def play(seed: int) -> list[events.Event]:
    """Play a game of about a hundred events: best keeps, a bank from 300 points on."""
    rng = random.Random(seed)
    agreed = rulebook.preset(MAIN_PRESETS[seed % len(MAIN_PRESETS)])
    players = ("Anna", "Ben", "Cara", "Dov")[: 2 + seed % 3]
    start = events.Start(1, game="x", version=1, players=players, rules=agreed, origin="table")
    log: list[events.Event] = [start]
    game = fold(log)
    while (turn := game.position.turn) is not None and len(log) < LENGTH:
        asked: Command = Throw(tuple(rng.choices(range(1, 7), k=6)))
        if turn.phase == "rolled":
            asked = Keep("best")
        elif turn.points >= max(300, agreed.opening_minimum) and turn.dice_left < agreed.dice:
            asked = Bank()
        made = draft(game, asked)
        log += made.events
        game = made.game
    return log


def timed(log: list[events.Event], game: str) -> list[events.Event]:
    """Give a game its id, and each event a time."""
    log = [replace(log[0], game=game), *log[1:]]
    return [
        replace(event, time=f"2026-11-29T{20 + n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}.{n * 37 % 1000:03}Z")
        for n, event in enumerate(log)
    ]


def write_games(folder: Path, count: int) -> None:
    """Write many games: a hundred different ones, over and over under other ids."""
    played = [play(seed) for seed in range(100)]
    for number in range(count):
        lines = seal_all(timed(played[number % 100], f"game-{number}"))
        (folder / f"game-{number}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


def bare_decoder() -> Any:
    """Return a typed decoder of sealed lines that does nothing else."""
    kinds = [
        msgspec.defstruct(
            kind.__name__, [("h", str | None, None)], bases=(kind,), frozen=True, kw_only=True, omit_defaults=True,
            forbid_unknown_fields=True, tag_field="type", tag=kind.__struct_config__.tag,
        )
        for kind in events.TYPES.values()
    ]  # fmt: skip
    return msgspec.json.Decoder(functools.reduce(operator.or_, kinds)).decode


def compare(paths: list[Path]) -> tuple[int, float, float]:
    """Return how many events there are, and the seconds for reading them and for bare decoding."""
    decode = bare_decoder()
    count, ours, bare = 0, 0.0, 0.0
    for path in paths:
        lines = path.read_bytes().split(b"\n")[:-1]
        began = perf_counter()
        for line in lines:
            decode(line)
        between = perf_counter()
        log = store.read(path)
        ours += perf_counter() - between
        bare += between - began
        count += log.seq
    return count, ours, bare


def peak(folder: Path, count: int) -> int:
    """Return the peak memory in KiB of a process that reads so many games."""
    done = subprocess.run([sys.executable, __file__, str(folder), str(count)], capture_output=True, check=True)
    return int(done.stdout)


def main(count: int) -> int:
    """Measure, print, and return the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_games(folder, count)
        paths = [folder / f"game-{number}.jsonl" for number in range(count)]
        rounds = [compare(paths) for _ in range(5)]
        ratio = median(ours / bare for _, ours, bare in rounds)
        events_read, ours, bare = min(rounds, key=lambda one: one[1])
        detail = f"{ours / events_read * 1e6:.2f} us and {bare / events_read * 1e6:.2f} us an event"
        good = say("reading logs, of bare msgspec decoding", ratio, TIMES, detail)
        few, all_ = peak(folder, count // 10), peak(folder, count)
        detail = f"{all_ >> 10} MiB for {count} games, {few >> 10} MiB for {count // 10}"
        good &= say("memory of reading at ten times the games", all_ / few, MEMORY, detail)
    return 1 - good


if __name__ == "__main__":
    if len(sys.argv) == 3:
        total = sum(
            log.seq for log in store.read_many(Path(sys.argv[1]) / f"game-{n}.jsonl" for n in range(int(sys.argv[2])))
        )
        assert total >= int(sys.argv[2])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) == 2 else 10_000))
