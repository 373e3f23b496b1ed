"""Reports at the command line: filters, names of every kind in every form, who is who, pictures, one's own reports."""

import csv
import io
import json
import math
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import duckdb
import pytest
from msgspec.structs import replace

from tenklog import archiving, charts, cli, events, reports, rulebook, rules, stats, store
from tenklog.decider import Abandon, Bank, Command, Keep, Roll, draft
from tenklog.errors import DataError, UsageError
from tenklog.game import fold
from tenklog.people import read_people
from tenklog.projections import standings
from tenklog.render import FORMATS, FORMULA
from tenklog.replays import Asked, replay_archive
from tenklog.state import legal

HOSTILE = ("007", "1e5", "'; DROP TABLE games; --", '=HYPERLINK("x")', "<b>x</b>", "-ben", "👨‍👩‍👧", "می‌خواهم")
RAISED = ("+49", "@sum", "a|b", "true", "NULL", "-", "{x}", "%s", "$1", '"q"', "a, b")


def played(
    game: str, players: tuple[str, ...], seed: int, origin: str = "table", ruleset: str = "farkle"
) -> list[events.Event]:
    """Play a game to the end with seeded dice: best keeps, banks as soon as it may."""
    rng = Random(seed)
    agreed = rules.change(rulebook.preset(ruleset), {"target": 2000})
    start = events.Start(
        1, game=game, version=1, players=players, rules=agreed, origin=origin,  # type: ignore[arg-type]
        of="1:" + "0" * 32 if origin == "replay" else None,
    )  # fmt: skip
    log: list[events.Event] = [start]
    state = fold(log)
    while (turn := state.position.turn) is not None:
        asked: Command = Roll(tuple(rng.choices(range(1, 7), k=turn.dice_left)))
        if turn.phase == "rolled":
            asked = Keep("best")
        elif turn.points >= 300 and "bank" in legal(state.position):
            asked = Bank()
        made = draft(state, asked)
        log += made.events
        state = made.game
    began = datetime(2026, 1, 1 + seed % 28, 20, tzinfo=UTC)
    times = ((began + timedelta(seconds=10 * n)).isoformat(timespec="milliseconds")[:23] + "Z" for n in range(len(log)))
    return [replace(event, time=time) for event, time in zip(log, times, strict=True)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with games of all kinds of names, archived."""
    folder = tmp_path_factory.mktemp("home")
    names = HOSTILE + RAISED
    for number in range(12):
        seats = tuple(names[(number * 2 + step) % len(names)] for step in range(4))
        store.write_log(folder / "games" / f"game-{number}.jsonl", played(f"game-{number}", seats, number))
    logs = sorted((folder / "games").glob("*.jsonl"))
    found = archiving.archive_logs(folder / "archive", logs, luck=True)
    assert {one.result for one in found} == {"archived"}
    replay_archive(folder / "archive", [Asked("recorded", None)], turns=True)
    return folder


class Shell:
    """Runs commands in this process, on one home."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.capsys = capsys

    def __call__(self, *words: str, code: int = 0) -> str:
        """Run a command, expect an exit code, return what it printed."""
        found = cli.run(["--home", str(self.home), *words])
        self.out, self.err = self.capsys.readouterr()
        assert found == code, (words, self.out, self.err)
        assert len(self.err.splitlines()) <= 1
        return self.out


@pytest.fixture
def shell(home: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(home, capsys)


REPORTS = list(reports.ours())
WITH_PLAYER = [name for name, one in reports.ours().items() if one.columns[0].name == "player"]


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("report", WITH_PLAYER)
def test_every_name_is_exactly_itself_in_every_form(shell: Shell, report: str) -> None:
    rows = json.loads(shell("stats", report, "--json"))
    names = {row["player"] for row in rows}
    assert names <= {*HOSTILE, *RAISED}
    if report != "comebacks":
        assert names == {*HOSTILE, *RAISED}
    lines = shell("stats", report, "--format", "jsonl").splitlines()
    assert [json.loads(line)["player"] for line in lines] == [row["player"] for row in rows]
    raw = list(csv.DictReader(io.StringIO(shell("stats", report, "--csv", "--raw"))))
    assert [row["player"] for row in raw] == [row["player"] for row in rows]
    harmless = [row["player"] for row in csv.DictReader(io.StringIO(shell("stats", report, "--csv")))]
    assert harmless == [("'" if one["player"].startswith(FORMULA) else "") + one["player"] for one in rows]
    table = shell("stats", report)
    assert all(name in table for name in names)
    markdown = shell("stats", report, "--format", "markdown")
    assert all(re.sub(r"([\\|<&])", r"\\\1", name) in markdown for name in names)


@pytest.mark.parametrize("name", [*HOSTILE, *RAISED])
def test_a_name_of_any_kind_can_be_asked_for(shell: Shell, name: str) -> None:
    rows = json.loads(shell("stats", "leaderboard", f"--player={name}", "--json"))
    assert [row["player"] for row in rows] == [name]
    if name != "true":  # `--param who=true` is no text
        sql = "SELECT DISTINCT player FROM turns WHERE player = $who::VARCHAR"
        asked = json.loads(shell("query", sql, f"--param=who={name}", "--json"))
        assert [row["player"] for row in asked] == [name]


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("form", FORMATS)
def test_every_report_can_be_printed_in_every_form(shell: Shell, report: str, form: str) -> None:
    out = shell("stats", report, "--format", form)
    assert out
    assert "nan" not in out.lower().replace("hennan", "")


def test_a_negative_number_stays_a_number_in_csv(shell: Shell) -> None:
    rows = csv.DictReader(
        io.StringIO(shell("query", "SELECT -5 AS a, -1.5::DECIMAL(3,1) AS b, -2.5::DOUBLE AS c", "--csv"))
    )
    assert list(rows) == [{"a": "-5", "b": "-1.5", "c": "-2.5"}]


# -- reports ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("report", reports.ours().values(), ids=lambda one: one.name)
def test_a_report_says_what_it_and_its_columns_mean(shell: Shell, report: reports.Report) -> None:
    assert report.title != report.name
    assert report.about.endswith(".")
    rows = json.loads(shell("stats", report.name, "--json"))
    assert all(list(row) == [column.name for column in report.columns] for row in rows)
    assert set(report.chart) <= {column.name for column in report.columns}
    assert "chosen" in report.sql, "filters by player don't reach it"


def test_the_list_of_reports_names_them_all(shell: Shell) -> None:
    assert [row["report"] for row in json.loads(shell("stats", "--json"))] == REPORTS


def test_a_report_over_an_empty_archive_has_no_rows_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(tmp_path, capsys)
    for report in REPORTS:
        assert json.loads(shell("stats", report, "--json")) == []
    shell("stats", "leaderboard")
    assert shell.err == "tenklog: the archive is empty; `tenklog archive` puts finished games into it\n"
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        ("leaderbord", 2, "there is no report 'leaderbord'; did you mean leaderboard?"),
        ("leaderboard --player Zoe", 2, "no archived game has the player 'Zoe'; known: "),
        ("leaderboard --rules farkel", 2, "no archived game has the rules 'farkel'; did you mean farkle?"),
        ("leaderboard --since yesterday", 2, "'yesterday' is no time; a day or a time such as 2026-11-29"),
        ("leaderboard --last 0", 2, "Invalid value for '--last': 0 is not in the range x>=1"),
        ("leaderboard --logs -", 2, "--logs - is standard input; a GAME that is a file"),
        ("records --chart", 2, "records has no picture; one of "),
    ],
)
def test_a_wrong_filter_is_named(shell: Shell, words: str, code: int, line: str) -> None:
    assert shell("stats", *shlex.split(words), code=code) == ""
    assert shell.err.startswith(f"tenklog: error: {line}")


