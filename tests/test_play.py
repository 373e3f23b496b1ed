"""What is typed at the prompt of `play`, and what stands on the screen: without a terminal."""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import click
import pytest
from wcwidth import wcswidth

from tenklog import cli, events, files, play, reading, store
from tenklog.cli.entries import Table
from tenklog.decider import Bank, Bust, Challenge, Change, Command, Keep, Leave, Roll, Steal, draft
from tenklog.errors import UsageError
from tenklog.game import Game, fold
from tenklog.home import Home
from tenklog.rulebook import preset
from tenklog.rules import change
from tenklog.screen import Pictures, faces, screen

ROOT = Path(__file__).parent.parent
TRANSCRIPTS = sorted((ROOT / "tests" / "golden" / "play").glob("*.txt"))


def start(rules: str = "ten-thousand", players: tuple[str, ...] = ("Anna", "Ben"), **settings: Any) -> Game:
    ruleset = change(preset(rules), settings)
    return fold([events.Start(1, game="friday", version=1, players=players, rules=ruleset, origin="table")])


def after(game: Game, *commands: Command) -> Game:
    for command in commands:
        game = draft(game, command).game
    return game


ROLLED = after(start(), Roll((1, 1, 5, 3, 4, 6)))
KEPT = after(ROLLED, Keep((1, 1)))
NEXT = after(KEPT, Bank())
STEALING = after(start(steal="after-bust"), Roll((1, 2, 2, 3, 4, 6)), Keep((1,)), Roll((2, 3, 4, 6, 6)))
CHALLENGING = start(challenge_split=5000)
THREE = start(players=("Anna", "Ben", "Cara"), challenge_split=5000)
ONE_EACH = after(start("diecimila"), Roll((1, 1, 5, 3, 4, 6)))
OVER = after(start(target=500, last_turns="none"), Bank(500))


# The first documented game, as entries of play and as single commands.
EXAMPLE = (
    ("133446", "roll 133446"), ("1", "keep 1"), ("22234", "roll 22234"), ("222", "keep 222"), ("55", "roll 55"),
    ("55", "keep 55"), ("223446", "roll 223446"), ("555244", "roll 555244"), ("555", "keep 555"), ("123", "roll 123"),
    ("1", "keep 1"), ("b", "bank"),
)  # fmt: skip


# -- what is typed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "typed", "line"),
    [
        (start(), "133446", ["roll", "133446"]),
        (start(), " 1 3 3,4 46 ", ["roll", "1 3 3,4 46"]),
        (start(), "1", ["roll", "1"]),
        (ROLLED, "1", ["keep", "1"]),
        (ROLLED, "1 1 5", ["keep", "1 1 5"]),
        (ROLLED, "133446", ["keep", "133446"]),
        (ROLLED, "a", ["keep", "all"]),
        (ROLLED, "keep best", ["keep", "best"]),
        (ONE_EACH, "115/15", ["keep", "115", "--aside", "15"]),
        (ONE_EACH, "115 / 15", ["keep", "115", "--aside", "15"]),
        (KEPT, "1234", ["roll", "1234"]),
        (KEPT, "133446", ["roll", "133446"]),
        (KEPT, "b", ["bank"]),
        (KEPT, "B", ["bank"]),
        (NEXT, "b 350", ["bank", "350"]),
        (NEXT, "b350", ["bank", "350"]),
        (NEXT, "x", ["bust"]),
        (NEXT, "t", ["throw"]),
        (STEALING, "s", ["steal"]),
        (STEALING, "2345", ["roll", "2345"]),
        (CHALLENGING, "c", ["challenge", "--", "Ben"]),
        (THREE, "c Cara Lee", ["challenge", "--", "Cara Lee"]),
        (NEXT, "u", ["undo"]),
        (NEXT, "u it fell off the table", ["undo", "--why", "it fell off the table"]),
        (NEXT, "f", ["fixes"]),
        (NEXT, "f 2 133446", ["fix", "2", "133446"]),
        (NEXT, "f2 1 3 3 4 4 6", ["fix", "2", "1 3 3 4 4 6"]),
        (NEXT, "f 2 350", ["fix", "2", "350"]),
        (NEXT, "f 2 x", ["fix", "2", "bust"]),
        (ONE_EACH, "f 3 115/15", ["fix", "3", "115", "--aside", "15"]),
        (NEXT, "n --don't; it's late", ["note", "--", "--don't; it's late"]),
        (ROLLED, "o", ["advise"]),
        (ROLLED, "?", ["help"]),
        (ROLLED, "??", ["keys"]),
        (ROLLED, "help", ["keys"]),
        (ROLLED, "? 115", ["help", "keep", "115"]),
        (ROLLED, "?b", ["help", "bank"]),
        (KEPT, "? 1234", ["help", "roll", "1234"]),
        (NEXT, "q", ["quit"]),
        (NEXT, "exit", ["quit"]),
        (NEXT, "", []),
        (NEXT, "   ", []),
        (NEXT, "change opening_minimum=500 --whole-game", ["change", "opening_minimum=500", "--whole-game"]),
        (NEXT, "rename Ben 'Ben Lee'", ["rename", "Ben", "Ben Lee"]),
        (NEXT, "note don't", ["note", "don't"]),
        (NEXT, "tenklog show", ["show"]),
        (OVER, "133446", ["roll", "133446"]),
        (OVER, "u", ["undo"]),
    ],
)
def test_an_entry_is_the_command_line_that_one_would_type_for_it(game: Game, typed: str, line: list[str]) -> None:
    assert play.meaning(game.position, typed) == line


