"""Archiving: this module writes an archive: it puts finished games in, replaces those that changed, merges small parts.

A chunk of logs becomes files under names that begin with `_`; they are synced, get names made of their content, and
then the manifest is replaced: only that makes them the archive. Whatever kills the writer, a reader sees the archive
before or after a whole chunk, and the next writer sweeps what was left. One writer holds the lock for the whole run.
One bad log never stops the others.
"""

import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, json
from msgspec.structs import replace

from tenklog import archive, files, reading
from tenklog.archive import File, Manifest, Part
from tenklog.errors import AccessError, DataError, TenklogError
from tenklog.events import digest
from tenklog.lines import Scan, scan
from tenklog.rows import first_hash, rows
from tenklog.tables import TABLES, RowFiles, quoted, sql_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CHUNK_GAMES = 2_000  # also the most of a merged part
CHUNK_BYTES = 32 << 20  # of logs; DuckDB takes eight times as much memory to write their rows
SMALL_PARTS = 8  # so many are left alone
Result = Literal["archived", "already", "superseded", "removed", "skipped", "failed"]


class Outcome(Struct, frozen=True):
    """What became of a log: `removed` was archived and goes on again, `skipped` is not over, `failed` is unreadable."""

    game: str
    file: str
    result: Result
    why: str


class _Known(Struct, frozen=True):
    """An archived game: what identifies its bytes, first line and head, and the part it is in (its `games` file)."""

    digest: str
    first_h: str
    seq: int
    h: str
    part: str


class _Staged(Struct, frozen=True):
    """What a chunk of logs gave: files under `_` names, by table; none when no log of it is new."""

    outcomes: list[Outcome]
    games: int
    files: dict[str, File]


def archive_logs(
    folder: Path,
    paths: Iterable[Path],
    *,
    dry_run: bool = False,
    rebuild: bool = False,
    timeout: float = 10.0,
    processes: int = 1,
    progress: Callable[[int], object] = lambda count: None,
) -> list[Outcome]:
    """Put the finished and abandoned games among some logs into an archive; return what became of each log.

    `progress` is told of every few logs that are done. Raise Busy when another archiver holds the lock, DataError when
    the archive itself is damaged, AccessError when it can't be written to.
    """
    folder = Path(os.path.abspath(folder))
    unique, twins = _by_name(paths)
    if dry_run:
        before = _before(folder, rebuild, note=False)
        known = {} if rebuild else before
        outcomes = []
        for path in unique:
            outcomes.append(take(path, known.get(path.stem))[0])
            progress(1)
        if rebuild:
            _refuse_loss(folder, before, outcomes)
        return outcomes + twins
    with files.telling(folder):
        files.make_folder(folder)
    with files.Lock(folder / archive.MANIFEST, timeout):
        writer = _Writer(folder, whole=rebuild)
        before = _before(folder, rebuild)
        known = {} if rebuild else before
        outcomes = []
        try:
            for staged in _stage_all(folder, _chunks(unique), known, processes, progress):
                writer.commit(staged, known)
                outcomes += staged.outcomes
            if rebuild:
                _refuse_loss(folder, before, outcomes)
            writer.finish()
        except BaseException:
            with suppress(OSError):
                writer.clear()  # what was staged may be what filled the disk
            raise
        return outcomes + twins


def _before(folder: Path, rebuild: bool, note: bool = True) -> dict[str, _Known]:
    """Return the archived games; none when the archive is to be rebuilt because it can't be read."""
    try:
        return archive.consult(folder, ("games",), lambda manifest: _known(folder, manifest), note)
    except DataError:
        if rebuild:
            return {}
        raise


def _refuse_loss(folder: Path, before: dict[str, _Known], outcomes: list[Outcome]) -> None:
    """Raise DataError when there were archived games that no sound log here gives back."""
    lost = sorted(before.keys() - {one.game for one in outcomes if one.result != "failed"})
    if lost:
        names = ", ".join(lost[:6]) + (f" and {len(lost) - 6} more" if len(lost) > 6 else "")
        what = f"{len(lost)} archived {'game has' if len(lost) == 1 else 'games have'} no sound log any more: {names}"
        raise DataError(what, "put them where the games are with `tenklog extract GAME --into DIR` first", str(folder))


def _by_name(paths: Iterable[Path]) -> tuple[list[Path], list[Outcome]]:
    """Tell apart the logs to archive, and those of a game of which another one comes before them."""
    first: dict[str, Path] = {}
    twins = []
    for path in paths:
        one = first.setdefault(path.stem, path)
        if os.path.abspath(one) != os.path.abspath(path):
            twins.append(Outcome(path.stem, str(path), "failed", f"{path}: {one} is named after the same game"))
    return list(first.values()), twins


