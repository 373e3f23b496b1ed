"""Real processes, locks and full disks: one history whatever the others do."""

import errno
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import pytest
from evening import ruleset, start

from tenklog import checks, events, files, store
from tenklog.decider import Command, Fix, Note, Roll
from tenklog.errors import AccessError, Busy, TenklogError
from tenklog.lines import scan

START = start("Anna Ben", ruleset())

# Fifty processes that wait at a gate, then each append a note at once; those that were told so print its number.
CROWD = """
import os, sys
from pathlib import Path
from tenklog import store
from tenklog.decider import Note
from tenklog.errors import Busy
log, options = Path(sys.argv[1]), {"timeout": float(sys.argv[2])} if sys.argv[2] else {}
gate, opener = os.pipe()
for number in range(50):
    if os.fork() == 0:
        os.close(opener)
        os.read(gate, 1)
        try:
            store.append(log, Note(f"note {number}"), **options)
        except Busy:
            os._exit(3)
        os.write(1, b"%d\\n" % number)
        os._exit(0)
os.close(opener)
sys.exit(any(os.wait()[1] not in (0, 3 << 8) for _ in range(50)))
"""

# A process that appends notes to a game, from a number on, and prints the number of each that was acknowledged.
WRITER = """
import sys
from pathlib import Path
from tenklog import store
from tenklog.decider import Note
number = int(sys.argv[2])
while True:
    store.append(Path(sys.argv[1]), Note(f"note {number}"))
    sys.stdout.write(f"{number}\\n")
    sys.stdout.flush()
    number += 1
"""


