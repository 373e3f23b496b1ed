"""The archive under fire: killed at any system call, full disks, two writers and a reader at once, and tampering."""

import ctypes
import errno
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from evening import at_table
from msgspec import json
from msgspec.structs import replace

from tenklog import archive, archiving, events, files, query, staging, store
from tenklog.cli import run
from tenklog.decider import Note, Undo
from tenklog.errors import AccessError, Busy, DataError, TenklogError
from tenklog.tables import TABLES

LONG = bool(os.environ.get("TENKLOG_LONG"))
STRACE = shutil.which("strace")
CALLS = "write,pwrite64,rename,renameat,renameat2,unlink,unlinkat,fsync,ftruncate,mkdir,flock"
SCRIPTS = (
    "bank 5000, bank 11000, bank 500",
    "roll 133446, keep 1, bank, roll 222344, keep 222, bank, abandon",
    "roll 555244, keep 555, roll 111, keep 111, roll 223446, abandon",
)
Tables = dict[str, list[str]]


def played(folder: Path, game: str, script: str = SCRIPTS[0]) -> Path:
    """Write a game of Anna and Ben; return its path."""
    log = at_table("Anna Ben").then(script).log
    first = log[0]
    assert isinstance(first, events.Start)
    path = folder / f"{game}.jsonl"
    store.write_log(path, [replace(first, game=game), *log[1:]])
    return path


def tables(folder: Path) -> Tables:
    """Return the rows of all tables in a fixed order, as a reader finds them."""
    manifest = archive.open_archive(folder)
    con = duckdb.connect()
    found = {table: con.execute(archive.source(folder, manifest, table)).fetchall() for table in TABLES}
    assert len(found["games"]) == manifest.games == len({row[0] for row in found["games"]})
    return {table: sorted(map(repr, rows)) for table, rows in found.items()}


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def assert_clean(folder: Path) -> None:
    """Make sure that nothing of a dead writer is left, and all that is live is sound."""
    manifest = archive.read_manifest(folder)
    live = {file.name for part in manifest.parts for file in part.files.values()}
    assert set(os.listdir(folder)) <= live | {"manifest.json", "verified.json", ".manifest.json.lock"}
    archive.verify(folder, manifest, whole=True)


