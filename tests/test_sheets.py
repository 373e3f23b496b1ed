# ruff: noqa: F811  (a fixture of another file)
"""Score sheets: how they are read, which slips are found where, and that no sound one is blamed."""

import os
import subprocess
import sys
from collections import Counter
from random import Random

import paper
import pytest
from random_games import random_play, random_ruleset
from test_cli import ROOT, Shell, shell  # noqa: F401  (a fixture)

from tenklog import cells, cli, events
from tenklog.cells import cell
from tenklog.errors import DataError, TenklogError, UsageError
from tenklog.findings import Finding
from tenklog.game import fold, retold
from tenklog.miswritten import neighbours, relation
from tenklog.projections import sheet
from tenklog.rulebook import card_files, preset, read_card
from tenklog.rules import Ruleset, change
from tenklog.sheets import Numbers, lay_out
from tenklog.tally import Reading, read
from tenklog.totals import TurnTotals, losses, step

LONG = bool(os.environ.get("TENKLOG_LONG"))
PRESETS = [read_card(path).rules for path in card_files()]

# The tables of the Tiotusen page, as they stand there.
POINTS = """\
| Turn | Anna | Ben | Cara |
|---|---|---|---|
| 1 | 0 | 1050 | 0 |
| 2 | 1200 | 350 | 1500 |
| 3 | 2500 | 0 | 800 |
| 4 | 1000 | 1200 | \N{MINUS SIGN}1000 |
| 5 | 3000 | 2000 | 2200 |
| 6 | 2400 | 1500 | 1000 |
"""
RUNNING = """\
| After | Anna | Ben | Cara |
|---|---|---|---|
| 1 | 0 | 1050 | 0 |
| 2 | 1200 | 1400 | 1500 |
| 3 | 3700 | 1400 | 2300 |
| 4 | 4700 | 2600 | 1300 |
| 5 | 7700 | 4600 | 3500 |
| 6 | 10100 | 6100 | 4500 |
"""
TOTALS = {
    "Anna": [0, 1200, 3700, 4700, 7700, 10100],
    "Ben": [1050, 1400, 1400, 2600, 4600, 6100],
    "Cara": [0, 1500, 2300, 1300, 3500, 4500],
}


def as_csv(table: str) -> str:
    """Paste a table of the page as CSV."""
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if "---" not in line]
    return "".join(",".join(row) + "\n" for row in rows)


def penalty() -> Ruleset:
    """Return the rules of the page's example."""
    return change(preset("tiotusen"), {"bust_penalty": 1000})


def running(found: Reading) -> dict[str, list[int]]:
    """Return the totals after each turn by player."""
    totals: dict[str, list[int]] = {}
    for one in sheet(found.game).rounds:
        for entry in one.entries:
            totals.setdefault(entry.player, []).append(entry.total)
    return totals


def places(found: Reading) -> list[tuple[int, str]]:
    """Return where something is wrong."""
    return [(one.line, one.column) for one in found.findings]


def only(text: str, rules: Ruleset) -> Finding:
    """Return the one thing that is wrong with a sheet."""
    found = read(text, rules).findings
    assert len(found) == 1, found
    return found[0]


def turned(text: str) -> str:
    """Put the players of a CSV into rows."""
    rows = [line.split(",") for line in text.splitlines()]
    return "".join(",".join(column) + "\n" for column in zip(*rows, strict=True))


