"""Deciding: what is asked for becomes events, or a sentence that says why not."""

import pytest
from evening import Evening, at_table, position_facts, ruleset, start

from tenklog import events
from tenklog.decider import Bank, Bust, Expect, Fix, Keep, Note, Roll, Throw, Undo, decide, draft
from tenklog.errors import DataError, IllegalMove, TenklogError, UsageError
from tenklog.game import fold
from tenklog.rules import Combination


def standing(game: Evening) -> list[events.Event]:
    """Return the table events that stand, oldest first."""
    return [node.event for node in game.game.standing() if node.event is not None][::-1]


# -- commands ---------------------------------------------------------------------------------------------------------


def test_what_is_decided_has_the_next_seq_and_no_time() -> None:
    game = at_table().then("roll 223446").log
    assert game[1:] == [events.Roll(2, player="A", dice=(2, 2, 3, 4, 4, 6)), events.Bust(3, player="A")]


def test_decide_returns_the_events_and_leaves_the_game_alone() -> None:
    game = at_table().game
    assert decide(game, Bank(300)) == [events.Bank(2, player="A", points=300)]
    assert game.seq == 1


def test_what_is_decided_folds() -> None:
    game = at_table().then("roll 133445, keep best, bank, bust, bank 50")
    assert position_facts(fold(game.log).position) == position_facts(game.position)


def test_a_throw_takes_as_many_dice_of_the_pool_as_are_to_be_thrown_and_says_who_threw() -> None:
    game = at_table().then("roll 133445, keep 15, throw 623451")
    assert game.log[3] == events.Roll(4, player="A", dice=(6, 2, 3, 4), thrown_by="tenklog")


def test_keep_best_takes_the_best_keep() -> None:
    game = at_table(both=Combination("15", 90)).then("roll 133445, keep best")
    assert game.log[-1] == events.Keep(3, player="A", dice=(1, 5))
    odd = at_table("A B", pair=Combination("22", 500), three_of_a_kind=100).then("roll 222346, keep best")
    assert odd.log[-1] == events.Keep(3, player="A", dice=(2, 2))


def test_keep_all_takes_the_largest_legal_keep() -> None:
    odd = at_table("A B", pair=Combination("22", 500), three_of_a_kind=100).then("roll 222346, keep all")
    assert odd.log[-1] == events.Keep(3, player="A", dice=(2, 2, 2))
    level = at_table("A B", low=Combination("23", 10), high=Combination("24", 20)).then("roll 233446, keep all")
    assert level.log[-1] == events.Keep(3, player="A", dice=(2, 4))


def test_by_default_the_smallest_die_of_each_combination_leaves() -> None:
    game = at_table("A B", "diecimila").then("roll 123456, keep all")
    assert game.log[-1] == events.Keep(3, player="A", dice=(1, 2, 3, 4, 5, 6), aside=(1,))
    named = at_table("A B", "diecimila").then("roll 123456, keep all aside 4")
    assert named.log[-1] == events.Keep(3, player="A", dice=(1, 2, 3, 4, 5, 6), aside=(4,))
    assert at_table().then("roll 123456, keep 1").log[-1] == events.Keep(3, player="A", dice=(1,))


def test_a_keep_that_scores_nothing_has_no_dice_that_leave() -> None:
    game = at_table("A B", "diecimila").then("roll 133446")
    assert game.refuses("keep 3") == "a 3 scores nothing; keep 1 (100)"
    assert game.refuses("keep 3 aside 3") == "a 3 scores nothing; keep 1 (100)"


@pytest.mark.parametrize("which", ["all", "best"])
def test_keep_all_and_keep_best_are_refused_as_any_other_keep_is(which: str) -> None:
    assert at_table().refuses(f"keep {which}") == "there is no roll to keep from; roll the dice first"
    assert at_table().then("roll 133445, keep 1").refuses(f"keep {which}") == "already kept 1; undo to change"


def test_a_bank_of_rolled_dice_needs_no_points() -> None:
    assert at_table().then("roll 133445, keep 1, bank").log[-1] == events.Bank(4, player="A", points=100)


def test_a_score_sheet_turn_needs_its_points() -> None:
    message = at_table().refuses("bank")
    assert message == "no dice were rolled in this turn; give its points, such as `bank 350`, or roll"


