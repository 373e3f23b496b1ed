"""Errors that no command line brings about: a missing extra, a closed input, a limit that takes long to reach, a fault.

Those that stand beside what else is tested of a thing are not repeated here; `tables/errors.csv` lists them all.
"""

import errno
import io
import os
import sys
from pathlib import Path
from types import ModuleType

import duckdb
import pytest
from bad_files import PART, prepare
from evening import at_table
from msgspec.structs import replace

from tenklog import (
    answers,
    archive,
    archiving,
    charts,
    cli,
    events,
    files,
    importing,
    notated,
    page,
    pictures,
    reports,
    rows,
    spark,
    staging,
    stats,
    store,
    tables,
)
from tenklog.decider import Note
from tenklog.errors import AccessError, Busy, DataError, TenklogError, UsageError


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    """Run a command line that fails; return its exit code and the line that it says."""
    code = cli.run([str(word) for word in words])
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return code, err.removeprefix("tenklog: error: ").rstrip("\n")


def finished(path: Path, script: str = "bank 5000, bank 11000, bank 500") -> Path:
    """Write a game of Anna and Ben that is named as the file is; return the path."""
    log = at_table("Anna Ben").then(script).log
    assert isinstance(log[0], events.Start)
    store.write_log(path, [replace(log[0], game=path.stem), *log[1:]])
    return path


# -- what is missing or closed ----------------------------------------------------------------------------------------


def test_a_command_whose_extra_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, use, message in (
        ("plotext", lambda: charts._figure(5), "pictures need plotext; pip install 'tenklog[chart]'"),
        ("vl_convert", lambda: pictures._svg({}, ""), "pages need vl-convert-python and jinja2; pip install"),
        ("jinja2", page._environment, "pages need vl-convert-python and jinja2; pip install 'tenklog[page]'"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(UsageError) as error:
            use()
        assert str(error.value).startswith(message)


def test_a_page_is_not_poured_onto_a_terminal(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert refused(capsys, "page", log) == (2, "no file for the page; -o FILE.html")


def test_a_standard_input_that_is_closed_is_said_to_be(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert refused(capsys, "show", "-") == (4, "standard input is closed; a log to read")
    monkeypatch.setattr("tenklog.cli.play._on_terminal", lambda: False)
    assert cli.run(["play", "-g", str(log)]) == 4
    assert capsys.readouterr().err == "tenklog: error: standard input is closed; entries, one a line\n"


# -- limits -----------------------------------------------------------------------------------------------------------


def test_standard_input_is_read_up_to_what_a_log_may_have(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(log.read_bytes())))
    assert refused(capsys, "show", "-") == (1, "-: has more than 100 bytes; the most that a log may have")


def test_a_game_that_is_too_large_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    log = at_table("Anna").log
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    with pytest.raises(DataError, match=r"game\.txt:1: is too large a game; at most 100 bytes as a log"):
        importing._folded(log, ["game.txt:1"])  # type: ignore[arg-type]


def test_a_text_has_no_more_events_than_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notated, "MOST_EVENTS", 2)
    with pytest.raises(DataError, match=r"game\.txt:4:7: the game has 2 events; no more than that"):
        notated.read("players: Anna\nrules: farkle\nAnna: =500\nAnna: =500\n", "game.txt")


def test_totals_that_no_archive_holds_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_waiting: None
) -> None:
    monkeypatch.setattr(rows, "MOST_TOTAL", 10_000)
    (found,) = archiving.archive_logs(tmp_path / "archive", [finished(tmp_path / "one.jsonl")])
    assert found.why == f"{tmp_path}/one.jsonl: a total is above 10000; totals that an archive can hold"


def test_what_no_log_may_hold_is_refused(log: Path) -> None:
    before = log.read_bytes()
    with pytest.raises(UsageError, match="what was asked for is not UTF-8 text; text of readable characters"):
        store.append(log, Note("x"), id="\udcff")
    with pytest.raises(UsageError, match="what was asked for can't be recorded: Expected 'str' of length <= 128"):
        store.append(log, Note("x"), id="x" * 129)
    with pytest.raises(UsageError, match="the note can't be written: Expected 'str' of length >= 1"):
        store.append(log, Note(""))
    assert log.read_bytes() == before


# -- logs that an archive does not take -------------------------------------------------------------------------------


def why_not(folder: Path, path: Path) -> str:
    """Archive a log that is left out; return why."""
    (found,) = archiving.archive_logs(folder, [path])
    assert found.result == "failed"
    return found.why.replace(f"{path}: ", "")


def test_an_archive_takes_whole_logs_of_their_own_name(tmp_path: Path, no_waiting: None) -> None:
    path = finished(tmp_path / "one.jsonl")
    other = path.rename(tmp_path / "one.log")
    assert why_not(tmp_path / "archive", other) == "is the game one; a file named one.jsonl"
    path.write_bytes(other.read_bytes()[:-1])
    assert why_not(tmp_path / "archive", path) == "the last line is not whole; `tenklog repair one` first"


def test_an_archived_game_is_only_ever_replaced_by_itself_and_more(tmp_path: Path, no_waiting: None) -> None:
    folder, path = tmp_path / "archive", tmp_path / "one.jsonl"
    archiving.archive_logs(folder, [finished(path)])
    path.unlink()
    finished(path, "bank 6000, bank 11000, bank 500")
    said = why_not(folder, path)
    assert said.startswith("has another history than is archived, up to event 4; `tenklog extract one` gives")
    path.unlink()
    finished(path)
    log = list(store.read(path).events)
    path.unlink()
    store.write_log(path, [replace(log[0], title="Another"), *log[1:]])
    said = "is another game than the archived one of this name; a name of its own, or `tenklog archive --rebuild`"
    assert why_not(folder, path) == said


# -- faults -----------------------------------------------------------------------------------------------------------


def test_a_file_that_was_never_a_part_is_no_mistake_of_tenklog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its SHA-256 is what the manifest says, and DuckDB can't read it."""
    prepare(tmp_path, "part-changed")
    for file in PART.values():
        (tmp_path / "part-changed" / "archive" / file.name).write_bytes(b"rows")
    code, said = refused(capsys, "--home", tmp_path / "part-changed", "stats", "leaderboard")
    assert (code, said.partition("archive: ")[2][:15]) == (1, "can't be read: ")
    assert said.endswith("; `tenklog archive --rebuild` writes the archive anew from the logs")


def test_rows_that_do_not_make_the_log_give_no_log() -> None:
    with pytest.raises(DataError, match="the archived log of evening is not what was archived; `tenklog archive --reb"):
        archive.log_bytes("evening", [], True, "0" * 32)


def test_an_answer_that_duckdb_can_not_write_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Connection:
        def execute(self, _: str) -> None:
            raise duckdb.IOException("no\nsuch thing")

        def close(self) -> None:
            pass

    monkeypatch.setattr(archive, "connect", Connection)
    with pytest.raises(DataError) as error:
        answers._write_parquet(stats.Answer(("one",), ("INTEGER",), [(1,)]), tmp_path / "one.parquet")
    assert str(error.value) == "the answer can't be written as Parquet: no; another suffix: .csv or .json"


def test_a_part_that_can_not_be_written_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match=r"part\.parquet: could not be written: IO Error.*; room on the disk"):
        staging.write_part(archive.connect(), "SELECT 1 AS one", tmp_path / "nowhere" / "part.parquet")


