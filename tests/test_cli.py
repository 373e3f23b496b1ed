"""The command line, as a person and as a script use it."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from tenklog import cli
from tenklog.schemas import files

ROOT = Path(__file__).parent.parent
SAMPLES = sorted((ROOT / "sample_logs").glob("*.jsonl"))
GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.txt"))


class Shell:
    """Runs commands in this process, in a home of its own."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, line: str, code: int = 0) -> str:
        """Run a command line, expect an exit code, return what it printed."""
        found = cli.run(shlex.split(line))
        out, err = self.capsys.readouterr()
        assert found == code, (line, out, err)
        assert "Traceback" not in err
        return out

    def json(self, line: str, schema: str, code: int = 0) -> Any:
        """Run a command with --json and check the document against its schema."""
        document = json.loads(self(f"{line} --json", code))
        jsonschema.validate(document, json.loads(files()[f"{schema}.schema.json"]))
        return document


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("TENKLOG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TENKLOG_GAME", raising=False)
    monkeypatch.chdir(ROOT)
    return Shell(capsys)


def totals(show: Any) -> dict[str, int]:
    return {one["player"]: one["total"] for one in show["standings"]}


# -- the documents' games, typed in -----------------------------------------------------------------------------------


def test_the_ten_thousand_example_can_be_typed_in_command_by_command(shell: Shell) -> None:
    shell("new 'Player 1' 'Player 2' --rules ten-thousand -g example")
    for line in ("roll 133446", "keep 1", "roll 2 2 2 3 4", "keep 222", "roll 5,5"):
        shell(line)
    record = shell.json("keep 55", "record")
    assert record["show"]["turn"] == {
        "player": "Player 1",
        "points": 400,
        "dice_left": 6,
        "rolls": 3,
        "phase": "kept",
        "legal": ["roll", "bank"],
        "stolen": False,
        "challenge": None,
    }
    record = shell.json("roll 223446", "record")
    assert [event["type"] for event in record["events"]] == ["roll", "bust"]
    for line in ("roll 555244", "keep 555", "roll 123", "keep 1", "bank"):
        shell(line)
    show = shell.json("show", "show")
    assert totals(show) == {"Player 1": 0, "Player 2": 600}
    assert (show["status"], show["round"], show["to_play"], show["due"]) == ("in-progress", 2, "Player 1", [])
    sheet = shell.json("sheet", "sheet")
    assert sheet["rounds"] == [
        {
            "round": 1,
            "entries": [
                {"player": "Player 1", "posted": 0, "total": 0, "outcome": "bust"},
                {"player": "Player 2", "posted": 600, "total": 600, "outcome": "banked"},
            ],
        }
    ]


POSTED = {
    "Anna": ["700", "1200", "2500", "1000", "3000", "2400"],
    "Ben": ["1050", "350", "0", "1200", "2000", "1500"],
    "Cara": ["0", "1500", "800", "bust", "2200", "1000"],
}
RUNNING = {
    "Anna": [0, 1200, 3700, 4700, 7700, 10100],
    "Ben": [1050, 1400, 1400, 2600, 4600, 6100],
    "Cara": [0, 1500, 2300, 1300, 3500, 4500],
}


@pytest.mark.parametrize(
    ("seats", "crossing", "due"),
    [
        (("Anna", "Ben", "Cara"), {"Anna": 10100, "Ben": 4600, "Cara": 3500}, ["Ben", "Cara"]),
        (("Ben", "Cara", "Anna"), {"Anna": 10100, "Ben": 6100, "Cara": 4500}, ["Ben", "Cara"]),
    ],
)
def test_the_tiotusen_score_sheet_can_be_typed_in_with_both_seatings(
    shell: Shell, seats: tuple[str, ...], crossing: dict[str, int], due: list[str]
) -> None:
    shell(f"new {' '.join(seats)} --rules tiotusen --set bust_penalty=1000 -g sheet")
    shows = []
    for number in range(6):
        for player in seats:
            entry = POSTED[player][number]
            shows.append(shell.json("bust" if entry == "bust" else f"bank {entry}", "record")["show"])
    crossed = next(show for show in shows if totals(show)["Anna"] == 10100)
    assert (totals(crossed), crossed["status"], crossed["due"]) == (crossing, "last-turns", due)
    sheet = shell.json("sheet", "sheet")
    found: dict[str, list[int]] = {player: [] for player in seats}
    for one in sheet["rounds"]:
        for entry in one["entries"]:
            found[entry["player"]].append(entry["total"])
    assert found == RUNNING
    if seats[0] == "Anna":
        assert (shows[-1]["status"], shows[-1]["winners"]) == ("finished", ["Anna"])
    else:
        assert shows[-1]["status"] == "last-turns"


