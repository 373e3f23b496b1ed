"""Care: this module has the commands that look after the log files."""

import click

from tenklog.cli.common import (
    command,
    emit,
    find,
    game_argument,
    game_option,
    home,
    load,
    one_of,
    output_options,
    remark,
)
from tenklog.errors import UsageError
from tenklog.projections import row
from tenklog.render import Format, Output, visible


@command("check", example="tenklog check")
@click.argument("games", nargs=-1, metavar="[GAME]...")
@game_option
@click.option("--head", metavar="SEQ:H", help="A fingerprint kept elsewhere that the log must contain.")
@click.option("--archive", "archived", is_flag=True, help="Also hash the archive, and compare logs with its heads.")
@output_options
def check(games: tuple[str, ...], game: str | None, head: str | None, archived: bool, form: Format) -> None:
    """Find whatever is wrong with logs: all of them, unless some are named. Nothing is changed."""
    from tenklog import checks

    named = games or ((game,) if game is not None else ())
    paths = [find(one) for one in named] if named else home().games()
    if head is not None and len(paths) != 1:
        raise UsageError("--head belongs to one game", "name the game: `tenklog check GAME --head SEQ:H`")
    heads = {paths[0].stem: head} if head is not None else {}
    found: list[checks.Problem] = []
    if archived:
        from tenklog.archive import check as check_archive

        found, known = check_archive(home().archive, home().games())
        heads = known | heads
    report = checks.check_all(paths, heads)
    report = checks.Report(report.files, report.problems + found)
    rows = [row(problem) for problem in report.problems]
    lines = [visible(problem.line_of_text()) for problem in report.problems]
    count = len(report.files)
    if not report.problems:
        what = "log is" if count == 1 else "logs are"
        lines = [f"{count} {what} sound, and so is the archive." if archived else f"{count} {what} sound."]
    emit(Output(report, checks.Problem.__struct_fields__, rows, "\n".join(lines)), form)
    if report.bad:
        click.get_current_context().exit(1)


@command("repair", example="tenklog repair 2026-11-29-kfqz --dry-run")
@click.argument("given", metavar="[GAME]", required=False)
@game_option
@click.option("--seal", is_flag=True, help="Give a hand-written log its hashes.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@output_options
def repair(given: str | None, game: str | None, seal: bool, dry_run: bool, form: Format) -> None:
    """Copy a damaged log beside itself, then keep what is sound of it; with --seal, seal a hand-written one."""
    from tenklog import store

    path = find(one_of(given, game))
    done = store.repair(path, seal=seal, dry_run=dry_run)
    if dry_run:
        remark("nothing is changed (--dry-run)")
    rows: list[dict[str, object]] = [{"step": step} for step in done]
    text = "\n".join(map(visible, done)) or "Nothing to repair."
    if not done and not load(str(path)).sealed:
        text = "Nothing to repair; --seal gives the log its hashes, so that it can be written to."
    emit(Output(done, ("step",), rows, text), form)


@command("fingerprint", example="tenklog fingerprint")
@game_argument
@output_options
def fingerprint(given: str | None, game: str | None, form: Format) -> None:
    """Print SEQ:H of the last event: two people who read out the same one hold the same game."""
    log = load(one_of(given, game))
    found = {"game": log.game.start.game, "fingerprint": log.fingerprint}
    emit(Output(found, ("game", "fingerprint"), [dict(found)], log.fingerprint), form)
