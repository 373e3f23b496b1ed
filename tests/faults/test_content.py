"""Hostile and odd content, one row each of the fault model's list for logs (C1 to C25)."""

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from evening import at_table, ruleset, start
from msgspec.structs import replace

from tenklog import checks, events, lines, reading, rulebook, store
from tenklog.decider import Note
from tenklog.errors import AccessError, Conflict, DataError, TenklogError, UsageError


def sealed(*bodies: bytes) -> bytes:
    """Return a log with right hashes over lines that are given without them."""
    return b"".join(line + b"\n" for line in lines.chain(bodies))


BEGIN = start("Anna Ben", ruleset())
START = events.encode(BEGIN)
NOTE = b'{"type":"note","seq":2,"text":"hey"}'
ROLL = b'{"type":"roll","seq":2,"player":"Anna","dice":[1,3,3,4,4,6]}'

# What stands in the second line, and what is said about it: sealed with right hashes, then unsealed.
CONTENT = {
    "unknown type (C10)": (b'{"type":"hologram","seq":2}', "unknown type 'hologram' (byte"),
    "unknown field (C10)": (b'{"type":"note","seq":2,"text":"hey","mood":1}', "mood"),
    "a key twice (C12)": (b'{"type":"note","seq":2,"seq":2,"text":"hey"}', ""),
    "NaN (C13)": (b'{"type":"bank","seq":2,"player":"Anna","points":NaN}', "no JSON"),
    "Infinity (C13)": (b'{"type":"bank","seq":2,"player":"Anna","points":Infinity}', "no JSON"),
    "a huge integer (C14)": (
        b'{"type":"bank","seq":2,"player":"Anna","points":9007199254740992}',
        "<= 9007199254740991",
    ),
    "5000 digits (C14)": (b'{"type":"bank","seq":2,"player":"Anna","points":' + b"9" * 5000 + b"}", ""),
    "a negative bank (C14)": (b'{"type":"bank","seq":2,"player":"Anna","points":-50}', ">= 0"),
    "a float (C15)": (b'{"type":"bank","seq":2,"player":"Anna","points":350.5}', "Expected 'int'"),
    "no UTF-8 (C16)": (b'{"type":"note","seq":2,"text":"\xff"}', "no JSON"),
    "overlong UTF-8 (C16)": (b'{"type":"note","seq":2,"text":"\xc0\xaf"}', "no JSON"),
    "UTF-8 surrogate (C16)": (b'{"type":"note","seq":2,"text":"\xed\xa0\x80"}', "no JSON"),
    "lone surrogate (C16)": (b'{"type":"note","seq":2,"text":"\\ud800"}', ""),
    "deep nesting (C18)": (b'{"type":"note","seq":2,"text":' + b"[" * 30_000 + b"]" * 30_000 + b"}", ""),
    "a long line (C19)": (b'{"type":"note","seq":2,"text":"' + b"x" * 70_000 + b'"}', "bytes"),
    "a time that is none (C9)": (
        b'{"type":"note","seq":2,"time":"2026-W48-7T20:15:00.000Z","text":"hey"}',
        "no UTC time",
    ),
    "a leap day that is none": (
        b'{"type":"note","seq":2,"time":"2026-02-29T20:15:00.000Z","text":"hey"}',
        "no UTC time",
    ),
    "no object": (b"[1,2]", "Expected 'object'"),
    "no event": (b"{}", "type"),
    "a seq too many": (b'{"type":"note","seq":3,"text":"hey"}', "seq 3 follows seq 1"),
    "a second start": (START.replace(b'"seq":1', b'"seq":2'), "a second start"),
    "an illegal move": (b'{"type":"bank","seq":2,"player":"Ben","points":50}', "Anna's turn, not Ben's"),
    "a bidi name": (b'{"type":"join","seq":2,"player":"\xe2\x80\xaeC"}', "U+202E"),
    "a name that is not NFC": (b'{"type":"rename","seq":2,"player":"Anna","to":"e\xcc\x81"}', "NFC"),
    "a name of 65 characters": (b'{"type":"join","seq":2,"player":"' + b"C" * 65 + b'"}', "length <= 64"),
}


