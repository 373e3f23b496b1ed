"""The rules of a game, clause by clause: given a table's rules, when this is played, then that follows."""

import pytest
from evening import Evening, at_table, ruleset, start, why_not

from tenklog import events
from tenklog.dice import parse
from tenklog.game import evolve, fold
from tenklog.state import keeps

# Under `farkle-classic` a one is 100, a five 50, three ones 1000, three others 100 times their face.
LOSING = {6: "223446", 5: "22346", 4: "2346", 3: "234", 2: "23", 1: "2"}


def lose(dice: int) -> str:
    return f"roll {LOSING[dice]}"


# -- rolling, keeping, banking ----------------------------------------------------------------------------------------


def test_a_turn_begins_with_all_dice() -> None:
    game = at_table()
    assert game.turn.dice_left == 6
    assert game.refuses("roll 12345") == "5 dice rolled, 6 are to be thrown; roll 6 dice"
    assert at_table(dice=5).refuses("roll 123456") == "6 dice rolled, 5 are to be thrown; roll 5 dice"


def test_dice_that_are_not_set_aside_are_thrown_next() -> None:
    game = at_table().then("roll 133445, keep 15")
    assert game.turn.dice_left == 4
    assert game.refuses("roll 33") == "2 dice rolled, 4 are to be thrown; roll 4 dice"


def test_a_scoring_roll_must_be_kept_from_before_anything_else() -> None:
    game = at_table().then("roll 133445")
    assert game.legal == ["keep"]
    for asked in ("roll 13344", "bank"):
        assert game.refuses(asked) == "1 3 3 4 4 5 is rolled and nothing of it kept; keep 1 5 (150), 1 (100), 5 (50)"
    assert game.refuses("bust") == "1 3 3 4 4 5 is no bust; legal is keep"
    assert game.refuses("steal") == "steal is off in these rules; legal is keep"


def test_a_keep_with_a_die_that_no_combination_uses_is_illegal() -> None:
    game = at_table().then("roll 133445")
    assert game.refuses("keep 134") == "keeping 1 3 4 leaves dice that score nothing; keep 1 5 (150), 1 (100), 5 (50)"
    assert game.refuses("keep 3") == "a 3 scores nothing; keep 1 5 (150), 1 (100), 5 (50)"


def test_a_keep_of_dice_that_were_not_thrown_is_illegal() -> None:
    game = at_table().then("roll 133445")
    assert game.refuses("keep 11") == "1 1 was not thrown: the roll is 1 3 3 4 4 5; keep 1 5 (150), 1 (100), 5 (50)"


def test_a_refusal_lists_the_best_keeps_and_counts_the_others() -> None:
    message = at_table().then("roll 111555").refuses("keep 2")
    assert message.endswith("keep 1 1 1 5 5 5 (1500), 1 1 1 5 5 (1100), 1 1 1 5 (1050), 1 1 1 (1000), "
                            "1 1 5 5 5 (700), 1 5 5 5 (600) and 9 more")  # fmt: skip


def test_a_refusal_of_six_keeps_lists_them_all() -> None:
    assert (
        at_table()
        .then("roll 111111")
        .refuses("keep 2")
        .endswith("; keep 1 1 1 1 1 1 (2000), 1 1 1 1 1 (1200), 1 1 1 1 (1100), 1 1 1 (1000), 1 1 (200), 1 (100)")
    )


def test_one_keep_a_roll_a_second_is_refused() -> None:
    game = at_table().then("roll 133445, keep 1")
    assert game.refuses("keep 5") == "already kept 1; undo to change"


def test_there_is_nothing_to_keep_before_a_roll() -> None:
    assert at_table().refuses("keep 1") == "there is no roll to keep from; roll the dice first"


def test_the_legal_keeps_are_listed_while_one_is_due() -> None:
    game = at_table()
    assert keeps(game.position, game.turn) == {}
    game.then("roll 133445")
    assert keeps(game.position, game.turn) == {(1,): 100, (5,): 50, (1, 5): 150}
    game.then("keep 1")
    assert keeps(game.position, game.turn) == {}


def test_after_a_keep_one_may_roll_or_bank() -> None:
    assert at_table().then("roll 133445, keep 1").legal == ["roll", "bank"]


def test_the_order_of_dice_in_a_keep_does_not_matter() -> None:
    assert at_table().then("roll 513141, keep 5111").turn.points == 1050


def test_a_bank_posts_the_points_of_the_turn() -> None:
    game = at_table().then("roll 133445, keep 1, roll 33455, keep 55, bank")
    assert game.totals == {"A": 200, "B": 0}
    assert (game.last.outcome, game.last.posted, game.last.change, game.last.total) == ("banked", 200, 200, 200)


def test_a_bank_asserts_the_points_of_rolled_dice() -> None:
    game = at_table().then("roll 133445, keep 1")
    assert game.refuses("bank 150") == "the turn holds 100 points, not 150; bank 100"
    assert game.then("bank 100").totals["A"] == 100


def test_a_losing_roll_loses_the_points_of_the_turn_alone() -> None:
    game = at_table("A", opening_minimum=0).then("bank 300, roll 133445, keep 1").then(lose(5))
    assert game.kinds[-2:] == ["roll", "bust"]
    assert (game.last.outcome, game.last.posted, game.totals["A"]) == ("bust", 0, 300)


def test_combinations_never_reach_across_rolls() -> None:
    game = at_table().then("roll 122346, keep 1, roll 11346, keep 11")
    assert game.turn.points == 300


def test_only_the_player_at_turn_moves() -> None:
    game = at_table().game
    for move in (
        events.Roll(2, player="B", dice=(1, 2, 3, 4, 5, 6)),
        events.Bank(2, player="B", points=50),
        events.Bust(2, player="B"),
        events.Steal(2, player="B"),
        events.Challenge(2, player="B", opponent="A"),
    ):
        assert why_not(game, move) == "it is A's turn, not B's; a move of A"
    rolled = at_table().then("roll 122346").game
    assert why_not(rolled, events.Keep(3, player="B", dice=(1,))) == "it is A's turn, not B's; a move of A"


def test_after_a_losing_roll_nothing_but_its_bust_follows() -> None:
    cut = fold(at_table().then(lose(6)).log[:-1])
    for move in (
        events.Roll(3, player="A", dice=(1, 2, 3, 4, 5, 6)),
        events.Bank(3, player="A", points=0),
        events.Leave(3, player="A"),
        events.RuleChange(3, changes={"target": 500}, scope="next-turn"),
        events.RuleChange(3, changes={"target": 500}, scope="whole-game"),
        events.Abandon(3),
    ):
        assert why_not(cut, move) == "2 2 3 4 4 6 scores nothing and the bust follows; bust, undo, note or expect"
    assert evolve(cut, events.Bust(3, player="A")).position.turn is not None


# -- score-sheet turns ------------------------------------------------------------------------------------------------


def test_a_turn_may_be_written_down_without_dice() -> None:
    game = at_table()
    assert game.legal == ["roll", "bank", "bust"]
    assert game.then("bank 300, bust, bank 250").totals == {"A": 550, "B": 0}
    assert (game.last.turn.points, game.last.turn.rolls) == (250, 0)


def test_a_score_sheet_turn_is_over_before_dice_are_thrown() -> None:
    game = at_table().then("roll 133445, keep 1")
    assert game.refuses("bust") == "a bust follows a losing roll by itself; legal is roll or bank"


def test_points_of_a_score_sheet_turn_are_whole_and_not_negative() -> None:
    assert at_table().then("bank 0").last.outcome == "scoreless"
    assert "points" in at_table().refuses("bank -50")


# -- opening_minimum, bank_minimum, below_minimum ---------------------------------------------------------------------


def test_until_a_player_has_opened_a_turn_below_the_opening_minimum_posts_0() -> None:
    game = at_table(opening_minimum=500).then("bank 450")
    assert (game.totals["A"], game.last.outcome, game.last.posted) == (0, "scoreless", 0)
    assert not game.position.seats[0].opened


def test_a_turn_worth_the_opening_minimum_exactly_opens() -> None:
    game = at_table(opening_minimum=500).then("bank 500")
    assert (game.totals["A"], game.position.seats[0].opened) == (500, True)


def test_the_smallest_turn_that_posts_opens() -> None:
    assert at_table("A", bank_minimum=300).then("bank 1, bank 250").totals["A"] == 1


def test_each_player_opens_for_oneself_and_stays_so() -> None:
    game = at_table(opening_minimum=500, bust_penalty=600).then("bank 500, bank 50, bust, bank 50, bank 50")
    assert game.totals == {"A": -50, "B": 0}
    assert game.position.seats[0].opened


