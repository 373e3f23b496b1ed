"""What odds and simulation cost: the odds of every preset, and games into an archive.

    python tests/bench/insight.py [--games 20000]

The odds are whole processes (limit one second each, the best of three). Games of three players, of whom each plays by
another strategy, are played and archived by one process (limit 1 ms of its processor a game, which is 1,000 a second
and core), with numpy, pyarrow and numba; a tenth of them is also only played, one by one. What is compiled is loaded
before, by games of another seed. Exits 1 when a limit is passed.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from figures import say
from msgspec.structs import replace

from tenklog.rulebook import card_files, preset
from tenklog.simulate import FEW, Plan, into_archive, only_played

ODDS = 1.0
MILLISECONDS = 1.0


def seconds(*words: str) -> float:
    """Run a command and return how long it took."""
    began = perf_counter()
    subprocess.run([sys.executable, "-m", "tenklog", *words], check=True, capture_output=True)
    return perf_counter() - began


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=20_000)
    games = parser.parse_args().games
    good = True
    for path in card_files():
        taken = min(seconds("odds", "--rules", path.stem) for _ in range(3))
        good &= say(f"odds of {path.stem}, seconds", taken, ODDS)
    for name in ("farkle-classic", "tiotusen"):
        plan = Plan(preset(name), (("anna", "best"), ("ben", "hold:350"), ("cara", "greedy")), 1)
        with tempfile.TemporaryDirectory() as folder:
            into_archive(Path(folder) / "before", replace(plan, seed=2), FEW)
            began = process_time()
            into_archive(Path(folder) / "archive", plan, games)
            archived = games / (process_time() - began)
        began = process_time()
        only_played(plan, games // 10)
        played = games // 10 / (process_time() - began)
        detail = f"{archived:.0f} games a second, only played {played:.0f}"
        good &= say(f"simulating {name}, ms a game", 1e3 / archived, MILLISECONDS, detail)
    return 1 - good


if __name__ == "__main__":
    sys.exit(main())
