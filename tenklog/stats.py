"""Stats: this module runs reports over the tables of an archive, with the filters that all of them take.

Filters are views of the same names as the tables, so every report obeys them: which games count is in the views, and
which players have rows of their own is `chosen(player)`, which a report applies to what it is about.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, get_args

from msgspec import Struct

from tenklog import archive
from tenklog.archive import Manifest
from tenklog.dice import throws, write
from tenklog.errors import UsageError, nearest
from tenklog.events import Origin
from tenklog.reports import Report
from tenklog.rows import rows
from tenklog.tables import ASKED, SETS, TABLES, Column, RowFiles

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ORIGINS: tuple[str, ...] = get_args(Origin)
PLAYED = ("table", "import")  # what counts unless somebody says otherwise

DICE_SETS = (
    Column("roll_set", "SMALLINT", "the index of the set, as in `rolls`"),
    Column("dice", "UTINYINT[]", "the dice, ascending"),
    *(Column(face, "UTINYINT", f"how many {face}") for face in ("ones", "twos", "threes", "fours", "fives", "sixes")),
    Column("throws", "INTEGER", "how many ordered throws of so many dice show it"),
)

# What reports share. Wilson's interval for k of n, 95%: E. B. Wilson, JASA 22 (1927). The upper tail of chi-square with
# 5 degrees of freedom from the complementary error function, that one by the trapezoidal rule with step 1/2: D. B.
# Hunter and T. Regan, Math. Comp. 26 (1972); below 2 pi a pole asks for the last term.
_Z = 1.959963984540054
MACROS = (
    "share(k, n) AS CASE WHEN n > 0 THEN k / n END",
    f"wilson_reach(k, n) AS {_Z} * sqrt(k * (n - k) / n + {_Z**2 / 4})",
    f"wilson_low(k, n) AS CASE WHEN n > 0 THEN greatest(0, (k + {_Z**2 / 2} - wilson_reach(k, n)) / (n + {_Z**2})) END",
    f"wilson_high(k, n) AS CASE WHEN n > 0 THEN least(1, (k + {_Z**2 / 2} + wilson_reach(k, n)) / (n + {_Z**2})) END",
    "erfc(z) AS 0.5 * z * exp(-z * z) / pi() * (1 / (z * z) + 2 * list_sum(list_transform(range(1, 15), "
    "lambda k: exp(-k * k / 4.0) / (z * z + k * k / 4.0)))) + CASE WHEN z < 2 * pi() THEN 2 / (1 - exp(4 * pi() * z)) "
    "ELSE 0 END",
    "chi_square_5(x) AS CASE WHEN x < 1e-9 THEN 1 ELSE erfc(sqrt(x / 2)) + sqrt(2 * x / pi()) * exp(-x / 2) "
    "* (1 + x / 3) END",
)
UNMEASURED = "SELECT count(*) FROM games WHERE measured IS NOT true AND chosen_game(players)"


class Filters(Struct, frozen=True):
    """Which games and players a report is about; nothing chosen means all (of `origins`: those that were played)."""

    players: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    origins: tuple[str, ...] = PLAYED
    since: datetime | None = None
    until: datetime | None = None
    last: int | None = None
    min_games: int = 0


# -- the tables, filtered ---------------------------------------------------------------------------------------------


class Connection(Protocol):
    """What runs our SQL: DuckDB, or what translates DuckDB's SQL for another engine."""

    @property
    def description(self) -> Sequence[Sequence[Any]] | None:
        """Return name and type of the columns of what was asked last."""

    def execute(self, query: str, parameters: object = None, /) -> Self:
        """Run one statement."""

    def fetchall(self) -> list[Any]:
        """Return the rows of what was asked last."""

    def fetchmany(self, size: int = 1, /) -> list[Any]:
        """Return so many of them."""


def prepare(con: Connection, tables: dict[str, str], filters: Filters, people: dict[str, str] | None = None) -> None:
    """Give a connection the tables as views that obey the filters, and the macros of reports.

    `tables` are SELECTs, `people` maps spellings to persons; what stands in the schema `source` is not for the user.
    Raise UsageError for a player or a ruleset that nobody has in these games.
    """
    if people:
        con.execute("CREATE TABLE source.people AS SELECT map($spellings::VARCHAR[], $persons::VARCHAR[]) AS known",
                    {"spellings": list(people), "persons": list(people.values())})  # fmt: skip
    for table, select in tables.items():
        con.execute(f"CREATE VIEW source.{table} AS {_joined(table, select, bool(people))}")
    where = _games(con, filters, people or {})
    for table in tables:
        condition = (
            where
            if where == "true" or any(column.name == "origin" for column in ASKED[table])
            else f"game IN (SELECT game FROM source.games WHERE {where})"
        )
        con.execute(f"CREATE VIEW main.{table} AS SELECT * FROM source.{table} WHERE {condition}")
    for macro in MACROS:
        con.execute(f"CREATE MACRO {macro}")
    _chosen(con, filters, people or {})


