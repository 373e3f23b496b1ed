"""Bad input: each file in `bad/` is a case, and what it must be answered with, word for word.

A file has a line that says what is wrong, indented commands of which the last is the bad one, and the exit code with
the one line on stderr. Whatever the bad command is, it writes nothing.
"""

import os
import shlex
from pathlib import Path

import pytest

from tenklog import cli, events, files, store
from tenklog.rules import preset

CASES = sorted(Path(__file__).parent.glob("bad/*.txt"))


# Score sheets, the head of the table aside.
SHEETS = {
    "impossible": "1,1000,1005\n2,300,350\n",
    "cell": "1,1000,1050\n2,3oo,350\n",
    "empty": "1,1000,1050\n2,,350\n3,500,0\n",
    "sum": "1,1000,1050\n2,300,350\nTotal,1300,1450\n",
    "penalty": "1,1000,1050\n2,-500,350\n",
    "long": "1,1000,1050\n2,300,350,400\n",
    "over": "1,10000,1050\n2,300,350\n",
    "round": "1,1000,1050\n2,0,350\n4,300,350\n",
    "quote": '1,1000,1050\n2,"300,350\n',
    "opening": "1,700,1050\n2,300,350\n",
    "twice": "1,1000,1050\n",
}
# Hand-written logs that are a start and one line more.
SECOND_LINES = {
    "spin": '{"type":"spin","seq":2,"wheel":7}',
    "mood": '{"type":"note","seq":2,"text":"hey","mood":1}',
    "twice": '{"type":"note","seq":2,"seq":2,"text":"hey"}',
    "gap": '{"type":"note","seq":3,"text":"hey"}',
    "again": '{"type":"start","seq":2,"game":"again","version":1,"players":["Anna"],"rules":RULES,"origin":"import"}',
    "yesterday": '{"type":"note","seq":2,"time":"yesterday","text":"hey"}',
    "half": '{"type":"bank","seq":2,"player":"Anna","points":350.5}',
    "endless": '{"type":"note","seq":2,"text":' + "[" * 2000 + "]" * 2000 + "}",
    "long": '{"type":"note","seq":2,"text":"' + "x" * 70_000 + '"}',
    "cheat": '{"type":"keep","seq":2,"player":"Anna","dice":[1]}',
    "decomposed": '{"type":"join","seq":2,"player":"Zoe\\u0308"}',
    "nothing-undone": '{"type":"undo","seq":2,"of":1}',
    "settled": '{"type":"bank","seq":2,"player":"Anna","points":0,"settled":true}',
    "false": '{"type":"keep","seq":2',
}
# Files of a home's own that are wrong, each in a home of its name.
HOMES = {
    "two-people": ("people.toml", b'Anna = ["Annie"]\nBen = ["Annie"]\n'),
    "no-list": ("people.toml", b'Anna = "Annie"\n'),
    "no-toml": ("people.toml", b"Anna\n"),
    "no-text": ("people.toml", b"\xff\xfe"),
    "same-report": ("queries/leaderboard.sql", b"SELECT 1"),
    "latin-report": ("queries/mine.sql", b"SELECT '\xe9'"),
    "no-manifest": ("archive/manifest.json", b"{}"),
    "newer-manifest": ("archive/manifest.json", b'{"format":2,"parts":[]}'),
    "stray-file": ("archive/games-00000000000000000000000000000000.parquet", b""),
    "gone": ("current", b"evening\n"),
}


def prepare(folder: Path) -> None:
    """Put things where a log is due that are none, and logs that no reader takes."""
    for name, (file, data) in HOMES.items():
        (folder / name / file).parent.mkdir(parents=True)
        (folder / name / file).write_bytes(data)
    for name, line in SECOND_LINES.items():
        start = events.Start(1, game=name, version=1, players=("Anna",), rules=preset("farkle"), origin="import")
        text = events.encode(start).decode()
        rules = text[text.index('"rules":') + 8 : text.index(',"origin"')]
        (folder / f"{name}.jsonl").write_text(f"{text}\n{line.replace('RULES', rules)}\n", encoding="utf-8")
    for name in ("busy", "damaged", "twin"):
        start = events.Start(1, game=name, version=1, players=("Anna",), rules=preset("farkle"), origin="table")
        store.write_log(folder / f"{name}.jsonl", [start])
    path = folder / "damaged.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Anna", b"Bnna"))
    (folder / "twin.log").hardlink_to(folder / "twin.jsonl")
    (folder / "empty.jsonl").touch()
    with (folder / "huge.jsonl").open("wb") as huge:
        huge.truncate(1 << 30)
    (folder / "latin.sql").write_bytes(b"SELECT '\xe9'")
    (folder / "long.toml").write_text("#" * 70_000)
    (folder / "latin.toml").write_bytes(b"title = '\xe9'\n")
    many = "".join(f'c{number} = {{ dice = "1", points = 50 }}\n' for number in range(200))
    (folder / "many.toml").write_text(f"[scoring]\n{many}")
    (folder / "folder.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to("missing-target.jsonl")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "newer.jsonl").write_text('{"type":"start","seq":1,"game":"newer","version":2,"hologram":true}\n')
    (folder / "unsealed.jsonl").write_bytes(
        events.encode(
            events.Start(1, game="unsealed", version=1, players=("Anna",), rules=preset("farkle"), origin="import")
        )
        + b"\n"
    )
    (folder / "poem.jsonl").write_text("Roses are red\n")
    (folder / "poem.csv").write_text("Roses are red\n")
    (folder / "turn.txt").write_text("players: Anna, Ben\nrules: ten-thousand\n\nAnna: 133446/1 =300\n")
    for name, text in SHEETS.items():
        head = "Round,Anna,Anna\n" if name == "twice" else "Round,Anna,Ben\n"
        (folder / f"{name}.csv").write_text(head + text)
    (folder / "shadow" / "rules").mkdir(parents=True)
    (folder / "shadow" / "rules" / "zilch.toml").write_text('based_on = "farkle"\n')
    (folder / "circle.toml").write_text('based_on = "./circle.toml"\n')
    (folder / "crlf.jsonl").write_bytes(b'{"type":"note","seq":1,"text":"a","h":"' + b"0" * 32 + b'"}\r\n')
    (folder / "bom.jsonl").write_bytes(b'\xef\xbb\xbf{"type":"note","seq":1,"text":"a"}\n')
    (folder / "field.toml").write_text('name = "field"\ntraget = 5000\n')
    (folder / "broken.toml").write_text("name = \n")


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
    prepare(tmp_path)
    text = path.read_text(encoding="utf-8")
    commands = [shlex.split(line) for line in text.splitlines() if line.startswith("    ")]
    code, _, message = text.splitlines()[-1].partition(" ")
    for command in commands[:-1]:
        assert cli.run(command[1:]) == 0, (command, capsys.readouterr().err)
    capsys.readouterr()
    before = tree(tmp_path)
    with files.Lock(tmp_path / "busy.jsonl", 0):
        found = cli.run(commands[-1][1:])
    out, err = capsys.readouterr()
    assert (found, err) == (int(code), message + "\n")
    assert out == ""
    assert tree(tmp_path) == before
