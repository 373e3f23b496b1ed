"""Checks: this module lists what can be wrong with a log, each thing as one function; nothing is raised or changed.

`check` tolerates nothing: a torn tail, which readers leave out, is a problem here. Every function is asked, so all
problems come out, those of one log by line. `unsealed`, `clock` and `gone` are remarks: a log without others is good.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from tenklog import reading
from tenklog.errors import AccessError, TenklogError, UsageError
from tenklog.events import Expect
from tenklog.game import Game, false_expect
from tenklog.lines import Scan, scan

REMARKS = ("unsealed", "clock", "gone")


class Problem(Struct, frozen=True):
    """One thing that is wrong. `line` and `seq` count from 1; `seq` is null where no event could be read."""

    file: str
    line: int
    seq: int | None
    kind: str
    text: str

    @property
    def bad(self) -> bool:
        """Tell whether it makes the log bad, and is no mere remark."""
        return self.kind not in REMARKS

    def line_of_text(self) -> str:
        """Phrase it as one line for people."""
        return f"{self.file}:{self.line}: {self.text}"


class Report(Struct, frozen=True):
    """All that was found in some logs."""

    files: list[str]
    problems: list[Problem]

    @property
    def bad(self) -> bool:
        """Tell whether any log is bad."""
        return any(problem.bad for problem in self.problems)


class Subject(Struct, frozen=True):
    """A log under examination: its bytes told apart, the game after each legal event, and the head it should have."""

    path: Path
    found: Scan
    games: list[Game]
    error: TenklogError | None  # what is wrong with the event after the last legal one
    head: tuple[int, str] | None

    def problem(self, line: int, kind: str, text: str) -> Problem:
        """State a problem of one line."""
        seq = self.found.events[line - 1].seq if 0 < line <= len(self.found.events) else None
        return Problem(str(self.path), line, seq, kind, text)


def damage(log: Subject) -> Iterator[Problem]:
    """Find bytes that are not what was written, a line that is no event of this version, a limit passed."""
    wrong = log.found.damage
    if wrong is not None:
        yield log.problem(wrong.line, wrong.kind, f"{wrong.what} (byte {wrong.byte}); {wrong.right}")


def torn(log: Subject) -> Iterator[Problem]:
    """Find a last line that a writer did not finish."""
    found = log.found
    line = len(found.lines)
    if found.torn:
        text = f"is torn: {len(found.torn)} bytes (byte {found.size}); the next write heals it"
        yield log.problem(line + 1, "torn", text)
    elif found.lines and not found.ended and found.damage is None:
        yield log.problem(line, "torn", "lacks its newline; the next write adds it")


def unsealed(log: Subject) -> Iterator[Problem]:
    """Find a log without hashes, and the lines of it that are not written as tenklog writes them."""
    found = log.found
    if found.lines and not found.sealed:
        loose = f", and {len(found.loose)} not canonical (the first is {found.loose[0]})" if found.loose else ""
        yield log.problem(1, "unsealed", f"the lines have no hashes{loose}; `tenklog repair --seal` seals the log")


def misnamed(log: Subject) -> Iterator[Problem]:
    """Find a file that is named after another game."""
    if log.games and (wrong := reading.misnamed(log.path, log.games[0].start)):
        yield log.problem(1, "name", f"{wrong}; the name {log.games[0].start.game}.jsonl")


def illegal(log: Subject) -> Iterator[Problem]:
    """Find an event that the rules forbid where it stands."""
    if log.error is not None:
        text = f"{log.error.what}; {log.error.right}" if log.error.right else log.error.what
        yield log.problem(len(log.games) + 1, "illegal", text)


def expects(log: Subject) -> Iterator[Problem]:
    """Find a comparison with paper that is false."""
    for number, game in enumerate(log.games):
        event = log.found.events[number]
        if type(event) is Expect and (false := false_expect(game.position, event)):
            yield log.problem(number + 1, "expect", false)


def head(log: Subject) -> Iterator[Problem]:
    """Compare with a head kept elsewhere: the log's end may be missing, or it may be another history."""
    if log.head is None:
        return
    seq, h = log.head
    lines = len(log.found.lines)
    if seq > lines:
        yield log.problem(max(lines, 1), "head", f"ends with event {lines}, but there was an event {seq}")
    elif not log.found.sealed:
        yield log.problem(seq, "head", "has no hash to compare with the head")
    elif log.found.hash_at(seq) != h:
        yield log.problem(seq, "head", f"has the hash {log.found.hash_at(seq)}, not {h}: another history")


def clock(log: Subject) -> Iterator[Problem]:
    """Find a time before the one above it; order is that of the lines alone, so this is a remark."""
    last = ""
    for number, event in enumerate(log.found.events, 1):
        if event.time is not None:
            if event.time < last:
                yield log.problem(number, "clock", f"the time {event.time} is before the time above it, {last}")
            last = event.time


CHECKS: tuple[Callable[[Subject], Iterator[Problem]], ...] = (
    damage, torn, unsealed, misnamed, illegal, expects, head, clock,
)  # fmt: skip


def check(path: Path, head: str | None = None) -> list[Problem]:
    """Return all that is wrong with a log; raise AccessError when it can't be read.

    `head` is a fingerprint SEQ:H that was noted elsewhere: a clean cut at the end of a line shows against it alone.
    """
    found = scan(reading.read_bytes(path))
    games: list[Game] = []
    error = None
    try:
        for game in reading.steps(found.events):
            games.append(game)  # noqa: PERF402  (those before an error count)
    except TenklogError as wrong:
        error = wrong
    subject = Subject(path, found, games, error, parse_head(head) if head is not None else None)
    problems = [problem for examine in CHECKS for problem in examine(subject)]
    return sorted(problems, key=lambda problem: problem.line)


def check_all(paths: Iterable[Path], heads: Mapping[str, str] | None = None) -> Report:
    """Check logs one after another, with the heads that are known by game; one that can't be read is a problem too."""
    problems: dict[str, list[Problem]] = {}
    for path in paths:
        try:
            problems[str(path)] = check(path, (heads or {}).get(path.stem))
        except AccessError as error:
            problems[str(path)] = [Problem(str(path), 1, None, "unreadable", error.what)]
    return Report(list(problems), [problem for found in problems.values() for problem in found])


def parse_head(text: str) -> tuple[int, str]:
    """Read a fingerprint SEQ:H; raise UsageError."""
    seq, _, h = text.partition(":")
    if not (seq.isascii() and seq.isdigit() and int(seq[:16]) > 0 and len(seq) <= 16 and len(h) == 32):
        raise UsageError(f"{text[:80]!r} is no head", "SEQ:H as `tenklog fingerprint` prints it")
    return int(seq), h.lower()