def test_an_expect_that_is_false_is_not_written() -> None:
    game = at_table().then("bank 300").game
    with pytest.raises(DataError) as false:
        decide(game, Expect({"A": 200}))
    assert str(false.value) == "A stands at 300, not 200; compare the sheet (`tenklog sheet`) with the paper"
    assert false.value.exit_code == 1
    with pytest.raises(TenklogError):
        decide(game, Expect({}))
    with pytest.raises(TenklogError):
        decide(game, Expect({"C": 0}))
    assert decide(game, Expect({"A": 300, "B": 0})) == [events.Expect(3, totals={"A": 300, "B": 0})]


def test_an_illegal_move_is_exit_2() -> None:
    with pytest.raises(IllegalMove) as refused:
        decide(at_table().game, Keep((1,)))
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    "command",
    [Roll((7, 1, 2, 3, 4, 5)), Roll((0, 1, 2, 3, 4, 5)), Bank(-50), Bank(2**53), Note(""), Note("x" * 2001)],
)
def test_what_no_log_could_hold_is_not_drafted(command: Roll | Bank | Note) -> None:
    with pytest.raises(UsageError, match="can't be written"):
        decide(at_table().game, command)


# -- a bust that was lacking ------------------------------------------------------------------------------------------


def cut() -> Evening:
    """Return a game whose last line is a losing roll without its bust, as a torn write leaves it."""
    game = at_table("A B").then("roll 133445, keep 1, roll 22346")
    return Evening(game.log[:-1], fold(game.log[:-1]))


def test_the_next_command_completes_a_bust_that_is_lacking() -> None:
    game = cut()
    assert game.legal == ["bust"]
    bust = events.Bust(5, player="A")
    for phrase, written in (
        ("note oh", [bust, events.Note(6, text="oh")]),
        ("bank 300", [bust, events.Bank(6, player="B", points=300)]),
        ("roll 123456", [bust, events.Roll(6, player="B", dice=(1, 2, 3, 4, 5, 6))]),
        ("expect A=0", [bust, events.Expect(6, totals={"A": 0})]),
        ("leave A", [bust, events.Leave(6, player="A")]),
        ("abandon", [bust, events.Abandon(6)]),
        ("whole-game target=5000", [bust, events.RuleChange(6, changes={"target": 5000}, scope="whole-game")]),
    ):
        assert decide(game.game, game.command(phrase.split())) == written, phrase


def test_a_bust_that_is_asked_for_is_the_one_that_is_lacking() -> None:
    assert decide(cut().game, Bust()) == [events.Bust(5, player="A")]


def test_undo_takes_back_a_roll_whose_bust_is_lacking() -> None:
    assert decide(cut().game, Undo()) == [events.Undo(5, of=4)]


def test_fix_corrects_a_roll_whose_bust_is_lacking() -> None:
    game = cut().then("fix 4 roll 12346")
    assert [type(event) for event in game.log[4:]] == [events.Undo, events.Roll]
    assert game.legal == ["keep"]


# -- fix --------------------------------------------------------------------------------------------------------------


def test_fix_is_undo_back_to_the_event_the_corrected_event_and_the_later_ones_again() -> None:
    game = at_table("A B").then("bank 300, bank 200, bust").then("fix 2 bank 350")
    assert game.log[4:] == [
        events.Undo(5, of=4, why="fix 2"),
        events.Undo(6, of=3, why="fix 2"),
        events.Undo(7, of=2, why="fix 2"),
        events.Bank(8, player="A", points=350),
        events.Bank(9, player="B", points=200),
        events.Bust(10, player="A"),
    ]
    assert game.totals == {"A": 350, "B": 200}


def test_fix_corrects_the_dice_of_a_roll_and_keeps_what_was_kept() -> None:
    game = at_table().then("roll 133445, keep 1, bank, fix 2 roll 133346")
    assert standing(game)[0] == events.Roll(8, player="A", dice=(1, 3, 3, 3, 4, 6))
    assert game.totals["A"] == 100


def test_fix_corrects_a_keep_and_writes_the_asserted_points_anew() -> None:
    game = at_table().then("roll 133445, keep 1, bank 100, fix 3 keep 15")
    assert game.totals["A"] == 150
    assert standing(game)[-1] == events.Bank(8, player="A", points=150)


def test_fix_corrects_which_dice_left() -> None:
    game = at_table("A B", "diecimila").then("roll 122256, keep all, roll 134, fix 3 keep 12225 aside 125")
    assert next(event for event in standing(game) if isinstance(event, events.Keep)).aside == (1, 2, 5)
    by_default = at_table("A B", "diecimila").then("roll 123456, keep all aside 4, fix 3 keep 123456")
    assert standing(by_default)[-1] == events.Keep(5, player="A", dice=(1, 2, 3, 4, 5, 6), aside=(1,))
    straight = at_table("A B", "diecimila").then("roll 123456, keep all, roll 13466, fix 3 keep 123456 aside 6")
    assert next(event for event in standing(straight) if isinstance(event, events.Keep)).aside == (6,)


