"""The archive: what goes in comes out byte for byte, and every game is in it once, as its log stands now."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import msgspec
import pytest
from evening import at_table, ruleset, start
from msgspec.structs import replace
from random_games import random_play, random_ruleset

from tenklog import archive, archiving, events, files, staging, store
from tenklog.cli import run
from tenklog.decider import Abandon, Bank, Note, Undo, draft
from tenklog.errors import TenklogError, UsageError
from tenklog.game import evolve, fold, tag
from tenklog.tables import TABLES

SAMPLES = Path(__file__).parent.parent / "sample_logs"
LONG = bool(os.environ.get("TENKLOG_LONG"))
GAMES = 2000 if LONG else 300
Log = list[events.Event]

# What no table may trip over; the store takes all of it from a file, though the command line refuses some.
TEXTS = (
    'she said "no"', "it's", "a\\b\\\\n", "\\u0041 \\", "tab\tand\nline\r\nend", "🎲👨‍👩‍👧", "Ünal и 山 می‌خواهم",
    "\u2028\u2029\ufeff", "a\x00b",
    "\x7f\x1b[31m", "NULL", "null", "{}", '{"seq":1}', "'; DROP TABLE games; --", "=1+1", " ", "%s {} $file",
    "𝔘" * 100, "0", "2026-11-29T20:15:00.000Z", "\ue000\U0010ffff",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't wait for the disk; nothing here crashes."""
    monkeypatch.setattr(files, "sync", lambda fd: None)
    monkeypatch.setattr(files, "sync_folder", lambda folder: None)


def named(log: Log, game: str, **fields: Any) -> Log:
    """Return a log under another id."""
    first = log[0]
    assert isinstance(first, events.Start)
    return [replace(first, game=game, **fields), *log[1:]]


def stamped(log: Log, times: str = "2026-11-29T20:15:{:02}.{:03}Z") -> Log:
    """Give every event a time."""
    return [replace(event, time=times.format(n % 60, n * 7 % 1000)) for n, event in enumerate(log)]


def played(folder: Path, game: str, script: str = "bank 5000, bank 11000, bank 500") -> Path:
    """Write a game of Anna and Ben that is over unless the script says otherwise; return its path."""
    path = folder / f"{game}.jsonl"
    store.write_log(path, stamped(named(at_table("Anna Ben").then(script).log, game)))
    return path


def with_dice(folder: Path, game: str, seed: int, lines: int = 40) -> Path:
    """Write a random game that is over; return its path."""
    path = folder / f"{game}.jsonl"
    store.write_log(path, stamped(named(over(Random(seed), lines=lines), game)))
    return path


def over(rng: Random, **options: Any) -> Log:
    """Return the events of a random game that is finished or abandoned, the abandonment by the table."""
    log, game = random_play(rng, random_ruleset(rng), **options)
    if game.position.turn is not None:
        log += draft(game, Abandon(rng.choice((None, "late")))).events
    return log


def results(outcomes: list[staging.Outcome]) -> dict[str, str]:
    """Return what became of each game."""
    assert len({one.game for one in outcomes}) == len(outcomes)
    return {one.game: one.result for one in outcomes}


def rows(folder: Path, table: str) -> list[str]:
    """Return the rows of a table in a fixed order, as a plain DuckDB finds them in the live files."""
    return sorted(map(repr, ask(folder, table)))


def ask(folder: Path, table: str, columns: str = "*") -> list[tuple[Any, ...]]:
    """Return some columns of a table as DuckDB gives them."""
    found = archive.source(folder, archive.open_archive(folder), table)
    return duckdb.connect().execute(f"SELECT {columns} FROM ({found})").fetchall()


def tables(folder: Path) -> dict[str, list[str]]:
    """Return the rows of all tables."""
    return {table: rows(folder, table) for table in TABLES}


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_extracts(folder: Path, paths: list[Path]) -> None:
    """Make sure that an archive gives back these logs, and no other, as they are."""
    found = dict(archive.extract(folder))
    assert found.keys() == {path.stem for path in paths}
    for path in paths:
        assert found[path.stem] == path.read_bytes(), path


def assert_clean(folder: Path) -> None:
    """Make sure that a folder has the live files and no others but the manifest and what is beside it."""
    manifest = archive.read_manifest(folder)
    live = {file.name for part in manifest.parts for file in part.files.values()}
    assert set(os.listdir(folder)) <= live | {"manifest.json", "verified.json", ".manifest.json.lock"}
    archive.verify(folder, manifest, whole=True)


# -- round trip -------------------------------------------------------------------------------------------------------


