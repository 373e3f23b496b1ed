"""Query: this module runs somebody's SQL, one statement, over the tables of an archive, in a locked-down DuckDB.

What the statement names is copied into memory first, only the columns that its plan reads; then the settings are
locked, and no file, network, extension or setting can be reached. This guards against mistakes and pasted queries;
DuckDB itself calls hostile SQL unsafe by design, which is what a container is for. Time, memory and output have limits,
and what a limit cuts is never cut in silence.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from msgspec import Struct, json

from tenklog import archive, files
from tenklog.errors import DataError, UsageError
from tenklog.render import Format, Output, render
from tenklog.stats import MACROS, Answer, Filters, answer, over
from tenklog.tables import TABLES, sql_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_TEXT = 64 << 20  # characters of one answer
GRACE = 2.0  # seconds that a query has to end by itself when its time is over

# In this order: the folder for temporary files would stay open to writing were it set later, and after the last line
# nothing can be set any more.
LOCK = (
    "SET temp_directory = ''",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET allow_unsigned_extensions = false",
    "SET allow_persistent_secrets = false",
    "SET python_enable_replacements = false",
    "SET allow_extension_repositories = 'forbidden'",  # known from DuckDB 2 on
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_EXPLAIN = "EXPLAIN (FORMAT json) "
NEWER = ("allow_extension_repositories",)


class Limits(Struct, frozen=True):
    """What a query may take: seconds, bytes of memory, rows of its answer (None: all)."""

    seconds: float = 60.0
    memory: int = 2 << 30
    rows: int | None = 10_000


def ask(
    folder: Path,
    sql: str,
    filters: Filters,
    people: dict[str, str] | None = None,
    logs: Sequence[Path] = (),
    parameters: Mapping[str, object] | None = None,
    limits: Limits | None = None,
) -> Answer:
    """Run somebody's SQL over an archive and some logs; see `run`."""
    return over(folder, filters, people, logs, lambda con: run(con, sql, parameters, limits))


def lock(con: "DuckDBPyConnection") -> None:
    """Lock a connection down; nothing of ours can be done with files on it afterwards either."""
    import duckdb

    for setting in LOCK:
        try:
            con.execute(setting)
        except duckdb.CatalogException:
            if not any(name in setting for name in NEWER):
                raise


def run(
    con: "DuckDBPyConnection", sql: str, parameters: Mapping[str, object] | None = None, limits: Limits | None = None
) -> Answer:
    """Run one statement over the tables that `stats.prepare` gave a connection, and return its answer.

    The answer has one row more than the limit when there are more. Raise DataError for SQL that is rejected or fails,
    and for what a limit stops. The connection is of no further use.
    """
    import duckdb

    limits = limits or Limits()
    given = dict(parameters or {})
    loading = False
    with _limited(con, limits) as late:
        try:
            read = _columns_read(con, sql, given)
            loading = True
            _load(con, read)
            loading = False
            lock(con)
            found = answer(con.execute(sql, given or None), limits.rows)
        except (duckdb.OutOfMemoryException, MemoryError):
            raise DataError(_too_large(limits), "--memory 4GB, or a question about fewer columns or games") from None
        except (duckdb.Error, RuntimeError) as error:
            if late.is_set():
                raise DataError(
                    f"stopped after {limits.seconds:g} s", "--timeout SECONDS, or a smaller question"
                ) from None
            if isinstance(error, duckdb.InterruptException) or type(error) is RuntimeError:
                raise KeyboardInterrupt from None
            if loading:
                raise  # a file of the archive, and no fault of the SQL
            raise _rejected(error) from None
    if sum(_length(value) for row in found.rows for value in row) > MOST_TEXT:
        raise DataError(f"the answer is longer than {MOST_TEXT >> 20} MiB", "fewer rows or columns")
    return found


def _too_large(limits: Limits) -> str:
    return f"the question needs more than {limits.memory / (1 << 30):.3g} GiB of memory"


def _length(value: object) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, list | tuple):
        return sum(map(_length, value))
    if isinstance(value, dict):
        return sum(map(_length, value)) + sum(map(_length, value.values()))
    return 8


def _rejected(error: Exception) -> DataError:
    """Say in one line what DuckDB says in many."""
    lines = [line.strip().replace(_EXPLAIN, "") for line in str(error).splitlines() if line.strip()]
    what = lines[0] if lines else type(error).__name__
    place = next((line for line in lines[1:] if line.startswith("LINE ")), "")
    more = next((line for line in lines[1:] if line.startswith(("Did you mean", "Candidate"))), "")
    right = " ".join(filter(None, [more, f"at {place}" if place else ""])) or "one SELECT over the tables of --tables"
    return DataError(f"the SQL was rejected: {what}", right)


