"""Look: this module has the commands that show a game and the list of games."""

import click

from tenklog import narrate, projections
from tenklog.cli.common import command, emit, game_argument, home, load, output_options, remark
from tenklog.errors import TenklogError, UsageError
from tenklog.game import Game, fold
from tenklog.render import Format, Output, render, visible


@command("show")
@click.option("--at", metavar="SEQ|TIME", help="As it stood after that event, or at that time.")
@game_argument
@output_options
def show(given: str | None, game: str | None, at: str | None, form: Format) -> None:
    """Show the standings with what each still needs, whose turn it is and what is legal.

    \b
    Example: tenklog show --at 12
    """
    log = load(given or game)
    folded = log.folded if at is None else _at(log.events, at)
    document = projections.show(folded)
    rows = [projections.row(one) for one in document.standings]
    emit(Output(document, projections.STANDING, rows, _show_text(folded, document, rows)), form)


def _at(log: list[projections.events.AnyEvent], at: str) -> Game:
    """Fold the log up to a seq, or to a time (UTC; a beginning of one, such as a day, counts whole)."""
    if at.isascii() and at.isdigit():
        part = [event for event in log if event.seq <= int(at)]
        if not 1 <= int(at) <= len(log):
            raise UsageError(f"there is no event {at}", f"1 to {len(log)}")
        return fold(part)
    if not at[:4].isdigit() or not set(at) <= set("0123456789-:.TZ "):
        raise UsageError(f"--at {at!r} is no event or time", "a number, or a time such as 2026-11-29T20:15")
    until = at.replace(" ", "T").removesuffix("Z") + "~"  # sorts behind every longer time that begins so
    known = [number for number, event in enumerate(log, 1) if event.time is not None and event.time.rstrip("Z") < until]
    if not known:
        raise UsageError(f"nothing had happened at {at}", f"a time from {log[0].time or 'the first event'} on")
    return fold(log[: known[-1]])


def _show_text(game: Game, document: projections.Show, rows: list[dict[str, object]]) -> str:
    position = game.position
    title = f"{document.title}: " if document.title else ""
    rules = _rules_line(game)
    head = f"{title}{document.game}, {rules}, round {document.round}, {document.status}"
    columns = ["place", "player", "total", "to_go", *(["opened"] if position.rules.opening_minimum else [])]
    columns += ["turns", "busts", *(["left"] if any(row["left"] for row in rows) else [])]
    table = render(Output(None, columns, rows), "table")
    lines = [visible(head), "", table, visible(narrate.situation(position))]
    if document.turn is not None:
        turn = position.turn
        assert turn is not None
        if turn.phase == "rolled":
            lines.append(f"The roll: {narrate.write(turn.roll)}. Keep {narrate.turns.keep_words(position, turn)}.")
        if turn.points:
            lines.append(f"{narrate.points(turn.points)} at stake.")
        if turn.challenge is not None:
            lines.append(visible(f"Challenged: {document.turn.challenge}."))
        lines.append(f"Legal: {', '.join(document.turn.legal)}.")
    return "\n".join(lines)


def _rules_line(game: Game) -> str:
    """Name the rules, and what in them differs from the preset of that name."""
    from tenklog.rules import differences, shown

    rules = game.position.rules
    changed = differences(game.start.rules, rules)
    return rules.name + "".join(f" {key}={shown(new)}" for key, (_, new) in changed.items())


@command("sheet")
@game_argument
@output_options
def sheet(given: str | None, game: str | None, form: Format) -> None:
    """Show the score sheet: each round with what every player's turn changed, and the running total.

    \b
    Example: tenklog sheet
    """
    document = projections.sheet(load(given or game).folded)
    flat = [{"round": one.round, **projections.row(entry)} for one in document.rounds for entry in one.entries]
    columns = ("round", "player", "posted", "total", "outcome")
    emit(Output(document, columns, flat, _sheet_text(document)), form)


MARKS = {"bust": "bust", "wiped-out": "wiped out", "won": "won", "left": "left", "settled": "settled"}


def _sheet_text(document: projections.Sheet) -> str:
    from tabulate import tabulate

    rows = []
    for one in document.rounds:
        cells = {player: ("", "") for player in document.players}
        for entry in one.entries:
            mark = MARKS.get(entry.outcome, "")
            posted = str(entry.posted) if entry.posted or not mark else ""
            cells[entry.player] = (" ".join(filter(None, [mark, posted])), str(entry.total))
        rows.append([str(one.round), *(text for pair in cells.values() for text in pair)])
    heads = ["round", *(text for player in document.players for text in (visible(player), "total"))]
    table = tabulate(
        rows, heads, tablefmt="simple", disable_numparse=True, colalign=["right"] * len(heads) if rows else None
    )
    return f"{visible(document.game)}, {visible(document.rules)}\n\n{table}"


@command("events")
@game_argument
@output_options
def events(given: str | None, game: str | None, form: Format) -> None:
    """List the events of a game; those that were taken back are marked.

    \b
    Example: tenklog events
    """
    log = load(given or game)
    rows = projections.event_rows(log.events, log.folded)
    if form in ("json", "jsonl"):
        lines = [projections.plain_json(event) for event in log.events]
        emit(Output(lines, (), [line for line in lines if isinstance(line, dict)]), form)
        return
    flat = [projections.row(one) | {"undone": not one.standing and one.type != "undo"} for one in rows]
    emit(Output(rows, ("seq", "time", "type", "player", "text", "undone"), flat), form)


class GameRow(projections.Struct, frozen=True):
    """One line of the list of games. `time` is that of the first event; `leaders` have the highest total."""

    game: str
    title: str | None
    rules: str
    players: list[str]
    status: str
    round: int
    leaders: list[str]
    time: str | None
    current: bool


@command("games")
@output_options
def games(form: Format) -> None:
    """List all games of the home folder.

    \b
    Example: tenklog games
    """
    from tenklog import store

    place = home()
    current = place.current_id()
    rows, bad = [], 0
    for path in place.games():
        try:
            log = store.read(path)
        except TenklogError as error:
            remark(f"left out: {error}")
            bad += 1
            continue
        position = log.folded.position
        leaders = position.winners or [
            number for number, seat in enumerate(position.seats)
            if not seat.left and seat.total == max(one.total for one in position.seats if not one.left)
        ]  # fmt: skip
        start = log.folded.start
        rows.append(
            GameRow(
                start.game, start.title, start.rules.name, projections.names(position, range(len(position.seats))),
                position.status, position.round, projections.names(position, leaders), start.time, start.game == current,
            )
        )  # fmt: skip
    columns = GameRow.__struct_fields__
    text = None if rows else "No games yet. Begin one: tenklog new Anna Ben"
    emit(Output(rows, columns, [projections.row(one) for one in rows], text), form)
    if bad:
        click.get_current_context().exit(1)


@command("use")
@click.argument("game", metavar="GAME", required=False)
@output_options
def use(game: str | None, form: Format) -> None:
    """Choose the current game, or say which it is.

    \b
    Example: tenklog use 2026-11-29-kfqz
    """
    place = home()
    if game is not None:
        path = place.find(game)
        if path.parent != place.games_folder:
            raise UsageError(f"{path} is not in the home folder", "a game of `tenklog games`; paths work with -g")
        place.use(path.stem)
    name = place.current().stem
    emit(Output({"game": name}, ("game",), [{"game": name}], name), form)