# -- shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_passes_check_and_every_view_has_its_shape(shell: Shell, path: Path) -> None:
    name = path.relative_to(ROOT)
    assert shell.json(f"check {name}", "check") == {"files": [str(name)], "problems": []}
    show = shell.json(f"show {name}", "show")
    assert {"game", "title", "rules", "status", "round", "to_play", "due", "winners", "standings", "turn"} <= {*show}
    shell.json(f"sheet {name}", "sheet")
    replay = shell.json(f"replay {name} --rules recorded --rules farkle --rules zilch", "replay")
    assert replay["games"][0]["replays"][0]["divergences"] == []
    assert [row["rules"] for row in replay["summary"]] == ["recorded", "farkle", "zilch"]
    for view in ("show", "sheet", "events"):
        for form in ("table", "markdown", "csv", "jsonl"):
            assert shell(f"{view} {name} --format {form}")


def test_the_events_of_a_log_come_out_as_they_stand_in_it(shell: Shell) -> None:
    for path in SAMPLES:
        lines = [line[: line.rindex(',"h":')] + "}" for line in path.read_text(encoding="utf-8").splitlines()]
        assert shell(f"events {path} --format jsonl").splitlines() == lines


def test_a_score_names_the_winning_partition_and_all_legal_keeps(shell: Shell) -> None:
    found = shell.json("score 112255 --rules zilch", "score")
    assert found["best"] == {
        "dice": [1, 1, 2, 2, 5, 5],
        "points": 2000,
        "combinations": [{"name": "three_pairs", "dice": [1, 1, 2, 2, 5, 5], "points": 2000}],
    }
    assert {"dice": [1, 1, 5], "points": 250} in found["keeps"]
    assert shell.json("score 223446 --rules ten-thousand", "score")["bust"] is True


@pytest.mark.parametrize("preset", ["diecimila", "tiotusen", "zilch", "ten-thousand"])
def test_the_table_of_a_preset_is_the_one_that_was_derived_independently(shell: Shell, preset: str) -> None:
    expected = (ROOT / "tests" / "tables" / f"best_{preset}.csv").read_text(encoding="utf-8")
    assert shell(f"rules table {preset} --csv") == expected


def test_rules_written_as_a_file_read_back_equal(shell: Shell, tmp_path: Path) -> None:
    for row in json.loads(shell("rules list --json")):
        file = tmp_path / f"{row['name']}.toml"
        file.write_text(shell(f"rules show {row['name']} --toml"), encoding="utf-8")
        assert json.loads(shell(f"rules diff {row['name']} {file} --json")) == []


