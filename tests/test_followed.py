"""Logs that are followed together: all that comes of them is what comes of each that is folded by itself."""

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest
from bulk_equality import usual
from msgspec.structs import replace
from random_games import ASIDES, random_dice, random_play, random_ruleset
from test_archive import stamped, tables

from tenklog import archive, archiving, events, files, jit, staging
from tenklog.errors import TenklogError
from tenklog.ledger import BEGINS, FACES
from tenklog.lines import seal_all
from tenklog.lockstep import THROWS
from tenklog.rulebook import card_files, preset
from tenklog.rules import Ruleset, change
from tenklog.simulate import Plan, play_game
from tenklog.transitions import Ends

SAMPLES = Path(__file__).parent.parent / "sample_logs"
LONG = bool(os.environ.get("TENKLOG_LONG"))
Log = Sequence[events.Event]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't wait for the disk, and follow however few there are."""
    monkeypatch.setattr(files, "sync", lambda fd: None)
    monkeypatch.setattr(files, "sync_folder", lambda folder: None)
    monkeypatch.setattr(jit, "COMPILED", True)  # what is not is slow, but the same
    monkeypatch.setattr(staging, "WORTH", 1)


def both_ways(folder: Path, logs: Sequence[bytes], monkeypatch: pytest.MonkeyPatch) -> tuple[Counter[str], int]:
    """Archive logs followed together and one by one, and compare all that comes of it.

    Return how many were archived and so on, and how many were followed.
    """
    folder.mkdir()
    paths = []
    for number, data in enumerate(logs):
        paths.append(folder / f"game-{number:05}.jsonl")
        paths[-1].write_bytes(data)
    folded = 0
    fold = staging._fold

    def counting(looked: Any) -> Any:
        nonlocal folded
        folded += 1
        return fold(looked)

    found = []
    for few, name in ((1, "together"), (1 << 30, "one by one")):
        with monkeypatch.context() as patched:
            patched.setattr(staging, "FEW", few)
            if few == 1:
                patched.setattr(staging, "_fold", counting)
            found.append(archiving.archive_logs(folder / name, paths))
    assert sorted(found[0], key=lambda one: one.game) == found[1]
    assert_in_order(folder / "together")
    assert tables(folder / "together") == tables(folder / "one by one")
    assert [*archive.extract(folder / "together")] == [*archive.extract(folder / "one by one")]
    return Counter(one.result for one in found[0]), len(logs) - folded


def assert_in_order(folder: Path) -> None:
    """Make sure that games lie in the same order in all tables of a part, as bulk replays join them."""
    con = archive.connect()
    for part in archive.open_archive(folder).parts:
        lie = {}
        for table, file in part.files.items():
            rows = con.execute(f"SELECT game FROM read_parquet('{folder / file.name}')").fetchall()
            lie[table] = [game for game, _ in groupby(game for (game,) in rows)]
        for table in ("seats", "turns", "rolls", "events"):
            assert lie[table] == [game for game in lie["games"] if game in set(lie[table])], table


def written(log: Log, number: int) -> bytes:
    """Return the bytes of a log under the id of its number."""
    first = log[0]
    assert isinstance(first, events.Start)
    named = [replace(first, game=f"game-{number:05}"), *log[1:]]
    return b"".join(line + b"\n" for line in seal_all(named))


def played(rng: Random, rules: Ruleset, **options: Any) -> Log:
    """Return a game, mostly to its end, thrown and kept in any order, at times by the tool, with times and ids."""
    without = ("sheet", "steal", "challenge", *ASIDES)
    log, _ = random_play(rng, rules, without=without, lines=600, **options)
    made: list[events.Event] = []
    for number, event in enumerate(stamped(log)):
        if isinstance(event, events.Roll) and rng.random() < 0.3:
            event = replace(event, thrown_by="tenklog")  # noqa: PLW2901
        made.append(replace(event, id=f"id-{number}") if rng.random() < 0.1 else event)
    return made


