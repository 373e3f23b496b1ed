"""Table: this module has the commands about the table rather than the dice: new games, players, rules, remarks."""

from typing import Any

import click

from tenklog import decider, dice
from tenklog.cli.common import (
    command,
    emit,
    home,
    output_options,
    record,
    record_options,
    remark,
    rules_option,
    ruleset,
    throw_dice,
    whole,
)  # fmt: skip
from tenklog.errors import UsageError
from tenklog.events import Start, name, text
from tenklog.render import Format, Output, visible


@command("new", example="tenklog new Anna Ben Cara --rules tiotusen --set bust_penalty=1000")
@click.argument("players", nargs=-1, metavar="PLAYER...")
@rules_option
@click.option("--title", help="A title for the game.")
@click.option("--throw-for-first", is_flag=True, help="Everybody throws a die; the highest begins, the order stays.")
@click.option("-g", "--game", "game", metavar="ID", help="An id of your own for the game.")
@click.option("--id", "key", metavar="KEY", help="Makes repeating this very command harmless.")
@output_options
def new(
    players: tuple[str, ...],
    name: str | None,
    sets: tuple[str, ...],
    title: str | None,
    throw_for_first: bool,
    game: str | None,
    key: str | None,
    form: Format,
) -> None:
    """Begin a game: its players, in the order in which they sit."""
    from tenklog import events, narrate, projections, store
    from tenklog.game import check_players

    if not players:
        raise UsageError("a game needs players", "such as `tenklog new Anna Ben`")
    if key is not None:
        events.text(key, "id", 128)
    names = tuple(map(events.name, players))
    check_players(names)
    place = home()
    start = events.Start(
        1,
        id=key,
        game=place.new_id(game, key),
        version=events.VERSION,
        players=names,
        rules=ruleset(name or "tiotusen", sets),
        origin="table",
        title=None if title is None else events.text(title, "title", 200),
    )
    if throw_for_first:
        start = _throw_for_first(start)
    log, repeated = store.begin(place, start)
    if repeated:
        remark(f"already begun under the id {key}")
    place.use(log.start.game)
    written = [log.start]
    document = projections.record(log.game, log.h, written)
    thrown = [f"{player}: {dice.write(faces)}." for player, faces in (log.start.first_throw or {}).items()]
    lines = [*thrown, *narrate.story(log.game, written, written)]
    rows = [projections.row(one) for one in document.show.standings]
    emit(Output(document, projections.STANDING, rows, "\n".join(map(visible, lines))), form)


def _throw_for_first(start: Start) -> Start:
    """Throw a die for each, again for those level, and turn the order so that the highest begins."""
    from msgspec.structs import replace

    thrown: dict[str, tuple[int, ...]] = dict.fromkeys(start.players, ())
    level = list(start.players)
    while len(level) > 1:
        for player in level:
            thrown[player] += throw_dice(1)
        best = max(thrown[player][-1] for player in level)
        level = [player for player in level if thrown[player][-1] == best]
    if len(start.players) == 1:
        return start
    first = start.players.index(level[0])
    return replace(start, players=start.players[first:] + start.players[:first], first_throw=thrown)


@command("change", example="tenklog change opening_minimum=500")
@click.argument("changes", nargs=-1, metavar="K=V...")
@click.option("--whole-game", is_flag=True, help="From the first turn: the game is worked out anew.")
@record_options
def change(changes: tuple[str, ...], whole_game: bool, form: Format, **options: Any) -> None:
    """Change house rules in a running game, from the next turn on or for the whole game."""
    from tenklog import store
    from tenklog.cli.common import find
    from tenklog.rules import parse_changes

    if not changes:
        raise UsageError("nothing to change", "KEY=VALUE, such as opening_minimum=500")
    position = store.read(find(options["game"])).game.position
    rules = position.pending or position.rules
    record(decider.Change(parse_changes(changes, rules), whole_game), form, **options)


@command("expect", example="tenklog expect Anna=1200 Ben=-500")
@click.argument("totals", nargs=-1, metavar="PLAYER=TOTAL...")
@record_options
def expect(totals: tuple[str, ...], form: Format, **options: Any) -> None:
    """Compare the totals with paper; the log remembers that they agreed."""
    found = {}
    for one in totals:
        player, equals, total = one.rpartition("=")
        if not equals or not player:
            raise UsageError(f"{one!r} names no total", "PLAYER=TOTAL, such as Anna=1200")
        found[name(player)] = whole(total, "points", low=-1)
    if not found:
        raise UsageError("nothing to compare", "PLAYER=TOTAL, such as Anna=1200")
    record(decider.Expect(found), form, **options)


@command("join", example="tenklog join Dora")
@click.argument("player", metavar="PLAYER")
@record_options
def join(player: str, form: Format, **options: Any) -> None:
    """Give a new player a seat, the last one; possible until last turns begin."""
    record(decider.Join(name(player)), form, **options)


@command("leave", example="tenklog leave Ben")
@click.argument("player", metavar="PLAYER")
@record_options
def leave(player: str, form: Format, **options: Any) -> None:
    """Let a player leave; the total stays on the sheet, below all in play."""
    record(decider.Leave(name(player)), form, **options)


@command("rename", example="tenklog rename Ben Benjamin")
@click.argument("player", metavar="PLAYER")
@click.argument("to", metavar="NAME")
@record_options
def rename(player: str, to: str, form: Format, **options: Any) -> None:
    """Call a player differently from now on."""
    record(decider.Rename(name(player), name(to)), form, **options)


@command("note", example="tenklog note the die fell off the table")
@click.argument("words", nargs=-1, metavar="TEXT...", required=True)
@record_options
def note(words: tuple[str, ...], form: Format, **options: Any) -> None:
    """Write a remark into the log."""
    record(decider.Note(text(" ".join(words), "note")), form, **options)


@command("abandon", example='tenklog abandon --why "bedtime"')
@click.option("--why", help="The reason, for the log.")
@record_options
def abandon(why: str | None, form: Format, **options: Any) -> None:
    """Give the game up; it can still be looked at and replayed."""
    record(decider.Abandon(None if why is None else text(why, "reason")), form, **options)
