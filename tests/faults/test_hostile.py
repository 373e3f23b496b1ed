"""Each reader ends in a documented way, whatever it is given: sound inputs, what was found before, simple changes.

The long search for such inputs is `tests/faults/fuzz.py`.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import hostile
import pytest
from hostile import READERS, Broken, Reader, named

from tenklog import cli

TRIES = 150


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to prepare; where this process was before, it is again afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENKLOG_HOME", "home")
    return tmp_path


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_takes_sound_inputs_and_changed_ones_and_all_that_was_ever_found(reader: Reader, place: Path) -> None:
    hostile.prepare(place, reader)
    corpus = hostile.sound(reader)
    for data in [*corpus, *hostile.found(reader)]:
        hostile.judge(reader, data)
    if reader.ends:
        return  # such a process may end, which a test's must not
    rng = Random(1)
    for _ in range(TRIES // 5 if reader.archive else TRIES):
        data = rng.choice(corpus)
        for _ in range(rng.randrange(1, 4)):
            data = data[:1] + hostile.changed(data[1:], rng, corpus)
        hostile.judge(reader, data)


@pytest.mark.parametrize(
    "text", [b"\xff", b"target=\xff", b"dice=5,\xff", b"Anna\xff=5", b"\xff=5", b"\xed\xa0\x80", b""]
)
def test_words_that_are_no_utf_8_are_refused_by_every_command_in_one_line(place: Path, text: bytes) -> None:
    reader = named("words")
    hostile.prepare(place, reader)
    for number in range(len(reader.commands)):
        hostile.judge(reader, bytes([number]) + text)


def test_the_search_begins_from_logs_that_are_sound(place: Path) -> None:
    for reader in READERS[:2]:
        for data in reader.corpus():
            Path("evening.jsonl").write_bytes(reader.made(data))
            code, out, err = hostile.run("check", "evening.jsonl")
            assert (code, err) == (0, ""), out


WAYS: dict[str, Callable[[], object]] = {
    "an exit code of its own": lambda: 7,
    "a mistake": lambda: 1 // 0,
    "a character that a terminal obeys": lambda: print("\x1b[31m"),
    "what is no remark": lambda: print("hello", file=sys.stderr),
    "a long line": lambda: print(f"tenklog: {'x' * 3000}", file=sys.stderr),
    "two lines of error": lambda: print("tenklog: error: a\ntenklog: error: b", file=sys.stderr) or 1,
    "an error without a line": lambda: 1,
    "too long a time": lambda: sum(range(20_000_000)) and 0,
}


@pytest.mark.parametrize("way", WAYS)
def test_what_no_reader_may_do_is_noticed(place: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    reader = named("current")
    hostile.prepare(place, reader)
    hostile.judge(reader, b"\0evening")
    monkeypatch.setattr(hostile, "SECONDS", 0.1)
    monkeypatch.setattr(cli.cli, "main", lambda *_, **__: WAYS[way]())
    with pytest.raises(Broken):
        hostile.judge(reader, b"\0evening")
