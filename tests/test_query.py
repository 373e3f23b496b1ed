"""Somebody's SQL answers questions and does nothing else: no file, no network, no setting, and never without an end."""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tenklog import answers, cli, query, reports, stats
from tenklog.archiving import archive_logs
from tenklog.errors import TenklogError, UsageError
from tenklog.sandbox import give_up_changes
from tenklog.stats import ORIGINS, Answer, Filters
from tenklog.tables import ASKED

ROOT = Path(__file__).parent.parent
SAMPLES = sorted((ROOT / "sample_logs").glob("*.jsonl"))
RUNNING = ROOT / "sample_logs" / "in-progress.jsonl"
SECRET = "hunter2"
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
ALL = Filters(origins=ORIGINS)


class Place:
    """A home with an archive, a working folder, a file with a secret, and a folder to which nobody may write."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home, self.work, self.user = base / "home", base / "work", base / "user"
        self.archive, self.new = self.home / "archive", base / "new"
        for folder in (self.archive, self.work, self.user, self.new, base / "secret"):
            folder.mkdir(parents=True)
        archive_logs(self.archive, SAMPLES)
        query.ask(self.archive, "SELECT 1", ALL)  # what was verified is noted once
        (base / "secret" / "a.csv").write_text(f"a,b\n{SECRET},2\n")
        (base / "secret" / "a.json").write_text(f'{{"a": "{SECRET}"}}\n')
        duckdb.sql(f"COPY (SELECT '{SECRET}' AS a) TO '{base}/secret/a.parquet'")
        with duckdb.connect(str(base / "secret" / "a.db")) as con:
            con.execute(f"CREATE TABLE a AS SELECT '{SECRET}' AS a")
        (self.work / "local.csv").write_text(f"a\n{SECRET}\n")
        self.before = self.tree()

    def tree(self) -> dict[str, bytes | None]:
        """Return all there is, with its content; None for folders."""
        return {
            str(path.relative_to(self.base)): path.read_bytes() if path.is_file() else None
            for path in self.base.rglob("*")
        }

    def fill(self, sql: str) -> str:
        """Put the names of the folders into a statement."""
        for name in ("archive", "home", "new", "secret", "user"):
            sql = sql.replace(f"<{name}>", str(getattr(self, name, self.base / name)))
        return sql

    @property
    def env(self) -> dict[str, str]:
        """Return the variables of a process that lives here."""
        return {
            **os.environ,
            "HOME": str(self.user),
            "TENKLOG_HOME": str(self.home),
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
        }


class Shell:
    """Runs `tenklog query` and other commands in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *words: str, code: int | tuple[int, ...] = 0) -> tuple[str, str]:
        """Run a command, expect an exit code, return stdout and stderr."""
        found = cli.run(list(words))
        out, err = self.capsys.readouterr()
        codes = (code,) if isinstance(code, int) else code
        assert found in codes, (words, found, out[:500], err[:500])
        assert "Traceback" not in err
        assert "a mistake in tenklog" not in err
        if found:
            assert out == ""
            assert err.startswith("tenklog: error: ")
            assert err.count("\n") == 1
        return out, err

    def csv(self, sql: str, *more: str) -> str:
        """Run SQL and return its answer as CSV, nothing having been said about it."""
        out, err = self("query", "--csv", *more, "--", sql)
        assert err == ""
        return out

    def refused(self, sql: str, *more: str) -> str:
        """Run SQL that must be refused; return the one line."""
        return self("query", *more, "--", sql, code=(1, 2))[1]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("query"))


