"""Bulk replays: each game becomes what a plain replay makes of it, whatever kills the run or changes the archive."""

import json
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import bulk_equality
import jsonschema
import msgspec
import numpy as np
import pytest
from evening import at_table
from msgspec.structs import astuple, replace

from tenklog import archive, archiving, bulk, columns, events, files, jit, overview, reading, replays, staging, store
from tenklog.cli import run
from tenklog.errors import TenklogError, UsageError
from tenklog.replayer import replay
from tenklog.rulebook import MAIN_PRESETS, preset
from tenklog.rules import change
from tenklog.schemas import files as schemas
from tenklog.simulate import Plan, into_archive
from tenklog.tables import TABLES

NAMES = ("zilch", "farkle-classic")
ASKED = [replays.Asked(name, preset(name)) for name in NAMES]
PLAYERS = (("Anna", "hold:300"), ("Ben", "dice:3"), ("Cara", "hold:500"))


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't wait for the disk; nothing here crashes."""
    monkeypatch.setattr(files, "sync", lambda fd: None)
    monkeypatch.setattr(files, "sync_folder", lambda folder: None)


def rows(folder: Path, table: str = "replays") -> list[str]:
    """Return the rows of a table in a fixed order, as a reader finds them."""
    manifest = archive.open_archive(folder, [table])
    con = archive.connect()
    found = con.execute(archive.source(folder, manifest, table)).fetchall()
    con.close()
    return sorted(map(repr, found))


def recorded(folder: Path, part: archive.Part, known: bulk.Known) -> columns.Recorded:
    """Read a part."""
    sources = {table: archive.source(folder, archive.Manifest(1, (part,)), table) for table in TABLES}
    paths = {table: folder / file.name for table, file in part.files.items()}
    return columns.read(partial(known.ask, sources), paths, known.symbols)


def games(folder: Path, count: int, begin: int = 0) -> list[Path]:
    """Write small games of Anna and Ben; in half of them a turn stands on a score sheet."""
    paths = []
    for number in range(begin, begin + count):
        script = f"roll 111234, keep 111, bank, roll 22234{number % 6 + 1}, keep 222, bank"
        dice = at_table("Anna Ben", target=1000)
        first, *rest = (
            (dice if number % 2 else at_table("Anna Ben"))
            .then(script if number % 2 else f"{script}, bank 10000, bank 50")
            .log
        )
        assert isinstance(first, events.Start)
        paths.append(folder / f"game-{number:03}.jsonl")
        store.write_log(paths[-1], [replace(first, game=paths[-1].stem), *rest])
    return paths


@pytest.fixture
def several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an archive of 40 games in four parts."""
    monkeypatch.setattr(archiving, "CHUNK_GAMES", 10)
    archiving.archive_logs(tmp_path / "archive", games(tmp_path / "games", 40))
    assert len(archive.read_manifest(tmp_path / "archive").parts) == 4
    return tmp_path / "archive"


# -- what becomes of games --------------------------------------------------------------------------------------------


def test_every_field_of_500_games_under_10_rulesets_is_that_of_a_plain_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = bulk_equality.compare_all(tmp_path, 500, 10, least=1)
    assert not wrong, capsys.readouterr().out


@pytest.fixture(scope="module")
def presets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return archives of simulated games, one for each main preset."""
    place = tmp_path_factory.mktemp("presets")
    for name in MAIN_PRESETS:
        into_archive(place / name, Plan(preset(name), PLAYERS, 1), 25)
    return place


def test_turns_between_the_main_presets_are_looked_up(presets: Path) -> None:
    for there in MAIN_PRESETS:
        done = replays.replay_archive(presets / there, [replays.Asked(here, preset(here)) for here in MAIN_PRESETS])
        assert done.made == 4
        assert done.games == 100
        assert done.looked_up / done.turns > 0.9, there


def test_games_under_their_own_rules_stay_as_they_are(presets: Path) -> None:
    for there in MAIN_PRESETS:
        replays.replay_archive(presets / there, [replays.Asked("recorded", None)])
        (total,) = overview.totals(presets / there, [replays.Asked("recorded", None)])
        assert (total.same_winner, total.other_winner) == (25, 0)
        assert (total.rescored, total.settled, total.never_happened, total.guesses) == (0, 0, 0, 0)


