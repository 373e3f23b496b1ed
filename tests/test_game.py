"""A whole game: folding, the documents' worked examples, taking back, and rules that change for the whole game."""

from itertools import pairwise

import pytest
from evening import Evening, at_table, position_facts, ruleset, start, why_not
from msgspec.structs import replace

from tenklog import events, rules
from tenklog.errors import TenklogError
from tenklog.game import evolve, false_expect, fold

# -- the documents' worked examples -----------------------------------------------------------------------------------

# Player 1 is A, player 2 is B.
NORWEGIAN = """roll 133446, keep 1, roll 22234, keep 222, roll 55, keep 55, roll 223446,
               roll 555244, keep 555, roll 123, keep 1, bank 600"""


def test_the_norwegian_example_stands_at_0_and_600() -> None:
    game = at_table("A B", "ten-thousand")
    game.then("roll 133446, keep 1, roll 22234, keep 222, roll 55, keep 55")
    assert (game.turn.points, game.turn.dice_left, game.legal) == (400, 6, ["roll", "bank"])
    game.then("roll 223446")
    assert (game.last.outcome, game.to_play) == ("bust", "B")
    game.then("roll 555244, keep 555, roll 123, keep 1, bank 600")
    assert game.totals == {"A": 0, "B": 600}
    assert at_table("A B", "ten-thousand").then(NORWEGIAN).totals == {"A": 0, "B": 600}


def test_the_norwegian_example_with_must_bank_would_have_ended_at_400() -> None:
    game = at_table("A B", "ten-thousand", hot_dice="must-bank")
    game.then("roll 133446, keep 1, roll 22234, keep 222, roll 55, keep 55")
    assert game.refuses("roll 223446") == "all dice are set aside and hot_dice is must-bank; bank 400"


DANISH: dict[str, list[int | None]] = {
    "Anna": [700, 1200, 2500, 1000, 3000, 2400],
    "Ben": [1050, 350, 0, 1200, 2000, 1500],
    "Cara": [0, 1500, 800, None, 2200, 1000],
}
RUNNING = {
    "Anna": [0, 1200, 3700, 4700, 7700, 10100],
    "Ben": [1050, 1400, 1400, 2600, 4600, 6100],
    "Cara": [0, 1500, 2300, 1300, 3500, 4500],
}


def danish(seats: str) -> tuple[Evening, list[dict[str, int]]]:
    """Play the score sheet up to Anna's last turn; return the totals after each round besides."""
    game = at_table(seats, "tiotusen", bust_penalty=1000)
    after: list[dict[str, int]] = []
    for number in range(6):
        for player in seats.split():
            points = DANISH[player][number]
            game.then("bust" if points is None else f"bank {points}")
            if (player, number) == ("Anna", 5):
                return game, after
        after.append(game.totals)
    raise AssertionError("Anna has six turns")


def test_the_danish_score_sheet_has_its_running_totals() -> None:
    _, after = danish("Anna Ben Cara")
    assert after == [{player: totals[number] for player, totals in RUNNING.items()} for number in range(5)]


def test_the_danish_score_sheet_with_anna_in_the_first_seat() -> None:
    game, _ = danish("Anna Ben Cara")
    assert game.totals == {"Anna": 10100, "Ben": 4600, "Cara": 3500}
    assert (game.position.status, game.due) == ("last-turns", "Ben Cara")
    game.then("bank 1500, bank 1000")
    assert (game.position.status, game.winners) == ("finished", "Anna")
    assert game.totals == {"Anna": 10100, "Ben": 6100, "Cara": 4500}


def test_the_danish_score_sheet_with_anna_in_the_last_seat() -> None:
    game, _ = danish("Ben Cara Anna")
    assert game.totals == {"Ben": 6100, "Cara": 4500, "Anna": 10100}
    assert (game.position.status, game.due) == ("last-turns", "Ben Cara")


def test_a_turn_of_the_danish_example_posts_0_without_a_bust() -> None:
    # Anna has not opened; Ben has, and writes down 0.
    game, _ = danish("Anna Ben Cara")
    outcomes = [(turn.turn.seat, turn.round, turn.outcome) for turn in game.position.turns() if not turn.posted]
    assert outcomes == [(0, 1, "scoreless"), (2, 1, "scoreless"), (1, 3, "scoreless"), (2, 4, "bust")]


