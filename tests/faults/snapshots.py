"""Power loss: snapshots of a disk in use, each mounted as after a crash, must hold all that was acknowledged.

    python tests/faults/snapshots.py                a few minutes
    python tests/faults/snapshots.py --seconds 60 --every 0.25

An image of an ext4 file system lies on an XFS that can share blocks, so that `cp --reflink` copies it at one moment,
without what the kernel had not yet sent to the disk. A copy is then mounted, which replays its journal.

1. Processes append notes to games and begin new ones, in Python and by the command. In each snapshot every log must be
   sound, or torn at its end and healed by the next writer, with each event once that was acknowledged before it began.
2. Games are archived, two at a time, changed and archived again, and all of them anew. Each snapshot must show the
   archive before or after a whole commit, none older than was acknowledged; `check --archive` finds nothing, and the
   next `archive` run gives the tables of an undisturbed one.
3. The same with the sync switched off, which must be noticed.
4. A disk with few free blocks or none while a torn tail is moved aside and a damaged log repaired.

Prints a line for each kind and exits 1 when something was lost. Needs root; its mounts are its own: no other process
sees them, and none outlives it.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import NoReturn

TESTS = Path(__file__).parent.parent
sys.path.insert(0, str(TESTS))

import duckdb  # noqa: E402
from evening import at_table, ruleset, start  # noqa: E402
from msgspec import Struct  # noqa: E402
from msgspec.structs import replace  # noqa: E402

from tenklog import archive, archiving, checks, cli, events, store  # noqa: E402
from tenklog.decider import Note  # noqa: E402
from tenklog.errors import TenklogError  # noqa: E402
from tenklog.tables import TABLES  # noqa: E402

PROGRAMS = ("unshare", "mount", "umount", "mkfs.xfs", "mkfs.ext4", "cp")
GAMES, BATCH = 30, 2  # to archive, and of which one run of `archive` takes some
WRITERS = 12
LATE = "2026-11-30T20:15:00.000Z"

# A process that appends notes to games drawn at random, begins one now and then, and prints each that was acknowledged.
WRITER = """
import os, sys, time
from pathlib import Path
from random import Random
from evening import ruleset, start
from msgspec.structs import replace
from tenklog import files, store
from tenklog.decider import Note
folder, name, end = Path(sys.argv[1]), sys.argv[2], time.monotonic() + float(sys.argv[3])
if sys.argv[4] == "unsynced":
    files.sync = files.sync_folder = lambda given: None
rng, number = Random(name), 0
while time.monotonic() < end:
    if number % 250 == 0:
        game, key = f"{name}-{number}", "begun"
        store.create(folder / f"{game}.jsonl", replace(start("Anna Ben", ruleset()), game=game, id=key))
        paths = sorted(folder.glob("*.jsonl"))
    else:
        path, key = rng.choice(paths), f"{name}-{number}"
        game = path.stem
        store.append(path, Note(f"{name} {number}"), id=key)
    os.write(1, f"{game} {key}\\n".encode())
    number += 1
"""
# The same by the command as it is installed.
COMMAND = """
import os, subprocess, sys, time
from pathlib import Path
folder, name, end = Path(sys.argv[1]), sys.argv[2], time.monotonic() + float(sys.argv[3])
tenklog = Path(sys.executable).with_name("tenklog")
number = 0
while time.monotonic() < end:
    game, key = f"game-{number % 8}", f"{name}-{number}"
    words = ["--home", folder.parent, "note", key, "--id", key, "-g", game, "--json"]
    subprocess.run([tenklog, *words], check=True, stdout=subprocess.DEVNULL)
    os.write(1, f"{game} {key}\\n".encode())
    number += 1
"""
# A process that archives games, a few at a time, changes one after another and archives it again, then begins anew.
ARCHIVER = """
import os, sys, time
from pathlib import Path
from snapshots import BATCH, LATE
from tenklog import archiving, files, store
from tenklog.decider import Note
home, end = Path(sys.argv[1]).parent, time.monotonic() + float(sys.argv[3])
if sys.argv[4] == "unsynced":
    files.sync = files.sync_folder = lambda given: None
