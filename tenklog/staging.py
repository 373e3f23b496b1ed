"""Staging: this module reads logs and writes what is new in them to Parquet files that no archive lists yet.

A chunk of logs becomes a synced file for each table, under names that begin with `_`. Chunks are staged in this process
or in several; one bad log never stops the others, and a process that is left alone ends.
"""

import gc
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import Struct, json

from tenklog import archive, files, reading
from tenklog.archive import File
from tenklog.errors import AccessError, DataError, TenklogError
from tenklog.events import digest
from tenklog.lines import Scan, scan
from tenklog.rows import first_hash, rows
from tenklog.tables import TABLES, RowFiles, Rows, sql_text

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

ROW_GROUP = 122_880  # rows, as DuckDB writes them
VALUES = 1 << 16  # of a column that pyarrow encodes at a time; with more than its 1,024 it takes less for each
FEW, BATCH, WORTH = 500, 150, 12  # logs of a chunk that are followed together, at most at once, at least of one kind

Result = Literal["archived", "already", "measured", "superseded", "removed", "skipped", "failed"]


WRITTEN = ("archived", "measured", "superseded")  # what has new rows


class Outcome(Struct, frozen=True):
    """What became of a log: `measured` was archived without its luck, `removed` was archived and goes on again,
    `skipped` is not over, `failed` is unreadable.
    """  # noqa: D205

    game: str
    file: str
    result: Result
    why: str


class Known(Struct, frozen=True):
    """An archived game: what identifies its bytes, first line and head, whether its luck is known, and the part that
    it is in (its `games` file).
    """  # noqa: D205

    digest: str
    first_h: str
    seq: int
    h: str
    measured: bool
    part: str


class Staged(Struct, frozen=True):
    """What a chunk of logs gave: files under `_` names, by table; none when no log of it is new."""

    outcomes: list[Outcome]
    games: int
    files: dict[str, File]


# What becomes of the logs of a chunk, one after another, and their rows by table when they are new. Those of many logs
# at once, all before the others, may come with the first of them.
Taken = Iterator[tuple[Outcome, Rows]]
Chunk = Callable[[], Taken]


Item = TypeVar("Item")
Made = TypeVar("Made")


def _ignore(count: int) -> None:
    pass


def part_of(known: dict[str, Known], paths: Iterable[Path]) -> dict[str, Known]:
    """Return what is known of some logs."""
    return {path.stem: known[path.stem] for path in paths if path.stem in known}


# -- logs into files --------------------------------------------------------------------------------------------------


def stage(taken: Taken, prefix: Path, threads: int | None, progress: Callable[[int], object] = _ignore) -> Staged:
    """Write what is new among the logs of a chunk to files whose names begin with `prefix`."""
    outcomes: list[Outcome] = []
    games = 0
    with files.telling(prefix.parent):
        fresh = RowFiles(prefix)
        with fresh:
            for outcome, found in taken:
                outcomes.append(outcome)
                games += outcome.result in WRITTEN
                fresh.add(found)
                progress(1)
        written = {}
        if games:
            con = archive.connect(threads) if fresh.has_lines() else None
            for table in TABLES:
                target = prefix.parent / f"{prefix.name}-{table}.parquet"
                if whole := fresh.whole.pop(table):
                    more = [con.sql(fresh.select(table)).to_arrow_table()] if con else []
                    written[table] = _write_arrow(table, [*whole, *more], target)
                else:
                    assert con is not None
                    written[table] = write_part(con, fresh.select(table), target)
            if con:
                con.close()
        for path in fresh.paths.values():
            files.remove(path)
    return Staged(outcomes, games, written)


def read_chunk(paths: Sequence[Path], known: dict[str, Known], luck: bool) -> Taken:
    """Read a chunk of logs; of very many, those that can be are followed together."""
    if len(paths) < FEW or luck or not is_compiled():
        for path in paths:
            yield take(path, known.get(path.stem), luck)
        return
    for first in range(0, len(paths), BATCH):
        looked = [_look(path, known.get(path.stem), luck) for path in paths[first : first + BATCH]]
        done = _followed(looked)
        yield from done.values()  # in the order of their turns
        for place, one in enumerate(looked):
            if place not in done:
                yield (one, {}) if isinstance(one, Outcome) else _fold(one)


def take(path: Path, known: Known | None, luck: bool = False) -> tuple[Outcome, Rows]:
    """Read a log; return what becomes of it, and its rows when they are new, or its luck is asked for and is not known.

    The luck of a game that was measured is measured again when it goes on.
    """
    looked = _look(path, known, luck)
    return (looked, {}) if isinstance(looked, Outcome) else _fold(looked)