def test_a_house_rule_is_two_lines_in_the_home(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "rules"
    folder.mkdir(parents=True)
    (folder / "ours.toml").write_text('based_on = "tiotusen"\nopening_minimum = 350\n')
    found = json.loads(shell("rules diff tiotusen ours --json"))
    assert found == [{"key": "opening_minimum", "old": "1000", "new": "350"}]
    assert "ours" in shell("rules list")


# -- several games, several rulesets ----------------------------------------------------------------------------------


def test_several_games_are_summed_up_under_each_ruleset(shell: Shell) -> None:
    names = [str(path) for path in SAMPLES if path.stem.endswith("-evening")]
    found = shell.json(f"replay {' '.join(names)} --rules recorded --rules ten-thousand", "replay")
    own, other = found["summary"]
    assert (own["games"], own["same_winner"], own["other_winner"], own["undecided"]) == (4, 4, 0, 0)
    assert own["turns"]["rescored"] == own["turns"]["settled"] == own["turns"]["never_happened"] == 0
    assert other["same_winner"] + other["other_winner"] + other["undecided"] == 4
    assert sum(other["turns"].values()) == sum(own["turns"].values())


def test_a_written_replay_passes_check_and_stands_as_reported(shell: Shell, tmp_path: Path) -> None:
    name = "sample_logs/zilch-evening.jsonl"
    found = shell.json(f"replay {name} --rules farkle --rules tiotusen --write {tmp_path}/out", "replay")
    for replay in found["games"][0]["replays"]:
        written = tmp_path / "out" / f"zilch-evening-{replay['rules']}.jsonl"
        assert shell.json(f"check {written}", "check")["problems"] == []
        assert shell.json(f"show {written}", "show")["standings"] == replay["standings"]


def test_every_rescored_turn_is_named_with_both_changes(shell: Shell) -> None:
    found = shell.json("replay sample_logs/zilch-evening.jsonl --rules farkle", "replay")["games"][0]["replays"][0]
    assert len(found["rescored"]) == found["turns"]["rescored"] == 9
    assert all(one["recorded"] != one["replayed"] for one in found["rescored"])
    text = shell("replay sample_logs/zilch-evening.jsonl --rules farkle")
    assert text.count("rescored: ") == 9


def test_a_replay_that_stops_at_a_guess_exits_with_1(shell: Shell) -> None:
    found = shell.json("replay sample_logs/tiotusen-evening.jsonl --rules zilch --settle stop", "replay", code=1)
    assert found["games"][0]["replays"][0]["status"] == "stopped"


# -- what a script relies on ------------------------------------------------------------------------------------------


def test_a_repeated_command_is_harmless_and_gives_the_first_answer(shell: Shell) -> None:
    first = shell.json("new Anna Ben --id evening-1 --throw-for-first", "record")
    again = shell.json("new Anna Ben --id evening-1 --throw-for-first", "record")
    assert again == first
    thrown = shell.json("throw --id throw-1", "record")
    assert shell.json("throw --id throw-1", "record") == thrown
    shell("throw --id throw-2", code=0 if "roll" in (thrown["show"]["turn"] or {"legal": []})["legal"] else 2)


def test_names_and_amounts_that_begin_with_a_hyphen_work_as_typed(shell: Shell) -> None:
    shell("new -ben Anna -g evening --set bust_penalty=300")
    shell("bust")
    shell("expect -ben=-300")
    shell("rename -ben -jen")
    assert totals(shell.json("show", "show")) == {"-jen": -300, "Anna": 0}


def test_a_csv_cell_that_a_spreadsheet_would_run_is_made_harmless(shell: Shell) -> None:
    out = shell("show sample_logs/awkward.jsonl --csv")
    assert "'=HYPERLINK" in out
    assert ",007," in out
    assert ",1e5," in out


@pytest.mark.parametrize("line", ["bank 300", "show", "events", "games"])
def test_a_closed_output_is_quiet_and_what_was_recorded_stays(tmp_path: Path, line: str) -> None:
    env = os.environ | {"TENKLOG_HOME": str(tmp_path)}
    tenklog = [sys.executable, "-m", "tenklog"]
    subprocess.run([*tenklog, "new", "Anna"], env=env, check=True, capture_output=True)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*tenklog, *line.split()], env=env, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (4, b"")
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m tenklog {line} >&-'], env=env, stderr=subprocess.PIPE, check=False
    )
    assert done.returncode == 4
    assert done.stderr.startswith(b"tenklog: error: standard output is closed")
    shown = subprocess.run([*tenklog, "show", "--json"], env=env, check=True, capture_output=True)
    assert json.loads(shown.stdout)["standings"][0]["turns"] == (2 if line.startswith("bank") else 0)


