"""Common: this module holds what all commands share: options, finding the game, printing, recording."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tenklog.cli.complete import attach
from tenklog.errors import AccessError, Conflict, PipeClosed, UsageError
from tenklog.render import FORMATS, Format, Output, escaped_json, one_line, render, visible

if TYPE_CHECKING:
    from pathlib import Path

    from tenklog.decider import Command as Asked
    from tenklog.rules import Ruleset
    from tenklog.store import Home, Log

EMPTY_ARCHIVE = "the archive is empty; `tenklog archive` puts finished games into it"
F = TypeVar("F", bound=Callable[..., Any])


def _is_sentence(word: str) -> bool:
    """Tell whether a word begins like an option but has blanks where the name of one would be: a comment in SQL."""
    return any(sign.isspace() for sign in word.partition("=")[0])


class Command(click.Command):
    """A command to which names and amounts that begin with `-` can be given as a person types them.

    `-ben` is an argument; what begins with `--`, and single letters such as `-x`, stay options.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move arguments that look like options behind `--`."""
        options = {
            name: option for option in self.params if isinstance(option, click.Option) for name in _names(option)
        }
        before: list[str] = []
        after: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            if word == "--":
                after.extend(rest)
                break
            if word in options:
                before.append(word)
                optional = getattr(options[word], "_flag_needs_value", False)  # click has no public word for it
                if not options[word].is_flag and not (optional and (not rest or rest[0].startswith("-"))):
                    if not rest:
                        return super().parse_args(ctx, before)  # which says that it lacks its value
                    before.append(rest.pop(0))
            elif (word.startswith("--") and not _is_sentence(word)) or (
                len(word) == 2 and word[0] == "-" and word[1].isalpha()
            ):
                before.append(word)
            else:
                after.append(word)
        return super().parse_args(ctx, [*before, "--", *after] if after else before)


def _names(option: click.Option) -> list[str]:
    return [*option.opts, *option.secondary_opts]


def command(name: str, example: str, group: click.Group | None = None) -> Callable[[F], click.Command]:
    """Declare a command, with an example that its help shows."""

    def declare(function: F) -> click.Command:
        declaring = click.command if group is None else group.command
        made: click.Command = declaring(name, cls=Command, epilog=f"Example: {example}")(function)
        made.context_settings.setdefault("help_option_names", ["-h", "--help"])
        attach(made)
        return made

    return declare


def form_options(forms: tuple[str, ...], default: str | None) -> Callable[[F], F]:
    """Add the options that choose the form of what is printed; the command gets `form`."""

    def chosen(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            ctx.params["form"] = parameter.name

    def as_is(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        ctx.meta["tenklog.raw"] = value

    def add(function: F) -> F:
        function = click.option(
            "--raw", is_flag=True, expose_value=False, callback=as_is, help="CSV cells as they are, formulas too."
        )(function)
        function = click.option(
            "--csv", is_flag=True, expose_value=False, callback=chosen, help="Same as --format csv."
        )(function)
        function = click.option(
            "--json", is_flag=True, expose_value=False, callback=chosen, help="Same as --format json."
        )(function)
        return click.option(
            "--format",
            "form",
            type=click.Choice(forms),
            default=default,
            callback=lambda ctx, parameter, value: ctx.params.get("form", value),
            help=f"How to print (default {default or forms[0]}).",
        )(function)

    return add


def output_options(function: F) -> F:
    """Add the options that choose the form of what is printed, as most commands have them."""
    return form_options(FORMATS, "table")(function)


def game_option(function: F) -> F:
    """Add `-g GAME`."""
    return click.option(
        "-g",
        "--game",
        "game",
        envvar="TENKLOG_GAME",
        metavar="GAME",
        help="Which game (also TENKLOG_GAME; default: the current one).",
    )(function)


def game_argument(function: F) -> F:
    """Add `[GAME]`, for commands that only read."""
    return click.argument("given", metavar="[GAME]", required=False)(game_option(function))


def rules_option(function: F) -> F:
    """Add `--rules R` and `--set K=V`."""
    function = click.option(
        "--set", "sets", multiple=True, metavar="K=V", help="Change a setting or a combination (repeatable)."
    )(function)
    return click.option(
        "--rules", "name", metavar="R", help="A preset, or a TOML file of your own (default tiotusen)."
    )(function)


def archive_option(there: bool = True, addresses: bool = False) -> Callable[[F], F]:
    """Add `--archive DIR`, a folder that must be there unless it is written to; the command gets `folder`.

    With `addresses`, one such as s3a://games/archive is taken as the text that it is.
    """

    def chosen(ctx: click.Context, parameter: click.Parameter, value: str | None) -> "Path | str":
        from pathlib import Path

        if value == "":
            raise UsageError("--archive is empty", "a folder")
        if value and addresses and is_address(value):
            return value
        if value and there and not Path(value).is_dir():
            raise AccessError(f"there is no folder {value}", "the folder of an archive")
        return Path(value) if value else home().archive

    return click.option(
        "--archive", "folder", metavar="DIR", callback=chosen, help="Folder of the archive (default: in the home)."
    )


def engine_options(function: F) -> F:
    """Add `--engine` and `--master`."""
    for option in (
        click.option(
            "--master", metavar="URL", help="The cluster for --engine spark (default local[*], this machine)."
        ),
        click.option(
            "--engine",
            type=click.Choice(("duckdb", "spark")),
            default="duckdb",
            help="What works it out: duckdb, or spark on a cluster (needs tenklog[spark] and Java).",
        ),
    ):
        function = option(function)
    return function


def cluster(engine: str, master: str | None) -> str | None:
    """Return the cluster to ask, or None for this machine; raise UsageError for one that nobody is to ask."""
    if engine == "spark":
        return master or "local[*]"
    if master is not None:
        raise UsageError(f"--master {master} is a cluster", "--engine spark with it")
    return None


def archived_option(function: F) -> F:
    """Add `--archive [DIR]` to a command on games, which makes it one on all archived ones; it gets `folder`."""
    return click.option(
        "--archive",
        "folder",
        metavar="[DIR]",
        is_flag=False,
        flag_value="",
        help="All games of an archive (default: the home's), at once; needs tenklog[bulk].",
    )(function)


def archived(folder: str, games: tuple[str, ...], addresses: bool = False, **others: bool) -> "Path | str":
    """Return the folder of `--archive`; raise UsageError beside games and other options that are about games.

    With `addresses`, one such as s3a://games/archive is taken as the text that it is.
    """
    from pathlib import Path

    wrong = "a GAME" if games or typed("game") else next((f"--{name}" for name, given in others.items() if given), None)
    if wrong is not None:
        raise UsageError(f"--archive and {wrong}", "one of them")
    if addresses and is_address(folder):
        return folder
    if folder and not Path(folder).is_dir():
        raise AccessError(f"there is no folder {folder}", "the folder of an archive")
    return Path(folder) if folder else home().archive


def is_address(folder: str) -> bool:
    """Tell whether a folder is an address such as s3a://games/archive."""
    return ":/" in folder[2:]  # C:/ is a drive