@pytest.mark.parametrize("row", CONTENT)
def test_content_that_is_no_event_is_named_with_its_line_and_never_folded(row: str, tmp_path: Path) -> None:
    line, words = CONTENT[row]
    path = tmp_path / "evening.jsonl"
    for data in (sealed(START, line), sealed(START, line, NOTE), START + b"\n" + line + b"\n"):
        path.write_bytes(data)
        with pytest.raises(DataError) as error:
            store.read(path)
        assert str(error.value).startswith(f"{path}:2: ")
        assert words in str(error.value)
        problems = [problem for problem in checks.check(path) if problem.bad]
        assert [problem.line for problem in problems] == [2]
        with pytest.raises(DataError):
            store.append(path, Note("after"))
        assert path.read_bytes() == data


# Ways to rearrange the lines of a log (C2, C5), and the line that is named.
EDITS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int]] = {
    "deleted": (lambda old: [*old[:4], *old[5:]], 5),
    "doubled": (lambda old: [*old[:5], old[4], *old[5:]], 6),
    "swapped": (lambda old: [*old[:4], old[5], old[4], *old[6:]], 5),
    "inserted": (lambda old: [*old[:4], NOTE, *old[4:]], 5),
    "merged": (lambda old: [*old[:4], *lines.chain([NOTE.replace(b"2", b"5", 1)], old[3][-34:-2]), *old[4:]], 6),
    "a BOM": (lambda old: [b"\xef\xbb\xbf" + old[0], *old[1:]], 1),
    "CRLF": (lambda old: [line + b"\r" for line in old], 1),
    "a blank line": (lambda old: [*old[:4], b"", *old[4:]], 5),
    "a blank line at the end": (lambda old: [*old, b""], 21),
    "spaces": (lambda old: [*old[:4], old[4].replace(b",", b", "), *old[5:]], 5),
    "an unsealed line": (lambda old: [*old[:4], old[4][:-40] + b"}", *old[5:]], 5),
    "an unsealed first line": (lambda old: [old[0][:-40] + b"}", *old[1:]], 2),
    "another game's line": (lambda old: [*old[:4], sealed(START, NOTE).split(b"\n")[1], *old[5:]], 5),
}


@pytest.mark.parametrize("edit", EDITS)
def test_lines_that_were_moved_about_are_damage(edit: str, log: Path) -> None:
    change, line = EDITS[edit]
    log.write_bytes(b"".join(one + b"\n" for one in change(log.read_bytes().split(b"\n")[:-1])))
    before = log.read_bytes()
    with pytest.raises(DataError) as error:
        store.read(log)
    assert str(error.value).startswith(f"{log}:{line}: ")
    assert "(byte " in str(error.value)
    with pytest.raises(DataError):
        store.append(log, Note("after"))
    assert log.read_bytes() == before


def test_a_clean_cut_and_an_old_copy_show_against_a_head_alone(log: Path) -> None:
    """C4."""
    head = store.read(log).fingerprint
    whole = log.read_bytes()
    log.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    assert checks.check(log) == []
    assert [problem.kind for problem in checks.check(log, head)] == ["head"]
    store.append(log, Note("another evening"))
    assert [(problem.kind, problem.line) for problem in checks.check(log, head)] == [("head", 20)]
    log.write_bytes(whole)
    assert checks.check(log, head) == []


def test_a_time_that_goes_back_is_a_remark_and_changes_nothing(tmp_path: Path) -> None:
    """C9: order is that of the lines alone."""
    path = tmp_path / "evening.jsonl"
    store.create(path, BEGIN, now=lambda: "2026-11-29T20:15:00.000Z")
    store.append(path, Note("after"), now=lambda: "1999-01-01T00:00:00.000Z")
    store.append(path, Note("far"), now=lambda: "9999-12-31T23:59:59.999Z")
    assert [(one.kind, one.line, one.bad) for one in checks.check(path)] == [("clock", 2, False)]
    assert store.read(path).seq == 3


