"""Archive: this module has the commands that put games into the archive and take logs out of it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenklog.cli.common import (
    archive_option,
    command,
    emit,
    find,
    game_option,
    home,
    output_options,
    progress_bar,
    remark,
    typed,
)
from tenklog.errors import Conflict, UsageError
from tenklog.projections import row
from tenklog.render import Format, Output
from tenklog.tables import ASKED

if TYPE_CHECKING:
    from tenklog.staging import Outcome


@command("archive", example="tenklog archive")
@click.argument("games", nargs=-1, metavar="[GAME]...")
@game_option
@archive_option(there=False)
@click.option("--files", "table", type=click.Choice(tuple(ASKED)), help="Only list the live files of a table.")
@click.option("--luck", is_flag=True, help="Work out luck and skill too, for `stats luck` and `stats skill`.")
@click.option("--rebuild", is_flag=True, help="Begin the archive anew from the logs.")
@click.option("--dry-run", is_flag=True, help="Say what would be archived, and write nothing.")
@click.option(
    "--timeout", type=click.FloatRange(0, 3600), default=10.0, metavar="SECONDS", help="How long to wait for the lock."
)
@output_options
def archive(
    games: tuple[str, ...],
    game: str | None,
    folder: Path,
    table: str | None,
    luck: bool,
    rebuild: bool,
    dry_run: bool,
    timeout: float,
    form: Format,
) -> None:
    """Archive finished and abandoned games: all of them, unless some are named. The logs stay as they are.

    --luck takes longer, and does it for games that are archived already as well.
    """
    from tenklog import archiving
    from tenklog.archive import open_archive
    from tenklog.staging import Outcome

    if table is not None:
        live = [str(folder / file.name) for file in open_archive(folder, (table,)).live(table)]
        emit(Output(live, ("file",), [{"file": path} for path in live], "\n".join(live)), form)
        return
    named = (*games, *_from_option(game))
    if rebuild and named:
        raise UsageError("--rebuild is about all games", "no GAME with it")
    paths = [find(one) for one in named] if named else home().games()
    if Path("-") in paths:
        raise UsageError("standard input can't be archived", "a file named after its game")
    with progress_bar(len(paths), "Archiving") as progress:
        outcomes = archiving.archive_logs(
            folder, paths, dry_run=dry_run, rebuild=rebuild, luck=luck, timeout=timeout,
            processes=os.cpu_count() or 1, progress=progress,
        )  # fmt: skip
    if dry_run:
        remark("nothing is written (--dry-run)")
    for one in outcomes:
        if one.result == "failed":
            remark(f"left out: {one.why}")
    rows = [row(one) for one in outcomes]
    emit(Output(outcomes, Outcome.__struct_fields__, rows, _count(outcomes, dry_run)), form)
    if any(one.result == "failed" for one in outcomes):
        click.get_current_context().exit(1)


def _from_option(game: str | None) -> tuple[str, ...]:
    """Return the game of `-g`; one that the environment names is for commands about one game."""
    return (game,) if game is not None and typed("game") else ()


def _count(outcomes: "list[Outcome]", dry_run: bool) -> str:
    """Say how many logs met which fate; those that are not archived by name."""
    words = {
        "archived": "archived", "already": "already there", "measured": "measured", "superseded": "superseded",
        "removed": "removed", "skipped": "skipped", "failed": "unreadable",
    }  # fmt: skip
    lines = [f"{one.game}: {words[one.result]}, {one.why}" for one in outcomes if one.result in ("skipped", "removed")]
    shown = lines[:20] + ([f"and {len(lines) - 20} more"] if len(lines) > 20 else [])
    counts = {result: sum(one.result == result for one in outcomes) for result in words}
    said = [f"{count} {words[result]}" for result, count in counts.items() if count]
    counted = (", ".join(said) or "no games") + "."
    return "\n".join([*shown, f"It would be {counted}" if dry_run else counted[0].upper() + counted[1:]])


@command("extract", example="tenklog extract 2026-11-29-kfqz")
@click.argument("games", nargs=-1, metavar="[GAME]...")
@game_option
@archive_option()
@click.option("--all", "every", is_flag=True, help="All archived games.")
@click.option("--into", metavar="DIR", help="Write files there (needed for more than one game).")
@click.option("--dry-run", is_flag=True, help="Say which files would be written.")
def extract(
    games: tuple[str, ...], game: str | None, folder: Path, every: bool, into: str | None, dry_run: bool
) -> None:
    """Give archived logs back, byte for byte: one to standard output, or some into a folder."""
    from tenklog import archive as archives
    from tenklog import files

    named = (*games, *_from_option(game))
    if every == bool(named):
        raise UsageError("no game is named" if not every else "--all and a GAME", "some games, or --all")
    if into is None:
        if len(named) != 1:
            raise UsageError("several logs to standard output", "--into DIR")
        for _, data in archives.extract(folder, named):
            emit(data)
        return
    target = Path(into)
    if not dry_run:
        with files.telling(target):
            files.make_folder(target)
    written = []
    for name, data in archives.extract(folder, None if every else named):
        path = target / f"{name}.jsonl"
        if files.exists(path):
            with files.telling(path):
                if path.read_bytes() != data:
                    raise Conflict(f"{path} exists already and is another log", "another folder")
        elif not dry_run:
            with files.telling(path):
                files.write_new(path, data)
        written.append(str(path))
    emit(Output(written, ("file",), [{"file": path} for path in written], "\n".join(written)), "table")