@pytest.fixture
def shell(place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("TENKLOG_HOME", str(place.home))
    monkeypatch.setenv("HOME", str(place.user))
    monkeypatch.chdir(place.work)
    return Shell(capsys)


def plain(sql: str) -> Answer:
    """Return what DuckDB itself answers."""
    with duckdb.connect() as con:
        return stats.answer(con.execute(sql))


def run(place: Place, *words: str, **options: Any) -> tuple[int, str, str, float]:
    """Run `tenklog query` in a process of its own; return its exit code, stdout, stderr and seconds."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tenklog", "query", *words],
        env=place.env, cwd=place.work, capture_output=True, text=True, timeout=60, check=False, **options,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr, time.monotonic() - began


# -- the statements ---------------------------------------------------------------------------------------------------

REFUSED = r"""
-- reading files
SELECT * FROM read_csv('<secret>/a.csv')
SELECT * FROM read_csv(['<secret>/a.csv'], columns = {'a': 'VARCHAR'})
SELECT * FROM read_csv('<archive>/../../secret/a.csv')
SELECT * FROM read_csv('local.csv')
SELECT * FROM read_csv('/dev/stdin')
SELECT * FROM read_text('<secret>/a.csv')
SELECT * FROM read_text('/proc/self/environ')
SELECT * FROM read_text('~/x')
SELECT * FROM read_text((SELECT '<secret>/a.csv'))
SELECT * FROM read_blob('<secret>/a.csv')
SELECT * FROM read_json('<secret>/a.json')
SELECT * FROM read_ndjson_objects('<secret>/a.json')
SELECT * FROM glob('<secret>/*')
SELECT * FROM glob('*')
SELECT * FROM sniff_csv('<secret>/a.csv')
SELECT * FROM read_parquet('<secret>/a.parquet')
SELECT * FROM read_parquet('<archive>/*.parquet')
SELECT * FROM parquet_metadata('<secret>/a.parquet')
SELECT * FROM parquet_schema('<secret>/a.parquet')
SELECT * FROM parquet_bloom_probe('<secret>/a.parquet', 'a', 'x')
SELECT * FROM read_duckdb('<secret>/a.db')
FROM '<secret>/a.csv'
FROM '<secret>/a.parquet'
FROM "<secret>/a.json"
FROM 'local.csv'
FROM 'file://<secret>/a.csv'
FROM '<archive>/manifest.json'
SELECT * FROM turns, '<secret>/a.csv'
SELECT (SELECT content FROM read_text('<secret>/a.csv'))
SELECT * FROM turns WHERE EXISTS (FROM read_text('<secret>/a.csv'))
SELECT * FROM query('SELECT * FROM read_text(''<secret>/a.csv'')')
SELECT * FROM query_table('<secret>/a.csv')
SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''<secret>/a.csv'')'))
EXPLAIN ANALYZE SELECT * FROM read_text('<secret>/a.csv')
PIVOT (FROM read_text('<secret>/a.csv')) ON size USING count(*)
SUMMARIZE '<secret>/a.csv'
COPY dice_sets FROM '<secret>/a.csv'
CALL read_text('<secret>/a.csv')
-- writing files
COPY (SELECT 1) TO '<new>/f.csv'
COPY turns TO '<new>/f.parquet'
COPY (SELECT 1) TO '<archive>/manifest.json' (USE_TMP_FILE false)
COPY (SELECT 1) TO '/dev/stdout'
COPY FROM DATABASE memory TO other
WITH x AS (COPY (SELECT 1) TO '<new>/f.csv') SELECT 1
WITH x AS (COPY (SELECT 1) TO '<new>/f.csv') SELECT * FROM x
WITH x AS (COPY (SELECT 1) TO '/dev/stdout') SELECT 1
WITH x AS (COPY turns TO '<new>/f.csv') PIVOT turns ON outcome USING count(*) GROUP BY rules
EXPLAIN COPY (SELECT 1) TO '<new>/f.csv'
EXPLAIN ANALYZE COPY (SELECT 1) TO '<new>/f.csv'
EXPLAIN ANALYZE EXPORT DATABASE '<new>/e'
EXPLAIN ANALYZE ATTACH '<new>/x.db'
EXPLAIN ANALYZE SET threads = 1
EXPORT DATABASE '<new>/e'
IMPORT DATABASE '<new>/e'
ATTACH '<new>/x.db'
ATTACH '<secret>/a.db' AS x (READ_ONLY)
ATTACH ':memory:' AS x
DETACH memory
PRAGMA import_database('<new>')
PRAGMA profiling_output = '<new>/p.json'
PRAGMA enable_profiling
PREPARE p AS COPY (SELECT 1) TO '<new>/f.csv'
CALL enable_logging(storage = 'file', storage_path = '<new>/log')
CALL enable_logging('FileSystem', storage = 'stdout')
CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')
CREATE SECRET s (TYPE http, BEARER_TOKEN 'x')
-- network and extensions
SELECT * FROM 'https://example.com/x.csv'
SELECT * FROM read_text('https://example.com/x')
SELECT * FROM read_csv('http://127.0.0.1:1/x')
SELECT * FROM read_parquet('s3://bucket/x')
SELECT * FROM read_parquet('hf://datasets/x/y.parquet')
ATTACH 'https://example.com/x.db' AS x
INSTALL httpfs
FORCE INSTALL httpfs FROM community
LOAD httpfs
LOAD '<secret>/x.duckdb_extension'
SELECT * FROM sqlite_scan('x', 'y')
SELECT http_get('http://example.com')
SELECT count(*) FROM tpch_queries()
-- settings
SET memory_limit = '8GB'
SET threads = 1
SET enable_external_access = true
SET lock_configuration = false
SET VARIABLE x = 1
SET search_path = 'source'
SET temp_directory = '<new>'
RESET temp_directory
PRAGMA memory_limit = '1TB'
PRAGMA enable_external_access = true
PRAGMA enable_verification
PRAGMA add_parquet_key('a', '0123456789112345')
-- changes
CREATE TABLE x AS SELECT 1
CREATE TEMP TABLE turns AS SELECT 1
CREATE OR REPLACE VIEW turns AS SELECT 1
CREATE OR REPLACE MACRO share(k, n) AS 7
CREATE MACRO f() AS TABLE SELECT * FROM read_text('<secret>/a.csv')
DROP TABLE dice_sets
DROP VIEW turns
DROP SCHEMA source CASCADE
ALTER TABLE dice_sets ADD COLUMN x INT
COMMENT ON TABLE dice_sets IS 'x'
DELETE FROM dice_sets
UPDATE dice_sets SET throws = 0
INSERT INTO dice_sets (roll_set) VALUES (1)
TRUNCATE dice_sets
MERGE INTO dice_sets USING dice_sets d ON true WHEN MATCHED THEN DELETE
WITH x AS (INSERT INTO turns (game) VALUES ('x') RETURNING *) SELECT * FROM x
-- other statements
PREPARE p AS SELECT 1
EXECUTE p
CHECKPOINT
SELECT * FROM force_checkpoint()
VACUUM
ANALYZE
CALL pragma_version()
PRAGMA version
PRAGMA json_execute_serialized_sql('{}')
BEGIN
ROLLBACK
SELECT 1; SELECT 2
SELECT 1; COPY (SELECT 1) TO '<new>/f.csv'
COPY (SELECT 1) TO '<new>/f.csv'; SELECT 1
-- the names of Python, and of the machine
SELECT * FROM sql
SELECT * FROM limits
SELECT * FROM con
SELECT * FROM pandas_scan(1)
SELECT * FROM arrow_scan(1, 2, 3)
SELECT getenv('HOME')
-- what is not for the user
-- mistakes
;
/* nothing */
SELECT 1 /* open
SELECT
SELEC 1
SELECT nonsense
SELECT playr FROM turns
SELECT * FROM turn
SELECT 'x'::INT
SELECT error('boom')
SELECT $a
SELECT ?
SELECT chosen('x', 'y')
SELECT 1 AS ""
SELECT 9223372036854775807 + 1
SELECT x'; DROP TABLE y
SELECT format('{:d}', 'x')
""".strip().splitlines()

ANSWERS = {
    "SELECT 1": "1\n1\n",
    "SELECT 1;": "1\n1\n",
    "SELECT 1;;;": "1\n1\n",
    "\ufeffSELECT 1": "1\n1\n",
    " \n\tSELECT 1 -- trailing": "1\n1\n",
    "/* a /* nested */ comment; */ SELECT 1": "1\n1\n",
    "(SELECT 1)": "1\n1\n",
    "VALUES (1), (2)": "col0\n1\n2\n",
    "SELECT count(*) AS n FROM turns": "n\n254\n",
    "SELECT count(*) AS n FROM memory.main.turns": "n\n254\n",
    "FROM turns SELECT count(*) AS n": "n\n254\n",
    'SELECT count("PLAYER") AS n FROM "TURNS"': "n\n254\n",
    "SELECT count(*) AS n FROM dice_sets": "n\n923\n",
    "SELECT * FROM query('SELECT 1 AS x')": "x\n1\n",
    "SELECT count(*) AS n FROM query_table('turns')": "n\n254\n",
    "SELECT count(*) AS n FROM query('FROM tu' || 'rns')": "n\n254\n",
    "SELECT value FROM duckdb_settings() WHERE name = 'enable_external_access'": "value\nfalse\n",
    "SELECT value FROM duckdb_settings() WHERE name = 'lock_configuration'": "value\ntrue\n",
    "SELECT count(*) AS n FROM duckdb_secrets()": "n\n0\n",
    "SELECT count(*) AS n FROM duckdb_logs()": "n\n0\n",
    "SELECT count(*) AS n FROM duckdb_prepared_statements()": "n\n0\n",
    "SELECT count(*) AS n FROM which_secret('s3://x/y', 's3')": "n\n0\n",
    "SELECT count(*) AS n FROM pragma_table_info('seats')": "n\n16\n",
    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'source'": "table_name\n",
    "SELECT count(*) AS n FROM pragma_version()": "n\n1\n",
    "SHOW TABLES": "name\ndice_sets\nevents\ngames\nreplayed_turns\nreplays\nrolls\nseats\nturns\n",
    "DESCRIBE SELECT 1 AS x": "column_name,column_type,null,key,default,extra\nx,INTEGER,YES,,,\n",
    "SELECT current_setting('temp_directory') AS x": 'x\n""\n',
    "SELECT getvariable('x') AS x": 'x\n""\n',
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 42 AS x'))": "x\n42\n",
    "SELECT list_transform([1, 2, 3], lambda x: x + 1) AS l": "l\n2 3 4\n",
    "SELECT [x + 1 FOR x IN [1, 2]] AS l": "l\n2 3\n",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT sum(n) AS s FROM r": "s\n15\n",
    "SELECT 'nan'::DOUBLE AS a, 'inf'::DOUBLE AS b, '-inf'::DOUBLE AS c": "a,b,c\nnan,inf,-inf\n",
    "SELECT 170141183460469231731687303715884105727 AS a": "a\n170141183460469231731687303715884105727\n",
    "SELECT 340282366920938463463374607431768211455::UHUGEINT AS a": "a\n340282366920938463463374607431768211455\n",
    "SELECT 1.10::DECIMAL(5, 2) AS d": "d\n1.10\n",
    "SELECT NULL AS n": 'n\n""\n',
    "SELECT true AS b, false AS c": "b,c\ntrue,false\n",
    "SELECT DATE '2026-11-29' AS d, TIMESTAMP '2026-11-29 10:00' AS t": "d,t\n2026-11-29,2026-11-29T10:00:00\n",
    "SELECT INTERVAL 1 DAY AS x": "x\nP1D\n",
    "SELECT 'a' || chr(0) AS x": "x\na\\x00\n",
    "SELECT chr(27) || '[31m' AS x": "x\n\\x1b[31m\n",
    "SELECT '=1+1' AS \"=x\"": "'=x\n'=1+1\n",
    "SELECT 'it''s' AS x": "x\nit's\n",
    "SELECT '🎲' AS \"🎲\"": "🎲\n🎲\n",
    "SELECT share(1, 2) AS x, wilson_low(0, 1) AS y": "x,y\n0.5,0.0\n",
    "SELECT chosen('x') AS c": "c\ntrue\n",
    "SELECT current_database() AS d, current_schema() AS s": "d,s\nmemory,main\n",
    "UNPIVOT (SELECT ones, twos FROM dice_sets WHERE roll_set = 0) ON ones, twos": "name,value\nones,1\ntwos,0\n",
    "PIVOT turns ON outcome IN ('bust') USING count(*) GROUP BY origin": "origin,bust\ntable,60\n",
    "SELECT count(*) AS n FROM turns LIMIT 0": "n\n",
    "EXPLAIN (FORMAT json) SELECT 1 LIMIT 0": "",
    "EXPLAIN ANALYZE SELECT count(*) FROM turns": "",
    "SUMMARIZE seats": "",
    "SELECT * FROM test_vector_types(NULL::INT)": "",
}

