"""`play` at a real terminal: driven by keys through a pseudo-terminal and in tmux, and killed at its prompts.

With TENKLOG_LONG=1 it is killed at many moments after an entry too, while that is being recorded.
"""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Protocol

import pytest

from tenklog import cli

LONG = bool(os.environ.get("TENKLOG_LONG"))
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")

NEW = ["Player 1", "Player 2", "--rules", "ten-thousand", "-g", "example"]
# The first documented game: what is typed for each decision, the command for it, and the prompt that follows.
GAME = [
    ("133446", "roll 133446", "Player 1, keep> "),
    ("1", "keep 1", "Player 1, roll or bank> "),
    ("22234", "roll 22234", "Player 1, keep> "),
    ("222", "keep 222", "Player 1, roll or bank> "),
    ("55", "roll 55", "Player 1, keep> "),
    ("55", "keep 55", "Player 1, roll or bank> "),
    ("223446", "roll 223446", "Player 2, roll> "),
    ("555244", "roll 555244", "Player 2, keep> "),
    ("555", "keep 555", "Player 2, roll or bank> "),
    ("123", "roll 123", "Player 2, keep> "),
    ("1", "keep 1", "Player 2, roll or bank> "),
    ("b", "bank", "Player 1, roll> "),
]

# Makes the pseudo-terminal the one that Ctrl-C of it reaches.
LAUNCH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"


class Terminal(Protocol):
    """A terminal in which a process of `tenklog` runs and somebody types."""

    typed: int

    def begin(self, *args: str) -> None: ...
    def keys(self, text: str) -> None: ...
    def until(self, *words: str) -> str: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...


def waiting(seconds: float = 30) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.02)