def test_what_is_compiled_and_what_is_not_play_the_same(presets: Path) -> None:
    for there in MAIN_PRESETS:
        known = bulk.Known()
        (part,) = archive.open_archive(presets / there).parts
        found = recorded(presets / there, part, known)
        chosen = np.flatnonzero(found.plain)
        assert len(chosen) > 20
        for here in MAIN_PRESETS:
            for length, counts in ((2, "busts"), (1, "first-roll-busts"), (3, "scoreless-turns")):
                changes = {"streak_length": length, "streak_penalty": 300, "streak_counts": counts}
                rules = known.rules(change(preset(here), {**changes, "bust_penalty": 100, "target": 4000}), "bank")
                told = [bulk.Told(found, asked=True) for _ in range(2)]
                pair = [
                    play(found, chosen, rules, one)
                    for play, one in zip((bulk.together, bulk.compiled), told, strict=True)
                ]
                for one, other in zip(*map(astuple, pair), strict=True):
                    assert one.tolist() == other.tolist(), (there, here, counts)
                assert told[0].table(found).equals(told[1].table(found)), (there, here, counts)


@pytest.mark.parametrize("compiled", [True, False])
def test_level_ends_are_played_on_as_a_plain_replay_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    """Recorded ones, of which the turns of the tied follow, and those that other rules bring."""
    monkeypatch.setattr(jit, "COMPILED", compiled)
    went_on: list[int] = []
    by_turns = bulk.by_turns

    def counting(*given: Any) -> Any:
        went_on.extend(given[1] if len(given) > 4 else [])
        return by_turns(*given)

    monkeypatch.setattr(bulk, "by_turns", counting)
    rules = change(preset("tiotusen"), {"opening_minimum": 0, "target": 400})
    into_archive(tmp_path, Plan(rules, PLAYERS, 1), 150)
    every = [
        replays.Asked(f"{target} {tie}", change(rules, {"target": target, "tie": tie, "opening_minimum": 400}))
        for target in (400, 450, 800)
        for tie in ("extra-turns", "shared")
    ]
    done = replays.replay_archive(tmp_path, every, turns=True)
    assert done.looked_up == done.turns
    assert len(went_on) > 15
    logs = [reading.parse(data, game) for game, data in archive.extract(tmp_path)]
    for one in every:
        found = {row[0]: row for row in bulk_equality.kept(tmp_path, one)}
        assert len(found) == 150
        turns = [*bulk_equality.of_table(tmp_path, one, "replayed_turns")]
        for log in logs:
            replayed = replay(log.game, log.events, one.rules, settle=one.settle, of=log.fingerprint)
            assert found[log.start.game] == bulk_equality.expected(log, one, replayed)
            of_game = [row for row in turns if row[0] == log.start.game]
            assert of_game == bulk_equality.turns_of(log.start.game, one, replayed)


def test_rows_in_another_order_are_not_looked_up(presets: Path, tmp_path: Path) -> None:
    folder = presets / "tiotusen"
    (part,) = archive.open_archive(folder).parts
    con = archive.connect()
    for table in ("turns", "rolls"):
        paths = {name: folder / file.name for name, file in part.files.items()}
        mixed = tmp_path / f"{table}.parquet"
        con.execute(f"COPY (FROM read_parquet('{paths[table]}') ORDER BY game DESC, turn) TO '{mixed}'")
        paths[table] = mixed
        sources = {name: f"FROM read_parquet('{path}')" for name, path in paths.items()}
        known = bulk.Known()
        assert not columns.read(partial(known.ask, sources), paths, known.symbols).plain.any(), table
    con.close()


