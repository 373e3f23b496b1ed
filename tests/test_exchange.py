"""Import and export, as a person and as a script use them."""

import csv
import io
import json
import re
import shlex
import sys
from pathlib import Path
from random import Random
from typing import Any
from unicodedata import category

import jsonschema
import pytest
from msgspec.structs import replace
from random_games import random_game

from tenklog import cli, events, notation, reading, store
from tenklog.home import Home
from tenklog.importing import plan, write
from tenklog.notation import Found
from tenklog.render import Output, render, visible
from tenklog.schemas import files

ROOT = Path(__file__).parent.parent
SAMPLES = sorted((ROOT / "sample_logs").glob("*.jsonl"))
FRIDAY = "game: friday\nplayers: Anna, Ben\nrules: ten-thousand\n\nAnna: 133446/1 =100\nBen: =600\n"
NAMELESS = FRIDAY.removeprefix("game: friday\n")


class Desk:
    """A folder to work in, with a home of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.home = Home(folder / "home")
        self.capsys = capsys

    def file(self, name: str, text: str | bytes) -> str:
        """Write a file."""
        (self.folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    def __call__(self, line: str, code: int = 0) -> str:
        """Run a command line, expect an exit code, return what it printed, or of an error its line."""
        found = cli.run(shlex.split(line))
        out, err = self.capsys.readouterr()
        assert found == code, (line, out, err)
        return err if code else out

    def json(self, line: str, schema: str) -> Any:
        """Run a command with --json and check the document against its schema."""
        document = json.loads(self(f"{line} --json"))
        jsonschema.validate(document, json.loads(files()[f"{schema}.schema.json"]))
        return document

    def logs(self) -> dict[str, bytes]:
        """Return all logs of the home."""
        return {path.name: path.read_bytes() for path in self.home.games()}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.setenv("TENKLOG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TENKLOG_GAME", raising=False)
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys)


def content(log: list[events.AnyEvent]) -> list[events.AnyEvent]:
    """Leave times and ids out."""
    return [replace(event, time=None, id=None) for event in log]


# -- import -----------------------------------------------------------------------------------------------------------


def test_the_example_of_the_page_is_imported(desk: Desk) -> None:
    page = (ROOT / "schemas" / "NOTATION.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```notation\n(.*?)```", page, re.DOTALL)
    (told,) = desk.json(f"import {desk.file('friday.txt', text)}", "import")
    assert told | {"game": ""} == {
        "game": "", "result": "new", "players": ["Anna", "Ben"], "totals": [400, 600],
        "rules": "ten-thousand", "status": "in-progress",
        "events": 20, "file": "friday.txt",
    }  # fmt: skip
    show = json.loads(desk(f"show {told['game']} --json"))
    assert show["title"] == "Friday at Anna's"
    assert {one["player"]: one["total"] for one in show["standings"]} == {"Anna": 400, "Ben": 600}
    assert desk("check") == "1 log is sound.\n"
    assert reading.read(desk.home.games()[0]).start.origin == "import"


@pytest.mark.parametrize("text", [FRIDAY, NAMELESS, NAMELESS + "\n" + FRIDAY])
def test_importing_a_file_twice_adds_nothing(desk: Desk, text: str) -> None:
    first = desk.json(f"import {desk.file('one.txt', text)}", "import")
    logs = desk.logs()
    assert len(logs) == len(first) > 0
    assert {one["result"] for one in first} == {"new"}
    again = desk.json(f"import {desk.file('two.txt', '# the same' + chr(13) + chr(10) + text)}", "import")
    assert again == [one | {"result": "already", "file": "two.txt"} for one in first]
    assert desk("import one.txt").count("already there") == len(first) if len(first) == 1 else True
    assert desk.logs() == logs


def test_a_game_that_stands_twice_in_a_file_is_imported_once(desk: Desk) -> None:
    told = desk.json(f"import {desk.file('twice.txt', NAMELESS + NAMELESS)}", "import")
    assert [one["result"] for one in told] == ["new", "already"]
    assert desk("import twice.txt twice.txt").endswith("0 imported, 4 already there.\n")
    assert len(desk.logs()) == 1


def test_a_game_that_has_gone_on_since_is_there_already(desk: Desk) -> None:
    desk(f"import {desk.file('friday.txt', FRIDAY)}")
    desk("bank 50 -g friday")
    logs = desk.logs()
    assert desk("import friday.txt") == "friday: already there.\n"
    assert desk.logs() == logs


def test_another_game_under_the_same_id_is_refused_and_nothing_is_written(desk: Desk) -> None:
    desk(f"import {desk.file('friday.txt', FRIDAY)}")
    logs = desk.logs()
    differs = "the game friday is there already, and differs from event 5 on"
    other = desk.file("other.txt", f"{NAMELESS.replace('600', '5')}\n{FRIDAY.replace('600', '650')}")
    assert desk(f"import {other}", 5) == (
        f"tenklog: error: other.txt:12:6: {differs}; another id, such as `game: friday-2` or -g friday-2\n"
    )
    longer = desk.file("longer.txt", FRIDAY + "Anna: !\n")
    assert "longer.txt:7:7: the game friday is there already, and ends before event 6" in desk(f"import {longer}", 5)
    assert desk.logs() == logs
    desk(f"import {longer} -g friday-2")
    assert {*desk.logs()} == {"friday.jsonl", "friday-2.jsonl"}


@pytest.mark.parametrize("order", ["good.txt bad.txt", "bad.txt good.txt", "both.txt"])
def test_when_anything_is_wrong_nothing_is_imported(desk: Desk, order: str) -> None:
    bad = NAMELESS.replace("=600", "=600 7")
    desk.file("good.txt", NAMELESS)
    desk.file("bad.txt", bad)
    desk.file("both.txt", NAMELESS + bad)
    place = "both.txt:10:11" if order == "both.txt" else "bad.txt:5:11"
    said = "the turn has ended before this; one turn a line, such as `Anna: 133446/1 =100`"
    assert desk(f"import {order}", 1) == f"tenklog: error: {place}: {said}\n"
    assert not (desk.folder / "home").exists()


def test_an_expect_that_is_false_keeps_a_game_out(desk: Desk) -> None:
    file = desk.file("friday.txt", FRIDAY + "expect: Ben=650\n")
    assert desk(f"import {file}", 1) == (
        "tenklog: error: friday.txt:7:1: Ben stands at 600, not 650; what the turns before add up to: "
        "`expect: Anna=100, Ben=600`\n"
    )
    assert not (desk.folder / "home").exists()


def test_a_dry_run_says_what_would_come_and_writes_nothing(desk: Desk) -> None:
    file = desk.file("friday.txt", FRIDAY)
    assert (
        desk(f"import {file} --dry-run")
        == "friday: would be imported, 5 events by ten-thousand, in-progress: Anna 100 · Ben 600.\n"
    )
    assert not (desk.folder / "home").exists()


def test_a_text_comes_from_standard_input_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(FRIDAY.encode())

    monkeypatch.setattr("sys.stdin", Input)
    assert (
        desk("import - -g saturday")
        == "saturday: imported, 5 events by ten-thousand, in-progress: Anna 100 · Ben 600.\n"
    )
    assert {*desk.logs()} == {"saturday.jsonl"}


def test_one_id_is_for_one_game(desk: Desk) -> None:
    both = desk.file("both.txt", NAMELESS + NAMELESS)
    assert desk(f"import {both} -g friday", 2).startswith("tenklog: error: both.txt holds 2 games, and -g friday is")
    assert desk(f"import {both} {both} -g friday", 2).startswith("tenklog: error: both.txt holds 2 games")
    one = desk.file("one.txt", NAMELESS)
    assert desk(f"import {one} {one} -g friday", 2).startswith("tenklog: error: 2 files are named, and -g friday is")
    assert desk(f"import {one} -g ../friday", 2).startswith("tenklog: error: '../friday' can't be the id of a game")


def test_the_rules_of_a_file_that_names_none_are_given(desk: Desk) -> None:
    bare = desk.file("bare.txt", "players: Anna\nAnna: =600\n")
    assert "the game names no rules" in desk(f"import {bare}", 1)
    desk(f"import {bare} --rules farkle --set target=5000 -g bare")
    rules = reading.read(desk.home.path("bare")).start.rules
    assert (rules.name, rules.target) == ("farkle", 5000)
    named = desk.file("friday.txt", FRIDAY)
    assert desk(f"import {named} --rules zilch", 2) == (
        "tenklog: error: friday.txt names its rules itself; --rules and --set are for a file that names none\n"
    )


def test_rules_of_ones_own_are_known_and_written_so_that_others_know_them(desk: Desk) -> None:
    (desk.folder / "home" / "rules").mkdir(parents=True)
    (desk.folder / "home" / "rules" / "ours.toml").write_text('based_on = "zilch"\ntarget = 9000\n')
    desk(f"import {desk.file('ours.txt', FRIDAY.replace('ten-thousand', 'Ours').replace('=100', ''))}", 1)
    desk(f"import {desk.file('ours.txt', NAMELESS.replace('ten-thousand', 'Ours').replace('=100', '444/444 =500'))}", 1)
    desk(f"import {desk.file('ours.txt', 'game: o' + chr(10) + 'players: Anna' + chr(10) + 'rules: Ours')}")
    assert desk("export o").splitlines()[2] == "rules: zilch name=ours target=9000"


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (FRIDAY.encode("utf-16"), "1:1: is no UTF-8 text (byte 0); a text saved as UTF-8"),
        (FRIDAY.encode() + "note: é".encode("latin-1"), "7:7: is no UTF-8 text (byte 89); a text saved as UTF-8"),
        (b"", "1:1: holds no game; a heading, such as `players: Anna, Ben`, and turns"),
        (
            b'{"type":"note"}\n',
            "1: Object missing required field 'seq' (byte 0); see schemas/FORMAT.md",
        ),
    ],
)
def test_what_is_no_text_is_refused_with_its_place(desk: Desk, data: bytes, answer: str) -> None:
    assert desk(f"import {desk.file('x.txt', data)}", 1) == f"tenklog: error: x.txt:{answer}\n"


def test_a_log_is_imported_byte_for_byte(desk: Desk) -> None:
    for path in SAMPLES:
        assert desk.json(f"import {path}", "import")[0]["result"] == "new"
        assert (desk.home.games_folder / path.name).read_bytes() == path.read_bytes()
        assert desk(f"import {path}") == f"{path.stem}: already there.\n"


def test_the_json_of_an_export_is_imported_as_it_was(desk: Desk) -> None:
    desk(f"export {' '.join(map(str, SAMPLES))} -o all.json")
    assert desk("import all.json").endswith(f"{len(SAMPLES)} imported, 0 already there.\n")
    assert desk.logs() == {path.name: path.read_bytes() for path in SAMPLES}
    text = (desk.folder / "all.json").read_text(encoding="utf-8")
    for old, new, answer in (
        ('"type": "roll"', '"type": "rolls"', "bad.json: Invalid value 'rolls'"),
        ('"version": 1', '"version": 2', "bad.json: Expected `int` <= 1".replace("`", "'")),
        ('"seq": 9,', '"seq": 8,', "bad.json: game 1, event 9: seq 8 follows seq 8; seq 9"),
        ("19:00:20.655Z", "19:00:70.655Z", "bad.json: time '"),
    ):
        spoilt = text[text.index('"ten-thousand-example"') :].replace(old, new, 1)
        desk.file("bad.json", '{ "games": [{ "game":' + spoilt)
        assert desk("import bad.json", 1).startswith(f"tenklog: error: {answer}"), old
    desk.file("bad.json", '{ "games": [{"events": []}]}')
    assert desk("import bad.json", 1).startswith("tenklog: error: bad.json: game 1 has no events; ")
    desk.file("bad.json", '{ "games": [{"events": [{"type":"note","seq":1,"text":"tea"}]}]}')
    assert desk("import bad.json", 1) == (
        "tenklog: error: bad.json: game 1, event 1: begins with no start event; the start first\n"
    )


def test_any_list_of_events_can_be_brought_in(desk: Desk) -> None:
    found = [Found(random_game(Random(seed)), ["here"] * 1000) for seed in range(20)]  # type: ignore[arg-type]
    planned = plan(desk.home, found, "-")
    assert not desk.logs()
    for one in planned + planned:
        write(one)
    assert len(desk.logs()) == 20
    assert [one.told.result for one in plan(desk.home, found, "-")] == ["already"] * 20
    for game, one in zip(found, planned, strict=True):
        assert content(reading.read(one.path).events)[1:] == content(game.events)[1:]
    assert desk("check") == "20 logs are sound.\n"


# -- export -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_is_exported_and_imported_as_it_was(desk: Desk, path: Path) -> None:
    desk(f"export {path} -o game.txt")
    desk("import game.txt")
    log = reading.read(path)
    there = reading.read(desk.home.path(path.stem))
    assert content(there.events) == content(log.events)
    assert there.start.time == log.start.time
    assert desk(f"export {path.stem}") == (desk.folder / "game.txt").read_text(encoding="utf-8")
    assert desk(f"import {path}") == f"{path.stem}: already there.\n"


def test_all_games_fit_into_one_text(desk: Desk) -> None:
    for path in SAMPLES:
        desk(f"import {path}")
    logs = {path.stem: content(reading.read(path).events) for path in SAMPLES}
    desk("export --all -o all.txt")
    for path in desk.home.games():
        path.unlink()
    assert desk("import all.txt").endswith(f"{len(SAMPLES)} imported, 0 already there.\n")
    assert {path.stem: content(reading.read(path).events) for path in desk.home.games()} == logs


def test_a_csv_sheet_is_the_sheet_on_paper(desk: Desk) -> None:
    assert desk(f"export {ROOT}/sample_logs/tiotusen-example.jsonl --format csv") == (
        "round,Anna,Ben,Cara\n"
        "1,0,1050,0\n2,1200,350,1500\n3,2500,0,800\n4,1000,1200,-1000\n5,3000,2000,2200\n6,2400,1500,1000\n"
        "total,10100,6100,4500\n"
    )
    assert desk(f"export {ROOT}/sample_logs/ten-thousand-example.jsonl --csv") == (
        "round,Player 1,Player 2\n1,bust,600\ntotal,0,600\n"
    )


def test_a_csv_sheet_adds_up_and_runs_no_formula(desk: Desk) -> None:
    for path in SAMPLES:
        rows = list(csv.reader(io.StringIO(desk(f"export {path} --csv"))))
        assert not [one for row in rows for one in row if re.match(r"[=@\t\r]|[+-](?!\d+$)", one)]
        for column in range(1, len(rows[0])):
            numbers = [int(row[column]) for row in rows[1:-1] if re.fullmatch(r"-?\d+", row[column])]
            assert sum(numbers) == int(rows[-1][column])
    rows = list(csv.reader(io.StringIO(desk(f"export {ROOT}/sample_logs/awkward.jsonl --csv"))))
    assert rows[0] == [
        "round", "007", "1e5", "'=HYPERLINK(\"x\")", "👨\u200d👩\u200d👧", "می\u200cخواهم", "'; DROP TABLE games; --",
        "<b>Eve</b>",
    ]  # fmt: skip
    assert desk(f"export {ROOT}/sample_logs/awkward.jsonl --csv --raw").splitlines()[0] == (
        'round,007,1e5,"=HYPERLINK(""x"")",👨\u200d👩\u200d👧,می\u200cخواهم,\'; DROP TABLE games; --,<b>Eve</b>'
    )


def test_a_csv_file_says_that_it_is_utf_8_and_no_file_is_overwritten(desk: Desk) -> None:
    line = f"export {ROOT}/sample_logs/score-sheet.jsonl -o"
    desk(f"{line} sheet.csv")
    data = (desk.folder / "sheet.csv").read_bytes()
    assert data.decode("utf-8-sig") == desk(f"{line[:-3]} --csv")
    assert data.startswith(b"\xef\xbb\xbfround,Mum,Dad,Kim\n")
    assert desk(f"{line} sheet.csv", 5) == "tenklog: error: sheet.csv exists already; another name\n"
    assert desk(f"{line} nowhere/sheet.csv", 4) == (
        "tenklog: error: nowhere/sheet.csv: there is no folder nowhere; a folder that is there\n"
    )
    assert (desk.folder / "sheet.csv").read_bytes() == data


def test_the_name_of_the_file_tells_the_format(desk: Desk) -> None:
    line = f"export {ROOT}/sample_logs/score-sheet.jsonl"
    for name, form in (("a.md", "markdown"), ("a.json", "json"), ("a.txt", "notation"), ("a", "notation")):
        desk(f"{line} -o {name}")
        assert (desk.folder / name).read_text(encoding="utf-8") == desk(f"{line} --format {form}")
    desk(f"{line} -o b.md --format json")
    assert json.loads((desk.folder / "b.md").read_bytes())["games"]


def test_markdown_has_a_sheet_for_each_game(desk: Desk) -> None:
    folder = ROOT / "sample_logs"
    found = desk(f"export {folder}/score-sheet.jsonl {folder}/ten-thousand-example.jsonl --format markdown")
    assert [line for line in found.splitlines() if line.startswith("##")] == [
        "## Sunday, farkle", "## ten-thousand-example, ten-thousand",
    ]  # fmt: skip
    for name in ("score-sheet", "ten-thousand-example"):
        assert desk(f"sheet {folder}/{name}.jsonl --format markdown") in found


def test_json_holds_the_whole_game(desk: Desk) -> None:
    names = " ".join(map(str, SAMPLES))
    games = desk.json(f"export {names}", "export")["games"]
    assert [one["game"] for one in games] == [path.stem for path in SAMPLES]
    for one, path in zip(games, SAMPLES, strict=True):
        assert one["events"] == json.loads(desk(f"events {path} --json"))
        assert one["show"] == json.loads(desk(f"show {path} --json"))
        assert one["sheet"] == json.loads(desk(f"sheet {path} --json"))
        assert one["fingerprint"] + "\n" == desk(f"fingerprint {path}")


def test_the_current_game_is_exported_unless_another_is_named(desk: Desk) -> None:
    desk("new Anna Ben -g evening --rules zilch")
    desk("bank 600")
    assert desk("export").splitlines()[-1] == "Anna: =600"
    assert desk("export -g evening") == desk("export evening") == desk("export")
    assert desk("export --all evening", 2) == "tenklog: error: --all and a GAME; some games, or --all\n"
    assert "2 games in one CSV sheet" in desk("export evening evening --csv", 2)


def test_an_export_is_utf_8_wherever_it_goes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", out)
    assert cli.run(["export", str(ROOT / "sample_logs" / "awkward.jsonl")]) == 0
    written = out.buffer.getvalue()
    assert written.decode() == notation.write(store.read(ROOT / "sample_logs" / "awkward.jsonl").events)


@pytest.mark.parametrize("form", ["json", "jsonl"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_wherever_it_goes(desk: Desk, monkeypatch: pytest.MonkeyPatch, form: str, encoding: str) -> None:
    desk("new José 👩‍👧 Ægir -g evening --rules zilch")
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr("sys.stdout", out)
    assert cli.run(["show", "--format", form]) == 0
    lines = out.buffer.getvalue().decode(encoding).splitlines()
    rows = json.loads("".join(lines))["standings"] if form == "json" else list(map(json.loads, lines))
    assert [row["player"] for row in rows] == ["José", "👩‍👧", "Ægir"]


def test_json_holds_no_character_that_a_terminal_obeys() -> None:
    kinds = {"Cc", "Cf", "Zl", "Zp", "Zs"}
    obeyed = [one for one in map(chr, range(sys.maxunicode + 1)) if category(one) in kinds and visible(one) != one]
    assert len(obeyed) > 200
    texts = ["".join(obeyed), *obeyed]
    for form in ("json", "jsonl"):
        text = render(Output(dict(enumerate(texts))), form)
        assert all(line == visible(line) for line in text.split("\n"))
        assert list(json.loads(text).values()) == texts