def test_fix_writes_busts_that_follow_anew() -> None:
    game = at_table("A B").then("bank 300, roll 223446, bank 200, fix 2 bank 50")
    assert game.totals == {"A": 250, "B": 0}
    assert [type(event) for event in standing(game)] == [events.Bank, events.Roll, events.Bust, events.Bank]
    lost = at_table("A B").then("roll 133445, fix 2 roll 223446")
    assert (lost.last.outcome, lost.to_play) == ("bust", "B")


def test_fix_turns_a_losing_roll_into_a_scoring_one() -> None:
    game = at_table("A B").then("roll 223446, fix 2 roll 123446")
    assert (game.to_play, game.legal) == ("A", ["keep"])
    assert [type(event) for event in game.log[3:]] == [events.Undo, events.Roll]


def test_fix_makes_a_bust_of_points_and_points_of_a_bust() -> None:
    game = at_table("A B", bust_penalty=100).then("bank 300, bank 200, fix 2 bust")
    assert game.totals == {"A": -100, "B": 200}
    assert game.then("fix 6 bank 50").totals == {"A": 50, "B": 200}


def test_fix_says_no_more_that_the_tool_threw_what_was_corrected() -> None:
    game = at_table().then("throw 133445, fix 2 roll 233445")
    assert standing(game)[-1] == events.Roll(4, player="A", dice=(2, 3, 3, 4, 4, 5))
    later = at_table().then("roll 133445, keep 1, throw 12346, fix 3 keep 5")
    assert standing(later)[-1] == events.Roll(8, player="A", dice=(1, 2, 3, 4, 6), thrown_by="tenklog")


def test_fix_skips_notes_and_expects_which_stay_where_they_are() -> None:
    game = at_table("A B").then("bank 300, note hello, expect A=300, bank 200, fix 2 bank 350")
    assert game.kinds == ["start", "bank", "note", "expect", "bank", "undo", "undo", "bank", "bank"]


def test_fix_goes_back_past_rule_changes_joins_and_renames() -> None:
    game = at_table("A B").then("bank 300, whole-game opening_minimum=200, join C, rename A Z, bank 100")
    assert game.then("fix 2 bank 150").totals == {"Z": 0, "B": 0, "C": 0}
    assert game.position.rules.opening_minimum == 200


def test_fix_goes_back_past_the_end() -> None:
    game = at_table(target=1000, last_turns="none").then("bank 1000")
    assert game.then("fix 2 bank 900").position.status == "in-progress"


def test_fix_is_refused_with_nothing_written_when_a_later_event_becomes_illegal() -> None:
    game = at_table().then("roll 133445, keep 1, roll 11346, keep 1")
    lines = list(game.log)
    assert game.refuses("fix 2 roll 533446") == (
        "event 3 (keep) would become illegal: 1 was not thrown: the roll is 5 3 3 4 4 6; undo back to there instead"
    )
    assert game.refuses("fix 3 keep 15") == (
        "event 4 (roll) would become illegal: 5 dice rolled, 4 are to be thrown; undo back to there instead"
    )
    assert game.log == lines


def test_fix_is_refused_when_a_later_turn_would_be_another_players() -> None:
    game = at_table("A B").then("roll 223446, bank 300")
    assert game.refuses("fix 2 roll 123446").startswith("event 4 (bank) would become illegal: it is A's turn, not B's")


def test_fix_never_makes_points_of_dice_a_fact_of_a_score_sheet() -> None:
    game = at_table("A", blank_throw=500).then("roll 223446, bank 500")
    assert game.refuses("fix 2 roll 123446").startswith("event 3 (bank) would become illegal: 1 2 3 4 4 6 is rolled")
    lost = at_table("A", blank_throw=500, wipeout="AAABBB").then("roll 223446, bank 500")
    assert lost.refuses("fix 2 roll 222333") == (
        "event 3 (bank) would become illegal: its turn would have no dice; undo back to there instead"
    )
    sheet = at_table("A", blank_throw=500, wipeout="AAABBB").then("roll 222333, bank 300")
    assert sheet.refuses("fix 2 roll 223446") == (
        "event 4 (bank) would become illegal: its turn would have dice; undo back to there instead"
    )