@pytest.mark.parametrize(
    ("game", "typed", "line"),
    [
        (start(), "350", ["bank", "350"]),
        (start(), "133446", ["bank", "133446"]),
        (start(), "0", ["bank", "0"]),
        (start(), "x", ["bust"]),
        (start(), "roll 133446", ["roll", "133446"]),
        (ROLLED, "1", ["keep", "1"]),
        (KEPT, "1234", ["roll", "1234"]),
        (STEALING, "350", ["bank", "350"]),
    ],
)
def test_on_a_score_sheet_a_number_is_the_points_of_a_turn_without_dice(
    game: Game, typed: str, line: list[str]
) -> None:
    assert play.meaning(game.position, typed, totals=True) == line


@pytest.mark.parametrize(
    ("game", "typed", "what"),
    [
        (start(), "350", "'0' is no die"),
        (start(), "133447", "'7' is no die"),
        (start(), "z", "'z' is no entry"),
        (start(), "é", "'é' is no entry"),
        (start(), "!", "'!' is no entry"),
        (start(), "b", None),
        (KEPT, "t 6", "t takes nothing after it"),
        (start(), "f 7", "f 7 gives no correction"),
        (start(), "n", "n needs the text"),
        (THREE, "c", "c needs the opponent's name"),
        (OVER, "c", "c needs the opponent's name"),
    ],
)
def test_what_is_no_entry_is_answered_with_what_would_be_one(game: Game, typed: str, what: str | None) -> None:
    if what is None:
        assert play.meaning(game.position, typed)
        return
    with pytest.raises(UsageError) as caught:
        play.meaning(game.position, typed)
    assert caught.value.what.startswith(what)
    assert caught.value.right


def test_a_digit_of_another_script_is_left_to_the_command_to_refuse() -> None:
    assert play.meaning(ROLLED.position, "\uff11") == ["keep", "\uff11"]


@pytest.mark.parametrize(
    ("text", "players"),
    [
        ("Anna Ben", ["Anna", "Ben"]),
        ("Anna Lee, Ben", ["Anna Lee", "Ben"]),
        ("Anna Lee,", ["Anna Lee"]),
        ("O'Brien Ben", ["O'Brien", "Ben"]),
        ("  ", []),
    ],
)
def test_names_are_typed_between_blanks_or_commas(text: str, players: list[str]) -> None:
    assert play.typed_names(text) == players
    assert play.typed_names(play.hand_down(players)) == players


# -- what is said -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "totals", "prompt"),
    [
        (start(), False, "Anna, roll> "),
        (start(), True, "Anna, points> "),
        (ROLLED, True, "Anna, keep> "),
        (KEPT, False, "Anna, roll or bank> "),
        (after(start("zilch"), Roll((1, 2, 2, 3, 4, 6)), Keep((1,))), False, "Anna, roll> "),
        (after(start(hot_dice="must-bank"), Roll((1, 2, 3, 4, 5, 6)), Keep("all")), False, "Anna, bank> "),
        (STEALING, False, "Ben, roll> "),
        (after(STEALING, Steal()), True, "Ben, roll> "),
        (OVER, False, "finished> "),
    ],
)
def test_the_prompt_says_who_is_to_do_what(game: Game, totals: bool, prompt: str) -> None:
    assert play.prompt(game.position, totals) == prompt
    assert len(play.hint(game.position, totals)) < 80


