"""Archive: this module reads an archive, and gives DuckDB its tables.

An archive is a folder of immutable Parquet parts, each with a file for every table, and a manifest that lists those
that are live with their SHA-256; what it does not list does not exist. A file is hashed before it is used unless its
size, time and inode are those under which it was found sound before. It is a copy: the logs stay the truth.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from msgspec import DecodeError, Meta, Struct, ValidationError, json

from tenklog import files
from tenklog.checks import Problem
from tenklog.errors import DataError, UsageError, nearest
from tenklog.events import digest
from tenklog.home import is_id, meant
from tenklog.lines import chain
from tenklog.rows import line_of
from tenklog.tables import ASKED, TABLES, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Answer = TypeVar("Answer")
MANIFEST = "manifest.json"
VERIFIED = "verified.json"
NAME = re.compile(rf"({'|'.join(ASKED)})-[0-9a-f]{{32}}\.parquet")
REBUILD = "`tenklog archive --rebuild` writes the archive anew from the logs"


COLUMNS = digest(json.encode({table: [(one.name, one.type) for one in columns] for table, columns in TABLES.items()}))


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a part: its name in the folder, its SHA-256 (64 hex digits), its size in bytes, its rows."""

    name: str
    sha256: str
    size: Annotated[int, Meta(ge=0)]
    rows: Annotated[int, Meta(ge=0)]


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """Some games, whole: a file for each table. `columns` stands for the columns of the tenklog that wrote it."""

    games: int
    files: dict[str, File]
    columns: str

    @property
    def key(self) -> str:
        """Return what stands for the content of all its files."""
        return digest(json.encode(sorted(file.sha256 for file in self.files.values())))


