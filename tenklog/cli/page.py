"""Page: this module has the command that lays games, or a season, out as one page to send around."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenklog.cli.common import command, emit, game_option, home, load, progress_bar, remark, ruleset, typed
from tenklog.cli.stats import filter_options, left_out
from tenklog.errors import AccessError, Conflict, TenklogError, UsageError
from tenklog.stats import PLAYED, Filters

if TYPE_CHECKING:
    from tenklog.luck import Luck
    from tenklog.page import Story
    from tenklog.rules import Ruleset

# The reports of a season: these first, then every other that has a picture.
FIRST = ("leaderboard", "records", "head-to-head")
FILTER_NAMES = ("player", "origin", "since", "until", "last", "min_games")


@command("page", example="tenklog page sample_logs/zilch-evening.jsonl --rules farkle -o zilch.html")
@click.argument("games", nargs=-1, metavar="GAME...")
@game_option
@click.option("-o", "--output", metavar="FILE", help="Where to write the page (- for standard output).")
@click.option("--no-luck", is_flag=True, help="Leave luck and blunders out.")
@click.option(
    "--archive",
    "folder",
    metavar="[DIR]",
    is_flag=False,
    flag_value="",
    help="A page of the archived games instead (default: the home's archive).",
)
@click.option("--title", metavar="TEXT", help="The heading of a season's page (default: Our season).")
@filter_options(PLAYED, "Also play the dice by these rules; with --archive only games by them (repeatable).")
def page(
    games: tuple[str, ...],
    game: str | None,
    output: str | None,
    no_luck: bool,
    folder: str | None,
    title: str | None,
    filters: Filters,
) -> None:
    """Make one page of games, complete in itself: it opens from disk, without any network.

    It has the race as a chart, the sheet, every turn to play through with slider or arrow keys, luck and blunders, and
    the same game under other rules beside it. With --archive it has the reports over a season instead. A page that
    tenklog made is replaced, any other file is left alone. Needs tenklog[page].
    """  # fmt: skip
    _check_options(games, folder, title, no_luck)
    target = _target(output)
    made = _season(folder, filters, title) if folder is not None else _games(games or (game,), filters.rules, no_luck)
    if target is None:
        emit(made.encode())
        return
    _write(target, made.encode())
    remark(f"wrote {target}")


def _check_options(games: tuple[str, ...], folder: str | None, title: str | None, no_luck: bool) -> None:
    given = [f"--{name.replace('_', '-')}" for name in FILTER_NAMES if typed(name)]
    if folder is None and (given or title is not None):
        raise UsageError(f"{[*given, '--title'][0]} without --archive", "--archive, whose games it is about")
    if folder is not None and (games or typed("game") or no_luck):
        what = "--no-luck" if no_luck else "a game"
        raise UsageError(f"{what} and --archive", "one of them: a page is of games, or of a season")


def _target(output: str | None) -> Path | None:
    """Return where the page goes, None for standard output; refuse before any work what could not be written."""
    from tenklog import files
    from tenklog.page import MARK

    if output == "-":
        return None
    if output is None:
        if sys.stdout is not None and sys.stdout.isatty():
            raise UsageError("no file for the page", "-o FILE.html")
        return None
    if output == "":
        raise UsageError("-o is empty", "a file, such as game.html")
    path = Path(output)
    if not path.parent.is_dir():
        raise AccessError(f"there is no folder {path.parent}", "a folder that is there", output)
    if files.exists(path):
        with files.telling(path), files.opened(path, files.READ) as fd:
            if MARK not in files.read(fd)[:2000]:
                raise Conflict(f"{output} exists already and is no page of tenklog", "another name")
    return path


def _write(target: Path, data: bytes) -> None:
    """Write the whole page or nothing, as readable as the files that somebody else writes here."""
    import os

    from tenklog import files

    with files.telling(target):
        files.put(target, data)
        mask = os.umask(0)
        os.umask(mask)
        target.chmod(0o666 & ~mask)


# -- games ------------------------------------------------------------------------------------------------------------


def _games(games: tuple[str | None, ...], names: tuple[str, ...], no_luck: bool) -> str:
    from tenklog.page import game_page

    rules = [None if name == "recorded" else ruleset(name) for name in names]
    with progress_bar(len(games) * (2 + len(rules)), "Making the page") as progress:
        return game_page([_story(one, rules, no_luck, progress) for one in games])


def _story(
    name: str | None, rules: "list[Ruleset | None]", no_luck: bool, progress: Callable[[int], object]
) -> "Story":
    """Work out what the page shows of one game; `progress` is told of luck, of each replay, and of the pictures."""
    from tenklog.page import story
    from tenklog.replayer import replay

    log = load(name)
    found: Luck | None = None
    why = "Luck was left out of this page." if no_luck else ""
    if not no_luck:
        from tenklog.luck import luck

        try:
            found = luck(log.game)
        except TenklogError as error:
            why = f"There is no telling luck from decisions here: {error}."
    progress(1)
    replays = []
    for asked in rules:
        replays.append(replay(log.game, log.events, asked, of=log.fingerprint))
        progress(1)
    made = story(log.game, log.events, log.fingerprint, found, why, replays)
    progress(1)
    return made


# -- a season ---------------------------------------------------------------------------------------------------------


def _season(folder: str | None, filters: Filters, title: str | None) -> str:
    from tenklog import page as pages
    from tenklog import reports, stats
    from tenklog.people import read_people

    place = Path(folder) if folder else home().archive
    if folder and not place.is_dir():
        raise AccessError(f"there is no folder {folder}", "the folder of an archive")
    people = read_people(home().people)
    known = reports.ours()
    names = [*FIRST, *(name for name, report in known.items() if report.chart and name not in FIRST)]
    made = []
    with progress_bar(len(names), "Making the page") as progress:
        for name in names:
            made.append(pages.charted(known[name], stats.run(place, known[name], filters, people)))
            progress(1)
    count, span = _counted(place, filters, people)
    if not count:
        raise UsageError("no archived game fits", "other filters, or `tenklog archive` to put games into the archive")
    left_out(stats.unmeasured(place, filters, people))
    return pages.season_page(title or "Our season", count, span, made)


def _counted(place: Path, filters: Filters, people: dict[str, str]) -> tuple[int, str]:
    """Return how many games there are, and from which day to which."""
    from tenklog import reports, stats

    sql = "SELECT count(*), min(begun)::DATE::VARCHAR, max(begun)::DATE::VARCHAR FROM games WHERE chosen_game(players)"
    report = reports.Report("counted", "", "", (), sql)
    ((count, first, last),) = stats.run(place, report, filters, people).rows
    days = [day for day in (first, last) if day]
    return count, " to ".join(dict.fromkeys(days))
