"""Replays: this module replays a whole archive, and keeps what that gave in the archive itself, as the table `replays`.

Each part of the archive gets a file for each ruleset asked for, and one more where each turn was asked for (the table
`replayed_turns`), staged, synced and then listed in the manifest. They stand for that very part, ruleset and tenklog: a
run that was killed goes on where it was, and what was made of a part that is live no more is live no more either. Needs
numpy and pyarrow.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct, json

from tenklog import archive, files, reading
from tenklog.archive import Manifest, Part, Replays
from tenklog.archiving import Writer
from tenklog.errors import DataError, TenklogError, UsageError
from tenklog.events import digest
from tenklog.outcomes import plainly, row_of
from tenklog.replayer import Replayed
from tenklog.rules import Ruleset, change, parse_changes
from tenklog.staging import in_processes, in_threads, synced
from tenklog.tables import ASKED, TABLES
from tenklog.walk import Settle

if TYPE_CHECKING:
    import pyarrow as pa

    from tenklog.bulk import Known
    from tenklog.columns import Ask

COMMIT = 0.5  # seconds between two commits
RULESETS = 32  # that are replayed under at once; what was found out about each takes memory
FEW = 100  # games of a part that a thread replays plainly; more of them are work for a process
# Once so many bytes were held and freed, glibc keeps free what it would give back after each part and ask for again.
HELD = 31 << 20


class Asked(Struct, frozen=True):
    """What games are replayed under: a ruleset with its name, or their own (None), and what was changed as typed.

    A ruleset has its changes already, and `base` is what it was before; games' own rules are still to be changed.
    """

    name: str
    rules: Ruleset | None
    changes: tuple[str, ...] = ()
    settle: Settle = "bank"
    keep_rule_changes: bool = False
    base: Ruleset | None = None

    @property
    def key(self) -> str:
        """Return what stands for all of it."""
        return digest(json.encode(self))

    @property
    def source(self) -> str:
        """Return what stands for the ruleset before its changes: it has its name alone in an archive."""
        return digest(json.encode(self.base or self.rules))

    @property
    def typed(self) -> tuple[str, ...]:
        """Return the changes that are still to be made."""
        return self.changes if self.rules is None else ()


class Made(Struct, frozen=True):
    """What was made of a part under a ruleset: by table its staged files, not yet synced, with their rows.

    Of the part's turns, how many were looked up.
    """

    of: str
    asked: str
    staged: dict[str, tuple[Path, int]]
    turns: int
    looked_up: int


class Done(Struct, frozen=True):
    """What a run did. A part is one of the archive under one ruleset: how many were made, how many there already.

    Of those that were made: the games, the recorded turns, and how many of these were looked up, not walked.
    """

    made: int
    there: int
    games: int
    turns: int
    looked_up: int


def replay_archive(
    folder: Path,
    asked: Sequence[Asked],
    *,
    turns: bool = False,
    timeout: float = 10.0,
    processes: int = 1,
    progress: Callable[[int], object] = lambda count: None,
) -> Done:
    """Replay each archived game under each of some rulesets, as far as that is not done already.

    With `turns`, keep what became of each of its turns too. `progress` is told of games, once for each ruleset. Raise
    UsageError for rules that contradict themselves or are called alike, Busy when somebody else writes to the archive,
    DataError when it is damaged.

    What was kept of other rules of the same name, as those were before somebody changed them, is kept no more.
    """
    folder = Path(os.path.abspath(folder))
    by_key = {one.key: one for one in asked}
    asked = [*by_key.values()]
    sources: dict[str, str] = {}
    for rules in asked:
        if sources.setdefault(rules.name, rules.source) != rules.source:
            raise UsageError(f"two rulesets are called {rules.name}", "a name for each")
    with files.Lock(folder / archive.MANIFEST, timeout):
        writer = Writer(folder)
        keys = {one.key for one in asked}
        kept = [one for one in writer.manifest.replays if one.asked in keys]
        there = {(one.of, one.asked) for one in kept if (one.turns is not None or not turns) and _is_sound(folder, one)}
        todo = [(part, [one for one in asked if (part.key, one.key) not in there]) for part in writer.manifest.parts]
        whole = sum(part.games for part in writer.manifest.parts) * len(asked)
        progress(whole - sum(part.games * len(missing) for part, missing in todo))
        made: list[Made] = []
        fresh: list[Replays] = []
        began = monotonic()
        try:
            missing_ones = [(part, missing) for part, missing in todo if missing]
            for one in _all(folder, missing_ones, turns, processes, progress):
                made.append(one)
                # Here, so that those who replay need not wait for the disk.
                files_ = {table: synced(*staged) for table, staged in one.staged.items()}
                rules = by_key[one.asked]
                fresh.append(
                    Replays(
                        one.of, one.asked, archive.code(), files_["replays"], files_.get("replayed_turns"),
                        rules.name, rules.source,
                    )
                )  # fmt: skip
                if monotonic() - began > COMMIT:
                    _commit(writer, fresh)
                    began = monotonic()
            _commit(writer, fresh)
            writer.sweep()
        except BaseException:
            with suppress(OSError, TenklogError):
                _commit(writer, fresh)
                writer.clear()
            raise
    count = {part.key: part.games for part, _ in todo}
    return Done(
        len(made), len(todo) * len(asked) - len(made), sum(count[one.of] for one in made),
        sum(one.turns for one in made), sum(one.looked_up for one in made),
    )  # fmt: skip


def _is_sound(folder: Path, one: Replays) -> bool:
    """Tell whether what was made is still as it was made; if not, it is made again."""
    try:
        return one.code == archive.code() and not any(archive.damage(folder, file) for file in one.files.values())
    except DataError:
        return False


def _commit(writer: Writer, fresh: list[Replays]) -> None:
    """List what was staged."""
    if fresh:
        writer.add_replays(fresh)
        fresh.clear()


def _all(
    folder: Path,
    todo: Sequence[tuple[Part, list[Asked]]],
    turns: bool,
    processes: int,
    progress: Callable[[int], object],
) -> Iterator[Made]:
    """Replay parts on all cores: in threads what can be looked up, and then what needs many walks in processes."""
    if not todo:
        return
    # pyarrow's own allocator keeps what a thread has read, as much again as all that a replay holds at once.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        import numpy as np
        import pyarrow.parquet  # noqa: F401  (what `bulk` imports when it reads)

        from tenklog.bulk import Known
    except ImportError:
        raise UsageError("replaying an archive needs numpy and pyarrow", "pip install 'tenklog[bulk]'") from None
    np.empty(HELD, np.uint8)  # at once free again
    walks: list[tuple[Part, Asked]] = []
    for first in range(0, max((len(asked) for _, asked in todo), default=0), RULESETS):
        some = [(part, asked[first : first + RULESETS]) for part, asked in todo]
        for (part, _), found in in_threads(partial(_replay, folder, Known(), turns, FEW), some, processes):
            for one in found:
                if isinstance(one, Made):
                    progress(part.games)
                    yield one
                else:
                    walks.append((part, one))
    games = {part.key: part.games for part, _ in walks}
    for one in in_processes(partial(_walk, folder, turns), walks, processes, folder):
        progress(games[one.of])
        yield one


def _walk(folder: Path, by_turn: bool, one: tuple[Part, Asked]) -> Made:
    from tenklog.bulk import Known

    part, asked = one
    (made,) = _replay(folder, Known(), by_turn, part.games, (part, [asked]))
    assert isinstance(made, Made)
    return made


# -- a part -----------------------------------------------------------------------------------------------------------


def _replay(
    folder: Path, known: "Known", by_turn: bool, most: int, one: tuple[Part, list[Asked]]
) -> list[Made | Asked]:
    """Replay the games of a part under some rulesets, one after another.

    A ruleset under which more than `most` games are not simple is returned as it is.
    """
    import pyarrow as pa

    from tenklog.bulk import Told, looked_up, table_of, turn_by_turn
    from tenklog.columns import read

    part, asked = one
    sources = {table: archive.source(folder, Manifest(1, (part,)), table) for table in TABLES}
    recorded = read(
        partial(known.ask, sources), {table: folder / file.name for table, file in part.files.items()}, known.symbols
    )
    turns = int(recorded.turns.sum())
    made: list[Made | Asked] = []
    for rules in asked:
        agreed = rules_of(partial(known.ask, sources), rules)
        told = Told(recorded, by_turn)
        tables, left = looked_up(recorded, agreed, rules.settle, known, told)
        if len(left) > most:
            made.append(rules)
            continue
        rows, walked = turn_by_turn(recorded, left, agreed, rules.settle, known, told)
        for place, log, replayed in _walked(folder, part, {recorded.game(place): place for place in walked}, rules):
            rows.append(row_of(log, replayed))
            if by_turn:
                told.note(recorded, place, replayed.turns)
        if rows or not tables:
            tables.append(table_of(rows))
        found = {"replays": pa.concat_tables(tables)} | ({"replayed_turns": told.table(recorded)} if by_turn else {})
        staged = {}
        for table, those in found.items():
            target = folder / f"_{os.getpid()}-{part.key[:16]}{rules.key[:16]}-{table}.parquet"
            staged[table] = (target, _write(target, table, those, rules))
        looked = turns - int(recorded.turns[walked].sum())
        made.append(Made(part.key, rules.key, staged, turns, looked))
    return made


def rules_of(ask: "Ask", asked: Asked) -> dict[str, Ruleset] | Ruleset:
    """Return the rules that all games are replayed under, or those of the games by the hash of their own rules."""
    if asked.rules is not None:
        return asked.rules
    found = {}
    for rules_hash, text in ask("SELECT rules_hash, any_value(ruleset) FROM ({games}) GROUP BY 1", {}):
        own = json.decode(text, type=Ruleset)
        found[rules_hash] = change(own, parse_changes(asked.typed, own))
    return found


def _walked(
    folder: Path, part: Part, places: Mapping[str, int], asked: Asked
) -> Iterator[tuple[int, reading.Log, Replayed]]:
    """Yield games, each replayed by itself, with their places."""
    games = list(places)
    for first in range(0, len(games), FEW):
        for game, data in archive.logs(folder, Manifest(1, (part,)), games[first : first + FEW]):
            try:
                log = reading.parse(data, game)
                yield places[game], log, plainly(log, asked.rules, asked.settle, asked.keep_rule_changes, asked.typed)
            except TenklogError as error:
                raise error.at(game) from None


def _write(target: Path, table: str, rows: "pa.Table", asked: Asked) -> int:
    """Write the rows of a table to a staged file, and return how many."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    given = {
        "rules": (asked.name, pa.string()), "changes": (" ".join(asked.changes) or None, pa.string()),
        "settle": (asked.settle, pa.string()), "keep_rule_changes": (asked.keep_rule_changes, pa.bool_()),
    }  # fmt: skip
    columns = {
        one.name: pa.repeat(pa.scalar(*given[one.name]), len(rows)) if one.name in given else rows[one.name]
        for one in ASKED[table]
    }
    with files.telling(target), pa.OSFile(str(target), "wb") as out:
        pq.write_table(pa.table(columns), out, compression="snappy")  # small already, and zstd takes half as long again
    return len(rows)