class Scene:
    """A home whose games are about to be archived, and what a reader may see before and after it."""

    def __init__(self, home: Path, old: bool) -> None:
        self.home = home
        self.games = home / "games"
        self.kept = home / "kept"
        self.folder = home / "archive"
        paths = [played(self.games, f"game-{number}", SCRIPTS[number % 3]) for number in range(5)]
        self.kept.mkdir()
        if old:
            archiving.archive_logs(self.kept, paths[:3])
            store.append(paths[0], Note("late"))
            store.append(paths[2], Undo())
        self.paths = paths
        archiving.archive_logs(home / "undisturbed", paths)
        self.before = tables(self.kept)
        self.after = tables(home / "undisturbed")
        assert self.before != self.after
        self.reset()

    def reset(self) -> None:
        """Put the archive back as it was before."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.kept, self.folder)

    def check(self) -> bool:
        """Look as a reader, then archive as if nothing had been; return whether the reader saw the archive after."""
        seen = tables(self.folder)
        assert seen in (self.before, self.after)
        found = archiving.archive_logs(self.folder, self.paths)
        assert all(one.result != "failed" for one in found)
        if seen == self.after:
            assert {one.result for one in found} <= {"already", "skipped"}
        assert tables(self.folder) == self.after
        assert [name for name in os.listdir(self.folder) if name.startswith("_")] == []
        assert_clean(self.folder)
        return seen == self.after


@pytest.fixture
def scene(request: pytest.FixtureRequest, tmp_path: Path, no_waiting: None) -> Scene:
    """Return a home without an archive, or with one of three games of which one changed and one goes on again."""
    return Scene(tmp_path, request.param == "old")


both = pytest.mark.parametrize("scene", ["new", "old"], indirect=True)


# -- killed -----------------------------------------------------------------------------------------------------------


def traced(scene: Scene, inject: str = "") -> subprocess.CompletedProcess[str]:
    """Run `tenklog archive` under strace, which injects something; it counts each call of each thread by itself."""
    assert STRACE
    # No --seccomp-bpf: what it injects is counted wrong.
    command = [STRACE, "-f", "-qq", "-o", str(scene.home / "trace"), f"--trace={CALLS}"]
    command += ["-e", f"inject={inject}"] if inject else []
    tenklog = [sys.executable, "-B", "-m", "tenklog", "--home", str(scene.home), "archive"]
    return subprocess.run([*command, *tenklog], capture_output=True, text=True, check=False)


def points(scene: Scene, step: int) -> list[tuple[str, int]]:
    """Return the calls that archiving makes, in order: what is called, for the how many-th time; some of them."""
    assert traced(scene).returncode == 0
    counts: Counter[tuple[str, str]] = Counter()
    found = {}
    for line in (scene.home / "trace").read_text().splitlines():
        if call := re.match(r"(\d+) +(\w+)\(", line):
            counts[call[1], call[2]] += 1
            found[call[2], counts[call[1], call[2]]] = True
    scene.reset()
    assert len(found) > 40
    return [*found][:: 1 if LONG else step]


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
@both
def test_a_kill_at_any_system_call_leaves_the_archive_before_or_after(scene: Scene) -> None:
    seen = []
    for call, number in points(scene, 10):
        done = traced(scene, f"{call}:signal=KILL:when={number}")
        after = scene.check()
        scene.reset()
        if done.returncode == 0 and call in ("pwrite64", "ftruncate"):
            continue  # how many threads share a Parquet file differs, so this time there was no such call
        assert done.returncode == -9, done.stderr
        seen.append(after)
    assert seen[0] is False
    assert seen == sorted(seen), "once it is there it stays there"


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
@both
def test_a_system_call_that_fails_leaves_the_archive_before_or_after(scene: Scene) -> None:
    for turn, (call, number) in enumerate(points(scene, 14)):
        error = ("ENOSPC", "EIO", "EDQUOT")[turn % 3]
        done = traced(scene, f"{call}:error={error}:when={number}")
        assert "mistake" not in done.stderr
        assert done.returncode in (0, 4), done.stderr
        after = scene.check()
        assert after or done.returncode == 4
        scene.reset()


@both
def test_a_failure_of_each_call_leaves_the_archive_before_or_after(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: dict[tuple[Any, str], Callable[..., Any]] = {
        (files, "sync"): files.sync,
        (files, "sync_folder"): files.sync_folder,
        (files, "write"): files.write,
        (os, "replace"): os.replace,
        (os, "unlink"): os.unlink,
    }
    left = number = 0

    def failing(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                error = (errno.EIO, errno.ENOSPC, errno.EACCES)[number % 3]
                raise OSError(error, os.strerror(error))
            return real(*given)

        return call

    for number in range(1, 200, 1 if LONG else 5):
        left, refused = number, None
        with monkeypatch.context() as patch:
            for (module, name), real in calls.items():
                patch.setattr(module, name, failing(real))
            try:
                archiving.archive_logs(scene.folder, scene.paths)
            except AccessError as told:
                refused = told
        if left > 0:
            assert refused is None
            break
        assert scene.check() or refused is not None
        scene.reset()
    assert 15 < number < 190


@pytest.mark.parametrize("size", [0, 300, 3000, 12_000])
@pytest.mark.parametrize("scene", ["old"], indirect=True)
def test_a_full_disk_loses_nothing(scene: Scene, size: int) -> None:
    before = tables(scene.folder)
    done = subprocess.run(
        [sys.executable, "-B", "-m", "tenklog", "--home", scene.home, "archive"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "mistake" not in done.stderr
    if size < 12_000:
        assert done.returncode == 4, done.stderr
        assert done.stderr.count("\n") == 1
        assert tables(scene.folder) == before
    scene.check()


@pytest.mark.parametrize("size", [300, 3000])
@pytest.mark.parametrize("scene", ["old"], indirect=True)
def test_what_could_not_be_written_does_not_take_up_the_room(scene: Scene, size: int) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        with pytest.raises(AccessError):
            archiving.archive_logs(scene.folder, scene.paths)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [name for name in os.listdir(scene.folder) if name.startswith("_")] == []


# -- several chunks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rebuild", [False, True])
@pytest.mark.parametrize("scene", ["old"], indirect=True)
def test_a_run_that_fails_in_its_second_chunk_takes_no_game_out(
    scene: Scene, rebuild: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    archiving.archive_logs(scene.folder, scene.paths)
    manifest = (scene.folder / "manifest.json").read_bytes()
    real, calls = staging.stage, []

    def stage(*given: Any, **more: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise AccessError("could not be written", "room on the disk")
        return real(*given, **more)

    monkeypatch.setattr(archiving, "CHUNK_GAMES", 2)
    monkeypatch.setattr(staging, "stage", stage)
    with pytest.raises(AccessError):
        archiving.archive_logs(scene.folder, scene.paths, rebuild=rebuild)
    assert tables(scene.folder) == scene.after
    assert (scene.folder / "manifest.json").read_bytes() == manifest


@pytest.mark.parametrize("scene", ["new"], indirect=True)
def test_a_run_that_fails_in_its_second_chunk_keeps_the_first(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    def progress(count: int) -> None:
        told.append(count)
        if len(told) == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(archiving, "CHUNK_GAMES", 2)
        with pytest.raises(KeyboardInterrupt):
            archiving.archive_logs(scene.folder, scene.paths, progress=progress)
    assert len(tables(scene.folder)["games"]) == 2
    archiving.archive_logs(scene.folder, scene.paths)
    assert tables(scene.folder) == scene.after
    assert_clean(scene.folder)


# -- at once ----------------------------------------------------------------------------------------------------------

# Runs a command over and over until a file is there; prints each exit code once, and all errors.
AGAIN = """
import os, sys
from tenklog.cli import run
codes = set()
count = 0
if __name__ == "__main__":
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while count < 4 or not os.path.exists(sys.argv[1]):  # on a slow machine too
        codes.add(run(sys.argv[2:]))
        count += 1
    os.write(out, f"{sorted(codes)} {count}".encode())