def test_the_hint_fits_where_everything_is_possible() -> None:
    game = after(start(steal="after-bank", challenge_split=5000), Roll((1, 2, 2, 3, 4, 6)), Keep((1,)), Bank())
    for totals in (False, True):
        hint = play.hint(game.position, totals)
        assert "s steal  c challenge" in hint
        assert "?? keys" in hint
        assert len(hint) < 80
        assert len(play.hint(game.position, totals, 20)) < 20


def test_each_keep_is_listed_with_what_it_is_worth_and_whether_it_may_be_banked() -> None:
    game = after(start("zilch"), Roll((1, 5, 2, 3, 4, 4)))
    lines = play.explanation(game)
    assert [line.split() for line in lines[4:7]] == [
        ["1", "5", "150", "150", "4", "no"],
        ["1", "100", "100", "5", "no"],
        ["5", "50", "50", "5", "no"],
    ]
    assert "Bank: 150 is below the opening minimum of 500 (350 short)." in lines


def test_every_move_that_is_not_legal_is_refused_with_its_own_reason() -> None:
    found = dict(play.refusals(KEPT))
    assert found == {"keep": "already kept 1 1", "bust": "a bust follows a losing roll by itself"}
    found = dict(play.refusals(CHALLENGING))
    assert found == {"keep": "there is no roll to keep from"}
    assert dict(play.refusals(start(steal="after-bust")))["steal"] == "the turn before has not lost points in a bust"
    assert set(dict(play.refusals(OVER)).values()) == {"the game is finished"}


def test_what_can_be_corrected_is_listed_by_event() -> None:
    game = after(NEXT, Bank(350), Bust(), Roll((2, 2, 3, 3, 4, 6)), Roll((1, 2, 3, 4, 6, 6)))
    rows = [re.split(r"\s{2,}", line.strip()) for line in play.fixes(game)[2:-1]]
    assert rows == [
        ["2", "Anna", "roll 1 1 5 3 4 6"],
        ["3", "Anna", "keep 1 1"],
        ["5", "Ben", "points 350"],
        ["6", "Anna", "bust"],
        ["7", "Ben", "roll 2 2 3 3 4 6"],
        ["9", "Anna", "roll 1 2 3 4 6 6"],
    ]
    assert play.fixes(start()) == ["There is nothing to correct yet."]
    assert play.fixes(game, most=2)[2:5] == [
        "    7  Ben     roll 2 2 3 3 4 6",
        "    9  Anna    roll 1 2 3 4 6 6",
        "`events` lists those before them.",
    ]


def test_odds_name_the_best_move_first_and_nothing_when_nothing_is_to_be_decided() -> None:
    # Independent: the documents' Ten Thousand, published bust chance of five dice 25/324.
    lines = play.odds(after(start(), Roll((1, 3, 3, 4, 4, 6))).position)
    assert lines[0] == "Expected points of the turn:"
    assert lines[1].startswith("* keep 1, then roll 5 dice: ")
    assert lines[1].endswith(", bust 7.7%")
    assert play.odds(OVER.position) == []


# -- what is seen -----------------------------------------------------------------------------------------------------


def test_every_die_is_drawn_with_as_many_pips_as_it_has() -> None:
    turn = after(start(), Roll((1, 2, 3, 4, 5, 6))).position.turn
    assert turn is not None
    pictures: tuple[Pictures, ...] = ("unicode", "ascii")
    for pictures_, pip in zip(pictures, "●o", strict=True):
        rows = faces(turn, pictures_)
        assert len(rows) == 5
        assert {len(row) for row in rows} == {47}
        for die in range(6):
            assert sum(row[die * 8 : die * 8 + 7].count(pip) for row in rows) == die + 1
    assert all(row.isascii() for row in faces(turn, "ascii"))