paths = sorted((home / "games").glob("*.jsonl"))
steps = [*(paths[at : at + BATCH] for at in range(0, len(paths), BATCH)), *([path] for path in paths), paths]
for number, step in enumerate(steps):
    if time.monotonic() > end:
        break
    if len(step) == 1:
        store.append(step[0], Note("late"), now=lambda: LATE)
    archiving.archive_logs(home / "archive", step, rebuild=step is paths)
    os.write(1, f"step {number}\\n".encode())
"""


class Plan(Struct, frozen=True):
    """Where there is room, for how many seconds to write, how many between snapshots, and whether the disk is asked."""

    scratch: Path
    seconds: float
    every: float
    sync: str = "synced"


Told = list[tuple[Path, int]]  # files that say what was acknowledged, and their sizes at one moment


class Snapshot(Struct, frozen=True):
    """A copy of the disk, and what was told before it began and after it was made."""

    image: Path
    before: Told
    after: Told


# -- disks ------------------------------------------------------------------------------------------------------------


def skip(why: str) -> NoReturn:
    """End, because this machine lacks something."""
    print(f"SKIPPED: {why}; it needs root on Linux, xfsprogs, e2fsprogs, and a kernel that mounts XFS from a file")
    sys.exit(0)


def private() -> None:
    """Go on as a process whose mounts nobody else sees and which end with it, however it ends."""
    if sys.platform != "linux" or os.geteuid() != 0:
        skip("not root")
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        skip(f"no {', '.join(missing)}")
    words = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        skip("no mounts are allowed here")
    os.execvp(words[0], [*words, sys.executable, __file__, "--private", *sys.argv[1:]])


def format_disk(image: Path, mebibytes: int, *words: str) -> Path:
    """Make an image of an empty file system."""
    with image.open("wb") as file:
        file.truncate(mebibytes << 20)
    subprocess.run([*words, image], check=True, capture_output=True)
    return image


@contextmanager
def mounted(image: Path, at: Path) -> Iterator[Path]:
    """Mount an image inside `with`; what its journal holds is replayed first."""
    at.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-o", "loop", image, at], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip())
    try:
        yield at
    finally:
        for _ in range(50):
            if subprocess.run(["umount", at], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)


class Load:
    """Processes that write to a disk, and print to files elsewhere what was acknowledged, until they are ended."""

    def __init__(self, plan: Plan, folder: Path, codes: dict[str, str]) -> None:
        env = os.environ | {"PYTHONPATH": os.pathsep.join((str(TESTS), str(TESTS / "faults")))}
        self.told = [plan.scratch / f"told-{name}" for name in codes]
        self.running = []
        for path, (name, code) in zip(self.told, codes.items(), strict=True):
            with path.open("wb") as out:
                words = [sys.executable, "-c", code, str(folder), name, str(plan.seconds), plan.sync]
                self.running.append(subprocess.Popen(words, stdout=out, stderr=subprocess.PIPE, env=env))

    def so_far(self) -> Told:
        """Return what was told up to now."""
        return [(path, path.stat().st_size) for path in self.told]

    def end(self) -> None:
        """Wait for all; raise RuntimeError with what one of them said that failed."""
        for process in self.running:
            _, said = process.communicate()
            if process.returncode:
                raise RuntimeError(said.decode()[-2000:])

    def kill(self) -> None:
        """End all now."""
        for process in self.running:
            process.kill()
            process.wait()


def acknowledged(told: Told) -> list[tuple[str, str]]:
    """Return what was acknowledged: a game and the id of an event, or a step."""
    lines = (line.split() for path, size in told for line in path.read_bytes()[:size].decode().splitlines())
    return [(game, key) for game, key in lines]


def snapshots(host: Path, disk: Path, load: Load, every: float) -> Iterator[Snapshot]:
    """Copy a disk every so many seconds while it is written to; each is the caller's to remove."""
    number = 0
    while any(process.poll() is None for process in load.running):
        began = time.monotonic()
        before = load.so_far()
        image = host / f"snapshot-{number}.img"
        subprocess.run(["cp", "--reflink=always", disk, image], check=True)
        yield Snapshot(image, before, load.so_far())
        number += 1
        time.sleep(max(0.0, every - (time.monotonic() - began)))