class Replays(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a bulk replay made of the games of one part, and of their turns where that was asked for: `of` is that
    part's key, `asked` stands for what was asked, `code` for the tenklog that made it. Whoever has another one takes it
    for none. The ruleset has a name; before it was changed, it was that of `source`.
    """  # noqa: D205

    of: str
    asked: str
    code: str
    file: File
    turns: File | None = None
    name: str = ""
    source: str = ""

    @property
    def files(self) -> dict[str, File]:
        """Return its files by their tables."""
        return {"replays": self.file} | ({} if self.turns is None else {"replayed_turns": self.turns})


class Manifest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The parts that are live. The head of each game stands in `games`, which the manifest pins by its SHA-256."""

    format: Literal[1]
    parts: tuple[Part, ...]
    replays: tuple[Replays, ...] = ()

    def live(self, table: str) -> list[File]:
        """Return the files of a table."""
        if table in TABLES:
            return [part.files[table] for part in self.parts]
        return [one.files[table] for one in self.replays if one.code == code() and table in one.files]

    @property
    def files(self) -> list[File]:
        """Return every file that is listed."""
        return [file for _, file in self.listed]

    @property
    def listed(self) -> list[tuple[str, File]]:
        """Return every file with its table."""
        of_parts = [named for part in self.parts for named in part.files.items()]
        return of_parts + [named for one in self.replays for named in one.files.items()]

    @property
    def games(self) -> int:
        """Return the number of games."""
        return sum(part.games for part in self.parts)


class _Probe(Struct):
    format: int


EMPTY = Manifest(1, ())


@cache
def code() -> str:
    """Return what stands for this very tenklog: another one may find another meaning in the same games."""
    return digest(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))))


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest; an archive that was never written to is empty. Raise DataError when it is damaged."""
    path = folder / MANIFEST
    if not files.exists(path):
        if any(NAME.fullmatch(one.name) for one in folder.glob("*.parquet")):
            raise DataError("is missing, but there are parts", f"put it back; or {REBUILD}", str(path))
        return EMPTY
    with files.telling(path), files.opened(path, files.READ) as fd:
        data = files.read(fd)
    return decode_manifest(data, str(path))


def decode_manifest(data: bytes, where: str) -> Manifest:
    """Return the manifest that some bytes are; raise DataError, about `where`, when they are none."""
    try:
        manifest = json.decode(data, type=Manifest)
    except (DecodeError, ValidationError, RecursionError) as error:
        with suppress(DecodeError, ValidationError, RecursionError):
            if (newer := json.decode(data, type=_Probe).format) > EMPTY.format:
                what = f"is of format {newer}, written by a newer tenklog"
                raise DataError(what, f"this one reads up to {EMPTY.format}", where) from None
        raise DataError(f"is no manifest: {error}", REBUILD, where) from None
    if any(part.files.keys() != TABLES.keys() for part in manifest.parts) or not all(
        NAME.fullmatch(file.name) and file.name == name_of(table, file.sha256) for table, file in manifest.listed
    ):
        raise DataError("lists a file that is none of an archive", REBUILD, where)
    return manifest


def name_of(table: str, sha256: str) -> str:
    """Return the name that a file of a table has by its content."""
    return f"{table}-{sha256[:32]}.parquet"


# -- whether the files are what the manifest says ---------------------------------------------------------------------

State = tuple[int, int, int]  # size, time of change in ns, inode


def consult(folder: Path, tables: Iterable[str], question: Callable[["Manifest"], Answer], note: bool = True) -> Answer:
    """Answer a question about an archive once the files of some tables are known to be sound.

    It is asked again when an archiver replaced a file meanwhile. Raise DataError for a file that is not sound, or that
    DuckDB can't read. Without `note` nothing at all is written.
    """
    import duckdb

    tables = list(tables)
    while True:
        manifest = read_manifest(folder)
        try:
            verify(folder, manifest, tables, note=note)
            return question(manifest)
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException):
            raise  # a mistake of ours
        except (DataError, duckdb.Error) as error:
            if read_manifest(folder) != manifest:
                continue
            if isinstance(error, DataError):
                raise
            raise DataError(f"can't be read: {str(error).splitlines()[0]}", REBUILD, str(folder)) from None


def open_archive(folder: Path, tables: Iterable[str] = TABLES) -> Manifest:
    """Return the manifest once the files of some tables are known to be sound; raise DataError for one that is not."""
    return consult(folder, tables, lambda manifest: manifest)


def verify(
    folder: Path, manifest: Manifest, tables: Iterable[str] = TABLES, whole: bool = False, note: bool = True
) -> dict[str, State]:
    """Compare files with their SHA-256, all of them with `whole`, else those that are not as they were seen last.

    Return the states in which they were found sound, which are noted for the next time; raise DataError.
    """
    seen = {} if whole else _verified(folder)
    fresh: dict[str, State] = {}
    for table in tables:
        for file in manifest.live(table):
            state = fingerprint(folder / file.name)
            if seen.get(file.name) != state or state[0] != file.size:
                if wrong := damage(folder, file):
                    raise DataError(wrong, REBUILD, str(folder / file.name))
                fresh[file.name] = state
    if fresh and note:
        remember(folder, manifest, seen | fresh)
    return seen | fresh


def damage(folder: Path, file: File) -> str:
    """Say in what a file is not what the manifest says; an empty string when it is."""
    path = folder / file.name
    state = fingerprint(path)
    if state[0] != file.size:
        return f"has {state[0]} bytes, not {file.size}"
    if sha256(path) != file.sha256:
        return "is not what was archived: its SHA-256 is another"
    return ""


def fingerprint(path: Path) -> State:
    """Return what tells that a file was touched; raise DataError when it is gone."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        raise DataError("is missing", REBUILD, str(path)) from None
    except OSError as error:
        raise files.told(error, path) from None
    return found.st_size, found.st_mtime_ns, found.st_ino


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; raise DataError when it is gone."""
    from hashlib import file_digest

    try:
        file = path.open("rb")
    except OSError as error:
        fingerprint(path)  # says when it is gone
        raise files.told(error, path) from None
    with file, files.telling(path):
        return file_digest(file, "sha256").hexdigest()


def _verified(folder: Path) -> dict[str, State]:
    try:
        return json.decode((folder / VERIFIED).read_bytes(), type=dict[str, State])
    except (OSError, DecodeError, ValidationError, RecursionError):
        return {}  # it only saves hashing


def remember(folder: Path, manifest: Manifest, seen: dict[str, State]) -> None:
    """Note under which state the live files were found sound; an archive that can't be written to is hashed again."""
    live = {file.name for file in manifest.files}
    states = {name: state for name, state in seen.items() if name in live}
    path = folder / f".{VERIFIED}-{os.getpid()}"
    try:
        path.write_bytes(json.encode(states))
        os.replace(path, folder / VERIFIED)
    except OSError:
        files.remove(path)


def check(folder: Path, games: Iterable[Path]) -> tuple[list[Problem], dict[str, str]]:
    """Hash every file of an archive; return what is wrong with it, and the archived heads of sealed logs (SEQ:H).

    An archived game whose log is not among `games` is named too.
    """
    try:
        manifest = read_manifest(folder)
    except DataError as error:
        return [Problem(error.where, 1, None, "archive", f"{error.what}; {error.right}")], {}
    problems = []
    for file in manifest.files:
        try:
            wrong = damage(folder, file)
        except DataError as error:
            wrong = error.what
        if wrong:
            problems.append(Problem(str(folder / file.name), 1, None, "archive", f"{wrong}; {REBUILD}"))
    if problems or not manifest.parts:
        return problems, {}
    rows = _ask(folder, manifest, "games", "SELECT game, seq, h, sealed FROM rows")
    here = {path.stem for path in games}
    for game in sorted(row[0] for row in rows if row[0] not in here):
        text = f"{game} is archived, and its log is not there; `tenklog extract {game}` gives it back"
        problems.append(Problem(str(folder), 1, None, "gone", text))
    return problems, {game: f"{seq}:{h}" for game, seq, h, sealed in rows if sealed}


