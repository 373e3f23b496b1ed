"""Exchange: this module has the commands that bring games in from other files and write them for other programs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from tenklog.cli.common import (
    command,
    emit,
    form_options,
    game_option,
    home,
    load,
    new_file,
    output_options,
    progress_bar,
    remark,
    rules_option,
    ruleset,
    typed,
)
from tenklog.errors import DataError, UsageError
from tenklog.projections import row
from tenklog.render import Format, Output, csv_text, plain_markdown, render, visible

if TYPE_CHECKING:
    from tenklog.game import Game
    from tenklog.importing import Imported, Planned
    from tenklog.notation import Found
    from tenklog.rules import Ruleset
    from tenklog.store import Log
    from tenklog.tally import Reading


# -- import -----------------------------------------------------------------------------------------------------------


@command("import", example="tenklog import friday.txt")
@click.argument("sources", nargs=-1, required=True, metavar="FILE...")
@rules_option
@click.option("-g", "--game", "game", metavar="ID", help="An id for the game, instead of the one in the file.")
@click.option("--title", help="Of a score sheet: a title for the game.")
@click.option("--first", metavar="PLAYER", help="Of a score sheet: who begins (default: the first on it).")
@click.option(
    "--numbers",
    type=click.Choice(("points", "totals")),
    help="Of a score sheet: what its numbers are, where it does not tell.",
)
@click.option(
    "--lenient", is_flag=True, help="Of a score sheet: import what can't be true as well, each oddity with a note."
)
@click.option("--dry-run", is_flag=True, help="Say what would be imported, and write nothing.")
@output_options
def import_(
    sources: tuple[str, ...],
    name: str | None,
    sets: tuple[str, ...],
    game: str | None,
    title: str | None,
    first: str | None,
    numbers: str | None,
    lenient: bool,
    dry_run: bool,
    form: Format,
) -> None:
    """Bring in games: text in the notation or JSON of `export`, logs, or score sheets (CSV, or a table in Markdown).

    FILE may be `-`. Importing a file twice adds nothing. When anything in any file is wrong nothing is imported.
    --rules and --set are for a file that names no rules; a score sheet needs them.
    """  # fmt: skip
    from tenklog import importing
    from tenklog.importing import Imported

    rules = ruleset(name or "tiotusen", sets) if name is not None or sets else None
    place = home()
    planned: list[Planned] = []
    for source in sources:
        found = _found(source, rules, Hints(title, first, numbers, lenient))
        if game is not None:
            found = [_called(game, source, found, sources)]
        planned += importing.plan(place, found, source, among=planned)
    if dry_run:
        remark("nothing is imported (--dry-run)")
    else:
        with progress_bar(len(planned), "Importing") as progress:
            for one in planned:
                importing.write(one)
                progress(1)
    outcomes = [one.told for one in planned]
    columns = [column for column in Imported.__struct_fields__ if column != "file" or len(sources) > 1]
    emit(Output(outcomes, columns, [row(one) for one in outcomes], _told(outcomes, dry_run)), form)


class Hints(Struct, frozen=True):
    """What was said about a score sheet, beside its rules."""

    title: str | None = None
    first: str | None = None
    numbers: str | None = None
    lenient: bool = False


def _found(source: str, rules: "Ruleset | None", hints: Hints) -> "list[Found]":
    """Read what a file holds, whichever kind it is."""
    from tenklog import cells, importing, notated, reading
    from tenklog.notation import Found

    data = reading.read_bytes(Path(source))
    if Path(source).suffix.lower() in (".csv", ".tsv") or cells.is_table(data):
        if rules is None:
            right = f"--rules R; `tenklog rules infer {source}` says which rules explain it"
            raise UsageError(f"{source} is a score sheet, which names no rules", right)
        sheet = read_sheet(data, source, rules, hints)
        return [Found(sheet.events, [source] * len(sheet.events))]
    if hints != Hints():
        raise UsageError(f"{source} is no score sheet", "--title, --first, --numbers and --lenient are for one")
    if data.split(maxsplit=2)[:2] == [b"{", b'"games":']:
        found = importing.read_export(data, source)
    elif data.lstrip()[:1] == b"{":
        log = reading.parse(data, source)
        if log.torn:
            remark(log.torn)
        found = [Found(log.events, [f"{source}:{number}" for number in range(1, log.seq + 1)], log.start.game)]
    else:
        found = notated.read(_text(data, source), source, find=ruleset, rules=rules)
    if rules is not None and not any(importing.start(one).rules == rules for one in found):
        raise UsageError(f"{source} names its rules itself", "--rules and --set are for a file that names none")
    return found


def read_sheet(data: bytes, source: str, rules: "Ruleset", hints: Hints) -> "Reading":
    """Read a score sheet; say all that is wrong with it, and give up unless `lenient`."""
    from tenklog import cells, events, tally

    title = None if hints.title is None else events.text(hints.title, "title", 200)
    try:
        text = cells.decode(data)
        found = tally.read(text, rules, title=title, first=hints.first, numbers=hints.numbers)  # type: ignore[arg-type]
    except DataError as error:
        raise DataError(error.what, error.right, f"{source}:{error.where}" if error.where else source) from None
    wrong = [one.error(source) for one in found.findings]
    for one in wrong if hints.lenient else wrong[:-1]:
        remark(str(one) if hints.lenient else f"error: {one}")
    if wrong and not hints.lenient:
        raise wrong[-1]
    return found


def _text(data: bytes, source: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode().rpartition("\n")
        place = f"{source}:{before[0].count(chr(10)) + bool(before[1]) + 1}:{len(before[2]) + 1}"
        raise DataError(f"is no UTF-8 text (byte {error.start})", "a text saved as UTF-8", place) from None


def _called(game: str, source: str, found: "list[Found]", sources: Sequence[str]) -> "Found":
    """Return the only game of the only file, under another id."""
    from msgspec.structs import replace

    if len(found) > 1 or len(sources) > 1:
        what = f"{source} holds {len(found)} games" if len(found) > 1 else f"{len(sources)} files are named"
        raise UsageError(f"{what}, and -g {game} is the id of one", f"ids in the files: `game: {game}`")
    return replace(found[0], game=game)


def _told(outcomes: "list[Imported]", dry_run: bool) -> str:
    done = "would be imported" if dry_run else "imported"
    lines = []
    for one in outcomes:
        totals = " · ".join(f"{player} {total}" for player, total in zip(one.players, one.totals, strict=True))
        what = f"{done}, {one.events} events by {one.rules}, {one.status}: {totals}"
        lines.append(f"{one.game}: {'already there' if one.result == 'already' else what}.")
    shown = lines[:20] + ([f"and {len(lines) - 20} more"] if len(lines) > 20 else [])
    if len(lines) > 1:
        new = sum(one.result == "new" for one in outcomes)
        shown.append(f"{new} {done}, {len(lines) - new} already there.")
    return "\n".join(map(visible, shown))


# -- export -----------------------------------------------------------------------------------------------------------

FORMS = ("notation", "markdown", "csv", "json")
_SUFFIXES = {".md": "markdown", ".csv": "csv", ".json": "json"}


@command("export", example="tenklog export --format csv -o friday.csv")
@click.argument("games", nargs=-1, metavar="[GAME]...")
@game_option
@click.option("--all", "every", is_flag=True, help="All games of the home folder.")
@click.option("-o", "--output", metavar="FILE", help="Write a new file; .md, .csv and .json tell the format.")
@form_options(FORMS, None)
def export(games: tuple[str, ...], game: str | None, every: bool, output: str | None, form: str | None) -> None:
    """Write games as text that `import` reads (notation), as score sheets (Markdown, CSV), or whole as JSON."""
    if every and (games or (game is not None and typed("game"))):
        raise UsageError("--all and a GAME", "some games, or --all")
    form = form or _SUFFIXES.get(Path(output or "").suffix.lower(), "notation")
    named: Sequence[str | None] = (*games, *((game,) if typed("game") else ())) or (game,)
    if every:
        named = [str(path) for path in home().games()]
    path = new_file(output) if output is not None else None
    raw = bool(click.get_current_context().meta.get("tenklog.raw"))
    data = _written([load(one) for one in named], form, raw).encode()
    if path is None:
        emit(data)
        return
    from tenklog import files

    with files.telling(path):
        # Without the mark a spreadsheet takes UTF-8 for something else.
        files.put(path, b"\xef\xbb\xbf" + data if form == "csv" else data)
        files.sync_folder(path.parent)
    remark(f"wrote {output}")


def _written(logs: "Sequence[Log]", form: str, raw: bool) -> str:
    from tenklog import notation, projections
    from tenklog.cli.look import wide

    if form == "notation":
        return "\n".join(notation.write(log.events) for log in logs)
    if form == "json":
        whole = [
            projections.Whole(
                log.start.game, log.fingerprint, projections.show(log.game), projections.sheet(log.game), log.events
            )
            for log in logs
        ]
        return render(Output(projections.Export(whole)), "json")
    sheets = [projections.sheet(log.game) for log in logs]
    if form == "csv":
        if len(sheets) != 1:
            raise UsageError(f"{len(sheets)} games in one CSV sheet", "one game, or --format json or notation")
        return csv_text(_rows(logs[0].game), raw)
    parts = []
    for log, sheet in zip(logs, sheets, strict=True):
        head = visible(f"{log.start.title or log.start.game}, {sheet.rules}")
        parts.append(f"## {plain_markdown(head)}\n\n{wide(sheet, 'markdown')}")
    return "\n".join(parts)


def _rows(game: "Game") -> list[list[object]]:
    """Return a score sheet as one has it on paper: a row a round, a column a player, and the totals below."""
    from tenklog.cli.look import MARKS
    from tenklog.projections import sheet

    document = sheet(game)
    rows: list[list[object]] = [["round", *document.players]]
    for one in document.rounds:
        cells = {entry.player: entry.posted or MARKS.get(entry.outcome, 0) for entry in one.entries}
        rows.append([one.round, *(cells.get(player) for player in document.players)])
    return [*rows, ["total", *(seat.total for seat in game.position.seats)]]
