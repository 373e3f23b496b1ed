"""Replays: hand-written logs with the log, the divergences and the outcome that each policy makes of them.

The cases stand in `tables/replay`, a file for each kind of divergence and some beside them. A case is a title, who
plays, the rules recorded and the rules asked for (`recorded` and changes are the log's own), options, the log with its
`seq`s, and for each policy what is expected: the log written, a `!` line for each divergence (`seq kind player`, the
turn, the change of the own total there and here), its sentence after a `|` where the case tells the sentences, and the
outcome (`=`). A policy may say `as bank`. Expectations are compared as text, spaces aside.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from evening import ruleset, start
from msgspec import structs

from tenklog import dice, events, rulebook, rules
from tenklog.checks import check
from tenklog.errors import UsageError
from tenklog.game import fold
from tenklog.lines import seal_all
from tenklog.projections import words
from tenklog.replayer import GUESSES, Kind, Replayed, TurnCounts, replay
from tenklog.rules import Combination, Ruleset

TABLES = Path(__file__).parent / "tables" / "replay"
OF = "7:" + "0f" * 16
TIME = "2026-11-29T20:15:00.000Z"
POLICIES = ("bank", "void", "stop")


class Case:
    """One case as it is written down."""

    def __init__(self, title: str, text: str) -> None:
        self.title = title
        head, *blocks = re.split(r"^(log|bank|void|stop)\b", text, flags=re.MULTILINE)
        told = dict(line.split(maxsplit=1) for line in head.splitlines() if line.strip())
        self.players = told.pop("players", "A B")
        self.recorded = self.rules(told.pop("recorded"))
        asked = told.pop("here")
        self.own = asked.split()[0] == "recorded"
        self.changes = dict(rules.parse_change(one, self.recorded) for one in asked.split()[1:] if self.own)
        self.asked = None if self.own else self.rules(asked)
        self.keep = told.pop("rule-changes", "dropped") == "kept"
        self.fields = {"origin": "replay", "of": OF} if told.pop("origin", "table") == "replay" else {}
        assert not told, told
        self.blocks = {name: lines(block) for name, block in zip(blocks[::2], blocks[1::2], strict=True)}

    @staticmethod
    def rules(told: str) -> Ruleset:
        preset, *changes = told.split()
        found = rulebook.preset(preset)
        for one in changes:
            found = rules.change(found, dict([rules.parse_change(one, found)]))
        return found

    def log(self) -> list[events.AnyEvent]:
        found: list[events.AnyEvent] = [start(self.players, self.recorded, **self.fields)]
        for line in self.blocks["log"]:
            seq, written = line.split(maxsplit=1)
            found.append(event(int(seq), written))
        return found

    def replay(self, policy: Any) -> Replayed:
        log = self.log()
        return replay(
            fold(log), log, self.asked, settle=policy, keep_rule_changes=self.keep, changes=self.changes, of=OF
        )

    def expected(self, policy: str) -> list[str]:
        block = self.blocks[policy]
        if len(block) == 1 and block[0].startswith("as "):
            return self.expected(block[0].removeprefix("as "))
        return block


def lines(block: str) -> list[str]:
    """Return the lines of a block without their indents; what goes on after a `|` is one line."""
    found: list[str] = []
    for written in block.splitlines():
        line = " ".join(written.split())
        if line.startswith("|") and found[-1].startswith("|"):
            found[-1] += line[1:]
        elif line:
            found.append(line)
    return found


def event(seq: int, written: str) -> events.AnyEvent:
    """Read a line of a log: `A keep 15 aside 1`, `change one=50`, `note tea`."""
    match written.split():
        case ["note", *text]:
            return events.Note(seq, text=" ".join(text))
        case ["expect", *totals]:
            pairs = [total.split("=") for total in totals]
            return events.Expect(seq, totals={player: int(total) for player, total in pairs})
        case ["change", *changes, "whole-game"]:
            return events.RuleChange(seq, changes=dict(map(change, changes)), scope="whole-game")
        case ["change", *changes]:
            return events.RuleChange(seq, changes=dict(map(change, changes)), scope="next-turn")
        case ["undo", of]:
            return events.Undo(seq, of=int(of))
        case ["abandon"]:
            return events.Abandon(seq)
        case ["join", player]:
            return events.Join(seq, player=player)
        case ["leave", player]:
            return events.Leave(seq, player=player)
        case ["rename", player, to]:
            return events.Rename(seq, player=player, to=to)
        case [player, "roll", faces]:
            return events.Roll(seq, player=player, dice=dice.parse(faces))
        case [player, "keep", faces]:
            return events.Keep(seq, player=player, dice=dice.parse(faces))
        case [player, "keep", faces, "aside", aside]:
            return events.Keep(seq, player=player, dice=dice.parse(faces), aside=dice.parse(aside))
        case [player, "bank", "0", "settled"]:
            return events.Bank(seq, player=player, points=0, settled=True)
        case [player, "bank", points]:
            return events.Bank(seq, player=player, points=int(points))
        case [player, "bust"]:
            return events.Bust(seq, player=player)
        case [player, "steal"]:
            return events.Steal(seq, player=player)
        case [player, "challenge", opponent]:
            return events.Challenge(seq, player=player, opponent=opponent)
    raise ValueError(written)


def change(typed: str) -> tuple[str, rules.Value]:
    return rules.parse_change(typed, ruleset())


def line(one: events.AnyEvent) -> str:
    """Write an event as the cases do; what they can't write is written as it is, and so differs."""
    match one:
        case events.Roll():
            return f"{one.player} roll {dice.write(one.dice, '')}"
        case events.Keep():
            aside = f" aside {dice.write(one.aside, '')}" if one.aside else ""
            return f"{one.player} keep {dice.write(one.dice, '')}{aside}"
        case events.Bank():
            return f"{one.player} bank {one.points}" + (" settled" if one.settled else "")
        case events.Bust():
            return f"{one.player} bust"
        case events.Steal():
            return f"{one.player} steal"
        case events.Challenge():
            return f"{one.player} challenge {one.opponent}"
        case events.Note() | events.Expect():
            return f"{type(one).__name__.lower()} {words(one)}"
        case events.RuleChange():
            changes = " ".join(f"{key}={rules.shown(value)}" for key, value in one.changes.items())
            return f"change {changes}" + (" whole-game" if one.scope == "whole-game" else "")
        case events.Join() | events.Leave():
            return f"{type(one).__name__.lower()} {one.player}"
        case events.Rename():
            return f"rename {one.player} {one.to}"
        case events.Abandon():
            return "abandon"
    return repr(one)