def test_a_turn_that_posts_0_does_not_open() -> None:
    # Without an opening minimum a 0 is not below it, and yet it opens nobody.
    game = at_table("A", bank_minimum=300).then("bank 0, bank 50")
    assert game.totals["A"] == 50
    assert game.then("bank 250").totals["A"] == 50


def test_after_opening_the_bank_minimum_holds() -> None:
    game = at_table("A", opening_minimum=500, bank_minimum=350).then("bank 500, bank 300")
    assert (game.totals["A"], game.last.outcome) == (500, "scoreless")
    assert game.then("bank 350").totals["A"] == 850


def test_below_minimum_zero_lets_one_stop_and_posts_0() -> None:
    game = at_table(opening_minimum=500).then("roll 133446, keep 1")
    assert game.legal == ["roll", "bank"]
    assert game.then("bank").totals["A"] == 0
    assert game.last.outcome == "scoreless"


def test_below_minimum_roll_on_forbids_to_stop() -> None:
    game = at_table(opening_minimum=500, below_minimum="roll-on").then("roll 133446, keep 1")
    assert game.legal == ["roll"]
    assert game.refuses("bank") == "100 is below the opening minimum of 500 (400 short); roll 5 dice"
    opened = at_table("A", bank_minimum=350, below_minimum="roll-on").then("bank 50, roll 133446, keep 1")
    assert opened.refuses("bank") == "100 is below the bank minimum of 350 (250 short); roll 5 dice"


def test_a_score_sheet_turn_is_always_treated_as_zero() -> None:
    game = at_table(opening_minimum=500, below_minimum="roll-on").then("bank 100")
    assert (game.totals["A"], game.last.outcome) == (0, "scoreless")


# -- must_beat_previous -----------------------------------------------------------------------------------------------


def test_topping_a_turn_must_be_worth_more_than_the_turn_before_posted() -> None:
    game = at_table(must_beat_previous=True).then("bank 300, bank 300")
    assert game.totals == {"A": 300, "B": 0}
    assert game.last.outcome == "scoreless"


def test_topping_what_posted_0_is_beaten_by_anything() -> None:
    game = at_table(must_beat_previous=True).then("bank 300, bank 300, bank 50, bust, bank 50")
    assert game.totals == {"A": 400, "B": 0}


def test_topping_looks_at_the_turn_before_whoever_played_it() -> None:
    game = at_table("A", must_beat_previous=True).then("bank 300, bank 300")
    assert game.totals["A"] == 300


def test_topping_a_turn_that_leave_dropped_is_not_looked_at() -> None:
    game = at_table("A B C", must_beat_previous=True).then("bank 300, roll 133445, keep 1, leave B, bank 300")
    assert game.totals == {"A": 300, "B": 0, "C": 0}


def test_topping_counts_what_was_posted_not_what_was_thrown() -> None:
    game = at_table("A B", must_beat_previous=True, opening_minimum=500).then("bank 400, bank 500")
    assert game.totals["B"] == 500


def test_topping_not_beating_the_turn_before_is_below_the_minimum() -> None:
    game = at_table(must_beat_previous=True, below_minimum="roll-on").then("bank 300, roll 133445, keep 1")
    assert game.legal == ["roll"]
    assert game.refuses("bank") == "100 is below the turn before, which posted 300 and must be beaten; roll 5 dice"


# -- hot_dice ---------------------------------------------------------------------------------------------------------


def hot(**changes: object) -> Evening:
    return at_table("A B", **changes).then("roll 111555, keep all")


def test_hot_dice_may_roll_leaves_the_choice() -> None:
    game = hot()
    assert (game.legal, game.turn.dice_left) == (["roll", "bank"], 6)
    assert game.then("roll 133446, keep 1, bank").totals["A"] == 1600


def test_hot_dice_are_all_lost_in_a_bust() -> None:
    assert hot().then(lose(6)).totals["A"] == 0


def test_hot_dice_must_roll_forbids_to_stop() -> None:
    game = hot(hot_dice="must-roll")
    assert game.legal == ["roll"]
    assert game.refuses("bank") == "all dice are set aside and hot_dice is must-roll; roll all 6 dice"


def test_hot_dice_must_bank_forbids_to_throw() -> None:
    game = hot(hot_dice="must-bank")
    assert game.legal == ["bank"]
    for dice in ("123456", "12345"):
        assert game.refuses(f"roll {dice}") == "all dice are set aside and hot_dice is must-bank; bank 1500"


def test_hot_dice_must_bank_is_treated_as_zero_below_a_minimum() -> None:
    # 222551 kept whole is 400, below 500, and may not be rolled on.
    game = at_table("A B", "zilch", hot_dice="must-bank").then("roll 222551, keep 222551")
    assert (game.turn.points, game.legal) == (400, ["bank"])
    assert game.then("bank").last.outcome == "scoreless"
    assert game.totals["A"] == 0


def test_hot_dice_below_a_minimum_must_be_thrown_on_under_roll_on() -> None:
    game = hot(hot_dice="may-roll", opening_minimum=2000, below_minimum="roll-on")
    assert game.legal == ["roll"]
    assert game.refuses("bank") == "1500 is below the opening minimum of 2000 (500 short); roll 6 dice"


def test_dice_are_hot_only_when_all_are_set_aside() -> None:
    game = at_table(hot_dice="must-bank").then("roll 111552, keep 11155")
    assert game.legal == ["roll", "bank"]


# -- set_aside --------------------------------------------------------------------------------------------------------


def test_set_aside_all_takes_the_largest_legal_keep() -> None:
    game = at_table(set_aside="all").then("roll 133445")
    assert game.refuses("keep 1") == "1 is not what set_aside all takes; keep 1 5 (150)"
    assert game.then("keep 15").turn.points == 150


def test_one_per_combination_scores_in_full_and_one_die_of_each_combination_leaves() -> None:
    game = at_table("A B", "diecimila").then("roll 122256")
    assert game.refuses("keep 1") == "1 is not what set_aside one-per-combination takes; keep 1 2 2 2 5 (350)"
    game.then("keep 12225 aside 125")
    assert (game.turn.points, game.turn.dice_left) == (350, 3)


def test_one_per_combination_dice_that_scored_and_stayed_are_not_set_aside() -> None:
    game = at_table("A B", "diecimila", hot_dice="must-bank").then("roll 223344, keep all aside 3")
    assert (game.turn.points, game.turn.dice_left, game.legal) == (1000, 5, ["roll", "bank"])


def test_one_per_combination_all_dice_leave_one_by_one() -> None:
    game = at_table("A B", "diecimila").then("roll 111555, keep all, roll 5551, keep all, roll 15, keep all")
    assert (game.turn.points, game.turn.dice_left) == (1500 + 600 + 150, 6)


def test_one_per_combination_the_keep_names_which_dice_left() -> None:
    rolled = at_table("A B", "diecimila").then("roll 122256").game
    assert why_not(rolled, events.Keep(3, player="A", dice=(1, 2, 2, 2, 5))) == (
        "the keep does not say which dice leave the table; one die of each combination: 1 2 5"
    )
    wrong = at_table("A B", "diecimila").then("roll 122256").refuses("keep 12225 aside 12")
    assert wrong == "1 2 is not one die of each combination of 1 2 2 2 5; set aside 1 2 5"


def test_one_per_combination_aside_may_be_in_any_order() -> None:
    assert at_table("A B", "diecimila").then("roll 122256, keep 52221 aside 521").turn.dice_left == 3


def test_aside_is_an_error_elsewhere() -> None:
    assert at_table().then("roll 122256").refuses("keep 1 aside 1") == (
        "aside is for set_aside one-per-combination, not any; a keep without aside"
    )


# -- build_on_kept ----------------------------------------------------------------------------------------------------


def test_without_pyramiding_a_five_and_two_fives_are_150() -> None:
    assert at_table("A B", "zilch").then("roll 522346, keep 5, roll 55234, keep 55").turn.points == 150


def test_pyramiding_a_five_and_two_fives_are_500() -> None:
    game = at_table("A B", "zilch", build_on_kept=True).then("roll 522346, keep 5, roll 55234, keep 55")
    assert (game.turn.points, game.turn.dice_left) == (500, 3)


def test_pyramiding_the_value_replaces_the_earlier_one() -> None:
    game = at_table("A B", "tiotusen", build_on_kept=True).then("roll 333246, keep 333, roll 342, keep 3")
    assert game.turn.points == 600
    assert game.then("roll 31, keep 31").turn.points == 1300


def test_pyramiding_a_roll_that_builds_is_no_bust() -> None:
    game = at_table("A B", "tiotusen", build_on_kept=True).then("roll 333246, keep 333, roll 346")
    assert game.legal == ["keep"]
    assert at_table("A B", "tiotusen").then("roll 333246, keep 333, roll 346").kinds[-1] == "bust"