@pytest.mark.parametrize("compiled", [True, False])
def test_games_of_every_kind_are_looked_up_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    """A remark or a corrected move changes nothing that is looked up; players who come and go do, and other rules."""
    monkeypatch.setattr(jit, "COMPILED", compiled)
    turns = "roll 111234, keep 111, bank, roll 222346, keep 222, bank"
    scripts = {
        "dice": turns,
        "note": f"note tea, {turns}",
        "undo": f"roll 111234, keep 11, undo, undo, {turns}",
        "expect": f"{turns}, expect Anna=1000",
        "sheet": "bank 1000, roll 222346, keep 222, bank",
        "join": f"join Cara, {turns}, bank 50",
        "change": f"change bust_penalty=5, {turns}",
        "abandoned": "roll 111234, keep 111, bank, abandon",
    }
    for game, script in scripts.items():
        first, *rest = at_table("Anna Ben", "tiotusen", target=1000, opening_minimum=0).then(script).log
        assert isinstance(first, events.Start)
        store.write_log(tmp_path / "games" / f"{game}.jsonl", [replace(first, game=game), *rest])
    archiving.archive_logs(tmp_path / "archive", sorted((tmp_path / "games").glob("*.jsonl")))
    (part,) = archive.open_archive(tmp_path / "archive").parts
    found = recorded(tmp_path / "archive", part, bulk.Known())
    assert {*found.ids.to_pylist()} == {*scripts}
    plain = {game for game, usual in zip(found.ids.to_pylist(), found.plain.tolist(), strict=True) if usual}
    assert plain == {"dice", "note", "undo", "expect"}


# -- what is kept of it -----------------------------------------------------------------------------------------------


def test_what_is_there_already_is_not_done_again(several: Path) -> None:
    done = replays.replay_archive(several, ASKED[:1])
    assert (done.made, done.there, done.games) == (4, 0, 40)
    before = rows(several)
    done = replays.replay_archive(several, ASKED)
    assert (done.made, done.there, done.games) == (4, 4, 40)
    after = rows(several)
    assert len(before) == 40
    assert len(after) == 80
    assert {*before} <= {*after}
    done = replays.replay_archive(several, ASKED)
    assert (done.made, done.there) == (0, 8)
    assert rows(several) == after


def test_a_list_of_an_older_tenklog_says_less_of_replays(several: Path) -> None:
    replays.replay_archive(several, ASKED, turns=True)
    before = rows(several)
    manifest = several / archive.MANIFEST
    text = re.sub(r',\s*"(name|source)": "[\w-]+"(?=,?\s*["}])', "", manifest.read_text(encoding="utf-8"))
    assert "source" not in text
    manifest.write_text(text, encoding="utf-8")
    assert rows(several) == before
    assert replays.replay_archive(several, ASKED, turns=True).there == 8
    assert rows(several) == before