@pytest.mark.parametrize("preset", ["tiotusen", "ten-thousand"])
def test_three_ones_in_two_rolls_are_300_not_1000(preset: str) -> None:
    assert at_table("A B", preset).then("roll 123346, keep 1, roll 11346, keep 11").turn.points == 300


# -- the same log, another winner -------------------------------------------------------------------------------------


def sheet(last_turns: str, script: str) -> Evening:
    return at_table("A B C", target=1000, last_turns=last_turns).then(script)


def test_the_same_log_has_another_winner_by_the_last_turns_that_are_due() -> None:
    first = "bank 500, bank 600, bank 1000"
    assert sheet("rest-of-round", first).winners == "C"
    assert sheet("everyone-else", first).due == "A B"
    assert sheet("everyone-else", first).then("bank 600, bank 0").winners == "A"
    second = "bank 500, bank 1000"
    assert sheet("everyone-else", second).due == "C A"
    assert sheet("rest-of-round", second).due == "C"
    assert sheet("everyone-else", second).then("bank 0, bank 700").winners == "A"
    assert sheet("rest-of-round", second).then("bank 0").winners == "B"


# -- starting and folding ---------------------------------------------------------------------------------------------


def refused(log: list[events.Event]) -> str:
    with pytest.raises(TenklogError) as error:
        fold(log)
    return str(error.value)


def test_a_log_begins_with_its_start() -> None:
    assert refused([]) == "a log without events; a start event first"
    assert refused([events.Note(1, text="tea")]) == "event 1: the first event is a note; a start event first"
    first = start("A B", ruleset())
    second = events.Start(2, game="g", version=1, players=("A",), rules=ruleset(), origin="table")
    assert refused([first, second]) == "event 2: a second start; one start, on the first line"
    assert refused([second]) == "event 2: the start has seq 2; seq 1"


def test_seq_has_no_gaps_and_nothing_twice() -> None:
    first = start("A B", ruleset())
    assert refused([first, events.Note(3, text="tea")]) == "event 3: seq 3 follows seq 1; seq 2"
    assert refused([first, events.Note(1, text="tea")]) == "event 1: seq 1 follows seq 1; seq 2"


def test_an_illegal_event_is_named_with_its_number() -> None:
    log = at_table().then("roll 133446, keep 1").log
    assert refused([*log, events.Keep(4, player="A", dice=(1,))]) == "event 4: already kept 1; undo to change"


def test_players_have_names_of_their_own() -> None:
    assert refused([start("A B A", ruleset())]) == "event 1: two players are called A; a name for each"


def test_a_table_has_1_to_20_players() -> None:
    names = " ".join(f"p{number}" for number in range(21))
    assert refused([start(names, ruleset())]) == "event 1: 21 players; 1 to 20 at a table"
    assert refused([start("", ruleset())]) == "event 1: 0 players; 1 to 20 at a table"
    assert len(at_table(names.rpartition(" ")[0]).totals) == 20


@pytest.mark.parametrize("name", ["a\x00b", "\u202eabc", " A", "", "n" * 65, "e\u0301"])
def test_a_name_that_may_not_stand_in_a_table_is_refused_wherever_a_name_is_given(name: str) -> None:
    first = start("A B", ruleset())
    with pytest.raises(TenklogError, match="name"):
        fold([events.Start(1, game="g", version=1, players=(name,), rules=ruleset(), origin="table")])
    with pytest.raises(TenklogError, match="name"):
        fold([first, events.Join(2, player=name)])
    with pytest.raises(TenklogError, match="name"):
        fold([first, events.Rename(2, player="A", to=name)])


def test_a_start_carries_rules_without_contradiction() -> None:
    message = refused([start("A B", replace(ruleset(), opening_minimum=20000))])
    assert message == "event 1: opening_minimum 20000 is above target 10000; opening_minimum from 0 to 10000"