FORMS = {
    "points": as_csv(POINTS),
    "totals": as_csv(RUNNING),
    "both": as_csv(POINTS) + "\n" + as_csv(RUNNING),
    "both the other way round": as_csv(RUNNING) + "\n" + as_csv(POINTS),
    "in rows": turned(as_csv(POINTS)),
    "totals in rows": turned(as_csv(RUNNING)),
    "markdown": POINTS,
    "semicolons": as_csv(POINTS).replace(",", ";"),
    "tabs": as_csv(POINTS).replace(",", "\t"),
    "byte order mark": "\ufeff" + as_csv(POINTS),
    "windows": as_csv(POINTS).replace("\n", "\r\n"),
    "a title and blank lines": "Friday at Anna's\n\n" + as_csv(POINTS).replace("\n3,", "\n\n3,"),
    "quoted thousands": as_csv(POINTS).replace("1200", '"1,200"').replace("2500", "2 500").replace("1050", "1.050"),
    "a total": as_csv(POINTS) + "Total,10100,6100,4500\n",
    "a total in Danish": as_csv(POINTS) + "I alt,10100,6100,4500\n",
    "a total without a word": as_csv(POINTS) + ",10100,6100,4500\n",
    "totals and the last of them again": as_csv(RUNNING).replace("After", "Round") + "Total,10100,6100,4500\n",
    "a remark beside the table": as_csv(POINTS).replace("1200,350,1500", "1200,350,1500,what a night"),
    "a second page": as_csv(POINTS).replace("4,1000", "\nTurn,Anna,Ben,Cara\n4,1000"),
    "no numbers of rounds": "\n".join(line.partition(",")[2] for line in as_csv(POINTS).splitlines()),
    "rounds in words": as_csv(POINTS).replace("\n", "\nRunde ").removesuffix("Runde "),
    "a bust in words": as_csv(POINTS).replace("\N{MINUS SIGN}1000", "bust"),
    "a bust in words, and totals": as_csv(POINTS).replace("\N{MINUS SIGN}1000", "bust") + "\n" + as_csv(RUNNING),
}


@pytest.mark.parametrize("first", ["Anna", "Ben"])
@pytest.mark.parametrize("form", FORMS)
def test_the_table_of_the_tiotusen_page_gives_its_running_totals_in_both_seatings(form: str, first: str) -> None:
    found = read(FORMS[form], penalty(), first=first)
    assert found.findings == []
    assert running(found) == TOTALS
    position = found.game.position
    assert position.status == ("finished" if first == "Anna" else "last-turns")
    assert position.seats[0].player == first
    assert found.game.start.origin == "import"


def test_a_sheet_that_tenklog_shows_can_be_read_again(shell: Shell) -> None:
    shown = shell("sheet sample_logs/tiotusen-example.jsonl --format markdown")
    found = read(shown, penalty())
    assert (found.findings, running(found)) == ([], TOTALS)


NUMBERS = {
    "350": 350, " 350 ": 350, "+350": 350, "-350": -350, "\N{MINUS SIGN}350": -350, "\N{EN DASH}350": -350,
    "(350)": -350, "350-": -350, "1 000": 1000, "1\N{NO-BREAK SPACE}000": 1000, "1.000": 1000, "1,000": 1000,
    "1'000": 1000, "12,345,000": 12345000, "350.0": 350, "350,00": 350, "0": 0, "00": 0, "'350": 350,
}  # fmt: skip
TEXTS = (
    "1.5",
    "1,00,0",
    "1.000,5",
    "35O",
    "1e3",
    "1,000.000",
    "\N{ARABIC-INDIC DIGIT THREE}",
    "=350",
    "12 34",
    "--5",
    "x",
)


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_read_as_people_write_it(text: str) -> None:
    assert (cell(1, 1, text).kind, cell(1, 1, text).value) == ("number", NUMBERS[text])


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_ambiguous_or_no_number_is_none(text: str) -> None:
    assert cell(1, 1, text).kind == "text"


def test_columns_are_called_as_a_spreadsheet_does() -> None:
    assert [cells.Cell(1, column).letter for column in (1, 26, 27, 52, 703)] == ["A", "Z", "AA", "AZ", "AAA"]


# -- what can't be true -----------------------------------------------------------------------------------------------