class _Looked(Struct, frozen=True):
    """A log that has something new, and whether its bytes are the archived ones."""

    path: Path
    data: bytes
    found: Scan
    known: Known | None
    same: bool
    luck: bool


def _look(path: Path, known: Known | None, luck: bool) -> Outcome | _Looked:
    """Read the bytes of a log."""
    game, file = path.stem, str(path)
    same = False
    try:
        data = reading.read_bytes(path)
        if known is not None:
            same = known.digest == digest(data)
            if same and (known.measured or not luck):
                return Outcome(game, file, "already", "")
            luck = luck or known.measured
        return _Looked(path, data, scan(data), known, same, luck)
    except TenklogError as error:
        return Outcome(game, file, "failed", str(error))


def _fold(looked: _Looked) -> tuple[Outcome, Rows]:
    path, found, known = looked.path, looked.found, looked.known
    game, file = path.stem, str(path)
    try:
        log = reading.log_of(path, found)
        if path.name != f"{log.start.game}.jsonl":
            raise DataError(f"is the game {log.start.game}", f"a file named {log.start.game}.jsonl", file)
        if found.torn or not found.ended:
            raise DataError("the last line is not whole", f"`tenklog repair {game}` first", file)
        if known is not None:
            _check_goes_on(found, known, game, file)
        status = log.game.position.status
        if status not in ("finished", "abandoned"):
            return Outcome(game, file, "skipped" if known is None else "removed", f"it is {status}"), {}
        made = rows(log, found, looked.data, looked.luck)
    except TenklogError as error:
        return Outcome(game, file, "failed", str(error)), {}
    result: Result = "archived" if known is None else "measured" if looked.same else "superseded"
    return Outcome(game, file, result, ""), made


def is_compiled() -> bool:
    """Tell whether many games can be followed or played together: numpy, pyarrow and numba are there."""
    try:
        from tenklog import jit
        from tenklog.ledger import Ledger  # noqa: F401
    except ImportError:
        return False
    return jit.COMPILED


def _followed(looked: Sequence[Outcome | _Looked]) -> dict[int, tuple[Outcome, Rows]]:
    """Follow what can be of some logs that the archive does not have; return what becomes of them, by their places.

    They are in the order of their turns.
    """
    from tenklog import followed

    alike: dict[tuple[bytes, int], list[tuple[int, _Looked, followed.Moves]]] = {}
    for place, one in enumerate(looked):
        if isinstance(one, Outcome) or one.known or not (moves := followed.moves(one.found)):
            continue
        start = moves.start
        if one.found.ended and one.path.name == f"{start.game}.jsonl":
            alike.setdefault((json.encode(start.rules), len(start.players)), []).append((place, one, moves))
    done: dict[int, tuple[Outcome, Rows]] = {}
    for kind, logs in alike.items():
        if len(logs) < WORTH or (follower := followed.follower(*kind)) is None:
            continue
        found = follower.follow([(moves, one.data) for _, one, moves in logs])
        tables = found.tables
        for (place, one, _), over in zip(logs, found.over, strict=True):
            if over:
                done[place], tables = (Outcome(one.path.stem, str(one.path), "archived", ""), tables), {}
    return done


def _check_goes_on(found: Scan, known: Known, game: str, file: str) -> None:
    """Raise DataError for a log that is not the archived one, or that and more: logs are only ever added to."""
    if known.first_h != first_hash(found):
        what = "is another game than the archived one of this name"
        raise DataError(what, "a name of its own, or `tenklog archive --rebuild`", file)
    right = f"`tenklog extract {game}` gives the archived log back; `tenklog archive --rebuild` takes this one"
    if len(found.lines) < known.seq:
        raise DataError(
            f"has {len(found.lines)} events, and {known.seq} are archived: it has lost its end", right, file
        )
    if found.sealed and found.hash_at(known.seq) != known.h:
        raise DataError(f"has another history than is archived, up to event {known.seq}", right, file)


def write_part(
    con: "DuckDBPyConnection", select: str, target: Path, parameters: dict[str, object] | None = None
) -> File:
    """Write the rows of a query as a synced Parquet file; DuckDB itself syncs nothing."""
    import duckdb

    # Its name as it is: where it writes, DuckDB knows no patterns.
    copy = f"COPY ({select}) TO {sql_text(str(target))} (FORMAT parquet, COMPRESSION zstd)"
    try:
        ((count,),) = con.execute(copy, parameters).fetchall()
    except duckdb.IOException as error:
        files.remove(target)
        what = f"could not be written: {str(error).splitlines()[0]}"
        raise AccessError(what, "room on the disk", str(target)) from None
    return synced(target, int(count))