def test_one_ruleset_that_is_wrong_hides_no_other(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "rules"
    folder.mkdir(parents=True)
    (folder / "bad.toml").write_text("nonsense")
    (folder / "good.toml").write_text('based_on = "tiotusen"\ntarget = 5000\n')
    assert "good" in shell("rules list", code=1)
    assert "good is sound" in shell(f"rules check {folder}/bad.toml {folder}/good.toml", code=1)
    shell("new Anna --rules good")
    shell("new Anna --rules tio-tusen")


def test_check_goes_on_after_what_can_not_be_read(shell: Shell, tmp_path: Path) -> None:
    shell("new Anna -g good")
    (tmp_path / "home" / "games" / "folder.jsonl").mkdir()
    problems = shell.json("check", "check", code=1)["problems"]
    assert [one["kind"] for one in problems] == ["unreadable"]


def test_a_log_under_another_name_is_read_with_a_remark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "backup.jsonl"
    copy.write_bytes(SAMPLES[0].read_bytes())
    assert cli.run(["fingerprint", str(copy)]) == 0
    out, err = capsys.readouterr()
    assert out.count(":") == 1
    assert "another name" in err


def test_a_dry_run_records_nothing(shell: Shell) -> None:
    shell("new Anna Ben -g evening")
    before = shell("fingerprint")
    assert "keep" in shell("roll 133446 --dry-run").lower()
    assert shell("fingerprint") == before


def test_a_log_can_be_read_from_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tenklog", "show", "-", "--json"],
        input=SAMPLES[0].read_bytes(),
        capture_output=True,
        check=True,
        env=os.environ | {"TENKLOG_HOME": str(tmp_path)},
    )
    assert json.loads(done.stdout)["game"] == SAMPLES[0].stem


# -- the whole of it --------------------------------------------------------------------------------------------------


def test_insight_commands_print_documents_of_their_schemas(shell: Shell, tmp_path: Path) -> None:
    found = shell.json("odds --rules zilch --opening", "odds")
    assert found["minimum"] == 500
    assert found["bank_at"]["6"] is None
    found = shell.json("advise 115322 --points 350 --rules tiotusen", "advise")
    assert found["options"][0]["dice"] == [1]
    assert found["game"] is None
    found = shell.json("advise -g sample_logs/in-progress.jsonl --goal win --samples 5", "advise")
    assert all(0 <= one["win"] <= 1 for one in found["options"])
    found = shell.json("luck sample_logs/ten-thousand-example.jsonl", "luck")
    kinds = [("luck" in step, "loss" in step) for turn in found["turns"] for step in turn["steps"]]
    assert set(kinds) == {(True, False), (False, True)}
    found = shell.json("sweep sample_logs/zilch-evening.jsonl --set target=5000,15000", "sweep")
    assert [one["values"] for one in found["rows"]] == [{"target": "5000"}, {"target": "15000"}]
    found = shell.json(
        "replay sample_logs/zilch-evening.jsonl --rules tiotusen --settle sample --samples 3", "replay"
    )  # fmt: skip
    assert found["games"][0]["replays"][0]["samples"] == 3
    found = shell.json(f"simulate --games 3 --players a=best,b=random --seed 1 --into {tmp_path / 'made'}", "simulate")
    assert found["new"] == 3
    assert shell(f"check {min((tmp_path / 'made').iterdir())}") == "1 log is sound.\n"


def test_simulated_games_go_into_the_homes_archive_or_another(shell: Shell, tmp_path: Path) -> None:
    line = "simulate --games 4 --players a=greedy,b=cautious --seed 1"
    assert shell.json(f"{line} --archive --rules farkle", "simulate")["new"] == 4
    assert shell.json(f"{line} --rules farkle --archive {tmp_path / 'other'}", "simulate")["new"] == 4
    assert shell.json(f"{line} --rules farkle --archive", "simulate")["new"] == 0
    told = json.loads(shell("stats leaderboard --origin simulated --json"))
    assert sorted(one["player"] for one in told) == ["a", "b"]
    assert sum(one["wins"] for one in told) == 4