"""


def again(stop: Path, *words: str) -> subprocess.Popen[str]:
    """Begin to run a command over and over."""
    script = stop.with_name("again.py")
    if not script.exists():  # an interpreter that starts may be reading it
        script.write_text(AGAIN)
    return subprocess.Popen(
        [sys.executable, "-B", str(script), str(stop), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_archivers_and_readers_at_once_never_meet_an_error(tmp_path: Path) -> None:
    games, folder, stop = tmp_path / "games", tmp_path / "archive", tmp_path / "stop"
    paths = [played(games, f"game-{number}", SCRIPTS[number % 3]) for number in range(12)]
    home = ["--home", str(tmp_path)]
    archiving.archive_logs(folder, paths[:6])
    writers = [again(stop, *home, "archive", "--timeout", timeout) for timeout in ("0", "0.05")]
    readers = [
        again(stop, *home, "stats", "leaderboard", "--csv"),
        again(stop, *home, "extract", "game-1"),
        again(stop, *home, "query", "SELECT game, count(*) FROM rolls GROUP BY game"),
    ]
    try:
        until = time.monotonic() + (60 if LONG else 6)
        number = 0
        while time.monotonic() < until:
            store.append(paths[number % 12], Note(f"note {number}"))
            number += 1
            time.sleep(0.03)
    finally:
        stop.touch()
        ended = [(process, *process.communicate(timeout=120)) for process in writers + readers]
    for process, out, told in ended:
        assert process.returncode == 0, told
        codes, _, _ = out.rpartition(" ")
        if process in writers:
            assert codes in ("[0]", "[0, 3]", "[3]"), told
            assert all("is locked by another tenklog" in line for line in told.splitlines())
        else:
            assert (codes, told) == ("[0]", "")
    found = archiving.archive_logs(folder, paths)
    assert {one.result for one in found} <= {"already", "superseded"}
    archiving.archive_logs(tmp_path / "undisturbed", paths)
    assert tables(folder) == tables(tmp_path / "undisturbed")
    assert_clean(folder)


def test_an_archiver_that_waits_too_long_says_so(scene_of_two: Path) -> None:
    folder = scene_of_two / "archive"
    with files.Lock(folder / "manifest.json", 0), pytest.raises(Busy):
        archiving.archive_logs(folder, [], timeout=0.01)
    with files.Lock(folder / "manifest.json", 0):
        assert run(["--home", str(scene_of_two), "archive", "--timeout", "0"]) == 3
        assert run(["--home", str(scene_of_two), "archive", "--dry-run"]) == 0
        assert run(["--home", str(scene_of_two), "stats", "leaderboard"]) == 0


def meanwhile(home: Path) -> Callable[[], None]:
    """Return what, called for the first time, archives a game that changed, so that its old part is swept."""
    paths = sorted((home / "games").glob("*.jsonl"))
    store.append(paths[0], Note("late"))
    left = [paths]

    def call() -> None:
        if left:
            archiving.archive_logs(home / "archive", left.pop())

    return call


READERS: dict[str, list[str]] = {
    "stats": ["stats", "leaderboard"],
    "extract": ["extract", "one"],
    "query": ["query", "SELECT count(*) FROM events"],
    "dry run": ["archive", "--dry-run"],
}


@pytest.mark.parametrize("reader", READERS)
def test_a_part_that_is_replaced_before_a_reader_opens_it_is_no_error(
    reader: str, scene_of_two: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    call, real = meanwhile(scene_of_two), archive.open_archive

    def opened(*given: Any) -> archive.Manifest:
        manifest = real(*given)
        call()
        return manifest

    monkeypatch.setattr(archive, "open_archive", opened)
    assert run(["--home", str(scene_of_two), *READERS[reader]]) == 0
    assert capfd.readouterr().err.replace("tenklog: nothing is written (--dry-run)\n", "") == ""


@pytest.mark.parametrize("step", ["give_up_changes", "give_tables", "lock", "_answer"])
def test_a_part_that_is_replaced_before_a_query_reads_it_is_no_error(
    step: str, scene_of_two: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    call, real = meanwhile(scene_of_two), getattr(query, step)
    with ThreadPoolExecutor(1) as other:
        other.submit(int).result()  # its thread is none that a confined one starts

        def stepped(*given: Any, **more: Any) -> Any:
            other.submit(call).result()
            return real(*given, **more)

        monkeypatch.setattr(query, step, stepped)
        assert run(["--home", str(scene_of_two), "query", "SELECT count(*) AS n FROM games", "--csv"]) == 0
    assert capfd.readouterr() == ("n\n2\n", "")


def test_a_part_that_is_replaced_while_it_is_hashed_is_no_error(
    scene_of_two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = scene_of_two / "archive"
    (folder / "verified.json").unlink()
    call, real = meanwhile(scene_of_two), archive.sha256

    def hashed(path: Path) -> str:
        if not path.name.startswith("_"):
            call()
        return real(path)

    monkeypatch.setattr(archive, "sha256", hashed)
    assert archive.open_archive(folder).games == 2


# -- tampering --------------------------------------------------------------------------------------------------------


@pytest.fixture
def scene_of_two(tmp_path: Path, no_waiting: None) -> Path:
    """Return a home with two archived games."""
    paths = [played(tmp_path / "games", "one", SCRIPTS[1]), played(tmp_path / "games", "two")]
    archiving.archive_logs(tmp_path / "archive", paths)
    return tmp_path


def part_of(home: Path, table: str) -> Path:
    """Return the file of a table."""
    return home / "archive" / archive.read_manifest(home / "archive").live(table)[0].name


def flip(path: Path, place: int) -> None:
    """Flip a bit of a byte, in place."""
    with open(path, "r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("table", TABLES)
def test_a_flipped_byte_is_noticed_before_numbers_are_shown(
    table: str, scene_of_two: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home, path = ["--home", str(scene_of_two)], part_of(scene_of_two, table)
    flip(path, path.stat().st_size // 2)
    os.utime(path, ns=(0, 1_700_000_000_000_000_000))
    for command in (["stats", "leaderboard"], ["query", f"FROM {table}"], ["archive"], ["archive", "--files", table]):
        assert run([*home, *command]) == 1
        told = capfd.readouterr()
        assert told.out == ""
        assert str(path) in told.err
        assert "--rebuild" in told.err
    assert run([*home, "archive", "--rebuild"]) == 0
    assert run([*home, "stats", "leaderboard"]) == 0
    assert_clean(scene_of_two / "archive")


def test_a_flipped_byte_under_the_old_time_is_noticed_when_all_is_hashed(scene_of_two: Path) -> None:
    folder, path = scene_of_two / "archive", part_of(scene_of_two, "seats")
    looked = path.stat()
    place = path.read_bytes().rindex(b"DuckDB")  # who wrote the file, which no reader minds
    flip(path, place)
    os.utime(path, ns=(looked.st_atime_ns, looked.st_mtime_ns))
    assert run(["--home", str(scene_of_two), "stats", "leaderboard"]) == 0
    manifest = archive.open_archive(folder)
    with pytest.raises(DataError, match="SHA-256") as error:
        archive.verify(folder, manifest, whole=True)
    assert str(path) in str(error.value)


def test_a_byte_that_is_flipped_during_a_run_is_noticed_after_it(scene_of_two: Path) -> None:
    folder, path = scene_of_two / "archive", part_of(scene_of_two, "events")
    more = played(scene_of_two / "games", "three")

    def progress(count: int) -> None:
        flip(path, path.stat().st_size // 2)

    archiving.archive_logs(folder, [more], progress=progress)
    assert path.exists()
    with pytest.raises(DataError):
        archive.open_archive(folder)


def test_damage_that_no_hash_noticed_is_an_error_and_no_mistake(
    scene_of_two: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = part_of(scene_of_two, "seats")
    looked, sound = path.stat(), path.read_bytes()
    for size in range(4, len(sound), 1 if LONG else 300):
        # Zeros from a place on, as a disk may give them back, up to the footer.
        with open(path, "r+b") as file:
            file.write(sound[:size] + bytes(len(sound) - size))
        os.utime(path, ns=(looked.st_atime_ns, looked.st_mtime_ns))
        assert run(["--home", str(scene_of_two), "stats", "leaderboard"]) in (0, 1, 4)
        assert "mistake" not in capfd.readouterr().err


@pytest.mark.parametrize("table", TABLES)
def test_a_missing_part_is_named(table: str, scene_of_two: Path, capfd: pytest.CaptureFixture[str]) -> None:
    home, path = ["--home", str(scene_of_two)], part_of(scene_of_two, table)
    path.unlink()
    for command in (["stats", "leaderboard"], ["archive"]):
        assert run([*home, *command]) == 1
        told = capfd.readouterr().err
        assert f"{path}: is missing" in told
        assert "--rebuild" in told
    assert run([*home, "archive", "--rebuild"]) == 0
    assert_clean(scene_of_two / "archive")


def test_a_part_that_became_a_link_or_a_folder_is_named(scene_of_two: Path, tmp_path: Path) -> None:
    path = part_of(scene_of_two, "games")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert run(["--home", str(scene_of_two), "stats", "leaderboard"]) == 1
    path.unlink()
    path.mkdir()
    assert run(["--home", str(scene_of_two), "stats", "leaderboard"]) == 1


def _garbage(sound: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "cut": sound[: len(sound) // 2],
        "one byte short": sound[:-2],
        "zeros": bytes(len(sound)),
        "noise": bytes(range(256)),
        "two": sound + sound,
        "a path upwards": sound.replace(b'"name": "games-', b'"name": "../../x', 1),
        "another file": sound.replace(b'"name": "games-', b'"name": "seats-', 1),
        "an unknown format": sound.replace(b'"format": 1', b'"format": 2'),
        "a format that is none": sound.replace(b'"format": 1', b'"format": null'),
        "a list": b"[]",
        "nothing in it": b"{}",
        "something else": b'{"name": "my-website", "version": "1.0"}',
        "deep": b"[" * 100_000,
        "a table less": sound.replace(b'"rolls": {', b'"balls": {', 1),
        "a size below zero": sound.replace(b'"size": ', b'"size": -', 1),
    }


@pytest.mark.parametrize("kind", _garbage(b""))
def test_a_manifest_that_is_none_is_named_and_nothing_is_swept(
    kind: str, scene_of_two: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = scene_of_two / "archive"
    before = tables(folder)
    manifest = folder / "manifest.json"
    data = _garbage(manifest.read_bytes())[kind]
    assert data != manifest.read_bytes()
    manifest.write_bytes(data)
    wrong = contents(folder)
    for command in (["stats", "leaderboard"], ["archive"], ["archive", "--files", "games"], ["extract", "one"]):
        assert run(["--home", str(scene_of_two), *command]) == 1
        told = capfd.readouterr()
        assert told.out == ""
        assert str(folder) in told.err
        assert "mistake" not in told.err
    assert contents(folder) == wrong
    assert run(["--home", str(scene_of_two), "archive", "--rebuild"]) == 0
    assert tables(folder) == before
    assert_clean(folder)


def test_what_is_remembered_of_files_may_be_anything(scene_of_two: Path) -> None:
    folder = scene_of_two / "archive"
    path = part_of(scene_of_two, "seats")
    state = archive.fingerprint(path)
    for data in (b"", b"{", bytes(100), b"[]", b'{"a": 1}', b"[" * 100_000, json.encode({path.name: state[:2]})):
        (folder / "verified.json").write_bytes(data)
        archive.open_archive(folder)
    (folder / "verified.json").unlink()
    (folder / "verified.json").mkdir()
    assert run(["--home", str(scene_of_two), "stats", "leaderboard"]) == 0


# -- places that can't be written to ----------------------------------------------------------------------------------


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = played(tmp_path / "games", "one")
    (tmp_path / "file").write_bytes(b"mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "archive"):
        assert run(["--home", str(tmp_path), "archive", "--archive", str(folder)]) == 4
        assert str(tmp_path / "file") in capfd.readouterr().err
        with pytest.raises(TenklogError):
            archiving.archive_logs(folder, [path])
    assert (tmp_path / "file").read_bytes() == b"mine"


def as_anybody() -> None:
    """Give up what lets root write everywhere, in a child."""
    if os.geteuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def asked(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command that permissions bind."""
    return subprocess.run(
        [sys.executable, "-B", "-m", "tenklog", "--home", str(home), *words],
        preexec_fn=as_anybody,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="root is asked to be anybody as Linux has it")
