"""The list of guards that are broken on purpose is up to date, and guards that nothing else tests alone.

Breaking them is `tests/mutate_guards.py`.
"""

import errno
import subprocess
import sys
from pathlib import Path

import mutate_guards
import pytest
from mutate_guards import GUARDS, Guard

from tenklog import archive, checks, files, store
from tenklog.archiving import archive_logs
from tenklog.decider import Note
from tenklog.errors import Busy, DataError, TenklogError


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_stands_once_where_the_list_says(guard: Guard) -> None:
    text = (mutate_guards.ROOT / "tenklog" / guard.file).read_text(encoding="utf-8")
    assert text.count(guard.old) == 1
    for test in guard.tests:
        path, _, name = test.partition("::")
        assert f"def {name}(" in (Path(mutate_guards.__file__).parent / path).read_text(encoding="utf-8") or not name


def test_what_a_failed_sync_left_is_cut_off_again(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S8: the outcome is unknown, and the log is as before."""
    before = log.read_bytes()
    asked: list[int] = []

    def broken(fd: int) -> None:
        asked.append(fd)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "sync", broken)
    with pytest.raises(Busy, match="jsonl: it is unknown whether the disk holds what was written; repeat"):
        store.append(log, Note("x"), id="k")
    monkeypatch.undo()
    assert len(asked) == 1, "a sync was asked for again"
    assert log.read_bytes() == before
    assert store.append(log, Note("x"), id="k").log.seq == 21
    assert checks.check(log) == []


def test_a_damaged_log_is_not_even_written_once_more(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead writer's mark says that it should be, but what is damaged stays as it was found."""
    mark = log.with_name(".evening.jsonl.lock")
    mark.write_bytes(b"D%020d" % 99)
    log.write_bytes(log.read_bytes().replace(b"Ben", b"Bem", 1))
    touched: list[object] = []
    monkeypatch.setattr(files, "rewrite", lambda *given: touched.append(given))
    monkeypatch.setattr(files, "sync", touched.append)
    with pytest.raises(DataError, match="does not fit its hash"):
        store.append(log, Note("x"))
    assert (touched, mark.read_bytes()) == ([], b"D%020d" % 99)


@pytest.mark.parametrize("name", ["../../secret/a.parquet", "/etc/passwd", "games.parquet", "turns-<hash>.parquet"])
def test_a_manifest_lists_files_of_its_archive_alone(tmp_path: Path, name: str) -> None:
    """Whoever can write the manifest could else have any file read, or swept."""
    archive_logs(tmp_path, [mutate_guards.ROOT / "sample_logs" / "zilch-evening.jsonl"])
    path = tmp_path / archive.MANIFEST
    text = path.read_text(encoding="utf-8")
    found = archive.read_manifest(tmp_path).live("games")[0]
    path.write_text(text.replace(found.name, name.replace("<hash>", found.sha256[:32])), encoding="utf-8")
    with pytest.raises(DataError, match="lists a file that is none of an archive"):
        archive.read_manifest(tmp_path)


@pytest.mark.parametrize("call", ["write", "sync"])
def test_the_mark_says_0_before_what_failed_is_cut_off(log: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """The disk may hold what is cut off here, so whoever writes next writes the log once more."""
    store.append(log, Note("so that the mark is the size"))
    mark = log.with_name(".evening.jsonl.lock")
    assert mark.read_bytes() == b"D%020d" % log.stat().st_size
    seen: list[bytes] = []
    real = files.truncate

    def truncate(fd: int, size: int) -> None:
        seen.append(mark.read_bytes())
        real(fd, size)

    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "truncate", truncate)
    monkeypatch.setattr(files, call, broken)
    with pytest.raises(TenklogError):
        store.append(log, Note("x"))
    monkeypatch.undo()
    assert seen == [b"D%020d" % 0]
    rewritten: list[int] = []
    monkeypatch.setattr(files, "rewrite", lambda path, data, offset: rewritten.append(offset))
    store.append(log, Note("x"))
    assert rewritten == [0]


def test_a_query_ends_when_its_time_is_over(tmp_path: Path) -> None:
    sql = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
    words = ["--home", str(tmp_path), "query", "--timeout", "0.5", sql]
    done = subprocess.run(
        [sys.executable, "-m", "tenklog", *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr[:36]) == (1, "tenklog: error: stopped after 0.5 s;")