# -- the tables in DuckDB ---------------------------------------------------------------------------------------------


def connect(threads: int | None = None) -> "DuckDBPyConnection":
    """Return a DuckDB of one's own in memory, that writes nowhere."""
    import duckdb

    config: dict[str, Any] = {
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "parquet_metadata_cache": True,  # files of parts never change, so that what is known of one is read once
    }
    if threads is not None:
        config["threads"] = threads
    return duckdb.connect(":memory:", config=config)


def source(folder: Path, manifest: Manifest, table: str, named: bool = False) -> str:
    """Return the SQL that reads a table's live files; no row when there are none.

    With `named`, the column `filename` says from which file a row is.
    """
    paths = ", ".join(quoted(folder / file.name) for file in manifest.live(table))
    options = ", filename = true" if named else ""
    if paths and all(part.columns == COLUMNS for part in manifest.parts):
        return f"SELECT * FROM read_parquet([{paths}]{options})"
    # Columns that an older tenklog did not write are null.
    options += ", union_by_name = true"
    columns = ", ".join(f'NULL::{column.type} AS "{column.name}"' for column in ASKED[table])
    empty = f"SELECT * FROM (SELECT {columns} WHERE false)"
    if not paths:
        return empty
    return f"SELECT * FROM ({empty} UNION ALL BY NAME SELECT * FROM read_parquet([{paths}]{options}))"


# -- logs again -------------------------------------------------------------------------------------------------------


def extract(folder: Path, games: Iterable[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield archived logs as they were, byte for byte, by id; all of them with None.

    Raise UsageError for a game that is not archived, and DataError when the archive does not hold what it says.
    """
    ids = consult(folder, ("games",), lambda manifest: _ask(folder, manifest, "games", "SELECT game FROM rows"))
    known = sorted(row[0] for row in ids)
    wanted = known if games is None else [pick(game, known) for game in games]
    for first in range(0, len(wanted), 500):
        some = wanted[first : first + 500]
        yield from consult(folder, ("games", "events"), lambda manifest, some=some: logs(folder, manifest, some))  # type: ignore[misc]


def _ask(folder: Path, manifest: Manifest, table: str, sql: str, **given: object) -> list[tuple[Any, ...]]:
    con = connect()
    try:
        return con.execute(f"WITH rows AS ({source(folder, manifest, table)}) {sql}", given or None).fetchall()
    finally:
        con.close()


def logs(folder: Path, manifest: Manifest, games: list[str]) -> list[tuple[str, bytes]]:
    """Return some logs by id, each as its digest says it was."""
    heads = "SELECT game, sealed, digest FROM rows WHERE game IN (SELECT unnest($games))"
    found = _ask(folder, manifest, "games", heads, games=games)
    columns = ", ".join(
        "strftime(\"time\", '%Y-%m-%dT%H:%M:%S.%gZ')" if column.name == "time" else f'"{column.name}"'
        for column in TABLES["events"]
    )
    lines: dict[str, list[tuple[Any, ...]]] = {game: [] for game in games}
    query = f"SELECT {columns} FROM rows WHERE game IN (SELECT unnest($games)) ORDER BY game, seq"
    for row in _ask(folder, manifest, "events", query, games=games):
        lines[row[0]].append(row)
    try:
        whole = {game: log_bytes(game, lines[game], sealed, expected) for game, sealed, expected in found}
    except DataError as error:
        raise error.at(str(folder)) from None
    return [(game, whole[game]) for game in games if game in whole]


def log_bytes(game: str, rows: Iterable[tuple[Any, ...]], sealed: bool, expected: str) -> bytes:
    """Return a log from its rows in `events`, in order; raise DataError when its digest is not the one expected."""
    lines = map(line_of, rows)
    data = b"".join(line + b"\n" for line in (chain(lines) if sealed else lines))
    if digest(data) != expected or not is_id(game):
        raise DataError(f"the archived log of {game} is not what was archived", REBUILD)
    return data


def pick(game: str, ids: list[str]) -> str:
    """Return the id that a GAME means among those archived: itself, or the only one that begins so."""
    fitting = meant(game, ids)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise UsageError(f"{game!r} begins {len(fitting)} archived ids", f"one of {', '.join(sorted(fitting)[:6])}")
    known = nearest(game, sorted(ids)) if 0 < len(ids) <= 100 else "see `tenklog query 'SELECT game FROM games'`"
    raise UsageError(f"no game {game[:80]!r} is archived", known if ids else "archive some with `tenklog archive`")
