"""What the cases of `bad/` find in their folder: logs that no reader takes, sheets, texts, homes, and what is no file.

`prepare` puts there what a case speaks of.
"""

import hashlib
import os
import re
from pathlib import Path

from msgspec import json

from tenklog import archive, events, lines
from tenklog.rulebook import preset
from tenklog.tables import TABLES


def _start(game: str, rules: str = "farkle", origin: str = "import") -> bytes:
    start = events.Start(1, game=game, version=1, players=("Anna",), rules=preset(rules), origin=origin)  # type: ignore[arg-type]
    return events.encode(start)


def _sealed(line: bytes) -> bytes:
    return lines.chain([line])[0] + b"\n"


# Hand-written logs that are a start and some lines more.
MORE_LINES = {
    "spin": '{"type":"spin","seq":2,"wheel":7}',
    "mood": '{"type":"note","seq":2,"text":"hey","mood":1}',
    "twice": '{"type":"note","seq":2,"seq":2,"text":"hey"}',
    "gap": '{"type":"note","seq":3,"text":"hey"}',
    "again": _start("again").decode().replace('"seq":1', '"seq":2'),
    "yesterday": '{"type":"note","seq":2,"time":"yesterday","text":"hey"}',
    "half": '{"type":"bank","seq":2,"player":"Anna","points":350.5}',
    "endless": '{"type":"note","seq":2,"text":' + "[" * 2000 + "]" * 2000 + "}",
    "deeper": '{"mood":' + "[" * 30_000 + "]" * 30_000 + ',"type":"note"}',
    "long": '{"type":"note","seq":2,"text":"' + "x" * 70_000 + '"}',
    "cheat": '{"type":"keep","seq":2,"player":"Anna","dice":[1]}',
    "decomposed": '{"type":"join","seq":2,"player":"Zoe\\u0308"}',
    "nothing-undone": '{"type":"undo","seq":2,"of":1}',
    "undone": '{"type":"bank","seq":2,"player":"Anna","points":400}\n{"type":"undo","seq":3,"of":1}',
    "settled": '{"type":"bank","seq":2,"player":"Anna","points":0,"settled":true}',
    "false": '{"type":"keep","seq":2',
    "timed": '{"type":"note","seq":2,"time":"2026-11-29T20:15:00.000Z","text":"hey"}',
    "unknown-rule": '{"type":"rule-change","seq":2,"changes":{"traget":5000},"scope":"next-turn"}',
    "changed": "\n".join(
        f'{{"type":"rule-change","seq":{seq},"changes":{{"target":9000}},"scope":"whole-game"}}'
        for seq in range(2, 203)
    ),
}
ASIDE = (
    '{"type":"roll","seq":2,"player":"Anna","dice":[1,1,3,3,4,6]}\n{"type":"keep","seq":3,"player":"Anna","dice":[1,1]}'
)
# Hand-written logs of one line, in which something else stands.
OTHER_STARTS = {
    "late-start": (b'"seq":1', b'"seq":2'),
    "stranger": (b'"players"', b'"first_throw":{"Ben":[6]},"players"'),
    "no-original": (b'"origin":"import"', b'"origin":"replay"'),
    "no-six": (b'"six_of_a_kind":', b'"sixes":'),
}
LOGS = {
    **{name: _start(name) + f"\n{lines}\n".encode() for name, lines in MORE_LINES.items()},
    **{name: _start(name).replace(old, new) + b"\n" for name, (old, new) in OTHER_STARTS.items()},
    "no-aside": _start("no-aside", "diecimila") + f"\n{ASIDE}\n".encode(),
    "unsealed": _start("unsealed") + b"\n",
    "unfinished": _start("unfinished") + b'\n{"type":"note","se',
    "busy": _sealed(_start("busy", origin="table")),
    "twin": _sealed(_start("twin", origin="table")),
    "damaged": _sealed(_start("damaged", origin="table")).replace(b"Anna", b"Bnna"),
    "moved": _sealed(_start("elsewhere")),
    "spaced": _sealed(_start("spaced").replace(b'"seq":1', b'"seq": 1')),
    "start-less": b'{"type":"note","seq":1,"text":"hey"}\n',
    "newer": b'{"type":"start","seq":1,"game":"newer","version":2,"hologram":true}\n',
    "crlf": b'{"type":"note","seq":1,"text":"a","h":"' + b"0" * 32 + b'"}\r\n',
    "bom": b'\xef\xbb\xbf{"type":"note","seq":1,"text":"a"}\n',
    "poem": b"Roses are red\n",
    "empty": b"",
}
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
}
# Texts of a heading and the one line.
LINES = {
    "no-turn": "Anna:",
    "no-change": "change: whole-game",
    "expect-twice": "expect: Anna=0, Anna=0",
    "no-arrow": "rename: Anna Cara",
    "ended": "Anna: =500 =500",
    "no-dice": "Anna: =",
    "no-part": "Anna: pass",
    "nobody-challenged": "Anna: challenge",
    "name-sign": "join: Ca=ra",
    "no-number": "Anna: =five",
    "letters": "Anna: 133446/x",
    "no-keep": "Anna: 133446/",
    "seven": "Anna: 1334467",
    "many-dice": "Anna: 1334461",
    "quotes": 'note: "it rains',
    "no-value": "expect: Anna",
    "setting-twice": "change: target=5000 target=6000",
    "late-bust": "Anna: 223446/2",
    "beyond": "Ben: =500",
}
# Games in other forms, entries typed at a prompt, rulesets, questions, reports and what else a home has.
TEXTS = {
    **{f"{name}.csv": f"Round,Anna,Ben\n{rows}" for name, rows in SHEETS.items()},
    **{f"{name}.txt": f"players: Anna, Ben\nrules: farkle\n{line}\n" for name, line in LINES.items()},
    "twice.csv": "Round,Anna,Anna\n1,1000,1050\n",
    "poem.csv": "Roses are red\n",
    "blank.csv": "\n",
    "nameless.csv": "Total\n",
    "wide.csv": "," * 100_000 + "x\n",
    "huge.csv": "x" * ((1 << 20) + 1),
    "turn.txt": "players: Anna, Ben\nrules: ten-thousand\n\nAnna: 133446/1 =300\n",
    "remark.txt": "# Nothing was played.\n",
    "nobody.txt": "game: nobody\nrules: farkle\n",
    "file-rules.txt": "players: Anna\nrules: ./ours.toml\n",
    "origin.txt": "players: Anna\norigin: hearsay\n",
    "begun.txt": "players: Anna\nbegun: yesterday\n",
    "first-throw.txt": "players: Anna\nrules: farkle\nfirst throw: Ben=6\nAnna: =500\n",
    "changes.txt": "players: Anna\nrules: farkle\n" + "change: target=9000 whole-game\n" * 201,
    "quoted.txt": 'players: Anna\nrules: farkle\nnote: ""\n',
    "rules-name.txt": f'players: Anna\nrules: farkle name="{"x" * 65}"\n',
    "over.txt": "players: Anna\nrules: farkle target=500\nAnna: =500\nAnna: =500\nAnna: =500\n",
    "false.txt": "players: Anna\nrules: farkle\nAnna: =500\nexpect: Anna=550\n",
    "same.txt": "game: evening\nplayers: Anna, Cara\nrules: farkle\nAnna: =500\n",
    "two.txt": "game: one\nplayers: Anna\nrules: farkle\n\ngame: two\nplayers: Ben\nrules: farkle\n",
    "named.txt": "players: Anna\nrules: farkle\nAnna: =500\n",
    "twice-said.txt": "players: Anna\ntitle: One\ntitle: Two\n",
    "nothing-said.txt": "players: Anna\ntitle:\n",
    "early-note.txt": "note: it rains\n",
    "early-turn.txt": "Anna: =500\n",
    "late-heading.txt": "players: Anna, Ben\nrules: farkle\nAnna: =500\ntitle: Friday\n",
    "late-rules.txt": "players: Anna, Ben\nrules: farkle\nAnna: =500\nrules: zilch\n",
    "called-note.txt": "players: Note, Ben\nrules: farkle\nnote: 133446/1 =100\n",
    "same-twice.txt": "players: Anna\nrules: farkle\nexpect: Anna=0, anna=0\n",
    "bracket.txt": "players: Anna\nrules: diecimila\nAnna: 111346/111(1\n",
    "too-much.txt": "game: friday evening\n",
    "no-name.txt": "players: Anna,\nrules: farkle\n",
    "backslash.txt": 'players: Anna\nrules: farkle\nnote: "it \\q"\n',
    "due.txt": "players: Anna\nrules: farkle\nAnna: 133446/=100\n",
    "line.txt": "note: " + "x" * 70_000,
    "points.toml": '[scoring]\ntwins = { dice = "AAB", points = -5 }\n',
    "no-start.json": '{ "games": [{"events":[{"type":"note","seq":1,"text":"hey"}]}]}',
    "no-events.json": '{ "games": [{"events":[]}]}',
    "illegal.json": f'{{ "games": [{{"events":[{_start("it").decode()},{{"type":"bust","seq":2,"player":"Ben"}}]}}]}}',
    "entry.txt": "!\n",
    "die.txt": "7\n",
    "letter.txt": "z\n",
    "more.txt": "s all\n",
    "wordless.txt": "n\n",
    "correction.txt": "f 2\n",
    "opponent.txt": "c\n",
    "endless.txt": "1" * 10_001 + "\n",
    "endless.sql": "-" * ((1 << 20) + 1),
    "long.toml": "#" * 70_000,
    "many.toml": "[scoring]\n" + "".join(f'c{n} = {{ dice = "1", points = 50 }}\n' for n in range(200)),
    "field.toml": 'name = "field"\ntraget = 5000\n',
    "broken.toml": "name = \n",
    "named.toml": 'name = "Our Rules"\n',
    "number.toml": "title = 5\n",
    "nul.toml": 'based_on = "./a\\u0000.toml"\n',
    "scoring.toml": "[scoring]\ntarget = 5000\n",
    "circle.toml": 'based_on = "./circle.toml"\n',
    **{f"link-{n}.toml": f'based_on = "./link-{n + 1}.toml"\n' for n in range(22)},
    "shadow/rules/zilch.toml": 'based_on = "farkle"\n',
    "two-people/people.toml": 'Anna = ["Annie"]\nBen = ["Annie"]\n',
    "circular/people.toml": 'Anna = ["Ben"]\nBen = ["Cara"]\n',
    "no-list/people.toml": 'Anna = "Annie"\n',
    "no-toml/people.toml": "Anna\n",
    "same-report/queries/leaderboard.sql": "SELECT 1",
    "own-report/queries/mine.sql": "SELECT 1",
    "gone/current": "evening\n",
    "file-for-games/games": "",
    "no-manifest/archive/manifest.json": "{}",
    "newer-manifest/archive/manifest.json": '{"format":2,"parts":[]}',
    "foreign-part/archive/manifest.json": '{"format":1,"parts":[{"games":1,"files":{},"columns":""}]}',
    "stray-file/archive/games-00000000000000000000000000000000.parquet": "",
}
# Archives of one part, whose files are due to hold `rows`.
SHA256 = hashlib.sha256(b"rows").hexdigest()
PART = {table: archive.File(archive.name_of(table, SHA256), SHA256, 4, 1) for table in TABLES}
MANIFEST = json.encode(archive.Manifest(1, (archive.Part(1, PART, ""),)))
FILES = {
    **{f"{name}.jsonl": data for name, data in LOGS.items()},
    **{name: text.encode() for name, text in TEXTS.items()},
    "no-text/people.toml": b"\xff\xfe",
    "latin-report/queries/mine.sql": b"SELECT '\xe9'",
    "latin.sql": b"SELECT '\xe9'",
    "latin.toml": b"title = '\xe9'\n",
    "latin.txt": b"note caf\xe9\n",
    "latin.csv": b"Round,Ren\xe9\n1,1000\n",
    "part-gone/archive/manifest.json": MANIFEST,
    "part-changed/archive/manifest.json": MANIFEST,
    **{f"part-changed/archive/{file.name}": b"ROWS" for file in PART.values()},
}


def prepare(folder: Path, said: str) -> None:
    """Put there what a case speaks of, by the beginning of its name."""
    for name, data in FILES.items():
        if re.split(r"-?\d*[./]", name)[0] in said:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    (folder / "folder.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to("missing-target.jsonl")
    os.mkfifo(folder / "pipe.jsonl")
    with (folder / "huge.jsonl").open("wb") as huge:
        huge.truncate(1 << 30)
    if "twin" in said:
        (folder / "twin.log").hardlink_to(folder / "twin.jsonl")
