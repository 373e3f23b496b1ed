"""Stats: this module has the commands that answer questions over the archive: reports, and somebody's SQL."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenklog import events
from tenklog.cli.common import (
    EMPTY_ARCHIVE,
    F,
    archive_option,
    cluster,
    command,
    emit,
    engine_options,
    find,
    home,
    new_file,
    output_options,
    remark,
)
from tenklog.errors import AccessError, TenklogError, UsageError
from tenklog.render import Format, Output, cell, grid, listing
from tenklog.reports import Report
from tenklog.stats import DICE_SETS, ORIGINS, PLAYED, Answer, Filters, moment
from tenklog.tables import ASKED

if TYPE_CHECKING:
    from tenklog.archive import Manifest

MOST_SQL = 1 << 20  # bytes


def filter_options(
    origins: tuple[str, ...], rules: str = "Only games by that ruleset (repeatable)."
) -> Callable[[F], F]:
    """Add the filters that all reports take; the command gets `filters`. `origins` are those that count by default.

    `rules` is the help of `--rules`, for a command where it says more.
    """
    names = ("player", "rules", "origin", "since", "until", "last", "min_games")

    def add(function: F) -> F:
        def gather(**given: Any) -> Any:
            chosen = {name: given.pop(name) for name in names}
            filters = Filters(
                players=tuple(events.name(player) for player in chosen["player"]),
                rules=chosen["rules"],
                origins=ORIGINS if "all" in chosen["origin"] else chosen["origin"] or origins,
                since=moment(chosen["since"]) if chosen["since"] else None,
                until=moment(chosen["until"], end=True) if chosen["until"] else None,
                last=chosen["last"],
                min_games=chosen["min_games"],
            )
            return function(filters=filters, **given)

        gather.__doc__ = function.__doc__
        gather.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        for option in (*FILTERS[:-1], click.option("--rules", multiple=True, metavar="R", help=rules), FILTERS[-1]):
            gather = option(gather)
        return gather  # type: ignore[return-value]

    return add


FILTERS = (
    click.option(
        "--min-games", type=click.IntRange(0), default=0, metavar="N",
        help="Only players who finished at least N of these games.",
    ),
    click.option("--last", type=click.IntRange(1), metavar="N", help="Only the last N games that fit the rest."),
    click.option("--until", metavar="TIME", help="Only games begun until then, that day or minute included."),
    click.option("--since", metavar="TIME", help="Only games begun since then (UTC)."),
    click.option(
        "--origin", type=click.Choice((*ORIGINS, "all")), multiple=True,
        help="Where the games are from (repeatable; reports count table and import).",
    ),
    click.option("--player", multiple=True, metavar="PLAYER", help="Only that player (repeatable)."),
)  # fmt: skip


def logs_option(function: F) -> F:
    """Add `--logs GAME`."""
    return click.option(
        "--logs", multiple=True, metavar="GAME", help="Include a log that is not archived (repeatable)."
    )(function)


@command("stats", example="tenklog stats leaderboard --since 2026-01-01")
@click.argument("report", required=False)
@filter_options(PLAYED)
@logs_option
@click.option("--chart", is_flag=True, help="Draw a picture, of reports that have one (needs tenklog[chart]).")
@click.option("--explain", is_flag=True, help="Say what the columns of the report mean.")
@engine_options
@archive_option(addresses=True)
@output_options
def stats(
    report: str | None,
    filters: Filters,
    logs: tuple[str, ...],
    chart: bool,
    explain: bool,
    engine: str,
    master: str | None,
    folder: Path | str,
    form: Format,
) -> None:
    """Run a report over the archived games, or list the reports.

    Games played at a table and imported ones count, unless --origin says otherwise. A .sql file of your own in the
    folder `queries` of the home works as a report.
    """
    from tenklog import query, reports
    from tenklog import stats as asking
    from tenklog.archive import read_manifest
    from tenklog.people import read_people

    place = home()
    if report is None:
        _list_reports(form)
        return
    asked = reports.find(report, place.queries)
    if explain:
        emit(_explained(asked), form)
        return
    if chart and not asked.chart:
        charted = [one.name for one in reports.ours().values() if one.chart]
        raise UsageError(f"{asked.name} has no picture", f"one of {', '.join(charted)}")
    people = read_people(place.people)
    added = _logs(logs)
    if where := cluster(engine, master):
        _check_spark(asked, added)
        answer, count, manifest = _on_spark(where, folder, asked, filters, people)
        _show(answer, asked, count, manifest, chart, form)
        return
    if isinstance(folder, str):
        raise AccessError(f"there is no folder {folder}", "the folder of an archive, or --engine spark")
    if asked.own:
        try:
            answer = query.ask(folder, asked.sql, filters, people, added)
        except TenklogError as error:
            raise error.at(f"{asked.name}.sql") from None
    else:
        answer = asking.run(folder, asked, filters, people, added)
    _trim(answer, query.Limits().rows if asked.own else None, "`tenklog query -f FILE --limit 0`")
    unmeasured = asking.unmeasured(folder, filters, people) if asked.needs == "luck" else 0
    _show(answer, asked, unmeasured, None if answer.rows else read_manifest(folder), chart, form)


def _check_spark(asked: Report, logs: list[Path]) -> None:
    if asked.own:
        what = f"{asked.name} is a report of your own, and Spark has no walls around it"
        raise UsageError(what, "--engine duckdb, or one of tenklog's own reports")
    if logs:
        raise UsageError("--logs reads logs of this machine", "--engine duckdb, or archive them first")


def _on_spark(
    master: str, folder: Path | str, asked: Report, filters: Filters, people: dict[str, str]
) -> tuple[Answer, int, "Manifest | None"]:
    """Return the answer, and for remarks the games not measured and, when there is no row, the archive's manifest."""
    from tenklog import spark

    with spark.session(master) as session:
        answer = spark.run(session, folder, asked, filters, people)
        count = spark.unmeasured(session, folder, filters, people) if asked.needs == "luck" else 0
        return answer, count, None if answer.rows else spark.read_manifest(session, folder)


