"""Page: this module lays games, or a season of them, out as one HTML page that needs no network and no second file.

It is pure: what others worked out goes in, one text comes out, the same for the same. Every text that goes into the
page passes one gate: the templates escape whatever they are given, and characters that turn writing round or move a
cursor are made visible on the way. The page carries a policy that lets nothing in it load or send anything, and runs
only the very script and style that stand in it. It needs the extra `tenklog[page]` (jinja2).
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from tenklog import __version__, pictures
from tenklog.compare import headline, shortened
from tenklog.errors import UsageError
from tenklog.events import AnyEvent
from tenklog.game import Game
from tenklog.luck import Luck
from tenklog.narrate import situation
from tenklog.pictures import Bar, Line, Picture
from tenklog.playback import Playback, TurnTold, playback
from tenklog.projections import Sheet, Show, running, sheet, show
from tenklog.render import cell, visible
from tenklog.replayer import Divergence, Replay, Replayed, Rescored
from tenklog.reports import Report
from tenklog.state import Ended
from tenklog.stats import Answer

if TYPE_CHECKING:
    from jinja2 import Environment

GENERATOR = f"tenklog {__version__}"
MARK = b'<meta name="generator" content="tenklog '  # by which a page of ours is known again
NOTHING = "\u2013"

# -- what a page shows ------------------------------------------------------------------------------------------------


class Cell(Struct, frozen=True):
    """One player's turns in one round: what they changed, the total, and the word for a turn that was no bank."""

    posted: int
    total: int
    word: str
    differs: bool = False


class Grid(Struct, frozen=True):
    """A score sheet for a page: a row a round, in it a list of turns for each player."""

    players: list[str]
    rounds: list[tuple[int, list[list[Cell]]]]


class Other(Struct, frozen=True):
    """The game under other rules, beside the recorded one."""

    replay: Replay
    headline: str
    totals: list[int | None]  # by recorded seat
    race: Picture
    sheet: Grid
    divergences: list[tuple[Divergence, list[Divergence]]]
    rescored: list[Rescored]


class Story(Struct, frozen=True):
    """One game as a page tells it; `no_luck` says why there is no luck, `race` is None before the first turn ended."""

    title: str
    begun: str | None
    show: Show
    target: int
    ending: str
    fingerprint: str
    told: Playback
    sheet: Grid
    race: Picture | None
    luck: Luck | None
    no_luck: str
    lucks: Picture | None
    others: list[Other]
    beside: Picture | None  # the race again, drawn to the same scale as those of the others


class Charted(Struct, frozen=True):
    """A report of a season: its table, and pictures of it (several where each row has one of its own)."""

    report: Report
    heads: list[str]
    numeric: list[bool]
    rows: list[list[str]]
    pictures: list[tuple[str, Picture]]
    legend: str


WORDS = {"bust": "bust", "wiped-out": "wiped out", "won": "won", "left": "left", "settled": "settled"}


def story(
    game: Game,
    log: Sequence[AnyEvent],
    fingerprint: str,
    luck: Luck | None,
    no_luck: str,
    replays: Sequence[Replayed],
) -> Story:
    """Gather all that a page shows of one folded log; `luck` is measured and `replays` are played elsewhere."""
    view, document = show(game), sheet(game)
    totals = running(document)
    sheets = [sheet(one.game) for one in replays]
    every = [totals, *map(running, sheets)]
    values = [value for table in every for row in table for value in row]
    scale = (float(min(values)), float(max(values)))
    rounds = max(len(row) for table in every for row in table) - 1
    title = game.start.title or game.start.game
    told = playback(game, log, luck)
    marked = _worst_rounds(told)
    reached = game.position.rules.target
    race = None
    if document.rounds:
        about = f"The score race of {title}, round by round. {situation(game.position)}"
        series = _series(document.players, totals, marked)
        race = pictures.lines(series, about, ("wide", "narrow"), reached)
    others = [_other(game, one, made, document, scale, rounds) for one, made in zip(replays, sheets, strict=True)]
    beside = None
    if others and document.rounds:
        about = f"The score race as recorded, under {view.rules}."
        series = _series(document.players, totals)
        beside = pictures.lines(series, about, ("middle", "narrow"), reached, scale, rounds)
    time = game.start.time
    return Story(
        title=title,
        begun=time[:16].replace("T", " ") if time else None,
        show=view,
        target=reached,
        ending=situation(game.position),
        fingerprint=fingerprint,
        told=told,
        sheet=_grid(document),
        race=race,
        luck=luck,
        no_luck=no_luck,
        lucks=_luck_race(told, luck, len(totals[0]) - 1) if luck is not None else None,
        others=others,
        beside=beside,
    )


