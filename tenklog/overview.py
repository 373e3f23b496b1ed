"""Overview: this module sums up what replays of a whole archive made, ruleset by ruleset, and along settings."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, json

from tenklog import archive
from tenklog.archive import Manifest
from tenklog.errors import UsageError
from tenklog.replays import Asked, Done, replay_archive
from tenklog.rules import Ruleset, change, parse_changes, shown
from tenklog.sweep import Axis, Sweep, SweepRow, contradicts, values
from tenklog.tables import quoted
from tenklog.walk import Settle


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
        one = Asked(name, None if rules is None else changed[0], tuple(texts), settle, base=rules)
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