def _show(
    answer: Answer, asked: Report, unmeasured: int, manifest: "Manifest | None", chart: bool, form: Format
) -> None:
    """Print the answer of a report; the archive's manifest says why when there is no row."""
    left_out(unmeasured)
    if manifest is not None and not unmeasured and form == "table":
        remark(_why_empty(manifest, asked))
    if chart and form == "table":
        from tenklog.charts import bars

        emit(Output(None, text=bars(asked, answer)), "table")
        return
    emit(_output(answer, asked), form)


def left_out(count: int) -> None:
    """Say how many games a report about luck leaves out because nobody has worked it out."""
    if count:
        remark(f"left out: {count} of the games, whose luck is not worked out yet; `tenklog archive --luck` does it")


def _list_reports(form: Format) -> None:
    from tenklog import reports

    found, bad = list(reports.ours().values()), 0
    for path in reports.own_files(home().queries):
        try:
            found.append(reports.read(path, own=True))
        except TenklogError as error:
            remark(f"left out: {error}")
            bad += 1
    rows: list[dict[str, object]] = [{"report": one.name, "title": one.title, "about": one.about} for one in found]
    text = listing([(one.name, one.about or one.title) for one in found])
    emit(Output(rows, ("report", "title", "about"), rows, text), form)
    if bad:
        click.get_current_context().exit(1)


def _explained(report: Report) -> Output:
    """Return what the columns of a report mean."""
    rows: list[dict[str, object]] = [
        {"column": one.name, "unit": one.unit, "meaning": one.about} for one in report.columns
    ]
    about = listing([(f"{report.title}. {report.about}".strip(),)])
    text = (
        "\n".join([about, "", listing([(one.name, one.unit, one.about) for one in report.columns])]) if rows else about
    )
    return Output(rows, ("column", "unit", "meaning"), rows, text)


def _trim(answer: Answer, most: int | None, how: str = "--limit 0") -> None:
    """Cut an answer to so many rows, and say so, and how to get all."""
    if most is not None and len(answer.rows) > most:
        del answer.rows[most:]
        remark(f"only the first {most} rows; {how} for all")


def _logs(games: tuple[str, ...]) -> list[Path]:
    paths = [find(game) for game in games]
    if Path("-") in paths:
        raise UsageError("--logs - is standard input", "a GAME that is a file")
    return paths


def _why_empty(manifest: "Manifest", asked: Report) -> str:
    if not manifest.games:
        return EMPTY_ARCHIVE
    if asked.needs in ASKED and not manifest.live(asked.needs):
        how = " turn by turn" if asked.needs == "replayed_turns" else ""
        option = " --turns" if how else ""
        return f"no archived game is replayed{how} yet; `tenklog replay --archive{option} --rules RULES` does it"
    return f"no row for this in {manifest.games} archived games; see --origin, --since and the other filters"


def _output(answer: Answer, report: Report | None = None) -> Output:
    """Lay an answer out: numbers as their unit is written, and one column a row for reports that are tall."""
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    units = {column.name: column.unit for column in report.columns} if report else {}
    text = None
    if report is not None and report.tall:
        heads = ["", *(cell(row[answer.columns[0]]) for row in rows)]
        lines = [
            [name.replace("_", " "), *(cell(row[name], units.get(name, "")) for row in rows)]
            for name in answer.columns[1:]
        ]
        text = grid(heads, lines, [False] + [True] * len(rows), "table").rstrip("\n") if rows else ""
    return Output(rows, answer.columns, rows, text, units, "exact" if report is None else "stacked")


