"""The reports: by hand over a few games, and cell by cell against a second reading of many random ones."""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import product
from math import erfc, exp, isclose, pi, sqrt
from pathlib import Path
from random import Random
from typing import Any

import pytest
from evening import Evening, ruleset, start
from msgspec.structs import replace
from random_games import random_play, random_ruleset
from report_reference import REPORTS, Facts, Row, chance, facts, rows, wilson

from tenklog import events, reading, reports, stats
from tenklog.archiving import archive_logs
from tenklog.decider import Abandon, draft
from tenklog.dice import throws
from tenklog.game import fold, retold
from tenklog.lines import seal_all
from tenklog.replays import Asked, replay_archive
from tenklog.reports import Report
from tenklog.rulebook import preset
from tenklog.rules import Ruleset, change
from tenklog.scoring import Table
from tenklog.state import Turn
from tenklog.stats import ORIGINS, Answer, Filters
from tenklog.store import write_log
from tenklog.turns import play

Log = list[events.Event]
# Those about luck have tests of their own, in test_luck_reports.py.
KNOWN = {name: report for name, report in reports.ours().items() if report.needs != "luck"}
EVERYTHING = Filters(origins=ORIGINS)
GAMES = 2_000 if os.environ.get("TENKLOG_LONG") else 300
KINDS: dict[str, type | tuple[type, ...]] = {
    "text": str, "count": int, "points": int, "mean": float, "share": float, "p": float, "time": datetime,
}  # fmt: skip


def differences(report: Report, answer: Answer, expected: Sequence[Row]) -> list[str]:
    """Say where an answer is not what was expected: columns, number of rows, kinds of cells, cells."""
    found = []
    names = tuple(column.name for column in report.columns)
    if answer.columns != names:
        found.append(f"{report.name}: columns {answer.columns}, not {names}")
    if len(answer.rows) != len(expected):
        found.append(f"{report.name}: {len(answer.rows)} rows, not {len(expected)}")
    for number, (got, right) in enumerate(zip(answer.rows, expected, strict=False)):
        assert len(got) == len(right) == len(report.columns)
        for column, one, other in zip(report.columns, got, right, strict=True):
            if one is not None and (type(one) is bool or not isinstance(one, KINDS[column.unit])):
                found.append(f"{report.name}.{column.name}, row {number}: {one!r} is no {column.unit}")
            elif not same(column.unit, one, other):
                found.append(f"{report.name}.{column.name}, row {number} {right[:2]}: {one!r}, not {other!r}")
    return found


def same(unit: str, one: Any, other: Any) -> bool:
    """Compare two cells; NaN equals nothing, and None only None."""
    if isinstance(one, float) and isinstance(other, int | float):
        return isclose(one, other, rel_tol=1e-6 if unit == "p" else 1e-9, abs_tol=0 if unit == "p" else 1e-10)
    return bool(one == other)


def archive(folder: Path, logs: Iterable[Log]) -> list[str]:
    """Write logs, archive them, and return what became of each."""
    paths = []
    for log in logs:
        first = log[0]
        assert isinstance(first, events.Start)
        paths.append(folder / "games" / f"{first.game}.jsonl")
        write_log(paths[-1], log)
    return [outcome.result for outcome in archive_logs(folder / "archive", paths)]


def run(folder: Path, name: str, filters: Filters = EVERYTHING) -> list[Row]:
    """Return the rows of a report over an archive that `archive` made."""
    return stats.run(folder / "archive", KNOWN[name], filters).rows


def column(name: str, rows_: Sequence[Row], wanted: str) -> list[Any]:
    """Return one column of a report's rows."""
    place = [one.name for one in KNOWN[name].columns].index(wanted)
    return [row[place] for row in rows_]


def timed(log: Iterable[events.Event], begun: datetime, step: timedelta = timedelta(seconds=30)) -> Log:
    """Give the first event this time, and each other one half a minute more."""
    return [replace(event, time=stamp(begun + number * step)) for number, event in enumerate(log)]


def stamp(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03}Z"


def game(name: str, agreed: Ruleset, players: str, script: str, **fields: Any) -> Log:
    """Play a game by a script."""
    first = start(players, agreed, game=name, **fields)
    return Evening([first], fold([first])).then(script).log


def test_every_report_has_a_reference() -> None:
    assert KNOWN.keys() == REPORTS.keys() == EXPECTED.keys()


# -- by hand ----------------------------------------------------------------------------------------------------------

# Under `farkle-classic` a one is 100, a five 50, three ones 1000, three others 100 times their face.
CLASSIC = ruleset(target=1000, last_turns="everyone-else", tie="shared")
QUICK = replace(ruleset(target=500, last_turns="everyone-else", tie="shared"), name="quick")
HOUSE = replace(
    ruleset(target=800, last_turns="everyone-else", steal="after-bust", challenge_split=400,
            challenge_penalties=(50, 50)),
    name="house",
)  # fmt: skip
DAY = [datetime(2026, 1, day, 20) for day in range(1, 10)]

