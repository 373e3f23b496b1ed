"""Load: many processes at once, each told what was recorded, and afterwards every log must hold exactly that.

    python tests/faults/load.py                     a few minutes
    python tests/faults/load.py --seconds 5 --processes 50

1. 500 processes, 50 at a time, append one note each to one game by the command line: all exit with 0.
2. 500 games in one home, with 8 writers and 4 readers for a minute: no reader meets an error, nothing is lost or twice.
3. The whole append (lock, read, verify, decide, write) to a game of 300 events: 3 ms at most, as the median and as the
   99th percentile, plus the sync, whose own time is the disk's.

Prints its figures and exits 1 when something was lost or a limit was passed. Figures of time need a quiet machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "bench")]

import append as bench  # noqa: E402
from evening import ruleset, start  # noqa: E402
from msgspec.structs import replace  # noqa: E402

from tenklog import checks, files, store  # noqa: E402
from tenklog.decider import Note  # noqa: E402

LIMIT = 3.0  # milliseconds

# A process that appends notes to games drawn at random until its time is over, and prints each that was acknowledged.
WRITER = """
import sys, time
from pathlib import Path
from random import Random
from tenklog import store
from tenklog.decider import Note
folder, name, end = Path(sys.argv[1]), sys.argv[2], time.monotonic() + float(sys.argv[3])
rng, paths, number = Random(name), sorted(folder.glob("*.jsonl")), 0
while time.monotonic() < end:
    path = rng.choice(paths)
    store.append(path, Note(f"{name} {number}"), id=f"{name}-{number}")
    sys.stdout.write(f"{path.stem} {name}-{number}\\n")
    sys.stdout.flush()
    number += 1
"""
# A process that reads games drawn at random meanwhile and prints how many it read; whatever it reads must be sound.
READER = """
import sys, time
from pathlib import Path
from random import Random
from tenklog import checks, store
folder, end = Path(sys.argv[1]), time.monotonic() + float(sys.argv[3])
rng, paths, count, least = Random(sys.argv[2]), sorted(folder.glob("*.jsonl")), 0, {}
while time.monotonic() < end:
    path = rng.choice(paths)
    log = store.read(path)
    assert log.seq >= least.get(path, 1), "a game went back"
    least[path] = log.seq
    assert not [problem for problem in checks.check(path) if problem.bad]
    count += 1
print(count)
"""


def crowd(folder: Path, processes: int, at_once: int = 50) -> bool:
    """Append to one game from many processes; print what came of it and tell whether all is there."""
    log = folder / "games" / "evening.jsonl"
    store.create(log, start("Anna Ben", ruleset()))

    def note(number: int) -> int:
        words = ["note", f"note {number}", "--id", f"note-{number}", "-g", str(log), "--timeout", "600"]
        command = [sys.executable, "-m", "tenklog", "--home", str(folder), *words]
        return subprocess.run(command, capture_output=True, check=False).returncode

    began = perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        codes = list(pool.map(note, range(processes)))
    took = perf_counter() - began
    found = sorted(event.id for event in store.read(log).events if event.id)
    lost = processes - len(set(found))
    twice = len(found) - len(set(found))
    failed = sum(code != 0 for code in codes)
    sound = checks.check(log) == []
    print(f"one game: {processes} processes, {at_once} at a time, in {took:.1f} s: ", end="")
    print(f"{failed} failed, {lost} lost, {twice} twice, log {'sound' if sound else 'NOT SOUND'}", flush=True)
    return not failed and not lost and not twice and sound


def home(folder: Path, seconds: float, games: int = 500, writers: int = 8, readers: int = 4) -> bool:
    """Write to and read many games at once; print what came of it and tell whether all is there."""
    place = folder / "games"
    for number in range(games):
        store.create(place / f"game-{number:03}.jsonl", replace(start("Anna Ben", ruleset()), game=f"game-{number:03}"))

    def begin(code: str, name: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", code, str(place), name, str(seconds)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    writing = [begin(WRITER, f"writer-{number}") for number in range(writers)]
    reading = [begin(READER, f"reader-{number}") for number in range(readers)]
    with ThreadPoolExecutor(writers + readers) as pool:
        told = list(pool.map(lambda process: process.communicate(), [*writing, *reading]))
    errors = [err for process, (_, err) in zip([*writing, *reading], told, strict=True) if process.returncode]
    acknowledged = [tuple(line.split()) for out, _ in told[:writers] for line in out.splitlines()]
    read = sum(int(out or 0) for out, _ in told[writers:])
    found: list[tuple[str, ...]] = []
    unsound = 0
    for path in sorted(place.glob("*.jsonl")):
        unsound += checks.check(path) != []
        found += [(path.stem, event.id) for event in store.read(path).events if event.id]
    lost = len(set(acknowledged) - set(found))
    twice = len(found) - len(set(found))
    print(
        f"{games} games: {writers} writers and {readers} readers for {seconds:g} s: {len(acknowledged)} appends ",
        end="",
    )
    print(
        f"acknowledged, {read} reads, {len(errors)} failed, {lost} lost, {twice} twice, {unsound} not sound", flush=True
    )
    for error in errors[:3]:
        print(error[-600:])
    return bool(acknowledged) and bool(read) and not errors and not lost and not twice and not unsound


def latency(folder: Path, series: int = 5, rounds: int = 500) -> bool:
    """Time appends to a game of 300 events; print median and 99th percentile and tell whether the limit holds.

    What else the machine does only adds to them, so the quietest of some series counts.
    """
    log = bench.write_game(folder)
    lock = log.with_name(f".{log.name}.lock")
    before = {path: path.read_bytes() for path in (log, lock)}
    synced = [0.0]
    real = files.sync

    def sync(fd: int) -> None:
        began = perf_counter()
        real(fd)
        synced[0] += perf_counter() - began

    def once() -> tuple[float, float]:
        for path, data in before.items():
            path.write_bytes(data)
        synced[0] = 0.0
        began = perf_counter()
        done = store.append(log, Note("What a roll!"))
        took = perf_counter() - began
        assert done.log.seq == 301
        return 1e3 * took, 1e3 * (took - synced[0])

    def both(times: tuple[float, ...]) -> tuple[float, float]:
        return median(times), quantiles(times, n=100)[98]

    files.sync = sync
    runs = [tuple(map(both, zip(*(once() for _ in range(rounds)), strict=True))) for _ in range(series)]
    files.sync = real
    whole, alone = min(runs, key=lambda run: run[1][1])
    print(f"append to 300 events, {series} times {rounds}, median and 99th percentile of the quietest: ", end="")
    print(f"{whole[0]:.2f} and {whole[1]:.2f} ms; without the sync {alone[0]:.2f} and {alone[1]:.2f} ms ", end="")
    print(f"(limit {LIMIT:g})", flush=True)
    return max(alone) <= LIMIT


def main() -> int:
    """Read the command line, put the load on, and return the exit code."""
    parser = argparse.ArgumentParser(description="Put tenklog's logs under load.")
    parser.add_argument("--seconds", type=float, default=60.0, help="of writers and readers (60)")
    parser.add_argument("--processes", type=int, default=500, help="that append to one game (500)")
    given = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="tenklog-load-") as name:
        parts = [Path(name) / part for part in ("crowd", "home", "latency")]
        for part in parts:
            part.mkdir()
        well = [crowd(parts[0], given.processes), home(parts[1], given.seconds), latency(parts[2])]
    return int(not all(well))


if __name__ == "__main__":
    sys.exit(main())
