"""Spark: this module runs reports on a Spark cluster, by the same SQL and the same filters as DuckDB.

The manifest decides which files are read, and these are compared with it before. An executor that is lost takes no row
with it: Spark does its part again, and nothing here has another effect than its answer. Needs the extra
`tenklog[spark]`, and Java.
"""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from logging import LogRecord, getLogger
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

from tenklog import archive, stats
from tenklog.archive import MANIFEST, REBUILD, Answer, Manifest, decode_manifest
from tenklog.errors import AccessError, DataError, UsageError
from tenklog.reports import Report
from tenklog.stats import Filters
from tenklog.tables import ASKED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tenklog.transpile import Connection

JAVA = "Java 17 or 21, on the PATH or in JAVA_HOME"
MORE = "TENKLOG_DEBUG=1 shows all that Spark says"
MASTER = f"a cluster that answers, such as spark://HOST:7077, yarn or local[*]; {MORE}"
# What answers depend on, and quiet; the rest is Spark's default, or what the user's spark-defaults.conf says.
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.caseSensitive": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# On one machine nobody else has to reach the driver.
LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


# -- sessions ---------------------------------------------------------------------------------------------------------


@contextmanager
def session(master: str, settings: dict[str, str] | None = None, package: bool = False) -> Iterator["SparkSession"]:
    """Hold a session on a cluster inside `with`; with `package` its executors' Python has this package.

    Raise UsageError without pyspark, AccessError when Spark does not start or fails inside.
    """
    try:
        from tempfile import TemporaryDirectory

        import sqlglot  # noqa: F401
        from pyspark import SparkConf
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError("Spark needs pyspark and sqlglot", "`pip install 'tenklog[spark]'`") from None
    _check_java()
    local = re.match(r"local\b", master)
    if local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setMaster(master).setAppName("tenklog")
    for key, value in {**(LOCAL if local else {}), **SETTINGS, **(settings or {})}.items():
        conf.set(key, value)
    getLogger("SQLQueryContextLogger").disabled = True  # it prints what is raised as well
    getLogger().addFilter(_unless_interrupted)
    with telling(master, MASTER), uninterrupted(), _java_output():
        started = SparkSession.builder.config(conf=conf).getOrCreate()
        started.sparkContext.setLogLevel("OFF")
    try:
        with telling(master), TemporaryDirectory(prefix="tenklog-") as folder:
            if package:
                started.sparkContext.addPyFile(_packed(folder))
            yield started
    finally:
        started.stop()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a Ctrl-C wait for the end of `with`, and mean there what it meant before.

    Java would not end by itself when it is left alone while it starts; and pyspark would have its own Ctrl-C.
    """
    if current_thread() is not main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            raise KeyboardInterrupt


def _unless_interrupted(record: LogRecord) -> bool:
    return not str(record.msg).startswith("KeyboardInterrupt while")  # which py4j prints a traceback of


def _packed(folder: str) -> str:
    """Pack this package into a file; executors that come later fetch it too."""
    from zipfile import ZipFile

    path, package = os.path.join(folder, "tenklog.zip"), Path(__file__).parent
    with ZipFile(path, "w") as made:
        for file in sorted(package.rglob("*.py")):
            made.write(file, Path("tenklog") / file.relative_to(package))
    return path


def _check_java() -> None:
    from shutil import which

    home = os.environ.get("JAVA_HOME")
    if which("java", path=os.path.join(home, "bin") if home else None) is None:
        raise UsageError(f"Spark needs Java, and there is none{' in JAVA_HOME' if home else ''}", JAVA)


@contextmanager
def _java_output() -> Iterator[None]:
    """Let what Java prints go to a file that nobody sees; if it does not start, that is what is said.

    Java inherits the outputs of the process that starts it, and keeps them.
    """
    from tempfile import TemporaryFile

    from pyspark.errors import PySparkRuntimeError

    with TemporaryFile() as file:
        kept = []
        if "TENKLOG_DEBUG" not in os.environ:
            for fd in (1, 2):
                with suppress(OSError):  # it is closed
                    kept.append((os.dup(fd), fd))
                    os.dup2(file.fileno(), fd)
        try:
            yield
        except PySparkRuntimeError as error:
            file.seek(0)
            said = line_of(file.read().decode(errors="replace") or str(error))
            raise AccessError(
                f"Spark does not start: {said}", JAVA if re.search("(?i)java", said) else MASTER
            ) from None
        finally:
            for copy, fd in kept:
                os.dup2(copy, fd)
                os.close(copy)


@contextmanager
def telling(master: str, right: str = MORE) -> Iterator[None]:
    """Say in one line what Spark says in many: AccessError, or DataError about a file of the archive."""
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        if re.search(r"PATH_NOT_FOUND|FAILED_READ_FILE|FileNotFoundException", text):
            right = "an archive that every machine of the cluster reads under the same name"
            raise DataError(f"can't be read: {line_of(text)}", right) from None
        if isinstance(error, AnalysisException):
            raise  # a mistake of ours
        raise AccessError(f"Spark failed: {line_of(text)}", right, master) from None


def line_of(text: str) -> str:
    """Return what the first exception in what Java or Python printed says; the last line without one."""
    said = re.search(
        r'^(?:Exception in thread "[^"]*" |Caused by: |: )?(?:[\w$]+\.)+\w*(?:Exception|Error): (.+)$',
        text,
        re.MULTILINE,
    )
    lines = text.strip().splitlines() or [""]
    return (said[1] if said else lines[-1]).strip().rstrip(".")[:300]


# -- the archive ------------------------------------------------------------------------------------------------------


def consult(
    spark: "SparkSession", folder: Path | str, tables: Sequence[str], question: Callable[[Manifest], Answer]
) -> Answer:
    """Answer a question about an archive as `archive.consult` does, also of one at an address that only Spark reads."""
    where = spark.sparkContext.master

    def asked(manifest: Manifest) -> Answer:
        with telling(where):
            return question(manifest)

    if isinstance(folder, Path):
        return archive.consult(folder, tables, asked)
    while True:
        manifest = read_manifest(spark, folder)
        try:
            _verify(spark, folder, manifest, tables)
            return asked(manifest)
        except DataError:
            if read_manifest(spark, folder) == manifest:
                raise


def read_manifest(spark: "SparkSession", folder: Path | str) -> Manifest:
    """Read the manifest of an archive; raise DataError when it is damaged, or none is at an address."""
    if isinstance(folder, Path):
        return archive.read_manifest(folder)
    path = f"{folder.rstrip('/')}/{MANIFEST}"
    try:
        with telling(spark.sparkContext.master):
            (found,) = spark.read.format("binaryFile").load(_plain(path)).select("content").collect()
    except DataError as error:
        raise DataError(error.what, "the address of an archive", path) from None
    return decode_manifest(bytes(found.content), path)


def _verify(spark: "SparkSession", folder: str, manifest: Manifest, tables: Sequence[str]) -> None:
    """Compare the files of some tables with their SHA-256, on the executors; raise DataError."""
    from pyspark.sql.functions import sha2

    live = {file.name: file for table in tables for file in manifest.live(table)}
    if not live:
        return
    paths = _paths(folder, manifest, tables)
    with telling(spark.sparkContext.master):
        files = spark.read.format("binaryFile").load(paths)
        found = files.select("path", sha2("content", 256).alias("sha256")).collect()
    seen = {one.path.rpartition("/")[2]: one.sha256 for one in found}
    for name, file in live.items():
        if seen.get(name) != file.sha256:
            raise DataError("is not what was archived: its SHA-256 is another", REBUILD, f"{folder}/{name}")


def _paths(folder: Path | str, manifest: Manifest, tables: Sequence[str]) -> list[str]:
    base = f"file://{os.path.abspath(folder)}" if isinstance(folder, Path) else folder.rstrip("/")
    return [_plain(f"{base}/{file.name}") for table in tables for file in manifest.live(table)]


def _plain(path: str) -> str:
    """Write a path so that its signs that a pattern would mean are taken as they are."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


