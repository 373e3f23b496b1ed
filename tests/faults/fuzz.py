"""Look for bytes that a reader of tenklog takes badly, guided by which lines of code they reach (atheris, libFuzzer).

    python tests/faults/fuzz.py                    every reader for 10 minutes, as many at once as there are processors
    python tests/faults/fuzz.py log sql --seconds 30

It begins with sound inputs and what was found before, changes them by bytes, tokens and lines, and keeps what reaches
something new (in `--corpus DIR`, for the next time). An input that breaks a rule of `tests/hostile.py` is kept in
`tests/faults/found/READER/`, where the tests try it for ever. Prints a line for each reader; exits 1 when one broke.
It needs `pip install 'tenklog[fuzz]'`, of which there are builds for Linux on x86-64.
"""

import argparse
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from random import Random

MEMORY = 1500  # MiB of a whole process; the largest file that a log may be has 64
LONGEST = 1 << 15  # bytes of an input
BROKE = 77  # what libFuzzer exits with


def child(name: str, arguments: list[str]) -> None:
    """Be the process that tries one reader, until its time is over or something broke."""
    import atheris

    with atheris.instrument_imports(include=["tenklog"], enable_loader_override=False):
        import tenklog

        for module in pkgutil.walk_packages(tenklog.__path__, "tenklog."):
            if not module.name.endswith("__main__"):
                __import__(module.name)
    import hostile

    reader = hostile.named(name)
    corpus = Path(arguments.pop())
    place = Path(tempfile.mkdtemp(prefix="place-", dir=corpus.parent))
    hostile.prepare(place, reader)
    for number, data in enumerate([*hostile.sound(reader), *hostile.found(reader)]):
        hostile.judge(reader, data)
        (corpus / f"sound-{number:03}").write_bytes(data)
    others = hostile.sound(reader)

    def change(data: bytes, most: int, seed: int) -> bytes:
        rng = Random(seed)
        if rng.randrange(3) == 0 or not data:
            return atheris.Mutate(data, most)  # type: ignore[no-any-return]
        first = rng.randrange(256) if rng.randrange(8) == 0 else data[0]
        rest = data[1:]
        for _ in range(rng.choice((1, 1, 2, 4))):
            rest = hostile.changed(rest, rng, others)
        return (bytes([first]) + rest)[:most]

    settings = [
        f"-max_len={LONGEST}",
        f"-rss_limit_mb={MEMORY}",
        "-timeout=150",
        "-print_final_stats=1",
        "-verbosity=0",
    ]

    def judge(data: bytes) -> None:
        try:
            hostile.judge(reader, data)
        except hostile.Slow:
            # What counts the lines that it reaches is several times slower than what users run.
            again = corpus.parent / f"slow-{os.getpid()}"
            again.write_bytes(data)
            command = [sys.executable, __file__, "--plain", name, str(again)]
            done = subprocess.run(command, capture_output=True, check=False)
            if done.returncode:
                raise hostile.Slow(done.stderr.decode(errors="replace")) from None

    atheris.Setup([sys.argv[0], *settings, *arguments, str(corpus)], judge, custom_mutator=change)
    atheris.Fuzz()


def plain(name: str, path: Path) -> None:
    """Be the process that tries one input as users would, in a place of its own."""
    import hostile

    data = path.read_bytes()
    reader = hostile.named(name)
    with tempfile.TemporaryDirectory(prefix="tenklog-plain-") as place:
        hostile.prepare(Path(place), reader)
        hostile.judge(reader, data)


def fuzz(name: str, seconds: int, kept: Path | None) -> bool:
    """Try one reader, in processes of its own; print what came of it and tell whether all was well."""
    import hostile

    reader = hostile.named(name)
    runs = ended = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tenklog-fuzz-", ignore_cleanup_errors=True) as scratch:
        corpus = (kept / name) if kept else Path(scratch) / "corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        broken = Path(scratch) / "broken"
        broken.mkdir()
        while (left := seconds - int(time.monotonic() - began)) > 0:
            command = [sys.executable, __file__, "--child", name, f"-max_total_time={left}",
                       f"-artifact_prefix={broken}/", str(corpus)]  # fmt: skip
            env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": scratch}
            done = subprocess.run(command, capture_output=True, cwd=scratch, env=env, check=False)
            told = done.stderr.decode(errors="replace")
            runs += sum(map(int, re.findall(r"number_of_executed_units: (\d+)", told)))
            if done.returncode == 0:
                break
            inputs = sorted(broken.iterdir())
            if done.returncode == 1 and not inputs and reader.ends and "Traceback" not in told:
                ended += 1  # a question that did not look up when its time was over, as documented
                continue
            told = done.stdout.decode(errors="replace") + told
            told = "\n".join(line for line in told.splitlines() if not line.startswith("INFO: Instrumenting"))
            print(f"{name}: BROKE with {done.returncode} after {time.monotonic() - began:.0f} s\n{told[-3000:]}")
            for one in inputs:
                folder = hostile.FOUND / name
                folder.mkdir(parents=True, exist_ok=True)
                (folder / one.name[:20]).write_bytes(one.read_bytes())
                print(f"{name}: kept as {folder / one.name[:20]}")
            return False
        count = len(list(corpus.iterdir()))
    more = f", {ended} ended by their time limit" if ended else ""
    print(f"{name}: {runs} inputs in {time.monotonic() - began:.0f} s, {count} kept{more}", flush=True)
    return True


def main() -> int:
    """Read the command line, try the readers and return the exit code."""
    import hostile

    names = [reader.name for reader in hostile.READERS]
    parser = argparse.ArgumentParser(description="Look for bytes that a reader of tenklog takes badly.")
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"of {', '.join(names)} (all)")
    parser.add_argument("--seconds", type=int, default=600, help="for each reader (600)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="readers at once")
    parser.add_argument("--corpus", type=Path, help="folder of inputs that reached something new")
    given = parser.parse_args()
    if unknown := set(given.readers) - set(names):
        parser.error(f"no reader {', '.join(sorted(unknown))}")
    if find_spec("atheris") is None:
        print("SKIPPED: atheris is not here (`pip install 'tenklog[fuzz]'`; it has builds for Linux on x86-64)")
        return 0
    with ThreadPoolExecutor(given.jobs) as pool:
        kept = given.corpus and given.corpus.resolve()
        return 1 - min(pool.map(lambda name: fuzz(name, given.seconds, kept), given.readers or names))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3:])
    elif sys.argv[1:2] == ["--plain"]:
        plain(sys.argv[2], Path(sys.argv[3]).resolve())
    else:
        sys.exit(main())