def test_without_pyramiding_no_refusal_speaks_of_dice_kept_before() -> None:
    game = at_table("A B", "tiotusen").then("roll 333246, keep 333, roll 314")
    assert game.refuses("keep 3") == "a 3 scores nothing; keep 1 (100)"
    largest = at_table("A B", set_aside="all").then("roll 111346, keep 111, roll 155")
    assert largest.refuses("keep 1") == "1 is not what set_aside all takes; keep 1 5 5 (200)"


def test_pyramiding_the_largest_legal_keep_may_be_asked_for() -> None:
    game = at_table("A B", build_on_kept=True, set_aside="all").then("roll 133446, keep 1, roll 15346")
    assert game.refuses("keep 1") == "1 is not what set_aside all takes; keep 1 5 (150)"
    assert game.then("keep 15").turn.points == 250


def test_pyramiding_a_throw_of_all_dice_is_fresh_and_closes_what_was_kept() -> None:
    game = at_table("A B", "tiotusen", build_on_kept=True).then("roll 333555, keep all")
    assert game.turn.points == 800
    game.then("roll 532246")
    assert game.refuses("keep 53") == "keeping 3 5 leaves dice that score nothing; keep 5 (50)"
    assert game.then("keep 5").turn.points == 850
    # The five of the new throw is alone: two more make a triplet, and the three fives before stay what they were.
    assert game.then("roll 55234, keep 55").turn.points == 1300


@pytest.mark.parametrize(("setting", "outcome"), [("wipeout", "wiped-out"), ("instant_win", "won")])
def test_pyramiding_a_roll_that_wins_or_wipes_out_is_no_keep(setting: str, outcome: str) -> None:
    game = at_table("A B", "tiotusen", **{"build_on_kept": True, setting: "44"})
    assert game.then("roll 333246, keep 333, roll 344").last.outcome == outcome


def test_pyramiding_what_is_worth_no_more_than_before_is_illegal() -> None:
    game = at_table("A B", build_on_kept=True, three_of_a_kind=500).then("change pair=22:500, roll 223346, keep 22")
    game.then("roll 1246")
    assert game.refuses("keep 2") == "2 with 2 2 kept before is worth 500, not more than 500; keep 1 2 (100), 1 (100)"


def test_pyramiding_a_die_that_scores_nothing_even_so_is_named() -> None:
    game = at_table("A B", "tiotusen", build_on_kept=True).then("roll 333246, keep 333, roll 146")
    assert game.refuses("keep 4") == "a 4 scores nothing with 3 3 3 kept before; keep 1 (100)"
    assert game.refuses("keep 14").startswith("keeping 1 4 leaves dice that score nothing with 3 3 3 kept before; ")


# -- blank_throw ------------------------------------------------------------------------------------------------------


def test_a_blank_throw_is_worth_points_instead_of_being_a_bust() -> None:
    game = at_table(blank_throw=500).then(lose(6))
    assert (game.turn.points, game.turn.phase, game.legal) == (500, "kept", ["roll", "bank"])
    assert game.then("bank").totals["A"] == 500


def test_a_blank_throw_of_0_is_a_bust() -> None:
    assert at_table(blank_throw=0).then(lose(6)).last.outcome == "bust"


def test_after_a_blank_throw_no_keep_follows() -> None:
    game = at_table(blank_throw=500).then(lose(6))
    assert game.refuses("keep 2") == "nothing is left to keep of this roll; roll or bank"


def test_only_a_throw_of_all_dice_can_be_blank() -> None:
    game = at_table(blank_throw=500).then("roll 133445, keep 1").then(lose(5))
    assert game.last.outcome == "bust"


def test_a_throw_of_all_dice_again_can_be_blank() -> None:
    game = hot(blank_throw=500).then(lose(6))
    assert (game.turn.points, game.turn.dice_left) == (2000, 6)


def test_after_a_blank_throw_all_dice_count_as_set_aside() -> None:
    assert at_table(blank_throw=500, hot_dice="must-roll").then(lose(6)).legal == ["roll"]
    assert at_table(blank_throw=500, hot_dice="must-bank").then(lose(6)).legal == ["bank"]
    assert at_table(blank_throw=500, dice=5).then(lose(5)).turn.dice_left == 5


def test_a_throw_with_a_legal_keep_is_not_blank() -> None:
    assert at_table(blank_throw=500).then("roll 133446").legal == ["keep"]


# -- bust_penalty, negative_totals ------------------------------------------------------------------------------------


def test_the_bust_penalty_is_taken_at_every_bust() -> None:
    game = at_table("A", bust_penalty=1000).then("bank 3000, bust").then(lose(6))
    assert game.totals["A"] == 1000
    assert (game.last.posted, game.last.change) == (0, -1000)


def test_a_scoreless_turn_is_no_bust() -> None:
    game = at_table("A", bust_penalty=1000, opening_minimum=500).then("bank 400, bank 0")
    assert (game.totals["A"], game.position.seats[0].busts) == (0, 0)


def test_whoever_has_not_opened_can_lose_points_too() -> None:
    game = at_table("A", bust_penalty=1000, opening_minimum=500).then("bust")
    assert game.totals["A"] == -1000
    assert not game.position.seats[0].opened


def test_without_negative_totals_nothing_takes_a_total_below_0() -> None:
    assert at_table("A", bust_penalty=1000, negative_totals=False).then("bank 300, bust").totals["A"] == 0
    assert at_table("A", bust_penalty=1000, negative_totals=False).then("bust").totals["A"] == 0
    assert at_table("A", bust_penalty=1000, negative_totals=False).then("bank 1300, bust").totals["A"] == 300


def test_without_negative_totals_a_total_below_0_stays_and_goes_no_further() -> None:
    game = at_table("A", bust_penalty=1000).then("bust, change negative_totals=false, bust")
    assert game.totals["A"] == -1000
    assert game.then("bank 300").totals["A"] == -700
    assert game.then("bust").totals["A"] == -700


def test_without_negative_totals_the_streak_penalty_stops_at_0() -> None:
    game = at_table("A", "tiotusen", negative_totals=False).then("bank 1000, bust, bank 0, bust, bust")
    assert game.totals["A"] == 1000
    assert game.then("bust, bust").totals["A"] == 0
    assert game.then("bust, bust, bust").totals["A"] == 0


# -- streaks ----------------------------------------------------------------------------------------------------------


def totals_after(game: Evening, phrases: list[str]) -> list[int]:
    return [game.then(phrase).totals["A"] for phrase in phrases]


def test_three_busts_in_a_row_cost_the_penalty_and_the_count_starts_again() -> None:
    game = at_table("A", "tiotusen").then("bank 1000")
    assert totals_after(game, ["bust"] * 7) == [1000, 1000, 0, 0, 0, -1000, -1000]


def test_a_turn_that_posts_breaks_the_streak() -> None:
    game = at_table("A", "tiotusen").then("bank 1000")
    assert totals_after(game, ["bust", "bust", "bank 50", "bust", "bust"]) == [1000, 1000, 1050, 1050, 1050]


def test_a_scoreless_turn_is_no_bust_and_breaks_a_streak_of_busts() -> None:
    game = at_table("A", "tiotusen").then("bank 1000")
    assert totals_after(game, ["bust", "bust", "bank 0", "bust"]) == [1000] * 4


def test_the_streak_of_scoreless_turns_counts_any_turn_that_posts_0() -> None:
    game = at_table("A", "tiotusen", streak_counts="scoreless-turns").then("bank 1000")
    assert totals_after(game, ["bust", "bust", "bank 0", "bust"]) == [1000, 1000, 0, 0]


def test_the_streak_of_scoreless_turns_counts_turns_below_a_minimum() -> None:
    game = at_table("A", "tiotusen", streak_counts="scoreless-turns")
    assert totals_after(game, ["bank 900", "bank 900", "bank 900", "bank 1000"]) == [0, 0, -1000, 0]


def test_the_streak_of_first_roll_busts_counts_a_bust_on_the_first_roll_alone() -> None:
    game = at_table("A", "diecimila-free", streak_length=3, streak_penalty=1000, streak_counts="first-roll-busts")
    assert totals_after(game.then("bank 1000"), [lose(6)] * 4) == [1000, 1000, 0, 0]


def test_a_bust_on_a_later_roll_breaks_the_streak_of_first_roll_busts() -> None:
    game = at_table("A", "diecimila-free", streak_length=3, streak_penalty=1000, streak_counts="first-roll-busts")
    later = f"roll 133446, keep 1, {lose(5)}"
    assert totals_after(game, [lose(6), lose(6), later, lose(6), lose(6), lose(6)]) == [0, 0, 0, 0, 0, -1000]


