"""Columns: this module reads the turns of archived games as arrays, and says in which games nothing unusual happened.

Tables are joined by the order of their rows. It is looked at where turns don't fit; where it is another than that of
the games, none of them counts as usual. Needs numpy and pyarrow.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from tenklog import bulk_kernel, jit
from tenklog.bulk_kernel import BANKED, LOST_ALL, WON_ALL
from tenklog.transitions import WIDTH, WON, Ints, Symbols

MOST_ROUNDS = 250  # of games that are replayed together; the longest sets the size of what is worked out
PLAIN = ["start", "roll", "keep", "bank", "bust", "note", "expect", "undo"]


# Asks SQL about the tables of a part, each named in braces, with values for its parameters.
Ask = Callable[[str, Mapping[str, object]], list[tuple[Any, ...]]]


class Recorded(Struct, frozen=True):
    """Archived games, and their turns that ended, game after game.

    For each game: whether its turns can be looked up, and how many of them, from the first, are those of one seat after
    the other (0 where these are too many); its seats, its turns and where they begin. For each turn: its seat from 0,
    by what it changed the total, its rolls, and where their symbols (as numbers) begin.
    """

    ids: pa.Array
    rules: Ints  # hashes
    plain: Ints
    even: Ints
    seats: Ints
    lane: Ints  # where its seats begin
    names: pa.Array  # of the seats of all games
    won: Ints
    turns: Ints
    begin: Ints
    seat: Ints
    change: Ints
    rolls: Ints
    first: Ints
    symbols: Ints

    def game(self, place: int) -> str:
        """Return the id of a game."""
        found: str = self.ids[place].as_py()
        return found


_GAMES = ["game", "players", "winners", "rules_hash", "status", "origin", "turns", "events"]
_UNUSUAL = "SELECT DISTINCT game FROM ({events}) WHERE game IN (SELECT unnest($games)) AND type NOT IN $plain"
# What an outcome is to those who look turns up; any other is unusual.
_HOW = {"banked": BANKED, "scoreless": BANKED, "bust": LOST_ALL, "wiped-out": LOST_ALL, "won": WON_ALL}


def _columns(path: Path, words: tuple[str, ...], numbers: tuple[str, ...]) -> tuple[list[Any], list[Ints]]:
    """Read columns of a Parquet file, without rows of no turn: texts as dictionaries, numbers with -1 for null."""
    with pa.OSFile(str(path)) as opened, pq.ParquetFile(opened, read_dictionary=[*words]) as file:
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        turn = file.schema_arrow.get_field_index("turn")  # the columns are flat up to it
        known = [group.column(turn).statistics for group in groups]
        dropped = [] if all(one and one.null_count == 0 for one in known) else ["turn"]
        table = file.read([*dict.fromkeys((*words, *numbers, *dropped))], use_threads=False)
    if dropped:
        table = table.filter(pc.is_valid(table["turn"]))
    values = (pc.fill_null(one, -1) if one.null_count else one for one in map(table.column, numbers))
    return [*map(table.column, words)], [one.to_numpy() for one in values]


def _coded(column: pa.ChunkedArray, codes: Mapping[str, int]) -> Ints:
    """Return the codes of the words of a column, 0 for those that have none."""
    found = [np.zeros(0, np.int8)]
    for one in column.chunks:
        table = np.array([codes.get(word, 0) for word in one.dictionary.to_pylist()], np.int8)
        found.append(np.take(table, one.indices.to_numpy()))
    return np.concatenate(found)


def _words(column: Any) -> Ints:
    """Return the words of a column that is a dictionary."""
    words = np.array(column.dictionary.to_pylist() or [""])
    found: Ints = words[column.indices.to_numpy()]
    return found


def read(ask: Ask, paths: Mapping[str, Path], symbols: Symbols) -> Recorded:
    """Read the games of a part, whose rows lie game after game as they were written.

    `paths` are its tables; `ask` is what asks DuckDB about them, which gives whole columns slower.
    """
    with (
        pa.OSFile(str(paths["games"])) as opened,
        pq.ParquetFile(opened, read_dictionary=["rules_hash", "status", "origin"]) as file,
    ):
        told = file.read(_GAMES, use_threads=False)
    ids, players, winners = (told[name].combine_chunks() for name in ("game", "players", "winners"))
    count = told["turns"].to_numpy().astype(np.int64)
    rules, status, origin = (_words(told[name].combine_chunks()) for name in ("rules_hash", "status", "origin"))
    over = (status == "finished") & (origin != "replay")
    names = players.flatten()
    seats = players.value_lengths().to_numpy().astype(np.int64)
    lane = np.cumsum(seats) - seats
    won = _won(names, seats, winners)
    end = np.cumsum(count)
    begin = end - count
    (outcome,), (turn, seat, rolls, change) = _columns(
        paths["turns"], ("outcome",), ("turn", "seat", "rolls", "change")
    )
    _, (rolled, kept) = _columns(paths["rolls"], (), ("roll_set", "kept_set"))
    rolls = np.maximum(rolls, 0)
    none, no = np.zeros(0, np.int64), np.zeros(len(count), bool)
    nothing = Recorded(ids, rules, no, 0 * count, seats, lane, names, won, count, begin, none, none, none, none, none)
    first, thrown = (bulk_kernel.begins if jit.COMPILED else _begins)(rolls)
    if len(turn) != count.sum() or len(rolled) != thrown:
        return nothing
    told_of_turns = (begin, count, seats, turn, seat, rolls, first, _coded(outcome, _HOW), rolled, kept)
    known = False
    if jit.COMPILED:
        known, numbers, plain, even, lines = bulk_kernel.look(*told_of_turns, symbols.numbers)
    if not known:
        symbol, plain, even, lines = _look(*told_of_turns)
        numbers = symbols.number(symbol)
    # Tables are joined by the order of their rows. Another one than that of the games shows in turns that don't fit.
    if not plain.all():
        until = np.append(first, thrown)
        if not _in_order(paths, ids, {"turns": count, "rolls": until[end] - until[begin]}):
            return nothing
    plain &= (count > 0) & over
    said = plain & (lines != told["events"].to_numpy())  # more than the turns' moves
    if said.any():
        given = {"games": ids.take(pa.array(np.flatnonzero(said))).to_pylist(), "plain": PLAIN}
        unusual = pa.array([row[0] for row in ask(_UNUSUAL, given)], pa.string())
        plain &= ~pc.is_in(ids, unusual).to_numpy(zero_copy_only=False)
    even[even > MOST_ROUNDS * seats] = 0
    return Recorded(
        ids, rules, plain, even, seats, lane, names, won, count, begin, seat - 1,
        change.astype(np.int64, copy=False), rolls, first, numbers,
    )  # fmt: skip


def _begins(counts: Ints) -> tuple[Ints, int]:
    """Return where runs of so many begin, one after another, and where the last one ends."""
    ends = np.cumsum(counts, dtype=np.int32)
    return ends - counts, int(ends[-1]) if len(ends) else 0


def _look(
    begin: Ints, count: Ints, seats: Ints, turn: Ints, seat: Ints, rolls: Ints, first: Ints, how: Ints, rolled: Ints,
    kept: Ints,
) -> tuple[Ints, Ints, Ints, Ints]:  # fmt: skip
    """Return the symbols of rolls, and of games whether their turns are usual, how many are even, and their lines.

    Lines are those that usual turns come to: each roll, with a keep but for a lost last one, and a bank or bust of each
    turn unless it was won.
    """
    number = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(how)) - np.repeat(begin, count)
    symbol = rolled.astype(np.int64) * WIDTH
    symbol += kept
    symbol += 1
    usual = (rolls > 0) & (how > 0) & (turn == place + 1)
    after = first + rolls
    # Nothing is kept of the last roll of a lost turn alone, unless throws may be blank or a last die thrown again.
    lost = np.zeros(len(symbol), bool)
    lost[after[usual & (how >= LOST_ALL)] - 1] = True
    odd = np.flatnonzero(lost != (kept < 0))
    usual[np.searchsorted(after, odd, "right")] = False
    symbol[after[usual & (how == WON_ALL)] - 1] += WON
    plain = np.ones(len(count), bool)
    plain[number[~usual]] = False
    even = count.copy()
    other = np.flatnonzero(seat != place % np.repeat(np.maximum(seats, 1), count) + 1)
    np.minimum.at(even, number[other], place[other])
    moves = np.concatenate([[0], np.cumsum(2 * rolls + 2 - how)])
    return symbol, plain, even, 1 + moves[begin + count] - moves[begin]


def _won(names: pa.Array, seats: Ints, winners: pa.Array) -> Ints:
    """Tell for the seats of all games, of which each has so many, whether they won."""
    both = pa.concat_arrays([names, winners.flatten()]).dictionary_encode()
    player = both.indices.to_numpy()
    counts = (seats, pc.fill_null(winners.value_lengths(), 0).to_numpy())
    game = np.concatenate([np.repeat(np.arange(len(seats)), count) for count in counts])
    key = game * len(both.dictionary) + player
    return np.isin(key[: len(names)], key[len(names) :])


def _in_order(paths: Mapping[str, Path], ids: pa.Array, rows: Mapping[str, Ints]) -> bool:
    """Tell whether some tables have so many rows of each game, game after game."""
    for table, counts in rows.items():
        ((column,), _) = _columns(paths[table], ("game",), ())
        column = column.combine_chunks()
        games, words = column.indices.to_numpy(), column.dictionary
        if not words.equals(ids):
            games = pc.fill_null(pc.index_in(words, ids), -1).to_numpy()[games]
        if not np.array_equal(games, np.repeat(np.arange(len(counts), dtype=np.int32), counts)):
            return False
    return True