def test_an_archive_that_may_only_be_read_is_read(scene_of_two: Path) -> None:
    folder = scene_of_two / "archive"
    played(scene_of_two / "games", "three")
    (folder / "verified.json").unlink()
    before = contents(folder)
    folder.chmod(0o500)
    try:
        done = asked(scene_of_two, "stats", "leaderboard", "--csv")
        assert (done.returncode, done.stderr) == (0, "")
        assert "Ben" in done.stdout
        assert asked(scene_of_two, "extract", "one").returncode == 0
        assert asked(scene_of_two, "archive", "--dry-run").returncode == 0
        for options in ([], ["--rebuild"]):
            done = asked(scene_of_two, "archive", *options)
            assert done.returncode == 4
            assert str(folder) in done.stderr
            assert "mistake" not in done.stderr
    finally:
        folder.chmod(0o700)
    assert contents(folder) == before


@pytest.mark.skipif(sys.platform != "linux", reason="root is asked to be anybody as Linux has it")
def test_a_log_that_may_not_be_read_never_stops_the_others(scene_of_two: Path) -> None:
    path = played(scene_of_two / "games", "three")
    path.chmod(0)
    played(scene_of_two / "games", "zoe")
    done = asked(scene_of_two, "archive")
    assert done.returncode == 1
    assert f"left out: {path}: Permission denied" in done.stderr
    assert done.stdout == "1 archived, 2 already there, 1 unreadable.\n"