def games_of(shell: Shell, *words: str) -> int:
    """Return how many games a report counts."""
    rows = json.loads(shell("stats", "rulesets", "--json", *words))
    return sum(row["games"] for row in rows)


def test_games_are_chosen_by_time_number_origin_and_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(tmp_path, capsys)
    kinds = (("table", "farkle"), ("import", "zilch"), ("replay", "farkle"), ("simulated", "zilch"), ("table", "zilch"))
    for number, (origin, ruleset) in enumerate(kinds):
        log = played(f"g{number}", ("Anna", "Ben"), number, origin, ruleset)
        store.write_log(tmp_path / "games" / f"g{number}.jsonl", log)
    shell("archive")
    assert shell.out == "5 archived.\n"
    assert games_of(shell) == 3  # what was played at a table or imported
    assert games_of(shell, "--origin", "all") == 5
    assert games_of(shell, "--origin", "replay", "--origin", "simulated") == 2
    assert games_of(shell, "--rules", "zilch") == 2
    assert games_of(shell, "--since", "2026-01-02") == 2
    assert games_of(shell, "--since", "2026-01-02T20:00:01") == 1
    assert games_of(shell, "--until", "2026-01-02") == 2  # the whole of that day
    assert games_of(shell, "--until", "2026-01-02T19:59") == 1
    assert games_of(shell, "--until", "2026-01-02T22:00+02:00") == 2
    assert games_of(shell, "--last", "2") == 2
    assert games_of(shell, "--last", "1", "--rules", "farkle") == 1
    assert json.loads(shell("query", "SELECT count(*) AS n FROM games", "--json")) == [{"n": 5}]
    assert json.loads(shell("query", "SELECT count(*) AS n FROM games", "--json", "--origin", "table")) == [{"n": 2}]
    assert json.loads(shell("stats", "leaderboard", "--min-games", "4", "--json")) == []
    assert len(json.loads(shell("stats", "leaderboard", "--min-games", "3", "--json"))) == 2


