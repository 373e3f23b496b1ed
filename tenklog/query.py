"""Query: this module runs somebody's SQL, one statement, over the tables of an archive, in a locked-down DuckDB.

What the statement names is copied into memory first, only the columns that its plan reads; then the settings are
locked, and no file, network, extension or setting can be reached. This guards against mistakes and pasted queries;
DuckDB itself calls hostile SQL unsafe by design, which is what a container is for. Time, memory and output have limits,
and what a limit cuts is never cut in silence.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct, json

from tenklog import archive
from tenklog.errors import DataError, UsageError
from tenklog.stats import MACROS, Answer, Filters, answer, over
from tenklog.tables import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_TEXT = 64 << 20  # characters of one answer
MOST_ERROR = 300  # characters of what DuckDB says
MOST_THREADS = 8  # each takes its share of the address space
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
    "SET allow_extension_repositories = 'forbidden'",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
# On a line of its own, so that only the number of the line in an error has to be put right.
_EXPLAIN = "EXPLAIN (FORMAT json)\n"
_PLANNED = "planned: "
# What stands for the filters of reports in a plan: nothing that could be worked out without the column.
_OPAQUE = ("chosen(player_) AS random() < length(player_)", "chosen_game(players_) AS random() < len(players_)")


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
    for setting in LOCK:
        con.execute(setting)


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
    try:
        sql.encode()
    except UnicodeEncodeError:
        raise UsageError("the SQL is not UTF-8 text", "a text in UTF-8") from None
    con.execute(f"SET memory_limit = '{limits.memory // (1 << 20)}MiB'")
    con.execute(f"SET threads = {min(os.cpu_count() or 1, MOST_THREADS)}")
    plan = archive.connect(1)

    def question() -> Answer:
        try:
            read = _columns_read(con, plan, sql, given)
        except duckdb.Error as error:
            raise _rejected(error) from None
        finally:
            plan.close()
        _load(con, read)  # an error here is a file of the archive, and no fault of the SQL
        lock(con)
        try:
            return answer(con.execute(sql, given or None), limits.rows)
        except (duckdb.OutOfMemoryException, duckdb.InterruptException):
            raise
        except duckdb.Error as error:
            raise _rejected(error) from None
        except (OverflowError, ValueError) as error:
            raise DataError(f"the answer can't be shown: {error}", "cast it, for example to VARCHAR") from None

    try:
        with _address_space(limits.memory):
            found = _in_time(limits.seconds, (plan, con), question)
    except (duckdb.OutOfMemoryException, MemoryError):
        raise DataError(_too_large(limits), "more of it with --memory, or a smaller question") from None
    if sum(_length(value) for row in found.rows for value in row) > MOST_TEXT:
        raise DataError(f"the answer is longer than {MOST_TEXT >> 20} MiB", "fewer rows or columns")
    return found


def _too_large(limits: Limits) -> str:
    return f"the question needs more memory than {limits.memory >> 20} MiB"


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
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    what = lines[0] if lines else type(error).__name__
    place = next((line for line in lines[1:] if line.startswith("LINE ")), "")
    more = next((line for line in lines[1:] if line.startswith(("Did you mean", "Candidate")) and line[-1] != ":"), "")
    number, colon, code = place.removeprefix("LINE ").partition(": ")
    if colon and number.isdigit():
        place = f"at line {int(number) - what.startswith(_PLANNED)}: {code}"
    right = " ".join(filter(None, [more, place])) or "one SELECT over the tables of --tables"
    return DataError(f"the SQL was rejected: {_short(what.removeprefix(_PLANNED))}", _short(right))


def _short(text: str) -> str:
    return text if len(text) <= MOST_ERROR else f"{text[:MOST_ERROR]} ..."


# -- what a statement reads -------------------------------------------------------------------------------------------


def _columns_read(
    con: "DuckDBPyConnection", plan: "DuckDBPyConnection", sql: str, parameters: dict[str, object]
) -> dict[str, set[str]]:
    """Return the columns that a statement reads, by table; raise for SQL that is rejected.

    It is planned over empty tables in a connection that is locked down already, so that to look at it can do nothing.
    """
    import duckdb

    everything = {}
    for name in (*TABLES, "dice_sets"):
        columns = [(column, kind) for column, kind, *_ in con.execute(f'DESCRIBE main."{name}"').fetchall()]
        plan.execute(f"CREATE TABLE {name} ({', '.join(f'{quote(column)} {kind}' for column, kind in columns)})")
        everything[name] = {column for column, _ in columns}
    for macro in (*MACROS, *_OPAQUE):
        plan.execute(f"CREATE MACRO {macro}")
    plan.execute("SET disabled_optimizers = 'statistics_propagation'")  # it would see that the tables are empty
    lock(plan)
    statements = plan.extract_statements(sql)
    if len(statements) != 1:
        raise UsageError(f"{len(statements)} statements", "one SELECT")
    kinds = duckdb.StatementType
    kind = _kind(statements[0])
    if kind not in (kinds.SELECT, kinds.MULTI, kinds.EXPLAIN):
        name = getattr(kind, "name", "that")
        raise DataError(
            f"the SQL was rejected: only SELECT is allowed, not {name}", "one SELECT; nothing is ever changed"
        )
    words = sql.lower()
    hidden = "query" in words or "serialized" in words  # SQL in a text, which no plan need show
    if kind != kinds.SELECT or hidden:
        plan.execute(sql, parameters or None)
        return {name: columns for name, columns in everything.items() if hidden or name in words}
    try:
        found = plan.execute(_EXPLAIN + sql, parameters or None).fetchall()
    except duckdb.Error as error:
        raise type(error)(_PLANNED + str(error)) from None
    read: dict[str, set[str]] = {}
    for _, text in found:
        for node in json.decode(text):
            _scans(node, everything, read)
    return read


def _kind(statement: Any) -> Any:
    try:
        return statement.type
    except ValueError:
        return None  # of a kind that this version of the library has no name for


def quote(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


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


# -- limits -----------------------------------------------------------------------------------------------------------


def _in_time(seconds: float, running: Sequence["DuckDBPyConnection"], work: Callable[[], Answer]) -> Answer:
    """Do some work in a thread of its own, so that the clock and Ctrl-C stop it whatever DuckDB is at."""
    found: list[Answer | BaseException] = []
    done = Event()  # not the thread's own end: a Ctrl-C while that is waited for is taken for it

    def call() -> None:
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)
        done.set()

    try:
        Thread(target=call, daemon=True).start()
        if not done.wait(seconds):
            line = f"stopped after {seconds:g} s"
            right = "--timeout SECONDS, or a smaller question"
            _stop(done, running, 1, f"tenklog: error: {line}; {right}\n")
            raise DataError(line, right)
    except KeyboardInterrupt:
        _stop(done, running, 130, "")
        raise
    ended = found[0]
    if isinstance(ended, BaseException):
        raise ended
    return ended


def _stop(done: Event, running: Sequence["DuckDBPyConnection"], code: int, line: str) -> None:
    """Interrupt what runs until it is done; end the process when it does not look up, which DuckDB does not everywhere.

    Nothing is being written, so the process may end at any time.
    """
    import duckdb

    end = monotonic() + GRACE
    while not done.wait(0.1) and monotonic() < end:
        for con in running:
            with suppress(duckdb.Error):
                con.interrupt()
    if not done.is_set():
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(line)
            sys.stderr.flush()
        os._exit(code)


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
