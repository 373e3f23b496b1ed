"""Completion in shells: what is offered where, and that no name from a log becomes more than a word."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from tenklog import cli
from tenklog.cli.complete import Completed
from tenklog.cli.shells import Bash, Fish

HOSTILE = (
    "Anna Lee",
    "Eve $(touch pwned) `touch pwned`",
    "x,y; touch pwned",
    "*",
    "a'b\"c\\d",
    "-ben",
    "山本 花子",
    "&|<>#!~",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return a home with two games and a ruleset of one's own; the second game is the current one."""
    monkeypatch.setenv("TENKLOG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TENKLOG_GAME", raising=False)
    monkeypatch.chdir(tmp_path)
    for line in (
        ["new", *HOSTILE, "-g", "hostile"],
        ["new", "Anna", "Ben", "-g", "friday"],
        ["leave", "Ben"],
        ["undo"],
    ):
        assert cli.run(line) == 0
    rules = tmp_path / "home" / "rules"
    rules.mkdir()
    (rules / "zz-ours.toml").write_text('based_on = "zilch"\ntitle = "Ours"\n')
    (rules / "zz-broken.toml").write_text("nonsense")
    games = tmp_path / "home" / "games"
    (games / "broken.jsonl").write_text("Roses are red\n")
    os.mkfifo(games / "pipe.jsonl")
    capsys.readouterr()
    return tmp_path / "home"


