# ruff: noqa: F811  (a fixture of another file)
"""Which rules explain a record: the true ones always do, and others are rejected where a replay parts from them."""

import os
from random import Random

import paper
import pytest
from evening import at_table
from msgspec.structs import replace
from test_cli import Shell, shell  # noqa: F401  (a fixture)

from tenklog import cells, cli, load
from tenklog.errors import TenklogError
from tenklog.evidence import LogRecord, SheetRecord
from tenklog.game import fold
from tenklog.infer import Inference, Setting, infer
from tenklog.replayer import replay
from tenklog.rulebook import card_files, read_card
from tenklog.rules import Ruleset, change, parse_change
from tenklog.sheets import lay_out
from tenklog.simulate import Plan, play_game

LONG = bool(os.environ.get("TENKLOG_LONG"))
PRESETS = [read_card(path).rules for path in card_files()]
OF = "1:" + "0" * 32
CONSEQUENCES = ("posts-zero", "no-dice")


def told(found: Inference, key: str) -> Setting:
    """Return what was found about a setting."""
    return next(one for one in found.settings if one.key == key)


def of_script(script: str, base: str = "farkle-classic", **changes: object) -> Inference:
    """Infer the rules of an evening, its own as the base."""
    evening = at_table("A B", base, **changes).then(script)
    record = LogRecord(evening.game, evening.log)  # type: ignore[arg-type]
    return infer("evening", record, PRESETS, evening.game.start.rules)


# -- the presets ------------------------------------------------------------------------------------------------------


def test_the_true_ruleset_explains_every_game_and_where_a_replay_parts_for_good_the_other_does_not() -> None:
    how = ("greedy", "cautious", "hold:350", "random", "dice:3")
    for number in range(1000 if LONG else 13):
        rng = Random(f"infer {number}")
        true = PRESETS[number % len(PRESETS)]
        players = tuple((name, rng.choice(how)) for name in paper.NAMES[: rng.randint(1, 4)])
        log, game = play_game(Plan(true, players, number), 1)
        record = LogRecord(game, log)
        assert record.contradiction(true) is None, (number, true.name)
        others = [one for one in PRESETS if one is not true]
        for other in rng.sample(others, 4):
            wrong = record.contradiction(other)
            if wrong is not None:
                continue
            divergences = replay(game, log, other, of=OF).replay.divergences
            assert {one.kind for one in divergences} <= {*CONSEQUENCES}, (number, true.name, other.name)


def test_a_contradiction_is_where_the_log_under_those_rules_is_no_legal_game() -> None:
    for name in ("tiotusen", "zilch", "ten-thousand", "in-progress"):
        stem = name if name == "in-progress" else f"{name}-evening"
        log = load(f"sample_logs/{stem}.jsonl")
        record = LogRecord(log.game, log.events)
        for rules in PRESETS:
            if rules.set_aside == "one-per-combination":
                continue  # there keeps are written otherwise
            wrong = record.contradiction(rules)
            place = ""
            try:
                fold([replace(log.start, rules=rules), *log.events[1:]])
            except TenklogError as error:
                place = error.where
            assert (wrong.place if wrong else "") == place, (name, rules.name)


def test_how_a_keep_is_written_says_nothing_but_how_many_dice_are_thrown_does() -> None:
    one = of_script("roll 133446, keep 1, roll 22234, keep 222, bank")
    verdicts = {verdict.rules: verdict for verdict in one.rulesets}
    assert verdicts["diecimila"].explains
    assert verdicts["diecimila-free"].explains
    two = of_script("roll 113446, keep 11, roll 2234")
    verdicts = {verdict.rules: verdict for verdict in two.rulesets}
    assert verdicts["diecimila"].explains
    three = of_script("roll 111446, keep 111, roll 223")
    wrong = {verdict.rules: verdict for verdict in three.rulesets}["diecimila"].contradiction
    assert wrong is not None
    assert (wrong.seq, wrong.text) == (4, "3 dice rolled, 5 are to be thrown")


def test_what_was_taken_back_is_no_evidence() -> None:
    script = "roll 222246, keep 2222, undo, undo, roll 133446, keep 1, bank"
    for verdict in of_script(script, four_of_a_kind=400).rulesets:
        assert verdict.explains or verdict.contradiction.seq > 4, verdict  # type: ignore[union-attr, operator]
    assert {verdict.rules for verdict in of_script(script, four_of_a_kind=400).rulesets if verdict.explains} >= {
        "ten-thousand",
        "farkle-classic",
    }


def test_an_expect_is_evidence_of_what_a_turn_without_dice_posted() -> None:
    one = of_script("bank 700, bank 1000, expect A=700 B=1000")
    verdicts = {verdict.rules: verdict for verdict in one.rulesets}
    assert verdicts["ten-thousand"].explains
    wrong = verdicts["tiotusen"].contradiction
    assert wrong is not None
    assert (wrong.seq, wrong.text) == (4, "A stands at 0, not 700")


# -- single settings --------------------------------------------------------------------------------------------------


def test_borders_of_numbers_are_exact() -> None:
    one = of_script("roll 133446, keep 1, bank, bank 500, expect A=100 B=500, bank 50")
    assert told(one, "opening_minimum").explains == ["0 to 100"]
    assert told(one, "opening_minimum").contradicted[0].value == "101 to 10000"
    assert told(one, "opening_minimum").contradicted[0].contradiction.seq == 6
    assert told(one, "target").explains == ["101 to 1000000"]
    penalty = of_script("bank 1000, bust, expect B=-300", bust_penalty=300)
    assert told(penalty, "bust_penalty").explains == ["300"]
    assert [tried.value for tried in told(penalty, "bust_penalty").contradicted] == ["0 to 299", "301 to 1000000"]