@pytest.mark.parametrize(
    ("name", "combination", "message"),
    [
        ("target", rules.Combination("AA", 50), "combination target is named like a key of the file"),
        ("Pair", rules.Combination("AA", 50), "combination name 'Pair'"),
        ("pair", rules.Combination("AA", "50B"), "pair: points 50B name no letter of the pattern AA"),
        ("pair", rules.Combination("AA", "9999999A"), "pair: points 9999999A are too many"),
    ],
)
def test_a_start_carries_combinations_as_a_file_may_have_them(
    name: str, combination: rules.Combination, message: str
) -> None:
    scoring = ruleset().scoring | {name: combination}
    assert refused([start("A B", replace(ruleset(), scoring=scoring))]).startswith(f"event 1: {message}; ")


def test_the_first_throw_names_players_alone() -> None:
    assert fold([start("A B", ruleset(), first_throw={"A": (6,), "B": (2,)})]).seq == 1
    message = refused([start("A B", ruleset(), first_throw={"C": (6,)})])
    assert message == "event 1: first_throw names C, who does not play; one of A, B"


def test_only_a_replay_names_what_it_replays() -> None:
    with_it, without = "3:" + "ab" * 16, None
    assert fold([start("A", ruleset(), origin="replay", of=with_it)]).position.replayed
    for origin, of in (("replay", without), ("table", with_it), ("import", with_it), ("simulated", with_it)):
        assert refused([start("A", ruleset(), origin=origin, of=of)]) == (
            f"event 1: origin {origin} {'with' if of else 'without'} of; "
            "of is the fingerprint of the log that was replayed, with origin replay only"
        )


def test_fold_goes_on_where_it_stopped() -> None:
    log = at_table("A B", "ten-thousand").then(NORWEGIAN).log
    for place in range(1, len(log)):
        game = fold(log[:place])
        for event in log[place:]:
            game = evolve(game, event)
        assert position_facts(game.position) == position_facts(fold(log).position)


def test_notes_and_expects_change_nothing_and_stand_after_a_losing_roll_too() -> None:
    game = at_table().then("roll 223446").game
    cut = game.before
    assert cut is not None
    said = evolve(evolve(cut, events.Note(3, text="oh")), events.Expect(4, totals={"A": 0}))
    assert position_facts(said.position) == position_facts(cut.position)
    assert evolve(said, events.Bust(5, player="A")).position.ended is not None


def test_a_game_that_is_over_takes_undo_note_and_expect_alone() -> None:
    game = at_table(target=100, last_turns="none").then("bank 100")
    assert why_not(game.game, events.Join(3, player="C")) == "the game is finished; only undo, note and expect"
    assert game.then("note so it goes, expect A=100, undo").totals == {"A": 0, "B": 0}


# -- expect -----------------------------------------------------------------------------------------------------------


def test_a_false_expect_is_told_and_the_fold_goes_on() -> None:
    game = at_table().then("bank 300").game
    wrong = events.Expect(3, totals={"A": 200})
    assert false_expect(game.position, wrong) == "A stands at 300, not 200"
    assert evolve(game, wrong).seq == 3
    assert false_expect(game.position, events.Expect(3, totals={"C": 0})) == "there is no player C"
    assert false_expect(game.position, events.Expect(3, totals={})) == "the expect names nobody"
    assert false_expect(game.position, events.Expect(3, totals={"A": 300, "B": 0})) == ""
    assert false_expect(game.position, events.Expect(3, totals={"A": 300, "B": 1})) != ""


def test_an_expect_names_players_as_they_are_called_now() -> None:
    game = at_table().then("bank 300, rename A Z").game
    assert false_expect(game.position, events.Expect(4, totals={"Z": 300})) == ""
    assert false_expect(game.position, events.Expect(4, totals={"A": 300})) == "there is no player A"


# -- undo -------------------------------------------------------------------------------------------------------------


def test_undo_takes_back_the_last_table_event_that_still_stands() -> None:
    game = at_table().then("roll 133445, keep 1, undo")
    assert game.turn.phase == "rolled"
    assert game.then("keep 15, roll 2345, keep 5, undo, undo, undo").turn.phase == "rolled"
    assert game.then("undo").turn.rolls == 0
    assert game.refuses("undo") == "there is nothing to undo; a move first"


