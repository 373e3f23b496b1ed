"""Everything of tenklog that reads what others wrote, each reader with sound inputs to begin from and how to judge it.

A new reader is one entry in `READERS`. Whatever bytes it is given, it must end within seconds, in a documented exit
code, with at most one line of error and nothing on a terminal that is no text. `tests/faults/fuzz.py` looks for bytes
that break this, `tests/faults/test_hostile.py` tries the sound inputs, simple changes of them, and all that was found.
"""

import io
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

from msgspec import Struct

from tenklog import cli, lines
from tenklog.render import visible

TESTS = Path(__file__).parent
ROOT = TESTS.parent
SAMPLES = sorted((ROOT / "sample_logs").glob("*.jsonl"))
FOUND = TESTS / "faults" / "found"
CODES = {0, 1, 2, 4}  # nobody else writes meanwhile, so nothing is busy and nothing conflicts
SECONDS = 8.0  # of the processor, since a busy machine is no fault of the reader; fuzz.py stops what waits
MOST_LINE = 2100  # characters of an error


class Reader(Struct, frozen=True):
    """A reader: the commands that read the input, the file it is put in, sound inputs, what is done to bytes first.

    In a command `FILE` is the file and `TEXT` a line of the input (the lines in turn). The first byte of an input that
    is being judged chooses the command. With `ends`, the reader may end its process when its time is over; with `many`
    it has a line of error for each thing that is wrong.
    """

    name: str
    commands: tuple[str, ...]
    corpus: Callable[[], Sequence[bytes]]
    file: str = ""
    made: Callable[[bytes], bytes] = bytes
    archive: bool = False
    ends: bool = False
    many: bool = False


def _bodies() -> list[bytes]:
    """Return the first lines of the samples without their hashes, as logs of the game `evening`."""
    logs = []
    for path in SAMPLES:
        rows = path.read_bytes().splitlines()[:40]
        plain = b"".join((row[:-40] + b"}" if row[-40:-34] == b',"h":"' else row) + b"\n" for row in rows)
        logs.append(re.sub(rb'"game":"[^"]*"', b'"game":"evening"', plain, count=1))
    return logs


def _logs() -> list[bytes]:
    bodies = _bodies()
    return [bodies[0], *map(_sealed, bodies)]


def _sealed(data: bytes) -> bytes:
    """Give lines the hashes that they need to be looked at at all."""
    return b"".join(line + b"\n" for line in lines.chain(data.splitlines()))


def _rulesets() -> list[bytes]:
    house = b'based_on = "tiotusen"\nwipeout = "2222"\n[scoring]\nfull_house = { dice = "AAABB", points = 800 }\n'
    return [house, *(path.read_bytes() for path in sorted((ROOT / "tenklog" / "rulesets").glob("*.toml")))]


def _sheets() -> list[bytes]:
    sheet = (ROOT / "sample_logs" / "tiotusen-example.csv").read_bytes()
    totals = b"Player;1;2;3\nAnna;1\xc2\xa0000;1300;-\nBen;;1050;550\n"
    return [
        sheet,
        totals,
        b"| Round | Anna | Ben |\n|---|---|---|\n| 1 | 1000 | bust |\n| Total | 1000 | \xe2\x88\x92500 |\n",
    ]


def _notations() -> list[bytes]:
    from tenklog import notation, reading

    written = [notation.write(reading.read(path).events).encode() for path in SAMPLES]
    return [(ROOT / "sample_logs" / "notebook.txt").read_bytes(), *(one[:3000] for one in written)]


def _words() -> list[bytes]:
    """Return what people type: dice, settings, patterns, names, numbers, times."""
    typed = """133446|1 3 3 4 4 6|1,3,3|target=5000|three_pairs=1500|house=AABB:500|house=AAB:100A|wipeout=none
challenge_penalties=600,2000|must_beat_previous=true|Anna|Zo\u00eb|anna=best,ben=hold:350|x=cautious,y=dice:3
target=5000..6000:500|set_aside=any,all|2026-11-29T20:15|2026-11|12|-50|Anna=300|share=1.5|name=true|256MB|=1+1"""
    return [word.encode() for line in typed.splitlines() for word in line.split("|")]


def _sql() -> list[bytes]:
    files = sorted((ROOT / "tenklog" / "queries").glob("*.sql"))
    mine = [b"SELECT player, max(posted) FROM turns GROUP BY player", b"FROM games WHERE chosen_game(players)"]
    return mine + [path.read_bytes() for path in files]


def _manifests() -> list[bytes]:
    return [(Path.cwd() / "home" / "archive" / "manifest.json").read_bytes()] if _has_archive() else [b"{}"]


def _verified() -> list[bytes]:
    return [(Path.cwd() / "home" / "archive" / "verified.json").read_bytes()] if _has_archive() else [b"{}"]


def _has_archive() -> bool:
    return (Path.cwd() / "home" / "archive" / "verified.json").exists()