def test_every_sample_log_that_is_over_comes_out_as_it_went_in(tmp_path: Path) -> None:
    paths = sorted(SAMPLES.glob("*.jsonl"))
    found = results(archiving.archive_logs(tmp_path, paths))
    going = {path.stem for path in paths if store.read(path).game.position.turn is not None}
    assert "in-progress" in going
    assert len(going) < 5
    assert found == {path.stem: "skipped" if path.stem in going else "archived" for path in paths}
    assert_extracts(tmp_path, [path for path in paths if path.stem not in going])


def random_log(rng: Random, game: str, replay: bool) -> Log:
    """Return a random log that is over, with times, ids and notes as odd as a file may have them."""
    log = over(rng, replay=replay, asides=0.15, lines=rng.choice((10, 40, 80)))
    told = fold(log)
    for text in rng.sample(TEXTS, rng.randrange(3)):
        log.append(events.Note(told.seq + 1, text=text))
        told = evolve(told, log[-1])
    moments = (None, "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2024-02-29T12:00:00.001Z")
    ids = (None, None, *TEXTS)
    log = [
        replace(event, time=rng.choice(moments), id=key if (key := rng.choice(ids)) is None else key[:128])
        for event in log
    ]
    return named(log, game, title=rng.choice((None, *TEXTS)))


def by_hand(log: Log, rng: Random) -> bytes:
    """Write a log as a person or another program might: spaces, keys in another order, escapes, other line ends."""
    ascii_only, end = rng.random() < 0.5, rng.choice((b"\n", b"\r\n"))
    separators = rng.choice(((", ", ": "), (",", ":"), (" ,\t", " :  ")))
    lines = []
    for event in log:
        items = list(json.loads(events.encode(event)).items())
        if rng.random() < 0.5:
            rng.shuffle(items)
        text = json.dumps(dict(items), ensure_ascii=ascii_only, separators=separators)
        lines.append(rng.choice(("", " ")) + text + rng.choice(("", "  ")))
    return b"".join(line.encode() + end for line in lines)


def test_random_games_with_every_kind_of_event_come_out_as_they_went_in(tmp_path: Path) -> None:
    logs, folder = tmp_path / "games", tmp_path / "archive"
    logs.mkdir()
    seen: Counter[str] = Counter()
    paths = []
    for number in range(GAMES):
        rng = Random(50_000 + number)
        log = random_log(rng, f"random-{number}", replay=number % 10 == 0)
        paths.append(logs / f"random-{number}.jsonl")
        if number % 4 == 3:
            paths[-1].write_bytes(by_hand(log, rng))
        else:
            store.write_log(paths[-1], log)
        seen.update(tag(event) for event in log)
        seen.update({"settled" for event in log if isinstance(event, events.Bank) and event.settled})
        seen.update(event.scope for event in log if isinstance(event, events.RuleChange))
        seen.update({"aside" for event in log if isinstance(event, events.Keep) and event.aside})
    wanted = [*events.TYPES, "settled", "next-turn", "whole-game", "aside"]
    wanted.remove("start")
    assert {word: seen[word] for word in wanted if seen[word] < (50 if word in events.TYPES else 10)} == {}
    found = archiving.archive_logs(folder, paths)
    assert [one for one in found if one.result != "archived"] == []
    assert_extracts(folder, paths)
    assert set(results(archiving.archive_logs(folder, paths)).values()) == {"already"}
    assert_clean(folder)


SPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "canonical": lambda line: line + b"\n",
    "spaces": lambda line: b" " + line.replace(b'":', b'" : ') + b" \n",
    "carriage returns": lambda line: line + b"\r\n",
    "tabs": lambda line: b"\t" + line + b"\t\n",
    "the type last": lambda line: re.sub(rb'^\{("type":"[^"]*"),(.*)\}$', rb"{\2,\1}", line) + b"\n",
    "escaped letters": lambda line: line.replace("Ä".encode(), rb"\u00c4").replace(b"Ben", rb"B\u0065n") + b"\n",
    "escaped slashes": lambda line: line.replace(b"/", rb"\/") + b"\n",
    "an absent field as null": lambda line: line[:-1] + b',"id":null}\n',
    "a default spelled out": lambda line: line.replace(b'"points":11000', b'"points":11000,"settled":false') + b"\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_hand_written_logs_come_out_as_they_went_in(spelling: str, tmp_path: Path) -> None:
    log = stamped(at_table("Ärne Ben").then("roll 133446, keep 1, bank, note a/b, bank 11000, bank 500").log)
    path = tmp_path / "evening.jsonl"
    path.write_bytes(b"".join(SPELLINGS[spelling](events.encode(event)) for event in log))
    assert results(archiving.archive_logs(tmp_path / "archive", [path])) == {"evening": "archived"}
    assert_extracts(tmp_path / "archive", [path])