def told(found: Replayed, sentences: bool = True) -> Iterator[str]:
    """Write a replay as the cases do."""
    yield from map(line, found.log[1:])
    for one in found.replay.divergences:
        guess = " a guess" if one.guess else ""
        change = f" {'-' if one.recorded is None else one.recorded} > {'-' if one.replayed is None else one.replayed}"
        turn = f", turn {one.turn}" if one.turn else ""
        yield f"! {one.seq} {one.kind} {one.player or 'nobody'}{turn}:{change}{guess}"
        if sentences:
            yield f"| {one.text}"
    outcome = found.replay
    who = f" {' '.join(outcome.winners or outcome.leaders)}" if outcome.winners or outcome.leaders else ""
    counts = outcome.turns
    totals = " ".join(f"{seat.player} {seat.total}" for seat in found.game.position.seats)
    told_counts = " ".join(f"{name} {count}" for name, count in structs.asdict(counts).items() if count) or "no turns"
    yield f"= {outcome.status}{who}; {totals}; {told_counts}; guesses {outcome.guesses}"


def cases() -> Iterator[tuple[str, Case, str]]:
    for path in sorted(TABLES.glob("*.txt")):
        _, *parts = re.split(r"^== (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for title, text in zip(parts[::2], parts[1::2], strict=True):
            case = Case(title, text)
            for policy in POLICIES:
                yield path.stem, case, policy


CASES = list(cases())


@pytest.mark.parametrize(
    ("kind", "case", "policy"),
    [pytest.param(*one, id=f"{one[0]}: {one[1].title} ({one[2]})") for one in CASES],
)
def test_a_replay_comes_out_as_written_down(kind: str, case: Case, policy: str) -> None:
    expected = case.expected(policy)
    sentences = any(one.startswith("|") for one in expected)
    assert list(told(case.replay(policy), sentences)) == expected


def test_each_kind_of_divergence_has_cases_under_each_policy() -> None:
    for kind in get_args(Kind):
        path = TABLES / f"{kind}.txt"
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"{kind}: ")
        for policy in POLICIES:
            found = [case.expected(policy) for name, case, asked in CASES if (name, asked) == (kind, policy)]
            told = [line for block in found for line in block if line.startswith("!")]
            assert any(line.split()[2] == kind for line in told), (kind, policy)