def record_options(function: F) -> F:
    """Add the options of every command that writes to a game."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Say what would be recorded, and record nothing."),
        click.option(
            "--timeout", type=click.FloatRange(0, 3600), default=10.0, help="Seconds to wait for the lock (default 10)."
        ),
        click.option("--expect-seq", type=click.IntRange(min=1), metavar="N", help="Only if the last event is N."),
        click.option("--id", "key", metavar="KEY", help="Makes repeating this very command harmless."),
    ):
        function = option(function)
    return game_option(output_options(function))


def home() -> "Home":
    """Return the home folder in use."""
    from tenklog.store import Home, default_home

    folder = click.get_current_context().obj["home"]
    if folder == "":
        raise UsageError("--home is empty", "a folder")
    from pathlib import Path

    return Home(Path(folder) if folder else default_home())


def ruleset(name: str, sets: tuple[str, ...] = ()) -> "Ruleset":
    """Return a ruleset by name or file, with settings changed."""
    from tenklog.rulebook import card
    from tenklog.rules import change, parse_changes

    rules = card(name, home().rules).rules
    return change(rules, parse_changes(sets, rules)) if sets else rules


def rules_here(name: str | None, sets: tuple[str, ...] = ()) -> "Ruleset":
    """Return the ruleset that is named, else that of the current game, else tiotusen; with settings changed."""
    place = home()
    if name is not None or place.current_id() is None:
        return ruleset(name or "tiotusen", sets)
    from tenklog import reading
    from tenklog.rules import change, parse_changes

    rules = reading.read(place.current()).game.position.rules
    return change(rules, parse_changes(sets, rules)) if sets else rules


def find(game: str | None) -> "Path":
    """Return the path of a game's log: the one named, or the current one."""
    place = home()
    return place.find(game) if game is not None else place.current()


def typed(option: str) -> bool:
    """Tell whether an option stands on the command line, rather than in the environment."""
    source = click.get_current_context().get_parameter_source(option)
    return source == click.core.ParameterSource.COMMANDLINE


def one_of(given: str | None, game: str | None) -> str | None:
    """Return the game that the argument or `-g` names; raise UsageError when they name two."""
    if given is not None and game not in (None, given) and typed("game"):
        raise UsageError(f"{given} and -g {game} name two games", "one of them")
    return given if given is not None else game


def load(game: str | None) -> "Log":
    """Read a game, and say on stderr what its log leaves out."""
    from tenklog import reading

    path = find(game)
    log = reading.read(path, named=False)
    if wrong := reading.misnamed(path, log.game.start):
        remark(f"{path} {wrong}")
    if log.torn:
        remark(log.torn)
    return log


