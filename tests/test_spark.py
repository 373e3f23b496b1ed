"""Spark says what the local engine says, on a cluster of two executor processes, one of which is killed on the way.

All tests that need a cluster share one. They are skipped where the extra or Java is missing, and fail there instead
when TENKLOG_SPARK is set, as `.ci/run` sets it.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest
from test_luck_reports import quick_ruleset
from test_reports import random_log
from test_stats import HOSTILE, played

from tenklog import archive, cli, executors, outcomes, reading, replays, reports, spark, stats, tables
from tenklog.archiving import archive_logs
from tenklog.errors import DataError, TenklogError
from tenklog.rulebook import preset
from tenklog.rules import change
from tenklog.stats import ORIGINS, Answer, Filters
from tenklog.store import write_log

WANTED = "TENKLOG_SPARK" in os.environ
LACKING = [name for name in ("pyspark", "pyarrow", "sqlglot") if find_spec(name) is None]
LACKING += [] if shutil.which("java") or "JAVA_HOME" in os.environ else ["Java"]
needs_spark = pytest.mark.skipif(bool(LACKING) and not WANTED, reason=f"no Spark here: {', '.join(LACKING)} missing")

CLUSTER = "local-cluster[2,1,1024]"
REPORTS = reports.ours()
# Little data: what Spark does to be fast with much would take most of the time.
QUICK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
PEOPLE = {"Ben": "Anna", "Cara": "Dov", "Ünal": "Somebody", "007": "1e5"}
FILTERS: dict[str, tuple[Filters, dict[str, str] | None]] = {
    "nothing": (Filters(), None),
    "everything": (
        Filters(
            players=("Anna", "Eli", "Somebody", "'; DROP TABLE games; --", "1e5", "{x}"),
            rules=("zilch", "tiotusen", "farkle"),
            origins=ORIGINS, since=datetime(2026, 1, 2, tzinfo=UTC), until=datetime(2026, 1, 29, tzinfo=UTC), last=20,
            min_games=1,
        ),
        PEOPLE,
    ),
    "who played": (Filters(origins=("table", "import", "replay"), min_games=2), PEOPLE),
}  # fmt: skip


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return random games, and some of players with awkward names, in files."""
    folder = tmp_path_factory.mktemp("games")
    rng = Random(11)
    agreed = [preset(name) for name in ("tiotusen", "zilch", "ten-thousand")] + [quick_ruleset(rng) for _ in range(4)]
    games = [random_log(rng, number, rng.choice(agreed)) for number in range(40)]
    names = (*HOSTILE, "{x}", "$1")
    games += [played(f"awkward-{n}", tuple(names[(3 * n + k) % len(names)] for k in range(3)), n) for n in range(4)]
    paths = []
    for log in games:
        paths.append(folder / f"{log[0].game}.jsonl")  # type: ignore[attr-defined]
        write_log(paths[-1], log)
    return paths


@pytest.fixture(scope="module")
def folder(logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of the games, in two parts, in a folder whose name a pattern would read otherwise.

    They have been replayed too.
    """
    made = tmp_path_factory.mktemp("archives") / "[a] {b,c}*d %41 e"
    for some in (logs[:20], logs[20:]):
        assert {one.result for one in archive_logs(made, some, luck=True)} == {"archived"}
    replays.replay_archive(made, [replays.Asked("recorded", None), replays.Asked("zilch", preset("zilch"))], turns=True)
    return made


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start a cluster of two executors on this machine."""
    with spark.session(CLUSTER, QUICK, package=True) as session:
        yield session
        application = session.sparkContext.applicationId
    shutil.rmtree(Path(_spark_home()) / "work" / application, ignore_errors=True)


def _spark_home() -> str:
    from pyspark.find_spark_home import _find_spark_home

    return str(_find_spark_home())


def same(one: object, other: object) -> bool:
    """Compare two cells; sums of fractions may be added up in another order."""
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-9, abs=1e-9)
    return type(one) is type(other) and one == other