def test_undo_names_the_event_that_it_takes_back() -> None:
    game = at_table().then("roll 133445, keep 1, undo, keep 15, undo")
    assert [(event.seq, event.of) for event in game.log if isinstance(event, events.Undo)] == [(4, 3), (6, 5)]
    again = at_table().then("roll 133445, keep 1").game
    assert why_not(again, events.Undo(4, of=2)) == "undo of event 2; event 3 is the last table event that stands"
    assert why_not(again, events.Undo(4, of=1)) == "undo of event 1; event 3 is the last table event that stands"


def test_undo_skips_notes_and_expects() -> None:
    game = at_table().then("bank 300, note hello, expect A=300, undo")
    assert game.totals["A"] == 0
    assert game.log[-1] == events.Undo(5, of=2)


def test_a_bust_that_followed_by_itself_goes_together_with_its_roll() -> None:
    game = at_table().then("roll 133445, keep 1, roll 22346, undo")
    assert game.log[-1] == events.Undo(6, of=5)
    assert (game.to_play, game.turn.phase, game.turn.points, game.turn.dice_left) == ("A", "kept", 100, 5)


def test_a_bust_of_a_score_sheet_turn_goes_alone() -> None:
    game = at_table().then("bank 300, bank 200, bust, undo")
    assert (game.to_play, game.totals) == ("A", {"A": 300, "B": 200})


def test_a_note_between_a_losing_roll_and_its_bust_changes_nothing_for_undo() -> None:
    losing = at_table().then("roll 223446").log[:2]
    game = fold([*losing, events.Note(3, text="oh"), events.Bust(4, player="A"), events.Undo(5, of=4)])
    assert game.position.turn is not None
    assert (game.position.turn.seat, game.position.turn.rolls) == (0, 0)


def test_a_losing_roll_whose_bust_never_came_can_be_undone() -> None:
    losing = at_table().then("roll 223446").log[:2]
    game = fold([*losing, events.Undo(3, of=2)])
    assert game.position.turn is not None
    assert game.position.turn.rolls == 0


def test_undo_goes_back_past_the_end_of_the_game() -> None:
    game = at_table(target=1000, last_turns="none").then("bank 1000, undo")
    assert game.position.status == "in-progress"
    assert at_table().then("abandon, undo").position.status == "in-progress"


def test_undo_takes_back_joins_leaves_renames_and_challenges() -> None:
    game = at_table("A B C", challenge_split=500)
    before = position_facts(game.position)
    for phrase in ("join D", "leave A", "leave B", "rename C Z", "challenge B", "change target=500", "abandon"):
        assert position_facts(game.then(f"{phrase}, undo").position) == before, phrase


def test_what_was_undone_cannot_be_undone_again() -> None:
    game = at_table().then("roll 133445, keep 1, undo").game
    assert why_not(game, events.Undo(5, of=3)) == "undo of event 3; event 2 is the last table event that stands"
    assert why_not(game, events.Undo(5, of=4)) == "undo of event 4; event 2 is the last table event that stands"


def test_undo_goes_back_past_a_change_for_the_whole_game() -> None:
    game = at_table("A B", opening_minimum=500).then("bank 300, bank 600, whole-game opening_minimum=0")
    assert game.totals == {"A": 300, "B": 600}
    assert game.then("undo").totals == {"A": 0, "B": 600}
    assert game.then("undo").totals == {"A": 0, "B": 0}
    assert game.then("bank 200, whole-game opening_minimum=100, undo, undo, bank 700").totals == {"A": 0, "B": 700}


# -- rules that change for the whole game -----------------------------------------------------------------------------


def test_a_change_for_the_whole_game_recomputes_it_from_the_first_turn() -> None:
    game = at_table("A B", "tiotusen").then("bank 900, bank 1000, bust, bust, bust, bust, bust")
    assert game.totals == {"A": -1000, "B": 1000}
    game.then("whole-game opening_minimum=500")
    assert game.totals == {"A": -100, "B": 1000}
    assert game.then("whole-game bust_penalty=10").totals == {"A": -130, "B": 980}


