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
from typing import TYPE_CHECKING, Any

from msgspec import Struct, json

from tenklog import archive, files, reading
from tenklog.archive import Manifest, Part, Replays
from tenklog.archiving import Writer
from tenklog.errors import DataError, TenklogError, UsageError
from tenklog.events import digest
from tenklog.outcomes import Row, plainly, row_of
from tenklog.replayer import Replayed
from tenklog.rules import Ruleset, change, parse_changes, shown
from tenklog.staging import in_processes, in_threads, synced
from tenklog.sweep import Axis, Sweep, SweepRow, contradicts, values
from tenklog.tables import ASKED, TABLES, quoted
from tenklog.walk import Settle

if TYPE_CHECKING:
    import pyarrow as pa

    from tenklog.bulk import Known
    from tenklog.columns import Ask

COMMIT = 0.5  # seconds between two commits
RULESETS = 32  # that are replayed under at once; what was found out about each takes memory
FEW = 100  # games of a part that a thread replays plainly; more of them are work for a process


class Asked(Struct, frozen=True):
    """What games are replayed under: a ruleset with its name, or their own (None), and what was changed as typed.

    A ruleset has its changes already; games' own rules are still to be changed.
    """

    name: str
    rules: Ruleset | None
    changes: tuple[str, ...] = ()
    settle: Settle = "bank"
    keep_rule_changes: bool = False

    @property
    def key(self) -> str:
        """Return what stands for all of it."""
        return digest(json.encode(self))

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
    UsageError for rules that contradict themselves, Busy when somebody else writes to the archive, DataError when it is
    damaged.
    """
    folder = Path(os.path.abspath(folder))
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
                fresh.append(
                    Replays(one.of, one.asked, archive.code(), files_["replays"], files_.get("replayed_turns"))
                )
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
        import pyarrow.parquet  # noqa: F401  (what `bulk` imports when it reads)

        from tenklog.bulk import Known
    except ImportError:
        raise UsageError("replaying an archive needs numpy and pyarrow", "pip install 'tenklog[bulk]'") from None
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

    from tenklog.bulk import Told, by_turns, looked_up, table_of
    from tenklog.columns import read

    part, asked = one
    sources = {table: archive.source(folder, Manifest(1, (part,)), table) for table in TABLES}
    recorded = read(
        partial(known.ask, sources), {table: folder / file.name for table, file in part.files.items()}, known.symbols
    )
    games, turns = recorded.games, int(recorded.turns.sum())
    made: list[Made | Asked] = []
    for rules in asked:
        agreed = rules_of(partial(known.ask, sources), rules)
        told = Told(recorded, by_turn)
        tables, left = looked_up(recorded, agreed, rules.settle, known, told)
        if len(left) > most:
            made.append(rules)
            continue
        rows: list[Row] = []
        walked = []
        for place in left:
            here = agreed[recorded.rules[place]] if isinstance(agreed, dict) else agreed
            row = by_turns(recorded, place, known.rules(here, rules.settle), told) if recorded.plain[place] else None
            if row is None:
                walked.append(place)
            else:
                rows.append(row)
        for place, log, replayed in _walked(folder, part, {games[place]: place for place in walked}, rules):
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
    for name, (value, kind) in given.items():
        rows = rows.append_column(name, pa.repeat(pa.scalar(value, kind), len(rows)))
    with files.telling(target):
        pq.write_table(rows.select([column.name for column in ASKED[table]]), target, compression="zstd")
    return len(rows)


# -- what they show together ------------------------------------------------------------------------------------------


class Total(Struct, frozen=True):
    """One ruleset over all games of an archive: how often the same or others win; undecided is where not both are
    finished. `changed` is the share of other winners among the decided; `rounds` and `turns` are means of a replayed
    game. The last four add up to all recorded turns.
    """  # noqa: D205

    rules: str
    changes: tuple[str, ...]
    games: int
    same_winner: int
    other_winner: int
    undecided: int
    stopped: int
    changed: float | None
    rounds: float
    turns: float
    guesses: int
    same: int
    rescored: int
    settled: int
    never_happened: int


class ArchiveReplay(Struct, frozen=True):
    """All games of an archive under some rulesets, in the order asked, and what of that this run did."""

    settle: Settle
    totals: list[Total]
    done: Done


# What a total sums up, of rows of `replays`.
SUMS = (
    "count(*), count(*) FILTER (WHERE same_winner), count(*) FILTER (WHERE NOT same_winner), "
    "count(*) FILTER (WHERE status = 'stopped'), avg(rounds), avg(turns), sum(guesses)::BIGINT, sum(same)::BIGINT, "
    "sum(rescored)::BIGINT, sum(settled)::BIGINT, sum(never_happened)::BIGINT"
)


def summed(asked: Asked, sums: Sequence[Any]) -> Total:
    """Return the total of some rulesets' rows from their SUMS."""
    games, same, other, stopped, *rest = (one or 0 for one in sums)
    changed = other / (same + other) if same + other else None
    return Total(asked.name, asked.changes, games, same, other, games - same - other, stopped, changed, *rest)


