"""Events: this module is the vocabulary of the log, and turns one event into one line and back.

An event states what happened at the table: dice, decisions, players, the rules agreed on. What follows from those is
derived by the fold and never trusted from a file. The same event always gives the same bytes: no spaces, the fields in
the order given here, absent fields left out. The hash `h` that ends a sealed line belongs to the line, not the event.
"""

from binascii import hexlify
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import DecodeError, Meta, Struct, ValidationError, json

from tenklog.dice import Die, Throw
from tenklog.errors import DataError, UsageError
from tenklog.rules import END, Ruleset, Value

try:
    # What hashlib hands out, without the 4 ms that it takes to load OpenSSL for the other hashes.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

VERSION = 1
MOST_PLAYERS = 20
MOST_POINTS = 2**53 - 1

Seq = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Player = Annotated[str, Meta(min_length=1, max_length=64)]
Points = Annotated[int, Meta(ge=0, le=MOST_POINTS)]
Total = Annotated[int, Meta(ge=-MOST_POINTS, le=MOST_POINTS)]
Text = Annotated[str, Meta(min_length=1, max_length=2000)]
Id = Annotated[str, Meta(min_length=1, max_length=128)]
GameId = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,63}" + END)]
Origin = Literal["table", "import", "replay", "simulated"]


class Event(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="type"):
    """The envelope: `seq` counts from 1 without gaps; `time` is UTC with milliseconds; `id` is the caller's own key."""

    seq: Seq
    time: Annotated[str, Meta(max_length=24)] | None = None
    id: Id | None = None


class Start(Event, frozen=True, kw_only=True, tag="start"):
    """The first line: who plays, by which whole ruleset; `of` is the fingerprint of the log that was replayed."""

    game: GameId
    version: Annotated[int, Meta(ge=1, le=VERSION)]
    players: Annotated[tuple[Player, ...], Meta(min_length=1, max_length=MOST_PLAYERS)]
    rules: Ruleset
    origin: Origin
    of: Annotated[str, Meta(pattern="^[1-9][0-9]{0,15}:[0-9a-f]{32}" + END)] | None = None
    title: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    first_throw: dict[Player, Annotated[tuple[Die, ...], Meta(min_length=1, max_length=100)]] | None = None


class Roll(Event, frozen=True, kw_only=True, tag="roll"):
    """Dice are thrown, in thrown order; `thrown_by` says so when the tool threw them."""

    player: Player
    dice: Throw
    thrown_by: Literal["tenklog"] | None = None


class Keep(Event, frozen=True, kw_only=True, tag="keep"):
    """Scoring dice of the roll are set aside; `aside`, under one-per-combination only, are those that left it."""

    player: Player
    dice: Throw
    aside: Throw | None = None


class Bank(Event, frozen=True, kw_only=True, tag="bank"):
    """The turn is banked. With rolls, `points` is an assertion; without (a score sheet) it is the fact itself."""

    player: Player
    points: Points
    settled: bool = False


class Bust(Event, frozen=True, kw_only=True, tag="bust"):
    """The turn is lost: follows a losing roll by itself, or stands alone in a score-sheet turn."""

    player: Player


class RuleChange(Event, frozen=True, kw_only=True, tag="rule-change"):
    """The table changes a house rule, from the next turn or for the whole game."""

    changes: Annotated[dict[str, Value], Meta(min_length=1, max_length=100)]
    scope: Literal["next-turn", "whole-game"]


class Steal(Event, frozen=True, kw_only=True, tag="steal"):
    """The dice of the turn that ended last are taken over, before the turn's first roll."""

    player: Player


class Challenge(Event, frozen=True, kw_only=True, tag="challenge"):
    """An opponent is challenged, before the turn's first roll."""

    player: Player
    opponent: Player


class Undo(Event, frozen=True, kw_only=True, tag="undo"):
    """The event `of` is taken back; its line stays."""

    of: Seq
    why: Text | None = None


class Expect(Event, frozen=True, kw_only=True, tag="expect"):
    """Somebody compares the totals with paper."""

    totals: Annotated[dict[Player, Total], Meta(max_length=MOST_PLAYERS)]


class Join(Event, frozen=True, kw_only=True, tag="join"):
    """A player takes a new seat at the end."""

    player: Player


class Leave(Event, frozen=True, kw_only=True, tag="leave"):
    """A player leaves; a turn in progress of that player is dropped."""

    player: Player