def test_a_change_for_the_whole_game_gives_rolled_dice_other_points() -> None:
    game = at_table("A B").then("roll 133446, keep 1, bank 100, roll 133446, keep 1, whole-game one=500")
    assert (game.totals, game.turn.points) == ({"A": 500, "B": 0}, 500)
    assert game.then("bank 500").totals == {"A": 500, "B": 500}


def test_points_of_a_score_sheet_stay_what_was_written_down() -> None:
    assert at_table("A B").then("bank 100, whole-game one=500").totals["A"] == 100


def test_a_bank_asserts_its_points_under_the_rules_it_was_written_under() -> None:
    game = at_table("A B").then("roll 133446, keep 1, bank 100, expect A=100, whole-game one=500, note so")
    assert game.totals["A"] == 500
    assert fold(game.log).position.seats[0].total == 500
    later = at_table("A B").then("whole-game one=500, roll 133446, keep 1")
    assert later.refuses("bank 100") == "the turn holds 500 points, not 100; bank 500"


def test_a_change_for_the_whole_game_replaces_every_earlier_value_of_its_keys() -> None:
    game = at_table("A B").then("change bust_penalty=100, bust, change bust_penalty=200 target=5000, bust")
    assert game.totals == {"A": -100, "B": -200}
    game.then("whole-game bust_penalty=10")
    assert game.totals == {"A": -10, "B": -10}
    assert (game.position.rules.bust_penalty, game.position.rules.target) == (10, 5000)


def test_a_change_for_the_whole_game_replaces_an_earlier_one_and_leaves_other_keys() -> None:
    game = at_table("A B").then("bust, whole-game bust_penalty=100 target=5000, whole-game bust_penalty=10")
    assert game.totals["A"] == -10
    assert game.position.rules.target == 5000


def test_a_later_change_for_the_next_turn_holds_on_top_of_the_whole_game() -> None:
    game = at_table("A B").then(
        "bust, whole-game bust_penalty=100, change bust_penalty=7, bust, whole-game target=5000"
    )
    assert game.totals == {"A": -100, "B": -7}


def test_a_change_for_the_whole_game_replaces_one_that_waits() -> None:
    game = at_table("A B").then("roll 133446, change target=500, whole-game target=5000, keep 1, bank")
    assert game.position.rules.target == 5000


def test_a_change_for_the_whole_game_may_add_a_combination() -> None:
    game = at_table("A B").then("roll 133446, whole-game pair=33:70, keep 133, bank 170")
    assert game.totals["A"] == 170


def test_a_combination_named_by_its_points_keeps_the_pattern_that_it_has_now() -> None:
    game = at_table("A B").then("change pair=AA:50, roll 223344, keep 22, bank 50, whole-game pair=80")
    assert game.totals["A"] == 80
    assert game.position.rules.scoring["pair"] == rules.Combination("AA", 80)


def test_a_combination_that_waits_for_the_next_turn_lends_its_pattern_to_the_whole_game() -> None:
    game = at_table("A B").then("roll 133446, change pair=AA:50, whole-game pair=80")
    assert game.position.rules.scoring["pair"] == rules.Combination("AA", 80)
    game.then("whole-game target=5000, keep 33, bank 80")
    assert (game.totals["A"], game.position.rules.target) == (80, 5000)


def test_a_change_for_the_whole_game_is_refused_when_an_earlier_event_becomes_illegal() -> None:
    game = at_table("A B").then("roll 133445, keep 5, roll 11346, keep 1, bank")
    assert game.refuses("whole-game five=0") == (
        "event 3 (keep) would not be legal under these rules: a 5 scores nothing; "
        "change the rules from the next turn on (without --whole-game), or see `tenklog replay`"
    )
    assert game.refuses("whole-game set_aside=all").startswith("event 3 (keep) would not be legal under these rules: ")
    assert game.totals["A"] == 150


def test_a_change_for_the_whole_game_is_refused_when_a_bust_would_be_none() -> None:
    game = at_table("A B").then("roll 223446")
    assert game.refuses("whole-game blank_throw=500").startswith(
        "event 3 (bust) would not be legal under these rules: "
    )
    assert game.refuses("whole-game pair=22:50").startswith("event 3 (bust) would not be legal under these rules: ")