def test_a_turn_of_one_roll_that_is_banked_breaks_the_streak_of_first_roll_busts() -> None:
    game = at_table("A", "diecimila-free", streak_length=3, streak_penalty=1000, streak_counts="first-roll-busts")
    assert totals_after(game, [lose(6), lose(6), "roll 133446, keep 1, bank", lose(6)]) == [0, 0, 100, 100]


def test_a_score_sheet_bust_is_never_a_first_roll_bust() -> None:
    game = at_table("A", "diecimila-free", streak_length=3, streak_penalty=1000, streak_counts="first-roll-busts")
    assert totals_after(game, [lose(6), lose(6), "bust", lose(6)]) == [0, 0, 0, 0]


def test_a_bust_after_a_steal_is_never_a_first_roll_bust() -> None:
    game = at_table(
        "A B", steal="after-bust", streak_length=1, streak_penalty=1000, streak_counts="first-roll-busts"
    ).then(f"roll 133446, keep 1, {lose(5)}, steal, {lose(5)}")
    assert game.totals == {"A": 0, "B": 0}
    assert game.last.outcome == "bust"
    assert game.then(lose(6)).totals == {"A": -1000, "B": 0}


def test_a_streak_of_length_0_is_off_and_counts_nothing() -> None:
    game = at_table("A", streak_penalty=1000).then("bust, bust, bust, bust")
    assert game.totals["A"] == 0
    game.then("change streak_length=3")
    assert totals_after(game, ["bust", "bust", "bust"]) == [0, 0, -1000]


def test_each_player_has_a_streak_of_ones_own() -> None:
    game = at_table("A B", streak_length=2, streak_penalty=500).then("bust, bust, bust")
    assert game.totals == {"A": -500, "B": 0}
    assert game.then("bust").totals == {"A": -500, "B": -500}


def test_a_streak_of_busts_counts_a_wipeout() -> None:
    game = at_table("A", streak_length=2, streak_penalty=500, wipeout="44").then("bust, roll 123446")
    assert game.totals["A"] == -500


# -- wipeout ----------------------------------------------------------------------------------------------------------


def test_a_wipeout_makes_the_total_0() -> None:
    game = at_table("A", wipeout="44").then("bank 3000, roll 123446")
    assert (game.totals["A"], game.last.outcome, game.last.posted, game.last.change) == (0, "wiped-out", 0, -3000)
    assert game.position.seats[0].opened
    assert game.position.seats[0].busts == 1


def test_a_wipeout_is_looked_for_before_a_keep() -> None:
    assert at_table("A", wipeout="2222").then("roll 111222").legal == ["keep"]
    assert at_table("A", wipeout="2222").then("roll 112222").last.outcome == "wiped-out"


def test_a_wipeout_may_come_in_any_roll_of_the_turn() -> None:
    game = at_table("A", wipeout="44").then("bank 3000, roll 133456, keep 1, roll 14466")
    assert game.totals["A"] == 0


def test_a_wipeout_makes_a_total_below_0_0_too() -> None:
    assert at_table("A", wipeout="44", bust_penalty=300).then("bust, bust").totals["A"] == -600
    assert at_table("A", wipeout="44", bust_penalty=300).then("bust, bust, roll 123446").totals["A"] == -300


def test_after_a_wipeout_all_that_a_bust_costs_applies() -> None:
    game = at_table(
        "A B", wipeout="44", bust_penalty=300, streak_length=1, streak_penalty=20, challenge_split=5000,
        challenge_penalties=(4, 1),
    ).then("bank 3000, bank 0, challenge B, roll 123446")  # fmt: skip
    assert game.totals == {"A": -324, "B": 0}


def test_a_pattern_with_letters_wipes_out() -> None:
    assert at_table("A", wipeout="AAABBB").then("bank 500, roll 222333").totals["A"] == 0
    assert at_table("A", wipeout="AAABBB").then("bank 500, roll 222222, keep all, bank").totals["A"] == 900


# -- instant_win ------------------------------------------------------------------------------------------------------


def test_an_instant_win_finishes_the_game_at_once_for_its_thrower() -> None:
    game = at_table("A B C", instant_win="AAAAAA").then("bank 3000, bank 50, roll 333333")
    assert (game.position.status, game.winners, game.to_play, game.legal) == ("finished", "C", "", [])
    assert (game.last.outcome, game.last.posted, game.last.change) == ("won", 0, 0)
    assert game.totals == {"A": 3000, "B": 50, "C": 0}


def test_an_instant_win_posts_nothing_of_the_turn() -> None:
    game = at_table("A B", instant_win="66").then("roll 133445, keep 1, roll 13466")
    assert game.totals == {"A": 0, "B": 0}
    assert game.winners == "A"


def test_an_instant_win_is_looked_for_before_a_wipeout() -> None:
    game = at_table("A B", instant_win="AAAA", wipeout="44").then("roll 444412")
    assert game.last.outcome == "won"


def test_an_instant_win_takes_nothing_from_a_challenged_opponent() -> None:
    game = at_table(instant_win="AAAAAA", challenge_split=5000, streak_length=1, streak_penalty=500,
                    streak_counts="scoreless-turns", bust_penalty=70).then("challenge B, roll 333333")  # fmt: skip
    assert game.totals == {"A": 0, "B": 0}


def test_an_instant_win_ends_last_and_extra_turns_too() -> None:
    game = at_table("A B C", instant_win="AAAAAA", target=1000).then("bank 1000, roll 333333")
    assert (game.position.status, game.winners, game.due) == ("finished", "B", "")
    level = at_table("A B C", instant_win="AAAAAA", target=1000).then("bank 1000, bank 1000, bank 0")
    assert level.due == "A B"
    assert level.then("roll 333333").winners == "A"


def test_an_instant_win_leaves_the_rules_as_they_held() -> None:
    game = at_table(instant_win="6666").then("roll 133446, keep 1, change target=500, roll 16666")
    assert game.winners == "A"
    assert (game.position.rules.target, game.position.pending) == (10000, None)


# -- last_die_rolls, last_die_bonus, last_die_step --------------------------------------------------------------------

TO_LAST_DIE = "roll 111552, keep 11155"  # 1100


def test_the_last_die_has_one_throw_by_default() -> None:
    game = at_table(last_die_bonus=500).then(TO_LAST_DIE)
    assert game.then("roll 5, keep 5").turn.points == 1150
    assert at_table().then(TO_LAST_DIE).then("roll 2").last.outcome == "bust"


def test_a_scoreless_throw_of_the_last_die_that_is_not_the_last_must_be_followed_by_another() -> None:
    game = at_table(last_die_rolls=2).then(TO_LAST_DIE).then("roll 2")
    assert (game.turn.phase, game.turn.dice_left, game.turn.points, game.legal) == ("to-roll", 1, 1100, ["roll"])
    assert game.refuses("bank") == "a last die that scored nothing must be thrown; roll 1 die"
    assert game.refuses("keep 2") == "there is no roll to keep from; roll the dice first"
    assert game.refuses("bust") == "a bust follows a losing roll by itself; legal is roll"


def test_only_the_last_die_is_thrown_again() -> None:
    game = at_table(last_die_rolls=2).then("roll 111523, keep 1115, roll 23")
    assert game.last.outcome == "bust"
    assert at_table(last_die_rolls=2).then(lose(6)).last.outcome == "bust"


def test_the_last_throw_of_the_last_die_is_a_bust_when_it_scores_nothing() -> None:
    assert at_table(last_die_rolls=2).then(TO_LAST_DIE).then("roll 2, roll 3").last.outcome == "bust"
    game = at_table(last_die_rolls=3).then(TO_LAST_DIE).then("roll 2, roll 3")
    assert game.legal == ["roll"]
    assert game.then("roll 4").last.outcome == "bust"


@pytest.mark.parametrize("tries", ["", "roll 2,"])
def test_a_success_with_the_last_die_adds_the_bonus_to_its_own_points(tries: str) -> None:
    game = at_table(last_die_rolls=2, last_die_bonus=500, last_die_step=500).then(TO_LAST_DIE)
    game.then(f"{tries} roll 1, keep 1")
    assert (game.turn.points, game.turn.dice_left, game.legal) == (1100 + 100 + 500, 6, ["roll", "bank"])


