"""Reports: this module finds and reads reports: SQL files of ours in `queries/`, and of a user's own in a folder.

A report is one file: comments that give its title, a line of explanation and its columns, then one SELECT.
"""

from pathlib import Path

from msgspec import Struct

from tenklog import files
from tenklog.errors import DataError, UsageError, nearest

QUERIES = Path(__file__).parent / "queries"
UNITS = ("text", "count", "points", "mean", "share", "p", "time")


class ReportColumn(Struct, frozen=True):
    """A column of a report: its name, its unit (one of UNITS), and what it means."""

    name: str
    unit: str
    about: str


class Report(Struct, frozen=True):
    """A report: what it is called, what it says, and its SQL. `chart` names the columns that make a picture."""

    name: str
    title: str
    about: str
    columns: tuple[ReportColumn, ...]
    sql: str
    chart: tuple[str, ...] = ()
    tall: bool = False
    needs: str = ""  # "luck": games whose luck is measured; or the table of what bulk replays made of games or turns
    own: bool = False  # of the user, and run under the lock-down of `query`


def _paths() -> dict[str, Path]:
    return {path.stem: path for path in sorted(QUERIES.glob("*.sql"))}


def ours() -> dict[str, Report]:
    """Return our reports by name."""
    return {name: read(path) for name, path in _paths().items()}


def own_files(folder: Path) -> list[Path]:
    """Return the files of the user's own reports."""
    return sorted(path for path in folder.glob("*.sql") if path.is_file())


def find(name: str, own: Path) -> Report:
    """Return one report, ours or the user's in a folder; raise UsageError for an unknown name, DataError for a file."""
    known = _paths()
    if name in known:
        return read(known[name])
    paths = {path.stem: path for path in own_files(own)}
    if name not in paths:
        raise UsageError(f"there is no report {name[:80]!r}", nearest(name, [*known, *paths]))
    return read(paths[name], own=True)


def read(path: Path, own: bool = False) -> Report:
    """Read a report's file; raise DataError for a line of its head that is none."""
    if own and path.stem in _paths():
        raise DataError("has the name of a report that is there already", "another name", str(path))
    with files.telling(path), files.opened(path, files.READ) as fd:
        data = files.read(fd)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise DataError("is not UTF-8 text", "a report in UTF-8", str(path)) from None
    title, about, tall, needs = path.stem, "", False, ""
    chart: tuple[str, ...] = ()
    columns: list[ReportColumn] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("-- "):
            break
        key, colon, rest = line[3:].partition(": ")
        words = key.split()
        if words == ["title"]:
            title = rest
        elif words == ["about"]:
            about = rest
        elif words == ["chart"]:
            chart = tuple(rest.split())
        elif words == ["layout"]:
            tall = rest == "tall"
        elif words == ["needs"]:
            needs = rest
        elif len(words) == 2 and words[1] in UNITS and colon:
            columns.append(ReportColumn(words[0], words[1], rest))
        elif not own:
            right = f"title, about, chart, layout, needs, or a column's name and unit ({', '.join(UNITS)})"
            raise DataError(f"has the line {line!r}", right, f"{path}:{number}")
    return Report(path.stem, title, about, tuple(columns), text, chart, tall, needs, own)