def _series(
    players: Sequence[str], totals: Sequence[Sequence[float]], marks: Mapping[int, Sequence[int]] | None = None
) -> list[Line]:
    return [
        Line(player, seat, values, (marks or {}).get(seat, ()))
        for seat, (player, values) in enumerate(zip(players, totals, strict=True))
    ]


def _worst_rounds(told: Playback) -> dict[int, list[int]]:
    """Return for each seat the rounds of its worst blunders."""
    found: dict[int, list[int]] = {}
    for turn in told.turns:
        if any("worst" in told.moments[place].marks for place in turn.moments) and turn.number is not None:
            found.setdefault(turn.seat, []).append(turn.round)
    return found


def _luck_race(told: Playback, luck: Luck, rounds: int) -> Picture | None:
    """Draw what the dice gave each player so far, round by round; None for a game without dice."""
    gave: dict[tuple[int, int], float] = {}
    by_number = {turn.number: turn for turn in told.turns if turn.number is not None}
    for one in luck.turns:
        turn = by_number[one.turn]
        gave[turn.seat, turn.round] = gave.get((turn.seat, turn.round), 0.0) + (one.luck or 0.0)
    if not any(one.luck is not None for one in luck.turns):
        return None
    table = []
    for seat in range(len(told.players)):
        sums = [0.0]
        for number in range(1, rounds + 1):
            sums.append(sums[-1] + gave.get((seat, number), 0.0))
        table.append([round(value, 1) for value in sums])
    about = "What the dice gave each player beyond what was to be expected, added up round by round."
    return pictures.lines(_series(told.players, table), about, ("wide", "narrow"))


def _grid(document: Sheet, other: Sheet | None = None) -> Grid:
    """Lay a sheet out; a turn `differs` when the player's turns of that round changed something else in `other`."""
    theirs = {} if other is None else _by_round(other)
    rounds = []
    for one in document.rounds:
        row: list[list[Cell]] = []
        for seat, player in enumerate(document.players):
            entries = [entry for entry in one.entries if entry.player == player]
            changes = [entry.posted for entry in entries]
            differs = other is not None and theirs.get((one.round, seat)) != changes
            row.append([Cell(one.posted, one.total, WORDS.get(one.outcome, ""), differs) for one in entries])
        rounds.append((one.round, row))
    return Grid(document.players, rounds)


def _by_round(document: Sheet) -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for one in document.rounds:
        for entry in one.entries:
            found.setdefault((one.round, document.players.index(entry.player)), []).append(entry.posted)
    return found


def _other(
    game: Game, replayed: Replayed, made: Sheet, document: Sheet, scale: tuple[float, float], rounds: int
) -> Other:
    found = replayed.replay
    totals: list[int | None] = []
    for seat in range(len(game.position.seats)):
        here = replayed.seats.get(seat)
        totals.append(None if here is None else replayed.game.position.seats[here].total)
    told = {one.turn for one in found.divergences}
    target = replayed.game.position.rules.target
    about = f"The score race under {found.rules}. {headline(found, '')}"
    series = _series(made.players, running(made))
    return Other(
        replay=found,
        headline=headline(found, "").partition(": ")[2],
        totals=totals,
        race=pictures.lines(series, about, ("middle", "narrow"), target, scale, rounds),
        sheet=_grid(made, document),
        divergences=shortened(found.divergences),
        rescored=[one for one in found.rescored if one.turn not in told],
    )


# -- a season ---------------------------------------------------------------------------------------------------------


def charted(report: Report, answer: Answer) -> Charted:
    """Lay a report out as a table, and as the pictures that its head names."""
    units = {column.name: column.unit for column in report.columns}
    found = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    numeric = [units.get(name) not in ("text", "time") for name in answer.columns]
    rows = [
        [
            _figures(cell(row[name], units.get(name, "")), digits)
            for name, digits in zip(answer.columns, numeric, strict=True)
        ]
        for row in found
    ]
    drawn, legend = _drawn(report, found, units) if report.chart else ([], "")
    return Charted(report, [name.replace("_", " ") for name in answer.columns], numeric, rows, drawn, legend)


def _figures(text: str, numeric: bool) -> str:
    """Write a number, or that nothing is known, as print does."""
    return NOTHING if text == "-" else text.replace("-", "\u2212") if numeric else text