def test_an_empty_cell_is_not_nothing() -> None:
    one = only(as_csv(POINTS).replace("3,2500,0,", "3,2500,,"), penalty())
    assert (one.line, one.column, one.kind, one.player, one.round) == (4, "C", "missing", "Ben", 3)


def test_a_cell_that_is_empty_is_filled_by_the_sums_in_what_is_said() -> None:
    one = only(FORMS["both"].replace("2,1200,350,", "2,1200,,"), penalty())
    assert (one.line, one.column) == (3, "C")
    assert one.right == "likely 350, as the total has it"


def test_points_that_no_dice_make_are_named_with_what_they_likely_were() -> None:
    one = only(as_csv(POINTS).replace("1,0,1050,0", "1,0,1005,0"), penalty())
    assert (one.line, one.column, one.what) == (2, "C", "no dice make 1005 under tiotusen")
    one = only(FORMS["both"].replace("1,0,1050,0\n2,1200,350", "1,0,1005,0\n2,1200,350"), penalty())
    assert one.right == "likely 1050 (digits transposed), as the total has it"


def test_of_numbers_as_likely_the_one_is_proposed_with_which_the_game_goes_on_else_the_smallest() -> None:
    # 105 may have been 150 or 1050: as an opening turn only 1050 counts.
    assert only("Round,A,B\n1,105,1000\n2,300,300\n", preset("tiotusen")).right == "likely 1050 (a digit is missing)"
    assert only("Round,A,B\n1,1000,1000\n2,105,300\n", preset("tiotusen")).right == "likely 150 (digits transposed)"


def test_other_cells_that_may_be_wrong_as_well_are_named() -> None:
    # One wrong digit anywhere: in the total, or in one of the turns.
    one = only("Round,A,B\n1,1000,1000\n2,300,300\n3,300,400\nTotal,1650,1700\n", preset("tiotusen"))
    assert (one.line, one.column) == (5, "B")
    assert one.right.endswith("; as likely line 2, column B, line 3, column B, line 4, column B")


def test_what_follows_from_a_mere_guess_is_not_blamed() -> None:
    text = "Round,A,B\n1,1005,1000\n2,3000,300\n" + "".join(f"{row},500,400\n" for row in range(3, 9))
    rules = change(preset("farkle"), {"target": 4000})
    assert only(text, rules).line == 2
    # With 1050 as the sheet itself has it, the game is over after round 2.
    assert only(text.replace("1005", "1050"), rules).kind == "after-end"


def test_a_penalty_that_no_rule_explains_is_named() -> None:
    one = only(as_csv(POINTS), preset("tiotusen"))
    assert (one.line, one.column, one.kind) == (5, "D", "penalty")
    one = only(as_csv(POINTS).replace("\N{MINUS SIGN}1000", "-900"), penalty())
    assert (one.line, one.column, one.kind) == (5, "D", "penalty")


def test_a_lost_turn_may_cost_less_where_no_total_falls_below_nothing() -> None:
    rules = change(preset("farkle"), {"bust_penalty": 1000, "negative_totals": False})
    text = "Round,A,Total,B,Total\n1,500,500,600,600\n2,-500,0,300,900\n3,350,350,300,1200\n"
    assert read(text, rules).findings == []
    one = only(text.replace("-500,0", "-450,50").replace("350,350", "350,400"), rules)
    assert (one.line, one.column, one.kind) == (3, "B", "penalty")


def test_three_nothings_and_a_penalty_are_a_streak_of_busts_in_the_log() -> None:
    text = "Round,A,B\n1,1000,1000\n2,0,300\n3,0,300\n4,-1000,300\n"
    found = read(text, preset("tiotusen"))
    assert found.findings == []
    kinds = [event.__struct_config__.tag for event in found.events if getattr(event, "player", "") == "A"]
    assert kinds == ["bank", "bust", "bust", "bust"]
    assert only(text.replace("3,0", "3,50"), preset("tiotusen")).column == "B"


