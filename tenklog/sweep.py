"""Sweep: this module replays games along one or two settings, and sums up what each value changes.

Winners are compared with those of the recorded games; a value that contradicts the rest of the rules has no row.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from msgspec import Struct

from tenklog.compare import compare
from tenklog.errors import TenklogError, UsageError
from tenklog.reading import Log
from tenklog.replayer import Replayed, Settle, replay
from tenklog.rules import Ruleset, Value, change, parse_changes, shown

MOST_VALUES = 1_000


class Axis(Struct, frozen=True):
    """A setting or combination and its values, as texts that `--set` takes."""

    key: str
    values: tuple[str, ...]


class SweepRow(Struct, frozen=True):
    """What one value (or pair of values) makes of all games.

    `changed` is the share of other winners among the games that are decided in both; `rounds` and `turns` are means of
    a replayed game, those beyond the log's end not among them. The last four add up to all recorded turns.
    """

    values: dict[str, str]
    games: int
    same_winner: int
    other_winner: int
    undecided: int
    changed: float | None
    rounds: float
    turns: float
    guesses: int
    same: int
    rescored: int
    settled: int
    never_happened: int


class Sweep(Struct, frozen=True):
    """The rows of a sweep, in the order of the values; `left_out` says which values contradict the rules, and why."""

    rules: str
    settle: Settle
    keys: list[str]
    rows: list[SweepRow]
    left_out: list[str]


def parse_axis(text: str) -> Axis | None:
    """Read `opening_minimum=0..1000:50` or `hot_dice=may-roll,must-roll`; None for a single value.

    Raises UsageError for a range that is none.
    """
    key, sign, values = text.partition("=")
    if not sign:
        raise UsageError(f"{text!r} is no setting", "KEY=FROM..TO:STEP, such as opening_minimum=0..1000:50")
    if ".." in values:
        right = f"{key}=FROM..TO:STEP in whole numbers, such as {key}=0..1000:50"
        bounds, _, step = values.partition(":")
        low, _, high = bounds.partition("..")
        numbers = (low, high, step or "1")
        if not all(one.isascii() and one.isdigit() and len(one) <= 7 for one in numbers):
            raise UsageError(f"{values!r} is no range", right)
        first, last, by = map(int, numbers)
        if by < 1 or last < first or (last - first) // by >= MOST_VALUES:
            raise UsageError(f"{values!r} is an empty range, or one of more than {MOST_VALUES} values", right)
        return Axis(key, tuple(map(str, range(first, last + 1, by))))
    if "," in values and key != "challenge_penalties":
        return Axis(key, tuple(values.split(",")))
    return None


def sweep(
    logs: Sequence[Log],
    rules: Ruleset | None,
    fixed: Sequence[str],
    axes: Sequence[Axis],
    settle: Settle = "bank",
    progress: Callable[[int], object] = lambda count: None,
) -> Sweep:
    """Replay logs under rules (None: their own) with each value of one or two settings; `fixed` are KEY=VALUE beside.

    Raises UsageError for no axis or more than two, and for a key that does not exist.
    """
    rows: list[SweepRow] = []
    left_out = []
    for named, texts in values(fixed, axes):
        try:
            found = [(log, _replayed(log, rules, texts, settle)) for log in logs]
        except UsageError as error:
            if not contradicts(rules or logs[0].game.start.rules, texts):
                raise
            left_out.append(f"{' '.join(texts[len(fixed) :])}: {error.what}")
            progress(len(logs))
            continue
        rows.append(_row(named, found))
        progress(len(logs))
    if not rows:
        raise UsageError(f"no value can be played: {left_out[0]}", "another range")
    return Sweep("recorded" if rules is None else rules.name, settle, [axis.key for axis in axes], rows, left_out)


def values(fixed: Sequence[str], axes: Sequence[Axis]) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Yield each value of one or two settings by its key, and with what is fixed as KEY=VALUE; raise UsageError."""
    if not 1 <= len(axes) <= 2 or len({axis.key for axis in axes}) < len(axes):
        right = "one or two settings with a range, such as --set target=5000..10000:500"
        raise UsageError(f"{len(axes) or 'no'} settings with a range", right)
    for chosen in product(*(axis.values for axis in axes)):
        named = {axis.key: value for axis, value in zip(axes, chosen, strict=True)}
        yield named, [*fixed, *(f"{key}={value}" for key, value in named.items())]


def _replayed(log: Log, rules: Ruleset | None, texts: Sequence[str], settle: Settle) -> Replayed:
    position = log.game.position
    own = position.pending or position.rules
    changes: dict[str, Value] = parse_changes(texts, rules or own)
    return replay(log.game, log.events, rules, settle=settle, changes=changes, of=log.fingerprint)


def contradicts(base: Ruleset, texts: Sequence[str]) -> bool:
    """Tell whether each change of a ruleset is sound, so that only together with the others they can't be played."""
    try:
        changes = parse_changes(texts, base)
    except TenklogError:
        return False
    try:
        change(base, changes)
    except TenklogError:
        return True
    return False


def _row(named: dict[str, str], found: list[tuple[Log, Replayed]]) -> SweepRow:
    summary = compare([(log.game, [one]) for log, one in found]).summary[0]
    decided = summary.same_winner + summary.other_winner
    games = len(found)
    return SweepRow(
        values={key: shown(value) for key, value in named.items()},
        games=games,
        same_winner=summary.same_winner,
        other_winner=summary.other_winner,
        undecided=summary.undecided,
        changed=summary.other_winner / decided if decided else None,
        rounds=sum(one.game.position.round for _, one in found) / games,
        turns=sum(sum(seat.turns for seat in one.game.position.seats) for _, one in found) / games,
        guesses=sum(one.replay.guesses for _, one in found),
        same=summary.turns.same,
        rescored=summary.turns.rescored,
        settled=summary.turns.settled,
        never_happened=summary.turns.never_happened,
    )