def test_what_nothing_in_the_record_depends_on_cant_be_told() -> None:
    one = of_script("roll 133446, keep 1, bank")
    assert {"tie", "reach", "steal", "straight", "full_house", "hot_dice"} <= {*one.untold}
    assert not {*one.untold} & {setting.key for setting in one.settings}
    assert told(one, "one").explains == ["1:100"]


@pytest.mark.parametrize("stem", ["ten-thousand-evening", "score-sheet"])
def test_every_value_that_is_told_is_judged_as_the_fold_judges_it(stem: str) -> None:
    log = load(f"sample_logs/{stem}.jsonl")
    rules = log.start.rules
    found = infer(stem, LogRecord(log.game, log.events), PRESETS, rules)
    assert found.settings
    for setting in found.settings:
        if setting.key == "set_aside":
            continue  # there keeps are written otherwise
        values = [(value, True) for value in setting.explains] + [(one.value, False) for one in setting.contradicted]
        for text, explains in values:
            for value in text.split(" to "):
                plain = f"{rules.scoring[setting.key].dice}:0" if value == "off" else value
                changed = change(rules, dict([parse_change(f"{setting.key}={plain}", rules)]))
                begun = [replace(log.start, rules=changed), *log.events[1:]]
                try:
                    fold(begun)
                    legal = True
                except TenklogError:
                    legal = False
                # Without dice the fold takes any points: only that no dice make them speaks against those rules.
                assert legal == explains or (legal and setting.key in ("five", "one")), (setting.key, value)


# -- sheets -----------------------------------------------------------------------------------------------------------

SHEET = "sample_logs/tiotusen-example.csv"


def of_sheet(text: str, base: Ruleset | None = None) -> Inference:
    """Infer the rules of a sheet."""
    return infer("sheet", SheetRecord(lay_out(cells.read(text)), None, PRESETS), PRESETS, base)


def test_the_sheet_of_the_tiotusen_page_needs_a_bust_penalty_of_1000(shell: Shell) -> None:
    found = shell.json(f"rules infer {SHEET}", "rules-infer")
    assert not any(one["explains"] for one in found["rulesets"])
    assert {one["contradiction"]["line"] for one in found["rulesets"]} == {5}
    assert found["base"] == "tiotusen"
    # A streak of one bust that costs tiotusen's 1000 is the same.
    explains = [(one["key"], one["explains"]) for one in found["settings"]]
    assert explains == [("bust_penalty", ["1000"]), ("streak_length", ["1"])]
    found = shell.json(f"rules infer {SHEET} --rules tiotusen --set bust_penalty=1000", "rules-infer")
    minimum = next(one for one in found["settings"] if one["key"] == "opening_minimum")
    assert minimum["explains"] == ["0 to 1050"]
    assert minimum["contradicted"][0]["contradiction"]["column"] == "C"


def test_a_slip_that_speaks_against_all_rulesets_is_said_and_rejects_none(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    text = "Round,A,B\n1,1000,1000\n2,300,x\n3,350,1100\n"
    assert {one.rules for one in of_sheet(text).rulesets if one.explains} >= {"tiotusen", "ten-thousand"}
    file = f"{tmp_path}/friday.csv"
    with open(file, "w", encoding="utf-8") as written:
        written.write(text)
    assert cli.run(["rules", "infer", file]) == 0
    assert f"under any rules: {file}:3: column C (B, round 2): 'x' is no number of points" in capsys.readouterr().err


def test_a_penalty_of_the_sheet_is_tried_whatever_it_is() -> None:
    found = of_sheet("Round,A,B\n1,1000,1000\n2,-750,300\n3,300,300\n")
    assert told(found, "bust_penalty").explains == ["750"]


def test_small_first_turns_reject_the_opening_minimum() -> None:
    found = of_sheet("Round,A,B\n1,300,400\n2,350,1000\n")
    wrong = {one.rules: one.contradiction for one in found.rulesets}
    assert wrong["ten-thousand"] is None
    assert wrong["tiotusen"] is not None
    assert (wrong["tiotusen"].line, wrong["tiotusen"].column) == (2, "B")
    assert wrong["farkle"] is not None


# -- on the command line ----------------------------------------------------------------------------------------------


def test_an_inference_has_its_shape_in_every_format(shell: Shell) -> None:
    for name in ("in-progress", "awkward"):
        found = shell.json(f"rules infer sample_logs/{name}.jsonl", "rules-infer")
        assert found["kind"] == "log"
        for form in ("table", "markdown", "csv", "jsonl"):
            assert shell(f"rules infer sample_logs/{name}.jsonl --format {form}")


def test_the_rules_of_a_game_that_are_no_preset_are_tried_as_recorded(shell: Shell) -> None:
    shell("new Anna Ben --rules tiotusen --set target=3000 -g evening")
    shell("bank 1500")
    found = shell.json("rules infer", "rules-infer")
    assert found["rulesets"][0] == {"rules": "recorded", "explains": True, "contradiction": None}
    assert found["base"] == "tiotusen"
