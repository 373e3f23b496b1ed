"""Lines: this module tells the sound lines of a log from a torn tail and from damage, on its bytes alone.

It never raises and never guesses: what is wrong comes back as a value with its place, and nothing after it is looked at. A
torn tail is a last line that a writer did not finish: without its newline, or with a hole of NULs. It hides nothing that
came before. Whatever else is wrong is damage, every flipped bit included: no single one makes a line look torn.
"""

import re
from collections.abc import Iterable
from hashlib import blake2b

from msgspec import DecodeError, Struct, json

from tenklog import events
from tenklog.errors import TenklogError
from tenklog.events import ZEROS, AnyEvent

MOST_EVENTS = 50_000
MOST_LINE = 64 << 10
_RECORD = re.compile(rb',"h":"[0-9a-f]{32}"\}')


class Damage(Struct, frozen=True):
    """What is wrong with a line (from 1) that starts at a byte (from 0); `kind` is a word of `check`."""

    line: int
    byte: int
    kind: str
    what: str
    right: str


class Scan(Struct, frozen=True):
    """The bytes of a log told apart. `size` counts the sound bytes, the newline of the last sound line included."""

    lines: list[bytes]  # the sound ones, without their newlines
    events: list[AnyEvent]
    sealed: bool
    size: int
    newline: bool  # whether the last sound line has one
    torn: bytes  # the unfinished line after the sound ones
    damage: Damage | None
    loose: tuple[int, ...]  # lines that are not written canonically; only unsealed logs may have any

    def hash_at(self, line: int) -> str:
        """Return the 32 hex digits that seal a sound line (from 1); nothing in an unsealed log."""
        return self.lines[line - 1][-34:-2].decode() if self.sealed else ""


def seal_all(log: Iterable[events.Event]) -> list[bytes]:
    """Return the sealed lines of a whole log, without newlines."""
    h = ZEROS
    sealed = []
    for event in log:
        line = events.seal(events.encode(event), h)
        h = line[-34:-2]
        sealed.append(line)
    return sealed


def scan(data: bytes) -> Scan:
    """Tell apart the bytes of a whole log."""
    lines = data.split(b"\n")
    tail = lines.pop()
    sealed = events.unseal(lines[0] if lines else tail) is not None
    loose: list[int] = []
    found, damage = _sealed(lines) if sealed else _plain(lines, loose)
    whole = len(found) == len(lines)
    newline, torn = True, b""
    if damage is None and tail:
        found, damage, newline = _unended(lines, found, tail, sealed, loose)
        if damage is not None and damage.kind == "torn" and found:
            damage, torn = None, tail
    elif damage is None and not lines:
        damage = Damage(1, 0, "damage", "the file is empty", "a log starts with a start event")
    elif len(found) == len(lines) - 1 and found and not tail and _has_hole(lines[-1], lines[-2], sealed):
        damage, torn = None, lines[-1] + b"\n"
    ...