def _joined(table: str, select: str, people: bool) -> str:
    """Write persons for the spellings of a table."""
    if not people or table == "events":
        return select

    def column(one: Column) -> str:
        if one.name not in ("player", "challenged", "players", "winners", "leaders"):
            return f'"{one.name}"'
        if one.type == "VARCHAR":
            return f"coalesce(known[{one.name}], {one.name}) AS {one.name}"
        if one.type == "VARCHAR[]":
            return f"list_transform({one.name}, lambda p: coalesce(known[p], p)) AS {one.name}"
        return f'"{one.name}"'

    columns = ", ".join(map(column, ASKED[table]))
    return f"SELECT {columns} FROM ({select}) AS spelled, source.people"


def _games(con: Connection, filters: Filters, people: dict[str, str]) -> str:
    """Return the condition under which the rows of a game count. Nothing that somebody typed becomes a part of it."""
    conditions = []
    if set(filters.origins) != set(ORIGINS):
        conditions.append("origin IN (" + ", ".join(f"'{one}'" for one in ORIGINS if one in filters.origins) + ")")
    if filters.rules:
        known = [row[0] for row in con.execute("SELECT DISTINCT rules FROM source.games ORDER BY 1").fetchall()]
        _check_known("rules", filters.rules, known)
        con.execute("CREATE TABLE source.rules AS SELECT unnest($rules) AS rules", {"rules": list(filters.rules)})
        conditions.append("rules IN (SELECT rules FROM source.rules)")
    for sign, moment in ((">=", filters.since), ("<", filters.until)):
        if moment is not None:
            utc = moment.astimezone(UTC).replace(tzinfo=None)
            conditions.append(f"begun {sign} TIMESTAMP '{utc.isoformat(sep=' ')}'")
    where = " AND ".join(conditions) or "true"
    if filters.last is not None:
        theirs = "game IN (SELECT game FROM source.seats WHERE list_contains($players::VARCHAR[], player))"
        con.execute(
            f"CREATE TABLE source.last AS SELECT game FROM source.games WHERE {where} AND ($everybody OR {theirs}) "
            "ORDER BY begun DESC NULLS LAST, game DESC LIMIT $last",
            {"last": filters.last, "everybody": not filters.players, "players": _persons(filters, people)},
        )
        where = "game IN (SELECT game FROM source.last)"
    return where


def _chosen(con: Connection, filters: Filters, people: dict[str, str]) -> None:
    """Define which players have rows of their own."""
    wanted = _persons(filters, people)
    if wanted:
        known = [row[0] for row in con.execute("SELECT DISTINCT player FROM source.seats ORDER BY 1").fetchall()]
        _check_known("player", wanted, known)
    if not wanted and not filters.min_games:
        con.execute("CREATE MACRO chosen(player_) AS true")
        con.execute("CREATE MACRO chosen_game(players_) AS true")
        return
    con.execute(
        "CREATE TABLE source.chosen AS SELECT player FROM main.seats GROUP BY player HAVING count(won) >= $least "
        "AND ($everybody OR list_contains($wanted::VARCHAR[], player))",
        {"least": filters.min_games, "everybody": not wanted, "wanted": wanted},
    )
    con.execute("CREATE MACRO chosen(player_) AS player_ IN (SELECT player FROM source.chosen)")
    con.execute(
        "CREATE MACRO chosen_game(players_) AS list_has_any(players_, (SELECT list(player) FROM source.chosen))"
    )


def _persons(filters: Filters, people: dict[str, str]) -> list[str]:
    return [people.get(player, player) for player in filters.players]


def _check_known(what: str, wanted: Sequence[str], known: list[str]) -> None:
    for name in wanted:
        if name not in known:
            right = nearest(name, known[:100]) if known else "archive some games with `tenklog archive`"
            raise UsageError(f"no archived game has the {what} {name[:80]!r}", right)


def make_dice_sets(con: "DuckDBPyConnection") -> None:
    """Make the table of the 923 sets: index, dice, how many of each face, and how many ordered throws show it.

    It is a view of two texts, which costs less than a table, and nothing where it is not asked for.
    """
    faces = enumerate((column.name for column in DICE_SETS[2:8]), 1)
    counts = ", ".join(f"(len(one) - len(replace(one, '{n}', '')))::UTINYINT AS {face}" for n, face in faces)
    sets, ways = " ".join(write(dice, "") for dice in SETS), " ".join(str(throws(dice)) for dice in SETS)
    con.execute(
        "CREATE VIEW main.dice_sets AS SELECT (n - 1)::SMALLINT AS roll_set, "
        f"string_split(one, '')::UTINYINT[] AS dice, {counts}, throws::INTEGER AS throws FROM (SELECT "
        f"unnest(string_split('{sets}', ' ')) AS one, unnest(string_split('{ways}', ' ')) AS throws, "
        f"unnest(range(1, {len(SETS) + 1})) AS n)"
    )


def named(sql: str) -> list[str]:
    """Return the tables that some SQL may name, and those that filters look at."""
    words = sql.lower()
    return [table for table in ASKED if table in words or table in ("games", "seats")]


# -- running ----------------------------------------------------------------------------------------------------------


