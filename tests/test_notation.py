"""The text notation: what a person writes is what happened, and what is wrong is named where it stands."""

import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import pytest
from damage import KINDS, damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from random_games import random_game, random_ruleset

from tenklog import events, notated, notation, reading
from tenklog.errors import DataError, UsageError
from tenklog.events import Bank, Bust, Keep, Note, Roll, Start
from tenklog.rulebook import preset
from tenklog.rules import Combination, Ruleset, change

ROOT = Path(__file__).parent.parent
SAMPLES = sorted((ROOT / "sample_logs").glob("*.jsonl"))
PAGE = (ROOT / "schemas" / "NOTATION.md").read_text(encoding="utf-8")
LONG = bool(os.environ.get("TENKLOG_LONG"))
GAMES = 10_000 if LONG else 200
DAMAGES = 5_000 if LONG else 500
PRESET = cache(preset)
HEADING = "players: Anna, Ben\nrules: ten-thousand\n\n"


def one(text: str) -> notation.Found:
    """Read a text that holds one game."""
    (found,) = notated.read(text, "game.txt", find=PRESET)
    return found


def told(lines: str, heading: str = HEADING) -> list[events.AnyEvent]:
    """Return the events that lines under a heading tell, without the start."""
    return one(heading + lines).events[1:]


def refused(text: str) -> str:
    """Return what a wrong text is answered with."""
    with pytest.raises(DataError) as error:
        notated.read(text, "game.txt", find=PRESET)
    return str(error.value)


def plain(log: list[events.AnyEvent]) -> list[events.AnyEvent]:
    """Leave out what no text holds: times but the first, and ids."""
    return [replace(event, id=None, time=event.time if isinstance(event, Start) else None) for event in log]