def test_rules_that_were_changed_take_the_place_of_what_they_were(
    several: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever tunes a ruleset and replays again has one row a game, also when the second run is cut short."""

    def there() -> list[int]:
        """Return of how many parts something is kept, under each of the rules."""
        made = [one.asked for one in archive.open_archive(several).replays]
        return [made.count(one.key) for one in (*mine, *other)]

    def sync_some(target: Path, rows: int) -> archive.File:
        if len(synced) == 2:
            raise KeyboardInterrupt
        synced.append(target)
        return staging.synced(target, rows)

    synced: list[Path] = []
    rules = [change(preset("zilch"), {"target": target}) for target in (8000, 9000)]
    mine = [replays.Asked("mine", one) for one in rules]
    other = [
        replays.Asked("mine", change(rules[0], {"target": 3000}), ("target=3000",), base=rules[0]),
        replays.Asked("mine", rules[0], (), "void"),
        replays.Asked("zilch", change(preset("zilch"), {"target": 3000}), ("target=3000",), base=preset("zilch")),
    ]
    replays.replay_archive(several, [mine[0], *other], turns=True)
    assert there() == [4, 0, 4, 4, 4]
    replays.replay_archive(several, [mine[1]])
    assert there() == [0, 4, 0, 0, 4]
    assert len(rows(several)) == 2 * 40
    monkeypatch.setattr(replays, "COMMIT", -1)
    monkeypatch.setattr(replays, "synced", sync_some)
    with pytest.raises(KeyboardInterrupt):
        replays.replay_archive(several, [mine[0]])
    assert there() == [2, 0, 0, 0, 4]
    with pytest.raises(UsageError, match="two rulesets are called mine; a name for each"):
        replays.replay_archive(several, mine)


def test_turns_are_kept_where_they_are_asked_for(several: Path) -> None:
    """What has none is made again, and what has some is as good where none are asked for."""
    assert replays.replay_archive(several, ASKED[:1]).made == 4
    before = rows(several)
    assert not rows(several, "replayed_turns")
    done = replays.replay_archive(several, ASKED, turns=True)
    assert (done.made, done.there) == (8, 0)
    kept = rows(several, "replayed_turns")
    assert len(kept) == 2 * sum(row.count("game-") > 0 for row in rows(several, "turns"))
    assert {*before} < {*rows(several)}
    for again in (False, True):
        done = replays.replay_archive(several, ASKED, turns=again)
        assert (done.made, done.there) == (0, 8)
    assert rows(several, "replayed_turns") == kept
    assert len([*several.glob("replay*.parquet")]) == 16


def test_threads_and_processes_make_the_same(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = replays.replay_archive(several, ASKED, turns=True, processes=2)
    threads, turns = rows(several), rows(several, "replayed_turns")
    assert len(threads) == 80
    assert 0 < before.looked_up < before.turns
    monkeypatch.setattr(replays, "FEW", 4)  # of ten games of a part, five are on a score sheet and walked
    monkeypatch.setattr(archive, "code", lambda: "another")
    assert replays.replay_archive(several, ASKED, turns=True, processes=2) == before
    assert rows(several) == threads
    assert rows(several, "replayed_turns") == turns


def test_what_another_tenklog_made_is_none(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replays.replay_archive(several, ASKED[:1])
    monkeypatch.setattr(archive, "code", lambda: "another")
    assert rows(several) == []
    assert replays.replay_archive(several, ASKED[1:]).made == 4
    assert len(rows(several)) == 40
    assert {one.code for one in archive.read_manifest(several).replays} == {"another"}
    assert len([*several.glob("replays-*.parquet")]) == 4


def test_what_a_part_gave_goes_with_the_part(several: Path, tmp_path: Path) -> None:
    replays.replay_archive(several, ASKED)
    path = tmp_path / "games" / "game-007.jsonl"
    log = reading.read(path)
    store.write_log(tmp_path / "new" / path.name, [*log.events, events.Note(log.seq + 1, text="tea")])
    archiving.archive_logs(several, [tmp_path / "new" / path.name])
    left = rows(several)
    assert len(left) == 60
    assert not any("game-007" in row for row in left)
    assert replays.replay_archive(several, ASKED).there == 6
    assert len(rows(several)) == 80


def test_a_rebuilt_archive_keeps_no_replays(several: Path, tmp_path: Path) -> None:
    replays.replay_archive(several, ASKED)
    archiving.archive_logs(several, sorted((tmp_path / "games").glob("*.jsonl")), rebuild=True)
    assert rows(several) == []
    assert [*several.glob("replays-*")] == []


def test_a_damaged_file_of_replays_is_found(several: Path) -> None:
    replays.replay_archive(several, ASKED[:1])
    path = next(several.glob("replays-*.parquet"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    problems, _ = archive.check(several, [])
    assert len(problems) == 1
    assert [path.name in one.file for one in problems] == [True]
    with pytest.raises(TenklogError, match="SHA-256"):
        rows(several)
    assert replays.replay_archive(several, ASKED[:1]).made == 1  # it is made again
    assert len(rows(several)) == 40
    paths = [Path(f"game-{number:03}.jsonl") for number in range(40)]
    assert archive.check(several, paths)[0] == []


def test_one_writes_at_a_time(several: Path) -> None:
    with files.Lock(several / archive.MANIFEST, 1), pytest.raises(TenklogError, match="locked"):
        replays.replay_archive(several, ASKED, timeout=0)


KILLED = """
import os, signal, sys
from pathlib import Path
from tenklog import replays, files
from tenklog.rulebook import preset
if __name__ == "__main__":
    left = int(sys.argv[2])
    def dying(call):
        def die(*given):
            global left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given)
        return die
    for name in ("replace", "rename", "unlink", "fsync", "write"):
        setattr(os, name, dying(getattr(os, name)))
    replays.COMMIT = 0
    asked = [replays.Asked(name, preset(name)) for name in sys.argv[3:]]
    print(replays.replay_archive(Path(sys.argv[1]), asked, processes=2).made)