def offered(*words: str) -> list[str]:
    """Return what is offered for the last word."""
    shell = ShellComplete(cli.cli, {}, "tenklog", "_TENKLOG_COMPLETE")
    return [one.value for one in shell.get_completions(list(words[:-1]), words[-1]) if one.type == "plain"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cha"], ["challenge", "change"]),
        (["rules", "s"], ["show"]),
        (["show", "f"], ["friday"]),
        (["show", ""], ["broken", "friday", "hostile", "pipe"]),
        (["bank", "-g", "h"], ["hostile"]),
        (["replay", "friday", "h"], ["hostile"]),
        (["check", "h"], ["hostile"]),
        (["use", "fri"], ["friday"]),
        (["play", "-g", "fri"], ["friday"]),
        (["leave", ""], ["Anna", "Ben"]),
        (["challenge", "B"], ["Ben"]),
        (["rename", "B"], ["Ben"]),
        (["leave", "-g", "hostile", "An"], ["Anna Lee"]),
        (["expect", "Ann"], ["Anna=", "Anna=-"]),
        (["stats", "--player", "B"], ["Ben"]),
        (["new", "--rules", "zilch"], ["zilch", "zilch-10000", "zilch-5000"]),
        (["new", "--rules", "zz"], ["zz-ours"]),
        (["rules", "diff", "zilch", "kin"], ["kingdom-come"]),
        (["replay", "friday", "--rules", "rec"], ["recorded"]),
        (["show", "--rules", "rec"], []),
        (["change", "bank"], ["bank_minimum=0", "bank_minimum=300", "bank_minimum=350", "bank_minimum=500"]),
        (["change", "reach="], ["reach=at-least", "reach=more-than", "reach=exactly"]),
        (["change", "negative_totals=t"], ["negative_totals=true"]),
        (["new", "Anna", "--set", "three_pairs=30"], ["three_pairs=300", "three_pairs=3000"]),
        (["change", "four_of_a_kind="], ["four_of_a_kind=0", "four_of_a_kind=100A", "four_of_a_kind=200A"]),
        (["change", "last_die_"], ["last_die_rolls=", "last_die_bonus=", "last_die_step="]),
        (["nonsense", "x"], []),
        (["leave", "-g", "nonsense", ""], []),
        (["leave", "-g", "broken", ""], []),
    ],
)
def test_what_fits_is_offered(home: Path, words: list[str], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_a_new_game_is_offered_everybody_who_has_played(home: Path) -> None:
    assert sorted(offered("new", "")) == sorted({*HOSTILE, "Anna", "Ben"})


def test_who_has_left_is_offered_no_more(home: Path) -> None:
    assert cli.run(["leave", "Ben"]) == 0
    assert offered("leave", "") == ["Anna"]


def test_every_offered_setting_can_be_set(home: Path) -> None:
    keys = [one.rstrip("=") for one in offered("change", "") if one.endswith("=")]
    assert {"dice", "target", "straight", "tie"} <= {*keys}
    for key in keys:
        values = offered("change", f"{key}=")
        assert len(values) >= 2, key  # with one alone a shell would put a blank behind `key=`
        for value in values:
            assert cli.run(["rules", "show", "diecimila-free", "--set", value, "--json"]) == 0, value


def test_a_path_is_completed_by_the_shell(home: Path) -> None:
    shell = ShellComplete(cli.cli, {}, "tenklog", "_TENKLOG_COMPLETE")
    for words, kind in ((["show"], "file"), (["rules", "check"], "file"), (["simulate", "--into"], "dir")):
        assert [one.type for one in shell.get_completions(words, "./")] == [kind]


def parameters() -> list[tuple[str, click.Parameter]]:
    found = []
    for name in cli.COMMANDS:
        command = cli.cli.get_command(click.Context(cli.cli), name)
        parts = list(command.commands.values()) if isinstance(command, click.Group) else [command]
        found += [(name, one) for part in parts if part is not None for one in part.params]
    return found


def test_every_game_player_ruleset_and_setting_is_completed() -> None:
    kinds = ("GAME", "PLAYER", "R", "K=V")
    seen = set()
    for name, parameter in parameters():
        metavar = (parameter.metavar or "").strip("[].").removesuffix("=TOTAL")
        if metavar in kinds:
            seen.add(metavar)
            assert isinstance(parameter.type, Completed), (name, parameter.name)
    assert seen == {*kinds}


def test_to_complete_a_command_no_command_is_loaded(home: Path) -> None:
    code = "import sys, tenklog.cli as cli\ntry: cli.run()\nexcept SystemExit: print(*sys.modules)"
    env = os.environ | {"_TENKLOG_COMPLETE": "zsh_complete", "COMP_WORDS": "tenklog ro", "COMP_CWORD": "1"}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert out.startswith("plain\nroll\n")
    assert not {"tenklog.cli.record", "tenklog.cli.stats", "duckdb"} & {*out.split()}


# -- real shells ------------------------------------------------------------------------------------------------------


def test_the_scripts_of_click_still_have_what_is_mended_in_them() -> None:
    assert "IFS=',' read -r type value" in Bash.source_template
    assert 'COMPREPLY+=("$value")' in Bash.source_template
    assert 'string split --max 1 ","' in Fish.source_template


def bash(home: Path, *words: str) -> list[str]:
    """Return what bash would insert for the last word, as it splits words itself."""
    (home / "bin").mkdir(exist_ok=True)
    script = home / "bin" / "tenklog"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tenklog "$@"\n')
    script.chmod(0o755)
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    code = (
        'eval "$(_TENKLOG_COMPLETE=bash_source tenklog)"; compopt() { :; }; '
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _tenklog_completion tenklog; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    env = os.environ | {"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "--norc", "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@needs_bash
def test_in_bash_every_name_arrives_as_one_word_that_is_not_run(home: Path, tmp_path: Path) -> None:
    replies = bash(home, "tenklog", "leave", "-g", "hostile", "")
    code = "\n".join(["set -f", *(f'printf "%s\\n" {reply}' for reply in replies)])
    done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == list(HOSTILE)
    assert not (tmp_path / "pwned").exists()


@needs_bash
@pytest.mark.parametrize(
    ("words", "replies"),
    [
        (["change", "reach", "="], ["at-least", "more-than", "exactly"]),
        (["change", "reach", "=", "m"], ["more-than"]),
        (["change", "challenge_penalties", "=", "6"], ["600,2000"]),
        (["new", "--rules", "=", "zilch-1"], ["zilch-10000"]),
        (["new", "--rules", "zilch-1"], ["zilch-10000"]),
        (["show", "fri"], ["friday"]),
        (["leave", "-g", "hostile", "Anna\\ L"], ["Anna\\ Lee"]),
    ],
)
def test_in_bash_an_equals_sign_ends_a_word(home: Path, words: list[str], replies: list[str]) -> None:
    assert bash(home, "tenklog", *words) == replies


@pytest.mark.parametrize(
    ("shell", "words", "found"),
    [
        ("zsh", "tenklog new --rules=zilch-1", "--rules=zilch-10000"),
        ("fish", "tenklog new --rules=zilch-1", "--rules=zilch-10000"),
        ("fish", "tenklog change challenge_penalties=6", "challenge_penalties=600,2000"),
        ("zsh", "tenklog change challenge_penalties=6", "challenge_penalties=600,2000"),
        ("zsh", "tenklog show fri", "friday"),
    ],
)
def test_other_shells_replace_the_whole_word(home: Path, shell: str, words: str, found: str) -> None:
    *before, last = words.split()
    cword = str(len(before)) if shell == "zsh" else last
    env = os.environ | {"_TENKLOG_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": cword}
    done = subprocess.run([sys.executable, "-m", "tenklog"], env=env, capture_output=True, text=True, check=True)
    answer = done.stdout.splitlines()
    assert (answer[1] if shell == "zsh" else answer[0].removeprefix("plain,").partition("\t")[0]) == found