def test_the_guesses_are_those_of_the_design() -> None:
    assert {*GUESSES} == {"keep-illegal", "bust-scores", "no-win", "dice-differ", "must-roll"}


# -- the log that is written ------------------------------------------------------------------------------------------


def test_check_finds_nothing_in_a_written_log(tmp_path: Path) -> None:
    for _, case, policy in CASES:
        found = case.replay(policy)
        path = tmp_path / f"{found.game.start.game}.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in seal_all(found.log)))
        assert check(path) == [], (case.title, policy)


def test_the_written_log_starts_as_the_recorded_one_by_other_rules() -> None:
    first = start("Anna Ben", ruleset(), title="Friday", first_throw={"Anna": (5,), "Ben": (2,)}, id="new-1", time=TIME)
    found = replay(fold([first]), [first], ruleset("zilch"), changes={"target": 5000}, of=OF, name="friday-zilch")
    asked = ruleset("zilch", target=5000)
    assert found.log == [structs.replace(first, game="friday-zilch", rules=asked, origin="replay", of=OF, id=None)]
    assert replay(fold([first]), [first], None, of=OF).log[0] == structs.replace(first, origin="replay", of=OF, id=None)


def test_what_is_taken_over_keeps_its_time_and_who_threw_but_no_id_and_what_is_settled_has_no_time() -> None:
    log: list[events.AnyEvent] = [
        start("A B", ruleset()),
        events.Roll(2, TIME, "r-1", player="A", dice=(1, 5, 2, 2, 3, 3), thrown_by="tenklog"),
        events.Keep(3, TIME, "k-1", player="A", dice=(5, 1)),
        events.Bank(4, TIME, "b-1", player="A", points=150),
        events.Roll(5, TIME, "r-2", player="B", dice=(1, 5, 2, 2, 3, 3)),
        events.Keep(6, TIME, "k-2", player="B", dice=(5, 1)),
        events.Bank(7, TIME, "b-2", player="B", points=150),
    ]
    assert replay(fold(log), log, ruleset(one=200), of=OF).log[1:4] == [
        events.Roll(2, TIME, player="A", dice=(1, 5, 2, 2, 3, 3), thrown_by="tenklog"),
        events.Keep(3, TIME, player="A", dice=(5, 1)),
        events.Bank(4, TIME, player="A", points=250),
    ]
    assert replay(fold(log), log, ruleset(one=0), of=OF).log[5:] == [
        events.Keep(6, player="B", dice=(5,)),
        events.Bank(7, player="B", points=50),
    ]


def test_an_abandon_names_nobody_and_an_abandoned_game_has_no_leaders() -> None:
    log = [start("A B", ruleset()), event(2, "A bank 500"), event(3, "abandon")]
    assert replay(fold(log), log, ruleset(target=500, last_turns="none"), of=OF).replay.divergences[-1].player is None
    found = replay(fold(log), log, ruleset(), of=OF).replay
    assert (found.status, found.winners, found.leaders) == ("abandoned", [], [])


