"""Compare bulk replays with plain ones, game by game and field by field, over random games under random rulesets.

    python tests/bulk_equality.py [--games 10000] [--rulesets 50] [--seed 0]

In three of four games nothing unusual happens, the others hold everything that a log can. Half of the rulesets are
simple enough to replay many games together. Prints which settings and divergences were seen how often: in all games, in
those replayed together, and in those looked up turn by turn. Exits 1 when a field differs, or too little was seen.
"""

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, get_args

from msgspec.structs import astuple, replace
from random_games import ASIDES, ENUMERATED, random_changes, random_play, random_ruleset

from tenklog import archive, archiving, bulk, columns, events, jit, reading, replays
from tenklog.compare import compare
from tenklog.errors import TenklogError
from tenklog.lines import seal_all
from tenklog.replayer import GUESSES, Kind, Replayed, replay
from tenklog.rules import Ruleset, change, parse_changes
from tenklog.tables import ASKED, REPLAYS, TABLES

UNUSUAL = ({"sheet", "steal", "challenge", *ASIDES}) - {"undo", "fix", "note", "expect"}
WALKED = {"ability-missing", "no-dice"}  # what is no throw of dice is in no table
TOGETHER_NEVER = WALKED | {"wins-here"}
FIELDS = tuple(column.name for column in REPLAYS)
CHUNK = 250


def usual(rng: Random, rules: Ruleset) -> Ruleset:
    """Return rules like these under which turns can be looked up."""
    while True:
        changes: dict[str, Any] = {
            "must_beat_previous": False,
            "reach": rng.choice(("at-least", "at-least", "more-than")),
            "negative_totals": True,
            "wipeout": None if rng.random() < 0.8 else rules.wipeout,
        }
        if rng.random() < 0.5:
            changes |= {"blank_throw": 0, "last_die_rolls": 1, "instant_win": None}
        try:
            return change(rules, changes)
        except TenklogError:
            rules = random_ruleset(rng)


def recorded_rules(number: int) -> Ruleset:
    """Return the rules of game number N: twenty games have the same."""
    rng = Random(f"recorded {number // 20}")
    rules = random_ruleset(rng)
    return usual(rng, rules) if number // 20 % 2 else rules


def record(number: int) -> list[events.Event]:
    """Play game number N."""
    rng = Random(f"game {number}")
    plain = number % 4 > 0
    log, _ = random_play(
        rng, recorded_rules(number), lines=rng.choice((80, 160, 240)), without=UNUSUAL if plain else (),
        asides=rng.choice((0.0, 0.05)) if plain else 0.08, replay=not plain and rng.random() < 0.1,
    )  # fmt: skip
    assert isinstance(log[0], events.Start)
    return [replace(log[0], game=f"game-{number:06}"), *log[1:]]


def write(folder: Path, numbers: range) -> None:
    """Write games as logs."""
    for number in numbers:
        data = b"".join(line + b"\n" for line in seal_all(record(number)))
        (folder / f"game-{number:06}.jsonl").write_bytes(data)


def asked(number: int, games: int) -> replays.Asked:
    """Return what replay number N is under: any rules, such as can be looked up, or rules near to those of games."""
    rng = Random(f"asked {number}")
    if number % 10 == 9:
        changes = () if number % 20 == 9 else (f"target={rng.choice((500, 1000, 3000))}", "hot_dice=must-roll")
        return replays.Asked("recorded", None, changes)
    rules = random_ruleset(rng)
    if number % 3 == 0:
        rules = recorded_rules(rng.randrange(games))
        while True:
            try:
                rules = change(rules, random_changes(rng, rng.randint(1, 3)))
                break
            except TenklogError:
                continue
    if number % 2:
        rules = usual(rng, rules)
    if rng.random() < 0.6:
        rules = change(rules, {"dice": 6})
    policy: Any = ("bank", "bank", "void", "bank", "stop")[number % 5]
    return replays.Asked(f"{rules.name} {number}", rules, (), policy, keep_rule_changes=False)


def expected(log: reading.Log, one: replays.Asked, found: Replayed) -> tuple[Any, ...]:
    """Return the row of the table `replays` that a plain replay calls for."""
    summary = compare([(log.game, [found])]).summary[0]
    same = {(1, 0): True, (0, 1): False, (0, 0): None}[summary.same_winner, summary.other_winner]
    standings = {standing.seat - 1: standing.total for standing in found.replay.standings}
    totals = [standings[here] if here is not None else None for _, here in sorted(found.seats.items())]
    turns = found.replay.turns
    return (
        log.start.game, one.name, " ".join(one.changes) or None, one.settle, one.keep_rule_changes,
        found.replay.status, found.replay.winners, found.replay.leaders, totals, same, found.game.position.round,
        sum(standing.turns for standing in found.replay.standings), found.replay.guesses, turns.same, turns.rescored,
        turns.settled, turns.never_happened,
    )  # fmt: skip


def plain(folder: Path, every: Sequence[replays.Asked], games: Sequence[str]) -> list[Any]:
    """Replay games one by one; return for each under each of the rules the row, and the kinds of its divergences."""
    rows = []
    for game in games:
        log = reading.read(folder / f"{game}.jsonl")
        for number, one in enumerate(every):
            changes = parse_changes(one.typed, log.game.position.pending or log.game.position.rules)
            found = replay(log.game, log.events, one.rules, settle=one.settle, changes=changes, of=log.fingerprint)
            kinds = [part.kind for part in found.replay.divergences]
            rows.append((number, expected(log, one, found), kinds, turns_of(game, one, found)))
    return rows