@lru_cache(maxsize=1)
def _schemas() -> dict[str, "pa.Schema"]:
    """Return the columns of tables as those of Arrow."""
    con = archive.connect()
    found = {}
    for table, columns in TABLES.items():
        nulls = ", ".join(f'NULL::{one.type} AS "{one.name}"' for one in columns)
        found[table] = con.sql(f"SELECT {nulls} LIMIT 0").to_arrow_table().schema
    con.close()
    return found


def _write_arrow(table: str, rows: Sequence["pa.Table"], target: Path) -> File:
    """Write rows that came as Arrow as a synced Parquet file: pyarrow does it in two thirds of the time of DuckDB."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Texts may come as dictionaries, and are written as those; the file itself says nothing of that.
    coded = {one.name: one for one in rows[0].schema if pa.types.is_dictionary(one.type)}
    schema = pa.schema([coded.get(one.name, one) for one in _schemas()[table]])
    with (
        files.telling(target, "room on the disk"), pa.OSFile(str(target), "wb") as out,
        pq.ParquetWriter(out, schema, compression="zstd", store_schema=False, write_batch_size=VALUES) as written,
    ):  # fmt: skip
        written.write_table(pa.concat_tables(_conform(some, schema) for some in rows).unify_dictionaries(), ROW_GROUP)
    return synced(target, sum(map(len, rows)))


def _conform(rows: "pa.Table", schema: "pa.Schema") -> "pa.Table":
    """Return rows with all columns of a schema, null where they have none."""
    import pyarrow as pa

    there = set(rows.column_names)
    columns = [rows[one.name].cast(one.type) if one.name in there else pa.nulls(len(rows), one.type) for one in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def synced(target: Path, rows: int) -> File:
    """Return what was written as a file of a part, once the disk holds it."""
    with files.telling(target):
        fd = os.open(target, os.O_RDWR)
        try:
            files.sync(fd)
            size = os.fstat(fd).st_size
        finally:
            os.close(fd)
    return File(target.name, archive.sha256(target), size, rows)


# -- on all cores -----------------------------------------------------------------------------------------------------


def stage_all(
    folder: Path, chunks: Sequence[Chunk], processes: int, progress: Callable[[int], object]
) -> Iterator[Staged]:
    """Stage chunks, in this process or in some more, and yield them as they are done."""
    named = [(chunk, folder / f"_{os.getpid()}-{number}") for number, chunk in enumerate(chunks)]
    if processes == 1 or len(chunks) <= 1:
        with _uncollected():
            for chunk, prefix in named:
                yield stage(chunk(), prefix, None, progress)
        return
    for staged in in_processes(_stage_alone, named, processes, folder):
        progress(len(staged.outcomes))
        yield staged


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no cycles: games are taken apart by their last reference, and to look costs up to a tenth."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _stage_alone(named: tuple[Chunk, Path]) -> Staged:
    chunk, prefix = named
    return stage(chunk(), prefix, 1)


def in_processes(work: Callable[[Item], Made], items: Sequence[Item], processes: int, folder: Path) -> Iterator[Made]:
    """Do some work on items in some processes, and yield what is made as it is done; `folder` is what they work on.

    One process, or one item, is worked on here.
    """
    if processes == 1 or len(items) <= 1:
        yield from map(work, items)
        return
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
    from multiprocessing import active_children, get_context

    # A fresh interpreter each: what DuckDB does in its threads can't be forked.
    pool = ProcessPoolExecutor(min(processes, len(items)), get_context("spawn"), _begin_worker)
    try:
        for job in as_completed([pool.submit(work, item) for item in items]):
            yield job.result()
    except BrokenExecutor:
        raise AccessError("a process that works on games died", "again, with more memory free", str(folder)) from None
    except BaseException:
        for child in active_children():
            child.terminate()  # what they have staged is swept
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def in_threads(work: Callable[[Item], Made], items: Sequence[Item], threads: int) -> Iterator[tuple[Item, Made]]:
    """Do some work that mostly waits for libraries in some threads; yield items with what is made as it is done."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    pool = ThreadPoolExecutor(threads)
    try:
        jobs = {pool.submit(work, item): item for item in items}
        for job in as_completed(jobs):
            yield jobs[job], job.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and end when the parent is gone, however it went."""
    from multiprocessing import parent_process
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # as `_uncollected`, to the end
    parent = parent_process()

    def watch() -> None:
        assert parent is not None
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