@cache
def some_rulesets() -> list[Ruleset]:
    """Return random rulesets, few enough for their scores to be worked out quickly."""
    return [random_ruleset(Random(f"some {seed}")) for seed in range(DAMAGES // 20)]


# -- what is written and what it means --------------------------------------------------------------------------------


def test_the_worked_example_of_ten_thousand_is_two_lines() -> None:
    found = one(HEADING + "Anna: 133446/1 22234/222 55/55 223446!\nBen: 555244/555 123/1 =600\n")
    assert found.events == [
        Start(1, game="game", version=1, players=("Anna", "Ben"), rules=preset("ten-thousand"), origin="import"),
        Roll(2, player="Anna", dice=(1, 3, 3, 4, 4, 6)),
        Keep(3, player="Anna", dice=(1,)),
        Roll(4, player="Anna", dice=(2, 2, 2, 3, 4)),
        Keep(5, player="Anna", dice=(2, 2, 2)),
        Roll(6, player="Anna", dice=(5, 5)),
        Keep(7, player="Anna", dice=(5, 5)),
        Roll(8, player="Anna", dice=(2, 2, 3, 4, 4, 6)),
        Bust(9, player="Anna"),
        Roll(10, player="Ben", dice=(5, 5, 5, 2, 4, 4)),
        Keep(11, player="Ben", dice=(5, 5, 5)),
        Roll(12, player="Ben", dice=(1, 2, 3)),
        Keep(13, player="Ben", dice=(1,)),
        Bank(14, player="Ben", points=600),
    ]
    assert found.places[:4] == ["game.txt:1:10", "game.txt:4:7", "game.txt:4:13", "game.txt:4:16"]
    assert found.places[-1] == "game.txt:5:23"
    assert found.game is None


@pytest.mark.parametrize(
    ("lines", "event"),
    [
        ("Anna: 133446*", Roll(2, player="Anna", dice=(1, 3, 3, 4, 4, 6), thrown_by="tenklog")),
        ("Anna: 133446/1 =", Bank(4, player="Anna", points=100)),
        ("Anna: =350", Bank(2, player="Anna", points=350)),
        ("Anna: =0", Bank(2, player="Anna", points=0)),
        ("Anna: =" + "0" * 5000 + "50", Bank(2, player="Anna", points=50)),
        ("Anna: !", Bust(2, player="Anna")),
        ("Anna: =350\nundo: it was 300", events.Undo(3, of=2, why="it was 300")),
        ("Anna: =350\nnote: tea\nundo", events.Undo(4, of=2)),
        ("Anna: 223446!\nundo", events.Undo(4, of=3)),
        ("note: the cat sat #1 on the sheet", Note(2, text="the cat sat #1 on the sheet")),
        (r'note: "a\nb \u00e5 \"c\""', Note(2, text='a\nb å "c"')),
        ("change: target=5000", events.RuleChange(2, changes={"target": 5000}, scope="next-turn")),
        (
            "change: three_pairs=1500, house=AABB:50A wipeout=none whole-game",
            events.RuleChange(
                2,
                changes={"three_pairs": 1500, "house": Combination("AABB", "50A"), "wipeout": None},
                scope="whole-game",
            ),
        ),
        ("expect: Anna=0, Ben=-50", events.Expect(2, totals={"Anna": 0, "Ben": -50})),
        ("expect: ben=0 Anna=\u22125", events.Expect(2, totals={"Ben": 0, "Anna": -5})),
        ("join: Dora the 2nd  # late", events.Join(2, player="Dora the 2nd")),
        ("leave: Ben", events.Leave(2, player="Ben")),
        ("rename: Ben -> Benjamin", events.Rename(2, player="Ben", to="Benjamin")),
        ('rename: Ben -> "-> Ben"', events.Rename(2, player="Ben", to="-> Ben")),
        ("abandon", events.Abandon(2)),
        ("abandon: bedtime", events.Abandon(2, why="bedtime")),
    ],
)
def test_each_kind_of_line_is_its_event(lines: str, event: events.Event) -> None:
    assert told(lines)[-1] == event


def test_stealing_and_challenging_stand_in_the_turn() -> None:
    heading = 'players: Anna, "Ben Olof"\nrules: tiotusen opening_minimum=0 steal=after-bank challenge_split=5000\n'
    log = told('Anna: challenge "Ben Olof" 133446/1 =\nBen Olof: challenge anna steal 22234/222 =300', heading)
    assert [type(event).__name__ for event in log] == [
        "Challenge", "Roll", "Keep", "Bank", "Challenge", "Steal", "Roll", "Keep", "Bank",
    ]  # fmt: skip
    assert log[0] == events.Challenge(2, player="Anna", opponent="Ben Olof")
    assert log[4] == events.Challenge(6, player="Ben Olof", opponent="Anna")


def test_dice_that_leave_the_table_are_the_smallest_unless_they_are_named() -> None:
    heading = "players: Anna\nrules: diecimila\n"
    assert told("Anna: 444523/4445", heading)[1] == Keep(3, player="Anna", dice=(4, 4, 4, 5), aside=(4, 5))
    assert told("Anna: 444523/4445(54)", heading)[1] == Keep(3, player="Anna", dice=(4, 4, 4, 5), aside=(5, 4))


def test_a_settled_turn_belongs_to_a_replay() -> None:
    of = "7:" + "0f" * 16
    found = one(f"origin: replay of {of}\n{HEADING}Anna: 133446/1 =settled\nBen: =Settled\n").events
    assert isinstance(found[0], Start)
    assert (found[0].origin, found[0].of) == ("replay", of)
    assert found[-2:] == [Bank(4, player="Anna", points=0, settled=True), Bank(5, player="Ben", points=0, settled=True)]


def test_a_heading_tells_all_that_a_start_may_hold() -> None:
    start = one(
        "game: friday-2\ntitle: Friday # 2\nplayers: Anna, \"Ben, 'the' die\"\n"
        'rules: ten thousand name="our rules" target=5000 house=AABB:500\norigin: simulated\n'
        "begun: 2026-11-20 19:30\nfirst throw: Anna=62 \"Ben, 'the' die\"=64\n"
    ).events[0]
    changes = {"target": 5000, "house": Combination("AABB", 500)}
    assert start == Start(
        1,
        "2026-11-20T19:30:00.000Z",
        game="friday-2",
        version=1,
        players=("Anna", "Ben, 'the' die"),
        rules=replace(change(preset("ten-thousand"), changes), name="our rules"),
        origin="simulated",
        title="Friday # 2",
        first_throw={"Anna": (6, 2), "Ben, 'the' die": (6, 4)},
    )


@pytest.mark.parametrize(
    ("day", "time"),
    [
        ("2026-11-20", "2026-11-20T00:00:00.000Z"),
        ("2026-11-20T19:30:05Z", "2026-11-20T19:30:05.000Z"),
        ("2026-11-20T19:30:05.125Z", "2026-11-20T19:30:05.125Z"),
    ],
)
def test_the_beginning_may_be_a_day_or_a_time_of_it(day: str, time: str) -> None:
    assert one(f"begun: {day}\n{HEADING}").events[0].time == time


def test_capitals_blanks_comments_and_line_ends_are_free_where_nothing_else_could_be_meant() -> None:
    neat = one(HEADING + "Anna: 133446/1 22234/222 =300\nnote: tea\nBen: 223446!\n").events
    loose = (
        "\ufeff# a comment\r\nPLAYERS Anna , Ben\r\n\r\nRules : Ten-Thousand # ours\r\n\tanna  :133446 / 1"
        "  22234/222= 300# no space before it\r\n\r\nNOTE tea  \r\n ben: 223446 !  # bust"
    )
    assert refused(loose).startswith("game.txt:5:35: the turn has ended")
    assert one(loose.replace("300#", "300 #")).events == neat


def test_a_player_may_be_called_like_a_word_of_the_notation() -> None:
    heading = "players: Note, undo 2, Steal\nrules: ten-thousand\n"
    log = told('"Note": 133446/1 =\n"undo 2": =5\nSteal: =7\nnote: the end', heading)
    assert log[-1] == Note(7, text="the end")
    assert refused(heading + "Note: 133446/1") == (
        "game.txt:3:1: Note is a player, and the word for a line of its own; the note in quotes, or the player, "
        'such as `"Note": 133446/1`'
    )
    assert told('Note: "133446/1"', heading) == [Note(2, text="133446/1")]


def test_a_file_holds_several_games() -> None:
    found = notated.read(
        f"{HEADING}Anna: =5\n\nplayers: Cara\nrules: zilch\n\ngame: c\nrules: farkle\nplayers: Dora\nDora: !\n", "x"
    )
    assert [(len(game.events), game.game) for game in found] == [(2, None), (1, None), (2, "c")]


def test_rules_can_be_given_for_a_text_that_names_none() -> None:
    (found,) = notated.read("players: Anna\nAnna: =5", "x", rules=preset("zilch"))
    assert isinstance(found.events[0], Start)
    assert found.events[0].rules == preset("zilch")
    (found,) = notated.read("players: Anna\nrules: ours", "x", find=lambda name: preset({"ours": "farkle"}[name]))
    assert isinstance(found.events[0], Start)
    assert found.events[0].rules == preset("farkle")


# -- written and read back --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_log_reads_back_as_it_was(path: Path) -> None:
    log = reading.read(path).events
    text = notation.write(log)
    found = one(text)
    assert found.events == plain(log)
    assert found.game == path.stem
    assert notation.write(found.events) == text


def test_random_games_with_everything_in_them_read_back_as_they_were() -> None:
    seen: Counter[str] = Counter()
    wrong = []
    for seed in range(GAMES):
        rng = Random(f"notation {seed}")
        log = random_game(rng, replay=seed % 4 == 0, asides=0.12)
        seen.update(type(event).__name__ for event in log)
        seen.update("settled" for event in log if isinstance(event, Bank) and event.settled)
        seen.update(event.scope for event in log if isinstance(event, events.RuleChange))
        seen.update("aside" for event in log if isinstance(event, Keep) and event.aside)
        text = notation.write(log)
        assert all(line.isprintable() for line in text.split("\n"))
        if one(text).events != log:
            wrong.append(seed)
    assert not wrong
    kinds = {kind.__name__ for kind in events.TYPES.values()} | {"settled", "next-turn", "whole-game", "aside"}
    assert {*seen} == kinds
    assert min(seen.values()) >= (50 if LONG else 15), seen


def test_any_ruleset_is_one_line_from_a_preset() -> None:
    for seed in range(GAMES):
        rules = random_ruleset(Random(f"rules {seed}"))
        if seed % 2:
            rules = replace(rules, name=("Ours, the \u202ebest", "ours-2", "x=y")[seed // 2 % 3])
        start = Start(1, game="g", version=1, players=("Anna",), rules=rules, origin="import")
        assert one(notation.write([start])).events == [start]


def test_what_a_log_from_elsewhere_may_hold_comes_back_too() -> None:
    scoring = preset("farkle").scoring | {"straight": Combination("12345A", "0A")}
    rules = replace(preset("farkle"), scoring=scoring | {"odd": Combination("1A", "007A")})
    start = Start(
        1, game="g", version=1, players=("Anna", "Ben"), rules=rules, origin="table", title='"Ja"', first_throw={}
    )
    log = [
        start,
        events.Expect(2, totals={}),
        events.Expect(3, totals={"anna": 1, "e\u0301": 2}),
        Note(4, text=" \x00\u2028\U000e0001\t"),
        Note(5, text="5/5"),
        Roll(6, player="Anna", dice=(2, 2, 3, 4, 4, 6)),  # and its bust was lost in a torn write
        Note(7, text='"'),
        Bust(8, player="Anna"),
        Bank(9, player="Ben", points=events.MOST_POINTS),
        events.Undo(10, of=9, why="# no"),
        events.RuleChange(11, changes={"odd": 0, "house": Combination("AABB", 0)}, scope="next-turn"),
        events.Abandon(12, why=": \\ ok"),
    ]
    assert one(notation.write(log)).events == log


def test_a_turn_of_very_many_rolls_takes_several_lines() -> None:
    rules = change(preset("ten-thousand"), {"target": 1_000_000})
    log: list[events.Event] = [Start(1, game="g", version=1, players=("Anna",), rules=rules, origin="import")]
    while len(log) < 30_000:
        log.append(Roll(len(log) + 1, player="Anna", dice=(1, 2, 3, 4, 5, 6)))
        log.append(Keep(len(log) + 1, player="Anna", dice=(1, 2, 3, 4, 5, 6)))
    text = notation.write(log)
    assert one(text).events == log
    assert max(map(len, text.split("\n"))) < 5_000


AWKWARD = (
    "note", "Undo it", "first throw", "a:b", "x -> y", "#1", "007", "=5", "5/5", "a, b", '"q"', "\\", "steal", "a-",
    "challenge", "whole-game", "a\u00a0b", "👨\u200d👩\u200d👧", "players",
)  # fmt: skip


@pytest.mark.parametrize("turn", range(len(AWKWARD)))
def test_a_name_that_looks_like_something_else_comes_back_wherever_it_stands(turn: int) -> None:
    players = AWKWARD[turn:] + AWKWARD[:turn]
    rules = change(preset("ten-thousand"), {"challenge_split": 5000})
    start = Start(1, game="g", version=1, players=players, rules=rules, origin="table", first_throw={players[0]: (6,)})
    log: list[events.Event] = [start]
    for seq, player in enumerate(players, 1):
        log.append(events.Challenge(2 * seq, player=player, opponent=players[seq % len(players)]))
        log.append(Bank(2 * seq + 1, player=player, points=50))
    log.append(events.Expect(len(log) + 1, totals=dict.fromkeys(players, 50) | {"Nobody": 3}))
    log.append(events.Leave(len(log) + 1, player=players[2]))
    log.append(events.Rename(len(log) + 1, player=players[3], to="x"))
    log.append(events.Rename(len(log) + 1, player="x", to=players[3]))
    log.append(events.Note(len(log) + 1, text=players[4]))
    log.append(events.Abandon(len(log) + 1, why=f"{players[5]}: 133446"))
    assert [type(event).__name__ for event in log[-6:]] == ["Expect", "Leave", "Rename", "Rename", "Note", "Abandon"]
    # A player who is challenged loses what the turn posts, so nobody but the last has 50; that is not asked here.
    assert one(notation.write(log)).events == log


NAMES = st.text(min_size=1, max_size=64).map(lambda text: text.strip()[:64].strip())


@settings(deadline=None, max_examples=300)
@given(st.lists(NAMES, min_size=2, max_size=5, unique=True), st.text(min_size=1, max_size=40))
def test_any_name_and_any_text_come_back(names: list[str], words: str) -> None:
    try:
        players = tuple(dict.fromkeys(map(events.name, names)))
    except UsageError:
        return
    rules = change(preset("ten-thousand"), {"challenge_split": 5000})
    log: list[events.Event] = [Start(1, game="g", version=1, players=players, rules=rules, origin="import")]
    if len(players) > 1:
        log.append(events.Challenge(len(log) + 1, player=players[0], opponent=players[1]))
    log.append(Bank(len(log) + 1, player=players[0], points=5))
    log.append(events.Expect(len(log) + 1, totals=dict.fromkeys(players, 5)))
    log.append(events.Rename(len(log) + 1, player=players[-1], to="Zoë ->"))
    log.append(Note(len(log) + 1, text=words))
    log.append(events.Undo(len(log) + 1, of=log[-2].seq, why=words))
    if len(players) > 1:
        log.append(events.Leave(len(log) + 1, player=players[1]))
        log.append(events.Join(len(log) + 1, player="note " + players[0][:40].strip()))
        if events.name(log[-1].player) != log[-1].player or log[-1].player in players:  # type: ignore[attr-defined]
            log.pop()
    log.append(events.Abandon(len(log) + 1, why=words))
    assert one(notation.write(log)).events == log


# -- what is wrong ----------------------------------------------------------------------------------------------------


def test_damage_is_named_where_it_was_done() -> None:
    rulesets = some_rulesets()
    seen: Counter[str] = Counter()
    missed = []
    for seed in range(DAMAGES):
        rng = Random(f"damage {seed}")
        spoilt = damaged(rng, notation.write(random_game(rng, rng.choice(rulesets), asides=0.1, lines=40)))
        seen[spoilt.kind] += 1
        try:
            notated.read(spoilt.text, "game.txt", find=PRESET)
            answer = "nothing"
        except DataError as error:
            answer = str(error)
        place = f"game.txt:{spoilt.line}:{spoilt.column}: "
        if not (answer.startswith(place) and "\n" not in answer and re.search("`[^`]+`", answer)):
            missed.append((seed, spoilt.kind, place, answer, spoilt.text.splitlines()[spoilt.line - 1]))
    assert not missed
    assert len(seen) == len(KINDS)
    assert min(seen.values()) >= DAMAGES // 100, seen


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "1:1: holds no game; a heading, such as `players: Anna, Ben`, and turns"),
        ("palyers: Anna", "1:1: no game has begun here; did you mean players? Such as `players: Anna, Ben`"),
        ("Anna: 5", "1:1: no game has begun here; a heading first, such as `players: Anna, Ben`"),
        ("undo", "1:1: no game has begun here; a heading first: `players: Anna, Ben`, such as `undo: misread`"),
        (
            "players: Anna\n\nAnna: =5",
            "1:1: the game names no rules; a line such as `rules: tiotusen opening_minimum=500`",
        ),
        (
            "players: Anna\nruels: zilch\n",
            "2:1: there is no player ruels; did you mean rules? Such as `rules: tiotusen opening_minimum=500`",
        ),
        ("rules: zilch\nAnna: =5", "1:1: the game names no players; a line such as `players: Anna, Ben`"),
        ("rules: zilch", "1:1: the game names no players; a line such as `players: Anna, Ben`"),
        ("players: Anna, Anna", "1:16: two players are called Anna; a name for each, such as `players: Anna, Ben`"),
        ("players: Anna,", "1:15: a name is missing; such as `players: Anna, Ben`"),
        ("players:", "1:9: nothing stands after players; such as `players: Anna, Ben`"),
        ("players: Ben#2", '1:10: a name with # in it; quotes around it, "Ben#", such as `players: Anna, Ben`'),
        (
            "rules: ../x.toml",
            "1:8: '../x.toml' is no name of a ruleset; a name from `tenklog rules list`, such as "
            "`rules: tiotusen opening_minimum=500`",
        ),
        (
            "rules: zilch target=400",
            "1:14: opening_minimum 500 is above target 400; opening_minimum from 0 to 400, such as "
            "`rules: tiotusen opening_minimum=500`",
        ),
        ("rules: zilch dice=5 dice=6", "1:21: dice stands twice; once, such as `rules: tiotusen opening_minimum=500`"),
        (
            "game: A b",
            "1:7: 'A' can't be the id of a game; 1 to 64 of a-z, 0-9 and -, such as friday-2: `game: friday-2`",
        ),
        (
            "begun: 2026-02-30",
            "1:8: '2026-02-30' is no day; a day, and if it is known the time of it in UTC, such as "
            "`begun: 2026-11-20 19:30`",
        ),
        (
            "origin: replay",
            "1:9: 'replay' is no origin; table, import, simulated, or replay of SEQ:H, such as `origin: import`",
        ),
        (
            "first_throw: Cara=6\n" + HEADING,
            "1:14: first_throw names Cara, who does not play; one of Anna, Ben, such as `first_throw: Anna=6, Ben=4`",
        ),
        (HEADING + "Anna: 133447/1", "4:12: '7' is no die; dice are digits 1 to 6, and points stand after =, such as "
                                     "`Anna: 133446/1 =100`"),
        (HEADING + "Anna: 133446/4", "4:13: a 4 scores nothing; keep 1 (100), such as `Anna: 133446/1`"),
        (
            HEADING + "Anna: 133446/1 2223",
            "4:16: 4 dice rolled, 5 are to be thrown; roll 5 dice, such as `Anna: 13344`",
        ),
        (HEADING + "Anna: 133446/1 =300", "4:16: the turn holds 100 points, not 300; bank 100, such as `Anna: =100`"),
        (
            HEADING + "Anna: 223446\nBen: =5",
            "4:7: 2 2 3 4 4 6 scores nothing and the bust follows; bust, undo, note or expect, such as `Anna: 223446!`",
        ),
        (HEADING + "Anna: 133446!", "4:13: 1 3 3 4 4 6 is no bust; legal is keep, such as `Anna: 133446/1`"),
        (
            HEADING + "Anna: 133446/1\nBen: =5",
            "5:1: it is Anna's turn, not Ben's; a move of Anna, such as `Anna: =100`",
        ),
        (
            HEADING + "Anna: =1 200",
            "4:10: the turn has ended before this; one turn a line, such as `Anna: 133446/1 =100`",
        ),
        (HEADING + "Anna:", "4:1: a turn with nothing in it; dice or points, or ! for a bust, such as `Anna: 133446`"),
        (
            HEADING + "Anna: =",
            "4:7: no dice were rolled in this turn; the points that it is worth, or ! for a bust, such as `Anna: =600`",
        ),
        (HEADING + "Bne: =5", "4:1: there is no player Bne; did you mean Ben? Such as `Ben: =5`"),
        (
            HEADING + "Ntoe: x",
            "4:1: there is no player Ntoe; did you mean note? Such as `note: the cat sat on the sheet`",
        ),
        (HEADING + "undo", "4:1: there is nothing to undo; a move first, such as `Anna: =600`"),
        (HEADING + "expect: Anna", "4:9: Anna has no value; such as `expect: Anna=1200, Ben=-500`"),
        (HEADING + "change: whole-game", "4:1: no rule is changed; KEY=VALUE, such as `change: opening_minimum=500`"),
        (HEADING + "rename: Ben", "4:12: no new name is given; such as `rename: Ben -> Benjamin`"),
        (HEADING + 'note: "a" b', "4:11: 'b' is too much here; such as `note: the cat sat on the sheet`"),
        (
            HEADING + "abandon\nAnna: =5",
            "5:7: the game is abandoned; only undo, note and expect, such as `note: the cat sat on the sheet`",
        ),
        (
            HEADING + "Anna: =5\nrules: zilch",
            "5:1: rules stands in the heading, before the first turn; in a game rules change so, such as "
            "`change: opening_minimum=500`",
        ),
        (
            HEADING + "Anna: 133446/1(1)",
            "4:13: aside is for set_aside one-per-combination, not any; a keep without aside, such as `Anna: 133446/1`",
        ),
        (HEADING + "Anna: =" + "9" * 17, "4:8: too large a number of points; at most 9007199254740991, such as "
                                         "`Anna: 133446/1 =100`"),
    ],
)  # fmt: skip
def test_each_error_names_the_place_and_shows_a_right_example(text: str, answer: str) -> None:
    assert refused(text) == f"game.txt:{answer}"


def test_the_notebook_among_the_samples_is_the_one_that_the_readme_shows() -> None:
    text = (ROOT / "sample_logs" / "notebook.txt").read_text(encoding="utf-8")
    assert f"```\n{text}```" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_text_has_limits() -> None:
    assert refused(HEADING + "Anna: =" + "9" * 60_000).startswith("game.txt:4:8: too large a number of points; at most")
    assert refused(HEADING + "#" * 70_000).startswith("game.txt:4:1: a line of 70000 characters; at most 65536")
    changes = HEADING + "change: target=5000 whole-game\n" * 201
    assert refused(changes).startswith("game.txt:204:1: one rule change for the whole game too many; at most 200")
    assert refused("players: " + ", ".join(f"P{number}" for number in range(21))).startswith(
        "game.txt:1:100: 21 players"
    )
    assert refused(HEADING + "note: " + "x" * 2001).startswith("game.txt:4:7: the note has 2001 characters")
    assert refused(HEADING + 'note: "' + "x" * 2001 + '"').startswith("game.txt:4:7: the note has 2001 characters")
    assert refused(HEADING + "note: a\u202eb").startswith("game.txt:4:7: the note has the character U+202E")


def test_a_text_of_blanks_and_signs_takes_no_long_time() -> None:
    for hostile in (
        " " * 60_000 + "x",
        "rules: " + "a " * 30_000,
        "x:" + "5" * 60_000,
        '"' + "\\" * 60_000,
        "=" * 60_000,
    ):
        refused(hostile)
        refused(HEADING + hostile)


# -- the page ---------------------------------------------------------------------------------------------------------


@cache
def grammar() -> re.Pattern[str]:
    """Turn the grammar of the page, in which no rule needs itself, into the pattern of a line."""
    (text,) = re.findall(r"```ebnf\n(.*?)```", PAGE, re.DOTALL)
    rules: dict[str, str] = {}
    for rule in re.split(r"\n(?=\w+ +::=)", text.strip()):
        name, _, body = rule.partition("::=")
        rules[name.strip()] = body

    def pattern(name: str) -> str:
        made = ""
        for part in re.findall(r'\[(?:\\.|[^\]\\])+\]|"[^"]+"|\w+|[()?*+|]', rules[name]):
            if part[0] == '"':
                made += f"(?i:{re.escape(part[1:-1])})"
            elif part[0].isalpha():
                made += f"(?:{pattern(part)})"
            else:
                made += "(?:" if part == "(" else part
        return made

    return re.compile(pattern("line"))


def test_the_example_of_the_page_is_a_game_that_reads_as_it_says() -> None:
    (text,) = re.findall(r"```notation\n(.*?)```", PAGE, re.DOTALL)
    found = one(text)
    assert len(found.events) == 20
    assert {one.player: one.total for one in reading.fold_found(found.events)[0].position.seats} == {  # type: ignore[union-attr]
        "Anna": 400, "Ben": 600,
    }  # fmt: skip
    assert all(grammar().fullmatch(line) for line in text.splitlines())


def test_each_line_that_the_page_shows_is_read_and_fits_its_grammar() -> None:
    rules = "ten-thousand challenge_split=5000 steal=after-bank"
    game = f"players: Anna, Ben\nrules: {rules}\n\nAnna: =1200\nBen: 133446/1 =100\n"
    headings = {
        "expect": "players: Anna, Ben\nrules: tiotusen bust_penalty=500\n\nAnna: =1200\nBen: !\n",
        "/123456(6)": "players: Anna\nrules: diecimila\nAnna: 123456 ",
        "/1": f"{game}Anna: 133446 ",
        "=300": f"{game}Anna: 333246/333 ",
        "!": f"{game}Anna: 223446 ",
        "=settled": f"origin: replay of 7:{'0f' * 16}\n{game}Anna: ",
    }
    shown = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)
    assert len(shown) == 25
    for text in shown:
        word = text.partition(":")[0]
        if word in notation.HEADING:
            said = {"players": "players: Anna, Ben", "rules": "rules: ten-thousand", word: text}
            whole = "\n".join([said.pop("game", ""), *said.values()])
        elif word in notation.TABLE:
            whole = headings.get(word, game) + text
        else:
            whole = headings.get(text, f"{game}Anna: ") + text
        assert notated.read(whole, "x")
        assert text in whole
        assert all(grammar().fullmatch(line) for line in whole.splitlines()), text


def test_whatever_is_written_fits_the_grammar_and_what_does_not_fit_is_refused() -> None:
    line, rulesets = grammar(), some_rulesets()
    signs = '0123456789abN:,="#/\\>!*() \t.-'
    refusals = 0
    for seed in range(25):
        rng = Random(f"grammar {seed}")
        lines = notation.write(random_game(rng, rng.choice(rulesets), asides=0.2, replay=seed % 4 == 0)).splitlines()
        for number, text in enumerate(lines):
            assert line.fullmatch(text), text
            at = rng.randrange(len(text) + 1)
            spoilt = text[:at] + rng.choice(signs) + text[at + rng.randrange(2) :]
            if not line.fullmatch(spoilt):
                refusals += 1
                refused("\n".join([*lines[:number], spoilt]))
    assert refusals > 100


def test_the_page_knows_every_word_of_the_notation() -> None:
    shown = {text.partition(":")[0] for text in re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)}
    assert {*notation.EXAMPLES} <= shown
    (ebnf,) = re.findall(r"```ebnf\n(.*?)```", PAGE, re.DOTALL)
    assert {*notation.EXAMPLES} <= {*re.findall(r'"([a-z_]+)"', ebnf)}