# -- what a statement reads -------------------------------------------------------------------------------------------


def _columns_read(con: "DuckDBPyConnection", sql: str, parameters: dict[str, object]) -> dict[str, set[str]]:
    """Return the columns that a statement reads, by table; raise for SQL that is rejected.

    It is planned over empty tables in a connection that is locked down already, so that to look at it can do nothing.
    """
    import duckdb

    plan = archive.connect()
    try:
        tables = {
            name: [(column, kind) for column, kind, *_ in con.execute(f'DESCRIBE main."{name}"').fetchall()]
            for name in (*TABLES, "dice_sets")
        }
        for name, columns in tables.items():
            plan.execute(
                f"CREATE TABLE {name} ({', '.join(f'{chr(34)}{column}{chr(34)} {kind}' for column, kind in columns)})"
            )
        for macro in (*MACROS, "chosen(player_) AS player_ = ''", "chosen_game(players_) AS players_ = ['']"):
            plan.execute(f"CREATE MACRO {macro}")
        plan.execute("SET disabled_optimizers = 'statistics_propagation'")  # it would see that the tables are empty
        lock(plan)
        statements = plan.extract_statements(sql)
        if len(statements) != 1:
            raise UsageError(f"{len(statements)} statements", "one SELECT")
        if statements[0].type not in (
            duckdb.StatementType.SELECT,
            duckdb.StatementType.MULTI,
            duckdb.StatementType.EXPLAIN,
        ):
            raise DataError(
                f"the SQL was rejected: {statements[0].type.name} is no question",
                "one SELECT; the archive is never changed",
            )
        everything = {name: {column for column, _ in columns} for name, columns in tables.items()}
        if statements[0].type != duckdb.StatementType.SELECT:
            plan.execute(sql, parameters or None)
            words = sql.lower()
            return {name: columns for name, columns in everything.items() if name in words}
        found = plan.execute(_EXPLAIN + sql, parameters or None).fetchall()
    finally:
        plan.close()
    read: dict[str, set[str]] = {}
    for _, text in found:
        for node in json.decode(text):
            _scans(node, everything, read)
    return read


def _scans(node: dict[str, Any], everything: dict[str, set[str]], read: dict[str, set[str]]) -> None:
    """Collect the columns of the scans below a node of a plan."""
    facts = node.get("extra_info") or {}
    table = str(facts.get("Table", "")).rpartition(".")[2]
    if table in everything:
        words = set(_words(facts.get("Projections"))) | set(_words(facts.get("Filters")))
        read.setdefault(table, set()).update(everything[table] & words)
    for child in node.get("children") or ():
        _scans(child, everything, read)


def _words(value: object) -> Iterator[str]:
    import re

    for text in value if isinstance(value, list) else [value]:
        if text:
            yield str(text)
            yield from re.findall(r"\w+", str(text))


def _load(con: "DuckDBPyConnection", read: dict[str, set[str]]) -> None:
    """Copy what is read into memory, and put views of all columns in front of it; the others are null."""
    con.execute("CREATE SCHEMA loaded")
    made = {}
    for table in TABLES:
        columns = [(name, kind) for name, kind, *_ in con.execute(f'DESCRIBE main."{table}"').fetchall()]
        chosen = [name for name, _ in columns if name in read.get(table, ())]
        if table in read:
            names = ", ".join(f'"{name}"' for name in chosen) or "true AS _row"
            con.execute(f'CREATE TABLE loaded."{table}" AS SELECT {names} FROM main."{table}"')
            origin = f'loaded."{table}"'
        else:
            origin = "(SELECT 1 WHERE false)"
        shown = ", ".join(f'"{name}"' if name in chosen else f'NULL::{kind} AS "{name}"' for name, kind in columns)
        made[table] = f"SELECT {shown} FROM {origin}"
    for table, select in made.items():
        con.execute(f'CREATE OR REPLACE VIEW main."{table}" AS {select}')
    for kind, name in con.execute(
        "SELECT table_type, table_name FROM information_schema.tables "
        "WHERE table_schema = 'source' AND table_name <> 'chosen'"
    ).fetchall():
        con.execute(f'DROP {"VIEW" if kind == "VIEW" else "TABLE"} source."{name}"')


# -- answers as files -------------------------------------------------------------------------------------------------