# -- SQL --------------------------------------------------------------------------------------------------------------


@command("query", example='tenklog query "SELECT player, max(posted) FROM turns GROUP BY player"')
@click.argument("sql", required=False)
@click.option("-f", "--file", "file", metavar="FILE", help="Read the SQL from a file (or give - for standard input).")
@click.option("--param", multiple=True, metavar="NAME=VALUE", help="A value for $NAME in the SQL (repeatable).")
@filter_options(ORIGINS)
@logs_option
@click.option("--output", metavar="FILE", help="Write the answer to FILE.parquet, .csv or .json.")
@click.option("--tables", is_flag=True, help="List the tables.")
@click.option("--schema", metavar="TABLE", help="List the columns of a table.")
@click.option(
    "--timeout", type=click.FloatRange(0.1, 86400), default=60.0, metavar="SECONDS", help="When to stop (default 60)."
)
@click.option("--memory", default="2GB", metavar="SIZE", help="Memory, such as 512MB (default 2GB).")
@click.option(
    "--limit", type=click.IntRange(0), default=10_000, metavar="ROWS", help="Rows printed (default 10000, 0 for all)."
)
@archive_option()
@output_options
def query(
    sql: str | None,
    file: str | None,
    param: tuple[str, ...],
    filters: Filters,
    logs: tuple[str, ...],
    output: str | None,
    tables: bool,
    schema: str | None,
    timeout: float,
    memory: str,
    limit: int,
    folder: Path,
    form: Format,
) -> None:
    """Ask the archive in SQL: one SELECT over games, seats, turns, rolls, events, replays and more.

    DuckDB runs it locked down: nothing is ever changed, and no other file or network can be reached. All games
    count, unless a filter is given.
    """
    from tenklog import answers
    from tenklog import query as asking
    from tenklog.people import read_people

    if tables or schema is not None:
        emit(_described(schema), form)
        return
    if not timeout < float("inf"):
        raise UsageError(f"--timeout {timeout}", "seconds, such as 60")
    text = _sql(sql, file)
    target = _target(output)
    limits = asking.Limits(timeout, asking.parse_memory(memory), None if not limit or target else limit)
    given = dict(map(asking.parse_parameter, param))
    answer = asking.ask(folder, text, filters, read_people(home().people), _logs(logs), given, limits)
    _trim(answer, limits.rows)
    if target is None:
        emit(_output(answer), form)
        return
    answers.write(answer, target, raw=click.get_current_context().meta.get("tenklog.raw", False))
    remark(f"{len(answer.rows)} rows written to {target}")


def _sql(sql: str | None, file: str | None) -> str:
    if (sql is None) == (file is None):
        raise UsageError("no SQL" if sql is None else "SQL and a file of it", "`tenklog query SQL`, or -f FILE")
    if sql is not None and sql != "-":
        return sql
    if file in (None, "-"):
        data = sys.stdin.buffer.read(MOST_SQL + 1) if sys.stdin is not None else b""
    else:
        from tenklog import files

        assert file is not None
        with files.telling(file), files.opened(file, files.READ) as fd:
            data = files.read(fd)
    if len(data) > MOST_SQL:
        raise UsageError(f"the SQL has more than {MOST_SQL >> 20} MiB", "a shorter question")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("the SQL is not UTF-8 text", "a text in UTF-8") from None


def _target(output: str | None) -> Path | None:
    if output is None:
        return None
    path = Path(output)
    if path.suffix not in (".parquet", ".csv", ".json"):
        raise UsageError(f"--output {output} is of no known kind", "a name that ends in .parquet, .csv or .json")
    return new_file(output)


def _described(schema: str | None) -> Output:
    known = {**ASKED, "dice_sets": DICE_SETS}
    if schema is None:
        rows: list[dict[str, object]] = [{"table": name, "columns": len(columns)} for name, columns in known.items()]
        return Output(rows, ("table", "columns"), rows)
    if schema not in known:
        raise UsageError(f"there is no table {schema[:80]!r}", f"one of {', '.join(known)}")
    rows = [{"column": one.name, "type": _short(one.type), "meaning": one.about} for one in known[schema]]
    document = [{"column": one.name, "type": one.type, "meaning": one.about} for one in known[schema]]
    text = listing([(one.name, _short(one.type), one.about) for one in known[schema]])
    return Output(document, ("column", "type", "meaning"), rows, text)


def _short(kind: str) -> str:
    return kind if len(kind) <= 20 else kind.split("(", maxsplit=1)[0]