def test_kept_dice_are_marked_each_once() -> None:
    turn = after(start(), Roll((1, 5, 1, 5, 2, 3)), Keep((1, 5, 5))).position.turn
    assert turn is not None
    marks = faces(turn, "ascii")[-1]
    assert [marks[die * 8 : die * 8 + 7].strip() for die in range(6)] == ["kept", "kept", "", "kept", "", ""]


LONG = tuple(f"{number:02} " + "name " * 12 + "x" for number in range(1, 21))
WIDE = tuple("山" * 60 + str(number) for number in range(20))


@pytest.mark.parametrize("players", [("Anna", "Ben"), LONG, WIDE, LONG[:3]], ids=["two", "long", "wide", "three"])
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (80, 16), (80, 11), (50, 24), (40, 10), (20, 6), (200, 60)])
def test_the_screen_fits_whatever_the_terminal(players: tuple[str, ...], columns: int, rows: int) -> None:
    game = after(start(players=players), Roll((1, 1, 5, 5, 2, 3)))
    lines = screen(game, columns, rows, "unicode", ["Expected points of the turn:", "* keep 1 1: 400.0"])
    shortest = screen(game, columns, 0, "unicode", ["Expected points of the turn:", "* keep 1 1: 400.0"])
    assert len(lines) <= rows - 4 or lines == shortest
    assert max(map(wcswidth, lines)) <= columns
    assert any(line.startswith("Keep 1 1") for line in lines)


@pytest.mark.parametrize(
    ("columns", "rows", "first", "drawn"),
    [(80, 24, ">  Anna", True), (80, 19, ">  Anna", True), (80, 18, "Anna 0 · Ben 0", True), (46, 24, ">  Anna", False),
     (80, 13, "Anna 0 · Ben 0", False)],
)  # fmt: skip
def test_with_less_room_the_standings_become_a_line_and_then_the_dice_go(
    columns: int, rows: int, first: str, drawn: bool
) -> None:
    lines = screen(after(start(), Roll((1, 1, 5, 5, 2, 3))), columns, rows, "unicode")
    assert any(line.startswith(first) for line in lines)
    assert any("●" in line for line in lines) == drawn


def test_no_name_on_the_screen_can_move_the_cursor() -> None:
    game = after(start(players=("a\u200db", "Ben")), Change({"target": 500}), Leave("Ben"))
    assert all(character.isprintable() or character == "\u200d" for line in screen(game) for character in line)


# -- line by line -----------------------------------------------------------------------------------------------------

Session = Callable[..., tuple[int, str, str]]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Session:
    """Return what runs a command line with something typed into it: the exit code, and what it printed where."""
    monkeypatch.setenv("TENKLOG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TENKLOG_GAME", raising=False)
    monkeypatch.chdir(ROOT)

    def run(line: str, *typed: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", StringIO("".join(f"{one}\n" for one in typed)))
        code = cli.run(shlex.split(line))
        return code, *capsys.readouterr()

    return run


PROMPT = re.compile(r"(?:.*, (?:points|roll|keep|bank|roll or bank|bust)|finished|abandoned)> ?(.*)")


def typed_in(transcript: str) -> list[str]:
    found = [PROMPT.fullmatch(line) for line in transcript.splitlines()]
    return [one[1] for one in found if one is not None]


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_session_reads_as_it_was_reviewed(session: Session, path: Path) -> None:
    """The last line of a file may be an exit code and the error on stderr."""
    command, _, expected = path.read_text(encoding="utf-8").partition("\n")
    expected, end, error = expected.partition("\n2 tenklog: error: ")
    expected += "\n" if end else ""
    found = session(command.removeprefix("$ tenklog "), *typed_in(expected))
    assert found == (2 if end else 0, expected, f"tenklog: error: {error}" if end else "")


def test_the_session_of_the_readme_runs_as_it_stands_there(session: Session) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = (block.split("```")[0] for block in text.split("```text\n")[1:] if block.startswith("$ tenklog play"))
    line, _, expected = shown.partition("\n")
    assert session(line.removeprefix("$ tenklog "), *typed_in(expected)) == (0, expected, "")


def lines_of(home: Path, game: str) -> list[Any]:
    """Return the events of a log, times and hashes aside."""
    lines = (home / "games" / f"{game}.jsonl").read_text(encoding="utf-8").splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in ("time", "h")} for line in lines]


