"""What bulk replays cost, against DuckDB's scan of the columns that they read, and the plain fold of the same games.

    python tests/bench/bulk.py [--games 100000] [--rules zilch] [--keep FOLDER] [--rounds 15]

Prints ratios of things measured in turns in one run, and exits 1 when one passes its limit. Three players by simple
strategies fill the archive, about 280 events a game; with --keep it is made once and used again. A replay is the whole
of `replay --archive` in this process: what was found out about the rules is forgotten each time, rows are written and
listed. Peak memory is that of a process of its own and those below it, at all games and at a tenth of them.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from archive import memory_of
from figures import say
from msgspec import json
from msgspec.structs import replace

from tenklog import archive, jit, reading, replays
from tenklog.game import fold
from tenklog.rulebook import preset
from tenklog.simulate import Plan, into_archive

PLAIN, COMPILED = 6.0, 3.0
FOLD = 1 / 15
MEMORY = 1 << 30
GROWTH = 1.2
SAMPLE = 300  # games that are folded
PLAYERS = (("Anna", "hold:300"), ("Ben", "hold:450"), ("Cara", "dice:3"))
SCANS = {
    "games": "SELECT sum(hash(game, players, winners, rules_hash, status, origin, turns, events)) FROM ({})",
    "turns": "SELECT sum(hash(turn, seat, rolls, change, outcome)) FROM ({})",
    "rolls": "SELECT sum(hash(roll_set, kept_set)) FROM ({})",
}
RUN = """
import sys
from pathlib import Path
from tenklog import replays
from tenklog.rulebook import preset
if __name__ == "__main__":
    asked = [replays.Asked("memory", preset(sys.argv[2]))]
    replays.replay_archive(Path(sys.argv[1]), asked, processes=int(sys.argv[3]))
    print(next(line.split()[1] for line in Path("/proc/self/status").open() if line.startswith("VmHWM")))
"""


def scan(folder: Path) -> tuple[float, float]:
    """Let DuckDB read the columns on all cores; return the seconds of the clock and of all cores."""
    manifest = archive.read_manifest(folder)
    began, used = perf_counter(), process_time()
    con = archive.connect()
    for table, sql in SCANS.items():
        con.execute(sql.format(archive.source(folder, manifest, table))).fetchall()
    con.close()
    return perf_counter() - began, process_time() - used


def replayed(folder: Path, rules: str, number: int, compiled: bool) -> tuple[float, float, replays.Done]:
    """Replay the archive under rules that it has not seen; return seconds as `scan` does, and what was done."""
    jit.COMPILED = compiled
    asked = [replays.Asked("bench", replace(preset(rules), name=f"bench-{os.getpid()}-{number}"))]
    began, used = perf_counter(), process_time()
    done = replays.replay_archive(folder, asked, processes=os.cpu_count() or 1)
    return perf_counter() - began, process_time() - used, done


def folded(folder: Path) -> float:
    """Return the seconds that one core takes to fold a game, its events at hand."""
    logs = [reading.parse(data, game) for game, data in archive.extract(folder, _some(folder))]
    began = process_time()
    for log in logs:
        fold(log.events)
    return (process_time() - began) / len(logs)


def _some(folder: Path) -> list[str]:
    con = archive.connect()
    games = archive.source(folder, archive.read_manifest(folder), "games")
    found = con.execute(f"SELECT game FROM ({games}) ORDER BY hash(game) LIMIT {SAMPLE}").fetchall()
    con.close()
    return [game for (game,) in found]


def peak(folder: Path, rules: str) -> int:
    """Replay the archive in a process of its own; return the most bytes that it held, and those below it."""
    script = folder.parent / "bulk_run.py"
    script.write_text(RUN)
    command = [sys.executable, str(script), str(folder), rules, str(os.cpu_count() or 1)]
    most = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        while running.poll() is None:
            most = max(most, memory_of(running.pid))
        assert running.returncode == 0
        assert running.stdout is not None
        return max(most, int(running.stdout.read()) << 10)  # its own peak is known exactly, however short it was


def share(folder: Path, target: Path, of: int) -> Path:
    """Make an archive of one in so many parts of another, without replays."""
    manifest = archive.read_manifest(folder)
    some = replace(manifest, parts=manifest.parts[: max(1, len(manifest.parts) // of)], replays=())
    target.mkdir()
    for file in some.files:
        os.link(folder / file.name, target / file.name)
    (target / archive.MANIFEST).write_bytes(json.encode(some))
    return target


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--rules", default="zilch")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory(dir=asked.keep and asked.keep.parent) as name:
        kept = asked.keep or Path(name) / "kept"
        if not kept.exists():
            into_archive(kept, Plan(preset("tiotusen"), PLAYERS, 1), asked.games, processes=cores)
        folder = share(kept, Path(name) / "archive", 1)
        games = archive.open_archive(folder).games
        print(f"{games} games on {cores} cores; the scans:", *SCANS.values(), sep="\n")
        scan(folder)
        good = True
        for what, limit, compiled in (("numpy alone", PLAIN, False), ("compiled", COMPILED, True)):
            if compiled and not jit.numba:
                print("numba is not installed")
                continue
            replayed(folder, asked.rules, -1 - compiled, compiled)  # what is compiled is kept for the next process
            rounds = [
                (scan(folder), replayed(folder, asked.rules, 2 * n + compiled, compiled)) for n in range(asked.rounds)
            ]
            read, took = median(one[0][0] for one in rounds), median(one[1][0] for one in rounds)
            ratio = median(one[1][0] / one[0][0] for one in rounds)
            work = median(one[1][1] / one[0][1] for one in rounds)
            done = rounds[0][1][2]
            good &= say(f"replay, {what}", ratio, limit, f"{took:.2f} s, {read:.2f} s; work of cores {work:.2f}")
            used, plain = median(one[1][1] for one in rounds), folded(folder) * games
            good &= say("replay, of the plain fold", used / plain, FOLD, f"{used:.1f} s, {plain:.1f} s of all cores")
            print(f"{done.looked_up / done.turns:.2%} of the turns looked up; {games / took:,.0f} games a second")
        most, less = peak(folder, asked.rules), peak(share(kept, Path(name) / "tenth", 10), asked.rules)
        good &= say("memory, GB", most / 1e9, MEMORY / 1e9, "")
        good &= say("memory at ten times the games", most / less, GROWTH, f"{most >> 20} MiB, {less >> 20} MiB")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