def test_the_bonus_grows_with_each_success_in_the_same_turn() -> None:
    game = at_table(last_die_rolls=2, last_die_bonus=500, last_die_step=300).then(f"{TO_LAST_DIE}, roll 5, keep 5")
    assert game.turn.points == 1650
    game.then(f"{TO_LAST_DIE}, roll 1, keep 1")
    assert game.turn.points == 1650 + 1100 + 100 + 800
    game.then(f"{TO_LAST_DIE}, roll 1, keep 1, bank")
    assert game.last.posted == 3650 + 1100 + 100 + 1100
    game.then(f"{TO_LAST_DIE}, roll 1, keep 1")
    assert game.turn.points == 1100 + 100 + 500


def test_the_tries_begin_again_with_each_last_die() -> None:
    game = at_table(last_die_rolls=2).then(f"{TO_LAST_DIE}, roll 2, roll 5, keep 5, {TO_LAST_DIE}, roll 2")
    assert game.legal == ["roll"]


@pytest.mark.parametrize("hot_dice", ["may-roll", "must-roll", "must-bank"])
def test_after_a_success_one_may_throw_all_dice_or_bank_whatever_hot_dice_says(hot_dice: str) -> None:
    game = at_table(last_die_rolls=2, hot_dice=hot_dice).then(f"{TO_LAST_DIE}, roll 2, roll 5, keep 5")
    assert game.legal == ["roll", "bank"]
    assert (
        at_table(last_die_rolls=2, hot_dice=hot_dice).then(f"{TO_LAST_DIE}, roll 5, keep 5, bank").totals["A"] == 1150
    )
    assert game.then("roll 133446, keep 1").turn.points == 1250


def test_the_freedom_after_a_success_ends_with_the_next_throw() -> None:
    game = at_table(last_die_rolls=2, hot_dice="must-bank").then(
        f"{TO_LAST_DIE}, roll 5, keep 5, roll 111555, keep all"
    )
    assert game.legal == ["bank"]


def test_after_a_success_a_minimum_still_forbids_to_stop() -> None:
    game = at_table(last_die_rolls=2, hot_dice="must-bank", opening_minimum=2000, below_minimum="roll-on")
    assert game.then(f"{TO_LAST_DIE}, roll 5, keep 5").legal == ["roll"]


def test_the_last_die_is_won_or_wiped_out_before_it_is_thrown_again() -> None:
    assert at_table(last_die_rolls=2, wipeout="2").then("roll 111555, keep 11155, roll 2").last.outcome == "wiped-out"
    assert at_table(last_die_rolls=2, instant_win="2").then("roll 111555, keep 11155, roll 2").last.outcome == "won"


# -- steal ------------------------------------------------------------------------------------------------------------

LOST_100 = f"roll 133446, keep 1, {lose(5)}"


def test_stealing_is_off_by_default() -> None:
    game = at_table().then(LOST_100)
    assert "steal" not in game.legal
    assert game.refuses("steal") == "steal is off in these rules; legal is roll or bank or bust"


def test_after_a_bust_one_takes_the_dice_just_thrown_and_the_points_just_lost() -> None:
    game = at_table(steal="after-bust").then(LOST_100)
    assert game.legal == ["roll", "bank", "bust", "steal"]
    game.then("steal")
    assert (game.turn.points, game.turn.dice_left, game.turn.stolen) == (100, 5, True)
    game.then("roll 52346, keep 5, bank")
    assert game.totals == {"A": 0, "B": 150}


def test_after_steal_the_dice_must_be_thrown() -> None:
    game = at_table(steal="after-bust").then(f"{LOST_100}, steal")
    assert game.legal == ["roll"]
    assert game.refuses("bank") == "stolen dice must be thrown; roll 5 dice"
    assert game.refuses("roll 123456") == "6 dice rolled, 5 are to be thrown; roll 5 dice"
    assert game.refuses("bust") == "a bust follows a losing roll by itself; legal is roll"
    assert game.refuses("steal") == "stealing comes before the turn's first roll; legal is roll"


def test_stolen_points_are_lost_in_a_bust_and_may_be_stolen_again() -> None:
    game = at_table("A B C", steal="after-bust").then(f"{LOST_100}, steal, roll 52346, keep 5").then(lose(4))
    assert game.last.outcome == "bust"
    assert (game.then("steal").turn.points, game.turn.dice_left) == (150, 4)


def test_a_stolen_throw_that_loses_at_once_may_be_stolen_again() -> None:
    game = at_table("A B C", steal="after-bust").then(f"{LOST_100}, steal").then(lose(5)).then("steal")
    assert (game.turn.points, game.turn.dice_left) == (100, 5)


def test_after_a_bust_that_lost_no_points_there_is_nothing_to_steal() -> None:
    game = at_table(steal="after-bust").then(lose(6))
    assert game.refuses("steal") == "the turn before has not lost points in a bust; legal is roll or bank or bust"
    assert "steal" not in game.legal


def test_after_a_score_sheet_turn_there_is_nothing_to_steal() -> None:
    assert "steal" not in at_table(steal="after-bust").then("bust").legal
    assert "steal" not in at_table(steal="after-bank").then("bank 500").legal


def test_before_the_first_turn_has_ended_there_is_nothing_to_steal() -> None:
    assert "steal" not in at_table(steal="after-bust").legal


def test_after_bust_takes_nothing_after_a_bank_and_after_bank_nothing_after_a_bust() -> None:
    banked = at_table(steal="after-bust").then("roll 133446, keep 1, bank")
    assert banked.refuses("steal") == "the turn before has not lost points in a bust; legal is roll or bank or bust"
    lost = at_table(steal="after-bank").then(LOST_100)
    assert lost.refuses("steal") == "the turn before has not banked rolled dice; legal is roll or bank or bust"


def test_after_a_bust_of_hot_dice_all_dice_are_taken() -> None:
    game = hot(steal="after-bust").then(lose(6)).then("steal")
    assert (game.turn.points, game.turn.dice_left) == (1500, 6)


def test_only_whoever_plays_next_may_steal() -> None:
    game = at_table("A B C", steal="after-bust").then(f"{LOST_100}, bust")
    assert "steal" not in game.legal


def test_stealing_comes_before_the_first_roll() -> None:
    game = at_table(steal="after-bust").then(f"{LOST_100}, roll 133446, keep 1")
    assert game.refuses("steal") == "stealing comes before the turn's first roll; legal is roll or bank"


def test_nobody_steals_from_oneself() -> None:
    game = at_table("A", steal="after-bust").then(LOST_100)
    assert game.refuses("steal") == "nobody steals from oneself; legal is roll or bank or bust"
    left = at_table(steal="after-bust").then(f"{LOST_100}, leave B")
    assert left.to_play == "A"
    assert "steal" not in left.legal


def test_a_turn_that_leave_dropped_leaves_nothing_to_steal() -> None:
    game = at_table("A B C", steal="after-bank").then("roll 133446, keep 1, bank, roll 133446, keep 1, leave B")
    assert game.to_play == "C"
    assert game.refuses("steal") == "the turn before has not banked rolled dice; legal is roll or bank or bust"


def test_stolen_points_count_for_every_minimum() -> None:
    game = at_table(steal="after-bust", opening_minimum=500, below_minimum="roll-on")
    game.then("roll 155534, keep 555").then(lose(3)).then("steal, roll 512, keep 5, bank")
    assert game.totals["B"] == 550


def test_after_a_bank_one_takes_the_dice_not_set_aside_and_a_copy_of_what_was_posted() -> None:
    game = at_table(steal="after-bank").then("roll 133445, keep 15, bank, steal")
    assert (game.turn.points, game.turn.dice_left) == (150, 4)
    game.then("roll 5234, keep 5, bank")
    assert game.totals == {"A": 150, "B": 200}


def test_after_a_bank_with_all_dice_set_aside_all_are_taken() -> None:
    game = hot(steal="after-bank").then("bank, steal")
    assert (game.turn.points, game.turn.dice_left) == (1500, 6)


def test_after_a_bank_that_posted_0_there_is_nothing_to_steal() -> None:
    game = at_table(steal="after-bank", opening_minimum=500).then("roll 133445, keep 15, bank")
    assert "steal" not in game.legal


def test_kept_dice_come_along_for_pyramiding() -> None:
    banked = at_table("A B", "tiotusen-short", steal="after-bank", build_on_kept=True)
    assert banked.then("roll 522346, keep 5, bank, steal, roll 55234, keep 55").turn.points == 500
    lost = at_table("A B", "tiotusen-short", steal="after-bust", build_on_kept=True)
    assert lost.then(f"roll 522346, keep 5, {lose(5)}, steal, roll 55234, keep 55").turn.points == 500


def test_without_pyramiding_kept_dice_of_others_are_no_part_of_a_triplet() -> None:
    game = at_table("A B", "tiotusen-short", steal="after-bank")
    assert game.then("roll 522346, keep 5, bank, steal, roll 55234, keep 55").turn.points == 150