def test_a_change_for_the_whole_game_is_refused_when_the_game_had_ended_before_the_last_table_event() -> None:
    game = at_table("A B", last_turns="none").then("bank 1000, bank 200, bank 300")
    assert game.refuses("whole-game target=1000").startswith(
        "event 3 (bank) would not be legal under these rules: the game is finished"
    )


def test_a_change_for_the_whole_game_may_end_the_game_with_the_last_table_event() -> None:
    game = at_table("A B", last_turns="none").then("bank 200, bank 300, bank 1000, note hurry, whole-game target=1000")
    assert (game.position.status, game.winners) == ("finished", "A")
    assert game.then("undo").position.status == "in-progress"


@pytest.mark.parametrize("between", ["join C", "rename B Z", "leave B", "change target=3000", "whole-game tie=shared"])
def test_every_table_event_after_the_end_forbids_the_change(between: str) -> None:
    game = at_table("A B", last_turns="none").then(f"bank 1000, {between}")
    assert game.refuses("whole-game target=1000").startswith(f"event 3 ({game.kinds[2]}) would not be legal ")


def test_of_several_events_after_the_end_the_first_is_named() -> None:
    game = at_table("A B", last_turns="none").then("bank 1000, whole-game target=3000, bank 50, join C")
    assert game.refuses("whole-game target=1000").startswith("event 3 (rule-change) would not be legal ")


def test_a_change_for_the_whole_game_may_begin_last_turns() -> None:
    game = at_table("A B C").then("bank 1000, bank 0, whole-game target=1000")
    assert (game.position.status, game.due) == ("last-turns", "C")


def test_a_roll_on_the_table_that_loses_under_the_changed_rules_is_followed_by_its_bust() -> None:
    game = at_table("A B").then("bank 50, roll 223445, whole-game five=0")
    assert game.kinds[-2:] == ["rule-change", "bust"]
    assert game.to_play == "A"
    assert position_facts(fold(game.log).position) == position_facts(game.position)
    # The bust followed from the change, and goes with it.
    assert game.then("undo").legal == ["keep"]


def test_a_roll_on_the_table_that_wins_under_the_changed_rules_has_won() -> None:
    game = at_table("A B").then("roll 111345, whole-game instant_win=AAA")
    assert game.winners == "A"


def test_a_change_that_contradicts_the_rules_as_they_are_is_refused() -> None:
    game = at_table("A B").then("change target=500")
    assert game.refuses("whole-game opening_minimum=600") == (
        "opening_minimum 600 is above target 500; opening_minimum from 0 to 500"
    )


def test_a_change_for_the_whole_game_keeps_the_seats_as_they_came_and_went() -> None:
    game = at_table("A B C", "tiotusen").then(
        "bank 1000, roll 223445, leave B, bank 1000, join D, rename A Z, bank 50, bust"
    )
    before = game.totals
    assert game.then("whole-game target=5000").totals == before == {"Z": 1050, "B": 0, "C": 1000, "D": 0}
    assert game.then("whole-game bust_penalty=7").totals == before | {"D": 0, "C": 993}


def test_steals_must_still_be_allowed() -> None:
    game = at_table("A B", steal="after-bank").then("roll 133446, keep 1, bank, steal")
    assert game.refuses("whole-game steal=off").startswith("event 5 (steal) would not be legal under these rules: ")
    assert game.refuses("whole-game steal=after-bust").startswith(
        "event 5 (steal) would not be legal under these rules: "
    )
    assert game.then("whole-game one=500").turn.points == 500


# -- undo and changes together ----------------------------------------------------------------------------------------


def test_every_game_of_the_worked_examples_can_be_undone_step_by_step() -> None:
    game = at_table("A B", "ten-thousand").then(NORWEGIAN)
    seen = [position_facts(fold(game.log[:place]).position) for place in range(1, len(game.log) + 1)]
    facts = []
    while game.game.event is not None:
        facts.append(position_facts(game.position))
        game.then("undo")
    facts.append(position_facts(game.position))
    stops = [facts.index(one) for one in seen if one in facts]
    assert all(later < earlier for earlier, later in pairwise(stops))
    assert len(stops) == len(seen) - 1  # the state between the losing roll and its bust is never gone back to