def under_load(
    plan: Plan, prepare: Callable[[Path], None], codes: dict[str, str], judge: Callable[[Path, Snapshot], None]
) -> tuple[int, int]:
    """Take snapshots under load and judge each; return how many, and how much was acknowledged in all."""
    image = format_disk(plan.scratch / "host.img", 4096, "mkfs.xfs", "-q", "-m", "reflink=1")
    try:
        with mounted(image, plan.scratch / "host") as host:
            disk = format_disk(host / "disk.img", 256, "mkfs.ext4", "-q", "-F")
            with mounted(disk, plan.scratch / "disk") as at:
                prepare(at)
                os.sync()
                load = Load(plan, at / "games", codes)
                try:
                    taken = list(snapshots(host, disk, load, plan.every))
                    load.end()
                finally:
                    load.kill()
            for one in taken:
                with mounted(one.image, plan.scratch / "snapshot") as found:
                    judge(found, one)
                one.image.unlink()
            return len(taken), len(acknowledged(load.so_far()))
    finally:
        image.unlink()


# -- appends ----------------------------------------------------------------------------------------------------------


class Appends:
    """What became of appended events in all snapshots so far."""

    def __init__(self) -> None:
        self.sought = self.lost = self.twice = self.healed = 0
        self.unsound: list[str] = []

    def prepare(self, at: Path) -> None:
        """Begin the first games."""
        for number in range(8):
            game = f"game-{number}"
            store.create(at / "games" / f"{game}.jsonl", replace(start("Anna Ben", ruleset()), game=game))

    def judge(self, at: Path, snapshot: Snapshot) -> None:
        """Look for what was acknowledged, and go on with each game."""
        found: list[tuple[str, str]] = []
        for path in sorted((at / "games").glob("*.jsonl")):
            try:
                done = store.append(path, Note("the power is back"))  # it verifies all, and heals a torn end alone
            except TenklogError as error:
                self.unsound.append(str(error))
                continue
            self.healed += bool(done.healed)
            if checks.check(path) or [event.seq for event in done.log.events] != [*range(1, done.log.seq + 1)]:
                self.unsound.append(f"{path} after one more append")
            found += [(path.stem, event.id) for event in done.log.events if event.id]
        told = acknowledged(snapshot.before)
        self.sought += len(told)
        self.lost += len(set(told) - set(found))
        self.twice += len(found) - len(set(found))

    def __str__(self) -> str:
        return (
            f"{self.sought} times looked for, {self.lost} lost, {self.twice} twice, "
            f"{len(self.unsound)} logs not sound, {self.healed} torn ones healed"
        )


def appends(plan: Plan) -> Appends:
    """Append under snapshots, and print what came of it."""
    seen = Appends()
    codes = {f"writer-{number}": WRITER for number in range(WRITERS)}
    if plan.sync == "synced":
        codes["command"] = COMMAND
    count, told = under_load(plan, seen.prepare, codes, seen.judge)
    print(f"appends, {plan.sync}: {count} snapshots, {told} acknowledged, {seen}", flush=True)
    for line in seen.unsound[:3] if plan.sync == "synced" else ():
        print(line)
    return seen


# -- archives ---------------------------------------------------------------------------------------------------------

Rows = dict[str, dict[str, list[str]]]  # by game, then by table


def rows(folder: Path) -> Rows:
    """Return the rows of an archive."""
    manifest = archive.open_archive(folder)
    found: Rows = {}
    with duckdb.connect() as con:
        for table in TABLES:
            asked = f"SELECT game, t::VARCHAR FROM ({archive.source(folder, manifest, table)}) AS t ORDER BY ALL"
            for game, row in con.execute(asked).fetchall():
                found.setdefault(game, {}).setdefault(table, []).append(row)
    return found


def said(*words: object) -> tuple[int, str]:
    """Run a command line; return its exit code and all that it printed."""
    out, err = TextIOWrapper(BytesIO()), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.run([str(word) for word in words])
    out.seek(0)
    return code, out.read() + err.getvalue()


