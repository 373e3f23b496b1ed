"""Figures: how each benchmark prints what it measured, and every benchmark in one run.

    python tests/bench/figures.py [--games 100000] [--keep FOLDER]

Runs the benchmarks of this folder one after another, each in a process of its own, and ends with all their figures as
the table of the README. Exits 1 when a limit was passed. With --games there are so many in the archives; with --keep
games are made once and used again. An hour at 100,000 games on two cores; a quiet machine gives steadier figures.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

Row = tuple[str, str, str, str, str]  # the benchmark, what it measured, the ratio, its limit, what it is made of
LINE = re.compile(r"(.+?) +(\d+\.\d\d)  \(limit ([\d.]+)\)(  TOO MUCH)?   (.*)")


def say(what: str, ratio: float, limit: float, detail: str = "") -> bool:
    """Print a figure; tell whether it is within its limit."""
    good = ratio <= limit
    print(f"{what:<42}{ratio:>8.2f}  (limit {limit:g}){'' if good else '  TOO MUCH'}   {detail}", flush=True)
    return good


def machine() -> str:
    """Say what this is measured on."""
    import duckdb

    cpu = ""
    if (info := Path("/proc/cpuinfo")).exists():
        cpu = next(
            (line.partition(":")[2] for line in info.read_text().splitlines() if line.startswith("model name")), ""
        )
    return (
        f"{os.cpu_count()} cores{cpu and ' of' + cpu}, Python {platform.python_version()}, DuckDB {duckdb.__version__}"
    )


def main() -> int:
    """Run all, print their figures as one table, and return the exit code."""
    parser = argparse.ArgumentParser(description="Run every benchmark and print its figures as one table.")
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    games = ["--games", str(given.games)]

    def kept(name: str) -> list[str]:
        return ["--keep", str(given.keep / name)] if given.keep else []

    runs: dict[str, list[str]] = {
        "append": [],
        "reading": [],
        "insight": [],
        "archive": [*games, *kept("logs")],
        "bulk": [*games, *kept("archive")],
    }
    if given.keep:
        given.keep.mkdir(exist_ok=True)
    rows: list[Row] = []
    good = True
    for name, words in runs.items():
        command = [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            for line in running.stdout:
                print(line, end="", flush=True)
                if found := LINE.fullmatch(line.rstrip("\n")):
                    what, ratio, limit, much, detail = found.groups()
                    rows.append((f"{name}.py", what, ratio, f"{limit}{', passed' if much else ''}", detail))
        good = good and running.returncode == 0
    print(f"\n{machine()}\n")
    print("| benchmark | figure | measured | limit | of |", "|---|---|--:|--:|---|", sep="\n")
    for row in worst(rows):
        print(f"| {' | '.join(row)} |")
    return 0 if good else 1


def worst(rows: list[Row]) -> list[Row]:
    """Return of figures of one kind, such as those of all reports, the highest alone."""
    kinds: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        benchmark, what, _, limit, _ = row
        kinds.setdefault((benchmark, what.split()[0], what.partition(",")[2], limit.split(",")[0]), []).append(row)
    highest = [(len(some), max(some, key=lambda row: float(row[2]))) for some in kinds.values()]
    return [(*row[:4], f"{row[4]} (worst of {count})" if count > 1 else row[4]) for count, row in highest]


if __name__ == "__main__":
    sys.exit(main())