def crowd(log: Path, timeout: str) -> list[int]:
    """Let fifty processes append at once, with the default timeout when it is empty; return who was acknowledged."""
    done = subprocess.run([sys.executable, "-c", CROWD, str(log), timeout], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return sorted(map(int, done.stdout.split()))


def notes(log: Path) -> list[int]:
    """Return the numbers of the notes in a log that must be sound."""
    assert checks.check(log) == []
    found = [event.text for event in store.read(log).events if type(event) is events.Note]
    return [int(text.removeprefix("note ")) for text in found if text.startswith("note ")]


def test_fifty_processes_that_wait_all_get_their_turn(log: Path) -> None:
    assert crowd(log, "") == list(range(50))
    assert sorted(notes(log)) == list(range(50))
    assert store.read(log).seq == 70


def test_of_fifty_processes_that_do_not_wait_those_are_in_the_file_that_were_told_so(log: Path) -> None:
    acknowledged = crowd(log, "0")
    assert acknowledged
    assert sorted(notes(log)) == acknowledged


def test_processes_killed_at_any_time_for_ten_seconds_lose_nothing_that_they_were_told(log: Path) -> None:
    rng = Random(7)
    end = time.monotonic() + 10
    acknowledged: list[int] = []
    running: list[subprocess.Popen[str]] = []
    started = 0
    while running or not started:
        over = time.monotonic() > end
        while len(running) < 4 and not over:
            started += 1
            command = [sys.executable, "-c", WRITER, str(log), str(started * 100_000)]
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        time.sleep(0.1 + rng.random() * 0.5)
        for _ in range(len(running) if over else 1):
            process = running.pop(rng.randrange(len(running)))
            process.kill()
            acknowledged += [int(line) for line in process.communicate()[0].splitlines()]
    store.append(log, Note("the last word"))
    found = notes(log)
    assert len(set(found)) == len(found)
    assert len(acknowledged) > 20
    assert set(acknowledged) <= set(found)
    assert len(found) - len(acknowledged) <= started  # of each, the one it was killed in
    print(f"{started} writers killed, {len(acknowledged)} events acknowledged: 0 lost, 0 twice")


def test_a_killed_holder_leaves_no_lock(log: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from tenklog.files import Lock\n"
        "with Lock(Path(sys.argv[1]), 0): print(flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(log)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    with pytest.raises(Busy):
        store.append(log, Note("x"), timeout=0)
    holder.kill()
    holder.communicate()
    store.append(log, Note("x"), timeout=0)


def test_a_lock_that_is_held_is_named_after_the_timeout(log: Path) -> None:
    before = log.read_bytes()
    with files.Lock(log, 0):
        started = time.monotonic()
        with pytest.raises(Busy, match=r"\.evening\.jsonl\.lock is locked by another tenklog"):
            store.append(log, Note("x"), timeout=0.2)
        assert 0.2 <= time.monotonic() - started < 2
        assert store.read(log).seq == 20  # readers don't wait
    assert log.read_bytes() == before


def test_a_lock_is_waited_for(log: Path) -> None:
    held = files.Lock(log, 0)
    held.__enter__()
    threading.Timer(0.15, held.__exit__, (None, None, None)).start()
    started = time.monotonic()
    store.append(log, Note("x"))
    assert 0.1 < time.monotonic() - started < 5


def guards(lock: files.Lock) -> bool:
    """Tell whether the locked file is the one that the next writer would lock."""
    return os.path.samestat(os.stat(lock.path), os.fstat(lock._fd))


def test_a_lock_file_deleted_before_it_could_be_locked_is_not_relied_on(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = files._try_lock
    tries: list[int] = []

    def try_lock(fd: int) -> bool:
        tries.append(fd)
        if len(tries) == 1:
            log.with_name(".evening.jsonl.lock").unlink()
        return real(fd)

    monkeypatch.setattr(files, "_try_lock", try_lock)
    with files.Lock(log, 1) as held:
        assert guards(held)
    assert len(tries) == 2


def test_a_lock_file_that_was_deleted_protects_nobody_and_is_not_relied_on(log: Path) -> None:
    with files.Lock(log, 0) as held:
        Path(held.path).unlink()
        with files.Lock(log, 0) as other:
            assert guards(other)
        assert not guards(held)


def test_a_disk_that_knows_no_locks_is_not_written_to(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = log.read_bytes()

    def no_locks(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with pytest.raises(AccessError, match="No locks available"):
        store.append(log, Note("x"))
    assert log.read_bytes() == before


@pytest.mark.parametrize("way", ["another file takes its name", "it is moved away and copied back", "it is moved away"])
def test_a_log_replaced_while_it_is_written_to_is_not_acknowledged(
    log: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    real, other = files.sync, log.with_name("other")

    def sync(fd: int) -> None:
        if way == "another file takes its name":
            other.write_bytes(log.read_bytes())
            other.rename(log)
        else:
            log.rename(other)
            if way == "it is moved away and copied back":
                log.write_bytes(other.read_bytes())
        real(fd)

    monkeypatch.setattr(files, "sync", sync)
    with pytest.raises(Busy, match="unknown whether the disk holds"):
        store.append(log, Note("x"), id="k")
    monkeypatch.undo()
    if not log.exists():
        other.rename(log)
    assert store.append(log, Note("x"), id="k").log.seq == 21
    assert checks.check(log) == []


def test_a_foreign_writer_without_the_lock_is_noticed(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = files.sync

    def sync(fd: int) -> None:
        with log.open("ab") as file:
            file.write(b"hello\n")
        real(fd)

    monkeypatch.setattr(files, "sync", sync)
    with pytest.raises(Busy, match="unknown whether the disk holds"):
        store.append(log, Note("x"))


@pytest.mark.parametrize(
    ("mark", "offset"),
    [
        (b"D<size>", None),
        (b"D<more>", 0),
        (b"D%020d" % 99, 99),
        (b"D%020d" % 0, 0),
        (b"", 0),
        (b"C" + b"0" * 20, 0),
        (b"C<size>", 0),
        (b"D", 0),
        (b"\0" * 21, 0),
        (b"D12\0\0", 0),
        (b"hello", 0),
    ],
)
def test_what_a_dead_writer_left_is_written_once_more_and_a_mark_that_can_not_be_read_counts(
    log: Path, monkeypatch: pytest.MonkeyPatch, mark: bytes, offset: int | None
) -> None:
    size = log.stat().st_size
    mark = mark.replace(b"<size>", b"%020d" % size).replace(b"<more>", b"%020d" % (size + 1))
    log.with_name(".evening.jsonl.lock").write_bytes(mark)
    rewritten: list[int] = []
    monkeypatch.setattr(files, "rewrite", lambda path, data, offset: rewritten.append(offset))
    store.append(log, Note("x"))
    store.append(log, Note("x"))
    assert rewritten == ([] if offset is None else [offset])


# -- disks that are full or broken ------------------------------------------------------------------------------------


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let no file grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


COMMANDS: dict[str, Command] = {
    "a note": Note("x"),
    "a roll with its bust": Roll((2, 2, 3, 4, 4, 6)),
    "a fix": Fix(13, (1, 2, 2, 3, 3, 4)),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_fills_up_after_any_byte_leaves_the_log_as_it_was(log: Path, name: str) -> None:
    before = log.read_bytes()
    added = len(store.append(log, COMMANDS[name], now=lambda: "2026-11-29T20:15:00.000Z").events)
    length = len(log.read_bytes()) - len(before)
    assert added == {"a note": 1, "a roll with its bust": 2, "a fix": 9}[name]
    for room in range(0, length, 1 if length < 400 else 3):
        log.write_bytes(before)
        with room_for(len(before) + room), pytest.raises(AccessError, match=r"nothing was recorded: File too large"):
            store.append(log, COMMANDS[name])
        assert log.read_bytes() == before
    with room_for(len(before) + length):
        store.append(log, COMMANDS[name])
    assert checks.check(log) == []
    print(f"full after each of {length} bytes: nothing left behind")


def test_what_a_full_disk_left_behind_is_healed_when_it_could_not_be_cut_at_once(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = log.read_bytes()

    def broken(fd: int, size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "truncate", broken)
    with room_for(len(before) + 50), pytest.raises(Busy, match="unknown"):
        store.append(log, Note("x"), id="k")
    monkeypatch.undo()
    left = log.read_bytes()[len(before) :]
    assert len(left) == 50
    done = store.append(log, Note("x"), id="k")
    assert done.healed.endswith(f"were moved to evening.jsonl.torn-{len(before)}-1")
    assert log.with_name(f"evening.jsonl.torn-{len(before)}-1").read_bytes() == left
    assert (done.log.seq, checks.check(log)) == (21, [])


@pytest.mark.parametrize("call", ["write_new", "truncate"])
def test_a_disk_that_is_full_while_healing_leaves_the_torn_log_and_nothing_beside_it(
    log: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    torn = log.read_bytes() + b'{"type":"no'
    log.write_bytes(torn)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, call, full) if call == "truncate" else monkeypatch.setattr(files, "write", full)
    with pytest.raises(AccessError, match="No space left on device"):
        store.append(log, Note("x"))
    assert log.read_bytes() == torn
    assert list(log.parent.glob("*.torn-*")) == []
    assert store.read(log).seq == 20
    monkeypatch.undo()
    assert store.append(log, Note("x")).log.seq == 21


@pytest.mark.parametrize("full_at", ["the copy of the log", "the copy's name", "the new log", "its name"])
def test_a_disk_that_is_full_while_repairing_leaves_the_log_and_nothing_beside_it(
    log: Path, monkeypatch: pytest.MonkeyPatch, full_at: str
) -> None:
    """S5: a copy that was left would make the next repair on a full disk even less likely."""
    damaged = b"Bem".join(log.read_bytes().rsplit(b"Ben", 1))
    log.write_bytes(damaged)
    before = os.listdir(log.parent)
    written: list[int] = []

    def write(fd: int, data: bytes) -> None:
        written.append(os.write(fd, data[:100]))
        if len(written) == {"the copy of the log": 1, "the new log": 2}.get(full_at):
            raise OSError(errno.ENOSPC, "No space left on device")
        os.write(fd, data[100:])

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write", write)
    if full_at == "its name":
        monkeypatch.setattr("os.replace", full)
    elif full_at == "the copy's name":
        monkeypatch.setattr(files, "sync_folder", full)
    with pytest.raises(AccessError, match=r"No space left on device; room on the disk"):
        store.repair(log)
    assert log.read_bytes() == damaged
    assert sorted(os.listdir(log.parent)) == sorted(before)
    monkeypatch.undo()
    store.repair(log)
    assert log.with_name(f"{log.name}.before-repair-1").read_bytes() == damaged
    assert checks.check(log) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("form", ["table", "json"])
def test_an_answer_that_can_not_be_printed_is_said_so_and_what_was_recorded_stays(log: Path, form: str) -> None:
    command = [sys.executable, "-m", "tenklog", "note", "x", "--id", "k", "-g", str(log), "--format", form]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    said = "tenklog: error: standard output: No space left on device; what was recorded stays recorded\n"
    assert (done.returncode, done.stderr) == (4, said)
    assert store.read(log).seq == 21
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stderr) == (0, "tenklog: already recorded under the id k\n")
    assert store.read(log).seq == 21


def test_a_log_that_can_not_be_read_is_not_called_damaged(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = log.read_bytes()

    def broken(fd: int, size: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.read", broken)
    for use in (store.read, lambda path: store.append(path, Note("x"))):
        with pytest.raises(AccessError, match="Input/output error"):
            use(log)
    monkeypatch.undo()
    assert log.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_can_not_be_written_to_is_named(log: Path) -> None:
    log.with_name(".evening.jsonl.lock").unlink()
    log.parent.chmod(0o500)
    try:
        assert store.read(log).seq == 20
        with pytest.raises(AccessError, match=r"\.evening\.jsonl\.lock: Permission denied"):
            store.append(log, Note("x"))
    finally:
        log.parent.chmod(0o700)


def test_no_descriptor_is_left_open_on_any_way_out(log: Path) -> None:
    def count() -> int:
        return len(os.listdir("/dev/fd"))

    def ways() -> Iterator[Callable[[], object]]:
        yield lambda: store.append(log, Note("x"))
        yield lambda: store.append(log, Roll((1,)))
        yield lambda: store.append(log, Note("x"), expect_seq=1)
        yield lambda: store.append(log.with_name("none.jsonl"), Note("x"))
        yield lambda: store.append(log.parent, Note("x"))
        yield lambda: store.create(log, START)
        yield lambda: store.repair(log)
        yield lambda: store.read(log.with_name("none.jsonl"))

    before = count()
    for way in ways():
        with suppress(TenklogError):
            way()
        assert count() == before
    with files.Lock(log, 0), pytest.raises(Busy):
        store.append(log, Note("x"), timeout=0)
    assert count() == before
    assert scan(log.read_bytes()).damage is None
