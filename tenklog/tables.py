"""Tables: this module says what the archive's tables hold, and how rows of them get to DuckDB.

Every column has a DuckDB type and a meaning with its unit; the list is a promise: columns may come, none goes or
changes. Unknown is null, never 0.
"""

import os
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tenklog.dice import sets
from tenklog.errors import AccessError
from tenklog.rules import DEFAULTS

if TYPE_CHECKING:
    import pyarrow as pa

SETS = {dice: number for number, dice in enumerate(sets())}
Rows = dict[str, "bytes | pa.Table"]  # by table, as JSON Lines or as a table of Arrow


class Column(Struct, frozen=True):
    """A column: its name, its DuckDB type, and what it means, with the unit."""

    name: str
    type: str
    about: str


def _settings() -> str:
    def kind(value: object) -> str:
        if isinstance(value, bool):
            return "BOOLEAN"
        if isinstance(value, tuple):
            return "INTEGER[]"
        return "INTEGER" if isinstance(value, int) else "VARCHAR"

    return f"STRUCT({', '.join(f'{key} {kind(value)}' for key, value in DEFAULTS.items())})"


# What a game gives to each row of its seats, turns and rolls, so that reports need no join.
OF_GAME = (
    Column("game", "VARCHAR", "the id of the game"),
    Column("rules", "VARCHAR", "the name of the ruleset"),
    Column("origin", "VARCHAR", "table, import, replay or simulated"),
    Column("begun", "TIMESTAMP", "when the game began, UTC"),
)
_OF_SEAT = (
    Column("seat", "UTINYINT", "the seat, from 1"),
    Column("player", "VARCHAR", "who sits there, by the name at the end of the game"),
)

# In expected points; null in a game that is not measured, on a score sheet, and where rules give a turn no value.
OF_LUCK = {
    "turns": (
        Column("start", "DOUBLE", "what the turn was worth at its start, best played, points; null if not measured"),
        Column("luck", "DOUBLE", "what its rolls changed in that, points; null if not measured"),
        Column("decisions", "DOUBLE", "what its decisions lost, points, 0 or less; null if not measured"),
        Column("aimed", "BOOLEAN", "whether it was played for points: nobody to catch, no win at hand; or null"),
    ),
    "rolls": (
        Column("luck", "DOUBLE", "what it changed in the value of the turn, points; null if not measured"),
        Column("keep_free", "BOOLEAN", "whether other dice could have been kept; null for none kept, or not measured"),
        Column("keep_loss", "DOUBLE", "what the dice kept are worth less than the best, points, 0 or less; or null"),
        Column("decision_loss", "DOUBLE", "what its decision is worth less than the other, points, 0 or less; or null"),
        Column("aimed", "BOOLEAN", "whether its turn was played for points, as in `turns`; null if not measured"),
    ),
}

