"""Table: this module has the commands about the table rather than the dice: players, house rules, paper, remarks."""

from typing import Any

import click

from tenklog import decide
from tenklog.cli.common import command, record, record_options
from tenklog.cli.record import whole
from tenklog.errors import UsageError
from tenklog.events import name, text
from tenklog.render import Format


@command("change", example="tenklog change opening_minimum=500")
@click.argument("changes", nargs=-1, metavar="K=V...")
@click.option("--whole-game", is_flag=True, help="From the first turn: the game is worked out anew.")
@record_options
def change(changes: tuple[str, ...], whole_game: bool, form: Format, **options: Any) -> None:
    """Change house rules in a running game, from the next turn on or for the whole game."""
    from tenklog import store
    from tenklog.cli.common import find
    from tenklog.rules import parse_change

    if not changes:
        raise UsageError("nothing to change", "KEY=VALUE, such as opening_minimum=500")
    position = store.read(find(options["game"])).game.position
    rules = position.pending or position.rules
    record(decide.Change(dict(parse_change(one, rules) for one in changes), whole_game), form, **options)


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
    record(decide.Expect(found), form, **options)


@command("join", example="tenklog join Dora")
@click.argument("player", metavar="PLAYER")
@record_options
def join(player: str, form: Format, **options: Any) -> None:
    """Give a new player a seat, the last one; possible until last turns begin."""
    record(decide.Join(name(player)), form, **options)


@command("leave", example="tenklog leave Ben")
@click.argument("player", metavar="PLAYER")
@record_options
def leave(player: str, form: Format, **options: Any) -> None:
    """Let a player leave; the total stays on the sheet, below all in play."""
    record(decide.Leave(name(player)), form, **options)


@command("rename", example="tenklog rename Ben Benjamin")
@click.argument("player", metavar="PLAYER")
@click.argument("to", metavar="NAME")
@record_options
def rename(player: str, to: str, form: Format, **options: Any) -> None:
    """Call a player differently from now on."""
    record(decide.Rename(name(player), name(to)), form, **options)


@command("note", example="tenklog note the die fell off the table")
@click.argument("words", nargs=-1, metavar="TEXT...", required=True)
@record_options
def note(words: tuple[str, ...], form: Format, **options: Any) -> None:
    """Write a remark into the log."""
    record(decide.Note(text(" ".join(words), "note")), form, **options)


@command("abandon", example='tenklog abandon --why "bedtime"')
@click.option("--why", help="The reason, for the log.")
@record_options
def abandon(why: str | None, form: Format, **options: Any) -> None:
    """Give the game up; it can still be looked at and replayed."""
    record(decide.Abandon(None if why is None else text(why, "reason")), form, **options)