def test_a_stolen_last_die_has_its_throws_and_its_bonus() -> None:
    game = at_table(steal="after-bust", last_die_rolls=2, last_die_bonus=500, last_die_step=300)
    game.then(f"{TO_LAST_DIE}, roll 2, roll 3, steal, roll 2, roll 5, keep 5")
    assert game.turn.points == 1100 + 50 + 500


def test_a_wiped_out_turn_lost_points_too() -> None:
    game = at_table(steal="after-bust", wipeout="44").then("roll 133456, keep 1, roll 14456, steal")
    assert (game.turn.points, game.turn.dice_left) == (100, 5)


# -- challenges -------------------------------------------------------------------------------------------------------


def challenging(players: str = "A B", **changes: object) -> Evening:
    return at_table(players, **{"challenge_split": 5000, "challenge_penalties": (600, 2000)} | changes)


def test_there_are_no_challenges_by_default() -> None:
    game = at_table()
    assert "challenge" not in game.legal
    assert game.refuses("challenge B") == (
        "there are no challenges in these rules (challenge_split is 0); legal is roll or bank or bust"
    )


def test_what_a_challenging_turn_posts_is_taken_from_the_opponent_as_well() -> None:
    game = challenging("A B C").then("bank 1000, bank 1000, bank 1000, challenge C, roll 133446, keep 1, bank")
    assert game.totals == {"A": 1100, "B": 1000, "C": 900}
    assert (game.last.posted, game.last.change) == (100, 100)


def test_a_challenging_turn_that_posts_0_takes_nothing() -> None:
    game = challenging(bank_minimum=300).then("bank 1000, bank 1000, challenge B, bank 250")
    assert game.totals == {"A": 1000, "B": 1000}


def test_a_bust_costs_the_first_penalty_below_the_split() -> None:
    assert challenging().then("challenge B, bust").totals == {"A": -600, "B": 0}
    assert challenging().then("bank 4950, bank 0, challenge B").then(lose(6)).totals == {"A": 4350, "B": 0}


def test_a_bust_costs_the_second_penalty_at_or_above_the_split() -> None:
    assert challenging().then("bank 5000, bank 0, challenge B, bust").totals == {"A": 3000, "B": 0}


def test_the_penalty_comes_besides_all_that_a_bust_costs() -> None:
    game = challenging(bust_penalty=70, streak_length=1, streak_penalty=5).then("challenge B, bust")
    assert game.totals["A"] == -675


def test_each_player_has_one_challenge_below_the_split_and_one_from_it_on() -> None:
    game = challenging("A B").then("challenge B, bank 1000, challenge A, bank 1000")
    assert "challenge" not in game.legal
    assert game.refuses("challenge B") == "A has used the challenge below 5000; legal is roll or bank or bust"
    assert game.totals == {"A": 0, "B": 0}
    game.then("bank 5000, bank 0")
    assert "challenge" in game.legal
    game.then("challenge B, bank 50, bank 0")
    assert game.refuses("challenge B") == "A has used the challenge from 5000; legal is roll or bank or bust"


def test_the_own_total_when_announced_decides_not_which_came_first() -> None:
    game = challenging("A B").then("bank 5000, bank 0, challenge B, bust")
    assert game.totals["A"] == 3000  # the second penalty, though it is A's first challenge
    game.then("bank 0, challenge B, bust")
    assert game.totals["A"] == 2400
    assert game.then("bank 0").refuses("challenge B").startswith("A has used the challenge below 5000; ")
    game.then("bank 2600, bank 0")
    assert game.refuses("challenge B").startswith("A has used the challenge from 5000; ")


def test_a_challenge_that_was_used_stays_used_when_the_other_one_is() -> None:
    game = challenging("A B").then("challenge B, bust, bank 0, bank 5600, bank 0, challenge B, bust, bank 0")
    assert game.totals["A"] == 3000
    assert game.refuses("challenge B").startswith("A has used the challenge below 5000; ")


def test_a_challenge_is_used_even_when_the_turn_scores_nothing() -> None:
    game = challenging().then("challenge B, bank 0, bank 0")
    assert "challenge" not in game.legal


def test_a_challenge_comes_before_the_first_roll() -> None:
    game = challenging().then("roll 133446, keep 1")
    assert game.refuses("challenge B") == (
        "a challenge comes before the turn's first roll and before a steal; legal is roll or bank"
    )


def test_a_challenge_comes_before_the_steal() -> None:
    stolen = challenging(steal="after-bust").then(f"{LOST_100}, steal")
    assert stolen.refuses("challenge A").startswith("a challenge comes before the turn's first roll and before a steal")
    game = challenging(steal="after-bust").then(f"{LOST_100}, challenge A")
    assert game.legal == ["roll", "bank", "bust", "steal"]
    assert game.then("steal, roll 52346, keep 5, bank").totals == {"A": -150, "B": 150}


def test_one_challenge_a_turn() -> None:
    assert (
        challenging("A B C").then("challenge B").refuses("challenge C")
        == "one challenge a turn; legal is roll or bank or bust"
    )


def test_an_opponent_is_somebody_else_in_play() -> None:
    game = challenging("A B C").then("leave C")
    for nobody in ("A", "C", "D"):
        assert game.refuses(f"challenge {nobody}") == f"{nobody} is no opponent in play; challenge B"
    alone = challenging("A")
    assert alone.refuses("challenge B") == "there is no opponent; legal is roll or bank or bust"
    assert "challenge" not in alone.legal


def test_an_opponent_who_leaves_before_the_turn_ends_keeps_the_total() -> None:
    game = challenging("A B C").then("bank 500, bank 500, bank 500, challenge B, leave B, bank 300")
    assert game.totals == {"A": 800, "B": 500, "C": 500}


def test_the_opponent_may_fall_below_0_unless_the_rules_forbid_it() -> None:
    assert challenging().then("challenge B, bank 300").totals == {"A": 300, "B": -300}
    assert challenging(negative_totals=False).then("challenge B, bank 300").totals == {"A": 300, "B": 0}


def test_an_opponent_who_falls_below_the_target_does_not_call_last_turns_off() -> None:
    game = challenging("A B C", target=1000).then("bank 1000, challenge A, bank 300")
    assert game.totals == {"A": 700, "B": 300, "C": 0}
    assert game.due == "C"
    assert game.then("bank 0").winners == "A"


# -- target and reach -------------------------------------------------------------------------------------------------


def test_at_least_the_target_is_reached_by_reaching_it() -> None:
    game = at_table(target=1000).then("bank 950, bank 0")
    assert game.position.status == "in-progress"
    assert game.then("bank 50").position.status == "last-turns"


def test_more_than_the_target_is_reached_only_above_it() -> None:
    game = at_table("A B", "zilch").then("bank 15000, bank 0")
    assert game.position.status == "in-progress"
    other = at_table("A B", "zilch").then("bank 15050")
    assert other.position.status == "last-turns"


def test_exactly_a_turn_that_overshoots_is_scoreless() -> None:
    game = at_table(reach="exactly").then("bank 9800, bank 0, bank 300")
    assert (game.totals["A"], game.last.outcome, game.position.status) == (9800, "scoreless", "in-progress")
    assert game.then("bank 0, bank 200").due == "B"
    assert game.totals["A"] == 10000


def test_exactly_a_turn_with_dice_that_overshoots_is_scoreless_even_under_roll_on() -> None:
    game = at_table(reach="exactly", below_minimum="roll-on").then("bank 9950, bank 0, roll 133446, keep 1")
    assert game.legal == ["roll", "bank"]
    assert game.then("bank").totals["A"] == 9950


def test_exactly_an_overshoot_does_not_open() -> None:
    game = at_table("A", reach="exactly", target=1000, opening_minimum=300, bank_minimum=50).then("bank 1100")
    assert not game.position.seats[0].opened
    assert game.then("bank 250").totals["A"] == 0


def test_a_turn_that_reaches_the_target_exactly_is_exempt_from_the_minimums() -> None:
    game = at_table("A B", reach="exactly", target=1000, bank_minimum=300).then("bank 900, bank 0, bank 50")
    assert (game.totals["A"], game.last.outcome) == (900, "scoreless")
    assert game.then("bank 0, bank 100").totals["A"] == 1000
    assert (game.last.outcome, game.due) == ("banked", "B")


@pytest.mark.parametrize("reach", ["at-least", "more-than"])
def test_otherwise_a_turn_that_hits_the_target_is_not_exempt(reach: str) -> None:
    game = at_table("A B", reach=reach, target=1000, bank_minimum=300).then("bank 900, bank 0, bank 100")
    assert (game.totals["A"], game.last.outcome) == (900, "scoreless")