LOG_COMMANDS = (
    "check FILE", "show FILE", "check FILE --json", "sheet FILE", "events FILE", "show FILE --json", "fingerprint FILE",
    "repair FILE --dry-run", "repair FILE --seal --dry-run", "replay FILE --rules farkle", "show FILE --at 3",
    "replay FILE --rules recorded --keep-rule-changes", "note hey -g FILE --dry-run", "undo -g FILE --dry-run",
)  # fmt: skip

READERS = (
    Reader("log", LOG_COMMANDS, _logs, "games/evening.jsonl"),
    Reader("sealed-log", LOG_COMMANDS, _bodies, "games/evening.jsonl", _sealed),
    Reader(
        "ruleset",
        ("rules check FILE", "rules show FILE", "score 111234 --rules FILE", "rules table FILE",
         "rules show FILE --toml", "rules diff FILE zilch", "new Anna Ben -g x --rules FILE --dry-run",
         "odds --rules FILE"),
        _rulesets, "house.toml",
    ),
    Reader(
        "people", ("games --players", "games --players --json"),
        lambda: [b'Anna = ["Annie", "A."]\nBen = ["Benjamin"]\n', b'"Zo\xc3\xab" = ["Zoe"]\n', b""], "people.toml",
    ),
    Reader(
        "words",
        ("score -- TEXT", "score 111 --set=TEXT --set=TEXT", "rules show tiotusen --set=TEXT", "roll -- TEXT --dry-run",
         "keep --dry-run -- TEXT", "bank --dry-run -- TEXT", "new --dry-run -- TEXT TEXT", "note --dry-run -- TEXT",
         "expect --dry-run -- TEXT", "change --dry-run -- TEXT", "change --whole-game --dry-run -- TEXT",
         "show --at=TEXT", "fix --dry-run -- 2 TEXT", "sweep -g evening --set=TEXT", "rename --dry-run -- Anna TEXT",
         "advise --points=TEXT -- 115", "simulate --dry-run --games=2 --seed=1 --rules=zilch-5000 --players=TEXT",
         "use -- TEXT", "check --head=TEXT evening", "join --dry-run -- TEXT", "query --param=TEXT -- SELECT",
         "stats leaderboard --since=TEXT", "stats luck --player=TEXT", "query --memory=TEXT -- SELECT", "-- TEXT"),
        _words,
    ),
    Reader("sql", ("query --timeout=2 --memory=128MB -f FILE",), _sql, "question.sql", archive=True, ends=True),
    # The SQL of a report goes the way of any other; what is its own is the head.
    Reader("report", ("stats mine --explain", "stats"), _sql, "queries/mine.sql"),
    Reader(
        "manifest", ("stats leaderboard", "check --archive", "extract zilch-evening", "archive --files turns"),
        _manifests, "archive/manifest.json", archive=True,
    ),
    Reader(
        "verified", ("stats leaderboard", "extract zilch-evening"), _verified, "archive/verified.json", archive=True
    ),
    Reader(
        "sheet",
        ("import FILE --rules tiotusen --dry-run", "import FILE --rules zilch --lenient --dry-run", "rules infer FILE",
         "import FILE --rules tiotusen --numbers totals --dry-run"),
        _sheets, "sheet.csv", many=True,
    ),
    Reader(
        "notation", ("import FILE --dry-run", "import FILE --rules farkle --dry-run --json"), _notations, "friday.txt"
    ),
    Reader("current", ("show", "events", "note hey --dry-run"), lambda: [b"evening\n", b"friday"], "current"),
)  # fmt: skip


def named(name: str) -> Reader:
    """Return the reader of a name."""
    return next(one for one in READERS if one.name == name)


class Broken(Exception):
    """A reader did what none may do."""


class Slow(Broken):
    """A reader took too long, and did nothing else that none may do."""


def prepare(folder: Path, reader: Reader) -> None:
    """Make a folder the place in which a reader is tried: the current folder, with a home of one game in it."""
    os.chdir(folder)
    os.environ["TENKLOG_HOME"] = "home"
    os.environ.pop("TENKLOG_GAME", None)
    (folder / "home" / "games").mkdir(parents=True)
    run("new", "Anna", "Ben", "-g", "evening", "--rules", "farkle-classic")
    for move in (("roll", "133446"), ("keep", "1"), ("roll", "22234"), ("keep", "222")):
        run(*move)
    if reader.archive:
        samples = [path for path in SAMPLES if path.stem.endswith("evening")]
        run("archive", *map(str, samples))
        run("query", "SELECT 1")  # which notes what was verified


def run(*words: str) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code, stdout and stderr."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.run(list(words))
    out.flush()
    data = out.buffer.getvalue()
    return code, data.decode(), err.getvalue()