def new_file(name: str) -> "Path":
    """Return the path of a file that is to be written; raise Conflict when it is there, AccessError for no folder."""
    from pathlib import Path

    from tenklog import files

    path = Path(name)
    with files.telling(path):
        if files.exists(path):
            raise Conflict(f"{name} exists already", "another name")
    if not path.parent.is_dir():
        raise AccessError(f"there is no folder {path.parent}", "a folder that is there", name)
    return path


def remark(text: str) -> None:
    """Say something on stderr, unless `--quiet`."""
    if not click.get_current_context().obj["quiet"]:
        sys.stderr.write(f"tenklog: {one_line(text)}\n")


@contextmanager
def progress_bar(length: int, label: str, of: str = "") -> Iterator[Callable[[int], object]]:
    """Show on stderr how far something is and how long it still takes, if somebody looks; yield what is told of steps.

    With `of`, such as games, it says too how many of them are done in a second.
    """
    if length < 2 or click.get_current_context().obj["quiet"] or sys.stderr is None or not sys.stderr.isatty():
        yield lambda count: None
        return

    def rate(_: object) -> str:
        return f"{bar.pos / max(0.001, monotonic() - began):,.0f} {of} a second" if of and bar.pos else ""

    began = monotonic()
    bar = click.progressbar(length=length, label=label, file=sys.stderr, item_show_func=rate)
    with bar:
        yield bar.update


def emit(output: Output | bytes, form: Format = "table") -> None:
    """Print to stdout, rendered, or bytes as they are; the only place that does."""
    if sys.stdout is None:
        raise AccessError("standard output is closed", "what was recorded stays recorded")
    try:
        if isinstance(output, bytes):
            sys.stdout.buffer.write(output)
            sys.stdout.flush()
            return
        context = click.get_current_context(silent=True)
        text = render(output, form, raw=context is not None and bool(context.meta.get("tenklog.raw")))
        sys.stdout.write(text)
        sys.stdout.flush()
    except UnicodeEncodeError:
        as_json = form in ("json", "jsonl")
        plain = escaped_json(text, str.isascii) if as_json else text.encode("ascii", "backslashreplace").decode()
        sys.stdout.write(plain)
        sys.stdout.flush()
    except BrokenPipeError:
        raise PipeClosed("standard output was closed") from None
    except OSError as error:
        raise AccessError(f"standard output: {error.strerror}", "what was recorded stays recorded") from None


def record(asked: "Asked", form: Format, **options: Any) -> None:
    """Append what a command asks for to its game, and tell the table."""
    from tenklog import events, store
    from tenklog.narrate import story
    from tenklog.projections import STANDING, row
    from tenklog.projections import record as answer

    if options["key"] is not None:
        options["key"] = events.text(options["key"], "id", 128)
    path = find(options["game"])
    if options["dry_run"]:
        from tenklog.decider import draft

        log = store.read(path)
        made = draft(log.game, asked)
        game, written, h = made.game, made.events, log.h
        whole = [*log.events, *written]
        remark("nothing is recorded (--dry-run)")
    else:
        done = store.append(
            path, asked, id=options["key"], expect_seq=options["expect_seq"], timeout=options["timeout"]
        )
        game, written, h = done.log.game, list(done.events), done.log.h
        whole = done.log.events
        if done.healed:
            remark(done.healed)
        if done.repeated:
            remark(f"already recorded under the id {options['key']}")
    document = answer(game, h, written)
    lines = [visible(line) for line in story(game, written, whole)]
    emit(Output(document, STANDING, [row(one) for one in document.show.standings], "\n".join(lines)), form)


def whole(text: str, what: str, low: int = 0, such_as: int = 350) -> int:
    """Read a whole number; raise UsageError for anything but ASCII digits (after a minus, with `low` below 0)."""
    digits = text.replace("\u2212", "-")
    sign = -1 if digits.startswith("-") and low < 0 else 1
    digits = digits.removeprefix("-") if sign < 0 else digits
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 15):
        right = "a whole number, such as 350 or -50" if low < 0 else f"a whole number from 0, such as {such_as}"
        if digits.isascii() and digits.isdigit():
            raise UsageError(f"{text!r} is too large a number of {what}", "at most 15 digits")
        raise UsageError(f"{text!r} is no number of {what}", right)
    return sign * int(digits)


def throw_dice(count: int) -> tuple[int, ...]:
    """Throw dice with the operating system's randomness."""
    from os import urandom

    faces: list[int] = []
    while len(faces) < count:
        # 252 is the largest multiple of 6 that a byte reaches: no face is favoured.
        faces += [byte % 6 + 1 for byte in urandom(16) if byte < 252]
    return tuple(faces[:count])
