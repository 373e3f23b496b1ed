"""Every system call on a log fails once, and the process is killed in every one: nothing acknowledged is lost.

`strace` makes the Nth call of a kind on the files of one game fail, or the process die in it, for N = 1 until a run
passes without a fault. The exit code must say what became of the command, and the same command afterwards succeed.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenklog import checks, store
from tenklog.decider import Note
from tenklog.lines import scan

TORN = b'{"type":"no'
KEY = "the-note"
# The calls, as strace names them. It counts each by itself, so only such as never meet in one run may share a name.
CALLS = {
    "open": "/^open(at)?$",
    "lock": "flock",
    "read": "read",
    "read the mark": "pread64",
    "write": "write",
    "write the mark": "pwrite64",
    "fsync": "fsync",
    "ftruncate": "ftruncate",
    "rename": "/^rename(at2?)?$",
}
FAULTS = ("EIO", "ENOSPC", "EINTR", "KILL")
# What only some calls meet: too many files, no permission, a disk that may only be read or that knows no locks, Ctrl-C,
# the end of a session.
MORE = (
    ("open", "EMFILE"), ("open", "EACCES"), ("open", "EROFS"), ("lock", "ENOLCK"),
    ("write", "INT"), ("write", "TERM"), ("fsync", "INT"), ("fsync", "TERM"),
)  # fmt: skip


def why_not() -> str:
    """Say why strace can't inject faults here; an empty string when it can."""
    if shutil.which("strace") is None:
        return "strace is not installed (`apt-get install strace`)"
    tried = subprocess.run(
        ["strace", "-f", "-e", "inject=getpid:retval=7", "true"], capture_output=True, text=True, check=False
    )
    return f"strace can't trace here: {tried.stderr.strip()[:80]}" if tried.returncode else ""


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