def test_a_hand_written_log_that_is_sealed_later_is_the_same_game_once(tmp_path: Path) -> None:
    path, folder = tmp_path / "evening.jsonl", tmp_path / "archive"
    log = at_table("Anna Ben").then("bank 5000, bank 11000, bank 500").log
    path.write_bytes(b"".join(events.encode(event).replace(b'":', b'": ') + b"\n" for event in log))
    archiving.archive_logs(folder, [path])
    assert "False" in rows(folder, "games")[0]
    head = ask(folder, "games")[0]
    store.repair(path, seal=True)
    assert results(archiving.archive_logs(folder, [path])) == {"evening": "superseded"}
    again = ask(folder, "games")
    assert len(again) == 1
    columns = [column.name for column in TABLES["games"]]
    differing = [name for name, one, other in zip(columns, head, again[0], strict=True) if one != other]
    assert differing == ["sealed", "digest"]
    assert_extracts(folder, [path])


def test_whole_game_changes_undos_and_corrections_come_out_as_they_went_in(tmp_path: Path) -> None:
    table = at_table("Anna Ben").then("roll 133446, keep 1, bank, undo, bank, bank 300, fix 7 bank 450")
    table.then("whole-game one=150, undo, whole-game five=60, rename Ben Cara, join Dov, leave Anna, expect Cara=450")
    path = tmp_path / "evening.jsonl"
    store.write_log(path, stamped(table.then("abandon").log))
    assert results(archiving.archive_logs(tmp_path / "archive", [path])) == {"evening": "archived"}
    assert_extracts(tmp_path / "archive", [path])


def test_a_log_of_a_replay_keeps_what_it_replayed(tmp_path: Path) -> None:
    of = "7:" + "0f" * 16
    log: Log = [start("Anna Ben", ruleset(), origin="replay", of=of)]
    log.append(events.Bank(2, player="Anna", points=0, settled=True))
    log += draft(fold(log), Abandon()).events
    path, folder = tmp_path / "evening.jsonl", tmp_path / "archive"
    store.write_log(path, log)
    archiving.archive_logs(folder, [path])
    assert_extracts(folder, [path])
    assert ask(folder, "games", "origin, replay_of, begun") == [("replay", of, None)]


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00.000Z", "0099-12-31T00:00:00.010Z", "9999-12-31T23:59:59.999Z"])
def test_times_of_the_first_and_the_last_year_come_out_as_they_went_in(time: str, tmp_path: Path) -> None:
    path = tmp_path / "evening.jsonl"
    store.write_log(path, stamped(at_table("Anna Ben").then("roll 133446, keep 1, abandon").log, time))
    archiving.archive_logs(tmp_path / "archive", [path])
    assert_extracts(tmp_path / "archive", [path])
    found = ask(tmp_path / "archive", "games", "begun, ended")[0]
    assert [moment.isoformat(timespec="milliseconds") + "Z" for moment in found] == [time, time]


def test_the_longest_line_and_the_largest_numbers_come_out_as_they_went_in(tmp_path: Path) -> None:
    table = at_table("Anna Ben").then(f"bank {2**53 - 1}, bank 0")
    log = [*table.log, events.Note(4, text="\x01" * 2000, id="\x02" * 128)]
    path = tmp_path / "evening.jsonl"
    store.write_log(path, log)
    archiving.archive_logs(tmp_path / "archive", [path])
    assert_extracts(tmp_path / "archive", [path])


# -- again, changed, removed, merged ----------------------------------------------------------------------------------


def test_archiving_again_changes_nothing(tmp_path: Path) -> None:
    paths = [played(tmp_path, "one"), with_dice(tmp_path, "two", 1), played(tmp_path, "three", "bank 300")]
    folder = tmp_path / "archive"
    assert results(archiving.archive_logs(folder, paths)) == {
        "one": "archived", "two": "archived", "three": "skipped"
    }  # fmt: skip
    before, looked = contents(folder), os.stat(folder / "manifest.json")
    assert results(archiving.archive_logs(folder, paths)) == {"one": "already", "two": "already", "three": "skipped"}
    assert contents(folder) == before
    assert os.stat(folder / "manifest.json").st_ino == looked.st_ino


