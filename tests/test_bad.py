"""Bad input: each file in `bad/` is a case, and what it must be answered with, word for word.

A file has a line that says what is wrong, indented commands of which the last is the bad one, and the exit code with
the one line on stderr; `< FILE` is what the bad one reads on standard input. Whatever it is, it writes nothing.
"""

import os
import shlex
from pathlib import Path

import pytest
from bad_files import prepare

from tenklog import cli, files

CASES = sorted(Path(__file__).parent.glob("bad/*.txt"))


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder; lock files are no content."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".lock"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found if path.name != "huge.jsonl"}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_bad_input_gets_its_line_and_its_exit_code_and_writes_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENKLOG_HOME", "home")
    text = path.read_text(encoding="utf-8")
    prepare(tmp_path, text)
    commands = [shlex.split(line) for line in text.splitlines() if line.startswith("    ")]
    code, _, message = text.splitlines()[-1].partition(" ")
    for command in commands[:-1]:
        assert cli.run(command[1:]) == 0, (command, capsys.readouterr().err)
    capsys.readouterr()
    before = tree(tmp_path)
    words = commands[-1][1:]
    typed = words.pop() if "<" in words else os.devnull
    with files.Lock(tmp_path / "busy.jsonl", 0), Path(typed).open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        found = cli.run([word for word in words if word != "<"])
    out, err = capsys.readouterr()
    assert (found, err.replace(f"{tmp_path}/", "")) == (int(code), message + "\n")
    assert out == "" or words[0] == "play"  # which shows the game before it asks
    assert tree(tmp_path) == before