def test_fix_is_refused_when_the_corrected_event_itself_is_illegal() -> None:
    game = at_table().then("roll 133445, keep 1")
    assert game.refuses("fix 2 roll 1334") == "4 dice rolled, 6 are to be thrown; roll 6 dice"
    assert game.refuses("fix 3 keep 3") == "a 3 scores nothing; keep 1 5 (150), 1 (100), 5 (50)"


def test_fix_names_a_table_event_that_still_stands() -> None:
    game = at_table().then("roll 133445, keep 1, undo, keep 5, note hm")
    for nothing in (1, 3, 4, 6, 9):
        message = game.refuses(f"fix {nothing} bank 50")
        assert message == f"{nothing} is no table event that still stands; a seq from `tenklog events`"


def test_fix_corrects_rolls_keeps_and_points_alone() -> None:
    game = at_table("A B C").then("join D, leave D, rename A Z, roll 223446, change target=5000, bank 50")
    for seq, kind in ((2, "join"), (3, "leave"), (4, "rename"), (7, "rule-change")):
        for corrected in ("roll 123456", "bank 50"):
            message = game.refuses(f"fix {seq} {corrected}")
            assert message == f"event {seq} is a {kind}, and only rolls, keeps and points are fixed; undo back to it"
    assert game.refuses("fix 6 bank 50") == "the bust 6 follows from its roll; fix the roll"
    assert game.refuses("fix 8 roll 123456") == (
        "event 8 is a bank, and only rolls, keeps and points are fixed; undo back to it"
    )


def test_fix_of_a_roll_needs_dice() -> None:
    game = at_table().then("roll 133445, keep 1")
    assert game.refuses("fix 2 bank 300") == "event 2 is a roll; give its dice, such as `fix 7 133446`"
    assert game.refuses("fix 3 bust") == "event 3 is a keep; give its dice, such as `fix 7 133446`"


def test_points_of_a_turn_with_dice_follow_from_its_dice() -> None:
    game = at_table().then("roll 133445, keep 1, bank")
    assert game.refuses("fix 4 bank 150") == (
        "the points of a turn with dice follow from its dice; fix one of its rolls or keeps"
    )


def test_a_number_that_may_be_dice_or_points_is_points_for_a_score_sheet_turn() -> None:
    game = at_table().then("bank 300")
    assert draft(game.game, Fix(2, dice=(1, 5, 5), points=155)).game.position.seats[0].total == 155


def test_fix_of_a_fixed_event_goes_on() -> None:
    game = at_table("A B").then("bank 300, bank 200, fix 2 bank 350, fix 7 bank 400")
    assert game.totals == {"A": 350, "B": 400}


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "asked", "message"),
    [
        (
            "",
            "challenge B",
            "there are no challenges in these rules (challenge_split is 0); legal is roll or bank or bust",
        ),
        ("", "steal", "steal is off in these rules; legal is roll or bank or bust"),
        ("", "undo", "there is nothing to undo; a move first"),
        ("", "join A", "there is a player A already; a name that nobody has"),
        ("", "leave Z", "there is no player Z; one of A, B"),
        ("", "change target=0", "target can't be '0'; target is a whole number from 1 to 1000000"),
        ("roll 133445", "roll 133445", "1 3 3 4 4 5 is rolled and nothing of it kept; keep 1 5 (150), 1 (100), 5 (50)"),
        ("roll 133445", "keep 6", "6 was not thrown: the roll is 1 3 3 4 4 5; keep 1 5 (150), 1 (100), 5 (50)"),
        ("roll 133445, keep 1", "roll 1", "1 die rolled, 5 are to be thrown; roll 5 dice"),
        ("roll 111552, keep 11155", "roll 12", "2 dice rolled, 1 is to be thrown; roll 1 die"),
    ],
)
def test_a_refusal_says_what_forbids_it_what_was_asked_and_what_would_be_legal(
    given: str, asked: str, message: str
) -> None:
    game = at_table("A B").then(given)
    if asked == "change target=0":
        with pytest.raises(UsageError) as refused:
            game.command(asked.split())
        assert str(refused.value) == message
    else:
        assert game.refuses(asked) == message


def test_a_throw_after_the_end_is_refused() -> None:
    game = fold([start("A B", ruleset()), events.Abandon(2)])
    with pytest.raises(IllegalMove, match=r"^the game is abandoned; only undo, note and expect$"):
        decide(game, Throw((1, 2, 3, 4, 5, 6)))