def listed(home: Path, table: str, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Return the files that the command lists for a table."""
    capfd.readouterr()
    assert run(["--home", str(home), "archive", "--files", table, "--json"]) == 0
    found: list[str] = json.loads(capfd.readouterr().out)
    return found


def test_a_changed_game_is_there_once_with_its_new_numbers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    games, folder = tmp_path / "games", tmp_path / "archive"
    paths = [played(games, "one"), with_dice(games, "two", 1), with_dice(games, "three", 2)]
    archiving.archive_logs(folder, paths)
    store.append(paths[0], Undo())
    store.append(paths[0], Bank(7000))
    store.append(paths[1], Note("and so to bed"))
    found = results(archiving.archive_logs(folder, paths))
    assert found == {"one": "superseded", "two": "superseded", "three": "already"}
    assert_extracts(folder, paths)
    assert_clean(folder)
    reader = duckdb.connect()
    seats = reader.read_parquet(listed(tmp_path, "seats", capfd))  # used by name below
    assert reader.execute("SELECT player, total FROM seats WHERE game = 'one' ORDER BY seat").fetchall() == [
        ("Anna", 12000), ("Ben", 11000)
    ]  # fmt: skip
    assert seats.aggregate("count(DISTINCT game)").fetchall() == [(3,)]
    for table in TABLES:
        where = listed(tmp_path, table, capfd)
        assert where
        once = tmp_path / f"fresh-{table}"
        archiving.archive_logs(once, paths)
        assert sorted(map(repr, reader.read_parquet(where).fetchall())) == rows(once, table)
    assert reader.read_parquet(listed(tmp_path, "events", capfd)).filter("game = 'one'").aggregate(
        "max(seq), count(*)"
    ).fetchall() == [(6, 6)]


def test_a_finished_game_that_goes_on_again_leaves_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    paths = [played(tmp_path, "one"), played(tmp_path, "two")]
    archiving.archive_logs(folder, paths)
    store.append(paths[0], Undo())
    assert results(archiving.archive_logs(folder, paths)) == {"one": "removed", "two": "already"}
    assert_extracts(folder, paths[1:])
    assert results(archiving.archive_logs(folder, paths)) == {"one": "skipped", "two": "already"}
    store.append(paths[0], Bank(500))
    assert results(archiving.archive_logs(folder, paths)) == {"one": "archived", "two": "already"}
    assert_extracts(folder, paths)
    for path in paths:
        store.append(path, Undo())
    assert results(archiving.archive_logs(folder, paths)) == {"one": "removed", "two": "removed"}
    assert archive.read_manifest(folder) == archive.EMPTY
    assert tables(folder) == {table: [] for table in TABLES}
    assert_clean(folder)


def test_a_game_whose_log_is_gone_stays_archived(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    paths = [played(tmp_path, "one"), played(tmp_path, "two")]
    archiving.archive_logs(folder, paths)
    paths[0].rename(tmp_path / "one.bak")
    assert results(archiving.archive_logs(folder, paths[1:])) == {"two": "already"}
    assert dict(archive.extract(folder))["one"] == (tmp_path / "one.bak").read_bytes()


@pytest.mark.parametrize("processes", [1, 2, 3, 8])
def test_processes_get_equal_shares_of_parts_that_are_neither_small_nor_large(processes: int) -> None:
    small, large = archiving.CHUNK_GAMES // 4, archiving.CHUNK_GAMES
    for games in (*range(0, 3 * large, 37), *range(3 * large, 100 * large, 7919)):
        size = archiving.chunk_size(games, processes)
        chunks = -(-games // size)
        assert 0 < size <= large
        assert size > small or chunks <= 1
        if games > 2 * small * processes:
            assert -(-chunks // processes) * size <= games / processes + chunks


def test_many_small_parts_become_one_that_holds_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archiving, "SMALL_PARTS", 3)
    monkeypatch.setattr(archiving, "CHUNK_GAMES", 6)
    folder = tmp_path / "archive"
    paths: list[Path] = []
    counts = []
    for number in range(14):
        # Score sheets without rolls have empty files of the same bytes, thus of the same name, in several parts.
        path = played(tmp_path, f"game-{number}") if number % 3 else with_dice(tmp_path, f"game-{number}", number)
        paths.append(path)
        archiving.archive_logs(folder, paths[-1:])
        manifest = archive.open_archive(folder)
        counts.append(len(manifest.parts))
        assert manifest.games == number + 1
        assert all(part.games <= 6 for part in manifest.parts)
        assert_clean(folder)
    assert counts[:4] == [1, 2, 3, 1]
    assert max(counts) < 7
    assert_extracts(folder, paths)
    archiving.archive_logs(tmp_path / "once", paths)
    assert tables(folder) == tables(tmp_path / "once")
    store.append(paths[4], Note("late"))
    assert results(archiving.archive_logs(folder, paths[4:5])) == {"game-4": "superseded"}
    assert_extracts(folder, paths)


def test_chunks_replace_games_of_the_same_part_one_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "archive"
    paths = [with_dice(tmp_path, f"game-{number}", number) for number in range(9)]
    archiving.archive_logs(folder, paths)
    for path in paths[:8]:
        store.append(path, Note("late"))
    monkeypatch.setattr(archiving, "CHUNK_GAMES", 2)
    assert list(results(archiving.archive_logs(folder, paths)).values()) == ["superseded"] * 8 + ["already"]
    assert_extracts(folder, paths)
    assert_clean(folder)
    archiving.archive_logs(tmp_path / "once", paths)
    assert tables(folder) == tables(tmp_path / "once")


def test_chunks_are_cut_by_bytes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archiving, "CHUNK_BYTES", 1)
    folder = tmp_path / "archive"
    paths = [played(tmp_path, f"game-{number}") for number in range(3)]
    archiving.archive_logs(folder, paths)
    assert len(archive.open_archive(folder).parts) == 3
    assert_extracts(folder, paths)


def test_chunks_that_bytes_cut_are_equal_shares_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archiving, "CHUNK_GAMES", 40)
    monkeypatch.setattr(archiving, "CHUNK_BYTES", 300)
    paths = [tmp_path / f"game-{number}.jsonl" for number in range(100)]
    for path in paths[:-1]:  # the last one is gone meanwhile
        path.write_bytes(b"ten bytes\n")
    for processes, sizes in ((1, [25] * 4), (2, [25] * 4), (3, [17] * 5 + [15]), (8, [13] * 7 + [9])):
        assert [len(chunk) for chunk in archiving._chunks(paths, processes)] == sizes


SPREAD = """
import sys
from pathlib import Path
from tenklog import archiving

if __name__ == "__main__":
    archiving.CHUNK_GAMES = 4
    done = []
    paths = sorted(Path(sys.argv[1]).glob("*.jsonl"))
    found = archiving.archive_logs(Path(sys.argv[2]), paths, processes=2, progress=done.append)
    print(sum(done), sorted(f"{one.game}: {one.result}" for one in found))
"""


def test_several_processes_make_the_same_tables_as_one(tmp_path: Path) -> None:
    games, one, two = tmp_path / "games", tmp_path / "one", tmp_path / "two"
    paths = [with_dice(games, f"game-{number:02}", number) for number in range(11)]
    archiving.archive_logs(one, paths[:5])
    archiving.archive_logs(two, paths[:5])
    store.append(paths[1], Note("late"))
    store.append(paths[3], Note("late"))
    (games / "game-04.jsonl").write_bytes(paths[4].read_bytes()[:-30])
    script = tmp_path / "spread.py"
    script.write_text(SPREAD)
    expected = sorted(f"{one.game}: {one.result}" for one in archiving.archive_logs(one, paths))
    done = subprocess.run([sys.executable, script, games, two], capture_output=True, text=True, check=True)
    assert done.stdout == f"{len(paths)} {expected}\n"
    assert done.stderr == ""
    assert tables(one) == tables(two)
    assert_clean(two)


# -- bad logs ---------------------------------------------------------------------------------------------------------


def test_a_bad_log_never_stops_the_others(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games"
    good = [played(games, f"good-{number}") for number in range(3)]
    flipped = played(games, "bad-flipped")
    flipped.write_bytes(flipped.read_bytes().replace(b'"points":5000', b'"points":5001'))
    torn = played(games, "bad-torn")
    torn.write_bytes(torn.read_bytes()[:-20])
    unended = played(games, "bad-unended")
    unended.write_bytes(unended.read_bytes()[:-1])
    (games / "bad-misnamed.jsonl").write_bytes(good[0].read_bytes())
    (games / "bad-link.jsonl").symlink_to(good[0])
    (games / "bad-dangling.jsonl").symlink_to(games / "nothing")
    (games / "bad-empty.jsonl").write_bytes(b"")
    (games / "bad-folder.jsonl").mkdir()
    os.mkfifo(games / "bad-pipe.jsonl")
    (games / "bad-zeros.jsonl").write_bytes(bytes(5000))
    (games / "bad-illegal.jsonl").write_bytes(
        b"".join(
            events.encode(event) + b"\n"
            for event in (start("A B", ruleset(), game="bad-illegal"), events.Bank(2, player="B", points=50))
        )
    )
    played(games, "going", "bank 300")
    assert run(["--home", str(tmp_path), "archive", "--json"]) == 1
    told = capfd.readouterr()
    found = {one["game"]: one for one in json.loads(told.out)}
    bad = {name.removesuffix(".jsonl") for name in os.listdir(games) if name.startswith("bad-")}
    assert {game: one["result"] for game, one in found.items()} == {
        **dict.fromkeys(bad, "failed"), **{path.stem: "archived" for path in good}, "going": "skipped"
    }  # fmt: skip
    assert "mistake" not in told.err
    for game in bad:
        assert f"{game}.jsonl" in told.err
        assert f"{game}.jsonl" in found[game]["why"]
    assert_extracts(tmp_path / "archive", good)
    assert run(["--home", str(tmp_path), "archive"]) == 1
    assert f"3 already there, 1 skipped, {len(bad)} unreadable." in capfd.readouterr().out
    assert run(["--home", str(tmp_path), "archive", *(path.stem for path in good)]) == 0


def test_a_log_that_vanishes_meanwhile_never_stops_the_others(tmp_path: Path) -> None:
    paths = [tmp_path / "one.jsonl", played(tmp_path, "two")]
    assert results(archiving.archive_logs(tmp_path / "archive", paths)) == {"one": "failed", "two": "archived"}


def test_a_second_file_of_the_same_game_is_named_and_left_out(tmp_path: Path) -> None:
    first, second = played(tmp_path, "one"), played(tmp_path / "copy", "one", "bank 11000, bank 300")
    found = archiving.archive_logs(tmp_path / "archive", [first, second, first])
    assert [(one.file, one.result) for one in found] == [(str(first), "archived"), (str(second), "failed")]
    assert str(first) in found[1].why
    assert str(second) in found[1].why
    assert_extracts(tmp_path / "archive", [first])


def test_a_damaged_log_leaves_what_is_archived_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    paths = [played(tmp_path, "one"), played(tmp_path, "two")]
    sound = paths[0].read_bytes()
    archiving.archive_logs(folder, paths)
    for data in (sound[:-30], b"", sound.replace(b"5000", b"5001"), sound.splitlines(keepends=True)[0]):
        paths[0].write_bytes(data)
        assert results(archiving.archive_logs(folder, paths)) == {"one": "failed", "two": "already"}
        assert dict(archive.extract(folder))["one"] == sound


def test_another_game_of_the_same_name_replaces_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    path = played(tmp_path, "one")
    archiving.archive_logs(folder, [path])
    sound = path.read_bytes()
    path.unlink()
    store.write_log(path, stamped(named(at_table("Cara Dov").then("bank 5000, bank 11000, bank 500").log, "one")))
    found = archiving.archive_logs(folder, [path])
    assert [one.result for one in found] == ["failed"]
    assert "another game" in found[0].why
    assert dict(archive.extract(folder)) == {"one": sound}
    assert results(archiving.archive_logs(folder, [path], rebuild=True)) == {"one": "archived"}
    assert_extracts(folder, [path])


# -- the command ------------------------------------------------------------------------------------------------------


def test_a_dry_run_writes_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(tmp_path)]
    played(tmp_path / "games", "one")
    before = contents(tmp_path)
    assert run([*home, "archive", "--dry-run"]) == 0
    assert "1 archived." in capfd.readouterr().out
    assert contents(tmp_path) == before
    assert not (tmp_path / "archive").exists()
    assert run([*home, "archive"]) == 0
    played(tmp_path / "games", "two")
    store.append(tmp_path / "games" / "one.jsonl", Note("late"))
    before = contents(tmp_path)
    capfd.readouterr()
    assert run([*home, "archive", "--dry-run", "--json"]) == 0
    assert [one["result"] for one in json.loads(capfd.readouterr().out)] == ["superseded", "archived"]
    assert run([*home, "archive", "--dry-run", "--rebuild", "--json"]) == 0
    assert [one["result"] for one in json.loads(capfd.readouterr().out)] == ["archived", "archived"]
    assert contents(tmp_path) == before


def test_a_rebuilt_archive_has_the_same_tables(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    games, folder = tmp_path / "games", tmp_path / "archive"
    paths = [with_dice(games, f"game-{number}", number) for number in range(4)]
    for path in paths:
        archiving.archive_logs(folder, [path])
    store.append(paths[2], Note("late"))
    archiving.archive_logs(folder, paths)
    before = tables(folder)
    assert run(["--home", str(tmp_path), "archive", "--rebuild"]) == 0
    assert "4 archived." in capfd.readouterr().out
    assert tables(folder) == before
    assert len(archive.open_archive(folder).parts) == 1
    assert_clean(folder)


def test_a_rebuilt_archive_of_no_games_is_empty(tmp_path: Path) -> None:
    path = played(tmp_path, "one")
    archiving.archive_logs(tmp_path / "archive", [path])
    store.append(path, Undo())
    assert results(archiving.archive_logs(tmp_path / "archive", [path], rebuild=True)) == {"one": "skipped"}
    assert tables(tmp_path / "archive") == {table: [] for table in TABLES}
    assert_clean(tmp_path / "archive")


@pytest.mark.parametrize("log", ["gone", "cut", "flipped", "of another name"])
def test_a_rebuild_never_throws_away_the_only_good_copy_of_a_game(log: str, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    paths = [played(tmp_path, "one"), played(tmp_path, "two")]
    sound = paths[0].read_bytes()
    archiving.archive_logs(folder, paths)
    match log:
        case "gone":
            paths.pop(0).unlink()
        case "cut":
            paths[0].write_bytes(sound[:-30])
        case "flipped":
            paths[0].write_bytes(sound.replace(b"5000", b"5001"))
        case _:
            paths[0].write_bytes(paths[1].read_bytes())
    with suppress(TenklogError):
        archiving.archive_logs(folder, paths, rebuild=True)
    assert dict(archive.extract(folder))["one"] == sound


@pytest.mark.parametrize("cores", [1, 2, None])
def test_an_empty_home_has_nothing_to_archive(
    cores: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert run(["--home", str(tmp_path), "archive"]) == 0
    assert capfd.readouterr() == ("No games.\n", "")
    assert run(["--home", str(tmp_path), "archive", "--rebuild"]) == 0
    assert run(["--home", str(tmp_path), "archive", "--files", "games"]) == 0


def test_a_game_in_the_environment_is_no_game_that_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(tmp_path / "games", "one")
    played(tmp_path / "games", "two")
    home = ["--home", str(tmp_path)]
    assert run([*home, "archive"]) == 0
    monkeypatch.setenv("TENKLOG_GAME", "one")
    assert run([*home, "archive", "--rebuild"]) == 0
    assert run([*home, "extract", "--all", "--into", str(tmp_path / "out")]) == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["one.jsonl", "two.jsonl"]


FOLDERS = (
    "two words", "it's", 'a "b"', "a[b]", "a[", "[!a]", "*", "a*b", "?", "%s %d", "50%", "Ünal 山", "{a}", "$file",
    "a;b", "a\\b", "#x", "a,b", "new\nline", "tmp_", "'; DROP TABLE games; --",
)  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_may_be_called_anything(name: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    home = tmp_path / name
    paths = [played(home / "games", "one"), with_dice(home / "games", "two", 2)]
    # Folders that its name would mean as a pattern.
    for other in ("ab", "a", "b", "axb", "x"):
        (tmp_path / other / "archive").mkdir(parents=True)
    assert run(["--home", str(home), "archive"]) == 0
    store.append(paths[0], Note("late"))
    assert run(["--home", str(home), "archive"]) == 0
    assert_extracts(home / "archive", paths)
    capfdbinary.readouterr()
    assert run(["--home", str(home), "extract", "one"]) == 0
    assert capfdbinary.readouterr().out == paths[0].read_bytes()
    assert run(["--home", str(home), "stats", "leaderboard", "--origin", "all", "--csv"]) == 0
    assert b"Anna" in capfdbinary.readouterr().out


@pytest.mark.parametrize("name", ["~", "~/archive", "file:", "file:/archive", "s3:/archive", "-x", "http:"])
def test_a_folder_is_a_folder_here_whatever_its_name_means_elsewhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = played(tmp_path, "one")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert results(archiving.archive_logs(Path(name), [path])) == {"one": "archived"}
    assert_extracts(tmp_path / name, [path])
    assert_extracts(Path(name), [path])


# -- extract ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home folder with three archived games."""
    for game in ("monday", "monday-2", "tuesday"):
        played(tmp_path / "games", game)
    archiving.archive_logs(tmp_path / "archive", sorted((tmp_path / "games").glob("*.jsonl")))
    return tmp_path


def test_extract_gives_a_log_to_standard_output(home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for typed, game in (("monday", "monday"), ("tu", "tuesday"), ("monday-", "monday-2")):
        assert run(["--home", str(home), "extract", typed]) == 0
        assert capfdbinary.readouterr() == ((home / "games" / f"{game}.jsonl").read_bytes(), b"")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("sunday", "no game 'sunday' is archived; did you mean"),
        ("mon", "begins 2 archived ids; one of monday, monday-2"),
        ("x" * 300, "is archived"),
        ("../monday", "is archived"),
        ("", "is archived"),
        ("%", "is archived"),
        ("monday tuesday", "several logs to standard output; --into DIR"),
        ("--all", "several logs to standard output; --into DIR"),
        ("--all monday --into x", "--all and a GAME"),
        ("--into x", "no game is named"),
    ],
)
def test_extract_refuses_what_names_no_game(
    typed: str, words: str, home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    assert run(["--home", str(home), "extract", *(typed.split() or [""])]) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert words in told.err
    assert told.err.count("\n") == 1
    assert not (home / "x").exists()


def test_extract_writes_files_and_never_over_another_log(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    into = home / "out" / "there"
    asked = ["--home", str(home), "extract"]
    assert run([*asked, "--all", "--into", str(into), "--dry-run"]) == 0
    assert not into.exists()
    listed = [str(into / f"{game}.jsonl") for game in ("monday", "monday-2", "tuesday")]
    assert capfd.readouterr().out.splitlines() == listed
    assert run([*asked, "tuesday", "--into", str(into)]) == 0
    assert os.listdir(into) == ["tuesday.jsonl"]
    assert run([*asked, "--all", "--into", str(into)]) == 0
    assert run([*asked, "--all", "--into", str(into)]) == 0
    for name in ("monday", "monday-2", "tuesday"):
        assert (into / f"{name}.jsonl").read_bytes() == (home / "games" / f"{name}.jsonl").read_bytes()
    other = into / "monday-2.jsonl"
    other.write_bytes(b"mine\n")
    capfd.readouterr()
    for dry in ([], ["--dry-run"]):
        assert run([*asked, "--all", "--into", str(into), *dry]) == 5
        told = capfd.readouterr()
        assert str(other) in told.err
        assert other.read_bytes() == b"mine\n"


def test_extracted_logs_are_archived_games_again(home: Path) -> None:
    into = home / "out"
    assert run(["--home", str(home), "extract", "--all", "--into", str(into)]) == 0
    found = results(archiving.archive_logs(home / "archive", sorted(into.glob("*.jsonl"))))
    assert set(found.values()) == {"already"}
    archiving.archive_logs(home / "again", sorted(into.glob("*.jsonl")))
    assert tables(home / "again") == tables(home / "archive")


def test_extract_of_an_empty_archive_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--home", str(tmp_path), "extract", "one"]) == 2
    assert "archive some with `tenklog archive`" in capfd.readouterr().err
    with pytest.raises(UsageError):
        list(archive.extract(tmp_path / "archive", ["one"]))
    assert list(archive.extract(tmp_path / "archive")) == []


def test_more_games_than_are_read_at_once_are_extracted(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    paths = [played(tmp_path, f"game-{number}", "bank 11000, bank 0") for number in range(1001)]
    archiving.archive_logs(folder, paths)
    assert_extracts(folder, paths)
    assert [game for game, _ in archive.extract(folder, ["game-7", "game-700", "game-7"])] == [
        "game-7", "game-700", "game-7"
    ]  # fmt: skip


def test_columns_that_an_older_tenklog_did_not_write_are_null(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    archiving.archive_logs(folder, [played(tmp_path, "old")])
    manifest = archive.read_manifest(folder)
    (part,) = manifest.parts
    old = folder / part.files["turns"].name
    bare = folder / "bare.parquet"
    duckdb.execute(f"COPY (SELECT * EXCLUDE (lead) FROM '{old}') TO '{bare}' (FORMAT parquet)")
    sha = archive.sha256(bare)
    name = f"turns-{sha[:32]}.parquet"
    bare.rename(folder / name)
    turns = archive.File(name, sha, (folder / name).stat().st_size, part.files["turns"].rows)
    aged = archive.Part(part.games, {**part.files, "turns": turns}, "of an older tenklog")
    (folder / archive.MANIFEST).write_bytes(msgspec.json.encode(archive.Manifest(1, (aged,))))
    assert set(ask(folder, "turns", "lead")) == {(None,)}
    archiving.archive_logs(folder, [played(tmp_path, "new")])
    assert {game for game, lead in ask(folder, "turns", "game, lead") if lead is not None} == {"new"}
    assert_extracts(folder, [tmp_path / "old.jsonl", tmp_path / "new.jsonl"])


def test_a_log_that_lost_its_end_replaces_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    path = played(tmp_path, "one")
    archiving.archive_logs(folder, [path])
    sound = path.read_bytes()
    lines = sound.splitlines(keepends=True)
    for keep in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:keep]))
        found = archiving.archive_logs(folder, [path])
        assert [one.result for one in found] == ["failed"]
        assert f"has {keep} events, and {len(lines)} are archived: it has lost its end" in found[0].why
        assert dict(archive.extract(folder)) == {"one": sound}


def test_another_history_replaces_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    path = played(tmp_path, "one")
    archiving.archive_logs(folder, [path])
    sound, log = path.read_bytes(), store.read(path).events
    path.unlink()
    other = log[:-1] + draft(fold(log[:-1]), Note("elsewhere")).events
    other += draft(fold(other), Abandon()).events
    store.write_log(path, other)
    found = archiving.archive_logs(folder, [path])
    assert [one.result for one in found] == ["failed"]
    assert "another history" in found[0].why
    assert dict(archive.extract(folder)) == {"one": sound}


def test_parts_without_a_manifest_are_damage_and_are_not_swept(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    path = played(tmp_path, "one")
    archiving.archive_logs(folder, [path])
    (folder / archive.MANIFEST).unlink()
    before = contents(folder)
    for read in (lambda: archiving.archive_logs(folder, [path]), lambda: archive.open_archive(folder)):
        with pytest.raises(TenklogError, match="is missing, but there are parts"):
            read()
    assert contents(folder).keys() == before.keys()
    assert results(archiving.archive_logs(folder, [path], rebuild=True)) == {"one": "archived"}
