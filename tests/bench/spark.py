"""What Spark costs: seconds on the clock and of processors, for its start and for reports, beside the local engine.

    python tests/bench/spark.py --archive DIR [--master M] [REPORT]...

The processors' seconds are those of this process and of all that it started on this machine. Without --archive,
simulated games are archived first.
"""

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from tenklog import archive, reports, simulate, spark, stats
from tenklog.rulebook import preset
from tenklog.stats import ORIGINS, Filters

EVERYTHING = Filters(origins=ORIGINS)


def processors() -> float:
    """Return the processors' seconds of this process and its children, those that are gone left out."""
    parents: dict[int, list[int]] = {}
    used: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
            used[int(entry.name)] = int(fields[11]) + int(fields[12])
    mine = [os.getpid()]
    for pid in mine:
        mine += parents.get(pid, [])
    return sum(used[pid] for pid in mine if pid in used) / os.sysconf("SC_CLK_TCK")


def measured(what: str, work: Callable[[], Any]) -> Any:
    """Do something, print what it took, and return what came of it."""
    clock, used = perf_counter(), processors()
    found = work()
    print(f"{what:22} {perf_counter() - clock:7.1f} s {processors() - used:7.1f} s of processors", flush=True)
    return found


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("reports", nargs="*", metavar="REPORT")
    parser.add_argument("--archive", type=Path)
    parser.add_argument("--master", default="local[*]")
    asked = parser.parse_args()
    with TemporaryDirectory() as made, ExitStack() as opened:
        folder = asked.archive or Path(made)
        if asked.archive is None:
            plan = simulate.Plan(preset("farkle"), (("anna", "hold:350"), ("ben", "dice:3")), 1)
            simulate.into_archive(folder, plan, 2000)
        print(archive.open_archive(folder).games, "games")
        session = measured("spark start", lambda: opened.enter_context(spark.session(asked.master)))
        for name in asked.reports or ["leaderboard", "leaderboard", "records"]:
            report = reports.ours()[name]
            measured(f"duckdb {name}", partial(stats.run, folder, report, EVERYTHING))
            measured(f"spark {name}", partial(spark.run, session, folder, report, EVERYTHING))


if __name__ == "__main__":
    main()
