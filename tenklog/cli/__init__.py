"""Command line: this package parses, calls and prints, one module a group of commands, each loaded when it is used.

Only `main` ends the process: it prints every error as one line on stderr and chooses the exit code.
"""

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import click

from tenklog import __version__
from tenklog.errors import PipeClosed, TenklogError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Group title -> command -> (module, one line of help).
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Record a game": {
        "new": ("table", "Begin a game: its players, in the order in which they sit."),
        "play": ("play", "Play a whole game at one prompt."),
        "roll": ("record", "Record dice that were thrown."),
        "throw": ("record", "Let tenklog throw the dice."),
        "keep": ("record", "Set scoring dice of the roll aside."),
        "bank": ("record", "Bank the turn."),
        "bust": ("moves", "Lose a turn that is kept without dice."),
        "steal": ("moves", "Take over the dice of the turn that ended last."),
        "challenge": ("moves", "Challenge an opponent."),
        "undo": ("moves", "Take back the last move."),
        "fix": ("moves", "Correct an earlier roll, keep or number of points."),
        "change": ("table", "Change house rules in a running game."),
        "expect": ("table", "Compare the totals with paper."),
        "join": ("table", "Give a new player a seat."),
        "leave": ("table", "Let a player leave."),
        "rename": ("table", "Call a player differently."),
        "note": ("table", "Write a remark into the log."),
        "abandon": ("table", "Give the game up."),
    },
    "Look at games": {
        "show": ("look", "Show the standings, whose turn it is and what is legal."),
        "sheet": ("look", "Show the score sheet, by rounds."),
        "events": ("look", "List the events of a game."),
        "games": ("look", "List all games."),
        "use": ("look", "Choose the current game."),
    },
    "Rules": {
        "rules": ("rules", "List, show, compare, check and infer rulesets."),
        "score": ("rules", "Score dice, and list what may be kept."),
    },
    "Replay": {
        "replay": ("replay", "Play the same dice under other rules."),
        "sweep": ("replay", "Replay games along a range of values of a setting."),
    },
    "Care": {
        "check": ("care", "Find whatever is wrong with logs."),
        "repair": ("care", "Save what is sound of a damaged log, or seal a hand-written one."),
        "import": ("exchange", "Bring in games that were written down elsewhere."),
        "export": ("exchange", "Write games as text, as a sheet, or as JSON."),
        "fingerprint": ("care", "Print SEQ:H of a game, to compare by word of mouth."),
    },
    "Archive": {
        "archive": ("archive", "Put finished games into the archive."),
        "extract": ("archive", "Give archived logs back, byte for byte."),
        "stats": ("stats", "Ask a report over all archived games."),
        "query": ("stats", "Ask the archive in SQL."),
    },
    "Insight": {
        "odds": ("insight", "Show exact odds, and from how many points on to bank."),
        "advise": ("insight", "Say what each legal move is worth, and which is best."),
        "luck": ("insight", "Tell luck from skill in a game."),
        "simulate": ("insight", "Play many games by strategies."),
        "page": ("page", "Make a page of games, or of a season, to send around."),
    },
}
COMMANDS = {name: module for group in GROUPS.values() for name, (module, _) in group.items()}

EXIT_CODES = """\
0  fine
1  the data is bad: a damaged log or archive, a false expect, a replay that stopped at a guess, rejected SQL
2  wrong usage, or an illegal move
3  try again: the log is locked, or the outcome is unknown (safe to repeat with the same --id)
4  a file could not be read or written; nothing was recorded, unless the line says so
5  conflict: --expect-seq, other content under the same --id, or a file that exists already
130  interrupted"""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        from importlib import import_module

        # A name that Python keeps for itself has an underscore there.
        found = vars(import_module(f"tenklog.cli.{module}"))
        command = found.get(cmd_name) or found[f"{cmd_name}_"]
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest."""
        if args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            from tenklog.errors import UsageError, nearest

            raise UsageError(f"no command {args[0]!r}", nearest(args[0], list(COMMANDS)))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """Offer the commands without importing any, and the options."""
        from click.shell_completion import CompletionItem

        commands = {name: text for group in GROUPS.values() for name, (_, text) in group.items()}
        found = [CompletionItem(name, help=text) for name, text in commands.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by group, without importing any."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])
        with formatter.section("Exit codes"):
            formatter.write_dl([(line.split()[0], line.split(None, 1)[1]) for line in EXIT_CODES.splitlines()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--home", envvar="TENKLOG_HOME", metavar="DIR", help="Folder of the games (also TENKLOG_HOME).")
@click.option("-q", "--quiet", is_flag=True, help="No remarks and no progress on stderr.")
@click.version_option(__version__, prog_name="tenklog", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, home: str | None, quiet: bool) -> None:
    """Keep score of Ten Thousand, and see how the same dice would have ended under other rules.

    A game is `tenklog new Anna Ben`, then roll, keep, bank. GAME is an id, a unique beginning of one, a path or `-`.
    """
    ctx.obj = {"home": home, "quiet": quiet}


def main(args: list[str] | None = None) -> NoReturn:
    """Run a command line and end the process with its exit code."""
    code = run(args)
    gc.disable()  # or Python would look once more for cycles before it ends, 8 ms for what goes with it anyway
    sys.exit(code)


def run(args: list[str] | None = None) -> int:
    """Run a command line; print an error as one line on stderr; return the exit code."""
    try:
        code, line = attempt(args)
    except PipeClosed as error:
        # Python would complain once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return error.exit_code
    if line:
        from tenklog.render import one_line

        with suppress(OSError, UnicodeError):
            sys.stderr.write(f"tenklog: error: {one_line(line)}\n")
    return code


def attempt(args: list[str] | None = None) -> tuple[int, str]:
    """Run a command line; return the exit code, and what is wrong in one line; raise only PipeClosed."""
    if "_TENKLOG_COMPLETE" in os.environ:
        from tenklog.cli import shells

        shells.add()
    try:
        code = cli.main(args, prog_name="tenklog", standalone_mode=False)
        return code if isinstance(code, int) else 0, ""
    except PipeClosed:
        raise
    except TenklogError as error:
        return error.exit_code, str(error)
    except click.exceptions.Exit as error:
        return error.exit_code, ""
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stdout.write(f"{error.message}\n")
        return 0, ""
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "tenklog"
        return 2, f"{error.format_message().rstrip('.')}; see `{command} --help`"
    except click.ClickException as error:
        return 2, error.format_message()
    except (KeyboardInterrupt, click.Abort):
        return 130, ""
    except OSError as error:
        return 4, f"{error.filename or 'standard output'}: {error.strerror or error}"
    except UnicodeEncodeError:
        # Python hands over what is no UTF-8 as lone surrogates, and whatever is to be kept or compared refuses those.
        return 2, "something in the command is not UTF-8 text; text in UTF-8"
    except Exception as error:
        if os.environ.get("TENKLOG_DEBUG"):
            raise
        return 1, f"a mistake in tenklog ({type(error).__name__}: {error}); TENKLOG_DEBUG=1 shows where"