def test_the_documented_game_is_the_same_log_typed_in_either_way(session: Session, tmp_path: Path) -> None:
    new = "'Player 1' 'Player 2' --rules ten-thousand -g example"
    assert session(f"play {new}", *(typed for typed, _ in EXAMPLE))[0] == 0
    for line in (f"new {new}", *(line for _, line in EXAMPLE)):
        assert session(f"--home {tmp_path / 'other'} {line}")[0] == 0
    assert lines_of(tmp_path / "home", "example") == lines_of(tmp_path / "other", "example")


def test_the_tiotusen_score_sheet_takes_one_number_a_turn(session: Session) -> None:
    # The second document's own example; Anna's first 0 was a turn of 700, below the opening minimum.
    anna, ben, cara = "700 1200 2500 1000 3000 2400", "1050 350 0 1200 2000 1500", "0 1500 800 x 2200 1000"
    typed = [entry for turn in zip(anna.split(), ben.split(), cara.split(), strict=True) for entry in turn]
    code, out, _ = session("play Anna Ben Cara --rules tiotusen --set bust_penalty=1000 --totals", *typed)
    assert code == 0
    assert "Anna 10100 · Ben 6100 · Cara 4500\nAnna wins with 10100.\n" in out


def test_from_a_file_the_first_entry_that_is_wrong_ends_it_with_its_code(session: Session, tmp_path: Path) -> None:
    code, _, error = session("play Anna -g friday", "133446", "", "4", "1")
    assert code == 2
    assert error.startswith("tenklog: error: standard input:3: a 4 scores nothing; keep 1")
    assert [line["type"] for line in lines_of(tmp_path / "home", "friday")] == ["start", "roll"]


def test_an_entry_without_end_is_refused(session: Session) -> None:
    code, _, error = session("play Anna", "1" * 10_001)
    assert (code, error) == (
        2, "tenklog: error: standard input:1: an entry of more than 10000 characters; a shorter one\n",
    )  # fmt: skip


# -- which game -------------------------------------------------------------------------------------------------------


def test_the_same_line_typed_again_goes_on_with_the_same_game(session: Session, tmp_path: Path) -> None:
    for line, count in (
        ("play Anna Ben --rules zilch", 1),
        ("play Anna Ben --rules zilch", 1),
        ("play Anna Ben", 1),
        ("play Ben Anna", 2),
        ("play Ben Anna --rules farkle", 3),
        ("play Ben Anna --rules farkle --set target=5000", 4),
        ("play Ben Anna -g friday", 5),
        ("play Ben Anna -g friday", 5),
        ("new Ben Anna", 6),
    ):
        assert session(line)[0] == 0
        assert len(list((tmp_path / "home" / "games").glob("*.jsonl"))) == count, line


def test_without_a_game_in_progress_a_script_is_told_how_to_begin_one(session: Session) -> None:
    begin = "begin one: `tenklog play Anna Ben --rules ten-thousand`\n"
    assert session("play", "133446") == (2, "", f"tenklog: error: no game is in progress; {begin}")
    session("new Anna -g friday --set target=500 --rules ten-thousand")
    session("bank 500")
    assert session("play", "133446") == (2, "", f"tenklog: error: friday is finished; {begin}")
    assert session("play -g friday --totals", "u", "550")[0] == 0


def test_another_game_in_the_environment_is_not_written_to(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session("new Anna -g friday")
    session("new Anna -g saturday")
    monkeypatch.setenv("TENKLOG_GAME", "friday")
    assert session("play -g saturday", "133446", "show")[1].count("saturday") == 2
    assert [len(lines_of(tmp_path / "home", game)) for game in ("friday", "saturday")] == [1, 2]
    assert session("play", "133446")[0] == 0
    assert [len(lines_of(tmp_path / "home", game)) for game in ("friday", "saturday")] == [2, 2]


def test_a_broken_log_is_an_error_before_anybody_types(session: Session, tmp_path: Path) -> None:
    session("new Anna -g friday")
    path = tmp_path / "home" / "games" / "friday.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Anna", b"Anne"))
    code, out, error = session("play", "133446")
    assert (code, out) == (1, "")
    assert "friday.jsonl:1" in error


# -- whatever happens meanwhile ---------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Table]:
    begun = store.create(tmp_path / "games" / "friday.jsonl", start().start)
    with click.Context(cli.cli, obj={"home": str(tmp_path), "quiet": False}):
        sat = Table(begun.path, totals=False, advise=False, pictures="none")
        sat.look()
        yield sat