def test_games_without_luck_are_left_out_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(tmp_path, capsys)
    for number in range(3):
        store.write_log(tmp_path / "games" / f"g{number}.jsonl", played(f"g{number}", ("Anna", "Ben"), number))
    shell("archive", "g0", "--luck")
    shell("archive")
    turns = json.loads(shell("stats", "luck", "--json"))
    left_out = "tenklog: left out: 2 of the games, whose luck is not worked out yet; `tenklog archive --luck` does it\n"
    assert shell.err == left_out
    assert shell("archive", "--luck") == "1 already there, 2 measured.\n"
    more = json.loads(shell("stats", "luck", "--json"))
    assert shell.err == ""
    assert {one["player"] for one in more} == {one["player"] for one in turns} == {"Anna", "Ben"}
    assert sum(one["turns"] for one in more) > sum(one["turns"] for one in turns)


def test_a_log_that_is_not_archived_can_be_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(tmp_path, capsys)
    shell("new", "Anna", "Ben", "--rules", "ten-thousand", "-g", "now")
    shell("bank", "500")
    assert json.loads(shell("stats", "points", "--logs", "now", "--json")) == [
        {"from_points": 500, "below_points": 600, "turns": 1, "rate": 1.0}
    ]
    assert json.loads(shell("query", "SELECT status, rounds FROM games", "--logs", "now", "--json")) == [
        {"status": "in-progress", "rounds": 1}
    ]
    shell("abandon")
    shell("archive")
    shell("undo")
    found = json.loads(shell("query", "SELECT status FROM games", "--logs", "now", "--json"))
    assert found == [{"status": "in-progress"}], "the log is newer than what is archived"


# -- who is who -------------------------------------------------------------------------------------------------------


