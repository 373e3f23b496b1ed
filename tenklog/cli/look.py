"""Look: this module has the commands that show a game and the list of games."""

import click

from tenklog import dice, narrate, projections, state
from tenklog.cli.common import command, emit, game_argument, home, load, one_of, output_options, remark
from tenklog.errors import TenklogError, UsageError
from tenklog.events import AnyEvent
from tenklog.game import Game, fold
from tenklog.reading import read
from tenklog.render import Format, Output, grid, render, visible


@command("show", example="tenklog show --at 12")
@click.option("--at", metavar="SEQ|TIME", help="As it stood after that event, or at that time.")
@game_argument
@output_options
def show(given: str | None, game: str | None, at: str | None, form: Format) -> None:
    """Show the standings with what each still needs, whose turn it is and what is legal."""
    log = load(one_of(given, game))
    folded = log.game if at is None else _at(log.events, at)
    document = projections.show(folded)
    rows = [projections.row(one) for one in document.standings]
    emit(Output(document, projections.STANDING, rows, _show_text(folded, document, rows)), form)


def _at(log: list[AnyEvent], at: str) -> Game:
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
        first = next((event.time for event in log if event.time is not None), "that an event has")
        raise UsageError(f"nothing had happened at {at}", f"a time from {first} on")
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
            lines.append(f"The roll: {dice.write(turn.roll)}. Keep {state.keep_words(position, turn)}.")
        if turn.points:
            lines.append(f"{narrate.points(turn.points)} at stake.")
        if turn.challenge is not None:
            lines.append(visible(f"Challenged: {document.turn.challenge}."))
        lines.append(f"Legal: {', '.join(document.turn.legal)}.")
    return "\n".join(lines)


def _rules_line(game: Game) -> str:
    """Name the rules in force, and what in them differs from the preset of that name."""
    from tenklog.rulebook import card
    from tenklog.rules import differences, shown

    rules = game.position.rules
    try:
        base = card(rules.name, home().rules).rules
    except TenklogError:
        base = game.start.rules
    changed = differences(base, rules)
    return " ".join([rules.name, *(f"{key}={shown(new)}" for key, (_, new) in changed.items())])


@command("sheet", example="tenklog sheet")
@game_argument
@click.option("--chart", is_flag=True, help="Draw the totals round by round (needs tenklog[chart]).")
@output_options
def sheet(given: str | None, game: str | None, chart: bool, form: Format) -> None:
    """Show the score sheet: each round with what every player's turn changed, and the running total."""
    document = projections.sheet(load(one_of(given, game)).game)
    if chart and form == "table":
        from tenklog.charts import race

        emit(Output(document, text=race(document)), form)
        return
    if form in ("table", "markdown"):
        head = f"{visible(document.game)}, {visible(document.rules)}\n\n" if form == "table" else ""
        emit(Output(document, text=head + wide(document, form).rstrip("\n")), "table")
        return
    flat = [{"round": one.round, **projections.row(entry)} for one in document.rounds for entry in one.entries]
    emit(Output(document, ("round", "player", "posted", "total", "outcome"), flat), form)


MARKS = {"bust": "bust", "wiped-out": "wiped out", "won": "won", "left": "left", "settled": "settled"}


def wide(document: projections.Sheet, form: Format) -> str:
    """Lay the sheet out with a row a round: for each player what the turn changed, and the running total."""
    cells = [{entry.player: entry for entry in one.entries} for one in document.rounds]
    columns = []
    for player in document.players:
        entries = [row.get(player) for row in cells]
        posted = [_posted(entry) if entry else "" for entry in entries]
        totals = [str(entry.total) if entry else "" for entry in entries]
        width = max(map(len, totals), default=0)
        columns.append([f"{left}  {right:>{width}}" for left, right in zip(posted, totals, strict=True)])
    rows = [[str(one.round), *(column[number] for column in columns)] for number, one in enumerate(document.rounds)]
    return grid(["round", *document.players], rows, [True] * (1 + len(columns)), form)


def _posted(entry: projections.Entry) -> str:
    mark = MARKS.get(entry.outcome, "")
    return " ".join(filter(None, [mark, str(entry.posted) if entry.posted or not mark else ""]))


@command("events", example="tenklog events")
@game_argument
@output_options
def events(given: str | None, game: str | None, form: Format) -> None:
    """List the events of a game; those that were taken back are marked."""
    log = load(one_of(given, game))
    rows = projections.event_rows(log.events, log.game)
    if form in ("json", "jsonl"):
        lines = [projections.plain_json(event) for event in log.events]
        emit(Output(lines, (), [line for line in lines if isinstance(line, dict)]), form)
        return
    flat = [projections.row(one) | {"undone": not one.standing and one.type != "undo"} for one in rows]
    columns = ["seq", "time", "type", "player", "undone", "text"]
    if form in ("table", "markdown"):
        flat = [one | {"time": _short(one["time"])} for one in flat]
        columns = [one for one in columns if one not in ("time", "undone") or any(row[one] for row in flat)]
    emit(Output(rows, columns, flat), form)


def _short(time: object) -> str:
    """Write a time for people: to the second, still UTC."""
    return str(time or "")[:19].replace("T", " ")


@command("games", example="tenklog games")
@click.option("--players", is_flag=True, help="List who plays, under which names, instead.")
@output_options
def games(players: bool, form: Format) -> None:
    """List all games of the home folder, or everybody who plays in them."""
    place = home()
    current = place.current_id()
    rows, bad = [], 0
    for path in place.games():
        try:
            log = read(path)
        except TenklogError as error:
            remark(f"left out: {error}")
            bad += 1
            continue
        rows.append(projections.game_row(log.game, current))
    if players:
        _emit_players(rows, form)
    else:
        _emit_games(rows, form)
    if bad:
        click.get_current_context().exit(1)


def _emit_players(rows: list[projections.GameRow], form: Format) -> None:
    """Print who is who: each person, the names that the logs have, and in how many games."""
    from tenklog.people import read_people

    found = projections.players(rows, read_people(home().people))
    text = None if found else "No players yet. Begin a game: tenklog new Anna Ben"
    emit(Output(found, projections.PlayerRow.__struct_fields__, [projections.row(one) for one in found], text), form)


def _emit_games(rows: list[projections.GameRow], form: Format) -> None:
    columns = projections.GameRow.__struct_fields__
    flat = [projections.row(one) for one in rows]
    if form in ("table", "markdown"):
        columns = ("current", "game", "title", "rules", "players", "status", "round", "leaders")
        columns = tuple(one for one in columns if one != "title" or any(row["title"] for row in flat))
        flat = [one | {"current": "*" if one["current"] else "", "title": one["title"] or ""} for one in flat]
    text = None if rows else "No games yet. Begin one: tenklog new Anna Ben"
    emit(Output(rows, columns, flat, text), form)


@command("use", example="tenklog use 2026-11-29-kfqz")
@click.argument("game", metavar="GAME", required=False)
@output_options
def use(game: str | None, form: Format) -> None:
    """Choose the current game, or say which it is."""
    place = home()
    if game is not None:
        path = place.find(game)
        if path.parent != place.games_folder:
            raise UsageError(f"{path} is not in the home folder", "a game of `tenklog games`; paths work with -g")
        place.use(path.stem)
    name = place.current().stem
    emit(Output({"game": name}, ("game",), [{"game": name}], name), form)