class Answer(Struct, frozen=True):
    """The rows of a report or query: names of the columns, their DuckDB types, and a tuple a row."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def run(
    folder: Path,
    report: Report,
    filters: Filters,
    people: dict[str, str] | None = None,
    logs: Sequence[Path] = (),
) -> Answer:
    """Run one of our reports over an archive and some logs."""

    def asking(con: "DuckDBPyConnection") -> Answer:
        return answer(con.execute(report.sql))

    return over(folder, filters, people, logs, asking, named(report.sql), luck=report.needs == "luck")


def unmeasured(folder: Path, filters: Filters, people: dict[str, str] | None = None) -> int:
    """Count the games that a report about luck has to leave out because nobody has worked their luck out."""
    found = over(folder, filters, people, (), lambda con: answer(con.execute(UNMEASURED)), named(UNMEASURED))
    return int(found.rows[0][0])


def over(
    folder: Path,
    filters: Filters,
    people: dict[str, str] | None,
    logs: Sequence[Path],
    asking: Callable[["DuckDBPyConnection"], Answer],
    tables: Sequence[str] = tuple(ASKED),
    luck: bool = False,
) -> Answer:
    """Ask a connection with filtered tables of an archive and some logs; see `archive.consult`.

    There are only `tables`. With `luck`, that of the logs is worked out.
    """
    with rows_of(logs, luck) as fresh:

        def question(manifest: Manifest) -> Answer:
            with closing(archive.connect()) as con:
                give_tables(con, folder, manifest, fresh, filters, people, tables)
                return asking(con)

        return archive.consult(folder, ASKED, question)


def give_tables(
    con: "DuckDBPyConnection",
    folder: Path,
    manifest: Manifest,
    fresh: RowFiles | None,
    filters: Filters,
    people: dict[str, str] | None,
    tables: Sequence[str] = tuple(ASKED),
    loaded: Sequence[str] | None = None,
) -> None:
    """Give a connection filtered tables of an archive and of the rows of some logs, and what reports use.

    The files of the archive are read where they lie, when something asks for them. With `loaded`, those tables are in
    memory afterwards, the others are empty, and no file is read any more.
    """
    con.execute("CREATE SCHEMA source")
    added = {} if fresh is None else _load_rows(con, fresh)
    selects = {
        table: archive.source(folder, manifest if loaded is None or table in loaded else archive.EMPTY, table)
        for table in tables
    }
    if loaded is not None:
        for table, select in selects.items():
            con.execute(f"CREATE TABLE source.loaded_{table} AS {select}")
            selects[table] = f"SELECT * FROM source.loaded_{table}"
    make_dice_sets(con)
    prepare(con, {table: one + added.get(table, "") for table, one in selects.items()}, filters, people)


@contextmanager
def rows_of(logs: Sequence[Path], luck: bool = False) -> Iterator[RowFiles | None]:
    """Hold the rows of some logs in files inside `with`; None when there are no logs."""
    if not logs:
        yield None
        return
    from tempfile import TemporaryDirectory

    from tenklog import reading
    from tenklog.lines import scan

    with TemporaryDirectory(prefix="tenklog-") as folder:
        with RowFiles(Path(folder) / "log") as fresh:
            for path in dict.fromkeys(logs):
                data = reading.read_bytes(path)
                found = scan(data)
                fresh.add(rows(reading.log_of(path, found, named=False), found, data, luck))
        yield fresh


def _load_rows(con: "DuckDBPyConnection", fresh: RowFiles) -> dict[str, str]:
    """Load the rows of logs; return the SQL that adds them to the archived games, in place of those of the same id."""
    for table in TABLES:
        con.execute(f"CREATE TABLE source.added_{table} AS {fresh.select(table)}")
    newer = "WHERE game NOT IN (SELECT game FROM source.added_games)"
    added = {table: f" {newer} UNION ALL BY NAME SELECT * FROM source.added_{table}" for table in TABLES}
    return added | {table: f" {newer}" for table in ASKED if table not in TABLES}


def answer(done: Connection, most: int | None = None) -> Answer:
    """Return what a connection has to say: all rows, or one more than `most`."""
    described = done.description or []
    rows = done.fetchall() if most is None else done.fetchmany(most + 1)
    names: list[str] = []
    for name, *_ in described:  # a join with `*` gives many columns the same name, and each stays to be seen
        number = 2
        one = name
        while one in names:
            one, number = f"{name}_{number}", number + 1
        names.append(one)
    return Answer(tuple(names), tuple(str(one[1]) for one in described), rows)


def moment(text: str, end: bool = False) -> datetime:
    """Read a day or a time (UTC unless it has an offset); with `end` the moment after it. Raise UsageError."""
    from datetime import timedelta

    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text[:40]!r} is no time", "a day or a time such as 2026-11-29 or 2026-11-29T20:15"
        ) from None
    if end:
        size = len(text) if len(text) <= 10 else len(re.sub(r"(Z|[+-][0-9]{2}:?[0-9]{2})$", "", text))
        found += timedelta(days=1) if size <= 10 else timedelta(minutes=1) if size <= 16 else timedelta(seconds=1)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