class Rename(Event, frozen=True, kw_only=True, tag="rename"):
    """A player is called differently from now on."""

    player: Player
    to: Player


class Note(Event, frozen=True, kw_only=True, tag="note"):
    """A remark that changes nothing."""

    text: Text


class Abandon(Event, frozen=True, kw_only=True, tag="abandon"):
    """The game will not be finished."""

    why: Text | None = None


AnyEvent = (
    Start
    | Roll
    | Keep
    | Bank
    | Bust
    | RuleChange
    | Steal
    | Challenge
    | Undo
    | Expect
    | Join
    | Leave
    | Rename
    | Note
    | Abandon
)

_encode = json.Encoder().encode
_decode = json.Decoder(AnyEvent).decode


class _Probe(Struct):
    type: str
    version: int = VERSION


def encode(event: Event) -> bytes:
    """Return an event's canonical line, unsealed and without the newline."""
    return _encode(event)


def normal(event: Event) -> AnyEvent:
    """Return an event as a log would give it back; raise DataError for fields that no log may hold."""
    try:
        return _decode(_encode(event))
    except (ValidationError, UnicodeEncodeError) as error:
        text = str(error).replace("`", "'")
        raise DataError(
            f"the {event.__struct_config__.tag} can't be written: {text}", "see schemas/FORMAT.md"
        ) from None


def decode(line: bytes, canonical: bool = True) -> AnyEvent:
    """Read one line without its `h`; raise DataError that says what is wrong with it.

    A canonical line is refused unless it is exactly what `encode` would write, which rules out spaces, other orders of
    keys and keys given twice. Otherwise only keys given twice are.
    """
    try:
        event = _decode(line)
    except (ValidationError, DecodeError, RecursionError) as error:
        raise _explain(line, error) from None
    check_times([event])
    if canonical:
        if _encode(event) != line:
            raise DataError("is not written canonically", "no spaces, the fields in their order, each once")
    else:
        _refuse_twins(line)
    return event


def check_times(log: "list[AnyEvent]") -> None:
    """Raise DataError for the first event whose time is none."""
    times = [event.time for event in log if event.time is not None]
    if not _are_times(times):
        wrong = next(time for time in times if not _are_times([time]))
        raise DataError(f"time {wrong!r} is no UTC time", "a time such as 2026-11-29T20:15:00.000Z")


def _are_times(times: list[str]) -> bool:
    # fromisoformat takes other forms too (weeks, hour 24, offsets), so the form is pinned first, of many times at once:
    # every 25th character, because nearly every event that is read has one.
    form = "\n".join((*times, ""))
    signs = ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "."), (23, "Z"), (24, "\n"))
    if any(form[place::25] != sign * len(times) for place, sign in signs):
        return False
    if form.count("Z") != len(times) or "T24" in form:
        return False
    try:
        for _ in map(datetime.fromisoformat, times):
            pass
    except ValueError:
        return False
    return True


def _explain(line: bytes, error: Exception) -> DataError:
    if isinstance(error, RecursionError):
        return DataError("is nested too deeply", "a flat JSON object")
    newer = "written by a newer tenklog, or no event of it"
    try:
        probe = json.decode(line, type=_Probe)
    except (ValidationError, DecodeError, RecursionError):
        probe = None
    text = str(error)
    if probe is not None:
        if probe.version > VERSION and probe.type == "start":
            return DataError(
                f"is of format version {probe.version}, written by a newer tenklog", f"this one reads up to {VERSION}"
            )
        if probe.type not in TYPES:
            return DataError(f"has the unknown type {probe.type[:40]!r}", newer)
        if "unknown field" in text:
            return DataError(text.replace("Object contains", f"{probe.type} has").replace("`", "'"), newer)
    if isinstance(error, ValidationError):
        return DataError(text.replace("`", "'"), "see schemas/FORMAT.md")
    return DataError(f"is no JSON: {text.split(' (byte', maxsplit=1)[0]}", "one event, a JSON object, on each line")


def _refuse_twins(line: bytes) -> None:
    from json import loads  # only hand-written logs are read this way

    def pairs(found: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in found]
        twin = next((key for key in keys if keys.count(key) > 1), None)
        if twin is not None:
            raise DataError(f"gives the key {twin!r} twice", "each key once")

    loads(line, object_pairs_hook=pairs)


TYPES: dict[str, type[Event]] = {kind.__struct_config__.tag: kind for kind in Event.__subclasses__()}  # type: ignore[misc]