def judge(reader: Reader, data: bytes) -> None:
    """Let a reader read some bytes, of which the first chooses the command; raise Broken when it does what it must not.

    The current folder must have been prepared.
    """
    chosen, content = data[0] if data else 0, data[1:]
    words = command(reader, chosen, content)
    if reader.file:
        path = Path("home") / reader.file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(reader.made(content))
        words = [word.replace("FILE", str(path)) for word in words]
    began = time.process_time()
    code, out, err = run(*words)
    took = time.process_time() - began
    what = f"{reader.name}: tenklog {words!r} with {content[:200]!r}: "
    told = err.splitlines()
    errors = [line for line in told if line.startswith("tenklog: error: ")]
    slow = f"it took {took:.1f} s"
    wrong = {
        f"exit code {code}": code not in CODES,
        slow: took > SECONDS * (os.cpu_count() or 1 if reader.ends else 1),
        "a mistake in tenklog": "a mistake in tenklog" in err,
        "more than one line of error": len(errors) > 1 and not reader.many,
        "an error without its line": code != 0 and not errors and not out,
        "output beside an error": code == 2 and bool(out),
        "an error that is none": code == 0 and bool(errors),
        "what is no remark": not all(line.startswith("tenklog: ") for line in told),
        "a long line": max(map(len, told), default=0) > MOST_LINE,
        "a control character": any(visible(line) != line for line in told)
        or (words[0] != "extract" and any(visible(line) != line for line in out.split("\n"))),
    }
    found = [name for name, here in wrong.items() if here]
    if found:
        kind = Slow if found == [slow] else Broken
        raise kind(f"{what}{', '.join(found)}\nstdout: {out[:500]!r}\nstderr: {err[:2000]}")


def command(reader: Reader, chosen: int, content: bytes) -> list[str]:
    """Return the words of a reader's command, with lines of the input where it has TEXT."""
    words = reader.commands[chosen % len(reader.commands)].split()
    if "query" in words and "SELECT" in words:
        words[-1] = "SELECT 1"
    # As Python hands over what is no UTF-8 in arguments; they can hold no NUL.
    texts = [line.replace(b"\0", b"").decode("utf-8", "surrogateescape") for line in content.split(b"\n")]
    number = 0
    for place, word in enumerate(words):
        if "TEXT" in word:
            words[place] = word.replace("TEXT", texts[number % len(texts)])
            number += 1
    return words


# -- changes that know what lines and tokens are ----------------------------------------------------------------------

NASTY = (
    b"\0", b"\x1b[31m", b"\xe2\x80\xae", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"9007199254740992",
    b"9" * 400, b"-1", b"0", b"1.5", b"1e999", b"NaN", b"null", b"true", b"[" * 2000, b'{"a":' * 2000, b'""', b'"',
    b"'", b"\r\n", b"\xef\xbb\xbf", b"../../x", b"=1+1", b"Z" * 70_000, b"e\xcc\x81", b"con", b"none", b"666666",
)  # fmt: skip


def changed(data: bytes, rng: Random, others: Sequence[bytes] = ()) -> bytes:
    """Return bytes with one change: of a line, of a token, or with a part of another input."""
    if not data:
        return rng.choice(NASTY)
    kind = rng.randrange(7)
    place = rng.randrange(len(data))
    if kind == 0:  # a byte, or a bit of one
        flipped = data[place] ^ (1 << rng.randrange(8))
        return data[:place] + bytes([flipped]) + data[place + 1 :]
    if kind == 1:
        return data[:place] + rng.choice(NASTY) + data[place + rng.randrange(12) :]
    if kind == 2:  # a number or word for another one of the same input
        tokens = _tokens(data)
        if len(tokens) > 1:
            (start, end), (first, last) = rng.sample(tokens, 2)
            return data[:start] + data[first:last] + data[end:]
    if kind == 3:
        tokens = _tokens(data)
        if tokens:
            start, end = rng.choice(tokens)
            return data[:start] + rng.choice(NASTY) + data[end:]
    if kind == 4 and others:
        other = rng.choice(others)
        cut = rng.randrange(len(other) + 1)
        return data[:place] + other[cut : cut + rng.randrange(200)] + data[place:]
    rows = data.split(b"\n")
    one, two = rng.randrange(len(rows)), rng.randrange(len(rows))
    if kind == 5:
        rows[one], rows[two] = rows[two], rows[one]
    elif rng.randrange(2):
        rows.insert(one, rows[two])
    else:
        del rows[one]
    return b"\n".join(rows)


def _tokens(data: bytes) -> list[tuple[int, int]]:
    """Return where words and numbers begin and end."""
    return [found.span() for found in re.finditer(rb"[A-Za-z_]+|-?[0-9]+|\"[^\"\n]*\"", data)]


def sound(reader: Reader) -> list[bytes]:
    """Return inputs to begin from: the sound ones, each command at least once, with the byte that chooses it."""
    corpus = list(reader.corpus())
    count = max(len(corpus), len(reader.commands))
    return [bytes([number % len(reader.commands)]) + corpus[number % len(corpus)] for number in range(count)]


def found(reader: Reader) -> list[bytes]:
    """Return the inputs that a reader once did wrong."""
    return [path.read_bytes() for path in sorted((FOUND / reader.name).glob("*"))]