def injected(home: Path, call: str, fault: str, number: int, *words: str) -> tuple[int, bool, str]:
    """Run a command whose Nth call on the files of the game has a fault; return its code, if one was met, stderr.

    A fault is an error's name, a signal's, or what strace calls it (`retval=40`).
    """
    if "=" not in fault:
        fault = f"signal={fault}" if fault in ("KILL", "INT", "TERM") else f"error={fault}"
    log = home / "games" / "evening.jsonl"
    beside = [log.parent, log, log.with_name(".evening.jsonl.lock"), log.with_name(".evening.jsonl.new")]
    beside.append(log.with_name(f"{log.name}.torn-{kept_size(log)}-1"))
    paths = [word for path in beside for word in ("-P", str(path))]
    trace = home / "trace"
    filters = ["-e", f"trace={CALLS[call]}", "-e", f"inject={CALLS[call]}:{fault}:when={number}"]
    command = [sys.executable, "-m", "tenklog", "--home", str(home), *words]
    done = subprocess.run(
        ["strace", "-f", "-o", str(trace), *paths, *filters, *command],
        capture_output=True, text=True, timeout=60, check=False, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    met = "(INJECTED)" in trace.read_text() or done.returncode in (-9, -15, 130)
    return done.returncode, met, done.stderr


def kept_size(log: Path) -> int:
    """Return the size of what is sound in a log."""
    return scan(log.read_bytes()).size if log.exists() else 0


def rounds(home: Path, call: str, fault: str, *words: str) -> Iterator[int]:
    """Run a command with a fault in the first call, the second and so on, until none is met; yield the exit codes."""
    for number in range(1, 40):
        code, met, told = injected(home, call, fault, number, *words)
        assert "Traceback" not in told
        assert "a mistake in tenklog" not in told
        errors = re.findall(r"^tenklog: error: .+$", told, re.MULTILINE)
        assert len(errors) == (code in (3, 4)), (number, code, told)
        yield code
        if not met:
            assert code == 0, (number, told)
            return
    pytest.fail("the faults never ended")


def expected(fault: str) -> set[int]:
    """Return the exit codes that a command may have when it met that fault."""
    # Python itself repeats a call that was interrupted; 4 says that nothing was recorded, 3 that nobody knows.
    return {"EINTR": {0}, "KILL": {-9, 0}, "TERM": {-15, 0}, "INT": {130, 0}}.get(fault, {0, 3, 4})


@pytest.mark.parametrize(
    ("call", "fault"), [*((call, fault) for call in CALLS if call != "rename" for fault in FAULTS), *MORE]
)
def test_an_append_that_meets_a_fault_says_so_and_loses_nothing(
    log: Path, tmp_path: Path, call: str, fault: str
) -> None:
    """The log has a torn tail and its mark says that the disk may not hold all of it: there is the most to do."""
    (tmp_path / "games").mkdir()
    log = log.rename(tmp_path / "games" / log.name)
    kept = log.read_bytes()
    met = 0
    words = ("note", "after", "--id", KEY, "-g", str(log))
    runs = rounds(tmp_path, call, fault, *words)
    while True:
        for path in log.parent.glob("*.torn-*"):
            path.unlink()
        log.unlink(missing_ok=True)
        log.write_bytes(kept + TORN)
        log.with_name(".evening.jsonl.lock").write_bytes(b"D%020d" % 99)
        code = next(runs, None)
        if code is None:
            break
        met += 1
        assert code in expected(fault)
        assert log.read_bytes().startswith(kept)
        there = sum(event.id == KEY for event in scan(log.read_bytes()).events)
        if code == 0:
            assert there == 1
        elif code == 4:
            assert there == 0, "recorded, and said otherwise"

        done = store.append(log, Note("after"), id=KEY)
        assert (done.log.seq, checks.check(log)) == (21, [])
        assert sum(event.id == KEY for event in store.read(log).events) == 1
        assert log.read_bytes().startswith(kept)
        assert TORN in [path.read_bytes() for path in log.parent.glob("*.torn-*")]
    assert met > 1, "no fault was met"
    print(f"{met - 1} calls, {fault} in each: nothing lost")


@pytest.mark.parametrize("fault", ["ENOSPC", "KILL"])
@pytest.mark.parametrize("call", ["open", "write", "fsync", "rename"])
def test_a_game_whose_beginning_meets_a_fault_is_there_whole_or_not_at_all(
    tmp_path: Path, call: str, fault: str
) -> None:
    log = tmp_path / "games" / "evening.jsonl"
    log.parent.mkdir()
    words = ("new", "Anna", "Ben", "-g", "evening", "--id", KEY)
    met = 0
    for code in rounds(tmp_path, call, fault, *words):
        met += 1
        assert code in expected(fault)
        if log.exists():
            assert (store.read(log).seq, checks.check(log)) == (1, [])
        else:
            assert code != 0
        done = subprocess.run(
            [sys.executable, "-m", "tenklog", "--home", str(tmp_path), *words], capture_output=True, check=False
        )
        assert (done.returncode, store.read(log).seq) == (0, 1)
        for path in log.parent.iterdir():
            path.unlink()
    assert met > 1, "no fault was met"
    print(f"{met - 1} calls, {fault} in each: the game is there whole or not at all")


def test_a_write_that_the_system_took_only_in_words_is_not_acknowledged(log: Path, tmp_path: Path) -> None:
    """The call says that it took bytes and stored none: the size of the file tells."""
    (tmp_path / "games").mkdir()
    log = log.rename(tmp_path / "games" / log.name)
    store.append(log, Note("so that nothing is left to do first"))
    kept = log.read_bytes()
    code, met, told = injected(tmp_path, "write", "retval=40", 1, "note", "after", "--id", KEY, "-g", str(log))
    assert (code, met) == (3, True)
    assert "unknown whether the disk holds" in told
    assert log.read_bytes().startswith(kept)
    if scan(log.read_bytes()).damage is None:
        assert store.append(log, Note("after"), id=KEY).log.seq == 22
        assert checks.check(log) == []