def differences(name: str, here: Answer, there: Answer) -> list[str]:
    """Say where Spark's answer is not the local one: columns, rows, their order, types and values of cells."""
    wrong = [] if here.columns == there.columns else [f"{name}: columns {there.columns}, not {here.columns}"]
    if len(here.rows) != len(there.rows):
        wrong.append(f"{name}: {len(there.rows)} rows, not {len(here.rows)}")
    for number, (right, got) in enumerate(zip(here.rows, there.rows, strict=False)):
        if len(right) != len(got) or not all(map(same, right, got)):
            wrong.append(f"{name}, row {number}: {got}, not {right}")
    return wrong


def some_reports(names: Iterable[str], found: dict[str, Answer]) -> Callable[[Any], Answer]:
    """Return what asks a connection for some reports."""

    def asking(con: Any) -> Answer:
        for name in names:
            found[name] = stats.answer(con.execute(REPORTS[name].sql))
        return found["points"]

    return asking


# -- reports ----------------------------------------------------------------------------------------------------------


@needs_spark
@pytest.mark.parametrize(("chosen", "names"), [
    ("nothing", [*REPORTS]), ("everything", [*REPORTS]), ("who played", ["leaderboard", "length", "points"]),
])  # fmt: skip
def test_every_report_says_what_the_local_engine_says(
    cluster: Any, folder: Path, chosen: str, names: list[str]
) -> None:
    filters, people = FILTERS[chosen]
    here: dict[str, Answer] = {}
    there: dict[str, Answer] = {}
    stats.over(folder, filters, people, (), some_reports(names, here))
    spark.over(cluster, folder, filters, people, some_reports(names, there))
    assert all(answer.rows for answer in here.values()) or chosen == "everything"
    assert [one for name in names for one in differences(name, here[name], there[name])] == []


@needs_spark
@pytest.mark.parametrize("filters", [Filters(rules=("farkel",)), Filters(players=("Nobody' OR '1' = '1",))])
def test_who_asks_for_what_is_not_there_is_told_the_same(cluster: Any, folder: Path, filters: Filters) -> None:
    with pytest.raises(TenklogError) as here:
        stats.run(folder, REPORTS["points"], filters)
    with pytest.raises(type(here.value)) as there:
        spark.run(cluster, folder, REPORTS["points"], filters)
    assert str(there.value) == str(here.value)