BY_HAND: list[Log] = [
    # Anna and Ben share the win with 1500. 18 events: 8.5 minutes.
    timed(game("one", CLASSIC, "Anna Ben",
               "roll 112346, keep 1, roll 23466,"  # Anna, round 1: loses 100
               "roll 152346, keep 15, bank,"  # Ben: 150
               "roll 111555, keep 111555, bank,"  # Anna, round 2: 1500 with hot dice; Ben has a last turn, 1350 behind
               "roll 111234, keep 111, roll 115, keep 115, roll 123456, keep 1, bank"  # Ben: 1000 + 250, hot, + 100
               ), DAY[0]),
    # Cara wins with 600, Anna has 500, Ben 300. A score sheet. 8 events: 3.5 minutes, 3 rounds begun.
    timed(game("two", QUICK, "Ben Anna Cara",
               "bank 300, bust, bank 200,"
               "bank 0, bank 500,"  # Ben is scoreless; Anna reaches the target, Cara is 300 behind
               "bank 400, bust"  # in the last turns Cara passes Anna, and Ben is 300 behind Cara
               ), DAY[1]),
    # Abandoned in the middle of Cara's turn.
    timed(game("three", CLASSIC, "Cara Anna",
               "roll 155346, keep 155, roll 234,"  # Cara: loses 200
               "roll 123346, keep 1, bank,"  # Anna: 100
               "roll 555234, keep 555, abandon"
               ), DAY[2]),
    # Anna wins with 1050; Ben leaves in his last turn; Dora, 1050 behind, lets the tool throw. 11 events: 5 minutes.
    timed(game("four", CLASSIC, "Anna Ben Dora",
               "roll 111234, keep 111, roll 225, keep 5, bank,"
               "roll 123346, keep 1, leave Ben,"
               "throw 223446",
               origin="import"), DAY[3]),
    # Ben wins with 950, Anna has 300. 24 events: 11.5 minutes.
    timed(game("five", HOUSE, "Ben Anna",
               "challenge Anna, roll 123346, keep 1, roll 22346,"  # Ben: loses 100, and 50 of his total
               "steal, roll 11234, keep 11, bank,"  # Anna: 100 stolen + 200
               "roll 555234, keep 555, bank,"  # Ben: 500
               "roll 222346, keep 222, roll 345, keep 5, roll 23,"  # Anna: loses 250
               "roll 555234, keep 555, bank,"  # Ben: 500, and Anna has a last turn, 650 behind
               "roll 223446"  # Anna: loses nothing
               ), DAY[4]),
    # Given up before it began, and nobody knows when.
    game("six", QUICK, "Eve", "abandon"),
    # A replay does not count unless it is asked for.
    timed(game("seven", CLASSIC, "Anna Fay", "bank 5000, bank 7000", origin="replay", of="7:" + "0f" * 16), DAY[6]),
    # Not over: not archived.
    timed(game("eight", CLASSIC, "Anna Ben", "bank 900"), DAY[7]),
]  # fmt: skip

# What the games by hand are replayed under.
HAND_ASKED = [
    Asked("recorded", None),
    Asked("quick", QUICK),
    Asked("quick", replace(QUICK, target=1200), ("target=1200",), "void", base=QUICK),
]

# Of 46656 throws of 6 dice 1440 have no one, no five and no three of a kind: of 2, 3, 4, 6 two each of three faces
# (4 * 90) or of two faces (6 * 180). Of 5 dice 2 2 1 (12 * 30) or 2 1 1 1 (4 * 60); of 3 dice 4**3 - 4; of 2 dice 4**2.
ODDS = {6: 1440 / 46656, 5: 600 / 7776, 3: 60 / 216, 2: 16 / 36}

# Wilson's interval, 95%, of k in n: (2 k + z2 -+ z sqrt(z2 + 4 k (n - k) / n)) / (2 (n + z2)), z2 = z z, in 40 digits.
W = {
    (0, 1): (0.0, 0.7934506856227627),
    (1, 1): (0.2065493143772374, 1.0),
    (1, 2): (0.09453120573423071, 0.9054687942657693),
    (2, 3): (0.20765960080204773, 0.9385080552796038),
    (1, 4): (0.04558726080970056, 0.6993581574175981),
    (2, 4): (0.1500389891521495, 0.8499610108478505),
    (3, 4): (0.3006418425824019, 0.9544127391902995),
    (2, 16): (0.03497748774324046, 0.36022827265758695),
}