def test_a_turn_that_reaches_the_target_exactly_may_stop_under_roll_on() -> None:
    game = at_table("A B", reach="exactly", bank_minimum=300, below_minimum="roll-on")
    game.then("bank 9900, bank 0, roll 133455, keep 5")
    assert game.legal == ["roll"]
    assert game.then("undo, keep 1").legal == ["roll", "bank"]
    assert game.then("bank").totals["A"] == 10000


def test_a_turn_that_reaches_the_target_exactly_is_exempt_from_topping() -> None:
    game = at_table("A B", reach="exactly", must_beat_previous=True).then("bank 9900, bank 500, bank 100")
    assert game.totals["A"] == 10000


def test_a_turn_that_reaches_the_target_exactly_is_exempt_in_last_turns_too() -> None:
    game = at_table("A B", reach="exactly", bank_minimum=300, target=1000).then(
        "bank 500, bank 900, bank 500, bank 100"
    )
    assert game.totals == {"A": 1000, "B": 1000}
    assert game.position.extra


def test_exactly_in_last_turns_one_may_still_overshoot() -> None:
    game = at_table("A B C", reach="exactly", target=1000).then(
        "bank 500, bank 900, bank 0, bank 500, bank 150, bank 0"
    )
    assert game.totals == {"A": 1000, "B": 900, "C": 0}
    assert game.winners == "A"


def test_exactly_in_extra_turns_nothing_overshoots() -> None:
    game = at_table("A B", reach="exactly", target=1000).then("bank 1000, bank 1000")
    assert (game.due, game.position.extra) == ("A B", True)
    game.then("bank 300, bank 250")
    assert (game.totals, game.winners) == ({"A": 1300, "B": 1250}, "A")


def test_whoever_stands_above_the_target_when_a_turn_of_the_own_ends_has_reached_it() -> None:
    game = at_table("A B", reach="exactly", target=1000).then("bank 800, bank 0, change target=500, bank 50")
    assert (game.last.outcome, game.totals["A"], game.due) == ("scoreless", 800, "B")


def test_the_target_is_looked_at_when_a_turn_ends_for_whoever_played_it() -> None:
    game = at_table("A B").then("bank 800, change target=500, bank 0")
    assert game.position.status == "in-progress"
    assert game.then("bust").due == "B"


# -- last turns -------------------------------------------------------------------------------------------------------


def test_everyone_else_has_one_more_turn() -> None:
    game = at_table("A B C", target=1000).then("bank 0, bank 1000")
    assert (game.position.status, game.due, game.to_play) == ("last-turns", "C A", "C")
    game.then("bank 900")
    assert game.due == "A"
    assert game.then("bank 950").winners == "B"
    assert (game.position.status, game.due) == ("finished", "")


def test_rest_of_round_gives_a_turn_to_the_seats_after_this_one() -> None:
    game = at_table("A B C", target=1000, last_turns="rest-of-round").then("bank 0, bank 1000")
    assert game.due == "C"
    assert game.then("bank 900").winners == "B"


def test_rest_of_round_ends_at_once_when_the_last_seat_reaches_the_target() -> None:
    game = at_table("A B C", target=1000, last_turns="rest-of-round").then("bank 0, bank 0, bank 1000")
    assert (game.position.status, game.winners) == ("finished", "C")
    other = at_table("A B C", target=1000).then("bank 0, bank 0, bank 1000")
    assert other.due == "A B"


def test_last_turns_none_ends_at_once() -> None:
    game = at_table("A B C", target=1000, last_turns="none").then("bank 1000")
    assert (game.position.status, game.winners, game.to_play) == ("finished", "A", "")


def test_the_highest_total_of_all_wins_not_whoever_reached_the_target() -> None:
    game = at_table("A B C", target=1000).then("bank 1000, bank 1050, bank 1200")
    assert game.winners == "C"


def test_last_turns_none_the_highest_total_of_all_wins() -> None:
    game = at_table("A B", target=2000, last_turns="none").then("bank 1900, bank 0, bank 0, change target=1500")
    assert game.then("bank 1600").winners == "A"


def test_a_turn_knows_whether_it_was_a_last_one() -> None:
    game = at_table("A B C D", target=1000).then("bank 0, bank 1000, bank 50, roll 133446, leave D, bank 1000, bank 0")
    ended = [(game.position.seats[turn.turn.seat].player, turn.last) for turn in game.position.turns()]
    assert ended == [("A", False), ("B", False), ("C", True), ("D", True), ("A", True), ("B", True)]


def test_a_further_player_reaching_the_target_starts_nothing_new() -> None:
    game = at_table("A B C", target=1000).then("bank 1000, bank 1200")
    assert game.due == "C"
    assert game.then("bank 0").position.status == "finished"


def test_minimums_hold_in_last_turns_literally() -> None:
    game = at_table("A B", target=1000, opening_minimum=500).then("bank 1000, bank 450")
    assert game.totals["B"] == 0


def test_a_single_player_has_finished_on_reaching_the_target() -> None:
    assert at_table("A", target=1000).then("bank 1000").winners == "A"


def test_turns_already_due_stay_due_when_the_rule_changes() -> None:
    game = at_table("A B C", target=1000).then("bank 1000, change last_turns=none")
    assert game.due == "B C"
    assert game.then("change target=5000, bank 0, bank 0").winners == "A"


# -- ties -------------------------------------------------------------------------------------------------------------


def test_leaders_level_at_the_end_play_one_more_turn_each() -> None:
    game = at_table("A B C", target=1000).then("bank 1000, bank 1000, bank 900")
    assert (game.position.status, game.due, game.position.extra) == ("last-turns", "A B", True)
    assert game.then("bank 100, bank 50").winners == "A"


def test_extra_turns_go_round_from_the_seat_whose_turn_it_was_last() -> None:
    game = at_table("A B C", target=1000).then("bank 0, bank 1000, bank 1000, bank 1000")
    assert (game.due, game.to_play) == ("B C A", "B")


def test_whoever_does_not_lead_has_no_extra_turn() -> None:
    game = at_table("A B C", target=1000).then("bank 1000, bank 900, bank 1000")
    assert (game.due, game.to_play) == ("A C", "A")
    game.then("bank 50")
    assert (game.due, game.to_play) == ("C", "C")
    assert game.then("bank 0").winners == "A"


def test_leaders_level_again_play_again() -> None:
    game = at_table("A B", target=1000).then("bank 1000, bank 1000, bank 50, bank 50")
    assert game.due == "A B"
    assert game.then("bust, bank 50").winners == "B"


def test_after_extra_turns_the_highest_total_of_all_in_play_wins() -> None:
    game = at_table("A B C", target=1000, bust_penalty=500).then("bank 1000, bank 1000, bank 900, bust, bust")
    assert game.winners == "C"


def test_a_level_end_may_be_shared() -> None:
    game = at_table("A B C", target=1000, tie="shared").then("bank 1000, bank 900, bank 1000")
    assert (game.position.status, game.winners) == ("finished", "A C")


# -- seats ------------------------------------------------------------------------------------------------------------


def test_turns_go_round_the_table_and_a_round_ends_when_the_dice_pass_to_an_earlier_seat() -> None:
    game = at_table("A B C")
    seen = []
    for _ in range(7):
        seen.append((game.to_play, game.position.round))
        game.then("bank 0")
    assert seen == [("A", 1), ("B", 1), ("C", 1), ("A", 2), ("B", 2), ("C", 2), ("A", 3)]


def test_a_round_of_a_single_player_is_one_turn() -> None:
    assert at_table("A").then("bank 0, bank 0").position.round == 3


def test_join_puts_a_seat_at_the_end_that_plays_in_the_running_round() -> None:
    game = at_table("A B").then("bank 0, join C, bank 0")
    assert (game.to_play, game.position.round) == ("C", 1)
    assert (game.then("bank 300").to_play, game.position.round) == ("A", 2)
    assert game.totals == {"A": 0, "B": 0, "C": 300}


def test_join_takes_a_name_that_nobody_has() -> None:
    game = at_table("A B").then("leave B")
    assert game.refuses("join A") == "there is a player A already; a name that nobody has"
    assert game.refuses("join B") == "there is a player B already; a name that nobody has"


def test_join_ends_when_last_turns_begin() -> None:
    game = at_table("A B", target=1000).then("bank 1000")
    assert game.refuses("join C") == "last turns have begun and nobody joins any more; a new game"


def test_a_table_has_20_seats() -> None:
    game = at_table(" ".join(f"p{number}" for number in range(19))).then("join last")
    assert game.refuses("join more") == "the table has 20 seats; a second table"