# Some versions answer these, others refuse them; what counts is that nothing happens.
EITHER = r"""
SELECT * FROM enable_logging()
SELECT * FROM enable_logging(storage = 'file', storage_path = '<new>/log')
EXPLAIN ANALYZE SELECT * FROM enable_logging(storage = 'file', storage_path = '<new>/log')
SELECT * FROM enable_profiling()
SELECT * FROM enable_profiling(save_location = '<new>/p.json', format = 'json')
EXPLAIN ANALYZE SELECT * FROM enable_profiling(save_location = '<new>/p.json', format = 'json')
PIVOT (SELECT 1 AS a, 2 AS b FROM enable_profiling(save_location = '<new>/p.json')) ON a USING sum(b)
PIVOT (SELECT 1 AS a, 2 AS b FROM enable_logging(storage = 'file', storage_path = '<new>/l')) ON a USING sum(b)
SELECT * FROM truncate_duckdb_logs()
SELECT * FROM checkpoint()
SELECT write_log('x')
SELECT count(*) FROM duckdb_extensions()
SELECT json_serialize_plan('SELECT * FROM read_text(''<secret>/a.csv'')')
WITH x AS (DELETE FROM dice_sets RETURNING *) SELECT count(*) FROM x
WITH x AS (UPDATE dice_sets SET throws = 0) SELECT 1
EXPLAIN ANALYZE INSERT INTO dice_sets (roll_set) VALUES (1)
EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1
EXPLAIN DROP TABLE dice_sets
SELECT list_transform([1, 2, 3], x -> x + 1) AS l
SELECT TIMESTAMPTZ '2026-11-29 10:00:00+02' AS x
""".strip().splitlines()


