"""What recording costs: a whole `tenklog bank`, and the append in it.

    python tests/bench/append.py

The command, on a game of 300 events, against a process that only imports click and msgspec (limit 1.5); and the append,
from lock to acknowledgement without reading, against opening, writing, syncing and closing a file with the same bytes
(limit 1.3). Both are medians of pairs of runs that take turns. Prints both ratios; exits 1 when one passes its limit.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from figures import say

from tenklog import events, rulebook, store
from tenklog.decider import Keep, Note, Roll, draft
from tenklog.game import fold
from tenklog.lines import scan

COMMAND = 1.5
APPEND = 1.3
GAME = "evening"


def write_game(folder: Path) -> Path:
    """Write a game of 300 events in which the next player may bank."""
    start = events.Start(
        1, game=GAME, version=1, players=("Anna", "Ben"), rules=rulebook.preset("ten-thousand"), origin="table"
    )
    log: list[events.Event] = [start]
    while len(log) < 298:
        log += draft(fold(log), Roll((2, 2, 3, 4, 4, 6)) if len(log) % 3 else Note("What a roll!")).events
    log = log[:298]
    for asked in (Roll((1, 1, 1, 2, 3, 4)), Keep((1, 1, 1))):
        log += draft(fold(log), asked).events
    path = folder / "games" / f"{GAME}.jsonl"
    assert store.write_log(path, log[:300]).seq == 300
    return path


def paired(one: Callable[[], float], other: Callable[[], float], rounds: int) -> tuple[float, float, float]:
    """Return the median seconds of two things that take turns, and of their ratios: a machine's speed changes."""
    pairs = [(one(), other()) for _ in range(rounds)]
    ratios = median(ours / floor for ours, floor in pairs)
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs), ratios


def commands(folder: Path, log: Path) -> bool:
    """Compare the whole command with the imports that it can't do without."""
    # The lock file with the log: one of another size than its mark says is written and synced once more.
    before = {path: path.read_bytes() for path in (log, log.with_name(f".{log.name}.lock"))}
    # As for an installed package, modules are compiled once, by the first round.
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    settings = os.environ | compiled | {"TENKLOG_HOME": str(folder)}
    installed = str(Path(sys.executable).with_name("tenklog"))
    subprocess.run([installed, "use", GAME], env=settings, check=True, capture_output=True)

    def run(*words: str) -> float:
        for path, data in before.items():
            path.write_bytes(data)
        began = perf_counter()
        subprocess.run(words, env=settings, check=True, capture_output=True)
        return perf_counter() - began

    def bank() -> float:
        return run(installed, "bank")

    def imports() -> float:
        return run(sys.executable, "-c", "import click, msgspec")

    paired(bank, imports, 2)
    ours, floor, ratio = paired(bank, imports, 51)
    return say("tenklog bank, of the bare imports", ratio, COMMAND, f"{ours * 1e3:.1f} ms, {floor * 1e3:.1f} ms")


def appends(folder: Path, log: Path) -> bool:
    """Compare the append alone with the least that makes the same bytes durable."""
    found = scan(log.read_bytes())
    event = events.Note(301, time="2026-11-29T20:15:00.000Z", text="What a roll!")
    data = b"".join(line + b"\n" for line in store._seal([event], found.lines[-1][-34:-2]))
    size = log.stat().st_size

    def append() -> float:
        os.truncate(log, size)
        began = perf_counter()
        with store._Writing(log, 10.0) as writing:
            (line,) = store._seal([event], found.lines[-1][-34:-2])
            store._write(writing, size, line + b"\n")
        return perf_counter() - began

    def least() -> float:
        os.truncate(folder / "other", size)
        began = perf_counter()
        fd = os.open(folder / "other", os.O_WRONLY | os.O_APPEND)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)
        return perf_counter() - began

    (folder / "other").write_bytes(log.read_bytes()[:size])
    paired(append, least, 50)
    ours, floor, ratio = paired(append, least, 2001)
    return say("append, of write and sync", ratio, APPEND, f"{ours * 1e6:.0f} us, {floor * 1e6:.0f} us")


def main() -> int:
    """Measure, print, and return the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = write_game(folder)
        return 1 - min(commands(folder, log), appends(folder, log))


if __name__ == "__main__":
    sys.exit(main())
