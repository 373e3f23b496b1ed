"""Shells: this module mends click's scripts for completion where a name or a value would break them.

Names come from people and from strangers' logs: whatever is in one, it arrives on the command line as one word that
the shell does not run.
"""

import re
from typing import Any

from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete
from click.shell_completion import add_completion_class as add_class


class Bash(BashComplete):
    """Completion for bash, which inserts what it is given as it is and takes `=` for the end of a word."""

    source_template = BashComplete.source_template.replace("read type value", "read -r type value").replace(
        "($value)", '("$value")'
    )
    before = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor and the one at it, put together again around each `=`."""
        words, incomplete = super().get_completion_args()
        joined: list[str] = []
        for word in [*words, incomplete]:
            if joined and (word.startswith("=") or (joined[-1].endswith("=") and word)):
                joined[-1] += word
            else:
                joined.append(word)
        self.before = joined[-1][: joined[-1].rfind("=") + 1]
        return joined[:-1], joined[-1]

    def format_completion(self, item: "CompletionItem[Any]") -> str:
        """Leave out what stands before the last `=` already, and put a backslash before what bash would obey."""
        value = str(item.value).removeprefix(self.before)
        return f"{item.type}," + re.sub(r"([^\w@%+=:,./-])", r"\\\1", value)


class Whole(ShellComplete):
    """Completion for shells that replace the whole word, `--rules=` too."""

    def get_completions(self, args: list[str], incomplete: str) -> "list[CompletionItem[str]]":
        """Return what fits, with the option in front that stands in the same word."""
        option = incomplete.partition("=")[0] + "=" if incomplete.startswith("--") and "=" in incomplete else ""
        found = super().get_completions(args, incomplete)
        for item in found:
            if item.type == "plain":
                item.value = option + item.value
        return found


class Zsh(Whole, ZshComplete):
    """Completion for zsh."""


class Fish(Whole, FishComplete):
    """Completion for fish, with values that have a comma."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split --max 1 ","')


def add() -> None:
    """Make click use these."""
    for shell in (Bash, Zsh, Fish):
        add_class(shell)