"""


def test_a_run_that_is_killed_anywhere_goes_on_where_it_was(several: Path, tmp_path: Path) -> None:
    """Killed at one call after another, in the middle of what the run before it left: all is done in the end, once."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    there, calls, runs = 0, 3, 0
    while True:
        runs += 1
        done = subprocess.run(
            [sys.executable, script, several, str(calls), *NAMES], capture_output=True, text=True, check=False
        )
        listed = len(archive.read_manifest(several).replays)
        assert listed >= there
        if done.returncode == 0:
            assert int(done.stdout) == 8 - there
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        there, calls = listed, calls + 5
    assert runs > 2
    assert there > 0
    again = rows(several)
    assert len(again) == 80
    assert not [path for path in several.iterdir() if path.name.startswith("_")]
    archive.verify(several, archive.read_manifest(several), whole=True)
    for path in several.glob("replays-*.parquet"):
        path.unlink()
    manifest = archive.read_manifest(several)
    (several / archive.MANIFEST).write_bytes(json_of(replace(manifest, replays=())))
    replays.replay_archive(several, ASKED)
    assert rows(several) == again


def json_of(value: Any) -> bytes:
    return msgspec.json.encode(value)


# -- the commands -----------------------------------------------------------------------------------------------------


def command(capfd: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    """Run a command; return what it printed on stdout and stderr."""
    capfd.readouterr()
    assert run(list(map(str, words))) == code
    found = capfd.readouterr()
    return found.out, found.err


def test_a_replayed_archive_is_summed_up_as_its_games_are(several: Path, capfd: pytest.CaptureFixture[str]) -> None:
    logs = sorted((several.parent / "games").glob("*.jsonl"))
    rulesets = [word for name in (*NAMES, "recorded") for word in ("--rules", name)]
    out, err = command(capfd, "replay", "--archive", several, *rulesets, "--json")
    document = json.loads(out)
    jsonschema.validate(document, json.loads(schemas()["replay-archive.schema.json"]))
    plainly = json.loads(command(capfd, "replay", *logs, *rulesets, "--json")[0])["summary"]
    for total, one in zip(document["totals"], plainly, strict=True):
        turns = one.pop("turns")
        assert {key: total[key] for key in (*one, *turns)} == one | turns
    assert "12 parts replayed, 0 there already" in err
    assert "of the turns looked up" in err
    out, err = command(capfd, "replay", "--archive", several, *rulesets)
    assert "0 parts replayed, 12 there already" in err
    assert out.splitlines()[-1].startswith("recorded")


def test_an_archive_is_swept_as_its_games_are(several: Path, capfd: pytest.CaptureFixture[str]) -> None:
    logs = sorted((several.parent / "games").glob("*.jsonl"))
    for options in (["--set", "target=500..10500:5000"], ["--rules", "zilch", "--set", "hot_dice=may-roll,must-bank"]):
        out, _ = command(capfd, "sweep", "--archive", several, *options, "--json")
        assert json.loads(out) == json.loads(command(capfd, "sweep", *logs, *options, "--json")[0])


def test_values_that_contradict_the_rules_are_left_out(several: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--rules", "zilch", "--set", "bank_minimum=0..20000:20000"]
    out, err = command(capfd, "sweep", "--archive", several, *options, "--json")
    assert [row["values"] for row in json.loads(out)["rows"]] == [{"bank_minimum": "0"}]
    assert "left out: bank_minimum=20000" in err
    command(capfd, "sweep", "--archive", several, "--set", "bank_minimum=20000,30000", code=2)


def test_sql_joins_replays_with_games(several: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command(capfd, "replay", "--archive", several, "--rules", "zilch", "--set", "target=5000")
    sql = (
        "SELECT r.rules, r.changes, g.rules AS there, count(*) AS games, sum(r.totals[1]) AS first "
        "FROM replays r JOIN games g USING (game) JOIN seats s ON s.game = g.game AND s.seat = 1 GROUP BY ALL"
    )
    out, _ = command(capfd, "query", sql, "--archive", several, "--csv")
    head, line = out.splitlines()
    assert head == "rules,changes,there,games,first"
    assert line.startswith("zilch,target=5000,farkle-classic,40,")
    out, _ = command(capfd, "query", "SELECT count(*) FROM replays", "--archive", several, "--last", 3, "--csv")
    assert out.splitlines()[1] == "3"


def test_a_report_compares_the_rulesets_that_games_were_replayed_under(
    several: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out, err = command(capfd, "stats", "replays", "--archive", several)
    assert err == "tenklog: no archived game is replayed yet; `tenklog replay --archive --rules RULES` does it\n"
    assert out.splitlines()[0].split()[:2] == ["rules", "changes"]
    command(capfd, "replay", "--archive", several, "--rules", "zilch", "--rules", "recorded")
    _, err = command(capfd, "stats", "divergences", "--archive", several)
    how = "tenklog replay --archive --turns --rules RULES"
    assert err == f"tenklog: no archived game is replayed turn by turn yet; `{how}` does it\n"
    command(capfd, "replay", "--archive", several, "--rules", "zilch", "--rules", "recorded", "--turns")
    found = json.loads(command(capfd, "stats", "divergences", "--archive", several, "--json")[0])
    replayed = json.loads(command(capfd, "stats", "replays", "--archive", several, "--json")[0])
    assert {row["rules"]: row["turns"] for row in replayed} == {
        rules: sum(row["turns"] for row in found if row["rules"] == rules) for rules in ("zilch", "recorded")
    }
    totals = json.loads(command(capfd, "sweep", "--archive", several, "--set", "target=500..1500:1000", "--json")[0])
    out, err = command(capfd, "stats", "replays", "--archive", several, "--json")
    rows = {(row["rules"], row["changes"]): row for row in json.loads(out)}
    assert [*rows] == [("recorded", None), ("recorded", "target=1500"), ("recorded", "target=500"), ("zilch", None)]
    assert (rows["recorded", None]["same"], rows["recorded", None]["same_winner"]) == (1.0, 1.0)
    zilch = rows["zilch", None]
    assert (zilch["games"], zilch["finished"], zilch["decided"]) == (40, 0, 0)
    assert (zilch["same_winner"], zilch["mean_rounds"]) == (None, None)
    for total in totals["rows"]:
        row = rows["recorded", f"target={total['values']['target']}"]
        for key in ("same", "rescored", "settled", "guesses", "never_happened"):
            assert row[key] == pytest.approx(total[key] / row["turns"])
    _, err = command(capfd, "stats", "replays", "--archive", several, "--since", "2030-01-01")
    assert "no row for this in 40 archived games" in err


def test_people_are_joined_in_replays_too(several: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    replays.replay_archive(several, [replays.Asked("recorded", None)])
    (tmp_path / "people.toml").write_text('Berta = ["Anna"]\n')
    sql = "SELECT DISTINCT unnest(winners) AS player FROM replays"
    for home, player in ((tmp_path / "none", "Anna"), (tmp_path, "Berta")):
        out, _ = command(capfd, "--home", home, "query", sql, "--archive", several, "--csv")
        assert out.split() == ["player", player]


def test_a_guess_stops_a_game_of_an_archive_too(several: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["replay", "--archive", several, "--rules", "diecimila", "--set", "dice=5", "--settle", "stop", "--json"]
    document = json.loads(command(capfd, *words, code=1)[0])
    assert [total["stopped"] for total in document["totals"]] == [40]


def test_an_empty_archive_has_nothing_to_replay(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "archive").mkdir()
    for where in (["--archive", str(tmp_path / "archive")], ["--archive"]):  # the home has none at all
        out, err = command(capfd, "--home", tmp_path / "home", "replay", "--rules", "zilch", "--csv", *where)
        assert out.splitlines()[1].startswith("zilch,0,")
        assert err == "tenklog: the archive is empty; `tenklog archive` puts finished games into it\n"
    _, err = command(capfd, "sweep", "--archive", tmp_path / "archive", "--set", "target=1..2", code=2)
    assert "the archive is empty" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("replay game-001 --rules zilch --archive", "--archive and a GAME"),
        ("replay -g game-001 --rules zilch --archive", "--archive and a GAME"),
        ("replay --rules zilch --settle sample --archive", "--archive and --settle sample"),
        ("replay --rules zilch --write there --archive", "--archive and --write"),
        ("replay --rules zilch --archive nowhere", "there is no folder nowhere"),
        ("sweep game-001 --set target=1..2 --archive", "--archive and a GAME"),
    ],
)
def test_what_is_about_games_is_refused_beside_an_archive(
    words: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    _, err = command(capfd, *words.split(), code=4 if "nowhere" in words else 2)
    assert err.startswith(f"tenklog: error: {said}")
    assert err.count("\n") == 1


def test_a_missing_library_is_named(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(UsageError, match="replaying an archive needs numpy and pyarrow") as error:
        replays.replay_archive(several, ASKED)
    assert "tenklog[bulk]" in error.value.right
