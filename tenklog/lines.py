"""Lines: this module tells the sound lines of a log from a torn tail and from damage, on its bytes alone.

It never raises and never guesses: what is wrong comes back as a value with its place, and nothing after it is read. A
torn tail is a last line that a writer did not finish: without its newline, or with a hole of NULs. It hides nothing
that came before. Whatever else is wrong is damage, every flipped bit included: no single one makes a line look torn.
"""

import re
from collections.abc import Iterable

from msgspec import DecodeError, Struct, json

from tenklog import events
from tenklog.errors import TenklogError
from tenklog.events import ZEROS, AnyEvent

MOST_EVENTS = 50_000
MOST_LINE = 64 << 10
_decode_lines = json.Decoder(AnyEvent).decode_lines
_encode_lines = json.Encoder().encode_lines


class Damage(Struct, frozen=True):
    """What is wrong with a line (from 1) that starts at a byte (from 0).

    The kind is `damage` (bytes that are not what was written), `format` (no event of this version) or `limit`. The line
    is whole when it fits its hash: somebody wrote it so.
    """

    line: int
    byte: int
    kind: str
    what: str
    right: str
    whole: bool = False


class Scan(Struct, frozen=True):
    """The bytes of a log told apart: sound lines, then a torn one or damage or nothing."""

    lines: list[bytes]  # the sound ones, without their newlines
    events: list[AnyEvent]
    sealed: bool
    size: int  # of the sound lines in bytes, newlines included
    ended: bool  # whether the last sound line has its newline
    torn: bytes
    damage: Damage | None
    loose: tuple[int, ...] = ()  # lines that are not written canonically; only unsealed logs may have some

    def hash_at(self, line: int) -> str:
        """Return the 32 hex digits that seal a sound line (from 1), an empty string in an unsealed log."""
        return self.lines[line - 1][-34:-2].decode() if self.sealed else ""


def seal_all(log: Iterable[events.Event], h: bytes = ZEROS) -> list[bytes]:
    """Return the sealed lines of events, without their newlines; `h` is the hash of the line before (zeros: none)."""
    return chain(map(events.encode, log), h)


def chain(plain: Iterable[bytes], h: bytes = ZEROS) -> list[bytes]:
    """Return canonical lines with their hashes, each chained to the one before."""
    return events.seal([one[:-1] for one in plain], h)


def scan(data: bytes) -> Scan:
    """Tell the bytes of a log apart."""
    lines = data.split(b"\n", MOST_EVENTS + 1)  # a file of nothing but newlines would fill the memory
    ended = not lines[-1]
    if ended:
        lines.pop()
    sealed = bool(lines) and events.unseal(lines[0]) is not None
    found, wrong = _read(lines, sealed)
    sound = len(found)
    size = len(data) if wrong is None else sum(map(len, lines[:sound])) + sound
    torn, damage = b"", None
    if wrong is not None:
        if sound and sound == len(lines) - 1 and _is_torn(lines, ended, sealed):
            torn = data[size:]
        else:
            whole = sealed and _fits(lines[sound], lines[sound - 1][-34:-2] if sound else ZEROS)
            damage = Damage(sound + 1, size, *wrong, whole)
    elif not lines:
        damage = Damage(1, 0, "damage", "is empty", "a start event on line 1")
    loose = () if sealed else tuple(n for n, event in enumerate(found, 1) if events.encode(event) != lines[n - 1])
    return Scan(lines[:sound], found, sealed, size, ended or sound < len(lines), torn, damage, loose)


# What is wrong with a line: the kind, what it is, what would be right.
_Wrong = tuple[str, str, str]


def _read(lines: list[bytes], sealed: bool) -> tuple[list[AnyEvent], _Wrong | None]:
    """Return the events of the sound lines, and what is wrong with the line after them."""
    if sealed and len(lines) <= MOST_EVENTS and max(map(len, lines)) <= MOST_LINE:
        # Nearly every log is as it should be, which all lines together tell faster than one after another.
        try:
            if (bodies := events.chained(lines)) is not None:
                text = b"}\n".join([*bodies, b""])
                found: list[AnyEvent] = _decode_lines(text)
                if _encode_lines(found) == text:
                    events.check_times(found)
                    return found, None
        except (DecodeError, RecursionError, TenklogError):
            pass
    found = []
    h = ZEROS
    for line in lines:
        wrong = _wrong(line, sealed, h)
        if len(found) == MOST_EVENTS:
            wrong = ("limit", f"is one line more than {MOST_EVENTS}", "the most that a log may have")
        if wrong is None:
            try:
                found.append(events.decode(line[:-40] + b"}" if sealed else line, canonical=sealed))
            except TenklogError as error:
                wrong = ("format", error.what, error.right)
        if wrong is not None:
            return found, wrong
        h = line[-34:-2]
    return found, None


def _fits(line: bytes, previous: bytes) -> bool:
    """Tell whether a line is one that was written after the one with that hash."""
    parts = events.unseal(line)
    return parts is not None and events.link(previous, parts[0]) == parts[1]


def _wrong(line: bytes, sealed: bool, previous: bytes) -> _Wrong | None:
    """Say what is wrong with a line's length, or with its hash."""
    if len(line) > MOST_LINE:
        return "limit", f"has {len(line)} bytes", f"at most {MOST_LINE} a line"
    if not line:
        return "damage", "is an empty line", "one event on each line"
    if line.endswith(b"\r") and events.unseal(line[:-1]):
        return "format", "has a hash and ends with a carriage return", "sealed lines that end with \\n alone"
    if line.startswith(b"\xef\xbb\xbf"):
        return "format", "begins with a byte order mark", "UTF-8 without one"
    parts = events.unseal(line)
    if not sealed:
        return ("damage", "has a hash, but the lines before it have none", "all or none") if parts else None
    if parts is None:
        return "damage", "does not end with a hash as the lines before it do", "a whole sealed line"
    if not _fits(line, previous):
        return "damage", "does not fit its hash: it was changed, or stood elsewhere", "the line as it was written"
    return None


def _is_torn(lines: list[bytes], ended: bool, sealed: bool) -> bool:
    """Tell whether the last line is one that a writer did not finish, rather than one that was changed."""
    line = lines[-1]
    holes = line.count(b"\0")
    if holes == 1 and sealed:
        # One bit makes a NUL of a space, an `@` or half a letter, and the line may be one that was acknowledged.
        whole = (line.replace(b"\0", bytes([1 << bit])) for bit in range(8))
        return all(_wrong(one, sealed, lines[-2][-34:-2]) for one in whole)
    # Without a newline but with a whole record in it, something was changed or came after it.
    return holes > 0 or not (ended or re.search(rb',"h":"[0-9a-f]{32}"\}', line))
