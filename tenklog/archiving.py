"""Archiving: this module writes an archive: it puts finished games in, replaces those that changed, merges small parts.

What was staged gets names made of its content, and then the manifest is replaced: only that makes it the archive.
Whatever kills the writer, a reader sees the archive before or after a whole chunk, and the next writer sweeps what was
left. One writer holds the lock for the whole run.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec import json
from msgspec.structs import replace

from tenklog import archive, files
from tenklog.archive import File, Manifest, Part, Replays
from tenklog.errors import DataError
from tenklog.staging import Chunk, Known, Outcome, Staged, part_of, read_chunk, stage_all, take, write_part
from tenklog.tables import ASKED, TABLES

CHUNK_GAMES = 2_000  # also the most of a merged part
CHUNK_BYTES = 32 << 20  # of logs; DuckDB takes eight times as much memory to write their rows
SMALL_PARTS = 8  # so many are left alone


def archive_logs(
    folder: Path,
    paths: Iterable[Path],
    *,
    dry_run: bool = False,
    rebuild: bool = False,
    luck: bool = False,
    timeout: float = 10.0,
    processes: int = 1,
    progress: Callable[[int], object] = lambda count: None,
) -> list[Outcome]:
    """Put the finished and abandoned games among some logs into an archive; return what became of each log.

    With `luck`, say of each of them what was luck and what skill, of those that are there already too.
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
            outcomes.append(take(path, known.get(path.stem), luck)[0])
            progress(1)
        if rebuild:
            _refuse_loss(folder, before, outcomes)
        return outcomes + twins
    chunks = _chunks(unique, processes)

    def read(known: dict[str, Known]) -> list[Chunk]:
        return [partial(read_chunk, chunk, part_of(known, chunk), luck) for chunk in chunks]

    return archive_chunks(folder, read, rebuild, timeout, processes, progress) + twins


def archive_chunks(
    folder: Path,
    chunks: Callable[[dict[str, Known]], Sequence[Chunk]],
    rebuild: bool,
    timeout: float,
    processes: int,
    progress: Callable[[int], object],
) -> list[Outcome]:
    """Put what some chunks give into an archive; they are asked for with the games that it has, once it is locked."""
    folder = Path(os.path.abspath(folder))
    with files.telling(folder):
        files.make_folder(folder)
    with files.Lock(folder / archive.MANIFEST, timeout):
        writer = Writer(folder, whole=rebuild)
        before = _before(folder, rebuild)
        known = {} if rebuild else before
        outcomes = []
        try:
            for staged in stage_all(folder, chunks(known), processes, progress):
                writer.commit(staged, known)
                outcomes += staged.outcomes
            if rebuild:
                _refuse_loss(folder, before, outcomes)
            writer.finish()
        except BaseException:
            with suppress(OSError):
                writer.clear()  # what was staged may be what filled the disk
            raise
        return outcomes


def _before(folder: Path, rebuild: bool, note: bool = True) -> dict[str, Known]:
    """Return the archived games; none when the archive is to be rebuilt because it can't be read."""
    try:
        return archive.consult(folder, ("games",), lambda manifest: _known(folder, manifest), note)
    except DataError:
        if rebuild:
            return {}
        raise


def _refuse_loss(folder: Path, before: dict[str, Known], outcomes: list[Outcome]) -> None:
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


def chunk_size(games: int, processes: int, size: int = 0) -> int:
    """Return how many games to put into each chunk, so that its part is a good size and no process is idle for long.

    The logs of all have `size` bytes.
    """
    small, by_size = CHUNK_GAMES // 4, -(-size // CHUNK_BYTES)
    chunks = max(-(-games // CHUNK_GAMES), by_size, min(processes, games // (small + 1)), 1)
    even = -(-chunks // processes) * processes  # all processes end at about the same time
    return max(1, -(-games // (even if games // even > small or by_size > 1 else chunks)))


def _chunks(paths: Sequence[Path], processes: int) -> list[list[Path]]:
    """Divide logs into chunks of about as many games, and of not too many bytes."""
    sizes = []
    for path in paths:
        size = 0
        with suppress(OSError):
            size = os.stat(path).st_size
        sizes.append(size)
    most = chunk_size(len(paths), processes, sum(sizes))
    chunks: list[list[Path]] = []
    held = 0
    for path, size in zip(paths, sizes, strict=True):
        if not chunks or len(chunks[-1]) == most or held > CHUNK_BYTES:
            chunks.append([])
            held = 0
        chunks[-1].append(path)
        held += size
    return chunks


def _known(folder: Path, manifest: Manifest) -> dict[str, Known]:
    if not manifest.parts:
        return {}
    columns = "game, digest, first_h, seq, h, measured IS true, parse_filename(filename)"
    con = archive.connect()
    found = con.execute(f"SELECT {columns} FROM ({archive.source(folder, manifest, 'games', named=True)})").fetchall()
    con.close()
    return {game: Known(*one) for game, *one in found}


# -- files into the archive -------------------------------------------------------------------------------------------


class Writer:
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

    def commit(self, staged: Staged, known: dict[str, Known]) -> None:
        """Add the part of a chunk, and in the same commit take the games that it replaces out of their parts."""
        gone: dict[str, list[str]] = {}
        for outcome in staged.outcomes:
            if outcome.result in ("measured", "superseded", "removed"):
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

    def _moved(self, known: dict[str, Known], old: Part, new: Part) -> None:
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
            written[table] = self._named(write_part(con, select, target, {"games": without}))
        return Part(games, written, archive.COLUMNS)

    def _named(self, file: File) -> File:
        """Give a staged file the name that its content has."""
        table = next(table for table in ASKED if file.name.endswith(f"-{table}.parquet"))
        name = archive.name_of(table, file.sha256)
        with files.telling(self.folder / name):
            os.replace(self.folder / file.name, self.folder / name)
        self._states[name] = archive.fingerprint(self.folder / name)
        return File(name, file.sha256, file.size, file.rows)

    def add_replays(self, made: Sequence[Replays]) -> None:
        """Add what was staged of bulk replays, in one commit.

        It takes the place of what was there, of what other rules of the same name gave, and of another tenklog's.
        """
        fresh = (
            replace(one, file=self._named(one.file), turns=None if one.turns is None else self._named(one.turns))
            for one in made
        )
        again, sources = {(one.of, one.asked) for one in made}, {one.name: one.source for one in made}
        kept = (
            one
            for one in self.manifest.replays
            if one.code == archive.code()
            and (one.of, one.asked) not in again
            and sources.get(one.name, one.source) == one.source
        )
        self._set(Manifest(1, self.manifest.parts, (*kept, *fresh)))

    def _set(self, manifest: Manifest) -> None:
        """Make a manifest the present one; replays of parts that are live no more leave it."""
        of = {part.key for part in manifest.parts}
        replays = manifest.replays or self.manifest.replays
        self.manifest = replace(manifest, replays=tuple(one for one in replays if one.of in of))
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
        live = {file.name for file in self._published.files}
        with files.telling(self.folder):
            self.clear()
            for name in os.listdir(self.folder):
                if archive.NAME.fullmatch(name) and name not in live:
                    files.remove(self.folder / name)
        archive.remember(self.folder, self._published, self._states)

    def clear(self) -> None:
        """Remove what was staged, now or by a writer that died."""
        for name in os.listdir(self.folder):
            staged = re.fullmatch(rf"_\d+-\w+-({'|'.join(ASKED)})\.(json|parquet)", name)
            if staged or re.fullmatch(rf"\.{archive.VERIFIED}-\d+", name):
                files.remove(self.folder / name)
