"""Executors: this module replays archived games on the executors of a Spark cluster, each as `replayer.replay` would.

The package is sent to them (`spark.session` with `package`); what they must have is Python 3.11, msgspec and pyarrow,
and PYSPARK_PYTHON says where. An executor gets the lines of whole games and gives a row for each, and nothing else
comes of it, so that what is lost with one is simply done again.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import astuple

from tenklog import reading, spark
from tenklog.archive import log_bytes
from tenklog.outcomes import COLUMNS, plainly, row_of, schema
from tenklog.overview import SUMS, Total, planned, played, summed, swept
from tenklog.replays import Asked
from tenklog.rules import Ruleset
from tenklog.stats import ORIGINS, Filters
from tenklog.sweep import Axis, Sweep
from tenklog.tables import TABLES
from tenklog.walk import Settle

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame, SparkSession

    from tenklog.transpile import Connection

_BATCH = 200  # games that an executor's Python holds at once


def run(
    session: "SparkSession",
    folder: Path | str,
    filters: Filters,
    rules: Ruleset | None,
    settle: Settle = "bank",
    keep: bool = False,
) -> list[tuple[Any, ...]]:
    """Replay the archived games that filters choose, and return the outcome of each, by game; see `replays`."""

    def asking(con: "Connection") -> list[tuple[Any, ...]]:
        return list(replays(con.spark.table("games"), con.spark.table("events"), rules, settle, keep))

    return spark.over(session, folder, filters, None, asking, ["events"])


def totals(session: "SparkSession", folder: Path | str, asked: Sequence[Asked]) -> list[Total]:
    """Replay all archived games under each of some rulesets, and sum up what becomes of them; no row is kept."""

    def asking(con: "Connection") -> list[Total]:
        return _totals(con, asked)

    return spark.over(session, folder, Filters(origins=ORIGINS), None, asking, ["events"])


def sweep(
    session: "SparkSession",
    folder: Path | str,
    rules: Ruleset | None,
    fixed: Sequence[str],
    axes: Sequence[Axis],
    settle: Settle = "bank",
) -> Sweep:
    """Replay all archived games with each value of one or two settings, as `overview.sweep_archive` does."""

    def asking(con: "Connection") -> Sweep:
        own = [rules] if rules is not None else played(con.execute, "games")
        steps, left_out = planned(own, rules, fixed, axes, settle)
        return swept(rules, settle, axes, steps, left_out, _totals(con, [one for _, one in steps]))

    return spark.over(session, folder, Filters(origins=ORIGINS), None, asking, ["events"])


def _totals(con: "Connection", asked: Sequence[Asked]) -> list[Total]:
    found = []
    for one in asked:
        games, events = con.spark.table("games"), con.spark.table("events")
        con.give("main.replayed", replayed(games, events, one.rules, one.settle, one.keep_rule_changes, one.typed))
        found.append(summed(one, con.execute(f"SELECT {SUMS} FROM replayed").fetchall()[0]))
    return found


def replays(
    games: "DataFrame", events: "DataFrame", rules: Ruleset | None, settle: Settle = "bank", keep: bool = False
) -> Iterator[tuple[Any, ...]]:
    """Replay the games of two tables and yield the outcome of each, by game; see `replayed`."""
    yield from map(tuple, replayed(games, events, rules, settle, keep).orderBy("game").toLocalIterator())


def replayed(
    games: "DataFrame",
    events: "DataFrame",
    rules: Ruleset | None,
    settle: Settle = "bank",
    keep: bool = False,
    texts: Sequence[str] = (),
) -> "DataFrame":
    """Return what becomes of the games of two tables under other rules (None: their own), a row for each.

    With `keep`, recorded rule changes are kept; `texts` are changes as they were typed. The session must have sent the
    package to the executors.
    """
    from pyspark.sql import functions as f

    from tenklog.transpile import type_of

    time = f.date_format("time", "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").alias("time")
    line = f.struct(*(time if one.name == "time" else one.name for one in TABLES["events"] if one.name != "game"))
    lines = events.groupBy("game").agg(f.sort_array(f.collect_list(line)).alias("lines"))  # by seq, the first field
    whole = games.select("game", "sealed", "digest").join(lines, "game")

    def work(batches: Iterable["RecordBatch"]) -> Iterator["RecordBatch"]:
        return outcomes(batches, rules, settle, keep, texts)

    kinds = ", ".join(f"{one.name} {type_of(one.type)}" for one in COLUMNS)
    events.sparkSession.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(_BATCH))
    return whole.mapInArrow(work, kinds)


def outcomes(
    batches: Iterable["RecordBatch"],
    rules: Ruleset | None,
    settle: Settle,
    keep: bool,
    texts: Sequence[str] = (),
) -> Iterator["RecordBatch"]:
    """Replay batches of games, each with all of its lines; this is what an executor does."""
    import pyarrow as pa

    kinds = schema()
    for batch in batches:
        found = [
            outcome(log_bytes(one["game"], _rows(one), one["sealed"], one["digest"]), rules, settle, keep, texts)
            for one in batch.to_pylist()
        ]
        columns = list(zip(*found, strict=True)) or [()] * len(COLUMNS)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=kinds)


def _rows(game: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of `events` of a game."""
    return [(game["game"], *line.values()) for line in game["lines"]]


def outcome(
    data: bytes, rules: Ruleset | None, settle: Settle, keep: bool, texts: Sequence[str] = ()
) -> tuple[Any, ...]:
    """Replay a log and return the columns of its outcome."""
    log = reading.parse(data, "archive")
    return astuple(row_of(log, plainly(log, rules, settle, keep, texts)))
