"""Every check finds what it is for, all of them are reported, and a good log has no problems."""

import os
from pathlib import Path

import pytest
from evening import at_table
from msgspec import json
from msgspec.structs import replace

from tenklog import checks, cli, events, store
from tenklog.archiving import archive_logs
from tenklog.checks import check, check_all, parse_head
from tenklog.decider import Note
from tenklog.errors import AccessError, UsageError
from tenklog.lines import chain, seal_all

TABLE = at_table("Anna Ben").then("roll 133446, keep 1, roll 22234, keep 222, bank, roll 223446, note done").log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the path of a sealed log of 9 lines."""
    path = tmp_path / "evening.jsonl"
    store.write_log(path, TABLE)
    return path


def found(path: Path, head: str | None = None) -> list[tuple[int, int | None, str, bool]]:
    """Return line, seq, kind and badness of each problem."""
    return [(one.line, one.seq, one.kind, one.bad) for one in check(path, head)]


def write(path: Path, log: list[events.Event]) -> None:
    """Write a sealed log, legal or not."""
    path.write_bytes(b"".join(line + b"\n" for line in seal_all(log)))


def test_a_good_log_has_no_problems(log: Path) -> None:
    report = check_all([log], {log.stem: store.read(log).fingerprint})
    assert (report.files, report.problems, report.bad) == ([str(log)], [], False)


def test_damage_is_found(log: Path) -> None:
    log.write_bytes(log.read_bytes().replace(b'"done"', b'"gone"'))
    assert found(log) == [(9, None, "damage", True)]


def test_a_format_of_the_future_is_found(log: Path) -> None:
    line = b'{"type":"hologram","seq":10}'
    log.write_bytes(log.read_bytes() + chain([line], store.read(log).h.encode())[0] + b"\n")
    assert found(log) == [(10, None, "format", True)]


def test_a_torn_tail_is_found_and_so_is_a_missing_newline(log: Path) -> None:
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"type"')
    assert found(log) == [(10, None, "torn", True)]
    log.write_bytes(whole[:-1])
    assert found(log) == [(9, 9, "torn", True)]


def test_an_unsealed_log_is_named_and_is_not_bad(log: Path) -> None:
    lines = [line[:-40] + b"}" for line in log.read_bytes().split(b"\n")[:-1]]
    log.write_bytes(b"\n".join(lines) + b"\n")
    assert found(log) == [(1, 1, "unsealed", False)]
    assert "canonical" not in check(log)[0].text
    lines[3:5] = [line.replace(b",", b", ") for line in lines[3:5]]
    log.write_bytes(b"\n".join(lines) + b"\n")
    assert found(log) == [(1, 1, "unsealed", False)]
    assert "2 not canonical (the first is 4)" in check(log)[0].text
    assert not check_all([log]).bad


def test_an_illegal_event_is_found(log: Path) -> None:
    write(log, [*TABLE, events.Bank(10, player="Ben", points=50)])
    assert found(log) == [(10, 10, "illegal", True)]
    assert check(log)[0].text == "it is Anna's turn, not Ben's; a move of Anna"


def test_an_expect_that_is_false_is_found_and_the_fold_goes_on(log: Path) -> None:
    wrong = [
        events.Expect(10, totals={"Anna": 300, "Ben": 0}),
        events.Expect(11, totals={"Anna": 350}),
        events.Expect(12, totals={}),
        events.Expect(13, totals={"Cara": 0}),
        events.Roll(14, player="Anna", dice=(1, 3, 3, 4, 4, 6)),
    ]
    write(log, [*TABLE, *wrong])
    assert found(log) == [(11, 11, "expect", True), (12, 12, "expect", True), (13, 13, "expect", True)]
    assert [one.text for one in check(log)] == [
        "Anna stands at 300, not 350", "the expect names nobody", "there is no player Cara"
    ]  # fmt: skip
    assert store.read(log).seq == 14


def test_a_head_kept_elsewhere_is_compared(log: Path) -> None:
    h = store.read(log).h
    line3 = log.read_bytes().split(b"\n")[2][-34:-2].decode()
    assert found(log, f"9:{h}") == found(log, f"3:{line3}") == found(log, f"9:{h.upper()}") == []
    assert found(log, f"9:{line3}") == [(9, 9, "head", True)]
    assert found(log, f"10:{h}") == [(9, 9, "head", True)]
    log.write_bytes(b"".join(line[:-40] + b"}\n" for line in log.read_bytes().split(b"\n")[:-1]))
    assert found(log, f"9:{h}") == [(1, 1, "unsealed", False), (9, 9, "head", True)]


@pytest.mark.parametrize("text", ["", "9", "9:", "0:" + "a" * 32, "-1:" + "a" * 32, "9:" + "a" * 31, "x:" + "a" * 32])
def test_a_head_that_is_none_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="is no head"):
        parse_head(text)


def test_a_clock_that_went_back_is_a_remark(log: Path) -> None:
    for time in ("2026-11-29T20:15:00.000Z", "2026-11-29T20:14:59.999Z", "2026-11-29T20:14:59.999Z"):
        store.append(log, Note("x"), now=lambda time=time: time)  # type: ignore[misc]
    assert found(log) == [(11, 11, "clock", False)]


def test_a_file_named_after_another_game_is_found(log: Path) -> None:
    assert found(log.rename(log.with_name("friday.jsonl"))) == [(1, 1, "name", True)]


def test_all_problems_come_out_by_line(log: Path) -> None:
    other = log.with_name("friday.jsonl")
    wrong = [
        events.Expect(10, totals={}),
        events.Note(11, "2026-11-29T20:15:00.000Z", text="x"),
        events.Note(12, "2026-11-29T20:14:00.000Z", text="x"),
        events.Bust(13, player="Ben"),
    ]
    write(other, [*TABLE, *wrong])
    other.write_bytes(other.read_bytes() + b"\xff\n")
    kinds = ["name", "expect", "clock", "illegal", "head", "damage"]
    assert [one.kind for one in check(other, "13:" + "0" * 32)] == kinds
    report = check_all([log, other])
    assert report.files == [str(log), str(other)]
    assert {one.file for one in report.problems} == {str(other)}
    assert report.bad


def test_a_report_has_the_shape_that_scripts_rely_on(log: Path) -> None:
    write(log, [*TABLE, events.Expect(10, totals={})])
    assert json.decode(json.encode(check_all([log]))) == {
        "files": [str(log)],
        "problems": [
            {"file": str(log), "line": 10, "seq": 10, "kind": "expect", "text": "the expect names nobody"}
        ],
    }  # fmt: skip
    assert check(log)[0].line_of_text() == f"{log}:10: the expect names nobody"


def test_a_log_that_can_not_be_read_is_no_problem_of_its_content(tmp_path: Path) -> None:
    with pytest.raises(AccessError):
        check(tmp_path / "none.jsonl")


def test_every_check_is_in_the_list() -> None:
    functions = [
        value for value in vars(checks).values()
        if getattr(value, "__module__", "") == "tenklog.checks" and getattr(value, "__annotations__", {}).get("log")
    ]  # fmt: skip
    assert sorted(map(id, functions)) == sorted(map(id, checks.CHECKS))


# -- logs and the archive ---------------------------------------------------------------------------------------------


def archived(home: Path) -> Path:
    """Archive a game of a home; return its log."""
    log = home / "games" / "friday.jsonl"
    evening = at_table("Anna Ben").then("bank 500, note well, abandon").log
    assert isinstance(evening[0], events.Start)
    store.write_log(log, [replace(evening[0], game="friday"), *evening[1:]])
    archive_logs(home / "archive", [log])
    return log


def test_a_clean_cut_shows_against_the_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = archived(tmp_path)
    assert cli.run(["--home", str(tmp_path), "check", "--archive"]) == 0
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    assert cli.run(["--home", str(tmp_path), "check"]) == 0
    assert cli.run(["--home", str(tmp_path), "check", "--archive"]) == 1
    assert "ends with event 3, but there was an event 4" in capsys.readouterr().out


def test_another_history_shows_against_the_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = archived(tmp_path)
    before = store.read(log).events
    log.unlink()
    store.write_log(log, [*before[:2], events.Note(3, text="badly"), before[3]])
    assert cli.run(["--home", str(tmp_path), "check", "--archive"]) == 1
    assert "another history" in capsys.readouterr().out


def test_a_damaged_part_is_found_though_size_and_time_are_as_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archived(tmp_path)
    part = next((tmp_path / "archive").glob("turns-*.parquet"))
    before = part.stat()
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert cli.run(["--home", str(tmp_path), "check", "--archive"]) == 1
    out = capsys.readouterr().out
    assert str(part) in out
    assert "is not what was archived" in out


def test_a_game_whose_log_is_gone_is_remarked_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archived(tmp_path).unlink()
    assert cli.run(["--home", str(tmp_path), "check", "--archive"]) == 0
    assert "friday is archived, and its log is not there; `tenklog extract friday`" in capsys.readouterr().out