def commands() -> list[tuple[str, click.Command]]:
    found = []
    for name in cli.COMMANDS:
        command = cli.cli.get_command(click.Context(cli.cli), name)
        assert command is not None
        if isinstance(command, click.Group):
            found += [(f"{name} {part}", one) for part, one in command.commands.items()]
        else:
            found.append((name, command))
    return found


@pytest.mark.parametrize(("name", "command"), commands(), ids=lambda one: one if isinstance(one, str) else "")
def test_every_command_has_help_and_an_example_of_itself(name: str, command: click.Command) -> None:
    assert command.help
    assert command.epilog is not None
    assert command.epilog.startswith(f"Example: tenklog {name}")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_output_is_as_it_was_reviewed(shell: Shell, path: Path) -> None:
    command, _, expected = path.read_text(encoding="utf-8").partition("\n")
    assert shell(command.removeprefix("$ tenklog ")) == expected


def readme_blocks() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [block.split("```")[0] for block in text.split("```console\n")[1:]]


def test_the_commands_of_the_readme_print_what_it_says(shell: Shell) -> None:
    blocks = readme_blocks()
    assert len(blocks) >= 4
    for block in blocks:
        for part in block.split("$ tenklog ")[1:]:
            line, _, expected = part.partition("\n")
            assert shell(line) == expected, line


def test_the_python_of_the_readme_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for block in (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]:
        exec(block.split("```")[0], {})
    assert capsys.readouterr().out.startswith("Cara\nTurnCounts(")


def test_a_recording_command_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; from tenklog import cli; "
        "[cli.run(line.split()) for line in ('new Anna Ben', 'roll 133446', 'keep 1', 'bank')]; "
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        env=os.environ | {"TENKLOG_HOME": str(tmp_path)},
    )
    loaded = done.stdout.splitlines()[-1].split()
    assert "tenklog.store" in loaded
    heavy = {"duckdb", "tabulate", "filelock", "importlib.metadata", "dataclasses", "asyncio", "tenklog.replayer"}
    assert not heavy & {*loaded}


def test_the_schemas_in_the_repository_are_those_of_the_code() -> None:
    made = files()
    written = {"FORMAT.md", "NOTATION.md"}  # by hand
    assert {path.name for path in (ROOT / "schemas").glob("*")} - written == {*made}
    for name, content in made.items():
        assert (ROOT / "schemas" / name).read_bytes() == content, f"{name}: python -m tenklog.schemas schemas"


def test_imports_go_upwards_only() -> None:
    """Each module imports from those above it in this list, so that no meaning stands in two places."""
    order = (
        "errors render dice files rules rulebook scoring cards events state ending turns chances totals graph stairs "
        "horizon policy odds advice game decider projections narrate home lines reading store checks notation pieces "
        "headings notated importing luck strategies explain recorded walk replayer compare sweep cells findings "
        "labels sheet_columns sheets figures faults miswritten proposals blame slips entries tally tables rows "
        "archive transitions jit kernel lockstep ledger followed staging archiving outcomes bulk_kernel columns bulk "
        "replays overview simulate people reports stats transpile spark executors evidence infer screen play sandbox "
        "query answers charts playback pictures page schemas cli"
    ).split()
    package = ROOT / "tenklog"
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    assert modules | {"cli"} == {*order}
    for place, name in enumerate(order):
        paths = [package / f"{name}.py"] if name != "cli" else [*(package / "cli").glob("*.py")]
        for path in paths:
            text = path.read_text(encoding="utf-8")
            for above in order[place + (name == "cli") :] if name != "cli" else []:
                assert f"from tenklog.{above} " not in text, (name, above)
                assert f"    from tenklog import {above}\n" not in text, (name, above)