def looked_up(folder: Path, every: Sequence[replays.Asked]) -> tuple[set[tuple[int, str]], set[tuple[int, str]]]:
    """Return which games are looked up under which of the rules: all together, and turn by turn.

    What is compiled and what is not must give the same.
    """
    together, by_turns = set(), set()
    known = bulk.Known()
    for part in archive.open_archive(folder).parts:
        sources = {table: archive.source(folder, archive.Manifest(1, (part,)), table) for table in TABLES}
        paths = {table: folder / file.name for table, file in part.files.items()}
        ask = partial(known.ask, sources)
        both = []
        for jit.COMPILED in (True, False):
            recorded = columns.read(ask, paths, known.symbols)
            both.append([one.tolist() if hasattr(one, "tolist") else one for one in astuple(recorded)])
        assert both[0] == both[1]
        for number, one in enumerate(every):
            rules = replays.rules_of(ask, one)
            pair = []
            for jit.COMPILED in (True, False):
                told = bulk.Told(recorded, asked=True)
                tables, left = bulk.looked_up(recorded, rules, one.settle, known, told)
                of_turns = [row for row in told.table(recorded).to_pylist() if row["game"] not in {*left}]
                rows = sorted((row for table in tables for row in table.to_pylist()), key=lambda row: row["game"])
                pair.append((rows, left, of_turns))
            assert pair[0] == pair[1], number
            together |= {(number, game) for table in tables for game in table["game"].to_pylist()}
            rows, _ = bulk.turn_by_turn(recorded, left, rules, one.settle, known, told)
            by_turns |= {(number, row.game) for row in rows}
    return together, by_turns


def kept(folder: Path, one: replays.Asked) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that an archive keeps of replays under some rules."""
    return of_table(folder, one, "replays")


def of_table(folder: Path, one: replays.Asked, table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table that an archive keeps of replays under some rules."""
    manifest = archive.open_archive(folder)
    paths = [str(folder / found.files[table].name) for found in manifest.replays if found.asked == one.key]
    con = archive.connect()
    names = ", ".join(f'"{column.name}"' for column in ASKED[table])
    yield from con.execute(f"SELECT {names} FROM read_parquet($paths)", {"paths": paths}).fetchall()
    con.close()


def turns_of(game: str, one: replays.Asked, found: Replayed) -> list[tuple[Any, ...]]:
    """Return the rows of the table `replayed_turns` that a plain replay calls for."""
    given = (game, one.name, " ".join(one.changes) or None, one.settle, one.keep_rule_changes)
    return [(*given, turn.turn, turn.became, turn.kind, turn.kind in GUESSES, turn.change) for turn in found.turns]


def main() -> int:
    """Compare, print, and return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--rulesets", type=int, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        return compare_all(Path(name), given.games, given.rulesets, least=50)


def compare_all(place: Path, games: int, rulesets: int, least: int) -> int:
    """Compare all games under all rules; return the number of mistakes."""
    every = [asked(number, games) for number in range(rulesets)]
    logs, folder = place / "games", place / "archive"
    logs.mkdir()
    chunks = [range(first, min(first + CHUNK, games)) for first in range(0, games, CHUNK)]
    with ProcessPoolExecutor() as pool:
        list(pool.map(partial(write, logs), chunks))
        outcomes = archiving.archive_logs(folder, sorted(logs.iterdir()))
        over = [one.game for one in outcomes if one.result == "archived"]
        done = replays.replay_archive(folder, every, turns=True, processes=2)
        print(f"{len(over)} games, {rulesets} rulesets; {done.looked_up / done.turns:.1%} of the turns looked up")
        fast, slow = looked_up(folder, every)
        rows = {(number, row[0]): row for number, one in enumerate(every) for row in kept(folder, one)}
        compared = 0
        seen, quick, single = Counter[str](), Counter[str](), Counter[str]()
        turns: dict[tuple[int, str], list[tuple[Any, ...]]] = defaultdict(list)
        for number, one in enumerate(every):
            for row in of_table(folder, one, "replayed_turns"):
                turns[number, row[0]].append(row)
        wrong = int(len(rows) != len(over) * rulesets)
        some = [over[first : first + CHUNK] for first in range(0, len(over), CHUNK)]
        for found in pool.map(partial(plain, logs, every), some):
            for number, row, kinds, of_turns in found:
                compared += len(of_turns)
                seen.update(kinds)
                one = every[number].rules
                here = [f"{key}={getattr(one, key)}" for key in ENUMERATED] if one else []
                seen.update(here)
                if (number, row[0]) in fast:
                    quick.update(kinds)
                    quick.update(here)
                elif (number, row[0]) in slow:
                    single.update(kinds)
                    single.update(here)
                if rows.get((number, row[0])) != row:
                    wrong += 1
                    if wrong < 5:
                        pairs = zip(FIELDS, row, rows.get((number, row[0]), ()), strict=False)
                        print(number, row[0], [one for one in pairs if one[1] != one[2]])
                if turns[number, row[0]] != of_turns:
                    wrong += 1
                    if wrong < 5:
                        print(number, row[0], [*zip(of_turns, turns[number, row[0]], strict=False)])
    wanted = [*get_args(Kind), *(f"{key}={value}" for key, values in ENUMERATED.items() for value in values)]
    for key in wanted:
        counts = [seen[key]]
        if key in get_args(Kind):
            counts += ([quick[key]] if key not in TOGETHER_NEVER else []) + ([single[key]] if key not in WALKED else [])
        few = min(counts) < least
        wrong += int(few)
        print(f"{key:<36}{seen[key]:>9}{quick[key]:>9}{single[key]:>9}{'  TOO FEW' if few else ''}")
    print(f"{len(rows)} replays of {compared} turns compared, {wrong} mistakes")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