TABLES: dict[str, tuple[Column, ...]] = {
    "games": (
        *OF_GAME,
        Column("ended", "TIMESTAMP", "when the last event was written, UTC"),
        Column("title", "VARCHAR", "the title, if it has one"),
        Column("status", "VARCHAR", "finished or abandoned; in-progress or last-turns for a log read with --logs"),
        Column("players", "VARCHAR[]", "the players in order of seats, by their names at the end"),
        Column("winners", "VARCHAR[]", "who won, more than one when the win is shared; null without a result"),
        Column("rounds", "INTEGER", "rounds begun"),
        Column("turns", "INTEGER", "turns that ended"),
        Column("events", "INTEGER", "lines of the log"),
        Column("rule_changes", "INTEGER", "rule changes that hold from a later turn on"),
        Column("rules_hash", "VARCHAR", "BLAKE2b-128 of `ruleset`, 32 hex digits: equal for equal rules"),
        Column("ruleset", "VARCHAR", "the ruleset of the first turn as JSON, with changes for the whole game"),
        Column("settings", _settings(), "its settings, points in points"),
        Column("replay_of", "VARCHAR", "the fingerprint of the log that was replayed"),
        Column("seq", "INTEGER", "the number of the last event; with h the head of the log"),
        Column("h", "VARCHAR", "the hash of the last line; what sealing would give it for a log without hashes"),
        Column("first_h", "VARCHAR", "the hash of the first line: another game has another one"),
        Column("sealed", "BOOLEAN", "whether the log's lines carry hashes"),
        Column("digest", "VARCHAR", "BLAKE2b-128 of all bytes of the log file"),
        Column("measured", "BOOLEAN", "whether luck and skill were worked out (`archive --luck`)"),
    ),
    "seats": (
        *OF_GAME,
        *_OF_SEAT,
        Column("status", "VARCHAR", "the status of the game"),
        Column("players", "UTINYINT", "seats at the table"),
        Column("place", "UTINYINT", "the place at the end; equals share it"),
        Column("total", "BIGINT", "the total, points"),
        Column("won", "BOOLEAN", "whether the seat won, alone or shared; null in a game without a result"),
        Column("shared", "BOOLEAN", "whether it shares the win; null in a game without a result"),
        Column("opened", "BOOLEAN", "whether it ever posted points"),
        Column("turns", "INTEGER", "turns that ended"),
        Column("busts", "INTEGER", "turns lost in a bust, wipeouts included"),
        Column("left", "BOOLEAN", "whether the player left the game"),
    ),
    "turns": (
        *OF_GAME,
        *_OF_SEAT,
        Column("turn", "INTEGER", "the turn's number in the game, from 1; null when its player left during it"),
        Column("round", "INTEGER", "the round, from 1"),
        Column("outcome", "VARCHAR", "banked, bust, scoreless, wiped-out, won, settled or left"),
        Column("points", "BIGINT", "points at stake when it ended"),
        Column("posted", "BIGINT", "points banked, 0 for none"),
        Column("change", "BIGINT", "by how many points the own total changed, penalties included"),
        Column("total_before", "BIGINT", "the total before, points"),
        Column("total", "BIGINT", "the total after, points"),
        Column("lead", "BIGINT", "points ahead of the best other in play when the turn came; null without others"),
        Column("rolls", "INTEGER", "rolls; null on a score sheet, where nobody knows"),
        Column("dice_left", "UTINYINT", "dice that the next roll would have had; null unless the outcome is banked"),
        Column("hot_dice", "INTEGER", "how often all dice were set aside; null on a score sheet"),
        Column("with_dice", "BOOLEAN", "whether the dice are in the log, as opposed to a score sheet"),
        Column("opened", "BOOLEAN", "whether the player had posted points before"),
        Column("stolen", "BOOLEAN", "whether it began with a steal"),
        Column("challenged", "VARCHAR", "the opponent that was challenged"),
        Column("last", "BOOLEAN", "whether it is a last or extra turn"),
        Column("busts_running", "INTEGER", "busts of the seat in a row up to and with it; 0 when it was no bust"),
        Column("scores_running", "INTEGER", "turns of the seat in a row that posted points, up to and with it"),
        Column("first_seq", "INTEGER", "its first event"),
        Column("last_seq", "INTEGER", "the event that ended it"),
        Column("time", "TIMESTAMP", "when it ended, UTC"),
        *OF_LUCK["turns"],
    ),
    "rolls": (
        *OF_GAME,
        *_OF_SEAT,
        Column("turn", "INTEGER", "the turn's number in the game; null for a turn that was dropped or never ended"),
        Column("round", "INTEGER", "the round, from 1"),
        Column("roll", "INTEGER", "the roll's number in the turn, from 1"),
        Column("seq", "INTEGER", "its event"),
        Column("dice", "UTINYINT[]", "the dice in thrown order"),
        Column("thrown", "UTINYINT", "how many dice"),
        Column("roll_set", "SMALLINT", "the set of dice, its index among the 923 (see FORMAT.md)"),
        Column("kept", "UTINYINT[]", "the dice kept of it, null for none"),
        Column("kept_set", "SMALLINT", "the set of dice kept, null for none"),
        Column("result", "VARCHAR", "kept, bust, wiped-out, won, free (scores nothing, goes on); null if cut off"),
        Column("points_before", "BIGINT", "points at stake before it"),
        Column("points", "BIGINT", "points at stake after it and what was kept"),
        Column("dice_left", "UTINYINT", "dice that the next roll would have; null when the turn was lost or won"),
        Column("hot", "BOOLEAN", "whether all dice are set aside after it"),
        Column("decision", "VARCHAR", "what came next, roll or bank; null when the turn ended otherwise"),
        Column("free", "BOOLEAN", "whether both were legal; null where there was no decision"),
        Column("bust_chance", "DOUBLE", "the exact chance of this throw to bust before it was thrown, 0 to 1"),
        Column("by_tool", "BOOLEAN", "whether tenklog threw the dice"),
        *OF_LUCK["rolls"],
    ),
    "events": (
        Column("game", "VARCHAR", "the id of the game"),
        Column("seq", "INTEGER", "the event's number, from 1"),
        Column("type", "VARCHAR", "its type, such as roll"),
        Column("time", "TIMESTAMP", "when it was written, UTC"),
        Column("id", "VARCHAR", "the caller's own key"),
        Column("player", "VARCHAR", "whose event, by the name at that time"),
        Column("dice", "UTINYINT[]", "of a roll, in thrown order, or a keep"),
        Column("aside", "UTINYINT[]", "of a keep, the dice that left the table, where the rules ask for it"),
        Column("points", "BIGINT", "of a bank"),
        Column("settled", "BOOLEAN", "true for a bank by which a replay ended a turn; null otherwise"),
        Column("thrown_by", "VARCHAR", "tenklog when the tool threw the dice"),
        Column("line", "VARCHAR", "the line without its hash, as JSON, where the other columns don't say it all"),
    ),
}  # fmt: skip