# -- the hash chain ---------------------------------------------------------------------------------------------------

ZEROS = b"0" * 32
_SEAL = b',"h":"'
_TAIL = 40  # ,"h":"<32 hex>"}
_EMPTY = blake2b(digest_size=16)  # to copy it takes less than to make one


def seal(bodies: list[bytes], h: bytes = ZEROS) -> list[bytes]:
    """Return lines with their hashes, BLAKE2b-128 over the hash before (32 hex digits) and the line's bytes.

    These are given without the closing brace; `h` is the hash of the line before the first one (zeros: none).
    """
    return sealed(bodies, hashes(bodies, h)).split(b"\n")[:-1]


def sealed(bodies: list[bytes], known: list[bytes]) -> bytes:
    """Return the lines that `seal` gives as one, each with its newline, from their hashes."""
    pieces = [_SEAL] * (4 * len(bodies))
    pieces[::4], pieces[2::4], pieces[3::4] = bodies, known, [b'"}\n'] * len(bodies)
    return b"".join(pieces)


def link(previous: bytes, body: bytes) -> bytes:
    """Return the hash (32 hex digits) of a line's bytes before its `h`, chained to the hash of the line before."""
    return hashes([body], previous)[0]


def digest(data: bytes) -> str:
    """Return the 32 hex digits of the BLAKE2b-128 of bytes."""
    return blake2b(data, digest_size=16).hexdigest()


def hashes(bodies: list[bytes], h: bytes = ZEROS) -> list[bytes]:
    """Return the hash of each of some lines' bytes before their `h`, as `link` does; `h` is that of the line before."""
    found = []
    for body in bodies:
        one = _EMPTY.copy()  # no call for each, a tenth of the time that reading takes
        one.update(h)
        one.update(body)
        h = hexlify(one.digest())
        found.append(h)
    return found


def chained(lines: list[bytes]) -> list[bytes] | None:
    """Return the bytes of all lines before their `h`; None unless every line is sealed and fits the one before it."""
    bodies = [line[:-_TAIL] for line in lines]
    tails = b'"},"h":"'.join([b"", *hashes(bodies), b""])[2:-6]
    # A line that is too short has too short a tail, so those that fit together fit each by itself.
    return bodies if tails == b"".join([line[-_TAIL:] for line in lines]) else None


def unseal(line: bytes) -> tuple[bytes, bytes] | None:
    """Split a sealed line into the bytes before its `h` and the hash it claims; None when it has none at its end."""
    if line[-_TAIL : -_TAIL + 6] != _SEAL or line[-2:] != b'"}':
        return None
    return line[:-_TAIL], line[-34:-2]


# -- names ------------------------------------------------------------------------------------------------------------


def _composed(text: str) -> str:
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", text)


def _hidden(text: str) -> str:
    """Return the first character that a table can't show (control, bidi, format; not joiners inside), or nothing."""
    if text.isprintable():
        return ""
    from unicodedata import category

    inside = {"\u200c", "\u200d"}
    for place, character in enumerate(text):
        joins = character in inside and 0 < place < len(text) - 1
        if not joins and not character.isprintable() and category(character) != "Zs":
            return f"U+{ord(character):04X}"
    return ""


def name(text: str) -> str:
    """Return a player's name in Unicode NFC; raise UsageError for what could not stand in a table.

    1 to 64 characters, no control, bidi or format characters except joiners inside, no space at an end.
    """
    normal = _composed(text)
    if hidden := _hidden(normal):
        raise UsageError(f"the name {normal[:40]!a} has the character {hidden}", "a name of visible characters")
    if not 1 <= len(normal) <= 64 or normal != normal.strip():
        what = "is empty" if not normal.strip() else "has a space at an end" if len(normal) <= 64 else "is too long"
        raise UsageError(f"the name {normal[:40]!r} {what}", "a name of 1 to 64 characters")
    return normal


def text(words: str, what: str, most: int = 2000) -> str:
    """Return a free text in NFC; raise UsageError when it is empty, too long or has characters that can't be shown."""
    normal = _composed(words).strip()
    if hidden := _hidden(normal):
        raise UsageError(f"the {what} has the character {hidden}", "text of visible characters")
    if not 1 <= len(normal) <= most:
        size = f"has {len(normal)} characters" if normal else "is empty"
        raise UsageError(f"the {what} {size}", f"1 to {most} characters")
    return normal