@pytest.mark.parametrize("sql", [line for line in REFUSED if not line.startswith("-- ")])
def test_a_statement_is_refused_in_one_line_and_nothing_happens(shell: Shell, place: Place, sql: str) -> None:
    assert SECRET not in shell.refused(place.fill(sql))
    assert place.tree() == place.before


@pytest.mark.parametrize(("sql", "answer"), ANSWERS.items())
def test_a_statement_is_answered_and_nothing_happens(shell: Shell, place: Place, sql: str, answer: str) -> None:
    found = shell.csv(sql)
    assert found == answer or (answer == "" and found)
    assert place.tree() == place.before


@pytest.mark.parametrize("sql", EITHER)
def test_a_statement_that_only_some_versions_know_does_nothing(shell: Shell, place: Place, sql: str) -> None:
    out, _ = shell("query", "--csv", place.fill(sql), code=(0, 1, 2))
    assert SECRET not in out
    assert place.tree() == place.before


def test_logging_to_a_file_neither_writes_nor_ends_the_process(place: Place) -> None:
    sql = "SELECT * FROM enable_logging(storage = 'file', storage_path = '<new>/log'), turns"
    code, _, err, _ = run(place, place.fill(sql), "--limit", "1")
    assert code in (0, 1)
    assert err.count("\n") <= 1
    assert place.tree() == place.before


@pytest.mark.parametrize("sql", ["", "   \n", "/**/"])
def test_nothing_is_no_statement(shell: Shell, sql: str) -> None:
    assert "0 statements" in shell.refused(sql)
    assert shell("query", sql, code=2)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1\0",
        "SELECT 'a\0b' AS x",
        *(f"SELECT {'(' * depth}1{')' * depth}" for depth in (100, 1_000, 20_000)),
        f"SELECT {'[' * 5_000}{']' * 5_000} AS x",
        f"SELECT {'NOT ' * 5_000}true AS x",
        f"SELECT {'(SELECT ' * 900}1{')' * 900} AS x",
        f"SELECT json('{'[' * 5_000}{']' * 5_000}') IS NULL AS x",
    ],
    ids=range(9),
)
def test_odd_and_deep_statements_end_in_an_answer_or_a_short_line(shell: Shell, sql: str) -> None:
    assert len("".join(shell("query", "--csv", sql, code=(0, 1)))) < 1_000


def test_a_long_statement_is_answered(shell: Shell) -> None:
    assert shell.csv("SELECT 1 AS x /*" + "x" * 1_000_000 + "*/") == "x\n1\n"
    assert shell.csv("SELECT length('" + "x" * 1_000_000 + "') AS x") == "x\n1000000\n"


# -- what was wrong once ----------------------------------------------------------------------------------------------


def test_a_statement_of_a_kind_that_python_does_not_know_is_refused(shell: Shell) -> None:
    shell.refused("UPDATE EXTENSIONS")


@pytest.mark.parametrize("sql", ["SELECT '\udcff'", "SELECT to_days(2147483647)"])
def test_what_python_cannot_hold_is_refused(shell: Shell, sql: str) -> None:
    shell.refused(sql)


def test_a_line_of_error_is_short(shell: Shell) -> None:
    assert len(shell.refused("SELECT '" + "x" * 1_000_000 + "'::INT")) < 1_000


def test_a_line_of_error_shows_nothing_that_nobody_typed(shell: Shell) -> None:
    assert "PLAIN" not in shell.refused("SELECT player, posted, outcome FROM turns WHERE player = 'Anna' AND playr = 1")


def test_sql_may_begin_with_a_comment(shell: Shell) -> None:
    assert shell("query", "--csv", "-- how many\nSELECT 1 AS x")[0] == "x\n1\n"


def test_pivot_is_answered_by_every_version(shell: Shell) -> None:
    out = shell.csv("PIVOT turns ON outcome USING count(*) GROUP BY rules")
    assert out.splitlines()[0] == "rules,banked,bust,scoreless"
    assert out.count("\n") == 6


@pytest.mark.parametrize("option", [["--csv"], ["--json"], []])
def test_two_columns_of_one_name_keep_their_values(shell: Shell, option: list[str]) -> None:
    out, _ = shell("query", "SELECT 4711 AS x, 4712 AS x", *option, code=(0, 1, 2))
    assert not out or ("4711" in out and "4712" in out)


def test_a_report_of_ones_own_is_not_cut_in_silence(shell: Shell, place: Place) -> None:
    out, err = own(shell, place, "long", "SELECT * FROM range(10005)", "--csv")
    assert out.count("\n") == 10_006 or err


def test_sql_on_standard_input_is_not_cut_in_silence(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, b"SELECT 1 AS x --" + b"x" * (1 << 20) + b"\n, 2 AS y")
    out, _ = shell("query", "--csv", "-", code=(0, 1, 2))
    assert out in ("", "x,y\n1,2\n")


# -- files in memory, and nobody can tell ----------------------------------------------------------------------------