def test_a_process_that_dies_while_it_works_on_games_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="a process that works on games died; again, with more memory free"):
        list(staging.in_processes(os._exit, [1, 1], 2, tmp_path))


def test_a_new_log_whose_name_may_not_be_on_the_disk_is_not_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    (tmp_path / "games").mkdir()
    monkeypatch.setattr(files, "sync_folder", broken)
    with pytest.raises(Busy, match="jsonl: it is unknown whether the disk holds the file; look with `tenklog check`"):
        finished(tmp_path / "games" / "one.jsonl")


def test_a_folder_whose_name_is_not_utf_8_holds_no_archive(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="the name is not UTF-8; an archive in a folder of another name"):
        tables.quoted(tmp_path / "\udcff")


def test_a_report_of_ours_has_no_line_that_nobody_reads(tmp_path: Path) -> None:
    (tmp_path / "mine.sql").write_text("-- colour: red\nSELECT 1")
    with pytest.raises(DataError, match=r"mine\.sql:1: has the line '-- colour: red'; title, about, chart"):
        reports.read(tmp_path / "mine.sql")


def test_what_spark_says_in_many_lines_is_said_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Exception):
        pass

    fakes = {"py4j": (), "py4j.protocol": ("Py4JError",), "pyspark": ()}
    fakes["pyspark.errors"] = ("AnalysisException", "PySparkException", "PySparkRuntimeError")
    for name, kinds in fakes.items():
        module = ModuleType(name)
        for kind in kinds:
            setattr(module, kind, type(kind, (Wrong,), {}))
        monkeypatch.setitem(sys.modules, name, module)
    failed = sys.modules["pyspark.errors"]
    java = "An error occurred\njava.io.IOException: no room\n\tat one"
    with pytest.raises(AccessError) as error, spark.telling("spark://host:7077"):
        raise failed.PySparkException(java)
    assert str(error.value).startswith("spark://host:7077: Spark failed: no room; ")
    with pytest.raises(DataError) as gone, spark.telling("spark://host:7077"):
        raise failed.PySparkException("[PATH_NOT_FOUND] Path does not exist")
    right = "an archive that every machine of the cluster reads under the same name"
    assert str(gone.value) == f"can't be read: [PATH_NOT_FOUND] Path does not exist; {right}"
    with pytest.raises(TenklogError) as unstarted, spark._java_output():
        raise failed.PySparkRuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")
    assert str(unstarted.value).startswith("Spark does not start: [JAVA_GATEWAY_EXITED]")
    assert str(unstarted.value).endswith("; Java 17 or 21, on the PATH or in JAVA_HOME")
