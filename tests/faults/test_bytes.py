"""Every way to cut, zero, garble or flip the bytes of a log: nothing sound is lost, and nothing wrong is believed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tenklog import store
from tenklog.decider import Note
from tenklog.errors import DataError
from tenklog.lines import scan

# How a writer that dies may leave the bytes from some place on: a name, and what stands there instead of so many bytes.
ENDS: dict[str, Callable[[int], bytes]] = {
    "cut": lambda count: b"",
    "zeroed": bytes,
    "garbled": lambda count: (b'\xa5#}",' * count)[:count],
}


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("end", ENDS)
def test_a_tail_that_was_not_finished_costs_nothing_before_it(log: Path, end: str) -> None:
    whole = log.read_bytes()
    for place in range(whole.index(b"\n") + 1, len(whole)):
        size = whole.rindex(b"\n", 0, place) + 1
        lacks_newline = whole[place] == ord("\n")
        if lacks_newline and end == "garbled":
            continue  # what comes after a whole record can only be damage: see below
        kept, torn = whole[:size], whole[size:place] + ENDS[end](len(whole) - place)
        log.unlink()  # ten times faster on ext4 than to write over it
        log.write_bytes(kept + torn)
        if lacks_newline and end == "cut":
            kept, torn = whole[: place + 1], b""

        before = store.read(log)
        assert before.seq == kept.count(b"\n")
        assert bool(before.torn) == bool(torn)
        done = store.append(log, Note("after"))
        assert log.read_bytes().startswith(kept)
        found = scan(log.read_bytes())
        assert (found.damage, found.torn, found.ended) == (None, b"", True)
        assert len(found.events) == before.seq + len(done.events)
        beside = list(log.parent.glob("*.torn-*"))
        assert [path.read_bytes() for path in beside] == [torn] * bool(torn)
        assert all(path.name == f"evening.jsonl.torn-{size}-1" for path in beside)
        for path in beside:
            path.unlink()
    print(f"{len(whole) - whole.index(10) - 1} places, {end}: no line lost before them")


def test_a_hole_of_zeros_in_the_last_line_is_torn(log: Path) -> None:
    whole = log.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for first in range(start, len(whole)):
        for end in range(first + 2, len(whole) + 1):
            found = scan(whole[:first] + bytes(end - first) + whole[end:])
            assert (found.damage, found.size, len(found.torn)) == (None, start, len(whole) - start)
            assert found.ended


def test_a_hole_of_zeros_before_the_last_line_is_damage(log: Path) -> None:
    whole = log.read_bytes()
    line = whole.count(b"\n") - 1
    start = whole.rindex(b"\n", 0, whole.rindex(b"\n", 0, -1)) + 1
    for first in range(start, whole.rindex(b"\n", 0, -1) - 4):
        damage = scan(whole[:first] + bytes(4) + whole[first + 4 :]).damage
        assert damage is not None
        assert (damage.line, damage.byte) == (line, start)


@pytest.mark.parametrize("tail", [b"", b"{", b'{"type":"note","se', bytes(9), b'{"type":"no\0\0\0\0\n'])
def test_damage_stays_damage_before_a_tail_that_is_torn(log: Path, tail: bytes) -> None:
    whole = log.read_bytes()
    for place in range(0, len(whole), 7):
        damage = scan(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :] + tail).damage
        assert damage is not None
        assert damage.line == whole[:place].count(b"\n") + 1


def test_every_flipped_bit_is_found_and_its_line_named(log: Path) -> None:
    whole = log.read_bytes()
    lines = whole.split(b"\n")[:-1]
    line, start = 1, 0
    for place in range(len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            found = scan(bytes(flipped))
            assert found.damage is not None, (place, bit)
            assert found.torn == b""
            assert (found.damage.line, found.damage.byte) == (line, start), (place, bit)
            assert found.lines == lines[: line - 1]
        if whole[place] == ord("\n"):
            line, start = line + 1, place + 1
    print(f"{8 * len(whole)} bits flipped one by one: 0 accepted")


def test_a_flipped_bit_in_the_only_line_is_found(log: Path) -> None:
    whole = log.read_bytes().split(b"\n")[0] + b"\n"
    for place in range(len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            found = scan(bytes(flipped))
            assert found.damage is not None, (place, bit)
            assert (found.damage.line, found.lines) == (1, [])


def test_a_first_line_that_was_not_finished_is_never_healed(log: Path) -> None:
    whole = log.read_bytes()
    first = whole.index(b"\n")
    for place in range(first):
        for end in ENDS.values():
            found = scan(whole[:place] + end(first - place))
            assert found.damage is not None
            assert found.torn == b""
    for left in (b"", whole[: first // 2], whole[: first // 2] + bytes(99)):
        log.write_bytes(left)
        with pytest.raises(DataError, match=r"evening\.jsonl:1: "):
            store.append(log, Note("after"))
        assert log.read_bytes() == left


@pytest.mark.parametrize("junk", [b"x", b"}", b"\r", b" ", b"{", b"\xff", b'{"type":"note"', b"x" * 70_000])
def test_a_whole_record_is_never_cut_with_what_comes_after_it(log: Path, junk: bytes) -> None:
    whole = log.read_bytes()
    for data in (whole[:-1] + junk, whole[:-1] + junk + b"\n"):
        log.write_bytes(data)
        with pytest.raises(DataError, match=rf"evening\.jsonl:{whole.count(10)}: "):
            store.read(log)
        with pytest.raises(DataError):
            store.append(log, Note("after"))
        assert log.read_bytes() == data


def test_a_last_line_with_a_wrong_hash_is_damage_with_its_newline_and_without(log: Path) -> None:
    whole = log.read_bytes()
    wrong = whole.replace(b'"dice":[2,2,3,4,4,6]', b'"dice":[2,2,3,4,4,4]')
    assert wrong != whole
    for data in (wrong, wrong[:-1]):
        log.write_bytes(data)
        with pytest.raises(DataError, match="does not fit its hash"):
            store.append(log, Note("after"))
        assert log.read_bytes() == data