def test_the_seats_say_who_could_not_join() -> None:
    log = [start("A B", ruleset()), event(2, "A bank 500"), event(3, "join C")]
    assert replay(fold(log), log, ruleset(), of=OF).seats == {0: 0, 1: 1, 2: 2}
    assert replay(fold(log), log, ruleset(target=500), of=OF).seats == {0: 0, 1: 1, 2: None}


# -- what is asked for ------------------------------------------------------------------------------------------------


def test_a_kept_rule_change_that_contradicts_the_rules_asked_for_is_named() -> None:
    log = [start("A B", ruleset()), event(2, "A bank 500"), event(3, "change opening_minimum=3000")]
    asked = ruleset(target=2000)
    with pytest.raises(UsageError) as refused:
        replay(fold(log), log, asked, keep_rule_changes=True, of=OF)
    assert str(refused.value) == (
        "the recorded rule change 3 contradicts these rules: opening_minimum 3000 is above target 2000; "
        "opening_minimum from 0 to 2000"
    )
    assert replay(fold(log), log, asked, of=OF).replay.turns == TurnCounts(same=1)


def test_a_combination_that_a_kept_whole_game_change_names_by_its_points_has_the_pattern_of_the_log() -> None:
    log = [start("A B", ruleset(pair=Combination("44", 100))), event(2, "A bank 500")]
    log.append(events.RuleChange(3, changes={"pair": 300}, scope="whole-game"))
    found = replay(fold(log), log, ruleset("zilch"), keep_rule_changes=True, of=OF)
    assert found.game.start.rules == ruleset("zilch", pair=Combination("44", 300))


def test_kept_rule_changes_stand_on_top_of_the_settings_asked_for() -> None:
    log = [start("A B", ruleset()), event(2, "A bank 500"), event(3, "change five=70 whole-game")]
    found = replay(fold(log), log, ruleset("zilch"), keep_rule_changes=True, changes={"one": 150, "five": 80}, of=OF)
    assert found.game.start.rules == ruleset("zilch", one=150, five=70)


def test_a_setting_on_top_of_the_recorded_rules_may_be_a_combination_that_the_table_added_later() -> None:
    log = [start("A B", ruleset()), event(2, "A bank 500")]
    log.append(events.RuleChange(3, changes={"pair": Combination("44", 100)}, scope="next-turn"))
    found = replay(fold(log), log, None, changes={"pair": 300}, of=OF)
    assert found.game.start.rules == ruleset(pair=Combination("44", 300))
    assert found.log[2:] == []


@pytest.mark.parametrize(
    ("asked", "changes", "name"),
    [
        (None, {}, "recorded"),
        (None, {"one": 150}, "recorded"),
        ("zilch", {}, "zilch"),
        ("zilch", {"one": 150}, "zilch"),
    ],
)
def test_a_replay_is_named_after_what_was_asked_for(asked: str | None, changes: dict[str, Any], name: str) -> None:
    log = [start("A B", ruleset()), event(2, "A bank 500")]
    rules = None if asked is None else ruleset(asked)
    assert replay(fold(log), log, rules, changes=changes, settle="void", of=OF).replay.rules == name


# -- the documents' own examples --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "changes", "totals"),
    [
        ("tiotusen", {}, [0, 0]),
        ("diecimila-free", {}, [0, 600]),
        ("ten-thousand", {"hot_dice": "must-bank"}, [400, 600]),
        ("farkle", {}, [0, 600]),
    ],
)
def test_the_first_example_comes_out_under_other_rules_as_the_project_says(
    preset: str, changes: dict[str, Any], totals: list[int]
) -> None:
    moves = """
        1 roll 133446, 1 keep 1, 1 roll 22234, 1 keep 222, 1 roll 55, 1 keep 55, 1 roll 223446, 1 bust,
        2 roll 555244, 2 keep 555, 2 roll 123, 2 keep 1, 2 bank 600
    """
    log = [start("1 2", ruleset("ten-thousand")), *(event(seq, one) for seq, one in enumerate(moves.split(","), 2))]
    found = replay(fold(log), log, ruleset(preset, **changes), of=OF)
    assert [seat.total for seat in found.game.position.seats] == totals
    assert found.replay.guesses == 0
