"""Complete: this module says what a shell offers for games, players, rulesets and settings, by an argument's metavar.

Who presses Tab waits: of a game only the first line is read, and of many games the latest. What can't be read offers
nothing and is no error.
"""

import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, get_args

import click

from tenklog.errors import TenklogError

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from tenklog.events import Start
    from tenklog.home import Home

Offer = tuple[str, str]  # what is offered, and a word about it
MOST_GAMES = 100  # whose first lines are read

# What the documents name, or what is played; not limits. Words and switches are offered by their types.
_COUNTS: dict[str, tuple[object, ...]] = {
    "opening_minimum": (0, 350, 500, 1000),
    "bank_minimum": (0, 300, 350, 500),
    "blank_throw": (0, 500),
    "bust_penalty": (0, 500, 1000),
    "streak_length": (0, 3),
    "streak_penalty": (0, 500, 1000),
    "wipeout": ("none", "44", "2222"),
    "instant_win": ("none", "111111", "AAAAAA"),
    "last_die_rolls": (1, 2),
    "last_die_bonus": (0, 500),
    "last_die_step": (0, 500),
    "challenge_split": (0, 5000),
    "challenge_penalties": ("0,0", "600,2000"),
    "target": tuple(range(1000, 20_001, 500)),
    "straight": tuple(range(0, 3001, 50)),
    "three_pairs": tuple(range(0, 3001, 50)),
}


def games(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the ids of games, with who plays."""
    place = _home(ctx)
    ids = [game for game in place.ids() if game.startswith(incomplete)]
    known = {start.game: ", ".join(start.players) for start in _starts(place)} if len(ids) <= MOST_GAMES else {}
    return ((game, known.get(game, "")) for game in ids)


def players(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the players of the game at hand; of a command that has none, those of all games."""
    place = _home(ctx)
    if ctx.command.name in ("new", "play", "join") or "game" not in {one.name for one in ctx.command.params}:
        return ((player, "") for player in dict.fromkeys(name for start in _starts(place) for name in start.players))
    return ((seat, "") for seat in _at_table(ctx, place))


def totals(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the players of the game, each in two ways, so that no shell takes `Anna=` for finished."""
    return ((f"{player}={sign}", "") for player in _at_table(ctx, _home(ctx)) for sign in ("", "-"))


def rulesets(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer presets and rulesets of one's own, with their titles."""
    from tenklog.rulebook import card_files, read_card

    if ctx.command.name in ("replay", "sweep"):
        yield "recorded", "the log's own rules"
    folder = _home(ctx).rules
    for path in card_files(folder):
        if path.stem.startswith(incomplete):
            try:
                yield path.stem, read_card(path, (folder,)).title
            except TenklogError:
                continue


def settings(ctx: click.Context, incomplete: str) -> Iterator[Offer]:
    """Offer settings and combinations; once it is clear which one, its values."""
    from tenklog.rules import CATALOGUE, DEFAULTS, accepted

    key, equals, _ = incomplete.partition("=")
    keys = [one for one in (*DEFAULTS, *CATALOGUE) if (one == key if equals else one.startswith(key))]
    if len(keys) == 1:
        return ((f"{keys[0]}={value}", "") for value in _values(keys[0]))
    return ((f"{one}=", accepted(one) if one in DEFAULTS else CATALOGUE[one]) for one in keys)


def _values(key: str) -> tuple[object, ...]:
    from tenklog.rules import CATALOGUE, Ruleset

    if key in _COUNTS:
        return _COUNTS[key]
    if key in CATALOGUE:
        return ("0", "100A", "200A") if set(CATALOGUE[key]) == {"A"} else (0, 50, 100, 500, 1000, 1500, 2000, 3000)
    return get_args(Ruleset.__annotations__[key]) or ("true", "false")


def _home(ctx: click.Context) -> "Home":
    """Return the home folder; while a shell completes, no command has run that could have found it."""
    from pathlib import Path

    from tenklog.home import Home, default_home

    folder = ctx.find_root().params.get("home")
    return Home(Path(folder) if folder else default_home())


def _starts(place: "Home") -> Iterator["Start"]:
    """Yield the first events of games, the latest games first."""
    from tenklog import files
    from tenklog.events import Start
    from tenklog.lines import scan

    for path in sorted(place.games(), key=_changed, reverse=True)[:MOST_GAMES]:
        try:
            with files.telling(path), files.opened(path, files.READ) as fd:
                found = scan(os.read(fd, 1 << 16).partition(b"\n")[0] + b"\n").events
        except TenklogError:
            continue
        if found and isinstance(found[0], Start):
            yield found[0]


def _changed(path: "Path") -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _at_table(ctx: click.Context, place: "Home") -> list[str]:
    from tenklog.reading import read

    game = ctx.params.get("game")
    seats = read(place.find(game) if game else place.current(), named=False).game.position.seats
    return [seat.player for seat in seats if not seat.left]


_OFFERS: dict[str, Callable[[click.Context, str], Iterator[Offer]]] = {
    "GAME": games,
    "PLAYER": players,
    "PLAYER=TOTAL": totals,
    "R": rulesets,
    "K=V": settings,
}
_PATHS = {"FILE": "file", "FILE|DIR": "file", "DIR": "dir"}


class Completed(click.types.StringParamType):
    """A text that a shell completes."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem[str]]":
        """Return what fits what is there already; games and rulesets may be paths too."""
        from click.shell_completion import CompletionItem

        if self.kind in _PATHS:
            return [CompletionItem(incomplete, type=_PATHS[self.kind])]
        try:
            found = [one for one in _OFFERS[self.kind](ctx, incomplete) if one[0].startswith(incomplete)]
        except TenklogError:
            found = []
        if not found and self.kind in ("GAME", "R"):
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(value, help=about or None) for value, about in found]


def attach(command: click.Command) -> None:
    """Let a shell complete every argument and option of a command whose metavar says what it is."""
    for parameter in command.params:
        kind = re.sub(r"[][.]", "", parameter.metavar or "")
        if (kind in _OFFERS or kind in _PATHS) and parameter.type is click.STRING:
            parameter.type = Completed(kind)