def _drawn(
    report: Report, found: list[dict[str, Any]], units: Mapping[str, str]
) -> tuple[list[tuple[str, Picture]], str]:
    """Draw one or two columns as bars with marks, more as a picture for each row; return the legend too."""
    label, *series = report.chart
    rows = [row for row in found if all(row[name] is not None for name in series)][: pictures.MOST_BARS * 2]
    words = [name.replace("_", " ") for name in series]
    share = units.get(series[0]) == "share"
    unit = words[0] + (" (%)" if share else "")

    def value(row: Mapping[str, Any], name: str) -> float:
        return float(row[name]) * (100 if share else 1)

    def written(row: Mapping[str, Any], name: str) -> str:
        return cell(row[name], units.get(name, ""))

    if not rows:
        return [], ""
    if len(series) <= 2:
        made = [
            Bar(cell(row[label], ""), value(row, series[0]), written(row, series[0]),
                value(row, series[1]) if len(series) == 2 else None)
            for row in rows
        ]  # fmt: skip
        legend = f"Bars are {words[0]}, the line across a bar is {words[1]}." if len(series) == 2 else ""
        about = f"{report.title}: {' and '.join(words)} by {label.replace('_', ' ')}. The table has the numbers."
        return [("", pictures.bars(made, about, unit, ("wide", "narrow")))], legend
    most = max(value(row, name) for row in rows for name in series)
    drawn = []
    for row in rows[: pictures.MOST_BARS]:
        even = sum(value(row, name) for name in series) / len(series)
        made = [Bar(word, value(row, name), written(row, name), even) for word, name in zip(words, series, strict=True)]
        about = f"{report.title} of {row[label]}: {', '.join(words)}. The table has the numbers."
        drawn.append((str(row[label]), pictures.bars(made, about, "", ("narrow",), most)))
    return drawn, "The line across a bar is what each would be if all were equal."


# -- to HTML ----------------------------------------------------------------------------------------------------------


def game_page(stories: Sequence[Story]) -> str:
    """Return the page of some games."""
    title = stories[0].title if len(stories) == 1 else f"{len(stories)} games of Ten Thousand"
    return _page("games.html", title, stories=stories, players=[_player_data(one) for one in stories])


def season_page(title: str, games: int, span: str, reports: Sequence[Charted]) -> str:
    """Return the page of a season: how many games, from when to when, and its reports."""
    return _page("season.html", title, games=games, span=span, reports=reports)


def _player_data(one: Story) -> dict[str, Any]:
    """Return what the script plays the game from."""
    moments = [
        {key: value for key, value in _clean(to_builtins(moment)).items() if value not in (None, "", [], ())}
        for moment in one.told.moments
    ]
    turns = [{"round": turn.round, "first": turn.moments[0]} for turn in one.told.turns]
    top = max(one.target, *(total for moment in one.told.moments for total in moment.totals))
    return {
        "players": [visible(player) for player in one.told.players],
        "turns": turns,
        "moments": moments,
        "top": top,
    }


def _clean(value: Any) -> Any:
    """Return JSON values with every character in their texts visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list | tuple):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {key: _clean(one) for key, one in value.items()}
    return round(value, 1) if isinstance(value, float) else value


def _page(template: str, title: str, **content: Any) -> str:
    environment = _environment()
    style, script = (_file(name) for name in ("page.css", "page.js"))
    hashed = f"style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'"
    policy = f"default-src 'none'; {hashed}; base-uri 'none'; form-action 'none'"
    from markupsafe import Markup

    return environment.get_template(template).render(
        title=title, generator=GENERATOR, policy=Markup(policy),  # noqa: S704  (of ours)
        style=Markup(style), script=Markup(script), **content,  # noqa: S704  (files of ours)
    )  # fmt: skip


def _file(name: str) -> str:
    from importlib.resources import files

    return (files("tenklog") / "web" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _environment() -> "Environment":
    """Return the templates, which escape every value, and make every text visible before."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError:
        raise UsageError(*pictures.MISSING) from None

    def gate(value: object) -> object:
        if value is None:
            return ""
        if isinstance(value, Markup) or not isinstance(value, str):
            return value
        return visible(value)

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("tenklog", "web"),
        autoescape=True,
        finalize=gate,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    made.filters.update(number=_number, signed=_signed, colour=pictures.colour, dash=pictures.dash)
    made.filters["svg"] = Markup
    made.globals["outcome"] = _outcome
    return made


def _number(value: float | None, digits: int = 0) -> str:
    """Write a number with a true minus sign."""
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}"
    return text.replace("-", "\u2212") if float(text) else f"{0:.{digits}f}"


def _signed(value: float | None, digits: int = 0) -> str:
    """Write a number with its sign; nothing for None."""
    if value is None:
        return NOTHING
    text = f"{value:+.{digits}f}"
    return text.replace("-", "\u2212") if float(text) else f"±{0:.{digits}f}"


def _outcome(turn: TurnTold | Ended) -> str:
    """Say in a few words how a turn ended."""
    if turn.outcome is None:
        return "in progress"
    if turn.outcome in ("banked", "scoreless"):
        return f"{turn.outcome} {_signed(turn.change)}"
    word = WORDS.get(turn.outcome, turn.outcome)
    return word if not turn.change else f"{word} {_signed(turn.change)}"
