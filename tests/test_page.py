"""Pages: what stands in them, that every text stays a text, and that the same game gives the same bytes.

How a page behaves in a browser is in `test_page_browser.py`.
"""

import base64
import hashlib
import json
import os
import re
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from random_games import random_game

from tenklog import cli, events, files, load, pictures, preset, replay
from tenklog.game import fold
from tenklog.luck import luck
from tenklog.page import game_page, story
from tenklog.pictures import Line
from tenklog.playback import places, playback
from tenklog.projections import sheet, standings
from tenklog.reading import Log
from tenklog.rules import change, parse_changes

ROOT = Path(__file__).parent.parent
SAMPLES = sorted((ROOT / "sample_logs").glob("*.jsonl"))
CSS = (ROOT / "tenklog" / "web" / "page.css").read_text(encoding="utf-8")
HOSTILE = '</script><script>alert(1)</script>\u202e<img src=x onerror="alert(2)">\x1b[2J\n=HYPERLINK("x")&amp;{{ 7*7 }}'


class Parsed(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open = tag
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open in self.inside:
            self.inside[self.open][-1] += data
        else:
            self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(log: Log, *names: str) -> str:
    replays = [replay(log.game, log.events, preset(name), of=log.fingerprint) for name in names]
    return game_page([story(log.game, log.events, log.fingerprint, luck(log.game), "", replays)])


@pytest.fixture(scope="module")
def zilch() -> Parsed:
    return Parsed(page_of(load(ROOT / "sample_logs/zilch-evening.jsonl"), "farkle", "ten-thousand"))


def run(capsys: pytest.CaptureFixture[str], *line: str, code: int = 0) -> tuple[str, str]:
    found = cli.run([*line])
    out, err = capsys.readouterr()
    assert found == code, err
    return out, err


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TENKLOG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TENKLOG_GAME", raising=False)
    return tmp_path


# -- what stands in a page --------------------------------------------------------------------------------------------


def test_a_page_has_the_race_the_sheet_the_turns_luck_and_the_other_rules(zilch: Parsed) -> None:
    headings = re.findall(
        r"Standings|The race|Turn by turn|Score sheet|Luck and decisions|other rules|Every turn", zilch.text
    )
    assert [*dict.fromkeys(headings)] == [
        "Standings", "The race", "Turn by turn", "Score sheet", "Luck and decisions", "other rules", "Every turn",
    ]  # fmt: skip
    assert "Cara wins with 15300." in zilch.text
    assert "Ben wins with 10200; 3 of 74 turns are guesses." in zilch.text
    assert "unfinished, Dora leads with 9150; no turn is a guess." in zilch.text
    assert "Dora kept 2 2 2 2 2 of 2 2 2 3 2 2 for 5000 points, but by these rules only 2 2 2" in zilch.text
    assert "And 15 more that never happened, up to event 340." in zilch.text
    assert len(zilch.of("h1")) == 1
    assert "342:e8f672598ddf772c2d0932143cc4b9e1" in zilch.text


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_entry_of_the_sheet_stands_in_the_page_without_any_script(path: Path) -> None:
    log = load(path)
    text = page_of(log)
    table = text[text.index('<table class="sheet">') :].split("</table>")[0]
    totals = [int(one.replace("\u2212", "-")) for one in re.findall(r"<b>(\S+)</b>", table)]
    by_seat = [
        entry.total
        for one in sheet(log.game).rounds
        for player in sheet(log.game).players
        for entry in one.entries
        if entry.player == player
    ]
    assert totals == by_seat


def test_the_marks_of_luck_are_those_that_luck_names(zilch: Parsed) -> None:
    log = load(ROOT / "sample_logs/zilch-evening.jsonl")
    found = luck(log.game)
    told = playback(log.game, log.events, found)
    marked = {(moment.seq, mark) for moment in told.moments for mark in moment.marks if mark != "worst"}
    expected = {(blunder.seq, "blunder") for one in found.players for blunder in one.blunders}
    expected |= {(one.luckiest.seq, "lucky") for one in found.players if one.luckiest}
    expected |= {(one.unluckiest.seq, "unlucky") for one in found.players if one.unluckiest}
    assert marked == expected
    worst = [moment for moment in told.moments if "worst" in moment.marks]
    assert len(worst) == 3 * len(found.players)
    assert f"{len(found.players[0].blunders) - 5} more decisions" in zilch.text


def test_a_score_sheet_says_that_it_has_neither_luck_nor_decisions() -> None:
    text = Parsed(page_of(load(ROOT / "sample_logs/score-sheet.jsonl"))).text
    assert "kept as a score sheet, without dice: there is no telling luck from decisions" in text
    assert "blunder" not in text


def test_rules_that_refuse_luck_get_a_page_that_says_why(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "new", "Anna", "Ben", "--set", "anything=A:50", "-g", "endless")
    for line in ("roll 222223", "keep 222223", "bank"):
        run(capsys, *line.split())
    out, _ = run(capsys, "page", "endless")
    assert "There is no telling luck from decisions here: a turn under tiotusen can go on for ever" in out
    assert "Luck was left out of this page." in run(capsys, "page", "endless", "--no-luck")[0]


def test_several_games_have_a_table_of_contents() -> None:
    logs = [load(path) for path in SAMPLES if path.stem.endswith("-example")]
    page = Parsed(game_page([story(log.game, log.events, log.fingerprint, None, "", []) for log in logs]))
    links = [one["href"] for one in page.of("a")]
    assert links == ["#main", "#game-1", "#game-2"]
    ids = [one["id"] for _, one in page.elements if one.get("id")]
    assert len(ids) == len({*ids})
    assert {"game-1", "game-2"} <= {*ids}


def test_a_game_without_any_turn_has_a_page() -> None:
    start = events.Start(1, game="new", version=1, players=("Anna",), rules=preset("farkle"), origin="table")
    text = game_page([story(fold([start]), [start], "1:0", None, "none", [])])
    assert "Anna" in text
    assert "The race</h2>" not in text


def test_random_games_have_pages_whose_playback_ends_as_the_game_does() -> None:
    for seed in range(60):
        log: list[Any] = random_game(Random(seed))
        game = fold(log)
        told = playback(game, log)
        assert told.moments[-1].totals == tuple(seat.total for seat in game.position.seats)
        ended = game.position.turns()
        assert [(one.change, one.total, one.outcome) for one in told.turns if one.outcome] == [
            (one.change, one.total, one.outcome) for one in ended
        ]
        assert [one.seat for one in told.turns if one.outcome] == [one.turn.seat for one in ended]
        assert [moment.seq for moment in told.moments] == sorted({moment.seq for moment in told.moments})
        for moment in told.moments:
            assert all(place < len(moment.roll) for place in moment.kept)
        if seed < 3:
            assert game_page([story(game, log, "1:0", None, "", [])])


def test_what_was_taken_back_is_not_told_and_notes_are() -> None:
    log = load(ROOT / "sample_logs/awkward.jsonl")
    told = playback(log.game, log.events)
    undone = {event.of for event in log.events if isinstance(event, events.Undo)}
    assert undone
    assert not undone & {moment.seq for moment in told.moments}
    notes = [event.text for event in log.events if isinstance(event, events.Note)]
    assert [moment.text for moment in told.moments if moment.kind == "note"] == notes


def test_the_dice_kept_are_marked_where_they_lie() -> None:
    assert places((1, 3, 1, 4, 1, 6), (1, 1)) == (0, 2)
    log = load(ROOT / "sample_logs/ten-thousand-example.jsonl")
    rows = [(one.kind, one.roll, one.kept, one.aside, one.points) for one in playback(log.game, log.events).moments]
    assert rows[1:7] == [
        ("roll", (1, 3, 3, 4, 4, 6), (), (), 0),
        ("keep", (1, 3, 3, 4, 4, 6), (0,), (), 100),
        ("roll", (2, 2, 2, 3, 4), (), (1,), 100),
        ("keep", (2, 2, 2, 3, 4), (0, 1, 2), (1,), 300),
        ("roll", (5, 5), (), (1, 2, 2, 2), 300),
        ("keep", (5, 5), (0, 1), (1, 2, 2, 2), 400),
    ]


# -- one file, nothing but text, the same bytes -----------------------------------------------------------------------


def test_the_same_game_gives_the_same_bytes() -> None:
    log = load(ROOT / "sample_logs/awkward.jsonl")
    assert page_of(log, "farkle") == page_of(log, "farkle")


def test_nothing_in_a_page_points_out_of_it(zilch: Parsed) -> None:
    for tag, attributes in zilch.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "form", "base", "audio", "video", "image"), tag
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "srcset", "style", "action", "xlink:href"), (tag, name)
            assert "://" not in (value or ""), (tag, name)
            if name == "href":
                assert value is not None
                assert value.startswith("#")
    assert "http" not in "".join(zilch.inside["style"] + zilch.inside["script"])
    assert "url(" not in "".join(zilch.inside["style"])


