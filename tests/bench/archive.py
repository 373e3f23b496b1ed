"""What the archive costs: archiving, reports and SQL over many games, against plain DuckDB on the same data.

    python tests/bench/archive.py [--games 100000] [--keep FOLDER]

Prints each figure as a ratio of two things measured in this run, and exits 1 when one passes its limit. Archiving is
compared with DuckDB's COPY to Parquet of the very lines of the logs, read as JSON with explicit columns; a report, by
itself and through `query`, with its SQL typed into a fresh DuckDB, with views of the same files and the same macros.
The luck of all games is worked out before, for the reports about it. Peak memory is that of all processes together, at
all games and at a tenth of them. With --keep the games are made once and used again.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import duckdb
from figures import say
from games import write_games

from tenklog import archive, query, reports, stats
from tenklog.tables import ASKED

ARCHIVING = 4.0
REPORT_SECONDS = 0.5
REPORT = 1.5
QUERY = 3.0
MEMORY = 1 << 30
GROWTH = 1.2
SLICE = 10_000  # games that are archived between two measurements of what they are compared with
MOST_TIMED = 40_000
ROUNDS = 7  # of each report
COLUMNS = {
    "type": "VARCHAR", "seq": "INTEGER", "time": "TIMESTAMP", "id": "VARCHAR", "player": "VARCHAR",
    "dice": "UTINYINT[]", "aside": "UTINYINT[]", "points": "BIGINT", "settled": "BOOLEAN", "thrown_by": "VARCHAR",
    "game": "VARCHAR", "version": "INTEGER", "players": "VARCHAR[]", "rules": "JSON", "origin": "VARCHAR",
    "of": "JSON", "title": "VARCHAR", "first_throw": "JSON", "changes": "JSON", "scope": "VARCHAR",
    "opponent": "VARCHAR", "why": "VARCHAR", "totals": "JSON", "to": "VARCHAR", "text": "VARCHAR", "h": "VARCHAR",
}  # fmt: skip
RUN = """
import os, pathlib, sys
from tenklog import archiving
if __name__ == "__main__":
    folder, games, result, *numbers = sys.argv[1:]
    paths = [pathlib.Path(games) / f"game-{number:07}.jsonl" for number in range(*map(int, numbers))]
    processes, luck = os.cpu_count() or 1, result == "measured"
    found = archiving.archive_logs(pathlib.Path(folder), paths, processes=processes, luck=luck)
    assert all(one.result == result for one in found)
"""


def timed(work: Callable[[], object], times: int = 1) -> float:
    """Return the median seconds of some runs."""
    took = []
    for _ in range(times):
        began = perf_counter()
        work()
        took.append(perf_counter() - began)
    return median(took)


# -- archiving --------------------------------------------------------------------------------------------------------


def copy_lines(games: Path, numbers: range, folder: Path) -> float:
    """Write the lines of some logs to one file, and time DuckDB's COPY of it."""
    lines = folder / "lines.jsonl"
    with lines.open("wb") as out:
        for number in numbers:
            out.write((games / f"game-{number:07}.jsonl").read_bytes())
    columns = ", ".join(f"\"{name}\": '{kind}'" for name, kind in COLUMNS.items())
    copy = (
        f"COPY (SELECT * FROM read_json('{lines}', format = 'newline_delimited', columns = {{{columns}}})) "
        f"TO '{folder}/lines.parquet' (FORMAT parquet, COMPRESSION zstd)"
    )
    if not numbers.start:
        print(copy, flush=True)
    took = timed(lambda: duckdb.connect().execute(copy), 2)
    lines.unlink()
    return took


def memory_of(pid: int) -> int:
    """Return the resident bytes of a process and those below it."""
    total = 0
    try:
        total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(map(memory_of, map(int, (task / "children").read_text().split())))
    except (OSError, IndexError, ValueError):
        pass
    return total


def archiving(games: Path, numbers: range, folder: Path, result: str = "archived") -> tuple[float, int]:
    """Archive games in a process of its own, or work out the luck of those that are there ("measured").

    Return seconds, and peak bytes of all processes together.
    """
    began = perf_counter()
    script = folder.parent / "archive_run.py"
    script.write_text(RUN)
    words = map(str, (script, folder, games, result, numbers.start, numbers.stop))
    running = subprocess.Popen([sys.executable, *words])
    peak = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.is_set():
            peak = max(peak, memory_of(running.pid))
            sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = running.wait()
    took = perf_counter() - began
    done.set()
    watcher.join()
    assert code == 0
    return took, peak


# -- reports and SQL --------------------------------------------------------------------------------------------------


def plain(folder: Path) -> duckdb.DuckDBPyConnection:
    """Return a DuckDB with views of the live files, and the macros and `dice_sets` that reports use."""
    con = duckdb.connect()
    manifest = archive.open_archive(folder)
    for table in ASKED:
        con.execute(f"CREATE VIEW {table} AS {archive.source(folder, manifest, table)}")
    for macro in (*stats.MACROS, "chosen(p) AS true", "chosen_game(p) AS true"):
        con.execute(f"CREATE MACRO {macro}")
    stats.make_dice_sets(con)
    return con


def report_all(folder: Path) -> bool:
    """Compare every report with its SQL in plain DuckDB, by itself and through `query`."""
    good = True
    for report in reports.ours().values():
        rounds = []
        for _ in range(ROUNDS):  # in turns, as above
            native = timed(lambda sql=report.sql: plain(folder).execute(sql).fetchall())  # type: ignore[misc]
            ours = timed(lambda one=report: stats.run(folder, one, stats.Filters()))  # type: ignore[misc]
            everything = stats.Filters(origins=stats.ORIGINS)
            asked = timed(lambda sql=report.sql, of=everything: query.ask(folder, sql, of))  # type: ignore[misc]
            rounds.append((native, ours, asked))
        native, ours, asked = map(median, zip(*rounds, strict=True))
        detail = f"{ours:.3f} s, {native:.3f} s"
        good &= say(f"stats {report.name}", ours / native, REPORT, detail)
        good &= say(f"stats {report.name}, seconds", ours, REPORT_SECONDS, "")
        good &= say(f"query {report.name}", asked / native, QUERY, f"{asked:.3f} s, {native:.3f} s")
    return good


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    count: int = asked.games
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        games = asked.keep or folder / "games"
        if not (games / f"game-{count - 1:07}.jsonl").exists():
            write_games(games, count)
        took = copied = 0.0
        for first in range(0, min(count, MOST_TIMED), SLICE):  # in turns, for the speed of a shared machine changes
            numbers = range(first, min(first + SLICE, count))
            took += archiving(games, numbers, folder / "slices")[0]
            copied += copy_lines(games, numbers, folder)
        good = say("archiving", took / copied, ARCHIVING, f"{took:.1f} s, {copied:.1f} s")
        _, small = archiving(games, range(count // 10), folder / "small")
        seconds, peak = archiving(games, range(count), folder / "archive")
        print(f"{count} games archived in {seconds:.0f} s", flush=True)
        good &= say("memory of archiving, GB", peak / 1e9, MEMORY / 1e9, "")
        good &= say("memory at ten times the games", peak / small, GROWTH, f"{peak >> 20} MiB, {small >> 20} MiB")
        seconds, peak = archiving(games, range(count), folder / "archive", "measured")
        print(f"luck of {count} games worked out in {seconds:.0f} s", flush=True)
        good &= say("memory of working luck out, GB", peak / 1e9, MEMORY / 1e9, "")
        good &= report_all(folder / "archive")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