def totals(folder: Path, asked: Sequence[Asked]) -> list[Total]:
    """Sum up what an archive keeps of replays under some rulesets."""
    return archive.consult(folder, ("replays",), lambda manifest: [_total(folder, manifest, one) for one in asked])


def _total(folder: Path, manifest: Manifest, asked: Asked) -> Total:
    files_ = [one.file for one in manifest.replays if one.asked == asked.key and one.code == archive.code()]
    if not files_:
        return summed(asked, (0, 0, 0, 0, 0.0, 0.0, 0, 0, 0, 0, 0))
    con = archive.connect()
    try:
        paths = ", ".join(quoted(folder / file.name) for file in files_)
        return summed(asked, con.execute(f"SELECT {SUMS} FROM read_parquet([{paths}])").fetchall()[0])
    finally:
        con.close()


def sweep_archive(
    folder: Path,
    rules: Ruleset | None,
    fixed: Sequence[str],
    axes: Sequence[Axis],
    settle: Settle = "bank",
    **options: Any,
) -> tuple[Sweep, Done]:
    """Replay an archive with each value of one or two settings, as `sweep` does logs (options as for the archive)."""
    own = [rules] if rules is not None else archive.consult(folder, ("games",), _rulesets(folder))
    steps, left_out = planned(own, rules, fixed, axes, settle)
    asked = [one for _, one in steps]
    done = replay_archive(folder, asked, **options)
    return swept(rules, settle, axes, steps, left_out, totals(folder, asked)), done


# Each value of a sweep (or pair of values) by its setting, with what games are replayed under.
Steps = list[tuple[dict[str, str], Asked]]


def planned(
    own: Sequence[Ruleset], rules: Ruleset | None, fixed: Sequence[str], axes: Sequence[Axis], settle: Settle
) -> tuple[Steps, list[str]]:
    """Return the steps of a sweep and which values contradict the rules; `own` are all rulesets that get a value.

    Raise UsageError when no value can be played.
    """
    if not own:
        raise UsageError("the archive is empty", "games in it, with `tenklog archive`")
    name = "recorded" if rules is None else rules.name
    steps: dict[str, tuple[dict[str, str], Asked]] = {}
    left_out = []
    for named, texts in values(fixed, axes):
        try:
            changed = [change(one, parse_changes(texts, one)) for one in own]
        except UsageError as error:
            if not contradicts(own[0], texts):
                raise
            left_out.append(f"{' '.join(texts[len(fixed) :])}: {error.what}")
            continue
        one = Asked(name, None if rules is None else changed[0], tuple(texts), settle)
        steps[one.key] = ({key: shown(value) for key, value in named.items()}, one)
    if not steps:
        raise UsageError(f"no value can be played: {left_out[0]}", "another range")
    return list(steps.values()), left_out


def swept(
    rules: Ruleset | None,
    settle: Settle,
    axes: Sequence[Axis],
    steps: Steps,
    left_out: list[str],
    found: Sequence[Total],
) -> Sweep:
    """Return a sweep from the totals of its steps."""
    rows = [
        SweepRow(named, *(getattr(total, key) for key in SweepRow.__struct_fields__[1:]))
        for (named, _), total in zip(steps, found, strict=True)
    ]
    return Sweep("recorded" if rules is None else rules.name, settle, [axis.key for axis in axes], rows, left_out)


def played(execute: Callable[[str], Any], games: str) -> list[Ruleset]:
    """Ask a connection by which rulesets the games of a table, or of a question in brackets, were played."""
    rows = execute(f"SELECT any_value(ruleset) AS ruleset FROM {games} GROUP BY rules_hash ORDER BY 1").fetchall()
    return [json.decode(text, type=Ruleset) for (text,) in rows]


def _rulesets(folder: Path) -> Callable[[Manifest], list[Ruleset]]:
    """Return the question by which rulesets the archived games were played."""

    def question(manifest: Manifest) -> list[Ruleset]:
        con = archive.connect()
        try:
            return played(con.execute, f"({archive.source(folder, manifest, 'games')})")
        finally:
            con.close()

    return question