def test_the_policy_allows_nothing_but_the_style_and_script_in_the_page(zilch: Parsed) -> None:
    (policy,) = [one["content"] for one in zilch.of("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    *data, script = zilch.inside["script"]
    assert rules == {
        "default-src": "'none'",
        "style-src": digest(*zilch.inside["style"]),
        "script-src": digest(script),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert all(json.loads(one) for one in data)
    assert [one.get("type") for one in zilch.of("script")] == ["application/json", None]


def hostile_log() -> list[Any]:
    """Return a game whose every text is an attack; names keep to what a log takes."""
    names = ('"><svg onload=x>', "'; DROP TABLE games; --", "</title><b>", "&lt;b&gt;", "{{ 7*7 }}", "=1+1")
    rules = preset("ten-thousand")
    moves: list[Any] = [
        events.Start(1, game="x", version=1, players=names, rules=rules, origin="table", title=HOSTILE[:200]),
        events.Note(2, text=HOSTILE),
    ]
    for name in names:
        moves.append(events.Bank(len(moves) + 1, player=name, points=100))
    return moves


def test_hostile_texts_are_shown_as_text_and_make_no_element() -> None:
    log = hostile_log()
    replays = [replay(fold(log), log, preset("zilch"), of=f"8:{'0' * 32}")]
    text = game_page([story(fold(log), log, "8:0", None, HOSTILE, replays)])
    page = Parsed(text)
    plain = load(ROOT / "sample_logs/score-sheet.jsonl")
    known = {tag for tag, _ in Parsed(page_of(plain, "zilch", "ten-thousand")).elements}
    assert {tag for tag, _ in page.elements} <= known | {"b"}
    assert len(page.of("script")) == 2
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    for name in log[0].players:
        assert name in page.text
    assert "49" not in page.text
    assert "\\u202e" in page.text
    assert not set(text) & {"\u202e", "\x1b"}
    shown = json.loads(page.inside["script"][0])
    assert shown["players"] == [*log[0].players]
    assert "<" not in page.inside["script"][0]
    assert shown["moments"][1]["text"].startswith("</script><script>alert(1)</script>\\u202e<img")


def test_a_picture_shows_hostile_names_as_text() -> None:
    drawn = pictures.lines([Line(HOSTILE, 0, [0, 1])], HOSTILE, ("wide",)).svgs[0][1]
    assert "<script" not in drawn
    assert "<img" not in drawn
    assert "\u202e" not in drawn
    assert "\x1b" not in drawn
    assert "http" not in drawn


# -- colours and lines ------------------------------------------------------------------------------------------------


def themes() -> list[dict[str, str]]:
    light, dark = CSS.split("@media screen and (prefers-color-scheme: dark)", 1)
    colour = re.compile(r"--([\w-]+): (#[0-9a-f]{6})")
    found = dict(colour.findall(light))
    return [found, found | dict(colour.findall(dark.split("\n}\n")[0]))]


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
def test_every_colour_of_text_stands_out_from_what_it_stands_on(theme: dict[str, str]) -> None:
    pairs = [
        (ink, ground)
        for ink in ("ink", "muted", "accent", "good", "bad", *(f"p{n}" for n in range(1, pictures.COLOURS + 1)))
        for ground in ("ground", "card")
    ]
    pairs += [("on-accent", "accent"), ("ink", "soft"), ("ink", "mark"), ("on-kept", "kept"), ("pip", "die")]
    for ink, ground in pairs:
        above, below = sorted((luminance(theme[ink]), luminance(theme[ground])))[::-1]
        assert (above + 0.05) / (below + 0.05) >= 4.5, (ink, ground)


def test_twenty_players_have_twenty_different_lines() -> None:
    assert len({(pictures.colour(seat), pictures.dash(seat)) for seat in range(events.MOST_PLAYERS)}) == 20


@pytest.mark.parametrize("values", [[-5.0], [0.0], [-3.0, 4.0], [-3.0, 0.0], [0.0, 4.0], [-1e9, 1e9]])
def test_bars_go_from_0_to_their_values_whatever_the_sign(values: list[float]) -> None:
    rows = [pictures.Bar(f"player {number}", value, f"{value:.1f}") for number, value in enumerate(values)]
    low, high = min(0.0, *values), max(0.0, *values)
    for _, svg in pictures.bars(rows, "luck", "luck", ("wide", "narrow")).svgs:
        assert all(f">{row.name}<" in svg and f">{row.text}<" in svg for row in rows)
        width = float(svg.split('data-plot="')[1].split('"')[0].split()[2])
        drawn = re.findall(r'd="M([-0-9.e]+),[-0-9.e]+h([-0-9.e]+)v[^"]*" fill="var\(--bar\)"', svg)
        scale = width / (high - low) if high > low else 0.0
        expected = [((min(value, 0.0) - low) * scale, abs(value) * scale) for value in values]
        assert [(float(x), float(w)) for x, w in drawn] == [pytest.approx(one, abs=0.01) for one in expected]


def test_the_names_at_the_ends_of_lines_do_not_overlap() -> None:
    ends = [0, 10, 20, 9990, 10000, 10000]
    lines = [Line(f"Player {seat}", seat, [0, end]) for seat, end in enumerate(ends)]
    drawn = pictures.lines(lines, "about", ("narrow",)).svgs[0][1]
    found = re.findall(r'translate\([\d.]+,([-\d.]+)\)"[^>]*>(Player \d)<', drawn)
    # Coordinates are those of the plot, 300 pixels less 14 above and 42 below; a baseline is 4 below the middle.
    places = sorted(float(y) for y, _ in found)
    assert len(places) == len(ends)
    assert min(below - above for above, below in pairwise(places)) >= 15
    assert 4 <= places[0] < places[-1] <= 300 - 14 - 42 + 4


# -- the command ------------------------------------------------------------------------------------------------------


def test_a_page_is_written_whole_and_replaced_only_where_it_is_one(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = home / "game.html"
    sample = str(ROOT / "sample_logs/score-sheet.jsonl")
    _, err = run(capsys, "page", sample, "-o", str(target))
    assert err == f"tenklog: wrote {target}\n"
    first = target.read_bytes()
    assert first.startswith(b"<!DOCTYPE html>")
    run(capsys, "page", sample, "-o", str(target), "--rules", "zilch")
    assert target.read_bytes() != first
    assert [path.name for path in home.iterdir()] == ["game.html"]
    out, _ = run(capsys, "page", sample, "-o", "-")
    assert out.encode() == first
    assert run(capsys, "page", sample)[0].encode() == first
    foreign = home / "foreign.html"
    foreign.write_text("<!DOCTYPE html><p>mine")
    run(capsys, "page", sample, "-o", str(foreign), code=5)
    assert foreign.read_text() == "<!DOCTYPE html><p>mine"


def test_a_failed_write_leaves_the_page_that_was_there(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = home / "game.html"
    line = ("page", str(ROOT / "sample_logs/score-sheet.jsonl"), "-o", str(target))
    run(capsys, *line)
    before = target.read_bytes()

    def full(fd: int, data: bytes) -> None:
        os.write(fd, data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write", full)
    run(capsys, *line, "--rules", "zilch", code=4)
    assert target.read_bytes() == before
    assert [path.name for path in home.iterdir()] == ["game.html"]


def test_a_missing_library_is_named_with_how_to_get_it(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("vl_convert", "jinja2"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            _, err = run(capsys, "page", str(ROOT / "sample_logs/score-sheet.jsonl"), code=2)
            assert err == "tenklog: error: pages need vl-convert-python and jinja2; pip install 'tenklog[page]'\n"


def test_nobody_gets_a_page_poured_into_the_terminal(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "-o FILE.html" in run(capsys, "page", str(SAMPLES[0]), code=2)[1]


def test_a_season_has_the_leaderboard_and_every_report_with_a_picture(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "archive", "--luck", *(str(path) for path in SAMPLES if path.stem.endswith("-evening")))
    page = Parsed(run(capsys, "page", "--archive", "--title", "Winter & <b>spring</b>")[0])
    assert "Winter & <b>spring</b>" in page.text
    assert "4 games" in page.text
    sections = [one["id"] for one in page.of("section")]
    assert sections == "leaderboard records head-to-head bust-rate dice luck points seats skill".split()
    told = json.loads(run(capsys, "stats", "leaderboard", "--json")[0])
    for row in told:
        assert row["player"] in page.text
        assert f"{row['points_per_turn']:.1f}" in page.text
    assert [one["aria-label"] for one in page.of("svg") if one.get("role") == "img"]
    fewer = Parsed(run(capsys, "page", "--archive", "--rules", "zilch")[0])
    assert "1 game " in fewer.text.replace("\n", " ")
    assert "Anna" not in fewer.text
    _, err = run(capsys, "page", "--archive", "--since", "2030-01-01", code=2)
    assert err.startswith("tenklog: error: no archived game fits")


def test_rules_of_ones_own_stand_beside_the_game(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "ours.toml").write_text('based_on = "zilch"\ntarget = 5000\n')
    out, _ = run(capsys, "page", str(ROOT / "sample_logs/zilch-evening.jsonl"), "--rules", str(home / "ours.toml"))
    log = load(ROOT / "sample_logs/zilch-evening.jsonl")
    rules = change(preset("zilch"), parse_changes(("target=5000",), preset("zilch")))
    there = replay(log.game, log.events, rules, of=log.fingerprint).game.position
    best = standings(there)[0]
    assert f"{best.player} wins with {best.total}; no turn is a guess." in out