def test_a_first_turn_below_the_opening_minimum_counts_nothing_and_the_sums_may_say_so() -> None:
    text = "Round,A,B\n1,700,1000\n2,1100,300\n"
    one = only(text, preset("tiotusen"))
    assert (one.line, one.column, one.kind) == (2, "B", "minimum")
    assert "700 is below the opening minimum of 1000" in one.what
    found = read(text + "Total,1100,1300\n", preset("tiotusen"))
    assert found.findings == []
    assert found.game.position.seats[0].total == 1100
    assert only(text + "Total,1800,1300\n", preset("tiotusen")).kind == "minimum"


def test_a_sum_that_does_not_add_up_is_named_where_it_stands() -> None:
    one = only(FORMS["both"].replace("4,4700,2600,1300", "4,4700,2700,1300"), penalty())
    assert (one.line, one.column, one.kind) == (13, "C", "sum")
    one = only(FORMS["a total"].replace("6100", "6300"), penalty())
    assert (one.line, one.column) == (8, "C")


def test_only_totals_that_are_so_are_expected_in_the_log() -> None:
    last = read(FORMS["a total"].replace("6100", "6300"), penalty()).events[-1]
    assert isinstance(last, events.Expect)
    assert last.totals == {"Anna": 10100, "Cara": 4500}


def test_a_total_that_counts_what_posts_nothing_is_named_and_not_the_one_below() -> None:
    # The opening turn of 700 may count or not, so that only the next total speaks against the first.
    one = only(
        "Round,A,Total,B,Total\n1,700,700,1000,1000\n2,1000,1000,300,1300\n3,300,1300,350,1650\n", preset("tiotusen")
    )
    assert (one.line, one.column, one.kind) == (2, "C", "sum")
    assert one.right.startswith("likely 0")


def test_a_turn_after_the_end_is_named() -> None:
    one = only(as_csv(POINTS) + "7,500,500,500\n", penalty())
    assert (one.line, one.column, one.kind) == (8, "B", "after-end")


def test_totals_that_go_on_where_the_points_end_are_not_passed_over() -> None:
    points = "Round,A,B\n1,1000,1000\n2,300,300\n3,350,400\n"
    totals = "\nRound,A,B\n1,1000,1000\n2,1300,1300\n3,{},1700\n4,2650,1700\n"
    one = only(points + totals.format(1650), preset("tiotusen"))
    assert (one.player, one.round) == ("A", 4)
    assert "1000" in one.right
    # The total of a turn that is known may stand below the last points, and nothing is beside them.
    assert read(points.replace("350", "355") + totals.format(""), preset("tiotusen")).findings


def test_two_numbers_in_each_others_column_are_one_slip() -> None:
    text = FORMS["both"].replace("5,3000,2000,2200\n6,2400", "5,3000,2200,2000\n6,2400")
    one = only(text, penalty())
    assert (one.line, one.column, one.right) == (6, "C", "likely they changed places")


@pytest.mark.parametrize(("row", "column"), [("2,350,1500,", "D"), ("2,,1200,350", "B")])
def test_a_row_that_stands_one_place_too_far_to_either_side_is_one_slip(row: str, column: str) -> None:
    one = only(FORMS["both"].replace("2,1200,350,1500", row, 1), penalty())
    assert (one.line, one.column, one.kind) == (3, column, "missing")
    assert "stands one place too far" in one.right


def test_dashes_say_who_came_later_and_who_left() -> None:
    text = "Round,A,B,C\n1,1000,1000,-\n2,300,-,-\n3,300,-,1000\n"
    found = read(text, preset("tiotusen"))
    assert found.findings == []
    assert [event.__struct_config__.tag for event in found.events[1:]] == [
        "bank", "bank", "bank", "leave", "join", "bank", "bank",
    ]  # fmt: skip


