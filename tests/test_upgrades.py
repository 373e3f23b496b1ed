"""Logs and archives of every format version that was released are read for ever, and those of the next one refused.

`versions/1/` holds logs, an archive of them and what was shown of them when version 1 was made. Nothing in it is ever
written anew: where a test here fails, it is the code that has to change.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tenklog import archive, checks, cli, events, lines, reading, reports, stats, store
from tenklog.archiving import archive_logs
from tenklog.decider import Note
from tenklog.errors import DataError
from tenklog.stats import Filters

VERSIONS = Path(__file__).parent / "versions"
LOGS = sorted(VERSIONS.glob("*/games/*.jsonl"))
ARCHIVES = sorted(VERSIONS.glob("*/archive"))


def holds(new: object, old: object) -> bool:
    """Tell whether a document has all of an older one: more fields may come, none goes, no value changes."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and holds(new[key], value) for key, value in old.items())
    if isinstance(old, list):
        return isinstance(new, list) and len(new) == len(old) and all(map(holds, new, old))
    return new == old


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_log_of_every_version_is_read_and_shows_what_it_showed(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before: dict[str, Any] = json.loads((path.parent.parent / "shown" / f"{path.stem}.json").read_text("utf-8"))
    assert cli.run(["show", str(path), "--json"]) == 0
    assert holds(json.loads(capsys.readouterr().out), before["show"])
    assert store.read(path).fingerprint == before["fingerprint"]
    assert [problem.kind for problem in checks.check(path)] in ([], ["unsealed"])
    if before["show"]["status"] == "in-progress" and store.read(path).sealed:
        copy = Path(shutil.copy(path, tmp_path))
        assert store.append(copy, Note("years later")).log.seq == store.read(path).seq + 1
        assert copy.read_bytes().startswith(path.read_bytes())


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.parts[-2])
def test_an_archive_of_every_version_is_sound_and_gives_its_logs_back(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    shutil.copytree(path, folder)
    problems, heads = archive.check(folder, (path.parent / "games").glob("*.jsonl"))
    assert problems == []
    logs = dict(archive.extract(folder))
    assert logs.keys() >= {"every-event", "by-hand"}
    assert logs == {game: (path.parent / "games" / f"{game}.jsonl").read_bytes() for game in logs}
    for game, head in heads.items():
        assert json.loads((path.parent / "shown" / f"{game}.json").read_text("utf-8"))["fingerprint"] == head
    everything = Filters(origins=stats.ORIGINS)
    for report in reports.ours().values():
        stats.run(folder, report, everything)
    leaders = {row[0] for row in stats.run(folder, reports.find("leaderboard", folder), everything).rows}
    assert {"Änna", 'Ben "B"', "Cara"} <= leaders


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.parts[-2])
def test_an_archive_of_every_version_is_added_to(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    shutil.copytree(path, folder)
    before = dict(archive.extract(folder))
    archive_logs(folder, [path.parents[3] / "sample_logs" / "zilch-evening.jsonl"])
    assert dict(archive.extract(folder)).items() >= before.items()


def test_the_logs_of_version_1_hold_every_kind_of_event_and_every_field() -> None:
    """Or something in it could change its meaning unseen."""
    seen: dict[str, set[str]] = {}
    for path in VERSIONS.glob("1/games/*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            fields = json.loads(line)
            seen.setdefault(fields["type"], set()).update(fields)
    assert seen.keys() == events.TYPES.keys()
    for tag, kind in events.TYPES.items():
        own = set(kind.__struct_fields__) - set(events.Event.__struct_fields__)
        missing = own - seen[tag] - ({"of", "why"} if tag in ("start", "undo") else set())
        assert not missing, (tag, missing)


# -- the next version -------------------------------------------------------------------------------------------------

# An invented one: the start says 2 and has a field of its own, and there is an event that version 1 does not know.
START = b'{"type":"start","seq":1,"game":"evening","version":2,"seats":[{"player":"Anna"}],"rules":"tiotusen"}'
SPIN = b'{"type":"spin","seq":2,"player":"Anna","wheel":7}'
WORDS = "is of format version 2, written by a newer tenklog; this one reads up to 1"
READERS: dict[str, Callable[[Path], object]] = {
    "read": store.read,
    "append": lambda path: store.append(path, Note("x")),
    "repair": store.repair,
    "repair and seal": lambda path: store.repair(path, seal=True),
}


def newer(path: Path, sealed: bool) -> Path:
    rows = lines.chain([START, SPIN]) if sealed else [START, SPIN]
    path.write_bytes(b"".join(row + b"\n" for row in rows))
    return path


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("name", READERS)
def test_a_log_of_the_next_version_is_refused_as_such_and_left_alone(name: str, sealed: bool, tmp_path: Path) -> None:
    path = newer(tmp_path / "evening.jsonl", sealed)
    before = path.read_bytes()
    with pytest.raises(DataError) as error:
        READERS[name](path)
    assert f"{path}:1: {WORDS}" in str(error.value).replace(" (byte 0)", "")
    assert path.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir() if one.suffix != ".lock") == ["evening.jsonl"]
    assert [problem.kind for problem in checks.check(path)] == ["format"]


@pytest.mark.parametrize(
    "words", ["show FILE", "check FILE", "events FILE", "replay FILE --rules zilch", "luck FILE", "roll 133446 -g FILE"]
)
def test_every_command_says_that_a_newer_tenklog_wrote_it(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = newer(tmp_path / "evening.jsonl", True)
    assert cli.run(words.replace("FILE", str(path)).split()) == 1
    assert "written by a newer tenklog" in "".join(capsys.readouterr())


@pytest.mark.parametrize("read", [store.read, store.repair, lambda path: store.repair(path, dry_run=True)])
def test_an_event_of_the_next_version_is_refused_with_its_line(read: Callable[[Path], object], tmp_path: Path) -> None:
    """Nothing of it is damaged, so there is nothing to repair."""
    golden = VERSIONS / "1" / "games" / "in-progress.jsonl"
    rows = golden.read_bytes().splitlines()
    spin = lines.chain([SPIN.replace(b'"seq":2', b'"seq":%d' % (len(rows) + 1))], rows[-1][-34:-2])[0]
    path = tmp_path / golden.name
    data = golden.read_bytes() + spin + b"\n"
    path.write_bytes(data)
    with pytest.raises(DataError, match=rf":{len(rows) + 1}: has the unknown type 'spin' .*written by a newer tenklog"):
        read(path)
    assert path.read_bytes() == data
    # Where the hash does not fit, it is damage.
    path.write_bytes(data.replace(b"spin", b"spam"))
    assert f"line {len(rows) + 1} does not fit its hash" in store.repair(path)[0]
    assert path.read_bytes() == golden.read_bytes()


@pytest.mark.parametrize("limit", ["MOST_EVENTS", "MOST_LINE"])
def test_a_log_of_a_version_with_higher_limits_is_left_alone(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(VERSIONS / "1" / "games" / "in-progress.jsonl", tmp_path))
    store.append(path, Note("x" * 2000))
    data = path.read_bytes()
    *before, last = data.splitlines()
    assert len(last) > max(map(len, before))
    monkeypatch.setattr(lines, limit, len(before) if limit == "MOST_EVENTS" else len(last) - 1)
    with pytest.raises(DataError, match=rf":{len(before) + 1}: (is one line more than|has {len(last)} bytes)"):
        store.repair(path)
    assert path.read_bytes() == data


def test_an_archive_of_the_next_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    shutil.copytree(ARCHIVES[0], folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format": 2, "hologram": {}}), encoding="utf-8")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    words = r"manifest\.json: is of format 2, written by a newer tenklog; this one reads up to 1"
    for use in (
        archive.open_archive,
        lambda place: archive_logs(place, LOGS),
        lambda place: dict(archive.extract(place)),
    ):
        with pytest.raises(DataError, match=words):
            use(folder)
    assert {path: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"} == before


def test_an_upcast_behind_the_scan_reaches_every_reader_and_no_byte_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where events of older versions are to become those of this one: at the end of `lines._read`.

    There the bytes are verified as they were written, and nobody has seen an event yet. Here the notes of an invented
    older version are given a mark.
    """
    golden = VERSIONS / "1" / "games" / "every-event.jsonl"
    path = Path(shutil.copy(golden, tmp_path))
    real = lines._read

    def upcast(event: events.AnyEvent) -> events.AnyEvent:
        return replace(event, text=f"{event.text} (of old)") if type(event) is events.Note else event

    def read(rows: list[bytes], sealed: bool) -> Any:
        found, wrong = real(rows, sealed)
        return [upcast(event) for event in found], wrong

    monkeypatch.setattr(lines, "_read", read)
    note = next(n for n, event in enumerate(store.read(path).events) if type(event) is events.Note)

    def text(log: reading.Log) -> str:
        event = log.events[note]
        assert type(event) is events.Note
        return event.text

    assert text(store.read(path)).endswith("(of old)")
    assert checks.check(path) == []
    assert store.repair(path) == []
    archive_logs(tmp_path / "archive", [path])
    assert dict(archive.extract(tmp_path / "archive")) == {"every-event": golden.read_bytes()}
    done = store.append(path, Note("new"))
    assert text(done.log).endswith("(of old)")
    assert path.read_bytes().startswith(golden.read_bytes())
    assert store.read(path).h == done.log.h