EXPECTED: dict[str, list[Row]] = {
    # 6 dice: 5 rolls in one, 3 in three, 3 in four, 5 in five; Dora and Anna (in five) lost. 5 dice: Anna in one and
    # Ben in five lost, Anna's stolen dice did not. 3 dice: Ben, Cara (lost), Anna, Anna. 2 dice: Anna lost.
    "bust-rate": [
        (2, 1, 1, 1.0, *W[1, 1], ODDS[2]),
        (3, 4, 1, 0.25, *W[1, 4], ODDS[3]),
        (5, 3, 2, 2 / 3, *W[2, 3], ODDS[5]),
        (6, 16, 2, 2 / 16, *W[2, 16], ODDS[6]),
    ],
    # Changes are 0, 150, 1500, 1350 in one; 300, 0, 200, 0, 500, 400, 0 in two; 0, 100 in three; 1050, 0 in four; -50,
    # 300, 500, 0, 500, 0 in five: 6800 in 21 turns. For what becomes of them see "replays".
    "divergences": [
        ("quick", None, "bank", "replaced", "same", None, 17, 17 / 21, 6050 / 17, 6050 / 17),
        ("quick", None, "bank", "replaced", "never-happened", None, 2, 2 / 21, 500 / 2, None),
        ("quick", None, "bank", "replaced", "rescored", None, 1, 1 / 21, -50.0, 0.0),
        ("quick", None, "bank", "replaced", "settled", "dice-differ", 1, 1 / 21, 300.0, 0.0),
        ("quick", "target=1200", "void", "replaced", "same", None, 19, 19 / 21, 6550 / 19, 6550 / 19),
        ("quick", "target=1200", "void", "replaced", "rescored", None, 1, 1 / 21, -50.0, 0.0),
        ("quick", "target=1200", "void", "replaced", "settled", "dice-differ", 1, 1 / 21, 300.0, 0.0),
        ("recorded", None, "bank", "replaced", "same", None, 21, 1.0, 6800 / 21, 6800 / 21),
    ],
    # Ben was 1350 behind in one and shared the win, 300 behind Cara in two; his turn in four was dropped.
    "comebacks": [
        ("Cara", 1, 1, 1.0, 300, 300.0),
        ("Ben", 2, 1, 0.5, 1350, 1650 / 2),
        ("Anna", 1, 0, 0.0, None, 650.0),
        ("Dora", 1, 0, 0.0, None, 1050.0),
    ],
    "decisions": [
        (2, 250, 500, 1, 0, 1, 0.0),  # five: Anna rolls with 250
        (2, 1000, 1250, 1, 1, 0, 1.0),  # four: Anna banks 1050
        (3, 0, 250, 2, 0, 2, 0.0),  # Cara in three and Anna in five roll with 200
        (3, 250, 500, 1, 1, 0, 1.0),  # five: Anna banks 300
        (3, 500, 750, 2, 2, 0, 1.0),  # five: Ben banks 500, twice
        (3, 1000, 1250, 2, 0, 2, 0.0),  # Ben in one and Anna in four roll with 1000
        (4, 0, 250, 1, 1, 0, 1.0),  # one: Ben banks 150
        (5, 0, 250, 3, 1, 2, 1 / 3),  # with 100 Anna in one and Ben in five roll, Anna in three banks
        (5, 1250, 1500, 1, 1, 0, 1.0),  # one: Ben banks 1350
        (6, 1250, 1500, 1, 0, 1, 0.0),  # one: Ben rolls with 1250
        (6, 1500, None, 1, 1, 0, 1.0),  # one: Anna banks 1500
    ],
    # Anna: 9 of each face expected, (4 + 16 + 1 + 0 + 16 + 9) / 9. Ben: the squares add up to 432, times 6 / 50, less
    # 50. Cara: 49 * 6 / 15 - 15. The tool threw for Dora. The chances are the density x**1.5 exp(-x / 2) / (2**2.5
    # gamma(2.5)), integrated by Simpson's rule; three times Anna's is over 1.
    "dice": [
        ("Anna", 54, 11, 13, 10, 9, 5, 6, 46 / 9, 0.4024712048, 1.0),
        ("Ben", 50, 9, 9, 10, 8, 9, 5, 1.84, 0.8708114020, 1.0),
        ("Cara", 15, 1, 2, 3, 3, 5, 1, 4.6, 0.4666162741, 1.0),
    ],
    "head-to-head": [
        ("Anna", "Ben", 4, 2, 1, 1, 0.5, 2, 2, (0 + 200 + 1050 - 650) / 4),
        ("Anna", "Cara", 1, 0, 1, 0, 0.0, 0, 1, -100.0),
        ("Anna", "Dora", 1, 1, 0, 0, 1.0, 1, 0, 1050.0),
        ("Ben", "Anna", 4, 1, 2, 1, 0.25, 2, 2, (0 - 200 - 1050 + 650) / 4),
        ("Ben", "Cara", 1, 0, 1, 0, 0.0, 0, 1, -300.0),
        ("Ben", "Dora", 1, 0, 1, 0, 0.0, 0, 0, 0.0),  # who left comes after all in play
        ("Cara", "Anna", 1, 1, 0, 0, 1.0, 1, 0, 100.0),
        ("Cara", "Ben", 1, 1, 0, 0, 1.0, 1, 0, 300.0),
        ("Dora", "Anna", 1, 0, 1, 0, 0.0, 0, 1, -1050.0),
        ("Dora", "Ben", 1, 1, 0, 0, 1.0, 0, 0, 0.0),
    ],
    # Turns with dice: Anna 2, 0, 1, 1, 3; Ben 2, 0, -, 0 (dropped), 3; Cara 1; Dora 1.
    "hot-dice": [
        ("Ben", 5, 1, 1 / 5, 1, 1, 1350.0, 0.0),
        ("Anna", 7, 1, 1 / 7, 1, 1, 1500.0, 0.0),
        ("Cara", 1, 0, 0.0, 0, 0, None, None),
        ("Dora", 1, 0, 0.0, 0, 0, None, None),
    ],
    # Anna's turns: 0, 1500; 0, 500; 100; 1050; 300, 0, 0. Ben's: 150, 1350; 300, 0 scoreless, 0; 0, 500, 500.
    # Cara's: 200, 400; 0. Dora's: 0.
    "leaderboard": [
        ("Cara", 1, 1, 0, 1.0, *W[1, 1], 1, 3, 600 / 3, 1 / 3, 400),
        ("Anna", 4, 2, 1, 0.5, *W[2, 4], 1, 9, 3450 / 9, 4 / 9, 1500),
        ("Ben", 4, 2, 1, 0.5, *W[2, 4], 0, 8, 2800 / 8, 2 / 8, 1350),
        ("Dora", 1, 0, 0, 0.0, *W[0, 1], 0, 1, 0.0, 1.0, 0),
        ("Eve", 0, 0, 0, None, None, None, 1, 0, None, None, None),
    ],
    "length": [
        ("farkle-classic", 2, 1, 2.0, 2.0, 2, 2, 4.0, 8.5),
        ("farkle-classic", 3, 1, 1.0, 1.0, 1, 1, 2.0, 5.0),
        ("house", 2, 1, 3.0, 3.0, 3, 3, 6.0, 11.5),
        ("quick", 3, 1, 3.0, 3.0, 3, 3, 7.0, 3.5),
    ],
    # Anna opened with 1500 and 500 in her second turn, 100, 1050 and 300 in her first; Ben with 150, 300, and 500 in
    # his second.
    "opening": [
        ("Cara", 2, 1, 0.5, 0.5, 1.0, 1, 200.0),
        ("Ben", 3, 3, 1.0, 2 / 3, 4 / 3, 2, 950 / 3),
        ("Anna", 5, 5, 1.0, 3 / 5, 7 / 5, 2, 3450 / 5),
        ("Dora", 1, 0, 0.0, 0.0, None, None, None),
    ],
    "points": [
        (0, 1, 9, 9 / 21),
        (100, 200, 2, 2 / 21),
        (200, 300, 1, 1 / 21),
        (300, 400, 2, 2 / 21),
        (400, 500, 1, 1 / 21),
        (500, 600, 3, 3 / 21),
        (1000, 1100, 1, 1 / 21),
        (1300, 1400, 1, 1 / 21),
        (1500, 1600, 1, 1 / 21),
    ],
    "profile": [
        ("Anna", 5, 4, 2, 0.5, 6 / 4, 3350 / 4, 9, 3450 / 9, 3450 / 5, 4 / 9, (100 + 250 + 0) / 3, 11 / 7, 1 / 7, 1500,
         1, 0, DAY[0], DAY[4]),
        ("Ben", 4, 4, 2, 0.5, 8 / 4, 2750 / 4, 8, 2800 / 8, 2800 / 5, 2 / 8, 100.0, 8 / 5, 1 / 5, 1350,
         0, 1, DAY[0], DAY[4]),
        ("Cara", 2, 1, 1, 1.0, 1.0, 600.0, 3, 600 / 3, 600 / 2, 1 / 3, 200.0, 2.0, 0.0, 400, 0, 0, DAY[1], DAY[2]),
        ("Dora", 1, 1, 0, 0.0, 2.0, 0.0, 1, 0.0, None, 1.0, 0.0, 1.0, 0.0, 0, 0, 0, DAY[3], DAY[3]),
        ("Eve", 1, 0, 0, None, None, None, 0, None, None, None, None, None, None, None, 0, 0, None, None),
    ],
    "records": [
        ("most points in a turn", 1500, "Anna", "one", "farkle-classic", DAY[0]),
        ("most points lost in a bust", 250, "Anna", "five", "house", DAY[4]),
        ("most rolls in a turn", 3, "Ben", "one", "farkle-classic", DAY[0]),  # Anna has 3 in five
        ("most hot dice in a turn", 1, "Anna", "one", "farkle-classic", DAY[0]),
        ("highest total", 1500, "Anna", "one", "farkle-classic", DAY[0]),
        ("lowest total", 0, "Ben", "four", "farkle-classic", DAY[3]),
        ("fewest turns to win", 1, "Anna", "four", "farkle-classic", DAY[3]),
        ("most busts in a game", 2, "Anna", "five", "house", DAY[4]),
        ("most busts in a row", 2, "Anna", "five", "house", DAY[4]),
    ],
    # Of 21 turns 4 are in one, 7 in two, 2 in three, 2 in four (one more was dropped), 6 in five. Under quick, five is
    # decided by Ben's 500 and Anna's bust, so that its last two turns never happen; his challenge is unknown there, and
    # so costs him nothing (rescored), and of what she stole she threw five dice (a guess). With a target of 1200 two,
    # four and five go on.
    "replays": [
        ("quick", None, "bank", "replaced", 6, 4, 0, 4, 1.0, 8 / 4, 21, 17 / 21, 1 / 21, 1 / 21, 1 / 21, 2 / 21),
        ("quick", "target=1200", "void", "replaced", 6, 1, 3, 1, 1.0, 2.0, 21, 19 / 21, 1 / 21, 1 / 21, 1 / 21, 0.0),
        ("recorded", None, "bank", "replaced", 6, 4, 0, 4, 1.0, 9 / 4, 21, 1.0, 0.0, 0.0, 0.0, 0.0),
    ],
    "rulesets": [
        ("farkle-classic", 3, 2, 1, 1.5, (1500 + 1500 + 1050) / 3, 8, 4150 / 8, 3 / 8, 2 / 8, 3 / 8),
        ("quick", 2, 1, 0, 3.0, 600.0, 7, 1400 / 7, 2 / 7, None, 3 / 7),
        ("house", 1, 1, 0, 3.0, 950.0, 6, 1300 / 6, 3 / 6, 0.0, 3 / 6),
    ],
    "seats": [
        (1, 4, 3, 0.75, *W[3, 4], (1 / 2 + 1 / 3 + 1 / 3 + 1 / 2) / 4, (1500 + 300 + 1050 + 950) / 4),
        (2, 4, 1, 0.25, *W[1, 4], (1 / 2 + 1 / 3 + 1 / 3 + 1 / 2) / 4, (1500 + 500 + 0 + 300) / 4),
        (3, 2, 1, 0.5, *W[1, 2], 1 / 3, (600 + 0) / 2),
    ],
    # Anna won, lost, won, lost; Ben won, lost, lost, won. Ben posted 500 and 500 in five, Cara 200 and 400 in two.
    "streaks": [
        ("Anna", 4, 1, 1, "1 lost", 1, 2),
        ("Ben", 4, 1, 2, "1 won", 2, 1),
        ("Cara", 1, 1, 0, "1 won", 2, 1),
        ("Dora", 1, 0, 1, "1 lost", 0, 1),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the games by hand, archived."""
    folder = tmp_path_factory.mktemp("hand")
    assert archive(folder, BY_HAND) == ["archived"] * 7 + ["skipped"]
    replay_archive(folder / "archive", HAND_ASKED, turns=True)
    return folder


def by_hand() -> list[Facts]:
    """Return what the reference knows of the archived games by hand."""
    return [known(log) for log in BY_HAND[:-1]]


def known(log: Log) -> Facts:
    return facts(reading.parse(b"".join(line + b"\n" for line in seal_all(log)), "log"), HAND_ASKED)


@pytest.mark.parametrize("name", KNOWN)
def test_a_report_says_what_is_worked_out_by_hand(hand: Path, name: str) -> None:
    answer = stats.run(hand / "archive", KNOWN[name], Filters())
    assert differences(KNOWN[name], answer, EXPECTED[name]) == []


@pytest.mark.parametrize("name", KNOWN)
def test_the_reference_says_what_is_worked_out_by_hand(name: str) -> None:
    columns = tuple(column.name for column in KNOWN[name].columns)
    answer = Answer(columns, (), rows(name, by_hand(), Filters()))
    assert differences(KNOWN[name], answer, EXPECTED[name]) == []


@pytest.mark.parametrize("name", KNOWN)
def test_a_report_about_no_games_has_no_rows(hand: Path, name: str) -> None:
    assert run(hand, name, Filters(origins=("simulated",))) == []


def test_filters_choose_games_and_players(hand: Path) -> None:
    def games(**chosen: Any) -> dict[str, int]:
        found = run(hand, "profile", Filters(**chosen))
        return dict(zip(column("profile", found, "player"), column("profile", found, "games"), strict=True))

    assert games() == {"Anna": 5, "Ben": 4, "Cara": 2, "Dora": 1, "Eve": 1}
    assert games(origins=ORIGINS) == {"Anna": 6, "Ben": 4, "Cara": 2, "Dora": 1, "Eve": 1, "Fay": 1}
    assert games(origins=("replay",)) == {"Anna": 1, "Fay": 1}
    assert games(origins=("import",)) == {"Anna": 1, "Ben": 1, "Dora": 1}
    assert games(rules=("quick", "house")) == {"Anna": 2, "Ben": 2, "Cara": 1, "Eve": 1}
    utc = [day.replace(tzinfo=UTC) for day in DAY]
    assert games(since=utc[3]) == {"Anna": 2, "Ben": 2, "Dora": 1}  # nobody knows when six began
    assert games(since=utc[3] + timedelta(seconds=1)) == {"Anna": 1, "Ben": 1}
    assert games(until=utc[1]) == {"Anna": 1, "Ben": 1}
    assert games(until=utc[1] + timedelta(seconds=1)) == {"Anna": 2, "Ben": 2, "Cara": 1}
    east = DAY[3].replace(hour=23, tzinfo=timezone(timedelta(hours=3)))
    assert games(since=east, until=east + timedelta(hours=1)) == {"Anna": 1, "Ben": 1, "Dora": 1}
    assert games(last=2) == {"Anna": 2, "Ben": 2, "Dora": 1}
    assert games(last=2, rules=("farkle-classic",)) == {"Anna": 2, "Ben": 1, "Cara": 1, "Dora": 1}
    assert games(last=6) == {"Anna": 5, "Ben": 4, "Cara": 2, "Dora": 1, "Eve": 1}
    assert games(players=("Ben", "Eve")) == {"Ben": 4, "Eve": 1}
    assert games(min_games=1) == {"Anna": 5, "Ben": 4, "Cara": 2, "Dora": 1}
    assert games(min_games=4) == {"Anna": 5, "Ben": 4}
    assert games(min_games=2, players=("Ben", "Cara")) == {"Ben": 4}
    assert games(min_games=2, last=2) == {"Anna": 2, "Ben": 2}


@pytest.mark.parametrize("name", KNOWN)
def test_a_report_about_somebody_is_about_nobody_else(hand: Path, name: str) -> None:
    found = run(hand, name, Filters(players=("Cara",)))
    assert found
    if any(one.name == "player" for one in KNOWN[name].columns):
        assert set(column(name, found, "player")) == {"Cara"}
        assert found == [row for row in run(hand, name, Filters()) if "Cara" in row[:1]] or name in ("records", "dice")


def test_reports_without_a_player_are_about_the_chosen_ones_turns_and_games(hand: Path) -> None:
    cara = Filters(players=("Cara",))
    assert [row[:3] for row in run(hand, "bust-rate", cara)] == [(3, 1, 1), (6, 2, 0)]
    assert [row[:6] for row in run(hand, "decisions", cara)] == [(3, 0, 250, 1, 0, 1)]
    assert run(hand, "points", cara) == [(0, 1, 1, 1 / 3), (200, 300, 1, 1 / 3), (400, 500, 1, 1 / 3)]
    assert [row[:3] for row in run(hand, "seats", cara)] == [(3, 1, 1)]
    assert [row[:3] for row in run(hand, "length", cara)] == [("quick", 3, 1)]
    assert [row[:3] for row in run(hand, "rulesets", cara)] == [("farkle-classic", 1, 0), ("quick", 1, 1)]
    assert column("rulesets", run(hand, "rulesets", cara), "turns") == [1, 2]
    assert [row[:4] for row in run(hand, "records", cara)] == [
        ("most points in a turn", 400, "Cara", "two"),
        ("most points lost in a bust", 200, "Cara", "three"),
        ("most rolls in a turn", 2, "Cara", "three"),
        ("highest total", 600, "Cara", "two"),
        ("lowest total", 600, "Cara", "two"),
        ("fewest turns to win", 2, "Cara", "two"),
        ("most busts in a game", 1, "Cara", "three"),
        ("most busts in a row", 1, "Cara", "three"),
    ]


# -- single columns ---------------------------------------------------------------------------------------------------


def test_dice_that_are_loaded_and_a_correction_for_several_players(tmp_path: Path) -> None:
    # 6 equal dice: 36 - 6 = 30, which has the chance 0.0000147; 3 2 1 of six: 14 - 6 = 8; one of each: 0.
    script = "roll 111111, keep 111111, bank, roll 555555, keep 555555, bank, roll 111223, keep 1, bank,"
    script += "roll 123456, keep 1, bank, abandon"
    archive(tmp_path, [game("loaded", ruleset(), "Anna Ben Cara Dov", script)])
    small, some = 1.47485810384e-05, 0.15623562757769
    assert differences(KNOWN["dice"], stats.run(tmp_path / "archive", KNOWN["dice"], Filters()), [
        ("Anna", 6, 6, 0, 0, 0, 0, 0, 30.0, small, 4 * small),
        ("Ben", 6, 0, 0, 0, 0, 6, 0, 30.0, small, 4 * small),  # three times as much would be less than Anna's
        ("Cara", 6, 3, 2, 1, 0, 0, 0, 8.0, some, 2 * some),
        ("Dov", 6, 1, 1, 1, 1, 1, 1, 0.0, 1.0, 1.0),
    ]) == []  # fmt: skip


@pytest.mark.parametrize("sets", [1, 49, 161, 237])
def test_dice_that_fall_evenly_are_never_less_than_even(tmp_path: Path, sets: int) -> None:
    archive(tmp_path, [game("even", ruleset(target=10**6), "Anna", "roll 123456, keep 1, bank," * sets + "abandon")])
    ((*counts, chi_square, p, corrected),) = run(tmp_path, "dice")
    assert counts == ["Anna", 6 * sets, *[sets] * 6]
    assert 0 <= chi_square < 1e-9
    assert p == corrected == 1


def test_the_best_turn_is_what_was_banked_whatever_penalties_cost(tmp_path: Path) -> None:
    archive(tmp_path, [game("penalty", HOUSE, "Ben Anna", "challenge Anna, roll 223446, abandon")])
    assert column("leaderboard", run(tmp_path, "leaderboard"), "best_turn") == [None, 0]
    assert column("profile", run(tmp_path, "profile"), "best_turn") == [None, 0]


def test_of_equal_turns_in_a_game_the_earlier_one_is_the_record(tmp_path: Path) -> None:
    archive(tmp_path, [game("equal", ruleset(), "Zoe Anna", "bank 300, bank 300, abandon")])
    assert run(tmp_path, "records")[0][:4] == ("most points in a turn", 300, "Zoe", "equal")


def test_of_equal_games_the_earliest_has_the_record_and_one_without_time_comes_last(tmp_path: Path) -> None:
    one = "bank 300, abandon"
    archive(tmp_path, [
        game("a", ruleset(), "Anna", one),
        timed(game("b", ruleset(), "Ben", one), DAY[1]),
        timed(game("c", ruleset(), "Cara", one), DAY[0]),
    ])  # fmt: skip
    assert run(tmp_path, "records") == [("most points in a turn", 300, "Cara", "c", "farkle-classic", DAY[0])]


def test_a_turn_that_was_dropped_holds_no_record(tmp_path: Path) -> None:
    # Anna loses her third roll. Ben leaves after four, with hot dice.
    script = "roll 111234, keep 1, roll 12346, keep 1, roll 2346,"
    script += "roll 123456, keep 1, roll 12346, keep 1, roll 1234, keep 1, roll 111, keep 111, leave Ben, abandon"
    archive(tmp_path, [game("left", ruleset(), "Anna Ben", script)])
    assert column("hot-dice", run(tmp_path, "hot-dice"), "player") == ["Anna"]
    found = {row[0]: row[1:3] for row in run(tmp_path, "records")}
    assert found["most rolls in a turn"] == (3, "Anna")
    assert "most hot dice in a turn" not in found
    # Ben leaves with stolen dice before he rolls.
    script = "roll 123346, keep 1, roll 22346, steal, leave Ben, abandon"
    archive(tmp_path / "stolen", [game("stolen", HOUSE, "Anna Ben", script)])
    assert run(tmp_path / "stolen", "records", Filters(players=("Ben",))) == []


def test_a_comeback_is_from_behind_the_leader_whoever_reached_the_target(tmp_path: Path) -> None:
    # Anna has 900 when the target becomes 500, and Ben's 600 reach it: Cara, who has 400, is 500 behind and wins.
    script = "bank 900, bank 100, bank 400, bank 0, change target=500, bank 500, bank 600, bank 0"
    rules = ruleset(target=1000, last_turns="everyone-else")
    log = game("lowered", rules, "Anna Ben Cara", script)
    assert fold(log).position.winners == (2,)
    archive(tmp_path, [log])
    assert run(tmp_path, "comebacks")[0] == ("Cara", 1, 1, 1.0, 500, 500.0)


def test_a_comeback_counts_what_was_missing_when_the_own_last_turn_came(tmp_path: Path) -> None:
    # Anna has 1000, Ben 100 and Cara 400 when Ben's last turn comes. His challenge costs Cara 200: she is 800 behind.
    script = "bank 0, bank 100, bank 400, bank 1000, challenge Cara, bank 200, bank 1000"
    rules = ruleset(target=1000, last_turns="everyone-else", challenge_split=1)
    log = game("challenged", rules, "Anna Ben Cara", script)
    assert [seat.total for seat in fold(log).position.seats] == [1000, 300, 1200]
    archive(tmp_path, [log])
    assert run(tmp_path, "comebacks") == [("Cara", 1, 1, 1.0, 800, 800.0), ("Ben", 1, 0, 0.0, None, 900.0)]


def test_a_leader_who_leaves_in_somebodys_last_turn_was_ahead_when_it_came(tmp_path: Path) -> None:
    # Ben's last turn comes when Anna has 1000 and he has 100; then she leaves, and he wins with what he has.
    script = "bank 0, bank 100, bank 50, bank 1000, leave Anna, bank 0, bank 0"
    log = game("gone", ruleset(target=1000, last_turns="everyone-else"), "Anna Ben Cara", script)
    assert fold(log).position.winners == (1,)
    archive(tmp_path, [log])
    assert run(tmp_path, "comebacks") == [("Ben", 1, 1, 1.0, 900, 900.0), ("Cara", 1, 0, 0.0, None, 50.0)]


def test_what_a_replay_settled_nobody_decided(tmp_path: Path) -> None:
    log = game("settled", ruleset(), "Anna", "roll 111234, keep 1", origin="replay", of="7:" + "0f" * 16)
    log += [events.Bank(4, player="Anna", points=0, settled=True), events.Abandon(5)]
    archive(tmp_path, [log])
    assert run(tmp_path, "decisions") == []


# -- formulas ---------------------------------------------------------------------------------------------------------


def ask(folder: Path, sql: str) -> list[Row]:
    """Ask with the macros that reports have."""
    return stats.over(folder / "archive", EVERYTHING, None, (), lambda con: stats.answer(con.execute(sql))).rows


def test_the_tail_of_chi_square_is_right_from_end_to_end(hand: Path) -> None:
    found = ask(hand, "SELECT x, chi_square_5(x) FROM (SELECT exp(n / 20.0) AS x FROM range(-600, 145) AS t(n))")
    assert len(found) == 745
    assert found[-1][0] > 1300
    for x, p in found:
        right = erfc(sqrt(x / 2)) + sqrt(2 * x / pi) * exp(-x / 2) * (1 + x / 3)
        assert isclose(p, right, rel_tol=1e-6), (x, p, right)
    assert ask(hand, "SELECT chi_square_5(0)") == [(1.0,)]


def test_wilsons_interval_is_right_for_all_small_counts(hand: Path) -> None:
    found = ask(hand, "SELECT k, n, wilson_low(k, n), wilson_high(k, n) FROM range(61) AS a(n), range(61) AS b(k) "
                      "WHERE k <= n")  # fmt: skip
    assert len(found) == 61 * 62 // 2
    for k, n, *got in found:
        for one, right in zip(got, wilson(k, n), strict=True):
            assert (one is None) == (right is None) == (n == 0)
            if one is not None and right is not None:
                assert 0 <= one <= 1
                assert isclose(one, right, rel_tol=1e-9, abs_tol=1e-12), (k, n, got)


def test_the_chances_by_hand_are_those_of_all_throws() -> None:
    for count, odds in ODDS.items():
        lost = 0
        for throw in product(range(1, 7), repeat=count):
            lost += not {1, 5} & set(throw) and all(throw.count(face) < 3 for face in (2, 3, 4, 6))
        assert lost / 6**count == odds


# -- random games -----------------------------------------------------------------------------------------------------


def random_log(rng: Random, number: int, rules: Ruleset) -> Log:
    """Play a game of some origin that is finished or abandoned, at times with dice that the tool threw, or untimed."""
    without = () if rng.random() < 0.6 else ("undo", "fix", "leave", "abandon")
    replayed = rng.random() < 0.15
    lines, asides = rng.choice((30, 60, 120)), rng.choice((0.02, 0.08, 0.15))
    log, played = random_play(rng, rules, lines=lines, without=without, asides=asides, replay=replayed)
    if played.position.turn is not None:
        log = [*log, *draft(played, Abandon()).events]
    tool, clocked = rng.choice((0, 0, 0.3, 1)), rng.random()
    # Few days, so that some games begin at the same time.
    now = DAY[0] + timedelta(days=rng.randrange(30), minutes=rng.choice((0, 7, 7.5)))
    found: Log = []
    for event in log:
        now += timedelta(milliseconds=rng.randrange(120_000) if found else 0)
        told: dict[str, Any] = {}
        if isinstance(event, events.Start):
            told["game"] = f"random-{number:04}"
            if not replayed:
                told["origin"] = rng.choice(("table", "table", "table", "import", "simulated"))
        elif isinstance(event, events.Roll) and rng.random() < tool:
            told["thrown_by"] = "tenklog"
        if clocked > 0.1 or (clocked > 0.05 and found and rng.random() < 0.8):
            told["time"] = stamp(now)
        found.append(replace(event, **told))
    return found


class World:
    """Many random games, archived, with what the reference knows of them."""

    def __init__(self, folder: Path, count: int) -> None:
        rng = Random(10_000)
        agreed = [random_ruleset(rng) for _ in range(count // 8)]
        agreed += [replace(rules, name="our own") for rules in agreed[:5]]
        self.logs = [random_log(rng, number, rng.choice(agreed)) for number in range(count)]
        zilch = change(preset("zilch"), {"target": 2000})
        asked = [
            Asked("recorded", None, keep_rule_changes=True),
            Asked("zilch", zilch, ("target=2000",), "stop", base=preset("zilch")),
            Asked("zilch", preset("zilch"), (), "void"),
        ]
        self.folder = folder
        self.known: list[Facts] = []
        (folder / "games").mkdir()
        paths = []
        for number, log in enumerate(self.logs):
            lines = map(events.encode, log) if number % 10 == 0 else seal_all(log)  # some without hashes
            paths.append(folder / "games" / f"random-{number:04}.jsonl")
            paths[-1].write_bytes(b"".join(line + b"\n" for line in lines))
            self.known.append(facts(reading.read(paths[-1]), asked))
        outcomes = archive_logs(folder / "archive", paths)
        assert [outcome.result for outcome in outcomes] == ["archived"] * count
        replay_archive(folder / "archive", asked, turns=True)
        self._answers: dict[str, dict[str, Answer]] = {}

    def answers(self, chosen: str) -> dict[str, Answer]:
        """Return what all reports say with some filters, asked over one connection."""
        found = self._answers.setdefault(chosen, {})

        def asking(con: Any) -> Answer:
            for name, report in KNOWN.items():
                found[name] = stats.answer(con.execute(report.sql))
            return found["points"]

        if not found:
            stats.over(self.folder / "archive", FILTERS[chosen], None, (), asking)
        return found


# The games begin on 30 days from the first of January 2026 on, at 20:00, 20:07 or 20:07:30.
FILTERS = {
    "nothing": Filters(),
    "all origins": EVERYTHING,
    "Anna": Filters(origins=ORIGINS, players=("Anna",)),
    "some players": Filters(players=("Ben", "Eli", "Ünal", "-x")),
    "rules": Filters(origins=ORIGINS, rules=("zilch", "our own")),
    "replays": Filters(origins=("replay",)),
    "tool": Filters(origins=("simulated", "import")),
    "since": Filters(since=datetime(2026, 1, 11, 22, 7, tzinfo=timezone(timedelta(hours=2)))),
    "until": Filters(origins=ORIGINS, until=datetime(2026, 1, 8, 20, 7, 30, tzinfo=UTC)),
    "last": Filters(last=40),
    "most": Filters(origins=ORIGINS, last=GAMES - 10),
    "who played": Filters(origins=ORIGINS, min_games=GAMES // 4),
    "together": Filters(
        players=("Anna", "Ben", "Cara"), rules=("zilch", "farkle", "tiotusen", "our own"), min_games=3, last=30,
        since=datetime(2026, 1, 3, tzinfo=UTC), until=datetime(2026, 1, 28, tzinfo=UTC),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"), GAMES)


@pytest.mark.parametrize("name", KNOWN)
def test_a_report_says_what_the_reference_says(world: World, name: str) -> None:
    wrong = []
    for chosen, filters in FILTERS.items():
        expected = rows(name, world.known, filters)
        assert expected or chosen != "nothing"
        wrong += [f"{chosen}: {one}" for one in differences(KNOWN[name], world.answers(chosen)[name], expected)]
    assert wrong == []


@pytest.mark.parametrize("name", [name for name in KNOWN if any(one.name == "player" for one in KNOWN[name].columns)])
def test_rows_are_about_the_chosen_players(world: World, name: str) -> None:
    for chosen, players in (("Anna", {"Anna"}), ("some players", {"Ben", "Eli", "Ünal", "-x"})):
        found = set(column(name, world.answers(chosen)[name].rows, "player"))
        assert found
        assert found <= players


def test_games_are_those_of_the_chosen_players(world: World) -> None:
    with_anna = [one for one in world.known if any(sat.player == "Anna" for sat in one.seats)]
    assert len(with_anna) < len(world.known)
    assert sum(column("rulesets", world.answers("Anna")["rulesets"].rows, "games")) == len(with_anna)
    finished = [one for one in with_anna if one.finished]
    assert sum(column("length", world.answers("Anna")["length"].rows, "games")) == len(finished)


def test_the_random_games_are_of_every_kind(world: World) -> None:
    turns = [took for one in world.known for took in one.turns]
    assert {one.origin for one in world.known} == set(ORIGINS)
    assert {took.ended.outcome for took in turns} == {"banked", "bust", "scoreless", "wiped-out", "won", "settled"}
    assert any(took.ended.turn.stolen for took in turns)
    assert any(took.ended.turn.challenge is not None for took in turns)
    assert any(took.hot > 1 for took in turns)
    assert 0.3 < sum(one.finished for one in world.known) / GAMES < 0.95
    assert any(sum(sat.won is True for sat in one.seats) > 1 for one in world.known)
    assert any(one.won for game in world.known for one in game.behind)
    kinds = {type(event) for log in world.logs for event in log}
    assert kinds == set(events.TYPES.values())
    assert any(
        isinstance(event, events.RuleChange) and event.scope == "whole-game" for log in world.logs for event in log
    )


def test_the_reference_counts_a_throw_as_lost_where_the_game_does(world: World) -> None:
    checked: set[tuple[Table, int, bool, bool]] = set()
    for log in world.logs:
        for event, before, _ in retold(fold(log))[1]:
            turn = before.turn
            assert turn is not None
            kind = (before.table, turn.dice_left, turn.tries > 0, bool(turn.kept) and before.rules.build_on_kept)
            if isinstance(event, events.Roll) and kind not in checked and len(checked) < 400:
                checked.add(kind)
                lost = 0
                for dice in {tuple(sorted(throw)) for throw in product(range(1, 7), repeat=turn.dice_left)}:
                    after: Turn | None = play(before, replace(event, dice=dice)).turn
                    if after is not None and after.phase == "busted":
                        lost += throws(dice)
                assert isclose(chance(before, turn), lost / 6**turn.dice_left, rel_tol=1e-12)
    assert any(tries for _, _, tries, _ in checked)
    assert any(built for _, _, _, built in checked)