def test_few_numbers_that_rise_by_accident_are_points_unless_the_head_or_the_rules_say_otherwise() -> None:
    text = "Round,A,B,C\n1,0,0,500\n2,1100,0,4000\n"
    assert [seat.total for seat in read(text, preset("kingdom-come")).game.position.seats] == [1100, 0, 4500]
    after = text.replace("Round", "After")
    assert [seat.total for seat in read(after, preset("kingdom-come")).game.position.seats] == [1100, 0, 4000]
    # As points the game would have been over in the second round.
    more = "Round,A,B\n1,2000,0\n2,2500,500\n3,3000,600\n4,4000,\n"
    assert read(more, preset("kingdom-come")).game.position.seats[0].total == 4000


def test_first_names_a_player() -> None:
    with pytest.raises(UsageError, match="nobody on the sheet is called Bem"):
        read(as_csv(POINTS), penalty(), first="Bem")


@pytest.mark.parametrize("text", ["", "\n\n", "Roses are red\n", "Anna,Ben\n", "1,2,3\n", 'Round,Anna\n1,"350\n'])
def test_what_is_no_sheet_is_said_to_be_none(text: str) -> None:
    with pytest.raises(DataError):
        read(text, penalty())


# -- what dice can make -----------------------------------------------------------------------------------------------


def test_turn_totals_follow_the_rules_asked() -> None:
    assert all(points in TurnTotals(preset("zilch")) for points in (50, 100, 4050, 25_000))
    assert not any(points in TurnTotals(preset("zilch")) for points in (10, 75, 1005, 25_010))
    # Ones, fives and triplets, one fresh throw at most: 2000 (two triplets of ones) is the most.
    banked = TurnTotals(change(preset("farkle-classic"), {"hot_dice": "must-bank"}))
    assert 2000 in banked
    assert 2050 not in banked
    assert 950 not in banked
    hundreds = TurnTotals(change(preset("farkle-classic"), {"five": 0}))
    assert 350 not in hundreds
    assert 300 in hundreds


def test_totals_under_rules_with_too_many_ways_are_the_same_in_every_run() -> None:
    script = (
        "from tenklog.rulebook import preset\n"
        "from tenklog.rules import Combination, change\n"
        "from tenklog.totals import TurnTotals\n"
        "rare = {'rare': Combination('246', 30)}\n"  # or 10 is refused at once, as no multiple of 50
        "many = [change(preset('diecimila'), rare | {'last_die_rolls': count}) for count in (800, 1100)]\n"
        "print([10 in TurnTotals(rules) for rules in many])"
    )
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True) for _ in "123"]
    assert len({run.stdout for run in runs}) == 1


def test_all_that_dice_make_is_a_multiple_of_the_step_of_the_rules() -> None:
    assert step(preset("zilch")) == 50
    assert step(change(preset("farkle-classic"), {"five": 0})) == 100
    steps = 0
    for seed in range(300):
        rng = Random(f"step {seed}")
        _, game = random_play(rng, random_ruleset(rng))
        for _, before, after in retold(game)[1]:
            if before.turn and after.turn and after.ended is before.ended and not after.turn.stolen:
                assert (after.turn.points - before.turn.points) % step(before.rules) == 0
                steps += after.turn.points > before.turn.points
    assert steps > 2000


def test_losses_are_what_the_fold_takes() -> None:
    assert losses(preset("farkle")) == set()
    assert losses(preset("tiotusen")) == {-1000}
    assert losses(change(preset("tiotusen"), {"bust_penalty": 50})) == {-50, -1050}


def test_a_slip_and_its_correction_know_each_other() -> None:
    for written in (0, 5, 50, 350, 1050, 2300, -1000):
        for right in neighbours(written):
            assert written == 0 or relation(written, right)[1] < 5, (written, right)
    assert relation(1005, 1050)[0] == "digits transposed"
    assert relation(150, 1050)[0] == "digits transposed"
    assert relation(50, 350)[0] == "a digit is missing"
    assert relation(150, 1500)[0] == "a digit is missing"
    assert relation(350, -350)[0] == "the minus is missing"
    assert relation(350, 900) == ("", 5)