class Pty:
    """A pseudo-terminal of this process: what is on it is all that was written to it."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env | {"PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process: subprocess.Popen[bytes] | None = None
        self.typed = 0
        self.fd = -1
        self.text = ""

    def begin(self, *args: str) -> None:
        import fcntl
        import struct
        import termios

        self.close()
        self.fd, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.text = ""
        line = [sys.executable, "-c", LAUNCH, sys.executable, "-m", "tenklog", *args]
        self.process = subprocess.Popen(
            line, stdin=slave, stdout=slave, stderr=slave, env=self.env, start_new_session=True
        )
        os.close(slave)

    def keys(self, text: str) -> None:
        self.typed += len(text)
        self.text = ""
        os.write(self.fd, text.encode())

    def until(self, *words: str) -> str:
        for _ in waiting():
            while select.select([self.fd], [], [], 0)[0]:
                try:
                    self.text += os.read(self.fd, 1 << 16).decode("utf-8", "replace")
                except OSError:  # the other side is closed
                    break
            # The blank at the end of a prompt is a movement of the cursor.
            if all(word.rstrip() in self.text for word in words):
                return self.text
        raise AssertionError((words, self.text))

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def wait(self) -> int:
        assert self.process is not None
        return self.process.wait(30)

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            os.close(self.fd)
            self.process = None


class Tmux:
    """A pane of a tmux server of its own: what is on it is what a person sees."""

    def __init__(self, env: dict[str, str], socket: Path) -> None:
        self.env, self.socket = env, socket
        self.typed = 0
        self.running = False

    def tmux(self, *args: str) -> str:
        line = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *args]
        done = subprocess.run(line, env=self.env, capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0, done
        return done.stdout

    def begin(self, *args: str) -> None:
        import shlex

        line = shlex.join([sys.executable, "-m", "tenklog", *args])
        if self.running:
            self.tmux("respawn-pane", "-k", "-t", "play", f"exec {line}")
            return
        # The first window keeps the server alive whatever happens in the second.
        self.tmux("new-session", "-d", "-x", "80", "-y", "24", "-s", "play", f"exec {line}")
        self.tmux("set-option", "-t", "play", "remain-on-exit", "on")
        self.running = True

    def keys(self, text: str) -> None:
        self.typed += len(text)
        for part in re.split("(\r)", text):
            if part:
                self.tmux("send-keys", "-t", "play", *(["Enter"] if part == "\r" else ["-l", "--", part]))

    def seen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "play")

    def until(self, *words: str) -> str:
        seen = ""
        for _ in waiting():
            seen = self.seen()
            if all(word.rstrip() in seen for word in words):
                return seen
        raise AssertionError((words, seen))

    def kill(self) -> None:
        pid = int(self.tmux("display-message", "-p", "-t", "play", "#{pane_pid}"))
        os.kill(pid, signal.SIGKILL)
        for _ in waiting():
            if self.tmux("display-message", "-p", "-t", "play", "#{pane_dead}").strip() == "1":
                return
        raise AssertionError("it lives")

    def close(self) -> None:
        if self.running:
            self.tmux("kill-server")
            self.running = False


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    left_out = ("TENKLOG_GAME", "TMUX", "TMUX_PANE", "NO_COLOR")
    kept = {key: value for key, value in os.environ.items() if key not in left_out}
    return kept | {"TENKLOG_HOME": str(tmp_path / "home"), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}


@pytest.fixture
def pseudo(env: dict[str, str]) -> Iterator[Pty]:
    found = Pty(env)
    yield found
    found.close()


@pytest.fixture(params=["pty", "tmux"])
def terminal(request: pytest.FixtureRequest, env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    if request.param == "tmux" and shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    found: Terminal = Pty(env) if request.param == "pty" else Tmux(env, tmp_path_factory.mktemp("t") / "s")
    yield found
    found.close()


def log(home: Path) -> list[Any]:
    """Return the events of the game, times and hashes aside."""
    path = home / "games" / "example.jsonl"
    lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
    return [{key: value for key, value in json.loads(line).items() if key not in ("time", "h")} for line in lines]


def recorded(home: Path, count: int) -> None:
    for _ in waiting():
        if len(log(home)) == count:
            return
    raise AssertionError((count, log(home)))


@pytest.fixture
def single(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[list[Any]]:
    """Return the game as typed by single commands: the log after `new`, and after each of them."""
    other = tmp_path / "other"
    found = []
    for line in (["new", *NEW], *(command.split() for _, command, _ in GAME)):
        assert cli.run(["--home", str(other), *line]) == 0
        found.append(log(other))
    capsys.readouterr()
    return found


def test_killed_at_each_of_its_prompts_the_documented_game_is_the_one_of_single_commands(
    terminal: Terminal, single: list[list[Any]], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    prompt = "Player 1, roll> "
    terminal.begin("play", *NEW)
    for number, (typed, command, following) in enumerate(GAME):
        terminal.until(prompt)
        assert log(home) == single[number]
        terminal.keys(typed)
        terminal.until(*typed)  # it stands at the prompt, whole or in parts, and nobody has pressed Enter
        terminal.kill()
        assert log(home) == single[number]
        terminal.begin("play")
        terminal.until(prompt)
        before = terminal.typed
        terminal.keys(f"{typed}\r")
        digits = sum(one.isdigit() for one in command)
        assert terminal.typed - before <= digits + 2, command
        recorded(home, len(single[number + 1]))
        prompt = following
    terminal.until(prompt)
    terminal.kill()
    terminal.begin("play")
    terminal.until(prompt)
    assert log(home) == single[-1]


def test_the_documented_game_takes_at_most_two_keys_beside_the_dice(
    pseudo: Pty, single: list[list[Any]], tmp_path: Path
) -> None:
    pseudo.begin("play", *NEW)
    pseudo.until("Player 1, roll> ")
    for typed, _, following in GAME:
        pseudo.keys(f"{typed}\r")
        pseudo.until(following)
    assert log(tmp_path / "home") == single[-1]
    digits = sum(one.isdigit() for _, command, _ in GAME for one in command)
    assert pseudo.typed <= digits + 2 * len(GAME)
    pseudo.keys("\x04")
    pseudo.until("example is kept as it stands; `tenklog play` goes on with it.")
    assert pseudo.wait() == 0


@pytest.mark.skipif(not LONG, reason="TENKLOG_LONG=1")
@pytest.mark.parametrize("seed", range(6))
def test_killed_while_it_records_an_entry_is_whole_or_not_there(
    pseudo: Pty, single: list[list[Any]], tmp_path: Path, seed: int
) -> None:
    home, chance, prompt = tmp_path / "home", Random(seed), "Player 1, roll> "
    pseudo.begin("play", *NEW)
    pseudo.until(prompt)
    for number, (typed, _, following) in enumerate(GAME):
        while len(log(home)) == len(single[number]):
            pseudo.keys(f"{typed}\r")
            time.sleep(chance.random() * 0.5)
            pseudo.kill()
            pseudo.begin("play")
            pseudo.until(prompt if len(log(home)) == len(single[number]) else following)
        assert log(home) == single[number + 1]
        prompt = following


# -- keys and what is seen --------------------------------------------------------------------------------------------


def test_ctrl_c_cancels_the_line_and_ctrl_d_leaves(pseudo: Pty, tmp_path: Path) -> None:
    pseudo.begin("play", *NEW)
    pseudo.until("Player 1, roll> ")
    pseudo.keys("13344")
    pseudo.until("1", "3", "4")
    pseudo.keys("\x03")
    pseudo.until("Player 1, roll> ")
    pseudo.keys("\r")
    pseudo.keys("133446\r")
    pseudo.until("Keep 1 (100).", "Player 1, keep> ")
    assert len(log(tmp_path / "home")) == 2
    pseudo.keys("\x04")
    pseudo.until("goes on with it.")
    assert pseudo.wait() == 0


def test_tab_completes_names_as_one_word(pseudo: Pty, tmp_path: Path) -> None:
    pseudo.begin("play", *NEW)
    pseudo.until("Player 1, roll> ")
    pseudo.keys("rename Player\t")
    pseudo.until("'Player 1'", "'Player 2'")
    pseudo.keys("\x15rename 'Player 1' Anna\r")
    pseudo.until("Anna, roll> ")
    pseudo.keys("leave A\t")
    pseudo.until("leave A", "nna")
    pseudo.keys("\r")
    pseudo.until("Anna leaves.", "Player 2, roll> ")


def test_nothing_is_told_by_colour(pseudo: Pty) -> None:
    pseudo.begin("play", *NEW, "--advise")
    seen = pseudo.until("Player 1, roll> ")
    pseudo.keys("133446\r")
    seen += pseudo.until("Player 1, keep> ")
    codes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", seen) for code in found.split(";") if code}
    assert codes <= {"0", "1", "7"}


def test_the_dice_are_drawn_with_signs_that_the_terminal_has(pseudo: Pty) -> None:
    pseudo.begin("play", *NEW)
    pseudo.until("Player 1, roll> ")
    pseudo.keys("133446\r")
    assert "●" in pseudo.until("Player 1, keep> ")
    pseudo.close()
    pseudo.env |= {"PYTHONIOENCODING": "latin-1"}
    pseudo.begin("play")
    seen = pseudo.until("Player 1, keep> ")
    assert "●" not in seen
    assert "|o   o|" in seen


def test_what_others_record_shows_at_the_prompt_and_no_lock_is_held_there(
    pseudo: Pty, env: dict[str, str], tmp_path: Path
) -> None:
    pseudo.begin("play", *NEW)
    pseudo.until("Player 1, roll> ")
    home = str(tmp_path / "home")
    assert cli.run(["--home", home, "roll", "133446", "--timeout", "0"]) == 0
    pseudo.until("Player 1 has thrown 1 3 3 4 4 6", "Player 1, keep> ")
    pseudo.keys("1\r")
    pseudo.until("Recorded meanwhile:", "Player 1 keeps 1 for 100")


def test_a_window_that_changes_its_size_keeps_the_prompt_and_no_line_is_cut(
    env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    terminal = Tmux(env, tmp_path_factory.mktemp("t") / "s")
    try:
        terminal.begin("play", *NEW)
        terminal.until("Player 1, roll> ")
        terminal.keys("155266\r")
        terminal.until("●", "Player 1, keep> ")
        for columns, rows in ((50, 16), (30, 10), (100, 40), (80, 24)):
            terminal.tmux("resize-window", "-t", "play", "-x", str(columns), "-y", str(rows))
            seen = terminal.until("Player 1, keep> ", "(50).", "?? keys" if columns > 30 else "a keep all")
            assert ("●" in seen) == (columns > 47)
    finally:
        terminal.close()


def test_a_game_is_begun_by_answering_who_plays(pseudo: Pty, tmp_path: Path) -> None:
    pseudo.begin("play")
    pseudo.until("Who plays (in the order in which they sit)? ")
    pseudo.keys("\r")
    pseudo.until("Who plays (in the order in which they sit)? ")
    pseudo.keys("Anna Lee, Ben\r")
    pseudo.until("By which rules (tiotusen)? ")
    pseudo.keys("nonsense\r")
    pseudo.until("unknown ruleset", "Who plays")
    pseudo.keys("Anna Lee, Ben\r")
    pseudo.until("By which rules (tiotusen)? ")
    pseudo.keys("\r")
    pseudo.until("Anna Lee, roll> ")
    assert len(list((tmp_path / "home" / "games").glob("*.jsonl"))) == 1


def test_after_a_game_the_same_players_may_go_on_with_another(pseudo: Pty, tmp_path: Path) -> None:
    for line in (["new", "Anna", "Ben", "--rules", "zilch-5000", "-g", "friday"], ["abandon"]):
        assert cli.run(["--home", str(tmp_path / "home"), *line]) == 0
    pseudo.begin("play")
    pseudo.until("Who plays (Anna Ben)? ")
    pseudo.keys("\r")
    pseudo.until("By which rules (zilch-5000)? ")
    pseudo.keys("\r")
    pseudo.until("Anna, roll> ", "zilch-5000")


# -- without the library, or a screen ---------------------------------------------------------------------------------


@pytest.fixture(params=["missing", "dumb"])
def bare(request: pytest.FixtureRequest, pseudo: Pty, tmp_path: Path) -> Pty:
    if request.param == "dumb":
        pseudo.env["TERM"] = "dumb"
    else:
        (tmp_path / "without").mkdir()
        (tmp_path / "without" / "prompt_toolkit.py").write_text("raise ImportError\n")
        pseudo.env["PYTHONPATH"] = str(tmp_path / "without")
    return pseudo


def test_without_a_screen_the_prompt_takes_lines(bare: Pty, single: list[list[Any]], tmp_path: Path) -> None:
    bare.begin("play", *NEW)
    seen = bare.until("Player 1, roll> ")
    assert ("tenklog[play]" in seen) == ("PYTHONPATH" in bare.env)
    bare.keys("4\r")
    bare.until("1 die rolled, 6 are to be thrown", "Player 1, roll> ")
    bare.keys("133\x03")
    bare.until("^C\r\nPlayer 1, roll> ")
    for typed, _, following in GAME:
        bare.keys(f"{typed}\r")
        bare.until(following)
    assert log(tmp_path / "home") == single[-1]
    bare.keys("\x04")
    bare.until("\r\nexample is kept as it stands; `tenklog play` goes on with it.")
    assert bare.wait() == 0