def write(answer: Answer, target: Path) -> None:
    """Write an answer to a new file, by its suffix: Parquet, CSV (cells as they are) or JSON; all of it or nothing."""
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    fresh = target.parent / f".{target.name}.new"
    with files.telling(target):
        if target.suffix == ".parquet":
            _write_parquet(answer, rows, fresh)
        else:
            form: Format = "csv" if target.suffix == ".csv" else "json"
            fresh.write_text(render(Output(rows, answer.columns, rows), form, raw=True), encoding="utf-8")
        os.replace(fresh, target)


def _write_parquet(answer: Answer, rows: list[dict[str, object]], target: Path) -> None:
    """Write rows as Parquet, through JSON, in a connection of our own: the one that ran the SQL reaches no file."""
    import duckdb

    if len(set(answer.columns)) < len(answer.columns):
        raise DataError("two columns have the same name", "a name for each: SELECT a AS x, b AS y")
    lines = target.with_suffix(".lines")
    encode = json.Encoder(decimal_format="number").encode
    lines.write_bytes(b"".join(encode(row) + b"\n" for row in rows))
    typed = zip(answer.columns, answer.types, strict=True)
    kinds = ", ".join(f"{sql_text(name)}: {sql_text(kind)}" for name, kind in typed)
    read = f"read_json({sql_text(str(lines))}, format = 'newline_delimited', columns = {{{kinds}}})"
    con = archive.connect()
    try:
        con.execute(f"COPY (SELECT * FROM {read}) TO {sql_text(str(target))} (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.Error as error:
        raise DataError(
            f"the answer can't be written as Parquet: {str(error).splitlines()[0]}", "CSV or JSON"
        ) from None
    finally:
        con.close()
        files.remove(lines)


# -- limits -----------------------------------------------------------------------------------------------------------


@contextmanager
def _limited(con: "DuckDBPyConnection", limits: Limits) -> Iterator[Event]:
    """Hold time and memory to their limits; yield what is set when the time was over."""
    con.execute(f"SET memory_limit = '{limits.memory // (1 << 20)}MiB'")
    late, done = Event(), Event()

    def watch() -> None:
        if done.wait(limits.seconds):
            return
        late.set()
        while not done.wait(0.2):
            con.interrupt()
            if done.wait(GRACE):
                return
            # DuckDB does not look up while it makes one huge value. Nothing is being written, so the process may end.
            with suppress(OSError, ValueError):
                sys.stderr.write(f"tenklog: error: stopped after {limits.seconds:g} s; --timeout SECONDS\n")
                sys.stderr.flush()
            os._exit(1)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        with _address_space(limits.memory):
            yield late
    finally:
        done.set()
        watcher.join()


@contextmanager
def _address_space(memory: int) -> Iterator[None]:
    """Let the process have so much more memory and no more: DuckDB's own limit does not see every value."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        before = resource.getrlimit(resource.RLIMIT_AS)
        most = used + 2 * memory + (256 << 20)
        if before[1] != resource.RLIM_INFINITY:
            most = min(most, before[1])
        resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    except (ImportError, OSError, ValueError):
        yield  # no such limit on this platform
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


# -- what people type -------------------------------------------------------------------------------------------------


def parse_parameter(text: str) -> tuple[str, object]:
    """Read NAME=VALUE: a whole number, a number, true, false, or else a text (`007` too). Raise UsageError."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"--param {text[:80]!r}", "NAME=VALUE, used as $NAME in the SQL")
    plain = value.removeprefix("-")
    if plain.isascii() and plain.isdigit() and len(plain) <= 15 and (plain == "0" or plain[0] != "0"):
        return name, int(value)
    whole, point, part = plain.partition(".")
    if point and whole.isascii() and part.isascii() and whole.isdigit() and part.isdigit() and len(plain) <= 15:
        return name, float(value)
    if value in ("true", "false"):
        return name, value == "true"
    return name, value


def parse_memory(text: str) -> int:
    """Read an amount of memory such as 512MB or 2GB, in bytes; raise UsageError."""
    digits = text.upper().removesuffix("B").removesuffix("I")
    factor = {"M": 1 << 20, "G": 1 << 30}.get(digits[-1:], 0)
    number = digits[:-1]
    if (
        not factor
        or not number.isascii()
        or not number.isdigit()
        or not 64 << 20 <= int(number[:6]) * factor <= 1 << 40
    ):
        raise UsageError(f"--memory {text[:20]!r}", "64MB or more, such as 512MB or 2GB")
    return int(number) * factor