# -- many sheets ------------------------------------------------------------------------------------------------------


def games(name: str, few: int, many: int) -> list[tuple[Random, Ruleset, paper.Paper]]:
    """Return played games of all presets, written down."""
    made = []
    for number in range(many if LONG else few):
        rng = Random(f"{name} {number}")
        rules = PRESETS[number % len(PRESETS)]
        made.append((rng, rules, paper.paper(paper.played(rng, rules))))
    return made


def test_no_sound_sheet_is_blamed_however_it_is_laid_out() -> None:
    for _, rules, one in games("sound", 13, 1000):
        for layout in paper.LAYOUTS:
            # A few totals without a word about it may be points as well: nobody could tell.
            numbers: Numbers | None = "totals" if layout.endswith("totals") and one.rounds < 6 else None
            found = read(paper.written(paper.laid_out(one, layout)), rules, numbers=numbers)
            assert found.findings == [], (rules.name, layout)
            totals = {seat.player: seat.total for seat in found.game.position.seats}
            last = {player: [value for value in one.totals[player] if value is not None] for player in one.players}
            assert totals == {player: (column or [0])[-1] for player, column in last.items()}


def is_wrong(one: paper.Paper, layout: str, tables: list[paper.Rows]) -> bool:
    """Tell, without the code under test, whether a slip made a turn that no dice make or a sum that does not add up.

    All presets count in steps of 50; of them only tiotusen's take points away, 1000 at a time.
    """
    if layout not in ("points", "rows", "totals", "rows-totals"):
        return True
    rows = paper.transposed(tables[0]) if layout.startswith("rows") else tables[0]
    for column in range(1, len(rows[0])):
        before = 0
        for row in rows[1:]:
            value = int(row[column]) if row[column] else before if layout.endswith("totals") else 0
            change = value - before if layout.endswith("totals") else value
            if change % 50 or (change < 0 and change != -1000):
                return True
            before = value
    return False