def _chunks(paths: Sequence[Path]) -> list[list[Path]]:
    """Divide logs into chunks of so many games or bytes that a part of each is a good size."""
    chunks: list[list[Path]] = []
    size = 0
    for path in paths:
        if not chunks or len(chunks[-1]) == CHUNK_GAMES or size > CHUNK_BYTES:
            chunks.append([])
            size = 0
        chunks[-1].append(path)
        with suppress(OSError):
            size += os.stat(path).st_size
    return chunks


def _known(folder: Path, manifest: Manifest) -> dict[str, _Known]:
    if not manifest.parts:
        return {}
    paths = ", ".join(quoted(folder / file.name) for file in manifest.live("games"))
    columns = "game, digest, first_h, seq, h, parse_filename(filename)"
    con = archive.connect()
    found = con.execute(f"SELECT {columns} FROM read_parquet([{paths}], filename = true)").fetchall()
    con.close()
    return {game: _Known(*one) for game, *one in found}


def _part_of(known: dict[str, _Known], paths: Iterable[Path]) -> dict[str, _Known]:
    return {path.stem: known[path.stem] for path in paths if path.stem in known}


# -- logs into files --------------------------------------------------------------------------------------------------


def stage(
    prefix: Path,
    paths: Sequence[Path],
    known: dict[str, _Known],
    threads: int | None = None,
    progress: Callable[[int], object] = lambda count: None,
) -> _Staged:
    """Read a chunk of logs and write what is new in it to files whose names begin with `prefix`."""
    outcomes: list[Outcome] = []
    games = 0
    with files.telling(prefix.parent):
        fresh = RowFiles(prefix)
        with fresh:
            for path in paths:
                outcome, found = take(path, known.get(path.stem))
                outcomes.append(outcome)
                games += bool(found)
                fresh.add(found)
                progress(1)
        written = {}
        if games:
            con = archive.connect(threads)
            for table, lines in fresh.paths.items():
                written[table] = _write(con, fresh.select(table), lines.with_suffix(".parquet"))
            con.close()
        for lines in fresh.paths.values():
            files.remove(lines)
    return _Staged(outcomes, games, written)


def take(path: Path, known: _Known | None) -> tuple[Outcome, dict[str, bytes]]:
    """Read a log; return what becomes of it, and its rows when they are new."""
    game, file = path.stem, str(path)
    try:
        data = reading.read_bytes(path)
        if known is not None and known.digest == digest(data):
            return Outcome(game, file, "already", ""), {}
        found = scan(data)
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
        made = rows(log, found, data)
    except TenklogError as error:
        return Outcome(game, file, "failed", str(error)), {}
    return Outcome(game, file, "archived" if known is None else "superseded", ""), made


def _check_goes_on(found: Scan, known: _Known, game: str, file: str) -> None:
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


def _write(con: "DuckDBPyConnection", select: str, target: Path, parameters: dict[str, object] | None = None) -> File:
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
    with files.telling(target):
        fd = os.open(target, os.O_RDWR)
        try:
            files.sync(fd)
            size = os.fstat(fd).st_size
        finally:
            os.close(fd)
    return File(target.name, archive.sha256(target), size, int(count))


# -- files into the archive -------------------------------------------------------------------------------------------