def rows(spark: "SparkSession", folder: Path | str, manifest: Manifest, table: str) -> "DataFrame":
    """Return the rows of a table; columns that an older tenklog did not write are null."""
    from tenklog.transpile import type_of

    columns = {column.name: type_of(column.type) for column in ASKED[table]}
    if paths := _paths(folder, manifest, [table]):
        return spark.read.schema(", ".join(f"`{name}` {kind}" for name, kind in columns.items())).parquet(*paths)
    nothing = ", ".join(f"CAST(NULL AS {kind}) AS `{name}`" for name, kind in columns.items())
    return spark.sql(f"SELECT {nothing} WHERE false")


# -- reports ----------------------------------------------------------------------------------------------------------


def run(
    spark: "SparkSession", folder: Path | str, report: Report, filters: Filters, people: dict[str, str] | None = None
) -> stats.Answer:
    """Run one of our reports over an archive: a folder, or an address that Spark reads."""
    return ask(spark, folder, report.sql, filters, people)


def unmeasured(
    spark: "SparkSession", folder: Path | str, filters: Filters, people: dict[str, str] | None = None
) -> int:
    """Count the games that a report about luck has to leave out because nobody has worked their luck out."""
    return int(ask(spark, folder, stats.UNMEASURED, filters, people).rows[0][0])


def ask(
    spark: "SparkSession", folder: Path | str, sql: str, filters: Filters, people: dict[str, str] | None = None
) -> stats.Answer:
    """Ask the filtered tables of an archive something in our own SQL."""
    words = sql.lower()
    tables = [table for table in (*ASKED, "dice_sets") if table in words]
    return over(spark, folder, filters, people, lambda con: stats.answer(con.execute(sql)), tables)


def over(
    spark: "SparkSession",
    folder: Path | str,
    filters: Filters,
    people: dict[str, str] | None,
    asking: Callable[["Connection"], Answer],
    tables: Sequence[str] = (*ASKED, "dice_sets"),
) -> Answer:
    """Ask a connection with the filtered tables of an archive; those that are not in `tables` are empty."""
    from tenklog.transpile import Connection

    named = [table for table in ASKED if table in tables or table in ("games", "seats")]  # filters look at these

    def question(manifest: Manifest) -> Answer:
        con = Connection(spark)
        try:
            for table in ASKED:
                live = manifest if table in named else archive.EMPTY
                con.give(f"source.part_{table}", rows(con.spark, folder, live, table))
            if "dice_sets" in tables:
                con.give("main.dice_sets", _dice_sets(con.spark))
            stats.prepare(con, {table: f"SELECT * FROM source.part_{table}" for table in ASKED}, filters, people)
            return asking(con)
        finally:
            con.close()

    return consult(spark, folder, named, question)


def _dice_sets(spark: "SparkSession") -> "DataFrame":
    """Return the table as a list of values: a DataFrame of Python's rows would need Python on the executors."""
    con = archive.connect()
    try:
        stats.make_dice_sets(con)
        found: list[Any] = con.execute("SELECT * FROM dice_sets").fetchall()
    finally:
        con.close()
    values = ", ".join(f"({n}, array{tuple(dice)}, {', '.join(map(str, rest))})" for n, dice, *rest in found)
    names = ", ".join(column.name for column in stats.DICE_SETS)
    return spark.sql(f"SELECT * FROM VALUES {values.replace(',)', ')')} AS sets({names})")
