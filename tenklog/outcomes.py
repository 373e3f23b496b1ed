"""Outcomes: this module says in rows what a replay makes of an archived game, whoever replays it, and where."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from tenklog.compare import compare
from tenklog.reading import Log
from tenklog.replayer import Replayed, Status, replay
from tenklog.rules import Ruleset, parse_changes
from tenklog.tables import REPLAYS
from tenklog.walk import Settle

if TYPE_CHECKING:
    import pyarrow as pa


class Row(Struct, frozen=True):
    """What a replay makes of a game; `totals` are by recorded seat, null for whoever did not join here."""

    game: str
    status: Status
    winners: list[str]
    leaders: list[str]
    totals: list[int | None]
    same_winner: bool | None
    rounds: int
    turns: int
    guesses: int
    same: int
    rescored: int
    settled: int
    never_happened: int


COLUMNS = tuple(one for one in REPLAYS if one.name in Row.__struct_fields__)


@cache
def schema() -> "pa.Schema":
    """Return the schema of rows for pyarrow."""
    import pyarrow as pa

    kinds = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "INTEGER": pa.int32(), "BOOLEAN": pa.bool_()}
    lists = {f"{name}[]": pa.list_(kind) for name, kind in kinds.items()}
    return pa.schema([(one.name, (kinds | lists)[one.type]) for one in COLUMNS])


def plainly(
    log: Log, rules: Ruleset | None, settle: Settle, keep_rule_changes: bool, texts: Sequence[str] = ()
) -> Replayed:
    """Replay one log as `replay` does; `texts` are changes as they were typed."""
    position = log.game.position
    changes = parse_changes(texts, rules or position.pending or position.rules)
    return replay(
        log.game, log.events, rules, settle=settle, keep_rule_changes=keep_rule_changes, changes=changes,
        of=log.fingerprint,
    )  # fmt: skip


def row_of(log: Log, replayed: Replayed) -> Row:
    """Return the row of a log's replay."""
    found, here = replayed.replay, replayed.game.position
    summary = compare([(log.game, [replayed])]).summary[0]
    there = [replayed.seats[seat] for seat in range(len(log.game.position.seats))]
    return Row(
        game=log.start.game,
        status=found.status,
        winners=found.winners,
        leaders=found.leaders,
        totals=[None if seat is None else here.seats[seat].total for seat in there],
        same_winner=None if summary.undecided else bool(summary.same_winner),
        rounds=here.round,
        turns=sum(seat.turns for seat in here.seats),
        guesses=found.guesses,
        same=found.turns.same,
        rescored=found.turns.rescored,
        settled=found.turns.settled,
        never_happened=found.turns.never_happened,
    )
