"""Query: this module runs somebody's SQL, one statement, over the tables of an archive, in a locked-down DuckDB.

It runs in threads that the kernel lets change no file, and with settings that are locked, so that nothing is reached
but the archive's own files, to read them: no other file, no network, extension or setting. Where the kernel has no such
thing, the tables that the statement names are loaded into memory first, and no file at all is reached. This guards
against mistakes and pasted queries; DuckDB itself calls hostile SQL unsafe by design, which is what a container is for.
Time, memory and output have limits, and what a limit cuts is never cut in silence.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from tenklog import archive
from tenklog.archive import Manifest
from tenklog.errors import DataError, UsageError
from tenklog.sandbox import give_up_changes
from tenklog.stats import Answer, Filters, answer, give_tables, named, rows_of
from tenklog.tables import ASKED, quoted, sql_text

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
    """Run one statement over an archive and some logs, and return its answer.

    The answer has one row more than the limit when there are more. Raise DataError for SQL that is rejected or fails,
    and for what a limit stops.
    """
    limits = limits or Limits()
    try:
        sql.encode()
    except UnicodeEncodeError:
        raise UsageError("the SQL is not UTF-8 text", "a text in UTF-8") from None
    words = sql.lower()
    if (filters.players or filters.min_games) and "chosen" not in words:
        what = "--player and --min-games reach only SQL that asks for them"
        raise UsageError(what, "WHERE chosen(player), or chosen_game(players)")
    hidden = "query" in words or "serialized" in words  # SQL in a text
    asked = [*ASKED] if hidden else named(sql)
    given = dict(parameters or {})

    with rows_of(logs) as fresh:

        def question(manifest: Manifest) -> Answer:
            def work(con: "DuckDBPyConnection", confined: bool) -> Answer:
                con.execute(f"SET memory_limit = '{limits.memory >> 20}MiB'")
                if not confined:
                    _check_size(manifest, asked, limits.memory)
                give_tables(con, folder, manifest, fresh, filters, people, loaded=None if confined else asked)
                lock(con, [folder / file.name for table in ASKED for file in manifest.live(table)] if confined else ())
                # Not before DuckDB's threads run: one without room for its first own data ends the process.
                with _address_space(limits.memory):
                    return _answer(con, sql, given, limits.rows)

            return _within(limits, work)

        found = archive.consult(folder, ASKED, question)
    if sum(_length(value) for row in found.rows for value in row) > MOST_TEXT:
        raise DataError(f"the answer is longer than {MOST_TEXT >> 20} MiB", "fewer rows or columns")
    return found


def _check_size(manifest: Manifest, tables: Sequence[str], most: int) -> None:
    size = sum(file.size for table in tables for file in manifest.live(table))
    if size > most:
        what = f"the tables that are asked about hold {size >> 20} MiB, more than the {most >> 20} MiB allowed"
        raise DataError(what, "more of it with --memory")


def lock(con: "DuckDBPyConnection", readable: Sequence[Path]) -> None:
    """Lock a connection down to reading some files; nothing of ours can be done with others afterwards either."""
    texts = {text for path in readable for text in (quoted(path), sql_text(os.path.abspath(path)))}
    if texts:
        con.execute(f"SET allowed_paths = [{', '.join(texts)}]")
    for setting in LOCK:
        con.execute(setting)


def _answer(con: "DuckDBPyConnection", sql: str, parameters: dict[str, object], rows: int | None) -> Answer:
    """Run one statement on a prepared connection; see `ask`."""
    import duckdb

    try:
        _check_kind(con, sql)
        return answer(con.execute(sql, parameters or None), rows)
    except (duckdb.OutOfMemoryException, duckdb.InterruptException):
        raise
    except duckdb.Error as error:
        raise _rejected(error) from None
    except (OverflowError, ValueError) as error:
        raise DataError(f"the answer can't be shown: {error}", "cast it, for example to VARCHAR") from None


def _check_kind(con: "DuckDBPyConnection", sql: str) -> None:
    """Raise for what is not one question. This is a help and no wall: DuckDB calls a COPY inside of a CTE a SELECT."""
    import duckdb

    statements = con.extract_statements(sql)
    if len(statements) != 1:
        raise UsageError(f"{len(statements)} statements", "one SELECT")
    kinds = duckdb.StatementType
    try:
        kind: Any = statements[0].type
    except ValueError:
        kind = None  # of a kind that this version of the library has no name for
    if kind not in (kinds.SELECT, kinds.MULTI, kinds.EXPLAIN):
        what = f"the SQL was rejected: only SELECT is allowed, not {getattr(kind, 'name', 'that')}"
        raise DataError(what, "one SELECT; nothing is ever changed")


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
    right = " ".join(filter(None, [more, place and f"at {place}"])) or "one SELECT over the tables of --tables"
    return DataError(f"the SQL was rejected: {_short(what)}", _short(right))


def _short(text: str) -> str:
    return text if len(text) <= MOST_ERROR else f"{text[:MOST_ERROR]} ..."


# -- limits -----------------------------------------------------------------------------------------------------------


def _within(limits: Limits, work: Callable[["DuckDBPyConnection", bool], Answer]) -> Answer:
    """Do some work on a connection within its limits, in a thread that can change no file where the system can do that.

    The work learns whether it can. The clock and Ctrl-C stop it whatever DuckDB is at.
    """
    import duckdb

    found: list[Answer | BaseException] = []
    running: list[DuckDBPyConnection] = []
    done = Event()  # not the thread's own end: a Ctrl-C while that is waited for is taken for it

    def call() -> None:
        try:
            confined = give_up_changes()  # before DuckDB starts threads of its own
            with closing(archive.connect(min(os.cpu_count() or 1, MOST_THREADS))) as con:
                running.append(con)
                found.append(work(con, confined))
        except BaseException as error:
            found.append(error)
        done.set()

    try:
        Thread(target=call, daemon=True).start()
        if not done.wait(limits.seconds):
            line = f"stopped after {limits.seconds:g} s"
            right = "--timeout SECONDS, or a smaller question"
            _stop(done, running, 1, f"tenklog: error: {line}; {right}\n")
            raise DataError(line, right)
    except KeyboardInterrupt:
        _stop(done, running, 130, "")
        raise
    ended = found[0]
    if isinstance(ended, duckdb.OutOfMemoryException | MemoryError):
        what = f"the question needs more memory than {limits.memory >> 20} MiB"
        raise DataError(what, "more of it with --memory, or a smaller question")
    if isinstance(ended, BaseException):
        raise ended
    return ended


def _stop(done: Event, running: "Sequence[DuckDBPyConnection]", code: int, line: str) -> None:
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
    found = re.fullmatch(r"([0-9]{1,7})([MG])I?B?", text.upper())
    size = int(found[1]) << {"M": 20, "G": 30}[found[2]] if found else 0
    if not 64 << 20 <= size <= 1 << 40:
        raise UsageError(f"--memory {text[:20]!r}", "64MB or more, such as 512MB or 2GB")
    return size