class _Writer:
    """The archive while its lock is held; `_publish` is the only commit point.

    With `whole` it begins anew, and what was there stays until it is published once, at the end.
    """

    def __init__(self, folder: Path, whole: bool = False) -> None:
        self.folder = folder
        self.whole = whole
        self.manifest = archive.EMPTY
        self._published = archive.EMPTY
        self._states: dict[str, archive.State] = {}  # in which files were found or made sound
        self._number = 0
        if whole:
            with suppress(DataError):
                self._published = archive.read_manifest(folder)
        else:
            self.manifest = self._published = archive.read_manifest(folder)
            self._states = archive.verify(folder, self.manifest)
            if not files.exists(folder / archive.MANIFEST):
                self._publish()  # so that parts without a manifest are always damage
            self.sweep()

    def commit(self, staged: _Staged, known: dict[str, _Known]) -> None:
        """Add the part of a chunk, and in the same commit take the games that it replaces out of their parts."""
        gone: dict[str, list[str]] = {}
        for outcome in staged.outcomes:
            if outcome.result in ("superseded", "removed"):
                gone.setdefault(known[outcome.game].part, []).append(outcome.game)
        if not gone and not staged.games:
            return
        parts: list[Part] = []
        for part in self.manifest.parts:
            games = gone.get(part.files["games"].name)
            if games is None:
                parts.append(part)
            elif len(games) < part.games:
                parts.append(self._rewritten([part], part.games - len(games), games))
                self._moved(known, part, parts[-1])
        if staged.games:
            named = {table: self._named(file) for table, file in staged.files.items()}
            parts.append(Part(staged.games, named, archive.COLUMNS))
        self._set(Manifest(1, tuple(parts)))

    def _moved(self, known: dict[str, _Known], old: Part, new: Part) -> None:
        """Remember that the games of a part are in a new one; the same run may replace more of them."""
        before, after = old.files["games"].name, new.files["games"].name
        for game, one in known.items():
            if one.part == before:
                known[game] = replace(one, part=after)

    def finish(self) -> None:
        """Merge what is small, publish what was held back, and sweep."""
        self._merge()
        if self.whole:
            self._publish()
        self.sweep()

    def _merge(self) -> None:
        """Make one part of many small ones, so that an archive that grows by a game an evening stays fast."""
        small = [part for part in self.manifest.parts if part.games <= CHUNK_GAMES // 4]
        if len(small) <= SMALL_PARTS:
            return
        small.sort(key=lambda part: part.games)
        merged: list[Part] = []
        games = 0
        while small and games + small[0].games <= CHUNK_GAMES:
            merged.append(small.pop(0))
            games += merged[-1].games
        rest = [part for part in self.manifest.parts if part not in merged]
        self._set(Manifest(1, (*rest, self._rewritten(merged, games, []))))

    def _rewritten(self, parts: list[Part], games: int, without: list[str]) -> Part:
        """Write the rows of some parts, without some games, as one new part."""
        archive.verify(self.folder, Manifest(1, tuple(parts)))  # nothing that was damaged meanwhile is copied
        con = archive.connect()
        self._number += 1
        written = {}
        for table in TABLES:
            found = archive.source(self.folder, Manifest(1, tuple(parts)), table)
            select = f"SELECT * FROM ({found}) WHERE game NOT IN (SELECT unnest($games::VARCHAR[]))"
            target = self.folder / f"_{os.getpid()}-again{self._number}-{table}.parquet"
            written[table] = self._named(_write(con, select, target, {"games": without}))
        return Part(games, written, archive.COLUMNS)

    def _named(self, file: File) -> File:
        """Give a staged file the name that its content has."""
        table = next(table for table in TABLES if file.name.endswith(f"-{table}.parquet"))
        name = f"{table}-{file.sha256[:32]}.parquet"
        with files.telling(self.folder / name):
            os.replace(self.folder / file.name, self.folder / name)
        self._states[name] = archive.fingerprint(self.folder / name)
        return File(name, file.sha256, file.size, file.rows)

    def _set(self, manifest: Manifest) -> None:
        self.manifest = manifest
        if not self.whole:
            self._publish()

    def _publish(self) -> None:
        """Replace the manifest, durably, after the files that it lists."""
        path = self.folder / archive.MANIFEST
        with files.telling(path):
            files.sync_folder(self.folder)
            files.put(path, json.format(json.encode(self.manifest), indent=1) + b"\n")
            files.sync_folder(self.folder)
        self._published = self.manifest

    def sweep(self) -> None:
        """Remove what a dead writer staged and what is live no more, and note in which state what is live was sound."""
        live = {file.name for part in self._published.parts for file in part.files.values()}
        with files.telling(self.folder):
            self.clear()
            for name in os.listdir(self.folder):
                if archive.NAME.fullmatch(name) and name not in live:
                    files.remove(self.folder / name)
        archive.remember(self.folder, self._published, self._states)

    def clear(self) -> None:
        """Remove what was staged, now or by a writer that died."""
        for name in os.listdir(self.folder):
            staged = re.fullmatch(rf"_\d+-\w+-({'|'.join(TABLES)})\.(json|parquet)", name)
            if staged or re.fullmatch(rf"\.{archive.VERIFIED}-\d+", name):
                files.remove(self.folder / name)


# -- on all cores -----------------------------------------------------------------------------------------------------


def _stage_all(
    folder: Path,
    chunks: list[list[Path]],
    known: dict[str, _Known],
    processes: int,
    progress: Callable[[int], object],
) -> Iterator[_Staged]:
    """Stage chunks, in this process or in some more, and yield them as they are done."""
    prefixes = [folder / f"_{os.getpid()}-{number}" for number in range(len(chunks))]
    if processes == 1 or len(chunks) <= 1:
        for prefix, chunk in zip(prefixes, chunks, strict=True):
            yield stage(prefix, chunk, _part_of(known, chunk), progress=progress)
        return
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
    from multiprocessing import active_children, get_context

    # A fresh interpreter each: what DuckDB does in its threads can't be forked.
    pool = ProcessPoolExecutor(min(processes, len(chunks)), get_context("spawn"), _begin_worker)
    try:
        jobs = [
            pool.submit(stage, prefix, chunk, _part_of(known, chunk), 1)
            for prefix, chunk in zip(prefixes, chunks, strict=True)
        ]
        for job in as_completed(jobs):
            staged = job.result()
            progress(len(staged.outcomes))
            yield staged
    except BrokenExecutor:
        raise AccessError("a process that reads logs died", "again, with more memory free", str(folder)) from None
    except BaseException:
        for child in active_children():
            child.terminate()  # what they have staged is swept
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and end when the parent is gone, however it went."""
    import gc
    from multiprocessing import parent_process
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # games are taken apart by their last reference; looking for cycles costs a tenth of the time
    parent = parent_process()

    def watch() -> None:
        assert parent is not None
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()