class Archives:
    """What became of archived games in all snapshots so far."""

    def __init__(self) -> None:
        self.lost = 0
        self.sought = 0
        self.wrong: list[str] = []
        self.old: Rows = {}
        self.new: Rows = {}

    def prepare(self, at: Path) -> None:
        """Write finished games, and archive them undisturbed elsewhere, as they are and as they will be changed."""
        finished = at_table("Anna Ben").then("bank 5000, bank 11000, bank 500").log
        assert isinstance(finished[0], events.Start)
        for number in range(GAMES):
            game = f"game-{number:03}"
            store.write_log(at / "games" / f"{game}.jsonl", [replace(finished[0], game=game), *finished[1:]])
        with tempfile.TemporaryDirectory(prefix="tenklog-undisturbed-") as name:
            shutil.copytree(at / "games", Path(name) / "games")
            paths = sorted((Path(name) / "games").glob("*.jsonl"))
            archiving.archive_logs(Path(name) / "old", paths)
            for path in paths:
                store.append(path, Note("late"), now=lambda: LATE)
            archiving.archive_logs(Path(name) / "new", paths)
            self.old, self.new = rows(Path(name) / "old"), rows(Path(name) / "new")

    def state(self, steps: int) -> Rows:
        """Return the rows after so many steps."""
        games = sorted(self.old)
        late = set(games[: max(0, steps - GAMES // BATCH)])
        return {game: self.new[game] if game in late else self.old[game] for game in games[: steps * BATCH]}

    def judge(self, at: Path, snapshot: Snapshot) -> None:
        """Look as a reader does, then archive as if nothing had been."""
        least, most = len(acknowledged(snapshot.before)), len(acknowledged(snapshot.after)) + 1
        self.sought += least
        try:
            seen = rows(at / "archive")
        except Exception as error:
            self.lost += least
            self.wrong.append(f"after {least} steps: {error}")
            return
        if all(seen != self.state(steps) for steps in range(least, most + 1)):
            self.lost += least - max((steps for steps in range(least) if seen == self.state(steps)), default=0)
            self.wrong.append(f"after {least} steps: {len(seen)} games, the state of none that was or is to come")
        for words in (["check", "--archive"], ["archive"]):
            code, text = said("--home", at, *words)
            if code:
                self.wrong.append(f"after {least} steps, {' '.join(words)}: {text.strip()[-300:]}")
        logs = (store.read(path) for path in sorted((at / "games").glob("*.jsonl")))
        late = {log.path.stem: isinstance(log.events[-1], events.Note) for log in logs}
        if rows(at / "archive") != {game: (self.new if late[game] else self.old)[game] for game in self.old}:
            self.wrong.append(f"after {least} steps, archived again: not the tables of an undisturbed run")

    def __str__(self) -> str:
        return (
            f"{self.sought} times looked for, {self.lost} lost, {len(self.wrong)} times something else than it should"
        )


def archives(plan: Plan) -> Archives:
    """Archive under snapshots, and print what came of it."""
    seen = Archives()
    often = replace(plan, every=plan.every / 4)  # it writes less, and a commit is short
    count, told = under_load(often, seen.prepare, {"archiver": ARCHIVER}, seen.judge)
    print(f"archives, {plan.sync}: {count} snapshots, {told} commits acknowledged, {seen}", flush=True)
    for line in seen.wrong[:3] if plan.sync == "synced" else ():
        print(line)
    return seen


# -- a full disk ------------------------------------------------------------------------------------------------------


def fill(at: Path, left: int) -> Path:
    """Fill a disk up but for so many KiB; return the file that does."""
    filler = at / "filler"
    fd = os.open(filler, os.O_WRONLY | os.O_CREAT)
    size = 0
    try:
        while True:
            size += os.write(fd, bytes(1024))
    except OSError:
        os.ftruncate(fd, max(0, size - (left << 10)))
        os.fsync(fd)
    finally:
        os.close(fd)
    return filler


class Mending(Struct, frozen=True):
    """Something that is written to a log which is not sound: the words of the command, the log, what it sets aside."""

    words: tuple[str, ...]
    data: bytes
    aside: bytes
    kept: bytes  # how the log begins afterwards


def full_disk(scratch: Path) -> bool:
    """Mend logs on a disk with room for a part of it; print what came of it and tell whether nothing was lost."""
    wrong: list[str] = []
    refused = done = 0
    image = format_disk(scratch / "full.img", 8, "mkfs.ext4", "-q", "-F", "-m", "0", "-b", "1024")
    with mounted(image, scratch / "full") as at:
        path = at / "games" / "game.jsonl"
        store.create(path, replace(start("Anna Ben", ruleset()), game="game"))
        for number in range(20):
            store.append(path, Note(f"{number} " + "x" * 500))
        sound = path.read_bytes()
        torn = b'{"type":"note","seq":22,' + b"x" * 3000
        lines = sound.splitlines(keepends=True)
        flipped = b"".join([*lines[:15], lines[15].replace(b"x", b"y", 1), *lines[16:]])
        for mending in (
            Mending(("note", "more"), sound + torn, torn, sound),
            Mending(("note", "more"), sound[:-1], b"", sound),
            Mending(("repair",), sound + torn, sound + torn, sound),
            Mending(("repair",), flipped, flipped, b"".join(lines[:15])),
        ):
            for left in range(40):
                for name in os.listdir(at / "games"):
                    if name != path.name:
                        (at / "games" / name).unlink()
                path.write_bytes(mending.data)
                os.sync()
                filler = fill(at, left)
                for room in (False, True):
                    if room:
                        filler.unlink()
                    code, text = said("--home", at, *mending.words, "-g", "game")
                    named = f"{' '.join(mending.words)}, {left} KiB free" + (", then enough" if room else "")
                    others = [name for name in os.listdir(at / "games") if name.startswith("game.jsonl.")]
                    asides = [(at / "games" / name).read_bytes() for name in others]
                    if code == 0:
                        done += 1
                        fine = path.read_bytes().startswith(mending.kept) and checks.check(path) == []
                        fine = fine and asides == [mending.aside][: bool(mending.aside)]
                    else:
                        refused += 1
                        fine = code == 4 and not room and path.read_bytes() == mending.data and not asides
                        fine = fine and len(text.splitlines()) == 1
                    if not fine:
                        wrong.append(f"{named}: {code}, {[len(one) for one in asides]} bytes aside: {text.strip()}")
                    if code == 0:
                        break
                filler.unlink(missing_ok=True)
    image.unlink()
    print(
        f"a full disk while mending: {refused} times refused, {done} times mended, {len(wrong)} times wrong", flush=True
    )
    for line in wrong[:10]:
        print(line)
    return bool(refused) and not wrong


def main() -> int:
    """Read the command line, lose power in every way and return the exit code."""
    parser = argparse.ArgumentParser(description="Lose power while tenklog writes, and look at what the disk holds.")
    parser.add_argument("--seconds", type=float, default=15, help="of load for each kind (15)")
    parser.add_argument(
        "--every",
        type=float,
        default=0.1,
        help="seconds between snapshots (0.1); a quarter of it where games are archived",
    )
    parser.add_argument("--private", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.private:
        private()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that it is cleaned up then too
    with tempfile.TemporaryDirectory(prefix="tenklog-snapshots-") as name:
        scratch = Path(name)
        try:
            with mounted(format_disk(scratch / "try.img", 512, "mkfs.xfs", "-q", "-m", "reflink=1"), scratch / "try"):
                pass
        except (OSError, subprocess.CalledProcessError) as error:
            skip(str(error))
        fine = full_disk(scratch)
        plan = Plan(scratch, given.seconds, given.every)
        kept, archived = appends(plan), archives(plan)
        fine &= kept.sought > 0 and not (kept.lost or kept.twice or kept.unsound)
        fine &= archived.sought > 0 and not (archived.lost or archived.wrong)
        broken = replace(plan, seconds=min(3.0, given.seconds), sync="unsynced")
        for one in (appends(broken), archives(broken)):
            if not one.lost:
                print("NOT NOTICED: nothing was lost without the sync")
                fine = False
    return int(not fine)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