def test_leave_drops_the_turn_in_progress() -> None:
    game = at_table("A B", bust_penalty=500).then("bank 0, bank 0, roll 133446, keep 1, leave A")
    assert (game.to_play, game.totals["A"]) == ("B", 0)
    left = game.last
    assert (left.outcome, left.posted, left.change, left.number) == ("left", 0, 0, 0)
    seat = game.position.seats[0]
    assert (seat.left, seat.turns, seat.busts) == (True, 1, 0)


@pytest.mark.parametrize("begun", ["roll 133446, keep 1", "challenge B"])
def test_a_dropped_turn_with_a_roll_or_a_challenge_stands_as_left(begun: str) -> None:
    game = challenging("A B C").then(f"{begun}, leave A")
    assert [turn.outcome for turn in game.position.turns()] == ["left"]


def test_a_dropped_turn_with_a_steal_stands_as_left() -> None:
    game = at_table("A B C", steal="after-bust").then(f"{LOST_100}, steal, leave B")
    assert [turn.outcome for turn in game.position.turns()] == ["bust", "left"]


def test_a_dropped_turn_with_nothing_in_it_does_not_stand() -> None:
    assert at_table("A B").then("leave A").position.turns() == []


def test_a_dropped_turn_counts_nowhere_else() -> None:
    game = at_table("A B C").then("bank 50, roll 133446, keep 1, leave B, bank 50")
    assert [(turn.number, turn.outcome) for turn in game.position.turns()] == [
        (1, "banked"),
        (0, "left"),
        (2, "banked"),
    ]


def test_whoever_has_left_is_due_no_turn_and_is_passed_over() -> None:
    game = at_table("A B C").then("leave B, bank 0")
    assert game.to_play == "C"
    last = at_table("A B C", target=1000).then("bank 1000, leave C, bank 0")
    assert (last.position.status, last.winners) == ("finished", "A")
    before = at_table("A B C", target=1000).then("leave C, bank 1000")
    assert before.due == "B"


def test_leaving_in_the_last_turn_that_is_due_ends_the_game() -> None:
    game = at_table("A B", target=1000).then("bank 1000, roll 133446, leave B")
    assert (game.position.status, game.winners) == ("finished", "A")


def test_whoever_has_left_keeps_the_total_and_cannot_win() -> None:
    game = at_table("A B C", target=1000).then("bank 1000, leave A, bank 300, bank 200")
    assert (game.totals, game.winners) == ({"A": 1000, "B": 300, "C": 200}, "B")


def test_one_of_the_level_leaders_may_leave() -> None:
    game = at_table("A B", target=1000).then("bank 1000, bank 1000, leave A")
    assert (game.to_play, game.due) == ("B", "B")
    assert game.then("bust").winners == "B"


def test_all_but_one_may_leave() -> None:
    game = at_table("A B C D").then("leave B, leave D, leave C")
    assert [seat.left for seat in game.position.seats] == [False, True, True, True]


def test_the_last_player_cannot_leave() -> None:
    game = at_table("A B").then("leave B")
    assert game.refuses("leave A") == "A is the last player; abandon the game instead"
    assert game.refuses("leave B") == "B has left already; nothing more to do"
    assert game.refuses("leave C") == "there is no player C; one of A, B"


def test_the_game_goes_on_with_one_player() -> None:
    game = at_table("A B", target=1000).then("leave B, bank 500, bank 500")
    assert game.winners == "A"


def test_a_last_seat_that_leaves_ends_the_round() -> None:
    game = at_table("A B").then("bank 0, leave B")
    assert (game.to_play, game.position.round) == ("A", 2)


def test_rename_takes_a_name_that_nobody_has_now() -> None:
    game = at_table("A B").then("rename A Z, bank 300")
    assert game.totals == {"Z": 300, "B": 0}
    assert game.refuses("rename Z B") == "there is a player B already; a name that nobody has"
    assert game.refuses("rename A C") == "there is no player A; one of Z, B"
    assert game.then("rename B A").totals == {"Z": 300, "A": 0}


def test_abandon_ends_the_game_without_a_winner() -> None:
    game = at_table("A B", target=1000).then("bank 1000, abandon")
    assert (game.position.status, game.winners, game.due, game.legal) == ("abandoned", "", "", [])


# -- rule changes for the next turn -----------------------------------------------------------------------------------


def test_a_change_holds_at_once_for_a_turn_that_has_not_begun() -> None:
    game = at_table("A B").then("change dice=5 target=500")
    assert (game.turn.dice_left, game.position.rules.target) == (5, 500)


def test_a_change_holds_from_the_next_turn_when_this_one_has_begun() -> None:
    game = at_table("A B").then("roll 133446, change one=500, keep 1, bank")
    assert game.totals["A"] == 100
    assert game.then("roll 133446, keep 1, bank").totals["B"] == 500


@pytest.mark.parametrize("begun", ["challenge B", f"bank 0, {LOST_100}, steal"])
def test_a_turn_with_a_steal_or_a_challenge_has_begun(begun: str) -> None:
    game = challenging("A B", steal="after-bust").then(f"{begun}, change target=500")
    assert (game.position.rules.target, game.position.pending and game.position.pending.target) == (10000, 500)


def test_a_change_that_waits_holds_after_a_turn_that_leave_dropped() -> None:
    assert at_table("A B").then("roll 133446, change target=500, leave A").position.rules.target == 500


def test_the_target_of_a_change_that_waits_is_not_looked_at_yet() -> None:
    game = at_table("A B").then("roll 133446, keep 1, change target=100, bank")
    assert game.position.status == "in-progress"


def test_changes_are_checked_together_with_those_that_wait() -> None:
    game = at_table("A B").then("roll 133446, change target=500")
    assert game.refuses("change opening_minimum=600") == (
        "opening_minimum 600 is above target 500; opening_minimum from 0 to 500"
    )
    assert game.then("change opening_minimum=400").position.pending is not None
    assert game.then("keep 1, bank").position.rules.opening_minimum == 400


def test_a_change_may_add_a_combination() -> None:
    game = at_table("A B").then("change pair=AA:50, roll 223344, keep 2233")
    assert game.turn.points == 100


def test_after_the_end_only_undo_note_and_expect() -> None:
    for end in ("bank 10000, bank 0", "abandon"):
        game = at_table("A B").then(end)
        status = game.position.status
        for asked in (
            "roll 123456", "keep 1", "bank 50", "bust", "steal", "challenge B", "join C", "leave A", "rename A Z",
            "change target=500", "whole-game target=20000", "abandon",
        ):  # fmt: skip
            assert game.refuses(asked) == f"the game is {status}; only undo, note and expect", asked
        game.then("note well played, expect B=0, undo")
        assert game.position.turn is not None


# -- settled turns of a replay ----------------------------------------------------------------------------------------


def test_a_settled_bank_ends_a_turn_at_0_in_a_replay() -> None:
    first = start("A B", ruleset("tiotusen"), origin="replay", of="3:" + "ab" * 16)
    rolled = fold([first, events.Roll(2, player="A", dice=parse("133446"))])
    ended = evolve(rolled, events.Bank(3, player="A", points=0, settled=True)).position.ended
    assert ended is not None
    assert (ended.outcome, ended.posted, ended.change) == ("settled", 0, 0)
    assert fold([first, events.Bank(2, player="A", points=0, settled=True)]).position.ended is not None


def test_a_settled_bank_is_of_0_points() -> None:
    game = fold([start("A B", ruleset(), origin="replay", of="3:" + "ab" * 16)])
    settled = events.Bank(2, player="A", points=50, settled=True)
    assert why_not(game, settled) == "a settled bank is a replay's, of 0 points; a bank without settled"


def test_a_settled_bank_is_an_error_outside_a_replay() -> None:
    settled = events.Bank(2, player="A", points=0, settled=True)
    assert why_not(at_table().game, settled) == "a settled bank is a replay's, of 0 points; a bank without settled"


def test_a_settled_turn_counts_among_scoreless_turns_and_is_no_bust() -> None:
    rules = ruleset(bust_penalty=300, streak_length=2, streak_penalty=50, streak_counts="scoreless-turns")
    first = start("A", rules, origin="replay", of="3:" + "ab" * 16)
    log = [first, *(events.Bank(seq, player="A", points=0, settled=True) for seq in (2, 3))]
    assert fold(log).position.seats[0].total == -50


def test_nobody_steals_across_a_change_of_the_number_of_dice() -> None:
    """Six dice can't be taken over into a game with five, nor may five be a fresh throw on the way to six."""
    game = at_table("A B", steal="after-bank").then("roll 155234, keep 1, change dice=5, bank")
    assert game.refuses("steal").startswith("the number of dice has changed since the turn before; ")