def test_a_newer_version_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "evening.jsonl"
    path.write_bytes(sealed(START.replace(b'"version":1', b'"version":2').replace(b'"players"', b'"seats"')))
    with pytest.raises(DataError, match=r":1: .*written by a newer tenklog"):
        store.read(path)


def test_what_can_not_be_written_down_is_refused_before_anything_is_written(log: Path) -> None:
    """C17 and the limits of the fields."""
    before = log.read_bytes()
    for command, key in ((Note("\udcff"), None), (Note("x" * 2001), None), (Note("x"), ""), (Note("x"), "k" * 129)):
        with pytest.raises(UsageError):
            store.append(log, command, id=key)
    with pytest.raises(UsageError):
        store.append(log, Note("x"), id="\udcff")
    with pytest.raises(UsageError):
        store.append(log, Note("x"), now=lambda: "yesterday")
    assert log.read_bytes() == before


def test_an_event_that_no_reader_would_take_is_not_written(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C19: of what tenklog writes nothing comes near the cap, so the cap comes down for once."""
    monkeypatch.setattr(store, "MOST_LINE", 300)
    before = log.read_bytes()
    with pytest.raises(UsageError, match=r"an event of 3\d\d bytes; at most 300"):
        store.append(log, Note("x" * 250))
    assert log.read_bytes() == before
    store.append(log, Note("x" * 150))


def test_a_file_of_a_gigabyte_is_refused_unread(tmp_path: Path) -> None:
    """C19."""
    path = tmp_path / "evening.jsonl"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    for use in (store.read, checks.check, lambda path: store.append(path, Note("x"))):
        with pytest.raises(DataError, match="1073741824 bytes"):
            use(path)


def test_a_file_of_newlines_alone_is_no_burden(tmp_path: Path) -> None:
    """C19."""
    path = tmp_path / "evening.jsonl"
    path.write_bytes(sealed(START) + b"\n" * (20 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r":2: is an empty line"):
            store.read(path)
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()


def test_a_log_has_at_most_50000_events_and_200_changes_for_the_whole_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (lines, store):
        monkeypatch.setattr(module, "MOST_EVENTS", 20)
    for module in (reading, store):
        monkeypatch.setattr(module, "MOST_WHOLE_GAME", 3)
    path = tmp_path / "evening.jsonl"
    table = at_table("Anna Ben")
    for target in (5000, 6000, 7000):
        table.then(f"whole-game target={target}")
    store.write_log(path, table.log)
    with pytest.raises(UsageError, match="whole game"):
        store.append(path, table.command(["whole-game", "target=8000"]))
    table.then("whole-game target=8000, note more")
    path.write_bytes(sealed(*map(events.encode, table.log)))
    with pytest.raises(DataError, match=r":5: one rule change for the whole game too many"):
        store.read(path)
    table = at_table("Anna Ben").then(",".join(["note hey"] * 19))
    path.write_bytes(sealed(*map(events.encode, table.log)))
    assert store.read(path).seq == 20
    with pytest.raises(UsageError, match="the log has 20 events; at most 20"):
        store.append(path, Note("one more"))
    table.then("note one more")
    path.write_bytes(sealed(*map(events.encode, table.log)))
    with pytest.raises(DataError, match=r":21: .*one line more than 20"):
        store.read(path)


@pytest.mark.parametrize(
    "game",
    ["../evening", "Evening", "e/v", "", "-e", ".e", "e.jsonl", "con", "lpt1", "x" * 65, "é", "a\n", "a b", "$(a)"],
)
def test_no_id_becomes_a_path(game: str, tmp_path: Path) -> None:
    """C21."""
    with pytest.raises(UsageError):
        store.Home(tmp_path).path(game)
    with pytest.raises(TenklogError):
        store.begin(store.Home(tmp_path), replace(BEGIN, game=game))
    assert list(tmp_path.rglob("*")) == []


def test_a_log_is_named_after_its_game(log: Path) -> None:
    """C21."""
    other = log.rename(log.with_name("friday.jsonl"))
    for use in (store.read, lambda path: store.append(path, Note("x"))):
        with pytest.raises(DataError, match="is the game evening in a file of another name"):
            use(other)
    assert [problem.kind for problem in checks.check(other)] == ["name"]
    assert store.read(other.rename(log.with_name("friday.log"))).seq == 20


def test_what_is_no_plain_file_is_no_log(log: Path) -> None:
    """C22, C23."""
    link, pipe, folder = (log.with_name(f"{name}.jsonl") for name in ("link", "pipe", "folder"))
    link.symlink_to(log)
    os.mkfifo(pipe)
    folder.mkdir()
    before = log.read_bytes()
    for path, words in (
        (link, "symbolic link"), (pipe, "pipe"), (folder, "folder"), (Path("/dev/null"), "device"),
        (log.with_name("none.jsonl"), "no such file"), (log / "evening.jsonl", "is no folder"),
    ):  # fmt: skip
        for use in (store.read, checks.check, lambda path: store.append(path, Note("x"), timeout=0), store.repair):
            with pytest.raises(AccessError) as error:
                use(path)
            assert str(error.value).startswith(f"{path}: ")
            assert words in str(error.value)
    assert log.read_bytes() == before
    assert not log.with_name(".none.jsonl.lock").exists()


def test_a_link_in_the_place_of_the_lock_is_not_followed(log: Path) -> None:
    """C22."""
    log.with_name(".evening.jsonl.lock").unlink()
    log.with_name(".evening.jsonl.lock").symlink_to(log)
    before = log.read_bytes()
    with pytest.raises(AccessError, match="symbolic link"):
        store.append(log, Note("x"))
    assert log.read_bytes() == before


def test_a_log_with_a_second_name_is_read_and_not_written_to(log: Path) -> None:
    """C24."""
    log.with_name("other.log").hardlink_to(log)
    assert store.read(log).seq == 20
    for use in (lambda path: store.append(path, Note("x")), store.repair):
        with pytest.raises(AccessError, match="hard link"):
            use(log)


@pytest.mark.parametrize("data", [b"", b"\n", b"\0" * 5000, b"hello", b"hello\nworld\n", bytes(range(256)) * 20])
def test_what_is_no_log_is_never_repaired_to_nothing(data: bytes, tmp_path: Path) -> None:
    """C25."""
    path = tmp_path / "letter.jsonl"
    path.write_bytes(data)
    for use in (
        store.read, store.repair, lambda path: store.repair(path, seal=True), lambda path: store.append(path, Note("x"))
    ):  # fmt: skip
        with pytest.raises(DataError, match=r"letter\.jsonl:1: "):
            use(path)
    assert path.read_bytes() == data
    assert [problem.line for problem in checks.check(path)] == [1]


def test_an_id_means_one_command_for_ever(log: Path) -> None:
    """C6, C7, C8."""
    first = store.append(log, Note("hey"), id="k")
    again = store.append(log, Note("hey"), id="k", expect_seq=3)
    assert (again.repeated, again.events, again.log.h) == (True, first.events, first.log.h)
    for command in (Note("ho"), at_table().command(["undo"])):
        with pytest.raises(Conflict, match=r"the id 'k' was used for event 21"):
            store.append(log, command, id="k")
    with pytest.raises(Conflict, match=r"is at event 21, not 20"):
        store.append(log, Note("ho"), expect_seq=20)
    assert store.append(log, Note("ho"), expect_seq=21).log.seq == 22


def test_rules_of_every_preset_fit_in_a_line() -> None:
    """C19: the longest line that tenklog itself writes is far from the cap."""
    for card in map(rulebook.read_card, rulebook.card_files()):
        assert len(events.encode(replace(BEGIN, rules=card.rules))) < lines.MOST_LINE // 8