QUESTIONS = """
SELECT * FROM games
SELECT * FROM seats
SELECT * FROM turns
SELECT * FROM rolls
SELECT * FROM events
SELECT player FROM turns WHERE posted > 300 OR outcome = 'bust'
SELECT player FROM turns ORDER BY posted DESC, game, seat, turn LIMIT 3
SELECT * FROM rolls ORDER BY points DESC, game, seq LIMIT 3
SELECT DISTINCT ON (player) player, posted FROM turns ORDER BY player, posted DESC
SELECT player FROM turns QUALIFY row_number() OVER (PARTITION BY game ORDER BY posted DESC, turn, seat) = 1
SELECT t.player, r.dice FROM turns t JOIN rolls r USING (game, turn, seat) WHERE r.hot
SELECT t.player FROM turns t WHERE NOT EXISTS (SELECT 1 FROM rolls r WHERE r.game = t.game AND r.turn = t.turn)
SELECT settings.below_minimum FROM games WHERE settings.dice = 6 AND settings.opening_minimum > 300
SELECT r.game, d.throws FROM rolls r JOIN dice_sets d ON d.roll_set = r.kept_set
SELECT game, player, count(*) FROM turns GROUP BY CUBE (game, player)
WITH t AS MATERIALIZED (SELECT * FROM turns) SELECT player FROM t WHERE posted > 1000 UNION ALL SELECT rules FROM t
WITH RECURSIVE r(n) AS (SELECT min(turn) FROM turns UNION SELECT n + 1 FROM r JOIN turns ON turn = n + 1) FROM r
SELECT player, (SELECT max(total) FROM seats s WHERE s.game = t.game AND s.player <> t.player) FROM turns t
SELECT * EXCLUDE (posted) REPLACE (points + 1 AS points) FROM turns
SELECT t FROM turns t WHERE t.posted > 1000
SELECT any_value(player) FROM turns WHERE posted > 2 AND posted < 1
SELECT x.a, x.f FROM (SELECT * FROM turns) AS x(a, b, c, d, e, f)
FROM query('SELECT player FROM turns WHERE posted > 1000')
SELECT sum(posted) FROM turns WHERE chosen(player)
SELECT game FROM games WHERE chosen_game(players)
SELECT player FROM turns WHERE (player, posted) IN (SELECT player, max(posted) FROM turns GROUP BY player)
""".strip().splitlines()
UNSEEN = [
    "SELECT sum(posted) FROM turns WHERE chosen(player) AND player = 'Anna'",
    "SELECT player FROM json_execute_serialized_sql(json_serialize_sql('SELECT player FROM turns'))",
]


def facts(answer: Answer) -> tuple[object, ...]:
    return answer.columns, answer.types, sorted(map(repr, answer.rows))


@pytest.mark.parametrize("sql", [*QUESTIONS, *UNSEEN])
def test_an_answer_is_the_same_unlocked_locked_and_loaded(
    place: Place, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlocked = stats.over(place.archive, ALL, None, (), lambda con: stats.answer(con.execute(sql)))
    assert facts(query.ask(place.archive, sql, ALL)) == facts(unlocked)
    monkeypatch.setattr(query, "give_up_changes", lambda: False)
    assert facts(query.ask(place.archive, sql, ALL)) == facts(unlocked)


@pytest.mark.parametrize("name", reports.ours())
def test_the_sql_of_a_report_answers_the_same_as_a_query(place: Place, name: str) -> None:
    filters = Filters(players=("Anna", "Cara"), origins=ORIGINS, min_games=1, last=6)
    report = reports.ours()[name]
    expected = stats.run(place.archive, report, filters)
    assert facts(query.ask(place.archive, report.sql, filters)) == facts(expected)


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [ENDLESS, "SELECT length(repeat('x', 1000000000))"],
)
def test_the_time_limit_ends_whatever_runs(place: Place, sql: str) -> None:
    code, out, err, seconds = run(place, sql, "--timeout", "0.5")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("tenklog: error: ")
    assert "0.5 s" in err or "memory" in err
    assert seconds < 15
    assert place.tree() == place.before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT length(repeat('x', 1000000000))",
        "SELECT count(DISTINCT range) FROM range(100000000)",
        "SELECT list(range) FROM range(100000000)",
    ],
)
def test_the_memory_limit_refuses_what_is_too_large(place: Place, sql: str) -> None:
    code, out, err, _ = run(place, sql, "--memory", "64MB")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("tenklog: error: the question needs more memory than 64 MiB; more of it with --memory")
    assert place.tree() == place.before


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process there")
def test_ctrl_c_ends_a_query_promptly(place: Place) -> None:
    words = [sys.executable, "-m", "tenklog", "query", ENDLESS]
    with subprocess.Popen(words, env=place.env, cwd=place.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as one:
        time.sleep(1.5)
        one.send_signal(signal.SIGINT)
        try:
            out, err = one.communicate(timeout=3)
        finally:
            one.kill()
    assert (one.returncode, out) == (130, b"")
    assert err.count(b"\n") <= 1


@pytest.mark.parametrize(("limit", "rows"), [("3", 3), ("20", 20), ("21", 20), ("0", 20)])
def test_rows_that_a_limit_cuts_are_not_cut_in_silence(shell: Shell, limit: str, rows: int) -> None:
    out, err = shell("query", "SELECT * FROM range(20)", "--limit", limit, "--csv")
    assert out.count("\n") == 1 + rows
    assert err == ("tenklog: only the first 3 rows; --limit 0 for all\n" if rows < 20 else "")


def test_the_row_limit_is_ten_thousand(shell: Shell) -> None:
    out, err = shell("query", "SELECT * FROM range(10001)", "--json")
    assert len(json.loads(out)) == 10_000
    assert err == "tenklog: only the first 10000 rows; --limit 0 for all\n"


def test_a_huge_answer_is_refused(shell: Shell) -> None:
    assert "the answer is longer than 64 MiB; fewer rows" in shell.refused("SELECT repeat('x', 1000000) FROM range(80)")


@pytest.mark.parametrize(
    "words",
    ["--timeout 0", "--timeout inf", "--memory 1", "--memory 10MB", "--memory 1.5GB", "--memory -1GB", "--limit -1"],
)
def test_limits_that_make_no_sense_are_refused(shell: Shell, words: str) -> None:
    shell("query", "SELECT 1", *words.split(), code=2)


# -- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("1", "1", "INTEGER"),
        ("-1", "-1", "INTEGER"),
        ("0", "0", "INTEGER"),
        ("999999999999999", "999999999999999", "BIGINT"),
        ("1.5", "1.5", "DOUBLE"),
        ("-0.5", "-0.5", "DOUBLE"),
        ("true", "true", "BOOLEAN"),
        ("false", "false", "BOOLEAN"),
        ("007", "007", "VARCHAR"),
        ("1e3", "1e3", "VARCHAR"),
        ("٣", "٣", "VARCHAR"),
        ("a=b", "a=b", "VARCHAR"),
        ("", "", "VARCHAR"),
        ("x' OR 1=1 --", "x' OR 1=1 --", "VARCHAR"),
    ],
)
def test_a_parameter_has_the_type_of_what_is_typed(shell: Shell, text: str, value: str, kind: str) -> None:
    out = shell.csv("SELECT $a AS a, typeof($a) AS t", "--raw", "--param", f"a={text}")
    assert list(csv.reader(io.StringIO(out))) == [["a", "t"], [value, kind]]