# What bulk replays made of archived games, and of their turns; derived from the other tables, and no part of them.
REPLAYED = (
    Column("rules", "VARCHAR", "the ruleset that it was replayed under; recorded for its own"),
    Column("changes", "VARCHAR", "what was changed in those rules, such as target=5000; null for nothing"),
    Column("settle", "VARCHAR", "how guesses were settled: bank, void or stop"),
    Column("keep_rule_changes", "BOOLEAN", "whether the rule changes of the log were kept"),
)
REPLAYS = (
    Column("game", "VARCHAR", "the id of the game"),
    *REPLAYED,
    Column("status", "VARCHAR", "finished, abandoned, unfinished or stopped, under these rules"),
    Column("winners", "VARCHAR[]", "who won under these rules; empty without a result"),
    Column("leaders", "VARCHAR[]", "who led when the log ended, of an unfinished game"),
    Column("totals", "BIGINT[]", "the totals at the end, in order of recorded seats; null for whoever could not join"),
    Column("same_winner", "BOOLEAN", "whether the same seats won as in the recorded game; null unless both finished"),
    Column("rounds", "INTEGER", "rounds begun under these rules"),
    Column("turns", "INTEGER", "turns that ended under these rules"),
    Column("guesses", "INTEGER", "turns of which nobody knows how they would have gone on"),
    Column("same", "INTEGER", "recorded turns that changed the own total by the same"),
    Column("rescored", "INTEGER", "recorded turns of the same decisions that changed it by something else"),
    Column("settled", "INTEGER", "recorded turns that ended otherwise, guesses among them"),
    Column("never_happened", "INTEGER", "recorded turns that have no place under these rules"),
)
REPLAYED_TURNS = (
    Column("game", "VARCHAR", "the id of the game"),
    *REPLAYED,
    Column("turn", "INTEGER", "the number of the recorded turn in the game"),
    Column("became", "VARCHAR", "same, rescored, settled or never-happened"),
    Column("kind", "VARCHAR", "the divergence by which it was settled, such as roll-busts; null unless it was"),
    Column("guess", "BOOLEAN", "whether nobody knows how it would have gone on"),
    Column("change", "BIGINT", "by how many points the own total changed under these rules; null without a turn"),
)
# The tables that reports and SQL see.
ASKED = TABLES | {"replays": REPLAYS, "replayed_turns": REPLAYED_TURNS}

GAME_COLUMNS = tuple(column.name for column in OF_GAME)
LISTED = ("seats", "turns", "rolls")  # whose rows of a game come as one object of lists


class RowFiles:
    """The rows of logs on their way to DuckDB: files of JSON Lines for each table, open inside `with`.

    Those of many logs at once may come as tables of Arrow (`whole`). These logs come first in all tables, so that games
    lie in the same order everywhere.
    """

    def __init__(self, prefix: Path) -> None:
        self.whole: dict[str, list[pa.Table]] = {table: [] for table in TABLES}
        self.paths = {table: prefix.parent / f"{prefix.name}-{table}.json" for table in TABLES}
        self._longest = 16 << 20  # bytes of a line; what DuckDB sets aside grows with it

    def __enter__(self) -> "RowFiles":
        self._all = ExitStack()
        self._open = {table: self._all.enter_context(path.open("wb")) for table, path in self.paths.items()}
        return self

    def __exit__(self, *_: object) -> None:
        self._all.close()  # each of them, even when the disk is full

    def add(self, rows: "Rows") -> None:
        """Write the rows of one log, or keep those of many."""
        for table, lines in rows.items():
            if not isinstance(lines, bytes):
                self.whole[table].append(lines)
                continue
            self._open[table].write(lines)
            if table != "events":
                self._longest = max(self._longest, len(lines))

    def has_lines(self) -> bool:
        """Tell whether rows came one log at a time."""
        return self.paths["games"].stat().st_size > 0

    def select(self, table: str) -> str:
        """Return the SQL that reads the rows of a table that came one log at a time."""
        columns = TABLES[table]
        many = table in LISTED
        lists = {column.name for column in columns if many and column.name not in GAME_COLUMNS}
        names = {
            column.name: "log" if (table, column.name) == ("events", "game") else column.name for column in columns
        }
        kinds = ", ".join(
            f"{sql_text(names[one.name])}: '{one.type}{'[]' if one.name in lists else ''}'" for one in columns
        )
        chosen = ", ".join(
            f'unnest("{name}") AS "{name}"' if name in lists else f'"{key}" AS "{name}"' for name, key in names.items()
        )
        options = f"format = 'newline_delimited', maximum_object_size = {self._longest}, columns = {{{kinds}}}"
        return f"SELECT {chosen} FROM read_json({quoted(self.paths[table])}, {options})"


def quoted(path: Path | str) -> str:
    """Return a path as a string in SQL, its signs that a pattern would mean taken as they are; raise AccessError.

    It is absolute, because DuckDB has its own meaning for `~` and for what looks like an address.
    """
    whole = os.path.abspath(path)
    try:
        whole.encode()
    except UnicodeEncodeError:
        raise AccessError("the name is not UTF-8", "an archive in a folder of another name", whole) from None
    plain = re.sub(r"[*?\[]", lambda sign: f"[{sign[0]}]", whole)
    return sql_text(plain)


def sql_text(value: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"