def test_one_person_under_two_spellings_is_joined_in_reports_and_not_in_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(tmp_path, capsys)
    for number, players in enumerate((("Anna", "Ben"), ("Annie", "Ben"), ("A.", "Ben"))):
        store.write_log(tmp_path / "games" / f"g{number}.jsonl", played(f"g{number}", players, number))
    shell("archive")
    assert [row["player"] for row in json.loads(shell("stats", "hot-dice", "--json"))] != []
    (tmp_path / "people.toml").write_text('Anna = ["Annie", "A."]\n', encoding="utf-8")
    rows = {row["player"]: row for row in json.loads(shell("stats", "leaderboard", "--json"))}
    assert set(rows) == {"Anna", "Ben"}
    assert rows["Anna"]["games"] == 3
    assert rows["Anna"]["wins"] + rows["Ben"]["wins"] == 3
    assert json.loads(shell("stats", "leaderboard", "--player", "Annie", "--json"))[0]["player"] == "Anna"
    assert json.loads(shell("query", "SELECT DISTINCT players FROM games", "--json")) == [{"players": ["Anna", "Ben"]}]
    assert json.loads(shell("games", "--players", "--json"))[0] == {
        "person": "Anna", "names": ["A.", "Anna", "Annie"], "games": 3, "last": "2026-01-03T20:00:00.000Z",
    }  # fmt: skip
    assert json.loads(shell("show", "g1", "--json"))["standings"][0]["player"] in ("Annie", "Ben")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Anna = 3", "'Anna' is no list of names"),
        ("Anna = [3]", "'Anna' is no list of names"),
        ("Anna = [", "is no TOML: "),
        ('Anna = ["A."]\nAgnes = ["A."]', "A. is Anna and Agnes"),
        ('Anna = ["Annie"]\nAnn = ["Anna"]', "Annie is Anna, who is Ann"),
        ('Anna = ["a\\u202eb"]', "the name 'a\\u202eb' has the character U+202E"),
        ("\udcff", "is no TOML: "),
    ],
)
def test_a_wrong_people_file_is_named(tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "people.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError) as error:
        read_people(path)
    assert str(error.value).startswith(f"{path}: {line}")


# -- reports of one's own, pictures -----------------------------------------------------------------------------------


def test_a_report_of_ones_own_runs_locked_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(tmp_path, capsys)
    store.write_log(tmp_path / "games" / "g.jsonl", played("g", ("Anna", "Ben"), 1))
    shell("archive")
    queries = tmp_path / "queries"
    queries.mkdir()
    (queries / "mine.sql").write_text(
        "-- title: Mine\n-- rate share: a share\nSELECT player, 0.5 AS rate FROM seats WHERE chosen(player)\n"
    )
    (queries / "theft.sql").write_text("SELECT * FROM read_text('/etc/hostname')")
    assert shell("stats", "mine", "--player", "Anna").splitlines()[-1].split() == ["Anna", "50.0%"]
    assert "mine" in shell("stats")
    shell("stats", "theft", code=1)
    assert "rejected" in shell.err
    (queries / "dice.sql").write_text("SELECT 1")
    shell("stats", code=1)
    assert "has the name of a report that is there already" in shell.err


@pytest.mark.parametrize("report", [name for name, one in reports.ours().items() if one.chart])
def test_pictures_are_legible_in_80_columns_without_colour(shell: Shell, report: str) -> None:
    pytest.importorskip("plotext")
    picture = shell("stats", report, "--chart", "--origin", "all")
    assert all(len(line) <= 80 for line in picture.splitlines())
    assert "\x1b" not in picture
    assert picture.count("#") > 10


@pytest.mark.parametrize("values", [[-5.0], [0.0], [-3.0, 4.0], [-3.0, 0.0], [0.0, 4.0], [1e-12], [-1e9, 1e9]])
def test_numbers_below_and_above_0_can_be_drawn(values: list[float]) -> None:
    pytest.importorskip("plotext")
    columns = (reports.ReportColumn("player", "text", ""), reports.ReportColumn("luck", "mean", ""))
    report = reports.Report("luck", "Luck", "", columns, "", chart=("player", "luck"))
    rows: list[tuple[object, ...]] = [(f"player {number}", value) for number, value in enumerate(values)]
    picture = charts.bars(report, stats.Answer(("player", "luck"), ("VARCHAR", "DOUBLE"), rows))
    assert all(f"player {number}" in picture for number in range(len(values)))
    assert all(f"{value:.1f}" in picture for value in values if abs(value) in (3.0, 4.0, 5.0))


def test_the_race_of_a_game_can_be_drawn(shell: Shell) -> None:
    pytest.importorskip("plotext")
    picture = shell("sheet", "game-1", "--chart")
    assert all(len(line) <= 80 for line in picture.splitlines())
    game = fold(store.read(shell.home / "games" / "game-1.jsonl").events)
    assert str(max(one.total for one in standings(game.position))) in picture


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_the_shared_functions_agree_with_their_definitions() -> None:
    con = duckdb.connect()
    for macro in stats.MACROS:
        con.execute(f"CREATE MACRO {macro}")

    def value(sql: str) -> float:
        return float(con.execute(f"SELECT ({sql})::DOUBLE").fetchall()[0][0])

    for step in range(1, 200):
        z = step / 20
        assert value(f"erfc({z})") == pytest.approx(math.erfc(z), rel=1e-12)
    # The 5% and 1% points of chi-square with 5 degrees of freedom, from any table of it.
    assert value("chi_square_5(11.070498)") == pytest.approx(0.05, abs=1e-7)
    assert value("chi_square_5(15.086272)") == pytest.approx(0.01, abs=1e-7)
    assert value("chi_square_5(0)") == 1
    # Wilson's interval of 1 of 10: 0.0179 to 0.4042.
    assert value("wilson_low(1, 10)") == pytest.approx(0.0179, abs=5e-5)
    assert value("wilson_high(1, 10)") == pytest.approx(0.4042, abs=5e-5)
    assert con.execute("SELECT share(0, 0), wilson_low(0, 0), wilson_high(0, 0)").fetchall() == [(None, None, None)]


def test_a_time_filter_must_be_one() -> None:
    assert stats.moment("2026-11-29", end=True) == datetime(2026, 11, 30, tzinfo=UTC)
    assert stats.moment("2026-11-29T20:15", end=True) == datetime(2026, 11, 29, 20, 16, tzinfo=UTC)
    with pytest.raises(UsageError):
        stats.moment("2026-13-29")


def test_abandoned_games_have_no_winner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(tmp_path, capsys)
    log = played("g", ("Anna", "Ben"), 3)[:20]
    log += draft(fold(log), Abandon()).events
    store.write_log(tmp_path / "games" / "g.jsonl", log)
    shell("archive")
    rows = json.loads(shell("stats", "leaderboard", "--json"))
    assert [(row["games"], row["wins"], row["win_rate"], row["abandoned"]) for row in rows] == [(0, 0, None, 1)] * 2
    assert shell("stats", "leaderboard").splitlines()[-1].split()[1:7] == ["0", "0", "0", "-", "-", "-"]


# -- what a new user stumbled over ------------------------------------------------------------------------------------


def test_the_columns_of_every_report_can_be_explained(shell: Shell) -> None:
    for report in reports.ours().values():
        told = shell("stats", report.name, "--explain")
        assert all(column.name in told for column in report.columns)
        assert all(len(line) <= 100 for line in told.splitlines())
        rows = json.loads(shell("stats", report.name, "--explain", "--json"))
        assert [row["meaning"] for row in rows] == [column.about for column in report.columns]


@pytest.mark.parametrize("option", [("--player", "Anna"), ("--min-games", "2")])
def test_sql_that_does_not_ask_who_was_chosen_is_not_filtered_in_silence(shell: Shell, option: tuple[str, str]) -> None:
    assert shell("query", "SELECT count(*) FROM turns", *option, code=2) == ""
    assert "WHERE chosen(player)" in shell.err
    asked = shell("query", "SELECT count(*) AS n FROM turns WHERE chosen(player)", "--player=007", "--csv")
    assert 0 < int(asked.split()[1]) < int(shell("query", "SELECT count(*) AS n FROM turns", "--csv").split()[1])


@pytest.mark.parametrize(
    "words", ["archive --archive", "extract game-1 --into", "stats leaderboard --player", "query --param"]
)
def test_an_option_without_its_value_takes_nothing_else_for_it(shell: Shell, words: str) -> None:
    assert shell(*words.split(), code=2) == ""
    assert "requires an argument" in shell.err
    assert not Path("--").exists()


def test_a_picture_of_one_row_has_its_value_at_the_end_of_the_axis(shell: Shell) -> None:
    pytest.importorskip("plotext")
    row = json.loads(shell("stats", "leaderboard", "--player=007", "--json"))[0]
    axis = shell("stats", "leaderboard", "--player=007", "--chart").splitlines()[-2].split()
    assert float(axis[0]) == 0
    assert float(axis[-1]) == pytest.approx(row["points_per_turn"], rel=1e-3)


@pytest.mark.parametrize("zone", ["", "Z", "+00:00", "+0000"])
def test_a_minute_is_included_whole_whatever_its_zone(zone: str) -> None:
    assert stats.moment(f"2026-11-25T19:45{zone}", end=True) == datetime(2026, 11, 25, 19, 46, tzinfo=UTC)


def test_the_last_games_of_a_player_are_those_of_that_player(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(tmp_path, capsys)
    for number, players in enumerate((("Anna", "Cara"), ("Anna", "Ben"))):
        store.write_log(tmp_path / "games" / f"g{number}.jsonl", played(f"g{number}", players, number))
    shell("archive")
    rows = json.loads(shell("stats", "profile", "--last", "1", "--player", "Cara", "--json"))
    assert [(row["player"], row["games"]) for row in rows] == [("Cara", 1)]


def test_a_folder_that_is_not_there_is_no_empty_archive(shell: Shell, tmp_path: Path) -> None:
    for words in (("stats", "leaderboard"), ("query", "SELECT 1"), ("extract", "game-1")):
        assert shell(*words, "--archive", str(tmp_path / "none"), code=4) == ""
        assert "there is no folder" in shell.err