@pytest.mark.parametrize("text", ["a", "=1", "1=2", "a b=1", ""])
def test_a_parameter_needs_a_name(shell: Shell, text: str) -> None:
    shell("query", "SELECT $a", "--param", text, code=2)
    with pytest.raises(UsageError):
        query.parse_parameter(text)


def test_parameters_are_those_of_the_statement(shell: Shell) -> None:
    assert shell.csv("SELECT $a + $b AS x FROM range($a)", "--param", "a=1", "--param", "b=2") == "x\n3\n"
    assert "b" in shell.refused("SELECT $a + $b AS x", "--param", "a=1")
    shell.refused("SELECT 1", "--param", "a=1")
    shell.refused("SELECT $a", "--param", "a=1", "--param", "b=1")
    shell.refused("FROM read_text($a)", "--param", "a=/etc/hostname")


def test_a_parameter_is_never_sql(shell: Shell) -> None:
    where = "SELECT count(*) AS n FROM turns WHERE player = $p"
    assert shell.csv(where, "--param", "p=Anna") == "n\n52\n"
    assert shell.csv(where, "--param", "p=Anna' OR true --") == "n\n0\n"


# -- where SQL comes from ---------------------------------------------------------------------------------------------


def typed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


@pytest.mark.parametrize("words", [["-"], ["-f", "-"], ["--file", "-"]])
@pytest.mark.parametrize("data", [b"-- one\r\nSELECT 3 AS x;\r\n", b"\xef\xbb\xbfSELECT 3 AS x"])
def test_sql_is_read_from_standard_input(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: list[str], data: bytes
) -> None:
    typed(monkeypatch, data)
    assert shell("query", "--csv", *words)[0] == "x\n3\n"