def test_an_entry_counts_for_what_was_on_the_screen(table: Table) -> None:
    seen = table.seq
    store.append(table.path, Roll((1, 3, 3, 4, 4, 6)))
    code, wrong = table.enter("133446", seen)
    assert code == 5
    assert "moved on" in wrong
    assert table.news(seen) == ["Recorded meanwhile:", "Anna throws 1 3 3 4 4 6. Keep 1 (100)."]
    assert table.enter("1", table.seq) == (0, "")
    assert reading.read(table.path).seq == 3
    assert table.enter("b --id evening-1", table.seq) == (0, "")
    code, wrong = table.enter("bank 300 --id evening-1", table.seq)
    assert code == 5
    assert "evening-1" in wrong


def test_a_locked_log_is_one_line_and_nothing_is_lost(table: Table) -> None:
    with files.Lock(table.path, 1.0):
        code, wrong = table.enter("roll 133446 --timeout 0.1", table.seq)
        assert code == 3
        assert "\n" not in wrong
    assert table.enter("133446", table.seq) == (0, "")


def test_a_full_disk_is_one_line_and_nothing_is_lost(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tenklog.files.write", full)
        code, wrong = table.enter("133446", table.seq)
    assert (code, "nothing was recorded: No space left on device" in wrong) == (4, True)
    assert table.enter("133446", table.seq) == (0, "")
    assert reading.read(table.path).seq == 2


def test_a_log_that_is_damaged_meanwhile_is_named_and_the_prompt_stays(table: Table) -> None:
    good = table.path.read_bytes()
    table.path.write_bytes(good.replace(b"Anna", b"Anne"))
    table.look()
    (line,) = table.screen(80, 24)
    assert "friday.jsonl:1" in line
    code, wrong = table.enter("133446", table.seq)
    assert code == 1
    assert "friday.jsonl:1" in wrong
    table.path.write_bytes(good)
    assert table.enter("133446", table.seq) == (0, "")


def test_a_log_that_goes_missing_and_comes_back_is_gone_on_with(table: Table) -> None:
    aside = table.path.with_name("aside")
    table.path.rename(aside)
    table.look()
    assert table.log is None
    assert table.enter("sheet", 1)[0] != 0
    aside.rename(table.path)
    table.look()
    assert table.seq == 1


@pytest.mark.parametrize("typed", ["keep 1", "f 99 1", "z", "play", "shwo", "? b", "o", "sheet", "??", "leave Bne"])
def test_whatever_is_no_move_leaves_the_log_as_it_is(table: Table, typed: str) -> None:
    before = table.path.read_bytes()
    _, wrong = table.enter(typed, table.seq)
    assert "\n" not in wrong
    assert table.path.read_bytes() == before


def test_a_question_about_a_move_says_what_it_would_do(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    table.enter("? 133446", table.seq)
    assert capsys.readouterr().out == (
        "Anna throws 1 3 3 4 4 6. Keep 1 (100).\nThat is what it would do; nothing is recorded.\n"
    )
    table.enter("? 13344", table.seq)
    assert capsys.readouterr().out == "Not possible: 5 dice rolled, 6 are to be thrown; roll 6 dice.\n"
    assert table.seq == 1


def test_new_and_use_typed_at_the_prompt_change_the_game(table: Table) -> None:
    assert table.enter("new Cara Dora -g saturday", table.seq) == (0, "")
    assert table.path.stem == "saturday"
    assert table.enter("use friday", table.seq) == (0, "")
    assert table.path.stem == "friday"
    assert table.enter("133446", table.seq) == (0, "")
    assert Home(table.path.parent.parent).current_id() == "friday"


def test_leaving_says_how_to_go_on(table: Table) -> None:
    with pytest.raises(EOFError):
        table.enter("q", table.seq)
    assert table.farewell() == "friday is kept as it stands; `tenklog play -g friday` goes on with it."
    table.enter("use friday", table.seq)
    assert table.farewell() == "friday is kept as it stands; `tenklog play` goes on with it."


def test_a_challenge_stands_on_the_screen() -> None:
    game = after(CHALLENGING, Challenge("Ben"))
    assert any("Ben is challenged." in line for line in screen(game))