def test_slips_are_caught_at_the_right_cell() -> None:
    caught: Counter[str] = Counter()
    for number, (rng, rules, one) in enumerate(games("slip", 54, 1000)):
        layout = paper.LAYOUTS[number // 3 % len(paper.LAYOUTS)]
        tables = paper.laid_out(one, layout)
        slip = paper.slipped(rng, tables, layout, paper.KINDS[number % 3])
        if slip is None or not is_wrong(one, layout, tables):
            continue
        found = read(paper.written(tables), rules).findings
        there = [paper.line_and_column(tables, place) for place in slip.places]
        right = bool(found) and all((finding.line, finding.column) in there for finding in found)
        caught[f"{slip.kind} {layout}: {'right' if right else 'wrong' if found else 'not found'}"] += 1
    good = sum(count for what, count in caught.items() if what.endswith("right"))
    assert good >= 0.9 * sum(caught.values()), caught
    if LONG:
        print(good, sum(caught.values()), sorted(caught.items()))


@pytest.mark.parametrize("place", ["", "1o00"])
def test_what_a_player_opened_with_may_be_unknown_and_what_follows_is_not_blamed(place: str) -> None:
    text = f"Round,Anna,Ben\n1,0,0\n2,0,{place}\n3,1100,900\n4,350,100\n"
    found = read(text, preset("tiotusen")).findings
    assert [(one.line, one.column) for one in found] == [(3, "C")]
    known = read(text.replace(f"2,0,{place}", "2,0,0"), preset("tiotusen")).findings
    assert [(one.line, one.column, one.kind) for one in known[:1]] == [(4, "C", "minimum")]


def test_each_damaged_sheet_gets_one_line_that_names_the_place() -> None:
    count = 0
    for number, (rng, rules, one) in enumerate(games("damage", 60, 600)):
        kind = paper.DAMAGE[number % len(paper.DAMAGE)]
        made = paper.damaged(rng, one, kind)
        if made is None:
            continue
        count += 1
        data, there = made
        try:
            found = places(read(cells.decode(data), rules))
        except DataError as error:
            found = [(int(error.where), "")]
        assert len(found) == 1, (kind, rules.name, there, found)
        assert found[0] in there, (kind, rules.name, there, found)
    assert count >= (500 if LONG else 40)


def test_noise_is_answered_and_whatever_is_read_folds() -> None:
    rng = Random(7)
    bits = [
        "-",
        "",
        "0",
        "bust",
        "left",
        "1 000",
        "'",
        '"',
        "\n",
        ",",
        ";",
        "|",
        "99999999",
        "Total",
        "Anna",
        "\0",
        "é",
    ]
    for _, rules, one in games("noise", 20, 300):
        text = paper.written(paper.laid_out(one, rng.choice(paper.LAYOUTS)))
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(bits) + text[at + rng.choice((0, 0, 1, 9)) :]
        cells.is_table(text.encode())
        try:
            found = read(text, rules)
        except TenklogError:
            continue  # anything else is a mistake
        assert fold(found.events).seq == found.game.seq


# -- on the command line ----------------------------------------------------------------------------------------------

SAMPLE = "sample_logs/tiotusen-example.csv"


def test_a_sheet_is_imported_once(shell: Shell) -> None:
    line = f"import {SAMPLE} --set bust_penalty=1000 --title Friday"
    (first,) = shell.json(line, "import")
    assert dict(zip(first["players"], first["totals"], strict=True)) == {"Anna": 10100, "Ben": 6100, "Cara": 4500}
    assert shell.json(line, "import") == [first | {"result": "already"}]
    assert [row["game"] for row in shell.json("games", "games")] == [first["game"]]
    assert shell.json(f"check {first['game']}", "check")["problems"] == []


def test_a_dry_run_of_an_import_writes_nothing(shell: Shell) -> None:
    shell(f"import {SAMPLE} --set bust_penalty=1000 --dry-run")
    assert shell.json("games", "games") == []


def test_with_lenient_what_cant_be_true_comes_in_with_a_note(shell: Shell) -> None:
    shell(f"import {SAMPLE} --rules tiotusen", code=1)
    assert shell.json("games", "games") == []
    shell(f"import {SAMPLE} --rules tiotusen --lenient -g odd")
    told = [line for line in shell("events odd --format jsonl").splitlines() if '"note"' in line]
    assert len(told) == 1
    assert "line 5, column D (Cara, round 4): no rule of tiotusen takes 1000 points here" in told[0]
    shell("check odd")


def test_every_finding_is_a_line_of_its_own(
    shell: Shell,
    capsys: pytest.CaptureFixture[str],
    tmp_path: object,
) -> None:
    file = f"{tmp_path}/friday.csv"
    with open(file, "w", encoding="utf-8") as written:
        written.write(as_csv(POINTS).replace("1050", "1051").replace("800", "8oo"))
    assert cli.run(["import", file, "--set", "bust_penalty=1000"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(": ")[2:4] for line in err.splitlines()] == [
        [f"{file}:2", "column C (Ben, round 1)"],
        [f"{file}:4", "column D (Cara, round 3)"],
    ]


def test_the_sample_sheet_is_the_table_of_the_page() -> None:
    assert (ROOT / SAMPLE).read_text(encoding="utf-8") == as_csv(POINTS)
    assert [column.player for column in lay_out(cells.read(as_csv(POINTS))).columns] == ["Anna", "Ben", "Cara"]


def test_notes_never_break_the_limits_of_an_event() -> None:
    name = "x" * 64
    found = read(f"Round,{name},B\n1,1005,300\n", preset("farkle"))
    assert any(isinstance(event, events.Note) for event in found.events)