@pytest.mark.parametrize("path", card_files(), ids=lambda path: path.stem)
def test_under_presets_what_comes_of_logs_followed_together_is_what_comes_of_each(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = preset(path.stem)
    rules = change(rules, {"target": rules.target // 5, "opening_minimum": min(rules.opening_minimum, 350)})
    rng = Random(path.stem)
    logs = [written(played(rng, rules, seats=rng.randint(1, 4)), number) for number in range(24)]
    found, together = both_ways(tmp_path / "games", logs, monkeypatch)
    assert found["archived"] > 20
    assert together > (10 if Ends(rules).simple else -1)


def test_under_any_rules_what_comes_of_logs_followed_together_is_what_comes_of_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed_ones = 0
    for seed in range(100 if LONG else 6):
        rng = Random(f"followed {seed}")
        rules = [usual(rng, random_ruleset(rng)), usual(rng, random_ruleset(rng)), random_ruleset(rng)]
        logs = [written(played(rng, rng.choice(rules)), number) for number in range(24)]
        found, together = both_ways(tmp_path / str(seed), logs, monkeypatch)
        assert found["archived"] + found["skipped"] == 24
        followed_ones += together
    assert followed_ones > 6 * (100 if LONG else 6)


def test_logs_in_which_anything_else_happens_are_folded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random games with every kind of event, and the sample logs."""
    rng = Random("all kinds")
    logs = [
        written(stamped(random_play(rng, lines=80, asides=0.05, replay=rng.random() < 0.2)[0]), number)
        for number in range(400 if LONG else 60)
    ]
    logs += [path.read_bytes() for path in sorted(SAMPLES.glob("*.jsonl"))]
    found, _ = both_ways(tmp_path / "games", logs, monkeypatch)
    assert {"archived", "skipped", "failed"} <= found.keys()


@pytest.mark.parametrize("tie", ["extra-turns", "shared"])
def test_level_ends_are_followed(tie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a leader falls behind in them, and where the log goes on with somebody else or ends too early."""
    rules = change(preset("farkle-classic"), {"target": 250, "tie": tie, "bust_penalty": 50, "negative_totals": True})
    plan = Plan(rules, (("anna", "cautious"), ("ben", "dice:5"), ("cara", "random"), ("dov", "hold:150")), 1)
    games = [play_game(plan, number + 1) for number in range(120)]
    ends = [game.position for _, game in games]
    level = [log for log, game in games if game.position.extra or len(game.position.winners) > 1]
    assert len(level) > 4
    assert {len(one.winners) for one in ends} >= ({1} if tie == "extra-turns" else {1, 2})
    logs = [written(log, number) for number, (log, _) in enumerate(games)]
    found, together = both_ways(tmp_path / "games", logs, monkeypatch)
    assert found == {"archived": 120}
    assert together > 115
    rng = Random(tie)
    cut = [log[: -rng.randint(1, 8)] for log in level] + [altered(rng, log) for log in level for _ in range(4)]
    both_ways(tmp_path / "altered", [written(log, number) for number, log in enumerate(cut)], monkeypatch)


OTHER_RULES: tuple[dict[str, Any], ...] = (
    {"opening_minimum": 800, "below_minimum": "roll-on"}, {"bank_minimum": 300, "below_minimum": "roll-on"},
    {"opening_minimum": 800, "below_minimum": "zero"}, {"hot_dice": "must-roll"}, {"hot_dice": "must-bank"},
    {"hot_dice": "may-roll"}, {"target": 1000}, {"set_aside": "all"}, {"set_aside": "best"}, {"bust_penalty": 100},
    {"last_turns": "none"}, {"last_turns": "rest-of-round"}, {"reach": "more-than"}, {"blank_throw": 500},
    {"last_die_rolls": 2}, {"one": 150}, {"build_on_kept": True},
)  # fmt: skip


def altered(rng: Random, log: list[Any]) -> list[Any]:
    """Return a log that differs in one place, be it legal or not."""
    at = rng.randrange(1, len(log))
    event = log[at]
    players = log[0].players
    if rng.random() < 0.3:
        with suppress(TenklogError):
            return [replace(log[0], rules=change(log[0].rules, rng.choice(OTHER_RULES))), *log[1:]]
    kinds = ("drop", "twice", "swap", "player", "dice", "points", "aside", "type", "seq", "end", "settled")
    what = rng.choice(kinds)
    if what == "drop":
        log = [*log[:at], *log[at + 1 :]]
    elif what == "twice":
        log = [*log[:at], event, *log[at:]]
    elif what == "swap":
        log = [*log[: at - 1 or 1], log[at], *log[at - 1 or 1 : at], *log[at + 1 :]]
    elif what == "end":
        log = log[: at + 1] if rng.random() < 0.5 else [*log, *log[-1 - rng.randrange(3) :]]
    elif what == "player":
        log = [*log[:at], replace(event, player=rng.choice((*players, "Nobody"))), *log[at + 1 :]]
    elif what == "dice" and hasattr(event, "dice"):
        dice = list(event.dice)
        if rng.random() < 0.3:
            dice = list(random_dice(rng, rng.randint(1, 6)))
        else:
            dice[rng.randrange(len(dice))] = rng.randint(1, 6)
        log = [*log[:at], replace(event, dice=tuple(dice)), *log[at + 1 :]]
    elif what == "points" and isinstance(event, events.Bank):
        log = [*log[:at], replace(event, points=rng.choice((0, event.points + 50, 50))), *log[at + 1 :]]
    elif what == "settled" and isinstance(event, events.Bank):
        log = [*log[:at], replace(event, points=0, settled=True), *log[at + 1 :]]
    elif what == "aside" and isinstance(event, events.Keep):
        log = [*log[:at], replace(event, aside=rng.choice((None, event.dice[:1], (6,)))), *log[at + 1 :]]
    elif what == "type":
        instead = (events.Bust(1, player=event.player), events.Bank(1, player=event.player, points=0))
        log = [*log[:at], rng.choice(instead), *log[at + 1 :]]
    if what != "seq":
        return [replace(one, seq=number) for number, one in enumerate(log, 1)]
    return [*log[:at], replace(event, seq=event.seq + 1), *log[at + 1 :]]


def test_nothing_that_the_fold_refuses_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs that differ in one place from legal ones: each is archived or refused as by the fold, in its words."""
    results: Counter[str] = Counter()
    together = 0
    for seed in range(60 if LONG else 4):
        rng = Random(f"altered {seed}")
        rules = (
            usual(rng, random_ruleset(rng))
            if seed % 2
            else change(preset(rng.choice(("tiotusen", "zilch", "farkle"))), {"target": 2000})
        )
        games = [list(played(rng, rules)) for _ in range(20)]
        logs = [written(altered(rng, rng.choice(games)), number) for number in range(120)]
        found, count = both_ways(tmp_path / str(seed), logs, monkeypatch)
        results += found
        together += count
    assert results["failed"] > results["archived"] > 0
    assert together > 20


def test_starts_that_the_fold_refuses_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random("starts")
    log = list(played(rng, change(preset("tiotusen"), {"target": 2000}), seats=2))
    start: Any = log[0]
    starts = [
        replace(start, players=(start.players[0], start.players[0])),
        replace(start, first_throw={"Nobody": (1,)}),
        replace(start, origin="replay"),
        replace(start, of="1:" + "0" * 32),
        replace(start, origin="replay", of="1:" + "0" * 32),
        replace(start, seq=2),
        replace(start, players=(*start.players, "Zoe")),
        replace(start, players=start.players[::-1]),
        replace(start, rules=change(start.rules, {"target": 9000})),
        *(replace(start, rules=change(start.rules, {"target": target})) for target in range(1000, 2000, 50)),
        replace(start, title="Friday"),
    ]
    logs = [written([one, *log[1:]], number) for number, one in enumerate(starts)]
    good = written(log, 0)
    logs += [
        good[:-1],
        good[:-30],
        good.replace(b"game-00000", b"another-one"),
        good + b"\n",
        b"",
        good[:200] + good[201:],
    ]
    found, together = both_ways(tmp_path / "games", logs, monkeypatch)
    assert found["failed"] > 18
    assert 1 <= together < 20  # the one with a title, and of lower targets those that were reached at the same time


def test_a_simulated_game_is_followed_as_it_was_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(preset("farkle-classic"), (("anna", "best"), ("ben", "hold:350"), ("cara", "random")), 1)
    logs = [written(play_game(plan, number + 1)[0], number) for number in range(30)]
    found, together = both_ways(tmp_path / "games", logs, monkeypatch)
    assert found == {"archived": 30}
    assert together > 25


def test_every_throw_has_a_number() -> None:
    assert sorted(THROWS.values()) == list(range(sum(6**count for count in range(1, 7))))
    assert FACES[BEGINS[THROWS[3, 1, 2]] :][:3].tolist() == [3, 1, 2]