def test_sql_is_read_from_a_file(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "it's.sql"
    path.write_bytes(b"-- a comment\nSELECT '\xc3\xa5' AS x\n")
    assert shell("query", "--csv", "-f", str(path))[0] == "x\nå\n"
    path.write_bytes(b"SELECT '\xe5'")
    shell("query", "-f", str(path), code=2)
    shell("query", "-f", str(tmp_path / "none.sql"), code=4)
    shell("query", "-f", str(tmp_path), code=4)
    shell("query", "SELECT 1", "-f", str(path), code=2)
    shell("query", code=2)


def own(shell: Shell, place: Place, name: str, sql: str | bytes, *words: str) -> tuple[str, str]:
    """Run a report of one's own, which is there only for that."""
    folder = place.home / "queries"
    folder.mkdir()
    try:
        (folder / f"{name}.sql").write_bytes(sql.encode() if isinstance(sql, str) else sql)
        return shell("stats", name, *words, code=(0, 1, 2))
    finally:
        shutil.rmtree(folder)


def test_a_report_of_ones_own_is_run(shell: Shell, place: Place) -> None:
    sql = "-- title: Mine\n-- n count: turns\nSELECT count(*) AS n FROM turns WHERE chosen(player);\n"
    assert own(shell, place, "mine", sql, "--csv") == ("n\n254\n", "")
    assert own(shell, place, "mine", sql, "--csv", "--player", "Anna") == ("n\n52\n", "")


@pytest.mark.parametrize(
    "sql",
    [
        "FROM read_text('<secret>/a.csv')",
        "COPY (SELECT 1) TO '<new>/x.csv'",
        "WITH x AS (COPY (SELECT 1) TO '<new>/x.csv') SELECT 1",
        "SET threads = 1",
        "SELECT 1; SELECT 2",
        "-- title: nothing",
    ],
)
def test_a_report_of_ones_own_is_locked_down(shell: Shell, place: Place, sql: str) -> None:
    out, err = own(shell, place, "mine", place.fill(sql))
    assert (out, err.count("\n")) == ("", 1)
    assert SECRET not in err
    assert place.tree() == place.before


# -- answers as files -------------------------------------------------------------------------------------------------

KINDS = """
true
42::UTINYINT
-5::BIGINT
9223372036854775807
18446744073709551615::UBIGINT
0.1::DOUBLE
1e-300::DOUBLE
1.10::DECIMAL(9, 2)
12345678901234567890123456789012345678::DECIMAL(38, 0)
DATE '2026-11-29'
TIME '10:00:00.123456'
TIMESTAMP '2026-11-29 10:00:00.123456'
'7b3e1f2c-0000-4000-8000-000000000000'::UUID
[1, NULL, 2]
[['a'], []]
{'a': 1, 'b': DATE '2026-11-29'}
MAP {'a': 1}
MAP {1: 'a'}
NULL::VARCHAR
''
'a,"b"' || chr(10) || chr(0) || '🎲'
'=1+1'
""".strip().splitlines()
LOST = [
    "'inf'::DOUBLE",
    r"'\xff\x00a'::BLOB",
    """'{"a": 1}'::JSON""",
]


@pytest.mark.parametrize("value", [*KINDS, *LOST])
def test_parquet_holds_values_and_types(place: Place, tmp_path: Path, value: str) -> None:
    target = tmp_path / "it's [1]*.parquet"
    select = f"SELECT {value} AS x"
    given = plain(select)
    answers.write(given, target)
    assert os.listdir(tmp_path) == [target.name]
    target.rename(tmp_path / "x.parquet")
    assert plain(f"FROM '{tmp_path}/x.parquet'") == given


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_an_answer_is_written_and_reads_back(shell: Shell, place: Place, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"x.{suffix}"
    sql = "SELECT game, player, posted, with_dice FROM turns ORDER BY ALL"
    out, err = shell("query", sql, "--output", str(target), "--limit", "5", "--raw")
    assert (out, err) == ("", f"tenklog: 254 rows written to {target}\n")
    assert os.listdir(tmp_path) == [target.name]
    expected = query.ask(place.archive, sql, ALL).rows
    if suffix == "json":
        assert [tuple(row.values()) for row in json.loads(target.read_text("utf-8"))] == expected
    elif suffix == "parquet":
        assert plain(f"FROM '{target}'").rows == expected
    else:
        rows = list(csv.reader(io.StringIO(target.read_text("utf-8"))))
        assert rows[0] == ["game", "player", "posted", "with_dice"]
        assert rows[1:] == [[game, who, str(posted), str(dice).lower()] for game, who, posted, dice in expected]


def test_csv_in_a_file_is_harmless_unless_raw(shell: Shell, tmp_path: Path) -> None:
    shell("query", "SELECT '=1' AS x", "--output", str(tmp_path / "x.csv"), "--raw")
    assert (tmp_path / "x.csv").read_bytes() == b"x\n=1\n"
    shell("query", "SELECT '=1' AS x", "--output", str(tmp_path / "y.csv"))
    assert (tmp_path / "y.csv").read_bytes() == b"x\n'=1\n"


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_an_answer_without_rows_is_written(shell: Shell, tmp_path: Path, suffix: str) -> None:
    shell("query", "SELECT game FROM games WHERE false", "--output", str(tmp_path / f"x.{suffix}"))
    assert (tmp_path / f"x.{suffix}").stat().st_size > 0


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_a_file_that_is_there_stays(shell: Shell, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"x.{suffix}"
    target.write_text("mine")
    assert "exists already" in shell("query", "SELECT 1", "--output", str(target), code=5)[1]
    assert target.read_text() == "mine"


def test_a_query_that_fails_leaves_no_file(shell: Shell, tmp_path: Path) -> None:
    for sql in ("SELEC", "SELECT error('x')", "COPY (SELECT 1) TO 'x.csv'", "SELECT 1; SELECT 2"):
        shell("query", sql, "--output", str(tmp_path / "x.csv"), code=(1, 2))
    assert os.listdir(tmp_path) == []


def test_an_answer_that_parquet_cannot_hold_leaves_no_file(shell: Shell, tmp_path: Path) -> None:
    shell("query", "SELECT INTERVAL 1 DAY AS x", "--output", str(tmp_path / "x.parquet"), code=(0, 1))
    shell("query", "SELECT union_value(n := 1) AS x", "--output", str(tmp_path / "y.parquet"), code=(0, 1))
    assert [name for name in os.listdir(tmp_path) if name.startswith(".")] == []


@pytest.mark.parametrize(("name", "code"), [("x.txt", 2), ("x", 2), (".csv", 2), ("none/x.csv", 4)])
def test_a_target_that_makes_no_sense_is_refused(shell: Shell, tmp_path: Path, name: str, code: int) -> None:
    shell("query", "SELECT 1", "--output", str(tmp_path / name), code=code)
    assert os.listdir(tmp_path) == []


# -- what there is ----------------------------------------------------------------------------------------------------


def test_the_tables_and_their_columns_are_listed(shell: Shell) -> None:
    tables = json.loads(shell("query", "--tables", "--json")[0])
    assert [one["table"] for one in tables] == [*ASKED, "dice_sets"]
    for one in tables:
        columns = json.loads(shell("query", "--schema", one["table"], "--json")[0])
        assert len(columns) == one["columns"]
        assert all(column["meaning"] for column in columns)
        names = [column["column"] for column in columns]
        described = shell.csv(f"SELECT column_name FROM (DESCRIBE {one['table']})").split()[1:]
        assert described == names


@pytest.mark.parametrize("name", ["nope", "", "turns; DROP TABLE x", "source.turns"])
def test_a_table_that_is_not_there_has_no_columns(shell: Shell, name: str) -> None:
    assert "dice_sets" in shell("query", "--schema", name, code=2)[1]


def test_a_log_that_is_not_archived_can_be_asked(shell: Shell, place: Place) -> None:
    count = "SELECT count(*) AS n FROM games"
    new = "SELECT game, status FROM games WHERE status = 'in-progress'"
    assert (shell.csv(count), shell.csv(new)) == ("n\n7\n", "game,status\n")
    assert shell.csv(count, "--logs", str(RUNNING)) == "n\n8\n"
    assert shell.csv(new, "--logs", str(RUNNING)).splitlines()[1].endswith(",in-progress")
    archived = str(ROOT / "sample_logs" / "tiotusen-evening.jsonl")
    assert shell.csv(count, "--logs", archived) == "n\n7\n"
    assert place.tree() == place.before


def test_logs_that_are_not_there_are_refused(shell: Shell, tmp_path: Path) -> None:
    shell("query", "SELECT 1", "--logs", "nope", code=2)
    shell("query", "SELECT 1", "--logs", "-", code=2)
    shell("query", "SELECT 1", "--logs", str(tmp_path / "none.jsonl"), code=4)


def test_an_archive_that_was_damaged_answers_nothing(shell: Shell, place: Place, tmp_path: Path) -> None:
    copy = shutil.copytree(place.archive, tmp_path / "archive")
    turns = next(copy.glob("turns-*.parquet"))
    turns.write_bytes(turns.read_bytes()[:-1])
    _, err = shell("query", "SELECT count(*) FROM turns", "--archive", str(copy), code=1)
    assert turns.name in err


def test_a_library_call_raises_errors_of_ours(place: Place) -> None:
    for sql in ("SELEC", "COPY (SELECT 1) TO 'x.csv'", "SELECT 1; SELECT 2", "FROM 'x.csv'", "SELECT error('x')"):
        with pytest.raises(TenklogError):
            query.ask(place.archive, sql, ALL)


# -- what the kernel refuses ------------------------------------------------------------------------------------------


def in_thread(work: Callable[[], Any]) -> Any:
    """Return what some work returns in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


CONFINES = in_thread(give_up_changes)
confined = pytest.mark.skipif(not CONFINES, reason="this kernel has no Landlock")

CHANGES: dict[str, Callable[[Path], object]] = {
    "write": lambda folder: (folder / "file").write_bytes(b"x"),
    "write into": lambda folder: os.close(os.open(folder / "file", os.O_RDWR)),
    "append": lambda folder: os.close(os.open(folder / "file", os.O_WRONLY | os.O_APPEND)),
    "make": lambda folder: (folder / "new").touch(),
    "make a folder": lambda folder: (folder / "new").mkdir(),
    "make a link": lambda folder: (folder / "new").symlink_to("file"),
    "make another name": lambda folder: (folder / "new").hardlink_to(folder / "file"),
    "make a pipe": lambda folder: os.mkfifo(folder / "new"),
    "remove": lambda folder: (folder / "file").unlink(),
    "remove a folder": lambda folder: (folder / "empty").rmdir(),
    "rename": lambda folder: (folder / "file").rename(folder / "new"),
    "move": lambda folder: (folder / "file").rename(folder / "empty" / "file"),
    "run": lambda folder: subprocess.run([sys.executable, "-c", ""], check=True, cwd=folder),
}


@confined
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_confined_thread_changes_nothing_and_reads(tmp_path: Path, change: Callable[[Path], object]) -> None:
    (tmp_path / "file").write_text("content")
    (tmp_path / "empty").mkdir()

    def work() -> str:
        assert give_up_changes()
        with pytest.raises(OSError, match=r"Permission denied|cross-device"):
            change(tmp_path)
        return (tmp_path / "file").read_text()

    assert in_thread(work) == "content"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["empty", "file"]
    change(tmp_path)  # as every other thread can


@confined
@pytest.mark.parametrize(
    "sql",
    [
        "COPY (SELECT 1) TO '<folder>/file' (USE_TMP_FILE false)",
        "COPY (SELECT 1) TO '<folder>/new.csv'",
        "COPY (FROM range(10000000)) TO '<folder>/new' (FORMAT parquet, PER_THREAD_OUTPUT true)",
        "COPY (SELECT 1) TO '/dev/stdout'",
        "ATTACH '<folder>/new.db'",
        "EXPORT DATABASE '<folder>/new'",
        "SET temp_directory = '<folder>/new'; SET memory_limit = '64MB'; FROM range(50000000) ORDER BY hash(range)",
    ],
)
def test_a_duckdb_without_locks_changes_nothing_in_a_confined_thread(tmp_path: Path, sql: str) -> None:
    (tmp_path / "file").write_text("content")

    def work() -> None:
        assert give_up_changes()
        with duckdb.connect(config={"threads": "4"}) as con, pytest.raises(duckdb.Error):
            con.execute(sql.replace("<folder>", str(tmp_path))).fetchall()

    in_thread(work)
    assert [(path.name, path.read_text()) for path in tmp_path.rglob("*")] == [("file", "content")]


@confined
def test_every_thread_that_answers_is_confined(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB's own threads too, which read and write for it."""
    tasks = Path("/proc/self/task")
    real, before, found = query.lock, {path.name for path in tasks.iterdir()}, {}

    def lock(con: duckdb.DuckDBPyConnection, readable: Sequence[Path]) -> None:
        con.execute("SELECT sum(hash(range)) FROM range(10000000)").fetchall()
        for path in tasks.iterdir():
            if path.name not in before:
                found[path.name] = "NoNewPrivs:\t1\n" in (path / "status").read_text()
        real(con, readable)

    monkeypatch.setattr(query, "lock", lock)
    query.ask(place.archive, "SELECT 1", ALL)
    assert len(found) > 1
    assert all(found.values())


@confined
@pytest.mark.parametrize("options", ["USE_TMP_FILE false", "FORMAT parquet, USE_TMP_FILE false"])
def test_the_files_that_a_query_may_read_can_not_be_written_to(place: Place, options: str) -> None:
    for path in [*place.archive.glob("*.parquet"), place.archive / "manifest.json"]:
        copy = f"COPY (SELECT 1) TO '{path}' ({options})"
        for sql in (f"WITH x AS ({copy}) SELECT count(*) FROM turns", f"EXPLAIN ANALYZE {copy}"):
            with pytest.raises(TenklogError, match="rejected"):
                query.ask(place.archive, sql, ALL)
    assert place.tree() == place.before


@pytest.mark.parametrize("name", ["[a]", "*", "?", "it's", "a;b", "a  b", "é", "link"])
def test_an_archive_in_a_folder_of_any_name_is_asked(place: Place, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    if name == "link":
        folder.symlink_to(place.archive, target_is_directory=True)
    else:
        shutil.copytree(place.archive, folder)
    assert query.ask(folder, "SELECT count(*) FROM turns", ALL).rows == [(254,)]


@pytest.mark.parametrize("sql", [line for line in REFUSED if not line.startswith("-- ")])
def test_a_statement_is_refused_where_the_kernel_confines_nothing(
    shell: Shell, place: Place, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "give_up_changes", lambda: False)
    test_a_statement_is_refused_in_one_line_and_nothing_happens(shell, place, sql)


def test_tables_too_large_to_be_loaded_are_answered_with_their_size(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "give_up_changes", lambda: False)
    limits = query.Limits(memory=1000)
    with pytest.raises(TenklogError, match="the tables that are asked about hold 0 MiB, more than the 0 MiB allowed"):
        query.ask(place.archive, "FROM turns", ALL, limits=limits)


@pytest.mark.parametrize(
    ("text", "size"), [("64MB", 64 << 20), ("512m", 512 << 20), ("2GB", 2 << 30), ("2GiB", 2 << 30), ("1024G", 1 << 40)]
)
def test_an_amount_of_memory_is_read(text: str, size: int) -> None:
    assert query.parse_memory(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2",
        "GB",
        "63MB",
        "1025GB",
        "2TB",
        "-2GB",
        "2.5GB",
        "2 GB",
        "٢GB",
        "9999999MB",
        "10000000000MB",
        "0000002GB9",
    ],
)
def test_an_amount_of_memory_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--memory"):
        query.parse_memory(text)