@needs_spark
def test_an_address_is_read_by_its_manifest_and_its_files_are_compared(
    cluster: Any, folder: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    address = f"file://{copy}"
    expected = stats.run(copy, REPORTS["seats"], Filters())
    # What the manifest does not list does not exist.
    name = archive.read_manifest(copy).live("seats")[0].name
    shutil.copy(copy / name, copy / f"seats-{'0' * 32}.parquet")
    assert differences("seats", expected, spark.run(cluster, address, REPORTS["seats"], Filters())) == []
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    for where in (address, copy):
        with pytest.raises(DataError, match="SHA-256") as damaged:
            spark.run(cluster, where, REPORTS["seats"], Filters())
        assert name in damaged.value.where
    (copy / name).unlink()
    with pytest.raises(DataError, match="can't be read"):
        spark.run(cluster, address, REPORTS["seats"], Filters())
    with pytest.raises(DataError, match="the address of an archive"):
        spark.run(cluster, f"{address}/nowhere", REPORTS["seats"], Filters())


@needs_spark
def test_what_an_older_tenklog_did_not_write_is_null(
    cluster: Any, logs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = tables.TABLES
    with monkeypatch.context() as patch:
        for table in now:
            new = tables.OF_LUCK.get(table, ())
            patch.setitem(now, table, tuple(one for one in now[table] if one not in new and one.name != "measured"))
        patch.setattr(archive, "COLUMNS", "of before")
        archive_logs(tmp_path, logs[:3])
    assert spark.unmeasured(cluster, tmp_path, Filters(origins=ORIGINS)) == 3
    assert spark.run(cluster, tmp_path, REPORTS["skill"], Filters(origins=ORIGINS)).rows == []


JAVA_SAYS = {
    "Exception in thread \"main\" org.apache.spark.SparkException: No master: 'x'\n\tat x.main(X)\n": "No master: 'x'",
    "An error occurred while calling o1.x.\n: java.lang.IllegalStateException: It stopped.\n": "It stopped",
    "Traceback (most recent call last):\n  File\ntenklog.errors.DataError: the log is bad\n": "the log is bad",
    "WARNING: a module\n/bin/java: cannot execute binary file\n": "/bin/java: cannot execute binary file",
    "": "",
}


@pytest.mark.parametrize(("text", "line"), JAVA_SAYS.items(), ids=JAVA_SAYS.values())
def test_what_java_says_becomes_one_line(text: str, line: str) -> None:
    assert spark.line_of(text) == line


def test_a_ctrl_c_waits_until_java_has_started_and_is_then_what_it_was() -> None:
    steps = []

    def start() -> None:
        with spark.uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("went on")
        steps.append("not reached")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        start()
    assert steps == ["went on"]
    assert signal.getsignal(signal.SIGINT) is before


class Recorder:
    """Stands for a session: notes the SQL that it is given, and the parameters."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.values: list[Any] = []

    def newSession(self) -> "Recorder":  # noqa: N802
        return self

    def sql(self, text: str, args: dict[str, Any] | None = None) -> "Recorder":
        self.texts.append(text)
        self.values += (args or {}).values()
        return self

    def cache(self) -> "Recorder":
        return self

    def createOrReplaceTempView(self, name: str) -> None:  # noqa: N802
        pass

    def collect(self) -> list[tuple[str]]:
        return [(name,) for name in (*HOSTILE, "{x}")]


def test_what_somebody_typed_is_a_parameter_and_never_a_part_of_the_sql() -> None:
    from tenklog.transpile import Connection

    session = Recorder()
    filters = Filters(players=HOSTILE, rules=("{x}", "'; DROP TABLE games; --"), last=31337, min_games=31337)
    people = {"Annie' OR '1'='1": "${spark.master}"}
    con = Connection(session)
    selects = {table: f"SELECT * FROM source.part_{table}" for table in tables.ASKED}
    stats.prepare(con, selects, filters, people)
    for report in REPORTS.values():
        con.execute(report.sql)
    for typed in (*HOSTILE, *filters.rules, *people, *people.values(), "31337"):
        assert not [text for text in session.texts if typed in text], typed
    assert session.values.count(31337) == 2
    assert [value for value in session.values if isinstance(value, list)] == [
        [*people], [*people.values()], [*filters.rules], [*HOSTILE], [*HOSTILE]
    ]  # fmt: skip


def test_every_macro_is_expanded_and_no_division_is_one_of_decimals() -> None:
    from tenklog.transpile import Connection

    session = Recorder()
    con = Connection(session)
    stats.prepare(con, {table: f"SELECT * FROM source.part_{table}" for table in tables.ASKED}, Filters(min_games=1))
    session.texts.clear()
    for report in REPORTS.values():
        con.execute(report.sql)
    macros = [macro.partition("(")[0] for macro in (*stats.MACROS, "chosen(", "chosen_game(", "list_sum(")]
    assert len(session.texts) >= len(REPORTS)
    for text in session.texts:
        sql = re.sub(r"/\*.*?\*/|'[^']*'", "", text)
        assert not re.search(rf"(?i)\b({'|'.join(macros)})\(", sql)
        assert not re.search(r"\b[0-9]+\.[0-9]+\b", sql)


# -- an executor dies -------------------------------------------------------------------------------------------------


def killing(rows: Any, marker: Path) -> Any:
    """Return the same rows, of which the first that come to an executor end its process, once."""
    place = str(marker)

    def through(batches: Any) -> Any:
        import os
        import signal
        from pathlib import Path

        for batch in batches:
            try:
                fd = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                yield batch
                continue
            parent = os.getppid()
            while b"ExecutorBackend" not in Path(f"/proc/{parent}/cmdline").read_bytes():
                parent = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
            os.write(fd, str(parent).encode())
            os.kill(parent, signal.SIGKILL)
            yield batch

    return rows.mapInArrow(through, rows.schema)


def assert_killed(marker: Path) -> None:
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)


@needs_spark
def test_an_executor_that_dies_changes_no_report(
    cluster: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "killed"
    whole = spark.rows

    def rows(session: Any, where: Any, manifest: archive.Manifest, table: str) -> Any:
        found = whole(session, where, manifest, table)
        return killing(found, marker) if table == "turns" else found

    monkeypatch.setattr(spark, "rows", rows)
    filters = Filters(origins=ORIGINS, last=30, min_games=1)
    there = spark.run(cluster, folder, REPORTS["records"], filters)
    assert differences("records", stats.run(folder, REPORTS["records"], filters), there) == []
    assert len(there.rows) == 9
    assert_killed(marker)


@needs_spark
def test_an_executor_that_dies_changes_no_replay(
    cluster: Any, logs: list[Path], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [executors.outcome(path.read_bytes(), preset("farkle"), "bank", False) for path in sorted(logs)]
    marker = tmp_path / "killed"
    whole = executors.replays
    monkeypatch.setattr(executors, "replays", lambda games, events, *rest: whole(games, killing(events, marker), *rest))
    found = executors.run(cluster, folder, Filters(origins=ORIGINS), preset("farkle"))
    assert found == expected
    assert len(found) == len(logs)
    assert_killed(marker)


@pytest.fixture
def said(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Return what runs a command, on the cluster where it asks for one, and reads the JSON that it prints."""
    monkeypatch.setattr(spark, "session", lambda master, package: nullcontext(cluster))

    def read(*words: object) -> Any:
        assert cli.run(["--home", str(tmp_path), *map(str, words), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return read


@needs_spark
def test_the_command_sums_up_what_replays_of_an_archive_make(
    said: Callable[..., Any], logs: list[Path], folder: Path
) -> None:
    rules = ("--rules", "recorded", "--rules", "zilch", "--set", "target=5000")
    document = said("replay", "--archive", folder, *rules, "--engine", "spark")
    asked = [
        replays.Asked("recorded", None, ("target=5000",)),
        replays.Asked("zilch", change(preset("zilch"), {"target": 5000}), ("target=5000",), base=preset("zilch")),
    ]
    for one, told in zip(asked, document["totals"], strict=True):
        read = [reading.read(path) for path in logs]
        rows = [outcomes.row_of(log, outcomes.plainly(log, one.rules, "bank", False, one.typed)) for log in read]
        decided = [row for row in rows if row.same_winner is not None]
        other = sum(row.same_winner is False for row in decided)
        assert told == {
            "rules": one.name, "changes": ["target=5000"], "games": len(logs),
            "same_winner": len(decided) - other, "other_winner": other, "undecided": len(logs) - len(decided),
            "stopped": 0, "changed": pytest.approx(other / len(decided)),
            "rounds": pytest.approx(fmean(row.rounds for row in rows)),
            "turns": pytest.approx(fmean(row.turns for row in rows)),
            **{key: sum(getattr(row, key) for row in rows)
               for key in ("guesses", "same", "rescored", "settled", "never_happened")},
        }  # fmt: skip


@needs_spark
@pytest.mark.parametrize("rules", ["recorded", "farkle"])
def test_the_command_sweeps_an_archive_as_it_does_its_games(
    said: Callable[..., Any], logs: list[Path], folder: Path, rules: str
) -> None:
    line = ("sweep", "--rules", rules, "--set", "target=5000,9000", "--set", "hot_dice=may-roll")
    there, here = said(*line, "--archive", folder, "--engine", "spark"), said(*line, *logs)
    for row in here["rows"]:
        row |= {key: pytest.approx(row[key]) for key in ("changed", "rounds", "turns")}
    assert there == here


@needs_spark
def test_games_that_filters_choose_are_replayed_by_their_own_rules(
    cluster: Any, logs: list[Path], folder: Path
) -> None:
    found = executors.run(cluster, folder, Filters(origins=("table",)), None, "void", True)
    chosen = sorted(path for path in logs if reading.read(path).start.origin == "table")
    assert found == [executors.outcome(path.read_bytes(), None, "void", True) for path in chosen]
    assert 0 < len(found) < len(logs)
    names = [one.name for one in outcomes.COLUMNS]
    for row in found:
        told = dict(zip(names, row, strict=True))
        assert told["guesses"] == told["rescored"] == told["settled"] == told["never_happened"] == 0


def test_an_outcome_is_what_the_replay_says(logs: list[Path]) -> None:
    from tenklog.replayer import replay

    for path in logs[:10]:
        log = reading.read(path)
        found = dict(
            zip(
                (one.name for one in outcomes.COLUMNS),
                executors.outcome(path.read_bytes(), preset("zilch"), "bank", False),
                strict=True,
            )
        )
        said = replay(log.game, log.events, preset("zilch"), of=log.fingerprint).replay
        assert found["game"] == log.start.game
        assert (found["status"], found["winners"], found["leaders"]) == (said.status, said.winners, said.leaders)
        assert (found["guesses"], found["same"], found["rescored"]) == (
            said.guesses,
            said.turns.same,
            said.turns.rescored,
        )
        assert (found["settled"], found["never_happened"]) == (said.turns.settled, said.turns.never_happened)
        assert sorted(one for one in found["totals"] if one is not None) == sorted(one.total for one in said.standings)


# -- the command ------------------------------------------------------------------------------------------------------


@needs_spark
def test_the_command_prints_the_same_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "tenklog", "--home", str(tmp_path), "stats", "luck", "--archive", str(folder)]
    here = subprocess.run(line, capture_output=True, text=True, check=True)
    (tmp_path / "cwd").mkdir()
    # What Spark is told in its own file holds.
    (tmp_path / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in QUICK.items()))
    there = subprocess.run(
        [*line, "--engine", "spark", "--master", "local[1]"], capture_output=True, text=True, check=True,
        cwd=tmp_path / "cwd",
        env=os.environ | {"PYTHONPATH": str(Path(cli.__file__).parents[2]), "SPARK_CONF_DIR": str(tmp_path)},
    )  # fmt: skip
    assert (there.stdout, there.stderr) == (here.stdout, here.stderr)
    assert list((tmp_path / "cwd").iterdir()) == []


@needs_spark
def test_the_command_says_why_there_is_no_row(
    cluster: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(spark, "session", lambda master: nullcontext(cluster))
    said = []
    for engine in ("duckdb", "spark"):
        line = ["--home", str(tmp_path), "stats", "points", "--until", "1999-01-01", "--engine", engine]
        assert cli.run([*line, "--archive", str(folder)]) == 0
        said.append(capsys.readouterr())
    assert said[0] == said[1]
    assert "no row for this in 44 archived games" in said[0].err


OWN = "--engine duckdb, or one of tenklog's own reports"


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("stats mine --engine spark", 2, f"mine is a report of your own, and Spark has no walls around it; {OWN}"),
        ("stats points --engine spark --logs sample", 2, "--logs reads logs of this machine"),
        ("stats points --master yarn", 2, "--master yarn is a cluster; --engine spark with it"),
        ("stats points --archive s3a://games/archive", 4, "there is no folder s3a://games/archive"),
        ("stats points --engine spark --archive nowhere", 4, "there is no folder nowhere"),
    ],
)
def test_what_spark_is_not_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, code: int,
    message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENKLOG_HOME", str(tmp_path))
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "mine.sql").write_text("SELECT 1")
    write_log(tmp_path / "games" / "sample.jsonl", played("sample", ("Anna", "Ben"), 1))
    assert cli.run(line.split()) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"tenklog: error: {message}")


def test_without_the_extra_the_command_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert cli.run(["--home", str(tmp_path), "stats", "points", "--engine", "spark"]) == 2
    message = "Spark needs pyspark and sqlglot; `pip install 'tenklog[spark]'`"
    assert capsys.readouterr().err == f"tenklog: error: {message}\n"


@needs_spark
@pytest.mark.parametrize("home", [True, False])
def test_without_java_the_command_says_which_one_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: bool
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if home:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    else:
        monkeypatch.delenv("JAVA_HOME", raising=False)
    assert cli.run(["--home", str(tmp_path), "stats", "points", "--engine", "spark"]) == 2
    where = " in JAVA_HOME" if home else ""
    message = f"Spark needs Java, and there is none{where}; Java 17 or 21, on the PATH or in JAVA_HOME"
    assert capsys.readouterr().err == f"tenklog: error: {message}\n"
